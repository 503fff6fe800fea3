//! Which memories are linked: by rank, not by a measure that some memories never reach and others always.
//!
//! * **Similar**: a new memory and one of its five nearest, if that one has a free place among its own five or is nearer to the new one
//!   than to its farthest, which then goes. How near is meaning and words together (words alone in languages that the table of
//!   meanings does not know), and it must stand out from what is usual between memories of this space.
//! * **Shared**: two memories that speak of the same thing: a name, an identifier, or a word of a script without capitals, that few
//!   memories hold.
//! * **Causes**: what the one names as its effect is what the other names as its cause.

use std::collections::HashMap;

use super::Space;
use crate::Id;
use crate::causal;
use crate::embedders::causal::Direction;
use crate::embedders::lexical;
use crate::error::Outcome;
use crate::fingerprint::Packed;
use crate::graph::Slot;
use crate::graph::edges::{Edge, EdgeKind};
use crate::text;

/// Similar memories that one is linked with.
const LINKS: usize = 5;
/// Memories that are looked at.
const NEAR: usize = 16;
/// Memories with which a name is shared.
const SHARED: usize = 4;
/// Memories that what is usual is taken from.
const SAMPLE: usize = 64;
/// The least that stands out anywhere.
const LEAST: f64 = 0.2;

/// What is usual between a memory and others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usual {
    mean: f64,
    deviation: f64,
}

impl Usual {
    /// What stands out from it by so many deviations.
    pub(super) fn above(self, deviations: f64) -> f64 {
        (self.mean + deviations * self.deviation).max(LEAST)
    }
}

impl Space {
    /// How near two memories are: by meaning and words, by words alone where meaning is not known.
    pub(super) fn affinity(&self, a: Slot, b: Slot, foreign: bool) -> f64 {
        let words = match (self.graph.index.words(a), self.graph.index.words(b)) {
            (Some(a), Some(b)) => f64::from(a.likeness(b)),
            _ => 0.0,
        };
        if foreign { words } else { 0.6 * f64::from(self.graph.index.likeness(a, b)) + 0.4 * words }
    }

    /// The nearest to a memory by meaning.
    pub(super) fn meant_like(&self, slot: Slot, packed: &Packed) -> Vec<(Slot, f32)> {
        self.graph.index.by_meaning(&packed.scan_row(), NEAR, |other| other != slot)
    }

    /// The nearest to a memory, by words and among those that are nearest by meaning, best first.
    pub(super) fn nearest_to(&self, slot: Slot, packed: &Packed, meant: &[(Slot, f32)]) -> Vec<(Slot, f64)> {
        let foreign = packed.is_foreign();
        let mut near: Vec<Slot> =
            self.graph.index.by_words(&packed.e6, NEAR, |other| other != slot).into_iter().map(|one| one.0).collect();
        if !foreign {
            near.extend(meant.iter().map(|one| one.0));
        }
        near.sort_unstable();
        near.dedup();
        let mut out: Vec<(Slot, f64)> =
            near.into_iter().map(|other| (other, self.affinity(slot, other, foreign))).collect();
        out.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        out
    }

    /// Whether two memories have a word in common.
    pub(super) fn share_a_word(&self, a: Slot, b: Slot) -> bool {
        let words = (self.graph.index.words(a), self.graph.index.words(b));
        matches!(words, (Some(a), Some(b)) if a.likeness(b) > 0.0)
    }

    /// What is usual between a memory and others: some of all, evenly taken.
    pub(super) fn usual_around(&self, slot: Slot, foreign: bool) -> Usual {
        let step = (self.graph.slots_len() / SAMPLE).max(1);
        let values: Vec<f64> = (0..self.graph.slots_len())
            .step_by(step)
            .map(|other| other as Slot)
            .filter(|other| *other != slot && self.graph.at(*other).is_some())
            .map(|other| self.affinity(slot, other, foreign))
            .collect();
        Usual { mean: crate::vector::mean(&values), deviation: crate::vector::deviation(&values) }
    }

