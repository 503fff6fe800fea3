//! What goes on with a call that was made: for one principal, for one call, from where the reader stopped, and only for as
//! long as its tool may be used.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{Kernel, OperatorActions, ServerPolicy};
use switchboard_peer::{Identity, Method, Principal};
use switchboard_protocol::Era;
use switchboard_store::Store;

use super::world::{Streamer, kernel, says, store};
use crate::gate::world::{Client, ERAS, entry, events, until};

const CHUNK: &str = "notifications/stream_chunk";

async fn client(kernel: &Kernel, era: Era) -> Client {
    let capabilities = json!({"extensions": ["streaming"]});
    Client::new(kernel, Identity::new("ann", Method::Token).into(), era, capabilities).await
}

async fn step(server: &Streamer, client: &Client, expected: usize) {
    server.step.add_permits(1);
    until("a piece", || client.told(CHUNK).len() >= expected).await;
}

fn resume(piece: &Value) -> Value {
    json!({"operation_id": piece["operation_id"], "checkpoint_token": piece["checkpoint_token"]})
}

fn sequences(client: &Client) -> Vec<u64> {
    client
        .told(CHUNK)
        .iter()
        .filter(|said| said["is_final"] == false)
        .filter_map(|said| said["sequence"].as_u64())
        .collect()
}

/// The operator takes a tool from ann; when this returns, it counts.
async fn deny(store: &Store, tool: Option<&str>) {
    let operator_actions = OperatorActions::of_operator(store.clone(), "olga");
    operator_actions.grant_access(entry("ann", "s", tool, false)).await.expect("denied");
}

/// What was blocked, by the detail that names it.
async fn blocked(store: &Store) -> Vec<String> {
    let blocked = |event: &switchboard_store::AuditEvent| event.event_type == "TOOL_BLOCKED";
    let what = |event: switchboard_store::AuditEvent| Some(event.details.get("what")?.as_str()?.to_owned());
    events(store).await.into_iter().filter(blocked).filter_map(what).collect()
}

async fn is_blocked(store: &Store, what: &str) {
    for _ in 0..200 {
        if blocked(store).await.iter().any(|one| one == what) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what} is not on record")
}

#[tokio::test]
async fn a_checkpoint_never_points_behind_pieces_that_were_not_sent() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let first = client(&kernel, Era::Modern).await;
    let running = first.begin(1, &json!({"name": "steps", "arguments": {}}));
    step(&server, &first, 1).await;
    let token = first.told(CHUNK)[0].clone();
    // The connection breaks, and the rest comes while nobody reads.
    running.cancel.cancel();
    running.answer.await.expect("no panic").expect_err("gone");
    for _ in 0..3 {
        server.step.add_permits(1);
        server.stepped.acquire().await.expect("open").forget();
    }
    until("the call ends", || server.running.load(Ordering::SeqCst) == 0).await;
    let second = client(&kernel, Era::Modern).await;
    second.send_as(2, "operations/resume", resume(&token)).await.expect("a result");
    assert_eq!(sequences(&second), [1, 2, 3]);
    // It broke again after each of them.
    for piece in second.told(CHUNK).iter().filter(|said| said["is_final"] == false) {
        let next = piece["sequence"].as_u64().expect("a number") + 1;
        let third = client(&kernel, Era::Modern).await;
        third.send_as(3, "operations/resume", resume(piece)).await.expect("a result");
        assert_eq!(sequences(&third), (next..4).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_checkpoint_is_of_one_call() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, Era::Legacy).await;
    ann.send_as(1, "tools/call", json!({"name": "think", "arguments": {"about": 1}})).await.expect("a result");
    let token = ann.told(CHUNK)[0]["checkpoint_token"].clone();
    let with = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments, "_meta": {"checkpoint_token": token}});
    for other in [with("think", json!({"about": 2})), with("bare", json!({"about": 1})), with("think", json!({}))] {
        let refused = ann.send_as(2, "tools/call", other).await.expect_err("another call");
        assert!(refused.message.contains("another call"), "{refused:?}");
    }
    let same = ann.send_as(3, "tools/call", with("think", json!({"about": 1}))).await.expect("its result");
    assert_eq!(same["content"][0]["text"], "Quantum computing is a paradigm");
    assert_eq!(server.heard("tools/call").len(), 1, "none of them was made");
}

