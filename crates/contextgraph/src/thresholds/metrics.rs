//! How well confidence fits the truth.
//!
//! Predictions are put into ten bins by confidence. `ECE` is the mean over the bins of how far mean confidence and mean truth
//! are apart, weighted by their size; `MCE` the largest; `Brier` the mean square of confidence less truth.

use serde::Serialize;

const BINS: usize = 10;

/// The measures. All 0 without samples.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[expect(missing_docs, reason = "named like the formulas")]
pub struct Measures {
    pub ece: f64,
    pub mce: f64,
    pub brier: f64,
    pub sample_count: usize,
}

/// Measures pairs of confidence and truth.
#[must_use]
pub fn measure(samples: &[(f64, f64)]) -> Measures {
    if samples.is_empty() {
        return Measures::default();
    }
    let mut bins = [(0.0, 0.0, 0usize); BINS];
    for (confidence, truth) in samples {
        // A confidence of exactly 1 belongs to the last bin.
        let bin = ((confidence * BINS as f64) as usize).min(BINS - 1);
        bins[bin].0 += confidence;
        bins[bin].1 += truth;
        bins[bin].2 += 1;
    }
    let total = samples.len() as f64;
    let (mut ece, mut mce) = (0.0, 0f64);
    for (confidence, truth, count) in bins.into_iter().filter(|bin| bin.2 > 0) {
        let apart = ((confidence - truth) / count as f64).abs();
        ece += count as f64 / total * apart;
        mce = mce.max(apart);
    }
    let brier = samples.iter().map(|(confidence, truth)| (confidence - truth).powi(2)).sum::<f64>() / total;
    Measures { ece, mce, brier, sample_count: samples.len() }
}

impl Measures {
    /// The word for an expected error.
    #[must_use]
    pub fn status(&self) -> &'static str {
        match self.ece {
            e if e < 0.05 => "Excellent",
            e if e < 0.10 => "Good",
            e if e < 0.15 => "Acceptable",
            e if e < 0.25 => "Poor",
            _ => "Critical",
        }
    }

    /// Whether it is so bad that something should be done.
    #[must_use]
    pub fn is_poor(&self) -> bool {
        self.ece >= 0.15
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        assert_eq!(measure(&[]), Measures::default());
        let half_right = measure(&[(0.9, 1.0), (0.9, 0.0)]);
        assert!((half_right.ece - 0.4).abs() < 1e-12 && (half_right.mce - 0.4).abs() < 1e-12);
        assert!((half_right.brier - 0.41).abs() < 1e-12);
        assert_eq!(half_right.status(), "Critical");
        assert_eq!(measure(&[(1.0, 1.0), (0.0, 0.0)]).status(), "Excellent");
        for (ece, status) in [(0.05, "Good"), (0.1, "Acceptable"), (0.15, "Poor"), (0.25, "Critical")] {
            assert_eq!(Measures { ece, ..Measures::default() }.status(), status);
        }
    }

    proptest! {
        #[test]
        fn measures_are_shares(samples in prop::collection::vec((0.0..=1.0f64, 0.0..=1.0f64), 0..60)) {
            let found = measure(&samples);
            for value in [found.ece, found.mce, found.brier] {
                prop_assert!((0.0..=1.0).contains(&value));
            }
            prop_assert!(found.ece <= found.mce + 1e-9);
        }
    }
}
