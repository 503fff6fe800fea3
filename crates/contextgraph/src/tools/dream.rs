//! Dreams.

use serde_json::{Value, json};

use super::args::Param;
use super::schema::{ANY, FLAG, NUMBER, TEXT, WHOLE, list, maybe, object, or_null, output};
use super::{Class, Spec, ToolCall};
use crate::dream::scheduler::{IDLE_BELOW, IDLE_MS};
use crate::dream::shortcuts::{HOPS, TIMES};
use crate::dream::{DreamState, WAKE_MS};
use crate::error::{Code, Outcome, Problem};
use crate::identity::CRITICAL;

pub(super) fn tools() -> Vec<Spec> {
    vec![
        Spec {
            name: "trigger_dream",
            title: "Start a dream",
            description: "Starts a dream: replays recent memories, strengthens and prunes edges, makes shortcuts, explores for new \
                          connections. It runs beside other calls; with `wait` the call ends when the dream does, with progress.",
            category: "dream",
            class: Class::LongRunning,
            idempotent: false,
            params: vec![
                Param::short("rationale", "Why now", 1024).default("unspecified"),
                Param::flag("force", "Whether to dream within half an hour of the last dream").default(false),
                Param::flag("wait", "Whether to answer only when the dream is over").default(false),
            ],
            output: output(&[
                ("triggered", FLAG),
                ("trigger_reason", or_null(TEXT)),
                ("gpu_utilization", NUMBER),
                ("gpu_eligible", FLAG),
                ("rationale_logged", TEXT),
                ("forced", FLAG),
                ("note", TEXT),
                ("error", maybe(TEXT)),
                ("cooldown_remaining_secs", maybe(WHOLE)),
                ("report", maybe(ANY)),
            ]),
            run: trigger_dream,
        },
        Spec {
            name: "get_dream_status",
            title: "Dream status",
            description: "Whether the memory dreams, what the last dream did, and when the next is due. A gauge: it changes nothing.",
            category: "dream",
            class: Class::Read,
            idempotent: true,
            params: Vec::new(),
            output: output(&[
                ("state", TEXT),
                ("is_dreaming", FLAG),
                ("gpu_usage", NUMBER),
                ("activity_level", NUMBER),
                ("completed_cycles", WHOLE),
                ("time_since_last_dream_secs", or_null(WHOLE)),
                ("last_dream_completed", or_null(ANY)),
                (
                    "scheduler",
                    object(&[
                        ("average_activity", NUMBER),
                        ("activity_threshold", NUMBER),
                        ("idle_duration_trigger_secs", WHOLE),
                        ("cooldown_remaining_secs", WHOLE),
                        ("current_idle_duration_secs", WHOLE),
                        ("trigger_decision", ANY),
                    ]),
                ),
                (
                    "constitution_compliance",
                    object(&[
                        ("gpu_under_30_percent", FLAG),
                        ("current_gpu_usage", NUMBER),
                        ("max_gpu_allowed", NUMBER),
                        ("max_wake_latency_ms", WHOLE),
                    ]),
                ),
            ]),
            run: get_dream_status,
        },
        Spec {
            name: "abort_dream",
            title: "Abort the dream",
            description: "Wakes the memory: the dream ends within 100 ms, and what it did so far stays.",
            category: "dream",
            class: Class::LongRunning,
            idempotent: true,
            params: vec![Param::short("reason", "Why", 1024)],
            output: output(&[
                ("aborted", FLAG),
                ("abort_latency_ms", NUMBER),
                ("previous_state", TEXT),
                ("mandate_met", FLAG),
                ("reason", or_null(TEXT)),
            ]),
            run: abort_dream,
        },
        Spec {
            name: "get_amortized_shortcuts",
            title: "Shortcuts",
            description: "Paths of at least three edges that were walked at least five times: a dream makes one edge of each. A gauge: it changes nothing.",
            category: "dream",
            class: Class::Read,
            idempotent: true,
            params: vec![
                Param::number("min_confidence", "How sure each edge must be", 0.0, 1.0).default(0.7),
                Param::whole("limit", "How many", 1, 100).default(20),
            ],
            output: output(&[
                (
                    "shortcuts",
                    list(object(&[
                        ("source", TEXT),
                        ("target", TEXT),
                        ("hop_count", WHOLE),
                        ("traversal_count", WHOLE),
                        ("combined_weight", NUMBER),
                        ("min_confidence", NUMBER),
                        ("path_length", WHOLE),
                    ])),
                ),
                ("total_candidates", WHOLE),
                ("returned_count", WHOLE),
                ("shortcuts_created_this_cycle", WHOLE),
                ("filters_applied", ANY),
                ("constitution_reference", ANY),
            ]),
            run: get_amortized_shortcuts,
        },
    ]
}

