//! Traces towards servers, bounds on time, and what is told of tools once.

use std::time::{Duration, Instant};

use switchboard_kernel::ServerPolicy;
use switchboard_protocol::Era;

use super::world::{Tools, call, gate, policy, text, world};
use crate::world::{client, raw};

const TOOL: &str =
    r#"{"name":"get","inputSchema":{"type":"object","required":["a"]},"security":{"risk_level":"safe"}}"#;
const MGP: &str = r#"{"tools":{},"mgp":{"version":"0.6.0","extensions":["audit"]}}"#;
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[tokio::test]
async fn a_call_without_a_trace_gets_one_where_the_server_tells_of_it() {
    let mut tools = Tools::new(&[TOOL]);
    MGP.clone_into(&mut tools.capabilities);
    let world = world(tools, policy(), gate()).await;
    let client = client(&world.url, Era::Legacy).await;
    assert_eq!(text(&call(&client, "get", r#","arguments":{"a":1.10}"#).await), "done");
    let parent = format!(r#","arguments":{{"a":1}},"_meta":{{"traceparent":"{PARENT}"}}"#);
    assert_eq!(text(&call(&client, "get", &parent).await), "done");
    assert_eq!(text(&call(&client, "get", r#","arguments":{"a":1},"trace_id":"own-1""#).await), "done");
    // Refused by its schema, under the caller's own trace.
    assert_ne!(text(&call(&client, "get", r#","arguments":{},"trace_id":"own-2""#).await), "done");
    let seen = world.tools.calls.lock().clone();
    let given = seen[0].member("trace_id").unwrap().as_text().unwrap();
    assert_eq!(seen[0].member("arguments").unwrap().as_str(), r#"{"a":1.10}"#);
    assert!(seen[1].member("trace_id").is_none());
    assert_eq!(seen[1].at(&["_meta", "traceparent"]).unwrap().as_text().unwrap(), PARENT);
    assert_eq!(seen[2].member("trace_id").unwrap().as_str(), r#""own-1""#);
    let record = world.record().await;
    let types = |trace: &str| {
        let mine = record.iter().filter(|event| event["trace_id"] == trace);
        mine.map(|event| event["event_type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for trace in [given.as_str(), "4bf92f3577b34da6a3ce929d0e0e4736", "own-1"] {
        assert_eq!(types(trace).last().map(String::as_str), Some("TOOL_EXECUTED"), "{trace}: {record:?}");
    }
    assert_eq!(types("own-2"), ["VALIDATION_FAILED"]);
}

#[tokio::test]
async fn a_server_that_knows_no_audit_gets_nothing_added() {
    let world = world(Tools::new(&[TOOL]), policy(), gate()).await;
    let client = client(&world.url, Era::Legacy).await;
    assert_eq!(text(&call(&client, "get", r#","arguments":{"a":1}"#).await), "done");
    assert!(world.tools.calls.lock()[0].member("trace_id").is_none());
}

#[tokio::test]
async fn the_scope_of_a_permission_bounds_the_time_of_a_call() {
    let tools = Tools { silent: true, ..Tools::new(&[TOOL]) };
    let policy = ServerPolicy {
        permissions_required: vec!["filesystem.read".to_owned()],
        permissions_granted: vec![("filesystem.read".to_owned(), Some(raw(r#"{"max_execution_time_ms":200}"#)))],
        ..policy()
    };
    let world = world(tools, policy, gate()).await;
    let client = client(&world.url, Era::Legacy).await;
    let began = Instant::now();
    let fault = client.ask("tools/call", r#"{"name":"get","arguments":{"a":1}}"#).await.unwrap_err();
    assert!(fault.message.contains("0.2 s"), "{fault:?}");
    assert!(began.elapsed() < Duration::from_secs(4), "the server's own time-out is 5 s");
}

#[tokio::test]
async fn a_risk_that_is_not_believed_and_a_name_that_two_want_are_told_once() {
    let first = r#"{"name":"thing_a","inputSchema":{"type":"object"},"security":{"risk_level":"safe"}}"#;
    let second = r#"{"name":"THING_A","inputSchema":{"type":"object"}}"#;
    let world = world(Tools::new(&[first, second]), policy(), gate()).await;
    let client = client(&world.url, Era::Legacy).await;
    for _ in 0..3 {
        client.ask("tools/list", "{}").await.unwrap();
        // Puts the lists together again.
        world.kernel.apply(vec![world.spec.clone()]);
    }
    let record = world.record().await;
    let of = |kind: &str| record.iter().filter(|event| event["event_type"] == kind).cloned().collect::<Vec<_>>();
    let [overridden] = of("RISK_LEVEL_OVERRIDE").try_into().unwrap();
    assert_eq!(overridden["details"]["declared_risk"], "safe");
    assert_eq!(overridden["details"]["effective_risk"], "moderate");
    let [conflict] = of("TOOL_NAME_CONFLICT").try_into().unwrap();
    assert_eq!(conflict["target"]["tool_name"], "THING_A");
    assert_eq!(conflict["details"]["conflicts_with"], "thing_a");
}
