//! Drift: how far memories have moved away from the goal, by space and over time, and what to do about it.
//!
//! The level of a space is by the mean likeness of memories to the goal: None from 0.85, Low from 0.70, Medium from 0.55, High from
//! 0.40, else Critical; what is put in is the share that is left of the likeness when the goal was set. Over time the alignment of each look is
//! kept; its mean against the baseline, which is the alignment when the goal was set, is the magnitude of the drift: Mild
//! above 0.01, Moderate from 0.05, Severe from 0.10. The trend is the slope over the last ten looks.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// How far a space has drifted.
#[must_use]
pub fn level(similarity: f64) -> &'static str {
    match similarity {
        s if s >= 0.85 => "None",
        s if s >= 0.70 => "Low",
        s if s >= 0.55 => "Medium",
        s if s >= 0.40 => "High",
        _ => "Critical",
    }
}

/// Whether a level calls for something.
#[must_use]
pub fn calls(similarity: f64) -> bool {
    similarity < 0.70
}

/// How bad the drift over time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Severity {
    None,
    Mild,
    Moderate,
    Severe,
}

impl Severity {
    /// The severity of a magnitude.
    #[must_use]
    pub fn of(magnitude: f64) -> Self {
        match magnitude {
            m if m <= 0.01 => Self::None,
            m if m < 0.05 => Self::Mild,
            m if m < 0.10 => Self::Moderate,
            _ => Self::Severe,
        }
    }

    /// What it costs of health.
    #[must_use]
    pub const fn health(self) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Mild => 0.85,
            Self::Moderate => 0.6,
            Self::Severe => 0.3,
        }
    }
}

/// Where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Trend {
    Improving,
    Stable,
    Declining,
}

/// Looks that are remembered.
const HISTORY: usize = 100;
/// What alignment should be, where nothing else is known.
pub const BASELINE: f64 = 0.75;
const WINDOW_MS: u64 = 7 * 24 * 3_600_000;

/// Alignment over time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct History {
    looks: VecDeque<(u64, f64)>,
    /// What corrections moved the threshold of acceptable alignment by, within 0.2.
    pub threshold_shift: f64,
    /// The alignment when the goal was set, or at the first look without one: what is measured against.
    #[serde(default)]
    pub baseline: Option<f64>,
    /// The same in each space.
    #[serde(default)]
    pub baselines: Option<[f64; 13]>,
}

impl History {
    /// Takes in a look.
    pub fn add(&mut self, at: u64, alignment: f64) {
        self.looks.push_back((at, alignment));
        if self.looks.len() > HISTORY {
            self.looks.pop_front();
        }
    }

    /// Begins anew: what is measured now is what later looks are measured against.
    pub fn begin(&mut self, at: u64, alignment: f64, spaces: [f64; 13]) {
        self.looks.clear();
        self.baseline = Some(alignment);
        self.baselines = Some(spaces);
        self.threshold_shift = 0.0;
        self.add(at, alignment);
    }

    /// What alignment was when the goal was set.
    #[must_use]
    pub fn baseline(&self) -> f64 {
        self.baseline.unwrap_or(BASELINE)
    }

    /// How much of what was there at the beginning is left, in `[0, 1]`; 1 where nothing is known of a beginning.
    #[must_use]
    pub fn left(&self, alignment: f64) -> f64 {
        self.baseline.map_or(1.0, |baseline| share(alignment, baseline))
    }

    /// The same in one space.
    #[must_use]
    pub fn left_in(&self, space: usize, similarity: f64) -> f64 {
        self.baselines.map_or(1.0, |baselines| share(similarity, baselines[space]))
    }

    /// The looks since a moment, oldest first.
    #[must_use]
    pub fn since(&self, moment: u64) -> Vec<(u64, f64)> {
        self.looks.iter().copied().filter(|look| look.0 >= moment).collect()
    }

    /// The mean of the last week; the baseline before the first look.
    #[must_use]
    pub fn rolling_mean(&self, now: u64) -> f64 {
        let recent: Vec<f64> = self.since(now.saturating_sub(WINDOW_MS)).into_iter().map(|look| look.1).collect();
        if recent.is_empty() { self.baseline() } else { crate::vector::mean(&recent) }
    }

    /// How far below the baseline it is.
    #[must_use]
    pub fn magnitude(&self, now: u64) -> f64 {
        self.baseline() - self.rolling_mean(now)
    }

    /// The slope of the last ten looks, for each; 0 for fewer than three.
    #[must_use]
    pub fn slope(&self) -> f64 {
        let last: Vec<f64> = self.looks.iter().rev().take(10).rev().map(|look| look.1).collect();
        if last.len() < 3 {
            return 0.0;
        }
        let n = last.len() as f64;
        let middle = (n - 1.0) / 2.0;
        let mean = crate::vector::mean(&last);
        let (mut above, mut below) = (0.0, 0.0);
        for (at, value) in last.iter().enumerate() {
            above += (at as f64 - middle) * (value - mean);
            below += (at as f64 - middle).powi(2);
        }
        above / below
    }

    /// Where it goes: improving or declining by more than 0.005 for each look.
    #[must_use]
    pub fn trend(&self) -> Trend {
        match self.slope() {
            s if s > 0.005 => Trend::Improving,
            s if s < -0.005 => Trend::Declining,
            _ => Trend::Stable,
        }
    }

