//! Edges: how memories hang together.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Slot;
use crate::Id;

/// Why two memories are linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// They are alike.
    Similar,
    /// The one leads to the other.
    Causes,
    /// The one denies the other.
    Contradicts,
    /// They were active together.
    Associated,
    /// A dream found them.
    Discovered,
    /// A path that was walked often.
    Shortcut,
    /// They speak of the same thing.
    Shared,
    /// The one is said in place of the other, which held before.
    Supersedes,
    /// They have to do with each other, somebody said.
    Related,
    /// The one is a part of the other.
    PartOf,
    /// The one needs the other.
    DependsOn,
    /// The one is evidence for the other.
    Supports,
}

impl EdgeKind {
    /// All kinds.
    pub const ALL: [Self; 12] = [
        Self::Similar,
        Self::Causes,
        Self::Contradicts,
        Self::Associated,
        Self::Discovered,
        Self::Shortcut,
        Self::Shared,
        Self::Supersedes,
        Self::Related,
        Self::PartOf,
        Self::DependsOn,
        Self::Supports,
    ];
    /// The words of those that may be stated.
    pub const STATED: &'static [&'static str] =
        &["related", "part_of", "depends_on", "supports", "causes", "contradicts", "supersedes"];

    /// The word in the store.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Similar => "similar",
            Self::Causes => "causes",
            Self::Contradicts => "contradicts",
            Self::Associated => "associated",
            Self::Discovered => "discovered",
            Self::Shortcut => "shortcut",
            Self::Shared => "shared",
            Self::Supersedes => "supersedes",
            Self::Related => "related",
            Self::PartOf => "part_of",
            Self::DependsOn => "depends_on",
            Self::Supports => "supports",
        }
    }

    /// The kind of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether edges of this kind are only made by what somebody said: dreams neither weaken nor drop them.
    #[must_use]
    pub const fn is_stated(self) -> bool {
        matches!(self, Self::Supersedes | Self::Related | Self::PartOf | Self::DependsOn | Self::Supports)
    }
}

/// An edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// Where it begins.
    pub source: Id,
    /// Where it ends.
    pub target: Id,
    /// Why it is there.
    pub kind: EdgeKind,
    /// How strong it is, in `[0, 1]`.
    pub weight: f32,
    /// How sure it is, in `[0, 1]`.
    pub confidence: f32,
    /// When it was made.
    pub created_at: u64,
    /// When it last changed.
    pub updated_at: u64,
    /// The path that a shortcut stands for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Id>,
}

/// The end of an edge, as it hangs at its slot.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "as in Edge")]
pub struct Link {
    pub target: Slot,
    pub kind: EdgeKind,
    pub weight: f32,
    pub confidence: f32,
    pub created_at: u64,
}

/// All edges of a space.
#[derive(Debug, Default)]
pub struct Edges {
    /// By slot, as is where they come from.
    out: Vec<Vec<Link>>,
    incoming: Vec<Vec<Slot>>,
    paths: HashMap<(Slot, Slot), Vec<Id>>,
    count: usize,
}

impl Edges {
    pub(super) fn put(&mut self, source: Slot, target: Slot, edge: Edge) {
        let Edge { kind, weight, confidence, created_at, path, .. } = edge;
        let link = Link { target, kind, weight, confidence, created_at };
        let slots = source.max(target) as usize + 1;
        if self.out.len() < slots {
            self.out.resize_with(slots, Vec::new);
            self.incoming.resize_with(slots, Vec::new);
        }
        let links = &mut self.out[source as usize];
        match links.iter_mut().find(|known| known.target == target && known.kind == kind) {
            Some(known) => *known = link,
            None => {
                links.push(link);
                self.incoming[target as usize].push(source);
                self.count += 1;
            }
        }
        if !path.is_empty() {
            self.paths.insert((source, target), path);
        }
    }

    pub(super) fn remove(&mut self, source: Slot, target: Slot, kind: EdgeKind) -> bool {
        let Some(links) = self.out.get_mut(source as usize) else { return false };
        let before = links.len();
        links.retain(|link| !(link.target == target && link.kind == kind));
        let removed = links.len() < before;
        if removed {
            self.count -= 1;
            if let Some(sources) = self.incoming.get_mut(target as usize)
                && let Some(at) = sources.iter().position(|other| *other == source)
            {
                sources.swap_remove(at);
            }
        }
        removed
    }

    /// Takes all edges of a slot away.
    pub(super) fn erase(&mut self, slot: Slot) {
        let forth: Vec<(Slot, Slot, EdgeKind)> = self.from(slot).map(|link| (slot, link.target, link.kind)).collect();
        let back: Vec<(Slot, Slot, EdgeKind)> = self.to(slot).map(|(source, link)| (source, slot, link.kind)).collect();
        for (source, target, kind) in forth.into_iter().chain(back) {
            self.remove(source, target, kind);
        }
        self.paths.retain(|(source, target), _| *source != slot && *target != slot);
    }

    /// The edges that begin at a slot.
    pub fn from(&self, slot: Slot) -> impl Iterator<Item = &Link> {
        self.out.get(slot as usize).map(Vec::as_slice).unwrap_or_default().iter()
    }

    /// The edges that end at a slot, with where they begin.
    pub fn to(&self, slot: Slot) -> impl Iterator<Item = (Slot, &Link)> {
        let mut sources: Vec<Slot> = self.incoming.get(slot as usize).cloned().unwrap_or_default();
        sources.sort_unstable();
        sources.dedup();
        sources.into_iter().flat_map(move |source| {
            self.from(source).filter(move |link| link.target == slot).map(move |link| (source, link))
        })
    }

    /// Both ends of all edges at a slot, with their weight. What contradicts is no connection.
    pub fn around(&self, slot: Slot) -> impl Iterator<Item = (Slot, f32)> {
        let forth =
            self.from(slot).filter(|link| link.kind != EdgeKind::Contradicts).map(|link| (link.target, link.weight));
        let back = self
            .to(slot)
            .filter(|(_, link)| link.kind != EdgeKind::Contradicts)
            .map(|(source, link)| (source, link.weight));
        forth.chain(back)
    }

    /// The strongest edge between two slots, in either direction.
    #[must_use]
    pub fn between(&self, a: Slot, b: Slot) -> Option<(f32, f32)> {
        let forth = self.from(a).filter(|link| link.target == b);
        let back = self.from(b).filter(|link| link.target == a);
        forth
            .chain(back)
            .filter(|link| link.kind != EdgeKind::Contradicts)
            .map(|link| (link.weight, link.confidence))
            .max_by(|x, y| x.0.total_cmp(&y.0))
    }

    /// The path that a shortcut stands for.
    #[must_use]
    pub fn path(&self, source: Slot, target: Slot) -> Option<&[Id]> {
        self.paths.get(&(source, target)).map(Vec::as_slice)
    }

    /// How many edges a slot has.
    #[must_use]
    pub fn degree(&self, slot: Slot) -> usize {
        self.out.get(slot as usize).map_or(0, Vec::len) + self.incoming.get(slot as usize).map_or(0, Vec::len)
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Slots that edges begin at, in order.
    #[must_use]
    pub fn sources(&self) -> Vec<Slot> {
        (0..).zip(&self.out).filter(|(_, links)| !links.is_empty()).map(|(slot, _)| slot).collect()
    }
}
