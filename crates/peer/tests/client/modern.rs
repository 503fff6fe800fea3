//! Streamable HTTP of the modern era.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use switchboard_peer::CallError;
use switchboard_peer::client::{ConnectError, EraChoice, Target, connect};
use switchboard_protocol::Revision;
use tokio::sync::mpsc;

use crate::script::{Keeper, Seen, Server, Wire, ask, options, silent, tool_call};

const META: &str = "io.modelcontextprotocol/protocolVersion";

fn http(server: &Server) -> Target {
    Target::Http { url: server.url.clone(), headers: Vec::new() }
}

fn discovered(seen: &Seen, versions: &[&str]) -> Value {
    seen.result(&json!({
        "resultType": "complete", "supportedVersions": versions, "capabilities": {"tools": {}}, "ttlMs": 0,
        "cacheScope": "private", "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "m"}}
    }))
}

async fn modern(seen: &Seen, wire: &mut Wire) -> bool {
    if seen.what() == "server/discover" {
        wire.json(&discovered(seen, &["2026-07-28"])).await;
        return true;
    }
    false
}

#[tokio::test]
async fn modern_requests_carry_their_metadata_in_headers_and_body() {
    let server = Server::start(|seen, mut wire| async move {
        if !modern(&seen, &mut wire).await {
            wire.json(&seen.result(&seen.body["params"])).await;
        }
        Some(wire)
    })
    .await;
    let connected = connect(http(&server), options(), silent()).await.unwrap();
    assert_eq!(connected.revision, Revision::V2026_07_28);
    assert_eq!(connected.server.info.as_ref().unwrap().as_str(), r#"{"name":"m"}"#);
    let mut call = tool_call(&json!({"name": "grüße", "arguments": {"a": 1.10}}));
    call.headers.push(("Mcp-Param-Region".into(), "eu".into()));
    let result: Value = connected.remote.request(call).await.unwrap().outcome.unwrap().view().unwrap();
    assert_eq!(result["arguments"], json!({"a": 1.10}));

    let seen = server.find("tools/call");
    assert_eq!(seen.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(seen.header("mcp-method"), Some("tools/call"));
    assert_eq!(seen.header("mcp-name"), Some("=?base64?Z3LDvMOfZQ==?="));
    assert_eq!(seen.header("mcp-param-region"), Some("eu"));
    assert_eq!(seen.header("mcp-session-id"), None);
    let meta = &seen.body["params"]["_meta"];
    assert_eq!(meta[META], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "us");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({"roots": {}}));
    connected.stop().await;
    // No handshake, no stream of its own, no session to delete.
    assert_eq!(server.whats(), ["server/discover", "tools/call"]);
}

#[tokio::test]
async fn a_server_that_answered_discover_is_never_initialized() {
    type Answer = fn(&Seen) -> (u16, Value);
    let cases: [Answer; 4] = [
        |seen| (200, discovered(seen, &["2025-11-25"])),
        |seen| (200, discovered(seen, &["2031-01-01"])),
        |seen| (400, seen.error(-32022, "no", &json!({"supported": ["2031-01-01"], "requested": "2026-07-28"}))),
        |seen| (400, seen.error(-32021, "no", &json!({"requiredCapabilities": {"x": {}}}))),
    ];
    for answer in cases {
        let server = Server::start(move |seen, mut wire| async move {
            let (status, body) = answer(&seen);
            wire.answer(status, "content-type: application/json\r\n", &body.to_string()).await;
            Some(wire)
        })
        .await;
        let error = connect(http(&server), options(), silent()).await.unwrap_err();
        assert!(matches!(error, ConnectError::NoCommonRevision { .. } | ConnectError::Refused { .. }), "{error}");
        assert_eq!(server.whats(), ["server/discover"]);
    }
}

#[tokio::test]
async fn a_rejected_version_is_tried_again_where_the_server_names_it() {
    let first = Arc::new(AtomicBool::new(true));
    let server = Server::start(move |seen, mut wire| {
        let first = first.clone();
        async move {
            if first.swap(false, Ordering::SeqCst) {
                let error = seen.error(-32022, "no", &json!({"supported": ["2026-07-28"], "requested": "x"}));
                wire.answer(400, "content-type: application/json\r\n", &error.to_string()).await;
            } else {
                modern(&seen, &mut wire).await;
            }
            Some(wire)
        }
    })
    .await;
    connect(http(&server), options(), silent()).await.unwrap();
    assert_eq!(server.count("server/discover"), 2);
}

#[tokio::test]
async fn errors_with_a_status_are_answers() {
    let server = Server::start(|seen, mut wire| async move {
        if !modern(&seen, &mut wire).await {
            let error = seen.error(-32601, "Method not found", &json!({"x": 1}));
            wire.answer(404, "content-type: application/json\r\n", &error.to_string()).await;
        }
        Some(wire)
    })
    .await;
    let connected = connect(http(&server), options(), silent()).await.unwrap();
    let error = connected.remote.request(tool_call(&json!({}))).await.unwrap().outcome.unwrap_err();
    assert_eq!((error.code, error.data.unwrap().as_str()), (-32601, r#"{"x":1}"#));
    assert_eq!(server.count("initialize"), 0);
}

#[tokio::test]
async fn giving_a_call_up_ends_its_stream_and_sends_nothing() {
    let (closed, mut seen_closed) = mpsc::unbounded_channel();
    let server = Server::start(move |seen, mut wire| {
        let closed = closed.clone();
        async move {
            if modern(&seen, &mut wire).await {
                return Some(wire);
            }
            if seen.body["params"]["name"] == "stream" {
                wire.begin_events().await;
                wire.event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})).await;
            }
            closed.send("open").unwrap();
            wire.closed().await;
            closed.send("closed").unwrap();
            None
        }
    })
    .await;
    let connected = connect(http(&server), options(), silent()).await.unwrap();
    for name in ["stream", "plain"] {
        let (related, mut kept) = Keeper::new();
        let mut call = tool_call(&json!({"name": name}));
        call.related = Some(related);
        let cancel = call.cancel.clone();
        let remote = connected.remote.clone();
        let task = tokio::spawn(async move { remote.request(call).await.map(|_| ()) });
        assert_eq!(seen_closed.recv().await, Some("open"));
        if name == "stream" {
            assert_eq!(kept.recv().await.unwrap().0, "notifications/message");
        }
        cancel.cancel();
        assert!(matches!(task.await.unwrap(), Err(CallError::Cancelled)));
        assert_eq!(seen_closed.recv().await, Some("closed"));
    }
    assert_eq!(server.whats(), ["server/discover", "tools/call", "tools/call"]);
}

