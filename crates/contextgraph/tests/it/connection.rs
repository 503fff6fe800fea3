//! The scenarios of the specification (6.1) and its checklist (10), over a connection as clients have it.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::{Memory, TOPICS, object};

/// Collects what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

const RESOLVED: &str = "Resolved tool alias to canonical name";

/// What calling a tool logs, and what it answers.
fn logged(memory: &Memory, tool: &str, arguments: Value) -> (String, Value) {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let answer = tracing::subscriber::with_default(subscriber, || memory.call(tool, arguments));
    (log.text(), answer)
}

#[test]
fn scenario_invoke_tool_using_canonical_name() {
    let memory = Memory::new();
    let (log, answer) = logged(&memory, "discover_sub_goals", json!({}));
    assert!(answer["discovery_count"].is_number());
    assert!(!log.contains(RESOLVED), "{log}");
    assert_eq!(memory.server.usage(), (1, 0, 0));
}

#[test]
fn scenario_invoke_tool_using_prd_alias() {
    let memory = Memory::new();
    let (log, answer) = logged(&memory, "discover_goals", json!({}));
    assert!(answer["discovery_count"].is_number());
    assert!(log.contains(RESOLVED) && log.contains("DEBUG") && log.contains("discover_sub_goals"), "{log}");
    assert_eq!(memory.server.usage(), (0, 1, 0));
}

