//! Servers behind a gateway that answers in their place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{ServerPolicy, Sharing};
use switchboard_protocol::Era;
use switchboard_protocol::mgp::ApprovalPolicy;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::world::says;
use crate::gate::world::{House, open_house, tool};

/// A server behind something that speaks HTTP in its place: calls get this status, all else an answer.
async fn behind_a_gateway(status: u16) -> (String, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let (mut got, mut piece) = (Vec::new(), [0; 4096]);
            let body = loop {
                let count = socket.read(&mut piece).await.unwrap_or_default();
                got.extend_from_slice(&piece[..count]);
                let text = String::from_utf8_lossy(&got).to_lowercase();
                let length =
                    text.split_once("content-length: ").and_then(|(_, rest)| rest.lines().next()?.parse().ok());
                let whole = text.split_once("\r\n\r\n").is_some_and(|(_, body)| body.len() >= length.unwrap_or(0usize));
                if whole || count == 0 {
                    break got.windows(4).position(|end| end == b"\r\n\r\n").map(|end| got.split_off(end + 4));
                }
            };
            let said: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
            let result = match said["method"].as_str() {
                Some("initialize") => {
                    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
                    "serverInfo": {"name": "far", "version": "1"}})
                }
                Some("tools/list") => json!({"tools": [tool("work"), tool("delete_item")]}),
                Some("prompts/list") => json!({"prompts": [
                    {"name": "delete_item", "description": "Deletes an item for good.", "arguments": [{"name": "item"}]},
                ]}),
                Some("resources/templates/list") => json!({"resourceTemplates": [
                    {"name": "delete_item", "description": "Deletes an item for good.", "uriTemplate": "trash://{item}/delete"},
                ]}),
                Some("resources/list") => json!({"resources": [
                    {"uri": "trash://all", "name": "empty_trash", "description": "Deletes everything in the trash for good."},
                    {"uri": "trash://hinted", "name": "last", "annotations": {"destructiveHint": true}},
                    {"uri": "notes://one", "name": "one", "description": "A note about deleted items."},
                ]}),
                Some("tools/call" | "prompts/get" | "resources/read") => Value::Null,
                _ => json!({}),
            };
            let (status, body) = match said["method"].as_str() {
                Some("tools/call" | "prompts/get" | "resources/read") => {
                    counted.fetch_add(1, Ordering::SeqCst);
                    (status, "gateway".to_owned())
                }
                Some("server/discover") | None => (405, String::new()),
                Some(method) if method.starts_with("notifications/") => (202, String::new()),
                Some(_) => (200, json!({"jsonrpc": "2.0", "id": said["id"], "result": result}).to_string()),
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let _ = socket.write_all(format!("{head}{body}").as_bytes()).await;
        }
    });
    (url, calls)
}

/// What a gateway gave up is told apart from what it could not reach (MGP 14.3); it is not repeated, since the call may
/// have been carried out.
#[tokio::test]
async fn a_gateway_that_waits_in_vain_is_a_timeout_of_the_server() {
    for (status, code, kind) in
        [(408, 5001, "upstream_timeout"), (504, 5001, "upstream_timeout"), (503, 5002, "upstream_unavailable")]
    {
        let (url, calls) = behind_a_gateway(status).await;
        let house = House::with(&[], ServerPolicy::default, open_house).await;
        house.kernel.apply(vec![crate::world::spec("far", &url, Sharing::Shared)]);
        house.kernel.settled(Duration::from_secs(5)).await;
        for era in [Era::Legacy, Era::Modern] {
            let client = house.client_with(era, "ann", says(era, &["error_handling"])).await;
            let error = client.call("work", json!({})).await.expect_err("a gateway's word");
            let data: Value = error.data.as_ref().expect("data").view().expect("JSON");
            assert_eq!((error.code, &data["kind"]), (code, &json!(kind)), "{status} {era:?}: {error:?}");
            assert_eq!(data["_mgp"]["category"], "external", "{data}");
        }
        if code == 5001 {
            assert_eq!(calls.load(Ordering::SeqCst), 2, "made once each");
        }
    }
}

/// What destroys something and ends with nobody knowing how is not offered as something to do again, be it a tool, a prompt
/// or a resource.
#[tokio::test]
async fn nothing_that_destroys_is_offered_again_when_its_outcome_is_unknown() {
    let (url, calls) = behind_a_gateway(504).await;
    let house = House::with(&[], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.approval_policy = ApprovalPolicy::AutoApprove;
    })
    .await;
    house.kernel.apply(vec![crate::world::spec("far", &url, Sharing::Shared)]);
    house.kernel.settled(Duration::from_secs(5)).await;
    for era in [Era::Legacy, Era::Modern] {
        let client = house.client_with(era, "ann", says(era, &["error_handling"])).await;
        for (method, params) in [
            ("tools/call", json!({"name": "delete_item", "arguments": {}})),
            ("prompts/get", json!({"name": "delete_item", "arguments": {"item": "7"}})),
            ("resources/read", json!({"uri": "trash://7/delete"})),
            ("resources/read", json!({"uri": "trash://all"})),
            ("resources/read", json!({"uri": "far+trash://hinted"})),
        ] {
            let error = client.request(method, params).await.expect_err("a gateway's word");
            let data: Value = error.data.as_ref().expect("data").view().expect("JSON");
            assert_eq!(data["_mgp"]["retryable"], false, "{method} {era:?}: {data}");
            assert_eq!(data["_mgp"].get("retry_after_ms"), None, "{method} {era:?}: {data}");
        }
    }
    assert_eq!(calls.load(Ordering::SeqCst), 10, "each was made once");
    assert_eq!(house.await_events("dev.switchboard.unknown_outcome", 10).await.len(), 10);
    let client = house.client_with(Era::Legacy, "ann", says(Era::Legacy, &["error_handling"])).await;
    let error = client.request("resources/read", json!({"uri": "notes://one"})).await.expect_err("a gateway's word");
    let data: Value = error.data.as_ref().expect("data").view().expect("JSON");
    assert_eq!(data["_mgp"]["retryable"], true, "what is only read can be read again: {data}");
}