#[tokio::test]
async fn nothing_of_a_tool_goes_on_once_it_was_taken_back() {
    for (era, tool) in ERAS.into_iter().flat_map(|era| [(era, Some("steps")), (era, None)]) {
        let directory = tempfile::tempdir().expect("a directory");
        let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
        let kernel = kernel(&server, Some(store.clone())).await;
        let ann = client(&kernel, era).await;
        // One has ended and its result is kept, one runs.
        server.step.add_permits(4);
        ann.send_as(1, "tools/call", json!({"name": "steps", "arguments": {"n": 1}})).await.expect("a result");
        let ended = ann.told(CHUNK)[0].clone();
        let before = ann.told(CHUNK).len();
        let running = ann.begin(2, &json!({"name": "steps", "arguments": {"n": 2}}));
        step(&server, &ann, before + 1).await;
        let live = ann.told(CHUNK)[before].clone();
        deny(&store, tool).await;
        let error = running.answer.await.expect("no panic").expect_err("ended");
        assert!(error.message.contains("taken back"), "{error:?}");
        until("the server stops", || server.running.load(Ordering::SeqCst) == 0).await;
        let told = ann.told(CHUNK).len();
        let again = client(&kernel, era).await;
        for piece in [&ended, &live] {
            let refused = again.send_as(3, "operations/resume", resume(piece)).await.expect_err("not any more");
            assert!(refused.data.expect("data").as_str().contains("checkpoint_not_found"));
            let mut call = json!({"name": "steps", "arguments": {"n": 1}});
            call["_meta"] = json!({"checkpoint_token": piece["checkpoint_token"]});
            assert!(again.send_as(4, "tools/call", call).await.expect_err("unknown").message.contains("Unknown tool"));
        }
        assert_eq!((ann.told(CHUNK).len(), again.told(CHUNK).len()), (told, 0), "no piece comes after that");
        is_blocked(&store, "stream").await;
        is_blocked(&store, "operations/resume").await;
    }
}

#[tokio::test]
async fn a_stream_of_mgp_ends_with_the_right_to_its_tool() {
    for era in ERAS {
        let directory = tempfile::tempdir().expect("a directory");
        let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
        let kernel = kernel(&server, Some(store.clone())).await;
        let identity = Identity::new("ann", Method::Token);
        let ann = Client::new(&kernel, identity.into(), era, says(era, &["streaming"])).await;
        let running = ann.begin(20, &json!({"name": "steps", "arguments": {}, "_mgp": {"stream": true}}));
        until("the call", || server.running.load(Ordering::SeqCst) == 1).await;
        deny(&store, Some("steps")).await;
        running.answer.await.expect("no panic").expect_err("ended");
        until("the server stops", || server.running.load(Ordering::SeqCst) == 0).await;
        for (method, params) in [
            ("mgp/stream/cancel", json!({"request_id": 20})),
            ("mgp/stream/pace", json!({"request_id": 20, "max_chunks_per_second": 1})),
        ] {
            assert_eq!(ann.send_as(21, method, params).await.expect_err("nothing there").code, 4004, "{method}");
        }
    }
}

/// In each dialect that streams: whoever has stolen a token chooses what it says of itself.
#[tokio::test]
async fn a_stream_ends_with_the_token_that_it_was_begun_with() {
    for (era, streams) in ERAS.into_iter().flat_map(|era| [(era, true), (era, false)]) {
        let directory = tempfile::tempdir().expect("a directory");
        let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
        let kernel = kernel(&server, Some(store.clone())).await;
        let identity: Principal = Identity::new("ann", Method::Token).into();
        let capabilities = if streams { says(era, &["streaming"]) } else { json!({"extensions": ["streaming"]}) };
        let ann = Client::new(&kernel, identity.clone(), era, capabilities).await;
        let call = json!({"name": "changes", "arguments": {}});
        let running = ann.begin(20, &if streams { with(&call, "_mgp", json!({"stream": true})) } else { call });
        until("the call", || server.running.load(Ordering::SeqCst) == 1).await;
        identity.ended.cancel();
        let error = running.answer.await.expect("no panic").expect_err("ended");
        assert!(error.message.contains("token"), "{error:?}");
        until("the server stops", || server.running.load(Ordering::SeqCst) == 0).await;
        is_blocked(&store, "stream").await;
        let types: Vec<String> = events(&store).await.into_iter().map(|event| event.event_type.to_string()).collect();
        assert!(types.iter().any(|name| name == "dev.switchboard.unknown_outcome"), "{types:?}");
    }
}

