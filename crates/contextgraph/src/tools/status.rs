//! How the memory is.

use serde_json::{Value, json};

use super::schema::{ANY, NUMBER, TEXT, WHOLE, list, object, output};
use super::{Class, Spec, ToolCall};
use crate::embedders::space::COUNT;
use crate::error::Outcome;
use crate::johari::Quadrant;

pub(super) fn tools() -> Vec<Spec> {
    let read = |name, title, description, output, run| Spec {
        name,
        title,
        description,
        category: "core_status",
        class: Class::Read,
        idempotent: true,
        params: Vec::new(),
        output,
        run,
    };
    vec![
        read(
            "get_memetic_status",
            "Memetic status",
            "How many memories there are and where they stand, what was learned lately, and what to do next. A gauge: it changes nothing.",
            output(&[
                ("phase", TEXT),
                ("fingerprintCount", WHOLE),
                ("edgeCount", WHOLE),
                ("embedderCount", WHOLE),
                ("storageBackend", TEXT),
                ("storageSizeBytes", WHOLE),
                ("quadrantCounts", object(&[("open", WHOLE), ("hidden", WHOLE), ("blind", WHOLE), ("unknown", WHOLE)])),
                (
                    "utl",
                    object(&[
                        ("entropy", NUMBER),
                        ("coherence", NUMBER),
                        ("learningScore", NUMBER),
                        ("johariQuadrant", TEXT),
                        ("consolidationPhase", TEXT),
                        ("suggestedAction", TEXT),
                    ]),
                ),
                (
                    "layers",
                    object(&[
                        ("perception", TEXT),
                        ("memory", TEXT),
                        ("reasoning", TEXT),
                        ("action", TEXT),
                        ("meta", TEXT),
                    ]),
                ),
            ]),
            get_memetic_status,
        ),
        read(
            "get_graph_manifest",
            "Graph manifest",
            "The five layers of the memory, what each does and whether it works, with the formula of learning. A gauge: it changes nothing.",
            output(&[
                ("architecture", TEXT),
                ("fingerprintType", TEXT),
                ("embedderCount", WHOLE),
                ("layers", list(object(&[("name", TEXT), ("description", TEXT), ("status", TEXT)]))),
                ("utl", object(&[("description", TEXT), ("formula", TEXT)])),
                (
                    "teleological",
                    object(&[
                        ("description", TEXT),
                        ("purposeVectorDimension", WHOLE),
                        ("johariQuadrants", list(TEXT)),
                    ]),
                ),
                ("embedders", list(ANY)),
            ]),
            get_graph_manifest,
        ),
        read(
            "utl_status",
            "UTL status",
            "The state of learning: stage of life, running means of entropy and coherence, phase, thresholds. A gauge: it changes nothing.",
            output(&[
                ("lifecycle_phase", TEXT),
                ("interaction_count", WHOLE),
                ("entropy", NUMBER),
                ("coherence", NUMBER),
                ("learning_score", NUMBER),
                ("johari_quadrant", TEXT),
                ("consolidation_phase", TEXT),
                ("phase_angle", NUMBER),
                (
                    "thresholds",
                    object(&[
                        ("entropy_trigger", NUMBER),
                        ("coherence_trigger", NUMBER),
                        ("min_importance_store", NUMBER),
                        ("consolidation_threshold", NUMBER),
                    ]),
                ),
            ]),
            utl_status,
        ),
    ]
}

/// Whether each layer works: perception embeds, memory answers, reasoning is in order, action finds, meta predicts.
fn layers(call: &mut ToolCall<'_>) -> [(&'static str, &'static str, String); 5] {
    let probe =
        call.space.embedders().content("probe", crate::embedders::Modality::Text, &crate::embedders::lexical::Unknown);
    let word = |works: bool| if works { "active".to_owned() } else { "error: no answer".to_owned() };
    let storage = match call.space.storage() {
        Ok(_) => "active".to_owned(),
        Err(problem) => format!("error: {problem}"),
    };
    let perception = match probe {
        Ok(probe) => word(!probe.e6.is_empty()),
        Err(problem) => format!("error: {problem}"),
    };
    let (r, _, _) = call.space.order();
    let meta = if call.space.mind.learning.meta.is_empty() {
        "active (nothing predicted yet)".to_owned()
    } else {
        "active".to_owned()
    };
    [
        ("Perception", "Sensing: thirteen embedders see each text", perception),
        ("Memory", "Memories, their vectors and edges, in a durable store", storage),
        ("Reasoning", "Coherence: oscillators, workspace, causal paths", word(r.is_finite())),
        (
            "Action",
            "Reflex: recall and suggestions",
            word(call.space.search_weights().iter().all(|weight| weight.is_finite())),
        ),
        ("Meta", "Learning about learning: predictions, calibration, drift", meta),
    ]
}

