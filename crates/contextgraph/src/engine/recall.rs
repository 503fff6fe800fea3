//! Finding memories, and walking from one to the next.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde_json::{Value, json};

use super::ranking::{Compare, sort};
use super::{MemoryFilter, QUERIES, Space};
use crate::Id;
use crate::embedders::Modality;
use crate::embedders::space::COUNT;
use crate::error::Outcome;
use crate::fingerprint::Packed;
use crate::graph::Slot;
use crate::graph::edges::EdgeKind;
use crate::mind::Doc;
use crate::store::{QUERY, Record};
use crate::thresholds::Prediction;
use crate::vector::likeness;

/// Candidates that are compared in all spaces.
const CANDIDATES: usize = 100;
/// Results that are taken as predictions.
const PREDICTED: usize = 10;
/// Results that are looked through for what says the same, unless more are asked for.
const SETTLED: usize = 100;
/// Characters of a query that are kept, for judging its results after a restart.
const MAX_QUERY_CHARS: usize = 2_000;
/// Memories of a query that place it in the graph.
const ANCHORS: usize = 5;

/// What to look for.
#[derive(Debug, Clone)]
pub struct MemorySearch<'a> {
    /// The query.
    pub query: &'a str,
    /// Results, at most.
    pub most: usize,
    /// The least similarity.
    pub least: f64,
    /// Which memories are meant.
    pub filter: MemoryFilter,
    /// Whether edges are followed from what was found.
    pub walk: bool,
}

/// A memory that was found.
#[derive(Debug, Clone)]
pub struct MemoryHit {
    /// Which.
    pub id: Id,
    /// How alike, in `[0, 1]`: the mean over the spaces, weighted.
    pub similarity: f64,
    /// How alike in each space.
    pub spaces: [f32; COUNT],
    /// How sure it is that this is what was wanted, as calibration has it, in `[0, 1]`.
    pub confidence: f64,
    /// The space in which it stands out most from the others that were compared.
    pub dominant: usize,
    /// The result that it is linked with and that brought it up.
    pub via: Option<Id>,
    /// Memories that say the same and are not shown for it.
    pub same: Vec<Id>,
}

impl Space {
    /// Looks for memories. The id under which the query is remembered, and what was found, best first.
    ///
    /// # Errors
    /// The store failed.
    pub fn search(&mut self, search: &MemorySearch<'_>, now: u64) -> Outcome<(Id, Vec<MemoryHit>)> {
        let content = self.embedders.content(search.query, search.filter.modality.unwrap_or_default(), &self.graph)?;
        let packed = Arc::new(Packed::of(&content));
        let query = self.new_id(now);
        if self.queries.len() >= QUERIES {
            self.queries.pop_front();
        }
        self.queries.push_back((query, packed.clone(), now));
        self.remember_query(query, search.query, search.filter.modality, now);
        let wide = search.most.saturating_mul(3).clamp(SETTLED.min(search.most.max(1)), SETTLED.max(search.most));
        let hits = self.nearest(&packed, now, &MemorySearch { most: wide, ..search.clone() })?;
        let mut hits = self.settled(hits, &packed, &search.filter, search.most, now)?;
        for hit in &mut hits {
            hit.confidence = self.mind.calibration.calibrated(hit.similarity);
        }
        self.after_search(query, &hits, now);
        Ok((query, hits))
    }

    /// The memories most like some vectors, without a trace in the mind.
    ///
    /// # Errors
    /// The store failed.
    pub fn nearest(&mut self, packed: &Packed, now: u64, search: &MemorySearch<'_>) -> Outcome<Vec<MemoryHit>> {
        let (most, filter) = (search.most, &search.filter);
        let (mut candidates, mut anchors) =
            self.graph.candidates(packed, CANDIDATES.max(2 * most), |memory| filter.keeps(&self.graph, memory));
        if *filter != MemoryFilter::default() {
            // Those that were looked at are some only; a place is among all.
            anchors = self.graph.index.by_meaning(&packed.scan_row(), ANCHORS, |slot| self.graph.at(slot).is_some());
        }
        anchors.truncate(ANCHORS);
        let judged = self.judged(packed);
        // What somebody called right is looked at, wherever it stands.
        let called = judged.keys().filter_map(|id| self.graph.slot(*id)).filter(|slot| {
            !candidates.contains(slot) && self.graph.at(*slot).is_some_and(|memory| filter.keeps(&self.graph, memory))
        });
        let called: Vec<Slot> = called.collect();
        candidates.extend(called);
        let mut compare = self.comparison(packed, &anchors, judged, now);
        let mut hits = self.compared(&candidates, &mut compare)?;
        sort(&mut hits);
        if search.walk {
            self.walk_from(&mut hits, &mut compare)?;
        }
        // Walks lead to others, too.
        hits.retain(|hit| self.graph.get(hit.id).is_some_and(|memory| filter.keeps(&self.graph, memory)));
        hits.retain(|hit| hit.similarity >= search.least);
        let mut hits = self.broadened(hits, most);
        hits.truncate(most);
        Ok(hits)
    }

