//! After a revoke nothing of it goes on: neither what waits for a person, nor what runs at its server.

use std::time::Duration;

use serde_json::json;
use switchboard_peer::{Identity, Method, Principal};
use switchboard_protocol::Era;
use switchboard_store::{Reuse, Verdict};

use super::world::{Client, ERAS, House, Script, dangerous, entry, everything_of, tool, until};

/// Longer than a revocation takes to count, shorter than any call or approval may last.
const SOON: Duration = Duration::from_secs(3);

fn later() -> jiff::Timestamp {
    jiff::Timestamp::now() + jiff::SignedDuration::from_mins(5)
}

/// Nobody answers: the call ends all the same, and the question with it.
#[tokio::test]
async fn a_held_call_ends_at_once_with_the_grant() {
    let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client(Era::Legacy, "ann").await;
    let revoking = async {
        let held = house.await_events("dev.switchboard.call_held", 1).await;
        house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
        held[0].details["approval"].as_str().unwrap().to_owned()
    };
    let calling = tokio::time::timeout(SOON, ann.call("drop", json!({"table": "users"})));
    let (called, id) = tokio::join!(calling, revoking);
    assert!(called.expect("it ends").unwrap_err().message.contains("Unknown tool"));
    // What the operator says now is about nothing.
    let yes = Verdict::Approve(Reuse::Once);
    assert_eq!(house.operator_actions().answer(&[id], yes, None, later()).await.unwrap().len(), 0);
    assert_eq!(script.calls(), 0);
    let blocked = house.await_events("TOOL_BLOCKED", 1).await;
    assert_eq!(blocked[0].details["step"], "access", "{blocked:?}");
}

