//! Every tool once, with the answer held against its schema, and the numbers against sense.

use serde_json::{Value, json};
use switchboard_contextgraph::{Code, tools};
use switchboard_policy::schema::Schema;
use switchboard_sdk::Raw;

use crate::support::{Memory, TOPICS};

/// Arguments with which each tool can be called on a memory that has been filled.
fn arguments(tool: &str, memory: &Memory, ids: &[String]) -> Value {
    match tool {
        "inject_context" => json!({"content": "Something new about telescopes", "rationale": "to look farther"}),
        "store_memory" => json!({"content": "The telescope stands on the roof"}),
        "search_graph" => json!({"query": "full disk", "topK": 3}),
        "trigger_workspace_broadcast" => json!({"memory_id": ids[0], "force": true}),
        "adjust_coupling" => json!({"new_K": 3.0}),
        "get_johari_classification" => json!({"memory_id": ids[0]}),
        "get_threshold_status" => json!({"domain": "Code", "embedder_id": 1}),
        "trigger_recalibration" => json!({"level": 1}),
        "adjust_neuromodulator" => json!({"modulator": "dopamine", "delta": 0.5}),
        "omni_infer" => json!({"source": ids[5], "direction": "abduction"}),
        "search_teleological" => json!({"query_content": "apple pie"}),
        "compute_teleological_vector" => {
            json!({"content": "apple pie", "compute_tucker": true, "tucker_ranks": [2, 2, 8], "include_per_embedder": true})
        }
        "fuse_embeddings" => json!({"memory_id": ids[6]}),
        "update_synergy_matrix" => {
            json!({"query_vector_id": ids[0], "result_vector_id": ids[1], "feedback": "relevant"})
        }
        "manage_teleological_profile" => json!({"action": "list"}),
        "auto_bootstrap_north_star" => json!({"confidence_threshold": 0.5}),
        "get_alignment_drift" => json!({"include_history": true}),
        "trigger_drift_correction" => json!({"force": true}),
        "get_autonomous_status" => json!({"include_metrics": true, "include_history": true}),
        "compute_delta_sc" => {
            let (old, new) = (fingerprint(memory, &ids[0]), fingerprint(memory, &ids[1]));
            json!({"vertex_id": ids[1], "old_fingerprint": old, "new_fingerprint": new, "include_diagnostics": true})
        }
        "get_memory" => json!({"memory_id": ids[0], "history": true}),
        "list_memories" => json!({"limit": 3, "tags": []}),
        "update_memory" => {
            json!({"memory_id": ids[16], "content": "The football season ends with two matches in June"})
        }
        "forget_memory" => json!({"memory_id": ids[15]}),
        "erase_memory" => json!({"memory_id": ids[17]}),
        "relate_memories" => json!({"source": ids[0], "target": ids[1], "type": "supports"}),
        "undo_change" => json!({"operation": memory.call("adjust_coupling", json!({"new_K": 2.5}))["undo"]}),
        "unrelate_memories" => json!({"source": ids[0], "target": ids[1], "type": "supports"}),
        _ => json!({}),
    }
}

fn fingerprint(memory: &Memory, id: &str) -> Value {
    let caller = switchboard_contextgraph::server::MemoryCaller::default();
    let id = id.parse().unwrap();
    memory
        .server
        .with_space(&caller, |space, now| {
            Ok(switchboard_contextgraph::fingerprint::wire::write(&space.fingerprint(id, now)?))
        })
        .unwrap()
}

#[test]
fn every_tool_answers_as_its_schema_says() {
    let memory = Memory::new();
    let ids: Vec<String> =
        TOPICS.iter().map(|text| memory.inject(text)["fingerprintId"].as_str().unwrap().to_owned()).collect();
    for spec in tools::all() {
        let given = arguments(spec.name, &memory, &ids);
        let takes = Schema::read(&Raw::from_value(&tools::args::schema(&spec.params)).unwrap());
        takes.check(&Raw::from_value(&given).unwrap()).unwrap_or_else(|mismatch| panic!("{}: {mismatch:?}", spec.name));
        let answer = memory.call(spec.name, given);
        let gives = Schema::read(&Raw::from_value(&spec.output).unwrap());
        gives
            .check(&Raw::from_value(&answer).unwrap())
            .unwrap_or_else(|mismatch| panic!("{}: {mismatch:?}\n{answer:#}", spec.name));
        only_numbers(spec.name, &answer);
    }
}

