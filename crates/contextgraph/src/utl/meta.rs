//! Learning how to learn: what was predicted against what came, and what follows from it.
//!
//! If a prediction errs by more than 0.2, the weights of surprise and coherence move by
//! `a = clamp(0.05 ACh / 0.001, 0.01, 0.1)` times the error, the one against the other, each within `[0.1, 0.9]`, and sum to
//! one again. Ten steps below an accuracy of 0.7 in a row escalate; three escalations without effect call for a person.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Weights;

/// Predictions that are remembered.
const HISTORY: usize = 100;

/// What was predicted and what came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetaLearning {
    /// The weights as corrected so far; `None` until the first correction.
    pub weights: Option<Weights>,
    accuracies: VecDeque<f64>,
    /// The running mean of what came: the next prediction.
    expected: f64,
    low: u32,
    /// How often it was escalated without effect.
    pub escalations: u32,
    /// Whether accuracy is below what it should be; left at 0.75, entered at 0.65.
    pub poor: bool,
}

impl Default for MetaLearning {
    fn default() -> Self {
        Self { weights: None, accuracies: VecDeque::new(), expected: 0.5, low: 0, escalations: 0, poor: false }
    }
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetaStep {
    /// What was predicted.
    pub predicted: f64,
    /// What came less what was predicted.
    pub error: f64,
    /// Whether the weights were moved.
    pub corrected: bool,
    /// Whether a person should look at it.
    pub needs_person: bool,
}

impl MetaLearning {
    /// What the next learning score should be.
    #[must_use]
    pub const fn prediction(&self) -> f64 {
        self.expected
    }

    /// The mean accuracy of the predictions that are remembered; one half before the first.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        if self.accuracies.is_empty() {
            0.5
        } else {
            crate::vector::mean(&self.accuracies.iter().copied().collect::<Vec<_>>())
        }
    }

    /// Predictions that are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.accuracies.len()
    }

    /// Whether nothing was predicted yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.accuracies.is_empty()
    }

    /// The better half of what is remembered less the older half.
    #[must_use]
    pub fn trend(&self) -> f64 {
        let all: Vec<f64> = self.accuracies.iter().copied().collect();
        let (old, new) = all.split_at(all.len() / 2);
        if old.is_empty() { 0.0 } else { crate::vector::mean(new) - crate::vector::mean(old) }
    }

    /// Takes in what came, with the weights of the stage and the level of acetylcholine.
    pub fn observe(&mut self, came: f64, stage: Weights, acetylcholine: f64) -> MetaStep {
        let predicted = self.expected;
        let error = came - predicted;
        let accuracy = 1.0 - error.abs().min(1.0);
        self.accuracies.push_back(accuracy);
        if self.accuracies.len() > HISTORY {
            self.accuracies.pop_front();
        }
        let rolling = self.accuracy();
        self.poor = rolling < if self.poor { 0.75 } else { 0.65 };
        self.low = if accuracy < 0.7 { self.low + 1 } else { 0 };
        if self.low >= 10 {
            self.low = 0;
            self.escalations += 1;
            // What was expected was wrong ten times: begin again from what comes.
            self.expected = came;
        } else if rolling >= 0.75 {
            self.escalations = 0;
        }
        let corrected = error.abs() > 0.2;
        if corrected {
            let rate = (0.05 * acetylcholine / 0.001).clamp(0.01, 0.1);
            let weights = self.weights.unwrap_or(stage);
            let surprise = (weights.surprise - rate * error).clamp(0.1, 0.9);
            let coherence = (weights.coherence + rate * error).clamp(0.1, 0.9);
            let sum = surprise + coherence;
            self.weights = Some(Weights { surprise: surprise / sum, coherence: coherence / sum });
        }
        self.expected += 0.1 * (came - self.expected);
        MetaStep { predicted, error, corrected, needs_person: self.escalations >= 3 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::utl::Stage;

    #[test]
    fn weights_move_against_the_error_and_stay_shares() {
        let mut meta = MetaLearning::default();
        let stage = Stage::Growth.weights();
        let step = meta.observe(0.9, stage, 0.001);
        assert!(step.corrected && (step.error - 0.4).abs() < 1e-12);
        let weights = meta.weights.unwrap();
        assert!((weights.surprise - 0.48).abs() < 1e-12 && (weights.coherence - 0.52).abs() < 1e-12);
        for _ in 0..200 {
            meta.observe(0.0, stage, 0.002);
            let weights = meta.weights.unwrap();
            assert!((weights.surprise + weights.coherence - 1.0).abs() < 1e-9);
            assert!((0.05..=0.95).contains(&weights.surprise));
        }
        assert_eq!(meta.len(), 100);
        assert!(meta.accuracy() > 0.9, "a steady world is predicted");
    }

    #[test]
    fn a_small_error_corrects_nothing() {
        let mut meta = MetaLearning::default();
        assert!(!meta.observe(0.6, Stage::Growth.weights(), 0.001).corrected);
        assert_eq!(meta.weights, None);
    }

    #[test]
    fn what_cannot_be_predicted_calls_for_a_person() {
        let mut meta = MetaLearning::default();
        let calls = (0..120)
            .any(|at| meta.observe(if at % 2 == 0 { 1.0 } else { 0.0 }, Stage::Growth.weights(), 0.001).needs_person);
        assert!(calls);
    }
}
