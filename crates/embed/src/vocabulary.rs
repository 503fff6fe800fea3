//! The word pieces and their ids.
//!
//! It decides which id a piece has. It does not know how a text is cut into pieces.
//!
//! The pieces stay where they are, in one text. Beside it are their places and a table of open addressing: half a
//! megabyte for 30,000 pieces, made in a millisecond, with no allocation per piece.

use std::borrow::Cow;

use thiserror::Error;

/// What begins a piece that continues a word.
const CONTINUES: &str = "##";

/// Pieces beyond this number are refused: no model in use has as many.
const MOST_PIECES: usize = 1 << 20;

/// Why a text is no vocabulary.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum VocabularyError {
    /// A piece that every text needs is missing.
    #[error("the vocabulary has no piece {0:?}")]
    Missing(&'static str),
    /// More pieces than any model has.
    #[error("the vocabulary has more than {MOST_PIECES} pieces")]
    TooLong,
}

/// The pieces of a model, by id.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    text: Cow<'static, str>,
    /// Where a piece stands in the text, by id.
    spans: Vec<(u32, u32)>,
    /// Ids plus one; zero is a free place. A power of two, less than half full.
    slots: Vec<u32>,
    unknown: u32,
    begin: u32,
    end: u32,
}

impl Vocabulary {
    /// Reads one piece per line; the number of the line, from zero, is the id.
    ///
    /// # Errors
    ///
    /// When there are too many lines, or one of `[UNK]`, `[CLS]` and `[SEP]` is missing.
    pub fn parse(text: impl Into<Cow<'static, str>>) -> Result<Self, VocabularyError> {
        let text = text.into();
        let mut spans = Vec::new();
        let mut at = 0_usize;
        for line in text.split_inclusive('\n') {
            let piece = line.trim_end_matches(['\n', '\r']);
            spans.push((at as u32, piece.len() as u32));
            at += line.len();
            if spans.len() > MOST_PIECES || at > u32::MAX as usize {
                return Err(VocabularyError::TooLong);
            }
        }
        let mut vocabulary = Self {
            slots: vec![0; (spans.len() * 2 + 2).next_power_of_two()],
            text,
            spans,
            unknown: 0,
            begin: 0,
            end: 0,
        };
        for id in 0..vocabulary.spans.len() as u32 {
            let (first, rest) = halves(vocabulary.piece(id));
            // A piece that stands twice keeps its first id.
            if let Err(free) = vocabulary.find(first, rest) {
                vocabulary.slots[free] = id + 1;
            }
        }
        let required = |name: &'static str| vocabulary.id(name).ok_or(VocabularyError::Missing(name));
        (vocabulary.unknown, vocabulary.begin, vocabulary.end) =
            (required("[UNK]")?, required("[CLS]")?, required("[SEP]")?);
        Ok(vocabulary)
    }

    /// How many pieces there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The text of a piece; empty for an id that there is not.
    #[must_use]
    pub fn piece(&self, id: u32) -> &str {
        self.spans.get(id as usize).map_or("", |&(at, length)| &self.text[at as usize..(at + length) as usize])
    }

    /// The id of a piece as it is written in the vocabulary.
    #[must_use]
    pub fn id(&self, piece: &str) -> Option<u32> {
        let (first, rest) = halves(piece);
        self.find(first, rest).ok()
    }

    /// The id of a piece that begins a word, or of one that continues it (given without its mark).
    pub(crate) fn part(&self, part: &str, continues: bool) -> Option<u32> {
        self.find(if continues { CONTINUES } else { "" }, part).ok()
    }

    /// Stands for a word that has no pieces.
    pub(crate) fn unknown(&self) -> u32 {
        self.unknown
    }

    /// Stands before a text, for a transformer.
    #[must_use]
    pub fn begin(&self) -> u32 {
        self.begin
    }

    /// Stands after a text, for a transformer.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The id of the piece that is these two halves, or the free place where it would stand.
    fn find(&self, first: &str, rest: &str) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash(first.as_bytes(), rest.as_bytes()) as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            let piece = self.piece(slot - 1);
            if piece.len() == first.len() + rest.len() && piece.starts_with(first) && piece.ends_with(rest) {
                return Ok(slot - 1);
            }
            // Ends: the table is never full.
            at = (at + 1) & mask;
        }
    }
}

fn halves(piece: &str) -> (&str, &str) {
    match piece.strip_prefix(CONTINUES) {
        Some(rest) if !rest.is_empty() => (CONTINUES, rest),
        _ => ("", piece),
    }
}

/// Fowler, Noll and Vo's hash, variant 1a, with its high bits mixed down. The keys are ours, so no stranger chooses
/// what collides.
fn hash(first: &[u8], rest: &[u8]) -> u64 {
    let mut value = 0xcbf2_9ce4_8422_2325_u64;
    for byte in first.iter().chain(rest) {
        value = (value ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    value ^ (value >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_by_their_text_and_by_their_id() {
        let vocabulary = Vocabulary::parse("[PAD]\n[UNK]\n[CLS]\n[SEP]\nread\n##ing\n##\n#\nread\n").unwrap();
        assert_eq!(vocabulary.len(), 9);
        for (piece, id) in [("[PAD]", 0), ("read", 4), ("##ing", 5), ("##", 6), ("#", 7)] {
            assert_eq!(vocabulary.id(piece), Some(id), "{piece}");
            assert_eq!(vocabulary.piece(id), piece);
        }
        assert_eq!(vocabulary.part("ing", true), Some(5));
        assert_eq!(vocabulary.part("ing", false), None);
        assert_eq!(vocabulary.part("read", true), None);
        assert_eq!((vocabulary.unknown(), vocabulary.begin(), vocabulary.end()), (1, 2, 3));
        assert_eq!(vocabulary.piece(99), "");
    }

    #[test]
    fn a_vocabulary_without_its_marks_is_none() {
        assert_eq!(Vocabulary::parse("[UNK]\n[CLS]\nread\n").unwrap_err(), VocabularyError::Missing("[SEP]"));
        assert_eq!(Vocabulary::parse("").unwrap_err(), VocabularyError::Missing("[UNK]"));
    }
}
