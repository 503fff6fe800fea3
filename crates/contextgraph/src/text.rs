//! Text as embedders see it: words, stems, pieces of words, names. Pure, and the same on every machine.

pub mod language;
pub mod segment;

use crate::rng::splitmix;
use language::TextLanguage;

/// Words that say nothing about what a text is about.
const STOP: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if", "in",
    "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "she", "so", "some", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "up", "was", "we", "were", "what",
    "when", "where", "which", "who", "will", "with", "would", "you", "your",
];

/// A hash that is the same everywhere (FNV-1a, then mixed).
#[must_use]
pub fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mut state = bytes.iter().fold(0xcbf2_9ce4_8422_2325 ^ seed, |state, &byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    splitmix(&mut state)
}

/// The words in lower case: runs of letters and digits; pairs of characters where a script has no spaces.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && !segment::is_spaceless(c)).flat_map(|run| {
        let mut words = Vec::new();
        let run = run.trim_matches('\'').to_lowercase();
        if !run.is_empty() {
            segment::cut(&run, &mut words);
        }
        words
    })
}

/// The words that say something, in the language of the text, with their stems.
#[must_use]
pub fn telling(text: &str) -> Vec<(String, String)> {
    let language = TextLanguage::of(text);
    let read = language.unwrap_or(TextLanguage::English);
    let elided = matches!(language, Some(TextLanguage::French | TextLanguage::Italian));
    words(text)
        .map(|word| match word.split_once('\'') {
            // `l'opera`: what stands before the mark is an article.
            Some((_, rest)) if elided && !rest.is_empty() => rest.to_owned(),
            _ => word,
        })
        .filter(|word| !read.is_stop(word))
        .map(|word| {
            let stem = read.stem(&word);
            (word, stem)
        })
        .collect()
}

/// The stems of the words that say something.
#[must_use]
pub fn stems(text: &str) -> Vec<String> {
    telling(text).into_iter().map(|(_, stem)| stem).collect()
}

/// Whether a word in lower case says nothing.
#[must_use]
pub fn is_stop(word: &str) -> bool {
    STOP.binary_search(&word).is_ok()
}

/// A light stem of an English word in lower case: plural, `-ing`, `-ed`, `-ly`, and what they leave behind.
#[must_use]
pub fn stem(word: &str) -> String {
    let mut stem = word.strip_suffix("'s").unwrap_or(word).to_owned();
    if stem.len() <= 3 || !stem.is_ascii() {
        return stem;
    }
    let vowel = |text: &str| text.bytes().any(|byte| b"aeiouy".contains(&byte));
    if let Some(base) = stem.strip_suffix("ies").filter(|base| base.len() > 1) {
        stem = format!("{base}y");
    } else if let Some(base) = stem.strip_suffix("sses") {
        stem = format!("{base}ss");
    } else if stem.ends_with('s') && !stem.ends_with("ss") && !stem.ends_with("us") && !stem.ends_with("is") {
        stem.pop();
    }
    for ending in ["ingly", "edly", "ing", "ed", "ly"] {
        if let Some(base) = stem.strip_suffix(ending).filter(|base| base.len() > 2 && vowel(base)) {
            let mut base = base.to_owned();
            let bytes = base.as_bytes();
            let doubled = bytes.len() > 2 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
            if doubled && !b"lsz".contains(&bytes[bytes.len() - 1]) {
                base.pop();
            }
            stem = base;
            break;
        }
    }
    if stem.len() > 4 && stem.ends_with('e') {
        stem.pop();
    }
    if stem.len() > 3 && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
    stem
}

/// The stems of words that name something: of [names](names), and in scripts without capitals of every pair of characters that is not
/// of endings and particles alone.
#[must_use]
pub fn entities(text: &str) -> Vec<String> {
    let language = TextLanguage::of(text);
    let mut found: Vec<String> = if language == Some(TextLanguage::Spaceless) {
        let grammar = |c: char| ('\u{3041}'..='\u{309f}').contains(&c);
        words(text).filter(|word| word.chars().count() > 1 && !word.chars().any(grammar)).collect()
    } else {
        let named: Vec<String> = names(text).iter().flat_map(|name| words(name).collect::<Vec<_>>()).collect();
        telling(text).into_iter().filter(|(word, _)| named.contains(word)).map(|(_, stem)| stem).collect()
    };
    found.sort();
    found.dedup();
    found
}

/// Pieces of `n` characters of a word between two marks.
pub fn pieces(word: &str, n: usize) -> impl Iterator<Item = String> {
    let marked: Vec<char> = std::iter::once('^').chain(word.chars()).chain(std::iter::once('$')).collect();
    (0..marked.len().saturating_sub(n - 1)).map(move |at| marked[at..at + n].iter().collect())
}

/// The parts of an identifier: `readHttpBody_v2` is read, http, body, v2.
#[must_use]
pub fn identifier_parts(identifier: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut last_lower = false;
    for c in identifier.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && last_lower) {
            if !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
            if !c.is_alphanumeric() {
                last_lower = false;
                continue;
            }
        }
        last_lower = c.is_lowercase() || c.is_numeric();
        part.extend(c.to_lowercase());
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// Sentences and clauses, by the marks that end them.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['.', '!', '?', ';', '\n']).map(str::trim).filter(|sentence| !sentence.is_empty())
}

/// Names: words that begin with a capital inside of a sentence, words with digits or signs inside, several in a row
/// as one. The word that begins a sentence counts if it is more than its first letter that is a capital, or if it
/// stands elsewhere too.
#[must_use]
pub fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for sentence in sentences(text) {
        let mut run: Vec<&str> = Vec::new();
        for (at, word) in sentence.split_whitespace().enumerate() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let mut letters = bare.chars();
            let capital = letters.next().is_some_and(char::is_uppercase);
            let telling = letters.any(char::is_uppercase) || bare.chars().any(|c| c.is_numeric() || "_/@".contains(c));
            let first = at == 0 && !telling && is_stop(&bare.to_lowercase());
            if !bare.is_empty() && ((capital && !first) || telling) {
                run.push(bare);
            } else if !run.is_empty() {
                names.push(run.join(" ").to_lowercase());
                run.clear();
            }
        }
        if !run.is_empty() {
            names.push(run.join(" ").to_lowercase());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_stems() {
        assert!(STOP.is_sorted());
        for (word, expected) in [
            ("running", "run"),
            ("cities", "citi"),
            ("city", "citi"),
            ("services", "servic"),
            ("service", "servic"),
            ("stopped", "stop"),
            ("bus", "bus"),
            ("quickly", "quick"),
            ("calling", "call"),
            ("is", "is"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
        assert_eq!(stems("The servers were restarted"), ["server", "restart"]);
    }

    #[test]
    fn identifiers_and_names_are_taken_apart() {
        assert_eq!(identifier_parts("readHttpBody_v2"), ["read", "http", "body", "v2"]);
        assert_eq!(pieces("cat", 4).collect::<Vec<_>>(), ["^cat", "cat$"]);
        assert_eq!(pieces("a", 4).count(), 0);
        assert_eq!(names("The engineer Ada Lovelace met Babbage in London."), ["ada lovelace", "babbage", "london"]);
        assert_eq!(names("we deployed PostgreSQL on db_7"), ["postgresql", "db_7"]);
    }
}
