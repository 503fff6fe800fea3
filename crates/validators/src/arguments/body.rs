//! Text that a tool works on, beside the path that it works at: when is such a text nothing but a path itself?
//!
//! A body may hold anything, and much of it begins as paths do: routes, comments, macros, expressions. So only one
//! word counts that climbs, begins in somebody's home, or looks as if it were there.

use switchboard_policy::path;

use super::uri::{self, scheme_of};
use crate::percent;

/// Folders at the root of systems and of containers.
const ROOTS: [&str; 33] = [
    "etc",
    "usr",
    "home",
    "root",
    "var",
    "proc",
    "sys",
    "dev",
    "tmp",
    "opt",
    "srv",
    "mnt",
    "media",
    "bin",
    "sbin",
    "lib",
    "lib64",
    "boot",
    "run",
    "snap",
    "nix",
    "Users",
    "Library",
    "System",
    "Volumes",
    "Applications",
    "private",
    "app",
    "data",
    "work",
    "workspace",
    "workspaces",
    "project",
];

/// Whether a folder at the root is called so.
pub(super) fn is_root(name: &str) -> bool {
    ROOTS.contains(&name)
}

/// The folders at the root that systems have, and those that limits speak of.
pub(super) fn roots(places: &[path::Scope]) -> impl Iterator<Item = String> {
    let first = |pattern: &str| pattern.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
    let of_place = move |place: &path::Scope| {
        let globs = place.allow.iter().chain(&place.deny).map(|glob| first(&glob.to_string()));
        globs.chain([first(&place.base)]).collect::<Vec<_>>()
    };
    let own: Vec<String> = places.iter().flat_map(of_place).filter(|name| !name.is_empty()).collect();
    ROOTS.iter().map(|name| (*name).to_owned()).chain(own)
}

/// Whether a text of one word names a place by itself.
pub(super) fn names_path(places: &[path::Scope], text: &str) -> bool {
    if text.contains(char::is_whitespace) {
        return false;
    }
    as_written(places, text)
        || text.contains('%') && percent::decoded(text).is_some_and(|decoded| as_written(places, &decoded))
}

/// Whether a text of one word is the route of an interface, by a name of it that stands for another: `/users/{id}`.
pub(super) fn is_route(text: &str) -> bool {
    let is_word =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let is_filled = |name: &str| name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).is_some_and(is_word);
    let names = || text.split('/').skip(1);
    text.starts_with('/') && names().any(is_filled) && names().all(|name| is_word(name) || is_filled(name))
}

fn as_written(places: &[path::Scope], text: &str) -> bool {
    let separated = text.contains(['/', '\\']);
    let file = text.to_ascii_lowercase().contains("file:/");
    let scheme = scheme_of(text).is_some_and(|(scheme, rest)| {
        rest.starts_with(['/', '\\']) && !uri::leads_elsewhere(scheme, rest) || separated && uri::climbs(text)
    });
    let word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let home = text.strip_prefix('~').and_then(|rest| rest.find(['/', '\\']).map(|at| &rest[..at]));
    let variable = text.strip_prefix(['$', '%']).and_then(|rest| rest.find(['/', '\\']).map(|at| &rest[..at]));
    let is_variable = |name: &str| {
        let name = name.trim_matches(['{', '}', '%', '(', ')']);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let hidden = text.strip_prefix('.').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic()) && rest.chars().all(|c| word(c) || c == '/' || c == '\\')
    });
    file || scheme
        || home.is_some_and(|name| name.chars().all(word))
        || variable.is_some_and(is_variable)
        || separated && (hidden || uri::climbs(text))
        || is_there(places, text)
}

/// Whether an absolute path begins in a folder that systems have, or in one that the limits speak of, and goes on.
pub(super) fn is_there(places: &[path::Scope], text: &str) -> bool {
    if !text.starts_with(['/', '\\']) {
        return false;
    }
    let mut names = text.split(['/', '\\']).filter(|name| !name.is_empty() && *name != ".");
    let (Some(first), Some(second)) = (names.next(), names.next()) else { return false };
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-$".contains(&byte));
    let share = text.starts_with("\\\\") && plain(first) && plain(second);
    let is_hidden = |name: &str| {
        name.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()) && plain(rest))
    };
    let begins = |pattern: &str| pattern.trim_start_matches('/').split('/').next() == Some(first);
    share
        || ROOTS.contains(&first)
        || is_hidden(first)
        || is_hidden(second)
        || names.any(is_hidden)
        || places.iter().any(|place| {
            begins(&place.base) || place.allow.iter().chain(&place.deny).any(|glob| begins(&glob.to_string()))
        })
}
