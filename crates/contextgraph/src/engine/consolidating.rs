//! Finding and merging what says the same. Comparing many with many takes long: it goes on in slices that only read, and calls get in
//! between; merging is one short change. Each text is read once; two are compared word by word if their numbers, dates and negations are the
//! same and they are alike in meaning or share words.

use std::collections::HashMap;

use serde_json::json;

use super::autonomous::grouped;
use super::{Consolidated, Merge, Space};
use crate::Id;
use crate::autonomy::consolidation::{self, ConsolidationStrategy, MergeSide};
use crate::error::{Code, Outcome, Problem};
use crate::facts::Wording;
use crate::graph::Memory;
use crate::mind::Doc;

/// Texts that are read before somebody else may get in between.
const READ_AT_ONCE: usize = 16;
/// Merges of one run.
const MERGES: usize = 50;
/// By how much less alike texts may be that say the same by their words, up to this threshold; from there on it shrinks to nothing.
const USUAL_THRESHOLD: f64 = 0.85;
const SAID_ALIKE: f64 = 0.4;

/// A comparison that is going on. It holds ids: what is removed meanwhile is passed over.
#[derive(Debug)]
pub struct Comparing {
    strategy: ConsolidationStrategy,
    least: f64,
    ids: Vec<Id>,
    /// The texts, read. One that was changed meanwhile is looked at again before it is merged.
    wordings: HashMap<Id, Wording>,
    read: usize,
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

    fn may_say(&self, a: Id, b: Id) -> bool {
        self.wordings.get(&a).zip(self.wordings.get(&b)).is_some_and(|(a, b)| a.may_say(b))
    }

    fn says(&self, a: Id, b: Id) -> bool {
        self.wordings.get(&a).zip(self.wordings.get(&b)).is_some_and(|(a, b)| a.says(b))
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
    pub fn begin_comparing(&self, strategy: ConsolidationStrategy, most: usize, least: f64) -> Comparing {
        let ids: Vec<Id> = self.graph.memories().rev().take(most).map(|(_, memory)| memory.id).collect();
        Comparing { strategy, least, ids, wordings: HashMap::new(), read: 0, at: 0, pairs: Vec::new(), evaluated: 0 }
    }

    /// Compares on until `enough` says so. Whether it is done.
    ///
    /// # Errors
    /// The store failed.
    pub fn compare_on(&mut self, comparing: &mut Comparing, enough: &dyn Fn() -> bool) -> Outcome<bool> {
        let weights = self.search_weights();
        let has_goal = self.mind.autonomy.north_star.is_some();
        let least = comparing.least;
        while comparing.read < comparing.ids.len() {
            if enough() {
                return Ok(false);
            }
            let end = (comparing.read + READ_AT_ONCE).min(comparing.ids.len());
            for (id, text) in self.texts(&comparing.ids[comparing.read..end])? {
                comparing.wordings.insert(id, Wording::of(&text));
            }
            comparing.read = end;
        }
        while let Some(id) = comparing.ids.get(comparing.at).copied() {
            if enough() {
                return Ok(false);
            }
            comparing.at += 1;
            let Some(slot) = self.graph.slot(id) else { continue };
            comparing.evaluated += comparing.ids.len() - comparing.at;
            let apart: Vec<Id> = self.apart_from(id).collect();
            // What is not alike in meaning and shares no words is not alike.
            let close: Vec<Id> = comparing.ids[comparing.at..]
                .iter()
                .filter(|other| comparing.may_say(id, **other))
                .filter(|other| {
                    self.graph.slot(**other).is_some_and(|other| self.may_say_the_same(slot, other, least as f32))
                })
                .filter(|other| !apart.contains(other) && comparing.says(id, **other))
                .copied()
                .collect();
            if close.is_empty() {
                continue;
            }
            let own = self.packed(id)?;
            let side = |memory: &Memory| MergeSide { created_at: memory.created_at, theta: f64::from(memory.theta) };
            let first = side(self.memory(id)?);
            for (other, packed) in self.packed_many(&close)? {
                let similarity = Self::alike(&weights, &own, &packed);
                let theirs = side(self.memory(other)?);
                // All of these say the same; other words for it may make them less alike.
                let lenient = least - SAID_ALIKE * ((1.0 - least) / (1.0 - USUAL_THRESHOLD)).clamp(0.0, 1.0);
                let alike = if similarity >= lenient { similarity.max(least) } else { similarity };
                if consolidation::merges(first, theirs, alike, least, comparing.strategy, has_goal) {
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
        let mut still: Vec<(f64, Id, Id)> = Vec::with_capacity(pairs.len());
        for of_one in pairs.chunk_by(|a, b| a.1 == b.1) {
            // Calls got in between: one may be gone, say something else now, or be related with the other.
            let Some(id) = of_one.first().map(|pair| pair.1).filter(|id| self.graph.get(*id).is_some()) else {
                continue;
            };
            let others: Vec<Id> =
                of_one.iter().map(|pair| pair.2).filter(|other| self.graph.get(*other).is_some()).collect();
            let same = self.saying_the_same(id, &others)?;
            still.extend(of_one.iter().filter(|pair| same.contains(&pair.2)));
        }
        let mut groups = grouped(&still);
        // Two that say the same as a third may be kept apart by an edge of their own.
        groups.retain(|(members, _)| {
            !members.iter().any(|id| self.apart_from(*id).any(|other| members.contains(&other)))
        });
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
