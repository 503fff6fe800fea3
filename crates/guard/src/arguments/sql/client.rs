//! Commands of the programs that people type queries into: `psql`, `sqlite3`, `mysql`. Some tools hand the text to one of
//! them, and their commands run programs, and read and write files.

use super::{Certainty, Token};
use crate::{Finding, Verdict};

/// Commands of `psql` and `mysql` that act, at the beginning of a line, behind their backslash.
const BACKSLASH: &[&str] = &[
    "copy",
    "i",
    "ir",
    "include",
    "include_relative",
    "o",
    "out",
    "w",
    "write",
    "e",
    "edit",
    "ef",
    "ev",
    "s",
    "c",
    "connect",
    "cd",
    "set",
    "setenv",
    "lo_import",
    "lo_export",
    "lo_unlink",
    "password",
    "prompt",
    "watch",
    "gexec",
    "gset",
    "T",
    "P",
    "R",
];
/// Those of them that count behind a query as well.
const ANYWHERE: &[&str] = &["copy", "gexec", "gset", "lo_import", "lo_export", "lo_unlink", "setenv", "include"];
/// Commands of `sqlite3` and `duckdb` that act, behind their dot.
const DOT: &[&str] = &[
    "shell", "system", "import", "load", "output", "once", "open", "read", "save", "backup", "restore", "clone",
    "excel", "log", "archive", "ar", "cd", "session", "www", "trace", "edit", "recover", "dbconfig", "filectrl",
];

/// Judges each line by how it begins.
pub(super) fn check_lines(text: &str, certainty: Certainty) -> Verdict {
    if certainty < Certainty::Likely {
        return Ok(());
    }
    for line in text.lines().map(str::trim_start) {
        if let Some(rest) = line.strip_prefix('\\') {
            let name = word_of(rest);
            if rest.starts_with(['!', '.']) || BACKSLASH.contains(&name) {
                return Err(acts(&format!("\\{name}")));
            }
        }
        if let Some(rest) = line.strip_prefix('.') {
            let name = word_of(rest);
            let ends = rest[name.len()..].chars().next().is_none_or(|c| c.is_whitespace() || c == ';');
            if ends && DOT.iter().any(|dot| name.eq_ignore_ascii_case(dot)) {
                return Err(acts(&format!(".{name}")));
            }
        }
    }
    Ok(())
}

/// Judges what stands behind a backslash outside of strings and comments.
pub(super) fn check_tokens(tokens: &[Token], certainty: Certainty) -> Verdict {
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.is('\\')) {
        let (next, behind) = (tokens.get(at + 1), tokens.get(at + 2));
        let name = next.and_then(Token::word).unwrap_or_default();
        // `\\g` alone only sends the query; with something behind it writes the result there.
        let writes = matches!(name, "g" | "gx") && behind.is_some_and(|token| !token.is(';'));
        let runs = next.is_some_and(|token| token.is('!')) || ANYWHERE.contains(&name);
        let surely = name == "gexec" || at == 0 && next.is_some_and(|token| token.is('!'));
        if (runs || writes) && (surely || certainty >= Certainty::Likely) {
            return Err(acts(&format!("\\{}", if name.is_empty() { "!" } else { name })));
        }
    }
    Ok(())
}

fn word_of(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn acts(command: &str) -> Finding {
    let message = format!("`{command}` is a command of a client program, which may run programs or use files");
    Finding::new("readonly-client", message)
}
