//! Chance that can be repeated: a small generator (xoshiro256++) whose seed is an argument.
//!
//! Nothing of it is a secret. Two engines with one seed and one clock give the same answers.

use serde::{Deserialize, Serialize};

/// A generator. Its state can be kept and taken up again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rng([u64; 4]);

impl Rng {
    /// A generator from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        Self(std::array::from_fn(|_| splitmix(&mut state)))
    }

    /// 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let t = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= t;
        *d = d.rotate_left(45);
        result
    }

    /// A number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        // 53 bits fit a double exactly.
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number below `bound`; 0 where the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.unit() * bound as f64) as usize).min(bound.saturating_sub(1))
    }

    /// A number of the standard normal distribution (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.unit(), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// A number of the gamma distribution with shape `k >= 1` (Marsaglia and Tsang).
    fn gamma(&mut self, k: f64) -> f64 {
        let d = k - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - self.unit()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// A number of the beta distribution with both shapes at least 1.
    pub fn beta(&mut self, a: f64, b: f64) -> f64 {
        let (x, y) = (self.gamma(a.max(1.0)), self.gamma(b.max(1.0)));
        x / (x + y)
    }
}

/// The mixer that seeds generators and spreads hashes.
pub(crate) const fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence_of_the_right_shape() {
        let (mut a, mut b) = (Rng::new(7), Rng::new(7));
        let mean: f64 = (0..10_000)
            .map(|_| {
                let x = a.beta(8.0, 2.0);
                assert_eq!(x, b.beta(8.0, 2.0));
                assert!((0.0..=1.0).contains(&x));
                x
            })
            .sum::<f64>()
            / 10_000.0;
        assert!((mean - 0.8).abs() < 0.01, "{mean}");
        assert_eq!(a.below(0), 0);
        assert!((0..1000).all(|_| a.below(3) < 3));
    }
}
