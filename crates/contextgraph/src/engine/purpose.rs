//! What memories are for: alignment with the north star, vectors of purpose, and learning from feedback.

use std::sync::Arc;

use serde::Serialize;
use serde_json::json;

use super::Space;
use crate::Id;
use crate::autonomy::goals::Goal;
use crate::embedders::space::COUNT;
use crate::error::{Code, Outcome, Problem};
use crate::fingerprint::Packed;
use crate::mind::Doc;
use crate::teleology::feedback::Learned;
use crate::teleology::pairs;
use crate::teleology::vector::Vector;

/// What a goal counts beside its parts: 0.7 its own alignment, 0.3 those of the goals that serve it.
const OWN: f64 = 0.7;

/// What feedback came to.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct Feedback {
    pub pairs_updated: usize,
    pub learned: Option<Learned>,
    pub waiting: usize,
    pub calibrated: bool,
    pub record: Id,
}

impl Space {
    /// The packed vectors of a goal.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn goal_vectors(&mut self, goal: &Goal) -> Outcome<Arc<Packed>> {
        if let Some(known) = self.cache.get(&goal.id) {
            return Ok(known.clone());
        }
        let packed = Packed::from_bytes(&goal.centre).map(Arc::new).ok_or_else(|| {
            Problem::new(Code::Storage, "STORE_DAMAGED", format!("the vectors of goal {} cannot be read", goal.id))
        })?;
        self.keep(goal.id, packed.clone());
        Ok(packed)
    }

    /// The likeness of vectors to a goal in each space. In the graph it is how well the neighbours of the memory are aligned.
    pub(super) fn near_goal(
        &mut self,
        packed: &Packed,
        goal: &Goal,
        created: u64,
        e8: f32,
        now: u64,
    ) -> Outcome<[f64; COUNT]> {
        let centre = self.goal_vectors(goal)?;
        let times = (created as f64 / 1e3, goal.created_at as f64 / 1e3, now as f64 / 1e3);
        Ok(packed.likenesses(&centre, times, e8, true).map(f64::from))
    }

    /// The alignment of vectors with the north star in each space; `None` without one.
    ///
    /// # Errors
    /// The goal cannot be read.
    pub fn alignments(&mut self, packed: &Packed, created: u64, now: u64) -> Outcome<Option<[f64; COUNT]>> {
        self.alignments_at(packed, created, 0.0, now)
    }

    fn alignments_at(&mut self, packed: &Packed, created: u64, e8: f32, now: u64) -> Outcome<Option<[f64; COUNT]>> {
        let Some(star) = self.mind.autonomy.north_star.clone() else { return Ok(None) };
        let own = self.near_goal(packed, &star, created, e8, now)?;
        let children: Vec<Goal> =
            self.mind.autonomy.goals.iter().filter(|goal| goal.parent == Some(star.id)).cloned().collect();
        if children.is_empty() {
            return Ok(Some(own));
        }
        let mut sums = [0.0; COUNT];
        let mut weights = 0.0;
        for child in &children {
            let near = self.near_goal(packed, child, created, e8, now)?;
            sums.iter_mut().zip(near).for_each(|(sum, value)| *sum += value * child.level.weight());
            weights += child.level.weight();
        }
        Ok(Some(std::array::from_fn(|space| OWN * own[space] + (1.0 - OWN) * sums[space] / weights)))
    }

    /// The alignment of a memory in each space: with the north star, or without one with what was stored last.
    ///
    /// # Errors
    /// There is no such memory, or the store failed.
    pub fn memory_alignments(&mut self, id: Id, now: u64) -> Outcome<[f64; COUNT]> {
        let middle = self.recent_middle()?;
        self.memory_alignments_by(id, middle.as_ref(), now)
    }

    /// As [`Self::memory_alignments`], with the middle of what was stored last already computed.
    ///
    /// # Errors
    /// There is no such memory, or the store failed.
    pub fn memory_alignments_by(&mut self, id: Id, middle: Option<&(Packed, f64)>, now: u64) -> Outcome<[f64; COUNT]> {
        let created = self.memory(id)?.created_at;
        let packed = self.packed(id)?;
        let e8 = self.neighbour_alignment(id);
        if let Some(aligned) = self.alignments_at(&packed, created, e8, now)? {
            return Ok(aligned);
        }
        Ok(near_middle(&packed, created, middle, e8, now))
    }

    /// The middle of what was stored last and its time in seconds, which stands for a goal where there is none; `None` where
    /// there is one, or nothing.
    ///
    /// # Errors
    /// The store failed.
    pub fn recent_middle(&mut self) -> Outcome<Option<(Packed, f64)>> {
        if self.mind.autonomy.north_star.is_some() {
            return Ok(None);
        }
        let ids: Vec<Id> = self.recent.iter().map(|(id, _)| *id).collect();
        let recent = self.packed_many(&ids)?;
        let weighted: Vec<(&Packed, f32)> = recent.iter().map(|(_, packed)| (&**packed, 1.0)).collect();
        let Some(centre) = Packed::mean(&weighted) else { return Ok(None) };
        let times: Vec<f64> = ids.iter().filter_map(|id| Some(self.graph.get(*id)?.created_at as f64 / 1e3)).collect();
        Ok(Some((centre, crate::vector::mean(&times))))
    }

    fn neighbour_alignment(&self, id: Id) -> f32 {
        let Some(slot) = self.graph.slot(id) else { return 0.0 };
        let near: Vec<f64> = self
            .graph
            .neighbours(slot)
            .iter()
            .filter_map(|(other, _)| Some(f64::from(self.graph.at(*other)?.theta)))
            .collect();
        crate::vector::mean(&near) as f32
    }

    /// The alignment of vectors: with the north star, or without one with the middle of what was stored last.
    ///
    /// # Errors
    /// The store failed.
    pub fn content_alignments(&mut self, packed: &Packed, created: u64, e8: f32, now: u64) -> Outcome<[f64; COUNT]> {
        if let Some(aligned) = self.alignments_at(packed, created, e8, now)? {
            return Ok(aligned);
        }
        let middle = self.recent_middle()?;
        Ok(near_middle(packed, created, middle.as_ref(), e8, now))
    }

    /// The vector of purpose of a memory, as it was fused or else from its alignments.
    ///
    /// # Errors
    /// There is no such memory, or the store failed.
    pub fn purpose_vector(&mut self, id: Id, now: u64) -> Outcome<Vector> {
        let alignments = match self.mind.teleology.fused.get(&id) {
            Some((alignments, _)) => *alignments,
            None => self.memory_alignments(id, now)?,
        };
        Ok(Vector::of(alignments, Some(&self.mind.teleology.synergy), None))
    }

    /// Measures every memory by the north star again. How many there are.
    ///
    /// # Errors
    /// The store failed.
    pub fn realign(&mut self, now: u64) -> Outcome<usize> {
        let ids: Vec<Id> = self.graph.memories().map(|(_, memory)| memory.id).collect();
        for chunk in ids.chunks(256) {
            for (id, packed) in self.packed_many(chunk)? {
                let created = self.memory(id)?.created_at;
                let e8 = self.neighbour_alignment(id);
                let purpose = self.alignments_at(&packed, created, e8, now)?.unwrap_or([0.0; COUNT]);
                let theta = purpose.iter().sum::<f64>() / COUNT as f64;
                self.change(id, |memory| {
                    memory.purpose = purpose.map(|value| value as f32);
                    memory.theta = theta as f32;
                })?;
            }
        }
        Ok(ids.len())
    }

    /// Somebody told how right a result was (1, 0 or between).
    ///
    /// # Errors
    /// One of the two is not known.
    pub fn feedback(
        &mut self,
        query: Id,
        result: Id,
        right: f64,
        rate: f64,
        scope: &str,
        now: u64,
    ) -> Outcome<Feedback> {
        let (asked, asked_at) = self.vectors_of(query)?;
        let (found, created) = self.vectors_of(result)?;
        let times = (asked_at as f64 / 1e3, created as f64 / 1e3, now as f64 / 1e3);
        let spaces = asked.likenesses(&found, times, 0.0, false);
        let before = json!({
            "values": self.mind.teleology.synergy.triangle(),
            "updates": self.mind.teleology.synergy.updates,
        });
        let teleology = &mut self.mind.teleology;
        let confidence = teleology.learner.confidence;
        let mut updated = 0;
        for (i, j) in pairs() {
            let applies = match scope {
                "all_pairs" => true,
                "high_synergy_only" => teleology.synergy.get(i, j) >= 0.7,
                _ => spaces[i] > 0.5 && spaces[j] > 0.5,
            };
            if applies {
                let activation = f64::from(spaces[i] * spaces[j]).sqrt();
                teleology.synergy.learn((i, j), right, activation, confidence, rate);
                updated += 1;
            }
        }
        teleology.synergy.updates += 1;
        if teleology.synergy.updates.is_multiple_of(10) {
            teleology.synergy.decay();
        }
        let learned = teleology.learner.add(spaces, right);
        let waiting = teleology.learner.waiting();
        let calibrated = self.mind.calibration.label(query, result, right);
        let reward = right - 0.5;
        let delta = if reward >= 0.0 { 0.2 * reward } else { 0.1 * reward };
        self.mind.levels.adjust(crate::neuromodulation::Modulator::Dopamine, delta, "feedback", now);
        for doc in [Doc::Teleology, Doc::Calibration, Doc::Levels] {
            self.touch(doc);
        }
        let record = self.record("synergy", &before, now);
        self.mind.judged.add(&asked, result, right, record);
        self.touch(Doc::Judged);
        Ok(Feedback { pairs_updated: updated, learned, waiting, calibrated, record })
    }
}

fn near_middle(packed: &Packed, created: u64, middle: Option<&(Packed, f64)>, e8: f32, now: u64) -> [f64; COUNT] {
    let Some((centre, at)) = middle else { return [0.0; COUNT] };
    let times = (created as f64 / 1e3, *at, now as f64 / 1e3);
    packed.likenesses(centre, times, e8, true).map(f64::from)
}