/// No number may be NaN or infinite: JSON writes those as null.
fn only_numbers(tool: &str, value: &Value) {
    if let Value::Array(list) = value {
        let numbers = list.iter().any(Value::is_number);
        assert!(!(numbers && list.iter().any(Value::is_null)), "{tool}: {value}");
    }
    match value {
        Value::Array(list) => list.iter().for_each(|value| only_numbers(tool, value)),
        Value::Object(members) => members.values().for_each(|value| only_numbers(tool, value)),
        _ => {}
    }
}

#[test]
fn equal_fingerprints_do_not_surprise_and_others_do() {
    let memory = Memory::new();
    let ids: Vec<String> = TOPICS.iter().map(|text| memory.store(text)).collect();
    let (a, b) = (fingerprint(&memory, &ids[0]), fingerprint(&memory, &ids[12]));
    let delta = |old: &Value, new: &Value| {
        memory.call("compute_delta_sc", json!({"vertex_id": ids[0], "old_fingerprint": old, "new_fingerprint": new}))
    };
    let same = delta(&a, &a);
    assert_eq!(same["delta_s_per_embedder"], json!(vec![0.0; 13]));
    assert_eq!(same["utl_learning_potential"], 0.0);
    let other = delta(&a, &b);
    let each: Vec<f64> =
        other["delta_s_per_embedder"].as_array().unwrap().iter().map(|one| one.as_f64().unwrap()).collect();
    assert!(each.iter().all(|one| (0.0..=1.0).contains(one)) && each[0] > 0.3 && each[5] > 0.5, "{each:?}");
    for part in ["delta_s_aggregate", "delta_c", "utl_learning_potential"] {
        assert!((0.0..=1.0).contains(&other[part].as_f64().unwrap()));
    }
    // A space that was not there before is neither new nor known; one that is missing after is an error.
    let mut old = a.clone();
    old["semantic"].as_object_mut().unwrap().shift_remove("e7_code");
    assert_eq!(delta(&old, &b)["delta_s_per_embedder"][6], 0.5);
    let mut new = b.clone();
    new["semantic"].as_object_mut().unwrap().shift_remove("e7_code");
    let bad = |old: &Value, new: &Value| {
        memory.problem("compute_delta_sc", json!({"old_fingerprint": old, "new_fingerprint": new})).code
    };
    assert_eq!(bad(&a, &new), Code::InvalidFingerprint);
    let mut short = b.clone();
    short["semantic"]["e9_hdc"] = json!([0.5, 0.5]);
    assert_eq!(bad(&a, &short), Code::DimensionMismatch);
    let mut infinite = b.clone();
    infinite["semantic"]["e1_semantic"][0] = Value::Null;
    assert_eq!(bad(&a, &infinite), Code::Computation);
    let mut empty = b;
    empty["semantic"]["e13_splade"] = json!({"indices": [], "values": []});
    assert_eq!(delta(&a, &empty)["delta_s_per_embedder"][12], 1.0);
    empty["semantic"]["e12_late_interaction"] = json!([]);
    assert_eq!(delta(&a, &empty)["delta_s_per_embedder"][11], 0.5);
}

#[test]
fn learning_moves_what_it_should() {
    let memory = Memory::new();
    let fresh = memory.answer("utl_status", json!({})).pulse.unwrap();
    assert_eq!((fresh.entropy, fresh.coherence, fresh.learning_score), (0.0, 0.0, 0.0));
    assert_eq!((fresh.quadrant.name(), fresh.suggested_action), ("Open", "DirectRecall"));
    let first = memory.inject("The first thing ever");
    assert_eq!(first["utl"]["entropy"], 1.0, "nothing was seen before");
    for text in TOPICS {
        memory.inject(text);
    }
    let again = memory.inject(TOPICS[0]);
    assert!(again["utl"]["entropy"].as_f64().unwrap() < 0.4, "it was seen before: {again}");
    let status = memory.call("utl_status", json!({}));
    assert_eq!(status["interaction_count"], 20);
    assert_eq!(status["lifecycle_phase"], "Infancy");
    assert!(memory.call("get_memetic_status", json!({}))["edgeCount"].as_u64().unwrap() > 5);
    let said = memory.inject("The database server never ran out of disk space during the nightly backup");
    assert!(!said["contradicts"].as_array().unwrap().is_empty(), "{said}");
    // Storing alone does not move the state of learning.
    let before = memory.call("utl_status", json!({}));
    memory.store("One more, without learning");
    assert_eq!(memory.call("utl_status", json!({}))["interaction_count"], before["interaction_count"]);
}

