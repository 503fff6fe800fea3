//! Popular public servers, once by themselves and once behind the kernel: the same tools, nothing hidden, honest calls answered alike.
//!
//! It installs what `wild/servers.txt` names and makes the calls of `wild/calls.txt`. This is no part of the tests: packages come and
//! go, and some take minutes to install. `interop` has the short form, with nine servers and every client.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::server::{Answer, Call, visit};
use super::{Package, TABLE};
use crate::layout::Layout;
use crate::process;
use crate::tally::{Tally, brief, say};

const CALLS: &str = include_str!("../../wild/calls.txt");
/// How long the kernel may take to tell how its server is.
const SERVERS_LIMIT: Duration = Duration::from_secs(120);
/// One server alone, all of it, within the time that slow ones need.
const SETTINGS: &str =
    "data_dir = \"data\"\n[memory]\nenabled = false\n[limits]\nlist_wait_ms = 90000\n[tool_context]\nlevel = \"all\"\n";

/// What was seen of one server.
struct Row {
    package: String,
    direct: usize,
    through: usize,
    held: usize,
    marked: usize,
    calls: usize,
}

/// Runs all servers whose name contains the word, prints the table, and counts: one check for each list and one for each call.
pub(crate) fn run(layout: &Layout, only: Option<&str>) -> Result<Tally> {
    let (mut tally, mut rows) = (Tally::default(), Vec::new());
    let installed = layout.target.join("wild/installed");
    for package in TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(Package::read) {
        if only.is_some_and(|word| !package.name.contains(word)) {
            continue;
        }
        let calls = calls_of(package.name);
        let direct = match package.install(&installed.join(package.slug())).and_then(|mut command| {
            let answer = visit(&mut command, &calls)?;
            Ok((command, answer))
        }) {
            Ok(direct) => direct,
            // What does not start by itself says nothing about the kernel.
            Err(error) => {
                say(&format!("left out {}: {}", package.name, brief(&format!("{error:#}"), 160)));
                continue;
            }
        };
        let (command, direct) = direct;
        match through(layout, &package, &command, &calls) {
            Ok((seen, status)) => rows.push(compare(&package, &calls, (&direct, &seen), &status, &mut tally)),
            Err(error) => tally.fail(format!("{}: {}", package.name, brief(&format!("{error:#}"), 300))),
        }
    }
    say("| server | tools direct | through | held | marked | calls |\n|---|---|---|---|---|---|");
    for row in &rows {
        let (package, direct, through) = (&row.package, row.direct, row.through);
        say(&format!("| {package} | {direct} | {through} | {} | {} | {} |", row.held, row.marked, row.calls));
    }
    let sum = |count: fn(&Row) -> usize| rows.iter().map(count).sum::<usize>();
    say(&format!(
        "{} servers, {} tools direct, {} through, {} held, {} marked, {} calls",
        rows.len(),
        sum(|row| row.direct),
        sum(|row| row.through),
        sum(|row| row.held),
        sum(|row| row.marked),
        sum(|row| row.calls)
    ));
    tally.failures.iter().for_each(|failure| say(&format!("failed: {failure}")));
    Ok(tally)
}

/// The honest calls of a package: those whose line begins with its name, of whatever version.
fn calls_of(package: &str) -> Vec<Call> {
    let name = package.replace("==", "@");
    let name = name.rfind('@').filter(|at| *at > 0).map_or(name.as_str(), |at| &name[..at]);
    let lines = CALLS.lines().filter(|line| !line.starts_with('#'));
    let read = |line: &str| {
        let mut parts = line.splitn(3, ' ');
        let (package, tool, arguments) = (parts.next()?, parts.next()?, parts.next()?);
        let arguments = serde_json::from_str(arguments).ok()?;
        (package == name).then(|| Call { tool: tool.to_owned(), arguments })
    };
    lines.filter_map(read).collect()
}

/// The same visit through the kernel, and what the kernel says of the server.
fn through(layout: &Layout, package: &Package<'_>, direct: &Command, calls: &[Call]) -> Result<(Answer, Value)> {
    let scratch = layout.scratch(&format!("matrix/{}", package.slug()))?;
    let variables: BTreeMap<&str, &str> = package.variables.iter().copied().collect();
    let words: Vec<String> = direct.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    let text = format!(
        "{SETTINGS}[[servers]]\nid = \"it\"\ncommand = {}\nargs = {}\ncwd = {}\nstart_timeout_ms = 90000\n[servers.env]\n{}",
        json!(direct.get_program().to_string_lossy()),
        json!(words),
        json!(direct.get_current_dir().unwrap_or_else(|| Path::new("."))),
        variables.iter().map(|(name, value)| format!("{name} = {}\n", json!(value))).collect::<String>(),
    );
    let config = scratch.join("mgp.toml");
    fs::write(&config, text)?;
    let kernel = |words: &[&str]| -> Result<Command> {
        let mut command = Command::new(layout.kernel()?);
        command.args(words).arg("--config").arg(&config).current_dir(&scratch);
        Ok(command)
    };
    let seen = visit(&mut kernel(&["stdio", "--own"])?, calls).context("through the kernel")?;
    let output = process::quiet(&mut kernel(&["servers", "--json"])?, SERVERS_LIMIT)?;
    let status: Value = serde_json::from_str(&output.stdout).with_context(|| brief(&output.stderr, 300))?;
    match status["servers"].as_array().and_then(|all| all.first()) {
        Some(server) => Ok((seen, server.clone())),
        None => bail!("the kernel knows no server"),
    }
}

