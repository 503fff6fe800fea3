//! Watching itself: predictions of learning against what came. `MetaScore = s(2 (L_pred - L_act))`, `s` the logistic function.
//!
//! Five scores below 0.5 in a row call for a dream and raise acetylcholine by half (within 0.001 and 0.002); otherwise it
//! decays by a tenth of the way at each step. Five above 0.9 make it look less often (0.8 of the frequency, at least 0.1);
//! three low ones more often (1.5, at most 10).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::vector::sigmoid;

const HISTORY: usize = 20;
const LEAST: f64 = 0.001;
const MAX_RATE: f64 = 0.002;

/// The state of watching.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metacognition {
    scores: VecDeque<f64>,
    low: u32,
    high: u32,
    /// The level of acetylcholine.
    pub acetylcholine: f64,
    /// How often it looks, relative to once for each interaction.
    pub frequency: f64,
}

impl Default for Metacognition {
    fn default() -> Self {
        Self { scores: VecDeque::new(), low: 0, high: 0, acetylcholine: LEAST, frequency: 1.0 }
    }
}

impl Metacognition {
    /// Takes in a prediction and what came. Whether a dream is called for.
    pub fn observe(&mut self, predicted: f64, came: f64) -> bool {
        let score = sigmoid(2.0 * (predicted - came));
        self.scores.push_back(score);
        if self.scores.len() > HISTORY {
            self.scores.pop_front();
        }
        self.low = if score < 0.5 { self.low + 1 } else { 0 };
        self.high = if score > 0.9 { self.high + 1 } else { 0 };
        let dream = self.low >= 5;
        if dream {
            self.low = 0;
            self.acetylcholine = (self.acetylcholine * 1.5).clamp(LEAST, MAX_RATE);
        } else {
            self.acetylcholine = (self.acetylcholine + 0.1 * (LEAST - self.acetylcholine)).clamp(LEAST, MAX_RATE);
        }
        if self.high >= 5 {
            self.high = 0;
            self.frequency = (self.frequency * 0.8).max(0.1);
        } else if self.low >= 3 {
            self.frequency = (self.frequency * 1.5).min(10.0);
        }
        dream
    }

    /// The last score; one half before the first.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.scores.back().copied().unwrap_or(0.5)
    }

    /// The newer half of the scores less the older.
    #[must_use]
    pub fn trend(&self) -> f64 {
        let all: Vec<f64> = self.scores.iter().copied().collect();
        let (old, new) = all.split_at(all.len() / 2);
        if old.is_empty() { 0.0 } else { crate::vector::mean(new) - crate::vector::mean(old) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_low_scores_call_for_a_dream() {
        let mut watching = Metacognition::default();
        let calls: Vec<bool> = (0..5).map(|_| watching.observe(0.1, 0.9)).collect();
        assert_eq!(calls, [false, false, false, false, true]);
        assert!((watching.acetylcholine - 0.0015).abs() < 1e-12);
        assert!(watching.frequency > 1.0);
        watching.observe(0.5, 0.5);
        assert!(watching.acetylcholine < 0.0015);
        (0..200).for_each(|_| {
            watching.observe(0.0, 1.0);
        });
        assert!((LEAST..=MAX_RATE).contains(&watching.acetylcholine) && watching.frequency <= 10.0);
    }
}
