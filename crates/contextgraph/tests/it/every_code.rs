//! Every code of section 4 of the specification is reached, and by what it says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::{Value, json};
use switchboard_contextgraph::embedders::{StaticTable, TextEmbedding};
use switchboard_contextgraph::server::MemoryCaller;
use switchboard_contextgraph::{Code, MemoryOptions, MemoryServer, SqliteStores};

use crate::support::{Client, Memory, START, object};

/// Changes what is stored of a state, behind the back of the memory.
fn set_state(memory: &Memory, key: &str, change: impl Fn(&str) -> String) {
    let connection = rusqlite::Connection::open(memory.folder.path().join("memory.db")).unwrap();
    let old: String = connection.query_row("SELECT value FROM state WHERE key = ?1", [key], |row| row.get(0)).unwrap();
    let changed = connection.execute("UPDATE state SET value = ?2 WHERE key = ?1", [key, &change(&old)]).unwrap();
    assert_eq!(changed, 1);
}

fn state(memory: &Memory, key: &str) -> String {
    let connection = rusqlite::Connection::open(memory.folder.path().join("memory.db")).unwrap();
    connection.query_row("SELECT value FROM state WHERE key = ?1", [key], |row| row.get(0)).unwrap()
}

/// A memory that has used all its parts.
fn lived() -> Memory {
    let memory = Memory::new();
    for text in &crate::support::TOPICS[..4] {
        memory.inject(text);
    }
    for (tool, arguments) in [
        ("adjust_coupling", json!({"new_K": 3})),
        ("adjust_neuromodulator", json!({"modulator": "dopamine", "delta": 0.1})),
        ("trigger_recalibration", json!({"level": 1})),
        ("trigger_dream", json!({"force": true})),
    ] {
        memory.call(tool, arguments);
    }
    while memory.call("get_dream_status", json!({}))["is_dreaming"] == true {
        std::thread::yield_now();
    }
    memory
}

#[test]
fn a_state_that_cannot_be_read_is_told_kept_and_can_begin_anew() {
    for (key, code, tools) in [
        ("gwt", -32005, &["get_consciousness_state", "get_kuramoto_sync", "get_workspace_status", "get_ego_state"][..]),
        ("calibration", -32010, &["get_threshold_status", "get_calibration_metrics"]),
        ("learning", -32003, &["utl_status"]),
        ("levels", -32009, &["get_neuromodulation_state"]),
        ("dreams", -32008, &["get_dream_status", "trigger_dream", "get_amortized_shortcuts"]),
    ] {
        let memory = lived();
        set_state(&memory, key, |_| "{\"of\": \"a later version\"}".to_owned());
        let memory = memory.again();
        for tool in tools {
            let problem = memory.problem(tool, json!({}));
            assert_eq!(problem.code.number(), Some(code), "{tool}: {problem:?}");
            assert!(problem.message.contains("renew"), "{problem}");
        }
        // The rest goes on, and what could not be read is not written over.
        memory.store("something else");
        assert_eq!(memory.search("something else", 1), ["something else"]);
        let caller = MemoryCaller::default();
        assert!(state(&memory, key).contains("a later version"));
        assert_eq!(memory.server.renew(&caller).unwrap(), [key]);
        assert!(memory.server.renew(&caller).unwrap().is_empty());
        for tool in tools {
            memory.call(tool, json!({}));
        }
        let memory = memory.again();
        memory.call(tools[0], json!({}));
        assert_eq!(memory.call("get_memetic_status", json!({}))["fingerprintCount"], 5);
    }
    let memory = lived();
    set_state(&memory, "gwt", |_| "no".to_owned());
    let memory = memory.again();
    for (tool, arguments) in [
        ("adjust_coupling", json!({"new_K": 2})),
        ("trigger_workspace_broadcast", json!({"memory_id": "01234567-89ab-7cde-8fff-0123456789ab"})),
    ] {
        assert_eq!(memory.problem(tool, arguments).code, Code::GwtNotInitialized);
    }
    set_state(&memory, "calibration", |_| "no".to_owned());
    assert_eq!(memory.again().problem("trigger_recalibration", json!({"level": 2})).code, Code::Threshold);
}

/// Embeds well, badly, or not at all.
struct Moody(AtomicU8);

impl TextEmbedding for Moody {
    fn embed(&self, text: &str) -> Vec<f32> {
        match self.0.load(Ordering::Relaxed) {
            0 => StaticTable.embed(text),
            1 => vec![f32::NAN; 256],
            2 => vec![0.1; 10],
            _ => panic!("out of order"),
        }
    }

    fn name(&self) -> &'static str {
        "a moody embedding"
    }
}

