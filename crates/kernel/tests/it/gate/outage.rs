//! A store that takes nothing for a while: what was acknowledged is on record afterwards, once, and what cannot be put
//! on record is not done.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_kernel::Kernel;
use switchboard_protocol::Era;
use switchboard_store::{AuditEvent, Boundary, Location, Options, Store, StoreError};

use super::world::{Client, Script, ann_of, events, kernel_on, open, ran, raw, tool, tool_with, writing};

/// Where the store fails now, if anywhere.
pub(super) type Outage = Arc<Mutex<Option<Boundary>>>;

/// A store that fails when the test says so: before a commit, when nothing is written, or after it, when everything is
/// and nobody hears of it.
pub(super) async fn failing(directory: &Path, outage: &Outage) -> Store {
    let outage = outage.clone();
    let faults = move |boundary| {
        let fails = *outage.lock() == Some(boundary);
        if fails { Err(StoreError::Undetermined) } else { Ok(()) }
    };
    let options = Options { faults: Some(Arc::new(faults)), ..Options::default() };
    Store::open(&Location::File(directory.join("store.db")), options).await.unwrap()
}

fn tools() -> Vec<Value> {
    let reading = |name: &str| tool_with(name, &json!({"annotations": {"readOnlyHint": true}}));
    vec![tool("work"), writing("write"), reading("look"), reading("fail"), tool("wait"), writing("hang")]
}

/// Calls a tool under a trace of its own; whether it ran.
async fn call(client: &Client, name: &str, trace: &str) -> bool {
    let params = raw(&json!({"name": name, "arguments": {}, "_meta": {"trace_id": trace}}));
    ran(&client.send(client.context(), "tools/call", &params).await)
}

/// How often each trace has an outcome, and what it is.
fn outcomes(events: &[AuditEvent]) -> HashMap<String, Vec<String>> {
    let mut outcomes: HashMap<String, Vec<String>> = HashMap::new();
    for event in events.iter().filter(|event| event.event_type != "dev.switchboard.tool_intent") {
        let trace = event.trace_id.as_deref().unwrap_or_default().to_owned();
        outcomes.entry(trace).or_default().push(event.result.to_string());
    }
    outcomes
}

