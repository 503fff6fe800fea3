//! A change as columns: each table gets its rows with one statement, however many there are.
//!
//! A row stands in a change once, as it was last: a statement must not touch one row twice.

use std::collections::HashMap;

use crate::Id;
use crate::error::{Outcome, Problem};
use crate::graph::edges::EdgeKind;
use crate::store::{Answered, Batch, QUERY, words_to_bytes};

/// Memories with what finding needs.
#[derive(Default)]
pub(super) struct Nodes {
    pub(super) ids: Vec<Vec<u8>>,
    pub(super) known: Vec<String>,
    pub(super) meaning: Vec<Vec<u8>>,
    pub(super) words: Vec<Vec<u8>>,
}

/// Texts and vectors.
#[derive(Default)]
pub(super) struct Bodies {
    pub(super) ids: Vec<Vec<u8>>,
    pub(super) content: Vec<Vec<u8>>,
    pub(super) rationale: Vec<Option<Vec<u8>>>,
    pub(super) fingerprints: Vec<Vec<u8>>,
}

/// Edges, those that are gone as well.
#[derive(Default)]
pub(super) struct Edges {
    pub(super) sources: Vec<Vec<u8>>,
    pub(super) targets: Vec<Vec<u8>>,
    pub(super) kinds: Vec<&'static str>,
    pub(super) weights: Vec<f32>,
    pub(super) confidences: Vec<f32>,
    pub(super) created: Vec<i64>,
    pub(super) updated: Vec<i64>,
    pub(super) paths: Vec<String>,
}

/// What happened.
#[derive(Default)]
pub(super) struct Records {
    pub(super) ids: Vec<Vec<u8>>,
    pub(super) at: Vec<i64>,
    pub(super) kinds: Vec<String>,
    pub(super) data: Vec<String>,
}

/// Earlier forms of memories.
#[derive(Default)]
pub(super) struct Revisions {
    pub(super) ids: Vec<Vec<u8>>,
    pub(super) numbers: Vec<i64>,
    pub(super) at: Vec<i64>,
    pub(super) known: Vec<String>,
    pub(super) content: Vec<Vec<u8>>,
    pub(super) rationale: Vec<Option<Vec<u8>>>,
}

/// A change as columns.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) nodes: Nodes,
    /// Memories of which only what is known changes: ids and that.
    pub(super) known: (Vec<Vec<u8>>, Vec<String>),
    pub(super) bodies: Bodies,
    pub(super) edges: Edges,
    /// Edges that go: source, target, kind.
    pub(super) gone: (Vec<Vec<u8>>, Vec<Vec<u8>>, Vec<&'static str>),
    pub(super) state: (Vec<&'static str>, Vec<String>),
    pub(super) records: Records,
    pub(super) revisions: Revisions,
    /// Whether a query is among the records.
    pub(super) queries: bool,
    /// Memories that go for good: their ids, and patterns for what names them.
    pub(super) erased: (Vec<Vec<u8>>, Vec<String>),
    pub(super) answered: Option<Answered>,
}

fn bytes(id: Id) -> Vec<u8> {
    id.to_bytes().to_vec()
}

/// The values with the last of each key, in the order in which the keys came first.
fn last_of_each<'a, T, K: std::hash::Hash + Eq>(values: &'a [T], key: impl Fn(&T) -> K) -> Vec<&'a T> {
    let mut places: HashMap<K, usize> = HashMap::with_capacity(values.len());
    let mut out: Vec<&'a T> = Vec::with_capacity(values.len());
    for value in values {
        match places.entry(key(value)) {
            std::collections::hash_map::Entry::Occupied(place) => out[*place.get()] = value,
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(out.len());
                out.push(value);
            }
        }
    }
    out
}

impl Columns {
    pub(super) fn of(batch: &Batch) -> Outcome<Self> {
        let mut columns = Self::default();
        columns.take_memories(batch)?;
        for body in last_of_each(&batch.bodies, |body| body.id) {
            columns.bodies.ids.push(bytes(body.id));
            columns.bodies.content.push(body.content.as_bytes().to_vec());
            columns.bodies.rationale.push(body.rationale.as_ref().map(|text| text.as_bytes().to_vec()));
            columns.bodies.fingerprints.push(body.fingerprint.clone());
        }
        for edge in last_of_each(&batch.edges, |edge| (edge.source, edge.target, edge.kind)) {
            let edges = &mut columns.edges;
            edges.sources.push(bytes(edge.source));
            edges.targets.push(bytes(edge.target));
            edges.kinds.push(edge.kind.word());
            edges.weights.push(edge.weight);
            edges.confidences.push(edge.confidence);
            edges.created.push(edge.created_at.cast_signed());
            edges.updated.push(edge.updated_at.cast_signed());
            edges.paths.push(serde_json::to_string(&edge.path).map_err(Problem::storage)?);
        }
        for (source, target, kind) in last_of_each(&batch.gone, |gone: &(Id, Id, EdgeKind)| *gone) {
            columns.gone.0.push(bytes(*source));
            columns.gone.1.push(bytes(*target));
            columns.gone.2.push(kind.word());
        }
        for (key, value) in last_of_each(&batch.state, |(key, _)| *key) {
            columns.state.0.push(key);
            columns.state.1.push(value.clone());
        }
        for record in &batch.records {
            columns.records.ids.push(bytes(record.id));
            columns.records.at.push(record.at.cast_signed());
            columns.records.kinds.push(record.kind.clone());
            columns.records.data.push(record.data.clone());
        }
        columns.queries = batch.records.iter().any(|record| record.kind == QUERY);
        let number = |revision: &crate::store::MemoryRevision| revision.memory.provenance.revision.cast_signed();
        for revision in last_of_each(&batch.revisions, |revision| (revision.memory.id, number(revision))) {
            let revisions = &mut columns.revisions;
            revisions.ids.push(bytes(revision.memory.id));
            revisions.numbers.push(number(revision));
            revisions.at.push(revision.at.cast_signed());
            revisions.known.push(serde_json::to_string(&revision.memory).map_err(Problem::storage)?);
            revisions.content.push(revision.content.as_bytes().to_vec());
            revisions.rationale.push(revision.rationale.as_ref().map(|text| text.as_bytes().to_vec()));
        }
        for id in last_of_each(&batch.erased, |id| *id) {
            columns.erased.0.push(bytes(*id));
            columns.erased.1.push(format!("%{id}%"));
        }
        columns.answered.clone_from(&batch.outcome);
        Ok(columns)
    }

    fn take_memories(&mut self, batch: &Batch) -> Outcome<()> {
        let mut findings: HashMap<Id, _> = HashMap::new();
        for (memory, finding) in &batch.memories {
            if let Some(finding) = finding {
                findings.insert(memory.id, finding);
            }
        }
        for (memory, _) in last_of_each(&batch.memories, |(memory, _)| memory.id) {
            let known = serde_json::to_string(memory).map_err(Problem::storage)?;
            match findings.get(&memory.id) {
                Some((row, words)) => {
                    self.nodes.ids.push(bytes(memory.id));
                    self.nodes.known.push(known);
                    self.nodes.meaning.push(row.iter().map(|step| step.cast_unsigned()).collect());
                    self.nodes.words.push(words_to_bytes(words));
                }
                None => {
                    self.known.0.push(bytes(memory.id));
                    self.known.1.push(known);
                }
            }
        }
        Ok(())
    }
}
