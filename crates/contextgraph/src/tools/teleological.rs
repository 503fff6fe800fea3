//! Purpose: what its tools take and give; vectors, fusion and feedback.

mod profiles;
mod search;

use serde_json::{Value, json};

use super::args::Param;
use super::schema::{ANY, FLAG, NUMBER, TEXT, WHOLE, list, maybe, object, or_null, output};
use super::{Class, Spec, ToolCall};
use crate::embedders::Modality;
use crate::embedders::space::{COUNT, SPACES};
use crate::error::{Outcome, Problem};
use crate::fingerprint::{Fingerprint, Packed};
use crate::mind::Doc;
use crate::teleology::compare::ComparisonStrategy;
use crate::teleology::fusion::{FusionMethod, fuse};
use crate::teleology::profile::{TASKS, shares};
use crate::teleology::tucker;
use crate::teleology::vector::Vector;
use profiles::manage_teleological_profile;
use search::search_teleological;

/// Fused vectors that are kept.
const FUSED: usize = 1_000;
const GROUP_NAMES: &[&str] = &["factual", "temporal", "causal", "relational", "qualitative", "implementation"];

pub(super) fn tools() -> Vec<Spec> {
    let vector = || {
        object(&[
            ("purpose_vector", list(NUMBER)),
            ("cross_correlations", list(NUMBER)),
            ("group_alignments", list(NUMBER)),
            ("confidence", NUMBER),
        ])
    };
    vec![
        Spec {
            name: "search_teleological",
            title: "Search by purpose",
            description: "Finds memories whose purpose is alike: by alignments, by correlations of spaces, by groups. Give a text or the id of \
                          a memory or query.",
            category: "teleological",
            class: Class::Read,
            idempotent: true,
            params: vec![
                Param::text("query_content", "A text to compare with"),
                Param::id("query_vector_id", "A memory, or an earlier query, to compare with"),
                Param::word("strategy", "How to compare", &ComparisonStrategy::WORDS).default("adaptive"),
                Param::word(
                    "scope",
                    "What to compare",
                    &["full", "purpose_vector_only", "cross_correlations_only", "group_alignments_only"],
                )
                .default("full"),
                Param::texts("specific_groups", "Only these groups of spaces"),
                Param::whole("specific_embedder", "Only this space, 0 to 12", 0, 12),
                Param::number("weight_purpose", "What alignments count", 0.0, 1.0).default(0.4),
                Param::number("weight_correlations", "What correlations count", 0.0, 1.0).default(0.35),
                Param::number("weight_groups", "What groups count", 0.0, 1.0).default(0.15),
                Param::number("min_similarity", "Leave out what is less alike", 0.0, 1.0).default(0.3),
                Param::whole("max_results", "How many results", 1, 1000).default(20),
                Param::flag("include_breakdown", "Whether to show each space").default(true),
                Param::flag("include_content", "Whether to give the texts").default(false),
            ],
            output: output(&[
                ("success", FLAG),
                ("strategy", TEXT),
                ("scope", TEXT),
                ("query_type", TEXT),
                ("search_latency_ms", NUMBER),
                ("num_results", WHOLE),
                (
                    "results",
                    list(object(&[
                        ("rank", WHOLE),
                        ("id", TEXT),
                        ("similarity", NUMBER),
                        ("purpose_alignment", NUMBER),
                        ("dominant_embedder", TEXT),
                        ("breakdown", maybe(ANY)),
                        ("content", maybe(TEXT)),
                    ])),
                ),
            ]),
            run: search_teleological,
        },
        Spec {
            name: "compute_teleological_vector",
            title: "Compute a vector of purpose",
            description: "The vector of purpose of a text: alignment in thirteen spaces, 78 correlations, 6 groups; with `compute_tucker` also the \
                          decomposition of its tensor. Nothing is stored. A gauge: it changes nothing.",
            category: "teleological",
            class: Class::Read,
            idempotent: true,
            params: vec![
                Param::text("content", "The text").required(),
                Param::text("profile_id", "A profile that weighs the spaces"),
                Param::flag("compute_tucker", "Whether to take the tensor apart").default(false),
                Param::whole3("tucker_ranks", "The ranks to keep").default(json!([4, 4, 128])),
                Param::flag("include_per_embedder", "Whether to name each space").default(false),
            ],
            output: output(&[
                ("success", FLAG),
                ("vector", vector()),
                ("embedding_latency_ms", NUMBER),
                ("fusion_confidence", NUMBER),
                ("component_scores", ANY),
                ("metadata", ANY),
                ("tucker", maybe(ANY)),
                ("per_embedder", maybe(ANY)),
            ]),
            run: compute_teleological_vector,
        },
        Spec {
            name: "fuse_embeddings",
            title: "Fuse the spaces of a memory",
            description: "Makes one vector of purpose of a memory, by a method and a profile or weights, and keeps it.",
            category: "teleological",
            class: Class::Write,
            idempotent: true,
            params: vec![
                Param::id("memory_id", "The memory").required(),
                Param::word("fusion_method", "How", &FusionMethod::WORDS).default("hierarchical"),
                Param::text("profile_id", "A profile that weighs the spaces"),
                Param::numbers("custom_weights", "Weights of the spaces, instead of a profile", COUNT),
                Param::flag("apply_synergy", "Whether spaces strengthen each other").default(true),
                Param::flag("store_result", "Whether to keep it").default(true),
            ],
            output: output(&[
                ("success", FLAG),
                ("vector", vector()),
                ("confidence", NUMBER),
                ("component_scores", ANY),
                ("metadata", ANY),
                ("stored", FLAG),
            ]),
            run: fuse_embeddings,
        },
        Spec {
            name: "update_synergy_matrix",
            title: "Give feedback",
            description: "Says whether a result was right for a query: for this query and those nearly the same it rises or falls from now on, and the \
                          weights of spaces, confidence and modulators learn from it. Ids are those of search_graph: `queryId` and a result.",
            category: "teleological",
            class: Class::Write,
            idempotent: false,
            params: vec![
                Param::id("query_vector_id", "The query, or a memory that was compared").required(),
                Param::id("result_vector_id", "The result").required(),
                Param::word("feedback", "How right it was", &["relevant", "not_relevant", "partially_relevant"])
                    .required(),
                Param::number("relevance_score", "How right exactly, instead of the word", 0.0, 1.0),
                Param::number("learning_rate", "How much to learn", 0.001, 0.5).default(0.01),
                Param::word(
                    "update_scope",
                    "Which pairs learn",
                    &["all_pairs", "high_synergy_only", "contributing_pairs"],
                )
                .default("contributing_pairs"),
            ],
            output: output(&[
                ("success", FLAG),
                ("pairs_updated", WHOLE),
                ("feedback", TEXT),
                ("learning_triggered", FLAG),
                ("learning_result", or_null(ANY)),
                ("matrix_stats", ANY),
                ("undo", TEXT),
            ]),
            run: update_synergy_matrix,
        },
        Spec {
            name: "manage_teleological_profile",
            title: "Manage profiles",
            description: "Creates, reads, updates, deletes and lists profiles: how much each space counts for a kind of task. `find_best` chooses \
                          one for a text given as `name`.",
            category: "teleological",
            class: Class::Destructive,
            idempotent: false,
            params: vec![
                Param::word(
                    "action",
                    "What to do",
                    &["create", "read", "update", "delete", "list", "get", "find_best"],
                )
                .required(),
                Param::short("profile_id", "The profile", 128),
                Param::short("name", "A name for people; for find_best the task in words", 1024),
                Param::word("task_type", "What it is for", &TASKS),
                Param::numbers("embedder_weights", "Weights of the spaces", COUNT),
                Param::object("group_priorities", "Priorities of the six groups"),
                Param::word("fusion_strategy", "How to fuse", &["linear", "attention", "gated", "hierarchical"]),
            ],
            output: output(&[
                ("success", FLAG),
                ("action", TEXT),
                ("profile_id", maybe(TEXT)),
                ("weights", maybe(list(NUMBER))),
                ("name", maybe(TEXT)),
                ("task_type", maybe(TEXT)),
                ("profiles", maybe(list(ANY))),
                ("count", maybe(WHOLE)),
                ("similarity", maybe(NUMBER)),
                ("reason", maybe(TEXT)),
                ("undo", maybe(TEXT)),
            ]),
            run: manage_teleological_profile,
        },
    ]
}

