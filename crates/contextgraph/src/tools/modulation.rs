//! Modulators and steering.

use serde_json::{Value, json};

use super::args::Param;
use super::schema::{ANY, FLAG, NUMBER, TEXT, object, output};
use super::{Class, Spec, ToolCall};
use crate::error::Outcome;
use crate::mind::Doc;
use crate::neuromodulation::Modulator;
use crate::steering::{self, Seen};

const DAY_MS: u64 = 24 * 3_600_000;

pub(super) fn tools() -> Vec<Spec> {
    vec![
        Spec {
            name: "get_neuromodulation_state",
            title: "Neuromodulation state",
            description: "The levels of dopamine, serotonin, noradrenaline and acetylcholine, and what follows from them. A gauge: it changes nothing.",
            category: "neuromodulation",
            class: Class::Read,
            idempotent: true,
            params: Vec::new(),
            output: output(&[
                ("dopamine", ANY),
                ("serotonin", ANY),
                ("noradrenaline", ANY),
                ("acetylcholine", ANY),
                (
                    "derived_parameters",
                    object(&[
                        ("hopfield_beta", NUMBER),
                        ("attention_temp", NUMBER),
                        ("utl_learning_rate", NUMBER),
                        ("is_alert", FLAG),
                        ("is_learning_elevated", FLAG),
                    ]),
                ),
            ]),
            run: get_neuromodulation_state,
        },
        Spec {
            name: "adjust_neuromodulator",
            title: "Adjust a neuromodulator",
            description: "Raises or lowers dopamine (sharpness of search_graph), serotonin (balance of meaning and words) or noradrenaline \
                          (breadth of results), within its range; it returns to its base within a minute or so. Acetylcholine cannot be set.",
            category: "neuromodulation",
            class: Class::Write,
            idempotent: false,
            params: vec![
                Param::text("modulator", "dopamine (da), serotonin (5ht) or noradrenaline (ne)").required(),
                Param::number("delta", "By how much", f64::NEG_INFINITY, f64::INFINITY).required(),
            ],
            output: output(&[
                ("modulator", TEXT),
                ("old_level", NUMBER),
                ("new_level", NUMBER),
                ("delta_requested", NUMBER),
                ("delta_applied", NUMBER),
                ("clamped", FLAG),
                ("range", object(&[("min", NUMBER), ("baseline", NUMBER), ("max", NUMBER)])),
                ("undo", TEXT),
            ]),
            run: adjust_neuromodulator,
        },
        Spec {
            name: "get_steering_feedback",
            title: "Steering feedback",
            description: "How well the graph is connected (gardener), how good memories are (curator) and how right results are (assessor), \
                          as one reward. The reward moves dopamine towards 3 + reward, and with it the sharpness of search_graph, so this is not a mere look.",
            category: "steering",
            class: Class::HiddenWrite,
            idempotent: false,
            params: Vec::new(),
            output: output(&[
                ("reward", ANY),
                ("gardener_details", ANY),
                ("curator_details", ANY),
                ("assessor_details", ANY),
                ("summary", TEXT),
                ("needs_immediate_attention", FLAG),
                ("priority_improvement", TEXT),
                ("neuromodulation", ANY),
            ]),
            run: get_steering_feedback,
        },
    ]
}

fn range(modulator: Modulator) -> Value {
    let (min, baseline, max) = modulator.range();
    json!({"min": min, "baseline": baseline, "max": max})
}

fn get_neuromodulation_state(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let mind = &call.space.mind;
    let levels = &mind.levels;
    let acetylcholine = mind.learning.watching.acetylcholine;
    let level = |modulator| levels.level(modulator);
    Ok(json!({
        "dopamine": {
            "level": level(Modulator::Dopamine),
            "last_trigger": levels.last_trigger.as_ref().map(|(at, reason)| json!({"at_ms": at, "reason": reason})),
            "range": range(Modulator::Dopamine),
            "parameter": "hopfield.beta",
            "trigger": "workspace entry, feedback, steering",
            "effect": "sharpness of recall: above 3 what stands out in a few spaces is found first, below what is alike in all",
        },
        "serotonin": {
            "level": level(Modulator::Serotonin),
            "space_weights": call.space.search_weights(),
            "range": range(Modulator::Serotonin),
            "parameter": "space_weights",
            "trigger": "cascades of dopamine",
            "effect": "balance of the spaces: above 0.5 meaning counts more, below words, names and the rest",
        },
        "noradrenaline": {
            "level": level(Modulator::Noradrenaline),
            "last_threat": levels.last_threat,
            "threat_count": levels.threats,
            "range": range(Modulator::Noradrenaline),
            "parameter": "attention.temp",
            "trigger": "contradictions, large changes of dopamine",
            "effect": "breadth of attention: above 1 results repeat each other less, below 1 they stay near the best",
        },
        "acetylcholine": {
            "level": acetylcholine,
            "range": {"min": 0.001, "baseline": 0.001, "max": 0.002},
            "parameter": "utl.lr",
            "trigger": "learning that was badly predicted",
            "effect": "learning rate",
            "read_only": true,
            "managed_by": "metacognition",
            "source": "rolling prediction accuracy",
        },
        "derived_parameters": {
            "hopfield_beta": level(Modulator::Dopamine),
            "attention_temp": level(Modulator::Noradrenaline),
            "utl_learning_rate": acetylcholine,
            "is_alert": levels.is_alert(),
            "is_learning_elevated": acetylcholine > 0.0015,
        },
    }))
}

