//! Streamable HTTP of the legacy era.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_peer::client::{ConnectError, Connected, EraChoice, Target, connect};
use switchboard_peer::{CallError, Handler};
use switchboard_protocol::{Era, Revision};
use tokio::sync::{mpsc, oneshot};

use crate::script::{Keeper, Seen, Server, Wire, ask, options, silent, tool_call};

fn http(server: &Server) -> Target {
    Target::Http { url: server.url.clone(), headers: vec![("authorization".into(), "Bearer own".into())] }
}

/// Answers everything but calls as a legacy server with a session does.
async fn routine(seen: &Seen, wire: &mut Wire) -> bool {
    match &*seen.what() {
        "server/discover" => {
            wire.answer(
                400,
                "content-type: application/json\r\n",
                &seen.error(-32000, "Bad Request", &Value::Null).to_string(),
            )
            .await
        }
        "initialize" => {
            let result = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s"}, "instructions": "hi", "x": 1});
            wire.answer(
                200,
                "content-type: application/json\r\nmcp-session-id: one\r\n",
                &seen.result(&result).to_string(),
            )
            .await;
        }
        "GET" => wire.answer(405, "", "").await,
        "DELETE" => wire.answer(200, "", "").await,
        what if what.starts_with("notifications/") => wire.answer(202, "", "").await,
        _ if seen.is_response() => wire.answer(202, "", "").await,
        _ => return false,
    }
    true
}

async fn echo(seen: &Seen, wire: &mut Wire) {
    wire.json(&seen.result(&seen.body["params"]["arguments"])).await;
}

async fn connected(server: &Server, handler: Arc<dyn Handler>) -> Connected {
    connect(http(server), options(), handler).await.unwrap()
}

#[tokio::test]
async fn a_legacy_server_is_probed_initialized_and_left_in_good_order() {
    let server = Server::start(|seen, mut wire| async move {
        if !routine(&seen, &mut wire).await {
            echo(&seen, &mut wire).await;
        }
        Some(wire)
    })
    .await;
    let connected = connected(&server, silent()).await;
    assert_eq!((connected.revision, connected.era()), (Revision::V2025_06_18, Era::Legacy));
    assert_eq!(connected.server.instructions.as_deref(), Some("hi"));
    assert_eq!(connected.server.result.member("x").unwrap().as_str(), "1");
    assert_eq!(ask(&connected.remote, &json!({"arguments": {"n": 1}})).await.unwrap(), json!({"n": 1}));
    server.await_request("GET").await;
    connected.stop().await;
    assert!(connected.closed.is_cancelled());
    assert!(matches!(ask(&connected.remote, &json!({})).await, Err(CallError::NotSent(_))));

    let order: Vec<String> = server.whats().into_iter().filter(|what| what != "GET").collect();
    assert_eq!(order, ["server/discover", "initialize", "notifications/initialized", "tools/call", "DELETE"]);
    let first = server.find("initialize");
    assert_eq!((first.header("mcp-session-id"), first.header("mcp-protocol-version")), (None, None));
    assert_eq!(first.body["params"]["protocolVersion"], "2025-11-25");
    for what in ["notifications/initialized", "tools/call", "GET", "DELETE"] {
        let seen = server.find(what);
        assert_eq!(seen.header("mcp-session-id"), Some("one"), "{what}");
        assert_eq!(seen.header("mcp-protocol-version"), Some("2025-06-18"), "{what}");
        assert_eq!(seen.header("authorization"), Some("Bearer own"), "{what}");
    }
    assert_eq!(server.find("tools/call").header("accept"), Some("application/json, text/event-stream"));
}

#[tokio::test]
async fn a_known_legacy_server_is_not_probed() {
    let server = Server::start(|seen, mut wire| async move {
        routine(&seen, &mut wire).await;
        Some(wire)
    })
    .await;
    let mut known = options();
    known.known_era = Some(Era::Legacy);
    connect(http(&server), known, silent()).await.unwrap();
    assert_eq!(server.count("server/discover"), 0);
}

