//! How alike two vectors of purpose are, by seven strategies.
//!
//! * `cosine`: 0.4 purpose + 0.35 correlations + 0.15 groups + 0.1 of the smaller confidence.
//! * `euclidean`: `1 / (1 + |d|)` over all parts.
//! * `synergy_weighted`: 0.4 purpose + 0.6 correlations weighted by synergy.
//! * `group_hierarchical`: groups, each times how near the correlations inside it are.
//! * `cross_correlation_dominant`: 0.25 purpose + 0.55 correlations + 0.15 groups + 0.05 confidence.
//! * `tucker_compressed`: the mean of the parts, each weighted by how near it is to their mean (`max(0.1, 1 - |x - m| / 2 s)`).
//! * `adaptive`: by how much the parts differ (deviation over mean): below 0.1 their mean, below 0.3 synergy, else compressed.

use super::synergy::Synergy;
use super::vector::Vector;
use super::{GROUPS, pairs};
use crate::vector::{deviation, mean};

/// A strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum ComparisonStrategy {
    Cosine,
    Euclidean,
    SynergyWeighted,
    GroupHierarchical,
    CrossCorrelationDominant,
    TuckerCompressed,
    Adaptive,
}

impl ComparisonStrategy {
    /// The words, in order.
    pub const WORDS: [&'static str; 7] = [
        "cosine",
        "euclidean",
        "synergy_weighted",
        "group_hierarchical",
        "cross_correlation_dominant",
        "tucker_compressed",
        "adaptive",
    ];

    /// The strategy of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [
            Self::Cosine,
            Self::Euclidean,
            Self::SynergyWeighted,
            Self::GroupHierarchical,
            Self::CrossCorrelationDominant,
            Self::TuckerCompressed,
            Self::Adaptive,
        ];
        Self::WORDS.iter().position(|known| *known == word).map(|at| all[at])
    }
}

/// Which parts count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparisonScope {
    /// Purpose, correlations, groups.
    pub parts: [bool; 3],
    /// What each counts where the strategy leaves it open.
    pub weights: [f64; 3],
}

impl Default for ComparisonScope {
    fn default() -> Self {
        Self { parts: [true; 3], weights: [0.4, 0.35, 0.15] }
    }
}

fn cosine(a: &[f64], b: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).enumerate().map(|(at, (p, q))| weight(at) * p * q).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 1e-12 { (dot(a, b) / lengths).clamp(0.0, 1.0) } else { 0.0 }
}

/// How alike two vectors are, in `[0, 1]`.
#[must_use]
pub fn compare(
    a: &Vector,
    b: &Vector,
    strategy: ComparisonStrategy,
    scope: &ComparisonScope,
    synergy: &Synergy,
) -> f64 {
    let one = |_: usize| 1.0;
    let purpose = cosine(&a.purpose_vector, &b.purpose_vector, one);
    let correlations = cosine(&a.cross_correlations, &b.cross_correlations, one);
    let groups = cosine(&a.group_alignments, &b.group_alignments, one);
    let confidence = a.confidence.min(b.confidence);
    let weighted = |weights: [f64; 3], rest: f64| {
        let parts = [purpose, correlations, groups];
        let used = || (0..3).filter(|&part| scope.parts[part]);
        let total: f64 = used().map(|part| weights[part]).sum::<f64>() + rest;
        let sum: f64 = used().map(|part| weights[part] * parts[part]).sum::<f64>() + rest * confidence;
        if total > 0.0 { (sum / total).clamp(0.0, 1.0) } else { 0.0 }
    };
    let by_synergy = || {
        let triangle = synergy.triangle();
        let strengthened =
            cosine(&a.cross_correlations, &b.cross_correlations, |at| triangle.get(at).copied().unwrap_or(1.0));
        match scope.parts {
            [true, false, _] => purpose,
            [false, true, _] => strengthened,
            [false, false, _] => groups,
            _ => 0.4 * purpose + 0.6 * strengthened,
        }
    };
    match strategy {
        ComparisonStrategy::Cosine => weighted(scope.weights, 0.1),
        ComparisonStrategy::Euclidean => {
            let apart = |x: &[f64], y: &[f64], used: bool| {
                if used { x.iter().zip(y).map(|(p, q)| (p - q).powi(2)).sum::<f64>() } else { 0.0 }
            };
            let sum = apart(&a.purpose_vector, &b.purpose_vector, scope.parts[0])
                + apart(&a.cross_correlations, &b.cross_correlations, scope.parts[1])
                + apart(&a.group_alignments, &b.group_alignments, scope.parts[2]);
            1.0 / (1.0 + sum.sqrt())
        }
        ComparisonStrategy::SynergyWeighted => by_synergy(),
        ComparisonStrategy::GroupHierarchical => hierarchical(a, b),
        ComparisonStrategy::CrossCorrelationDominant => weighted([0.25, 0.55, 0.15], 0.05),
        ComparisonStrategy::TuckerCompressed => compressed(&[purpose, correlations, groups], scope),
        ComparisonStrategy::Adaptive => {
            let parts: Vec<f64> = [purpose, correlations, groups]
                .into_iter()
                .zip(scope.parts)
                .filter(|part| part.1)
                .map(|part| part.0)
                .collect();
            let middle = mean(&parts);
            let spread = if middle > 1e-9 { deviation(&parts) / middle } else { 0.0 };
            match spread {
                s if s < 0.1 => middle,
                s if s < 0.3 => by_synergy(),
                _ => compressed(&[purpose, correlations, groups], scope),
            }
        }
    }
}