#[tokio::test]
async fn a_broken_stream_is_not_taken_up_again() {
    let server = Server::start(|seen, mut wire| async move {
        if modern(&seen, &mut wire).await {
            return Some(wire);
        }
        wire.begin_events().await;
        wire.raw(b"id: e1\nretry: 1\ndata: \n\n").await;
        None
    })
    .await;
    let connected = connect(http(&server), options(), silent()).await.unwrap();
    assert!(matches!(ask(&connected.remote, &json!({})).await, Err(CallError::Closed)));
    assert_eq!(server.count("GET"), 0);
}

#[tokio::test]
async fn a_request_of_a_modern_server_is_not_answered() {
    let server = Server::start(|seen, mut wire| async move {
        if modern(&seen, &mut wire).await {
            return Some(wire);
        }
        wire.begin_events().await;
        wire.event(&json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}})).await;
        wire.event(&seen.result(&json!({}))).await;
        None
    })
    .await;
    let (keeper, mut kept) = Keeper::new();
    let connected = connect(http(&server), options(), keeper).await.unwrap();
    ask(&connected.remote, &json!({})).await.unwrap();
    assert!(kept.try_recv().is_err());
    assert_eq!(server.whats(), ["server/discover", "tools/call"]);
}

#[tokio::test]
async fn a_legacy_server_is_refused_where_only_modern_is_allowed() {
    let server = Server::start(|_, mut wire| async move {
        wire.answer(400, "", "").await;
        Some(wire)
    })
    .await;
    let mut strict = options();
    strict.era = EraChoice::Modern;
    assert!(connect(http(&server), strict, silent()).await.is_err());
    assert_eq!(server.whats(), ["server/discover"]);
}
