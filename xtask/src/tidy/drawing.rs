//! The drawing of the house: which crate uses which, as ARCHITECTURE.md shows it.
//!
//! The page is the one place where edges stand. A line is `name: what it uses`, `(pure)` behind the name where the crate has no
//! input and output; what is used stands in a line above. What the manifests say must be just that: an edge too many in
//! either of them is refused, so that the page stays true and a new edge is seen by whoever reads the change.

use std::collections::BTreeSet;

use serde_json::Value;

/// What stands before the block on the page.
pub(super) const MARK: &str = "<!-- the drawing that tidy reads -->";

/// Crates that a pure room never uses, not even for tests.
const EFFECTS: &[&str] = &["tokio", "tokio-util", "hyper", "hyper-util", "mio", "reqwest", "notify"];

/// How the names of parsers of languages begin, and the one room that uses them: they are large, and build slowly.
const PARSERS: [&str; 2] = ["oxc_", "ruff_"];
const VALIDATORS: &str = "validators";

/// Test doubles: any crate may use them in its tests, none outside.
const TESTKIT: &str = "switchboard-testkit";

/// How the packages of the house begin; the binary is called just that.
const HOUSE: &str = "switchboard";

/// One crate of the house.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) name: String,
    pub(super) uses: BTreeSet<String>,
    pure: bool,
}

/// The rooms that a page draws, and what is wrong with the drawing.
pub(super) fn read(page: &str) -> (Vec<Room>, Vec<String>) {
    let mut rooms: Vec<Room> = Vec::new();
    let mut refusals = Vec::new();
    let block = page.split_once(MARK).and_then(|(_, rest)| rest.split("```").nth(1));
    let Some(block) = block else {
        return (rooms, vec![format!("ARCHITECTURE.md: no block behind `{MARK}`")]);
    };
    // Behind the three marks stands the language of the block.
    for line in block.lines().skip(1).filter(|line| !line.trim().is_empty()) {
        let Some((head, uses)) = line.split_once(':') else {
            refusals.push(format!("ARCHITECTURE.md: `{line}` in the drawing is no crate and what it uses"));
            continue;
        };
        let (name, pure) = match head.trim().strip_suffix("(pure)") {
            Some(name) => (name.trim(), true),
            None => (head.trim(), false),
        };
        let uses: BTreeSet<String> = uses.split_whitespace().map(str::to_owned).collect();
        for used in uses.iter().filter(|used| !rooms.iter().any(|room| room.name == **used)) {
            refusals.push(format!("ARCHITECTURE.md: `{name}` uses `{used}`, which stands in no line above it"));
        }
        rooms.push(Room { name: name.to_owned(), uses, pure });
    }
    (rooms, refusals)
}

/// Compares the drawing with the manifests.
pub(super) fn check(rooms: &[Room], metadata: &Value) -> Vec<String> {
    let mut refusals = Vec::new();
    let mut built = BTreeSet::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        if !manifest.contains("/crates/") {
            continue;
        }
        let name = short(package["name"].as_str().unwrap_or_default());
        built.insert(name.to_owned());
        let Some(room) = rooms.iter().find(|room| room.name == name) else {
            refusals.push(format!("crate `{name}` has no line in the drawing of ARCHITECTURE.md"));
            continue;
        };
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let edges: Vec<(&str, bool)> = dependencies
            .map(|edge| (edge["name"].as_str().unwrap_or_default(), edge["kind"].as_str() == Some("dev")))
            .collect();
        refusals.extend(of_room(room, &edges));
    }
    for room in rooms.iter().filter(|room| !built.contains(&room.name)) {
        refusals.push(format!("ARCHITECTURE.md draws `{}`, and there is no such crate", room.name));
    }
    refusals
}

