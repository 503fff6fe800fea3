//! One space: the graph, the mind and the store together.
//!
//! [`Space::read`] and [`Space::write`] are the only ways in. Both first take over what other processes wrote. A write is one
//! transaction: if it fails, the store keeps nothing of it and the space is read anew. What reading changes by the way (how often
//! something was found, where the oscillators are) is written with the next change or a second later.

mod autonomous;
mod consolidating;
mod dreaming;
mod entities;
mod erase;
mod goals;
mod linking;
mod living;
mod once;
mod purpose;
mod ranking;
mod recall;
mod relations;
mod remember;
mod stats;
mod transfer;
mod undo;

pub use autonomous::{Consolidated, Corrected, GoalFound, Merge};
pub use consolidating::{Comparing, cancelled};
pub use dreaming::{Dreaming, Slice};
pub use entities::{Entity, EntityKind};
pub use living::{MemoryFilter, MemoryPage, Page, Patch};
pub use purpose::Feedback;
pub use ranking::JUDGED;
pub use recall::{MemoryHit, MemorySearch};
pub use remember::{NewMemory, Remembered};
pub use stats::SpaceStats;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::embedders::Embedders;
use crate::embedders::lexical;
use crate::error::{Code, Outcome, Problem};
use crate::fingerprint::{Fingerprint, Packed};
use crate::graph::edges::{Edge, EdgeKind};
use crate::graph::{Graph, Memory, Slot};
use crate::johari::Quadrant;
use crate::kuramoto::CoherenceLevel;
use crate::mind::{Doc, Mind};
use crate::store::{Batch, Record, RecordBody, Storage, Version};
use crate::utl::LearningPhase;
use crate::{Id, Rng};

/// Memories that new ones are compared with.
const RECENT: usize = 50;
/// Packed vectors that are kept at hand.
const CACHED: usize = 4_096;
/// Queries whose vectors are remembered, for feedback.
const QUERIES: usize = 256;
/// Changes by the way are written after this time.
const DEFERRED_MS: u64 = 1_000;
/// The least time in a phase of consolidation.
const PHASE_MS: u64 = 5_000;

/// Something that happened, for whoever listens.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SpaceEvent {
    /// What: `memory.stored`, `system.dream.started` and so on.
    pub name: &'static str,
    /// The rest.
    pub data: serde_json::Value,
}

/// The pulse that every answer carries.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[expect(missing_docs, reason = "named like the wire")]
pub struct Pulse {
    pub entropy: f32,
    pub coherence: f32,
    pub learning_score: f32,
    pub quadrant: Quadrant,
    pub suggested_action: &'static str,
}

/// One space.
pub struct Space {
    name: String,
    storage: Box<dyn Storage>,
    version: Version,
    /// What is remembered.
    pub graph: Graph,
    /// The state of all parts.
    pub mind: Mind,
    embedders: Embedders,
    rng: Rng,
    recent: VecDeque<(Id, Fingerprint)>,
    cache: HashMap<Id, Arc<Packed>>,
    cached: VecDeque<Id>,
    queries: VecDeque<(Id, Arc<Packed>, u64)>,
    /// Records of queries that wait to be written by the way.
    asked: Vec<Record>,
    batch: Batch,
    found: BTreeSet<Slot>,
    deferred_since: Option<u64>,
    events: Vec<SpaceEvent>,
    /// Whether a change is going on.
    at_work: bool,
    opened_at: u64,
    /// Memories that were erased: they do not come back by an import.
    erased: HashSet<Id>,
    /// Whether what erased memories left in the files has yet to be overwritten.
    remains: bool,
    /// When that was last tried.
    scrubbed_at: u64,
}

impl std::fmt::Debug for Space {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Space").field("name", &self.name).field("memories", &self.graph.len()).finish_non_exhaustive()
    }
}

