//! E1 and E12: what a text is about, as a whole and word by word.

use std::collections::HashSet;

use super::lexical::{self, WordStatistics};
use super::{TextEmbedding, add_hashed, joined, prefix};
use crate::text;
use crate::text::language::TextLanguage;

/// Words that E12 keeps: the ones that tell most.
pub const TOKENS: usize = 32;
/// How much of the likeness of E1 is meaning; the rest is spelling.
const MEANING: f32 = 0.8;
/// The same for languages that the table does not know.
const FOREIGN: f32 = 0.2;
const SPELLING: usize = 768;

/// E1: the embedding of the text (the first 256 places, which alone serve searching), then hashed stems and pieces of
/// four characters.
#[must_use]
pub fn embed(whole: &[f32], text: &str) -> Vec<f32> {
    let mut spelling = vec![0f32; SPELLING];
    for stem in text::stems(text) {
        add_hashed(&mut spelling, stem.as_bytes(), 1, 1.0);
        for piece in text::pieces(&stem, 4) {
            add_hashed(&mut spelling, piece.as_bytes(), 11, 0.3);
        }
    }
    joined(prefix(whole, 256), spelling, if is_known(text) { MEANING } else { FOREIGN })
}

/// Whether the table of meanings says something about a text: it knows English, and names and code are spelt alike everywhere.
fn is_known(text: &str) -> bool {
    TextLanguage::of(text).is_none_or(TextLanguage::is_known_by_meaning)
}

/// E12: one vector of 128 for each of the words that tell most.
#[must_use]
pub fn tokens(embedding: &dyn TextEmbedding, text: &str, vocabulary: &dyn WordStatistics) -> Vec<Vec<f32>> {
    let mut seen = HashSet::new();
    let known = is_known(text);
    // What the table says of a word, and what its spelling says.
    let (meant, spelt) = if known { (1.0, 0.5) } else { (0.2, 1.0) };
    let mut words: Vec<(f32, usize, (String, String))> = text::telling(text)
        .into_iter()
        .filter(|(word, _)| seen.insert(word.clone()))
        .enumerate()
        .map(|(at, (word, stem))| (lexical::idf(vocabulary, lexical::place(&stem)), at, (word, stem)))
        .collect();
    if words.len() > TOKENS {
        words.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        words.truncate(TOKENS);
        words.sort_by_key(|word| word.1);
    }
    words
        .into_iter()
        .map(|(_, _, (word, stem))| {
            let mut spelling = vec![0f32; 128];
            add_hashed(&mut spelling, stem.as_bytes(), 12, 1.0);
            for piece in text::pieces(&stem, 3) {
                add_hashed(&mut spelling, piece.as_bytes(), 13, 0.5);
            }
            crate::vector::normalize(&mut spelling);
            let mut vector = prefix(&embedding.embed(&word), 128);
            // Spelling decides for words that the table does not know, and tells inflections apart from others.
            vector.iter_mut().zip(&spelling).for_each(|(x, y)| *x = meant * *x + spelt * y);
            crate::vector::normalize(&mut vector);
            vector
        })
        .collect()
}
