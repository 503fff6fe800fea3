//! Living with memories: reading one, listing, changing with the earlier form kept, forgetting and restoring.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use serde_json::json;

use super::Space;
use super::remember::{MAX_MEMORY_BYTES, check, digest};
use crate::Id;
use crate::embedders::Modality;
use crate::error::{Code, Outcome, Problem};
use crate::fingerprint::Packed;
use crate::graph::edges::EdgeKind;
use crate::graph::{Graph, Memory};
use crate::store::{MemoryRevision, RecordBody};

/// Tags of one memory, and characters of one.
const MAX_TAGS: usize = 64;
const MAX_TAG_CHARS: usize = 128;

/// Which memories are meant. The default means all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemoryFilter {
    /// All of these tags.
    pub tags: Vec<String>,
    /// Stored at this time or later.
    pub after: Option<u64>,
    /// Stored before this time.
    pub before: Option<u64>,
    /// Stored by this agent.
    pub agent: Option<String>,
    /// At least so important.
    pub min_importance: Option<f64>,
    /// About this kind of thing.
    pub modality: Option<Modality>,
    /// Held at some moment of this time, from the first up to the second.
    pub as_of: Option<(u64, u64)>,
    /// Names this entity, in lower case.
    pub entity: Option<String>,
}

impl MemoryFilter {
    /// Whether a memory is meant.
    #[must_use]
    pub fn keeps(&self, graph: &Graph, memory: &Memory) -> bool {
        self.tags.iter().all(|tag| memory.tags.iter().any(|own| own.eq_ignore_ascii_case(tag)))
            && self.after.is_none_or(|after| memory.created_at >= after)
            && self.before.is_none_or(|before| memory.created_at < before)
            && self.agent.as_ref().is_none_or(|agent| memory.agent == *agent)
            && self.min_importance.is_none_or(|least| f64::from(memory.importance) >= least - 1e-6)
            && self.modality.is_none_or(|modality| memory.modality == modality)
            && self.entity.as_ref().is_none_or(|name| super::entities::mentions(memory, name))
            && self.as_of.is_none_or(|(from, until)| {
                memory.valid_from() < until && graph.valid_to(memory).is_none_or(|end| end > from)
            })
    }
}

/// A page of memories to read.
#[derive(Debug, Clone, Default)]
pub struct MemoryPage {
    /// Which.
    pub filter: MemoryFilter,
    /// Those that were forgotten, instead of those that are there.
    pub forgotten: bool,
    /// The oldest first, instead of the newest.
    pub oldest_first: bool,
    /// How many.
    pub limit: usize,
    /// After this one: when it was stored, and its id.
    pub cursor: Option<(u64, Id)>,
}

/// A page.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its memories, in order.
    pub memories: Vec<Memory>,
    /// How many are meant in all.
    pub total: usize,
    /// Where the next page begins, if there is one.
    pub next: Option<(u64, Id)>,
}

/// What is to change in a memory. What is `None` stays.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "as in a memory")]
pub struct Patch {
    pub content: Option<String>,
    pub rationale: Option<String>,
    pub tags: Option<Vec<String>>,
    pub importance: Option<f64>,
    pub modality: Option<Modality>,
    pub valid_from: Option<u64>,
    pub valid_to: Option<u64>,
    /// The revision that it changes; another means that somebody else was quicker.
    pub expected: Option<u64>,
}

impl Patch {
    const fn is_empty(&self) -> bool {
        self.content.is_none()
            && self.rationale.is_none()
            && self.tags.is_none()
            && self.importance.is_none()
            && self.modality.is_none()
            && self.valid_from.is_none()
            && self.valid_to.is_none()
    }
}

/// Checks the marks of a memory before anything is done with them.
///
/// # Errors
/// They are too many or too long.
pub(super) fn check_marks(tags: &[String], rationale: Option<&str>) -> Outcome<()> {
    let too_large = |message: String| Err(Problem::new(Code::InvalidParams, "PAYLOAD_TOO_LARGE", message));
    if tags.len() > MAX_TAGS {
        return too_large(format!("`tags` has {} tags, at most {MAX_TAGS} are kept", tags.len()));
    }
    if let Some(tag) = tags.iter().find(|tag| tag.chars().count() > MAX_TAG_CHARS) {
        let count = tag.chars().count();
        return too_large(format!(
            "a tag has {count} characters, at most {MAX_TAG_CHARS} are kept: put it into the text"
        ));
    }
    match rationale {
        Some(text) if text.len() > MAX_MEMORY_BYTES => {
            too_large(format!("`rationale` has {} bytes, at most {MAX_MEMORY_BYTES} are stored", text.len()))
        }
        _ => Ok(()),
    }
}

