//! Coherence (delta C): how well a memory fits among those that are there.
//!
//! `dC = 0.4 connectivity + 0.4 cluster fit + 0.2 consistency`. A part that cannot be known is left out and the others
//! weigh as much more.
//!
//! * *Connectivity*: neighbours that are alike to more than 0.7, over ten, at most 1.
//! * *Cluster fit*: the silhouette `s = (b - a) / max(a, b)`, `a` the mean distance to its own cluster and `b` to the nearest
//!   other, as `(s + 1) / 2`; one half where there are no two clusters to compare.
//! * *Consistency*: one less the strongest contradiction.

use serde::Serialize;

/// What each part counts.
pub const WEIGHTS: [f64; 3] = [0.4, 0.4, 0.2];
/// How alike neighbours are that count.
pub const LINKED: f64 = 0.7;

/// Coherence and what it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coherence {
    /// The whole, in `[0, 1]`.
    pub value: f64,
    /// `None` for what is not in the graph.
    pub connectivity: Option<f64>,
    /// How well it fits its cluster.
    pub cluster_fit: f64,
    /// How little contradicts it.
    pub consistency: f64,
    /// What the cluster fit came from.
    pub silhouette: Option<Silhouette>,
}

/// Distances to the own and the nearest other cluster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Silhouette {
    /// In `[-1, 1]`.
    pub silhouette: f64,
    /// The mean distance to its own cluster.
    pub intra_distance: f64,
    /// The mean distance to the nearest other.
    pub inter_distance: f64,
}

/// Neighbours that are alike enough, over ten.
#[must_use]
pub fn connectivity(likenesses: &[f64]) -> f64 {
    (likenesses.iter().filter(|likeness| **likeness > LINKED).count() as f64 / 10.0).min(1.0)
}

/// The silhouette from distances to members of the own and of the nearest other cluster.
#[must_use]
pub fn silhouette(own: &[f64], other: &[f64]) -> Option<Silhouette> {
    if own.is_empty() || other.is_empty() {
        return None;
    }
    let (intra, inter) = (crate::vector::mean(own), crate::vector::mean(other));
    let most = intra.max(inter);
    let silhouette = if most > 0.0 { ((inter - intra) / most).clamp(-1.0, 1.0) } else { 0.0 };
    Some(Silhouette { silhouette, intra_distance: intra, inter_distance: inter })
}

/// Puts the parts together.
#[must_use]
pub fn coherence(connectivity: Option<f64>, silhouette: Option<Silhouette>, consistency: f64) -> Coherence {
    let cluster_fit = silhouette.map_or(0.5, |found| (found.silhouette + 1.0) / 2.0);
    let parts = [connectivity, Some(cluster_fit), Some(consistency)];
    let known = parts.iter().zip(WEIGHTS).filter_map(|(part, weight)| Some((part.as_ref()?, weight)));
    let (sum, weights) =
        known.fold((0.0, 0.0), |(sum, weights), (part, weight)| (sum + part * weight, weights + weight));
    let value = if weights > 0.0 { (sum / weights).clamp(0.0, 1.0) } else { 0.5 };
    Coherence { value, connectivity, cluster_fit, consistency, silhouette }
}

/// Words that turn a sentence round.
const NEGATIONS: &[&str] = &[
    "never",
    "no",
    "none",
    "not",
    "nothing",
    "without",
    "cannot",
    "can't",
    "don't",
    "doesn't",
    "isn't",
    "wasn't",
    "won't",
    "didn't",
    "aren't",
    "shouldn't",
];

/// How far two texts contradict each other: as far as they are alike, if one denies and the other does not.
#[must_use]
pub fn contradiction(a: &str, b: &str, likeness: f64) -> f64 {
    let denies =
        |text: &str| crate::text::words(text).filter(|word| NEGATIONS.contains(&word.as_str())).count() % 2 == 1;
    if likeness > 0.5 && denies(a) != denies(b) { likeness.clamp(0.0, 1.0) } else { 0.0 }
}

/// Consistency of numbers: `exp(-5 variance)`; one half for fewer than two.
#[must_use]
pub fn steadiness(values: &[f64]) -> f64 {
    if values.len() < 2 { 0.5 } else { (-5.0 * crate::vector::deviation(values).powi(2)).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn coherence_is_a_share(c in prop::option::of(0.0..=1.0f64), own in prop::collection::vec(0.0..1.0f64, 0..5), other in prop::collection::vec(0.0..1.0f64, 0..5), k in 0.0..=1.0f64) {
            let found = coherence(c, silhouette(&own, &other), k);
            prop_assert!((0.0..=1.0).contains(&found.value));
        }
    }

    #[test]
    fn parts_that_are_not_known_are_left_out() {
        assert!((coherence(None, None, 1.0).value - (0.4 * 0.5 + 0.2) / 0.6).abs() < 1e-12);
        assert!((coherence(Some(1.0), silhouette(&[0.0], &[1.0]), 1.0).value - 1.0).abs() < 1e-12);
        assert_eq!(connectivity(&[0.9; 30]), 1.0);
        assert_eq!(connectivity(&[0.7, 0.71]), 0.1);
        assert_eq!(steadiness(&[0.3]), 0.5);
    }

    #[test]
    fn one_denies_what_the_other_says() {
        assert_eq!(contradiction("the server is up", "the server is not up", 0.9), 0.9);
        assert_eq!(contradiction("the server is up", "the server is up", 0.9), 0.0);
        assert_eq!(contradiction("not ever not", "it is", 0.9), 0.0);
        assert_eq!(contradiction("cats sleep", "it is not raining", 0.1), 0.0);
    }
}
