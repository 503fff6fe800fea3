//! Answers that become streams, requests to the client, cancellation, and readers that do not read (legacy era).

use std::sync::atomic::Ordering;

use serde_json::json;
use switchboard_peer::server::http::LogLimits;
use switchboard_peer::{Call, CallError, SendError};

use crate::client::{Ask, within};
use crate::script::{Seen, Served, call, progress, quick};

#[tokio::test]
async fn the_first_notification_makes_a_stream() {
    let served = Served::start().await;
    for (revision, primed) in [("2025-11-25", true), ("2025-06-18", false)] {
        let session = served.session(revision).await;
        let mut answer = call(&session, "progress").open(served.address).await;
        assert!(answer.is_stream());
        if primed {
            let first = answer.event().await.unwrap();
            assert!(first.id.is_some() && first.data.is_empty() && first.retry.is_some());
        }
        assert_eq!(answer.message().await["params"]["progress"], 1);
        let second = answer.event().await.unwrap();
        assert!(second.id.is_some());
        assert_eq!(answer.message().await, json!({"jsonrpc": "2.0", "id": 1, "result": {"done": true}}));
        assert!(answer.event().await.is_none());
    }
}

#[tokio::test]
async fn without_a_stream_notifications_take_the_sessions() {
    let served = Served::start().await;
    let session = served.session("2025-06-18").await;
    let answer = call(&session, "progress").with("Accept", "application/json").send(served.address).await;
    assert_eq!(answer.json()["result"], json!({"done": true}));
    let mut stream = Ask::get(&session).open(served.address).await;
    assert_eq!(stream.message().await["params"]["progress"], 1);
    assert_eq!(stream.message().await["params"]["progress"], 2);
}

#[tokio::test]
async fn a_request_to_the_client_travels_on_the_stream_of_the_call() {
    let served = Served::start().await;
    let session = served.session("2025-06-18").await;
    let mut answer = call(&session, "ask").open(served.address).await;
    let asked = answer.message().await;
    assert_eq!((asked["method"].as_str(), asked["params"].clone()), (Some("roots/list"), json!({"x": 1})));
    assert!(asked["id"].is_u64());
    let reply = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"roots":[]}},"x":1}}"#, asked["id"]);
    assert_eq!(Ask::post(reply.clone()).in_session(&session).send(served.address).await.status, 202);
    let last = answer.event().await.unwrap();
    assert_eq!(last.data, r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]},"x":1}"#);
    // A second answer finds nobody.
    assert_eq!(Ask::post(reply).in_session(&session).send(served.address).await.status, 202);
    assert_eq!(served.face.stray_answers(), 1);
}

#[tokio::test]
async fn a_handler_that_panics_is_answered_for() {
    let served = Served::start().await;
    let session = served.session("2025-06-18").await;
    let answer = call(&session, "panic").send(served.address).await;
    assert_eq!((answer.status, answer.code()), (200, -32603));
}

#[tokio::test]
async fn unsolicited_messages_wait_for_the_sessions_stream() {
    let served = Served::start().await;
    let id = served.session("2025-11-25").await;
    let session = served.last_session();
    session.remote().notify(progress(1)).unwrap();
    let asking = tokio::spawn({
        let session = session.clone();
        async move { session.remote().request(Call::new("ping", None)).await }
    });
    let mut stream = Ask::get(&id).open(served.address).await;
    assert!(stream.event().await.unwrap().data.is_empty());
    assert_eq!(stream.message().await["params"]["progress"], 1);
    let ping = stream.message().await;
    let reply = json!({"jsonrpc": "2.0", "id": ping["id"], "error": {"code": 5, "message": "no"}});
    Ask::post(reply.to_string()).in_session(&id).send(served.address).await;
    assert_eq!(asking.await.unwrap().unwrap().outcome.unwrap_err().code, 5);
    session.remote().notify(progress(2)).unwrap();
    assert_eq!(stream.message().await["params"]["progress"], 2);
}

#[tokio::test]
async fn the_client_is_told_of_a_request_given_up() {
    let served = Served::start().await;
    let id = served.session("2025-06-18").await;
    let session = served.last_session();
    let mut stream = Ask::get(&id).open(served.address).await;
    let call = Call::new("ping", None);
    let cancel = call.cancel.clone();
    let asking = tokio::spawn(async move { session.remote().request(call).await });
    let ping = stream.message().await;
    cancel.cancel();
    assert!(matches!(asking.await.unwrap(), Err(CallError::Cancelled)));
    let told = stream.message().await;
    assert_eq!((told["method"].as_str(), &told["params"]["requestId"]), (Some("notifications/cancelled"), &ping["id"]));
}

#[tokio::test]
async fn cancelled_requests_get_no_answer() {
    let mut served = Served::start().await;
    let session = served.session("2025-06-18").await;
    let cancel = Ask::post(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    let cancel = cancel.in_session(&session);
    // As a stream.
    let mut stream = call(&session, "gate").open(served.address).await;
    served.until(Seen::Started("gate".to_owned())).await;
    assert_eq!(stream.message().await["params"]["progress"], 1);
    assert_eq!(cancel.send(served.address).await.status, 202);
    assert!(stream.event().await.is_none());
    served.until(Seen::Cancelled("gate".to_owned())).await;
    // As plain JSON.
    let asking = tokio::spawn({
        let (ask, address) = (call(&session, "quiet-gate"), served.address);
        async move { ask.send(address).await }
    });
    served.until(Seen::Started("quiet-gate".to_owned())).await;
    cancel.send(served.address).await;
    let answer = asking.await.unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (202, ""));
    served.until(Seen::Cancelled("quiet-gate".to_owned())).await;
    // Nothing runs under this id any more, and nothing is harmed.
    assert_eq!(cancel.send(served.address).await.status, 202);
}

