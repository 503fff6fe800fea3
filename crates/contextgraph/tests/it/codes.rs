//! What goes wrong has the code of the specification, a message that says what to do, and leaves nothing behind.

use serde_json::{Value, json};
use switchboard_contextgraph::Code;

use crate::support::{Memory, object};

const NOBODY: &str = "01234567-89ab-7cde-8fff-0123456789ab";

#[test]
fn bad_input_has_its_code_and_changes_nothing() {
    let memory = Memory::new();
    let id = memory.store("Something to hold on to");
    let long = "x".repeat(10 << 20);
    let table: &[(&str, Value, Code)] = &[
        ("store_memory", json!({}), Code::InvalidParams),
        ("store_memory", json!({"content": "  \n"}), Code::InvalidParams),
        ("store_memory", json!({"content": long}), Code::InvalidParams),
        ("store_memory", json!({"content": "x", "importance": 1.5}), Code::InvalidParams),
        ("store_memory", json!({"content": "x", "modality": "smell"}), Code::InvalidParams),
        ("store_memory", json!({"content": "x", "space": "../other"}), Code::InvalidParams),
        ("inject_context", json!({"content": "x"}), Code::InvalidParams),
        ("inject_context", json!({"content": "x", "rationale": " "}), Code::InvalidParams),
        ("search_graph", json!({"query": ""}), Code::InvalidParams),
        ("search_graph", json!({"query": "x", "topK": 101}), Code::InvalidParams),
        ("search_graph", json!({"query": "x", "minSimilarity": -0.1}), Code::InvalidParams),
        ("trigger_workspace_broadcast", json!({"memory_id": NOBODY}), Code::Workspace),
        ("trigger_workspace_broadcast", json!({"memory_id": "nonsense"}), Code::InvalidParams),
        ("adjust_coupling", json!({"new_K": "much"}), Code::InvalidParams),
        ("get_johari_classification", json!({"delta_s": 0.5}), Code::InvalidParams),
        ("get_johari_classification", json!({"delta_s": 0.5, "delta_c": 0.5, "threshold": 0.7}), Code::InvalidParams),
        ("get_johari_classification", json!({"memory_id": NOBODY}), Code::Storage),
        ("trigger_recalibration", json!({"level": 5}), Code::InvalidParams),
        ("trigger_recalibration", json!({}), Code::InvalidParams),
        ("adjust_neuromodulator", json!({"modulator": "acetylcholine", "delta": 0.1}), Code::Neuromodulation),
        ("adjust_neuromodulator", json!({"modulator": "caffeine", "delta": 0.1}), Code::InvalidParams),
        ("adjust_neuromodulator", json!({"modulator": "da", "delta": null}), Code::InvalidParams),
        ("omni_infer", json!({"source": NOBODY, "direction": "abduction"}), Code::Refused),
        ("search_teleological", json!({}), Code::InvalidParams),
        ("compute_teleological_vector", json!({"content": "x", "profile_id": "nobody"}), Code::Refused),
        ("compute_teleological_vector", json!({"content": "x", "tucker_ranks": [0, 1, 1]}), Code::InvalidParams),
        ("fuse_embeddings", json!({"memory_id": NOBODY}), Code::Storage),
        ("fuse_embeddings", json!({"memory_id": id, "custom_weights": [1.0]}), Code::InvalidParams),
        ("fuse_embeddings", json!({"memory_id": id, "custom_weights": vec![0.0; 13]}), Code::InvalidParams),
        (
            "update_synergy_matrix",
            json!({"query_vector_id": NOBODY, "result_vector_id": id, "feedback": "relevant"}),
            Code::Storage,
        ),
        ("discover_sub_goals", json!({"parent_goal_id": NOBODY}), Code::Refused),
        ("get_alignment_drift", json!({"memory_ids": [NOBODY]}), Code::Storage),
        ("trigger_consolidation", json!({"undo": NOBODY}), Code::Refused),
        ("compute_delta_sc", json!({"old_fingerprint": {}, "new_fingerprint": {}}), Code::InvalidFingerprint),
        (
            "compute_delta_sc",
            json!({"old_fingerprint": {}, "new_fingerprint": {}, "johari_threshold": 0.9}),
            Code::InvalidParams,
        ),
        ("nonexistent_tool", json!({}), Code::ToolNotFound),
        ("Discover_Goals", json!({}), Code::ToolNotFound),
    ];
    let size = memory.call("get_memetic_status", json!({}))["fingerprintCount"].clone();
    for (tool, arguments, code) in table {
        let problem = memory.problem(tool, arguments.clone());
        assert_eq!(problem.code, *code, "{tool} {problem:?}");
        assert!(problem.message.len() > 10 && problem.message.len() < 400, "{tool}: {}", problem.message);
    }
    assert_eq!(memory.call("get_memetic_status", json!({}))["fingerprintCount"], size);
    assert_eq!(memory.problem("nonexistent_tool", json!({})).message, "Unknown tool: nonexistent_tool");
}

