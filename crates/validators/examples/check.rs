//! Reads one JSON object a line (`{"id", "input", ..}`) and prints `{"id", "verdict", "why"}`: the validators by hand.
//!
//! `check shell|readonly|sql|network|path|code|message|tool|risk < cases.jsonl`; `risk` reads a definition and tells what
//! holds for the tool.

use serde_json::{Map, Value, json};
use std::io::{BufRead as _, Write as _};
use std::net::IpAddr;
use switchboard_policy::risk::{OperatorWord, assess};
use switchboard_policy::{Finding, Verdict, path};
use switchboard_protocol::mgp::TrustLevel;
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_validators::acting::Outlook;
use switchboard_validators::arguments;
use switchboard_validators::code::{self, Language, Level};
use switchboard_validators::screen::{self, Layer, Screening};
use switchboard_validators::{network, shell};
use switchboard_wire::{Limits, Raw};

fn main() -> std::io::Result<()> {
    let kind = std::env::args().nth(1).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(Value::Object(case)) = serde_json::from_str(&line?) else { continue };
        if kind == "tool" {
            let screening = check_tool(&case);
            let why = screening.finding().map(|finding| format!("{}: {finding}", finding.rule));
            writeln!(out, "{}", json!({ "id": case.get("id"), "verdict": screening.word(), "why": why }))?;
            continue;
        }
        if kind == "risk" {
            writeln!(out, "{}", check_risk(&case))?;
            continue;
        }
        let verdict = check(&kind, &case);
        let why = verdict.as_ref().err().map(|finding| format!("{}: {finding}", finding.rule));
        let answer = match &verdict {
            Ok(()) => "allow",
            Err(finding) if finding.asks() => "ask",
            Err(_) => "block",
        };
        writeln!(out, "{}", json!({ "id": case.get("id"), "verdict": answer, "why": why }))?;
    }
    Ok(())
}

fn check_tool(case: &Map<String, Value>) -> Screening {
    let definition = match case.get("input") {
        Some(Value::String(text)) => text.clone(),
        input => input.map(Value::to_string).unwrap_or_default(),
    };
    match Raw::parse(definition.into_bytes(), &Limits::default()) {
        Ok(raw) => screen::tool(&raw),
        Err(refusal) => Screening::Held(Finding::new("json", refusal.to_string())),
    }
}

fn check_risk(case: &Map<String, Value>) -> Value {
    let input = case.get("input").cloned().unwrap_or_default();
    let name = input.get("name").and_then(Value::as_str).unwrap_or_default();
    let Ok(definition) = Raw::parse(input.to_string().into_bytes(), &Limits::default()) else { return Value::Null };
    let declared = ToolSecurity::of(&definition);
    let found = assess(&declared, name, &OperatorWord::default(), TrustLevel::Standard, false);
    let validators: Vec<_> = found.validators.iter().map(|one| one.as_str()).collect();
    let carried: Vec<_> = found.carried.iter().map(|one| format!("{}: {}", one.key, one.what.as_str())).collect();
    let call =
        case.get("arguments").and_then(|call| Raw::parse(call.to_string().into_bytes(), &Limits::default()).ok());
    let acting = call.as_ref().and_then(|call| {
        Outlook::of(&declared, name, &found, &OperatorWord::default(), TrustLevel::Standard)?.question(&[], call)
    });
    let asks = call.as_ref().map(|call| found.asks_about(&declared, call, arguments::only_reads).is_some());
    json!({
        "acting": acting.map(|one| format!("{}: {}", one.pointer, one.finding)), "call_asked": asks,
        "id": case.get("id"), "risk": found.risk.as_str(), "asked": found.confirm.map(|reason| reason.as_str()),
        "validators": validators, "carried": carried, "why": found.reason, "eased": found.easing.is_some(),
    })
}

fn check(kind: &str, case: &Map<String, Value>) -> Verdict {
    let Some(input) = case.get("input").and_then(Value::as_str) else {
        return Err(Finding::new("input", "the input is not text"));
    };
    match kind {
        "shell" => shell::check(input),
        "readonly" => shell::readonly(input),
        "sql" => arguments::check_statement(input, case.get("readonly") == Some(&Value::Bool(true))),
        "network" => check_network(input, case.get("resolve").and_then(Value::as_object)),
        "path" => {
            let scope = path::Scope::new(&["/project/**", "/tmp/**"], &["**/.env", "**/secrets/**"], "/project");
            let links = |link: &str| case.get("fs")?.get(link)?.as_str().map(str::to_owned);
            path::check(&scope, input, &links)
        }
        "code" => {
            let level = match case.get("level").and_then(Value::as_str) {
                Some("strict") => Level::Strict,
                Some("readonly") => Level::Readonly,
                _ => Level::Standard,
            };
            let language = case.get("language").and_then(Value::as_str).and_then(Language::from_name);
            code::check(language.unwrap_or(Language::Python), level, input)
        }
        "message" => {
            let layer = case.get("layer").and_then(Value::as_str).and_then(Layer::from_name).unwrap_or(Layer::Rpc);
            screen::message(input.as_bytes().to_vec(), layer)
        }
        _ => Err(Finding::new("kind", "unknown kind of check")),
    }
}

fn check_network(url: &str, resolver: Option<&Map<String, Value>>) -> Verdict {
    let Some(resolver) = resolver else { return network::check(url, None) };
    let host = network::host(url)?.to_string();
    let answer = resolver.iter().find(|(name, _)| name.trim_end_matches('.').eq_ignore_ascii_case(&host));
    let addresses: Vec<IpAddr> = answer
        .and_then(|(_, list)| list.as_array())
        .into_iter()
        .flatten()
        .filter_map(|address| address.as_str()?.parse().ok())
        .collect();
    network::check(url, Some(&addresses))
}
