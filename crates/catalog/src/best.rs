//! The best of many, in one pass.
//!
//! It decides which of a stream of scores are kept. Memory and time do not depend on how many are kept out.

use std::cmp::Ordering;

/// Keeps the `most` largest scores. Equal scores are kept in the order of their numbers.
#[derive(Debug)]
pub(crate) struct Best {
    most: usize,
    kept: Vec<(f32, u32)>,
    /// Nothing below this can be among the best.
    bar: f32,
}

impl Best {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: Vec::with_capacity(most.min(1 << 16) * 2), bar: f32::NEG_INFINITY }
    }

    #[inline]
    pub(crate) fn offer(&mut self, score: f32, number: u32) {
        if score > self.bar {
            self.kept.push((score, number));
            if self.kept.len() >= self.most * 2 {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        if self.most > 0 && self.kept.len() > self.most {
            self.kept.select_nth_unstable_by(self.most - 1, falling);
            self.bar = self.kept[self.most - 1].0;
        }
        self.kept.truncate(self.most);
    }

    /// The best, in no order.
    pub(crate) fn into_kept(mut self) -> Vec<(f32, u32)> {
        self.cut();
        self.kept
    }
}

/// Larger scores first, then smaller numbers.
pub(crate) fn falling(one: &(f32, u32), other: &(f32, u32)) -> Ordering {
    other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
}

/// Mean and deviation of the `most` largest values.
pub(crate) fn spread(values: &[f32], most: usize) -> (f32, f32) {
    let mut best = Best::new(most.min(values.len()).max(1));
    values.iter().enumerate().for_each(|(number, value)| best.offer(*value, number as u32));
    let kept = best.into_kept();
    if kept.is_empty() {
        return (0.0, 1.0);
    }
    let count = kept.len() as f64;
    let mean = kept.iter().map(|(value, _)| f64::from(*value)).sum::<f64>() / count;
    let variance = kept.iter().map(|(value, _)| (f64::from(*value) - mean).powi(2)).sum::<f64>() / count;
    // All alike: nothing to tell apart, and nothing to divide by.
    (mean as f32, if variance > 1e-12 { variance.sqrt() as f32 } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_a_sort(scores in proptest::collection::vec(-50_i16..50, 0..300), most in 0_usize..40) {
            let mut best = Best::new(most);
            let mut sorted = Vec::new();
            for (number, score) in scores.iter().enumerate() {
                best.offer(f32::from(*score), number as u32);
                sorted.push((f32::from(*score), number as u32));
            }
            sorted.sort_by(falling);
            sorted.truncate(most);
            let mut kept = best.into_kept();
            kept.sort_by(falling);
            // Among equals at the edge any may be kept: the scores are what counts.
            let scores = |list: &[(f32, u32)]| list.iter().map(|(score, _)| *score).collect::<Vec<_>>();
            prop_assert_eq!(scores(&kept), scores(&sorted));
        }
    }

    #[test]
    fn the_spread_is_that_of_the_largest() {
        assert_eq!(spread(&[1.0, 3.0, -100.0], 2), (2.0, 1.0));
        assert_eq!(spread(&[5.0; 4], 10), (5.0, 1.0));
        assert_eq!(spread(&[], 10), (0.0, 1.0));
    }
}
