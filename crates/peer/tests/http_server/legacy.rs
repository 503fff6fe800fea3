//! Statuses and sessions of the legacy era.

use serde_json::json;

use crate::client::Ask;
use crate::script::{Seen, Served, call, initialize};

#[tokio::test]
async fn statuses() {
    let served = Served::start().await;
    let session = served.session("2025-11-25").await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"echo"}"#;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let ok = |body: &str| Ask::post(body).in_session(&session);
    let cases: Vec<(&str, Ask, u16, i64)> = vec![
        ("request", ok(ping), 200, 0),
        ("notification", ok(note), 202, 0),
        ("response nobody waits for", ok(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#), 202, 0),
        ("no session", Ask::post(ping), 400, -32600),
        ("unknown session", Ask::post(ping).in_session("nope"), 404, -32600),
        ("old version header", ok(ping).with("MCP-Protocol-Version", "2025-03-26"), 200, 0),
        ("unknown version header", ok(ping).with("MCP-Protocol-Version", "1900-01-01"), 400, -32600),
        ("not JSON", ok("{"), 400, -32700),
        ("no message", ok("{}"), 400, -32600),
        ("no object", ok("3"), 400, -32600),
        ("empty", ok(""), 400, -32700),
        ("batch", ok(&format!("[{ping}]")), 400, -32600),
        ("bad params", ok(r#"{"jsonrpc":"2.0","id":5,"method":"echo","params":[1]}"#), 400, -32600),
        ("unknown method", ok(r#"{"jsonrpc":"2.0","id":5,"method":"nope"}"#), 200, -32601),
        ("wrong type", ok(ping).with("Content-Type", "text/plain"), 415, -32600),
        ("no type", ok(ping).without("Content-Type"), 415, -32600),
        ("type with charset", ok(ping).with("Content-Type", "application/json; charset=utf-8"), 200, 0),
        ("JSON only", ok(ping).with("Accept", "application/json"), 200, 0),
        ("GET without events", Ask::get(&session).with("Accept", "application/json"), 405, 0),
        ("GET without session", Ask::get(&session).without("Mcp-Session-Id"), 400, -32600),
        ("GET unknown session", Ask::get("nope"), 404, -32600),
        ("GET unknown event", Ask::get(&session).with("Last-Event-ID", "77-1"), 400, -32600),
        ("GET no event", Ask::get(&session).with("Last-Event-ID", "x"), 400, -32600),
        ("PUT", Ask::new("PUT", "/mcp"), 405, 0),
        ("DELETE without session", Ask::new("DELETE", "/mcp"), 400, -32600),
        ("DELETE unknown session", Ask::new("DELETE", "/mcp").in_session("nope"), 404, -32600),
        ("other path", Ask::new("GET", "/nothing"), 404, 0),
        ("initialize, unknown header", initialize("2025-11-25").with("MCP-Protocol-Version", "x"), 400, -32022),
    ];
    for (name, ask, status, code) in cases {
        let answer = ask.send(served.address).await;
        assert_eq!((answer.status, answer.code()), (status, code), "{name}: {answer:?}");
    }
}

#[tokio::test]
async fn ids_and_unknown_members_come_back_byte_for_byte() {
    let served = Served::start().await;
    let session = served.session("2025-11-25").await;
    for id in ["9007199254740993", "-1", r#""a\u0062""#, r#""""#, "0"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"echo","params":{{"n":1.10}},"x":[1, 2]}}"#);
        let answer = Ask::post(body).in_session(&session).send(served.address).await;
        assert_eq!(answer.body, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"n":1.10}},"x":[1, 2]}}"#));
    }
    let refused = Ask::post(r#"{"jsonrpc":"2.0","id":"q","method":4}"#).in_session(&session).send(served.address).await;
    assert_eq!((refused.status, refused.json()["id"].clone()), (400, json!("q")));
    // An error without an id leaves it out.
    let refused = Ask::post("nonsense").in_session(&session).send(served.address).await;
    assert!(refused.json().get("id").is_none());
}

#[tokio::test]
async fn the_client_is_known_after_initialize() {
    let served = Served::start().await;
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-03-26", "2025-03-26"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let session = served.session(asked).await;
        let answer = call(&session, "caller").send(served.address).await.json();
        let expected =
            json!({"revision": agreed, "sampling": true, "principal": "local", "lasting": true, "asks": true});
        assert_eq!(answer["result"], expected);
    }
}

#[tokio::test]
async fn a_failed_initialize_opens_nothing() {
    let served = Served::start().await;
    let body =
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"fail":true,"protocolVersion":"2025-11-25"}}"#;
    let answer = Ask::post(body).send(served.address).await;
    assert_eq!((answer.status, answer.code(), answer.header("mcp-session-id")), (200, -32602, None));
    assert_eq!(served.face.session_count(), 0);
}

#[tokio::test]
async fn batches_are_for_2025_03_26_only() {
    let mut served = Served::start().await;
    let session = served.session("2025-03-26").await;
    let batch = r#"[
        {"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}},
        {"jsonrpc":"2.0","method":"notifications/hello"},
        {"jsonrpc":"2.0","id":"two","method":"nope"},
        {"jsonrpc":"2.0","id":3,"method":5},
        {"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}
    ]"#;
    let answer = Ask::post(batch).in_session(&session).send(served.address).await;
    assert_eq!(answer.status, 200);
    let mut answers: Vec<_> = answer.json().as_array().unwrap().clone();
    answers.sort_by_key(|answer| answer["id"].to_string());
    let outcome: Vec<_> = answers.iter().map(|one| (one["id"].clone(), one["error"]["code"].as_i64())).collect();
    let expected = [(json!("two"), Some(-32601)), (json!(1), None), (json!(3), Some(-32600)), (json!(4), Some(-32600))];
    assert_eq!(outcome, expected);
    served.until(Seen::Notified("notifications/hello".to_owned())).await;
    let quiet = Ask::post(r#"[{"jsonrpc":"2.0","method":"notifications/hello"}]"#).in_session(&session);
    assert_eq!(quiet.send(served.address).await.status, 202);
    assert_eq!(Ask::post("[]").in_session(&session).send(served.address).await.status, 400);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let mut options = crate::script::quick();
    options.limits.bytes = 1000;
    let served = Served::with(options, |access| access).await;
    let session = served.session("2025-11-25").await;
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"echo","params":{{"x":"{}"}}}}"#, "y".repeat(2000));
    let answer = Ask::post(body).in_session(&session).send(served.address).await;
    assert_eq!((answer.status, answer.code()), (413, -32600));
}