fn hierarchical(a: &Vector, b: &Vector) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (group, (_, members)) in GROUPS.iter().enumerate() {
        let inside: Vec<f64> = pairs()
            .zip(a.cross_correlations.iter().zip(&b.cross_correlations))
            .filter(|((i, j), _)| members.contains(i) && members.contains(j))
            .map(|(_, (x, y))| 1.0 - (x - y).abs())
            .collect();
        let near = if inside.is_empty() { 1.0 } else { mean(&inside) };
        let (x, y) = (a.group_alignments[group], b.group_alignments[group]);
        let weight = x.max(y);
        sum += weight * (1.0 - (x - y).abs()) * near;
        total += weight;
    }
    if total > 1e-12 { (sum / total).clamp(0.0, 1.0) } else { 0.0 }
}

fn compressed(parts: &[f64; 3], scope: &ComparisonScope) -> f64 {
    let used: Vec<f64> = parts.iter().copied().zip(scope.parts).filter(|part| part.1).map(|part| part.0).collect();
    let (middle, spread) = (mean(&used), deviation(&used));
    let weight = |x: f64| if spread > 1e-12 { (1.0 - (x - middle).abs() / (2.0 * spread)).max(0.1) } else { 1.0 };
    let total: f64 = used.iter().map(|x| weight(*x)).sum();
    if total > 0.0 { used.iter().map(|x| weight(*x) * x).sum::<f64>() / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{ComparisonScope, ComparisonStrategy, Synergy, Vector, compare};
    use crate::embedders::space::COUNT;
    use proptest::prelude::{prop, prop_assert, proptest};

    proptest! {
        #[test]
        fn every_strategy_gives_a_share_and_knows_itself(a in prop::array::uniform13(0.01..=1.0f64), b in prop::array::uniform13(0.0..=1.0f64)) {
            let synergy = Synergy::default();
            let (a, b) = (Vector::of(a, Some(&synergy), None), Vector::of(b, Some(&synergy), None));
            for word in ComparisonStrategy::WORDS {
                let strategy = ComparisonStrategy::from_word(word).unwrap();
                for parts in [[true; 3], [true, false, false], [false, true, false], [false, false, true]] {
                    let scope = ComparisonScope { parts, ..ComparisonScope::default() };
                    let alike = compare(&a, &b, strategy, &scope, &synergy);
                    prop_assert!((0.0..=1.0).contains(&alike), "{} {}", word, alike);
                    let own = compare(&a, &a, strategy, &scope, &synergy);
                    prop_assert!(own + 1e-9 >= alike, "{} {} {}", word, own, alike);
                }
            }
        }
    }

    #[test]
    fn nothing_is_like_nothing() {
        let zero = Vector::of([0.0; COUNT], None, None);
        assert_eq!(
            compare(&zero, &zero, ComparisonStrategy::Cosine, &ComparisonScope::default(), &Synergy::default()),
            0.0
        );
        assert_eq!(ComparisonStrategy::from_word("other"), None);
    }
}
