//! The difference of two fingerprints.

use serde_json::{Value, json};

use super::args::Param;
use super::schema::{ANY, NUMBER, TEXT, list, maybe, output};
use super::{Class, Spec, ToolCall};
use crate::embedders::space::{COUNT, SPACES};
use crate::error::{Code, Outcome, Problem};
use crate::fingerprint::{Embedding, Fingerprint, wire};
use crate::graph::Slot;
use crate::johari::{self, Quadrant};
use crate::utl::coherence::{self, WEIGHTS};
use crate::utl::surprise::{self, Against, Usual};

/// Members of a cluster that are looked at.
const SAMPLE: usize = 200;

pub(super) fn tools() -> Vec<Spec> {
    vec![Spec {
        name: "compute_delta_sc",
        title: "Compute delta S and delta C",
        description: "How surprising a new fingerprint is after an old one, in each of the thirteen spaces (delta S), how well it fits in the \
                      graph (delta C), and the Johari window of each space. A gauge: it changes nothing.",
        category: "utl",
        class: Class::Read,
        idempotent: true,
        params: vec![
            Param::id(
                "vertex_id",
                "The memory that changes; without one, or for one that is not there, connectivity is left out",
            ),
            Param::object(
                "old_fingerprint",
                "Before: {\"memory_id\": ..}, {\"content\": ..}, or the vectors {\"semantic\": {\"e1_semantic\": [..], ..}}",
            )
            .also(&["old"])
            .required(),
            Param::object("new_fingerprint", "After: the same, all thirteen vectors").also(&["new"]).required(),
            Param::flag("include_diagnostics", "Whether to show how it was computed").default(false),
            Param::number("johari_threshold", "Where the line between the windows is", 0.35, 0.65).default(0.5),
        ],
        output: output(&[
            ("delta_s_per_embedder", list(NUMBER)),
            ("delta_s_aggregate", NUMBER),
            ("delta_c", NUMBER),
            ("johari_quadrants", list(TEXT)),
            ("johari_aggregate", TEXT),
            ("utl_learning_potential", NUMBER),
            ("diagnostics", maybe(ANY)),
        ]),
        run: compute_delta_sc,
    }]
}

/// Coherence of a fingerprint in the graph, by the likeness of its meaning to others.
fn fit(call: &ToolCall<'_>, new: &Fingerprint) -> coherence::Coherence {
    let graph = &call.space.graph;
    let row = new.spaces[0].as_ref().map(|embedding| {
        let mut values: Vec<f32> = embedding.dense().into_iter().take(256).collect();
        crate::vector::normalize(&mut values);
        // Each part of a vector of length 127 is at most 127.
        std::array::from_fn::<i8, 256, _>(|at| values.get(at).map_or(0, |value| (value * 127.0).round() as i8))
    });
    let row = row.unwrap_or([0; 256]);
    let vertex = call.args.maybe_id("vertex_id").and_then(|id| graph.slot(id));
    let like =
        |slot: Slot| graph.index.row(slot).map_or(0.0, |other| f64::from(crate::graph::index::likeness(&row, other)));
    let neighbours: Vec<f64> =
        vertex.map(|slot| graph.neighbours(slot).iter().map(|(other, _)| like(*other)).collect()).unwrap_or_default();
    let connectivity = vertex.map(|_| coherence::connectivity(&neighbours));
    let cluster = vertex.and_then(|slot| Some(graph.at(slot)?.cluster));
    let silhouette = cluster.and_then(|cluster| {
        let near = graph.index.by_meaning(&row, SAMPLE, |slot| Some(slot) != vertex);
        let distances = |same: bool| -> Vec<f64> {
            near.iter()
                .filter(|(slot, _)| graph.at(*slot).is_some_and(|memory| (memory.cluster == cluster) == same))
                .map(|(_, likeness)| 1.0 - f64::from(*likeness))
                .collect()
        };
        // The nearest other cluster is the one of the nearest memory outside.
        let nearest =
            near.iter().find_map(|(slot, _)| Some(graph.at(*slot)?.cluster).filter(|other| *other != cluster));
        let other: Vec<f64> = nearest.map_or_else(Vec::new, |nearest| {
            near.iter()
                .filter(|(slot, _)| graph.at(*slot).is_some_and(|memory| memory.cluster == nearest))
                .map(|(_, likeness)| 1.0 - f64::from(*likeness))
                .collect()
        });
        coherence::silhouette(&distances(true), &other)
    });
    coherence::coherence(connectivity, silhouette, coherence::steadiness(&neighbours))
}

