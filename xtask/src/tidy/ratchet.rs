//! What the house has too much of, counted: each number may only become less. Whoever lowers one lowers its limit here.
//!
//! These are the faults that no single file shows: an object that reaches everything, a constant or a type whose name says
//! nothing because a dozen others have it too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::code::{is_source, outside_tests};

/// Types whose methods stand in many files, by crate, and in how many. What such a file does belongs to a type of its own.
const HALLS: [(&str, &str, usize); 5] = [
    ("kernel", "Kernel", 6),
    ("gate", "Gate", 18),
    ("exchange", "Exchange", 17),
    ("upstream", "Server", 8),
    ("contextgraph", "Space", 18),
];
/// Types of which so many methods are enough, by crate. What needs no state of theirs is a function of its module.
const METHODS: [(&str, &str, usize); 2] = [("gate", "Gate", 37), ("exchange", "Exchange", 99)];
/// Constants whose name says a size or a time, and not of what.
const MAX_BARE_CONSTANTS: usize = 0;
/// Public types whose name another public type has, too. (28 before files were read whose first item is one for tests.)
const MAX_SHARED_NAMES: usize = 18;

/// Lines of a crate's sources, tests aside: past this a new crate is asked to split.
const MAX_CRATE_LINES: usize = 7_000;
/// How far below its limit a crate may be before the limit is to follow it.
const LINES_TO_SPARE: usize = 1_500;
/// The limits of the crates that there are: what they have, up to the next thousand.
const CRATE_LINES: [(&str, usize); 24] = [
    ("audit", 3_000),
    ("bus", 1_000),
    ("catalog", 3_000),
    ("clients", 2_000),
    ("config", 8_000),
    ("contextgraph", 27_000),
    ("directory", 2_000),
    ("embed", 1_000),
    ("exchange", 7_000),
    ("flow", 4_000),
    ("gate", 9_000),
    ("identity", 2_000),
    ("kernel", 4_000),
    ("peer", 9_000),
    ("policy", 8_000),
    ("protocol", 10_000),
    ("sdk", 5_000),
    ("services", 9_000),
    ("store", 7_000),
    ("switchboard", 18_500),
    ("transport", 8_000),
    ("upstream", 5_000),
    ("validators", 59_000),
    ("wire", 3_000),
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
    /// Files with methods of a type, by its name in [`HALLS`].
    halls: BTreeMap<&'static str, Vec<String>>,
    /// Methods of a type, by its name in [`METHODS`].
    methods: BTreeMap<&'static str, usize>,
    bare_constants: Vec<String>,
    public_types: BTreeMap<String, Vec<String>>,
    lines: BTreeMap<String, usize>,
}

impl Ratchet {
    /// Counts one file.
    pub(super) fn count(&mut self, path: &Path, text: &str) {
        let shown = path.display().to_string();
        if !is_source(path) {
            return;
        }
        let name = shown.split('/').nth(1).unwrap_or_default();
        let mut in_halls = BTreeSet::new();
        let mut lines = 0;
        let mut counted = None;
        for (_, line) in outside_tests(text) {
            lines += 1;
            let owner = owner_of_methods(line);
            if owner.is_some() || line.starts_with('}') {
                counted = METHODS.iter().find(|one| one.0 == name && Some(one.1) == owner).map(|one| one.1);
            } else if let Some(counted) = counted.filter(|_| method(line).is_some()) {
                *self.methods.entry(counted).or_default() += 1;
            }
            in_halls.extend(HALLS.iter().filter(|hall| hall.0 == name && Some(hall.1) == owner).map(|hall| hall.1));
            if let Some(name) = bare_constant(line) {
                self.bare_constants.push(format!("{shown}: {name}"));
            }
            if let Some(name) = public_type(line) {
                self.public_types.entry(name.to_owned()).or_default().push(shown.clone());
            }
        }
        *self.lines.entry(name.to_owned()).or_default() += lines;
        for hall in in_halls {
            self.halls.entry(hall).or_default().push(shown.clone());
        }
    }

