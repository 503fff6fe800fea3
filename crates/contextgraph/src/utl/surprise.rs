//! Surprise (delta S) in each space: how far a vector is from those seen before.
//!
//! | space | measure |
//! |---|---|
//! | E1 | [mixture of Gaussians](super::gmm), the mean distance of the 5 nearest where there are too few |
//! | E2, E3, E4, E8 | the distance of the 5 nearest, scaled by what is usual |
//! | E5 | the distance of the 5 nearest, times the factor of the direction |
//! | E6 | how telling the terms are that were not seen before |
//! | E7 | half mixture (5 components), half distance |
//! | E9 | the smallest share of bits that differ |
//! | E10 | distance, less where the modality is the same, scaled by what is usual |
//! | E11 | how far the facts point apart |
//! | E12 | one less the mean of the best matches of its words |
//! | E13 | one less the shared terms (Jaccard) |
//!
//! *Scaled by what is usual*: with `z(d) = s((d - m) / v)`, `s` the logistic function and `m`, `v` the running mean and
//! deviation of distances in that space, surprise is `(z(d) - z(0)) / (z(1) - z(0))`: 0 for what was seen exactly, 1 for
//! what is as far as can be. Nothing seen before is full surprise; a vector equal to one seen before is none.

use serde::{Deserialize, Serialize};

use super::gmm::Mixture;
use crate::embedders::space::COUNT;
use crate::embedders::{entity, multimodal};
use crate::error::{Code, Outcome, Problem};
use crate::fingerprint::{Embedding, Fingerprint, max_sim};
use crate::vector::{Sparse, likeness, sigmoid};

/// Neighbours that are looked at.
const NEAREST: usize = 5;

/// What distances are usual in a space: a running mean and variance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Usual {
    mean: f64,
    variance: f64,
}

impl Default for Usual {
    fn default() -> Self {
        Self { mean: 0.5, variance: 0.1 }
    }
}

impl Usual {
    /// Takes a distance in.
    pub fn add(&mut self, distance: f64) {
        let step = distance - self.mean;
        self.mean += 0.1 * step;
        self.variance = (0.9 * (self.variance + 0.1 * step * step)).max(0.01);
    }

    fn scaled(self, distance: f64) -> f64 {
        let deviation = self.variance.sqrt().max(0.1);
        let z = |d: f64| sigmoid((d - self.mean) / deviation);
        ((z(distance) - z(0.0)) / (z(1.0) - z(0.0))).clamp(0.0, 1.0)
    }
}

/// How telling a term is, in `[0, 1]`; known from the memories of a space.
pub type Telling<'a> = &'a dyn Fn(u16) -> f64;

/// What surprise is measured against.
#[derive(Clone, Copy)]
pub struct Against<'a> {
    /// What was seen before.
    pub seen: &'a [&'a Fingerprint],
    /// What distances are usual.
    pub usual: &'a [Usual; COUNT],
    /// How telling a term is.
    pub telling: Telling<'a>,
}

impl std::fmt::Debug for Against<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Against").field("seen", &self.seen.len()).finish_non_exhaustive()
    }
}

/// Surprise and the raw distance it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surprise {
    /// In `[0, 1]`.
    pub value: f64,
    /// The distance, to be taken into what is usual.
    pub distance: f64,
}

/// Surprise in all thirteen spaces.
///
/// # Errors
/// A vector of `new` is missing or holds what is no number.
pub fn all(new: &Fingerprint, against: Against<'_>) -> Outcome<[Surprise; COUNT]> {
    let mut out = [Surprise { value: 0.0, distance: 0.0 }; COUNT];
    for (space, place) in out.iter_mut().enumerate() {
        *place = one(space, new, against)?;
    }
    Ok(out)
}

