//! The vector of purpose: alignments, correlations of pairs, groups.
//!
//! The correlation of two spaces is `sqrt(a_i a_j) s_ij` with `s` their synergy, and 0 below 0.01. A group is the mean of its
//! members. Confidence is `(0.3 mean + 0.25 (1 - sparsity) + 0.25 group coherence + 0.2 synergy use) sqrt(active / 13)`; a space is
//! active above 0.1.

use serde::{Deserialize, Serialize};

use super::{GROUPS, pairs, synergy::Synergy};
use crate::embedders::space::{COUNT, TIME};
use crate::vector::{deviation, mean};

/// A vector of purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named like the formulas")]
pub struct Vector {
    pub purpose_vector: [f64; COUNT],
    pub cross_correlations: Vec<f64>,
    pub group_alignments: [f64; 6],
    pub confidence: f64,
}

/// Alignment above which a space is active.
pub const ACTIVE: f64 = 0.1;

impl Vector {
    /// The vector of alignments. A profile's weights, where given, strengthen what it counts:
    /// `corr_ij sqrt(w_i w_j) 13 (0.5 + 0.5 sqrt(a_i a_j))`.
    #[must_use]
    pub fn of(alignments: [f64; COUNT], synergy: Option<&Synergy>, weights: Option<&[f64; COUNT]>) -> Self {
        let purpose_vector = alignments.map(|value| value.clamp(0.0, 1.0));
        let correlations: Vec<f64> = pairs()
            .map(|(i, j)| {
                let both = (purpose_vector[i] * purpose_vector[j]).sqrt();
                let plain = both * synergy.map_or(1.0, |synergy| synergy.get(i, j));
                // Weights sum to one: thirteen times the mean weight is the neutral factor.
                let profiled = weights.map_or(plain, |weights| {
                    (plain * (weights[i] * weights[j]).sqrt() * COUNT as f64 * (0.5 + 0.5 * both)).min(1.0)
                });
                if profiled.abs() < 0.01 { 0.0 } else { profiled }
            })
            .collect();
        let group_alignments = GROUPS.map(|(_, members)| {
            let weight = |member: usize| weights.map_or(1.0, |weights| weights[member]);
            let total: f64 = members.iter().map(|&member| weight(member)).sum();
            let sum: f64 = members.iter().map(|&member| weight(member) * purpose_vector[member]).sum();
            if total > 0.0 { (sum / total).clamp(0.0, 1.0) } else { 0.0 }
        });
        let mut vector = Self { purpose_vector, cross_correlations: correlations, group_alignments, confidence: 0.0 };
        vector.confidence = vector.fusion_confidence(synergy);
        vector
    }

    fn fusion_confidence(&self, synergy: Option<&Synergy>) -> f64 {
        let active = self.active().len() as f64;
        let sparsity = self.cross_correlations.iter().filter(|value| **value == 0.0).count() as f64
            / self.cross_correlations.len() as f64;
        let coherence = 1.0 / (1.0 + deviation(&self.group_alignments));
        let strong = |(i, j): &(usize, usize)| synergy.is_some_and(|synergy| synergy.get(*i, *j) >= 0.7);
        let (mut all, mut used) = (0.0, 0.0);
        for (pair, correlation) in pairs().zip(&self.cross_correlations).filter(|(pair, _)| strong(pair)) {
            all += 1.0;
            let (a, b) = (self.purpose_vector[pair.0], self.purpose_vector[pair.1]);
            used += f64::from(u8::from(correlation.abs() > 0.1 && a > 0.2 && b > 0.2));
        }
        let use_of_synergy = if all > 0.0 { used / all } else { 0.0 };
        let sum = 0.3 * mean(&self.purpose_vector) + 0.25 * (1.0 - sparsity) + 0.25 * coherence + 0.2 * use_of_synergy;
        (sum * (active / COUNT as f64).sqrt()).clamp(0.0, 1.0)
    }

    /// The spaces that are active.
    #[must_use]
    pub fn active(&self) -> Vec<usize> {
        (0..COUNT).filter(|&space| self.purpose_vector[space] > ACTIVE).collect()
    }

    /// The space of the strongest alignment.
    #[must_use]
    pub fn dominant(&self) -> usize {
        dominant(&self.purpose_vector)
    }

    /// The pair of the strongest correlation, without those of two spaces of time.
    #[must_use]
    pub fn strongest_pair(&self) -> (usize, usize) {
        pairs()
            .zip(&self.cross_correlations)
            .filter(|((i, j), _)| !(TIME.contains(i) && TIME.contains(j)))
            .fold(((0, 1), f64::MIN), |best, (pair, value)| if *value > best.1 { (pair, *value) } else { best })
            .0
    }

    /// The group of the strongest alignment.
    #[must_use]
    pub fn dominant_group(&self) -> &'static str {
        let best =
            (0..6).fold(0, |best, at| if self.group_alignments[at] > self.group_alignments[best] { at } else { best });
        GROUPS[best].0
    }
}

/// The place of the largest value among those that tell what something is about; the first of equals. The spaces of time are
/// near 1 for whatever is new, and tell nothing here.
#[must_use]
fn dominant(values: &[f64; COUNT]) -> usize {
    (0..COUNT)
        .filter(|space| !TIME.contains(space))
        .fold(0, |best, at| if values[at] > values[best] { at } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn everything_is_a_share(alignments in prop::array::uniform13(0.0..=1.0f64), weights in prop::array::uniform13(0.001..1.0f64)) {
            let sum: f64 = weights.iter().sum();
            let weights = weights.map(|weight| weight / sum);
            for vector in [Vector::of(alignments, Some(&Synergy::default()), None), Vector::of(alignments, Some(&Synergy::default()), Some(&weights))] {
                prop_assert_eq!(vector.cross_correlations.len(), 78);
                let all = vector.cross_correlations.iter().chain(&vector.group_alignments).chain([&vector.confidence]);
                prop_assert!(all.clone().all(|value| (0.0..=1.0).contains(value)), "{:?}", vector);
            }
        }
    }

    #[test]
    fn small_correlations_are_none() {
        let mut alignments = [0.0; COUNT];
        alignments[0] = 0.9;
        alignments[10] = 0.8;
        let vector = Vector::of(alignments, Some(&Synergy::default()), None);
        assert_eq!(vector.strongest_pair(), (0, 10));
        assert_eq!(vector.cross_correlations.iter().filter(|value| **value > 0.0).count(), 1);
        assert_eq!((vector.dominant(), vector.dominant_group(), vector.active()), (0, "factual", vec![0, 10]));
        assert_eq!(Vector::of([0.0; COUNT], None, None).confidence, 0.0);
    }
}
