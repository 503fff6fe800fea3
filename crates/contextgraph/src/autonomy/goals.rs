//! Goals: clusters that are firm enough to stand for something. One of them is the north star, by which everything is measured.
//!
//! Confidence is `0.4 coherence + 0.3 min(size / 50, 1) + 0.3 firm spaces / 3`. A goal of 50 memories and a coherence of 0.85 is of the
//! level of a north star, of 20 and 0.80 strategic, of 10 and 0.75 tactical, any other operational. Its parent is the goal of a
//! higher level that it is most like, if to at least one half.

use serde::{Deserialize, Serialize};

use crate::Id;

/// How high a goal stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub enum GoalLevel {
    Operational,
    Tactical,
    Strategic,
    NorthStar,
}

impl GoalLevel {
    /// The level of a cluster.
    #[must_use]
    pub fn of(size: usize, coherence: f64) -> Self {
        match (size, coherence) {
            (n, c) if n >= 50 && c >= 0.85 => Self::NorthStar,
            (n, c) if n >= 20 && c >= 0.80 => Self::Strategic,
            (n, c) if n >= 10 && c >= 0.75 => Self::Tactical,
            _ => Self::Operational,
        }
    }

    /// What it weighs in alignments.
    #[must_use]
    pub const fn weight(self) -> f64 {
        match self {
            Self::NorthStar => 1.0,
            Self::Strategic => 0.7,
            Self::Tactical => 0.4,
            Self::Operational => 0.2,
        }
    }
}

/// A goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// Its id.
    pub id: Id,
    /// What it is about, in words of its memories.
    pub description: String,
    /// How high it stands.
    pub level: GoalLevel,
    /// How sure it is.
    pub confidence: f64,
    /// How firm its cluster is.
    pub coherence: f64,
    /// How many memories it stands for.
    pub members: usize,
    /// Their ids; empty for a goal of an earlier version.
    #[serde(default)]
    pub member_ids: Vec<Id>,
    /// The spaces in which they agree most.
    pub dominant: Vec<usize>,
    /// The goal that it serves.
    pub parent: Option<Id>,
    /// When it was found.
    pub created_at: u64,
    /// Its packed vectors.
    #[serde(with = "bytes")]
    pub centre: Vec<u8>,
}

/// How sure a goal is.
#[must_use]
pub fn confidence(coherence: f64, size: usize, firm: usize) -> f64 {
    (0.4 * coherence + 0.3 * (size as f64 / 50.0).min(1.0) + 0.3 * (firm as f64 / 3.0).min(1.0)).clamp(0.0, 1.0)
}

/// The spaces in which members agree most: the three firmest, of those above one half.
#[must_use]
pub fn firm_spaces(firmness: &[f32]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..firmness.len()).filter(|&space| firmness[space] > 0.5).collect();
    all.sort_by(|&a, &b| firmness[b].total_cmp(&firmness[a]).then(a.cmp(&b)));
    all.truncate(3);
    all
}

/// Bytes as a word of hexadecimal digits.
mod bytes {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        use std::fmt::Write as _;
        let mut text = String::with_capacity(bytes.len() * 2);
        for byte in bytes {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        serializer.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit =
            |byte: u8| char::from(byte).to_digit(16).ok_or_else(|| serde::de::Error::custom("not a hexadecimal digit"));
        // A digit is below 16.
        text.as_bytes()
            .chunks(2)
            .map(|pair| Ok((digit(pair[0])? * 16 + digit(*pair.get(1).unwrap_or(&b'?'))?) as u8))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_confidence() {
        for (size, coherence, level) in [
            (50, 0.85, GoalLevel::NorthStar),
            (50, 0.84, GoalLevel::Strategic),
            (20, 0.80, GoalLevel::Strategic),
            (19, 0.80, GoalLevel::Tactical),
            (9, 0.99, GoalLevel::Operational),
        ] {
            assert_eq!(GoalLevel::of(size, coherence), level, "{size} {coherence}");
        }
        assert_eq!(confidence(1.0, 100, 5), 1.0);
        assert!((confidence(0.5, 25, 0) - 0.35).abs() < 1e-12);
        assert_eq!(firm_spaces(&[0.9, 0.4, 0.95, 0.6, 0.7]), [2, 0, 4]);
    }

    #[test]
    fn goals_can_be_kept() {
        let goal = Goal {
            id: Id(7),
            description: "disks".to_owned(),
            level: GoalLevel::Tactical,
            confidence: 0.8,
            coherence: 0.9,
            members: 12,
            member_ids: Vec::new(),
            dominant: vec![0],
            parent: None,
            created_at: 5,
            centre: vec![0, 255, 16],
        };
        let kept = serde_json::to_string(&goal).unwrap();
        assert_eq!(serde_json::from_str::<Goal>(&kept).unwrap(), goal);
        assert!(serde_json::from_str::<Goal>(&kept.replace("00ff10", "00f")).is_err());
    }
}
