//! Which lines of a source are not for tests alone. What stands behind an item for tests is read like what stands before it.
//!
//! An item for tests is `#[cfg(test)]` (or `all(test, ..)`) and what follows it, to its `;`, its closing brace, or the comma
//! behind a field. Texts and comments are passed over, so that a brace in one of them counts for nothing.

use std::ops::Range;
use std::path::Path;

/// Measurements that are run by hand, among the tests.
const MEASUREMENTS: [&str; 1] = ["crates/validators/src/screen/intent/fit.rs"];

/// Words that begin an item in which a comma ends nothing.
const ITEMS: [&str; 13] =
    ["fn", "mod", "use", "impl", "struct", "enum", "union", "trait", "type", "const", "static", "let", "macro_rules"];

/// Whether a file is a source that is not for tests alone.
pub(super) fn is_source(path: &Path) -> bool {
    let shown = path.display().to_string();
    let is_source = shown.starts_with("crates/") && shown.contains("/src/") && shown.ends_with(".rs");
    let for_tests = shown.contains("/tests/") || shown.ends_with("/tests.rs") || shown.ends_with("_tests.rs");
    is_source && !for_tests && !MEASUREMENTS.contains(&shown.as_str())
}

/// The lines that are not for tests alone, with their numbers from zero.
pub(super) fn outside_tests(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let items = test_items(text);
    let mut start = 0;
    text.split_inclusive('\n').enumerate().filter_map(move |(number, line)| {
        let whole = start..start + line.len();
        start = whole.end;
        let line = line.trim_end_matches(['\n', '\r']);
        let first = whole.start + (line.len() - line.trim_start().len());
        let Some(item) = items.iter().find(|item| item.start < whole.end && whole.start < item.end) else {
            return Some((number, line));
        };
        if first < item.start {
            return Some((number, line));
        }
        let behind = line.get(item.end.saturating_sub(whole.start)..).unwrap_or_default();
        (!behind.trim_matches([' ', ';', ',']).is_empty()).then_some((number, behind))
    })
}

/// The lines of code among them: no comments.
pub(super) fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    outside_tests(text).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Where the items for tests stand, attribute and all.
fn test_items(text: &str) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    if !text.contains("test") {
        return items;
    }
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let end = if is_for_tests(rest, "#![cfg(") {
            // The whole file.
            at = 0;
            text.len()
        } else if is_for_tests(rest, "#[cfg(") {
            end_of_item(text, at)
        } else {
            end_of_token(text, at)
        };
        if end > at + 1 && rest.starts_with('#') {
            items.push(at..end);
        }
        at = end;
    }
    items
}

/// Whether an attribute stands here that keeps what follows for tests.
fn is_for_tests(rest: &str, begin: &str) -> bool {
    let Some(condition) = rest.strip_prefix(begin).and_then(|rest| rest.split_once(")]")) else { return false };
    match condition.0.strip_prefix("all(") {
        None => condition.0 == "test",
        // What stands in an `any` may be missing.
        Some(parts) => {
            !parts.contains("any(") && parts.trim_end_matches(')').split(',').any(|part| part.trim() == "test")
        }
    }
}

/// The end of the item whose first attribute begins here.
fn end_of_item(text: &str, mut at: usize) -> usize {
    let (mut depth, mut is_item) = (0_usize, false);
    while at < text.len() {
        let end = end_of_token(text, at);
        match &text[at..end] {
            "(" | "[" | "{" => depth += 1,
            // The last field, without a comma.
            ")" | "]" | "}" if depth == 0 => return at,
            ")" | "]" => depth -= 1,
            "}" if depth == 1 => return end,
            "}" => depth -= 1,
            ";" if depth == 0 => return end,
            "," if depth == 0 && !is_item => return end,
            word => is_item |= depth == 0 && ITEMS.contains(&word),
        }
        at = end;
    }
    text.len()
}