    /// What a query is compared with memories by.
    fn comparison<'a>(
        &self,
        packed: &'a Packed,
        anchors: &[(Slot, f32)],
        judged: HashMap<Id, f64>,
        now: u64,
    ) -> Compare<'a> {
        Compare {
            packed,
            ranking: self.ranking(packed),
            place: self.graph.place_near(anchors),
            counting: self.graph.index.counting(&packed.e6),
            judged,
            now,
            usual: None,
        }
    }

    /// Compares some memories with a query as a search does, in the order of `ids`.
    ///
    /// # Errors
    /// The store failed.
    pub(super) fn compared_with(&mut self, ids: &[Id], packed: &Packed, now: u64) -> Outcome<Vec<MemoryHit>> {
        let slots: Vec<Slot> = ids.iter().filter_map(|id| self.graph.slot(*id)).collect();
        let anchors = self.graph.index.by_meaning(&packed.scan_row(), ANCHORS, |slot| self.graph.at(slot).is_some());
        let mut compare = self.comparison(packed, &anchors, self.judged(packed), now);
        self.compared(&slots, &mut compare)
    }

    /// Compares memories with a query in all spaces.
    ///
    /// # Errors
    /// The store failed.
    pub(super) fn compared(&mut self, slots: &[Slot], compare: &mut Compare<'_>) -> Outcome<Vec<MemoryHit>> {
        let ids: Vec<Id> = slots.iter().filter_map(|slot| self.graph.id(*slot)).collect();
        let seconds = compare.now as f64 / 1e3;
        let negation = crate::embedders::lexical::negation();
        let denied = compare.packed.e6.indices.binary_search(&negation).is_ok();
        let mut hits = Vec::with_capacity(ids.len());
        for (id, theirs) in self.packed_many(&ids)? {
            let Some(slot) = self.graph.slot(id) else { continue };
            let Some(memory) = self.graph.at(slot) else { continue };
            let created = memory.created_at as f64 / 1e3;
            let e8 = likeness(&compare.place, &self.graph.place(slot));
            let spaces = compare.packed.likenesses(&theirs, (seconds, created, seconds), e8, false);
            let words = f64::from(self.graph.index.share_of_words(&compare.counting, slot));
            let denies =
                self.graph.index.words(slot).is_some_and(|words| words.indices.binary_search(&negation).is_ok());
            let alike = super::ranking::by_negation(compare.ranking.similarity(&spaces, words), denied, denies);
            let plain = Self::by_standing(alike, memory.importance);
            let similarity = (plain + compare.judged.get(&id).copied().unwrap_or(0.0)).clamp(0.0, 1.0);
            hits.push(MemoryHit { id, similarity, spaces, confidence: 0.0, dominant: 0, via: None, same: Vec::new() });
        }
        let usual = *compare.usual.get_or_insert_with(|| {
            let count = hits.len().max(1) as f64;
            // Of one alone nothing stands out but what it has.
            let of = |space: usize| hits.iter().map(|hit| f64::from(hit.spaces[space])).sum::<f64>() / count;
            if hits.len() < 2 { [0.0; COUNT] } else { std::array::from_fn(of) }
        });
        for hit in &mut hits {
            hit.dominant = compare.ranking.dominant(&hit.spaces, &usual);
        }
        Ok(hits)
    }

    /// What a search leaves behind: counts, predictions, paths.
    fn after_search(&mut self, query: Id, hits: &[MemoryHit], now: u64) {
        for hit in hits {
            self.mark_found(hit.id, now);
        }
        for hit in hits.iter().take(PREDICTED) {
            let spaces = std::array::from_fn(|space| {
                self.mind.calibration.confidence(space, f64::from(hit.spaces[space])) as f32
            });
            self.mind.calibration.predict(Prediction {
                at: now,
                query,
                result: hit.id,
                confidence: hit.similarity,
                spaces,
                label: None,
            });
        }
        for hit in hits {
            if let Some(via) = hit.via {
                self.walked(&[via, hit.id], now);
            }
        }
        if let Some(best) = hits.first() {
            self.mind.calibration.observe("theta_memory_sim", best.similarity);
            for other in hits.iter().skip(1).take(ANCHORS) {
                if let Some(path) = self.path(best.id, other.id) {
                    self.walked(&path, now);
                }
            }
        }
        self.nudge(Doc::Calibration);
        self.nudge(Doc::Dreams);
    }

    /// A memory was found.
    pub fn mark_found(&mut self, id: Id, now: u64) {
        let Some(slot) = self.graph.slot(id) else { return };
        let Some(mut memory) = self.graph.at(slot).cloned() else { return };
        memory.access_count += 1;
        memory.last_access = now;
        self.graph.update(memory);
        self.found.insert(slot);
    }

    /// The vectors of a query that was made, or of a memory.
    ///
    /// # Errors
    /// There is neither.
    pub fn vectors_of(&mut self, id: Id) -> Outcome<(Arc<Packed>, u64)> {
        if let Some((_, packed, at)) = self.queries.iter().find(|query| query.0 == id) {
            return Ok((packed.clone(), *at));
        }
        if let Some(asked) = self.query_on_record(id)? {
            return Ok(asked);
        }
        let created = self.memory(id)?.created_at;
        Ok((self.packed(id)?, created))
    }

    /// Keeps what was asked, so that its results can be judged after a restart. Written by the way.
    fn remember_query(&mut self, id: Id, query: &str, modality: Option<Modality>, now: u64) {
        let text: String = query.chars().take(MAX_QUERY_CHARS).collect();
        let data = json!({"query": text, "modality": modality.unwrap_or_default().word()}).to_string();
        self.asked.push(Record { id, at: now, kind: QUERY.to_owned(), data });
        let extra = self.asked.len().saturating_sub(QUERIES);
        self.asked.drain(..extra);
    }

    /// The vectors of a query that was made before a restart.
    fn query_on_record(&mut self, id: Id) -> Outcome<Option<(Arc<Packed>, u64)>> {
        let Some(record) = self.storage.record(id)?.filter(|record| record.kind == QUERY) else { return Ok(None) };
        let data: Value = serde_json::from_str(&record.data).map_err(crate::error::Problem::storage)?;
        let modality = data["modality"].as_str().and_then(Modality::from_word).unwrap_or_default();
        let content = self.embedders.content(data["query"].as_str().unwrap_or_default(), modality, &self.graph)?;
        Ok(Some((Arc::new(Packed::of(&content)), record.at)))
    }

    /// The shortest path between two memories along edges of any kind but contradiction, at most five edges.
    #[must_use]
    pub fn path(&self, from: Id, to: Id) -> Option<Vec<Id>> {
        const MAX_PATH_EDGES: usize = 5;
        let (start, end) = (self.graph.slot(from)?, self.graph.slot(to)?);
        let mut came: HashMap<Slot, Slot> = HashMap::from([(start, start)]);
        let mut queue: VecDeque<(Slot, usize)> = VecDeque::from([(start, 0)]);
        while let Some((slot, depth)) = queue.pop_front() {
            if slot == end {
                let mut path = vec![self.graph.id(end)?];
                let mut at = end;
                while at != start {
                    at = *came.get(&at)?;
                    path.push(self.graph.id(at)?);
                }
                path.reverse();
                return Some(path);
            }
            // A dense graph must not make one search long.
            if depth < MAX_PATH_EDGES && came.len() < 2_000 {
                for (next, _) in self.graph.neighbours(slot) {
                    came.entry(next).or_insert_with(|| {
                        queue.push_back((next, depth + 1));
                        slot
                    });
                }
            }
        }
        None
    }

    /// A path was walked.
    pub fn walked(&mut self, path: &[Id], now: u64) {
        let edges: Option<Vec<(f64, f64)>> = path
            .windows(2)
            .map(|pair| {
                let (a, b) = (self.graph.slot(pair[0])?, self.graph.slot(pair[1])?);
                let (weight, confidence) = self.graph.edges.between(a, b)?;
                Some((f64::from(weight), f64::from(confidence)))
            })
            .collect();
        if let Some(edges) = edges {
            self.mind.dreams.paths.record(path, &edges, now);
            self.nudge(Doc::Dreams);
        }
    }

    /// The edges of a memory, as they are shown: the other end, kind, weight, confidence, and whether it points away.
    #[must_use]
    pub fn neighbourhood(&self, id: Id) -> Vec<(Id, EdgeKind, f32, f32, bool)> {
        let Some(slot) = self.graph.slot(id) else { return Vec::new() };
        let living = |other: Slot| self.graph.at(other).map(|memory| memory.id);
        let forth = self
            .graph
            .edges
            .from(slot)
            .filter_map(|link| Some((living(link.target)?, link.kind, link.weight, link.confidence, true)));
        let back = self
            .graph
            .edges
            .to(slot)
            .filter_map(|(source, link)| Some((living(source)?, link.kind, link.weight, link.confidence, false)));
        let mut all: Vec<_> = forth.chain(back).collect();
        all.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        all
    }
}