#[tokio::test]
async fn what_comes_with_a_call_goes_to_its_own_handler() {
    let server = Server::start(|seen, mut wire| async move {
        if routine(&seen, &mut wire).await {
            return Some(wire);
        }
        wire.begin_events().await;
        let token = &seen.body["params"]["_meta"]["progressToken"];
        assert_eq!(token, &seen.body["id"], "two callers with one token must not meet");
        wire.event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})).await;
        for foreign in [json!(0), json!("abc"), json!(null), json!({"a": 1}), json!(token.as_u64().unwrap() + 1)] {
            wire.event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": foreign, "progress": 9}})).await;
        }
        wire.event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "log"}})).await;
        wire.event(&json!({"jsonrpc": "2.0", "id": "s-1", "method": "elicitation/create", "params": {"message": "?"}})).await;
        wire.event(&json!({"jsonrpc": "2.0", "id": 999, "result": {}})).await;
        wire.event(&seen.result(&json!({"done": true}))).await;
        None
    })
    .await;
    let (general, mut elsewhere) = Keeper::new();
    let connected = connected(&server, general).await;
    let (related, mut mine) = Keeper::new();
    let mut call = tool_call(&json!({"name": "t", "_meta": {"progressToken": "abc"}}));
    call.related = Some(related);
    let reply = connected.remote.request(call).await.unwrap();
    assert_eq!(reply.outcome.unwrap().as_str(), r#"{"done":true}"#);
    let mut got = Vec::new();
    for _ in 0..3 {
        got.push(mine.recv().await.unwrap());
    }
    got.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(got[0], ("elicitation/create".into(), json!({"message": "?"})));
    assert_eq!(got[1], ("notifications/message".into(), json!({"data": "log"})));
    assert_eq!(got[2], ("notifications/progress".into(), json!({"progressToken": "abc", "progress": 1})));
    assert!(elsewhere.try_recv().is_err());
    assert_eq!((connected.disorder().stray_answers, connected.disorder().foreign_progress), (1, 5));
    // The answer to the server's request is a POST of its own.
    while !server.log.lock().iter().any(Seen::is_response) {
        tokio::task::yield_now().await;
    }
    let answer = server.log.lock().iter().find(|seen| seen.is_response()).cloned().unwrap();
    assert_eq!(answer.body, json!({"jsonrpc": "2.0", "id": "s-1", "result": {"message": "?"}}));
    assert_eq!(answer.header("mcp-session-id"), Some("one"));
}

#[tokio::test]
async fn a_lost_session_is_replaced_once_and_no_caller_notices() {
    for (status, body) in [
        (404, String::new()),
        (404, json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "Session not found"}}).to_string()),
        (400, json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Bad Request: No valid session ID provided"}}).to_string()),
    ] {
        let sessions = Arc::new(AtomicUsize::new(0));
        let server = Server::start(move |seen, mut wire| {
            let (sessions, body) = (sessions.clone(), body.clone());
            async move {
                if seen.what() == "initialize" {
                    let number = sessions.fetch_add(1, Ordering::SeqCst) + 1;
                    let result = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}});
                    let headers = format!("content-type: application/json\r\nmcp-session-id: s{number}\r\n");
                    wire.answer(200, &headers, &seen.result(&result).to_string()).await;
                } else if seen.what() == "tools/call" {
                    // The first session is lost as soon as there is one.
                    if seen.header("mcp-session-id") == Some("s1") {
                        wire.answer(status, "content-type: application/json\r\n", &body).await;
                    } else {
                        echo(&seen, &mut wire).await;
                    }
                } else {
                    routine(&seen, &mut wire).await;
                }
                Some(wire)
            }
        })
        .await;
        let connected = connected(&server, silent()).await;
        let mut calls = Vec::new();
        for number in 0..8 {
            let remote = connected.remote.clone();
            calls.push(tokio::spawn(async move { ask(&remote, &json!({"arguments": {"n": number}})).await.unwrap() }));
        }
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap(), json!({"n": number}));
        }
        assert_eq!(server.count("initialize"), 2);
        assert_eq!(*connected.renewals.borrow(), 1);
    }
}

#[tokio::test]
async fn a_stream_that_ends_early_is_taken_up_again() {
    let asked = Arc::new(parking_lot::Mutex::new(Value::Null));
    let server = Server::start(move |seen, mut wire| {
        let asked = asked.clone();
        async move {
            match &*seen.what() {
                "tools/call" => {
                    *asked.lock() = seen.body["id"].clone();
                    wire.begin_events().await;
                    wire.raw(b"id: e1\nretry: 30\ndata: \n\n").await;
                    None
                }
                "GET" if seen.header("last-event-id") == Some("e1") => {
                    wire.begin_events().await;
                    wire.raw(b"id: e2\ndata: \n\n").await;
                    None
                }
                "GET" if seen.header("last-event-id") == Some("e2") => {
                    wire.begin_events().await;
                    let id = asked.lock().clone();
                    wire.event(&json!({"jsonrpc": "2.0", "id": id, "result": {"late": true}})).await;
                    None
                }
                _ => {
                    routine(&seen, &mut wire).await;
                    Some(wire)
                }
            }
        }
    })
    .await;
    let connected = connected(&server, silent()).await;
    let start = std::time::Instant::now();
    assert_eq!(ask(&connected.remote, &json!({})).await.unwrap(), json!({"late": true}));
    assert!(start.elapsed() >= Duration::from_millis(60), "the server's retry time was not kept");
    assert_eq!(server.count("notifications/cancelled"), 0);
}

