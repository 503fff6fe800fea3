//! Requests and answers over HTTP, both eras at one address.

use switchboard_sdk::HttpOptions;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;

/// One POST on a connection of its own: the status, the head and the JSON of the answer.
async fn post(address: std::net::SocketAddr, headers: &[(&str, &str)], body: &Value) -> (u16, String, Value) {
    let body = body.to_string();
    let mut text = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(format!("{text}\r\n{body}").as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let json = body.split(['\n', '\r']).find(|line| line.starts_with('{')).unwrap_or("null");
    (status, head.to_ascii_lowercase(), serde_json::from_str(json).expect("JSON"))
}

#[tokio::test]
async fn both_eras_at_one_address() {
    let server = server();
    let bound = server.clone().bind_http(([127, 0, 0, 1], 0).into(), HttpOptions::default()).await.expect("bound");
    let address = bound.address();
    assert_eq!(bound.url(), format!("http://{address}/mcp"));
    let serving = tokio::spawn(bound.run());

    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let (status, head, answer) = post(address, &[], &request(1, "initialize", &hello)).await;
    assert_eq!((status, &answer["result"]["serverInfo"]["name"]), (200, &json!("greeter")));
    let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session").to_owned();
    let legacy = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    let (_, _, answer) = post(address, &legacy, &request(2, "resources/read", &json!({"uri": "x://a"}))).await;
    assert_eq!(answer["result"]["contents"][0]["text"], "a");

    let call = request(3, "tools/call", &modern(json!({"name": "greet", "arguments": {"name": "Ada"}})));
    let standard = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "greet")];
    for (param, expected) in [(Some("Ada"), 200), (Some("=?base64?QWRh?="), 200), (Some("Eve"), 400), (None, 400)] {
        let mut headers = standard.to_vec();
        headers.extend(param.map(|param| ("Mcp-Param-Name", param)));
        let (status, _, answer) = post(address, &headers, &call).await;
        assert_eq!(status, expected, "{param:?}");
        if expected == 200 {
            assert_eq!(answer["result"]["content"][0]["text"], "Hello, Ada!");
        } else {
            assert_eq!(answer["error"]["code"], -32020);
        }
    }
    server.shutdown();
    serving.await.expect("it ended");
}
