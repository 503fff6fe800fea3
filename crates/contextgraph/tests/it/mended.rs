//! What was found and mended: judging after a restart, taking everything along, misspelt spaces, goals with their members,
//! fingerprints for clients; and what a model is shown first.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_contextgraph::server::{MemoryCaller, ToolExposure};
use switchboard_contextgraph::{Code, MemoryOptions, MemoryServer, SqliteStores};

use crate::support::{Client, Memory, START, TOPICS};

#[tokio::test]
async fn a_query_can_be_judged_after_a_restart() {
    let memory = Memory::new();
    let id = memory.store("The spare key is under the blue flowerpot");
    let query = memory.call("search_graph", json!({"query": "where is the key"}))["queryId"].clone();
    memory.server.close().await;
    let again = memory.again();
    let judged = json!({"query_vector_id": query, "result_vector_id": id, "feedback": "relevant"});
    again.call("update_synergy_matrix", judged.clone());
    // What was asked goes with what is erased: its words may be the same.
    let other = again.store("Bread needs flour");
    again.call("erase_memory", json!({"memory_id": other}));
    again.server.close().await;
    assert_eq!(memory.again().problem("update_synergy_matrix", judged).code, Code::Storage);
}

#[test]
fn an_export_takes_goals_and_learning_along() {
    let memory = Memory::new();
    for text in TOPICS {
        memory.inject(text);
    }
    memory.call("auto_bootstrap_north_star", json!({"confidence_threshold": 0.3}));
    memory.call("discover_sub_goals", json!({"min_confidence": 0.1}));
    memory.call(
        "manage_teleological_profile",
        json!({"action": "create", "profile_id": "mine", "embedder_weights": vec![0.5; 13]}),
    );
    let caller = MemoryCaller { principal: "tester".to_owned(), ..MemoryCaller::default() };
    let export = |memory: &Memory| {
        let mut lines: Vec<String> = Vec::new();
        let take = |line: &Value| {
            lines.push(line.to_string());
            Ok(())
        };
        memory.server.with_space(&caller, |space, _| space.export(take)).unwrap();
        lines
    };
    let lines = export(&memory);
    let other = Memory::new();
    let import = |memory: &Memory, lines: Vec<String>| {
        memory.server.with_space(&caller, |space, now| space.import(lines.into_iter(), now))
    };
    import(&other, lines.clone()).unwrap();
    let status = |memory: &Memory| memory.call("get_autonomous_status", json!({"include_metrics": true}));
    assert_eq!(status(&other)["north_star"], status(&memory)["north_star"]);
    assert_eq!(status(&other)["metrics"]["goals"], status(&memory)["metrics"]["goals"]);
    let count = |memory: &Memory| memory.call("utl_status", json!({}))["interaction_count"].clone();
    assert_eq!((count(&other), count(&memory)), (json!(18), json!(18)));
    let profile = other.call("manage_teleological_profile", json!({"action": "get", "profile_id": "mine"}));
    assert!(profile.to_string().contains("mine"), "{profile}");
    // A space that has memories keeps its own goals.
    let own = Memory::new();
    own.pass(1_000_000);
    own.store("Something of its own");
    import(&own, lines).unwrap();
    assert_eq!(status(&own)["north_star"]["configured"], false);
    assert_eq!(own.call("list_memories", json!({}))["total"], 19);
    let broken = json!({"state": "autonomy", "value": {"goals": 5}}).to_string();
    assert!(import(&Memory::new(), vec![broken]).unwrap_err().message.contains("autonomy"));
}

#[test]
fn who_only_reads_makes_no_space() {
    let memory = Memory::new();
    memory.call("store_memory", json!({"content": "The key is here", "space": "work"}));
    for tool in ["search_graph", "list_memories", "get_memetic_status"] {
        let arguments =
            if tool == "search_graph" { json!({"query": "key", "space": "wrok"}) } else { json!({"space": "wrok"}) };
        let problem = memory.problem(tool, arguments);
        assert_eq!((problem.code, problem.kind), (Code::InvalidParams, "SPACE_NOT_FOUND"), "{tool}");
    }
    assert_eq!(memory.server.spaces().unwrap(), ["work"]);
    assert_eq!(memory.call("search_graph", json!({"query": "key", "space": "work"}))["count"], 1);
}

