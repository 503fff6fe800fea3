//! Text to terms: what counts as one word when tools are found by words.
//!
//! It decides where names are split (`getWeather`, `get_weather`), which words say nothing (the stop list), and how a
//! word is written in the index (small letters, stem). It does not know which field a text came from.

use crate::stem::stem;

/// A longer run is data, such as a key or an encoded file.
const MAX_WORD_CHARS: usize = 40;

/// Words that stand in most requests and tell no tool from another. Asking for help is among them: every query does.
/// In order, for the search in it.
const STOP: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "d",
    "did",
    "do",
    "does",
    "doing",
    "don",
    "down",
    "during",
    "each",
    "etc",
    "few",
    "for",
    "from",
    "further",
    "give",
    "given",
    "had",
    "has",
    "have",
    "having",
    "he",
    "help",
    "her",
    "here",
    "hers",
    "him",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "know",
    "let",
    "like",
    "ll",
    "m",
    "make",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "myself",
    "need",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "out",
    "over",
    "own",
    "please",
    "provide",
    "re",
    "s",
    "same",
    "she",
    "should",
    "so",
    "some",
    "specific",
    "specified",
    "such",
    "t",
    "tell",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "us",
    "use",
    "used",
    "using",
    "ve",
    "very",
    "via",
    "want",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "yours",
];

/// Hands out the terms of a text, each with what it was made of. A run of mixed case gives its parts and itself: `GitHub` is `git`, `hub` and `github`.
pub(crate) fn terms(text: &str, mut take: impl FnMut(&str, &str)) {
    let mut word = String::with_capacity(MAX_WORD_CHARS);
    for run in text.split(|letter: char| !letter.is_alphanumeric()).filter(|run| !run.is_empty()) {
        if run.is_ascii() {
            ascii_run(run, &mut word, &mut take);
        } else {
            other_run(run, &mut word, &mut take);
        }
    }
}

/// A name as words, for people and for the vector: `getWeatherByID` becomes `get Weather By ID`.
pub(crate) fn spaced(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    for run in name.split(|letter: char| !letter.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let mut rest = run;
        while !rest.is_empty() {
            let end = if run.is_ascii() { part_end(rest.as_bytes()) } else { rest.len() };
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    words
}

fn ascii_run(run: &str, word: &mut String, take: &mut impl FnMut(&str, &str)) {
    let mut rest = run;
    let mut parts = 0;
    while !rest.is_empty() {
        let end = part_end(rest.as_bytes());
        emit(&rest[..end], word, take);
        rest = &rest[end..];
        parts += 1;
    }
    if parts > 1 {
        emit(run, word, take);
    }
}

/// Where the first part of a run of ASCII letters and digits ends: before a capital that follows a small letter, and
/// before the last capital of several that a small letter follows (`HTTPServer`).
fn part_end(run: &[u8]) -> usize {
    for at in 1..run.len() {
        let (before, here) = (run[at - 1], run[at]);
        let after = run.get(at + 1).copied().unwrap_or(b' ');
        if here.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || (before.is_ascii_uppercase() && after.is_ascii_lowercase()))
        {
            return at;
        }
    }
    run.len()
}

/// Letters outside of ASCII: scripts without spaces give one term per character.
fn other_run(run: &str, word: &mut String, take: &mut impl FnMut(&str, &str)) {
    let mut from = 0;
    for (at, letter) in run.char_indices() {
        if is_unspaced(letter) {
            if at > from {
                emit(&run[from..at], word, take);
            }
            from = at + letter.len_utf8();
            emit(&run[at..from], word, take);
        }
    }
    if from < run.len() {
        emit(&run[from..], word, take);
    }
}

fn emit(part: &str, word: &mut String, take: &mut impl FnMut(&str, &str)) {
    if part.len() > MAX_WORD_CHARS {
        return;
    }
    word.clear();
    if part.is_ascii() {
        word.push_str(part);
        word.make_ascii_lowercase();
    } else {
        word.extend(part.chars().flat_map(char::to_lowercase));
    }
    if is_stop(word) {
        return;
    }
    stem(word);
    take(word, part);
}

fn is_stop(word: &str) -> bool {
    word.len() <= 9 && STOP.binary_search(&word).is_ok()
}

fn is_unspaced(letter: char) -> bool {
    matches!(u32::from(letter),
        0x0E00..=0x0E7F | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF
        | 0x20000..=0x323AF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        terms(text, |term, _| found.push(term.to_owned()));
        found
    }

    #[test]
    fn texts_become_terms() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("read_file", &["read", "file"]),
            ("getWeatherByID", &["get", "weather", "id", "getweatherbyid"]),
            ("HTTPServer", &["http", "server", "httpserver"]),
            ("GitHub", &["git", "hub", "github"]),
            ("Please help me to find the files", &["find", "file"]),
            ("sha256 base64", &["sha256", "base64"]),
            ("東京の天気", &["東", "京", "の", "天", "気"]),
            ("Zürich-Straße", &["zürich", "straße"]),
            ("user@example.com", &["user", "exampl", "com"]),
            (&"x".repeat(MAX_WORD_CHARS + 1), &[]),
        ];
        for (text, expected) in table {
            assert_eq!(list(text), *expected, "{text}");
        }
    }

    #[test]
    fn the_stop_list_is_in_order() {
        assert!(STOP.is_sorted());
    }

    #[test]
    fn names_are_spaced() {
        assert_eq!(spaced("get_weather-byID"), "get weather by ID");
        assert_eq!(spaced("HTTPServer.list"), "HTTP Server list");
        assert_eq!(spaced("天気"), "天気");
    }
}
