//! The global workspace: one memory at a time has everybody's attention.
//!
//! A candidate is admitted while the oscillators go together (`r >= 0.8`), or by force. Its score is
//! `r * importance * alignment`; the highest wins and is broadcast for 100 ms. Two or more candidates above 0.8 are a
//! conflict: the losers cost dopamine, `0.1 (1 - score)` each. A winner whose `r` falls below 0.7 leaves and waits for a
//! dream to replay it; one that was put there by force while `r` was lower stays until `r` has been above once.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::Id;

/// How long a winner is broadcast.
pub const BROADCAST_MS: u64 = 100;
/// How far the oscillators must go together.
pub const ADMITTED: f64 = 0.8;
/// Below this a winner leaves.
pub const LEAVES: f64 = 0.7;
const HISTORY: usize = 100;
const EMPTY_MS: u64 = 5_000;

/// One candidate for attention.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct BroadcastCandidate {
    pub memory: Id,
    pub r: f64,
    pub importance: f64,
    pub alignment: f64,
    pub at: u64,
}

impl BroadcastCandidate {
    /// `r * importance * alignment`.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.r * self.importance * self.alignment
    }
}

/// The workspace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Workspace {
    active: Option<BroadcastCandidate>,
    /// Those that were up for attention in the last broadcast window.
    candidates: Vec<BroadcastCandidate>,
    history: VecDeque<BroadcastCandidate>,
    /// Memories that left and wait for a dream.
    replay: VecDeque<Id>,
    emptied: u64,
    /// Whether the winner was put there by force while the oscillators did not go together: it stays until they have once.
    #[serde(default)]
    held: bool,
}

/// What a bid for attention came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Whether it was admitted.
    pub admitted: bool,
    /// Whether it won.
    pub won: bool,
    /// What happens to dopamine.
    pub dopamine: f64,
    /// The losers of a conflict.
    pub losers: Vec<Id>,
}

impl Workspace {
    /// A bid for attention.
    pub fn bid(&mut self, candidate: BroadcastCandidate, force: bool) -> Selection {
        self.refresh(candidate.r, candidate.at);
        if candidate.r < ADMITTED && !force {
            return Selection { admitted: false, won: false, dopamine: 0.0, losers: Vec::new() };
        }
        self.candidates
            .retain(|other| other.memory != candidate.memory && candidate.at.saturating_sub(other.at) <= BROADCAST_MS);
        self.candidates.push(candidate);
        let best = |all: &[BroadcastCandidate]| all.iter().copied().max_by(|a, b| a.score().total_cmp(&b.score()));
        let winner = if force { Some(candidate) } else { best(&self.candidates) };
        let won = winner.is_some_and(|winner| winner.memory == candidate.memory);
        let mut dopamine = 0.0;
        let mut losers = Vec::new();
        if self.conflict().len() > 1 {
            for loser in self.candidates.iter().filter(|other| Some(other.memory) != winner.map(|winner| winner.memory))
            {
                dopamine -= 0.1 * (1.0 - loser.score());
                losers.push(loser.memory);
            }
        }
        if won {
            dopamine += 0.2;
            self.active = Some(candidate);
            self.held = force && candidate.r < LEAVES;
            self.history.push_back(candidate);
            if self.history.len() > HISTORY {
                self.history.pop_front();
            }
        }
        Selection { admitted: true, won, dopamine, losers }
    }

    /// Takes in the order parameter: a winner that does not hold leaves. Whether one left.
    pub fn refresh(&mut self, r: f64, now: u64) -> Option<Id> {
        self.held &= r < LEAVES;
        let leaves = self.active.filter(|_| r < LEAVES && !self.held)?;
        self.active = None;
        self.emptied = now;
        self.replay.push_back(leaves.memory);
        if self.replay.len() > HISTORY {
            self.replay.pop_front();
        }
        Some(leaves.memory)
    }

