//! Methods of objects of which nothing is known: parameters, results of unknown calls, members of unknown objects. Such a
//! method is understood only where its name is harmless whatever object carries it. One table for the languages.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::harmless::{self, Packages};
use super::verbs;

/// Names of methods in each line, the language first; `all` for both.
static TABLE: &str = include_str!("known/methods.txt");

fn line(of: &str) -> HashSet<&'static str> {
    let lines = TABLE.lines().filter_map(|line| line.split_once(' '));
    let is_language = matches!(of, "python" | "node");
    lines
        .filter(|(name, _)| *name == of || is_language && *name == "all")
        .flat_map(|(_, names)| names.split(' '))
        .collect()
}

static PYTHON: LazyLock<HashSet<&str>> = LazyLock::new(|| line("python"));
static NODE: LazyLock<HashSet<&str>> = LazyLock::new(|| line("node"));
/// Words that names of methods are made of, beside those of packages: what texts, tables, pages, games and shops have.
static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| line("words"));
/// Of the words of packages, those that as a verb may do anything.
static VERBS: LazyLock<HashSet<&str>> = LazyLock::new(|| line("verbs"));
/// Verbs that only look or compute, whatever it is that they look at.
static LOOKS: LazyLock<HashSet<&str>> = LazyLock::new(|| line("looks"));
/// Verbs that change an object itself, where what they change is not somebody else's.
static LOCAL: LazyLock<HashSet<&str>> = LazyLock::new(|| line("local"));
/// Words that make a change of somebody else's out of a local one: rights, secrets, accounts, money.
static SENSITIVE: LazyLock<HashSet<&str>> = LazyLock::new(|| line("sensitive"));

/// Verbs that only make something new.
const MAKES: [&str; 6] = ["add", "append", "create", "insert", "push", "save"];

/// Whether a method is harmless by its name, whatever object carries it.
pub(super) fn is_plain(packages: Packages, name: &str) -> bool {
    let table = if packages == Packages::Python { &PYTHON } else { &NODE };
    if table.contains(name) || harmless::is_everyday(packages, name) || name.starts_with("__") {
        return true;
    }
    let lower = harmless::words(name);
    let mut words = lower.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return true };
    let rest: Vec<&str> = words.collect();
    if harmless::has_phrase(&lower) || verbs::is_grave(&lower) || verbs::tells_secret(&lower) {
        return false;
    }
    let acts = verbs::is_acting(first);
    let known = |word: &str| harmless::is_word(word) || WORDS.contains(word) || table.contains(word);
    // What only looks or computes does so with whatever it names.
    if LOOKS.contains(first) && !rest.iter().any(|word| verbs::is_acting(word) && !known(word)) {
        return true;
    }
    let begins = |word: &str| {
        WORDS.contains(word)
            || harmless::is_everyday(packages, word)
            || harmless::is_word(word) && !VERBS.contains(word)
    };
    (if acts { LOCAL.contains(first) } else { verbs::is_reading(first) || begins(first) })
        && rest.iter().all(|word| known(word) || verbs::is_reading(word) || LOCAL.contains(word))
        && !(acts
            && rest.iter().any(|word| SENSITIVE.contains(word) || !MAKES.contains(&first) && verbs::is_shared(word)))
}

/// Whether a name says that something is done which others notice: read where a member is not called but handed on.
pub(super) fn is_telling(name: &str) -> bool {
    let lower = harmless::words(name);
    let first = lower.split('_').find(|word| !word.is_empty()).unwrap_or_default();
    verbs::is_grave(&lower)
        || lower.trim_matches('_').contains('_') && verbs::is_acting(first) && !LOCAL.contains(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_whatever_object_carries_them() {
        for name in [
            "items",
            "get_total",
            "fetch_ohlcv",
            "to_csv",
            "add_item",
            "isEmpty",
            "set_title",
            "__len__",
            "findById",
            "XMLText",
        ] {
            assert!(is_plain(Packages::Python, name), "{name}");
        }
        for name in ["frobnicate", "purge", "add_role", "set_password", "start_instances", "exec_command", "get_secret"]
        {
            assert!(!is_plain(Packages::Python, name), "{name}");
        }
        assert!(is_telling("wipe_volumes") && is_telling("sendInvoice") && !is_telling("size") && !is_telling("start"));
    }
}
