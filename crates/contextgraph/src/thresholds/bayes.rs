//! Level 4: the three thresholds of alignment together. A Gaussian process (squared exponential, length 0.1, signal 1, noise
//! 0.01, prior mean 0.5) over a grid; each step evaluates the point of the greatest expected improvement on the predictions
//! whose truth is known.
//!
//! The score of thresholds is the share of predictions that they judge right: what was wanted is at least acceptable, what was
//! wanted in part is between warning and optimal, what was not wanted is below warning.

use std::f64::consts::{PI, SQRT_2};

const LENGTH: f64 = 0.1;
const NOISE: f64 = 0.01;
const PRIOR: f64 = 0.5;
const STEPS: usize = 12;
const SAMPLES: usize = 10;

/// What the search found.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdOptimum {
    /// opt, acc, warn.
    pub thresholds: [f64; 3],
    /// The share that they judge right.
    pub score: f64,
    /// The share that the thresholds before judged right.
    pub score_before: f64,
    /// Points that were evaluated.
    pub evaluated: usize,
    /// Whether they are better than those before.
    pub improved: bool,
}

/// The share of predictions that thresholds judge right.
#[must_use]
pub fn score(samples: &[(f64, f64)], [opt, acc, warn]: [f64; 3]) -> f64 {
    let right = samples.iter().filter(|(confidence, truth)| match truth {
        truth if *truth >= 0.75 => *confidence >= acc,
        truth if *truth >= 0.25 => (warn..opt).contains(confidence),
        _ => *confidence < warn,
    });
    right.count() as f64 / samples.len().max(1) as f64
}

/// Looks for better thresholds; `None` for too few samples.
#[must_use]
pub fn search(samples: &[(f64, f64)], current: [f64; 3]) -> Option<ThresholdOptimum> {
    if samples.len() < SAMPLES {
        return None;
    }
    let grid: Vec<[f64; 3]> = steps(0.65, 0.85)
        .flat_map(|opt| steps(0.60, 0.75).flat_map(move |acc| steps(0.50, 0.65).map(move |warn| [opt, acc, warn])))
        .filter(|[opt, acc, warn]| opt > acc && acc > warn)
        .collect();
    let score_before = score(samples, current);
    let mut known = vec![(current, score_before)];
    for _ in 0..STEPS {
        let process = Process::fit(&known)?;
        let best = known.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
        let fresh = grid.iter().filter(|point| !known.iter().any(|(other, _)| other == *point));
        let next = fresh.map(|point| (*point, process.improvement(*point, best))).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((next, _)) = next else { break };
        known.push((next, score(samples, next)));
    }
    let (thresholds, score) = known.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(ThresholdOptimum { thresholds, score, score_before, evaluated: known.len(), improved: score > score_before })
}

fn steps(least: f64, most: f64) -> impl Iterator<Item = f64> + Clone {
    let count = ((most - least) / 0.025).round() as u32;
    (0..=count).map(move |step| least + 0.025 * f64::from(step))
}

struct Process {
    points: Vec<[f64; 3]>,
    /// The lower triangle of the covariance's root, row by row.
    root: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

fn kernel(a: [f64; 3], b: [f64; 3]) -> f64 {
    let apart: f64 = a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum();
    (-apart / (2.0 * LENGTH * LENGTH)).exp()
}

impl Process {
    fn fit(known: &[([f64; 3], f64)]) -> Option<Self> {
        let points: Vec<[f64; 3]> = known.iter().map(|(point, _)| *point).collect();
        let n = points.len();
        let mut root = vec![vec![0.0; n]; n];
        for i in 0..n {
            for j in 0..=i {
                let noise = if i == j { NOISE } else { 0.0 };
                let covered: f64 = (0..j).map(|k| root[i][k] * root[j][k]).sum();
                let rest = kernel(points[i], points[j]) + noise - covered;
                root[i][j] =
                    if i == j { if rest > 0.0 { rest.sqrt() } else { return None } } else { rest / root[j][j] };
            }
        }
        let values: Vec<f64> = known.iter().map(|(_, value)| value - PRIOR).collect();
        let half = forward(&root, &values);
        let weights = backward(&root, &half);
        Some(Self { points, root, weights })
    }

    fn improvement(&self, point: [f64; 3], best: f64) -> f64 {
        let near: Vec<f64> = self.points.iter().map(|other| kernel(*other, point)).collect();
        let mean = PRIOR + near.iter().zip(&self.weights).map(|(k, w)| k * w).sum::<f64>();
        let half = forward(&self.root, &near);
        let variance = (1.0 - half.iter().map(|x| x * x).sum::<f64>()).max(1e-12);
        let deviation = variance.sqrt();
        let z = (mean - best) / deviation;
        let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
        (mean - best) * cumulative(z) + deviation * density
    }
}

fn forward(root: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = Vec::with_capacity(values.len());
    for (i, value) in values.iter().enumerate() {
        let covered: f64 = out.iter().enumerate().map(|(j, x)| root[i][j] * x).sum();
        out.push((value - covered) / root[i][i]);
    }
    out
}

fn backward(root: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let mut out = vec![0.0; n];
    for i in (0..n).rev() {
        let covered: f64 = (i + 1..n).map(|j| root[j][i] * out[j]).sum();
        out[i] = (values[i] - covered) / root[i][i];
    }
    out
}

/// The normal distribution function (Abramowitz and Stegun 7.1.26, to seven digits).
fn cumulative(z: f64) -> f64 {
    let x = z.abs() / SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let polynomial =
        t * (0.254_829_592 + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let error = 1.0 - polynomial * (-x * x).exp();
    if z >= 0.0 { 0.5 * (1.0 + error) } else { 0.5 * (1.0 - error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_that_fit_better_are_found() {
        // What is wanted is found at 0.63 and above; the thresholds begin too high.
        let samples: Vec<(f64, f64)> =
            (0..100).map(|at| f64::from(at) / 100.0).map(|p| (p, f64::from(u8::from(p >= 0.63)))).collect();
        let found = search(&samples, [0.85, 0.75, 0.65]).unwrap();
        assert!(found.improved && found.score > found.score_before, "{found:?}");
        let [opt, acc, warn] = found.thresholds;
        assert!(opt > acc && acc > warn && acc < 0.7);
        assert!(search(&samples[..9], [0.85, 0.75, 0.65]).is_none());
        assert!((cumulative(0.0) - 0.5).abs() < 1e-6 && (cumulative(1.96) - 0.975).abs() < 1e-4);
    }
}