/// The weights of a profile, if one is named.
fn weights(call: &ToolCall<'_>) -> Outcome<Option<[f64; COUNT]>> {
    if let Some(custom) = call.args.numbers("custom_weights") {
        return shares(&custom).map(Some);
    }
    let Some(id) = call.args.maybe_text("profile_id") else { return Ok(None) };
    Ok(Some(call.space.mind.teleology.profiles.get(id)?.embedder_weights))
}

fn describe(vector: &Vector) -> (Value, Value) {
    let mean = crate::vector::mean;
    let (i, j) = vector.strongest_pair();
    let scores = json!({
        "purpose_vector": mean(&vector.purpose_vector),
        "correlations": mean(&vector.cross_correlations),
        "groups": mean(&vector.group_alignments),
    });
    let metadata = json!({
        "active_embedders": vector.active().len(),
        "strongest_pair": [SPACES[i].label, SPACES[j].label],
        "dominant_group": vector.dominant_group(),
        "dominant_embedder": SPACES[vector.dominant()].label,
        "is_quality": vector.confidence >= 0.3,
    });
    (scores, metadata)
}

fn compute_teleological_vector(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let args = call.args;
    let text = args.text("content");
    if text.trim().is_empty() {
        return Err(Problem::params("`content` must not be empty"));
    }
    let weights = weights(call)?;
    let content = call.space.embedders().content(text, Modality::Text, &call.space.graph)?;
    let packed = Packed::of(&content);
    let near = call.space.graph.index.by_meaning(&packed.scan_row(), 5, |_| true);
    let e8 = crate::vector::mean(
        &near.iter().filter_map(|(slot, _)| Some(f64::from(call.space.graph.at(*slot)?.theta))).collect::<Vec<_>>(),
    );
    let alignments = call.space.content_alignments(&packed, call.now, e8 as f32, call.now)?;
    let vector = Vector::of(alignments, Some(&call.space.mind.teleology.synergy), weights.as_ref());
    let (scores, metadata) = describe(&vector);
    let mut answer = json!({
        "success": true,
        "vector": vector,
        "embedding_latency_ms": (call.elapsed_ms)(),
        "fusion_confidence": vector.confidence,
        "component_scores": scores,
        "metadata": metadata,
        "reference": if call.space.mind.autonomy.north_star.is_some() { "north_star" } else { "recent_memories" },
    });
    if args.flag("compute_tucker") {
        let ranks = args.numbers("tucker_ranks").unwrap_or_default();
        let ranks: [usize; 3] = std::array::from_fn(|mode| ranks.get(mode).map_or(4, |rank| *rank as usize));
        let place = call.space.graph.place_near(&near);
        let fingerprint = Fingerprint::at(content, call.now, call.now, place);
        let vectors: [Vec<f32>; COUNT] = std::array::from_fn(|space| {
            fingerprint.spaces[space].as_ref().map(crate::fingerprint::Embedding::dense).unwrap_or_default()
        });
        let found = tucker::decompose(&vectors, ranks);
        answer["tucker"] = json!({
            "ranks": found.ranks,
            "core_size": found.core.len(),
            "iterations": found.iterations,
            "reconstruction_error": found.reconstruction_error,
            "compression_ratio": found.compression_ratio,
        });
    }
    if args.flag("include_per_embedder") {
        let spaces: Vec<Value> = SPACES
            .iter()
            .zip(&vector.purpose_vector)
            .map(|(space, alignment)| json!({"embedder": space.label, "axis": space.axis, "alignment": alignment}))
            .collect();
        answer["per_embedder"] = json!(spaces);
    }
    Ok(answer)
}

