//! The lexicon: which classes a word, a phrase or a piece of text belongs to.
//!
//! It knows spellings, not sentences: whether a word is negated or quoted is decided by the reader of the sentence.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::class::{Class, Classes};

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::parse(include_str!("lexicon.txt")));

/// The most words of a phrase.
pub(super) const LONGEST_PHRASE: usize = 4;
/// The most characters of a piece of text in a script without spaces.
const LONGEST_PIECE: usize = 6;

/// The lexicon, read once.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    /// Words and phrases.
    words: HashMap<&'static str, Classes>,
    /// Beginnings of words.
    stems: HashMap<&'static str, Classes>,
    /// Markup, looked for anywhere in the sentence.
    marks: Vec<(&'static str, Class)>,
}

impl Lexicon {
    pub(super) fn get() -> &'static Self {
        &LEXICON
    }

    fn parse(text: &'static str) -> Self {
        let mut lexicon = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, entries)) = line.split_once(": ") else { continue };
            let Some(class) = Class::ALL.iter().copied().find(|class| class.name() == name) else { continue };
            for entry in entries.split(", ").map(str::trim) {
                if matches!(class, Class::Tag | Class::Role) || entry.starts_with("![") {
                    lexicon.marks.push((entry, class));
                    continue;
                }
                let (map, key) = match entry.strip_suffix('*') {
                    Some(stem) => (&mut lexicon.stems, stem),
                    None => (&mut lexicon.words, entry),
                };
                let classes = map.entry(key).or_default();
                *classes = classes.with(class);
            }
        }
        lexicon
    }

    /// A phrase as it is written.
    pub(super) fn phrase(&self, phrase: &str) -> Option<Classes> {
        self.words.get(phrase).copied()
    }

    /// A word exactly as it is written, or by its stem: no form that English grammar gives it.
    pub(super) fn as_written(&self, word: &str) -> Classes {
        self.words.get(word).copied().unwrap_or_else(|| self.by_stem(word))
    }

    /// A word, also in the forms that English grammar gives it.
    pub(super) fn word(&self, word: &str) -> Classes {
        if let Some(classes) = self.words.get(word) {
            return *classes;
        }
        let mut buffer = String::new();
        for (ending, instead) in ENDINGS {
            let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() >= 2) else { continue };
            buffer.clear();
            buffer.push_str(stem);
            buffer.push_str(instead);
            if let Some(classes) = self.words.get(buffer.as_str()) {
                return *classes;
            }
            // A doubled letter before the ending: `dropped`.
            if instead.is_empty() && stem.is_ascii() && stem.len() > 3 {
                let bytes = stem.as_bytes();
                if bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
                    && let Some(classes) = self.words.get(&stem[..stem.len() - 1])
                {
                    return *classes;
                }
            }
        }
        self.by_stem(word)
    }

    fn by_stem(&self, word: &str) -> Classes {
        let ends = word.char_indices().map(|(at, _)| at).skip(2).chain([word.len()]);
        ends.filter_map(|end| self.stems.get(&word[..end])).last().copied().unwrap_or_default()
    }

    /// The longest piece of text at the beginning, for scripts without spaces; and its length in bytes.
    pub(super) fn piece(&self, text: &str) -> Option<(Classes, usize)> {
        let ends = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]).take(LONGEST_PIECE);
        ends.filter_map(|end| Some((*self.words.get(&text[..end])?, end))).last()
    }

    /// Markup and fake speakers in a sentence.
    pub(super) fn marks(&self, sentence: &str) -> Classes {
        // Looking for each is dear, and most sentences have nothing of the kind.
        if !sentence.contains(['<', '[', '{', '#', '(', ':', '_']) && !sentence.contains("role") {
            return Classes::default();
        }
        let found = self.marks.iter().filter(|(mark, _)| sentence.contains(mark));
        found.fold(Classes::default(), |classes, (_, class)| classes.with(*class))
    }
}

/// What English adds to a word, and what stood there before.
const ENDINGS: [(&str, &str); 10] = [
    ("'s", ""),
    ("s", ""),
    ("es", ""),
    ("ies", "y"),
    ("ed", ""),
    ("d", ""),
    ("ied", "y"),
    ("ing", ""),
    ("ing", "e"),
    ("ly", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_names_a_class() {
        for line in include_str!("lexicon.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let name = line.split_once(": ").map(|(name, _)| name).unwrap_or_default();
            assert!(Class::ALL.iter().any(|class| class.name() == name), "{line}");
        }
    }

    #[test]
    fn forms_of_words() {
        let lexicon = Lexicon::get();
        for (word, class) in [
            ("forwarding", Class::Send),
            ("ignored", Class::Drop),
            ("skipped", Class::Skip),
            ("copies", Class::Copy),
            ("user's", Class::User),
            ("exfiltration", Class::Send),
            ("пользователю", Class::User),
        ] {
            assert!(lexicon.word(word).has(class), "{word}");
        }
        assert_eq!(lexicon.piece("告诉用户").map(|(_, length)| length), Some(6));
        assert!(lexicon.word("blue").is_empty());
    }
}
