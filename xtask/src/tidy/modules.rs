//! Edges between the top-level modules of a crate: they form no cycle, as crates do not.
//!
//! An edge is a path that begins at the root of the crate (`crate::flow::..`, `super::..` where that is the root) and names
//! another module, or something that the root re-exports of one. Methods of one type that are defined in several modules leave no
//! such path. They are seen for the types of [`HANDLES`]. Crates that had cycles when this was written have the number of modules that are in one: it may only
//! become less. (That of `protocol` rose once, from 2, when tidy began to read files whose first
//! item is one for tests; the circle was older: faults take over what the proposals say, which are written in words of MGP.)

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::ratchet::{method, owner_of_methods};

/// Modules that are in a cycle, by crate. A crate that is not here has none.
const IN_CYCLES: [(&str, usize); 13] = [
    ("config", 8),
    ("contextgraph", 4),
    ("exchange", 7),
    ("peer", 2),
    ("policy", 3),
    ("protocol", 3),
    ("sdk", 5),
    ("services", 2),
    ("store", 17),
    ("switchboard", 13),
    ("upstream", 2),
    ("validators", 4),
    ("wire", 7),
];

/// Types whose methods stand in several modules of a crate, and what a value of one is called: `gate.admit(..)` in one module is
/// an edge to the module that defines `admit`.
const HANDLES: [(&str, &str, &str); 1] = [("gate", "Gate", "gate")];

/// The sources of all crates, by crate and by path below `src`.
#[derive(Debug, Default)]
pub(super) struct Modules {
    crates: BTreeMap<String, BTreeMap<String, String>>,
}

impl Modules {
    /// Takes note of one file.
    pub(super) fn note(&mut self, path: &Path, text: &str) {
        let shown = path.display().to_string();
        let Some((name, inner)) = shown.strip_prefix("crates/").and_then(|rest| rest.split_once("/src/")) else {
            return;
        };
        if !super::code::is_source(path) {
            return;
        }
        let code: Vec<&str> = super::code::code(text).map(|(_, line)| line).collect();
        self.crates.entry(name.to_owned()).or_default().insert(inner.to_owned(), code.join("\n"));
    }

    /// What has more modules in cycles than it had, and what has less.
    pub(super) fn judge(&self) -> (Vec<String>, Vec<String>) {
        let (mut refusals, mut warnings) = (Vec::new(), Vec::new());
        for (name, files) in &self.crates {
            let cycles = cycles(&edges(name, files));
            let count: usize = cycles.iter().map(BTreeSet::len).sum();
            let limit = IN_CYCLES.iter().find(|(known, _)| known == name).map_or(0, |(_, limit)| *limit);
            let shown = || {
                let cycles = cycles.iter().map(|cycle| cycle.iter().cloned().collect::<Vec<_>>().join(", "));
                cycles.collect::<Vec<_>>().join("; ")
            };
            if count > limit {
                refusals.push(format!(
                    "crate `{name}`: {count} modules use each other in circles, more than {limit}: {}",
                    shown()
                ));
            } else if count < limit {
                warnings.push(format!(
                    "crate `{name}`: {count} modules in circles: lower its line in xtask/src/tidy/modules.rs to it"
                ));
            }
        }
        (refusals, warnings)
    }
}

type Edges = BTreeMap<String, BTreeSet<String>>;

/// Which top-level module uses which.
fn edges(name: &str, files: &BTreeMap<String, String>) -> Edges {
    let Some(root) = files.get("lib.rs").or_else(|| files.get("main.rs")) else { return Edges::new() };
    let modules: BTreeSet<&str> = root.lines().filter_map(declared).collect();
    let mut exported: BTreeMap<String, &str> = BTreeMap::new();
    for (module, rest) in statements(root, "use ") {
        let Some(module) = modules.get(module.as_str()) else { continue };
        exported.extend(words(&rest).map(|word| (word.to_owned(), *module)));
    }
    let mut edges: Edges = modules.iter().map(|module| ((*module).to_owned(), BTreeSet::new())).collect();
    for (path, text) in files {
        let parts: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
        let Some(uses) = edges.get_mut(parts[0]) else { continue };
        let up = "super::".repeat(parts.len());
        for name in named_after(text, "crate::").into_iter().chain(named_after(text, &up)) {
            let target = modules.get(name.as_str()).or_else(|| exported.get(&name));
            if let Some(target) = target.filter(|target| **target != parts[0]) {
                uses.insert((*target).to_owned());
            }
        }
    }
    for (_, of, called) in HANDLES.iter().filter(|handle| handle.0 == name) {
        add_calls(&mut edges, files, of, called);
    }
    edges
}

/// Adds the calls of methods of a type from one module to another: through `self` in its own methods, and by its name anywhere.
fn add_calls(edges: &mut Edges, files: &BTreeMap<String, String>, of: &str, called: &str) {
    let mut defined: BTreeMap<&str, &str> = BTreeMap::new();
    let mut own: BTreeMap<&str, String> = BTreeMap::new();
    for (path, text) in files {
        let mut is_own = false;
        for line in text.lines() {
            if line.starts_with("impl") || line.starts_with('}') {
                is_own = owner_of_methods(line) == Some(of);
            } else if is_own {
                defined.extend(method(line).map(|name| (name, module_of(path))));
                *own.entry(path.as_str()).or_default() += line;
            }
        }
    }
    for (path, text) in files {
        let Some(uses) = edges.get_mut(module_of(path)) else { continue };
        for (name, target) in defined.iter().filter(|(_, target)| **target != module_of(path)) {
            let by_self = own.get(path.as_str()).is_some_and(|own| is_called(own, "self", name));
            if by_self || is_called(text, called, name) {
                uses.insert((*target).to_owned());
            }
        }
    }
}

