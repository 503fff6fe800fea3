//! Entities: the people, projects and places that memories name, as things with their memories.

use std::collections::HashMap;

use super::{MemoryPage, Space};
use crate::Id;
use crate::error::Outcome;
use crate::graph::Memory;
pub use crate::names::EntityKind;
use crate::names::{named, of_tag};

/// Memories of an earlier version whose names are looked up in one call.
const MAX_LOOKED_UP: usize = 1_000;
/// Entities that are counted beside one.
const MAX_BESIDE: usize = 10;

/// An entity.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    /// Its name, as it is written most.
    pub name: String,
    /// What it is: as a tag says, else as it seems by the words around it.
    pub kind: EntityKind,
    /// Whether a tag says so.
    pub stated: bool,
    /// How many memories name it.
    pub memories: usize,
    /// When the first and the last of them were stored.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// Whether a memory names an entity, given in lower case.
pub(super) fn mentions(memory: &Memory, name: &str) -> bool {
    entities_of(memory).any(|(own, _, _)| own.to_lowercase() == name)
}

fn entities_of(memory: &Memory) -> impl Iterator<Item = (&str, EntityKind, bool)> {
    let names = memory.provenance.names.as_deref().unwrap_or_default();
    let tagged = memory.tags.iter().filter_map(|tag| of_tag(tag)).map(|(name, kind)| (name, kind, true));
    tagged.chain(names.iter().map(|(name, kind)| (name.as_str(), *kind, false)))
}

#[derive(Default)]
struct Count {
    spellings: HashMap<String, usize>,
    kinds: HashMap<EntityKind, usize>,
    stated: Option<EntityKind>,
    memories: usize,
    first: u64,
    last: u64,
}

impl Count {
    fn entity(&self) -> Entity {
        let most = |a: &(&String, &usize), b: &(&String, &usize)| a.1.cmp(b.1).then(b.0.cmp(a.0));
        let name = self.spellings.iter().max_by(most).map(|(name, _)| name.clone()).unwrap_or_default();
        let seems = self
            .kinds
            .iter()
            .max_by_key(|(kind, count)| (**kind != EntityKind::Other, **count, std::cmp::Reverse(**kind)));
        let kind = self.stated.or_else(|| seems.map(|(kind, _)| *kind)).unwrap_or(EntityKind::Other);
        let stated = self.stated.is_some();
        Entity { name, kind, stated, memories: self.memories, first: self.first, last: self.last }
    }
}

impl Space {
    /// The entities that memories name, those of most memories first; of one kind, or of memories that name another.
    ///
    /// # Errors
    /// The store failed.
    pub fn entities(
        &mut self,
        kind: Option<EntityKind>,
        beside: Option<&str>,
        limit: usize,
    ) -> Outcome<(usize, Vec<Entity>)> {
        self.look_up_names()?;
        let mut counts: HashMap<String, Count> = HashMap::new();
        for (_, memory) in self.graph.memories() {
            if beside.is_some_and(|name| !mentions(memory, name)) {
                continue;
            }
            let mut here: Vec<String> = Vec::new();
            for (name, kind, stated) in entities_of(memory) {
                let key = name.to_lowercase();
                if beside == Some(key.as_str()) {
                    continue;
                }
                let count = counts.entry(key.clone()).or_insert_with(|| Count { first: u64::MAX, ..Count::default() });
                *count.spellings.entry(name.to_owned()).or_default() += 1;
                *count.kinds.entry(kind).or_default() += 1;
                if stated {
                    count.stated = Some(kind);
                }
                if !here.contains(&key) {
                    count.memories += 1;
                    count.first = count.first.min(memory.created_at);
                    count.last = count.last.max(memory.created_at);
                    here.push(key);
                }
            }
        }
        let mut found: Vec<Entity> = counts.values().map(Count::entity).collect();
        found.retain(|entity| kind.is_none_or(|kind| entity.kind == kind));
        found.sort_by(|a, b| b.memories.cmp(&a.memories).then(b.last.cmp(&a.last)).then(a.name.cmp(&b.name)));
        let total = found.len();
        found.truncate(limit);
        Ok((total, found))
    }

    /// One entity with those it is named together with. `None` if no memory names it.
    ///
    /// # Errors
    /// The store failed.
    pub fn entity(&mut self, name: &str) -> Outcome<Option<(Entity, Vec<Entity>)>> {
        let wanted = name.to_lowercase();
        let (_, all) = self.entities(None, None, usize::MAX)?;
        let Some(entity) = all.into_iter().find(|entity| entity.name.to_lowercase() == wanted) else { return Ok(None) };
        let (_, beside) = self.entities(None, Some(&wanted), MAX_BESIDE)?;
        Ok(Some((entity, beside)))
    }

    /// The page of an entity's memories.
    #[must_use]
    pub fn memories_of(&self, name: &str, mut listing: MemoryPage) -> super::Page {
        listing.filter.entity = Some(name.to_lowercase());
        self.list(&listing)
    }

    /// Memories that an earlier version stored have their names looked up, some at a time; that is written by the way.
    fn look_up_names(&mut self) -> Outcome<()> {
        let missing: Vec<Id> = self
            .graph
            .memories()
            .filter(|(_, memory)| memory.provenance.names.is_none())
            .map(|(_, memory)| memory.id)
            .take(MAX_LOOKED_UP)
            .collect();
        for (id, content) in self.texts(&missing)? {
            let Some(slot) = self.graph.slot(id) else { continue };
            let Some(mut memory) = self.graph.at(slot).cloned() else { continue };
            memory.provenance.names = Some(named(&content));
            self.graph.update(memory);
            self.found.insert(slot);
        }
        Ok(())
    }
}
