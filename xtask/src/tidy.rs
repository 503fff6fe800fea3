//! Rules of the house that no compiler checks: edges between crates and modules, effects, headers, sizes, words.
//!
//! Edges between crates stand in the drawing of ARCHITECTURE.md, which is compared with the manifests. A new crate gets its
//! line there before it gets its first dependency.

mod absences;
mod code;
mod drawing;
mod effects;
mod modules;
mod pages;
mod ratchet;
mod wide;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::layout::Layout;
use crate::process;
use crate::tally::say;
use modules::Modules;
use ratchet::Ratchet;

const WARN_LINES: usize = 700;
const REFUSE_LINES: usize = 1000;
/// What can be read in one go, by whoever sees the code for the first time.
const MAX_ARCHITECTURE_LINES: usize = 300;

/// Paths that exist on one machine only.
const MACHINE_PATHS: &[&str] = &["/work/", "/home/", "/root/", "/Users/"];

/// Users that examples and tests invent.
const MADE_UP: &[&str] = &["user", "alice", "bob", "me", "you"];

/// Runs every rule and fails with the list of what is wrong.
pub(crate) fn run(layout: &Layout) -> Result<()> {
    let mut findings = Findings::default();
    let page = fs::read_to_string(layout.root.join("ARCHITECTURE.md")).context("ARCHITECTURE.md cannot be read")?;
    let lines = page.lines().count();
    if lines > MAX_ARCHITECTURE_LINES {
        findings.refusals.push(format!("ARCHITECTURE.md: {lines} lines, more than {MAX_ARCHITECTURE_LINES}"));
    }
    let (rooms, wrong) = drawing::read(&page);
    findings.refusals.extend(wrong);
    findings.refusals.extend(drawing::check(&rooms, &metadata(layout)?));
    let files = tracked(layout)?;
    let (mut ratchet, mut modules) = (Ratchet::default(), Modules::default());
    let mut texts = Vec::new();
    for path in &files {
        if ratchet::is_stray(path) {
            findings.refusals.push(format!("{}: has no place at the root", path.display()));
        }
        // Deleted but not yet committed, or not text: nothing to read.
        let Ok(text) = fs::read_to_string(layout.root.join(path)) else { continue };
        check_file(path, &text, &mut findings);
        findings.refusals.extend(pages::lost_files(path, &text, &files));
        findings.refusals.extend(effects::check(path, &text));
        findings.refusals.extend(wide::check(path, &text));
        ratchet.count(path, &text);
        modules.note(path, &text);
        if code::is_source(path) {
            texts.push((path.as_path(), text));
        }
    }
    let sources: Vec<(&Path, &str)> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    findings.refusals.extend(absences::check(&absences::read(&page), &rooms, &sources));
    findings.refusals.extend(pages::unnamed_steps(&page, &sources));
    findings.warnings.extend(effects::idle(&sources));
    findings.refusals.extend(effects::wrong_bans(&files));
    for (refusals, warnings) in [ratchet.judge(), modules.judge()] {
        findings.refusals.extend(refusals);
        findings.warnings.extend(warnings);
    }
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
