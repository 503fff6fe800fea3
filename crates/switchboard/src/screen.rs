//! Words for people: what may reach a terminal, colours, tables, questions.
//!
//! Text that came from a server or a file is made harmless here before it is shown. Knows nothing of what is shown.

use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::path::Path;

use serde_json::{Map, Value};

/// Writes a line for people or programs on standard output. A reader that has gone is no error of ours.
pub(crate) fn out(text: impl Display) {
    let _ = writeln!(io::stdout().lock(), "{}", harmless(&text.to_string()));
}

/// Writes a line for people on standard error.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(&text.to_string()));
}

/// What comes from elsewhere in a text, the names of files and arguments among it, drives no terminal; our own colours stay.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((at, colour)) = COLOURS.iter().filter_map(|colour| Some((rest.find(colour)?, *colour))).min() {
        out.push_str(&plain(&rest[..at]));
        out.push_str(colour);
        rest = &rest[at + colour.len()..];
    }
    out.push_str(&plain(rest));
    out
}

/// The name of a file or folder, on one line.
pub(crate) fn path(path: &Path) -> String {
    plain_line(&path.display().to_string())
}

/// Writes the answer of a command as JSON on standard output: an object that names the version of its shape.
pub(crate) fn json(value: &Value) {
    out(printable_json(&format!("{:#}", shaped(value))));
}

/// The same on one line, for commands that go on and have an object for everything that happens.
pub(crate) fn json_line(value: &Value) {
    out(printable_json(&shaped(value).to_string()));
}

/// The version of the shape of what `--json` prints. Members may be added to a version; one that goes or changes makes another.
pub(crate) const SCHEMA_VERSION: u64 = 1;

/// The answer of a command as all of them look: an object with the version of the shape, times to the millisecond.
pub(crate) fn shaped(value: &Value) -> Value {
    let mut shaped = match value {
        Value::Object(members) => members.clone(),
        other => Map::from_iter([("value".to_owned(), other.clone())]),
    };
    shaped.entry("schema_version").or_insert(SCHEMA_VERSION.into());
    for (key, value) in &mut shaped {
        in_milliseconds(key, value);
    }
    Value::Object(shaped)
}

/// Whether a member is called as times are: `granted_at`, `createdAt`, `first_seen`.
fn is_time(key: &str) -> bool {
    const TIMES: [&str; 10] =
        ["timestamp", "first_seen", "last_seen", "since", "until", "time", "from", "to", "validFrom", "validUntil"];
    key.ends_with("_at") || key.ends_with("At") || TIMES.contains(&key)
}

/// Writes times of members that are called as times to the millisecond.
fn in_milliseconds(key: &str, value: &mut Value) {
    match value {
        // What a call is made with is shown as it is, to the last digit.
        Value::Object(_) if key == "arguments" => {}
        Value::Object(members) => members.iter_mut().for_each(|(key, value)| in_milliseconds(key, value)),
        Value::Array(items) => items.iter_mut().for_each(|value| in_milliseconds(key, value)),
        Value::String(text) if is_time(key) => {
            if let Ok(time) = text.parse::<jiff::Timestamp>() {
                *text = format!("{time:.3}");
            }
        }
        _ => {}
    }
}

/// Writes what went wrong as JSON on standard output.
pub(crate) fn json_error(message: &str, exit_code: u8) {
    json(&serde_json::json!({"error": {"message": message, "exit_code": exit_code}}));
}

/// Text without anything that drives a terminal: escape sequences go, other control characters become `?`. Line ends
/// and tabs stay.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' if rest.peek() == Some(&'\n') => {}
            '\u{1b}' => skip_sequence(&mut rest),
            '\u{9b}' => skip_control(&mut rest),
            c if c.is_control() || is_invisible(c) => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// As [`plain`], on one line.
pub(crate) fn plain_line(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a text, on one line.
pub(crate) fn brief(text: &str, longest: usize) -> String {
    let line = plain_line(text);
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", line[..end].trim_end()),
        None => line,
    }
}

/// JSON text that says the same and drives no terminal: what is not printable is escaped. Such characters can only
/// stand inside strings, where an escape means the same.
pub(crate) fn printable_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && (is_invisible(c) || switchboard_policy::redact::is_hidden(c)) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// What follows an escape character.
fn skip_sequence(rest: &mut Letters<'_>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_control(rest);
        }
        // Titles, links and the like: up to BEL or ESC \. One without an end must not swallow more than its line.
        Some(']' | 'P' | '^' | '_' | 'X') => {
            while let Some(&c) = rest.peek() {
                if c == '\n' {
                    return;
                }
                rest.next();
                if c == '\u{7}' || c == '\u{9c}' {
                    return;
                }
                if c == '\u{1b}' {
                    if rest.peek() == Some(&'\\') {
                        rest.next();
                    }
                    return;
                }
            }
        }
        Some(c) if ('\u{20}'..='\u{7e}').contains(c) => drop(rest.next()),
        _ => {}
    }
}