#[test]
fn goals_list_their_members_and_drift_is_measured_by_one() {
    let memory = Memory::new();
    let ids: Vec<String> =
        TOPICS.iter().map(|text| memory.inject(text)["fingerprintId"].as_str().unwrap().to_owned()).collect();
    memory.call("auto_bootstrap_north_star", json!({"confidence_threshold": 0.3}));
    let goals = memory.call("discover_sub_goals", json!({"min_confidence": 0.1}));
    let goals = goals["discovered_goals"].as_array().unwrap();
    assert!(!goals.is_empty());
    for goal in goals {
        let members = goal["member_ids"].as_array().unwrap();
        assert_eq!(json!(members.len()), goal["member_count"]);
        assert!(members.iter().all(|id| ids.iter().any(|known| json!(known) == *id)));
    }
    let of = |arguments: Value| memory.call("get_alignment_drift", arguments);
    let star = of(json!({}));
    let measured: Vec<Value> = goals.iter().map(|goal| of(json!({"goal_id": goal["goal_id"]}))).collect();
    assert!(measured.iter().any(|one| one["overall_drift"]["similarity"] != star["overall_drift"]["similarity"]));
    assert!(measured.iter().all(|one| one["reference_type"] == "goal"));
    // Its own members are nearer to a goal than the rest.
    let (goal, members) = (&goals[0]["goal_id"], goals[0]["member_ids"].clone());
    let rest: Vec<&String> = ids.iter().filter(|id| !members.as_array().unwrap().contains(&json!(id))).collect();
    let near =
        |ids: Value| of(json!({"goal_id": goal, "memory_ids": ids}))["overall_drift"]["similarity"].as_f64().unwrap();
    assert!(near(members) > near(json!(rest)));
    let unknown = memory.problem("get_alignment_drift", json!({"goal_id": ids[0]}));
    assert_eq!(unknown.kind, "GOAL_NOT_FOUND");
}

#[tokio::test]
async fn the_difference_of_memories_and_texts_is_computed_by_name() {
    let memory = Memory::new();
    let (a, b) = (memory.store(TOPICS[0]), memory.store(TOPICS[6]));
    let delta = |old: Value, new: Value| {
        memory.call("compute_delta_sc", json!({"old_fingerprint": old, "new_fingerprint": new}))
    };
    let mean = |value: &Value| value["delta_s_aggregate"].as_f64().unwrap();
    let other = delta(json!({"memory_id": a}), json!({"memory_id": b}));
    let same = delta(json!({"memory_id": a}), json!({"memoryId": a}));
    assert!(mean(&same) < 1e-6 && mean(&other) > 0.2, "{same} {other}");
    let near = delta(json!({"memory_id": a}), json!({"content": TOPICS[1]}));
    assert!(mean(&near) > 0.0 && mean(&near) < mean(&other), "{near}");
    for bad in [json!({"memory_id": "x"}), json!({"content": ""}), json!({"content": 5})] {
        let problem =
            memory.problem("compute_delta_sc", json!({"old_fingerprint": bad, "new_fingerprint": {"memory_id": a}}));
        assert_eq!(problem.code, Code::InvalidParams, "{bad}");
    }
    // A client reads a fingerprint and gives it back.
    let mut client = memory.connect().await;
    let read = client.request("resources/read", json!({"uri": format!("contextgraph://fingerprint/{a}")})).await;
    let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}"));
    let fingerprint: Value = serde_json::from_str(text).unwrap();
    let answer = client.call("compute_delta_sc", json!({"old": fingerprint, "new": {"memory_id": b}})).await;
    let aggregate = answer["result"]["structuredContent"]["delta_s_aggregate"].as_f64();
    assert!((aggregate.unwrap() - mean(&other)).abs() < 1e-2, "{answer} {other}");
}

#[tokio::test]
async fn a_model_is_shown_eight_tools_in_few_words() {
    let folder = tempfile::tempdir().unwrap();
    let stores = Arc::new(SqliteStores::open(&folder.path().join("memory.db")).unwrap());
    let clock = Arc::new(|| START);
    let options = MemoryOptions {
        shown: ToolExposure::Everyday,
        seed: Some(1),
        clock,
        dreams: false,
        ..MemoryOptions::new(stores)
    };
    let server = MemoryServer::new(options).unwrap();
    let mut client = Client::of(&server).await;
    let listed = client.request("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 8);
    let seen: usize = tools
        .iter()
        .map(|tool| json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]}))
        .map(|seen| seen.to_string().len())
        .sum();
    println!("{seen} characters, about {} tokens", seen * 10 / 36);
    assert!(seen * 10 / 36 < 1_500, "{seen}");
    // The data is there once, and what is not listed is found and called.
    let stored = client.call("store_memory", json!({"content": "Anna lives in Berlin"})).await;
    assert!(stored["result"].get("structuredContent").is_none(), "{stored}");
    let text: Value = serde_json::from_str(stored["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    let found = client.call("find_tools", json!({"query": "erase a memory for good"})).await;
    assert!(found["result"]["content"][0]["text"].as_str().unwrap().contains("erase_memory"), "{found}");
    let erase = json!({"name": "erase_memory", "arguments": {"memory_id": text["fingerprintId"]}});
    let erased = client.call("use_tool", erase).await;
    assert!(erased["result"]["content"][0]["text"].as_str().unwrap().contains("\"count\":1"), "{erased}");
    assert_eq!(client.call("use_tool", json!({"name": "no_such"})).await["error"]["code"], -32004);
    assert_eq!(client.call("find_tools", json!({})).await["error"]["code"], -32602);
    // Programs that know a tool by its name still have it.
    assert!(client.call("utl_status", json!({})).await["result"].is_object());
}
