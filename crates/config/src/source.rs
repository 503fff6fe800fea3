//! Places in a configuration text: line, column, and the excerpt an error shows.
//!
//! An excerpt never shows the value of something that is likely a secret, since errors end up in logs and bug reports.

use std::ops::Range;
use std::path::Path;

use crate::error::{ConfigError, ErrorKind};
use crate::secret::{is_unprintable, names_secret};

/// Characters of a line that an excerpt shows at most.
const WIDTH: usize = 100;

/// A text and the file it came from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a Path,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// An error at a place of this text.
    pub(crate) fn error(&self, span: Option<Range<usize>>, server: Option<&str>, kind: ErrorKind) -> ConfigError {
        let error = ConfigError::new(self.file, kind).in_server(server);
        match span {
            Some(span) => {
                let (line, column) = position(self.text, span.start);
                error.at(line, column, excerpt(self.text, span))
            }
            None => error,
        }
    }

    pub(crate) fn line(&self, span: Option<Range<usize>>) -> usize {
        span.map_or(1, |span| position(self.text, span.start).0)
    }
}

/// Line and column (in characters), both from 1, of a byte offset.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = head(text, offset);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].trim_start_matches('\u{feff}').chars().count() + 1)
}

fn head(text: &str, offset: usize) -> &str {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The line of a place, with carets below it.
pub(crate) fn excerpt(text: &str, span: Range<usize>) -> String {
    let (number, column) = position(text, span.start);
    let line = text.lines().nth(number - 1).unwrap_or("").trim_start_matches('\u{feff}');
    let length = line.chars().count();
    let shown: Vec<char> = masked(text, number, line).chars().map(|c| if is_unprintable(c) { ' ' } else { c }).collect();
    let marked = text.get(span).map_or(1, |covered| covered.lines().next().unwrap_or("").chars().count()).max(1);

    let from = (column - 1).saturating_sub(WIDTH / 2).min(length.saturating_sub(WIDTH));
    let window: String = shown.iter().skip(from).take(WIDTH).collect();
    let gutter = " ".repeat(number.to_string().len());
    let carets = "^".repeat(marked.min(WIDTH.saturating_sub(column - 1 - from)).max(1));
    let indent = " ".repeat(column - 1 - from);
    format!("{gutter} |\n{number} | {}\n{gutter} | {indent}{carets}", window.trim_end())
}

/// The line with letters and digits of a likely secret value replaced, at the same length.
fn masked(text: &str, number: usize, line: &str) -> String {
    let assignment = line.find('=').filter(|_| !line.trim_start().starts_with(['[', '#']));
    let key = assignment.map_or("", |at| line[..at].trim());
    let secret_table = || {
        text.lines().take(number.saturating_sub(1)).filter(|line| line.trim_start().starts_with('[')).last().is_some_and(
            |header| {
                let header = header.trim().trim_matches(['[', ']']);
                header.ends_with("env") || header.ends_with("headers")
            },
        )
    };
    let secret = line.trim_start().starts_with('#')
        || matches!(key, "env" | "headers" | "store" | "bus")
        || key.starts_with("env.")
        || key.starts_with("headers.")
        || names_secret(line)
        || (!line.trim_start().starts_with('[') && secret_table());
    if !secret {
        return line.to_owned();
    }
    let from = assignment.map_or(if line.trim_start().starts_with('[') { line.len() } else { 0 }, |at| at + 1);
    let hide = |c: char| if c.is_alphanumeric() { '*' } else { c };
    format!("{}{}", &line[..from], line[from..].chars().map(hide).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, needle: &str) -> String {
        let start = text.find(needle).unwrap();
        excerpt(text, start..start + needle.len())
    }

    #[test]
    fn carets_stand_under_the_text() {
        assert_eq!(at("a = 1\nbé = 22\n", "22"), "  |\n2 | bé = 22\n  |      ^^".replace("é = 22\n  |      ", "é = 22\n  |      "));
        assert_eq!(at("\u{feff}a = 1\n", "1"), "  |\n1 | a = 1\n  |     ^");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("args = [\"{}\", 7, \"{}\"]", "x".repeat(300), "y".repeat(300));
        let shown = at(&text, "7");
        assert!(shown.lines().all(|line| line.chars().count() <= WIDTH + 4), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1].chars().nth(lines[2].chars().position(|c| c == '^').unwrap()), Some('7'));
    }

    #[test]
    fn values_that_may_be_secret_are_masked() {
        for (text, needle) in [
            ("[servers.env]\nHOME_PAGE = \"hunter2\n", "HOME_PAGE"),
            ("token = \"hunter2\n", "token"),
            ("env = { A = \"hunter2\" \n", "env"),
            ("args = [\"--api-key\", \"hunter2\n", "args"),
            ("[servers.headers]\nX-Thing = \"hunter2\n", "X-Thing"),
            ("[servers.env]\nA = \"\"\"\nhunter2\n\"\"\" x", "hunter2"),
        ] {
            let shown = at(text, needle);
            assert!(!shown.contains("hunter2"), "{shown}");
        }
        assert!(at("command = \"npx\n", "npx").contains("npx"));
    }
}
