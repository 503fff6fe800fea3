//! What the house has too much of, counted: each number may only become less. Whoever lowers one lowers its limit here.
//!
//! These are the faults that no single file shows: an object that reaches everything, a constant or a type whose name says
//! nothing because a dozen others have it too.

use std::collections::BTreeMap;
use std::path::Path;

/// Files with methods of the kernel. What does not assemble belongs into a room of its own.
const MAX_KERNEL_FILES: usize = 6;
/// Constants whose name says a size or a time, and not of what.
const MAX_BARE_CONSTANTS: usize = 0;
/// Public types whose name another public type has, too.
const MAX_SHARED_NAMES: usize = 28;

/// Lines of a crate's sources, tests aside: past this a crate is asked to split.
const MAX_CRATE_LINES: usize = 7_000;
/// Crates that have more, or are to have less, and up to where.
const CRATE_LINES: [(&str, usize); 10] = [
    ("kernel", 4_000),
    ("gate", 8_700),
    ("services", 8_500),
    ("transport", 8_200),
    ("config", 8_000),
    ("peer", 9_200),
    ("policy", 7_800),
    ("switchboard", 17_000),
    ("contextgraph", 30_000),
    ("validators", 58_000),
];

/// Names that only say that something is a bound or a time.
const BARE_NAMES: [&str; 10] =
    ["MOST", "LOOK", "LONGEST", "PATIENCE", "LARGEST", "USUAL", "WAITING", "LIFE", "PAUSE", "ENOUGH"];

/// What stands at the root of the repository.
const ROOT: [&str; 26] = [
    ".cargo",
    ".ci",
    ".config",
    ".github",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "bench",
    "clippy.toml",
    "crates",
    "deploy",
    "docs",
    "examples",
    "fuzz",
    "interop",
    "rustfmt.toml",
    "schemas",
    "testkit",
    "xtask",
];

/// What was counted over all files.
#[derive(Debug, Default)]
pub(super) struct Ratchet {
    kernel_files: Vec<String>,
    bare_constants: Vec<String>,
    public_types: BTreeMap<String, Vec<String>>,
    lines: BTreeMap<String, usize>,
}

impl Ratchet {
    /// Counts one file.
    pub(super) fn count(&mut self, path: &Path, text: &str) {
        let shown = path.display().to_string();
        let is_source = shown.starts_with("crates/") && shown.contains("/src/") && shown.ends_with(".rs");
        if !is_source || shown.contains("/tests/") || shown.ends_with("/tests.rs") {
            return;
        }
        let mut has_kernel = false;
        // Tests stand at the end of a file.
        for line in text.lines().take_while(|line| line.trim() != "#[cfg(test)]") {
            has_kernel |= ["impl Kernel ", "impl<'a> Kernel "].iter().any(|head| line.starts_with(head));
            if let Some(name) = bare_constant(line) {
                self.bare_constants.push(format!("{shown}: {name}"));
            }
            if let Some(name) = public_type(line) {
                self.public_types.entry(name.to_owned()).or_default().push(shown.clone());
            }
        }
        let lines = text.lines().take_while(|line| line.trim() != "#[cfg(test)]").count();
        let name = shown.split('/').nth(1).unwrap_or_default();
        *self.lines.entry(name.to_owned()).or_default() += lines;
        if has_kernel {
            self.kernel_files.push(shown);
        }
    }