#[tokio::test]
async fn an_answer_on_the_servers_own_stream_reaches_its_call() {
    let (called, wait) = oneshot::channel::<Value>();
    let (called, wait) =
        (Arc::new(parking_lot::Mutex::new(Some(called))), Arc::new(tokio::sync::Mutex::new(Some(wait))));
    let server = Server::start(move |seen, mut wire| {
        let (called, wait) = (called.clone(), wait.clone());
        async move {
            match &*seen.what() {
                "tools/call" => {
                    wire.begin_events().await;
                    wire.raw(b"id: e1\ndata: \n\n").await;
                    let _ = called.lock().take().unwrap().send(seen.result(&json!({"ok": 1})));
                    // Held open: the answer comes elsewhere.
                    wire.closed().await;
                    None
                }
                "GET" => {
                    wire.begin_events().await;
                    wire.event(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})).await;
                    let answer = wait.lock().await.take().unwrap().await.unwrap();
                    wire.event(&answer).await;
                    wire.closed().await;
                    None
                }
                _ => {
                    routine(&seen, &mut wire).await;
                    Some(wire)
                }
            }
        }
    })
    .await;
    let (keeper, mut kept) = Keeper::new();
    let connected = connected(&server, keeper).await;
    assert_eq!(kept.recv().await.unwrap().0, "notifications/tools/list_changed");
    assert_eq!(ask(&connected.remote, &json!({})).await.unwrap(), json!({"ok": 1}));
}

