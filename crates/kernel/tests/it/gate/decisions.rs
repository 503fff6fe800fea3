//! What operators and policies decide is told to those who hear of events: each decision once, wherever it was made.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{OperatorActions, ServerPolicy};
use switchboard_protocol::Era;
use switchboard_protocol::mgp::ApprovalPolicy;
use switchboard_store::{AccessSelector, PermissionDecision};

use super::world::{Client, House, Script, entry, open, open_house, tool, tool_with, until};
use crate::flow::world::says;

const AUDIT: &str = "notifications/mgp.audit";
const EVENT: &str = "notifications/mgp.event";
const STANDARD: [&str; 5] =
    ["ACCESS_GRANTED", "ACCESS_REVOKED", "PERMISSION_GRANTED", "PERMISSION_DENIED", "PERMISSION_REVOKED"];

fn hears_audit() -> Value {
    json!({"tools": {}, "mgp": {"version": "0.3.0", "extensions": ["audit", "security"]}})
}

fn types(events: &[Value]) -> Vec<String> {
    let name = |event: &Value| event["event_type"].as_str().unwrap_or_default().to_owned();
    events.iter().map(name).filter(|name| STANDARD.contains(&name.as_str())).collect()
}

fn told(client: &Client, channel: &str) -> usize {
    let events = client.told(EVENT);
    events.iter().filter(|event| event["channel"].as_str().is_some_and(|name| name.starts_with(channel))).count()
}