    /// Looks until alignment would be critical (0.40), if it declines.
    #[must_use]
    pub fn until_critical(&self) -> Option<u64> {
        let (last, slope) = (self.looks.back()?.1, self.slope());
        (slope < -1e-9).then(|| ((last - 0.40).max(0.0) / -slope - 1e-9).ceil() as u64)
    }

    /// How many looks are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.looks.len()
    }

    /// Whether there was none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.looks.is_empty()
    }
}

/// What to do about a drift.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Correction {
    NoAction,
    Reinforce(f64),
    Threshold(f64),
    EmergencyIntervention,
}

impl Correction {
    /// What fits a severity and a trend.
    #[must_use]
    pub const fn of(severity: Severity, trend: Trend) -> Self {
        match (severity, trend) {
            (Severity::Mild, Trend::Declining) => Self::Reinforce(1.1),
            (Severity::Moderate, Trend::Declining) => Self::Threshold(0.02),
            (Severity::Moderate, Trend::Stable) => Self::Reinforce(1.2),
            (Severity::Severe, Trend::Declining) => Self::EmergencyIntervention,
            (Severity::Severe, Trend::Stable) => Self::Threshold(0.05),
            (Severity::Severe, Trend::Improving) => Self::Reinforce(1.5),
            (Severity::None | Severity::Mild | Severity::Moderate, _) => Self::NoAction,
        }
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoAction => "NoAction",
            Self::Reinforce(_) => "GoalReinforcement",
            Self::Threshold(_) => "ThresholdAdjustment",
            Self::EmergencyIntervention => "EmergencyIntervention",
        }
    }
}

fn share(now: f64, before: f64) -> f64 {
    if before > 1e-9 { (now / before).clamp(0.0, 1.0) } else { 1.0 }
}

/// What becomes of the importance of memories when a goal is reinforced: those at least as near to it as the mean gain `step`, the others lose
/// as much; all stay between 0.05 and 1.
#[must_use]
pub fn reinforced(memories: &[(f64, f64)], step: f64) -> Vec<f64> {
    let middle = crate::vector::mean(&memories.iter().map(|(_, theta)| *theta).collect::<Vec<_>>());
    let moved = |(importance, theta): &(f64, f64)| {
        let next = if *theta >= middle { importance + step } else { importance - step };
        next.clamp(0.05_f64.min(*importance), 1.0)
    };
    memories.iter().map(moved).collect()
}

/// The alignment of similarities under weights.
#[must_use]
pub fn alignment(similarities: &[f64; 13], weights: &[f64; 13]) -> f64 {
    let total: f64 = weights.iter().sum();
    let sum: f64 = similarities.iter().zip(weights).map(|(similarity, weight)| similarity * weight).sum();
    if total > 0.0 { (sum / total).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn history_tells_magnitude_and_trend() {
        let mut history = History::default();
        assert_eq!((history.rolling_mean(0), history.magnitude(0), history.trend()), (0.75, 0.0, Trend::Stable));
        for (at, value) in [0.70, 0.68, 0.66, 0.64].into_iter().enumerate() {
            history.add(at as u64, value);
        }
        assert!((history.slope() + 0.02).abs() < 1e-9);
        assert_eq!(history.trend(), Trend::Declining);
        assert_eq!(history.until_critical(), Some(12));
        assert!((history.magnitude(10) - 0.08).abs() < 1e-9);
        assert_eq!(Severity::of(history.magnitude(10)), Severity::Moderate);
        assert_eq!(history.rolling_mean(WINDOW_MS * 2), 0.75, "too long ago");
        (0..200).for_each(|at| history.add(at, 0.5));
        assert_eq!(history.len(), HISTORY);
    }

    #[test]
    fn corrections_follow_the_table() {
        use Severity::{Mild, Moderate, None, Severe};
        use Trend::{Declining, Improving, Stable};
        for (severity, trend, expected) in [
            (None, Declining, Correction::NoAction),
            (Mild, Declining, Correction::Reinforce(1.1)),
            (Mild, Stable, Correction::NoAction),
            (Moderate, Declining, Correction::Threshold(0.02)),
            (Moderate, Stable, Correction::Reinforce(1.2)),
            (Moderate, Improving, Correction::NoAction),
            (Severe, Declining, Correction::EmergencyIntervention),
            (Severe, Stable, Correction::Threshold(0.05)),
            (Severe, Improving, Correction::Reinforce(1.5)),
        ] {
            assert_eq!(Correction::of(severity, trend), expected);
        }
        for (magnitude, severity) in [(-0.5, None), (0.01, None), (0.02, Mild), (0.05, Moderate), (0.1, Severe)] {
            assert_eq!(Severity::of(magnitude), severity, "{magnitude}");
        }
        assert_eq!((level(0.85), level(0.4), level(0.39)), ("None", "High", "Critical"));
    }

    proptest! {
        #[test]
        fn reinforcing_raises_the_mean_by_standing(memories in prop::collection::vec((0.05..=1.0f64, 0.0..=1.0f64), 1..40), step in 0.0..0.3f64) {
            let after = reinforced(&memories, step);
            prop_assert!(after.iter().all(|value| (0.05..=1.0).contains(value)));
            let mean = |weights: &[f64]| {
                let sum: f64 = weights.iter().zip(&memories).map(|(weight, (_, theta))| weight * theta).sum();
                sum / weights.iter().sum::<f64>()
            };
            let before: Vec<f64> = memories.iter().map(|one| one.0).collect();
            prop_assert!(mean(&after) >= mean(&before) - 1e-9);
        }
    }
}
