//! Modules that are understood: what they do is known, and what of it is hostile is judged call by call. A program that
//! takes others is not understood, and a person is asked.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Language, imports};
use crate::Finding;

/// Modules of Python's own library and packages in daily use, by their first name.
static PYTHON: &str = include_str!("known/python.txt");

/// Whether a module is of Python's own library. The first line of the table has these, the second packages.
pub(super) fn is_of_library(module: &str) -> bool {
    static OWN: LazyLock<HashSet<&str>> =
        LazyLock::new(|| PYTHON.lines().take(1).flat_map(str::split_ascii_whitespace).collect());
    OWN.contains(module)
}

/// Whether a module of Python is in the table.
pub(super) fn is_known(module: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| PYTHON.split_ascii_whitespace().collect());
    KNOWN.contains(module)
}

/// A doubt for the first module that is not known.
pub(super) fn doubts(source: &str) -> Vec<Finding> {
    let mut imports = imports(Language::Python, source).into_iter();
    let unknown = imports.find(|name| !name.is_empty() && !name.split('.').next().is_some_and(is_known));
    unknown
        .map(|name| {
            Finding::new("code-unknown", format!("what the module `{name}` does is not known"))
                .suggest("a person has to agree, or use a module of the language's own library")
                .ask()
        })
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_known_modules_are_understood() {
        for (source, known) in [
            ("import json, numpy as np\nfrom pandas import DataFrame", true),
            ("import os.path", true),
            ("print(1)", true),
            ("import left_pad", false),
        ] {
            assert_eq!(doubts(source).is_empty(), known, "{source}");
        }
    }
}
