//! A memory in thirteen spaces: in full, packed for keeping, and on the wire.
//!
//! [`Content`] is what the text alone decides. [`Packed`] is the same in four to eight bits for each number, as it is kept and
//! searched. [`Fingerprint`] has all thirteen as they are at one moment: the temporal spaces and the graph are worked out
//! from the time and the edges and are never kept.

pub(crate) mod encode;
mod pack;
pub mod wire;

pub use pack::Packed;

use crate::embedders::causal::Direction;
use crate::embedders::hdc::Bits;
use crate::embedders::space::COUNT;
use crate::embedders::temporal;
use crate::vector::{Sparse, likeness};

/// What the text of a memory decides.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "named like the spaces")]
pub struct Content {
    pub e1: Vec<f32>,
    pub e5: Vec<f32>,
    /// Which end of a relation the text tells about.
    pub direction: Direction,
    pub e6: Sparse,
    pub e7: Vec<f32>,
    pub e9: Bits,
    pub e10: Vec<f32>,
    pub e11: Vec<f32>,
    pub e12: Vec<Vec<f32>>,
    pub e13: Sparse,
}

/// A vector of one space.
#[derive(Debug, Clone, PartialEq)]
pub enum Embedding {
    /// Numbers.
    Dense(Vec<f32>),
    /// Few numbers.
    Sparse(Sparse),
    /// Bits.
    Bits(Bits),
    /// One vector for each word.
    Tokens(Vec<Vec<f32>>),
}

impl Embedding {
    /// How long it is; for words, how many numbers in all.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Dense(values) => values.len(),
            Self::Sparse(sparse) => sparse.indices.len(),
            Self::Bits(_) => crate::embedders::hdc::BITS,
            Self::Tokens(tokens) => tokens.iter().map(Vec::len).sum(),
        }
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Dense(values) => values.iter().all(|value| *value == 0.0),
            Self::Sparse(sparse) => sparse.is_empty(),
            Self::Bits(bits) => bits.ones() == 0,
            Self::Tokens(tokens) => tokens.is_empty(),
        }
    }

    /// Whether all its numbers are numbers.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Dense(values) => values.iter().all(|value| value.is_finite()),
            Self::Sparse(sparse) => sparse.values.iter().all(|value| value.is_finite()),
            Self::Bits(_) => true,
            Self::Tokens(tokens) => tokens.iter().flatten().all(|value| value.is_finite()),
        }
    }

    /// The likeness to another vector of the same space, in `[0, 1]`.
    #[must_use]
    pub fn likeness(&self, other: &Self) -> f32 {
        match (self, other) {
            (Self::Dense(a), Self::Dense(b)) => likeness(a, b),
            (Self::Sparse(a), Self::Sparse(b)) => a.likeness(b),
            (Self::Bits(a), Self::Bits(b)) => a.likeness(b),
            (Self::Tokens(a), Self::Tokens(b)) => max_sim(a, b),
            (Self::Bits(a), Self::Dense(b)) | (Self::Dense(b), Self::Bits(a)) => likeness(&a.dense(), b),
            _ => 0.0,
        }
    }

    /// As numbers in one row, for measures that need them: bits in their dense form, words by their mean.
    #[must_use]
    pub fn dense(&self) -> Vec<f32> {
        match self {
            Self::Dense(values) => values.clone(),
            Self::Bits(bits) => bits.dense(),
            Self::Tokens(tokens) => mean_token(tokens),
            Self::Sparse(sparse) => sparse.values.clone(),
        }
    }
}

/// The mean over the words of `a` of the best cosine among the words of `b`.
#[must_use]
pub fn max_sim(a: &[Vec<f32>], b: &[Vec<f32>]) -> f32 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let best = |word: &Vec<f32>| b.iter().map(|other| likeness(word, other)).fold(0f32, f32::max);
    a.iter().map(best).sum::<f32>() / a.len() as f32
}

fn mean_token(tokens: &[Vec<f32>]) -> Vec<f32> {
    let mut mean = vec![0f32; 128];
    for token in tokens {
        mean.iter_mut().zip(token).for_each(|(sum, x)| *sum += x);
    }
    crate::vector::normalize(&mut mean);
    mean
}

/// A memory in all thirteen spaces at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Fingerprint {
    /// The vectors, E1 to E13. One that is missing was not given.
    pub spaces: [Option<Embedding>; COUNT],
    /// Which end of a causal relation it tells about.
    pub direction: Direction,
}

impl Fingerprint {
    /// The fingerprint of content that was made at `time`, seen at `now` (both in milliseconds), with its place in
    /// the graph.
    #[must_use]
    pub fn at(content: Content, time: u64, now: u64, e8: Vec<f32>) -> Self {
        let (time, now) = (time as f64 / 1e3, now as f64 / 1e3);
        let dense = |values| Some(Embedding::Dense(values));
        Self {
            direction: content.direction,
            spaces: [
                dense(content.e1),
                dense(temporal::recent(time, now)),
                dense(temporal::periodic(time)),
                dense(temporal::positional(time)),
                dense(content.e5),
                Some(Embedding::Sparse(content.e6)),
                dense(content.e7),
                dense(e8),
                Some(Embedding::Bits(content.e9)),
                dense(content.e10),
                dense(content.e11),
                Some(Embedding::Tokens(content.e12)),
                Some(Embedding::Sparse(content.e13)),
            ],
        }
    }

    /// The likeness to another in each space, 0 where one has none.
    #[must_use]
    pub fn likenesses(&self, other: &Self) -> [f32; COUNT] {
        std::array::from_fn(|space| match (&self.spaces[space], &other.spaces[space]) {
            (Some(a), Some(b)) => a.likeness(b),
            _ => 0.0,
        })
    }
}
