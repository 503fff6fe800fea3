//! What pages say of the sources: files that they name are there, and the steps of the gate have one set of names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file that a page names with its crate (`gate/src/steps.rs`) and that is not there.
pub(super) fn lost_files(page: &Path, text: &str, files: &[PathBuf]) -> Vec<String> {
    let shown = page.display().to_string();
    let is_page = shown.ends_with(".md") && (!shown.contains('/') || shown.starts_with("docs/"));
    // What was changed and decided then names the files of then.
    if !is_page || shown == "CHANGELOG.md" || shown.starts_with("docs/decisions/") {
        return Vec::new();
    }
    let known: BTreeSet<&Path> = files.iter().map(PathBuf::as_path).collect();
    let mut lost = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for named in line.split('`').skip(1).step_by(2).filter(|named| named.contains("/src/") && is_path(named)) {
            let places = [named.to_owned(), format!("crates/{named}")];
            if !places.iter().any(|place| known.contains(Path::new(place))) {
                lost.push(format!("{shown}:{}: there is no {named}", number + 1));
            }
        }
    }
    lost
}

fn is_path(text: &str) -> bool {
    text.ends_with(".rs") && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "/_-.".contains(letter))
}

/// The file with the table of steps.
const STEPS: &str = "crates/audit/src/events.rs";

/// Steps that a refusal is put on record with, and that the page of the house does not name; and steps that are named beside the
/// table.
pub(super) fn unnamed_steps(page: &str, sources: &[(&Path, &str)]) -> Vec<String> {
    let table = sources.iter().find(|(path, _)| *path == Path::new(STEPS)).map_or("", |(_, text)| *text);
    let table = table.split_once("pub mod step {").map_or("", |(_, rest)| rest.split("\n}").next().unwrap_or_default());
    let steps: BTreeSet<&str> = table
        .lines()
        .filter(|line| line.contains("const ") && !line.contains(" KEY:"))
        .filter_map(|line| line.split('"').nth(1))
        .collect();
    let unnamed = steps.iter().filter(|step| !page.contains(&format!("`{step}`")));
    let mut wrong: Vec<String> =
        unnamed.map(|step| format!("ARCHITECTURE.md does not name the step `{step}` of {STEPS}")).collect();
    for (path, text) in sources.iter().filter(|(path, _)| super::code::is_source(path)) {
        let said = super::code::code(text).filter(|(_, line)| line.contains(", \"step\", "));
        wrong.extend(said.map(|(number, _)| {
            format!("{}:{}: a step is named beside the table of {STEPS}", path.display(), number + 1)
        }));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_there_are_told() {
        let files = [PathBuf::from("crates/gate/src/steps.rs"), PathBuf::from("xtask/src/main.rs")];
        let text =
            "`gate/src/steps.rs`, `xtask/src/main.rs`, `crates/gate/src/steps.rs`\n`gate/src/gone.rs`, `gate/src/`";
        assert_eq!(
            lost_files(Path::new("ARCHITECTURE.md"), text, &files),
            ["ARCHITECTURE.md:2: there is no gate/src/gone.rs"]
        );
        assert!(lost_files(Path::new("CHANGELOG.md"), text, &files).is_empty());
    }

    #[test]
    fn steps_have_one_set_of_names() {
        let table = "pub mod step {\n    pub const RATE: &str = \"rate\";\n    pub const KEY: &str = \"step\";\n}\n";
        let table = (Path::new(STEPS), table);
        assert!(unnamed_steps("the step `rate`", &[table]).is_empty());
        assert_eq!(unnamed_steps("the step `rates`", &[table]).len(), 1);
        let beside =
            (Path::new("crates/gate/src/a.rs"), "with(event, \"step\", \"rate\");\nwith(event, step::KEY, step);\n");
        assert_eq!(unnamed_steps("the step `rate`", &[table, beside]).len(), 1);
    }
}
