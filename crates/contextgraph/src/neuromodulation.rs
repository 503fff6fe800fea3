//! Four modulators that colour how the memory works.
//!
//! | modulator | parameter | base | range | decay per second |
//! |---|---|---|---|---|
//! | dopamine | sharpness of recall (`hopfield.beta`): the power of the mean over spaces is a third of it | 3 | 1 to 5 | 0.05 |
//! | serotonin | balance of the spaces: meaning weighs `0.5 + x`, the rest `1.5 - x` | 0.5 | 0 to 1 | 0.02 |
//! | noradrenaline | temperature of attention: above 1 results repeat each other less, below more | 1 | 0.5 to 2 | 0.1 |
//! | acetylcholine | learning rate | 0.001 | 0.001 to 0.002 | 0.1 |
//!
//! Levels return to their base: `x += (base - x) clamp(rate dt, 0, 1)`. A change of dopamine spreads: above 4 serotonin
//! gains 0.05, below 2 it loses as much, and a change of more than 0.3 raises noradrenaline by 0.1. Acetylcholine belongs to
//! [watching itself](crate::metacognition) and cannot be set.

use serde::{Deserialize, Serialize};

use crate::error::{Code, Outcome, Problem};

/// One that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Modulator {
    Dopamine,
    Serotonin,
    Noradrenaline,
}

/// Least, base, most, decay per second.
struct Bounds(f64, f64, f64, f64);

impl Modulator {
    /// The modulator of a word.
    ///
    /// # Errors
    /// It is acetylcholine, or none.
    pub fn from_word(word: &str) -> Outcome<Self> {
        match word {
            "dopamine" | "da" => Ok(Self::Dopamine),
            "serotonin" | "5ht" => Ok(Self::Serotonin),
            "noradrenaline" | "ne" => Ok(Self::Noradrenaline),
            "acetylcholine" | "ach" => Err(Problem::new(
                Code::Neuromodulation,
                "ACH_READ_ONLY",
                "acetylcholine is read-only: it follows how well learning is predicted",
            )),
            other => {
                Err(Problem::params(format!("`modulator` is dopamine, serotonin or noradrenaline, not {other:?}")))
            }
        }
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dopamine => "dopamine",
            Self::Serotonin => "serotonin",
            Self::Noradrenaline => "noradrenaline",
        }
    }

    const fn bounds(self) -> Bounds {
        match self {
            Self::Dopamine => Bounds(1.0, 3.0, 5.0, 0.05),
            Self::Serotonin => Bounds(0.0, 0.5, 1.0, 0.02),
            Self::Noradrenaline => Bounds(0.5, 1.0, 2.0, 0.1),
        }
    }

    /// Least, base, most.
    #[must_use]
    pub const fn range(self) -> (f64, f64, f64) {
        let Bounds(least, base, most, _) = self.bounds();
        (least, base, most)
    }
}

/// The levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    dopamine: f64,
    serotonin: f64,
    noradrenaline: f64,
    at: u64,
    /// When and why dopamine was last changed.
    pub last_trigger: Option<(u64, String)>,
    /// When the last threat was seen.
    pub last_threat: Option<u64>,
    /// How many there were.
    pub threats: u64,
}

/// What a change came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelChange {
    /// Before.
    pub old: f64,
    /// After.
    pub new: f64,
    /// Whether serotonin followed, and by how much.
    pub serotonin: f64,
    /// Whether noradrenaline followed, and by how much.
    pub noradrenaline: f64,
}

/// Smaller changes are none.
const EPSILON: f64 = 1e-9;

impl Levels {
    /// Everything at its base.
    #[must_use]
    pub const fn new(now: u64) -> Self {
        Self {
            dopamine: 3.0,
            serotonin: 0.5,
            noradrenaline: 1.0,
            at: now,
            last_trigger: None,
            last_threat: None,
            threats: 0,
        }
    }

    const fn place(&mut self, modulator: Modulator) -> &mut f64 {
        match modulator {
            Modulator::Dopamine => &mut self.dopamine,
            Modulator::Serotonin => &mut self.serotonin,
            Modulator::Noradrenaline => &mut self.noradrenaline,
        }
    }

    /// The level.
    #[must_use]
    pub const fn level(&self, modulator: Modulator) -> f64 {
        match modulator {
            Modulator::Dopamine => self.dopamine,
            Modulator::Serotonin => self.serotonin,
            Modulator::Noradrenaline => self.noradrenaline,
        }
    }

    /// Lets the levels decay up to `now`.
    pub fn advance(&mut self, now: u64) {
        let seconds = now.saturating_sub(self.at) as f64 / 1e3;
        self.at = self.at.max(now);
        for modulator in [Modulator::Dopamine, Modulator::Serotonin, Modulator::Noradrenaline] {
            let Bounds(_, base, _, rate) = modulator.bounds();
            let level = self.place(modulator);
            *level += (base - *level) * (rate * seconds).clamp(0.0, 1.0);
        }
    }

