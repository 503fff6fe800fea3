//! One fact once: what is said again raises a count, what is said anew ends what it replaces, and results show each fact once, the
//! newest before what it replaced.

use std::collections::HashSet;

use serde_json::json;

use super::recall::MemoryHit;
use super::remember::{NEAR, digest};
use super::{MemoryFilter, NewMemory, Space};
use crate::Id;
use crate::error::Outcome;
use crate::facts::{self, Wording};
use crate::fingerprint::Packed;
use crate::graph::edges::{Edge, EdgeKind};
use crate::graph::{MemorySource, Slot};

/// How sure an edge is that was made because of the words of two texts. What somebody states is 1.
const BY_WORDS: f64 = 0.9;
/// How alike in meaning two texts are at least that may say the same.
const MAY_SAY_THE_SAME: f32 = 0.7;
/// How alike in meaning two texts are at least that share words and may say the same, and the share of words.
const FAR: f32 = 0.3;
const SHARED_WORDS: f32 = 0.15;
/// How alike in meaning two texts are at least that may be about the same.
const MAY_REPLACE: f32 = 0.2;
/// Steps from what was replaced to what holds now.
const MAX_STEPS: usize = 32;

impl Space {
    /// The memory whose text is the same, if there is one.
    pub(super) fn said_before(&mut self, text: &str, near: &[(Slot, f32)]) -> Outcome<Option<Id>> {
        if let Some(known) = self.graph.by_digest(&digest(text)) {
            return Ok(Some(known.id));
        }
        let close: Vec<Id> = near
            .iter()
            .filter(|(_, likeness)| *likeness > 0.95)
            .filter_map(|(slot, _)| self.graph.at(*slot).map(|memory| memory.id))
            .collect();
        let texts = self.texts(&close)?;
        Ok(close.into_iter().find(|id| texts.get(id).is_some_and(|known| facts::is_same_text(known, text))))
    }

    /// The same was said again. The record by which that is taken back.
    pub(super) fn repeat(&mut self, id: Id, new: &NewMemory, now: u64) -> Outcome<Id> {
        self.change(id, |memory| {
            memory.provenance.count += 1;
            memory.provenance.add_source(MemorySource { id: None, at: now, agent: new.agent.clone() });
            memory.importance = memory.importance.max(new.importance as f32);
            let more: Vec<String> = new.tags.iter().filter(|tag| !memory.tags.contains(tag)).cloned().collect();
            memory.tags.extend(more);
            memory.tags.truncate(64);
            memory.updated_at = now;
        })?;
        Ok(self.record("repeated", &json!({"memory": id}), now))
    }

    /// Links a memory with those that it replaces, or that replace it: what began later holds. Those it replaces.
    pub(super) fn link_superseded(&mut self, id: Id, content: &str, packed: &Packed, now: u64) -> Outcome<Vec<Id>> {
        let own = self.graph.slot(id);
        let by_meaning = self.graph.index.by_meaning(&packed.scan_row(), NEAR, |slot| Some(slot) != own);
        let by_words = self.graph.index.by_words(&packed.e6, NEAR, |slot| Some(slot) != own);
        let mut others: Vec<Id> = Vec::new();
        for (slot, _) in by_meaning.into_iter().filter(|(_, likeness)| *likeness > MAY_REPLACE).chain(by_words) {
            if let Some(memory) = self.graph.at(slot).filter(|memory| !others.contains(&memory.id)) {
                others.push(memory.id);
            }
        }
        let since = self.memory(id)?.valid_from();
        let texts = self.texts(&others)?;
        let mut replaced = Vec::new();
        for other in others {
            let Some(text) = texts.get(&other) else { continue };
            let began = self.memory(other)?.valid_from();
            let (newer, older, change) = if began > since {
                (other, id, facts::replaces(text, content))
            } else {
                (id, other, facts::replaces(content, text))
            };
            if change.is_some() && !self.supersedes_already(older, newer) {
                self.link(Edge::new(newer, older, EdgeKind::Supersedes, BY_WORDS, BY_WORDS, now));
                if newer == id {
                    replaced.push(other);
                }
            }
        }
        Ok(replaced)
    }

    /// The memory that holds now in place of one that was replaced.
    fn holds_now(&self, id: Id) -> Option<Id> {
        let mut seen = HashSet::from([id]);
        let mut at = id;
        for _ in 0..MAX_STEPS {
            let Some(newer) = self.graph.slot(at).and_then(|slot| self.graph.superseders(slot).last().map(|m| m.id))
            else {
                break;
            };
            if !seen.insert(newer) {
                break;
            }
            at = newer;
        }
        (at != id).then_some(at)
    }

