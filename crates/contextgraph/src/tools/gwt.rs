//! Oscillators, workspace, ego, windows.

use serde_json::{Value, json};

use super::args::Param;
use super::schema::{ANY, FLAG, NUMBER, Shape, TEXT, WHOLE, list, maybe, object, or_null, output};
use super::{Class, Spec, ToolCall};
use crate::consciousness::Consciousness;
use crate::embedders::space::{COUNT, SPACES};
use crate::error::{Outcome, Problem};
use crate::identity;
use crate::johari::{self, Quadrant};
use crate::kuramoto::Network;
use crate::mind::Doc;
use crate::neuromodulation::Modulator;
use crate::workspace::{ADMITTED, BROADCAST_MS, BroadcastCandidate};

fn session() -> Vec<Param> {
    vec![Param::text("session_id", "Accepted for older programs: the state is that of the space")]
}

fn workspace_shape() -> Vec<(&'static str, Shape)> {
    vec![
        ("active_memory", or_null(TEXT)),
        ("is_broadcasting", FLAG),
        ("has_conflict", FLAG),
        ("coherence_threshold", NUMBER),
    ]
}

pub(super) fn tools() -> Vec<Spec> {
    let read = |name, title, description, params, output, run| Spec {
        name,
        title,
        description,
        category: "gwt",
        class: Class::Read,
        idempotent: true,
        params,
        output,
        run,
    };
    let mut status = workspace_shape();
    status.extend([("conflict_memories", list(TEXT)), ("broadcast_duration_ms", WHOLE)]);
    vec![
        read(
            "get_consciousness_state",
            "Consciousness state",
            "C(t) = integration x reflection x differentiation, with what limits it, the workspace and the identity. A gauge: it changes nothing.",
            session(),
            output(&[
                ("C", NUMBER),
                ("r", NUMBER),
                ("psi", NUMBER),
                ("meta_score", NUMBER),
                ("differentiation", NUMBER),
                ("integration", NUMBER),
                ("reflection", NUMBER),
                ("state", TEXT),
                ("gwt_state", TEXT),
                ("time_in_state_ms", WHOLE),
                ("workspace", object(&workspace_shape())),
                (
                    "identity",
                    object(&[
                        ("coherence", NUMBER),
                        ("status", TEXT),
                        ("trajectory_length", WHOLE),
                        ("purpose_vector", list(NUMBER)),
                    ]),
                ),
                (
                    "component_analysis",
                    object(&[
                        ("integration_sufficient", FLAG),
                        ("reflection_sufficient", FLAG),
                        ("differentiation_sufficient", FLAG),
                        ("limiting_factor", TEXT),
                    ]),
                ),
            ]),
            get_consciousness_state,
        ),
        read(
            "get_kuramoto_sync",
            "Oscillator synchronisation",
            "The thirteen coupled oscillators: their phases, and how far they go together (order parameter r). A gauge: it changes nothing.",
            session(),
            output(&[
                ("r", NUMBER),
                ("psi", NUMBER),
                ("synchronization", NUMBER),
                ("state", TEXT),
                ("phases", list(NUMBER)),
                ("natural_freqs", list(NUMBER)),
                ("coupling", NUMBER),
                ("elapsed_seconds", NUMBER),
                ("embedding_labels", list(TEXT)),
                ("thresholds", object(&[("conscious", NUMBER), ("fragmented", NUMBER), ("hypersync", NUMBER)])),
            ]),
            get_kuramoto_sync,
        ),
        read(
            "get_workspace_status",
            "Workspace status",
            "Which memory has attention, and whether others compete for it. A gauge: it changes nothing.",
            session(),
            output(&status),
            get_workspace_status,
        ),
        read(
            "get_ego_state",
            "Ego state",
            "The purpose of the whole memory, and whether it stays itself (identity continuity). A gauge: it changes nothing.",
            session(),
            output(&[
                ("purpose_vector", list(NUMBER)),
                ("identity_coherence", NUMBER),
                ("coherence_with_actions", NUMBER),
                ("identity_status", TEXT),
                ("trajectory_length", WHOLE),
                ("thresholds", ANY),
                (
                    "identity_continuity",
                    object(&[
                        ("ic", NUMBER),
                        ("status", TEXT),
                        ("in_crisis", FLAG),
                        ("history_len", WHOLE),
                        ("last_detection", or_null(ANY)),
                    ]),
                ),
            ]),
            get_ego_state,
        ),
        Spec {
            name: "trigger_workspace_broadcast",
            title: "Broadcast a memory",
            description: "Puts a memory up for attention. It wins if the oscillators go together (r >= 0.8) and no other is stronger, \
                          or by force.",
            category: "gwt",
            class: Class::Write,
            idempotent: false,
            params: vec![
                Param::id("memory_id", "The memory").required(),
                Param::number("importance", "How important it is now", 0.0, 1.0).default(0.8),
                Param::number("alignment", "How well it fits what is going on", 0.0, 1.0).default(0.8),
                Param::flag("force", "Whether to give it attention in any case").default(false),
            ],
            output: output(&[
                ("success", FLAG),
                ("memory_id", TEXT),
                ("new_r", NUMBER),
                ("was_selected", FLAG),
                ("is_broadcasting", FLAG),
                ("dopamine_triggered", or_null(NUMBER)),
                ("reason", maybe(TEXT)),
            ]),
            run: trigger_workspace_broadcast,
        },
        Spec {
            name: "adjust_coupling",
            title: "Adjust coupling",
            description: "Sets how strongly the oscillators are coupled (K, held within 0 and 10), and says what r will be.",
            category: "gwt",
            class: Class::Write,
            idempotent: true,
            params: vec![Param::held("new_K", "The coupling", 0.0, 10.0).required()],
            output: output(&[
                ("old_K", NUMBER),
                ("new_K", NUMBER),
                ("predicted_r", NUMBER),
                ("current_r", NUMBER),
                ("K_clamped", FLAG),
                ("undo", TEXT),
            ]),
            run: adjust_coupling,
        },
        read(
            "get_johari_classification",
            "Johari classification",
            "Open, Hidden, Blind or Unknown: by surprise and coherence, given or of a memory. Says what to do next. A gauge: it changes nothing.",
            vec![
                Param::number("delta_s", "Surprise", 0.0, 1.0),
                Param::number("delta_c", "Coherence", 0.0, 1.0),
                Param::id("memory_id", "A memory, instead of the two"),
                Param::whole("embedder_index", "The space to look at, 0 to 12", 0, 12).default(0),
                Param::number("threshold", "Where the line is", 0.35, 0.65).default(0.5),
            ],
            output(&[
                ("quadrant", TEXT),
                ("delta_s", NUMBER),
                ("delta_c", NUMBER),
                ("suggested_action", TEXT),
                ("explanation", TEXT),
                ("source", TEXT),
                ("threshold", NUMBER),
                ("confidence", NUMBER),
            ]),
            get_johari_classification,
        ),
    ]
}