    /// What is more than its limit, and what could have a lower one.
    pub(super) fn judge(&self) -> (Vec<String>, Vec<String>) {
        let shared = self.public_types.values().filter(|places| places.len() > 1).count();
        let mut refusals = Vec::new();
        let mut warnings = Vec::new();
        for (what, count, limit, constant) in [
            ("files with methods of Kernel", self.kernel_files.len(), MAX_KERNEL_FILES, "MAX_KERNEL_FILES"),
            ("constants with a bare name", self.bare_constants.len(), MAX_BARE_CONSTANTS, "MAX_BARE_CONSTANTS"),
            ("public type names that exist twice", shared, MAX_SHARED_NAMES, "MAX_SHARED_NAMES"),
        ] {
            if count > limit {
                refusals.push(format!(
                    "{count} {what}, more than the {limit} there were: give the new one a name or a room of its own"
                ));
            } else if count < limit {
                warnings.push(format!("{count} {what}: lower {constant} in xtask/src/tidy/ratchet.rs to it"));
            }
        }
        for (name, lines) in &self.lines {
            let limit =
                CRATE_LINES.iter().find(|(known, _)| known == name).map_or(MAX_CRATE_LINES, |(_, limit)| *limit);
            if *lines > limit {
                refusals.push(format!(
                    "crate `{name}` has {lines} lines, more than {limit}: what of it is a crate of its own?"
                ));
            }
        }
        (refusals, warnings)
    }
}

/// Whether a path begins with something that has no place at the root.
pub(super) fn is_stray(path: &Path) -> bool {
    let first = path.components().next().and_then(|first| first.as_os_str().to_str());
    first.is_some_and(|first| !ROOT.contains(&first))
}

/// The name of a constant that is defined here and bare.
fn bare_constant(line: &str) -> Option<&str> {
    let rest = after_visibility(line.trim_start()).strip_prefix("const ")?;
    let name = rest.split(':').next()?;
    BARE_NAMES.contains(&name).then_some(name)
}

/// The name of a public type that is defined here.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|kind| rest.strip_prefix(kind))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    Some(&rest[..end])
}

pub(super) fn after_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    match rest.strip_prefix('(') {
        Some(inside) => inside.split_once(") ").map_or(line, |(_, rest)| rest),
        None => rest.trim_start(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(path: &str, text: &str) -> Ratchet {
        let mut ratchet = Ratchet::default();
        ratchet.count(Path::new(path), text);
        ratchet
    }

    #[test]
    fn halls_bare_names_and_twins_are_counted_in_sources_only() {
        let text = "impl Kernel {\nconst MOST: usize = 1;\npub(crate) const LOOK: u8 = 2;\npub struct Asked;\n#[cfg(test)]\nconst MOST: u8 = 3;\n";
        let found = counted("crates/kernel/src/a.rs", text);
        assert_eq!((found.kernel_files.len(), found.bare_constants.len(), found.public_types.len()), (1, 2, 1));
        let found = counted("crates/kernel/tests/it/a.rs", text);
        assert_eq!((found.kernel_files.len(), found.bare_constants.len(), found.public_types.len()), (0, 0, 0));
        assert!(
            counted("crates/a/src/a.rs", "const MAX_MOST: usize = 1;\npub(crate) struct Own;\n")
                .public_types
                .is_empty()
        );
    }

    #[test]
    fn more_than_there_was_is_refused() {
        let mut ratchet = Ratchet::default();
        for number in 0..=MAX_KERNEL_FILES {
            ratchet.count(Path::new(&format!("crates/kernel/src/a{number}.rs")), "impl Kernel {\n");
        }
        let (refusals, _) = ratchet.judge();
        assert_eq!(refusals.len(), 1, "{refusals:?}");
    }

    #[test]
    fn a_crate_that_grows_too_long_is_refused() {
        for (name, lines, refused) in [("a", MAX_CRATE_LINES, 0), ("a", MAX_CRATE_LINES + 1, 1), ("kernel", 4_001, 1)] {
            let text = "x\n".repeat(lines);
            let found = counted(&format!("crates/{name}/src/a.rs"), &format!("{text}#[cfg(test)]\ny\ny\n"));
            assert_eq!(found.judge().0.len(), refused, "{name} {lines}");
        }
    }

    #[test]
    fn strangers_at_the_root_are_seen() {
        assert!(is_stray(Path::new("d/mgp.toml")) && is_stray(Path::new("notes.txt")));
        assert!(!is_stray(Path::new("docs/security.md")) && !is_stray(Path::new("README.md")));
    }
}
