//! How many memories a space has, and of what.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Space;
use crate::error::Outcome;

/// Tags and agents that are counted by name.
const MAX_NAMED: usize = 10;

/// How much there is in a space.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct SpaceStats {
    pub space: String,
    pub memories: usize,
    pub forgotten: usize,
    pub superseded: usize,
    pub repeated: usize,
    pub edges: BTreeMap<&'static str, usize>,
    pub kinds: BTreeMap<String, usize>,
    pub tags: BTreeMap<String, usize>,
    pub agents: BTreeMap<String, usize>,
    pub text_bytes: u64,
    pub oldest_at: Option<String>,
    pub newest_at: Option<String>,
    pub store: &'static str,
    pub store_bytes: u64,
}

impl Space {
    /// How much there is in the space. The ten commonest tags and agents are counted by name.
    ///
    /// # Errors
    /// The store failed.
    pub fn stats(&mut self) -> Outcome<SpaceStats> {
        let (store, store_bytes) = self.storage()?;
        let mut stats = SpaceStats {
            space: self.name.clone(),
            memories: self.graph.len(),
            forgotten: 0,
            superseded: 0,
            repeated: 0,
            edges: BTreeMap::new(),
            kinds: BTreeMap::new(),
            tags: BTreeMap::new(),
            agents: BTreeMap::new(),
            text_bytes: 0,
            oldest_at: None,
            newest_at: None,
            store,
            store_bytes,
        };
        stats.forgotten = self
            .graph
            .everything()
            .filter(|memory| memory.removed_at.is_some() && memory.merged_into.is_none())
            .count();
        let (mut oldest, mut newest) = (None, None);
        for (slot, memory) in self.graph.memories() {
            stats.text_bytes += memory.bytes;
            stats.superseded += usize::from(!self.graph.superseders(slot).is_empty());
            stats.repeated += usize::from(memory.provenance.count > 1);
            *stats.kinds.entry(memory.modality.word().to_owned()).or_default() += 1;
            *stats.agents.entry(memory.agent.clone()).or_default() += 1;
            for tag in &memory.tags {
                *stats.tags.entry(tag.clone()).or_default() += 1;
            }
            oldest = Some(oldest.map_or(memory.created_at, |known: u64| known.min(memory.created_at)));
            newest = Some(newest.map_or(memory.created_at, |known: u64| known.max(memory.created_at)));
            for link in self.graph.edges.from(slot).filter(|link| self.graph.at(link.target).is_some()) {
                *stats.edges.entry(link.kind.word()).or_default() += 1;
            }
        }
        stats.oldest_at = oldest.map(crate::tools::when::shown);
        stats.newest_at = newest.map(crate::tools::when::shown);
        commonest(&mut stats.tags);
        commonest(&mut stats.agents);
        Ok(stats)
    }
}

fn commonest(counts: &mut BTreeMap<String, usize>) {
    let mut order: Vec<(usize, String)> = counts.iter().map(|(name, count)| (*count, name.clone())).collect();
    order.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    order.truncate(MAX_NAMED);
    counts.retain(|name, _| order.iter().any(|(_, kept)| kept == name));
}