fn workspace(call: &ToolCall<'_>) -> Value {
    let workspace = &call.space.mind.gwt.workspace;
    json!({
        "active_memory": workspace.active(),
        "is_broadcasting": workspace.is_broadcasting(call.now),
        "has_conflict": !workspace.conflict().is_empty(),
        "coherence_threshold": ADMITTED,
    })
}

fn get_consciousness_state(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let (r, psi, state) = call.space.order();
    let mind = &call.space.mind;
    let ego = &mind.gwt.ego;
    let accuracy = mind.learning.meta.accuracy();
    let found = Consciousness::of(r, accuracy, ego.purpose())?;
    Ok(json!({
        "C": found.c,
        "r": r,
        "psi": psi,
        "meta_score": mind.learning.watching.score(),
        "prediction_accuracy": accuracy,
        "integration": found.integration,
        "reflection": found.reflection,
        "differentiation": found.differentiation,
        "state": state.name(),
        "gwt_state": state.name(),
        "time_in_state_ms": mind.gwt.machine.time_in_state(call.now),
        "workspace": workspace(call),
        "identity": {
            "coherence": ego.continuity(),
            "status": ego.status().name(),
            "trajectory_length": ego.trajectory_len(),
            "purpose_vector": ego.purpose(),
        },
        "component_analysis": {
            "integration_sufficient": found.integration >= 0.5,
            "reflection_sufficient": found.reflection >= 0.5,
            "differentiation_sufficient": found.differentiation >= 0.5,
            "limiting_factor": found.limiting(),
        },
    }))
}

fn get_kuramoto_sync(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let (r, psi, state) = call.space.order();
    let network = &call.space.mind.gwt.network;
    Ok(json!({
        "r": r,
        "psi": psi,
        "synchronization": r,
        "state": state.name(),
        "phases": network.phases(),
        "natural_freqs": Network::frequencies(),
        "coupling": network.coupling(),
        "elapsed_seconds": network.elapsed(),
        "embedding_labels": SPACES.map(|space| space.label),
        "thresholds": {"conscious": 0.8, "fragmented": 0.5, "hypersync": 0.95},
    }))
}

fn get_workspace_status(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let mut status = workspace(call);
    let workspace = &call.space.mind.gwt.workspace;
    status["conflict_memories"] = json!(workspace.conflict());
    status["broadcast_duration_ms"] = json!(BROADCAST_MS);
    status["history_len"] = json!(workspace.history_len());
    status["epistemic_action_due"] = json!(workspace.is_idle(call.now));
    Ok(status)
}

