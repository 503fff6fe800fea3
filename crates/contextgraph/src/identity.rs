//! The ego: a node whose vector is the purpose of the whole memory, and whether it stays itself.
//!
//! Identity continuity `IC = clamp(cos(PV_t, PV_(t-1)) * r, 0, 1)`; 1 for the first purpose vector, 0 for one of zeros. Healthy
//! above 0.9, Warning from 0.7, Degraded from 0.5, Critical below. Below 0.7 is a crisis, of which a snapshot is kept.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::embedders::space::COUNT;

const TRAJECTORY: usize = 1_000;
const CRISES: usize = 50;
const COOLDOWN_MS: u64 = 30_000;
/// Below this the identity is in crisis.
pub const CRISIS: f64 = 0.7;
/// Below this a dream is due.
pub const CRITICAL: f64 = 0.5;
/// Actions that are aligned less call for reflection.
pub const REFLECT: f64 = 0.55;

/// How well the identity holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Status {
    Critical,
    Degraded,
    Warning,
    Healthy,
}

impl Status {
    /// The status of a continuity.
    #[must_use]
    pub fn of(continuity: f64) -> Self {
        match continuity {
            c if c > 0.9 => Self::Healthy,
            c if c >= CRISIS => Self::Warning,
            c if c >= CRITICAL => Self::Degraded,
            _ => Self::Critical,
        }
    }

    /// The word on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "Healthy",
            Self::Warning => "Warning",
            Self::Degraded => "Degraded",
            Self::Critical => "Critical",
        }
    }
}

/// What a look at the identity found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Detection {
    pub identity_coherence: f64,
    pub previous_status: Status,
    pub current_status: Status,
    pub status_changed: bool,
    pub entering_crisis: bool,
    pub entering_critical: bool,
    pub recovering: bool,
    pub time_since_last_event_ms: Option<u64>,
    pub can_emit_event: bool,
}

/// The ego node.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Ego {
    purpose: [f64; COUNT],
    trajectory: VecDeque<[f32; COUNT]>,
    continuity: Option<f64>,
    crises: VecDeque<(u64, f64)>,
    last_event: Option<u64>,
    last: Option<Detection>,
}

/// The continuity of two purpose vectors.
#[must_use]
pub fn continuity(before: Option<&[f64; COUNT]>, now: &[f64; COUNT], r: f64) -> f64 {
    let Some(before) = before else { return 1.0 };
    let dot = |a: &[f64; COUNT], b: &[f64; COUNT]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let lengths = (dot(before, before) * dot(now, now)).sqrt();
    if lengths <= 1e-12 { 0.0 } else { (dot(before, now) / lengths * r).clamp(0.0, 1.0) }
}

impl Ego {
    /// Takes in a new purpose vector at `now`.
    pub fn observe(&mut self, purpose: [f64; COUNT], r: f64, now: u64) -> Detection {
        let before = (!self.trajectory.is_empty()).then_some(&self.purpose);
        let continuity = continuity(before, &purpose, r);
        let previous = self.status();
        let current = Status::of(continuity);
        let since = self.last_event.map(|event| now.saturating_sub(event));
        let was_in_crisis = self.continuity.is_some_and(|continuity| continuity < CRISIS);
        let can_emit = since.is_none_or(|since| since >= COOLDOWN_MS);
        let detection = Detection {
            identity_coherence: continuity,
            previous_status: previous,
            current_status: current,
            status_changed: previous != current,
            entering_crisis: continuity < CRISIS && !was_in_crisis,
            entering_critical: current == Status::Critical && previous != Status::Critical,
            recovering: current > previous,
            time_since_last_event_ms: since,
            can_emit_event: can_emit,
        };
        if continuity < CRISIS {
            self.crises.push_back((now, continuity));
            if self.crises.len() > CRISES {
                self.crises.pop_front();
            }
        }
        if current == Status::Critical && can_emit {
            self.last_event = Some(now);
        }
        self.purpose = purpose;
        self.trajectory.push_back(purpose.map(|value| value as f32));
        if self.trajectory.len() > TRAJECTORY {
            self.trajectory.pop_front();
        }
        self.continuity = Some(continuity);
        self.last = Some(detection.clone());
        detection
    }

    /// The purpose of the whole memory.
    #[must_use]
    pub const fn purpose(&self) -> &[f64; COUNT] {
        &self.purpose
    }

    /// Its continuity; 1 before the first look.
    #[must_use]
    pub fn continuity(&self) -> f64 {
        self.continuity.unwrap_or(1.0)
    }

    /// How well it holds.
    #[must_use]
    pub fn status(&self) -> Status {
        Status::of(self.continuity())
    }

    /// Whether it is in crisis.
    #[must_use]
    pub fn in_crisis(&self) -> bool {
        self.continuity() < CRISIS
    }

    /// Purpose vectors that are remembered.
    #[must_use]
    pub fn trajectory_len(&self) -> usize {
        self.trajectory.len()
    }

    /// What the last look found.
    #[must_use]
    pub const fn last(&self) -> Option<&Detection> {
        self.last.as_ref()
    }

    /// Crises that are remembered.
    #[must_use]
    pub fn crises(&self) -> usize {
        self.crises.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(at: usize) -> [f64; COUNT] {
        std::array::from_fn(|place| f64::from(u8::from(place == at)))
    }

    #[test]
    fn continuity_is_that_of_the_specification() {
        assert_eq!(continuity(None, &axis(0), 0.0), 1.0, "the first");
        assert!((continuity(Some(&axis(0)), &axis(0), 0.9) - 0.9).abs() < 1e-12);
        assert_eq!(continuity(Some(&axis(0)), &axis(1), 0.9), 0.0, "orthogonal");
        assert_eq!(continuity(Some(&axis(0)), &axis(0), 0.0), 0.0, "no order");
        assert_eq!(continuity(Some(&axis(0)), &[0.0; COUNT], 0.9), 0.0, "zeros");
        for (value, status) in [
            (0.91, Status::Healthy),
            (0.9, Status::Warning),
            (0.7, Status::Warning),
            (0.699, Status::Degraded),
            (0.5, Status::Degraded),
            (0.499, Status::Critical),
        ] {
            assert_eq!(Status::of(value), status, "{value}");
        }
    }

    #[test]
    fn crises_are_entered_and_left() {
        let mut ego = Ego::default();
        assert!(!ego.observe(axis(0), 0.5, 0).entering_crisis);
        let crisis = ego.observe(axis(0), 0.699, 1_000);
        assert!(crisis.entering_crisis && !crisis.entering_critical && ego.in_crisis());
        assert!(!ego.observe(axis(0), 0.65, 2_000).entering_crisis, "it was in crisis already");
        let critical = ego.observe(axis(1), 0.9, 3_000);
        assert!(critical.entering_critical && critical.can_emit_event);
        let again = ego.observe(axis(0), 0.9, 4_000);
        assert_eq!((again.can_emit_event, again.time_since_last_event_ms), (false, Some(1_000)));
        let back = ego.observe(axis(0), 0.95, 40_000);
        assert!(back.recovering && back.can_emit_event && !ego.in_crisis());
        assert_eq!(ego.observe(axis(0), 0.7, 41_000).current_status, Status::Warning);
        assert_eq!((ego.trajectory_len(), ego.crises()), (7, 4));
    }

    #[test]
    fn the_trajectory_is_bounded() {
        let mut ego = Ego::default();
        (0..1_100).for_each(|at| {
            ego.observe(axis(0), 1.0, at);
        });
        assert_eq!(ego.trajectory_len(), TRAJECTORY);
    }
}
