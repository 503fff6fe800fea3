//! A memory as results show it: its text, when, by whom, how it stands to others.

use serde_json::{Map, Value, json};

use super::when;
use crate::Id;
use crate::engine::Space;
use crate::graph::Memory;
use crate::graph::edges::EdgeKind;

/// Edges of one kind that are shown beside a result.
const MAX_EDGES: usize = 5;

/// A text, cut after so many characters.
pub(super) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}\u{2026}", &text[..at]),
    }
}

/// What is known of a memory, as results show it. What says nothing is left out.
pub(super) fn marks(space: &Space, memory: &Memory) -> Map<String, Value> {
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("createdAt", when::shown(memory.created_at).into());
    put("agent", memory.agent.clone().into());
    put("kind", json!(memory.modality));
    put("importance", json!((f64::from(memory.importance) * 1e4).round() / 1e4));
    put("version", memory.provenance.revision.into());
    if !memory.tags.is_empty() {
        put("tags", json!(memory.tags));
    }
    if memory.provenance.revision > 1 {
        put("updatedAt", when::shown(memory.updated_at).into());
    }
    if memory.provenance.count > 1 {
        put("count", memory.provenance.count.into());
    }
    if let Some(from) = memory.provenance.valid_from {
        put("validFrom", when::shown(from).into());
    }
    if let Some(until) = space.graph.valid_to(memory) {
        put("validTo", when::shown(until).into());
    }
    if let Some(at) = memory.removed_at {
        put("forgottenAt", when::shown(at).into());
    }
    for (key, ids) in relations(space, memory.id) {
        put(key, json!(ids));
    }
    out
}

/// What contradicts a memory, supersedes it, or is superseded by it.
fn relations(space: &Space, id: Id) -> Vec<(&'static str, Vec<Id>)> {
    let edges = space.neighbourhood(id);
    let of = |wanted: EdgeKind, direction: Option<bool>| -> Vec<Id> {
        let mut ids: Vec<Id> = Vec::new();
        for (other, kind, _, _, forth) in &edges {
            if *kind == wanted && direction.is_none_or(|direction| direction == *forth) && !ids.contains(other) {
                ids.push(*other);
            }
        }
        ids.truncate(MAX_EDGES);
        ids
    };
    let all = [
        ("contradicts", of(EdgeKind::Contradicts, None)),
        ("supersedes", of(EdgeKind::Supersedes, Some(true))),
        ("supersededBy", of(EdgeKind::Supersedes, Some(false))),
    ];
    all.into_iter().filter(|(_, ids)| !ids.is_empty()).collect()
}
