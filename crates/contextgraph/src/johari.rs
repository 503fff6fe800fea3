//! Johari windows: is a memory new, does it fit. Four quadrants by surprise and coherence at a threshold `t`:
//!
//! | | coherence > t | coherence <= t |
//! |---|---|---|
//! | surprise <= t | Open: known and understood | Hidden: known, and stands alone |
//! | surprise > t | Unknown: new, and fits | Blind: new, and fits nowhere yet |
//!
//! A memory keeps a soft form: with `s` and `c`, Open is `(1-s)c`, Hidden `(1-s)(1-c)`, Blind `s(1-c)` and Unknown `sc`. They
//! sum to one, and `s = 1 - (Open + Hidden)`, `c = Open + Unknown` can be read back.

use serde::{Deserialize, Serialize};

/// A quadrant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Quadrant {
    Open,
    Hidden,
    Blind,
    Unknown,
}

impl Quadrant {
    /// In the order of the wire.
    pub const ALL: [Self; 4] = [Self::Open, Self::Hidden, Self::Blind, Self::Unknown];

    /// The quadrant of surprise and coherence.
    #[must_use]
    pub fn of(delta_s: f64, delta_c: f64, threshold: f64) -> Self {
        match (delta_s <= threshold, delta_c > threshold) {
            (true, true) => Self::Open,
            (true, false) => Self::Hidden,
            (false, false) => Self::Blind,
            (false, true) => Self::Unknown,
        }
    }

    /// The one seen most often; of several, the first of Open, Blind, Hidden, Unknown.
    #[must_use]
    pub fn most_frequent(counts: &[u64; 4]) -> Self {
        let order = [Self::Open, Self::Blind, Self::Hidden, Self::Unknown];
        let most = counts.iter().max().copied().unwrap_or_default();
        order.into_iter().find(|quadrant| counts[quadrant.index()] == most).unwrap_or(Self::Open)
    }

    /// The one to be advised about: the most frequent, without what a dream could connect where one has just tried.
    #[must_use]
    pub fn advised(counts: &[u64; 4], dreamt: bool) -> Self {
        let most = Self::most_frequent(counts);
        if most != Self::Blind || !dreamt {
            return most;
        }
        let mut rest = *counts;
        rest[Self::Blind.index()] = 0;
        // What is new and a dream did not connect is asked about.
        if rest.iter().all(|count| *count == 0) { Self::Unknown } else { Self::most_frequent(&rest) }
    }

    /// Its place in lists.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::Hidden => "Hidden",
            Self::Blind => "Blind",
            Self::Unknown => "Unknown",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn action(self) -> &'static str {
        match self {
            Self::Open => "DirectRecall",
            Self::Blind => "TriggerDream",
            Self::Hidden => "GetNeighborhood",
            Self::Unknown => "EpistemicAction",
        }
    }

    /// The same in lower case with underscores.
    #[must_use]
    pub const fn action_word(self) -> &'static str {
        match self {
            Self::Open => "direct_recall",
            Self::Blind => "trigger_dream",
            Self::Hidden => "get_neighborhood",
            Self::Unknown => "epistemic_action",
        }
    }

    /// What it means, in words.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Open => "known and understood: it can be recalled directly",
            Self::Blind => "new and without connection: a dream may connect it",
            Self::Hidden => "known but without connection: look at its neighbourhood",
            Self::Unknown => "new and it fits: worth asking more about",
        }
    }

    /// How much it weighs in retrieval.
    #[must_use]
    pub const fn retrieval_weight(self) -> f64 {
        match self {
            Self::Open => 1.0,
            Self::Blind => 0.7,
            Self::Unknown => 0.5,
            Self::Hidden => 0.3,
        }
    }
}

/// How sure the quadrant is: the distances to the middle.
#[must_use]
pub fn confidence(delta_s: f64, delta_c: f64) -> f64 {
    ((delta_s - 0.5).abs() + (delta_c - 0.5).abs()).clamp(0.0, 1.0)
}

/// The soft form: Open, Hidden, Blind, Unknown.
#[must_use]
pub fn soft(delta_s: f64, delta_c: f64) -> [f64; 4] {
    let (s, c) = (delta_s.clamp(0.0, 1.0), delta_c.clamp(0.0, 1.0));
    [(1.0 - s) * c, (1.0 - s) * (1.0 - c), s * (1.0 - c), s * c]
}

/// Surprise and coherence from the soft form.
#[must_use]
pub fn from_soft(weights: [f64; 4]) -> (f64, f64) {
    let [open, hidden, _, unknown] = weights;
    ((1.0 - (open + hidden)).clamp(0.0, 1.0), (open + unknown).clamp(0.0, 1.0))
}

/// What two spaces together tell.
#[must_use]
pub fn across(quadrants: &[Quadrant; 13]) -> Option<&'static str> {
    use Quadrant::{Blind, Hidden, Open, Unknown};
    match quadrants {
        all if all.iter().all(|quadrant| *quadrant == Unknown) => Some("at the frontier in every space"),
        all if all.iter().all(|quadrant| *quadrant == Hidden) => Some("hidden in every space: a candidate for pruning"),
        [Open, _, _, _, Blind, ..] => Some("knows what, not why"),
        [Blind, _, _, _, _, _, Open, ..] => Some("code without context"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quadrants_follow_the_specification() {
        for (s, c, expected) in [
            (0.5, 0.8, Quadrant::Open),
            (0.2, 0.5, Quadrant::Hidden),
            (0.51, 0.5, Quadrant::Blind),
            (0.9, 0.9, Quadrant::Unknown),
            (0.0, 1.0, Quadrant::Open),
        ] {
            assert_eq!(Quadrant::of(s, c, 0.5), expected, "{s} {c}");
        }
        assert_eq!(Quadrant::most_frequent(&[0; 4]), Quadrant::Open);
        assert_eq!(Quadrant::most_frequent(&[0, 2, 2, 2]), Quadrant::Blind);
        assert_eq!(across(&[Quadrant::Hidden; 13]), Some("hidden in every space: a candidate for pruning"));
    }

    proptest! {
        #[test]
        fn the_soft_form_can_be_read_back(s in 0.0..=1.0f64, c in 0.0..=1.0f64) {
            let weights = soft(s, c);
            prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let (s2, c2) = from_soft(weights);
            prop_assert!((s - s2).abs() < 1e-9 && (c - c2).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&confidence(s, c)));
        }
    }
}