fn trigger_dream(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let (force, rationale) = (call.args.flag("force"), call.args.text("rationale").to_owned());
    let state = call.dream.state();
    let load = call.dream.load();
    let answer = |triggered: bool, note: &str| {
        json!({
            "triggered": triggered,
            "trigger_reason": triggered.then_some("Manual"),
            "gpu_utilization": load,
            "gpu_eligible": true,
            "gpu_monitor": "unavailable",
            "rationale_logged": rationale,
            "forced": force,
            "note": note,
        })
    };
    if state.is_dreaming() {
        let message = format!("a dream is going on ({}): wait for it, or use abort_dream", state.word());
        return Err(Problem::new(Code::Dream, "DREAM_IN_PROGRESS", message));
    }
    let remaining = call.space.mind.dreams.scheduler.cooldown(call.now);
    if remaining > 0 && !force {
        let mut refused = answer(false, "the last dream was less than half an hour ago: use force, or wait");
        refused["error"] = "cooldown is active".into();
        refused["cooldown_remaining_secs"] = json!(remaining.div_ceil(1_000));
        return Ok(refused);
    }
    if !call.dream.request() {
        return Err(Problem::new(
            Code::Dream,
            "DREAM_IN_PROGRESS",
            "a dream has just been started: see get_dream_status",
        ));
    }
    tracing::info!(rationale, force, "a dream was asked for");
    Ok(answer(true, "see get_dream_status for what it does"))
}

fn get_dream_status(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let state = call.dream.state();
    let load = call.dream.load();
    let (dreams, now) = (&call.space.mind.dreams, call.now);
    let scheduler = &dreams.scheduler;
    let critical = call.space.mind.gwt.ego.continuity() < CRITICAL;
    Ok(json!({
        "state": state.word(),
        "is_dreaming": state.is_dreaming(),
        "gpu_usage": load,
        "gpu_monitor": "unavailable",
        "activity_level": call.space.mind.learning.activity,
        "completed_cycles": scheduler.completed,
        "time_since_last_dream_secs": scheduler.last_dream.map(|last| now.saturating_sub(last) / 1_000),
        "last_dream_completed": dreams.last,
        "scheduler": {
            "average_activity": scheduler.average(),
            "activity_threshold": IDLE_BELOW,
            "idle_duration_trigger_secs": IDLE_MS / 1_000,
            "cooldown_remaining_secs": scheduler.cooldown(now).div_ceil(1_000),
            "current_idle_duration_secs": scheduler.idle_for(now) / 1_000,
            "trigger_decision": scheduler.decide(now, state.is_dreaming(), critical).shown(),
        },
        "constitution_compliance": {
            "gpu_under_30_percent": load < 0.3,
            "current_gpu_usage": load,
            "max_gpu_allowed": 0.3,
            "max_wake_latency_ms": WAKE_MS,
        },
    }))
}

fn abort_dream(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let previous = call.dream.state();
    let reason = call.args.maybe_text("reason");
    let answer = |aborted: bool, latency: f64| {
        Ok(json!({
            "aborted": aborted,
            "abort_latency_ms": latency,
            "previous_state": previous.word(),
            "mandate_met": latency < WAKE_MS as f64,
            "reason": reason,
        }))
    };
    match previous {
        DreamState::Awake => answer(false, 0.0),
        DreamState::Waking => {
            Err(Problem::new(Code::Dream, "ALREADY_WAKING", "the memory is waking already: nothing to abort"))
        }
        _ => match call.dream.abort() {
            Some(latency) => answer(true, latency),
            None => Err(Problem::new(
                Code::Dream,
                "WAKE_TIMEOUT",
                "the dream did not end in time: look at get_dream_status",
            )),
        },
    }
}

fn get_amortized_shortcuts(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let (least, limit) = (call.args.number("min_confidence"), call.args.whole("limit"));
    let dreams = &call.space.mind.dreams;
    let candidates = dreams.paths.candidates(least);
    let shortcuts: Vec<Value> = candidates
        .iter()
        .take(limit)
        .map(|walked| {
            json!({
                "source": walked.path.first(),
                "target": walked.path.last(),
                "hop_count": walked.hops(),
                "traversal_count": walked.count,
                "combined_weight": walked.weight,
                "min_confidence": walked.confidence,
                "path_length": walked.path.len(),
            })
        })
        .collect();
    Ok(json!({
        "returned_count": shortcuts.len(),
        "shortcuts": shortcuts,
        "total_candidates": candidates.len(),
        "shortcuts_created_this_cycle": dreams.shortcuts_this_cycle,
        "filters_applied": {"min_confidence": least, "limit": limit},
        "constitution_reference": {"min_hops": HOPS, "min_traversals": TIMES},
    }))
}