fn get_ego_state(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let ego = &call.space.mind.gwt.ego;
    // Actions are what was stored lately: how far they are like the purpose of the whole.
    let recent: Vec<[f64; COUNT]> = call
        .space
        .graph
        .memories()
        .rev()
        .take(20)
        .map(|(_, memory)| {
            let aligned = memory.purpose.iter().any(|value| *value > 0.0);
            std::array::from_fn(|space| {
                if aligned { f64::from(memory.purpose[space]) } else { 1.0 - f64::from(memory.delta_s[space]) }
            })
        })
        .collect();
    let alike: Vec<f64> = recent.iter().map(|action| identity::continuity(Some(ego.purpose()), action, 1.0)).collect();
    let with_actions = crate::vector::mean(&alike);
    Ok(json!({
        "purpose_vector": ego.purpose(),
        "identity_coherence": ego.continuity(),
        "coherence_with_actions": with_actions,
        "should_reflect": !recent.is_empty() && with_actions < identity::REFLECT,
        "identity_status": ego.status().name(),
        "trajectory_length": ego.trajectory_len(),
        "thresholds": {"healthy": 0.9, "warning": 0.7, "degraded": 0.5, "critical": 0.0},
        "identity_continuity": {
            "ic": ego.continuity(),
            "status": ego.status().name(),
            "in_crisis": ego.in_crisis(),
            "history_len": ego.trajectory_len(),
            "crises": ego.crises(),
            "last_detection": ego.last().map(|found| {
                let mut shown = json!(found);
                shown["previous_status"] = found.previous_status.name().into();
                shown["current_status"] = found.current_status.name().into();
                shown
            }),
        },
    }))
}

fn trigger_workspace_broadcast(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let args = call.args;
    let memory = args.id("memory_id")?;
    call.space.memory(memory).map_err(|_| {
        let message = format!("memory not found: {memory}; only a memory of this space can have attention");
        Problem::new(crate::Code::Workspace, "NODE_NOT_FOUND", message)
    })?;
    let (r, _, _) = call.space.order();
    let force = args.flag("force");
    let candidate = BroadcastCandidate {
        memory,
        r,
        importance: args.number("importance"),
        alignment: args.number("alignment"),
        at: call.now,
    };
    let selection = call.space.mind.gwt.workspace.bid(candidate, force);
    let mut answer = json!({
        "success": selection.admitted,
        "memory_id": memory,
        "new_r": r,
        "was_selected": selection.won,
        "is_broadcasting": call.space.mind.gwt.workspace.is_broadcasting(call.now),
        "dopamine_triggered": null,
    });
    if !selection.admitted {
        answer["reason"] =
            format!("r is {r:.3}, below {ADMITTED}: raise the coupling with adjust_coupling, wait, or use force")
                .into();
        return Ok(answer);
    }
    let change = call.space.mind.levels.adjust(Modulator::Dopamine, selection.dopamine, "workspace entry", call.now);
    answer["dopamine_triggered"] = json!(change.new - change.old);
    if !selection.won {
        answer["reason"] = "another memory is stronger".into();
    }
    call.space.touch(Doc::Gwt);
    call.space.touch(Doc::Levels);
    if selection.won {
        call.space.tell("memory.broadcast", json!({"memory_id": memory}));
    }
    Ok(answer)
}

fn adjust_coupling(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let wanted = call.args.number("new_K");
    let (r, _, _) = call.space.order();
    let network = &mut call.space.mind.gwt.network;
    let old = network.coupling();
    let predicted = network.predicted(wanted, 5.0);
    let new = network.couple(wanted);
    call.space.touch(Doc::Gwt);
    let record = call.space.record("coupling", &json!({"old_K": old, "new_K": new}), call.now);
    Ok(json!({
        "old_K": old,
        "new_K": new,
        "predicted_r": predicted,
        "current_r": r,
        "K_clamped": (new - wanted).abs() > f64::EPSILON,
        "undo": record,
    }))
}

fn get_johari_classification(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let args = call.args;
    let (delta_s, delta_c, source) =
        match (args.maybe_number("delta_s"), args.maybe_number("delta_c"), args.maybe_id("memory_id")) {
            (Some(delta_s), Some(delta_c), _) => (delta_s, delta_c, "direct".to_owned()),
            (_, _, Some(id)) => {
                let memory = call.space.memory(id)?;
                let surprise = f64::from(memory.delta_s[args.whole("embedder_index")]);
                let (delta_s, delta_c) = johari::from_soft(johari::soft(surprise, f64::from(memory.delta_c)));
                (delta_s, delta_c, format!("memory:{id}"))
            }
            _ => return Err(Problem::params("give `delta_s` and `delta_c`, or a `memory_id`")),
        };
    let threshold = args.number("threshold");
    let quadrant = Quadrant::of(delta_s, delta_c, threshold);
    Ok(json!({
        "quadrant": quadrant,
        "delta_s": delta_s,
        "delta_c": delta_c,
        "suggested_action": quadrant.action(),
        "explanation": quadrant.meaning(),
        "source": source,
        "threshold": threshold,
        "confidence": johari::confidence(delta_s, delta_c),
        "weights": johari::soft(delta_s, delta_c),
    }))
}