/// What is wrong with the dependencies of one crate: their names, and whether they are for tests alone.
fn of_room(room: &Room, edges: &[(&str, bool)]) -> Vec<String> {
    let name = &room.name;
    let mut refusals = Vec::new();
    for (target, for_tests) in edges {
        if *target == TESTKIT && !for_tests {
            refusals.push(format!("`{name}` uses {TESTKIT} outside of its tests"));
        }
        if name != VALIDATORS && PARSERS.iter().any(|parser| target.starts_with(parser)) {
            refusals.push(format!("`{name}` must not use {target}: only `{VALIDATORS}` reads languages"));
        }
        if room.pure && EFFECTS.contains(target) {
            refusals.push(format!("`{name}` does no input or output and must not use {target}"));
        }
    }
    let is_ours = |target: &str| (target == HOUSE || target.starts_with("switchboard-")) && target != TESTKIT;
    let used: BTreeSet<String> = edges
        .iter()
        .filter(|(target, for_tests)| !for_tests && is_ours(target))
        .map(|(target, _)| short(target).to_owned())
        .collect();
    for target in used.difference(&room.uses) {
        refusals.push(format!("`{name}` must not use `{target}`: the drawing of ARCHITECTURE.md has no such edge"));
    }
    for target in room.uses.difference(&used) {
        refusals.push(format!("ARCHITECTURE.md says that `{name}` uses `{target}`, and it does not"));
    }
    refusals
}

fn short(package: &str) -> &str {
    package.strip_prefix("switchboard-").unwrap_or(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<!-- the drawing that tidy reads -->\n```text\nwire (pure):\npolicy (pure): wire\nvalidators (pure): policy wire\n\
        peer: wire\nswitchboard: peer validators\n```\n";

    fn room(name: &str) -> Room {
        read(PAGE).0.into_iter().find(|room| room.name == name).unwrap()
    }

    #[test]
    fn edges_are_those_of_the_drawing() {
        type Edge = (&'static str, bool);
        let table: &[(&str, &[Edge], usize)] = &[
            ("wire", &[("serde", false)], 0),
            ("policy", &[("switchboard-wire", false)], 0),
            ("policy", &[("switchboard-wire", true)], 1),
            ("policy", &[("switchboard-wire", false), ("switchboard-validators", false)], 1),
            ("policy", &[("switchboard-wire", false), ("switchboard-validators", true)], 0),
            ("policy", &[], 1),
            ("policy", &[("switchboard-wire", false), ("tokio", true)], 1),
            ("policy", &[("switchboard-wire", false), ("oxc_parser", false)], 1),
            ("validators", &[("switchboard-wire", false), ("switchboard-policy", false), ("oxc_parser", false)], 0),
            ("peer", &[("switchboard-wire", false), ("tokio", false), ("switchboard-testkit", true)], 0),
            ("peer", &[("switchboard-wire", false), ("switchboard-testkit", false)], 1),
            ("wire", &[("switchboard", false)], 1),
        ];
        for (name, edges, expected) in table {
            assert_eq!(of_room(&room(name), edges).len(), *expected, "{name} {edges:?}");
        }
    }

    #[test]
    fn a_drawing_without_order_or_form_is_refused() {
        assert_eq!(read(PAGE).1, Vec::<String>::new());
        assert_eq!(read("no block").1.len(), 1);
        let page = |lines: &str| format!("{MARK}\n```text\n{lines}\n```\n");
        assert_eq!(read(&page("a: b\nb:")).1.len(), 1, "what is used stands above");
        assert_eq!(read(&page("a: a")).1.len(), 1);
        assert_eq!(read(&page("a\nb:")).1.len(), 1);
    }

    #[test]
    fn a_crate_without_a_line_and_a_line_without_a_crate_are_refused() {
        let package = |name: &str| serde_json::json!({"name": name, "manifest_path": "/x/crates/y/Cargo.toml", "dependencies": []});
        let metadata = |names: &[&str]| serde_json::json!({"packages": names.iter().map(|name| package(name)).collect::<Vec<_>>()});
        let (rooms, _) = read(&format!("{MARK}\n```text\nwire:\nflow:\n```"));
        assert!(check(&rooms, &metadata(&["switchboard-wire", "switchboard-flow"])).is_empty());
        assert_eq!(check(&rooms, &metadata(&["switchboard-wire"])).len(), 1);
        assert_eq!(check(&rooms, &metadata(&["switchboard-wire", "switchboard-flow", "switchboard-bus"])).len(), 1);
    }
}