/// The parameters and the final byte of a control sequence.
fn skip_control(rest: &mut Letters<'_>) {
    while let Some(&c) = rest.peek() {
        if !('\u{20}'..='\u{7e}').contains(&c) {
            return;
        }
        rest.next();
        if c >= '\u{40}' {
            return;
        }
    }
}

/// Characters that reorder or hide text.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

/// What a word means, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Doubtful,
    Bad,
}

/// The word in its colour, where standard output is a terminal and nobody asked for none.
pub(crate) fn toned(word: &str, tone: Tone) -> String {
    if !colours() {
        return word.to_owned();
    }
    let [good, doubtful, bad, end] = COLOURS;
    let colour = match tone {
        Tone::Good => good,
        Tone::Doubtful => doubtful,
        Tone::Bad => bad,
    };
    format!("{colour}{}{end}", plain(word))
}

/// The colours of good, doubtful and bad news, and their end.
const COLOURS: [&str; 4] = ["\u{1b}[32m", "\u{1b}[33m", "\u{1b}[31m", "\u{1b}[0m"];

fn colours() -> bool {
    let unset = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
    io::stdout().is_terminal() && unset("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A table with aligned columns. The last column may be as long as it likes.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| shown_width(cell)).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - shown_width(cell) + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// How many places a cell takes; our own colours take none.
fn shown_width(cell: &str) -> usize {
    if cell.contains('\u{1b}') { plain(cell).chars().count() } else { cell.chars().count() }
}

/// Whether a person can be asked.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Forgets what was typed before a question was asked: it cannot be an answer to it.
pub(crate) fn forget_typed() {
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Asks a person; anything but a clear yes is a no.
pub(crate) fn confirmed(question: &str) -> bool {
    forget_typed();
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{question} [y/N] ");
    let _ = stderr.flush();
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_one_shape() {
        use serde_json::json;
        for (given, expected) in [
            (json!({"a": 1}), json!({"a": 1, "schema_version": 1})),
            (json!({"schema_version": 7}), json!({"schema_version": 7})),
            (json!([1]), json!({"value": [1], "schema_version": 1})),
            (
                json!({"rows": [{"granted_at": "2026-11-16T10:00:00.123456789Z", "name": "2026-11-16T10:00:00Z"}]}),
                json!({"rows": [{"granted_at": "2026-11-16T10:00:00.123Z", "name": "2026-11-16T10:00:00Z"}], "schema_version": 1}),
            ),
            (
                json!({"ends_at": "2026-11-16T10:00:00Z", "first_seen": "2026-11-16T10:00:00.5Z"}),
                json!({"ends_at": "2026-11-16T10:00:00.000Z", "first_seen": "2026-11-16T10:00:00.500Z", "schema_version": 1}),
            ),
        ] {
            assert_eq!(shaped(&given), expected);
        }
    }

    #[test]
    fn what_is_printed_has_no_colours_but_ours() {
        let text = format!("{}ok{} in /tmp/x\u{1b}[8m hidden\u{7}\u{1b}]0;t\u{7}\u{202e}y", COLOURS[0], COLOURS[3]);
        assert_eq!(harmless(&text), "\u{1b}[32mok\u{1b}[0m in /tmp/x hidden??y");
        assert_eq!(path(Path::new("/a\nb\u{1b}[2Jc")), "/a bc");
    }

    #[test]
    fn nothing_from_a_server_drives_a_terminal() {
        for (text, expected) in [
            ("plain\ttext\nline\r\n", "plain\ttext\nline\n"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://evil\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;never ends\nnext", "\nnext"),
            ("\u{9b}2Jx", "x"),
            ("\u{1b}cx", "x"),
            ("a\u{8}b\rc\u{0}", "a?b?c?"),
            ("\u{202e}evil", "?evil"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("grüße 日本", "grüße 日本"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
        assert_eq!(plain_line(" a\n b\u{1b}[1m\tc "), "a b c");
    }

    #[test]
    fn json_says_the_same_and_drives_no_terminal() {
        let text = "{\"a\":\"x\u{9b}y\u{202e}\u{e0041}\u{7f}ü\"}";
        let shown = printable_json(text);
        assert_eq!(shown, r#"{"a":"x\u009by\u202e\udb40\udc41\u007fü"}"#);
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(read(&shown), read(text));
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(brief("one\ntwo", 20), "one two");
        assert_eq!(brief("äöü", 2), "äö...");
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["ccc".to_owned(), String::new()]];
        assert_eq!(table(&rows), "a    b\nccc\n");
    }
}
