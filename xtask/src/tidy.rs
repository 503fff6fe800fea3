//! Rules of the house that no compiler checks: edges between crates, headers, sizes, words.
//!
//! The table of allowed edges is the executable form of the drawing in ARCHITECTURE.md. A new
//! crate gets its line here before it gets its first dependency.

mod effects;
mod ratchet;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::layout::Layout;
use crate::process;
use crate::tally::say;
use ratchet::Ratchet;

const WARN_LINES: usize = 700;
const REFUSE_LINES: usize = 1000;

/// What one crate of the house may depend on among the others.
struct Room {
    name: &'static str,
    /// Allowed outside of tests.
    may_use: &'static [&'static str],
    /// A crate without input and output: no runtime, no sockets, no clock of its own.
    pure: bool,
}

const ROOMS: &[Room] = &[
    Room { name: "switchboard-wire", may_use: &[], pure: true },
    Room { name: "switchboard-protocol", may_use: &["switchboard-wire"], pure: true },
    Room { name: "switchboard-config", may_use: &["switchboard-protocol"], pure: true },
    Room { name: "switchboard-flow", may_use: &["switchboard-protocol", "switchboard-wire"], pure: true },
    Room { name: "switchboard-bus", may_use: &["switchboard-protocol", "switchboard-wire"], pure: false },
    Room { name: "switchboard-policy", may_use: &["switchboard-protocol", "switchboard-wire"], pure: true },
    Room {
        name: "switchboard-validators",
        may_use: &["switchboard-policy", "switchboard-protocol", "switchboard-wire"],
        pure: true,
    },
    Room { name: "switchboard-embed", may_use: &[], pure: true },
    Room { name: "switchboard-catalog", may_use: &["switchboard-embed"], pure: true },
    Room { name: "switchboard-store", may_use: &["switchboard-protocol", "switchboard-wire"], pure: false },
    Room { name: "switchboard-audit", may_use: &["switchboard-store", "switchboard-protocol"], pure: false },
    Room { name: "switchboard-transport", may_use: &["switchboard-protocol", "switchboard-wire"], pure: false },
    Room {
        name: "switchboard-peer",
        may_use: &["switchboard-transport", "switchboard-protocol", "switchboard-wire"],
        pure: false,
    },
    Room {
        name: "switchboard-sdk",
        may_use: &["switchboard-peer", "switchboard-transport", "switchboard-protocol", "switchboard-wire"],
        pure: false,
    },
    Room {
        name: "switchboard-contextgraph",
        may_use: &["switchboard-sdk", "switchboard-embed", "switchboard-store", "switchboard-wire"],
        pure: false,
    },
    Room {
        name: "switchboard-upstream",
        may_use: &[
            "switchboard-flow",
            "switchboard-policy",
            "switchboard-validators",
            "switchboard-peer",
            "switchboard-transport",
            "switchboard-protocol",
            "switchboard-wire",
        ],
        pure: false,
    },
    Room {
        name: "switchboard-kernel",
        may_use: &[
            "switchboard-upstream",
            "switchboard-audit",
            "switchboard-catalog",
            "switchboard-policy",
            "switchboard-validators",
            "switchboard-flow",
            "switchboard-bus",
            "switchboard-store",
            "switchboard-config",
            "switchboard-peer",
            "switchboard-transport",
            "switchboard-protocol",
            "switchboard-wire",
        ],
        pure: false,
    },
    Room {
        name: "switchboard-identity",
        may_use: &[
            "switchboard-config",
            "switchboard-store",
            "switchboard-peer",
            "switchboard-transport",
            "switchboard-protocol",
        ],
        pure: false,
    },
    Room {
        name: "switchboard",
        may_use: &[
            "switchboard-contextgraph",
            "switchboard-identity",
            "switchboard-kernel",
            "switchboard-sdk",
            "switchboard-embed",
            "switchboard-catalog",
            "switchboard-bus",
            "switchboard-flow",
            "switchboard-policy",
            "switchboard-validators",
            "switchboard-store",
            "switchboard-config",
            "switchboard-peer",
            "switchboard-transport",
            "switchboard-protocol",
            "switchboard-wire",
        ],
        pure: false,
    },
];

/// Crates that a room marked `pure` never uses, not even for tests.
const EFFECTS: &[&str] = &["tokio", "tokio-util", "hyper", "hyper-util", "mio", "reqwest", "notify"];

/// How the names of parsers of languages begin, and the one room that uses them: they are large, and build slowly.
const PARSERS: [&str; 2] = ["oxc_", "ruff_"];
const VALIDATORS: &str = "switchboard-validators";