    /// The memory that has attention.
    #[must_use]
    pub fn active(&self) -> Option<Id> {
        self.active.map(|candidate| candidate.memory)
    }

    /// Whether it is being broadcast at this moment.
    #[must_use]
    pub fn is_broadcasting(&self, now: u64) -> bool {
        self.active.is_some_and(|candidate| now.saturating_sub(candidate.at) < BROADCAST_MS)
    }

    /// The candidates that are in conflict.
    #[must_use]
    pub fn conflict(&self) -> Vec<Id> {
        let strong: Vec<Id> = self
            .candidates
            .iter()
            .filter(|candidate| candidate.r > ADMITTED)
            .map(|candidate| candidate.memory)
            .collect();
        if strong.len() > 1 { strong } else { Vec::new() }
    }

    /// Whether it has been empty for so long that something should be found out.
    #[must_use]
    pub fn is_idle(&self, now: u64) -> bool {
        self.active.is_none() && now.saturating_sub(self.emptied) > EMPTY_MS
    }

    /// The memories that wait for a dream, which are taken.
    pub fn take_replay(&mut self) -> Vec<Id> {
        self.replay.drain(..).collect()
    }

    /// A memory is gone.
    pub fn forget(&mut self, memory: Id) {
        self.active = self.active.filter(|candidate| candidate.memory != memory);
        self.candidates.retain(|candidate| candidate.memory != memory);
        self.replay.retain(|waiting| *waiting != memory);
    }

    /// How many won so far, of those remembered.
    #[must_use]
    pub fn history_len(&self) -> usize {
        self.history.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(memory: u128, r: f64, importance: f64, at: u64) -> BroadcastCandidate {
        BroadcastCandidate { memory: Id(memory), r, importance, alignment: 1.0, at }
    }

    #[test]
    fn the_strongest_wins_and_losers_cost() {
        let mut workspace = Workspace::default();
        assert!(!workspace.bid(candidate(1, 0.79, 0.9, 0), false).admitted);
        assert!(workspace.bid(candidate(1, 0.9, 0.5, 10), false).won);
        assert!(workspace.is_broadcasting(50) && !workspace.is_broadcasting(110));
        let stronger = workspace.bid(candidate(2, 0.9, 0.9, 20), false);
        assert!(stronger.won && stronger.losers == [Id(1)]);
        assert!((stronger.dopamine - (0.2 - 0.1 * (1.0 - 0.45))).abs() < 1e-12);
        assert_eq!(workspace.conflict().len(), 2);
        assert!(!workspace.bid(candidate(3, 0.9, 0.1, 30), false).won);
        assert_eq!(workspace.active(), Some(Id(2)));
        assert!(workspace.bid(candidate(4, 0.1, 0.1, 500), true).won, "by force");
        assert_eq!(workspace.conflict(), []);
    }

    #[test]
    fn who_does_not_hold_leaves_for_a_dream() {
        let mut workspace = Workspace::default();
        workspace.bid(candidate(1, 0.9, 0.9, 0), false);
        assert_eq!(workspace.refresh(0.7, 10), None);
        assert_eq!(workspace.refresh(0.69, 20), Some(Id(1)));
        assert_eq!(workspace.active(), None);
        assert!(workspace.is_idle(5_021) && !workspace.is_idle(5_020));
        assert_eq!(workspace.take_replay(), [Id(1)]);
        assert_eq!(workspace.take_replay(), []);
    }

    #[test]
    fn who_was_put_there_by_force_stays_until_it_had_its_time() {
        let mut workspace = Workspace::default();
        assert!(workspace.bid(candidate(1, 0.3, 0.9, 0), true).won);
        assert_eq!((workspace.refresh(0.3, 500), workspace.active()), (None, Some(Id(1))));
        assert_eq!(workspace.refresh(0.9, 600), None);
        assert_eq!(workspace.refresh(0.3, 700), Some(Id(1)), "from then on as any other");
    }
}