async fn decide_all(operator_actions: &OperatorActions) {
    operator_actions.grant_access(entry("bob", "s", None, true)).await.unwrap();
    let selector = AccessSelector { principal: Some("bob".into()), ..AccessSelector::default() };
    assert_eq!(operator_actions.revoke_access(&selector).await.unwrap().len(), 1);
    for decision in [PermissionDecision::Approved, PermissionDecision::Denied] {
        operator_actions.decide_permission("s", "camera", decision, None, None, None).await.unwrap();
    }
    assert_eq!(operator_actions.revoke_permission("s", Some("camera")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn decisions_of_another_process_reach_the_sink_and_who_subscribed() {
    let (sink, other) = (Script::new(Era::Legacy, vec![tool("a")]), Script::new(Era::Legacy, vec![tool("b")]));
    *sink.capabilities.lock() = hears_audit();
    *other.capabilities.lock() = hears_audit();
    let house = House::with(&[], ServerPolicy::default, open_house).await;
    let policy = |audit_sink| ServerPolicy { audit_sink, ..ServerPolicy::default() };
    house.kernel.apply(vec![
        super::world::spec("sink", sink.clone(), policy(true)),
        super::world::spec("other", other.clone(), policy(false)),
        super::world::spec("s", Script::new(Era::Legacy, vec![tool("c")]), policy(false)),
    ]);
    house.kernel.settled(Duration::from_secs(5)).await;
    let root = house.admin(Era::Legacy, says(Era::Legacy, &["events"])).await;
    let ann = house.client_with(Era::Legacy, "ann", says(Era::Legacy, &["events"])).await;
    for client in [&root, &ann] {
        client.send_as(1, "mgp/events/subscribe", json!({"channels": ["security.*"]})).await.expect("a subscription");
    }
    // The kernel has looked where the log ends before anything is decided.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let theirs = open(house.directory.path()).await;
    decide_all(&OperatorActions::of_operator(theirs, "olga")).await;
    until("the sink hears of all", || types(&sink.heard(AUDIT)).len() >= STANDARD.len()).await;
    until("root hears of all", || told(&root, "security.permission_") + told(&root, "security.access_") >= 5).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(types(&sink.heard(AUDIT)), STANDARD, "each once, in order");
    assert_eq!((told(&root, "security.permission_"), told(&root, "security.access_")), (3, 2));
    assert_eq!(told(&ann, "security."), 0, "what operators decide is for operators");
    assert_eq!(types(&other.heard(AUDIT)), Vec::<String>::new(), "it concerns another server");
    let events = sink.heard(AUDIT);
    assert!(events.iter().all(|event| event["trace_id"].is_string()), "{events:?}");
}

#[tokio::test]
async fn a_decision_by_a_method_is_told_once_with_the_trace_of_its_request() {
    let sink = Script::new(Era::Legacy, vec![tool("a")]);
    *sink.capabilities.lock() = hears_audit();
    let sinks = || ServerPolicy { audit_sink: true, ..ServerPolicy::default() };
    let house = House::with(&[("s", sink.clone())], sinks, open_house).await;
    let root = house.admin(Era::Legacy, says(Era::Legacy, &["access_control", "tool_discovery"])).await;
    let grant = json!({"agent_id": "bob", "server_id": "s", "entry_type": "server_grant", "permission": "allow"});
    let mut traced = grant.clone();
    traced["trace_id"] = "of-params".into();
    root.request("mgp/access/grant", traced).await.expect("granted");
    let mut traced = grant.clone();
    traced["_meta"] = json!({"dev.cloto/mgp/trace_id": "of-meta"});
    traced.as_object_mut().unwrap().remove("permission");
    root.request("mgp/access/revoke", traced).await.expect("revoked");
    let called = json!({"name": "mgp_access_grant", "arguments": grant, "_meta": {"trace_id": "of-call"}});
    root.request("tools/call", called.clone()).await.expect_err("a person has to agree");
    let pending = house.store.approvals().pending(jiff::Timestamp::now(), 10).await.unwrap();
    let end = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(5);
    let yes = switchboard_store::Verdict::Approve(switchboard_store::Reuse::Once);
    house.operator_actions().answer(&[pending[0].held.id.clone()], yes, None, end).await.unwrap();
    root.request("tools/call", called).await.expect("granted");
    let sought = json!({"reason": "capability_gap", "context": "do a", "task_trace_id": "of-task"});
    root.request("mgp/tools/request", sought).await.expect("an answer");
    until("the sink hears", || types(&sink.heard(AUDIT)).len() >= 4).await;
    let heard = sink.heard(AUDIT);
    assert_eq!(types(&heard), ["ACCESS_GRANTED", "ACCESS_REVOKED", "PERMISSION_GRANTED", "ACCESS_GRANTED"]);
    let events = house.await_events("dev.switchboard.tools_sought", 1).await;
    assert_eq!(events[0].trace_id.as_deref(), Some("of-task"));
    let traces: Vec<_> =
        house.events().await.into_iter().filter(|event| event.event_type.starts_with("ACCESS_")).collect();
    let traces: Vec<_> = traces.iter().map(|event| event.trace_id.as_deref().unwrap_or_default()).collect();
    assert_eq!(traces, ["of-params", "of-meta", "of-call"]);
    for event in house.events().await {
        assert!(event.trace_id.as_deref().is_some_and(|trace| !trace.is_empty()), "{event:?}");
    }
}

/// A server that will never be asked about is told so, and what a policy decides is on record.
#[tokio::test]
async fn a_denial_or_grant_by_policy_is_told_and_on_record() {
    for (policy, event_type, decision) in [
        (ApprovalPolicy::DenyAll, "PERMISSION_DENIED", "denied"),
        (ApprovalPolicy::ConfigOnly, "PERMISSION_DENIED", "denied"),
        (ApprovalPolicy::AutoApprove, "PERMISSION_GRANTED", "approved"),
    ] {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        let needs = json!({"version": "0.3.0", "extensions": ["security"], "permissions_required": ["memory.read"]});
        *script.capabilities.lock() = json!({"tools": {}, "mgp": needs});
        let change = |gate: &mut switchboard_kernel::GateOptions| {
            open_house(gate);
            gate.approval_policy = policy;
        };
        let house = House::with(&[("s", script.clone())], ServerPolicy::default, change).await;
        let events = house.await_events(event_type, 1).await;
        assert_eq!(events[0].details["permission"], "memory.read");
        assert_eq!(events[0].details["policy"], policy.as_str());
        if decision == "denied" {
            until("it is told", || !script.heard("mgp/permission/response").is_empty()).await;
            let told = script.heard("mgp/permission/response");
            assert_eq!(told[0]["grants"], json!({"memory.read": "denied"}));
            assert_eq!(told[0]["approved_by"], "policy");
            let ann = house.client(Era::Legacy, "ann").await;
            let error = ann.call("read", json!({})).await.unwrap_err();
            let advice: Value = error.data.expect("data").view().expect("JSON");
            assert!(advice["suggestion"].as_str().unwrap().contains("permissions_granted"), "{advice}");
        }
        assert_eq!(script.heard("mgp/permission/request"), Vec::<Value>::new(), "nobody is asked");
        assert_eq!(house.await_events(event_type, 1).await.len(), 1, "once");
    }
}

/// Permissions of one tool are asked for as those of a server are; the rest of the server can be used meanwhile.
#[tokio::test]
async fn what_a_tool_needs_is_asked_for_and_granting_it_brings_the_tool() {
    let snap = tool_with("snap", &json!({"security": {"permissions_required": ["camera"]}}));
    let script = Script::new(Era::Legacy, vec![tool("read"), snap]);
    *script.capabilities.lock() = json!({"tools": {}, "mgp": {"version": "0.6.0", "extensions": ["security"]}});
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, open_house).await;
    let ann = house.client(Era::Legacy, "ann").await;
    assert_eq!(ann.list("tools").await, ["read"]);
    let error = ann.call("snap", json!({})).await.unwrap_err();
    let data: Value = error.data.expect("data").view().expect("JSON");
    assert_eq!(data["kind"], "permission_pending");
    assert!(data["suggestion"].as_str().unwrap().contains("grant --server s --permission camera"), "{data}");
    let asked = || async { house.store.grants().load().await.unwrap().permissions };
    for _ in 0..200 {
        if !asked().await.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let asked = asked().await;
    assert_eq!((asked[0].permission.as_str(), asked[0].decision), ("camera", PermissionDecision::Deferred));
    assert_eq!(asked[0].justification.as_deref(), Some("for its tools: snap"));
    let status = house.kernel.status();
    assert_eq!(status[0].tools_lacking, [("snap".to_owned(), vec!["camera".to_owned()])]);
    assert!(status[0].permissions_missing.is_empty());
    until("the server is told to wait", || !script.heard("mgp/permission/await").is_empty()).await;
    let soon = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() + 3_600).unwrap();
    let scope = serde_json::value::RawValue::from_string(r#"{"hosts":["cam"]}"#.to_owned()).unwrap();
    let decided = PermissionDecision::Approved;
    house.operator_actions().decide_permission("s", "camera", decided, Some(scope), Some(soon), None).await.unwrap();
    until("the server is told", || !script.heard("mgp/permission/grant").is_empty()).await;
    let told = &script.heard("mgp/permission/grant")[0];
    assert_eq!(told["grants"]["camera"], json!({"decision": "approved", "scope": {"hosts": ["cam"]}}));
    assert_eq!(told["approved_by"], "olga");
    assert_eq!(told["expires_at"], soon.to_string());
    assert_eq!(ann.list("tools").await, ["read", "snap"]);
    assert!(house.kernel.status()[0].tools_lacking.is_empty());
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(script.heard("mgp/permission/grant").len(), 1, "one decision, one word");
    // Tools that come later are asked for as well.
    script.tools.lock().push(tool_with("note", &json!({"security": {"permissions_required": ["notification"]}})));
    script.tools_changed();
    for _ in 0..200 {
        if house.store.grants().load().await.unwrap().permissions.len() == 2 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nobody was asked about the new tool");
}

/// A grant that is over before it begins is a mistake, and takes nothing from the one that holds.
#[tokio::test]
async fn a_grant_with_an_end_in_the_past_is_refused_and_keeps_what_holds() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let house = House::new(&[("s", script.clone())]).await;
    house.grant("bob", "s", None, true).await;
    let root = house.admin(Era::Legacy, says(Era::Legacy, &["access_control"])).await;
    let grant = json!({
        "agent_id": "bob", "server_id": "s", "entry_type": "server_grant", "permission": "allow",
        "expires_at": "2020-01-01T00:00:00Z",
    });
    let refused = root.request("mgp/access/grant", grant).await.unwrap_err();
    assert!(refused.message.contains("over already"), "{refused:?}");
    let bob = house.client(Era::Legacy, "bob").await;
    assert!(super::world::ran(&bob.call("read", json!({})).await));
}
