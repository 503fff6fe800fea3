//! The graph in memory: what is needed to find and to walk, and no text.
//!
//! A memory has a slot. Vectors of meaning lie one after the other for scanning, words have postings, edges hang at their
//! slots. Texts and the other vectors stay in the store. The graph decides nothing about learning.

pub mod edges;
pub mod index;
mod provenance;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::Id;
use crate::embedders::Modality;
use crate::embedders::lexical::WordStatistics;
use crate::embedders::space::COUNT;
use crate::fingerprint::Packed;
use crate::vector::Sparse;
use edges::{Edge, EdgeKind, Edges};
use index::{Index, Mixing};
pub use provenance::{MemorySource, Provenance};

/// A slot of the graph.
pub type Slot = u32;

/// What is known of a memory without its text and vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Its id.
    pub id: Id,
    /// When it was stored, in milliseconds since 1970.
    pub created_at: u64,
    /// When it last changed.
    pub updated_at: u64,
    /// When it was last found.
    pub last_access: u64,
    /// How often it was found.
    pub access_count: u64,
    /// How important whoever stored it said it is.
    pub importance: f32,
    /// What kind of thing it is about.
    pub modality: Modality,
    /// Words that it was marked with.
    pub tags: Vec<String>,
    /// The SHA-256 of its text, in hexadecimal digits.
    pub hash: String,
    /// The length of its text in bytes.
    pub bytes: u64,
    /// Its alignment with the north star in each space; zeros without one.
    pub purpose: [f32; COUNT],
    /// The mean of that.
    pub theta: f32,
    /// Surprise in each space when it came.
    pub delta_s: [f32; COUNT],
    /// Coherence when it came.
    pub delta_c: f32,
    /// The memory that its cluster is named after.
    pub cluster: Id,
    /// Who stored it.
    pub agent: String,
    /// Where it went, if it was merged into another.
    pub merged_into: Option<Id>,
    /// When it was taken out of the graph; it can be brought back.
    pub removed_at: Option<u64>,
    /// Revisions, repetitions, validity and sources.
    #[serde(default, skip_serializing_if = "Provenance::is_default")]
    pub provenance: Provenance,
}

/// The graph of one space.
#[derive(Debug, Default)]
pub struct Graph {
    memories: Vec<Memory>,
    slots: HashMap<Id, Slot, Mixing>,
    /// Memories by the digest of their text; the newest of those that are equal.
    digests: HashMap<u128, Slot, Mixing>,
    alive: usize,
    /// Where to find.
    pub index: Index,
    /// Where to walk.
    pub edges: Edges,
}

/// The first half of a digest in hexadecimal digits; of anything else a hash.
fn digest(hash: &str) -> u128 {
    let digits = hash.get(..32).and_then(|digits| u128::from_str_radix(digits, 16).ok());
    digits.unwrap_or_else(|| u128::from(crate::text::hash(hash.as_bytes(), 1)))
}

impl Graph {
    /// Makes room for so many more.
    pub(crate) fn expect(&mut self, more: usize) {
        self.memories.reserve(more);
        self.slots.reserve(more);
        self.digests.reserve(more);
        self.index.expect(more);
    }

    /// Adds a memory, or takes over what changed of it.
    pub fn put(&mut self, memory: Memory, row: &[i8; 256], words: Sparse) -> Slot {
        let living = memory.removed_at.is_none();
        let slot = match self.slots.get(&memory.id) {
            Some(&slot) => {
                self.update(memory);
                slot
            }
            None => {
                // A space with 2^32 memories would not fit into the machine.
                let slot = self.memories.len() as Slot;
                self.slots.insert(memory.id, slot);
                if living {
                    self.digests.insert(digest(&memory.hash), slot);
                }
                self.memories.push(memory);
                self.alive += usize::from(living);
                slot
            }
        };
        self.index.put(slot, row, words, living);
        slot
    }

    /// Takes over what changed of a memory that is there.
    pub fn update(&mut self, memory: Memory) {
        let Some(&slot) = self.slots.get(&memory.id) else { return };
        let Some(place) = self.memories.get_mut(slot as usize) else { return };
        let (before, after) = (place.removed_at.is_none(), memory.removed_at.is_none());
        if (place.hash != memory.hash || !after) && self.digests.get(&digest(&place.hash)) == Some(&slot) {
            self.digests.remove(&digest(&place.hash));
        }
        if after {
            self.digests.insert(digest(&memory.hash), slot);
        }
        *place = memory;
        if before != after {
            self.alive = if after { self.alive + 1 } else { self.alive.saturating_sub(1) };
            self.index.set_alive(slot, after);
        }
    }

    /// The slot of a memory that is in the graph.
    #[must_use]
    pub fn slot(&self, id: Id) -> Option<Slot> {
        let slot = *self.slots.get(&id)?;
        self.memories.get(slot as usize).filter(|memory| memory.removed_at.is_none()).map(|_| slot)
    }

    /// A memory that is in the graph.
    #[must_use]
    pub fn get(&self, id: Id) -> Option<&Memory> {
        self.slot(id).and_then(|slot| self.memories.get(slot as usize))
    }

