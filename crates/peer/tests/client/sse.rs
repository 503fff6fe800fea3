//! HTTP+SSE, the transport of 2024-11-05.

use std::sync::Arc;

use serde_json::json;
use switchboard_peer::CallError;
use switchboard_peer::client::{ConnectError, Target, connect};
use switchboard_protocol::Revision;
use tokio::sync::mpsc;

use crate::script::{Keeper, Server, ask, options, silent};

/// An old server: a stream at `/mcp`, messages at `/messages`.
async fn old(endpoint: &'static str) -> Server {
    let (say, said) = mpsc::unbounded_channel::<String>();
    let said = Arc::new(tokio::sync::Mutex::new(Some(said)));
    Server::start(move |seen, mut wire| {
        let (say, said) = (say.clone(), said.clone());
        async move {
            if seen.verb == "GET" {
                wire.begin_events().await;
                wire.raw(format!("event: endpoint\ndata: {endpoint}\n\n").as_bytes()).await;
                let mut said = said.lock().await.take().unwrap();
                while let Some(text) = said.recv().await {
                    if text == "end" {
                        return None;
                    }
                    wire.raw(format!("event: message\ndata: {text}\n\n").as_bytes()).await;
                }
                return None;
            }
            if seen.path != "/messages?s=1" {
                wire.answer(405, "", "").await;
                return Some(wire);
            }
            wire.answer(202, "", "").await;
            match &*seen.what() {
                "initialize" => {
                    let result = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {}});
                    say.send(seen.result(&result).to_string()).unwrap();
                    say.send(json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}).to_string())
                        .unwrap();
                }
                "tools/call" if seen.body["params"]["name"] == "end" => say.send("end".to_owned()).unwrap(),
                "tools/call" => say.send(seen.result(&json!({"old": true})).to_string()).unwrap(),
                _ => {}
            }
            Some(wire)
        }
    })
    .await
}

#[tokio::test]
async fn an_old_server_is_found_when_posting_fails_and_when_it_is_named() {
    for named in [false, true] {
        let server = old("/messages?s=1").await;
        let (url, headers) = (server.url.clone(), Vec::new());
        let target = if named { Target::Sse { url, headers } } else { Target::Http { url, headers } };
        let (keeper, mut kept) = Keeper::new();
        let connected = connect(target, options(), keeper).await.unwrap();
        assert_eq!(connected.revision, Revision::V2024_11_05);
        assert_eq!(ask(&connected.remote, &json!({})).await.unwrap(), json!({"old": true}));
        assert_eq!(kept.recv().await.unwrap().0, "notifications/message");
        assert!(matches!(ask(&connected.remote, &json!({"name": "end"})).await, Err(CallError::Closed)));
        connected.closed.cancelled().await;
        assert_eq!(server.count("server/discover"), usize::from(!named));
    }
}

#[tokio::test]
async fn an_endpoint_elsewhere_is_refused() {
    let server = old("http://127.0.0.1:9/steal").await;
    let target = Target::Sse { url: server.url.clone(), headers: Vec::new() };
    let error = connect(target, options(), silent()).await.unwrap_err();
    assert!(matches!(error, ConnectError::Http(_)) && error.to_string().contains("origin"), "{error}");
}