/// The end of what begins here: a comment, a text, a word, or one character.
fn end_of_token(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let length = match rest.chars().next() {
        None => 0,
        Some('/') if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
        Some('/') if rest.starts_with("/*") => block_comment(rest),
        Some('"') => 1 + quoted(&rest[1..], '"'),
        Some('\'') => character(rest),
        Some(letter) if is_of_name(letter) => word(rest),
        Some(other) => other.len_utf8(),
    };
    at + length
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// A word, or the raw text that a word begins.
fn word(rest: &str) -> usize {
    let length = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
    if !["r", "br", "cr"].contains(&&rest[..length]) {
        return length;
    }
    let behind = &rest[length..];
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    let Some(inside) = behind[hashes..].strip_prefix('"') else { return length };
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inside.find(&close).map_or(inside.len(), |end| end + close.len());
    length + hashes + 1 + end
}

/// The length up to and with the closing mark.
fn quoted(inside: &str, close: char) -> usize {
    let mut escaped = false;
    for (at, letter) in inside.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == close => return at + 1,
            _ => {}
        }
    }
    inside.len()
}

/// A character in its marks, or a lifetime, name and all: `'static` begins no item.
fn character(rest: &str) -> usize {
    let mut letters = rest[1..].chars();
    match (letters.next(), letters.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => 1 + quoted(&rest[1..], '\''),
        _ => 1 + rest[1..].find(|letter| !is_of_name(letter)).unwrap_or(rest.len() - 1),
    }
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_items_for_tests_are_left_out() {
        let cases = [
            ("at the top", "#[cfg(test)]\nmod tests;\n\nfn a() {}", &["", "fn a() {}"][..]),
            ("at the end", "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n\n}\n", &["fn a() {}"]),
            ("in the middle", "a\n#[cfg(test)]\nfn b<A, B>() {\n  { }\n}\nc", &["a", "c"]),
            ("behind more attributes", "#[cfg(test)]\n#[path = \"x;y\"]\n/// So; {\nmod tests;\nc", &["c"]),
            ("a group of names", "#[cfg(test)]\nuse a::{\n  b, c,\n};\nd", &["d"]),
            ("a constant", "#[cfg(test)]\nconst A: [u8; 2] = [1, 2];\nd", &["d"]),
            ("a field", "{\n #[cfg(test)]\n a: &'static str,\n b: u8,\n}", &["{", " b: u8,", "}"]),
            ("the last field", "{\n #[cfg(test)]\n a: u8\n}", &["{", "}"]),
            ("braces in texts", "#[cfg(test)]\nfn a() {\n \"}\\\"}\"; r#\"}\"}\"#; '}'; '\\''; // }\n}\nb", &["b"]),
            ("lifetimes", "#[cfg(test)]\nimpl<'a> A<'a> {\n fn b(&'a self) {}\n}\nb", &["b"]),
            ("two conditions", "#[cfg(all(test, unix))]\nmod tests;\nb", &["b"]),
            ("not tests alone", "#[cfg(any(test, unix))]\nfn a() {}", &["#[cfg(any(test, unix))]", "fn a() {}"]),
            ("not tests", "#[cfg(not(test))]\nfn a() {}", &["#[cfg(not(test))]", "fn a() {}"]),
            ("said only", "// #[cfg(test)]\n\"#[cfg(test)]\";\nb", &["// #[cfg(test)]", "\"#[cfg(test)]\";", "b"]),
            ("in one line", "#[cfg(test)] fn a() {} fn b() {}\nc", &[" fn b() {}", "c"]),
            ("a whole file", "//! x\n#![cfg(test)]\nfn a() {}", &[]),
            ("two of them", "#[cfg(test)]\nmod a;\nb\n#[cfg(test)]\nmod c {}\nd", &["b", "d"]),
            ("a raw name", "#[cfg(test)]\nfn r#type() {}\nb", &["b"]),
            ("a comment in a comment", "#[cfg(test)]\nfn a() { /* } /* } */ } */ }\nb", &["b"]),
        ];
        for (name, text, expected) in cases {
            let kept: Vec<&str> = outside_tests(text).map(|(_, line)| line).collect();
            assert_eq!(kept, expected, "{name}");
        }
    }

    #[test]
    fn lines_keep_their_numbers_and_comments_are_no_code() {
        let text = "// a\n#[cfg(test)]\nmod tests;\nb\n  /// c\nd";
        assert_eq!(code(text).collect::<Vec<_>>(), [(3, "b"), (5, "d")]);
    }
}
