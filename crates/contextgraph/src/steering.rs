//! Steering: three views of the state of the memory, put together as one reward that moves dopamine.
//!
//! The gardener looks at edges (`2 connectivity - 1`), the curator at quality (`2 quality - 1`), the assessor at results
//! (`2 ((accuracy + efficiency) / 2 - 0.5)`). The reward is their mean, in `[-1, 1]`.

use serde::Serialize;

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// The share of memories with at least one edge of weight 0.5 or more.
    pub connectivity: f64,
    /// Memories without an edge that are older than 30 days.
    pub orphans: usize,
    /// Edges weaker than 0.1.
    pub weak_edges: usize,
    /// The mean quality of memories.
    pub quality: f64,
    /// Memories of a quality below 0.3.
    pub low_quality: usize,
    /// The share of results that turned out to be wanted.
    pub accuracy: f64,
    /// How much was learned from what came, of what could be.
    pub efficiency: f64,
    /// The change of accuracy.
    pub trend: f64,
}

/// What steering says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Reward {
    pub value: f64,
    pub gardener_score: f64,
    pub curator_score: f64,
    pub assessor_score: f64,
    pub dominant_factor: &'static str,
    pub limiting_factor: &'static str,
}

/// The quality of a memory: how well it fits, how important it is said to be, and how often it was found.
#[must_use]
pub fn quality(coherence: f64, importance: f64, found: u64) -> f64 {
    (0.5 * coherence + 0.3 * importance + 0.2 * (1.0 - (-(found as f64) / 2.0).exp())).clamp(0.0, 1.0)
}

/// The reward of what is seen.
#[must_use]
pub fn reward(seen: &Seen) -> Reward {
    let bounded = |value: f64| value.clamp(-1.0, 1.0);
    let gardener = bounded(2.0 * seen.connectivity - 1.0);
    let curator = bounded(2.0 * seen.quality - 1.0);
    let assessor = bounded(2.0 * (f64::midpoint(seen.accuracy, seen.efficiency) - 0.5));
    let all = [("gardener", gardener), ("curator", curator), ("assessor", assessor)];
    // Strictly greater or less, so that the first of equals is named.
    let dominant = all.iter().fold(all[0], |best, view| if view.1.abs() > best.1.abs() { *view } else { best });
    let limiting = all.iter().fold(all[0], |least, view| if view.1 < least.1 { *view } else { least });
    Reward {
        value: bounded((gardener + curator + assessor) / 3.0),
        gardener_score: gardener,
        curator_score: curator,
        assessor_score: assessor,
        dominant_factor: dominant.0,
        limiting_factor: limiting.0,
    }
}

/// The word of a share between bands, best first.
#[must_use]
pub fn band(value: f64, bands: [f64; 4]) -> &'static str {
    const WORDS: [&str; 4] = ["excellent", "good", "fair", "poor"];
    bands.iter().zip(WORDS).find(|(least, _)| value >= **least).map_or("critical", |found| found.1)
}

impl Seen {
    /// What the gardener advises.
    #[must_use]
    pub fn gardener_advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        if self.connectivity < 0.5 {
            advice.push("few memories are connected: run a dream, or store memories with more context".to_owned());
        }
        if self.orphans > 10 {
            advice.push(format!("{} old memories have no edge: see get_pruning_candidates", self.orphans));
        }
        if self.weak_edges > 20 {
            advice.push(format!("{} edges are weak: a dream prunes them", self.weak_edges));
        }
        advice
    }

    /// What the curator advises.
    #[must_use]
    pub fn curator_advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        if self.quality < 0.3 {
            advice.push("quality is very low: look at what is stored, and why".to_owned());
        } else if self.quality < 0.5 {
            advice.push("quality is low: give importance and rationale when storing".to_owned());
        }
        if self.low_quality > 50 {
            advice.push(format!("{} memories are of low quality: consolidate and prune", self.low_quality));
        } else if self.low_quality > 10 {
            advice.push(format!("{} memories are of low quality: consolidate", self.low_quality));
        }
        advice
    }

    /// Where results are going.
    #[must_use]
    pub fn trend_word(&self) -> &'static str {
        match self.trend {
            t if t > 0.02 => "improving",
            t if t < -0.02 => "declining",
            _ => "stable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(connectivity: f64, quality: f64, accuracy: f64) -> Seen {
        Seen {
            connectivity,
            orphans: 0,
            weak_edges: 0,
            quality,
            low_quality: 0,
            accuracy,
            efficiency: accuracy,
            trend: 0.0,
        }
    }

    #[test]
    fn the_reward_names_what_counts() {
        let reward = reward(&seen(1.0, 0.5, 0.1));
        assert_eq!((reward.gardener_score, reward.curator_score), (1.0, 0.0));
        assert!((reward.assessor_score + 0.8).abs() < 1e-12);
        assert_eq!((reward.dominant_factor, reward.limiting_factor), ("gardener", "assessor"));
        let even = super::reward(&seen(0.5, 0.5, 0.5));
        assert_eq!((even.dominant_factor, even.limiting_factor), ("gardener", "gardener"));
        assert_eq!(band(0.7, [0.85, 0.7, 0.5, 0.3]), "good");
        assert_eq!(band(0.1, [0.85, 0.7, 0.5, 0.3]), "critical");
    }

    proptest! {
        #[test]
        fn rewards_are_bounded(c in 0.0..=1.0f64, q in 0.0..=1.0f64, a in 0.0..=1.0f64, i in 0.0..=1.0f64, n in 0..50u64) {
            let reward = reward(&seen(c, q, a));
            for value in [reward.value, reward.gardener_score, reward.curator_score, reward.assessor_score] {
                prop_assert!((-1.0..=1.0).contains(&value));
            }
            prop_assert!((0.0..=1.0).contains(&quality(c, i, n)));
        }
    }
}
