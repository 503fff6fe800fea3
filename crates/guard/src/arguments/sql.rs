//! SQL in arguments, for tools that may only read.
//!
//! A statement reads if it begins with a word for reading and no word for writing stands in it outside of quotes and
//! comments. A key such as `query` may also hold a search in plain words, so there only what clearly is a statement
//! that writes is refused.

use crate::{Finding, Verdict};

/// What a statement that only reads begins with.
const READING: &[&str] = &["select", "with", "values", "explain", "show", "describe", "desc", "table", "pragma"];
/// Words for writing, with what follows them in a statement; nothing follows those that are enough alone.
const WRITING: &[(&str, &[&str])] = &[
    ("insert", &["into", "or", "overwrite", "ignore"]),
    ("update", &[]),
    ("delete", &["from"]),
    ("replace", &["into"]),
    ("merge", &["into"]),
    ("drop", &["table", "index", "view", "trigger", "database", "schema", "column", "user", "role", "function"]),
    (
        "create",
        &[
            "table",
            "index",
            "view",
            "trigger",
            "database",
            "schema",
            "user",
            "role",
            "function",
            "or",
            "temp",
            "temporary",
            "unique",
            "virtual",
            "extension",
            "procedure",
        ],
    ),
    ("alter", &["table", "database", "schema", "user", "role", "system", "view"]),
    ("truncate", &[]),
    ("grant", &[]),
    ("revoke", &[]),
    ("attach", &["database"]),
    ("copy", &[]),
    ("vacuum", &["into"]),
    ("into", &["outfile", "dumpfile"]),
];

/// A string under a key for statements (`sure`) or for queries of any kind.
pub(super) fn check(text: &str, sure: bool) -> Verdict {
    let plain = without_quotes(text);
    for statement in plain.split(';') {
        let words: Vec<&str> =
            statement.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
        let Some(first) = words.first() else { continue };
        let reads = READING.contains(first);
        // `update` and the like are also names and words of plain language: what follows makes them a statement.
        let writes_at = |at: usize| is_writing(&words[at..]) && ((sure && at == 0) || is_statement(&words[at..]));
        let writes = if sure || reads { (0..words.len()).any(writes_at) } else { writes_at(0) };
        let sets = *first == "pragma" && statement.contains('=');
        let selects_into = matches!(*first, "select" | "with") && words.contains(&"into");
        if (sure && !reads) || writes || (reads && (sets || selects_into)) {
            return Err(Finding::new("readonly-sql", format!("the statement that begins with `{first}` may write")));
        }
    }
    Ok(())
}

fn is_writing(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    WRITING.iter().any(|(word, next)| {
        word == first && (next.is_empty() || rest.first().is_some_and(|second| next.contains(second)))
    })
}

fn is_statement(words: &[&str]) -> bool {
    match words.first() {
        Some(&"update") => words.contains(&"set"),
        Some(&"grant" | &"revoke") => words.contains(&"on"),
        Some(&"truncate") => words.get(1) == Some(&"table"),
        Some(&"copy") => words.contains(&"from") || words.contains(&"to"),
        _ => true,
    }
}

/// The text in lower case, with quoted parts and comments blanked out. MySQL runs what stands in `/*! .. */`.
fn without_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '\'' | '"' | '`' => rest[1..].find(c).map_or(rest.len(), |end| end + 2),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") && !rest.starts_with("/*!") => {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            }
            _ => 0,
        };
        if skipped > 0 {
            out.push(' ');
            rest = &rest[skipped..];
        } else {
            out.extend(c.to_lowercase());
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}
