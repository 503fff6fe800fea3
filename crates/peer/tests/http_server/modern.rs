//! Statuses, headers and streams of the modern era.

use serde_json::json;

use crate::client::{Ask, MODERN};
use crate::script::{Seen, Served};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn with_meta(meta: &serde_json::Value) -> String {
    json!({"jsonrpc": "2.0", "id": 7, "method": "echo", "params": {"_meta": meta}}).to_string()
}

#[tokio::test]
async fn statuses() {
    let served = Served::start().await;
    let echo = || Ask::modern("echo", json!({}));
    let tool = || Ask::modern("tools/call", json!({"name": "t"}));
    let cases: Vec<(&str, Ask, u16, i64)> = vec![
        ("request", echo(), 200, 0),
        ("tool", tool(), 200, 0),
        ("resource", Ask::modern("resources/read", json!({"uri": "file:///x"})), 200, 0),
        ("session id is ignored", echo().in_session("nope"), 200, 0),
        ("no _meta", echo().body(r#"{"jsonrpc":"2.0","id":7,"method":"echo","params":{}}"#), 400, -32602),
        ("no params", echo().body(r#"{"jsonrpc":"2.0","id":7,"method":"echo"}"#), 400, -32602),
        ("no version in _meta", echo().body(with_meta(&json!({CAPABILITIES: {}}))), 400, -32602),
        ("no capabilities", echo().body(with_meta(&json!({VERSION: MODERN}))), 400, -32602),
        ("capabilities no object", echo().body(with_meta(&json!({VERSION: MODERN, CAPABILITIES: 1}))), 400, -32602),
        ("no version header", echo().without("MCP-Protocol-Version"), 400, -32020),
        ("other version header", echo().with("MCP-Protocol-Version", "2025-11-25"), 400, -32020),
        ("other version in body", echo().body(with_meta(&json!({VERSION: "v9", CAPABILITIES: {}}))), 400, -32020),
        ("version header twice", echo().also("MCP-Protocol-Version", "2025-11-25"), 400, -32020),
        ("no method header", echo().without("Mcp-Method"), 400, -32020),
        ("other method header", echo().with("Mcp-Method", "ECHO"), 400, -32020),
        ("method header twice", echo().also("Mcp-Method", "echo"), 400, -32020),
        ("no name header", tool().without("Mcp-Name"), 400, -32020),
        ("other name header", tool().with("Mcp-Name", "u"), 400, -32020),
        ("encoded name header", tool().with("Mcp-Name", "=?base64?dA==?="), 200, 0),
        ("badly encoded name header", tool().with("Mcp-Name", "=?base64?!?="), 400, -32020),
        ("padded name header", tool().with("Mcp-Name", "  t  "), 200, 0),
        ("unknown method", Ask::modern("nope", json!({})), 404, -32601),
        ("initialize", Ask::modern("initialize", json!({})), 404, -32601),
        ("missing capability", Ask::modern("missing-capability", json!({})), 400, -32021),
        ("ordinary error", Ask::modern("invalid", json!({})), 200, -32602),
        ("response", echo().body(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), 400, -32600),
        ("batch", echo().body(r#"[{"jsonrpc":"2.0","id":1,"method":"echo"}]"#), 400, -32600),
        ("notification", echo().body(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#), 202, 0),
        ("not JSON", echo().body("{"), 400, -32700),
        ("GET", Ask::new("GET", "/mcp").with("MCP-Protocol-Version", MODERN), 405, 0),
        ("DELETE", Ask::new("DELETE", "/mcp").with("MCP-Protocol-Version", MODERN), 405, 0),
        (
            "listen without events",
            Ask::modern("subscriptions/listen", json!({})).with("Accept", "application/json"),
            406,
            -32600,
        ),
    ];
    for (name, ask, status, code) in cases {
        let answer = ask.send(served.address).await;
        assert_eq!((answer.status, answer.code()), (status, code), "{name}: {answer:?}");
        if answer.status >= 400 && code != 0 && !["response", "batch", "not JSON"].contains(&name) {
            assert_eq!(answer.json()["id"], 7, "{name}");
        }
        assert_eq!(answer.header("mcp-session-id"), None);
    }
    assert_eq!(served.face.session_count(), 0);
}

#[tokio::test]
async fn an_unknown_revision_is_told_which_are_known() {
    let served = Served::start().await;
    for body in
        [with_meta(&json!({VERSION: "v999", CAPABILITIES: {}})), r#"{"jsonrpc":"2.0","id":7,"method":"x"}"#.to_owned()]
    {
        let ask = Ask::modern("echo", json!({})).with("MCP-Protocol-Version", "v999").body(body);
        let answer = ask.send(served.address).await;
        assert_eq!((answer.status, answer.code()), (400, -32022));
        assert_eq!(answer.json()["error"]["data"], json!({"supported": [MODERN], "requested": "v999"}));
    }
}

#[tokio::test]
async fn each_request_is_its_own_session() {
    let served = Served::start().await;
    let answer = Ask::modern("caller", json!({})).send(served.address).await.json();
    let expected =
        json!({"revision": MODERN, "sampling": false, "principal": "local", "lasting": false, "asks": false});
    assert_eq!(answer["result"], expected);
    let asked = Ask::modern("ask", json!({})).send(served.address).await.json();
    assert_eq!(asked["error"]["message"], "the far side takes no requests");
}

#[tokio::test]
async fn notifications_turn_the_answer_into_a_stream_without_ids() {
    let served = Served::start().await;
    let mut answer = Ask::modern("progress", json!({})).open(served.address).await;
    assert!(answer.is_stream());
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    for number in [1, 2] {
        let event = answer.event().await.unwrap();
        assert_eq!((event.id.as_deref(), event.retry), (None, None));
        let message: serde_json::Value = serde_json::from_slice(&event.data).unwrap();
        assert_eq!(message["params"]["progress"], number);
    }
    assert_eq!(answer.message().await["result"], json!({"done": true}));
    assert!(answer.event().await.is_none());
}

#[tokio::test]
async fn a_client_that_takes_json_only_gets_json() {
    let served = Served::start().await;
    let mut served = served;
    let ask = Ask::modern("quiet-gate", json!({})).with("Accept", "application/json");
    let asking = tokio::spawn({
        let address = served.address;
        async move { ask.send(address).await }
    });
    served.until(Seen::Started("quiet-gate".to_owned())).await;
    served.script.gate.notify_one();
    assert_eq!(asking.await.unwrap().json()["result"], json!({"open": true}));
}

#[tokio::test]
async fn closing_the_connection_cancels() {
    let mut served = Served::start().await;
    // Before the answer became a stream, and after.
    for method in ["quiet-gate", "gate"] {
        let socket = Ask::modern(method, json!({})).send_only(served.address).await;
        served.until(Seen::Started(method.to_owned())).await;
        drop(socket);
        assert_eq!(served.next_seen().await, Seen::Cancelled(method.to_owned()));
        assert_eq!(served.next_seen().await, Seen::Dropped(method.to_owned()));
    }
}

#[tokio::test]
async fn listen_is_a_long_stream() {
    let mut served = Served::start().await;
    let mut stream = Ask::modern("subscriptions/listen", json!({})).open(served.address).await;
    assert!(stream.is_stream());
    assert_eq!(stream.message().await["method"], "notifications/subscriptions/acknowledged");
    for _ in 0..3 {
        served.script.gate.notify_one();
        assert_eq!(stream.message().await["params"]["progress"], 9);
    }
    drop(stream);
    served.until(Seen::Dropped("subscriptions/listen".to_owned())).await;
}

#[tokio::test]
async fn shutdown_ends_listen_with_an_answer() {
    let mut served = Served::start().await;
    let mut stream = Ask::modern("subscriptions/listen", json!({})).open(served.address).await;
    stream.message().await;
    served.options.shutdown.cancel();
    assert_eq!(stream.message().await["result"], json!({"resultType": "complete"}));
    assert!(stream.event().await.is_none());
    crate::client::within(&mut served.serving).await.unwrap();
}
