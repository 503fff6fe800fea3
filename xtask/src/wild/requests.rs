//! How often the search finds the tool that somebody wants who asks in everyday words, among the tools of all public servers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::slug;
use crate::layout::Layout;
use crate::process;
use crate::tally::{brief, say};

const REQUESTS: &str = include_str!("../../wild/requests.txt");
const SEARCH_LIMIT: Duration = Duration::from_secs(300);
/// Of forty requests so many have to be answered rightly at the first place, and among five.
const TARGETS: [(&str, usize); 2] = [("first", 28), ("among five", 36)];
/// What the targets are of.
const OF: usize = 40;
/// Results that are asked for.
const TOP: &str = "10";

/// A request, and the tools that would be right as `server/tool`.
struct Request<'a> {
    text: &'a str,
    right: Vec<&'a str>,
}

fn requests() -> Vec<Request<'static>> {
    let lines = REQUESTS.lines().filter(|line| !line.starts_with('#'));
    let read = |line: &'static str| {
        let (text, right) = line.rsplit_once("=>")?;
        Some(Request { text: text.trim(), right: right.split_whitespace().collect() })
    };
    lines.filter_map(read).collect()
}

/// Searches for all of them and prints at which rank the first right tool is.
pub(super) fn measure(layout: &Layout, definitions: &Path) -> Result<()> {
    let scratch = layout.scratch("requests")?;
    let (mut catalog, mut known) = (String::new(), BTreeSet::new());
    for entry in fs::read_dir(definitions).with_context(|| format!("reading {}", definitions.display()))? {
        let Ok(kept) = serde_json::from_str::<Value>(&fs::read_to_string(entry?.path())?) else { continue };
        let server = slug(kept["package"].as_str().unwrap_or_default());
        let title = kept["info"]["title"].as_str().or_else(|| kept["info"]["name"].as_str()).unwrap_or_default();
        for tool in kept["tools"].as_array().into_iter().flatten() {
            let id = format!("{server}/{}", tool["name"].as_str().unwrap_or_default());
            let mut line = tool.clone();
            (line["id"], line["server"], line["server_title"]) = (json!(id), json!(server), json!(title));
            catalog.push_str(&format!("{line}\n"));
            known.insert(id);
        }
    }
    let all = requests();
    let asked: Vec<&Request<'_>> =
        all.iter().filter(|request| request.right.iter().any(|tool| known.contains(*tool))).collect();
    let queries: String =
        asked.iter().enumerate().map(|(id, one)| format!("{}\n", json!({"id": id, "query": one.text}))).collect();
    fs::write(scratch.join("tools.jsonl"), catalog)?;
    fs::write(scratch.join("queries.jsonl"), queries)?;
    let mut kernel = Command::new(layout.kernel()?);
    kernel.args(["tools", "search", "--top", TOP, "--catalog"]).arg(scratch.join("tools.jsonl"));
    kernel.arg("--queries").arg(scratch.join("queries.jsonl"));
    let output = process::quiet(&mut kernel, SEARCH_LIMIT)?;
    if !output.success {
        bail!("{}", brief(&output.stderr, 400));
    }
    let (mut first, mut among_five, mut among_ten) = (0, 0, 0);
    for (request, line) in asked.iter().zip(output.stdout.lines()) {
        let found: Value = serde_json::from_str(line)?;
        let ranked: Vec<&str> = found["ranked"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let rank = ranked.iter().position(|tool| request.right.contains(tool)).map(|at| at + 1);
        first += usize::from(rank == Some(1));
        among_five += usize::from(rank.is_some_and(|rank| rank <= 5));
        among_ten += usize::from(rank.is_some());
        let shown = rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
        say(&format!("{shown:>3}  {}  (first: {})", request.text, ranked.first().unwrap_or(&"nothing")));
    }
    let (count, tools, left_out) = (asked.len(), known.len(), all.len() - asked.len());
    say(&format!(
        "{count} requests among {tools} tools: {first} first, {among_five} among five, {among_ten} among ten; {left_out} left out"
    ));
    let missed: Vec<String> = TARGETS
        .iter()
        .zip([first, among_five])
        .filter(|((_, target), found)| !is_met(*found, *target, count))
        .map(|((what, target), found)| format!("{found} of {count} {what}, and {target} of {OF} are wanted"))
        .collect();
    if !missed.is_empty() {
        bail!("{}", missed.join("; "));
    }
    Ok(())
}

/// Whether so many of those that could be asked are as good as the target. Nothing is met where nothing was asked.
const fn is_met(found: usize, target: usize, asked: usize) -> bool {
    asked > 0 && found * OF >= target * asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_counts_where_servers_could_not_be_had() {
        for (found, asked, expected) in
            [(28, 40, true), (27, 40, false), (14, 20, true), (13, 20, false), (0, 0, false), (40, 40, true)]
        {
            assert_eq!(is_met(found, 28, asked), expected, "{found} of {asked}");
        }
    }

    #[test]
    fn there_are_forty_requests_with_right_answers() {
        let all = requests();
        assert_eq!(all.len(), OF);
        let servers: Vec<String> =
            super::super::TABLE.lines().filter_map(super::super::Package::read).map(|one| one.slug()).collect();
        for request in &all {
            assert!(!request.right.is_empty() && request.text.len() > 10, "{}", request.text);
            for tool in &request.right {
                let server = tool.split('/').next().unwrap_or_default();
                assert!(servers.iter().any(|known| known == server), "{tool}");
            }
        }
    }
}
