//! Cutting a text into word pieces.
//!
//! It decides what a word is and which pieces it has, by the rules of BERT's uncased models: small letters without
//! accents, spaces and punctuation between words, Chinese characters alone, then always the longest piece that fits. It
//! does not know what a piece means.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::vocabulary::Vocabulary;

/// A longer word has no pieces: it is data, not language.
const LONGEST_WORD: usize = 100;

/// Cuts texts into the pieces of one vocabulary.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    vocabulary: Vocabulary,
}

impl Tokenizer {
    /// A tokenizer for a vocabulary.
    #[must_use]
    pub fn new(vocabulary: Vocabulary) -> Self {
        Self { vocabulary }
    }

    /// The vocabulary.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The ids of the pieces of a text, without the marks around it.
    #[must_use]
    pub fn ids(&self, text: &str) -> Vec<u32> {
        let mut ids = Vec::with_capacity(text.len() / 4 + 1);
        self.each(text, |id| ids.push(id));
        ids
    }

    /// How many pieces a text has.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        let mut count = 0;
        self.each(text, |_| count += 1);
        count
    }

    /// Hands out the pieces of a text one after the other. Needs no memory beyond one word.
    pub fn each(&self, text: &str, mut take: impl FnMut(u32)) {
        let mut word = String::with_capacity(32);
        for letter in text.chars() {
            if letter.is_ascii() {
                match letter as u8 {
                    b'a'..=b'z' | b'0'..=b'9' => word.push(letter),
                    b'A'..=b'Z' => word.push(letter.to_ascii_lowercase()),
                    b'!'..=b'~' => self.alone(letter, &mut word, &mut take),
                    b' ' | b'\t' | b'\n' | b'\r' => self.finish(&mut word, &mut take),
                    // Control characters are as if they were not there.
                    _ => {}
                }
            } else {
                self.foreign(letter, &mut word, &mut take);
            }
        }
        self.finish(&mut word, &mut take);
    }

    /// A character outside of ASCII.
    fn foreign(&self, letter: char, word: &mut String, take: &mut impl FnMut(u32)) {
        if letter.is_whitespace() {
            return self.finish(word, take);
        }
        if letter.is_control() || is_invisible(letter) {
            return;
        }
        if is_ideograph(letter) || is_punctuation(letter) {
            return self.alone(letter, word, take);
        }
        for lower in letter.to_lowercase() {
            word.extend(std::iter::once(lower).nfd().filter(|part| !is_combining_mark(*part)));
        }
    }

    /// A character that is a word of its own.
    fn alone(&self, letter: char, word: &mut String, take: &mut impl FnMut(u32)) {
        self.finish(word, take);
        word.push(letter);
        self.finish(word, take);
    }

    /// The end of a word.
    fn finish(&self, word: &mut String, take: &mut impl FnMut(u32)) {
        if word.is_empty() {
            return;
        }
        self.pieces(word, take);
        word.clear();
    }

    /// The longest piece that fits, again and again. A word with a part that no piece fits is unknown as a whole.
    fn pieces(&self, word: &str, take: &mut impl FnMut(u32)) {
        if let Some(id) = self.vocabulary.part(word, false) {
            return take(id);
        }
        // Counted in bytes first: every character has at least one.
        if word.len() > LONGEST_WORD && word.chars().count() > LONGEST_WORD {
            return take(self.vocabulary.unknown());
        }
        let mut found = [0_u32; LONGEST_WORD];
        let mut count = 0;
        let mut start = 0;
        while start < word.len() {
            let longest = (start + 1..=word.len()).rev().filter(|end| word.is_char_boundary(*end));
            let part = longest
                .map(|end| (end, self.vocabulary.part(&word[start..end], start > 0)))
                .find_map(|(end, id)| id.map(|id| (end, id)));
            let Some((end, id)) = part else { return take(self.vocabulary.unknown()) };
            // Each part has a character, and there are no more characters than places.
            found[count] = id;
            count += 1;
            start = end;
        }
        found[..count].iter().for_each(|id| take(*id));
    }
}

fn is_ideograph(letter: char) -> bool {
    matches!(u32::from(letter),
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x2EBEF | 0x2F800..=0x2FA1F | 0x30000..=0x323AF)
}

/// Format characters: they are not seen, so they do not part words.
fn is_invisible(letter: char) -> bool {
    matches!(u32::from(letter),
        0xAD | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0xFE00..=0xFE0F | 0xFEFF | 0xFFFD | 0xE0000..=0xE007F)
}

/// The punctuation of Unicode's blocks that hold nothing else, and of Latin-1.
fn is_punctuation(letter: char) -> bool {
    matches!(u32::from(letter),
        0xA1 | 0xA7 | 0xAB | 0xB6 | 0xB7 | 0xBB | 0xBF | 0x37E | 0x387 | 0x589 | 0x5BE | 0x60C | 0x61B | 0x61F | 0x66A..=0x66D
        | 0x6D4 | 0x964 | 0x965 | 0x2010..=0x2027 | 0x2030..=0x2043 | 0x2045..=0x2051 | 0x2053..=0x205E | 0x3001..=0x3003
        | 0x3008..=0x3011 | 0x3014..=0x301F | 0x30FB | 0xFE30..=0xFE52 | 0xFF01..=0xFF03 | 0xFF05..=0xFF0A | 0xFF0C..=0xFF0F
        | 0xFF1A | 0xFF1B | 0xFF1F | 0xFF20 | 0xFF3B..=0xFF3D | 0xFF3F | 0xFF5B | 0xFF5D | 0xFF5F..=0xFF65)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::Table;

    fn pieces(text: &str) -> Vec<&'static str> {
        let tokenizer = Table::shared().tokenizer();
        tokenizer.ids(text).into_iter().map(|id| tokenizer.vocabulary().piece(id)).collect()
    }

    #[test]
    fn texts_are_cut_as_the_model_learnt_it() {
        let long = "a".repeat(LONGEST_WORD + 1);
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("Read a file", &["read", "a", "file"]),
            ("embeddings", &["em", "##bed", "##ding", "##s"]),
            ("read_file(path)", &["read", "_", "file", "(", "path", ")"]),
            ("Café Zürich", &["cafe", "zurich"]),
            ("don't", &["don", "'", "t"]),
            ("a\u{200b}b", &["ab"]),
            ("a\u{a0}b\tc\nd", &["a", "b", "c", "d"]),
            ("東京", &["東", "京"]),
            ("“quoted”", &["“", "quoted", "”"]),
            (&long, &["[UNK]"]),
            ("\u{1F600}", &["[UNK]"]),
        ];
        for (text, expected) in table {
            assert_eq!(pieces(text), *expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_text_has_pieces_and_their_count(text in "\\PC{0,200}") {
            let tokenizer = Table::shared().tokenizer();
            let ids = tokenizer.ids(&text);
            prop_assert_eq!(ids.len(), tokenizer.count(&text));
            prop_assert!(ids.iter().all(|id| (*id as usize) < tokenizer.vocabulary().len()));
        }

        #[test]
        fn spaces_and_case_change_nothing(words in proptest::collection::vec("[a-zA-Z]{1,12}", 0..8)) {
            let tokenizer = Table::shared().tokenizer();
            prop_assert_eq!(tokenizer.ids(&words.join(" ")), tokenizer.ids(&words.join("\n\t ").to_uppercase()));
        }
    }
}
