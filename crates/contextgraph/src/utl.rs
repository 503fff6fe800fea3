//! UTL: how much there is to learn from a memory.
//!
//! `L = clamp(dS * dC * w_e * cos(phi), 0, 1)`: surprise times coherence, coloured by emotion, in the rhythm of waking and
//! sleeping. What is new and fits is learned most; what is known, and what fits nowhere, little. Stages of life weigh
//! surprise and coherence: a young memory takes in what is new, an old one what fits. The stages name shares that sum to
//! one; a share counts double here, so that the balanced stage leaves both as they are and the thresholds of storing
//! (0.3) and consolidating (0.6) can be reached in every stage.

pub mod coherence;
pub mod gmm;
pub mod meta;
pub mod surprise;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Outcome, Problem};
use crate::text;

/// `L` of surprise, coherence, emotion and phase.
///
/// # Errors
/// A value is no number, or outside of its range.
pub fn learning(delta_s: f64, delta_c: f64, emotion: f64, phase: f64) -> Outcome<f64> {
    let refuse = |what: &str| Err(Problem::new(Code::Utl, "UTL_RANGE", format!("{what} is outside of its range")));
    if ![delta_s, delta_c, emotion, phase].iter().all(|value| value.is_finite()) {
        return Err(Problem::new(Code::Utl, "NOT_FINITE", "a measure of learning is NaN or infinite"));
    }
    if !(0.0..=1.0).contains(&delta_s) {
        return refuse("delta S");
    }
    if !(0.0..=1.0).contains(&delta_c) {
        return refuse("delta C");
    }
    if !(0.5..=1.5).contains(&emotion) {
        return refuse("the weight of emotion");
    }
    if !(0.0..=std::f64::consts::PI).contains(&phase) {
        return refuse("the phase");
    }
    Ok((delta_s * delta_c * emotion * phase.cos()).clamp(0.0, 1.0))
}

/// `L` in a stage of life.
///
/// # Errors
/// As [`learning`].
pub fn learning_at(stage: Weights, delta_s: f64, delta_c: f64, emotion: f64, phase: f64) -> Outcome<f64> {
    let weighted =
        |weight: f64, value: f64| if value.is_finite() { (2.0 * weight * value).clamp(0.0, 1.0) } else { value };
    learning(weighted(stage.surprise, delta_s), weighted(stage.coherence, delta_c), emotion, phase)
}

/// `L` worth storing.
pub const STORE: f64 = 0.3;
/// `L` worth consolidating.
pub const CONSOLIDATE: f64 = 0.6;

/// Low, Medium or High.
#[must_use]
pub fn intensity(learning: f64) -> &'static str {
    match learning {
        l if l < 0.3 => "Low",
        l if l < 0.7 => "Medium",
        _ => "High",
    }
}

/// The loss that training would minimise: `0.4 task + 0.3 semantic + 0.2 teleological + 0.1 (1 - L)`.
#[must_use]
pub fn loss(task: f64, semantic: f64, teleological: f64, learning: f64) -> f64 {
    0.4 * task + 0.3 * semantic + 0.2 * teleological + 0.1 * (1.0 - learning)
}

/// How much surprise and coherence count: shares that sum to one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Of surprise.
    pub surprise: f64,
    /// Of coherence.
    pub coherence: f64,
}

/// The stage of life, by the number of interactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Stage {
    Infancy,
    Growth,
    Maturity,
}

/// Interactions by which a stage is left later than it would be entered, so that it does not flicker.
const HYSTERESIS: u64 = 10;

impl Stage {
    /// The stage after `count` interactions, coming from `self`.
    #[must_use]
    pub const fn after(self, count: u64) -> Self {
        let plain = match count {
            0..50 => Self::Infancy,
            50..500 => Self::Growth,
            _ => Self::Maturity,
        };
        // Counts only grow in use, but an undone memory takes one back.
        match (self, plain) {
            (Self::Growth, Self::Infancy) if count + HYSTERESIS >= 50 => Self::Growth,
            (Self::Maturity, Self::Growth) if count + HYSTERESIS >= 500 => Self::Maturity,
            _ => plain,
        }
    }

    /// What counts in this stage.
    #[must_use]
    pub const fn weights(self) -> Weights {
        match self {
            Self::Infancy => Weights { surprise: 0.7, coherence: 0.3 },
            Self::Growth => Weights { surprise: 0.5, coherence: 0.5 },
            Self::Maturity => Weights { surprise: 0.3, coherence: 0.7 },
        }
    }