fn get_memetic_status(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let layers = layers(call);
    let (engine, size) = call.space.storage()?;
    let space = &call.space;
    let threshold = space.mind.calibration.value("theta_johari", crate::thresholds::Domain::General);
    let mut counts = [0u64; 4];
    for (_, memory) in space.graph.memories() {
        let mean = f64::from(memory.delta_s.iter().sum::<f32>()) / COUNT as f64;
        counts[Quadrant::of(mean, f64::from(memory.delta_c), threshold).index()] += 1;
    }
    let learning = &space.mind.learning;
    let quadrant = Quadrant::most_frequent(&learning.averages.quadrants);
    Ok(json!({
        "phase": learning.stage.name(),
        "fingerprintCount": space.graph.len(),
        "edgeCount": space.graph.edges.len(),
        "embedderCount": COUNT,
        "space": space.name(),
        "storageBackend": engine,
        "storageSizeBytes": size,
        "quadrantCounts": {"open": counts[0], "hidden": counts[1], "blind": counts[2], "unknown": counts[3]},
        "utl": {
            "entropy": learning.averages.entropy,
            "coherence": learning.averages.coherence,
            "learningScore": learning.averages.learning,
            "johariQuadrant": quadrant,
            "consolidationPhase": learning.phase.name(),
            "suggestedAction": quadrant.action_word(),
        },
        "layers": {
            "perception": layers[0].2, "memory": layers[1].2, "reasoning": layers[2].2, "action": layers[3].2, "meta": layers[4].2,
        },
    }))
}

fn get_graph_manifest(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let layers: Vec<Value> = layers(call)
        .into_iter()
        .map(|(name, description, status)| json!({"name": name, "description": description, "status": status}))
        .collect();
    let embedders: Vec<Value> = crate::embedders::space::SPACES
        .iter()
        .map(|space| json!({"id": space.id, "name": space.name, "axis": space.axis, "surprise": space.method}))
        .collect();
    Ok(json!({
        "architecture": "5-layer-bio-nervous",
        "fingerprintType": "TeleologicalFingerprint",
        "embedderCount": COUNT,
        "textEmbedding": call.space.embedders().name(),
        "layers": layers,
        "embedders": embedders,
        "utl": {
            "description": "Learning is surprise times coherence, coloured by emotion",
            "formula": "L = clamp(dS * dC * w_e * cos(phi), 0, 1)",
        },
        "teleological": {
            "description": "What memories are for, as alignment with a north star in thirteen spaces",
            "purposeVectorDimension": COUNT,
            "johariQuadrants": Quadrant::ALL,
        },
    }))
}

fn utl_status(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let learning = &call.space.mind.learning;
    let [entropy, coherence, importance, consolidation] = learning.stage.thresholds();
    let weights = learning.meta.weights.unwrap_or_else(|| learning.stage.weights());
    Ok(json!({
        "lifecycle_phase": learning.stage.name(),
        "stance": learning.stage.stance(),
        "interaction_count": learning.interactions,
        "entropy": learning.averages.entropy,
        "coherence": learning.averages.coherence,
        "learning_score": learning.averages.learning,
        "johari_quadrant": Quadrant::most_frequent(&learning.averages.quadrants),
        "consolidation_phase": learning.phase.name(),
        "phase_angle": learning.phase.angle(),
        "prediction_accuracy": learning.meta.accuracy(),
        "weights": {"surprise": weights.surprise, "coherence": weights.coherence},
        "thresholds": {
            "entropy_trigger": entropy,
            "coherence_trigger": coherence,
            "min_importance_store": importance,
            "consolidation_threshold": consolidation,
        },
    }))
}
