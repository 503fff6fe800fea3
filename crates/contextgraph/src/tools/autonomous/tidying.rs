//! Tidying: what could go, and what says the same.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::super::ToolCall;
use super::super::args::Args;
use crate::Id;
use crate::autonomy::consolidation::ConsolidationStrategy;
use crate::autonomy::pruning::{self, PruningCandidate, Rules};
use crate::engine::{Comparing, Space};
use crate::error::Outcome;
use crate::mind::Doc;
use crate::steering::quality;

const DAY_MS: f64 = 86_400_000.0;

pub(super) fn get_pruning_candidates(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let rules = Rules {
        min_age_days: call.args.number("min_staleness_days"),
        min_alignment: call.args.number("min_alignment"),
    };
    let now = call.now;
    let space = &call.space;
    // Of memories with the same text, the one that is aligned best stays; of equals, the oldest.
    let mut best: HashMap<&str, (f32, std::cmp::Reverse<Id>)> = HashMap::new();
    for (_, memory) in space.graph.memories() {
        let own = (memory.theta, std::cmp::Reverse(memory.id));
        let known = best.entry(&memory.hash).or_insert(own);
        if own.0.total_cmp(&known.0).then(own.1.cmp(&known.1)).is_gt() {
            *known = own;
        }
    }
    let has_goal = space.mind.autonomy.north_star.is_some();
    let days = |since: u64| now.saturating_sub(since) as f64 / DAY_MS;
    let mut found: Vec<(f64, Value, &'static str)> = Vec::new();
    for (slot, memory) in space.graph.memories() {
        let alignment = f64::from(memory.theta);
        let candidate = PruningCandidate {
            age_days: days(memory.created_at),
            idle_days: days(memory.last_access),
            alignment,
            has_goal,
            connections: space.graph.neighbours(slot).len(),
            quality: quality(f64::from(memory.delta_c), f64::from(memory.importance), memory.access_count),
            unwanted: memory.importance < 0.5 && memory.access_count == 0,
            redundant: best.get(memory.hash.as_str()).is_some_and(|best| best.1.0 != memory.id),
        };
        if let Some(reason) = pruning::reason(&candidate, &rules) {
            let priority = pruning::priority(&candidate);
            let shown = json!({
                "memory_id": memory.id, "age_days": candidate.age_days, "alignment": alignment, "connections": candidate.connections,
                "reason": reason, "byte_size": memory.bytes, "priority_score": priority,
            });
            found.push((priority, shown, reason));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut by_reason: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, _, reason) in &found {
        *by_reason.entry(reason).or_default() += 1;
    }
    let limit = call.args.whole("limit");
    let (total, analyzed) = (found.len(), space.graph.len());
    let candidates: Vec<Value> = found.into_iter().take(limit).map(|one| one.1).collect();
    call.space.mind.autonomy.last_pruning = Some(now);
    call.space.mind.autonomy.pruning_candidates = total;
    call.space.touch(Doc::Autonomy);
    Ok(json!({
        "candidates": candidates,
        "summary": {
            "total_candidates": total,
            "by_reason": by_reason,
            "thresholds_used": {"min_staleness_days": rules.min_age_days, "min_alignment": rules.min_alignment, "min_connections": pruning::CONNECTED},
            "fingerprints_analyzed": analyzed,
        },
        "limit_applied": limit,
    }))
}

/// Begins to compare what a consolidation with these arguments is about.
pub(crate) fn comparing(space: &Space, args: &Args) -> Comparing {
    let strategy = ConsolidationStrategy::from_word(args.text("strategy")).unwrap_or(ConsolidationStrategy::Similarity);
    space.begin_comparing(strategy, args.whole("max_memories"), args.number("min_similarity"))
}

pub(super) fn trigger_consolidation(call: &mut ToolCall<'_>) -> Outcome<Value> {
    if let Some(record) = call.args.maybe_id("undo") {
        let done = call.space.undo(record, call.now)?;
        return Ok(
            json!({"consolidation_result": {"status": "undone", "candidate_count": 0, "action_required": false, "note": done}}),
        );
    }
    let (most, least) = (call.args.whole("max_memories"), call.args.number("min_similarity"));
    let (progress, stopped) = (call.progress, call.stopped);
    let step = |at: usize, all: usize| {
        progress(at as f64, all.max(1) as f64);
        stopped()
    };
    let dry = call.args.flag("dry_run");
    // Compared in slices before this call held the space.
    let compared = call.compared.take().unwrap_or_else(|| comparing(call.space, call.args));
    let found = call.space.merge_compared(compared, dry, call.now, &step)?;
    let answer = json!({
        "consolidation_result": {
            "status": if found.merges.is_empty() { "no_candidates" } else if dry { "candidates_found" } else { "merged" },
            "candidate_count": found.merges.len(),
            "action_required": dry && !found.merges.is_empty(),
            "more_left": found.limited,
        },
        "statistics": {
            "pairs_evaluated": found.pairs_evaluated,
            "pairs_consolidated": if dry { 0 } else { found.merges.len() },
            "strategy": call.args.text("strategy"),
            "similarity_threshold": least,
            "max_memories_limit": most,
            "fingerprints_analyzed": found.analyzed,
        },
        "candidates_sample": found.merges.iter().take(10).collect::<Vec<_>>(),
        "undo": found.record.filter(|_| !dry).map_or_else(String::new, |record| record.to_string()),
    });
    Ok(answer)
}
