//! When to dream: after ten minutes of little activity, after five minutes of high entropy, in a crisis of identity, or when
//! asked; not within half an hour of the last dream unless forced.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::{Code, Outcome, Problem};

const SAMPLES: usize = 60;
/// Activity below which the memory is idle.
pub const IDLE_BELOW: f64 = 0.15;
/// How long it must be idle.
pub const IDLE_MS: u64 = 600_000;
/// How long entropy must be high.
const ENTROPY_MS: u64 = 300_000;
const ENTROPY_ABOVE: f64 = 0.7;
/// The pause between dreams.
pub const COOLDOWN_MS: u64 = 1_800_000;

/// Why to dream, the most pressing first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub enum DreamReason {
    Manual,
    IdentityCritical,
    MemoryPressure,
    HighEntropy,
    IdleTimeout,
}

/// What the scheduler says.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum DreamDecision {
    Trigger(DreamReason),
    InsufficientIdleTime { current: u64, required: u64 },
    HighActivity { current: f64, threshold: f64 },
    CooldownActive { remaining: u64 },
    DreamInProgress,
}

impl DreamDecision {
    /// As it is shown.
    #[must_use]
    pub fn shown(&self) -> Value {
        match self {
            Self::Trigger(reason) => json!({"decision": "Trigger", "reason": format!("{reason:?}")}),
            Self::InsufficientIdleTime { current, required } => json!({
                "decision": "Wait", "reason": "InsufficientIdleTime",
                "current_secs": current / 1_000, "required_secs": required / 1_000,
            }),
            Self::HighActivity { current, threshold } => {
                json!({"decision": "Wait", "reason": "HighActivity", "current": current, "threshold": threshold})
            }
            Self::CooldownActive { remaining } => {
                json!({"decision": "Blocked", "reason": "CooldownActive", "remaining_secs": remaining.div_ceil(1_000)})
            }
            Self::DreamInProgress => json!({"decision": "Blocked", "reason": "DreamInProgress"}),
        }
    }
}

/// The state of the scheduler.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Scheduler {
    samples: VecDeque<f64>,
    /// Since when activity has been low.
    idle_since: Option<u64>,
    /// Since when entropy has been high.
    entropy_since: Option<u64>,
    /// When the last dream ended.
    pub last_dream: Option<u64>,
    /// Dreams that came to their end.
    pub completed: u64,
}

impl Scheduler {
    /// Takes in a sample of activity, in `[0, 1]`. One sample at or above the threshold restarts the idle clock.
    pub fn activity(&mut self, activity: f64, now: u64) {
        self.samples.push_back(activity.clamp(0.0, 1.0));
        if self.samples.len() > SAMPLES {
            self.samples.pop_front();
        }
        if activity >= IDLE_BELOW {
            self.idle_since = None;
        } else {
            self.idle_since.get_or_insert(now);
        }
    }

    /// The mean of the samples; 1 before the first.
    #[must_use]
    pub fn average(&self) -> f64 {
        if self.samples.is_empty() { 1.0 } else { self.samples.iter().sum::<f64>() / self.samples.len() as f64 }
    }

    /// Takes in a sample of entropy.
    ///
    /// # Errors
    /// It is no share.
    pub fn entropy(&mut self, entropy: f64, now: u64) -> Outcome<()> {
        if !(0.0..=1.0).contains(&entropy) {
            return Err(Problem::new(Code::Dream, "ENTROPY_RANGE", format!("entropy {entropy} is outside of 0 to 1")));
        }
        if entropy > ENTROPY_ABOVE {
            self.entropy_since.get_or_insert(now);
        } else {
            self.entropy_since = None;
        }
        Ok(())
    }

    /// How long it has been idle, in milliseconds.
    #[must_use]
    pub fn idle_for(&self, now: u64) -> u64 {
        self.idle_since.map_or(0, |since| now.saturating_sub(since))
    }

    /// What is left of the pause between dreams.
    #[must_use]
    pub fn cooldown(&self, now: u64) -> u64 {
        self.last_dream.map_or(0, |last| COOLDOWN_MS.saturating_sub(now.saturating_sub(last)))
    }

    /// What to do now. `critical` says that the identity is in crisis.
    #[must_use]
    pub fn decide(&self, now: u64, dreaming: bool, critical: bool) -> DreamDecision {
        if dreaming {
            return DreamDecision::DreamInProgress;
        }
        let remaining = self.cooldown(now);
        if remaining > 0 {
            return DreamDecision::CooldownActive { remaining };
        }
        if critical {
            return DreamDecision::Trigger(DreamReason::IdentityCritical);
        }
        if self.entropy_since.is_some_and(|since| now.saturating_sub(since) >= ENTROPY_MS) {
            return DreamDecision::Trigger(DreamReason::HighEntropy);
        }
        match self.idle_since {
            None => DreamDecision::HighActivity { current: self.average(), threshold: IDLE_BELOW },
            Some(_) if self.idle_for(now) < IDLE_MS => {
                DreamDecision::InsufficientIdleTime { current: self.idle_for(now), required: IDLE_MS }
            }
            Some(_) => DreamDecision::Trigger(DreamReason::IdleTimeout),
        }
    }

    /// A dream ended.
    pub fn ended(&mut self, now: u64, completed: bool) {
        self.last_dream = Some(now);
        self.entropy_since = None;
        self.completed += u64::from(completed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_follow_idleness_entropy_and_pauses() {
        let mut scheduler = Scheduler::default();
        assert_eq!(scheduler.average(), 1.0);
        assert!(matches!(scheduler.decide(0, false, false), DreamDecision::HighActivity { .. }));
        scheduler.activity(0.1, 1_000);
        assert!(matches!(
            scheduler.decide(2_000, false, false),
            DreamDecision::InsufficientIdleTime { current: 1_000, .. }
        ));
        assert_eq!(scheduler.decide(601_000, false, false), DreamDecision::Trigger(DreamReason::IdleTimeout));
        scheduler.activity(0.15, 601_000);
        assert!(
            matches!(scheduler.decide(601_000, false, false), DreamDecision::HighActivity { .. }),
            "one sample restarts"
        );
        assert_eq!(scheduler.decide(0, true, true), DreamDecision::DreamInProgress);
        assert_eq!(scheduler.decide(0, false, true), DreamDecision::Trigger(DreamReason::IdentityCritical));
        scheduler.entropy(0.8, 0).unwrap();
        assert_eq!(scheduler.decide(300_000, false, false), DreamDecision::Trigger(DreamReason::HighEntropy));
        scheduler.ended(300_000, true);
        assert_eq!(scheduler.decide(300_000, false, true), DreamDecision::CooldownActive { remaining: COOLDOWN_MS });
        assert!(matches!(scheduler.decide(300_000 + COOLDOWN_MS, false, false), DreamDecision::HighActivity { .. }));
        assert_eq!(scheduler.entropy(1.5, 0).unwrap_err().code, Code::Dream);
        assert_eq!(scheduler.entropy(f64::NAN, 0).unwrap_err().code, Code::Dream);
        assert!(
            DreamReason::Manual < DreamReason::IdentityCritical
                && DreamReason::MemoryPressure < DreamReason::HighEntropy
        );
    }
}