/// Test doubles: any crate may use them in its tests, none outside.
const TESTKIT: &str = "switchboard-testkit";

/// Paths that exist on one machine only.
const MACHINE_PATHS: &[&str] = &["/work/", "/home/", "/root/", "/Users/"];

/// Users that examples and tests invent.
const MADE_UP: &[&str] = &["user", "alice", "bob", "me", "you"];

/// Runs every rule and fails with the list of what is wrong.
pub(crate) fn run(layout: &Layout) -> Result<()> {
    let mut findings = Findings::default();
    check_edges(&metadata(layout)?, &mut findings);
    let files = tracked(layout)?;
    let mut ratchet = Ratchet::default();
    for path in &files {
        if ratchet::is_stray(path) {
            findings.refusals.push(format!("{}: has no place at the root", path.display()));
        }
        // Deleted but not yet committed, or not text: nothing to read.
        let Ok(text) = fs::read_to_string(layout.root.join(path)) else { continue };
        check_file(path, &text, &mut findings);
        findings.refusals.extend(effects::check(path, &text));
        ratchet.count(path, &text);
    }
    let (refusals, warnings) = ratchet.judge();
    findings.refusals.extend(refusals);
    findings.warnings.extend(warnings);
    for warning in &findings.warnings {
        say(&format!("tidy: warning: {warning}"));
    }
    for refusal in &findings.refusals {
        say(&format!("tidy: {refusal}"));
    }
    match findings.refusals.len() {
        0 => {
            say(&format!("tidy: {} files in order", files.len()));
            Ok(())
        }
        count => bail!("tidy: {count} things to put right"),
    }
}

#[derive(Debug, Default)]
struct Findings {
    warnings: Vec<String>,
    refusals: Vec<String>,
}

fn metadata(layout: &Layout) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(&layout.root);
    let output = process::quiet(&mut command, Duration::from_secs(120))?;
    if !output.success {
        bail!("cargo metadata failed: {}", output.stderr.trim());
    }
    serde_json::from_str(&output.stdout).context("cargo metadata printed no JSON")
}

/// Files known to git and new ones it does not ignore, so that a forgotten `git add` hides nothing.
fn tracked(layout: &Layout) -> Result<Vec<PathBuf>> {
    let mut command = Command::new("git");
    command.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(&layout.root);
    let output = process::quiet(&mut command, Duration::from_secs(60))?;
    if !output.success {
        bail!("git ls-files failed: {}", output.stderr.trim());
    }
    Ok(output.stdout.lines().map(PathBuf::from).collect())
}

fn check_edges(metadata: &Value, findings: &mut Findings) {
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let room = ROOMS.iter().find(|room| room.name == name);
        if room.is_none() && manifest.contains("/crates/") {
            findings.refusals.push(format!("crate {name} has no line in the table of xtask/src/tidy.rs"));
        }
        let Some(room) = room else { continue };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let target = dependency["name"].as_str().unwrap_or_default();
            check_edge(room, target, dependency["kind"].as_str(), findings);
        }
    }
}

fn check_edge(room: &Room, target: &str, kind: Option<&str>, findings: &mut Findings) {
    let for_tests = kind == Some("dev");
    if target == TESTKIT {
        if !for_tests {
            findings.refusals.push(format!("{} uses {TESTKIT} outside of its tests", room.name));
        }
        return;
    }
    let ours = target == "switchboard" || target.starts_with("switchboard-");
    if ours && !for_tests && !room.may_use.contains(&target) {
        findings.refusals.push(format!("{} must not depend on {target}", room.name));
    }
    if room.name != VALIDATORS && PARSERS.iter().any(|parser| target.starts_with(parser)) {
        findings.refusals.push(format!("{} must not depend on {target}: only {VALIDATORS} reads languages", room.name));
    }
    if room.pure && EFFECTS.contains(&target) {
        findings.refusals.push(format!("{} does no input or output and must not depend on {target}", room.name));
    }
}