    /// entropy_trigger, coherence_trigger, min_importance_store, consolidation_threshold.
    #[must_use]
    pub const fn thresholds(self) -> [f64; 4] {
        match self {
            Self::Infancy => [0.9, 0.2, 0.1, 0.3],
            Self::Growth => [0.7, 0.5, 0.3, 0.5],
            Self::Maturity => [0.5, 0.7, 0.5, 0.7],
        }
    }

    /// What it does.
    #[must_use]
    pub const fn stance(self) -> &'static str {
        match self {
            Self::Infancy => "capture-novelty",
            Self::Growth => "balanced",
            Self::Maturity => "curation-coherence",
        }
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Infancy => "Infancy",
            Self::Growth => "Growth",
            Self::Maturity => "Maturity",
        }
    }
}

/// The phase of consolidation, with its angle: asleep `phi` is 0, in the dream of exploring pi, awake a quarter turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub enum LearningPhase {
    NREM,
    REM,
    #[default]
    Wake,
}

impl LearningPhase {
    /// The phase of an activity in `[0, 1]` (a running mean).
    #[must_use]
    pub fn of_activity(activity: f64) -> Self {
        match activity {
            a if a < 0.3 => Self::NREM,
            a if a > 0.7 => Self::Wake,
            _ => Self::REM,
        }
    }

    /// Its angle.
    #[must_use]
    pub const fn angle(self) -> f64 {
        match self {
            Self::NREM => 0.0,
            Self::REM => std::f64::consts::PI,
            Self::Wake => std::f64::consts::FRAC_PI_2,
        }
    }

    /// recency, temperature, coupling, learning rate.
    #[must_use]
    pub const fn parameters(self) -> [f64; 4] {
        match self {
            Self::NREM => [0.8, 0.5, 0.9, 0.3],
            Self::REM => [0.4, 2.0, 0.3, 0.5],
            Self::Wake => [0.5, 1.0, 0.6, 1.0],
        }
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NREM => "NREM",
            Self::REM => "REM",
            Self::Wake => "Wake",
        }
    }
}

/// The state of mind that a text is read in, which says how far emotion counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Mood {
    #[default]
    Neutral,
    Curious,
    Focused,
    Stressed,
    Fatigued,
    Engaged,
    Confused,
}

impl Mood {
    /// Its factor.
    #[must_use]
    pub const fn factor(self) -> f64 {
        match self {
            Self::Neutral => 1.0,
            Self::Curious => 1.2,
            Self::Focused => 1.3,
            Self::Stressed => 0.8,
            Self::Fatigued => 0.6,
            Self::Engaged => 1.15,
            Self::Confused => 0.9,
        }
    }
}

/// Words of feeling (stems), with how strong they are.
const POSITIVE: &[(&str, f64)] = &[
    ("amaz", 0.9),
    ("breakthrough", 0.9),
    ("celebrat", 0.8),
    ("delight", 0.8),
    ("excellent", 0.8),
    ("excit", 0.8),
    ("fantastic", 0.9),
    ("fix", 0.4),
    ("glad", 0.6),
    ("good", 0.5),
    ("great", 0.7),
    ("happi", 0.8),
    ("improv", 0.5),
    ("interest", 0.5),
    ("love", 0.9),
    ("nic", 0.5),
    ("perfect", 0.8),
    ("proud", 0.7),
    ("solv", 0.5),
    ("succe", 0.7),
    ("success", 0.7),
    ("thank", 0.5),
    ("wonderful", 0.9),
];
const NEGATIVE: &[(&str, f64)] = &[
    ("afraid", 0.8),
    ("angri", 0.8),
    ("annoi", 0.6),
    ("attack", 0.8),
    ("awful", 0.9),
    ("bad", 0.5),
    ("break", 0.5),
    ("broken", 0.6),
    ("bug", 0.4),
    ("crash", 0.7),
    ("critical", 0.7),
    ("danger", 0.8),
    ("dead", 0.8),
    ("disaster", 0.9),
    ("error", 0.5),
    ("fail", 0.7),
    ("failur", 0.7),
    ("fear", 0.8),
    ("hat", 0.9),
    ("lost", 0.6),
    ("outag", 0.8),
    ("pain", 0.7),
    ("problem", 0.4),
    ("sad", 0.7),
    ("terribl", 0.9),
    ("urgent", 0.7),
    ("worri", 0.6),
    ("wrong", 0.5),
];