impl Space {
    /// A memory and its text, also one that was forgotten.
    ///
    /// # Errors
    /// There is none, it was merged into another, or the store failed.
    pub fn whole(&mut self, id: Id) -> Outcome<(Memory, RecordBody)> {
        let memory = match self.graph.get_any(id) {
            Some(memory) if memory.merged_into.is_none() => memory.clone(),
            _ => self.memory(id)?.clone(),
        };
        let body = self.storage.bodies(&[id])?.pop().ok_or_else(|| Problem::no_memory(id))?;
        Ok((memory, body))
    }

    /// What a memory was before, the newest first.
    ///
    /// # Errors
    /// The store failed.
    pub fn history(&mut self, id: Id) -> Outcome<Vec<MemoryRevision>> {
        self.storage.history(id)
    }

    /// A page of memories. Looks at each once, and holds no more than the page.
    #[must_use]
    pub fn list(&self, listing: &MemoryPage) -> Page {
        let (mut total, mut best) = (0, BinaryHeap::with_capacity(listing.limit + 2));
        let key = |memory: &Memory| (memory.created_at, memory.id);
        // The page is what is smallest by this order; what is largest of it falls out.
        let order =
            |key: (u64, Id)| if listing.oldest_first { (key, Reverse((0, Id(0)))) } else { ((0, Id(0)), Reverse(key)) };
        let after = listing.cursor.map(order);
        for memory in self.graph.everything() {
            let there = memory.removed_at.is_none();
            if there == listing.forgotten || memory.merged_into.is_some() || !listing.filter.keeps(&self.graph, memory)
            {
                continue;
            }
            total += 1;
            let at = order(key(memory));
            if after.is_some_and(|after| at <= after) {
                continue;
            }
            best.push((at, memory.id));
            if best.len() > listing.limit + 1 {
                best.pop();
            }
        }
        let more = best.len() > listing.limit;
        let mut ids: Vec<Id> = best.into_sorted_vec().into_iter().map(|(_, id)| id).collect();
        ids.truncate(listing.limit);
        let memories: Vec<Memory> = ids.iter().filter_map(|id| self.graph.get_any(*id).cloned()).collect();
        let next = memories.last().filter(|_| more).map(key);
        Page { memories, total, next }
    }

    /// Changes a memory. The earlier form is kept. What it is now, and the record for taking that back.
    ///
    /// # Errors
    /// There is none, somebody else was quicker, nothing would change, or the new text cannot be stored.
    pub fn update(&mut self, id: Id, patch: Patch, agent: &str, now: u64) -> Outcome<(Memory, Id)> {
        let mut memory = self.memory(id)?.clone();
        if patch.is_empty() {
            return Err(Problem::params(
                "nothing to change: give `content`, `tags`, `importance` or another of its parts",
            ));
        }
        let found = memory.provenance.revision;
        if let Some(expected) = patch.expected.filter(|expected| *expected != found) {
            let message = format!(
                "memory {id} is at version {found}, not {expected}: somebody changed it meanwhile; get_memory shows what it is now"
            );
            return Err(Problem::new(Code::Storage, "VERSION_CONFLICT", message));
        }
        check_marks(patch.tags.as_deref().unwrap_or_default(), patch.rationale.as_deref())?;
        let body = self.storage.bodies(&[id])?.pop().ok_or_else(|| Problem::no_memory(id))?;
        if let Some(tags) = patch.tags {
            memory.tags = tags;
        }
        memory.importance = patch.importance.map_or(memory.importance, |value| value as f32);
        memory.modality = patch.modality.unwrap_or(memory.modality);
        memory.provenance.valid_from = patch.valid_from.or(memory.provenance.valid_from);
        memory.provenance.valid_to = patch.valid_to.or(memory.provenance.valid_to);
        if memory.provenance.valid_to.is_some_and(|end| end < memory.valid_from()) {
            return Err(Problem::params("`validTo` is before `validFrom`"));
        }
        memory.provenance.updated_by = Some(agent.to_owned());
        let content = patch.content.unwrap_or_else(|| body.content.clone());
        let rationale = patch.rationale.or_else(|| body.rationale.clone());
        let memory = self.replace(memory, body, &content, rationale, now)?;
        let record = self.record("updated", &json!({"memory": id, "revision": found}), now);
        self.tell("memory.updated", json!({"memory_id": id, "revision": memory.provenance.revision}));
        Ok((memory, record))
    }

