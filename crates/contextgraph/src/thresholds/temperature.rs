//! Level 2: what a likeness stands for, as a whole and by a temperature for each space: `p' = s(logit(p) / T)`, chosen from twenty in its range so that the Brier loss is least.

use serde::{Deserialize, Serialize};

use crate::vector::sigmoid;

/// Samples below which nothing is fitted.
pub const SAMPLES: usize = 10;
const GRID: u32 = 20;
/// A loss from which a space counts as badly calibrated.
const POOR: f64 = 0.05;

/// A fitted temperature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Scaled {
    pub temperature: f64,
    pub loss: f64,
    pub samples: usize,
}

impl Scaled {
    /// Whether the loss is high in spite of the temperature.
    #[must_use]
    pub const fn is_poor(&self) -> bool {
        self.loss >= POOR && self.samples >= SAMPLES
    }
}

/// `s(logit(p) / T)`; 0 and 1 stay as they are.
#[must_use]
pub fn scaled(p: f64, temperature: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 || temperature <= 0.0 { p } else { sigmoid((p / (1.0 - p)).ln() / temperature) }
}

/// The best temperature in a range; `None` for too few samples.
#[must_use]
pub fn fit(samples: &[(f64, f64)], least: f64, most: f64) -> Option<Scaled> {
    if samples.len() < SAMPLES {
        return None;
    }
    let loss = |temperature: f64| {
        samples.iter().map(|(p, truth)| (scaled(*p, temperature) - truth).powi(2)).sum::<f64>() / samples.len() as f64
    };
    (0..GRID)
        .map(|step| least + (most - least) * f64::from(step) / f64::from(GRID - 1))
        .map(|temperature| Scaled { temperature, loss: loss(temperature), samples: samples.len() })
        .min_by(|a, b| a.loss.total_cmp(&b.loss))
}

/// What a likeness as a whole stands for: `s(a logit(p) + b)` (Platt). Likenesses of right results are low numbers, and a temperature
/// alone cannot raise them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named like the formula")]
pub struct Whole {
    pub a: f64,
    pub b: f64,
    pub samples: usize,
}

impl Whole {
    /// The confidence of a likeness.
    #[must_use]
    pub fn apply(&self, likeness: f64) -> f64 {
        sigmoid(self.a * logit(likeness) + self.b)
    }

    /// The best of a grid, then of a finer one around it, by the Brier loss; `None` for too few samples. The slope is never negative: what
    /// is more alike is never less sure.
    #[must_use]
    pub fn fit(samples: &[(f64, f64)]) -> Option<Self> {
        if samples.len() < SAMPLES {
            return None;
        }
        let points: Vec<(f64, f64)> = samples.iter().map(|(p, truth)| (logit(*p), *truth)).collect();
        let loss = |a: f64, b: f64| points.iter().map(|(x, truth)| (sigmoid(a * x + b) - truth).powi(2)).sum::<f64>();
        let mut best = (f64::INFINITY, 1.0, 0.0);
        let (mut middle, mut step) = ((2.0, 0.0), (0.5, 1.0));
        for _ in 0..4 {
            for i in -4..=4i32 {
                for j in -5..=5i32 {
                    let a = (middle.0 + f64::from(i) * step.0).clamp(0.05, 6.0);
                    let b = (middle.1 + f64::from(j) * step.1).clamp(-8.0, 8.0);
                    let lost = loss(a, b);
                    if lost < best.0 {
                        best = (lost, a, b);
                    }
                }
            }
            middle = (best.1, best.2);
            step = (step.0 / 3.0, step.1 / 3.0);
        }
        Some(Self { a: best.1, b: best.2, samples: samples.len() })
    }
}

fn logit(p: f64) -> f64 {
    let held = p.clamp(1e-4, 1.0 - 1e-4);
    (held / (1.0 - held)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_sure_is_cooled_down() {
        assert_eq!(scaled(0.0, 2.0), 0.0);
        assert_eq!(scaled(1.0, 2.0), 1.0);
        assert_eq!(scaled(0.5, 2.0), 0.5);
        assert!(scaled(0.9, 2.0) < 0.9 && scaled(0.9, 0.5) > 0.9);
        let too_sure: Vec<(f64, f64)> = (0..100).map(|at| (0.95, f64::from(u8::from(at % 4 != 0)))).collect();
        let fitted = fit(&too_sure, 0.5, 2.0).unwrap();
        assert!(fitted.temperature > 1.5 && fitted.is_poor());
        assert!(fit(&too_sure[..9], 0.5, 2.0).is_none());
    }
}
