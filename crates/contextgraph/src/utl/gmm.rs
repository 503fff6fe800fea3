//! Surprise by a mixture of Gaussians: how unlikely a vector is among those seen before.
//!
//! Means are placed by farthest points (the first sample first) and one round of assignment; weights are counts. Fifty
//! memories cannot tell a thousand variances apart, so the diagonal covariance is shrunk to its mean, not below `1e-6`.
//! Densities of a thousand dimensions saturate, so surprise is where the log-likelihood of the vector lies between those
//! of the vectors seen before: `(max - ll) / (max - min)`, clamped. Each of those is judged as if it had not been there.

use crate::vector::dot;

/// A fitted mixture.
#[derive(Debug, Clone)]
pub struct Mixture {
    means: Vec<Vec<f32>>,
    weights: Vec<f64>,
    variance: f64,
    least: f64,
    most: f64,
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    f64::from((dot(a, a) + dot(b, b) - 2.0 * dot(a, b)).max(0.0))
}

impl Mixture {
    /// Fits `components` (2 to 16) to samples; `None` for fewer than two samples for each.
    #[must_use]
    pub fn fit(samples: &[&[f32]], components: usize) -> Option<Self> {
        let components = components.clamp(2, 16);
        if samples.len() < 2 * components {
            return None;
        }
        let mut chosen = vec![0usize];
        while chosen.len() < components {
            let far =
                |sample: &[f32]| chosen.iter().map(|&at| distance(sample, samples[at])).fold(f64::INFINITY, f64::min);
            let next = (0..samples.len()).max_by(|&a, &b| far(samples[a]).total_cmp(&far(samples[b])))?;
            chosen.push(next);
        }
        let nearest = |sample: &[f32]| {
            (0..components)
                .min_by(|&a, &b| distance(sample, samples[chosen[a]]).total_cmp(&distance(sample, samples[chosen[b]])))
                .unwrap_or(0)
        };
        let groups: Vec<usize> = samples.iter().map(|sample| nearest(sample)).collect();
        let length = samples.first()?.len();
        let mut means = vec![vec![0f32; length]; components];
        let mut counts = vec![0usize; components];
        for (sample, &group) in samples.iter().zip(&groups) {
            counts[group] += 1;
            means[group].iter_mut().zip(*sample).for_each(|(sum, x)| *sum += x);
        }
        for (mean, &count) in means.iter_mut().zip(&counts) {
            mean.iter_mut().for_each(|x| *x /= count.max(1) as f32);
        }
        let spread: f64 = samples.iter().zip(&groups).map(|(sample, &group)| distance(sample, &means[group])).sum();
        let variance = (spread / (samples.len() * length.max(1)) as f64).max(1e-6);
        let weights = counts.iter().map(|&count| count as f64 / samples.len() as f64).collect();
        let mut mixture = Self { means, weights, variance, least: f64::INFINITY, most: f64::NEG_INFINITY };
        for (sample, &group) in samples.iter().zip(&groups) {
            // Without the sample its mean would be farther away by n / (n - 1).
            let n = counts[group] as f64;
            let factor = if n > 1.0 { (n / (n - 1.0)).powi(2) } else { 1.0 };
            let likelihood = mixture.likelihood(sample, Some((group, factor)));
            mixture.least = mixture.least.min(likelihood);
            mixture.most = mixture.most.max(likelihood);
        }
        Some(mixture)
    }

    fn likelihood(&self, sample: &[f32], own: Option<(usize, f64)>) -> f64 {
        let terms = self.means.iter().zip(&self.weights).enumerate().filter(|(_, (_, weight))| **weight > 0.0);
        terms
            .map(|(group, (mean, weight))| {
                let factor = own.map_or(1.0, |(owner, factor)| if owner == group { factor } else { 1.0 });
                weight.ln() - factor * distance(sample, mean) / (2.0 * self.variance)
            })
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// The surprise of a vector, in `[0, 1]`.
    #[must_use]
    pub fn surprise(&self, sample: &[f32]) -> f64 {
        let likelihood = self.likelihood(sample, None);
        let range = self.most - self.least;
        if range <= 0.0 {
            return if likelihood < self.least { 1.0 } else { 0.0 };
        }
        ((self.most - likelihood) / range).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn what_lies_among_the_others_surprises_less_than_what_does_not() {
        let mut rng = Rng::new(3);
        let around =
            |centre: f32, rng: &mut Rng| -> Vec<f32> { (0..64).map(|_| centre + 0.1 * rng.normal() as f32).collect() };
        let samples: Vec<Vec<f32>> = (0..30).map(|at| around(if at % 2 == 0 { 1.0 } else { -1.0 }, &mut rng)).collect();
        let views: Vec<&[f32]> = samples.iter().map(Vec::as_slice).collect();
        let mixture = Mixture::fit(&views, 3).unwrap();
        let usual = mixture.surprise(&around(1.0, &mut rng));
        let odd = mixture.surprise(&around(0.0, &mut rng));
        assert!(usual < 0.9 && odd == 1.0, "{usual} {odd}");
        assert!(Mixture::fit(&views[..5], 3).is_none());
    }
}