    /// Writes a new form of a memory and keeps the one before. The text is embedded anew if it is another.
    fn replace(
        &mut self,
        mut memory: Memory,
        before: RecordBody,
        content: &str,
        rationale: Option<String>,
        now: u64,
    ) -> Outcome<Memory> {
        check(content)?;
        let id = memory.id;
        let old = self.memory(id)?.clone();
        let anew = content != before.content || memory.modality != old.modality;
        memory.updated_at = now;
        memory.provenance.revision = old.provenance.revision + 1;
        let packed = if anew {
            let vectors = self.embedders.content(content, memory.modality, &self.graph)?;
            Arc::new(Packed::of(&vectors))
        } else {
            self.packed(id)?
        };
        self.batch.revisions.push(MemoryRevision {
            at: now,
            memory: old,
            content: before.content,
            rationale: before.rationale,
        });
        self.batch.bodies.push(RecordBody {
            id,
            content: content.to_owned(),
            rationale,
            fingerprint: packed.to_bytes(),
        });
        if !anew {
            self.graph.update(memory.clone());
            self.batch.memories.push((memory.clone(), None));
            return Ok(memory);
        }
        memory.hash = digest(content);
        memory.bytes = content.len() as u64;
        memory.provenance.names = Some(crate::names::named(content));
        memory.provenance.count = 1;
        let row = packed.scan_row();
        self.graph.put(memory.clone(), &row, packed.e6.clone());
        self.batch.memories.push((memory.clone(), Some((row.to_vec(), packed.e6.clone()))));
        self.cache.remove(&id);
        self.keep(id, packed.clone());
        self.mind.teleology.fused.remove(&id);
        self.touch(crate::mind::Doc::Teleology);
        self.relink(id, content, &packed, now)?;
        self.recent.retain(|(recent, _)| *recent != id);
        self.push_recent(id, &packed, content, now);
        Ok(memory)
    }

    /// Edges that the old text had go, those of the new one come. What somebody stated stays.
    fn relink(&mut self, id: Id, content: &str, packed: &Packed, now: u64) -> Outcome<()> {
        let by_text = |kind: EdgeKind, confidence: f32| {
            matches!(
                kind,
                EdgeKind::Similar | EdgeKind::Shared | EdgeKind::Causes | EdgeKind::Contradicts | EdgeKind::Supersedes
            ) && confidence < 1.0
        };
        for (other, kind, _, confidence, forth) in self.neighbourhood(id) {
            if by_text(kind, confidence) {
                let (source, target) = if forth { (id, other) } else { (other, id) };
                self.unlink(source, target, kind);
            }
        }
        self.link_by_text(id, content, packed, now)
    }

    /// Takes memories out of the graph. They can be restored. The record for that.
    ///
    /// # Errors
    /// One is not there; then none is taken out.
    pub fn forget(&mut self, ids: &[Id], now: u64) -> Outcome<Id> {
        for id in ids {
            self.memory(*id)?;
        }
        for id in ids {
            if self.graph.get(*id).is_some() {
                self.remove(*id, None, now)?;
            }
        }
        Ok(self.record("forgotten", &json!({"memories": ids}), now))
    }

    /// Restores memories that were forgotten. How many were.
    ///
    /// # Errors
    /// There is none, or it was merged into another; then none is restored.
    pub fn restore(&mut self, ids: &[Id], now: u64) -> Outcome<usize> {
        for id in ids {
            match self.graph.get_any(*id) {
                Some(memory) if memory.merged_into.is_none() => {}
                _ => {
                    self.memory(*id)?;
                }
            }
        }
        let mut restored = 0;
        for id in ids {
            if self.graph.get(*id).is_none() {
                self.bring_back(*id, now)?;
                restored += 1;
            }
        }
        Ok(restored)
    }

    /// Makes a memory again what it was at a revision.
    pub(super) fn revert(&mut self, id: Id, revision: u64, now: u64) -> Outcome<()> {
        let current = self.memory(id)?.clone();
        let earlier = self
            .storage
            .history(id)?
            .into_iter()
            .find(|earlier| earlier.memory.provenance.revision == revision)
            .ok_or_else(|| Problem::new(Code::Refused, "NOTHING_TO_UNDO", "that version is not kept any more"))?;
        let body = self.storage.bodies(&[id])?.pop().ok_or_else(|| Problem::no_memory(id))?;
        let memory = Memory {
            tags: earlier.memory.tags,
            importance: earlier.memory.importance,
            modality: earlier.memory.modality,
            provenance: earlier.memory.provenance,
            ..current
        };
        self.replace(memory, body, &earlier.content, earlier.rationale, now)?;
        self.tell("memory.updated", json!({"memory_id": id}));
        Ok(())
    }
}
