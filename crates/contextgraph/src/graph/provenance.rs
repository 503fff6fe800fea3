//! Where a memory comes from and how long it holds: revisions, repetitions, validity, sources, names. And what erasing one
//! leaves of it in the graph.

use serde::{Deserialize, Serialize};

use super::edges::EdgeKind;
use super::{Graph, Memory, Slot};
use crate::Id;
use crate::names::EntityKind;
use crate::vector::Sparse;

/// Sources that are kept of one memory.
const MAX_SOURCES: usize = 16;

/// A memory or a statement that another stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySource {
    /// The memory, where it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// When it was said.
    pub at: u64,
    /// Who said it.
    pub agent: String,
}

/// Where a memory comes from and how long it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// How often its text or marks were changed, and one.
    pub revision: u64,
    /// Who changed it last, if somebody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    /// How often the same was said.
    pub count: u64,
    /// Since when it holds, if not since it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<u64>,
    /// Until when it held, if somebody said so. What superseded it is an edge and not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<u64>,
    /// What it was merged from, and when it was said again. The oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<MemorySource>,
    /// Names in its text, as they are written, and what they seem to name. `None` for one that an earlier version stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<(String, EntityKind)>>,
}

impl Default for Provenance {
    fn default() -> Self {
        Self {
            revision: 1,
            updated_by: None,
            count: 1,
            valid_from: None,
            valid_to: None,
            sources: Vec::new(),
            names: None,
        }
    }
}

impl Provenance {
    /// Whether there is nothing to keep.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Keeps a source; of more than sixteen the first and the newest stay.
    pub fn add_source(&mut self, source: MemorySource) {
        if self.sources.len() >= MAX_SOURCES {
            self.sources.remove(1);
        }
        self.sources.push(source);
    }
}

impl Memory {
    /// Since when it holds.
    #[must_use]
    pub fn valid_from(&self) -> u64 {
        self.provenance.valid_from.unwrap_or(self.created_at)
    }
}

impl Graph {
    /// The living memory with a text of this digest.
    #[must_use]
    pub fn by_digest(&self, hash: &str) -> Option<&Memory> {
        let found = self.digests.get(&super::digest(hash)).and_then(|slot| self.at(*slot));
        found.filter(|memory| memory.hash == hash)
    }

    /// The living memories that supersede one, the oldest first.
    #[must_use]
    pub fn superseders(&self, slot: Slot) -> Vec<&Memory> {
        let mut found: Vec<&Memory> = self
            .edges
            .to(slot)
            .filter(|(_, link)| link.kind == EdgeKind::Supersedes)
            .filter_map(|(source, _)| self.at(source))
            .collect();
        found.sort_by_key(|memory| (memory.valid_from(), memory.id));
        found
    }

    /// When a memory ceased to hold: when somebody said, or when the first that supersedes it began to.
    #[must_use]
    pub fn valid_to(&self, memory: &Memory) -> Option<u64> {
        let superseded = self.slots.get(&memory.id).and_then(|slot| {
            // What is said to begin earlier still ends the other only after its own beginning.
            self.superseders(*slot).first().map(|newer| newer.valid_from().max(memory.valid_from()))
        });
        match (memory.provenance.valid_to, superseded) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Takes everything of a memory out: what is known of it, its words, its row, its edges. Its slot stays, empty.
    pub fn erase(&mut self, id: Id) -> bool {
        let Some(slot) = self.slots.remove(&id) else { return false };
        self.edges.erase(slot);
        self.index.put(slot, &[0; 256], Sparse::default(), false);
        if let Some(place) = self.memories.get_mut(slot as usize) {
            if place.removed_at.is_none() {
                self.alive = self.alive.saturating_sub(1);
            }
            let digest = super::digest(&place.hash);
            if self.digests.get(&digest) == Some(&slot) {
                self.digests.remove(&digest);
            }
            *place = Memory {
                id: Id::default(),
                created_at: 0,
                updated_at: 0,
                last_access: 0,
                access_count: 0,
                importance: 0.0,
                modality: place.modality,
                tags: Vec::new(),
                hash: String::new(),
                bytes: 0,
                purpose: [0.0; crate::embedders::space::COUNT],
                theta: 0.0,
                delta_s: [0.0; crate::embedders::space::COUNT],
                delta_c: 0.0,
                cluster: Id::default(),
                agent: String::new(),
                merged_into: None,
                removed_at: Some(0),
                provenance: Provenance::default(),
            };
        }
        true
    }
}