fn with(value: &Value, key: &str, member: Value) -> Value {
    let mut value = value.clone();
    value[key] = member;
    value
}

#[tokio::test]
async fn kept_results_are_not_given_after_a_revocation_and_a_restart() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Streamer::new(Era::Legacy, true);
    let piece = {
        let store = store(&directory).await;
        let kernel = kernel(&server, Some(store.clone())).await;
        let ann = client(&kernel, Era::Modern).await;
        ann.send_as(1, "tools/call", json!({"name": "think", "arguments": {}})).await.expect("a result");
        let piece = ann.told(CHUNK)[0].clone();
        kernel.shut_down(Duration::from_secs(5)).await;
        store.close().await.expect("closed");
        piece
    };
    let store = store(&directory).await;
    let kernel = kernel(&server, Some(store.clone())).await;
    let ann = client(&kernel, Era::Modern).await;
    let result = ann.send_as(2, "operations/resume", resume(&piece)).await.expect("hers");
    assert_eq!(result["content"][0]["text"], "Quantum computing is a paradigm");
    let resumed = |event: &switchboard_store::AuditEvent| event.event_type == "dev.switchboard.operation_resumed";
    let bob = Client::new(
        &kernel,
        Identity::new("bob", Method::Token).into(),
        Era::Modern,
        json!({"extensions": ["streaming"]}),
    )
    .await;
    bob.send_as(2, "operations/resume", resume(&piece)).await.expect_err("not his");
    deny(&store, Some("think")).await;
    let refused = ann.send_as(3, "operations/resume", resume(&piece)).await.expect_err("not any more");
    assert!(refused.data.expect("data").as_str().contains("checkpoint_not_found"));
    is_blocked(&store, "operations/resume").await;
    assert_eq!(events(&store).await.iter().filter(|event| resumed(event)).count(), 1);
}

/// A result that is kept is given within the limits that hold when it is asked for.
#[tokio::test]
async fn kept_results_are_not_given_past_limits_that_were_set_later() {
    let directory = tempfile::tempdir().expect("a directory");
    let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
    let kernel = kernel(&server, Some(store.clone())).await;
    let ann = client(&kernel, Era::Modern).await;
    let call = |path: &str| json!({"name": "think", "arguments": {"path": path}});
    let with = |mut call: Value, piece: &Value| {
        call["_meta"] = json!({"checkpoint_token": piece["checkpoint_token"]});
        call
    };
    ann.send_as(1, "tools/call", call("/etc/secret.txt")).await.expect("a result");
    let secret = ann.told(CHUNK)[0].clone();
    ann.send_as(2, "operations/resume", resume(&secret)).await.expect("hers");
    let told = ann.told(CHUNK).len();
    ann.send_as(3, "tools/call", call("/srv/ok/a")).await.expect("a result");
    let fine = ann.told(CHUNK)[told].clone();
    let mut narrowed = entry("ann", "s", None, true);
    let limits = json!({"paths": ["/srv/ok/**"]}).to_string();
    narrowed.scopes = Some(serde_json::value::RawValue::from_string(limits).expect("JSON"));
    OperatorActions::of_operator(store.clone(), "olga").grant_access(narrowed).await.expect("narrowed");
    tokio::time::sleep(Duration::from_millis(220)).await;
    for piece in [&secret, &fine] {
        ann.send_as(4, "operations/resume", resume(piece)).await.expect_err("its arguments are not known any more");
    }
    is_blocked(&store, "operations/resume").await;
    let refused = ann.send_as(5, "tools/call", with(call("/etc/secret.txt"), &secret)).await;
    assert!(refused.as_ref().map_or(true, |result| result["isError"] == true), "{refused:?}");
    let again = ann.send_as(6, "tools/call", with(call("/srv/ok/a"), &fine)).await.expect("within the limits");
    assert_eq!(again["content"][0]["text"], "Quantum computing is a paradigm");
    // What is called within the limits is taken up within them.
    let told = ann.told(CHUNK).len();
    ann.send_as(7, "tools/call", call("/srv/ok/b")).await.expect("a result");
    let within = ann.told(CHUNK)[told].clone();
    ann.send_as(8, "operations/resume", resume(&within)).await.expect("the same limits hold");
}