/// The weight of emotion of a text: `clamp(1 + 0.25 net (1 + 0.5 (m - 1)) + 0.15 arousal m, 0.5, 1.5)` with `net` the mean
/// strength of good words less that of bad ones, `arousal` half of their sum, `m` the factor of the mood.
#[must_use]
pub fn emotion(content: &str, mood: Mood) -> f64 {
    let stems = text::stems(content);
    let strength = |lexicon: &[(&str, f64)]| {
        let found: Vec<f64> =
            stems.iter().filter_map(|stem| Some(lexicon.iter().find(|entry| entry.0 == stem)?.1)).collect();
        crate::vector::mean(&found)
    };
    let (positive, negative, m) = (strength(POSITIVE), strength(NEGATIVE), mood.factor());
    let (net, arousal) = (positive - negative, (positive + negative) / 2.0);
    (1.0 + 0.25 * net * (1.0 + 0.5 * (m - 1.0)) + 0.15 * arousal * m).clamp(0.5, 1.5)
}

/// Running means of what was measured (the first sample as it is, then a tenth of each), and counts of quadrants. This is
/// what the pulse of every answer is made of.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Averages {
    /// Samples so far.
    pub count: u64,
    /// Of surprise.
    pub entropy: f64,
    /// Of coherence.
    pub coherence: f64,
    /// Of learning.
    pub learning: f64,
    /// How often each quadrant was seen: Open, Hidden, Blind, Unknown.
    pub quadrants: [u64; 4],
}

impl Averages {
    /// Takes a sample in.
    pub fn add(&mut self, entropy: f64, coherence: f64, learning: f64, quadrant: crate::johari::Quadrant) {
        let alpha = if self.count == 0 { 1.0 } else { 0.1 };
        for (mean, value) in
            [(&mut self.entropy, entropy), (&mut self.coherence, coherence), (&mut self.learning, learning)]
        {
            *mean = (*mean + alpha * (value - *mean)).clamp(0.0, 1.0);
        }
        self.count += 1;
        self.quadrants[quadrant.index()] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn learning_is_a_share(s in 0.0..=1.0f64, c in 0.0..=1.0f64, w in 0.5..=1.5f64, phi in 0.0..=std::f64::consts::PI) {
            for stage in [Stage::Infancy, Stage::Growth, Stage::Maturity] {
                let l = learning_at(stage.weights(), s, c, w, phi).unwrap();
                prop_assert!((0.0..=1.0).contains(&l));
            }
        }

        #[test]
        fn emotion_is_in_its_range(text in ".{0,80}") {
            for mood in [Mood::Neutral, Mood::Focused, Mood::Fatigued] {
                prop_assert!((0.5..=1.5).contains(&emotion(&text, mood)));
            }
        }
    }

    #[test]
    fn what_is_no_number_is_an_error() {
        for (s, c, w, phi) in [
            (f64::NAN, 0.5, 1.0, 0.0),
            (0.5, f64::INFINITY, 1.0, 0.0),
            (1.1, 0.5, 1.0, 0.0),
            (0.5, -0.1, 1.0, 0.0),
            (0.5, 0.5, 0.4, 0.0),
            (0.5, 0.5, 1.0, 4.0),
        ] {
            assert_eq!(learning(s, c, w, phi).map_err(|problem| problem.code), Err(Code::Utl), "{s} {c} {w} {phi}");
        }
        assert_eq!(learning(0.8, 0.5, 1.0, 0.0), Ok(0.4));
        assert_eq!(learning(0.8, 0.5, 1.0, std::f64::consts::PI), Ok(0.0));
    }

    #[test]
    fn stages_follow_the_count_and_do_not_flicker() {
        let table = [
            (0, Stage::Infancy),
            (49, Stage::Infancy),
            (50, Stage::Growth),
            (499, Stage::Growth),
            (500, Stage::Maturity),
        ];
        for (count, stage) in table {
            assert_eq!(Stage::Infancy.after(count), stage, "{count}");
        }
        assert_eq!(Stage::Growth.after(45), Stage::Growth);
        assert_eq!(Stage::Growth.after(39), Stage::Infancy);
        assert_eq!(Stage::Maturity.after(495), Stage::Maturity);
        for stage in [Stage::Infancy, Stage::Growth, Stage::Maturity] {
            let Weights { surprise, coherence } = stage.weights();
            assert!((surprise + coherence - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn feelings_weigh() {
        assert_eq!(emotion("the table has four legs", Mood::Neutral), 1.0);
        assert!(emotion("a wonderful success, I love it", Mood::Neutral) > 1.2);
        assert!(emotion("a terrible failure, awful crash", Mood::Neutral) < 1.0);
    }

    #[test]
    fn the_first_sample_is_taken_as_it_is() {
        let mut averages = Averages::default();
        averages.add(0.8, 0.4, 0.2, crate::johari::Quadrant::Open);
        assert_eq!((averages.entropy, averages.coherence, averages.learning), (0.8, 0.4, 0.2));
        averages.add(0.0, 0.4, 0.2, crate::johari::Quadrant::Blind);
        assert!((averages.entropy - 0.72).abs() < 1e-12);
    }
}
