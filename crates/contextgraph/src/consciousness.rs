//! C(t) = I R D: how far the spaces go together, how well the system predicts itself, how rich its purpose is.
//!
//! * Integration `I` is the order parameter of the [oscillators](crate::kuramoto).
//! * Reflection `R = s(4 a - 2)`, `s` the logistic function and `a` the rolling accuracy of its predictions: 0.12 to 0.88.
//! * Differentiation `D` is the entropy of the purpose vector (as shares) over `log2 13`; 0 for a vector of zeros.
//!
//! The state of the workspace follows the order parameter, not `C`: since `R` is at most 0.88, `C` could never be high enough.
//! Ten minutes without a call make it dormant.

use serde::{Deserialize, Serialize};

use crate::embedders::space::COUNT;
use crate::error::{Code, Outcome, Problem};
use crate::kuramoto::CoherenceLevel;
use crate::vector::sigmoid;

/// C(t) and what it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "named like the formula")]
pub struct Consciousness {
    pub c: f64,
    pub integration: f64,
    pub reflection: f64,
    pub differentiation: f64,
}

impl Consciousness {
    /// C(t) from the order parameter, the accuracy of predictions and the purpose.
    ///
    /// # Errors
    /// One of them is no number.
    pub fn of(r: f64, accuracy: f64, purpose: &[f64; COUNT]) -> Outcome<Self> {
        if !r.is_finite() || !accuracy.is_finite() || purpose.iter().any(|value| !value.is_finite()) {
            return Err(Problem::new(
                Code::Consciousness,
                "NOT_FINITE",
                "C(t) cannot be computed from NaN or infinity",
            ));
        }
        let integration = r.clamp(0.0, 1.0);
        let reflection = sigmoid(4.0 * accuracy.clamp(0.0, 1.0) - 2.0);
        let differentiation = differentiation(purpose);
        let c = (integration * reflection * differentiation).clamp(0.0, 1.0);
        Ok(Self { c, integration, reflection, differentiation })
    }

    /// The smallest part; of several, the first. `None` if all are sufficient (at least one half).
    #[must_use]
    pub fn limiting(&self) -> &'static str {
        let parts = [
            ("Integration", self.integration),
            ("Reflection", self.reflection),
            ("Differentiation", self.differentiation),
        ];
        let least = parts.iter().fold(parts[0], |least, part| if part.1 < least.1 { *part } else { least });
        if least.1 >= 0.5 { "None" } else { least.0 }
    }
}

/// The entropy of the sizes of the parts, over the most it can be.
#[must_use]
pub fn differentiation(purpose: &[f64; COUNT]) -> f64 {
    let sum: f64 = purpose.iter().map(|value| value.abs()).sum();
    if sum <= 1e-6 {
        return 0.0;
    }
    let shares = purpose.iter().map(|value| value.abs() / sum).filter(|share| *share > 0.0);
    (shares.map(|share| -share * share.log2()).sum::<f64>() / (COUNT as f64).log2()).clamp(0.0, 1.0)
}

/// Without a call for so long, the workspace is dormant.
const INACTIVE_MS: u64 = 600_000;

/// The state of the workspace over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    state: CoherenceLevel,
    since: u64,
    active: u64,
}

impl Machine {
    /// A machine that begins dormant.
    #[must_use]
    pub const fn new(now: u64) -> Self {
        Self { state: CoherenceLevel::Dormant, since: now, active: now }
    }

    /// Takes in the order parameter at `now`. `call` says that somebody uses the memory.
    pub fn observe(&mut self, r: f64, now: u64, call: bool) -> CoherenceLevel {
        let asleep = now.saturating_sub(self.active) >= INACTIVE_MS;
        if call {
            self.active = now;
        }
        let next = if asleep && !call { CoherenceLevel::Dormant } else { CoherenceLevel::of(r) };
        if next != self.state {
            self.state = next;
            self.since = now;
        }
        next
    }

    /// How long it has been in its state, in milliseconds.
    #[must_use]
    pub const fn time_in_state(&self, now: u64) -> u64 {
        now.saturating_sub(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_have_their_bounds() {
        assert_eq!(differentiation(&[0.0; 13]), 0.0);
        assert!((differentiation(&[0.5; 13]) - 1.0).abs() < 1e-9);
        let mut one = [0.0; 13];
        one[3] = 1.0;
        assert_eq!(differentiation(&one), 0.0);
        let found = Consciousness::of(0.9, 1.0, &[0.5; 13]).unwrap();
        assert!((found.reflection - 0.8808).abs() < 1e-3);
        assert_eq!(found.limiting(), "None");
        assert_eq!(Consciousness::of(0.2, 0.0, &[0.0; 13]).unwrap().limiting(), "Differentiation");
        assert_eq!(Consciousness::of(f64::NAN, 0.5, &[0.5; 13]).unwrap_err().code, Code::Consciousness);
    }

    proptest! {
        #[test]
        fn c_is_a_share(r in 0.0..=1.0f64, a in 0.0..=1.0f64, pv in prop::array::uniform13(0.0..1.0f64)) {
            let found = Consciousness::of(r, a, &pv).unwrap();
            for value in [found.c, found.integration, found.reflection, found.differentiation] {
                prop_assert!((0.0..=1.0).contains(&value));
            }
        }
    }

    #[test]
    fn nobody_there_for_ten_minutes_is_dormant() {
        let mut machine = Machine::new(0);
        assert_eq!(machine.observe(0.9, 1_000, true), CoherenceLevel::Conscious);
        assert_eq!(machine.observe(0.9, 500_000, false), CoherenceLevel::Conscious);
        assert_eq!(machine.time_in_state(500_000), 499_000);
        assert_eq!(machine.observe(0.9, 601_001, false), CoherenceLevel::Dormant);
        assert_eq!(machine.observe(0.6, 700_000, true), CoherenceLevel::Emerging);
    }
}
