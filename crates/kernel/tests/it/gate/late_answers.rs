//! What a person answers to a held call counts, whatever the store does: a no is a no, a yes passes only what is on record.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{GateOptions, Kernel, KernelOptions, OperatorActions, ServerPolicy};
use switchboard_peer::{Identity, Method};
use switchboard_protocol::Era;
use switchboard_store::{AuditEvent, Boundary, Reuse, Store, Verdict};
use switchboard_wire::ErrorObject;

use super::outage::{Outage, failing};
use super::world::{Client, House, Script, events, kind_of, open_house, ran, spec, tool_with, until};

const REQUEST: &str = "notifications/mgp.callback.request";

/// A tool that says that it destroys something.
fn destroys() -> Value {
    tool_with("drop", &json!({"annotations": {"readOnlyHint": false, "destructiveHint": true}}))
}

async fn kernel_over(store: &Store, script: &Arc<Script>, wait: Duration) -> Kernel {
    let mut gate = GateOptions { store: Some(store.clone()), approval_wait: wait, ..GateOptions::default() };
    open_house(&mut gate);
    let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
    kernel.apply(vec![spec("s", script.clone(), ServerPolicy::default())]);
    kernel.settled(Duration::from_secs(5)).await;
    kernel
}

async fn client(kernel: &Kernel, name: &str, era: Era, capabilities: Value) -> Client {
    Client::new(kernel, Identity::new(name, Method::Token).into(), era, capabilities).await
}

fn by_callback() -> Value {
    json!({"mgp": {"version": "0.3.0", "extensions": ["callbacks"]}})
}

fn asked(client: &Client) -> Option<Value> {
    let told = client.ear.told.lock();
    told.iter().find(|(method, _)| method == REQUEST).map(|(_, question)| question.clone())
}

async fn respond(client: &Client, said: &str) {
    until("the question", || asked(client).is_some()).await;
    let params = json!({"callback_id": asked(client).unwrap()["callback_id"], "response": said});
    client.request("mgp/callback/respond", params).await.expect("taken");
}

