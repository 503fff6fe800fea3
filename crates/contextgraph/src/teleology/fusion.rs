//! Fusion: one vector of purpose from how well each space is aligned.
//!
//! * `linear`: alignments times the weights of a profile (over their mean).
//! * `attention`: alignments times a softmax over them, so that what stands out counts more.
//! * `gated`: an alignment passes as far as it is above the mean: `a s(8 (a - m))`.
//! * `hierarchical`: alignments drawn half-way to the mean of their group, then weighted.
//! * `tucker`: alignments rebuilt from the [core](super::tucker) of their tensor: what all spaces agree on.

use super::GROUPS;
use super::profile::UNIFORM;
use crate::embedders::space::COUNT;
use crate::vector::{mean, sigmoid};

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Method {
    Linear,
    Attention,
    Gated,
    Hierarchical,
    Tucker,
}

impl Method {
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
pub fn fuse(alignments: &[f64; COUNT], method: Method, weights: Option<&[f64; COUNT]>) -> [f64; COUNT] {
    let weights = weights.unwrap_or(&UNIFORM);
    let factor = |space: usize| weights[space] * COUNT as f64;
    let fused: [f64; COUNT] = match method {
        Method::Linear => std::array::from_fn(|space| alignments[space] * factor(space)),
        Method::Attention => {
            let raised: Vec<f64> = alignments.iter().map(|a| (4.0 * a).exp()).collect();
            let total: f64 = raised.iter().sum();
            std::array::from_fn(|space| alignments[space] * factor(space) * raised[space] / total * COUNT as f64)
        }
        Method::Gated => {
            let middle = mean(alignments);
            std::array::from_fn(|space| {
                alignments[space] * factor(space) * sigmoid(8.0 * (alignments[space] - middle)) * 2.0
            })
        }
        Method::Hierarchical => {
            let mut drawn = *alignments;
            for (_, members) in GROUPS {
                let group = mean(&members.iter().map(|&member| alignments[member]).collect::<Vec<_>>());
                members.iter().for_each(|&member| drawn[member] = f64::midpoint(alignments[member], group));
            }
            std::array::from_fn(|space| drawn[space] * factor(space))
        }
        Method::Tucker => {
            // The best rank-one part of the matrix of products, by power iteration: what the spaces agree on.
            let matrix = |v: &[f64; COUNT]| -> [f64; COUNT] {
                std::array::from_fn(|i| {
                    (0..COUNT).map(|j| (alignments[i] * alignments[j]).sqrt() * factor(j).sqrt() * v[j]).sum()
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
            std::array::from_fn(|space| size * v[space] * v[space])
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
            for word in Method::WORDS {
                let fused = fuse(&a, Method::from_word(word).unwrap(), None);
                prop_assert!(fused.iter().all(|value| (0.0..=1.0).contains(value)), "{} {:?}", word, fused);
            }
            let linear = fuse(&a, Method::Linear, None);
            prop_assert!(linear.iter().zip(&a).all(|(x, y)| (x - y).abs() < 1e-9), "even weights change nothing");
        }
    }

    #[test]
    fn what_stands_out_counts_more_with_attention() {
        let mut a = [0.3; COUNT];
        a[4] = 0.6;
        let fused = fuse(&a, Method::Attention, None);
        assert!(fused[4] / fused[0] > 2.0);
        assert_eq!(fuse(&[0.0; COUNT], Method::Tucker, None), [0.0; COUNT]);
    }
}
