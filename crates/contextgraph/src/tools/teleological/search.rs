//! Finding memories by purpose.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::ToolCall;
use super::GROUP_NAMES;
use crate::Id;
use crate::embedders::Modality;
use crate::embedders::space::{COUNT, SPACES};
use crate::engine::MemorySearch;
use crate::error::{Outcome, Problem};
use crate::fingerprint::Packed;
use crate::teleology::GROUPS;
use crate::teleology::compare::{ComparisonScope, ComparisonStrategy, compare};
use crate::teleology::vector::Vector;

/// Candidates that are compared by purpose.
const CANDIDATES: usize = 200;
pub(super) fn search_teleological(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let args = call.args;
    let (packed, created, kind, own): (Arc<Packed>, u64, &str, Option<Id>) = match (
        args.maybe_id("query_vector_id"),
        args.maybe_text("query_content").filter(|text| !text.trim().is_empty()),
    ) {
        (Some(id), _) => {
            let (packed, created) = call.space.vectors_of(id)?;
            (packed, created, "existing_vector", Some(id))
        }
        (None, Some(text)) => {
            let content = call.space.embedders().content(text, Modality::Text, &call.space.graph)?;
            (Arc::new(Packed::of(&content)), call.now, "embedded", None)
        }
        (None, None) => return Err(Problem::params("give `query_content` or `query_vector_id`")),
    };
    let strategy = ComparisonStrategy::from_word(args.text("strategy")).unwrap_or(ComparisonStrategy::Adaptive);
    let parts = match args.text("scope") {
        "purpose_vector_only" => [true, false, false],
        "cross_correlations_only" => [false, true, false],
        "group_alignments_only" => [false, false, true],
        _ => [true; 3],
    };
    let scope = ComparisonScope {
        parts,
        weights: [args.number("weight_purpose"), args.number("weight_correlations"), args.number("weight_groups")],
    };
    let groups = args.texts("specific_groups");
    if let Some(unknown) = groups.iter().find(|group| !GROUP_NAMES.contains(&group.as_str())) {
        return Err(Problem::params(format!("`specific_groups`: {unknown:?} is none of {}", GROUP_NAMES.join(", "))));
    }
    let single = args.maybe_number("specific_embedder").map(|space| space as usize);
    let counts = |space: usize| {
        single.is_none_or(|single| single == space)
            && (groups.is_empty()
                || GROUPS
                    .iter()
                    .any(|(name, members)| groups.iter().any(|group| group == name) && members.contains(&space)))
    };
    let masked = |values: [f64; COUNT]| -> [f64; COUNT] {
        std::array::from_fn(|space| if counts(space) { values[space] } else { 0.0 })
    };
    let alignments = call.space.content_alignments(&packed, created, 0.0, call.now)?;
    let synergy = call.space.mind.teleology.synergy.clone();
    let query = Vector::of(masked(alignments), Some(&synergy), None);
    let most = CANDIDATES.max(args.whole("max_results"));
    let plain =
        MemorySearch { query: "", most, least: 0.0, filter: crate::engine::MemoryFilter::default(), walk: false };
    let hits = call.space.nearest(&packed, call.now, &plain)?;
    let candidates = hits.len();
    // What all are measured by is the same for all.
    let middle = call.space.recent_middle()?;
    let mut found = Vec::new();
    for hit in hits.into_iter().filter(|hit| Some(hit.id) != own) {
        let aligned = match call.space.mind.teleology.fused.get(&hit.id) {
            Some((fused, _)) => *fused,
            None => call.space.memory_alignments_by(hit.id, middle.as_ref(), call.now)?,
        };
        let vector = Vector::of(masked(aligned), Some(&synergy), None);
        // Purposes are alike in much that is stored: half of it is how alike the memories are in the spaces that count.
        let near: Vec<f64> =
            (0..COUNT).filter(|&space| counts(space)).map(|space| f64::from(hit.spaces[space])).collect();
        let purpose = compare(&query, &vector, strategy, &scope, &synergy);
        let similarity = f64::midpoint(purpose, crate::vector::mean(&near));
        found.push((similarity, purpose, hit));
    }
    found.retain(|one| one.0 >= args.number("min_similarity"));
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.id.cmp(&b.2.id)));
    let above = found.len();
    found.truncate(args.whole("max_results"));
    let ids: Vec<Id> = found.iter().map(|one| one.2.id).collect();
    let texts = if args.flag("include_content") { call.space.texts(&ids)? } else { Default::default() };
    let mut results = Vec::new();
    for (rank, (similarity, purpose, hit)) in found.iter().enumerate() {
        call.space.mark_found(hit.id, call.now);
        let theta = call.space.memory(hit.id)?.theta;
        let mut result = json!({
            "rank": rank + 1,
            "id": hit.id,
            "similarity": similarity,
            "purpose_alignment": theta,
            "dominant_embedder": SPACES[hit.dominant].label,
        });
        if args.flag("include_breakdown") {
            result["breakdown"] = json!({
                "similarity": similarity,
                "purpose_alignment": purpose,
                "embedder_scores": hit.spaces,
                // Words, meaning, both ranks together, purpose, matches of single words.
                "stage_scores": [hit.spaces[5], hit.spaces[0], hit.similarity, purpose, f64::from(hit.spaces[11])],
            });
        }
        if let Some(text) = texts.get(&hit.id) {
            result["content"] = text.as_str().into();
        }
        results.push(result);
    }
    Ok(json!({
        "success": true,
        "strategy": args.text("strategy"),
        "scope": args.text("scope"),
        "query_type": kind,
        "search_latency_ms": (call.elapsed_ms)(),
        "num_results": results.len(),
        "candidates": {"compared": candidates, "above_threshold": above},
        "results": results,
    }))
}
