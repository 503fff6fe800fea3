//! Dreams change edges, run beside calls, and end when they are told to.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_contextgraph::Code;

use crate::support::{Memory, TOPICS};

fn filled() -> Memory {
    let memory = Memory::new();
    for text in TOPICS {
        memory.inject(text);
    }
    memory
}

/// Looks until the dream is over.
fn awake(memory: &Memory) -> Value {
    let began = Instant::now();
    loop {
        let status = memory.call("get_dream_status", json!({}));
        if status["is_dreaming"] == false {
            return status;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{status:#}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_dream_changes_edges_and_the_next_has_to_wait() {
    let memory = filled();
    let weights = |memory: &Memory| memory.call("get_memetic_status", json!({}))["edgeCount"].as_u64().unwrap();
    let before = weights(&memory);
    let started = memory.call("trigger_dream", json!({"rationale": "a test"}));
    assert_eq!((&started["triggered"], &started["trigger_reason"]), (&json!(true), &json!("Manual")));
    let status = awake(&memory);
    let report = &status["last_dream_completed"];
    assert_eq!((status["completed_cycles"].as_u64(), &report["completed"]), (Some(1), &json!(true)), "{status:#}");
    assert_eq!(report["memories_replayed"], 18);
    assert!(report["edges_strengthened"].as_u64().unwrap() > 0, "{report:#}");
    assert!(report["queries_explored"].as_u64().unwrap() > 0);
    let discovered = report["edges_discovered"].as_u64().unwrap() + report["edges_associated"].as_u64().unwrap();
    assert_eq!(weights(&memory), before + discovered - report["edges_pruned"].as_u64().unwrap());
    let refused = memory.call("trigger_dream", json!({}));
    assert_eq!(refused["triggered"], false);
    assert!(refused["cooldown_remaining_secs"].as_u64().unwrap() > 1_000);
    assert_eq!(memory.call("trigger_dream", json!({"force": true}))["triggered"], true);
    awake(&memory);
    memory.pass(1_800_000);
    assert_eq!(memory.call("trigger_dream", json!({}))["triggered"], true);
    awake(&memory);
}

#[test]
fn two_dreams_at_once_are_refused_and_an_abort_is_quick() {
    let memory = filled();
    assert_eq!(memory.call("abort_dream", json!({}))["aborted"], false, "nothing to abort");
    memory.call("trigger_dream", json!({}));
    let second = memory.problem("trigger_dream", json!({"force": true}));
    assert_eq!((second.code, second.kind), (Code::Dream, "DREAM_IN_PROGRESS"));
    // Other calls get in while it dreams.
    assert_eq!(memory.search("bake a pie", 1).len(), 1);
    let aborted = memory.call("abort_dream", json!({"reason": "enough"}));
    let latency = aborted["abort_latency_ms"].as_f64().unwrap();
    assert!(aborted["aborted"] == false || latency < 1_000.0, "{aborted}");
    assert_eq!(memory.call("get_dream_status", json!({}))["state"], "awake");
}

#[test]
fn an_empty_memory_dreams_of_nothing() {
    let memory = Memory::new();
    memory.call("trigger_dream", json!({}));
    let report = awake(&memory)["last_dream_completed"].clone();
    assert_eq!((report["memories_replayed"].as_u64(), report["completed"].as_bool()), (Some(0), Some(true)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_is_told_and_a_caller_that_leaves_ends_the_dream() {
    let memory = filled();
    let mut client = memory.connect().await;
    let params = json!({"name": "trigger_dream", "arguments": {"wait": true}, "_meta": {"progressToken": "p"}});
    let over = client.request("tools/call", params.clone()).await;
    assert_eq!(over["result"]["structuredContent"]["report"]["completed"], true, "{over}");
    let progress: Vec<&Value> =
        client.notices.iter().filter(|notice| notice["method"] == "notifications/progress").collect();
    assert!(!progress.is_empty() && progress.iter().all(|one| one["params"]["progressToken"] == "p"));
    memory.pass(1_800_000);
    let id = client.begin("tools/call", params).await;
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})).await;
    let server = memory.again();
    let status = tokio::task::spawn_blocking(move || awake(&memory)).await.unwrap();
    assert_eq!(status["state"], "awake");
    drop(server);
}

#[test]
fn paths_that_are_walked_often_become_shortcuts() {
    let memory = Memory::new();
    let ids: Vec<String> = [
        "Heavy rain leads to river floods",
        "River floods cause closed roads",
        "Closed roads lead to late deliveries",
        "Late deliveries cause angry customers",
    ]
    .iter()
    .map(|text| memory.store(text))
    .collect();
    for _ in 0..5 {
        assert_eq!(memory.call("omni_infer", json!({"source": ids[0], "target": ids[3]}))["result_count"], 1);
    }
    let found = memory.call("get_amortized_shortcuts", json!({"min_confidence": 0.0}));
    assert_eq!(
        (found["returned_count"].as_u64(), found["shortcuts"][0]["hop_count"].as_u64()),
        (Some(1), Some(3)),
        "{found:#}"
    );
    assert_eq!(found["shortcuts"][0]["traversal_count"], 5);
    memory.call("trigger_dream", json!({}));
    let created = awake(&memory)["last_dream_completed"]["shortcuts_created"].clone();
    let sure = found["shortcuts"][0]["min_confidence"].as_f64().unwrap() >= 0.7;
    assert_eq!(created, json!(u64::from(sure)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn consolidation_tells_how_far_it_is_and_stops_when_nobody_waits() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use switchboard_contextgraph::server::MemoryCaller;
    let memory = filled();
    let twice = "The meeting is on Friday at ten in room four";
    memory.store(twice);
    memory.store("The meeting is on Friday at ten in room 4");
    let asked = AtomicUsize::new(0);
    let stopped = || asked.fetch_add(1, Ordering::Relaxed) > 0;
    let arguments = crate::support::object(json!({}));
    let given_up =
        memory.server.call_with(&MemoryCaller::default(), "trigger_consolidation", &arguments, &stopped, &|_, _| {});
    assert_eq!(given_up.outcome.unwrap_err().kind, "CANCELLED");
    assert_eq!(memory.call("get_memetic_status", json!({}))["fingerprintCount"], 20, "nothing was merged");
    let mut client = memory.connect().await;
    let params = json!({"name": "consolidate_memories", "arguments": {}, "_meta": {"progressToken": 7}});
    let over = client.request("tools/call", params).await;
    assert_eq!(over["result"]["structuredContent"]["consolidation_result"]["status"], "merged", "{over}");
    assert!(client.notices.iter().any(|notice| notice["method"] == "notifications/progress"), "{:?}", client.notices);
}