    /// What is more than its limit, and what could have a lower one.
    pub(super) fn judge(&self) -> (Vec<String>, Vec<String>) {
        let shared = self.public_types.values().filter(|places| places.len() > 1).count();
        let mut refusals = Vec::new();
        let mut warnings = Vec::new();
        let mut counts = vec![
            (
                "constants with a bare name".to_owned(),
                self.bare_constants.len(),
                MAX_BARE_CONSTANTS,
                "MAX_BARE_CONSTANTS",
            ),
            ("public type names that exist twice".to_owned(), shared, MAX_SHARED_NAMES, "MAX_SHARED_NAMES"),
        ];
        counts.extend(HALLS.iter().map(|(_, hall, limit)| {
            let count = self.halls.get(hall).map_or(0, Vec::len);
            (format!("files with methods of {hall}"), count, *limit, "HALLS")
        }));
        counts.extend(METHODS.iter().map(|(_, of, limit)| {
            (format!("methods of {of}"), self.methods.get(of).copied().unwrap_or_default(), *limit, "METHODS")
        }));
        for (what, count, limit, constant) in counts {
            if count > limit {
                refusals.push(format!(
                    "{count} {what}, more than the {limit} there were: give the new one a name or a room of its own"
                ));
            } else if count < limit {
                warnings.push(format!("{count} {what}: lower {constant} in xtask/src/tidy/ratchet.rs to it"));
            }
        }
        for (name, lines) in &self.lines {
            let own = CRATE_LINES.iter().find(|(known, _)| known == name).map(|(_, limit)| *limit);
            let limit = own.unwrap_or(MAX_CRATE_LINES);
            if *lines > limit {
                refusals.push(format!(
                    "crate `{name}` has {lines} lines, more than {limit}: what of it is a crate of its own?"
                ));
            } else if own.is_some() && limit - lines > LINES_TO_SPARE {
                warnings.push(format!(
                    "crate `{name}` has {lines} lines, far below {limit}: lower its line in xtask/src/tidy/ratchet.rs"
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

/// The type whose own methods begin on this line.
pub(super) fn owner_of_methods(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generics) => generics.split_once("> ")?.1,
        None => rest.strip_prefix(' ')?,
    };
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    (!rest.contains(" for ")).then_some(&rest[..end])
}

/// The name of a method that is defined on this line of an `impl`.
pub(super) fn method(line: &str) -> Option<&str> {
    let line = after_visibility(line.strip_prefix("    ")?);
    let line = ["const ", "async ", "unsafe "].iter().fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
    let rest = line.strip_prefix("fn ")?;
    Some(&rest[..rest.find(['(', '<'])?])
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
        let text = "impl Kernel {\nconst MOST: usize = 1;\npub(crate) const LOOK: u8 = 2;\npub struct Asked;\n#[cfg(test)]\nmod tests {\nconst MOST: u8 = 3;\n}\n";
        let found = counted("crates/kernel/src/a.rs", text);
        assert_eq!((found.halls.len(), found.bare_constants.len(), found.public_types.len()), (1, 2, 1));
        let found = counted("crates/kernel/tests/it/a.rs", text);
        assert_eq!((found.halls.len(), found.bare_constants.len(), found.public_types.len()), (0, 0, 0));
        assert!(
            counted("crates/a/src/a.rs", "const MAX_MOST: usize = 1;\npub(crate) struct Own;\n")
                .public_types
                .is_empty()
        );
    }

    #[test]
    fn what_stands_behind_an_item_for_tests_is_counted() {
        let found =
            counted("crates/kernel/src/a.rs", "#[cfg(test)]\nmod tests;\n\nimpl Kernel {\nconst MOST: usize = 1;\n");
        assert_eq!((found.halls.len(), found.bare_constants.len(), found.lines["kernel"]), (1, 1, 3));
    }

    #[test]
    fn methods_of_a_type_have_one_owner() {
        let cases = [
            ("impl Gate {", Some("Gate")),
            ("impl<'a> Gate<'a> {", Some("Gate")),
            ("impl<T: Into<u8>> Gate<T> {", Some("Gate")),
            ("impl Gatekeeper for Gate {", None),
            ("    impl Gate {", None),
        ];
        for (line, owner) in cases {
            assert_eq!(owner_of_methods(line), owner, "{line}");
        }
    }

    #[test]
    fn more_than_there_was_is_refused() {
        for (name, hall, limit) in HALLS {
            let mut ratchet = Ratchet::default();
            for number in 0..=limit {
                ratchet.count(Path::new(&format!("crates/{name}/src/a{number}.rs")), &format!("impl {hall} {{\n"));
                // Another crate's type of the name is another type.
                ratchet.count(Path::new(&format!("crates/new/src/a{number}.rs")), &format!("impl {hall} {{\n"));
            }
            assert_eq!(ratchet.halls[hall].len(), limit + 1);
            let (refusals, _) = ratchet.judge();
            assert_eq!(refusals.len(), 1, "{refusals:?}");
        }
    }

    #[test]
    fn methods_are_counted_for_their_type() {
        let text = "impl Gate<'_> {\n    pub fn a() {}\n    async fn b<T>(\n        fn no();\n}\nfn c() {}\nimpl Other {\n    fn d() {}\n}\n";
        let found = counted("crates/gate/src/a.rs", text);
        assert_eq!(found.methods["Gate"], 2);
        assert!(counted("crates/exchange/src/a.rs", text).methods.is_empty());
        let (_, _, limit) = METHODS[0];
        let many = format!("impl Gate<'_> {{\n{}}}\n", "    fn a() {}\n".repeat(limit + 1));
        assert_eq!(counted("crates/gate/src/a.rs", &many).judge().0.len(), 1);
    }

    #[test]
    fn a_crate_that_grows_too_long_is_refused_and_one_that_shrinks_is_told() {
        let (name, limit) = CRATE_LINES[0];
        for (name, lines, refused, warned) in [
            ("new", MAX_CRATE_LINES, 0, 0),
            ("new", MAX_CRATE_LINES + 1, 1, 0),
            ("new", 1, 0, 0),
            (name, limit, 0, 0),
            (name, limit + 1, 1, 0),
            (name, limit - LINES_TO_SPARE - 1, 0, 1),
        ] {
            let text = "x\n".repeat(lines);
            let found =
                counted(&format!("crates/{name}/src/a.rs"), &format!("{text}#[cfg(test)]\nmod tests {{\ny\n}}\n"));
            let (refusals, warnings) = found.judge();
            let warnings = warnings.iter().filter(|warning| warning.contains("far below")).count();
            assert_eq!((refusals.len(), warnings), (refused, warned), "{name} {lines}");
        }
    }

    #[test]
    fn strangers_at_the_root_are_seen() {
        assert!(is_stray(Path::new("d/mgp.toml")) && is_stray(Path::new("notes.txt")));
        assert!(!is_stray(Path::new("docs/security.md")) && !is_stray(Path::new("README.md")));
    }
}