/// The fingerprint of an argument: of a memory, of a text as if it were stored now, or as it is written.
fn fingerprint(call: &mut ToolCall<'_>, name: &str) -> Outcome<Fingerprint> {
    let value = call.args.get(name).cloned().unwrap_or(Value::Null);
    let text = |keys: &[&str]| keys.iter().find_map(|key| value.get(*key)).cloned();
    if let Some(id) = text(&["memory_id", "memoryId", "fingerprintId"]) {
        let id = id.as_str().and_then(|id| id.parse().ok());
        let id = id.ok_or_else(|| Problem::params(format!("`memory_id` of `{name}` is a UUID")))?;
        return call.space.fingerprint(id, call.now);
    }
    match text(&["content"]) {
        None => wire::read(&value),
        Some(Value::String(content)) if !content.trim().is_empty() => call.space.fingerprint_of(&content, call.now),
        Some(_) => Err(Problem::params(format!("`content` of `{name}` is a text that is not empty"))),
    }
}

fn compute_delta_sc(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let began = std::time::Instant::now();
    let (old, new) = (fingerprint(call, "old_fingerprint")?, fingerprint(call, "new_fingerprint")?);
    let missing: Vec<&str> =
        (0..COUNT).filter(|&space| new.spaces[space].is_none()).map(|space| SPACES[space].id).collect();
    if !missing.is_empty() {
        let message = format!("the new fingerprint needs all thirteen vectors; missing: {}", missing.join(", "));
        return Err(Problem::new(Code::InvalidFingerprint, "MISSING_EMBEDDER", message));
    }
    for (space, (before, after)) in old.spaces.iter().zip(&new.spaces).enumerate() {
        let (Some(Embedding::Dense(before)), Some(Embedding::Dense(after))) = (before, after) else { continue };
        if before.len() != after.len() {
            let message = format!("{} has {} numbers before and {} after", SPACES[space].id, before.len(), after.len());
            return Err(Problem::new(Code::DimensionMismatch, "DIMENSION_MISMATCH", message));
        }
    }
    let graph = &call.space.graph;
    let telling = |term: u16| f64::from(crate::embedders::lexical::idf(graph, term));
    let usual = [Usual::default(); COUNT];
    let against = Against { seen: &[&old], usual: &usual, telling: &telling };
    let surprise = surprise::all(&new, against)?;
    let delta_s: Vec<f64> = surprise.iter().map(|one| one.value).collect();
    let aggregate = crate::vector::mean(&delta_s);
    let fit = fit(call, &new);
    let threshold = call.args.number("johari_threshold");
    let quadrants: [Quadrant; COUNT] = std::array::from_fn(|space| Quadrant::of(delta_s[space], fit.value, threshold));
    let mut answer = json!({
        "delta_s_per_embedder": delta_s,
        "delta_s_aggregate": aggregate,
        "delta_c": fit.value,
        "johari_quadrants": quadrants,
        "johari_aggregate": Quadrant::of(aggregate, fit.value, threshold),
        "utl_learning_potential": (aggregate * fit.value).clamp(0.0, 1.0),
    });
    if call.args.flag("include_diagnostics") {
        let length = |embedding: &Option<Embedding>| embedding.as_ref().map_or(0, Embedding::len);
        let per: Vec<Value> = (0..COUNT)
            .map(|space| {
                json!({
                    "embedder": SPACES[space].label,
                    "embedder_index": space,
                    "delta_s": delta_s[space],
                    "method": SPACES[space].method,
                    "old_embedding_dim": length(&old.spaces[space]),
                    "new_embedding_dim": length(&new.spaces[space]),
                })
            })
            .collect();
        answer["diagnostics"] = json!({
            "per_embedder": per,
            "johari_threshold": threshold,
            "insight": johari::across(&quadrants),
            "delta_c_components": {
                "connectivity": fit.connectivity,
                "cluster_fit": fit.cluster_fit,
                "consistency": fit.consistency,
                "weights": {"connectivity": WEIGHTS[0], "cluster_fit": WEIGHTS[1], "consistency": WEIGHTS[2]},
            },
            "cluster_fit_details": fit.silhouette,
            "methods_used": SPACES.map(|space| space.method),
            "embedder_weights": crate::teleology::profile::UNIFORM,
            "computation_time_us": u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        });
    }
    Ok(answer)
}