/// The refusals of held calls on record, once there are so many.
async fn rejected(store: &Store, count: usize) -> Vec<AuditEvent> {
    for _ in 0..300 {
        let found: Vec<_> = events(store).await.into_iter().filter(|e| e.event_type == "TOOL_REJECTED").collect();
        if found.len() >= count {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("fewer than {count} refusals on record");
}

/// Nothing is left that the operator could say yes to, and nobody passes by what there was.
async fn assert_over(kernel: &Kernel, store: &Store, id: &str) {
    let later = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(5);
    // The store may be asked before it knows.
    let operator = OperatorActions::of_operator(store.clone(), "olga");
    let _ = operator.answer(&[id.to_owned()], Verdict::Approve(Reuse::Once), None, later).await;
    let other = client(kernel, "ann", Era::Legacy, json!({"elicitation": {}})).await;
    other.ear.answers.lock().push_back(json!({"action": "decline"}));
    let called = other.call("drop", json!({"table": "users"})).await;
    assert_eq!(kind_of(&called), "confirmation_denied", "it is asked about anew: {called:?}");
    for _ in 0..300 {
        if store.approvals().pending(jiff::Timestamp::now(), 10).await.unwrap().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it waits for ever");
}

#[tokio::test]
async fn a_no_counts_while_the_store_is_away() {
    for era in [Era::Legacy, Era::Modern] {
        let (directory, outage) = (tempfile::tempdir().unwrap(), Outage::default());
        let store = failing(directory.path(), &outage).await;
        let script = Script::new(Era::Legacy, vec![destroys()]);
        let kernel = kernel_over(&store, &script, Duration::from_secs(20)).await;
        let capabilities = if era == Era::Legacy { by_callback() } else { json!({"elicitation": {}}) };
        let ann = client(&kernel, "ann", era, capabilities).await;
        let arguments = json!({"table": "users"});
        let called: Result<Value, ErrorObject> = if era == Era::Legacy {
            let answering = async {
                until("the question", || asked(&ann).is_some()).await;
                *outage.lock() = Some(Boundary::BeforeCommit);
                respond(&ann, "cancel").await;
            };
            let calling = tokio::time::timeout(Duration::from_secs(5), ann.call("drop", arguments));
            tokio::join!(calling, answering).0.expect("at once")
        } else {
            let first = ann.call("drop", arguments.clone()).await.unwrap();
            *outage.lock() = Some(Boundary::BeforeCommit);
            let params = json!({"name": "drop", "arguments": arguments, "requestState": first["requestState"],
                "inputResponses": {"confirm": {"action": "decline"}}});
            ann.request("tools/call", params).await
        };
        assert_eq!(kind_of(&called), "confirmation_denied", "{era:?}: {called:?}");
        *outage.lock() = None;
        let said = rejected(&store, 1).await;
        assert_eq!(said[0].details["decided_by"], "user of ann", "{era:?}: {said:?}");
        let id = said[0].details["approval"].as_str().unwrap().to_owned();
        assert_over(&kernel, &store, &id).await;
        assert_eq!(script.calls(), 0, "{era:?}");
        kernel.shut_down(Duration::from_secs(5)).await;
    }
}

/// The call waits for the store as it waited for the person. Where the store does not come back in time, the refusal is on
/// record, and the call is not approved afterwards.
#[tokio::test]
async fn a_yes_waits_for_the_store() {
    for comes_back in [true, false] {
        let (directory, outage) = (tempfile::tempdir().unwrap(), Outage::default());
        let store = failing(directory.path(), &outage).await;
        let script = Script::new(Era::Legacy, vec![destroys()]);
        let wait = if comes_back { Duration::from_secs(20) } else { Duration::from_millis(1_500) };
        let kernel = kernel_over(&store, &script, wait).await;
        let ann = client(&kernel, "ann", Era::Legacy, by_callback()).await;
        let answering = async {
            until("the question", || asked(&ann).is_some()).await;
            *outage.lock() = Some(Boundary::BeforeCommit);
            respond(&ann, "confirm").await;
            if comes_back {
                tokio::time::sleep(Duration::from_millis(300)).await;
                assert_eq!(script.calls(), 0, "nothing is on record yet");
                *outage.lock() = None;
            }
        };
        let (called, ()) = tokio::join!(ann.call("drop", json!({"table": "users"})), answering);
        *outage.lock() = None;
        if comes_back {
            assert!(ran(&called), "{called:?}");
            assert_order(&events(&store).await, 1);
        } else {
            assert!(called.is_err(), "{called:?}");
            let said = rejected(&store, 1).await;
            assert!(said[0].details["reason"].as_str().unwrap().contains("cannot be kept"), "{said:?}");
            let id = asked(&ann).unwrap()["callback_id"].as_str().unwrap().to_owned();
            assert_over(&kernel, &store, &id).await;
            assert_eq!(script.calls(), 0);
        }
        kernel.shut_down(Duration::from_secs(5)).await;
    }
}

/// In the chain a call is held, approved, about to be made, and made, in this order.
fn assert_order(events: &[AuditEvent], calls: usize) {
    let at = |event_type: &str, trace: &str| {
        let is = |event: &AuditEvent| event.event_type == event_type && event.trace_id.as_deref() == Some(trace);
        events.iter().position(is).unwrap_or_else(|| panic!("no {event_type} of {trace}"))
    };
    let approved: Vec<_> = events.iter().filter(|event| event.event_type == "dev.switchboard.call_approved").collect();
    assert_eq!(approved.len(), calls);
    for trace in approved.iter().map(|event| event.trace_id.as_deref().unwrap()) {
        let order = ["dev.switchboard.call_held", "dev.switchboard.call_approved", "dev.switchboard.tool_intent"];
        let places: Vec<usize> = order.iter().map(|event_type| at(event_type, trace)).collect();
        assert!(places.is_sorted(), "{trace}: {places:?}");
        assert!(at("TOOL_EXECUTED", trace) > places[2], "{trace}");
    }
}

#[tokio::test]
async fn an_approval_stands_before_what_it_permits() {
    let script = Script::new(Era::Legacy, vec![destroys()]);
    let house = House::with(&[("files", script.clone())], ServerPolicy::default, open_house).await;
    let ann = house.client_with(Era::Legacy, "ann", json!({"elicitation": {}})).await;
    for number in 0..12 {
        ann.ear.answers.lock().push_back(json!({"action": "accept", "content": {"decision": "once"}}));
        let called = ann.call("drop", json!({"table": number})).await;
        assert!(ran(&called), "{called:?}");
    }
    house.await_events("TOOL_EXECUTED", 12).await;
    assert_order(&house.events().await, 12);
}

/// Whoever may answer the gate's own question finds it among what waits for them.
#[tokio::test]
async fn held_calls_are_among_the_callbacks_that_wait() {
    let script = Script::new(Era::Legacy, vec![destroys()]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client_with(Era::Legacy, "ann", by_callback()).await;
    let again = house.client_with(Era::Legacy, "ann", by_callback()).await;
    let bob = house.client_with(Era::Legacy, "bob", by_callback()).await;
    let waiting = async |client: &Client| -> Value {
        client.request("mgp/events/pending_callbacks", json!({})).await.expect("a list")["pending"].clone()
    };
    let answering = async {
        until("the question", || asked(&ann).is_some()).await;
        let question = asked(&ann).unwrap();
        for client in [&ann, &again] {
            let waiting = waiting(client).await;
            assert_eq!(waiting.as_array().unwrap().len(), 1, "{waiting}");
            for key in ["callback_id", "message", "options", "type", "request_id"] {
                assert_eq!(waiting[0][key], question[key], "{key}");
            }
        }
        assert_eq!(waiting(&bob).await, json!([]));
        respond(&ann, "cancel").await;
    };
    let (called, ()) = tokio::join!(ann.call("drop", json!({})), answering);
    assert_eq!(kind_of(&called), "confirmation_denied", "{called:?}");
    assert_eq!(waiting(&ann).await, json!([]));
}