/// The same where the client has its answer already, and would come back with a token.
#[tokio::test]
async fn a_question_that_no_call_waits_for_ends_with_the_grant() {
    let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
    let house = House::new(&[("files", script.clone())]).await;
    for name in ["ann", "bob"] {
        house.grant(name, "files", None, true).await;
    }
    let form = json!({"elicitation": {"form": {}}});
    for name in ["ann", "bob"] {
        let client = house.client_with(Era::Modern, name, form.clone()).await;
        assert_eq!(client.call("drop", json!({})).await.unwrap()["resultType"], "input_required");
    }
    house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
    let waiting = || async {
        let pending = house.store.approvals().pending(jiff::Timestamp::now(), 10).await.unwrap();
        pending.into_iter().map(|pending| pending.held.principal).collect::<Vec<_>>()
    };
    for _ in 0..100 {
        if waiting().await.len() < 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(waiting().await, ["bob"]);
}

/// A yes for always is one for as long as the right lasts.
#[tokio::test]
async fn what_was_agreed_to_ends_with_the_grant() {
    let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client(Era::Legacy, "ann").await;
    let deciding = async {
        let held = house.await_events("dev.switchboard.call_held", 1).await;
        let id = held[0].details["approval"].as_str().unwrap().to_owned();
        house.operator_actions().answer(&[id], Verdict::Approve(Reuse::Always), None, later()).await.unwrap();
    };
    let (called, ()) = tokio::join!(ann.call("drop", json!({})), deciding);
    assert!(super::world::ran(&called), "{called:?}");
    assert!(super::world::ran(&ann.call("drop", json!({})).await), "for always");
    house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
    house.grant("ann", "files", None, true).await;
    let again = tokio::time::timeout(Duration::from_millis(500), ann.call("drop", json!({}))).await;
    assert!(again.is_err(), "she is asked anew: {again:?}");
    assert_eq!(script.calls(), 2);
}

/// A call that its server works on is cancelled there. What it has done by then, nobody knows.
#[tokio::test]
async fn a_running_call_ends_with_the_grant() {
    for (server, client) in [(Era::Legacy, Era::Legacy), (Era::Modern, Era::Modern), (Era::Modern, Era::Legacy)] {
        let script = Script::new(server, vec![super::world::writing("hang"), tool("read")]);
        let house = House::new(&[("files", script.clone())]).await;
        for name in ["ann", "bob"] {
            house.grant(name, "files", None, true).await;
        }
        let (ann, bob) = (house.client(client, "ann").await, house.client(client, "bob").await);
        let revoking = async {
            until("both arrive", || script.calls() == 2).await;
            house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
        };
        let of_ann = tokio::time::timeout(SOON, ann.call("hang", json!({})));
        let of_bob = tokio::time::timeout(SOON, bob.call("hang", json!({})));
        let (called, others, ()) = tokio::join!(of_ann, of_bob, revoking);
        let refused = called.expect("it ends").unwrap_err();
        assert!(refused.message.contains("taken back"), "{refused:?}");
        assert!(refused.message.contains("unknown"), "{refused:?}");
        assert!(others.is_err(), "nobody took anything from bob");
        let unknown = house.await_events("dev.switchboard.unknown_outcome", 2).await;
        assert!(unknown.iter().any(|event| event.actor.id == "ann"), "{unknown:?}");
        let blocked = house.await_events("TOOL_BLOCKED", 1).await;
        assert_eq!((&blocked[0].details["what"], blocked.len()), (&json!("running"), 1), "{blocked:?}");
    }
}

/// A tool grant, a permission of the server, a limit, a token: each of them ends what rests on it.
#[tokio::test]
async fn a_running_call_ends_with_whatever_it_rests_on() {
    let script = Script::new(Era::Legacy, vec![tool("hang")]);
    let house = House::new(&[("files", script.clone())]).await;
    // A denial of the one tool.
    house.grant("ann", "files", None, true).await;
    let ann = house.client(Era::Legacy, "ann").await;
    let denying = async {
        until("it arrives", || script.calls() == 1).await;
        house.operator_actions().grant_access(entry("ann", "files", Some("hang"), false)).await.unwrap();
    };
    let (called, ()) = tokio::join!(tokio::time::timeout(SOON, ann.call("hang", json!({}))), denying);
    assert!(called.expect("it ends").is_err());
    // A limit that its arguments are not within.
    house.grant("bob", "files", None, true).await;
    let bob = house.client(Era::Legacy, "bob").await;
    let narrowing = async {
        until("it arrives", || script.calls() == 2).await;
        let scopes = serde_json::value::RawValue::from_string(r#"{"paths":["/srv/data"]}"#.to_owned()).ok();
        let narrowed = switchboard_store::AccessEntry { scopes, ..entry("bob", "files", None, true) };
        house.operator_actions().grant_access(narrowed).await.unwrap();
    };
    let calling = tokio::time::timeout(SOON, bob.call("hang", json!({"path": "/etc/hosts"})));
    let (called, ()) = tokio::join!(calling, narrowing);
    assert!(called.expect("it ends").is_err());
    // The token that it was called with.
    house.grant("eve", "files", None, true).await;
    let identity: Principal = Identity::new("eve", Method::Token).into();
    let eve = Client::new(&house.kernel, identity.clone(), Era::Legacy, json!({})).await;
    let ending = async {
        until("it arrives", || script.calls() == 3).await;
        identity.ended.cancel();
    };
    let (called, ()) = tokio::join!(tokio::time::timeout(SOON, eve.call("hang", json!({}))), ending);
    assert!(called.expect("it ends").is_err());
}

/// What changes elsewhere, and a tool that its server takes off its list, ends no call that runs.
#[tokio::test]
async fn a_running_call_survives_what_does_not_concern_it() {
    for era in ERAS {
        let script = Script::new(Era::Legacy, vec![tool("wait"), tool("read")]);
        let house = House::new(&[("files", script.clone())]).await;
        for name in ["ann", "bob"] {
            house.grant(name, "files", None, true).await;
        }
        let ann = house.client(era, "ann").await;
        let changing = async {
            until("it arrives", || script.calls() == 1).await;
            tokio::time::sleep(Duration::from_millis(150)).await;
            script.tools.lock().remove(0);
            script.tools_changed();
            house.operator_actions().revoke_access(&everything_of("bob")).await.unwrap();
            tokio::time::sleep(Duration::from_millis(300)).await;
            script.release.notify_one();
        };
        let (called, ()) = tokio::join!(ann.call("wait", json!({})), changing);
        assert!(called.is_ok(), "{era:?}: {called:?}");
    }
}

/// A task is asked about with the right to its tool: after a revoke its owner has none of it, nobody else ever had, and with the right
/// it comes again.
#[tokio::test]
async fn a_task_is_nobodys_while_the_right_to_its_tool_is_taken_back() {
    let script = Script::new(Era::Legacy, vec![tool("work")]);
    script.capabilities.lock()["tasks"] = json!({"requests": {"tools": {"call": {}}}, "list": {}, "cancel": {}});
    script.tools.lock()[0]["execution"] = json!({"taskSupport": "optional"});
    let task = json!({"taskId": "t-1", "status": "working", "ttl": 60_000, "pollInterval": 20,
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"});
    script.results.lock().insert("work".to_owned(), json!({"task": task}));
    for method in ["tasks/get", "tasks/cancel"] {
        script.results.lock().insert(method.to_owned(), task.clone());
    }
    script.results.lock().insert("tasks/result".to_owned(), json!({"content": []}));
    script.results.lock().insert("tasks/list".to_owned(), json!({"tasks": [task]}));
    let house = House::new(&[("files", script.clone())]).await;
    for name in ["ann", "bob"] {
        house.grant(name, "files", None, true).await;
    }
    let (ann, bob) = (house.client(Era::Legacy, "ann").await, house.client(Era::Legacy, "bob").await);
    ann.request("tools/call", json!({"name": "work", "arguments": {}, "task": {"ttl": 60_000}})).await.unwrap();
    let named = json!({"taskId": "t-1"});
    let methods = ["tasks/get", "tasks/result", "tasks/cancel"];
    let listed = |listed: &serde_json::Value| listed["tasks"].as_array().map_or(0, Vec::len);
    for method in methods {
        assert!(ann.request(method, named.clone()).await.is_ok(), "{method}");
        bob.request(method, named.clone()).await.unwrap_err();
    }
    let count = || methods.map(|method| script.heard(method).len());
    let before = count();
    assert_eq!(before, [1, 1, 1], "nothing of bob's reached the server");
    house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
    for method in methods {
        let refused = ann.request(method, named.clone()).await.unwrap_err();
        let unknown = bob.request(method, named.clone()).await.unwrap_err();
        assert_eq!(refused.code, unknown.code, "{method}: as if there were none: {refused:?} {unknown:?}");
    }
    for client in [&ann, &bob] {
        let answer = client.request("tasks/list", json!({})).await;
        assert_eq!(answer.as_ref().map_or(0, listed), 0, "{answer:?}");
    }
    assert_eq!(count(), before, "the server heard nothing of it");
    house.grant("ann", "files", None, true).await;
    assert!(ann.request("tasks/get", named.clone()).await.is_ok());
    bob.request("tasks/get", named).await.unwrap_err();
}

/// Who waits for the result of a task learns at once that the right to it was taken back.
#[tokio::test]
async fn who_waits_for_a_task_hears_of_a_revoke() {
    for revoked in ["grant", "token"] {
        let script = Script::new(Era::Legacy, vec![tool("work")]);
        script.capabilities.lock()["tasks"] = json!({"requests": {"tools": {"call": {}}}});
        script.tools.lock()[0]["execution"] = json!({"taskSupport": "optional"});
        let task = json!({"taskId": "t-1", "status": "working", "ttl": 60_000, "pollInterval": 20,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"});
        script.results.lock().insert("work".to_owned(), json!({"task": task}));
        script.results.lock().insert("tasks/result".to_owned(), json!("holds"));
        let house = House::new(&[("files", script.clone())]).await;
        house.grant("ann", "files", None, true).await;
        let identity: Principal = Identity::new("ann", Method::Token).into();
        let ended = identity.ended.clone();
        let ann = Client::new(&house.kernel, identity, Era::Legacy, json!({})).await;
        ann.request("tools/call", json!({"name": "work", "arguments": {}, "task": {"ttl": 60_000}})).await.unwrap();
        let waiting = tokio::time::timeout(SOON, ann.request("tasks/result", json!({"taskId": "t-1"})));
        let revoking = async {
            until("the server works on it", || !script.heard("tasks/result").is_empty()).await;
            if revoked == "grant" {
                house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
            } else {
                ended.cancel();
            }
        };
        let (waited, ()) = tokio::join!(waiting, revoking);
        waited.expect("it does not wait for the task").unwrap_err();
    }
}