#[tokio::test]
async fn a_narrowed_session_token_takes_up_nothing_beyond_its_scopes() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, Era::Legacy).await;
    ann.send_as(1, "tools/call", json!({"name": "think", "arguments": {}})).await.expect("a result");
    let piece = ann.told(CHUNK)[0].clone();
    let asked = json!({"requested_scopes": ["tool:bare"]});
    let given = ann.send_as(2, "negotiate_scopes", asked).await.expect("scopes");
    let token = given["session"]["token"].as_str().expect("a token").to_owned();
    let mut params = resume(&piece);
    params["_meta"] = json!({"session_token": token});
    assert!(ann.send_as(3, "operations/resume", params).await.is_err(), "beyond its scopes");
    ann.send_as(4, "operations/resume", resume(&piece)).await.expect("without it, as before");
    // What is no token of anybody's narrows to nothing, whatever it is.
    for token in [json!("nope"), json!(7), json!({"a": 1}), json!(["x"])] {
        let mut params = resume(&piece);
        params["_meta"] = json!({"session_token": token});
        assert!(ann.send_as(5, "operations/resume", params).await.is_err(), "{token}");
        let call = json!({"name": "think", "arguments": {}, "_meta": {"session_token": token}});
        let called = ann.send_as(6, "tools/call", call).await;
        assert!(called.as_ref().map_or(true, |result| result["isError"] == true), "{token}: {called:?}");
    }
}

/// Pieces that are not kept any more are named to whoever goes on without them.
#[tokio::test]
async fn a_reader_that_goes_on_is_told_of_pieces_that_nobody_has_any_more() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let first = client(&kernel, Era::Modern).await;
    let running = first.begin(1, &json!({"name": "burst", "arguments": {"count": 30, "size": 100_000, "hold": true}}));
    until("all pieces", || first.told(CHUNK).len() == 30).await;
    let token = first.told(CHUNK)[0].clone();
    running.cancel.cancel();
    running.answer.await.expect("no panic").expect_err("gone");
    server.step.add_permits(1);
    let second = client(&kernel, Era::Modern).await;
    second.send_as(2, "operations/resume", resume(&token)).await.expect("a result");
    let told = second.told(CHUNK);
    let lost = told.iter().filter(|said| said["gap_unrecoverable"] == true).count();
    assert!(lost > 0 && lost < 29, "{lost}");
    assert_eq!(sequences(&second), (1..30).collect::<Vec<_>>(), "each is there, or said to be gone");
}

/// The operator narrows what ann may do at the server to these paths.
async fn narrow(store: &Store, principal: &str, paths: &str) {
    let mut narrowed = entry(principal, "s", None, true);
    let limits = json!({"paths": [paths]}).to_string();
    narrowed.scopes = Some(serde_json::value::RawValue::from_string(limits).expect("JSON"));
    OperatorActions::of_operator(store.clone(), "olga").grant_access(narrowed).await.expect("narrowed");
}

#[tokio::test]
async fn a_stream_ends_when_limits_are_set_that_do_not_cover_it() {
    for (era, mgp) in ERAS.into_iter().flat_map(|era| [(era, true), (era, false)]) {
        let directory = tempfile::tempdir().expect("a directory");
        let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
        let kernel = kernel(&server, Some(store.clone())).await;
        let ann = if mgp {
            Client::new(&kernel, Identity::new("ann", Method::Token).into(), era, says(era, &["streaming"])).await
        } else {
            client(&kernel, era).await
        };
        let call = |path: &str| json!({"name": "steps", "arguments": {"path": path}, "_mgp": {"stream": true}});
        let outside = ann.begin(1, &call("/etc/secret.txt"));
        let inside = ann.begin(2, &call("/srv/ok/a"));
        until("both run", || server.running.load(Ordering::SeqCst) == 2).await;
        narrow(&store, "ann", "/srv/ok/**").await;
        let error = outside.answer.await.expect("no panic").expect_err("ended");
        assert!(error.message.contains("limits"), "{error:?}");
        until("one stops", || server.running.load(Ordering::SeqCst) == 1).await;
        server.step.add_permits(4);
        inside.answer.await.expect("no panic").expect("the new limits cover it");
        is_blocked(&store, "stream").await;
    }
}