    /// Results as they are shown: each fact once, and what holds now before what it replaced.
    pub(super) fn settled(
        &mut self,
        hits: Vec<MemoryHit>,
        query: &Packed,
        filter: &MemoryFilter,
        most: usize,
        now: u64,
    ) -> Outcome<Vec<MemoryHit>> {
        let mut hits = if filter.as_of.is_none() { self.newest_first(&hits, query, filter, now)? } else { hits };
        let ids: Vec<Id> = hits.iter().map(|hit| hit.id).collect();
        let mut texts = std::collections::HashMap::new();
        let mut read: std::collections::HashMap<Id, Wording> = std::collections::HashMap::new();
        let mut kept: Vec<(MemoryHit, Slot)> = Vec::with_capacity(most);
        for hit in hits.drain(..) {
            let Some(slot) = self.graph.slot(hit.id) else { continue };
            let close: Vec<usize> =
                (0..kept.len()).filter(|&at| self.graph.index.likeness(kept[at].1, slot) >= MAY_SAY_THE_SAME).collect();
            if !close.is_empty() && texts.is_empty() {
                texts = self.texts(&ids)?;
            }
            for id in close.iter().map(|&at| kept[at].0.id).chain((!close.is_empty()).then_some(hit.id)) {
                if let Some(text) = texts.get(&id) {
                    read.entry(id).or_insert_with(|| Wording::of(text));
                }
            }
            let same = close.into_iter().find(|&at| {
                let (a, b) = (read.get(&kept[at].0.id), read.get(&hit.id));
                a.zip(b).is_some_and(|(a, b)| a.says(b))
            });
            match same {
                Some(at) => kept[at].0.same.push(hit.id),
                None if kept.len() < most => kept.push((hit, slot)),
                None => {}
            }
        }
        Ok(kept.into_iter().map(|(hit, _)| hit).collect())
    }

    fn newest_first(
        &mut self,
        hits: &[MemoryHit],
        query: &Packed,
        filter: &MemoryFilter,
        now: u64,
    ) -> Outcome<Vec<MemoryHit>> {
        let place = |list: &[MemoryHit], id: Id| list.iter().any(|hit| hit.id == id);
        // What holds now and was not among the candidates.
        let mut missing: Vec<Id> = Vec::new();
        for newer in hits.iter().filter_map(|hit| self.holds_now(hit.id)) {
            let meant = self.graph.get(newer).is_some_and(|memory| filter.keeps(&self.graph, memory));
            if meant && !place(hits, newer) && !missing.contains(&newer) {
                missing.push(newer);
            }
        }
        let more = if missing.is_empty() { Vec::new() } else { self.compared_with(&missing, query, now)? };
        let mut out: Vec<MemoryHit> = Vec::with_capacity(hits.len() + more.len());
        for hit in hits {
            if place(&out, hit.id) {
                continue;
            }
            let newer = self.holds_now(hit.id).filter(|newer| !place(&out, *newer));
            out.extend(newer.and_then(|newer| hits.iter().chain(&more).find(|hit| hit.id == newer)).cloned());
            out.push(hit.clone());
        }
        Ok(out)
    }

    /// Whether two memories are worth comparing word by word: they are alike in meaning, or share words.
    pub(super) fn may_say_the_same(&self, a: Slot, b: Slot, least: f32) -> bool {
        let index = &self.graph.index;
        let likeness = index.likeness(a, b);
        let shared = || index.words(a).zip(index.words(b)).is_some_and(|(a, b)| a.jaccard(b) >= SHARED_WORDS);
        likeness >= least - 0.1 || (likeness >= FAR && shared())
    }

    /// Those that deny or replace a memory, or that it denies or replaces.
    pub(super) fn apart_from(&self, id: Id) -> impl Iterator<Item = Id> + use<> {
        self.neighbourhood(id)
            .into_iter()
            .filter(|(_, kind, ..)| matches!(kind, EdgeKind::Contradicts | EdgeKind::Supersedes))
            .map(|(other, ..)| other)
    }

    /// Those of some memories that may be made one with another: they say the same, and nobody says that the one denies or
    /// replaces the other.
    pub(super) fn saying_the_same(&mut self, id: Id, others: &[Id]) -> Outcome<Vec<Id>> {
        if others.is_empty() {
            return Ok(Vec::new());
        }
        let apart: Vec<Id> = self.apart_from(id).collect();
        let all: Vec<Id> = others.iter().copied().chain([id]).collect();
        let texts = self.texts(&all)?;
        let Some(own) = texts.get(&id) else { return Ok(Vec::new()) };
        let own = Wording::of(own);
        let same = |other: &&Id| texts.get(*other).is_some_and(|text| own.says(&Wording::of(text)));
        Ok(others.iter().filter(|other| !apart.contains(other)).filter(same).copied().collect())
    }
}
