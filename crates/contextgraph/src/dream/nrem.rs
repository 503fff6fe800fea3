//! NREM: replay. The hundred memories of the highest `0.8 recency + 0.2 activation` are gone through again; what is active
//! together is linked more firmly (Hebb): `dw = 0.01 a_i a_j` for activations above 0.1, less a decay of 0.001 of the weight.
//! Weights stay at most 1; an edge at 0.05 or below is pruned.

use crate::error::{Code, Outcome, Problem};

/// Memories that are replayed.
pub const REPLAYED: usize = 100;
const RATE: f64 = 0.01;
const DECAY: f64 = 0.001;
/// Edges at this weight or below go.
pub const FLOOR: f64 = 0.05;
const ACTIVE: f64 = 0.1;
/// Time after which a memory is less recent by the factor e.
const DAY_MS: f64 = 86_400_000.0;

/// How recent a memory is, in `[0, 1]`.
#[must_use]
pub fn recency(age_ms: u64) -> f64 {
    (-(age_ms as f64) / DAY_MS).exp()
}

/// How active a memory is, in `[0, 1]`: half what it was said to be worth and how often it was found, half how recent it is.
#[must_use]
pub fn activation(importance: f64, found: u64, recency: f64) -> f64 {
    let worth = importance * (0.4 + 0.6 * (1.0 - (-(found as f64) / 3.0).exp()));
    f64::midpoint(worth, recency).clamp(0.0, 1.0)
}

/// Which memories to replay.
#[must_use]
pub fn score(recency: f64, activation: f64) -> f64 {
    0.8 * recency + 0.2 * activation
}

/// What becomes of the weight of an edge; `None` for one that is pruned.
///
/// # Errors
/// A value is no number.
pub fn hebb(weight: f64, a: f64, b: f64) -> Outcome<Option<f64>> {
    if ![weight, a, b].iter().all(|value| value.is_finite()) {
        return Err(Problem::new(Code::Dream, "NOT_FINITE", "a weight or an activation is NaN or infinite"));
    }
    let gain = if a > ACTIVE && b > ACTIVE { RATE * a * b } else { 0.0 };
    let next = (weight + gain - DECAY * weight).min(1.0);
    Ok((next > FLOOR).then_some(next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn active_together_is_linked_and_weak_is_pruned() {
        assert!((hebb(0.5, 1.0, 1.0).unwrap().unwrap() - 0.5095).abs() < 1e-12);
        assert!((hebb(0.5, 0.1, 1.0).unwrap().unwrap() - 0.4995).abs() < 1e-12, "not active");
        assert_eq!(hebb(0.05, 0.0, 0.0), Ok(None));
        assert_eq!(hebb(1.0, 1.0, 1.0).unwrap(), Some(1.0));
        assert_eq!(hebb(f64::NAN, 1.0, 1.0).unwrap_err().code, Code::Dream);
        assert!(recency(0) == 1.0 && recency(86_400_000) < 0.37);
    }

    proptest! {
        #[test]
        fn weights_stay_in_their_range(w in 0.0..=1.0f64, a in 0.0..=1.0f64, b in 0.0..=1.0f64, n in 0..100u64) {
            if let Some(next) = hebb(w, a, b).unwrap() {
                prop_assert!(next > FLOOR && next <= 1.0);
            }
            prop_assert!((0.0..=1.0).contains(&activation(a, n, b)));
        }
    }
}