    /// A memory that is or was in the graph.
    #[must_use]
    pub fn get_any(&self, id: Id) -> Option<&Memory> {
        self.memories.get(*self.slots.get(&id)? as usize)
    }

    /// The memory of a slot.
    #[must_use]
    pub fn at(&self, slot: Slot) -> Option<&Memory> {
        self.memories.get(slot as usize).filter(|memory| memory.removed_at.is_none())
    }

    /// The id of a slot, whether its memory is in the graph or was.
    #[must_use]
    pub fn id(&self, slot: Slot) -> Option<Id> {
        self.memories.get(slot as usize).map(|memory| memory.id)
    }

    /// All memories that are in the graph, oldest first.
    pub fn memories(&self) -> impl DoubleEndedIterator<Item = (Slot, &Memory)> {
        self.memories
            .iter()
            .enumerate()
            .filter(|(_, memory)| memory.removed_at.is_none())
            .map(|(slot, memory)| (slot as Slot, memory))
    }

    /// All memories that are or were in the graph. An erased one leaves an empty slot, which is none.
    pub fn everything(&self) -> impl Iterator<Item = &Memory> {
        self.memories.iter().filter(|memory| self.slots.contains_key(&memory.id))
    }

    /// How many slots there are, of memories that are or were in the graph.
    #[must_use]
    pub const fn slots_len(&self) -> usize {
        self.memories.len()
    }

    /// How many are in the graph.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.alive
    }

    /// Whether none is.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// Adds or replaces an edge between memories that are known.
    pub fn link(&mut self, edge: Edge) -> bool {
        let (Some(&source), Some(&target)) = (self.slots.get(&edge.source), self.slots.get(&edge.target)) else {
            return false;
        };
        self.edges.put(source, target, edge);
        true
    }

    /// Takes an edge away.
    pub fn unlink(&mut self, source: Id, target: Id, kind: EdgeKind) -> bool {
        let (Some(&source), Some(&target)) = (self.slots.get(&source), self.slots.get(&target)) else { return false };
        self.edges.remove(source, target, kind)
    }

    /// Neighbours in the graph, in both directions, with the weight of the strongest edge to each.
    #[must_use]
    pub fn neighbours(&self, slot: Slot) -> Vec<(Slot, f32)> {
        let mut out: Vec<(Slot, f32)> = Vec::new();
        for (other, weight) in self.edges.around(slot).filter(|(other, _)| self.at(*other).is_some()) {
            match out.iter_mut().find(|(known, _)| *known == other) {
                Some((_, strongest)) => *strongest = strongest.max(weight),
                None => out.push((other, weight)),
            }
        }
        out
    }

    /// The features of a place in the graph: neighbours with the weight of their edges, and theirs at half.
    #[must_use]
    pub fn place(&self, slot: Slot) -> Vec<f32> {
        let direct = self.neighbours(slot);
        let mut features: Vec<(Id, f32)> = Vec::new();
        // A memory stands at its own place: what it is linked to is near it.
        features.extend(self.id(slot).filter(|_| !direct.is_empty()).map(|id| (id, 1.0)));
        for (near, weight) in direct.iter().take(32) {
            features.extend(self.id(*near).map(|id| (id, *weight)));
            for (far, second) in self.neighbours(*near).into_iter().take(8) {
                if far != slot {
                    features.extend(self.id(far).map(|id| (id, 0.5 * weight * second)));
                }
            }
        }
        crate::embedders::graph::embed(features.into_iter())
    }

    /// The place of something that is not in the graph, as if it were linked to these.
    #[must_use]
    pub fn place_near(&self, near: &[(Slot, f32)]) -> Vec<f32> {
        let features = near.iter().filter_map(|(slot, weight)| Some((self.id(*slot)?, *weight)));
        crate::embedders::graph::embed(features)
    }

    /// Candidates for a query, best first: by words, by meaning, and both ranks put together
    /// (`sum 1 / (60 + rank)`).
    #[must_use]
    pub fn candidates(
        &self,
        query: &Packed,
        most: usize,
        keep: impl Fn(&Memory) -> bool,
    ) -> (Vec<Slot>, Vec<(Slot, f32)>) {
        let wide = (most * 5).max(500);
        let kept = |slot: Slot| self.at(slot).is_some_and(&keep);
        let by_words = self.index.by_words(&query.e6, wide, kept);
        let by_meaning = self.index.by_meaning(&query.scan_row(), wide, kept);
        let mut ranks: HashMap<Slot, f64> = HashMap::new();
        for list in [&by_words, &by_meaning] {
            for (rank, (slot, _)) in list.iter().enumerate() {
                *ranks.entry(*slot).or_default() += 1.0 / (60.0 + rank as f64);
            }
        }
        let mut out: Vec<(Slot, f64)> = ranks.into_iter().collect();
        out.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        out.truncate(most);
        (out.into_iter().map(|(slot, _)| slot).collect(), by_meaning)
    }
}

impl WordStatistics for Graph {
    fn memories(&self) -> usize {
        self.alive
    }

    fn holding(&self, term: u16) -> usize {
        self.index.holding(term)
    }

    fn companions(&self, term: u16, most: usize) -> Vec<(u16, f32)> {
        self.index.companions(term, most)
    }
}
