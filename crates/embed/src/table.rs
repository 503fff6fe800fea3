//! The static table: one vector for each word piece, inside the binary.
//!
//! It decides the vector of a text. It does not know what the text is for.

use std::sync::OnceLock;

use crate::tokenizer::Tokenizer;
use crate::vocabulary::Vocabulary;

/// How many numbers a vector has.
pub const DIMENSIONS: usize = 256;

/// Texts are read to this many pieces. A mean over more says nothing about any part of it.
const MOST_PIECES: usize = 4096;

static VOCABULARY: &str = include_str!("../data/vocabulary.txt");
static TABLE: &[u8] = include_bytes!("../data/table.bin");

/// The mark, the number of rows, the number of dimensions.
const HEADER: usize = 8 + 4 + 4;

/// The table that ships with the program, with its tokenizer.
#[derive(Debug)]
pub struct Table {
    tokenizer: Tokenizer,
    scales: &'static [u8],
    rows: &'static [u8],
}

impl Table {
    /// The one table of this process. The first call takes a few milliseconds.
    ///
    /// # Panics
    ///
    /// Never in a binary that passed its tests: the files are part of it, and a test reads them.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Table> = OnceLock::new();
        SHARED.get_or_init(|| {
            let vocabulary = Vocabulary::parse(VOCABULARY).unwrap_or_else(|error| unreachable!("{error}"));
            let (scales, rows) = TABLE[HEADER..].split_at(vocabulary.len() * size_of::<f32>());
            assert_eq!(rows.len(), vocabulary.len() * DIMENSIONS, "vocabulary and table were made by one command");
            Self { tokenizer: Tokenizer::new(vocabulary), scales, rows }
        })
    }

    /// The tokenizer of the table.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The vector of a text: the mean of its pieces' rows, of length one. All zeros for a text without a known word.
    #[must_use]
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; DIMENSIONS];
        self.add(text, &mut vector);
        normalize(&mut vector);
        vector
    }

    /// How many pieces a text has.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }

    /// Adds the rows of a text's pieces to a sum, for texts that come in parts: add them all, then [`normalize`].
    pub fn add(&self, text: &str, sum: &mut [f32]) {
        let mut left = MOST_PIECES;
        self.tokenizer.each(text, |id| {
            if left > 0 {
                left -= 1;
                self.add_row(id as usize, sum);
            }
        });
    }

    fn add_row(&self, id: usize, sum: &mut [f32]) {
        let scale = self.scales.get(id * 4..id * 4 + 4).and_then(|bytes| bytes.try_into().ok());
        let scale = scale.map_or(0.0, f32::from_le_bytes);
        // Special pieces weigh nothing.
        if scale == 0.0 {
            return;
        }
        let row = &self.rows[id * DIMENSIONS..(id + 1) * DIMENSIONS];
        for (total, byte) in sum.iter_mut().zip(row) {
            *total += scale * f32::from(byte.cast_signed());
        }
    }
}

/// Gives a vector the length one. A vector of zeros stays as it is.
pub fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > f32::EPSILON {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

/// The cosine of the angle between two vectors: 1 for the same direction, 0 when one of them is zero.
///
/// Vectors of different lengths are compared over the shorter one.
#[must_use]
pub fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let (mut product, mut one, mut other) = (0.0_f32, 0.0_f32, 0.0_f32);
    for (a, b) in left.iter().zip(right) {
        product += a * b;
        one += a * a;
        other += b * b;
    }
    let length = (one * other).sqrt();
    if length > f32::EPSILON { (product / length).clamp(-1.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_files_belong_together() {
        assert_eq!(&TABLE[..8], b"SWBTABLE");
        let rows = u32::from_le_bytes(TABLE[8..12].try_into().unwrap()) as usize;
        let dimensions = u32::from_le_bytes(TABLE[12..16].try_into().unwrap()) as usize;
        assert_eq!(dimensions, DIMENSIONS);
        assert_eq!(TABLE.len(), HEADER + rows * (4 + DIMENSIONS));
        assert_eq!(Table::shared().tokenizer().vocabulary().len(), rows);
    }

    /// The right one of each row is nearer than the wrong one.
    #[test]
    fn meanings_are_near_each_other() {
        let table = Table::shared();
        let near = |one: &str, other: &str| cosine(&table.embed(one), &table.embed(other));
        for (query, right, wrong) in [
            ("car", "automobile", "banana"),
            ("weather in Paris", "forecast of rain and temperature", "create a pull request"),
            ("delete a document", "remove the file", "exchange rate of the dollar"),
            ("buy stocks", "shares on the market", "translate a sentence"),
            ("doctor", "physician", "airplane"),
        ] {
            assert!(near(query, right) > near(query, wrong) + 0.1, "{query}: {right} before {wrong}");
        }
    }

    #[test]
    fn common_words_weigh_little() {
        let table = Table::shared();
        let volcano = table.embed("volcano");
        let (common, rare) = (table.embed("of the volcano"), table.embed("cheese piano volcano"));
        assert!(cosine(&common, &volcano) > cosine(&rare, &volcano) + 0.1);
    }

    #[test]
    fn a_text_without_words_is_zero() {
        for text in ["", "   ", "\u{1F600}"] {
            assert!(Table::shared().embed(text).iter().all(|value| *value == 0.0), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn vectors_have_length_one_or_zero(text in "\\PC{0,100}") {
            let vector = Table::shared().embed(&text);
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-3, "{length}");
        }

        #[test]
        fn order_of_words_does_not_matter(mut words in proptest::collection::vec("[a-z]{2,8}", 1..6)) {
            let forth = Table::shared().embed(&words.join(" "));
            words.reverse();
            prop_assert!(cosine(&forth, &Table::shared().embed(&words.join(" "))) > 0.999);
        }
    }
}
