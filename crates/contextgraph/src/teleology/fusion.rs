//! Fusion: one vector of purpose from how well each space is aligned.
//!
//! * `linear`: alignments times the weights of a profile (over their mean).
//! * `attention`: alignments times a softmax over them, so that what stands out counts more.
//! * `gated`: an alignment passes as far as it is above the mean: `a s(8 (a - m))`.
//! * `hierarchical`: alignments drawn half-way to the mean of their group, then weighted.
//! * `tucker`: weighted alignments rebuilt from the largest part of the matrix of their products, in which two spaces count as far as they
//!   agree: what stands alone is drawn down.

use super::GROUPS;
use super::profile::UNIFORM;
use crate::embedders::space::COUNT;
use crate::vector::{mean, sigmoid};

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum FusionMethod {
    Linear,
    Attention,
    Gated,
    Hierarchical,
    Tucker,
}

impl FusionMethod {
    /// The words, in order.
    pub const WORDS: [&'static str; 5] = ["linear", "attention", "gated", "hierarchical", "tucker"];

    /// The method of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Linear, Self::Attention, Self::Gated, Self::Hierarchical, Self::Tucker];
        Self::WORDS.iter().position(|known| *known == word).map(|at| all[at])
    }
}

/// Fuses alignments with the weights of a profile, which sum to one.
#[must_use]
pub fn fuse(alignments: &[f64; COUNT], method: FusionMethod, weights: Option<&[f64; COUNT]>) -> [f64; COUNT] {
    let weights = weights.unwrap_or(&UNIFORM);
    let factor = |space: usize| weights[space] * COUNT as f64;
    let fused: [f64; COUNT] = match method {
        FusionMethod::Linear => std::array::from_fn(|space| alignments[space] * factor(space)),
        FusionMethod::Attention => {
            let raised: Vec<f64> = alignments.iter().map(|a| (4.0 * a).exp()).collect();
            let total: f64 = raised.iter().sum();
            std::array::from_fn(|space| alignments[space] * factor(space) * raised[space] / total * COUNT as f64)
        }
        FusionMethod::Gated => {
            let middle = mean(alignments);
            std::array::from_fn(|space| {
                alignments[space] * factor(space) * sigmoid(8.0 * (alignments[space] - middle)) * 2.0
            })
        }
        FusionMethod::Hierarchical => {
            let mut drawn = *alignments;
            for (_, members) in GROUPS {
                let group = mean(&members.iter().map(|&member| alignments[member]).collect::<Vec<_>>());
                members.iter().for_each(|&member| drawn[member] = f64::midpoint(alignments[member], group));
            }
            std::array::from_fn(|space| drawn[space] * factor(space))
        }
        FusionMethod::Tucker => {
            // The best rank-one part, by power iteration, of the matrix of products, in which two spaces count together as far as
            // they agree: what the spaces agree on. A space that stands alone is drawn down.
            let weighted: [f64; COUNT] = std::array::from_fn(|space| alignments[space] * factor(space));
            let matrix = |v: &[f64; COUNT]| -> [f64; COUNT] {
                std::array::from_fn(|i| {
                    let agreed = |j: usize| (1.0 - (alignments[i] - alignments[j]).abs()).powi(2);
                    (0..COUNT).map(|j| weighted[i] * weighted[j] * agreed(j) * v[j]).sum()
                })
            };
            let mut v = [1.0 / (COUNT as f64).sqrt(); COUNT];
            let mut size = 0.0;
            for _ in 0..50 {
                let next = matrix(&v);
                size = next.iter().map(|x| x * x).sum::<f64>().sqrt();
                if size <= 1e-12 {
                    break;
                }
                v = next.map(|x| x / size);
            }
            let root = size.sqrt();
            std::array::from_fn(|space| root * v[space])
        }
    };
    fused.map(|value| value.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fused_alignments_are_shares(a in prop::array::uniform13(0.0..=1.0f64)) {
            for word in FusionMethod::WORDS {
                let fused = fuse(&a, FusionMethod::from_word(word).unwrap(), None);
                prop_assert!(fused.iter().all(|value| (0.0..=1.0).contains(value)), "{} {:?}", word, fused);
            }
            let linear = fuse(&a, FusionMethod::Linear, None);
            prop_assert!(linear.iter().zip(&a).all(|(x, y)| (x - y).abs() < 1e-9), "even weights change nothing");
        }
    }

    #[test]
    fn what_stands_out_counts_more_with_attention() {
        let mut a = [0.3; COUNT];
        a[4] = 0.6;
        let fused = fuse(&a, FusionMethod::Attention, None);
        assert!(fused[4] / fused[0] > 2.0);
        assert_eq!(fuse(&[0.0; COUNT], FusionMethod::Tucker, None), [0.0; COUNT]);
    }

    #[test]
    fn tucker_keeps_what_is_agreed_and_the_weights_of_a_profile() {
        let mut a = [0.6; COUNT];
        a[4] = 0.1;
        a[5] = 0.95;
        let (linear, tucker) = (fuse(&a, FusionMethod::Linear, None), fuse(&a, FusionMethod::Tucker, None));
        assert!(tucker[5] < linear[5] - 0.02, "what stands alone is drawn down: {} {}", tucker[5], linear[5]);
        assert!((tucker[0] - linear[0]).abs() < 0.05, "{} {}", tucker[0], linear[0]);
        let mut weights = [0.5 / 12.0; COUNT];
        weights[0] = 0.5;
        let (even, weighed) = (
            fuse(&[0.1; COUNT], FusionMethod::Tucker, None),
            fuse(&[0.1; COUNT], FusionMethod::Tucker, Some(&weights)),
        );
        assert!((even[0] - 0.1).abs() < 1e-9);
        assert!((weighed[0] / weighed[1] - 12.0).abs() < 1e-6, "{weighed:?}");
    }
}
