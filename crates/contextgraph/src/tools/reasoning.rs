//! What leads to what.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::args::Param;
use super::schema::{ANY, FLAG, NUMBER, TEXT, WHOLE, list, object, or_null, output};
use super::{Class, Spec, ToolCall};
use crate::Id;
use crate::causal::{self, CONFIDENT, LEAST, MAX_PATH_EDGES, Path};
use crate::engine::Space;
use crate::error::{Code, Outcome, Problem};
use crate::graph::edges::EdgeKind;

/// Memories that are looked at for a causal edge that was not stored.
const NEAR: usize = 24;
/// Results, at most.
const RESULTS: usize = 10;
/// Characters that are shown of a memory.
const SHOWN: usize = 160;

pub(super) fn tools() -> Vec<Spec> {
    vec![Spec {
        name: "omni_infer",
        title: "Causal inference",
        description: "Follows causes and effects between memories: forward (from source to target), backward (what leads to source), \
                      bidirectional, bridge (to another topic), abduction (the likeliest causes). No path gives no result.",
        category: "causal",
        class: Class::Read,
        idempotent: true,
        params: vec![
            Param::id("source", "The memory to begin at").required(),
            Param::id("target", "The memory to end at; needed for forward, backward and bidirectional"),
            Param::word(
                "direction",
                "Which way to look",
                &["forward", "backward", "bidirectional", "bridge", "abduction"],
            )
            .default("forward"),
        ],
        output: output(&[
            (
                "results",
                list(object(&[
                    ("direction", TEXT),
                    ("source", TEXT),
                    ("target", TEXT),
                    ("strength", NUMBER),
                    ("confidence", NUMBER),
                    ("path", list(TEXT)),
                    ("path_length", WHOLE),
                    ("is_direct", FLAG),
                    ("is_high_confidence", FLAG),
                    ("is_strong", FLAG),
                    ("texts", list(TEXT)),
                    ("explanation", TEXT),
                ])),
            ),
            ("result_count", WHOLE),
            ("direction", TEXT),
            ("direction_description", TEXT),
            ("source", TEXT),
            ("target", or_null(TEXT)),
            ("inference_config", ANY),
        ]),
        run: omni_infer,
    }]
}

/// The causal edges from a memory (`forth`) or to it: those that are stored, and those that what is near in meaning has.
fn edges(space: &mut Space, id: Id, forth: bool) -> Outcome<Vec<(Id, f64)>> {
    let mut found: BTreeMap<Id, f64> = BTreeMap::new();
    for (other, kind, weight, _, away) in space.neighbourhood(id) {
        if kind == EdgeKind::Causes && away == forth {
            found.insert(other, f64::from(weight));
        }
    }
    let Some(slot) = space.graph.slot(id) else { return Ok(Vec::new()) };
    let Some(row) = space.graph.index.row(slot).and_then(|row| <[i8; 256]>::try_from(row).ok()) else {
        return Ok(Vec::new());
    };
    let near: Vec<Id> = space
        .graph
        .index
        .by_meaning(&row, NEAR, |other| other != slot)
        .into_iter()
        .filter_map(|(other, _)| space.graph.id(other))
        .collect();
    let own = space.packed(id)?;
    for (other, packed) in space.packed_many(&near)? {
        // Two texts that name neither cause nor effect are alike, and that is all that is known.
        let told = |direction| direction != crate::embedders::causal::Direction::Unknown;
        if !told(own.direction) && !told(packed.direction) {
            continue;
        }
        let (from, to, a, b) = if forth { (id, other, &own, &packed) } else { (other, id, &packed, &own) };
        let strength = space.causal_strength(from, to, a, b);
        if strength >= LEAST {
            let known = found.entry(other).or_insert(0.0);
            *known = known.max(strength);
        }
    }
    let mut out: Vec<(Id, f64)> = found.into_iter().collect();
    out.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(out)
}

fn paths(space: &mut Space, start: Id, forth: bool) -> Outcome<BTreeMap<Id, Path>> {
    let mut problem = None;
    let found = causal::paths(start, &mut |id| {
        edges(space, id, forth).unwrap_or_else(|error| {
            problem = Some(error);
            Vec::new()
        })
    });
    problem.map_or(Ok(found), Err)
}

/// The beginning of a text.
fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

