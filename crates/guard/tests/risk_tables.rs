//! The risk of tools of public servers, against what a person said of them.
//!
//! The tables hold names and arguments; the figures for whole definitions are in `docs/security.md`.

use std::fmt::Write as _;
use std::path::Path;

use switchboard_guard::risk::{Assessment, OperatorWord, assess};
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_protocol::mgp::{Risk, TrustLevel, ValidatorName};
use switchboard_wire::{Limits, Raw};

fn quoted(text: &str) -> String {
    Raw::string(text).as_str().to_owned()
}

/// The definition that a line of a table stands for.
fn definition(name: &str, says: &str, arguments: &str, hints: &str) -> Raw {
    let properties = arguments.split_whitespace().map(|argument| {
        if let Some((name, words)) = argument.split_once('=') {
            let words: Vec<String> = words.split('/').map(quoted).collect();
            return format!("{}:{{\"enum\":[{}]}}", quoted(name), words.join(","));
        }
        match argument.strip_suffix('#') {
            Some(name) => format!("{}:{{\"type\":\"integer\"}}", quoted(name)),
            None => format!("{}:{{\"type\":\"string\"}}", quoted(argument)),
        }
    });
    let hints = hints.split_whitespace().map(|hint| format!("{}:true", quoted(hint)));
    let text = format!(
        "{{\"name\":{},\"description\":{},\"inputSchema\":{{\"type\":\"object\",\"properties\":{{{}}}}},\"annotations\":{{{}}}}}",
        quoted(name),
        quoted(says),
        properties.collect::<Vec<_>>().join(","),
        hints.collect::<Vec<_>>().join(","),
    );
    Raw::parse(text, &Limits::default()).expect("valid JSON")
}

fn weighed(name: &str, definition: &Raw) -> Assessment {
    assess(&ToolSecurity::of(definition), name, &OperatorWord::default(), TrustLevel::Standard, false)
}

/// How many lines of a table are as wanted, and which are not.
fn measured(table: &str, wanted: impl Fn(&Assessment) -> bool) -> (usize, Vec<String>) {
    let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).collect();
    let mut wrong = Vec::new();
    for line in &lines {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let part = |at: usize| parts.get(at).copied().unwrap_or_default();
        let found = weighed(part(1), &definition(part(1), part(2), part(3), part(4)));
        if !wanted(&found) {
            wrong.push(format!("{} {}: {}, {}", part(0), part(1), found.risk.as_str(), found.reason));
        }
    }
    (lines.len(), wrong)
}

#[test]
fn dangerous_tools_are_asked_about_or_judged() {
    let judging = [ValidatorName::Sandbox, ValidatorName::CodeSafety, ValidatorName::Readonly];
    let (all, wrong) = measured(include_str!("tables/tools-dangerous.txt"), |found| {
        found.confirm.is_some() || found.validators.iter().any(|one| judging.contains(one))
    });
    assert!(all >= 150 && wrong.len() * 50 <= all, "{} of {all}: {wrong:#?}", wrong.len());
}

#[test]
fn reading_tools_are_safe() {
    let (all, wrong) = measured(include_str!("tables/tools-reading.txt"), |found| found.risk == Risk::Safe);
    assert!(all >= 300 && wrong.len() * 10 <= all, "{} of {all}: {wrong:#?}", wrong.len());
}

#[test]
#[ignore = "prints what holds for the definitions in a folder: one file with a `tools/list` result for each server"]
fn definitions_in_a_folder() {
    let folder = std::env::var("RISK_DEFINITIONS").expect("a folder");
    let mut out = String::new();
    let mut files: Vec<_> = std::fs::read_dir(Path::new(&folder)).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "json")) {
        let text = std::fs::read_to_string(file).unwrap();
        let limits = Limits { bytes: 64 << 20, keys: 10_000_000, ..Limits::default() };
        let raw = Raw::parse(text, &limits).unwrap();
        let tools = raw.member("tools").or_else(|| raw.at(&["result", "tools"])).and_then(|tools| tools.elements());
        for tool in tools.unwrap_or_default() {
            let name = tool.member("name").and_then(|name| name.as_text()).unwrap_or_default();
            let found = weighed(&name, &tool);
            let checks: Vec<_> = found.validators.iter().map(|one| one.as_str()).collect();
            let server = file.file_stem().unwrap().to_string_lossy();
            let asks = if found.confirm.is_some() { "asks" } else { "-" };
            let (risk, checks) = (found.risk.as_str(), checks.join(","));
            writeln!(out, "{server}\t{name}\t{risk}\t{asks}\t{checks}\t{}", found.reason).unwrap();
        }
    }
    std::fs::write(std::env::var("RISK_OUT").expect("a file"), out).unwrap();
}
