//! The steps of a request: "convert the file, then send it to Ann" asks for two tools.
//!
//! It decides where a text is cut. It does not know which parts are worth something; whoever scores them finds out.

use crate::words::terms;

/// Parts beyond this many are left to the query as a whole.
const MAX_CLAUSES: usize = 8;
/// A part with fewer terms says too little.
const FEWEST_TERMS: usize = 3;

/// Words between two steps, with the spaces around them.
const JOINTS: &[&str] = &[" and ", " then "];

/// The parts of a text that ask for something of their own; none when it cannot be cut.
pub(crate) fn clauses(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < text.len() {
        match cut(&text[at..]) {
            0 => at += text[at..].chars().next().map_or(1, char::len_utf8),
            length => {
                parts.push(&text[from..at]);
                at += length;
                from = at;
            }
        }
    }
    parts.push(&text[from..]);
    parts.retain(|part| long_enough(part));
    parts.truncate(MAX_CLAUSES);
    if parts.len() < 2 { Vec::new() } else { parts }
}

/// How long the joint is that begins here; zero where there is none.
fn cut(rest: &str) -> usize {
    let mut letters = rest.chars();
    match letters.next() {
        Some(',' | ';' | '?' | '!' | '\n') => 1,
        Some(mark @ ('、' | '。' | '，' | '；' | '？' | '！')) => mark.len_utf8(),
        // A point inside a name or number is none.
        Some('.') if letters.next().is_none_or(char::is_whitespace) => 1,
        Some(' ') => JOINTS.iter().find(|joint| rest.starts_with(**joint)).map_or(0, |joint| joint.len()),
        _ => 0,
    }
}

fn long_enough(part: &str) -> bool {
    let mut count = 0;
    terms(part, |_, _| count += 1);
    count >= FEWEST_TERMS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_cut_into_steps() {
        let table: &[(&str, &[&str])] = &[
            ("read a file", &[]),
            (
                "convert the video file to audio, then send the result to Ann by mail",
                &["convert the video file to audio", "send the result to Ann by mail"],
            ),
            (
                "search flights to Rome and book a hotel room there",
                &["search flights to Rome", "book a hotel room there"],
            ),
            ("bread and butter", &[]),
            ("open example.com page now", &[]),
            ("", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(clauses(text), *expected, "{text}");
        }
        assert!(clauses(&"copy every file here, ".repeat(100)).len() <= MAX_CLAUSES);
    }
}