#[tokio::test]
async fn going_away_does_not_cancel() {
    let mut served = Served::start().await;
    let session = served.session("2025-06-18").await;
    for method in ["quiet-gate", "gate"] {
        let socket = call(&session, method).send_only(served.address).await;
        served.until(Seen::Started(method.to_owned())).await;
        drop(socket);
        // The request can still be cancelled, so it still runs.
        call(&session, "echo").send(served.address).await;
        served.script.gate.notify_one();
        assert_eq!(served.next_seen().await, Seen::Dropped(method.to_owned()));
    }
}

#[tokio::test]
async fn a_second_stream_takes_the_place_of_the_first() {
    let served = Served::start().await;
    let id = served.session("2025-06-18").await;
    let mut first = Ask::get(&id).open(served.address).await;
    let mut second = Ask::get(&id).open(served.address).await;
    assert!(first.event().await.is_none());
    served.last_session().remote().notify(progress(1)).unwrap();
    assert_eq!(second.message().await["params"]["progress"], 1);
}

#[tokio::test]
async fn what_nobody_reads_is_bounded() {
    let mut options = quick();
    options.log = LogLimits { events: 40, bytes: 1 << 20 };
    let served = Served::with(options, |access| access).await;
    let id = served.session("2025-06-18").await;
    let session = served.last_session();
    let sent = (0..100).filter(|&number| session.remote().notify(progress(number)).is_ok()).count();
    assert_eq!(sent, 10);
    assert_eq!(session.remote().notify(progress(0)), Err(SendError::Full));
    let mut stream = Ask::get(&id).open(served.address).await;
    for number in 0..10 {
        assert_eq!(stream.message().await["params"]["progress"], number);
    }
    session.remote().notify(progress(77)).unwrap();
    assert_eq!(stream.message().await["params"]["progress"], 77);
}

#[tokio::test]
async fn a_slow_reader_is_given_up() {
    let mut served = Served::start().await;
    // Modern: the stream is lost, and with it the request.
    let socket = Ask::modern("flood", json!({})).send_only(served.address).await;
    served.until(Seen::Started("flood".to_owned())).await;
    served.until(Seen::Dropped("flood".to_owned())).await;
    // The bound of the log, and what the two ends of the socket and the writer hold.
    assert!(served.script.flooded.load(Ordering::Relaxed) < 2_000);
    drop(socket);
    // Legacy: the request goes on, and what was not read waits for the client.
    let session = served.session("2025-11-25").await;
    let mut stream = call(&session, "flood").open(served.address).await;
    let primed = stream.event().await.unwrap().id.unwrap();
    served.until(Seen::Started("flood".to_owned())).await;
    let mut again = Ask::get(&session).with("Last-Event-ID", &primed).open(served.address).await;
    assert_eq!(again.message().await["method"], "notifications/message");
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    Ask::post(cancel).in_session(&session).send(served.address).await;
    within(async { while again.event().await.is_some() {} }).await;
}

#[tokio::test]
async fn a_quiet_stream_is_kept_alive() {
    let mut options = quick();
    options.keep_alive = std::time::Duration::from_millis(5);
    let served = Served::with(options, |access| access).await;
    let id = served.session("2025-06-18").await;
    let mut stream = Ask::get(&id).open(served.address).await;
    for _ in 0..3 {
        assert_eq!(within(stream.piece()).await.unwrap(), b": keep-alive\n\n");
    }
}

#[tokio::test]
async fn progress_of_the_client_keeps_a_request_alive_and_finds_its_way() {
    let mut served = Served::start().await;
    let id = served.session("2025-06-18").await;
    let session = served.last_session();
    let params = switchboard_wire::Raw::from_value(&json!({"_meta": {"progressToken": "mine"}})).unwrap();
    let mut call = Call::new("sampling/createMessage", Some(params));
    call.related = Some(served.script.clone());
    let asking = tokio::spawn(async move { session.remote().request(call).await });
    let mut stream = Ask::get(&id).open(served.address).await;
    let asked = stream.message().await;
    // The token on the wire is ours, so that two callers with the same one do not meet.
    let token = &asked["params"]["_meta"]["progressToken"];
    assert_eq!(token, &asked["id"]);
    let note = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}});
    assert_eq!(Ask::post(note.to_string()).in_session(&id).send(served.address).await.status, 202);
    served.until(Seen::Notified("notifications/progress \"mine\"".to_owned())).await;
    let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}});
    Ask::post(reply.to_string()).in_session(&id).send(served.address).await;
    assert!(asking.await.unwrap().unwrap().outcome.is_ok());
}

#[tokio::test]
async fn a_body_that_never_comes_is_not_waited_for() {
    let mut options = quick();
    options.body_timeout = std::time::Duration::from_millis(20);
    let served = Served::with(options, |access| access).await;
    let ask = Ask::new("POST", "/mcp").with("Content-Type", "application/json").with("Content-Length", "100");
    assert_eq!(ask.open(served.address).await.status, 408);
}
