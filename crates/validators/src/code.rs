//! Code safety (MGP 7): may this source be handed to something that runs it?
//!
//! The source is parsed and followed, never searched for words: names are resolved through imports, aliases and
//! constant strings to what they stand for, and that is judged. It knows nothing of what the program would do at run
//! time beyond that; a name that is computed in a way it cannot follow is refused where it could reach something
//! forbidden. Parsing is no sandbox: this is one check of several.

mod harmless;
mod imports;
mod javascript;
mod known;
mod methods;
mod notebook;
mod patterns;
mod places;
mod position;
mod python;
mod reached;
mod rejection;
mod settings;
mod spelling;
mod statements;
mod verbs;

pub(crate) use imports::imports;
pub(crate) use notebook::{Cell, read as notebook};
pub(crate) use reached::{Reached, of as reached};
pub(crate) use rejection::names;
pub use rejection::{Bounds, Rejection, Violation};

use crate::{Finding, Verdict};

/// The most bytes of source that are read (MGP 7.3).
pub const MAX_BYTES: usize = 10_000;
/// The stack of whoever parses a program: walks over its tree, and its end, go as deep as [`MAX_BYTES`] of it nest. The
/// system gives only what is touched.
const DEEP_STACK: usize = 256 << 20;
/// What `strict` and `readonly` let a Python program import (MGP 7.3, and what later versions added).
pub const STRICT_IMPORTS: [&str; 12] =
    ["asyncio", "json", "httpx", "os", "datetime", "time", "math", "re", "hashlib", "base64", "urllib", "typing"];

/// The language of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python 3.
    Python,
    /// JavaScript, as a script or a module.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// A POSIX shell command; judged by [`crate::shell`].
    Shell,
}

impl Language {
    /// Reads a name as tools declare it; `None` for a language that is not understood.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "python" | "python3" | "py" => Self::Python,
            "javascript" | "js" | "node" | "nodejs" | "jsx" => Self::JavaScript,
            "typescript" | "ts" | "tsx" => Self::TypeScript,
            "shell" | "sh" | "bash" | "posix" => Self::Shell,
            _ => return None,
        })
    }
}

/// How much a program may do (MGP 7.2), from everything to nearly nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Not looked at.
    Unrestricted,
    /// No process, no text run as code, no native code, no raw or listening socket.
    Standard,
    /// As standard, and imports only from a short list.
    Strict,
    /// As strict, and nothing that changes a file, the environment or remote state.
    Readonly,
}

impl Level {
    /// Reads the name of a level. An unknown name is `standard`, as the most common one; never less.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "unrestricted" => Self::Unrestricted,
            "strict" => Self::Strict,
            "readonly" => Self::Readonly,
            _ => Self::Standard,
        }
    }
}

/// The first reason to refuse `source`, if there is one.
///
/// # Errors
/// The source breaks a rule of the level, is too long or does not parse.
pub fn check(language: Language, level: Level, source: &str) -> Verdict {
    match findings(language, level, source).into_iter().next() {
        Some(finding) => Err(finding),
        None => Ok(()),
    }
}

/// Every reason to refuse `source`, also what is only not understood, in the form of MGP 7.4 that lets its author correct it.
///
/// # Errors
/// As [`check`].
pub fn review(language: Language, level: Level, source: &str) -> Result<(), Rejection> {
    let findings = findings(language, level, source);
    if findings.is_empty() {
        return Ok(());
    }
    Err(Rejection::new(&findings, Bounds::default().hints(language, level, source)))
}

/// Every reason to refuse `source`.
pub(crate) fn findings(language: Language, level: Level, source: &str) -> Vec<Finding> {
    if level == Level::Unrestricted {
        return Vec::new();
    }
    if let Some(finding) = refused_unread(source) {
        return vec![finding];
    }
    match language {
        Language::Python => stacker::grow(DEEP_STACK, || python::findings(level, source)),
        Language::JavaScript => stacker::grow(DEEP_STACK, || javascript::findings(level, source, false)),
        Language::TypeScript => stacker::grow(DEEP_STACK, || javascript::findings(level, source, true)),
        Language::Shell => crate::shell::check(source).err().into_iter().collect(),
    }
}

/// Why a source is not read at all.
fn refused_unread(source: &str) -> Option<Finding> {
    if source.len() > MAX_BYTES {
        let message = format!("{} bytes of code, of which at most {MAX_BYTES} are read", source.len());
        return Some(Finding::new("code-size", message).suggest("split the program into smaller ones"));
    }
    spelling::check(source)
}
