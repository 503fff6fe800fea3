//! E6 and E13: words as a sparse vector, and the words that go with them.
//!
//! E6: each stem (a text that denies something has one more, for that) is hashed to one of 30,522 places and weighs `(1 + ln tf) idf`, `idf = ln(1 + (N + 1) / (df + 0.5))`.
//! E13: the entries of E6 and, for each, the terms that stand in the same memories more often than chance would have it:
//! weight `w * 0.5 * share`, where the share is the part of the memories with the first term that hold the second.

use std::collections::HashMap;

use crate::text;
use crate::text::language;
use crate::vector::Sparse;

/// The term of texts that deny something. No word is written like it.
const NEGATED: &str = "\u{ac}";

/// Places of the vector.
pub const PLACES: u16 = 30_522;
/// What a sign of Han inside of a word counts beside the word.
const SIGN: f32 = 0.5;
/// Terms that one term brings in.
const EXPANSION: usize = 3;

/// What is known about words from the memories of a space.
pub trait WordStatistics {
    /// How many memories there are.
    fn memories(&self) -> usize;
    /// How many of them hold the term.
    fn holding(&self, term: u16) -> usize;
    /// The terms that stand together with the term most often, with the share of its memories that they stand in.
    fn companions(&self, term: u16, most: usize) -> Vec<(u16, f32)>;
}

/// A vocabulary of nothing, for texts outside of any space.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unknown;

impl WordStatistics for Unknown {
    fn memories(&self) -> usize {
        0
    }
    fn holding(&self, _: u16) -> usize {
        0
    }
    fn companions(&self, _: u16, _: usize) -> Vec<(u16, f32)> {
        Vec::new()
    }
}

/// The place of a stem.
#[must_use]
pub fn place(stem: &str) -> u16 {
    // The remainder is below 30,522.
    (text::hash(stem.as_bytes(), 6) % u64::from(PLACES)) as u16
}

/// The place that texts have that deny something.
#[must_use]
pub fn negation() -> u16 {
    place(NEGATED)
}

/// How much a term tells: high for those that few memories hold.
#[must_use]
pub fn idf(vocabulary: &dyn WordStatistics, term: u16) -> f32 {
    let (all, holding) = (vocabulary.memories() as f32, vocabulary.holding(term) as f32);
    (1.0 + (all + 1.0) / (holding + 0.5)).ln()
}

/// E6 of a text.
#[must_use]
pub fn embed(text: &str, vocabulary: &dyn WordStatistics) -> Sparse {
    let mut counts: HashMap<u16, u32> = HashMap::new();
    for (word, stem) in text::telling(text) {
        let own = place(&stem);
        let mut term = own;
        if vocabulary.holding(own) == 0 {
            // A few words tell little of their language: the form under which the word is remembered, if it is.
            let known =
                language::forms(&word).iter().map(|form| place(form)).find(|form| vocabulary.holding(*form) > 0);
            term = known.unwrap_or(own);
        }
        *counts.entry(term).or_default() += 1;
    }
    if language::negates(text) {
        counts.insert(place(NEGATED), 1);
    }
    let weigh = |(term, count): (u16, u32)| (term, (1.0 + (count as f32).ln()) * idf(vocabulary, term));
    let mut entries: Vec<(u16, f32)> = counts.into_iter().map(weigh).collect();
    // A sign of Han is a word of its own in others: what goes to school is at a school.
    for sign in text::segment::meanings(text).into_iter().map(|sign| place(sign.encode_utf8(&mut [0; 4]))) {
        if entries.iter().all(|(term, _)| *term != sign) {
            entries.push((sign, SIGN * idf(vocabulary, sign)));
        }
    }
    Sparse::from_entries(entries)
}

/// E13 from E6.
#[must_use]
pub fn expand(words: &Sparse, vocabulary: &dyn WordStatistics) -> Sparse {
    let mut entries: Vec<(u16, f32)> = words.iter().collect();
    for (term, weight) in words.iter() {
        for (other, share) in vocabulary.companions(term, EXPANSION) {
            entries.push((other, 0.5 * weight * share));
        }
    }
    Sparse::from_entries(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_weigh_more() {
        struct Two;
        impl WordStatistics for Two {
            fn memories(&self) -> usize {
                100
            }
            fn holding(&self, term: u16) -> usize {
                if term == place("server") { 90 } else { 1 }
            }
            fn companions(&self, term: u16, _: usize) -> Vec<(u16, f32)> {
                if term == place("disk") { vec![(place("full"), 0.5)] } else { Vec::new() }
            }
        }
        let words = embed("the server disk", &Two);
        let weight = |stem: &str| words.iter().find(|entry| entry.0 == place(stem)).unwrap().1;
        assert!(weight("disk") > 2.0 * weight("server"));
        let expanded = expand(&words, &Two);
        assert!(expanded.indices.contains(&place("full")));
        assert_eq!(words.indices.len() + 1, expanded.indices.len());
    }
}
