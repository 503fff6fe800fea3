//! Places in a configuration text: line, column, and the excerpt an error shows.
//!
//! An excerpt never shows the value of something that is likely a secret, since errors end up in logs and bug reports.

use std::ops::Range;
use std::path::Path;

use crate::error::{ConfigError, ErrorKind};
use crate::expand::is_variable_name;
use crate::secret::{is_unprintable, looks_like_credential, names_secret};

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
    let shown: Vec<char> =
        masked(text, number, line).chars().map(|c| if is_unprintable(c) { ' ' } else { c }).collect();
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
    let header = |line: &str| line.trim_start().starts_with('[');
    let assignment = |line: &str| line.find('=').filter(|_| !header(line) && !line.trim_start().starts_with('#'));
    let above: Vec<&str> = text.lines().take(number.saturating_sub(1)).collect();
    let header_line = header(line);
    let in_secret_table = || {
        let header = above.iter().rev().find(|line| header(line)).map(|line| line.trim().trim_matches(['[', ']']));
        !header_line && header.is_some_and(|header| header.ends_with("env") || header.ends_with("headers"))
    };
    // A value over several lines is judged with the lines before it, up to its key.
    let continues_secret = || {
        let key = above.iter().rposition(|line| assignment(line).is_some()).unwrap_or(0);
        !header_line && assignment(line).is_none() && above[key..].iter().any(|line| is_secret_line(line))
    };
    if !(is_secret_line(line) || in_secret_table() || continues_secret()) {
        return line.to_owned();
    }
    let from = assignment(line).map_or(0, |at| at + 1);
    format!("{}{}", &line[..from], hidden(&line[from..]))
}

/// A value with its letters and digits replaced. The names of variables in it are no secrets; what is given instead of one
/// that is not set may be.
fn hidden(value: &str) -> String {
    let hide = |text: &str| -> String { text.chars().map(|c| if c.is_alphanumeric() { '*' } else { c }).collect() };
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find("${") {
        let name = rest[at + 2..].split(['}', ':']).next().unwrap_or_default();
        let closed = rest[at + 2 + name.len()..].starts_with('}') || rest[at + 2 + name.len()..].starts_with(":-");
        let is_name = closed && !rest[..at].ends_with('$') && is_variable_name(name);
        let end = at + 2 + if is_name { name.len() } else { 0 };
        out.push_str(&hide(&rest[..at]));
        out.push_str(&rest[at..end]);
        rest = &rest[end..];
    }
    out.push_str(&hide(rest));
    out
}

/// Whether a line by itself may hold a secret: by its key, a name in it, or an address with credentials or query.
fn is_secret_line(line: &str) -> bool {
    let key = line.split(['=', '.']).next().unwrap_or_default().trim();
    matches!(key, "env" | "headers" | "store" | "bus")
        || line.trim_start().starts_with('#')
        || names_secret(line)
        || line.split("://").skip(1).any(|address| address.contains(['@', '?']))
        || line.split(['"', '\'', ' ']).any(looks_like_credential)
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
        assert_eq!(at("a = 1\nbé = 22\n", "22"), "  |\n2 | bé = 22\n  |      ^^");
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
            ("url = \"https://me:hunter2@x.test\n", "url"),
            ("url = \"https://x.test/?k=hunter2\n", "url"),
            ("args = [\n  \"--token\",\n  \"hunter2\n", "hunter2"),
            ("args = [\"sk-hunter2hunter2hunter2\n", "args"),
            ("[servers.env]\nA = \"\"\"\nhunter2\n\"\"\" x", "hunter2"),
        ] {
            let shown = at(text, needle);
            assert!(!shown.contains("hunter2"), "{shown}");
        }
        assert!(at("command = \"npx\n", "npx").contains("npx"));
        for (value, shown) in [
            ("Bearer ${API_TOKEN}", "****** ${API_TOKEN}"),
            ("${A:-hunter2}", "${A:-*******}"),
            ("$${hunter2} ${hunter2", "$${*******} ${*******"),
            ("${hunter 2}", "${****** *}"),
        ] {
            assert_eq!(hidden(value), shown);
        }
    }
}