#[test]
fn numbers_of_the_specification() {
    for (code, number) in [
        (Code::InvalidParams, -32602),
        (Code::Internal, -32603),
        (Code::Storage, -32001),
        (Code::Embedding, -32002),
        (Code::Utl, -32003),
        (Code::ToolNotFound, -32004),
        (Code::GwtNotInitialized, -32005),
        (Code::Workspace, -32006),
        (Code::Consciousness, -32007),
        (Code::Dream, -32008),
        (Code::Neuromodulation, -32009),
        (Code::Threshold, -32010),
        (Code::InvalidFingerprint, -32801),
        (Code::Computation, -32802),
        (Code::DimensionMismatch, -32803),
    ] {
        assert_eq!(code.number(), Some(number));
    }
}

#[test]
fn a_key_makes_a_call_once() {
    use switchboard_contextgraph::server::MemoryCaller;
    let memory = Memory::new();
    let call = |key: &str, content: &str| {
        let caller = MemoryCaller { principal: "p".to_owned(), idempotency_key: Some(key.to_owned()), space: None };
        memory.server.call(&caller, "store_memory", &object(json!({"content": content})))
    };
    let first = call("k1", "once");
    let again = call("k1", "once");
    assert_eq!(first.outcome, again.outcome);
    assert!(first.replayed.is_none() && again.replayed.is_some());
    assert_eq!(call("k1", "something else").outcome.unwrap_err().kind, "IDEMPOTENCY_CONFLICT");
    assert_ne!(call("k2", "twice").outcome, first.outcome);
    assert_eq!(memory.call("get_memetic_status", json!({}))["fingerprintCount"], 2);
}

#[test]
fn spaces_do_not_mix() {
    let memory = Memory::new();
    memory.call("store_memory", json!({"content": "ours", "space": "team"}));
    memory.store("mine");
    assert_eq!(memory.search("ours mine", 10), ["mine"]);
    let theirs = memory.call("search_graph", json!({"query": "ours mine", "space": "team", "includeContent": true}));
    assert_eq!(theirs["results"][0]["content"], "ours");
}

#[test]
fn what_is_exported_can_be_imported() {
    let memory = Memory::new();
    for text in crate::support::TOPICS {
        memory.store(text);
    }
    let caller = switchboard_contextgraph::server::MemoryCaller::default();
    let mut lines = Vec::new();
    let export = |lines: &mut Vec<String>| {
        memory.server.with_space(&caller, |space, _| {
            space.export(|line| {
                lines.push(line.to_string());
                Ok(())
            })
        })
    };
    export(&mut lines).unwrap();
    let other = Memory::new();
    let import =
        |lines: &[String]| other.server.with_space(&caller, |space, now| space.import(lines.iter().cloned(), now));
    let (memories, edges) = import(&lines).unwrap();
    assert_eq!(memories, 18);
    assert!(edges > 0);
    assert_eq!(import(&lines).unwrap().0, 0, "what is there is passed over");
    assert_eq!(other.search("when does the team train", 1), memory.search("when does the team train", 1));
    let bad = vec!["{\"content\": \"fine\"}".to_owned(), "{\"nothing\": 1}".to_owned()];
    assert_eq!(import(&bad).unwrap_err().kind, "IMPORT");
    assert_eq!(other.call("get_memetic_status", json!({}))["fingerprintCount"], 18, "all or nothing");
    assert_eq!(import(&bad[..1]).unwrap(), (1, 0));
}

/// Memories from elsewhere keep when they were said, and what a line says is read or refused, never passed over.
#[test]
fn plain_lines_keep_their_dates_and_say_what_is_wrong() {
    let memory = Memory::new();
    let caller = switchboard_contextgraph::server::MemoryCaller::default();
    let import = |line: &str| {
        memory.server.with_space(&caller, |space, now| space.import(std::iter::once(line.to_owned()), now))
    };
    memory.store("Anna lives in Graz");
    import(r#"{"content": "Anna lives in Linz", "createdAt": "2025-03-05", "agent": "diary", "tags": ["home"]}"#)
        .unwrap();
    let all = memory.call("list_memories", json!({"before": "2025-12"}));
    let old = &all["memories"][0];
    assert_eq!((&all["total"], &old["agent"], &old["tags"]), (&json!(1), &json!("diary"), &json!(["home"])), "{all}");
    assert!(old["createdAt"].as_str().unwrap().starts_with("2025-03-05") && old["supersededBy"].is_array(), "{old}");
    for (line, told) in [
        (r#"{"contnet": "x"}"#, "did you mean `content`"),
        (r#"{"content": "x", "createdAt": "then"}"#, "`createdAt` is a time"),
        (r#"{"content": "x", "tags": "home"}"#, "`tags` is a list"),
        ("plain text", "one on each line"),
        ("[1]", "an object with a `content`"),
    ] {
        let problem = import(line).unwrap_err();
        assert!(problem.message.contains(told) && problem.message.starts_with("line 1: "), "{}", problem.message);
    }
}
