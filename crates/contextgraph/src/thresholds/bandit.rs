//! Level 3: candidates for the optimal threshold. An arm is right about a prediction when it and the truth are on the same
//! side. Drawn by Thompson's rule from `Beta(right + 1, wrong + 1)` while the budget of exploring, `100 exp(-0.01 t)`, lasts at
//! least one draw, and by the upper bound `mean + 1.5 sqrt(ln(N + 1) / n)` after that.

use serde::{Deserialize, Serialize};

use crate::Rng;

/// The candidates.
const ARMS: [f64; 5] = [0.70, 0.72, 0.75, 0.77, 0.80];

/// One candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Arm {
    pub threshold: f64,
    pub right: u64,
    pub wrong: u64,
}

impl Arm {
    const fn played(&self) -> u64 {
        self.right + self.wrong
    }

    /// The share of predictions that it was right about; one half before the first.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.played() == 0 { 0.5 } else { self.right as f64 / self.played() as f64 }
    }
}

/// The candidates of a domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bandit {
    /// The candidates.
    pub arms: Vec<Arm>,
    /// How often one was drawn.
    pub draws: u64,
    /// Samples that were learned from already.
    learned: usize,
}

impl Default for Bandit {
    fn default() -> Self {
        let arms = ARMS.iter().map(|&threshold| Arm { threshold, right: 0, wrong: 0 }).collect();
        Self { arms, draws: 0, learned: 0 }
    }
}

impl Bandit {
    /// Draws that may still explore.
    #[must_use]
    pub fn budget(&self) -> f64 {
        100.0 * (-0.01 * self.draws as f64).exp()
    }

    /// Learns from pairs of confidence and truth, each once.
    pub fn learn(&mut self, samples: &[(f64, f64)]) {
        for (confidence, truth) in samples.iter().skip(self.learned.min(samples.len())) {
            for arm in &mut self.arms {
                let right = (*confidence >= arm.threshold) == (*truth >= 0.5);
                if right {
                    arm.right += 1;
                } else {
                    arm.wrong += 1;
                }
            }
        }
        self.learned = samples.len();
    }

    /// Draws a candidate.
    pub fn draw(&mut self, rng: &mut Rng) -> f64 {
        let exploring = self.budget() >= 1.0;
        self.draws += 1;
        let total: u64 = self.arms.iter().map(Arm::played).sum();
        let mut score = |arm: &Arm| {
            if exploring {
                rng.beta(arm.right as f64 + 1.0, arm.wrong as f64 + 1.0)
            } else if arm.played() == 0 {
                f64::INFINITY
            } else {
                arm.mean() + 1.5 * ((total as f64 + 1.0).ln() / arm.played() as f64).sqrt()
            }
        };
        let scored: Vec<(f64, f64)> = self.arms.iter().map(|arm| (score(arm), arm.threshold)).collect();
        scored.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map_or(ARMS[2], |best| best.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arm_that_is_right_is_drawn() {
        let mut bandit = Bandit::default();
        // Right from 0.76 on: the arm at 0.77 errs least.
        let samples: Vec<(f64, f64)> = (0..400)
            .map(|at| 0.6 + 0.3 * f64::from(at) / 400.0)
            .map(|p| (p, f64::from(u8::from(p >= 0.765))))
            .collect();
        bandit.learn(&samples);
        bandit.learn(&samples);
        assert_eq!(bandit.arms[0].played(), 400, "each sample once");
        let mut rng = Rng::new(2);
        let drawn = (0..50).filter(|_| bandit.draw(&mut rng) == 0.77).count();
        assert!(drawn > 25, "{drawn}");
        assert!(bandit.budget() < 100.0);
    }
}
