//! Level 1: how far what a threshold is compared with has moved. A running mean (`ewma += a (x - ewma)`, `a` 0.2) against the
//! baseline, in deviations: above 2 temperatures should be fitted again, above 3 thresholds explored. Without spread: 0.

use serde::{Deserialize, Serialize};

const ALPHA: f64 = 0.2;

/// The state of one threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named like the formula")]
pub struct Drift {
    pub ewma: f64,
    pub baseline: f64,
    pub baseline_std: f64,
    pub alpha: f64,
    pub count: u64,
    mean: f64,
    squares: f64,
}

/// Observations from which the baseline is taken.
const BASELINE: u64 = 20;

impl Drift {
    /// Begins at a baseline.
    #[must_use]
    pub const fn new(baseline: f64) -> Self {
        Self { ewma: baseline, baseline, baseline_std: 0.0, alpha: ALPHA, count: 0, mean: 0.0, squares: 0.0 }
    }

    /// Takes a value in. The first twenty make the baseline.
    pub fn observe(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.count += 1;
        if self.count <= BASELINE {
            let step = value - self.mean;
            self.mean += step / self.count as f64;
            self.squares += step * (value - self.mean);
            self.baseline = self.mean;
            self.baseline_std = (self.squares / self.count as f64).sqrt();
            self.ewma = self.mean;
        } else {
            self.ewma += self.alpha * (value - self.ewma);
        }
    }

    /// How many deviations it is off.
    #[must_use]
    pub fn score(&self) -> f64 {
        if self.baseline_std > 1e-12 { (self.ewma - self.baseline).abs() / self.baseline_std } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_is_seen_and_no_spread_is_none() {
        let mut drift = Drift::new(0.7);
        assert_eq!(drift.score(), 0.0);
        (0..20).for_each(|at| drift.observe(0.7 + if at % 2 == 0 { 0.01 } else { -0.01 }));
        assert!(drift.score() < 0.1);
        (0..40).for_each(|_| drift.observe(0.8));
        assert!(drift.score() > 3.0, "{}", drift.score());
        drift.observe(f64::NAN);
        assert!(drift.ewma.is_finite());
        let mut still = Drift::new(0.5);
        (0..40).for_each(|_| still.observe(0.5));
        assert_eq!(still.score(), 0.0);
    }
}