fn omni_infer(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let source = call.args.id("source")?;
    let target = call.args.maybe_id("target");
    let direction = call.args.text("direction").to_owned();
    let unknown = |id: Id| {
        let message = format!("memory not found: {id}; search_graph gives the ids of memories that exist");
        Problem::new(Code::Refused, "NODE_NOT_FOUND", message)
    };
    call.space.memory(source).map_err(|_| unknown(source))?;
    if let Some(target) = target {
        call.space.memory(target).map_err(|_| unknown(target))?;
    }
    let needed = || {
        target.ok_or_else(|| {
            let message = format!("`target` is needed for {direction}; bridge and abduction do without");
            Problem::new(Code::Refused, "TARGET_MISSING", message)
        })
    };
    let mut found: Vec<(&str, Path, f64)> = Vec::new();
    // From both ends: what is near the one may lead there though it is not near the other.
    let forward = |space: &mut Space, from: Id, to: Id| -> Outcome<Option<Path>> {
        let forth = paths(space, from, true)?.remove(&to);
        let back = paths(space, to, false)?.remove(&from).map(|mut path| {
            path.nodes.reverse();
            path.strengths.reverse();
            path
        });
        Ok(forth.into_iter().chain(back).max_by(|a, b| a.strength().total_cmp(&b.strength())))
    };
    let description = match direction.as_str() {
        "forward" => {
            let target = needed()?;
            found.extend(forward(call.space, source, target)?.map(|path| ("forward", path, 1.0)));
            "from the source as cause to the target as effect"
        }
        "backward" => {
            let target = needed()?;
            found.extend(forward(call.space, target, source)?.map(|path| ("backward", path, 1.0)));
            "from the target as cause to the source as effect"
        }
        "bidirectional" => {
            let target = needed()?;
            found.extend(forward(call.space, source, target)?.map(|path| ("forward", path, 1.0)));
            found.extend(forward(call.space, target, source)?.map(|path| ("backward", path, 1.0)));
            "both ways between source and target"
        }
        "bridge" => {
            let own = call.space.memory(source)?.clone();
            let reached = paths(call.space, source, true)?;
            for (end, path) in reached {
                let other = call.space.memory(end)?;
                let elsewhere = other.cluster != own.cluster
                    || other.tags.iter().all(|tag| !own.tags.contains(tag)) && !other.tags.is_empty();
                if target.is_none_or(|target| target == end) && elsewhere {
                    found.push(("bridge", path, 1.0));
                }
            }
            "from the source to memories of another topic"
        }
        _ => {
            let mut causes: Vec<(Id, Path)> = paths(call.space, source, false)?.into_iter().collect();
            if let Some(target) = target {
                causes.retain(|(cause, _)| *cause == target);
            }
            let total: f64 = causes.iter().map(|(_, path)| path.strength()).sum();
            for (_, mut path) in causes {
                let share = path.strength() / total.max(1e-12);
                path.nodes.reverse();
                path.strengths.reverse();
                found.push(("abduction", path, share));
            }
            "the causes that explain the source best, with their share"
        }
    };
    // Each edge is held against a bound already; to other topics only what is sure is shown, as nobody named the target.
    found.retain(|(way, path, _)| *way != "bridge" || path.confidence() >= CONFIDENT);
    found.sort_by(|a, b| (b.1.strength() * b.2).total_cmp(&(a.1.strength() * a.2)));
    found.truncate(RESULTS);
    let mut results = Vec::new();
    for (way, path, share) in &found {
        call.space.walked(&path.nodes, call.now);
        let confidence = if *way == "abduction" { *share } else { path.confidence() };
        let texts = call.space.texts(&path.nodes)?;
        let told: Vec<String> =
            path.nodes.iter().map(|id| shortened(texts.get(id).map_or("", String::as_str))).collect();
        let mut explanation = told.first().cloned().unwrap_or_default();
        for (text, strength) in told.iter().skip(1).zip(&path.strengths) {
            explanation.push_str(&format!(" -> ({strength:.2}) {text}"));
        }
        results.push(json!({
            "direction": way,
            "source": path.nodes.first(),
            "target": path.nodes.last(),
            "strength": path.strength(),
            "confidence": confidence,
            "path": path.nodes,
            "path_length": path.strengths.len(),
            "is_direct": path.strengths.len() <= 1,
            "is_high_confidence": confidence >= 0.8,
            "is_strong": path.strength() >= 0.7,
            "texts": told,
            "explanation": explanation,
        }));
    }
    Ok(json!({
        "result_count": results.len(),
        "results": results,
        "direction": direction,
        "direction_description": description,
        "source": source,
        "target": target,
        "inference_config": {"min_confidence": LEAST, "max_path_length": MAX_PATH_EDGES, "include_indirect": true},
    }))
}
