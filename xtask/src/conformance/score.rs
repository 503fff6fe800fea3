//! Reads what the suite left behind: the list of required scenarios and the result files.
//!
//! The suite writes one folder per scenario, named `[server-]SCENARIO-TIMESTAMP`, with a
//! `checks.json` inside; names of client scenarios may hold a slash and so be nested.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::tally::brief;

/// The scenarios a revision requires, from the suite's own frozen list.
#[derive(Debug)]
pub(super) struct Required {
    pub(super) server: Vec<String>,
    pub(super) client: Vec<String>,
}

impl Required {
    pub(super) fn read(node_modules: &Path, revision: &str) -> Result<Self> {
        let path = node_modules.join(format!("@modelcontextprotocol/conformance/requirements/{revision}.yaml"));
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let (server, client) = (section(&text, "server"), section(&text, "client"));
        if server.is_empty() || client.is_empty() {
            bail!("{} lists no scenarios", path.display());
        }
        Ok(Self { server, client })
    }
}

/// The plain list under a top-level key; the file uses nothing else of YAML for it.
fn section(text: &str, key: &str) -> Vec<String> {
    let mut lines = text.lines().skip_while(|line| line.trim_end() != format!("{key}:"));
    lines.next();
    lines
        .take_while(|line| line.is_empty() || line.starts_with(' ') || line.starts_with('#'))
        .filter_map(|line| line.trim().strip_prefix("- "))
        .map(str::to_owned)
        .collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Check {
    id: String,
    status: String,
    message: String,
}

/// The results of one run.
#[derive(Debug, Default)]
pub(super) struct Score {
    scenarios: BTreeMap<String, Vec<Check>>,
    notes: Vec<String>,
    pub(super) time: Duration,
}

impl Score {
    pub(super) fn read(out: &Path, prefix: &str) -> Result<Self> {
        let mut score = Self::default();
        if !out.is_dir() {
            bail!("the suite left no results in {}", out.display());
        }
        score.read_folder(out, out, prefix)?;
        Ok(score)
    }

    fn read_folder(&mut self, base: &Path, folder: &Path, prefix: &str) -> Result<()> {
        for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                self.read_folder(base, &path, prefix)?;
            } else if path.file_name().is_some_and(|name| name == "checks.json") {
                let relative = folder.strip_prefix(base).unwrap_or(folder).display().to_string();
                let Some(scenario) = scenario_name(&relative, prefix) else { continue };
                let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
                let checks: Value = serde_json::from_str(&text).with_context(|| format!("in {}", path.display()))?;
                let checks = checks.as_array().into_iter().flatten().map(check).collect();
                self.scenarios.insert(scenario, checks);
            }
        }
        Ok(())
    }

    /// Adds a reason to refuse the run that is in no result file.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(super) fn passed(&self, scored: &[String]) -> usize {
        self.of(scored).filter(|(_, check)| check.status == "SUCCESS").count()
    }

    /// What keeps the run from being accepted: failed checks, warnings, and scenarios that are missing.
    pub(super) fn failures(&self, scored: &[String]) -> Vec<String> {
        let mut found = self.notes.clone();
        for scenario in scored {
            if !self.scenarios.get(scenario).is_some_and(|checks| checks.iter().any(|check| check.status == "SUCCESS"))
            {
                found.push(format!("{scenario}: no check passed"));
            }
        }
        let bad = self.of(scored).filter(|(_, check)| check.status == "FAILURE" || check.status == "WARNING");
        found.extend(bad.map(|(scenario, check)| {
            format!("{scenario}: {} ({}): {}", check.id, check.status, brief(&check.message, 300))
        }));
        found
    }

    /// Scenarios whose check outcomes differ between two runs.
    pub(super) fn differences(&self, other: &Self, scored: &[String]) -> Vec<String> {
        let outcome = |score: &Self, scenario: &String| {
            let checks = score.scenarios.get(scenario).into_iter().flatten();
            let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
            for check in checks.filter(|check| check.status != "INFO") {
                *counts.entry((check.id.clone(), check.status.clone())).or_default() += 1;
            }
            counts
        };
        let differs = |scenario: &&String| outcome(self, scenario) != outcome(other, scenario);
        scored.iter().filter(differs).cloned().collect()
    }

    /// How many unscored scenarios ran, and which of them fail.
    pub(super) fn unscored_line(&self, scored: &[String]) -> String {
        let unscored: Vec<_> = self.scenarios.iter().filter(|(name, _)| !scored.contains(name)).collect();
        let failing: Vec<&str> = unscored
            .iter()
            .filter(|(_, checks)| checks.iter().any(|check| check.status == "FAILURE"))
            .map(|(name, _)| name.as_str())
            .collect();
        match failing.len() {
            0 => format!("{} pass", unscored.len()),
            count => format!("{} pass, {count} fail: {}", unscored.len() - count, failing.join(" ")),
        }
    }

    fn of<'a>(&'a self, scored: &'a [String]) -> impl Iterator<Item = (&'a String, &'a Check)> {
        scored
            .iter()
            .filter_map(|name| self.scenarios.get_key_value(name))
            .flat_map(|(name, checks)| checks.iter().map(move |check| (name, check)))
    }
}

