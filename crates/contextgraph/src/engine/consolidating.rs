//! Finding and merging what says the same. Comparing many with many takes long: it goes on in slices that only read, and calls get in
//! between; merging is one short change.

use serde_json::json;

use super::autonomous::grouped;
use super::{Consolidated, Merge, Space};
use crate::Id;
use crate::autonomy::consolidation::{self, Side, Strategy};
use crate::error::{Code, Outcome, Problem};
use crate::graph::Memory;
use crate::mind::Doc;

/// Merges of one run.
const MERGES: usize = 50;

/// A comparison that is going on. It holds ids: what is removed meanwhile is passed over.
#[derive(Debug)]
pub struct Comparing {
    strategy: Strategy,
    least: f64,
    ids: Vec<Id>,
    at: usize,
    pairs: Vec<(f64, Id, Id)>,
    evaluated: usize,
}

impl Comparing {
    /// How far it is, of all.
    #[must_use]
    pub const fn progress(&self) -> (usize, usize) {
        (self.at, self.ids.len())
    }
}

/// What somebody gets who gave up.
#[must_use]
pub fn cancelled() -> Problem {
    Problem::new(Code::Refused, "CANCELLED", "consolidation was cancelled; nothing was changed")
}

impl Space {
    /// Begins to compare the newest memories with each other.
    #[must_use]
    pub fn begin_comparing(&self, strategy: Strategy, most: usize, least: f64) -> Comparing {
        let ids: Vec<Id> = self.graph.memories().rev().take(most).map(|(_, memory)| memory.id).collect();
        Comparing { strategy, least, ids, at: 0, pairs: Vec::new(), evaluated: 0 }
    }

    /// Compares on until `enough` says so. Whether it is done.
    ///
    /// # Errors
    /// The store failed.
    pub fn compare_on(&mut self, comparing: &mut Comparing, enough: &dyn Fn() -> bool) -> Outcome<bool> {
        let weights = self.search_weights();
        let has_goal = self.mind.autonomy.north_star.is_some();
        let least = comparing.least;
        while let Some(id) = comparing.ids.get(comparing.at).copied() {
            if enough() {
                return Ok(false);
            }
            comparing.at += 1;
            let Some(slot) = self.graph.slot(id) else { continue };
            // What is not alike in meaning is not alike.
            let close: Vec<Id> = comparing.ids[comparing.at..]
                .iter()
                .filter(|other| {
                    comparing.evaluated += 1;
                    let other = self.graph.slot(**other);
                    other.is_some_and(|other| self.graph.index.likeness(slot, other) >= least as f32 - 0.1)
                })
                .copied()
                .collect();
            if close.is_empty() {
                continue;
            }
            let own = self.packed(id)?;
            let side = |memory: &Memory| Side { created_at: memory.created_at, theta: f64::from(memory.theta) };
            let first = side(self.memory(id)?);
            for (other, packed) in self.packed_many(&close)? {
                let similarity = Self::alike(&weights, &own, &packed);
                let theirs = side(self.memory(other)?);
                if consolidation::merges(first, theirs, similarity, least, comparing.strategy, has_goal) {
                    comparing.pairs.push((similarity, id, other));
                }
            }
        }
        Ok(true)
    }

    /// Merges what was found to say the same; with `dry` only says what would be. `step` is told how far it is and says whether to stop; then
    /// nothing is merged.
    ///
    /// # Errors
    /// The store failed, or it was stopped.
    pub fn merge_compared(
        &mut self,
        compared: Comparing,
        dry: bool,
        now: u64,
        step: &dyn Fn(usize, usize) -> bool,
    ) -> Outcome<Consolidated> {
        let Comparing { ids, pairs, evaluated, .. } = compared;
        let alive: Vec<(f64, Id, Id)> = pairs
            .into_iter()
            .filter(|(_, a, b)| self.graph.get(*a).is_some() && self.graph.get(*b).is_some())
            .collect();
        let groups = grouped(&alive);
        let limited = groups.len() > MERGES;
        let mut merges = Vec::new();
        for (members, similarity) in groups.into_iter().take(MERGES) {
            if step(ids.len(), ids.len()) {
                return Err(cancelled());
            }
            let merge = if dry {
                Some(self.planned(&members, similarity, now))
            } else {
                self.merge(&members, similarity, now)?
            };
            merges.extend(merge);
        }
        if dry {
            return Ok(Consolidated { merges, pairs_evaluated: evaluated, analyzed: ids.len(), limited, record: None });
        }
        let record = if merges.is_empty() {
            None
        } else {
            self.tell("memory.consolidated", json!({"merges": merges.len()}));
            Some(self.record("consolidation", &json!({"merges": merges}), now))
        };
        self.mind.autonomy.consolidated += merges.len() as u64;
        self.mind.autonomy.last_consolidation = Some(now);
        self.touch(Doc::Autonomy);
        Ok(Consolidated { merges, pairs_evaluated: evaluated, analyzed: ids.len(), limited, record })
    }

    /// What a merge would come to.
    fn planned(&mut self, members: &[Id], similarity: f64, now: u64) -> Merge {
        let alignments: Vec<f64> =
            members.iter().filter_map(|id| self.graph.get(*id)).map(|memory| f64::from(memory.theta)).collect();
        Merge {
            source_ids: members.to_vec(),
            target_id: self.new_id(now),
            similarity,
            combined_alignment: consolidation::merged_alignment(&alignments),
        }
    }
}
