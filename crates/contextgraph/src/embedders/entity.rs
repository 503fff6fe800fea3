//! E11: who or what a memory is about (head, 192) and what is said of it (relation, 192).
//!
//! Read as a translation: head plus relation points to where the fact leads. Two memories are near where they point to
//! the same place.

use super::{TextEmbedding, add_hashed, prefix};
use crate::text;

const HALF: usize = 192;
/// Words that stand for a subject where no name is written.
const SUBJECTS: usize = 3;

/// E11 of a text.
#[must_use]
pub fn embed(embedding: &dyn TextEmbedding, text: &str) -> Vec<f32> {
    let mut names = text::names(text);
    if names.is_empty() {
        names = text::stems(text).into_iter().take(SUBJECTS).collect();
    }
    let mut head = vec![0f32; HALF];
    for name in &names {
        add_hashed(&mut head, name.as_bytes(), 110, 1.0);
        for word in name.split(' ') {
            add_hashed(&mut head, word.as_bytes(), 111, 0.5);
        }
    }
    crate::vector::normalize(&mut head);
    let is_name = |word: &str| names.iter().any(|name| name.split(' ').any(|part| part == word));
    let said: Vec<(String, String)> = text::telling(text).into_iter().filter(|(word, _)| !is_name(word)).collect();
    let words: Vec<&str> = said.iter().map(|(word, _)| word.as_str()).collect();
    let mut relation = prefix(&embedding.embed(&words.join(" ")), HALF);
    let mut spelling = vec![0f32; HALF];
    for (_, stem) in &said {
        add_hashed(&mut spelling, stem.as_bytes(), 112, 1.0);
    }
    crate::vector::normalize(&mut spelling);
    relation.iter_mut().zip(&spelling).for_each(|(x, y)| *x = 0.8 * *x + 0.6 * y);
    crate::vector::normalize(&mut relation);
    head.extend(relation);
    crate::vector::normalize(&mut head);
    head
}

/// Where the fact points: head plus relation.
#[must_use]
pub fn tail(vector: &[f32]) -> Vec<f32> {
    let half = vector.len() / 2;
    vector[..half].iter().zip(&vector[half..]).map(|(head, relation)| head + relation).collect()
}