fn check_file(path: &Path, text: &str, findings: &mut Findings) {
    let shown = path.display();
    let rust = path.extension().is_some_and(|extension| extension == "rs");
    if rust && path.file_name().is_some_and(|name| name == "mod.rs") {
        findings.refusals.push(format!("{shown}: use foo.rs beside foo/ instead of mod.rs"));
    }
    if rust && path.starts_with("crates") && !text.starts_with("//!") {
        findings.refusals.push(format!("{shown}: starts without `//!` saying what the file decides"));
    }
    let lines = text.lines().count();
    if rust && lines > REFUSE_LINES {
        findings.refusals.push(format!("{shown}: {lines} lines, more than {REFUSE_LINES}"));
    } else if rust && lines > WARN_LINES {
        findings.warnings.push(format!("{shown}: {lines} lines, think of splitting it"));
    }
    // The table above has to name what it forbids.
    if path.ends_with("xtask/src/tidy.rs") {
        return;
    }
    for (number, line) in text.lines().enumerate() {
        if MACHINE_PATHS.iter().any(|word| names_machine_path(line, word)) {
            findings.refusals.push(format!("{shown}:{}: a path of one machine", number + 1));
        }
    }
}

/// Whether the line holds an absolute path that begins with the word. A word inside a longer path
/// or address (`example.com/home/`) is something else, and so is a made-up user.
fn names_machine_path(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let starts = before.is_none_or(|letter| !(letter.is_alphanumeric() || "._-/~$}>".contains(letter)));
        let rest = &line[at + word.len()..];
        // The folder as such, as rules about paths name it.
        if rest.starts_with(['"', '*']) {
            return false;
        }
        let folder = rest.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        let made_up = rest.starts_with(['<', '{', '$']) || MADE_UP.contains(&folder);
        starts && !made_up
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusals(path: &str, text: &str) -> Vec<String> {
        let mut findings = Findings::default();
        check_file(Path::new(path), text, &mut findings);
        findings.refusals
    }

    fn edge(name: &str, target: &str, kind: Option<&str>) -> usize {
        let mut findings = Findings::default();
        let room = ROOMS.iter().find(|room| room.name == name).unwrap();
        check_edge(room, target, kind, &mut findings);
        findings.refusals.len()
    }

    #[test]
    fn edges_point_one_way() {
        let table: &[(&str, &str, Option<&str>, usize)] = &[
            ("switchboard-protocol", "switchboard-wire", None, 0),
            ("switchboard-wire", "switchboard-protocol", None, 1),
            ("switchboard-sdk", "switchboard-kernel", None, 1),
            ("switchboard-wire", "tokio", None, 1),
            ("switchboard-wire", "tokio", Some("dev"), 1),
            ("switchboard-peer", "tokio", None, 0),
            ("switchboard-peer", "switchboard-testkit", Some("dev"), 0),
            ("switchboard-peer", "switchboard-testkit", None, 1),
            ("switchboard-peer", "switchboard-sdk", Some("dev"), 0),
            ("switchboard-validators", "switchboard-policy", None, 0),
            ("switchboard-policy", "switchboard-validators", None, 1),
            ("switchboard-policy", "oxc_parser", None, 1),
            ("switchboard-kernel", "ruff_python_parser", None, 1),
            ("switchboard-validators", "oxc_parser", None, 0),
        ];
        for (name, target, kind, expected) in table {
            assert_eq!(edge(name, target, *kind), *expected, "{name} -> {target} ({kind:?})");
        }
    }

    #[test]
    fn the_table_has_no_cycle() {
        for (position, room) in ROOMS.iter().enumerate() {
            for used in room.may_use {
                let at = ROOMS.iter().position(|other| other.name == *used).unwrap();
                assert!(at < position, "{} comes before {used}", room.name);
            }
        }
    }

    #[test]
    fn files_need_a_header_a_size_and_no_mod_rs() {
        assert!(refusals("crates/wire/src/id.rs", "//! Ids.\n").is_empty());
        assert_eq!(refusals("crates/wire/src/id.rs", "use std::fmt;\n").len(), 1);
        assert_eq!(refusals("crates/wire/src/id/mod.rs", "//! Ids.\n").len(), 1);
        assert_eq!(refusals("crates/wire/src/id.rs", &format!("//! Ids.\n{}", "\n".repeat(1000))).len(), 1);
        assert!(refusals("README.md", "no header\n").is_empty());
    }

    #[test]
    fn machine_paths_are_found_and_addresses_are_not() {
        assert_eq!(refusals("a.md", "see /home/builder/x").len(), 1);
        assert!(refusals("a.md", "https://example.com/home/x").is_empty());
        assert!(refusals("a.md", "/home/user/x, \"/home/me\", /home/$USER and /Users/alice/y").is_empty());
        assert_eq!(refusals("a.md", "/home/mellow/x").len(), 1);
        assert_eq!(refusals("a.md", "/root/.cache").len(), 1);
        assert!(refusals("a.rs", "//! x\nmatches!(path, \"/home/\" | \"/Users/*\")").is_empty());
        assert!(refusals("a.md", "a ~/work/x and src/work/y").is_empty());
    }
}
