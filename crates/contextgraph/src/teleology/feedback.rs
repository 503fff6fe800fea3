//! Learning how much each space can be relied on, from feedback: rewards and half as large penalties are gathered, and from ten
//! events on the adjustments move, with momentum 0.9 and rate 0.01, held within -1 and 1.

use serde::{Deserialize, Serialize};

use crate::embedders::space::COUNT;

/// Events that are gathered before anything moves.
pub const EVENTS: usize = 10;
const RATE: f64 = 0.01;
const MOMENTUM: f64 = 0.9;

/// What was gathered and learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learner {
    gathered: Vec<([f32; COUNT], f64)>,
    momentum: [f64; COUNT],
    /// What was learned, in `[-1, 1]`.
    pub adjustments: [f64; COUNT],
    /// How sure it is, in `[0, 1]`.
    pub confidence: f64,
    /// Events in all.
    pub events: u64,
}

impl Default for Learner {
    fn default() -> Self {
        Self { gathered: Vec::new(), momentum: [0.0; COUNT], adjustments: [0.0; COUNT], confidence: 0.5, events: 0 }
    }
}

/// What a round of learning came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Learned {
    pub events_processed: usize,
    pub adjustments: [f64; COUNT],
    pub confidence_delta: f64,
}

impl Learner {
    /// Takes in how alike a result was in each space and how right it was (1, 0 or between). What was learned, every tenth time.
    pub fn add(&mut self, spaces: [f32; COUNT], right: f64) -> Option<Learned> {
        self.gathered.push((spaces, right));
        self.events += 1;
        if self.gathered.len() < EVENTS {
            return None;
        }
        let events = std::mem::take(&mut self.gathered);
        let count = events.len() as f64;
        let mut confidence_delta = 0.0;
        let mut gradient = [0.0; COUNT];
        for (spaces, right) in &events {
            let middle = spaces.iter().sum::<f32>() / COUNT as f32;
            for (place, value) in gradient.iter_mut().zip(spaces) {
                // A space is rewarded for what it saw more of than the others in what was right.
                let said = f64::from(value - middle);
                *place += (right * said - 0.5 * (1.0 - right) * said) / count;
            }
            confidence_delta += (0.01 * right - 0.02 * (1.0 - right)) / count;
        }
        for ((momentum, adjustment), slope) in self.momentum.iter_mut().zip(&mut self.adjustments).zip(gradient) {
            *momentum = MOMENTUM * *momentum + slope;
            *adjustment = (*adjustment + RATE * *momentum).clamp(-1.0, 1.0);
        }
        self.confidence = (self.confidence + confidence_delta).clamp(0.0, 1.0);
        Some(Learned { events_processed: events.len(), adjustments: self.adjustments, confidence_delta })
    }

    /// Events that wait for a round.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.gathered.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tenth_event_teaches() {
        let mut learner = Learner::default();
        let mut spaces = [0.2; COUNT];
        spaces[0] = 0.9;
        for at in 0..9 {
            assert_eq!(learner.add(spaces, 1.0), None, "{at}");
        }
        let learned = learner.add(spaces, 1.0).unwrap();
        assert_eq!(learned.events_processed, 10);
        assert!(learned.adjustments[0] > 0.0 && learned.adjustments[1] < 0.0);
        assert!((learned.confidence_delta - 0.01).abs() < 1e-12);
        (0..1_000).for_each(|_| {
            learner.add(spaces, 1.0);
        });
        assert!(learner.adjustments.iter().all(|value| (-1.0..=1.0).contains(value)));
        assert!(learner.add(spaces, 0.0).is_none_or(|learned| learned.confidence_delta < 0.01));
    }
}
