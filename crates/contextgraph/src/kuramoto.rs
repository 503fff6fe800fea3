//! Thirteen coupled oscillators, one for each space (Kuramoto).
//!
//! `d theta_i / dt = omega_i + (K / N) sum_j sin(theta_j - theta_i)`, which is `omega_i + K r sin(psi - theta_i)` with the order
//! parameter `r e^(i psi) = mean e^(i theta)`. Steps of 10 ms (Euler). The frequencies are those of the spaces over their
//! mean, in radians per second: then all five states can be reached with a coupling between 0 and 10.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use crate::embedders::space::{COUNT, SPACES, mean_hertz};

/// Seconds of one step.
const STEP: f64 = 0.01;
/// After a longer pause only this much is integrated: what was before does not show any more.
const MAX_INTEGRATED_SECONDS: f64 = 60.0;

/// The network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Network {
    phases: [f64; COUNT],
    coupling: f64,
    /// Seconds since it began.
    elapsed: f64,
    /// The moment up to which it was integrated, in milliseconds.
    at: u64,
}

/// How far the oscillators go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the words say it")]
pub enum CoherenceLevel {
    Dormant,
    Fragmented,
    Emerging,
    Conscious,
    Hypersync,
}

impl CoherenceLevel {
    /// The state of an order parameter.
    #[must_use]
    pub fn of(r: f64) -> Self {
        match r {
            r if r < 0.3 => Self::Dormant,
            r if r < 0.5 => Self::Fragmented,
            r if r < 0.8 => Self::Emerging,
            r if r <= 0.95 => Self::Conscious,
            _ => Self::Hypersync,
        }
    }

    /// The word on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dormant => "DORMANT",
            Self::Fragmented => "FRAGMENTED",
            Self::Emerging => "EMERGING",
            Self::Conscious => "CONSCIOUS",
            Self::Hypersync => "HYPERSYNC",
        }
    }
}

impl Network {
    /// A network that begins at `now` with phases spread evenly.
    #[must_use]
    pub fn new(now: u64) -> Self {
        let phases = std::array::from_fn(|at| TAU * at as f64 / COUNT as f64);
        Self { phases, coupling: 2.0, elapsed: 0.0, at: now }
    }

    /// The natural frequencies in radians per second.
    #[must_use]
    pub fn frequencies() -> [f64; COUNT] {
        std::array::from_fn(|at| SPACES[at].hertz / mean_hertz())
    }

    /// The order parameter: how far the phases agree, and on which.
    #[must_use]
    pub fn order(&self) -> (f64, f64) {
        let (sin, cos) =
            self.phases.iter().fold((0.0, 0.0), |(sin, cos), phase| (sin + phase.sin(), cos + phase.cos()));
        let (sin, cos) = (sin / COUNT as f64, cos / COUNT as f64);
        (sin.hypot(cos).min(1.0), sin.atan2(cos).rem_euclid(TAU))
    }

    /// Goes on to `now`.
    pub fn advance(&mut self, now: u64) {
        let seconds = now.saturating_sub(self.at) as f64 / 1e3;
        let steps = (seconds.min(MAX_INTEGRATED_SECONDS) / STEP) as u32;
        if steps == 0 {
            return;
        }
        self.run(steps);
        self.elapsed += (seconds - f64::from(steps) * STEP).max(0.0);
        self.at = now;
    }

    fn run(&mut self, steps: u32) {
        let frequencies = Self::frequencies();
        for _ in 0..steps {
            let (r, psi) = self.order();
            for (phase, frequency) in self.phases.iter_mut().zip(frequencies) {
                *phase = (*phase + STEP * (frequency + self.coupling * r * (psi - *phase).sin())).rem_euclid(TAU);
            }
        }
        self.elapsed += f64::from(steps) * STEP;
    }

    /// Sets the coupling, held within 0 and 10. What it is now.
    pub const fn couple(&mut self, coupling: f64) -> f64 {
        self.coupling = coupling.clamp(0.0, 10.0);
        self.coupling
    }

    /// What the order parameter will be with another coupling after so many seconds: a copy is run ahead, and its last
    /// second is averaged.
    #[must_use]
    pub fn predicted(&self, coupling: f64, seconds: f64) -> f64 {
        let mut ahead = self.clone();
        ahead.couple(coupling);
        let steps = (seconds / STEP) as u32;
        ahead.run(steps.saturating_sub(100));
        let mut sum = 0.0;
        for _ in 0..100 {
            ahead.run(1);
            sum += ahead.order().0;
        }
        sum / 100.0
    }

    /// The phases.
    #[must_use]
    pub const fn phases(&self) -> &[f64; COUNT] {
        &self.phases
    }

    /// The coupling.
    #[must_use]
    pub const fn coupling(&self) -> f64 {
        self.coupling
    }

    /// Seconds since it began.
    #[must_use]
    pub const fn elapsed(&self) -> f64 {
        self.elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean and the states of the order parameter over a minute, after two minutes.
    fn settled(coupling: f64) -> (f64, Vec<CoherenceLevel>) {
        let mut network = Network::new(0);
        network.couple(coupling);
        network.run(12_000);
        let mut states = Vec::new();
        let mut sum = 0.0;
        for _ in 0..600 {
            network.run(10);
            let (r, psi) = network.order();
            assert!((0.0..=1.0).contains(&r) && (0.0..TAU).contains(&psi));
            sum += r;
            states.push(CoherenceLevel::of(r));
        }
        (sum / 600.0, states)
    }

    #[test]
    fn steady_states_are_those_that_were_calculated() {
        for (coupling, expected, near) in [
            (0.0, 0.29, 0.06),
            (1.0, 0.59, 0.06),
            (2.0, 0.84, 0.03),
            (3.0, 0.94, 0.02),
            (5.0, 0.98, 0.01),
            (10.0, 1.0, 0.01),
        ] {
            let (mean, _) = settled(coupling);
            assert!((mean - expected).abs() < near, "K={coupling}: {mean}");
        }
    }

    #[test]
    fn every_state_can_be_reached() {
        let seen: Vec<CoherenceLevel> = [0.0, 1.0, 2.5, 4.0].iter().flat_map(|&coupling| settled(coupling).1).collect();
        for state in [
            CoherenceLevel::Dormant,
            CoherenceLevel::Fragmented,
            CoherenceLevel::Emerging,
            CoherenceLevel::Conscious,
            CoherenceLevel::Hypersync,
        ] {
            assert!(seen.contains(&state), "{state:?}");
        }
    }

    #[test]
    fn time_is_an_argument_and_the_coupling_is_held() {
        let (mut a, mut b) = (Network::new(0), Network::new(0));
        a.advance(5_000);
        b.advance(2_000);
        b.advance(5_000);
        assert!((a.order().0 - b.order().0).abs() < 1e-9);
        assert!((a.elapsed() - 5.0).abs() < 1e-9);
        assert_eq!((a.couple(-1.0), a.couple(11.0)), (0.0, 10.0));
        let predicted = b.predicted(10.0, 5.0);
        b.couple(10.0);
        b.advance(10_000);
        assert!((predicted - b.order().0).abs() < 0.02);
        assert_eq!(CoherenceLevel::of(0.95), CoherenceLevel::Conscious);
        assert_eq!(CoherenceLevel::of(0.8), CoherenceLevel::Conscious);
    }
}
