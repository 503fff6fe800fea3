//! Drift: how far memories are from the goal, and what is done about it.

use serde_json::{Value, json};

use super::super::ToolCall;
use super::super::thresholds::timeframe;
use super::goals::labels;
use crate::autonomy::drift::{self, Correction, Severity, Trend};
use crate::embedders::space::{COUNT, SPACES};
use crate::error::Outcome;
use crate::mind::Doc;

pub(super) fn get_alignment_drift(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let only = call.args.ids("memory_ids");
    let star = call.space.mind.autonomy.north_star.as_ref().map(|star| star.id);
    let goal = call.args.maybe_id("goal_id").filter(|goal| Some(*goal) != star);
    let (similarities, analyzed) = match goal {
        Some(goal) => call.space.drift_from(goal, only.as_deref(), call.now)?,
        None => call.space.drift_now(only.as_deref(), call.now)?,
    };
    let overall = call.space.aligned(&similarities);
    // The history is of the north star.
    if only.is_none() && goal.is_none() && analyzed > 0 {
        if call.space.mind.autonomy.drift.baseline.is_none() {
            call.space.begin_drift(call.now)?;
        }
        call.space.mind.autonomy.drift.add(call.now, overall);
        call.space.mind.autonomy.last_drift_check = Some(call.now);
        call.space.touch(Doc::Autonomy);
    }
    // How much is left of what was there when the goal was set.
    let history = &call.space.mind.autonomy.drift;
    let left: [f64; COUNT] = std::array::from_fn(|space| history.left_in(space, similarities[space]));
    let whole = if analyzed > 0 { history.left(overall) } else { 1.0 };
    let mut order: Vec<usize> = (0..SPACES.len()).collect();
    order.sort_by(|&a, &b| left[a].total_cmp(&left[b]));
    let drifted: Vec<usize> =
        order.iter().copied().filter(|&space| analyzed > 0 && drift::calls(left[space])).collect();
    let recommendations: Vec<Value> = drifted
        .iter()
        .map(|&space| {
            let level = drift::level(left[space]);
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
            "level": drift::level(whole), "similarity": overall, "drift_score": 1.0 - whole, "has_drifted": drift::calls(whole),
            "baseline": history.baseline,
        },
        "per_embedder_drift": (0..SPACES.len()).map(|space| json!({
            "embedder": SPACES[space].label,
            "embedder_index": space,
            "similarity": similarities[space],
            "drift_score": if analyzed > 0 { 1.0 - left[space] } else { 0.0 },
            "drift_level": if analyzed > 0 { drift::level(left[space]) } else { "None" },
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
        "reference_type": match (goal, star) {
            (Some(_), _) => "goal",
            (None, Some(_)) => "north_star",
            (None, None) => "computed_centroid",
        },
        "reference_id": goal.or(star),
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

pub(super) fn drift_state(call: &ToolCall<'_>) -> (Severity, Trend, Value) {
    let autonomy = &call.space.mind.autonomy;
    let magnitude = autonomy.drift.magnitude(call.now);
    let (severity, trend) = (Severity::of(magnitude), autonomy.drift.trend());
    let state = json!({
        "severity": format!("{severity:?}"),
        "trend": format!("{trend:?}"),
        "drift_magnitude": magnitude,
        "rolling_mean": autonomy.drift.rolling_mean(call.now),
        "baseline": autonomy.drift.baseline(),
        "threshold_shift": autonomy.drift.threshold_shift,
        "reference_type": if autonomy.north_star.is_some() { "north_star" } else { "computed_centroid" },
    });
    (severity, trend, state)
}

pub(super) fn trigger_drift_correction(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let force = call.args.flag("force");
    if call.space.graph.is_empty() {
        let (_, _, before) = drift_state(call);
        return Ok(
            json!({"skipped": true, "reason": "there is no memory to measure", "before_state": before, "forced": force}),
        );
    }
    let (similarities, _) = call.space.drift_now(None, call.now)?;
    let overall = call.space.aligned(&similarities);
    if call.space.mind.autonomy.drift.baseline.is_none() {
        call.space.begin_drift(call.now)?;
    }
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
    let done = call.space.correct(severity, trend, force, call.now)?;
    let improvement = done.after - done.before;
    let (_, _, after) = drift_state(call);
    Ok(json!({
        "correction_result": {
            "strategy_applied": done.correction.name(),
            "alignment_before": done.before,
            "alignment_after": done.after,
            "improvement": improvement,
            "success": improvement >= 0.01 && done.correction != Correction::EmergencyIntervention,
            "memories_moved": done.moved,
        },
        "undo": done.record,
        "before_state": before,
        "after_state": after,
        "forced": force,
    }))
}