fn adjust_neuromodulator(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let modulator = Modulator::from_word(call.args.text("modulator"))?;
    let delta = call.args.number("delta");
    let change = call.space.mind.levels.adjust(modulator, delta, "adjusted", call.now);
    call.space.touch(Doc::Levels);
    let applied = change.new - change.old;
    let record =
        call.space.record("modulator", &json!({"modulator": modulator.name(), "old_level": change.old}), call.now);
    Ok(json!({
        "modulator": modulator.name(),
        "old_level": change.old,
        "new_level": change.new,
        "delta_requested": delta,
        "delta_applied": applied,
        "clamped": (applied - delta).abs() > 1e-4,
        "cascade": {"serotonin": change.serotonin, "noradrenaline": change.noradrenaline},
        "range": range(modulator),
        "undo": record,
    }))
}

/// What steering looks at.
fn look(call: &ToolCall<'_>) -> Seen {
    let (space, now) = (&call.space, call.now);
    let count = space.graph.len().max(1) as f64;
    let (mut connected, mut orphans, mut quality, mut low) = (0.0, 0, 0.0, 0);
    for (slot, memory) in space.graph.memories() {
        let strongest = space.graph.edges.around(slot).map(|(_, weight)| weight).fold(0f32, f32::max);
        connected += f64::from(u8::from(strongest >= 0.5));
        let old = now.saturating_sub(memory.created_at) > 30 * DAY_MS;
        orphans += usize::from(old && space.graph.edges.degree(slot) == 0);
        let own = steering::quality(f64::from(memory.delta_c), f64::from(memory.importance), memory.access_count);
        quality += own;
        low += usize::from(own < 0.3);
    }
    let weak_edges = space
        .graph
        .edges
        .sources()
        .into_iter()
        .map(|source| space.graph.edges.from(source).filter(|link| link.weight < 0.1).count())
        .sum();
    let judged = space.mind.calibration.samples(0);
    let right: Vec<f64> = judged.iter().map(|(_, truth)| *truth).collect();
    let (old, new) = right.split_at(right.len() / 2);
    let mean = crate::vector::mean;
    let gains: Vec<f64> = space.mind.learning.gains.iter().copied().collect();
    Seen {
        connectivity: connected / count,
        orphans,
        weak_edges,
        quality: quality / count,
        low_quality: low,
        // Without feedback, how well learning is predicted is all that is known about being right.
        accuracy: if right.is_empty() { space.mind.learning.meta.accuracy() } else { mean(&right) },
        efficiency: if gains.is_empty() { 0.5 } else { mean(&gains) },
        trend: if old.is_empty() { 0.0 } else { mean(new) - mean(old) },
    }
}

fn get_steering_feedback(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let seen = look(call);
    let reward = steering::reward(&seen);
    let change = call.space.mind.levels.reward(reward.value, call.now);
    call.space.touch(Doc::Levels);
    let levels = &call.space.mind.levels;
    let attention =
        [reward.gardener_score, reward.curator_score, reward.assessor_score].iter().any(|score| *score < -0.5);
    let performing = f64::midpoint(seen.accuracy, seen.efficiency);
    let priority = match reward.limiting_factor {
        "gardener" => seen.gardener_advice().into_iter().next().unwrap_or_else(|| "connect more memories".to_owned()),
        "curator" => {
            seen.curator_advice().into_iter().next().unwrap_or_else(|| "store what matters, with importance".to_owned())
        }
        _ => "say with update_synergy_matrix which results were right".to_owned(),
    };
    Ok(json!({
        "reward": reward,
        "gardener_details": {
            "edges_pruned": call.space.mind.dreams.edges_pruned,
            "dead_ends_removed": call.space.mind.dreams.dead_ends_removed,
            "orphans": seen.orphans,
            "weak_edges": seen.weak_edges,
            "edge_count": call.space.graph.edges.len(),
            "connectivity": seen.connectivity,
            "is_healthy": seen.connectivity > 0.7,
            "status": if seen.connectivity > 0.7 { "healthy" } else if seen.connectivity > 0.4 { "degraded" } else { "poor" },
            "recommendations": seen.gardener_advice(),
        },
        "curator_details": {
            "avg_quality": seen.quality,
            "low_quality_count": seen.low_quality,
            "band": steering::band(seen.quality, [0.85, 0.7, 0.5, 0.3]),
            "recommendations": seen.curator_advice(),
            "is_high_quality": seen.quality >= 0.7,
            "has_concerns": !seen.curator_advice().is_empty(),
        },
        "assessor_details": {
            "retrieval_accuracy": seen.accuracy,
            "learning_efficiency": seen.efficiency,
            "band": steering::band(performing, [0.9, 0.8, 0.6, 0.4]),
            "trend": seen.trend,
            "trend_description": seen.trend_word(),
            "is_performing_well": performing >= 0.8,
        },
        "summary": format!(
            "reward {:.2}: connectivity {:.2}, quality {:.2}, accuracy {:.2}", reward.value, seen.connectivity, seen.quality, seen.accuracy
        ),
        "needs_immediate_attention": attention,
        "priority_improvement": priority,
        "neuromodulation": {
            "propagated": change.new != change.old,
            "da_delta": change.new - change.old,
            "da_new": change.new,
            "serotonin_delta": change.serotonin,
            "serotonin_new": levels.level(Modulator::Serotonin),
            "ne_delta": change.noradrenaline,
            "ne_new": levels.level(Modulator::Noradrenaline),
            "mood_cascade_triggered": change.serotonin != 0.0,
            "alertness_cascade_triggered": change.noradrenaline != 0.0,
        },
    }))
}
