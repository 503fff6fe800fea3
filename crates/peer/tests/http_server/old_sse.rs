//! HTTP+SSE of 2024-11-05.

use serde_json::json;

use crate::client::{Answer, Ask};
use crate::script::{Seen, Served, progress};

async fn open(served: &Served) -> (Answer, String) {
    let mut stream = Ask::new("GET", "/sse").with("Accept", "text/event-stream").open(served.address).await;
    assert!(stream.is_stream());
    let endpoint = stream.event().await.unwrap();
    assert_eq!(endpoint.event.as_deref(), Some("endpoint"));
    let path = String::from_utf8(endpoint.data.to_vec()).unwrap();
    assert!(path.starts_with("/messages?session="), "{path}");
    (stream, path)
}

fn post(path: &str, body: &str) -> Ask {
    Ask::new("POST", path).with("Content-Type", "application/json").body(body)
}

#[tokio::test]
async fn everything_travels_on_one_stream() {
    let mut served = Served::start().await;
    let (mut stream, path) = open(&served).await;
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{"sampling":{}}}}"#;
    assert_eq!(post(&path, initialize).send(served.address).await.status, 202);
    assert_eq!(stream.message().await["result"]["protocolVersion"], "2024-11-05");
    let Seen::Opened(id) = served.next_seen().await else { panic!("not opened") };
    post(&path, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).send(served.address).await;
    served.until(Seen::Notified("notifications/initialized".to_owned())).await;
    post(&path, r#"{"jsonrpc":"2.0","id":"a","method":"progress"}"#).send(served.address).await;
    for number in [1, 2] {
        let event = stream.event().await.unwrap();
        assert_eq!(event.id, None);
        let message: serde_json::Value = serde_json::from_slice(&event.data).unwrap();
        assert_eq!(message["params"]["progress"], number);
    }
    assert_eq!(stream.message().await, json!({"jsonrpc": "2.0", "id": "a", "result": {"done": true}}));
    served.last_session().remote().notify(progress(5)).unwrap();
    assert_eq!(stream.message().await["params"]["progress"], 5);
    post(&path, r#"{"jsonrpc":"2.0","id":2,"method":"ask"}"#).send(served.address).await;
    let asked = stream.message().await;
    let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"r": 1}});
    post(&path, &reply.to_string()).send(served.address).await;
    assert_eq!(stream.message().await, json!({"jsonrpc": "2.0", "id": 2, "result": {"r": 1}}));
    // The session ends with its stream.
    drop(stream);
    served.until(Seen::Closed(id)).await;
    assert_eq!(post(&path, initialize).send(served.address).await.status, 404);
    assert_eq!(served.face.session_count(), 0);
}

#[tokio::test]
async fn statuses() {
    let served = Served::start().await;
    let (_stream, path) = open(&served).await;
    let echo = r#"{"jsonrpc":"2.0","id":0,"method":"echo"}"#;
    for (name, ask, status) in [
        ("request", post(&path, echo), 202),
        ("no session", post("/messages", echo), 400),
        ("unknown session", post("/messages?session=nope", echo), 404),
        ("batch", post(&path, &format!("[{echo}]")), 400),
        ("not JSON", post(&path, "{"), 400),
        ("GET", Ask::new("GET", &path), 405),
        ("POST to the stream", post("/sse", echo), 405),
    ] {
        assert_eq!(ask.send(served.address).await.status, status, "{name}");
    }
}

/// All answers of this revision go into one stream: before it ends, each request that runs has one.
#[tokio::test]
async fn requests_whose_token_is_taken_back_are_answered_with_errors() {
    use switchboard_peer::{Identity, Method, Principal};

    let identity = Identity::new("ann", Method::Token);
    let ended = identity.ended.clone();
    let ann = Principal::from(identity);
    let mut served =
        Served::with(crate::script::quick(), |access| access.authenticated(move |_| Some(ann.clone()))).await;
    let (mut stream, path) = open(&served).await;
    let initialize =
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{}}}"#;
    post(&path, initialize).send(served.address).await;
    stream.message().await;
    for id in ["1", "\"two\""] {
        let gate = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"quiet-gate"}}"#);
        post(&path, &gate).send(served.address).await;
        served.until(Seen::Started("quiet-gate".to_owned())).await;
    }
    ended.cancel();
    let mut refused = Vec::new();
    while let Some(event) = stream.event().await {
        let message: serde_json::Value = serde_json::from_slice(&event.data).unwrap();
        assert_eq!(message["error"]["data"]["kind"], "auth_expired", "{message}");
        refused.push(message["id"].to_string());
    }
    refused.sort();
    assert_eq!(refused, ["\"two\"", "1"]);
}