fn check(value: &Value) -> Check {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let message = match text("errorMessage") {
        empty if empty.is_empty() => text("description"),
        message => message,
    };
    Check { id: text("id"), status: text("status"), message }
}

/// `server-ping-2026-11-15T04-01-47-532Z` without the prefix and the time stamp.
fn scenario_name(folder: &str, prefix: &str) -> Option<String> {
    const STAMP: usize = "-2026-11-15T04-01-47-532Z".len();
    let name = folder.strip_prefix(prefix)?;
    let end = name.len().checked_sub(STAMP)?;
    (name.is_char_boundary(end) && name.ends_with('Z')).then(|| name[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenario_names_lose_prefix_and_stamp() {
        let table = [
            ("server-ping-2026-11-15T04-01-47-532Z", "server-", Some("ping")),
            ("auth/scope-step-up-2026-11-15T04-01-47-532Z", "", Some("auth/scope-step-up")),
            ("ping", "", None),
            ("ping-2026-11-15T04-01-47-532Z", "server-", None),
        ];
        for (folder, prefix, expected) in table {
            assert_eq!(scenario_name(folder, prefix).as_deref(), expected, "{folder}");
        }
    }

    #[test]
    fn sections_end_at_the_next_key() {
        let text = "# head\nserver:\n  - a\n  - b/c\n\nclient:\n  - d\nnot_scored:\n  - scenario: e\n";
        assert_eq!(section(text, "server"), ["a", "b/c"]);
        assert_eq!(section(text, "client"), ["d"]);
    }

    fn score(checks: &[(&str, &str, &str)]) -> Score {
        let mut score = Score::default();
        for (scenario, id, status) in checks {
            let check = Check { id: (*id).to_owned(), status: (*status).to_owned(), message: String::new() };
            score.scenarios.entry((*scenario).to_owned()).or_default().push(check);
        }
        score
    }

    #[test]
    fn missing_scenarios_warnings_and_failures_are_refused() {
        let scored = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let found =
            score(&[("a", "1", "SUCCESS"), ("b", "1", "SUCCESS"), ("b", "2", "WARNING"), ("x", "1", "FAILURE")]);
        assert_eq!(found.failures(&scored).len(), 2, "{:?}", found.failures(&scored));
        assert_eq!(found.passed(&scored), 2);
    }

    #[test]
    fn equal_scores_have_no_differences() {
        let scored = ["a".to_owned()];
        let one = score(&[("a", "1", "SUCCESS"), ("a", "2", "SUCCESS"), ("a", "log", "INFO")]);
        let same = score(&[("a", "2", "SUCCESS"), ("a", "1", "SUCCESS")]);
        let other = score(&[("a", "1", "SUCCESS"), ("a", "2", "SKIPPED")]);
        assert!(one.differences(&same, &scored).is_empty());
        assert_eq!(one.differences(&other, &scored), ["a"]);
    }
}
