//! Goals: the north star, those that serve it, and the state of the whole.

use serde_json::{Value, json};

use super::super::ToolCall;
use super::drift::drift_state;
use crate::autonomy::drift::Severity;
use crate::autonomy::goals::Goal;
use crate::embedders::space::SPACES;
use crate::error::{Code, Outcome, Problem};

pub(super) fn labels(spaces: &[usize]) -> Vec<&'static str> {
    spaces.iter().map(|&space| SPACES[space].label).collect()
}

fn shown(goal: &Goal) -> Value {
    json!({
        "goal_id": goal.id,
        "description": goal.description,
        "level": format!("{:?}", goal.level),
        "confidence": goal.confidence,
        "member_count": goal.members,
        "member_ids": goal.member_ids.iter().take(MAX_MEMBERS).collect::<Vec<_>>(),
        "coherence_score": goal.coherence,
        "dominant_embedders": labels(&goal.dominant),
    })
}

/// Members of a goal that are shown.
const MAX_MEMBERS: usize = 100;

const SERVICES: [&str; 6] = [
    "bootstrap_service",
    "drift_detector",
    "drift_corrector",
    "pruning_service",
    "consolidation_service",
    "subgoal_discovery",
];

pub(super) fn auto_bootstrap_north_star(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let existing = call.space.mind.autonomy.north_star.clone().filter(|_| !call.args.flag("replace"));
    if let Some(star) = existing {
        return Ok(json!({
            "bootstrap_result": {
                "goal_id": star.id, "goal_text": star.description, "confidence": 1.0, "coherence_score": star.coherence,
                "source": "existing_north_star", "dominant_embedders": labels(&star.dominant), "member_count": star.members,
            },
            "discovery_metadata": {"fingerprints_analyzed": 0, "clusters_found": 0, "goals_discovered": 0, "algorithm": "none"},
            "initialized_services": SERVICES,
            "recommendations": ["get_alignment_drift shows how far memories are from it"],
            "status": "already_bootstrapped",
            "note": "there is a north star; use replace to look again",
        }));
    }
    let (analyzed, clusters, mut found) = call.space.discover(None, call.now, call.stopped)?;
    if analyzed < 3 {
        let message = format!("{analyzed} memories are too few: store at least three first");
        return Err(Problem::new(Code::Storage, "TOO_FEW_MEMORIES", message));
    }
    found.truncate(call.args.whole("max_candidates"));
    let threshold = call.args.number("confidence_threshold");
    let best = found.iter().find(|found| found.goal.coherence >= threshold);
    let Some(best) = best.map(|found| found.goal.clone()) else {
        let firmest = found.iter().map(|found| found.goal.coherence).fold(0.0, f64::max);
        let message = format!(
            "no theme is firm enough: the firmest of {clusters} has a coherence of {firmest:.2}, {threshold} was asked for; store more about one \
             theme, or lower confidence_threshold"
        );
        return Err(Problem::new(Code::Refused, "NO_FIRM_THEME", message));
    };
    let record = call.space.follow(best.clone(), call.now)?;
    Ok(json!({
        "bootstrap_result": {
            "goal_id": best.id, "goal_text": best.description, "confidence": best.confidence, "coherence_score": best.coherence,
            "source": "discovered_from_clustering", "dominant_embedders": labels(&best.dominant), "member_count": best.members,
        },
        "discovery_metadata": {
            "fingerprints_analyzed": analyzed, "clusters_found": clusters, "goals_discovered": found.len(),
            "algorithm": "k-means over thirteen spaces",
        },
        "initialized_services": SERVICES,
        "recommendations": [
            "discover_sub_goals finds goals that serve it",
            "get_alignment_drift shows how far memories are from it",
        ],
        "status": "bootstrapped",
        "note": "every memory was measured by it",
        "undo": record,
    }))
}

