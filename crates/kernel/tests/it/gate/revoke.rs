//! What was taken back is taken back, everywhere, when the taking back has returned.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use switchboard_kernel::OperatorActions;
use switchboard_protocol::Era;

use super::world::{ERAS, House, Script, dangerous, entry, everything_of, open_for_command, ran, tool, until};

/// The operator is another process: another handle on the same file. A client calls all the time meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_passes_once_revoke_has_returned() {
    let script = Script::new(
        Era::Legacy,
        vec![super::world::tool_with("read", &json!({"annotations": {"readOnlyHint": true}}))],
    );
    let house = House::new(&[("files", script.clone())]).await;
    let elsewhere = open_for_command(house.directory.path()).await;
    let operator_actions = OperatorActions::of_operator(elsewhere.clone(), "olga");
    let ann = Arc::new(house.client(Era::Modern, "ann").await);
    for round in 0..50 {
        elsewhere.grants().put_access(&entry("ann", "files", None, true)).await.unwrap();
        let passed = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let calling = async {
            while !stop.load(Ordering::Relaxed) {
                if ran(&ann.call("read", json!({})).await) {
                    passed.fetch_add(1, Ordering::Relaxed);
                }
                tokio::task::yield_now().await;
            }
        };
        let revoking = async {
            while passed.load(Ordering::Relaxed) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            assert_eq!(operator_actions.revoke_access(&everything_of("ann")).await.unwrap().len(), 1);
            let before = script.calls();
            for _ in 0..3 {
                assert!(ann.call("read", json!({})).await.is_err(), "round {round}: passed after the revocation");
            }
            stop.store(true, Ordering::Relaxed);
            before
        };
        let (before, ()) = tokio::join!(revoking, calling);
        assert_eq!(script.calls(), before, "round {round}: a call arrived after the revocation");
    }
}

/// A call that waits for a person is refused, whatever the person says and whenever.
#[tokio::test]
async fn a_held_call_does_not_outlive_the_right_to_make_it() {
    let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client(Era::Legacy, "ann").await;
    let calling = ann.call("drop", json!({"table": "users"}));
    let deciding = async {
        let held = house.await_events("dev.switchboard.call_held", 1).await;
        let id = held[0].details["approval"].as_str().unwrap().to_owned();
        house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
        let until = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(5);
        let yes = switchboard_store::Verdict::Approve(switchboard_store::Reuse::Once);
        house.operator_actions().answer(&[id], yes, None, until).await.unwrap();
    };
    let (called, ()) = tokio::join!(calling, deciding);
    assert!(called.unwrap_err().message.contains("Unknown tool"));
    assert_eq!(script.calls(), 0);
}

/// Subscriptions and streams end with the right to them.
#[tokio::test]
async fn updates_stop_with_the_grant() {
    for era in ERAS {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        let house = House::new(&[("files", script.clone())]).await;
        house.grant("ann", "files", None, true).await;
        let ann = Arc::new(house.client(era, "ann").await);
        tokio::time::sleep(Duration::from_millis(210)).await;
        let context = ann.context();
        let cancel = context.cancel.clone();
        match era {
            Era::Legacy => {
                ann.request("resources/subscribe", json!({"uri": "script://one"})).await.unwrap();
            }
            Era::Modern => {
                let listening = ann.clone();
                tokio::spawn(async move {
                    let wish = json!({"notifications": {"resourceSubscriptions": ["script://one"]}});
                    listening.send(context, "subscriptions/listen", &super::world::raw(&wish)).await
                });
                let heard = || ann.ear.told.lock().iter().any(|(method, _)| method.ends_with("acknowledged"));
                until("the stream begins", heard).await;
            }
        }
        let updates = || ann.ear.told.lock().iter().filter(|(method, _)| method.ends_with("resources/updated")).count();
        let update = || {
            let params = super::world::raw(&json!({"uri": "script://one"}));
            let session = script.sessions.lock()[0].clone();
            session
                .remote()
                .notify(switchboard_wire::Notification::new("notifications/resources/updated", Some(params)))
        };
        update().unwrap();
        until("an update arrives", || updates() == 1).await;
        house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
        update().unwrap();
        // Something that comes after it on the same way has arrived, and so has the update, if it ever does.
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(updates(), 1, "{era:?}");
        cancel.cancel();
    }
}

