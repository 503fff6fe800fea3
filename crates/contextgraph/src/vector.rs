//! Vectors: dense, sparse and of bits, and how near two of them are.
//!
//! Similarities are in `[0, 1]`: a cosine below zero is no likeness. A vector of zeros is like nothing.

use serde::{Deserialize, Serialize};

/// The scalar product.
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight sums that do not wait for each other, which the compiler turns into vector instructions.
    let mut sums = [0f32; 8];
    let (chunks_a, chunks_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = chunks_a.remainder().iter().zip(chunks_b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in chunks_a.zip(chunks_b) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// The length.
#[must_use]
pub fn norm(a: &[f32]) -> f32 {
    dot(a, a).sqrt()
}

/// The cosine, 0 where one of the vectors is empty or zero.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let lengths = norm(a) * norm(b);
    if lengths > 1e-12 && a.len() == b.len() { (dot(a, b) / lengths).clamp(-1.0, 1.0) } else { 0.0 }
}

/// The cosine as a likeness in `[0, 1]`.
#[must_use]
pub fn likeness(a: &[f32], b: &[f32]) -> f32 {
    cosine(a, b).max(0.0)
}

/// Scales to length 1; a vector of zeros stays.
pub fn normalize(a: &mut [f32]) {
    let length = norm(a);
    if length > 1e-12 {
        a.iter_mut().for_each(|x| *x /= length);
    }
}

/// The logistic function.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Mean of the values, 0 of none.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Standard deviation of the values (of all, not of a sample), 0 of none.
#[must_use]
pub fn deviation(values: &[f64]) -> f64 {
    let middle = mean(values);
    mean(&values.iter().map(|x| (x - middle).powi(2)).collect::<Vec<_>>()).sqrt()
}

/// A vector with few entries that are not zero, sorted by index.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sparse {
    /// Where the entries are, ascending.
    pub indices: Vec<u16>,
    /// What they are.
    pub values: Vec<f32>,
}

impl Sparse {
    /// Adds up entries of the same index, leaves zeros out and sorts.
    #[must_use]
    pub fn from_entries(mut entries: Vec<(u16, f32)>) -> Self {
        entries.sort_by_key(|entry| entry.0);
        let mut sparse = Self::default();
        for (index, value) in entries {
            match (sparse.indices.last(), sparse.values.last_mut()) {
                (Some(&last), Some(sum)) if last == index => *sum += value,
                _ => {
                    sparse.indices.push(index);
                    sparse.values.push(value);
                }
            }
        }
        sparse
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.iter().all(|value| *value == 0.0)
    }

    /// The entries.
    pub fn iter(&self) -> impl Iterator<Item = (u16, f32)> + '_ {
        self.indices.iter().copied().zip(self.values.iter().copied())
    }

    /// The length.
    #[must_use]
    pub fn norm(&self) -> f32 {
        self.values.iter().map(|x| x * x).sum::<f32>().sqrt()
    }

    /// Pairs of entries at the same index, by walking both lists once.
    fn shared<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (f32, f32)> + 'a {
        let (mut i, mut j) = (0, 0);
        std::iter::from_fn(move || {
            while let (Some(a), Some(b)) = (self.indices.get(i), other.indices.get(j)) {
                match a.cmp(b) {
                    std::cmp::Ordering::Less => i += 1,
                    std::cmp::Ordering::Greater => j += 1,
                    std::cmp::Ordering::Equal => {
                        let pair = (self.values[i], other.values[j]);
                        i += 1;
                        j += 1;
                        return Some(pair);
                    }
                }
            }
            None
        })
    }

    /// The cosine as a likeness in `[0, 1]`.
    #[must_use]
    pub fn likeness(&self, other: &Self) -> f32 {
        let lengths = self.norm() * other.norm();
        if lengths <= 1e-12 {
            return 0.0;
        }
        (self.shared(other).map(|(x, y)| x * y).sum::<f32>() / lengths).clamp(0.0, 1.0)
    }

    /// Shared entries over all entries (Jaccard). Two empty vectors count as alike to 0.99.
    #[must_use]
    pub fn jaccard(&self, other: &Self) -> f32 {
        if self.is_empty() && other.is_empty() {
            return 0.99;
        }
        let shared = self.shared(other).count();
        let all = self.indices.len() + other.indices.len() - shared;
        shared as f32 / all.max(1) as f32
    }
}

/// A vector of floats in eight bits each, with one scale.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuantizedVector {
    /// What one step stands for.
    pub scale: f32,
    /// The steps.
    pub steps: Vec<i8>,
}

impl QuantizedVector {
    /// Rounds to 255 steps between the negative and the positive of the largest entry.
    #[must_use]
    pub fn of(values: &[f32]) -> Self {
        let largest = values.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        if largest == 0.0 {
            return Self { scale: 0.0, steps: vec![0; values.len()] };
        }
        let scale = largest / 127.0;
        // The quotient is at most 127 by construction.
        Self { scale, steps: values.iter().map(|value| (value / scale).round() as i8).collect() }
    }

    /// Back to floats.
    #[must_use]
    pub fn values(&self) -> Vec<f32> {
        self.steps.iter().map(|&step| f32::from(step) * self.scale).collect()
    }
}

/// The scalar product of steps.
#[must_use]
pub fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    // Sums of 16-bit products in 32 bits: the form that compilers turn into one multiply-add instruction. Nothing can wrap
    // (a product is at most 2^14, a row has 256 of them); saying so spares the checks of builds that have them.
    let product = |(&x, &y): (&i8, &i8)| i32::from(i16::from(x).wrapping_mul(i16::from(y)));
    a.iter().zip(b).map(product).fold(0, i32::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn likeness_is_a_share_and_one_of_itself(a in prop::collection::vec(-1f32..1.0, 1..40), b in prop::collection::vec(-1f32..1.0, 1..40)) {
            prop_assert!((0.0..=1.0).contains(&likeness(&a, &b)));
            prop_assert!(norm(&a) < 1e-3 || (likeness(&a, &a) - 1.0).abs() < 1e-4);
        }

        #[test]
        fn steps_are_near(a in prop::collection::vec(-1f32..1.0, 16..64)) {
            let back = QuantizedVector::of(&a).values();
            prop_assert!(a.iter().zip(&back).all(|(x, y)| (x - y).abs() <= 0.5 / 127.0 + 1e-6));
        }

        #[test]
        fn sparse_measures_are_shares(a in prop::collection::vec((0u16..50, 0.1f32..1.0), 0..20), b in prop::collection::vec((0u16..50, 0.1f32..1.0), 0..20)) {
            let (a, b) = (Sparse::from_entries(a), Sparse::from_entries(b));
            for value in [a.likeness(&b), a.jaccard(&b)] {
                prop_assert!((0.0..=1.0).contains(&value));
            }
            prop_assert!(a.is_empty() || (a.jaccard(&a) - 1.0).abs() < 1e-6);
            prop_assert!((a.likeness(&b) - b.likeness(&a)).abs() < 1e-6);
        }
    }

    #[test]
    fn nothing_is_like_nothing() {
        assert_eq!(likeness(&[0.0; 4], &[1.0; 4]), 0.0);
        assert_eq!(likeness(&[1.0; 3], &[1.0; 4]), 0.0);
        assert_eq!(Sparse::default().jaccard(&Sparse::default()), 0.99);
        assert_eq!(dot_i8(&[127, -127], &[127, 127]), 0);
    }
}