#[test]
fn what_cannot_be_embedded_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let moody = Arc::new(Moody(AtomicU8::new(0)));
    let stores = Arc::new(SqliteStores::open(&folder.path().join("memory.db")).unwrap());
    let options = MemoryOptions { embedding: moody.clone(), clock: Arc::new(|| START), ..MemoryOptions::new(stores) };
    let server = MemoryServer::new(options).unwrap();
    let call = |tool: &str, arguments: Value| server.call(&MemoryCaller::default(), tool, &object(arguments)).outcome;
    call("store_memory", json!({"content": "The first of all"})).unwrap();
    for mood in [1, 2] {
        moody.0.store(mood, Ordering::Relaxed);
        for (tool, arguments) in [
            ("store_memory", json!({"content": "The second"})),
            ("inject_context", json!({"content": "The second", "rationale": "a test"})),
            ("search_graph", json!({"query": "second"})),
            ("search_teleological", json!({"query_content": "second"})),
            ("compute_teleological_vector", json!({"content": "second"})),
        ] {
            let problem = call(tool, arguments).unwrap_err();
            assert_eq!((problem.code.number(), problem.kind), (Some(-32002), "EMBEDDING_FAILED"), "{tool}: {problem}");
        }
        let status = call("get_memetic_status", json!({})).unwrap();
        assert_eq!(status["fingerprintCount"], 1);
        assert!(status["layers"]["perception"].as_str().unwrap().starts_with("error"), "{status}");
    }
    moody.0.store(0, Ordering::Relaxed);
    call("store_memory", json!({"content": "The second"})).unwrap();
    assert_eq!(call("search_graph", json!({"query": "second"})).unwrap()["count"], 2);
}

async fn code(client: &mut Client, tool: &str, arguments: Value) -> i64 {
    let answer = client.call(tool, arguments).await;
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{tool}: {answer}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mistake_in_this_program_is_an_internal_error_and_no_end() {
    let folder = tempfile::tempdir().unwrap();
    let moody = Arc::new(Moody(AtomicU8::new(0)));
    let stores = Arc::new(SqliteStores::open(&folder.path().join("memory.db")).unwrap());
    let server = MemoryServer::new(MemoryOptions { embedding: moody.clone(), ..MemoryOptions::new(stores) }).unwrap();
    let mut client = Client::of(&server).await;
    client.call("store_memory", json!({"content": "before"})).await;
    moody.0.store(3, Ordering::Relaxed);
    let answer = client.call("store_memory", json!({"content": "meanwhile"})).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(answer["error"]["data"]["_cognitive_pulse"].is_object(), "{answer}");
    assert!(!answer.to_string().contains("panicked"), "{answer}");
    moody.0.store(0, Ordering::Relaxed);
    client.call("store_memory", json!({"content": "after"})).await;
    let status = client.call("get_memetic_status", json!({})).await;
    assert_eq!(status["result"]["structuredContent"]["fingerprintCount"], 2, "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codes_of_the_protocol() {
    let memory = Memory::new();
    let mut client = memory.connect().await;
    for (line, expected) in [
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, ", -32700),
        ("{\"id\": 1, \"method\": 5}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 77, \"method\": \"memories/list\"}", -32601),
        ("{\"jsonrpc\": \"2.0\", \"id\": 78, \"method\": \"tools/call\", \"params\": {}}", -32602),
    ] {
        let answer = client.raw(line).await;
        assert_eq!(answer["error"]["code"], expected, "{line}: {answer}");
    }
    assert_eq!(code(&mut client, "no_such_tool", json!({})).await, -32004);
}

#[test]
fn c_of_t_and_the_fingerprints() {
    let memory = lived();
    // Predictions so far off that their mean is no number.
    set_state(&memory, "learning", |old| {
        let mut learning: Value = serde_json::from_str(old).unwrap();
        learning["meta"]["accuracies"] = json!([1e308, 1e308, 1e308]);
        learning.to_string()
    });
    let memory = memory.again();
    let problem = memory.problem("get_consciousness_state", json!({}));
    assert_eq!(problem.code.number(), Some(-32007), "{problem:?}");
    let vectors = |e1: Value| json!({"embeddings": {"E1": e1}});
    for (old, new, expected) in [
        (vectors(json!([0.5])), vectors(json!([0.5])), -32803),
        (json!({}), json!({}), -32801),
        (json!({}), vectors(json!([1e300])), -32802),
    ] {
        let problem = memory.problem("compute_delta_sc", json!({"old_fingerprint": old, "new_fingerprint": new}));
        assert_eq!(problem.code.number(), Some(expected), "{problem:?}");
    }
    let nobody = "01234567-89ab-7cde-8fff-0123456789ab";
    assert_eq!(memory.problem("fuse_embeddings", json!({"memory_id": nobody})).code.number(), Some(-32001));
    assert_eq!(memory.problem("trigger_workspace_broadcast", json!({"memory_id": nobody})).code.number(), Some(-32006));
}
