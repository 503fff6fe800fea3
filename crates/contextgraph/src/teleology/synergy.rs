//! The synergy matrix: how far two spaces strengthen each other, in `[0, 1]`, symmetric, 1 with themselves.
//!
//! Ours, for the spaces as they are named here. Strong (0.9): spaces that look at the same thing from two sides, such as
//! meaning and entities, or the three times. Moderate (0.6): spaces that often agree. Weak (0.3): all others.
//!
//! Success draws a pair towards `s + 0.1 a (0.8 + 0.4 c)`, at most 1, with `a` the activation and `c` the confidence; failure
//! towards `0.98 s`, at least 0.1; each by the learning rate. What is not confirmed falls back to the base: `0.99` of the way off.

use serde::{Deserialize, Serialize};

use super::pairs;
use crate::embedders::space::COUNT;

/// Strong pairs, by index from 0.
const STRONG: [(usize, usize); 18] = [
    (0, 10),
    (0, 11),
    (0, 12),
    (0, 9),
    (1, 2),
    (1, 3),
    (2, 3),
    (4, 7),
    (4, 10),
    (5, 12),
    (5, 11),
    (11, 12),
    (6, 5),
    (6, 8),
    (7, 10),
    (0, 4),
    (8, 12),
    (0, 5),
];
/// Moderate pairs.
const MODERATE: [(usize, usize); 22] = [
    (0, 1),
    (0, 6),
    (0, 7),
    (0, 8),
    (1, 7),
    (3, 4),
    (1, 4),
    (4, 11),
    (4, 5),
    (5, 10),
    (5, 8),
    (6, 11),
    (6, 12),
    (6, 7),
    (7, 8),
    (7, 9),
    (7, 11),
    (8, 11),
    (9, 10),
    (9, 11),
    (10, 11),
    (10, 12),
];

/// The base value of a pair.
#[must_use]
pub fn base(i: usize, j: usize) -> f64 {
    let listed = |list: &[(usize, usize)]| list.iter().any(|&(a, b)| (a, b) == (i, j) || (b, a) == (i, j));
    match (i, j) {
        (i, j) if i == j => 1.0,
        _ if listed(&STRONG) => 0.9,
        _ if listed(&MODERATE) => 0.6,
        _ => 0.3,
    }
}

/// The matrix as learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Synergy {
    values: Vec<f64>,
    /// How often it was updated.
    pub updates: u64,
}

impl Default for Synergy {
    fn default() -> Self {
        Self { values: pairs().map(|(i, j)| base(i, j)).collect(), updates: 0 }
    }
}

/// The place of a pair in the upper triangle.
const fn place(i: usize, j: usize) -> usize {
    let (i, j) = if i < j { (i, j) } else { (j, i) };
    i * (2 * COUNT - i - 1) / 2 + j - i - 1
}

impl Synergy {
    /// The value of a pair.
    #[must_use]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        if i == j { 1.0 } else { self.values.get(place(i, j)).copied().unwrap_or_else(|| base(i, j)) }
    }

    /// Learns that a pair was of use (`success` is 1), was not (0), or in part. What it changed by.
    pub fn learn(&mut self, (i, j): (usize, usize), success: f64, activation: f64, confidence: f64, rate: f64) -> f64 {
        let Some(value) = self.values.get_mut(place(i, j)) else { return 0.0 };
        let before = *value;
        let up = (before + 0.1 * activation * (0.8 + 0.4 * confidence)).min(1.0);
        let down = (before * 0.98).max(0.1);
        let target = success * up + (1.0 - success) * down;
        *value = ((1.0 - rate) * before + rate * target).clamp(0.0, 1.0);
        *value - before
    }

    /// What was not confirmed falls back towards its base.
    pub fn decay(&mut self) {
        for (value, (i, j)) in self.values.iter_mut().zip(pairs()) {
            let base = base(i, j);
            *value = base + 0.99 * (*value - base);
        }
    }

    /// How sure the matrix is, by its updates: `1 - 1 / (1 + n / 10)`.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        1.0 - 1.0 / (1.0 + self.updates as f64 / 10.0)
    }

    /// The upper triangle, row by row.
    #[must_use]
    pub fn triangle(&self) -> &[f64] {
        &self.values
    }

    /// All values, for putting them back.
    pub fn restore(&mut self, values: &[f64], updates: u64) {
        if values.len() == self.values.len() {
            self.values = values.to_vec();
            self.updates = updates;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_base_is_symmetric_and_every_pair_is_listed_once() {
        let synergy = Synergy::default();
        for (at, (i, j)) in pairs().enumerate() {
            assert_eq!(place(i, j), at);
            assert_eq!(synergy.get(i, j), synergy.get(j, i));
        }
        let mut all: Vec<(usize, usize)> =
            STRONG.iter().chain(&MODERATE).map(|&(i, j)| if i < j { (i, j) } else { (j, i) }).collect();
        let listed = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), listed);
        assert_eq!(synergy.get(4, 4), 1.0);
    }

    proptest! {
        #[test]
        fn learning_stays_in_range(steps in prop::collection::vec((0..78usize, 0.0..=1.0f64, 0.0..=1.0f64, 0.001..0.5f64), 0..200)) {
            let mut synergy = Synergy::default();
            let all: Vec<(usize, usize)> = pairs().collect();
            for (pair, success, activation, rate) in steps {
                synergy.learn(all[pair], success, activation, 0.5, rate);
            }
            prop_assert!(synergy.triangle().iter().all(|value| (0.0..=1.0).contains(value)));
        }
    }

    #[test]
    fn success_raises_failure_lowers_and_time_brings_back() {
        let mut synergy = Synergy::default();
        assert!(synergy.learn((0, 3), 1.0, 1.0, 0.5, 0.1) > 0.0);
        assert!(synergy.learn((0, 10), 0.0, 1.0, 0.5, 0.1) < 0.0);
        let off = synergy.get(0, 3) - 0.3;
        synergy.decay();
        assert!((synergy.get(0, 3) - 0.3 - 0.99 * off).abs() < 1e-12);
        assert_eq!(synergy.confidence(), 0.0);
    }
}
