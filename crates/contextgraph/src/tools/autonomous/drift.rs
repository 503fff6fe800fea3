//! Drift: how far memories are from the goal, and what is done about it.

use serde_json::{Value, json};

use super::super::Call;
use super::super::thresholds::timeframe;
use super::goals::labels;
use crate::autonomy::drift::{self, Correction, Severity, Trend};
use crate::embedders::space::SPACES;
use crate::error::Outcome;
use crate::mind::Doc;

pub(super) fn get_alignment_drift(call: &mut Call<'_>) -> Outcome<Value> {
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

pub(super) fn drift_state(call: &Call<'_>) -> (Severity, Trend, Value) {
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

pub(super) fn trigger_drift_correction(call: &mut Call<'_>) -> Outcome<Value> {
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
