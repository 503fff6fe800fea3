//! E2, E3 and E4: time as vectors, and the likeness of two times without building them.
//!
//! With `d` the age in seconds, `d = clamp(now - t, 0, 31,536,000)`:
//!
//! * **E2**: for each rate `l` of an hour, a day, a week, a month, and `i` in 0..128:
//!   `exp(-l d) cos(i pi/64 + l d / 1000)`.
//! * **E3**: for each period `P` of an hour, a day, a week, a month, a year, and `n` in 1..=51: `sin(n f)`, `cos(n f)` with
//!   `f = 2 pi (t mod P) / P`; two zeros at the end make 512.
//! * **E4**: for `i` in 0..256: `sin` and `cos` of `t / 10000^(2i/512)`.
//!
//! All are scaled to length 1. The cosine of two such vectors has a closed form, which searching uses: the 128 steps of E2
//! are one full turn, so their products sum to `64 cos(a - b)`; the sums of E3 are Dirichlet's kernel; E4 is a mean of
//! cosines of the difference.

use std::f64::consts::{PI, TAU};

/// A year: older counts as that old.
const OLDEST: f64 = 31_536_000.0;
const RATES: [f64; 4] = [1.0 / 3_600.0, 1.0 / 86_400.0, 1.0 / 604_800.0, 1.0 / 2_592_000.0];
const PERIODS: [f64; 5] = [3_600.0, 86_400.0, 604_800.0, 2_592_000.0, 31_536_000.0];
const HARMONICS: u32 = 51;

fn age(t: f64, now: f64) -> f64 {
    (now - t).clamp(0.0, OLDEST)
}

/// E2 of the time `t`, seen at `now` (seconds since 1970).
#[must_use]
pub fn recent(t: f64, now: f64) -> Vec<f32> {
    let d = age(t, now);
    let mut out: Vec<f32> = RATES
        .iter()
        .flat_map(|&rate| {
            (0..128).map(move |i| ((-rate * d).exp() * (f64::from(i) * PI / 64.0 + d * rate * 0.001).cos()) as f32)
        })
        .collect();
    crate::vector::normalize(&mut out);
    out
}

/// E3 of the time `t`.
#[must_use]
pub fn periodic(t: f64) -> Vec<f32> {
    let mut out = Vec::with_capacity(512);
    for period in PERIODS {
        let phase = TAU * t.rem_euclid(period) / period;
        for n in 1..=HARMONICS {
            let (sin, cos) = (f64::from(n) * phase).sin_cos();
            out.extend([sin as f32, cos as f32]);
        }
    }
    out.resize(512, 0.0);
    crate::vector::normalize(&mut out);
    out
}

/// E4 of the time `t`.
#[must_use]
pub fn positional(t: f64) -> Vec<f32> {
    let mut out = Vec::with_capacity(512);
    for i in 0..256 {
        let (sin, cos) = (t / 10_000f64.powf(2.0 * f64::from(i) / 512.0)).sin_cos();
        out.extend([sin as f32, cos as f32]);
    }
    crate::vector::normalize(&mut out);
    out
}

/// The cosine of the E2 vectors of two times, seen at `now`.
#[must_use]
pub fn recent_cosine(a: f64, b: f64, now: f64) -> f64 {
    let (a, b) = (age(a, now), age(b, now));
    let (mut product, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for rate in RATES {
        let (x, y) = ((-rate * a).exp(), (-rate * b).exp());
        product += x * y * ((a - b) * rate * 0.001).cos();
        of_a += x * x;
        of_b += y * y;
    }
    (product / (of_a * of_b).sqrt()).clamp(-1.0, 1.0)
}

/// The cosine of the E3 vectors of two times.
#[must_use]
pub fn periodic_cosine(a: f64, b: f64) -> f64 {
    let n = f64::from(HARMONICS);
    let sum: f64 = PERIODS
        .iter()
        .map(|&period| {
            let half = PI * (a - b).rem_euclid(period) / period;
            if half.sin().abs() < 1e-9 { n } else { (n * half).sin() * ((n + 1.0) * half).cos() / half.sin() }
        })
        .sum();
    (sum / (n * PERIODS.len() as f64)).clamp(-1.0, 1.0)
}

/// The cosine of the E4 vectors of two times.
#[must_use]
pub fn positional_cosine(a: f64, b: f64) -> f64 {
    // 10000^(-1/256) from one frequency to the next.
    let step = 10_000f64.powf(-1.0 / 256.0);
    let mut difference = a - b;
    let mut sum = 0.0;
    for _ in 0..256 {
        sum += difference.cos();
        difference *= step;
    }
    (sum / 256.0).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{cosine, norm};
    use proptest::prelude::*;

    const NOW: f64 = 1_780_000_000.0;

    #[test]
    fn vectors_have_their_length() {
        for vector in [recent(NOW - 5.0, NOW), periodic(NOW), positional(NOW)] {
            assert_eq!(vector.len(), 512);
            assert!((norm(&vector) - 1.0).abs() < 1e-5);
        }
        assert_eq!(recent(NOW + 50.0, NOW), recent(NOW, NOW), "the future counts as now");
    }

    proptest! {
        #[test]
        fn closed_forms_are_the_cosines_of_the_vectors(a in 0.0..40_000_000f64, b in 0.0..40_000_000f64) {
            let (a, b) = (NOW - a, NOW - b);
            let near = |closed: f64, x: &[f32], y: &[f32]| (closed - f64::from(cosine(x, y))).abs() < 2e-3;
            prop_assert!(near(recent_cosine(a, b, NOW), &recent(a, NOW), &recent(b, NOW)));
            prop_assert!(near(periodic_cosine(a, b), &periodic(a), &periodic(b)));
            prop_assert!(near(positional_cosine(a, b), &positional(a), &positional(b)));
        }
    }
}