#[test]
fn scenario_invoke_consolidation_using_prd_alias() {
    let (log, answer) = logged(&Memory::new(), "consolidate_memories", json!({}));
    assert_eq!(answer["consolidation_result"]["status"], "no_candidates");
    assert!(log.contains(RESOLVED), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_tool_list_includes_alias_information() {
    let memory = Memory::new();
    let mut client = memory.connect().await;
    let list = client.request("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 46);
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(tool("discover_sub_goals")["aliases"], json!(["discover_goals"]));
    assert_eq!(tool("trigger_consolidation")["aliases"], json!(["consolidate_memories"]));
    assert_eq!(tool("compute_delta_sc")["aliases"], json!(["gwt/compute_delta_sc"]));
    assert!(tool("store_memory").get("aliases").is_none());
    for name in [
        "get_consciousness_state",
        "get_workspace_status",
        "get_kuramoto_sync",
        "get_ego_state",
        "trigger_workspace_broadcast",
        "adjust_coupling",
        "get_johari_classification",
        "compute_delta_sc",
    ] {
        assert_eq!(tool(name)["inputSchema"]["type"], "object");
    }
    for (name, risk, permission, reads) in [
        ("search_graph", "safe", "memory.read", true),
        ("get_steering_feedback", "moderate", "memory.write", false),
        ("store_memory", "moderate", "memory.write", false),
        ("trigger_dream", "moderate", "memory.write", false),
    ] {
        let tool = tool(name);
        for home in [&tool["security"], &tool["_meta"]["security"]] {
            assert_eq!(
                (&home["risk_level"], &home["permissions_required"]),
                (&json!(risk), &json!([permission])),
                "{name}"
            );
        }
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_unknown_tool_returns_error() {
    let memory = Memory::new();
    let mut client = memory.connect().await;
    let answer = client.call("nonexistent_tool", json!({})).await;
    assert_eq!(answer["error"]["code"], -32004);
    assert_eq!(answer["error"]["message"], "Unknown tool: nonexistent_tool");
    assert_eq!(answer["error"]["data"]["_cognitive_pulse"]["quadrant"], "Open");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_carries_the_pulse() {
    let memory = Memory::new();
    let id = memory.store(TOPICS[0]);
    let mut client = memory.connect().await;
    let list = client.request("tools/list", json!({})).await;
    for tool in list["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let answer = client.call(name, json!({"memory_id": id})).await;
        let homes = match answer.get("result") {
            Some(result) => {
                assert!(result["content"][0]["text"].is_string() && result["isError"].is_boolean(), "{name}: {answer}");
                vec![&result["_cognitive_pulse"], &result["_meta"]["_cognitive_pulse"]]
            }
            None => vec![&answer["error"]["data"]["_cognitive_pulse"]],
        };
        for pulse in homes {
            for part in ["entropy", "coherence", "learning_score"] {
                assert!((0.0..=1.0).contains(&pulse[part].as_f64().unwrap()), "{name}: {answer}");
            }
            assert!(["Open", "Hidden", "Blind", "Unknown"].contains(&pulse["quadrant"].as_str().unwrap()));
            assert!(pulse["suggested_action"].is_string());
        }
    }
    let aliased = client.call("gwt/compute_delta_sc", json!({})).await;
    assert_eq!(
        (&aliased["error"]["code"], &aliased["error"]["data"]["kind"]),
        (&json!(-32602), &json!("INVALID_PARAMS"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_and_structure_are_the_same_and_keys_make_it_once() {
    let memory = Memory::new();
    let mut client = memory.connect().await;
    let params = json!({
        "name": "store_memory", "arguments": {"content": "kept once"}, "_meta": {"idempotency_key": "abc"},
    });
    let first = client.request("tools/call", params.clone()).await;
    let text: Value = serde_json::from_str(first["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, first["result"]["structuredContent"]);
    assert_eq!(first["result"]["_meta"]["was_replay"], false);
    let again = client.request("tools/call", params).await;
    assert_eq!(again["result"]["structuredContent"], first["result"]["structuredContent"]);
    assert_eq!(again["result"]["_meta"]["was_replay"], true);
    let failed = client.call("omni_infer", json!({"source": "01234567-89ab-7cde-8fff-0123456789ab"})).await;
    assert_eq!(failed["result"]["isError"], true);
    assert!(failed["result"]["content"][0]["text"].as_str().unwrap().contains("not found"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memories_are_resources_and_prompts_recall() {
    let memory = Memory::new();
    let ids: Vec<String> = TOPICS.iter().map(|text| memory.store(text)).collect();
    let mut client = memory.connect().await;
    let read = client.request("resources/read", json!({"uri": format!("contextgraph://memory/{}", ids[0])})).await;
    let shown: Value = serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((shown["content"].as_str(), shown["memory"]["agent"].as_str()), (Some(TOPICS[0]), Some("tester")));
    let near =
        client.request("resources/read", json!({"uri": format!("contextgraph://neighbourhood/{}", ids[0])})).await;
    let near: Value = serde_json::from_str(near["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert!(
        near["edges"].as_array().unwrap().iter().any(|edge| edge["content"].as_str().unwrap().contains("disk")),
        "{near:#}"
    );
    let none = client
        .request("resources/read", json!({"uri": "contextgraph://memory/01234567-89ab-7cde-8fff-0123456789ab"}))
        .await;
    assert_eq!(none["error"]["code"], -32002, "{none}");
    let status = client.request("resources/read", json!({"uri": "contextgraph://status"})).await;
    assert!(status["result"]["contents"][0]["text"].as_str().unwrap().contains("fingerprintCount"));
    let prompt = client.request("prompts/get", json!({"name": "recall", "arguments": {"topic": "baking"}})).await;
    assert!(prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains("pie"), "{prompt}");
    for name in ["reflect", "keep"] {
        let prompt = client.request("prompts/get", json!({"name": name})).await;
        assert!(prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap().len() > 50, "{prompt}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_can_be_taken_back() {
    let memory = Memory::new();
    memory.store("stays");
    let mut client = memory.connect().await;
    let changed = client.call("adjust_coupling", json!({"new_K": 9})).await;
    let operation = changed["result"]["structuredContent"]["undo"].clone();
    let done = client.request("contextgraph/undo", json!({"operation": operation})).await;
    assert!(done["result"]["done"].as_str().unwrap().contains('2'), "{done}");
    assert_eq!(memory.call("get_kuramoto_sync", json!({}))["coupling"], 2.0);
    // What was stored is taken out, and says so.
    for (tool, more) in [("store_memory", json!({})), ("inject_context", json!({"rationale": "a test"}))] {
        let mut arguments = json!({"content": "stays no longer"});
        arguments.as_object_mut().unwrap().extend(object(more));
        let kept = client.call(tool, arguments).await["result"]["structuredContent"].clone();
        assert_eq!(memory.search("no longer", 1), ["stays no longer"]);
        let done = client.request("contextgraph/undo", json!({"operation": kept["undo"]})).await;
        assert!(done["result"]["done"].as_str().unwrap().contains("taken out"), "{done}");
        assert_eq!(memory.search("no longer", 1), ["stays"]);
        let again = client.call("fuse_embeddings", json!({"memory_id": kept["fingerprintId"]})).await;
        assert!(again["error"]["message"].as_str().unwrap().contains("taken out"), "{again}");
    }
    let bad = client.request("contextgraph/undo", json!({"operation": "x"})).await;
    assert_eq!(bad["error"]["code"], -32602);
}