fn compare(
    package: &Package<'_>,
    calls: &[Call],
    (direct, seen): (&Answer, &Answer),
    status: &Value,
    tally: &mut Tally,
) -> Row {
    let by_name = |answer: &Answer| -> BTreeMap<String, Value> {
        let named = |tool: &Value| Some((tool["name"].as_str()?.to_owned(), said(tool)));
        answer.tools.iter().filter_map(named).collect()
    };
    let (before, after) = (by_name(direct), by_name(seen));
    let missing: Vec<&String> = before.keys().filter(|name| !after.contains_key(*name)).collect();
    let other: Vec<&String> = before
        .iter()
        .filter(|(name, tool)| after.get(*name).is_some_and(|seen| seen != *tool))
        .map(|(name, _)| name)
        .collect();
    // Some say another thing at every start; what they mean is the kernel's to judge, and nothing is hidden for it.
    match missing.is_empty() {
        true => tally.pass(),
        false => tally.fail(format!("{}: hidden are {missing:?}", package.name)),
    }
    if !other.is_empty() {
        say(&format!("{}: in another form, mended or as it was said at the second start: {other:?}", package.name));
    }
    for (call, (one, two)) in calls.iter().zip(direct.called.iter().zip(&seen.called)) {
        let failed = |answer: &Value| answer["isError"] == true || answer.get("code").is_some();
        match (failed(one), failed(two)) {
            (one, two) if one == two => tally.pass(),
            _ => tally.fail(format!(
                "{} {}: {} direct, {} through",
                package.name,
                call.tool,
                brief(&one.to_string(), 160),
                brief(&two.to_string(), 160)
            )),
        }
    }
    let count = |key: &str| status[key].as_array().map_or(0, Vec::len);
    Row {
        package: package.name.to_owned(),
        direct: direct.tools.len(),
        through: seen.tools.len(),
        held: count("held"),
        marked: count("marked"),
        calls: seen.called.len(),
    }
}

/// What a server says of a tool, without what the kernel adds.
fn said(tool: &Value) -> Value {
    let mut tool = tool.clone();
    if let Some(members) = tool.as_object_mut() {
        members.remove("_meta");
        members.remove("execution");
    }
    tool
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = include_str!("../../../docs/servers.md");

    fn packages() -> Vec<Package<'static>> {
        TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(Package::read).collect()
    }

    /// The rows of the table in the documentation: the package and the numbers.
    fn rows() -> Vec<(&'static str, [usize; 5])> {
        let read = |line: &'static str| {
            let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
            let numbers: Vec<usize> = cells.get(1..)?.iter().map(|cell| cell.parse().ok()).collect::<Option<_>>()?;
            Some((*cells.first()?, numbers.try_into().ok()?))
        };
        TOLD.lines().filter_map(read).collect()
    }

    #[test]
    fn the_documentation_tells_the_sums_of_its_table() {
        let rows = rows();
        let sum = |at: usize| rows.iter().map(|(_, numbers)| numbers[at]).sum::<usize>();
        let counts = format!(
            "{} of {} servers, {} tools by themselves, {} through the kernel, {} held, {} marked, {} calls",
            rows.len(),
            packages().len(),
            sum(0),
            sum(1),
            sum(2),
            sum(3),
            sum(4)
        );
        assert!(TOLD.contains(&counts), "docs/servers.md does not say: {counts}");
    }

    #[test]
    fn every_package_is_told_of_with_its_version_and_its_calls_or_named_as_left_out() {
        let rows = rows();
        for package in packages() {
            let row = rows.iter().find(|(name, _)| *name == package.name);
            let is_left_out = TOLD.contains(&format!("`{}`", package.name));
            assert!(row.is_some() != is_left_out, "{} is in the table, or named as left out", package.name);
            if let Some((_, [.., calls])) = row {
                assert_eq!(*calls, calls_of(package.name).len(), "{}", package.name);
            }
        }
        for (name, _) in rows {
            assert!(packages().iter().any(|package| package.name == name), "{name} is none of wild/servers.txt");
        }
    }

    #[test]
    fn every_call_is_of_a_package_in_the_table() {
        let counted: usize = packages().iter().map(|package| calls_of(package.name).len()).sum();
        let written = CALLS.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).count();
        assert_eq!(counted, written);
        assert!(written >= 25, "{written}");
        assert_eq!(calls_of("@upstash/context7-mcp@4.1.1").len(), calls_of("@upstash/context7-mcp@5.0.0").len());
    }
}
