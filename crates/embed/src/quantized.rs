//! Vectors of signed bytes, and their product: what a scan over a million vectors reads.
//!
//! It decides how a vector is rounded. The error of one product of two rounded unit vectors stays near a thousandth, far
//! below what separates good from bad.

/// A vector as signed bytes with one scale: the value of a place is its byte times the scale.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Quantized {
    /// What one step of a byte is worth.
    pub scale: f32,
    /// The places.
    pub bytes: Vec<i8>,
}

impl Quantized {
    /// The product with another vector of the same kind.
    #[must_use]
    pub fn dot(&self, other: &Self) -> f32 {
        self.scale * other.scale * dot(&self.bytes, &other.bytes) as f32
    }
}

/// Rounds a vector to signed bytes; the largest place becomes 127.
#[must_use]
pub fn quantize(vector: &[f32]) -> Quantized {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest <= f32::EPSILON {
        return Quantized { scale: 0.0, bytes: vec![0; vector.len()] };
    }
    let scale = largest / 127.0;
    Quantized { scale, bytes: vector.iter().map(|value| (value / scale).round() as i8).collect() }
}

/// The sum of the products of the places, over the shorter of the two.
///
/// Written so that the compiler makes vector instructions of it: products of two bytes fit into sixteen bits.
#[must_use]
#[inline]
pub fn dot(left: &[i8], right: &[i8]) -> i32 {
    const LANES: usize = 32;
    let length = left.len().min(right.len());
    let (left, right) = (&left[..length], &right[..length]);
    let mut total = 0_i32;
    let (mut one, mut other) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    for (a, b) in (&mut one).zip(&mut other) {
        let mut sum = 0_i32;
        for at in 0..LANES {
            sum += i32::from(i16::from(a[at]) * i16::from(b[at]));
        }
        total += sum;
    }
    let rest = one.remainder().iter().zip(other.remainder());
    total + rest.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::{Table, cosine};

    #[test]
    fn zero_stays_zero() {
        let zero = quantize(&[0.0; 8]);
        assert_eq!((zero.scale, zero.bytes.as_slice()), (0.0, [0_i8; 8].as_slice()));
        assert_eq!(zero.dot(&quantize(&[1.0; 8])), 0.0);
    }

    proptest! {
        #[test]
        fn the_product_is_that_of_the_places(
            pairs in proptest::collection::vec((-127_i8..=127, -127_i8..=127), 0..300)
        ) {
            let (left, right): (Vec<i8>, Vec<i8>) = pairs.iter().copied().unzip();
            let plain = pairs.iter().map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>();
            prop_assert_eq!(dot(&left, &right), plain);
        }

        #[test]
        fn rounding_moves_a_cosine_by_little(one in "[a-z ]{5,60}", other in "[a-z ]{5,60}") {
            let (one, other) = (Table::shared().embed(&one), Table::shared().embed(&other));
            let rounded = quantize(&one).dot(&quantize(&other));
            prop_assert!((rounded - cosine(&one, &other)).abs() < 0.02);
        }
    }
}
