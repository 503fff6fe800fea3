//! Answers that become streams, requests to the client, cancellation, and readers that do not read (legacy era).

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use switchboard_peer::server::http::LogLimits;
use switchboard_peer::{Call, CallError, SendError};

use crate::client::{Ask, within};
use crate::script::{Seen, Served, call, initialize, progress, quick};

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
async fn a_burst_before_the_answer_loses_neither_the_answer_nor_what_was_taken() {
    let served = Served::start().await;
    let session = served.session("2025-11-25").await;
    for ask in [call(&session, "burst"), Ask::modern("burst", json!({}))] {
        let mut stream = ask.open(served.address).await;
        let mut numbers = Vec::new();
        let kept = loop {
            let event = stream.event().await.expect("the stream ends with the answer");
            if event.data.is_empty() {
                continue;
            }
            let message: Value = serde_json::from_slice(&event.data).unwrap();
            match message["params"]["progress"].as_u64() {
                Some(number) => numbers.push(number),
                None => break message["result"]["kept"].as_u64().unwrap(),
            }
        };
        assert!(kept > 3_000, "{kept}");
        assert_eq!(numbers, (0..kept).collect::<Vec<_>>());
        assert!(stream.event().await.is_none());
    }
}

#[tokio::test]
async fn a_call_goes_on_without_what_its_reader_leaves_lying() {
    let mut served = Served::start().await;
    // Modern: what there is no room for is not kept, and the request ends with its client.
    let socket = Ask::modern("flood", json!({})).send_only(served.address).await;
    served.until(Seen::Started("flood".to_owned())).await;
    // The bound of the log, and what the two ends of the socket and the writer hold.
    assert!(served.script.flooded.load(Ordering::Relaxed) < 2_000);
    drop(socket);
    served.until(Seen::Dropped("flood".to_owned())).await;
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
async fn streams_that_nobody_reads_keep_within_one_bound_and_give_it_back() {
    let mut options = quick();
    options.limits.bytes = 1 << 20;
    options.max_memory = 4 << 20;
    let mut served = Served::with(options, |access| access.authenticated(|token| token.map(Into::into))).await;
    let opened = initialize("2025-11-25").with("Authorization", "Bearer ann").send(served.address).await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let mut stalled = Vec::new();
    for _ in 0..20 {
        let ask = call(&session, "flood").with("Authorization", "Bearer ann");
        stalled.push(ask.send_only(served.address).await);
        served.until(Seen::Started("flood".to_owned())).await;
    }
    let used = served.face.memory_used();
    assert!((1 << 20..=2 << 20).contains(&used), "half of it is for one principal: {used}");
    // Another one is not kept from its share.
    let mut other = Ask::modern("burst", json!({})).with("Authorization", "Bearer bob").open(served.address).await;
    while other.event().await.is_some() {}
    drop(stalled);
    let delete = Ask::new("DELETE", "/mcp").in_session(&session).with("Authorization", "Bearer ann");
    assert_eq!(delete.send(served.address).await.status, 204);
    within(async {
        while served.face.memory_used() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// Answers that wait in connections count as well: whoever lets them stand gets no more of them, and others do.
#[tokio::test]
async fn answers_that_nobody_reads_are_held_within_one_bound() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    // More than the system takes of one connection.
    const BYTES: usize = 8 << 20;
    let mut options = quick();
    options.max_memory = 8 * BYTES;
    let served = Served::with(options, |access| access.authenticated(|token| token.map(Into::into))).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"bytes": BYTES, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "large", "params": params}).to_string();
    let text = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json\r\n\
         Authorization: Bearer ann\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: large\r\nContent-Length: {}\r\n\r\n{body}",
        served.address,
        body.len()
    );
    let (mut stalled, mut refused) = (Vec::new(), 0);
    for _ in 0..10 {
        let mut socket = tokio::net::TcpStream::connect(served.address).await.unwrap();
        socket.write_all(text.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        assert_eq!(within(socket.read_exact(&mut status)).await.unwrap(), 12);
        if status.ends_with(b"503") {
            refused += 1;
            break;
        }
        assert!(status.ends_with(b"200"));
        stalled.push(socket);
    }
    let used = served.face.memory_used();
    assert!(refused == 1 && (3 * BYTES..6 * BYTES).contains(&used), "{} stand: {used}", stalled.len());
    let ask = Ask::modern("large", json!({"bytes": BYTES}));
    assert_eq!(ask.clone().with("Authorization", "Bearer bob").send(served.address).await.status, 200);
    // It is given back when they have gone.
    drop(stalled);
    within(async {
        while served.face.memory_used() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(ask.with("Authorization", "Bearer ann").send(served.address).await.status, 200);
}

#[tokio::test]
async fn streams_that_have_ended_are_trimmed_at_once() {
    let mut options = quick();
    options.kept_streams = 2;
    let served = Served::with(options, |access| access).await;
    let session = served.session("2025-11-25").await;
    let mut used = Vec::new();
    for _ in 0..6 {
        let mut stream = call(&session, "burst").open(served.address).await;
        while stream.event().await.is_some() {}
        drop(stream);
        used.push(served.face.memory_used());
    }
    // The last one is trimmed when its connection is seen to have gone.
    within(async {
        while served.face.memory_used() > used[1] + used[0] / 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn bodies_that_are_held_open_keep_within_the_same_bound() {
    use tokio::io::AsyncWriteExt as _;
    let mut options = quick();
    options.limits.bytes = 1 << 20;
    options.max_memory = 4 << 20;
    let served = Served::with(options, |access| access.authenticated(|token| token.map(Into::into))).await;
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"echo","params":{{"text":"{}"}}}}"#, "x".repeat(900 << 10));
    let half = |token: &str| {
        let (head, half) = (served.address, &body[..body.len() / 2]);
        let text = format!(
            "POST /mcp HTTP/1.1\r\nHost: {head}\r\nContent-Type: application/json\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: {}\r\n\r\n{half}",
            body.len()
        );
        async move {
            let mut socket = tokio::net::TcpStream::connect(head).await.unwrap();
            socket.write_all(text.as_bytes()).await.unwrap();
            socket
        }
    };
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(half("ann").await);
    }
    within(async {
        while served.face.memory_used() < 1_800 << 10 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // What does not fit is told to come back, and another principal is served meanwhile.
    let ask = Ask::modern("echo", json!({"text": "x".repeat(900 << 10)}));
    let (refused, served_other) =
        tokio::join!(async { ask.clone().with("Authorization", "Bearer ann").send(served.address).await }, async {
            ask.clone().with("Authorization", "Bearer bob").send(served.address).await
        },);
    assert_eq!((refused.status, served_other.status), (503, 200));
    assert!(refused.header("retry-after").is_some());
    drop(held);
    within(async {
        while served.face.memory_used() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(ask.with("Authorization", "Bearer ann").send(served.address).await.status, 200);
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
