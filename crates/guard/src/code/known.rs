//! Modules that are understood: what they do is known, and what of it is hostile is judged call by call. A program that
//! takes others is not understood, and a person is asked.

use super::{Language, imports};
use crate::Finding;

/// Modules of Python's own library and packages in daily use, by their first name.
static PYTHON: &str = include_str!("known/python.txt");
/// Modules of Node and packages in daily use.
static NODE: &str = include_str!("known/node.txt");

/// Whether a module is of Python's own library. The first line of the table has these, the second packages.
pub(super) fn is_of_library(module: &str) -> bool {
    PYTHON.lines().next().is_some_and(|own| own.split_ascii_whitespace().any(|known| known == module))
}

/// Whether a module of Python is in the table.
pub(super) fn is_known(module: &str) -> bool {
    PYTHON.split_ascii_whitespace().any(|known| known == module)
}

/// A doubt for the first module that is not known.
pub(super) fn doubts(language: Language, source: &str) -> Vec<Finding> {
    let (table, part): (&str, fn(&str) -> &str) = match language {
        Language::Python => (PYTHON, |name| name.split('.').next().unwrap_or(name)),
        Language::JavaScript | Language::TypeScript => (NODE, package),
        Language::Shell => return Vec::new(),
    };
    let is_known = |name: &str| table.split_ascii_whitespace().any(|known| known == part(name));
    let unknown = imports(language, source).into_iter().find(|name| !name.is_empty() && !is_known(name));
    unknown
        .map(|name| {
            Finding::new("code-unknown", format!("what the module `{name}` does is not known"))
                .suggest("a person has to agree, or use a module of the language's own library")
                .ask()
        })
        .into_iter()
        .collect()
}

/// `@scope/name/file` is of the package `@scope/name`.
fn package(name: &str) -> &str {
    let name = name.strip_prefix("node:").unwrap_or(name);
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let end = name.match_indices('/').nth(parts - 1).map_or(name.len(), |(at, _)| at);
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_known_modules_are_understood() {
        for (language, source, known) in [
            (Language::Python, "import json, numpy as np\nfrom pandas import DataFrame", true),
            (Language::Python, "import os.path", true),
            (Language::Python, "print(1)", true),
            (Language::Python, "import left_pad", false),
            (Language::JavaScript, "import fs from 'node:fs/promises'; const _ = require('lodash')", true),
            (Language::JavaScript, "import x from '@tanstack/react-query'", true),
            (Language::JavaScript, "import x from './local.js'", false),
        ] {
            assert_eq!(doubts(language, source).is_empty(), known, "{source}");
        }
    }
}