/// A server that takes calls and never answers them; tells the ids.
async fn mute() -> (Server, mpsc::UnboundedReceiver<Value>) {
    let (ids, seen_ids) = mpsc::unbounded_channel();
    let server = Server::start(move |seen, mut wire| {
        let ids = ids.clone();
        async move {
            if !routine(&seen, &mut wire).await {
                ids.send(seen.body["id"].clone()).unwrap();
                wire.closed().await;
                return None;
            }
            Some(wire)
        }
    })
    .await;
    (server, seen_ids)
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_at_the_server() {
    for way in ["cancel", "drop", "timeout"] {
        let (server, mut ids) = mute().await;
        let connected = connected(&server, silent()).await;
        let mut call = tool_call(&json!({}));
        let cancel = call.cancel.clone();
        if way == "timeout" {
            call.timeout = Duration::from_millis(30);
        }
        let remote = connected.remote.clone();
        let task = tokio::spawn(async move { remote.request(call).await.map(|_| ()) });
        let id = ids.recv().await.unwrap();
        match way {
            "cancel" => {
                cancel.cancel();
                assert!(matches!(task.await.unwrap(), Err(CallError::Cancelled)));
            }
            "drop" => task.abort(),
            _ => assert!(matches!(task.await.unwrap(), Err(CallError::Timeout(_)))),
        }
        let told = server.await_request("notifications/cancelled").await;
        assert_eq!(told.body["params"]["requestId"], id, "{way}");
    }
}

#[tokio::test]
async fn progress_moves_the_deadline_up_to_the_longest_time() {
    let server = Server::start(|seen, mut wire| async move {
        if routine(&seen, &mut wire).await {
            return Some(wire);
        }
        wire.begin_events().await;
        let forever = seen.body["params"]["name"] == "forever";
        let mut ticks = tokio::time::interval(Duration::from_millis(50));
        for _ in 0..if forever { 200 } else { 12 } {
            ticks.tick().await;
            wire.event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": seen.body["id"], "progress": 1}})).await;
        }
        wire.event(&seen.result(&json!({}))).await;
        None
    })
    .await;
    let connected = connected(&server, silent()).await;
    let mut call = tool_call(&json!({"name": "long", "_meta": {"progressToken": 1}}));
    call.timeout = Duration::from_millis(400);
    assert!(connected.remote.request(call).await.is_ok());
    let mut call = tool_call(&json!({"name": "forever", "_meta": {"progressToken": 1}}));
    (call.timeout, call.max_timeout) = (Duration::from_millis(400), Duration::from_millis(700));
    assert!(matches!(connected.remote.request(call).await, Err(CallError::Timeout(_))));
}

#[tokio::test]
async fn answers_that_are_none_are_told_apart() {
    let server = Server::start(|seen, mut wire| async move {
        if routine(&seen, &mut wire).await {
            return Some(wire);
        }
        let headers = "content-type: application/json\r\n";
        match seen.body["params"]["name"].as_str().unwrap() {
            "wrong id" => wire.json(&json!({"jsonrpc": "2.0", "id": 777, "result": {}})).await,
            "text" => wire.answer(200, "content-type: text/plain\r\n", "hello").await,
            "empty" => wire.answer(202, "", "").await,
            "html" => wire.answer(500, "content-type: text/html\r\n", "<b>Broken</b>").await,
            "gateway" => wire.answer(502, "content-type: text/html\r\n", "<b>Bad gateway</b>").await,
            "unauthorized" => wire.answer(401, "www-authenticate: Bearer realm=x\r\n", "").await,
            "error with 500" => {
                wire.answer(500, headers, &seen.error(-32603, "broken", &Value::Null).to_string()).await
            }
            "hang up" => return None,
            "huge" => {
                wire.raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 104857600\r\n\r\n")
                    .await
            }
            other => panic!("{other}"),
        }
        Some(wire)
    })
    .await;
    let connected = connected(&server, silent()).await;
    let ask = async |name: &str| connected.remote.request(tool_call(&json!({"name": name}))).await;
    for (name, words) in [
        ("wrong id", "another call"),
        ("text", "JSON"),
        ("empty", "202"),
        ("html", "HTTP 500: <b>Broken</b>"),
        ("huge", "longer than"),
    ] {
        match ask(name).await {
            Err(CallError::BadAnswer(why)) => assert!(why.contains(words), "{name}: {why}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(matches!(ask("unauthorized").await, Err(CallError::Unauthorized { status: 401, challenge: Some(_) })));
    assert!(matches!(ask("gateway").await, Err(CallError::Gateway(502))));
    assert!(matches!(ask("hang up").await, Err(CallError::Closed)));
    assert_eq!(ask("error with 500").await.unwrap().outcome.unwrap_err().code, -32603);
    assert_eq!(connected.disorder().stray_answers, 1);
}

#[tokio::test]
async fn the_servers_own_stream_is_opened_again_where_it_ended() {
    let first = Arc::new(AtomicBool::new(true));
    let server = Server::start(move |seen, mut wire| {
        let first = first.clone();
        async move {
            if seen.what() != "GET" {
                routine(&seen, &mut wire).await;
                return Some(wire);
            }
            wire.begin_events().await;
            if first.swap(false, Ordering::SeqCst) {
                wire.raw(b"id: a\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/one\"}\n\n").await;
                return None;
            }
            assert_eq!(seen.header("last-event-id"), Some("a"));
            wire.event(&json!({"jsonrpc": "2.0", "method": "notifications/two"})).await;
            wire.closed().await;
            None
        }
    })
    .await;
    let (keeper, mut kept) = Keeper::new();
    let _connected = connected(&server, keeper).await;
    assert_eq!(kept.recv().await.unwrap().0, "notifications/one");
    assert_eq!(kept.recv().await.unwrap().0, "notifications/two");
}

#[tokio::test]
async fn a_web_page_in_place_of_a_server_is_called_one() {
    let server = Server::start(|_, mut wire| async move {
        wire.answer(200, "content-type: text/html\r\n", "\n<!doctype html><p>Welcome</p>").await;
        Some(wire)
    })
    .await;
    let error = connect(http(&server), options(), silent()).await.unwrap_err();
    let said = switchboard_protocol::fault::error_chain(&error);
    assert!(said.contains("a web page"), "{said}");
}

#[tokio::test]
async fn refused_credentials_are_named_at_connect() {
    let server = Server::start(|_, mut wire| async move {
        wire.answer(401, "www-authenticate: Bearer resource_metadata=\"x\"\r\n", "").await;
        Some(wire)
    })
    .await;
    let error = connect(http(&server), options(), silent()).await.unwrap_err();
    assert!(
        matches!(&error, ConnectError::Unauthorized { status: 401, challenge: Some(challenge) } if challenge.contains("resource_metadata")),
        "{error}"
    );
    assert_eq!(server.count("initialize"), 0);
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let server = Server::start(|_, mut wire| async move {
        wire.closed().await;
        None
    })
    .await;
    let mut hasty = options();
    hasty.era = EraChoice::Legacy;
    hasty.start_timeout = Duration::from_millis(100);
    let error = connect(http(&server), hasty, silent()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Timeout { .. }), "{error}");
}