/// Surprise in one space.
///
/// # Errors
/// The vector of `new` is missing or holds what is no number.
pub fn one(space: usize, new: &Fingerprint, against: Against<'_>) -> Outcome<Surprise> {
    let id = crate::embedders::space::SPACES[space].id;
    let current = new.spaces[space].as_ref().ok_or_else(|| {
        Problem::new(Code::InvalidFingerprint, "MISSING_EMBEDDER", format!("the new fingerprint has no {id}"))
    })?;
    if !current.is_finite() {
        return Err(Problem::not_finite(id));
    }
    let seen: Vec<(&Embedding, &Fingerprint)> =
        against.seen.iter().filter_map(|past| Some((past.spaces[space].as_ref()?, *past))).collect();
    let plain = |value: f64| Ok(Surprise { value: value.clamp(0.0, 1.0), distance: value.clamp(0.0, 1.0) });
    if against.seen.is_empty() {
        return plain(1.0);
    }
    // The one who looked back has no such vector: neither new nor known.
    if seen.is_empty() {
        return plain(0.5);
    }
    if current.is_empty() {
        let both = seen.iter().any(|(past, _)| past.is_empty());
        return plain(match current {
            _ if both => 0.0,
            Embedding::Tokens(_) => 0.5,
            _ => 1.0,
        });
    }
    if seen.iter().any(|(past, _)| *past == current) {
        return plain(0.0);
    }
    let distances = |of: &dyn Fn(&Embedding, &Fingerprint) -> f64| {
        let mut all: Vec<f64> = seen.iter().map(|(past, whole)| of(past, whole).clamp(0.0, 1.0)).collect();
        all.sort_by(f64::total_cmp);
        all.truncate(NEAREST);
        crate::vector::mean(&all)
    };
    let apart = |past: &Embedding, _: &Fingerprint| 1.0 - f64::from(current.likeness(past));
    let usual = against.usual[space];
    let scaled = |distance: f64| Surprise { value: usual.scaled(distance), distance };
    Ok(match space {
        0 | 6 => {
            let near = distances(&apart);
            let components = if space == 0 { 3 } else { 5 };
            let rows: Vec<Vec<f32>> = seen.iter().map(|(past, _)| past.dense()).collect();
            let views: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
            let value = match Mixture::fit(&views, components).map(|mixture| mixture.surprise(&current.dense())) {
                None => near,
                Some(value) if space == 0 => value,
                Some(value) => 0.5 * value + 0.5 * near,
            };
            Surprise { value: value.clamp(0.0, 1.0), distance: near }
        }
        4 => {
            let turned =
                |past: &Embedding, whole: &Fingerprint| apart(past, whole) * whole.direction.factor(new.direction);
            let distance = distances(&turned);
            Surprise { value: distance, distance }
        }
        5 => {
            let Embedding::Sparse(words) = current else { return plain(1.0) };
            let known = |term: u16| {
                seen.iter().any(
                    |(past, _)| matches!(past, Embedding::Sparse(past) if past.indices.binary_search(&term).is_ok()),
                )
            };
            let telling = |(term, _): (u16, f32)| (against.telling)(term);
            let all: f64 = words.iter().map(telling).sum();
            let unseen: f64 = words.iter().filter(|(term, _)| !known(*term)).map(telling).sum();
            return plain(if all > 0.0 { unseen / all } else { 1.0 });
        }
        8 => return plain(bits_apart(current, &seen)),
        9 => {
            let own = multimodal::modality_of(&current.dense());
            let crossed = |past: &Embedding, whole: &Fingerprint| {
                let apart_by = f64::from((multimodal::modality_of(&past.dense()) - own).abs());
                // The same modality counts 0.7, another 0.3, and between the two it falls evenly.
                let weight = (0.7 - (apart_by - 0.3).max(0.0)).clamp(0.3, 0.7);
                weight * apart(past, whole) / 0.7
            };
            scaled(distances(&crossed))
        }
        10 => {
            let own = entity::tail(&current.dense());
            let pointing = |past: &Embedding, _: &Fingerprint| {
                let tail = entity::tail(&past.dense());
                let apart: f32 = own.iter().zip(&tail).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
                // Both are sums of two halves of a vector of length 1, so they are at most the root of 2 long.
                f64::from(apart) / (2.0 * std::f64::consts::SQRT_2)
            };
            scaled(distances(&pointing))
        }
        11 => {
            let Embedding::Tokens(tokens) = current else { return plain(0.5) };
            let unmatched = |past: &Embedding, _: &Fingerprint| match past {
                Embedding::Tokens(past) => 1.0 - f64::from(max_sim(tokens, past)),
                _ => 1.0,
            };
            return plain(distances(&unmatched));
        }
        12 => {
            let Embedding::Sparse(words) = current else { return plain(1.0) };
            let empty = Sparse::default();
            let unshared = |past: &Embedding, _: &Fingerprint| {
                let past = if let Embedding::Sparse(past) = past { past } else { &empty };
                1.0 - f64::from(words.jaccard(past))
            };
            return plain(distances(&unshared));
        }
        _ => scaled(distances(&apart)),
    })
}

/// The smallest share of bits that differ. Numbers are bits by their sign.
fn bits_apart(current: &Embedding, seen: &[(&Embedding, &Fingerprint)]) -> f64 {
    let signs = |values: &[f32]| values.iter().map(|value| *value > 0.0).collect::<Vec<_>>();
    seen.iter()
        .map(|(past, _)| match (current, past) {
            (Embedding::Bits(a), Embedding::Bits(b)) => f64::from(a.hamming(b)) / crate::embedders::hdc::BITS as f64,
            (a, b) => {
                let (a, b) = (signs(&a.dense()), signs(&b.dense()));
                let differ = a.iter().zip(&b).filter(|(x, y)| x != y).count();
                if a.len() == b.len() { differ as f64 / a.len().max(1) as f64 } else { 1.0 }
            }
        })
        .fold(1.0, f64::min)
}

/// The likeness of two vectors of meaning, for callers that have them dense.
#[must_use]
pub fn near(a: &[f32], b: &[f32]) -> f64 {
    f64::from(likeness(a, b))
}
