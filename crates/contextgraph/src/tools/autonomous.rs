//! What the memory does about itself.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::args::Param;
use super::schema::{ANY, FLAG, NUMBER, TEXT, WHOLE, list, maybe, object, or_null, output};
use super::thresholds::timeframe;
use super::{Call, Class, Spec};
use crate::Id;
use crate::autonomy::consolidation::Strategy;
use crate::autonomy::drift::{self, Correction, Severity, Trend};
use crate::autonomy::goals::Goal;
use crate::autonomy::pruning::{self, Candidate, Rules};
use crate::embedders::space::SPACES;
use crate::error::{Code, Outcome, Problem};
use crate::mind::Doc;
use crate::steering::quality;

const DAY_MS: f64 = 86_400_000.0;

pub(super) fn tools() -> Vec<Spec> {
    let spec = |name, title, description, class, params, output, run| Spec {
        name,
        title,
        description,
        category: "autonomous",
        class,
        idempotent: matches!(class, Class::Read),
        params,
        output,
        run,
    };
    vec![
        spec(
            "auto_bootstrap_north_star",
            "Find the north star",
            "Finds the theme that most memories are about and makes it the north star by which all are measured. Needs at least three memories.",
            Class::Write,
            vec![
                Param::number("confidence_threshold", "How firm the theme must be", 0.0, 1.0).default(0.7),
                Param::whole("max_candidates", "How many themes to look at", 1, 100).default(10),
                Param::flag("replace", "Whether to look again if there is a north star").default(false),
            ],
            output(&[
                ("bootstrap_result", ANY),
                ("discovery_metadata", ANY),
                ("initialized_services", list(TEXT)),
                ("recommendations", list(TEXT)),
                ("status", TEXT),
                ("note", TEXT),
                ("undo", maybe(TEXT)),
            ]),
            auto_bootstrap_north_star,
        ),
        spec(
            "get_alignment_drift",
            "Alignment drift",
            "How far memories are from the north star in each space, and where that goes. Without a north star, from their own middle. Each look is \
             remembered for the trend.",
            Class::Read,
            vec![
                Param::word("timeframe", "How far back the history goes", &["1h", "24h", "7d", "30d"]).default("24h"),
                Param::flag("include_history", "Whether to show earlier looks").default(false),
                Param::ids("memory_ids", "Only these memories"),
                Param::text("strategy", "Accepted for older programs"),
                Param::id("goal_id", "Accepted for older programs: the north star is used"),
            ],
            output(&[
                ("overall_drift", ANY),
                (
                    "per_embedder_drift",
                    list(object(&[
                        ("embedder", TEXT),
                        ("embedder_index", WHOLE),
                        ("similarity", NUMBER),
                        ("drift_score", NUMBER),
                        ("drift_level", TEXT),
                    ])),
                ),
                ("most_drifted_embedders", list(TEXT)),
                ("recommendations", list(ANY)),
                ("trend", ANY),
                ("analyzed_count", WHOLE),
                ("timestamp", WHOLE),
                ("timeframe", TEXT),
                ("reference_type", TEXT),
                ("reference_id", or_null(TEXT)),
                ("history", maybe(list(ANY))),
            ]),
            get_alignment_drift,
        ),
        spec(
            "trigger_drift_correction",
            "Correct drift",
            "Corrects drift by what fits its severity and trend: changes the weights of the spaces or the threshold, and measures again.",
            Class::Write,
            vec![
                Param::flag("force", "Whether to correct even without drift").default(false),
                Param::number("target_alignment", "Stop when alignment is this high already", 0.0, 1.0),
            ],
            output(&[
                ("correction_result", maybe(ANY)),
                ("before_state", ANY),
                ("after_state", maybe(ANY)),
                ("forced", FLAG),
                ("skipped", maybe(FLAG)),
                ("reason", maybe(TEXT)),
            ]),
            trigger_drift_correction,
        ),
        spec(
            "get_pruning_candidates",
            "Pruning candidates",
            "Old memories that could go, with the reason: the same as another, without connection, not aligned, not found for long, of low quality. \
             Nothing is removed.",
            Class::Read,
            vec![
                Param::whole("limit", "How many", 1, 1000).default(20),
                Param::number("min_staleness_days", "How old they must be", 0.0, 36500.0).default(30),
                Param::number("min_alignment", "Aligned less counts as low", 0.0, 1.0).default(0.4),
            ],
            output(&[
                (
                    "candidates",
                    list(object(&[
                        ("memory_id", TEXT),
                        ("age_days", NUMBER),
                        ("alignment", NUMBER),
                        ("connections", WHOLE),
                        ("reason", TEXT),
                        ("byte_size", WHOLE),
                        ("priority_score", NUMBER),
                    ])),
                ),
                ("summary", ANY),
                ("limit_applied", WHOLE),
            ]),
            get_pruning_candidates,
        ),
        spec(
            "trigger_consolidation",
            "Consolidate memories",
            "Merges memories that say the same: one keeps all texts, the others are taken out and can be brought back with `undo`.\n\n\
             Alias: consolidate_memories (PRD compatibility)",
            Class::Destructive,
            vec![
                Param::whole("max_memories", "How many of the newest to look at", 1, 10_000).default(100),
                Param::word("strategy", "Which to merge", &Strategy::WORDS).default("similarity"),
                Param::number("min_similarity", "How alike they must be", 0.0, 1.0).default(0.85),
                Param::flag("dry_run", "Whether only to show what would be merged").default(false),
                Param::id("undo", "Takes back an earlier consolidation, by the id that it gave"),
            ],
            output(&[
                ("consolidation_result", ANY),
                ("statistics", maybe(ANY)),
                ("candidates_sample", maybe(list(ANY))),
                ("undo", maybe(TEXT)),
            ]),
            trigger_consolidation,
        ),
        spec(
            "discover_sub_goals",
            "Discover sub-goals",
            "Finds themes in the memories that could be goals, with their level and the goal they serve, and keeps them.\n\n\
             Alias: discover_goals (PRD compatibility)",
            Class::Write,
            vec![
                Param::number("min_confidence", "How sure a goal must be", 0.0, 1.0).default(0.6),
                Param::whole("max_goals", "How many", 1, 20).default(5),
                Param::id("parent_goal_id", "The goal that they serve"),
                Param::ids("memory_ids", "Only these memories"),
            ],
            output(&[
                (
                    "discovered_goals",
                    list(object(&[
                        ("goal_id", TEXT),
                        ("description", TEXT),
                        ("level", TEXT),
                        ("confidence", NUMBER),
                        ("member_count", WHOLE),
                        ("coherence_score", NUMBER),
                        ("dominant_embedders", list(TEXT)),
                    ])),
                ),
                (
                    "hierarchy_relationships",
                    list(object(&[("parent_id", TEXT), ("child_id", TEXT), ("similarity", NUMBER)])),
                ),
                ("cluster_analysis", ANY),
                ("discovery_metadata", ANY),
                ("parent_goal_id", or_null(TEXT)),
                ("discovery_mode", TEXT),
                ("discovery_count", WHOLE),
            ]),
            discover_sub_goals,
        ),
        spec(
            "get_autonomous_status",
            "Autonomous status",
            "The north star, what each service did last, the health of the whole, and what to do next.",
            Class::Read,
            vec![
                Param::flag("include_metrics", "Whether to show numbers").default(false),
                Param::flag("include_history", "Whether to show what was done").default(false),
                Param::whole("history_count", "How much of it", 1, 100).default(10),
            ],
            output(&[
                ("north_star", ANY),
                ("services", ANY),
                (
                    "overall_health",
                    object(&[
                        ("score", NUMBER),
                        ("status", TEXT),
                        ("north_star_configured", FLAG),
                        ("drift_severity", TEXT),
                    ]),
                ),
                ("recommendations", list(ANY)),
                ("metrics", maybe(ANY)),
                ("history", maybe(list(ANY))),
            ]),
            get_autonomous_status,
        ),
    ]
}