impl Space {
    /// Opens a space and reads what is in it.
    ///
    /// # Errors
    /// The store failed.
    pub fn open(name: &str, storage: Box<dyn Storage>, embedders: Embedders, seed: u64, now: u64) -> Outcome<Self> {
        let mut space = Self {
            name: name.to_owned(),
            storage,
            version: 0,
            graph: Graph::default(),
            mind: Mind::new(now),
            embedders,
            rng: Rng::new(seed),
            recent: VecDeque::new(),
            cache: HashMap::new(),
            cached: VecDeque::new(),
            queries: VecDeque::new(),
            asked: Vec::new(),
            batch: Batch::default(),
            found: BTreeSet::new(),
            deferred_since: None,
            events: Vec::new(),
            at_work: false,
            opened_at: now,
            erased: HashSet::new(),
            remains: false,
            scrubbed_at: now,
        };
        space.refresh(now)?;
        space.remains = !space.erased.is_empty() && space.storage.has_remains()?;
        Ok(space)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The embedders.
    #[must_use]
    pub const fn embedders(&self) -> &Embedders {
        &self.embedders
    }

    /// The engine of its store and how large that is.
    ///
    /// # Errors
    /// The store failed.
    pub fn storage(&mut self) -> Outcome<(&'static str, u64)> {
        Ok((self.storage.engine(), self.storage.size()?))
    }

    /// Runs something that changes nothing that has to be kept at once.
    ///
    /// # Errors
    /// Whatever it fails with.
    pub fn read<T>(&mut self, now: u64, work: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        self.refresh(now)?;
        self.tick(now, true);
        let outcome = work(self);
        if outcome.is_ok() && !self.found.is_empty() || self.mind.is_changed() {
            self.deferred_since.get_or_insert(now);
        }
        if let Err(problem) = self.flush_due(now) {
            // Another process writes for long: what was read is told all the same, and this is tried again later.
            tracing::warn!(error = %problem, "changes by the way could not be written yet");
            self.deferred_since = Some(now);
        }
        outcome
    }

    /// Runs a part of something longer that only reads: no time passes, and nothing is written.
    ///
    /// # Errors
    /// Whatever it fails with.
    pub fn look<T>(&mut self, now: u64, work: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        self.refresh(now)?;
        work(self)
    }

    /// Runs something that changes the space, in one transaction.
    ///
    /// # Errors
    /// Whatever it fails with; then nothing is changed.
    pub fn write<T>(&mut self, now: u64, work: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        self.write_as(now, true, work)
    }

    /// As [`Self::write`], for what nobody called for.
    ///
    /// # Errors
    /// Whatever it fails with; then nothing is changed.
    pub fn write_beside<T>(&mut self, now: u64, work: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        self.write_as(now, false, work)
    }

    fn write_as<T>(&mut self, now: u64, call: bool, work: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if std::mem::replace(&mut self.at_work, true) {
            // Whoever was at it before did not come to an end, because of a mistake in this program.
            self.storage.roll_back();
            self.events.clear();
            self.read_anew(now)?;
        }
        let outcome = self.write_now(now, call, work);
        self.at_work = false;
        outcome
    }

    fn write_now<T>(&mut self, now: u64, call: bool, work: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        self.storage.begin()?;
        let outcome = self.refresh(now).and_then(|()| {
            self.tick(now, call);
            work(self)
        });
        match outcome.and_then(|value| self.commit(false).map(|()| value)) {
            Ok(value) => {
                if self.mind.is_changed() || !self.found.is_empty() {
                    self.deferred_since.get_or_insert(now);
                }
                self.scrub();
                Ok(value)
            }
            Err(problem) => {
                self.storage.roll_back();
                self.events.clear();
                if !self.batch.is_empty() {
                    self.read_anew(now)?;
                }
                Err(problem)
            }
        }
    }

    /// Ends a change; with `all`, what changed by the way is written too.
    fn commit(&mut self, all: bool) -> Outcome<()> {
        let mut batch = std::mem::take(&mut self.batch);
        let written: BTreeSet<Id> = batch.memories.iter().map(|(memory, _)| memory.id).collect();
        let found = if all { std::mem::take(&mut self.found) } else { BTreeSet::new() };
        for slot in found {
            batch.memories.extend(
                self.graph
                    .at(slot)
                    .filter(|memory| !written.contains(&memory.id))
                    .cloned()
                    .map(|memory| (memory, None)),
            );
        }
        if all {
            batch.records.append(&mut self.asked);
        }
        batch.state = self.mind.take_changed(all)?;
        if all {
            self.deferred_since = None;
        }
        if batch.is_empty() {
            self.storage.roll_back();
            return Ok(());
        }
        match self.storage.commit(&batch) {
            Ok(version) => {
                self.version = version;
                Ok(())
            }
            Err(problem) => {
                // Whoever called reads the space anew if something is left in the batch.
                self.batch = batch;
                Err(problem)
            }
        }
    }

    /// Writes what was changed by the way, if it is time.
    ///
    /// # Errors
    /// The store failed.
    pub fn flush_due(&mut self, now: u64) -> Outcome<()> {
        self.scrub_due(now);
        if self.deferred_since.is_some_and(|since| now.saturating_sub(since) >= DEFERRED_MS) {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes what was changed by the way.
    ///
    /// # Errors
    /// The store failed.
    pub fn flush(&mut self) -> Outcome<()> {
        if self.found.is_empty() && !self.mind.is_changed() && self.batch.is_empty() && self.asked.is_empty() {
            return Ok(());
        }
        self.storage.begin()?;
        self.commit(true)
    }

    fn read_anew(&mut self, now: u64) -> Outcome<()> {
        self.batch = Batch::default();
        self.found.clear();
        self.deferred_since = None;
        self.version = 0;
        self.graph = Graph::default();
        self.erased.clear();
        self.mind = Mind::new(now);
        self.recent.clear();
        self.cache.clear();
        self.cached.clear();
        self.refresh(now)
    }

    /// Takes over what others wrote.
    fn refresh(&mut self, now: u64) -> Outcome<()> {
        let Some(changes) = self.storage.changes(self.version)? else { return Ok(()) };
        let fresh = self.version == 0;
        self.version = changes.version;
        let mut newest: VecDeque<Id> = VecDeque::new();
        if fresh {
            self.graph.expect(changes.memories.len());
        }
        for light in changes.memories {
            if light.memory.removed_at.is_none() {
                newest.push_back(light.memory.id);
                if newest.len() > RECENT {
                    newest.pop_front();
                }
            }
            self.cache.remove(&light.memory.id);
            self.graph.put(light.memory, &light.row, light.words);
        }
        for edge in changes.edges {
            self.graph.link(edge);
        }
        for (source, target, kind) in changes.gone {
            self.graph.unlink(source, target, kind);
        }
        for id in changes.erased {
            self.drop_erased(id);
        }
        for (key, text) in changes.state {
            self.mind.take_over(&key, &text);
        }
        if !fresh {
            newest.retain(|id| !self.recent.iter().any(|(known, _)| known == id));
        }
        let newest: Vec<Id> = newest.into();
        let texts = self.texts(&newest)?;
        for (id, packed) in self.packed_many(&newest)? {
            self.push_recent(id, &packed, texts.get(&id).map_or("", String::as_str), now);
        }
        Ok(())
    }

    fn push_recent(&mut self, id: Id, packed: &Packed, text: &str, now: u64) {
        let Some(slot) = self.graph.slot(id) else { return };
        let created = self.graph.at(slot).map_or(now, |memory| memory.created_at);
        let fingerprint = Fingerprint::at(packed.content(text), created, now, self.graph.place(slot));
        self.recent.push_back((id, fingerprint));
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }

    /// Lets time pass: oscillators, modulators, activity, phase.
    pub fn tick(&mut self, now: u64, call: bool) {
        let mind = &mut self.mind;
        mind.gwt.network.advance(now);
        mind.levels.advance(now);
        let (r, _) = mind.gwt.network.order();
        mind.gwt.machine.observe(r, now, call);
        mind.gwt.workspace.refresh(r, now);
        let learning = &mut mind.learning;
        if call {
            // One call in ten seconds is full activity; the longer nobody calls, the lower it falls.
            let pause = now.saturating_sub(learning.last_call) as f64 / 1e4;
            let sample = 1.0 / (1.0 + (pause - 1.0).max(0.0));
            learning.activity += 0.3 * (sample - learning.activity);
            learning.last_call = now;
            mind.dreams.scheduler.activity(learning.activity, now);
        }
        let phase = LearningPhase::of_activity(learning.activity);
        if phase != learning.phase && now.saturating_sub(learning.phase_since) >= PHASE_MS {
            learning.phase = phase;
            learning.phase_since = now;
        }
    }

    /// The order parameter of the oscillators and its state.
    #[must_use]
    pub fn order(&self) -> (f64, f64, CoherenceLevel) {
        let (r, psi) = self.mind.gwt.network.order();
        (r, psi, CoherenceLevel::of(r))
    }

    /// The pulse.
    #[must_use]
    pub fn pulse(&self) -> Pulse {
        let averages = &self.mind.learning.averages;
        let quadrant =
            Quadrant::advised(&averages.quadrants, self.mind.dreams.is_fresh(self.mind.learning.last_learned));
        Pulse {
            entropy: averages.entropy as f32,
            coherence: averages.coherence as f32,
            learning_score: averages.learning as f32,
            quadrant,
            suggested_action: quadrant.action(),
        }
    }

    /// A memory that is in the graph.
    ///
    /// # Errors
    /// There is none.
    pub fn memory(&self, id: Id) -> Outcome<&Memory> {
        self.graph.get(id).ok_or_else(|| {
            let gone = self.graph.get_any(id);
            match gone.map(|memory| memory.merged_into) {
                None => Problem::no_memory(id),
                Some(None) => {
                    let message = format!("memory not found: {id} was taken out");
                    Problem::new(Code::Storage, "NODE_NOT_FOUND", message)
                }
                Some(Some(into)) => {
                    let message = format!("memory not found: {id} was merged into {into}, use that");
                    Problem::new(Code::Storage, "NODE_NOT_FOUND", message)
                }
            }
        })
    }

    /// The text and the rationale of a memory.
    ///
    /// # Errors
    /// There is none, or the store failed.
    pub fn body(&mut self, id: Id) -> Outcome<RecordBody> {
        self.memory(id)?;
        self.storage.bodies(&[id])?.pop().ok_or_else(|| Problem::no_memory(id))
    }

    /// The texts of memories.
    ///
    /// # Errors
    /// The store failed.
    pub fn texts(&mut self, ids: &[Id]) -> Outcome<HashMap<Id, String>> {
        Ok(self.storage.bodies(ids)?.into_iter().map(|body| (body.id, body.content)).collect())
    }

    /// The packed vectors of a memory, whether it is in the graph or was.
    ///
    /// # Errors
    /// There is none, or the store failed.
    pub fn packed(&mut self, id: Id) -> Outcome<Arc<Packed>> {
        let found = self.packed_many(&[id])?.pop();
        found.map(|(_, packed)| packed).ok_or_else(|| Problem::no_memory(id))
    }

    /// The packed vectors of memories, in the order of their ids. Those that are not there are left out.
    ///
    /// # Errors
    /// The store failed.
    pub fn packed_many(&mut self, ids: &[Id]) -> Outcome<Vec<(Id, Arc<Packed>)>> {
        let missing: Vec<Id> = ids.iter().copied().filter(|id| !self.cache.contains_key(id)).collect();
        let mut fetched: HashMap<Id, Arc<Packed>> = HashMap::new();
        for body in self.storage.bodies(&missing)? {
            let packed = Packed::from_bytes(&body.fingerprint).ok_or_else(|| {
                Problem::new(Code::Storage, "STORE_DAMAGED", format!("the vectors of {} cannot be read", body.id))
            })?;
            fetched.insert(body.id, Arc::new(packed));
        }
        let out =
            ids.iter().filter_map(|id| Some((*id, self.cache.get(id).or_else(|| fetched.get(id))?.clone()))).collect();
        for (id, packed) in fetched {
            self.keep(id, packed);
        }
        Ok(out)
    }

    fn keep(&mut self, id: Id, packed: Arc<Packed>) {
        if self.cache.insert(id, packed).is_none() {
            self.cached.push_back(id);
        }
        while self.cached.len() > CACHED {
            if let Some(oldest) = self.cached.pop_front() {
                self.cache.remove(&oldest);
            }
        }
    }

    /// All thirteen vectors of a memory at `now`.
    ///
    /// # Errors
    /// There is none, or the store failed.
    pub fn fingerprint(&mut self, id: Id, now: u64) -> Outcome<Fingerprint> {
        let created = self.memory(id)?.created_at;
        let packed = self.packed(id)?;
        let text = self.body(id)?.content;
        let slot = self.graph.slot(id).ok_or_else(|| Problem::no_memory(id))?;
        Ok(Fingerprint::at(packed.content(&text), created, now, self.graph.place(slot)))
    }

    /// How telling a term is among the memories, in `[0, 1]`.
    fn telling(graph: &Graph, term: u16) -> f64 {
        let most = (1.0 + (graph.len() as f64 + 1.0) / 0.5).ln();
        (f64::from(lexical::idf(graph, term)) / most).clamp(0.0, 1.0)
    }

    /// Chance.
    pub const fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// A new id.
    pub fn new_id(&mut self, now: u64) -> Id {
        Id::new(now, &mut self.rng)
    }

    /// Changes what is known of a memory, to be written.
    fn change(&mut self, id: Id, change: impl FnOnce(&mut Memory)) -> Outcome<()> {
        let mut memory = self.graph.get_any(id).cloned().ok_or_else(|| Problem::no_memory(id))?;
        change(&mut memory);
        self.graph.update(memory.clone());
        self.batch.memories.push((memory, None));
        Ok(())
    }

    /// Adds or changes an edge, to be written.
    fn link(&mut self, edge: Edge) {
        if self.graph.link(edge.clone()) {
            // What goes is written last: an edge that comes back in the same change must not go.
            self.batch.gone.retain(|gone| *gone != (edge.source, edge.target, edge.kind));
            self.batch.edges.push(edge);
        }
    }

    /// Takes an edge away, to be written.
    fn unlink(&mut self, source: Id, target: Id, kind: EdgeKind) {
        if self.graph.unlink(source, target, kind) {
            self.batch.gone.push((source, target, kind));
        }
    }

    /// Puts something on record. Its id.
    pub fn record(&mut self, kind: &str, data: &serde_json::Value, now: u64) -> Id {
        let id = self.new_id(now);
        self.batch.records.push(Record { id, at: now, kind: kind.to_owned(), data: data.to_string() });
        id
    }

    /// What is on record, newest first.
    ///
    /// # Errors
    /// The store failed.
    pub fn records(&mut self, kind: Option<&str>, most: usize) -> Outcome<Vec<Record>> {
        self.storage.records(kind, most)
    }

    /// The answer that a key got before.
    ///
    /// # Errors
    /// The store failed.
    pub fn answered(&mut self, key: &str) -> Outcome<Option<crate::store::Answered>> {
        self.storage.outcome(key)
    }

    /// Keeps the answer to a call with a key, in the change that is going on.
    pub fn keep_answer(&mut self, answered: crate::store::Answered) {
        self.batch.outcome = Some(answered);
    }

    /// Tells whoever listens.
    pub fn tell(&mut self, name: &'static str, data: serde_json::Value) {
        // Nobody may listen for long; what is older than the last hundred is not told.
        if self.events.len() < 100 {
            self.events.push(SpaceEvent { name, data });
        }
    }

    /// What happened since the last time.
    pub fn take_events(&mut self) -> Vec<SpaceEvent> {
        std::mem::take(&mut self.events)
    }

    /// When it was opened.
    #[must_use]
    pub const fn opened_at(&self) -> u64 {
        self.opened_at
    }

    /// Marks a document as changed by the way.
    pub fn nudge(&mut self, doc: Doc) {
        self.mind.nudge(doc);
    }

    /// Marks a document as changed.
    pub fn touch(&mut self, doc: Doc) {
        self.mind.touch(doc);
    }
}