fn fuse_embeddings(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let args = call.args;
    let id = args.id("memory_id")?;
    call.space.memory(id)?;
    let weights = weights(call)?;
    let method = FusionMethod::from_word(args.text("fusion_method")).unwrap_or(FusionMethod::Hierarchical);
    let alignments = call.space.memory_alignments(id, call.now)?;
    let fused = fuse(&alignments, method, weights.as_ref());
    let synergy = args.flag("apply_synergy").then_some(&call.space.mind.teleology.synergy);
    let vector = Vector::of(fused, synergy, weights.as_ref());
    let stored = args.flag("store_result");
    if stored {
        let kept = &mut call.space.mind.teleology.fused;
        kept.insert(id, (fused, vector.confidence));
        while kept.len() > FUSED {
            kept.pop_first();
        }
        call.space.touch(Doc::Teleology);
    }
    let (scores, mut metadata) = describe(&vector);
    metadata["fusion_method"] = args.text("fusion_method").into();
    metadata["profile_applied"] = json!(args.maybe_text("profile_id"));
    metadata["synergy_applied"] = json!(args.flag("apply_synergy"));
    Ok(json!({
        "success": true,
        "vector": vector,
        "confidence": vector.confidence,
        "component_scores": scores,
        "metadata": metadata,
        "stored": stored,
    }))
}

fn update_synergy_matrix(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let args = call.args;
    let word = args.text("feedback");
    let right = args.maybe_number("relevance_score").unwrap_or(match word {
        "relevant" => 1.0,
        "not_relevant" => 0.0,
        _ => 0.5,
    });
    let feedback = call.space.feedback(
        args.id("query_vector_id")?,
        args.id("result_vector_id")?,
        right,
        args.number("learning_rate"),
        args.text("update_scope"),
        call.now,
    )?;
    let synergy = &call.space.mind.teleology.synergy;
    let triangle = synergy.triangle();
    Ok(json!({
        "success": true,
        "pairs_updated": feedback.pairs_updated,
        "feedback": word,
        "relevance": right,
        "learning_triggered": feedback.learned.is_some(),
        "learning_result": feedback.learned,
        "events_waiting": feedback.waiting,
        "calibration_labelled": feedback.calibrated,
        "matrix_stats": {
            "mean": crate::vector::mean(triangle),
            "min": triangle.iter().copied().fold(f64::INFINITY, f64::min),
            "max": triangle.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            "updates": synergy.updates,
            "confidence": synergy.confidence(),
        },
        "undo": feedback.record,
    }))
}