    fn shift(&mut self, modulator: Modulator, delta: f64) -> (f64, f64) {
        let (least, _, most) = modulator.range();
        let level = self.place(modulator);
        let old = *level;
        *level = (old + delta).clamp(least, most);
        (old, *level)
    }

    /// Changes a level at `now`, for a reason. A delta that is no number changes nothing and is told in the log.
    pub fn adjust(&mut self, modulator: Modulator, delta: f64, reason: &str, now: u64) -> LevelChange {
        self.advance(now);
        let level = self.level(modulator);
        let unchanged = LevelChange { old: level, new: level, serotonin: 0.0, noradrenaline: 0.0 };
        if !delta.is_finite() {
            tracing::warn!(modulator = modulator.name(), "a change that is no number was ignored");
            return unchanged;
        }
        if delta.abs() < EPSILON {
            return unchanged;
        }
        let (old, new) = self.shift(modulator, delta);
        let mut change = LevelChange { old, new, ..unchanged };
        if modulator == Modulator::Dopamine {
            self.last_trigger = Some((now, reason.to_owned()));
            let mood = if new > 4.0 {
                0.05
            } else if new < 2.0 {
                -0.05
            } else {
                0.0
            };
            let (before, after) = self.shift(Modulator::Serotonin, mood);
            change.serotonin = after - before;
            if (new - old).abs() > 0.3 {
                let (before, after) = self.shift(Modulator::Noradrenaline, 0.1);
                change.noradrenaline = after - before;
            }
        }
        change
    }

    /// Moves dopamine to where a reward in `[-1, 1]` would have it, by a fifth at most: told again, the same reward moves nothing more.
    pub fn reward(&mut self, reward: f64, now: u64) -> LevelChange {
        self.advance(now);
        let (_, base, _) = Modulator::Dopamine.range();
        let delta = (base + reward - self.dopamine).clamp(-0.2, 0.2);
        // A reward does not lower what is above for another reason, nor a disappointment raise what is below.
        let delta = if reward >= 0.0 { delta.max(0.0) } else { delta.min(0.0) };
        self.adjust(Modulator::Dopamine, delta, "steering", now)
    }

    /// A threat was seen.
    pub fn threat(&mut self, now: u64) {
        self.adjust(Modulator::Noradrenaline, 0.5, "threat", now);
        self.last_threat = Some(now);
        self.threats += 1;
    }

    /// Whether noradrenaline is high enough to be alert.
    #[must_use]
    pub fn is_alert(&self) -> bool {
        self.noradrenaline > 1.2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn changes_cascade_and_decay() {
        let mut levels = Levels::new(0);
        let change = levels.adjust(Modulator::Dopamine, 1.5, "test", 0);
        assert_eq!((change.old, change.new), (3.0, 4.5));
        assert!((change.serotonin - 0.05).abs() < 1e-12 && (change.noradrenaline - 0.1).abs() < 1e-12);
        levels.advance(10_000);
        assert!((levels.level(Modulator::Dopamine) - 3.75).abs() < 1e-9, "half of the way in 10 s");
        levels.advance(1_000_000);
        assert_eq!(levels.level(Modulator::Dopamine), 3.0);
        let low = levels.adjust(Modulator::Dopamine, -9.0, "test", 1_000_000);
        assert_eq!(low.new, 1.0);
        assert!((low.serotonin + 0.05).abs() < 1e-12);
    }

    #[test]
    fn what_is_nothing_changes_nothing() {
        let mut levels = Levels::new(0);
        for delta in [0.0, 1e-12, f64::NAN, f64::INFINITY] {
            let change = levels.adjust(Modulator::Dopamine, delta, "test", 0);
            assert_eq!((change.old, change.new), (3.0, 3.0), "{delta}");
        }
        assert_eq!(levels.last_trigger, None);
        assert_eq!(Modulator::from_word("ach").unwrap_err().kind, "ACH_READ_ONLY");
        assert_eq!(Modulator::from_word("5ht"), Ok(Modulator::Serotonin));
        assert_eq!(Modulator::from_word("oxytocin").unwrap_err().code, Code::InvalidParams);
    }

    proptest! {
        #[test]
        fn levels_stay_in_their_ranges(deltas in prop::collection::vec((0..3usize, -10.0..10.0f64, 0..20_000u64), 0..50)) {
            let mut levels = Levels::new(0);
            let mut now = 0;
            for (which, delta, pause) in deltas {
                now += pause;
                let modulator = [Modulator::Dopamine, Modulator::Serotonin, Modulator::Noradrenaline][which];
                levels.adjust(modulator, delta, "test", now);
                for modulator in [Modulator::Dopamine, Modulator::Serotonin, Modulator::Noradrenaline] {
                    let (least, _, most) = modulator.range();
                    prop_assert!((least..=most).contains(&levels.level(modulator)));
                }
            }
        }
    }

    #[test]
    fn a_threat_alerts() {
        let mut levels = Levels::new(0);
        levels.threat(0);
        assert!(levels.is_alert() && levels.threats == 1);
        levels.advance(60_000);
        assert!(!levels.is_alert());
    }
}