pub(super) fn discover_sub_goals(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let parent = call.args.maybe_id("parent_goal_id");
    let known: Vec<Goal> =
        call.space.mind.autonomy.north_star.iter().chain(&call.space.mind.autonomy.goals).cloned().collect();
    if let Some(parent) = parent.filter(|parent| !known.iter().any(|goal| goal.id == *parent)) {
        let message = format!(
            "there is no goal {parent}; get_autonomous_status shows the north star, and this tool gives the ids of goals"
        );
        return Err(Problem::new(Code::Refused, "GOAL_NOT_FOUND", message));
    }
    let only = call.args.ids("memory_ids");
    let (analyzed, clusters, found) = call.space.discover(only.as_deref(), call.now, call.stopped)?;
    let least = call.args.number("min_confidence");
    let sizes: Vec<usize> = found.iter().map(|found| found.members.len()).collect();
    let total = found.len();
    let mut goals: Vec<Goal> = found
        .into_iter()
        .map(|found| found.goal)
        .filter(|goal| goal.confidence >= least)
        .take(call.args.whole("max_goals"))
        .collect();
    let mut relations = Vec::new();
    let all: Vec<Goal> = known.iter().chain(&goals).cloned().collect();
    for goal in &mut goals {
        let found = match parent {
            Some(parent) => {
                let among: Vec<Goal> = known.iter().filter(|known| known.id == parent).cloned().collect();
                let alike = call.space.parent_of(
                    &Goal { level: crate::autonomy::goals::GoalLevel::Operational, ..goal.clone() },
                    &among,
                )?;
                Some((parent, alike.map_or(0.0, |alike| alike.1)))
            }
            None => call.space.parent_of(goal, &all)?,
        };
        if let Some((parent, similarity)) = found {
            goal.parent = Some(parent);
            relations.push(json!({"parent_id": parent, "child_id": goal.id, "similarity": similarity}));
        }
    }
    call.space.keep_goals(&goals);
    Ok(json!({
        "discovered_goals": goals.iter().map(shown).collect::<Vec<_>>(),
        "hierarchy_relationships": relations,
        "cluster_analysis": {"clusters_found": clusters, "clusters_firm": total, "sizes": sizes},
        "discovery_metadata": {"fingerprints_analyzed": analyzed, "algorithm": "k-means over thirteen spaces", "min_confidence": least},
        "parent_goal_id": parent,
        "discovery_mode": if only.is_some() { "given_memories" } else { "whole_store" },
        "discovery_count": goals.len(),
    }))
}

pub(super) fn get_autonomous_status(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let (severity, trend, state) = drift_state(call);
    let records = call.space.records(None, 200)?;
    let autonomy = &call.space.mind.autonomy;
    let star = autonomy.north_star.as_ref();
    let score = star.map_or(0.0, |_| severity.health());
    let status = if score >= 0.8 {
        "healthy"
    } else if score >= 0.5 {
        "degraded"
    } else {
        "critical"
    };
    let mut recommendations = Vec::new();
    let mut advise = |priority: &str, action: &str, description: &str| {
        recommendations.push(json!({"priority": priority, "action": action, "description": description}));
    };
    if star.is_none() {
        advise("high", "auto_bootstrap_north_star", "there is no north star: nothing can be measured by a goal");
    }
    if severity >= Severity::Moderate {
        advise("high", "trigger_drift_correction", "memories have drifted from the goal");
    }
    if autonomy.drift.is_empty() && star.is_some() {
        advise("medium", "get_alignment_drift", "drift was never measured");
    }
    if autonomy.last_consolidation.is_none() && call.space.graph.len() > 50 {
        advise("low", "trigger_consolidation", "memories were never consolidated");
    }
    let service = |last: Option<u64>, word: &str| json!({"status": if last.is_some() { word } else { "ready" }, "last_run_ms": last});
    let mut answer = json!({
        "north_star": {
            "configured": star.is_some(),
            "goal_id": star.map(|star| star.id),
            "description": star.map(|star| star.description.clone()),
            "level": star.map(|star| format!("{:?}", star.level)),
            "member_ids": star.map(|star| star.member_ids.iter().take(MAX_MEMBERS).collect::<Vec<_>>()),
        },
        "services": {
            "bootstrap_service": {"status": if star.is_some() { "done" } else { "ready" }},
            "drift_detector": {"status": if autonomy.drift.is_empty() { "ready" } else { "active" }, "last_run_ms": autonomy.last_drift_check, "state": state, "trend": format!("{trend:?}")},
            "drift_corrector": {"status": "ready", "corrections": autonomy.corrections, "successful": autonomy.corrections_done},
            "pruning_service": service(autonomy.last_pruning, "active"),
            "consolidation_service": service(autonomy.last_consolidation, "active"),
            "subgoal_discovery": service(autonomy.last_discovery, "active"),
        },
        "overall_health": {"score": score, "status": status, "north_star_configured": star.is_some(), "drift_severity": format!("{severity:?}")},
        "recommendations": recommendations,
    });
    if call.args.flag("include_metrics") {
        answer["metrics"] = json!({
            "rolling_alignment": autonomy.drift.rolling_mean(call.now),
            "drift_looks": autonomy.drift.len(),
            "goals": autonomy.goals.len(),
            "goals_found": autonomy.goals.iter().map(shown).collect::<Vec<_>>(),
            "merges": autonomy.consolidated,
            "pruning_candidates": autonomy.pruning_candidates,
            "space_weights": call.space.search_weights(),
        });
    }
    if call.args.flag("include_history") {
        let history: Vec<Value> = records
            .iter()
            .filter(|record| record.kind != "stored")
            .take(call.args.whole("history_count"))
            .map(|record| json!({"id": record.id, "at_ms": record.at, "kind": record.kind, "data": serde_json::from_str::<Value>(&record.data).unwrap_or_default()}))
            .collect();
        answer["history"] = json!(history);
    }
    Ok(answer)
}