/// Whether a method of this name is called through a value of that one. A field may have the name as well.
fn is_called(text: &str, value: &str, name: &str) -> bool {
    text.match_indices(&format!("{value}.{name}(")).any(|(at, _)| !text[..at].ends_with(is_of_name))
}

fn module_of(path: &str) -> &str {
    path.split('/').next().unwrap_or_default().trim_end_matches(".rs")
}

/// The module that a line of a root declares.
fn declared(line: &str) -> Option<&str> {
    let rest = super::ratchet::after_visibility(line);
    let name = rest.strip_prefix("mod ")?.strip_suffix(';')?;
    (!name.contains(' ')).then_some(name)
}

/// The `use` statements of a root: the first name of each, and the rest.
fn statements(root: &str, keyword: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, _) in root.match_indices(keyword) {
        let statement = root[at + keyword.len()..].split(';').next().unwrap_or_default();
        let statement = statement.trim_start_matches("crate::").trim_start_matches("self::");
        if let Some((first, rest)) = statement.split_once("::") {
            found.push((first.to_owned(), rest.to_owned()));
        }
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !is_of_name(letter)).filter(|word| !word.is_empty())
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The names that stand directly behind a prefix, one or several in braces.
fn named_after(text: &str, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices(prefix) {
        let before = text[..at].chars().next_back();
        // `$crate::` is another root, and `super::super::` is looked for as a whole.
        if before.is_some_and(|letter| is_of_name(letter) || letter == '$' || letter == ':') {
            continue;
        }
        let rest = &text[at + prefix.len()..];
        if rest.starts_with("super::") {
            continue;
        }
        match rest.strip_prefix('{') {
            None => names.extend(words(rest).next().filter(|word| rest.starts_with(word)).map(str::to_owned)),
            Some(inside) => names.extend(heads(inside)),
        }
    }
    names
}

/// The first name of each part between braces.
fn heads(inside: &str) -> Vec<String> {
    let (mut heads, mut depth, mut begins) = (Vec::new(), 0_usize, true);
    for (at, letter) in inside.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && is_of_name(letter) => {
                heads.extend(words(&inside[at..]).next().map(str::to_owned));
                begins = false;
            }
            _ => {}
        }
    }
    heads
}

/// The groups of modules that reach each other.
fn cycles(edges: &Edges) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|from| (from.as_str(), reached(edges, from))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for (from, to) in &reach {
        if !to.contains(from) || found.iter().any(|cycle| cycle.contains(*from)) {
            continue;
        }
        let back = to.iter().filter(|other| reach.get(**other).is_some_and(|reached| reached.contains(from)));
        found.push(back.map(|other| (*other).to_owned()).collect());
    }
    found
}

fn reached<'e>(edges: &'e Edges, from: &str) -> BTreeSet<&'e str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = edges.get(from).into_iter().flatten().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(edges.get(next).into_iter().flatten().map(String::as_str));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(files: &[(&str, &str)]) -> Vec<String> {
        let mut modules = Modules::default();
        for (path, text) in files {
            modules.note(Path::new(path), text);
        }
        modules.judge().0
    }

    #[test]
    fn modules_that_use_each_other_are_refused() {
        let root = ("crates/a/src/lib.rs", "mod one;\npub(crate) mod two;\nmod three;\npub use three::{Deep, Flat};\n");
        let two_ways = [
            ("use crate::two::X;", "fn f() -> super::one::Y {}"),
            ("use crate::{three::{A, B}, two};", "use crate::one;"),
        ];
        for (one, two) in two_ways {
            let found = judged(&[root, ("crates/a/src/one.rs", one), ("crates/a/src/two.rs", two)]);
            assert_eq!(found.len(), 1, "{one} {two}: {found:?}");
        }
        let behind_tests = [
            root,
            ("crates/a/src/one.rs", "#[cfg(test)]\nmod tests;\nuse crate::two::X;"),
            ("crates/a/src/two.rs", "use crate::one;"),
        ];
        assert_eq!(judged(&behind_tests).len(), 1);
        let by_export = [
            root,
            ("crates/a/src/one.rs", "use crate::Deep;"),
            ("crates/a/src/three/x.rs", "use super::super::one::Z;"),
        ];
        assert_eq!(judged(&by_export).len(), 1);
        let one_way = [
            root,
            ("crates/a/src/one.rs", "#[cfg(test)]\nuse crate::three::Y;\nuse crate::two::X;"),
            ("crates/a/src/three.rs", "use crate::one; // use crate::four\nuse super::two;"),
            ("crates/a/src/three/deep.rs", "use super::Flat;"),
        ];
        assert_eq!(judged(&one_way), Vec::<String>::new());
    }

    #[test]
    fn methods_of_a_handle_are_edges_too() {
        let root = ("crates/gate/src/lib.rs", "mod one;\nmod two;\n");
        let one = "impl Gate<'_> {\n    pub fn first(&self) {\n        self.second()\n    }\n}";
        for (two, circles) in [
            ("impl Gate<'_> {\n    fn second(&self) {\n        self.first()\n    }\n}", 1),
            ("impl Gate<'_> {\n    fn second(&self) {}\n}\nfn third(gate: &Gate<'_>) {\n    gate.first()\n}", 1),
            ("impl Gate<'_> {\n    fn second(&self) {}\n}\nfn third(other: &Other) {\n    other.first()\n}", 0),
        ] {
            let found = judged(&[root, ("crates/gate/src/one.rs", one), ("crates/gate/src/two.rs", two)]);
            assert_eq!(found.len(), circles, "{two}: {found:?}");
        }
    }
}