fn labels(spaces: &[usize]) -> Vec<&'static str> {
    spaces.iter().map(|&space| SPACES[space].label).collect()
}

fn shown(goal: &Goal) -> Value {
    json!({
        "goal_id": goal.id,
        "description": goal.description,
        "level": format!("{:?}", goal.level),
        "confidence": goal.confidence,
        "member_count": goal.members,
        "coherence_score": goal.coherence,
        "dominant_embedders": labels(&goal.dominant),
    })
}

const SERVICES: [&str; 6] = [
    "bootstrap_service",
    "drift_detector",
    "drift_corrector",
    "pruning_service",
    "consolidation_service",
    "subgoal_discovery",
];

fn auto_bootstrap_north_star(call: &mut Call<'_>) -> Outcome<Value> {
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

fn get_alignment_drift(call: &mut Call<'_>) -> Outcome<Value> {
    let only = call.args.ids("memory_ids");
    let (similarities, analyzed) = call.space.drift_now(only.as_deref(), call.now)?;
    let overall = call.space.aligned(&similarities);
    if only.is_none() && analyzed > 0 {
        call.space.mind.autonomy.drift.add(call.now, overall);
        call.space.mind.autonomy.last_drift_check = Some(call.now);
        call.space.touch(Doc::Autonomy);
    }
    let mut order: Vec<usize> = (0..SPACES.len()).collect();
    order.sort_by(|&a, &b| similarities[a].total_cmp(&similarities[b]));
    let drifted: Vec<usize> = order.iter().copied().filter(|&space| drift::calls(similarities[space])).collect();
    let recommendations: Vec<Value> = drifted
        .iter()
        .map(|&space| {
            let level = drift::level(similarities[space]);
            json!({
                "embedder": SPACES[space].label,
                "priority": if level == "Critical" { "high" } else if level == "High" { "medium" } else { "low" },
                "issue": format!("likeness {:.2} in {}", similarities[space], SPACES[space].name),
                "suggestion": "trigger_drift_correction, or store more of what the goal is about",
            })
        })
        .collect();
    let autonomy = &call.space.mind.autonomy;
    let history = &autonomy.drift;
    let mut answer = json!({
        "overall_drift": {
            "level": drift::level(overall), "similarity": overall, "drift_score": 1.0 - overall, "has_drifted": drift::calls(overall),
        },
        "per_embedder_drift": (0..SPACES.len()).map(|space| json!({
            "embedder": SPACES[space].label,
            "embedder_index": space,
            "similarity": similarities[space],
            "drift_score": 1.0 - similarities[space],
            "drift_level": drift::level(similarities[space]),
        })).collect::<Vec<_>>(),
        "most_drifted_embedders": labels(&drifted[..drifted.len().min(5)]),
        "recommendations": recommendations,
        "trend": {
            "direction": match history.slope() { s if s > 0.01 => "Improving", s if s < -0.01 => "Worsening", _ => "Stable" },
            "velocity": history.slope(),
            "samples": history.len(),
            "projected_critical_in": history.until_critical(),
        },
        "analyzed_count": analyzed,
        "timestamp": call.now,
        "timeframe": call.args.text("timeframe"),
        "reference_type": if autonomy.north_star.is_some() { "north_star" } else { "computed_centroid" },
        "reference_id": autonomy.north_star.as_ref().map(|star| star.id),
    });
    if call.args.flag("include_history") {
        let since = call.now.saturating_sub(timeframe(call.args.text("timeframe")));
        answer["history"] = history
            .since(since)
            .into_iter()
            .map(|(at, value)| json!({"at_ms": at, "alignment": value}))
            .collect::<Vec<_>>()
            .into();
    }
    Ok(answer)
}

fn drift_state(call: &Call<'_>) -> (Severity, Trend, Value) {
    let autonomy = &call.space.mind.autonomy;
    let magnitude = autonomy.drift.magnitude(call.now);
    let (severity, trend) = (Severity::of(magnitude), autonomy.drift.trend());
    let state = json!({
        "severity": format!("{severity:?}"),
        "trend": format!("{trend:?}"),
        "drift_magnitude": magnitude,
        "rolling_mean": autonomy.drift.rolling_mean(call.now),
        "baseline": drift::BASELINE,
        "threshold_shift": autonomy.drift.threshold_shift,
        "reference_type": if autonomy.north_star.is_some() { "north_star" } else { "computed_centroid" },
    });
    (severity, trend, state)
}

fn trigger_drift_correction(call: &mut Call<'_>) -> Outcome<Value> {
    let force = call.args.flag("force");
    if call.space.graph.is_empty() {
        let (_, _, before) = drift_state(call);
        return Ok(
            json!({"skipped": true, "reason": "there is no memory to measure", "before_state": before, "forced": force}),
        );
    }
    let (similarities, _) = call.space.drift_now(None, call.now)?;
    let overall = call.space.aligned(&similarities);
    call.space.mind.autonomy.drift.add(call.now, overall);
    let (severity, trend, before) = drift_state(call);
    let reached = call.args.maybe_number("target_alignment").is_some_and(|target| overall >= target);
    if !force && (reached || Correction::of(severity, trend) == Correction::NoAction) {
        let reason = if reached {
            "alignment is as high as asked for"
        } else {
            "the drift does not call for a correction: use force"
        };
        call.space.touch(Doc::Autonomy);
        return Ok(json!({"skipped": true, "reason": reason, "before_state": before, "forced": false}));
    }
    let (correction, alignment_before, alignment_after) = call.space.correct(severity, trend, force, call.now)?;
    let improvement = alignment_after - alignment_before;
    let (_, _, after) = drift_state(call);
    Ok(json!({
        "correction_result": {
            "strategy_applied": correction.name(),
            "alignment_before": alignment_before,
            "alignment_after": alignment_after,
            "improvement": improvement,
            "success": improvement >= 0.01 && correction != Correction::EmergencyIntervention,
            "weights": call.space.mind.autonomy.weights,
        },
        "before_state": before,
        "after_state": after,
        "forced": force,
    }))
}

fn get_pruning_candidates(call: &mut Call<'_>) -> Outcome<Value> {
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
        let candidate = Candidate {
            age_days: days(memory.created_at),
            idle_days: days(memory.last_access),
            alignment,
            has_goal,
            connections: space.graph.neighbours(slot).len(),
            quality: quality(f64::from(memory.delta_c), f64::from(memory.importance), memory.access_count),
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

fn trigger_consolidation(call: &mut Call<'_>) -> Outcome<Value> {
    if let Some(record) = call.args.maybe_id("undo") {
        let done = call.space.undo(record, call.now)?;
        return Ok(
            json!({"consolidation_result": {"status": "undone", "candidate_count": 0, "action_required": false, "note": done}}),
        );
    }
    let strategy = Strategy::from_word(call.args.text("strategy")).unwrap_or(Strategy::Similarity);
    let (most, least) = (call.args.whole("max_memories"), call.args.number("min_similarity"));
    let (progress, stopped) = (call.progress, call.stopped);
    let step = |at: usize, all: usize| {
        progress(at as f64, all.max(1) as f64);
        stopped()
    };
    let dry = call.args.flag("dry_run");
    let found = call.space.consolidate(strategy, most, least, call.now, &step)?;
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
    if dry {
        call.space.only_tried();
    }
    Ok(answer)
}

fn discover_sub_goals(call: &mut Call<'_>) -> Outcome<Value> {
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
                let alike = call
                    .space
                    .parent_of(&Goal { level: crate::autonomy::goals::Level::Operational, ..goal.clone() }, &among)?;
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

fn get_autonomous_status(call: &mut Call<'_>) -> Outcome<Value> {
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
            "merges": autonomy.consolidated,
            "pruning_candidates": autonomy.pruning_candidates,
            "space_weights": autonomy.weights,
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
