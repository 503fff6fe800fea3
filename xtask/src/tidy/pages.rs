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

/// Steps that a refusal is put on record with, and that the page of the house does not name.
pub(super) fn unnamed_steps(page: &str, sources: &[(&Path, &str)]) -> Vec<String> {
    let mut steps = BTreeSet::new();
    for (path, text) in sources.iter().filter(|(path, _)| path.starts_with("crates/gate/src")) {
        for (_, line) in super::code::code(text) {
            let said = line.split("\"step\", \"").skip(1).filter_map(|rest| rest.split('"').next());
            steps.extend(said.map(|step| (step.to_owned(), path.display().to_string())));
        }
    }
    let unnamed = steps.iter().filter(|(step, _)| !page.contains(&format!("`{step}`")));
    unnamed.map(|(step, path)| format!("ARCHITECTURE.md does not name the step `{step}` of {path}")).collect()
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
        let source =
            (Path::new("crates/gate/src/a.rs"), "with(event, \"step\", \"rate\");\nwith(event, \"step\", step);\n");
        assert!(unnamed_steps("the step `rate`", &[source]).is_empty());
        assert_eq!(unnamed_steps("the step `rates`", &[source]).len(), 1);
    }
}