    /// Links a new memory; `meant` are the nearest by meaning before it came. How many edges were made.
    ///
    /// # Errors
    /// The store failed.
    pub(super) fn link_new(
        &mut self,
        id: Id,
        content: &str,
        packed: &Packed,
        meant: &[(Slot, f32)],
        now: u64,
    ) -> Outcome<usize> {
        let before = self.batch.edges.len();
        let Some(slot) = self.graph.slot(id) else { return Ok(0) };
        let near = self.nearest_to(slot, packed, meant);
        self.link_similar((slot, id), &near, packed.is_foreign(), now);
        self.link_shared((slot, id), content, now);
        let living = |slot: &Slot| self.graph.at(*slot).map(|memory| memory.id);
        let ids: Vec<Id> = near.iter().take(NEAR).filter_map(|(slot, _)| living(slot)).collect();
        for (other, theirs) in self.packed_many(&ids)? {
            if packed.direction == Direction::Unknown && theirs.direction == Direction::Unknown {
                continue;
            }
            for (source, target, from, to) in [(id, other, packed, &*theirs), (other, id, &*theirs, packed)] {
                let strength = self.causal_strength(source, target, from, to);
                if strength >= causal::CONFIDENT {
                    self.link(Edge::new(source, target, EdgeKind::Causes, strength, strength, now));
                }
            }
        }
        Ok(self.batch.edges.len() - before)
    }

    fn link_similar(&mut self, (slot, id): (Slot, Id), near: &[(Slot, f64)], foreign: bool, now: u64) {
        let usual = self.usual_around(slot, foreign);
        let least = usual.above(1.5);
        let mut made = 0;
        for (other, affinity) in near.iter().filter(|one| one.1 >= least).take(LINKS) {
            let Some(other_id) = self.graph.at(*other).map(|memory| memory.id) else { continue };
            // The weight says how far it stands out, so that it means the same in every language and space.
            let weight = 0.5 + 0.5 * ((affinity - least) / (1.0 - least).max(1e-6)).clamp(0.0, 1.0);
            let own = self.similar_of(*other);
            if own.len() >= LINKS {
                let weakest = own.iter().copied().min_by(|a, b| a.2.total_cmp(&b.2));
                let Some((source, target, held)) = weakest.filter(|weakest| f64::from(weakest.2) < weight) else {
                    continue;
                };
                tracing::trace!(%source, %target, held, "a nearer memory takes the place of a farther one");
                self.unlink(source, target, EdgeKind::Similar);
            }
            self.link(Edge::new(id, other_id, EdgeKind::Similar, weight, *affinity, now));
            made += 1;
        }
        tracing::trace!(made, "similar memories were linked");
    }

    /// The edges of likeness at a slot: source, target, weight.
    fn similar_of(&self, slot: Slot) -> Vec<(Id, Id, f32)> {
        let Some(own) = self.graph.id(slot) else { return Vec::new() };
        let forth = self
            .graph
            .edges
            .from(slot)
            .filter(|link| link.kind == EdgeKind::Similar)
            .filter_map(|link| Some((own, self.graph.at(link.target)?.id, link.weight)));
        let back = self
            .graph
            .edges
            .to(slot)
            .filter(|(_, link)| link.kind == EdgeKind::Similar)
            .filter_map(|(source, link)| Some((self.graph.at(source)?.id, own, link.weight)));
        forth.chain(back).collect()
    }

    fn link_shared(&mut self, (slot, id): (Slot, Id), content: &str, now: u64) {
        // A name that many memories hold tells them apart no longer.
        let few = (self.graph.len() / 50).clamp(4, 12);
        let mut shared: HashMap<Slot, f64> = HashMap::new();
        for entity in text::entities(content) {
            let term = lexical::place(&entity);
            let holders = self.graph.index.holders(term);
            if holders.len() > few {
                continue;
            }
            let telling = Self::telling(&self.graph, term);
            for (other, _) in holders.iter().filter(|(other, _)| *other != slot) {
                *shared.entry(*other).or_default() += telling;
            }
        }
        let mut shared: Vec<(Slot, f64)> =
            shared.into_iter().filter(|(other, _)| self.graph.at(*other).is_some()).collect();
        shared.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        for (other, telling) in shared.into_iter().take(SHARED) {
            if let Some(other) = self.graph.id(other) {
                let weight = 0.4 + 0.5 * telling.min(1.0);
                self.link(Edge::new(id, other, EdgeKind::Shared, weight, telling.min(1.0), now));
            }
        }
    }
}