/// A call that waits for its client's input goes on only for who may still make it.
#[tokio::test]
async fn a_parked_call_does_not_go_on_after_the_revocation() {
    for server in ERAS {
        let script = Script::new(server, vec![tool("asks")]);
        let house = House::new(&[("files", script.clone())]).await;
        house.grant("ann", "files", None, true).await;
        let ann = house.client_with(Era::Modern, "ann", json!({"elicitation": {"form": {}}})).await;
        let asked = ann.call("asks", json!({})).await.unwrap();
        assert_eq!(asked["resultType"], "input_required");
        let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
        let before = script.calls();
        let params = json!({
            "name": "asks", "arguments": {}, "requestState": asked["requestState"],
            "inputResponses": {key: {"action": "accept", "content": {}}},
        });
        let refused = ann.request("tools/call", params).await.unwrap_err();
        assert!(refused.message.contains("Unknown tool"), "{refused:?}");
        assert_eq!(script.calls(), before);
    }
}

/// The result of a task is for who may use the tool, also when the kernel kept it.
#[tokio::test]
async fn results_of_tasks_end_with_the_grant() {
    let script = Script::new(Era::Modern, vec![tool("read")]);
    script.capabilities.lock()["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", Some("read"), true).await;
    let ann = house.client(Era::Legacy, "ann").await;
    let made =
        ann.request("tools/call", json!({"name": "read", "arguments": {}, "task": {"ttl": 60_000}})).await.unwrap();
    let task = json!({"taskId": made["task"]["taskId"]});
    ann.request("tasks/result", task.clone()).await.unwrap();
    house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        assert!(ann.request(method, task.clone()).await.is_err(), "{method}");
    }
}