/// Waits until the log has an outcome for each of these.
async fn await_outcomes(store: &Store, acknowledged: &[String]) -> Vec<AuditEvent> {
    let mut found = Vec::new();
    for _ in 0..300 {
        found = events(store).await;
        let outcomes = outcomes(&found);
        if acknowledged.iter().all(|trace| outcomes.contains_key(trace)) {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let outcomes = outcomes(&found);
    let missing: Vec<_> = acknowledged.iter().filter(|trace| !outcomes.contains_key(*trace)).collect();
    panic!("acknowledged and not on record: {missing:?}");
}

fn assert_once(events: &[AuditEvent], acknowledged: &[String]) {
    let outcomes = outcomes(events);
    for trace in acknowledged {
        assert_eq!(outcomes[trace], ["SUCCESS"], "{trace}");
    }
    let mut texts: Vec<_> = events.iter().map(AuditEvent::canonical).collect();
    texts.sort();
    let count = texts.len();
    texts.dedup();
    assert_eq!(texts.len(), count, "nothing is on record twice");
}

/// Calls before and during an outage; those that were acknowledged.
async fn calls_around_an_outage(
    kernel: &Kernel,
    script: &Arc<Script>,
    outage: &Outage,
    at: Boundary,
    round: &str,
) -> Vec<String> {
    let ann = Arc::new(ann_of(kernel, Era::Legacy).await);
    let trace = |name: &str| format!("{round}-{name}");
    // Effects that are under way when the store goes away end well, of either kind.
    script.results.lock().remove("hang");
    let (waiting, asked) = (ann.clone(), trace("waiting"));
    let waiting = tokio::spawn(async move { call(&waiting, "wait", &asked).await });
    script.arrived.notified().await;
    *outage.lock() = Some(at);
    script.release.notify_one();
    assert!(waiting.await.unwrap());
    let mut acknowledged = vec![trace("waiting")];
    for (number, name) in ["look", "work", "write", "look", "work", "look"].into_iter().enumerate() {
        let asked = trace(&format!("{number}-{name}"));
        if call(&ann, name, &asked).await {
            acknowledged.push(asked);
        }
    }
    acknowledged
}

#[tokio::test]
async fn what_was_acknowledged_during_an_outage_is_on_record_afterwards() {
    for at in [Boundary::BeforeCommit, Boundary::AfterCommit] {
        let directory = tempfile::tempdir().unwrap();
        let outage = Outage::default();
        let store = failing(directory.path(), &outage).await;
        let script = Script::new(Era::Legacy, tools());
        let kernel = kernel_on(&store, &script).await;
        let mut acknowledged = Vec::new();
        // Twice: it recovers without a restart.
        for round in ["one", "two"] {
            let before = script.calls();
            acknowledged.extend(calls_around_an_outage(&kernel, &script, &outage, at, round).await);
            let reads = acknowledged.iter().filter(|trace| trace.ends_with("look")).count();
            assert!(reads > 0, "reads go on while the journal takes their record");
            // Long enough for the store to be tried, and tried again.
            let ann = ann_of(&kernel, Era::Legacy).await;
            for number in 0..20 {
                let trace = format!("{round}-late-{number}");
                if call(&ann, "look", &trace).await {
                    acknowledged.push(trace);
                }
                assert!(!call(&ann, "write", &format!("{round}-refused-{number}")).await);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            assert!(!call(&ann, "work", &format!("{round}-refused")).await, "by now it is known that nothing is taken");
            let made = script.heard("tools/call").len() - before;
            let told = acknowledged.iter().filter(|trace| trace.starts_with(round)).count();
            assert_eq!(made, told, "what was refused did not reach the server");
            *outage.lock() = None;
            let found = await_outcomes(&store, &acknowledged).await;
            assert_once(&found, &acknowledged);
            assert!(call(&ann, "write", &format!("{round}-after")).await, "effects pass again");
        }
        assert!(store.audit().verify(&[]).await.unwrap().is_whole());
        kernel.shut_down(Duration::from_secs(5)).await;
    }
}

/// A call that is said to change something, under way when the store goes away: its outcome is not lost.
#[tokio::test]
async fn the_outcome_of_a_said_effect_outlives_the_outage() {
    for at in [Boundary::BeforeCommit, Boundary::AfterCommit] {
        let directory = tempfile::tempdir().unwrap();
        let outage = Outage::default();
        let store = failing(directory.path(), &outage).await;
        let script = Script::new(Era::Legacy, vec![writing("wait")]);
        let kernel = kernel_on(&store, &script).await;
        let ann = ann_of(&kernel, Era::Legacy).await;
        let (called, ()) = tokio::join!(call(&ann, "wait", "said"), async {
            script.arrived.notified().await;
            *outage.lock() = Some(at);
            script.release.notify_one();
        });
        assert!(called);
        *outage.lock() = None;
        let acknowledged = ["said".to_owned()];
        assert_once(&await_outcomes(&store, &acknowledged).await, &acknowledged);
        kernel.shut_down(Duration::from_secs(5)).await;
    }
}

/// The kernel ends in good order while the store is away; a later one gives the store what the journal kept.
#[tokio::test]
async fn a_stop_during_an_outage_loses_nothing() {
    for at in [Boundary::BeforeCommit, Boundary::AfterCommit] {
        let directory = tempfile::tempdir().unwrap();
        let outage = Outage::default();
        let store = failing(directory.path(), &outage).await;
        let script = Script::new(Era::Legacy, tools());
        let kernel = kernel_on(&store, &script).await;
        let acknowledged = calls_around_an_outage(&kernel, &script, &outage, at, "stop").await;
        kernel.shut_down(Duration::from_secs(5)).await;
        drop(kernel);
        store.close().await.unwrap();
        let store = open(directory.path()).await;
        let next = kernel_on(&store, &script).await;
        let found = await_outcomes(&store, &acknowledged).await;
        assert_once(&found, &acknowledged);
        assert!(store.audit().verify(&[]).await.unwrap().is_whole());
        next.shut_down(Duration::from_secs(5)).await;
        // Nothing is left behind once everything is on record.
        let left = std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().file_name());
        let left: Vec<_> = left.filter(|name| name.to_str().unwrap().contains("kernel-")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