#[tokio::test]
async fn a_running_operation_is_taken_up_under_new_limits_that_cover_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
    let kernel = kernel(&server, Some(store.clone())).await;
    let ann = client(&kernel, Era::Modern).await;
    let running = ann.begin(1, &json!({"name": "steps", "arguments": {"path": "/srv/ok/a"}}));
    step(&server, &ann, 1).await;
    let piece = ann.told(CHUNK)[0].clone();
    running.cancel.cancel();
    running.answer.await.expect("no panic").expect_err("gone");
    narrow(&store, "ann", "/srv/ok/**").await;
    server.step.add_permits(3);
    let again = client(&kernel, Era::Modern).await;
    again.send_as(2, "operations/resume", resume(&piece)).await.expect("within the limits");
}

/// A call on somebody's behalf goes on for as long as each in the chain may make it.
#[tokio::test]
async fn a_stream_ends_with_the_rights_of_those_it_was_passed_on_by() {
    for narrows in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
        let kernel = kernel(&server, Some(store.clone())).await;
        let ann = client(&kernel, Era::Legacy).await;
        let operator_actions = OperatorActions::of_operator(store.clone(), "olga");
        operator_actions.grant_access(entry("zoe", "s", None, true)).await.expect("granted");
        let delegation =
            json!({"original_actor": "zoe", "delegated_via": "ann", "delegation_id": "d", "chain": ["zoe", "ann"]});
        let call = json!({"name": "steps", "arguments": {"path": "/etc/x"}, "_mgp": {"delegation": delegation}});
        server.step.add_permits(4);
        ann.send_as(1, "tools/call", call.clone()).await.expect("a result");
        let ended = ann.told(CHUNK)[0].clone();
        let told = ann.told(CHUNK).len();
        let running = ann.begin(2, &call);
        step(&server, &ann, told + 1).await;
        if narrows {
            narrow(&store, "zoe", "/srv/ok/**").await;
        } else {
            operator_actions.grant_access(entry("zoe", "s", None, false)).await.expect("denied");
        }
        running.answer.await.expect("no panic").expect_err("ended");
        until("it stops", || server.running.load(Ordering::SeqCst) == 0).await;
        ann.send_as(3, "operations/resume", resume(&ended)).await.expect_err("not any more");
        // The same after a restart, which keeps no arguments.
        kernel.shut_down(Duration::from_secs(5)).await;
        let kernel = super::world::kernel(&server, Some(store.clone())).await;
        let ann = client(&kernel, Era::Legacy).await;
        ann.send_as(4, "operations/resume", resume(&ended)).await.expect_err("not any more");
    }
}

/// What settings of a server grant it narrows what runs, from the moment that they are read again.
#[tokio::test]
async fn a_stream_ends_when_settings_are_read_that_do_not_cover_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
    let kernel = kernel(&server, Some(store.clone())).await;
    let ann = client(&kernel, Era::Legacy).await;
    let running = ann.begin(1, &json!({"name": "steps", "arguments": {"path": "/etc/x"}}));
    step(&server, &ann, 1).await;
    let scope = crate::gate::world::raw(&json!({"paths": ["/srv/ok/**"]}));
    let policy = ServerPolicy {
        permissions_granted: vec![("filesystem.read".to_owned(), Some(scope))],
        ..ServerPolicy::default()
    };
    kernel.apply(vec![crate::gate::world::spec("s", server.clone(), policy)]);
    let error = running.answer.await.expect("no panic").expect_err("ended");
    assert!(error.message.contains("limits"), "{error:?}");
}
