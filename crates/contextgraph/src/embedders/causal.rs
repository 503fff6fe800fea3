//! E5: what leads to what. The clause that names a cause and the clause that names an effect, each with its own half.
//!
//! Marker words split a sentence: in `A leads to B` the cause is A, in `B because A` too. A text without a marker is its
//! own cause and its own effect, and says nothing about direction. What a memory names as its effect compared with what
//! another names as its cause is how one leads to the other; the comparison is not symmetric.

use super::{TextEmbedding, add_hashed, joined};
use crate::text;

/// Which end of a relation a memory tells about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It names something and what comes of it.
    Cause,
    /// It names something and where it comes from.
    Effect,
    /// Neither.
    #[default]
    Unknown,
}

impl Direction {
    /// The factor of a comparison from `self` to `other`.
    #[must_use]
    pub const fn factor(self, other: Self) -> f64 {
        match (self, other) {
            (Self::Cause, Self::Effect) => 1.2,
            (Self::Effect, Self::Cause) => 0.8,
            _ => 1.0,
        }
    }

    /// One byte, for the database.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Cause => 1,
            Self::Effect => 2,
        }
    }

    /// From the byte of the database.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Self {
        match byte {
            1 => Self::Cause,
            2 => Self::Effect,
            _ => Self::Unknown,
        }
    }
}

/// Cause first, effect second.
const FORWARD: &[&str] = &[
    " leads to ",
    " lead to ",
    " led to ",
    " causes ",
    " caused ",
    " cause ",
    " results in ",
    " resulted in ",
    " triggers ",
    " triggered ",
    " produces ",
    " produced ",
    " makes ",
    " therefore ",
    " thus ",
    " hence ",
    " so that ",
    " consequently ",
    " brings about ",
    " gives rise to ",
    " -> ",
    " => ",
];
/// Effect first, cause second.
const BACKWARD: &[&str] = &[
    " because of ",
    " because ",
    " due to ",
    " owing to ",
    " as a result of ",
    " results from ",
    " resulted from ",
    " is caused by ",
    " was caused by ",
    " caused by ",
    " stems from ",
    " comes from ",
    " thanks to ",
    " on account of ",
];

/// The clauses of a text: causes, effects, and what the text as a whole tells about.
#[must_use]
pub fn clauses(text: &str) -> (String, String, Direction) {
    let (mut causes, mut effects) = (String::new(), String::new());
    let (mut forward, mut backward) = (0, 0);
    for sentence in text::sentences(text) {
        // A comma before a marker word belongs to it.
        let lower =
            format!(" {} ", sentence.to_lowercase().replace(',', " ").split_whitespace().collect::<Vec<_>>().join(" "));
        let find = |markers: &[&str]| {
            markers.iter().filter_map(|marker| Some((lower.find(marker)?, marker.len()))).min_by_key(|found| found.0)
        };
        // `was caused by` holds `caused`, so the backward markers are looked for first.
        let (first, second, turned) = match (find(BACKWARD), find(FORWARD)) {
            (Some((at, length)), _) => {
                backward += 1;
                (&lower[..at], &lower[at + length - 1..], true)
            }
            (None, Some((at, length))) => {
                forward += 1;
                (&lower[..at], &lower[at + length - 1..], false)
            }
            (None, None) => continue,
        };
        let (cause, effect) = if turned { (second, first) } else { (first, second) };
        causes.push_str(cause);
        effects.push_str(effect);
    }
    let direction = match forward.cmp(&backward) {
        _ if forward + backward == 0 => Direction::Unknown,
        std::cmp::Ordering::Less => Direction::Effect,
        _ => Direction::Cause,
    };
    (causes.trim().to_owned(), effects.trim().to_owned(), direction)
}

fn half(embedding: &dyn TextEmbedding, text: &str) -> Vec<f32> {
    let mut spelling = vec![0f32; 128];
    for stem in text::stems(text) {
        add_hashed(&mut spelling, stem.as_bytes(), 5, 1.0);
    }
    let mut meaning = embedding.embed(text);
    meaning.resize(256, 0.0);
    joined(meaning, spelling, 0.6)
}

/// E5 of a text: the half of the cause, the half of the effect, 384 each; and its direction.
#[must_use]
pub fn embed(embedding: &dyn TextEmbedding, text: &str) -> (Vec<f32>, Direction) {
    let (cause, effect, direction) = clauses(text);
    let whole = || half(embedding, text);
    let (mut first, second) = if direction == Direction::Unknown {
        let half = whole();
        (half.clone(), half)
    } else {
        let or_whole = |clause: &str| if clause.is_empty() { whole() } else { half(embedding, clause) };
        (or_whole(&cause), or_whole(&effect))
    };
    first.extend(second);
    crate::vector::normalize(&mut first);
    (first, direction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_split_a_sentence() {
        for (text, cause, effect, direction) in [
            ("Heavy rain leads to floods", "heavy rain", "floods", Direction::Cause),
            ("The roads closed because of floods.", "floods", "the roads closed", Direction::Effect),
            ("The outage was caused by a full disk", "a full disk", "the outage", Direction::Effect),
            ("Floods, therefore evacuation", "floods", "evacuation", Direction::Cause),
            ("Floods are wet", "", "", Direction::Unknown),
        ] {
            assert_eq!(clauses(text), (cause.to_owned(), effect.to_owned(), direction), "{text}");
        }
    }
}