/// A call that waits for its client's input ends at its server when the right to make it ends.
#[tokio::test]
async fn a_parked_call_ends_with_the_grant() {
    let script = Script::new(Era::Legacy, vec![tool("asks")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client_with(Era::Modern, "ann", json!({"elicitation": {"form": {}}})).await;
    ann.call("asks", json!({})).await.unwrap();
    house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
    let blocked = house.await_events("TOOL_BLOCKED", 1).await;
    assert!(blocked.iter().any(|event| event.details.get("what").is_some_and(|what| what == "parked")), "{blocked:?}");
}

/// Whose a task is, and of which tool, is known after a restart as well.
#[tokio::test]
async fn a_task_stays_its_owners_and_its_tools_after_a_restart() {
    let script = Script::new(Era::Modern, vec![tool("read"), tool("other")]);
    script.capabilities.lock()["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    let task = json!({"resultType": "task", "taskId": "t-1", "status": "working"});
    script.results.lock().insert("read".to_owned(), task);
    let house = House::new(&[("files", script.clone())]).await;
    for name in ["ann", "bob"] {
        house.grant(name, "files", None, true).await;
    }
    let extension = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let ann = house.client_with(Era::Modern, "ann", extension.clone()).await;
    assert_eq!(ann.call("read", json!({})).await.unwrap()["taskId"], "t-1");
    house.kernel.shut_down(Duration::from_secs(5)).await;
    let gate = switchboard_kernel::GateOptions {
        store: Some(house.store.clone()),
        ..switchboard_kernel::GateOptions::default()
    };
    let options = switchboard_kernel::KernelOptions { gate, ..switchboard_kernel::KernelOptions::default() };
    let kernel = switchboard_kernel::Kernel::new(options);
    kernel.apply(vec![super::world::spec("files", script.clone(), switchboard_kernel::ServerPolicy::default())]);
    kernel.settled(Duration::from_secs(5)).await;
    let identity = |name: &str| switchboard_peer::Identity::new(name, switchboard_peer::Method::Token).into();
    let ann = super::world::Client::new(&kernel, identity("ann"), Era::Modern, extension.clone()).await;
    let bob = super::world::Client::new(&kernel, identity("bob"), Era::Modern, extension).await;
    let asked = || script.heard("tasks/get").len();
    let named = json!({"taskId": "t-1"});
    assert!(bob.request("tasks/get", named.clone()).await.is_err(), "not his");
    assert_eq!(asked(), 0, "the server is not even asked");
    let _ = ann.request("tasks/get", named.clone()).await;
    assert_eq!(asked(), 1, "hers");
    house.operator_actions().grant_access(entry("ann", "files", Some("read"), false)).await.unwrap();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        assert!(ann.request(method, named.clone()).await.unwrap_err().message.contains("Unknown task"), "{method}");
    }
    assert_eq!(asked(), 1, "not any more");
    let blocked = house.await_events("TOOL_BLOCKED", 3).await;
    assert!(blocked.iter().any(|event| event.details["what"] == "tasks/get"), "{blocked:?}");
}

/// A server asks in the middle of a call, and the right to make the call is taken back before the person answers.
#[tokio::test]
async fn a_question_is_not_answered_by_who_may_not_call_any_more() {
    for whole in [true, false] {
        let script = Script::new(Era::Legacy, vec![tool("asks"), tool("read")]);
        let house = House::new(&[("files", script.clone())]).await;
        house.grant("ann", "files", (!whole).then_some("asks"), true).await;
        let ann = house.client_with(Era::Legacy, "ann", json!({"elicitation": {"form": {}}})).await;
        for revoked in [false, true] {
            let before = ann.ear.asked.lock().len();
            let answering = async {
                until("she is asked", || ann.ear.asked.lock().len() > before).await;
                if revoked {
                    house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
                }
                *ann.ear.late.lock() = Some(json!({"action": "accept", "content": {}}));
            };
            let (called, ()) = tokio::join!(ann.call("asks", json!({})), answering);
            assert_eq!(called.is_err(), revoked, "{whole}: {called:?}");
            assert!(revoked || called.is_ok_and(|called| called["answered"] == true), "{whole}");
        }
        let blocked = house.await_events("TOOL_BLOCKED", 1).await;
        assert!(blocked.iter().all(|event| event.details["what"] == "running"), "{blocked:?}");
    }
}

/// The same for a legacy client of a modern server: what it answers is a new request of the kernel's, which is not made.
#[tokio::test]
async fn what_was_asked_for_is_not_sent_by_who_may_not_call_any_more() {
    let script = Script::new(Era::Modern, vec![tool("asks")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client_with(Era::Legacy, "ann", json!({"elicitation": {"form": {}}})).await;
    let answering = async {
        until("she is asked", || !ann.ear.asked.lock().is_empty()).await;
        house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
        *ann.ear.late.lock() = Some(json!({"action": "accept", "content": {}}));
    };
    let (called, ()) = tokio::join!(ann.call("asks", json!({})), answering);
    assert!(called.is_err(), "{called:?}");
    assert_eq!(script.calls(), 1);
}

/// A call that waits for its client's input has not ended: if nobody comes back, nobody knows how it did.
#[tokio::test]
async fn a_parked_call_that_is_given_up_is_on_record_as_unknown() {
    let script = Script::new(Era::Legacy, vec![tool("asks")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client_with(Era::Modern, "ann", json!({"elicitation": {"form": {}}})).await;
    let asked = ann.call("asks", json!({})).await.unwrap();
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let params = json!({
        "name": "asks", "arguments": {}, "requestState": asked["requestState"],
        "inputResponses": {key: {"action": "accept", "content": {}}},
    });
    ann.request("tools/call", params).await.unwrap();
    let ended = house.await_events("TOOL_EXECUTED", 2).await;
    let waited = ended.iter().filter(|event| event.details.get("ended_as").is_some()).count();
    assert_eq!((ended.len(), waited), (2, 1), "{ended:?}");
    ann.call("asks", json!({})).await.unwrap();
    house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
    let unknown = house.await_events("dev.switchboard.unknown_outcome", 1).await;
    assert_eq!(unknown.len(), 1, "{unknown:?}");
}

/// What a modern server gives a client to come back with is that client's, for that request.
#[tokio::test]
async fn a_servers_request_state_is_no_use_to_others() {
    let script = Script::new(Era::Modern, vec![tool("asks")]);
    let house = House::new(&[("files", script.clone())]).await;
    let elicits = json!({"elicitation": {"form": {}}});
    for principal in ["ann", "eve"] {
        house.grant(principal, "files", None, true).await;
    }
    let ann = house.client_with(Era::Modern, "ann", elicits.clone()).await;
    let eve = house.client_with(Era::Modern, "eve", elicits).await;
    let asked = ann.call("asks", json!({})).await.unwrap();
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let answer = |arguments: serde_json::Value| {
        json!({
            "name": "asks", "arguments": arguments, "requestState": asked["requestState"],
            "inputResponses": {key.clone(): {"action": "accept", "content": {}}},
        })
    };
    let before = script.calls();
    assert!(eve.request("tools/call", answer(json!({}))).await.is_err());
    assert!(ann.request("tools/call", answer(json!({"other": 1}))).await.is_err());
    assert_eq!(script.calls(), before);
    ann.request("tools/call", answer(json!({}))).await.unwrap();
}

/// A task goes on for as long as the call that made it would pass: by its tool, its arguments and all in its chain.
#[tokio::test]
async fn a_task_is_not_told_of_once_its_call_would_not_pass() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let house = House::new(&[("files", script.clone())]).await;
    for name in ["ann", "zoe"] {
        house.grant(name, "files", None, true).await;
    }
    let ann = house.client(Era::Legacy, "ann").await;
    let delegation =
        json!({"original_actor": "zoe", "delegated_via": "ann", "delegation_id": "d", "chain": ["zoe", "ann"]});
    let calls = [
        ("inside", json!({"path": "/srv/ok/a"}), json!({})),
        ("outside", json!({"path": "/etc/secret"}), json!({})),
        ("passed-on", json!({"path": "/srv/ok/b"}), json!({"delegation": delegation})),
    ];
    for (id, arguments, mgp) in calls {
        let made = json!({"task": {"taskId": id, "status": "working", "ttl": 60_000}});
        script.results.lock().insert("read".to_owned(), made);
        let call = json!({"name": "read", "arguments": arguments, "_mgp": mgp, "task": {"ttl": 60_000}});
        ann.request("tools/call", call).await.expect("a task");
    }
    let asked = || script.heard("tasks/get").len();
    let passes = async |id: &str| {
        let before = asked();
        // The script knows no tasks; what matters is whether it was asked.
        let _ = ann.request("tasks/get", json!({"taskId": id})).await;
        asked() > before
    };
    for id in ["inside", "outside", "passed-on"] {
        assert!(passes(id).await, "{id}");
    }
    let mut narrowed = entry("ann", "files", None, true);
    let limits = json!({"paths": ["/srv/ok/**"]}).to_string();
    narrowed.scopes = Some(serde_json::value::RawValue::from_string(limits).expect("JSON"));
    house.operator_actions().grant_access(narrowed).await.expect("narrowed");
    tokio::time::sleep(Duration::from_millis(220)).await;
    assert_eq!((passes("inside").await, passes("outside").await, passes("passed-on").await), (true, false, true));
    house.grant("zoe", "files", None, false).await;
    assert_eq!((passes("inside").await, passes("passed-on").await), (true, false));
}

/// A subscription ends with the right to have it, and does not come again with the next grant.
#[tokio::test]
async fn what_was_watched_does_not_come_again_with_the_right() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    *script.capabilities.lock() = json!({"tools": {}, "resources": {"subscribe": true}});
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client(Era::Legacy, "ann").await;
    ann.request("resources/subscribe", json!({"uri": "script://one"})).await.unwrap();
    let update = || {
        let params = super::world::raw(&json!({"uri": "script://one"}));
        let told = switchboard_wire::Notification::new("notifications/resources/updated", Some(params));
        let _ = script.sessions.lock()[0].remote().notify(told);
    };
    let heard = || ann.ear.told.lock().iter().filter(|(method, _)| method.ends_with("updated")).count();
    update();
    until("she hears of it", || heard() == 1).await;
    house.operator_actions().revoke_access(&everything_of("ann")).await.unwrap();
    update();
    until("the server is told", || script.heard("resources/unsubscribe").len() == 1).await;
    house.grant("ann", "files", None, true).await;
    update();
    ann.call("read", json!({})).await.unwrap();
    assert_eq!(heard(), 1);
    ann.request("resources/subscribe", json!({"uri": "script://one"})).await.unwrap();
    update();
    until("she asked for it again", || heard() == 2).await;
}