#[test]
fn causes_are_followed_and_none_is_invented() {
    let memory = Memory::new();
    let rain = memory.store("Heavy rain leads to river floods");
    let floods = memory.store("River floods cause closed roads");
    let roads = memory.store("Closed roads lead to late deliveries");
    let pie = memory.store("Apple pie needs cinnamon");
    let infer = |source: &str, target: &str, direction: &str| {
        memory.call("omni_infer", json!({"source": source, "target": target, "direction": direction}))
    };
    let path = infer(&rain, &roads, "forward");
    assert_eq!(path["results"][0]["path"], json!([rain, floods, roads]), "{path:#}");
    let (strength, confidence) = (&path["results"][0]["strength"], &path["results"][0]["confidence"]);
    assert!(strength.as_f64().unwrap() > 0.3 && confidence.as_f64().unwrap() >= 0.5, "{path:#}");
    assert_eq!(infer(&roads, &rain, "backward")["results"][0]["path"], json!([rain, floods, roads]));
    assert_eq!(infer(&roads, &rain, "forward")["result_count"], 0);
    assert_eq!(infer(&rain, &pie, "bidirectional")["result_count"], 0);
    let causes = memory.call("omni_infer", json!({"source": floods, "direction": "abduction"}));
    assert_eq!(causes["results"][0]["source"], json!(rain), "{causes:#}");
    let total: f64 = causes["results"].as_array().unwrap().iter().map(|one| one["confidence"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-6, "shares of the explanation: {total}");
    let missing = memory.problem("omni_infer", json!({"source": rain, "direction": "forward"}));
    assert_eq!((missing.code, missing.kind), (Code::Refused, "TARGET_MISSING"));
}

#[test]
fn consolidation_merges_and_can_be_undone() {
    let memory = Memory::new();
    for text in &TOPICS[..6] {
        memory.store(text);
    }
    let first = memory.store("The meeting is on Friday at ten in room four");
    let second = memory.store("The meeting is on Friday at ten in room 4");
    let tried = memory.call("trigger_consolidation", json!({"dry_run": true}));
    assert_eq!(tried["consolidation_result"]["status"], "candidates_found", "{tried:#}");
    assert_eq!(memory.call("get_memetic_status", json!({}))["fingerprintCount"], 8, "only tried");
    let done = memory.call("consolidate_memories", json!({}));
    assert_eq!(done["consolidation_result"]["status"], "merged");
    assert_eq!(memory.call("get_memetic_status", json!({}))["fingerprintCount"], 7);
    assert_eq!(memory.problem("get_johari_classification", json!({"memory_id": first})).kind, "NODE_NOT_FOUND");
    let found = memory.search("when is the meeting", 3);
    assert_eq!(found.iter().filter(|text| text.contains("meeting")).count(), 1, "{found:?}");
    memory.call("trigger_consolidation", json!({"undo": done["undo"]}));
    assert_eq!(memory.call("get_memetic_status", json!({}))["fingerprintCount"], 8);
    memory.call("get_johari_classification", json!({"memory_id": second}));
    assert_eq!(
        memory.call("trigger_consolidation", json!({"min_similarity": 1.0}))["consolidation_result"]["status"],
        "no_candidates"
    );
}

#[test]
fn goals_are_found_and_drift_is_corrected() {
    let memory = Memory::new();
    let few = memory.problem("auto_bootstrap_north_star", json!({}));
    assert_eq!((few.code, few.kind), (Code::Storage, "TOO_FEW_MEMORIES"));
    for text in TOPICS {
        memory.store(text);
    }
    let goals = memory.call("discover_goals", json!({"min_confidence": 0.0, "max_goals": 20}));
    assert!(goals["discovery_count"].as_u64().unwrap() >= 2, "{goals:#}");
    let star = memory.call("auto_bootstrap_north_star", json!({"confidence_threshold": 0.5}));
    assert_eq!(star["status"], "bootstrapped");
    assert_eq!(memory.call("auto_bootstrap_north_star", json!({}))["status"], "already_bootstrapped");
    let drift = memory.call("get_alignment_drift", json!({}));
    assert_eq!((&drift["reference_type"], drift["analyzed_count"].as_u64()), (&json!("north_star"), Some(18)));
    let corrected = memory.call("trigger_drift_correction", json!({"force": true}));
    let result = &corrected["correction_result"];
    let number = |name: &str| result[name].as_f64().unwrap();
    assert!(number("alignment_after") > number("alignment_before"), "{corrected:#}");
    assert!((number("alignment_after") - number("alignment_before") - number("improvement")).abs() < 1e-9);
    let measured = memory.call("get_alignment_drift", json!({}))["overall_drift"]["similarity"].as_f64().unwrap();
    assert!((measured - number("alignment_after")).abs() < 0.01, "what is said is what is measured");
    let status = memory.call("get_autonomous_status", json!({"include_history": true}));
    assert_eq!(status["north_star"]["configured"], true);
    assert!(status["history"].as_array().unwrap().iter().any(|one| one["kind"] == "correction"));
    let hits = memory.call("search_graph", json!({"query": "football"}));
    assert!(hits["results"].as_array().unwrap().iter().any(|hit| hit["thetaToNorthStar"].as_f64().unwrap() > 0.0));
}

#[test]
fn feedback_teaches_confidence_and_synergy() {
    let memory = Memory::new();
    for text in TOPICS {
        memory.store(text);
    }
    let mut learned = 0;
    for round in 0..6 {
        let found = memory
            .call("search_graph", json!({"query": if round % 2 == 0 { "disk full" } else { "bake a pie" }, "topK": 3}));
        for (rank, hit) in found["results"].as_array().unwrap().iter().enumerate() {
            let word = if rank == 0 { "relevant" } else { "not_relevant" };
            let told = memory.call(
                "update_synergy_matrix",
                json!({"query_vector_id": found["queryId"], "result_vector_id": hit["fingerprintId"], "feedback": word}),
            );
            assert_eq!(told["calibration_labelled"], true);
            learned += u64::from(told["learning_triggered"] == true);
        }
    }
    assert_eq!(learned, 1, "every tenth event teaches");
    let measured = memory.call("get_calibration_metrics", json!({"timeframe": "1h"}));
    assert_eq!(measured["metrics"]["sample_count"], 18);
    for level in 1..=4 {
        let done = memory.call("trigger_recalibration", json!({"level": level}));
        assert_eq!(done["success"], true, "{done:#}");
    }
    let cooler = memory.call("get_threshold_status", json!({"embedder_id": 1}));
    assert_eq!(cooler["embedder_detail"]["samples"], 18);
    memory.pass(2 * 3_600_000);
    assert_eq!(memory.call("get_calibration_metrics", json!({"timeframe": "1h"}))["metrics"]["sample_count"], 0);
}

#[test]
fn steering_moves_dopamine_and_profiles_have_rules() {
    let memory = Memory::new();
    let before = memory.call("get_neuromodulation_state", json!({}))["dopamine"]["level"].as_f64().unwrap();
    let steered = memory.call("get_steering_feedback", json!({}));
    assert_ne!(steered["neuromodulation"]["da_new"].as_f64().unwrap(), before);
    let profile = |arguments: Value| memory.answer("manage_teleological_profile", arguments).outcome;
    assert_eq!(
        profile(json!({"action": "delete", "profile_id": "creative_writing"})).unwrap_err().kind,
        "PROFILE_BUILT_IN"
    );
    assert_eq!(profile(json!({"action": "read", "profile_id": "nobody"})).unwrap_err().code, Code::Refused);
    let made = profile(json!({"action": "create", "profile_id": "mine", "embedder_weights": vec![2.0; 13]})).unwrap();
    let sum: f64 = made["weights"].as_array().unwrap().iter().map(|one| one.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9);
    assert_eq!(profile(json!({"action": "create", "profile_id": "mine"})).unwrap_err().kind, "PROFILE_EXISTS");
    assert!(
        profile(json!({"action": "update", "profile_id": "mine", "embedder_weights": [-1.0, 1,1,1,1,1,1,1,1,1,1,1,1]}))
            .is_err()
    );
    profile(json!({"action": "delete", "profile_id": "mine"})).unwrap();
    assert_eq!(profile(json!({"action": "list"})).unwrap()["count"], 3);
    assert_eq!(
        profile(json!({"action": "find_best", "name": "fix a bug in this function"})).unwrap()["profile_id"],
        "code_implementation"
    );
}
