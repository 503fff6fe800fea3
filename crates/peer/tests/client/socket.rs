//! Servers that listen on a Unix socket.
#![cfg(unix)]

use std::path::Path;

use serde_json::{Value, json};
use switchboard_peer::client::{ConnectError, Target, connect};
use switchboard_protocol::Era;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};

use crate::script::{ask, options, silent};

/// Answers each line of a connection until `answer` hangs up.
async fn serve(stream: UnixStream, answer: fn(&str) -> Option<Value>) {
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let Some(id) = message.get("id") else { continue };
        let Some(outcome) = answer(message["method"].as_str().unwrap()) else { return };
        let mut reply = json!({"jsonrpc": "2.0", "id": id});
        reply.as_object_mut().unwrap().extend(outcome.as_object().unwrap().clone());
        let _ = writer.write_all(format!("{reply}\n").as_bytes()).await;
    }
}

fn listen(path: &Path, answer: fn(&str) -> Option<Value>) {
    let listener = UnixListener::bind(path).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, answer));
        }
    });
}

#[tokio::test]
async fn a_server_on_a_socket_is_asked_in_either_era() {
    let legacy: fn(&str) -> Option<Value> = |method| match method {
        "server/discover" => Some(json!({"error": {"code": -32601, "message": "no"}})),
        "initialize" => {
            Some(json!({"result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s"}}}))
        }
        _ => Some(json!({"result": {"by": "legacy"}})),
    };
    let modern: fn(&str) -> Option<Value> = |method| match method {
        "server/discover" => Some(json!({"result": {"supportedVersions": ["2026-07-28"], "capabilities": {}}})),
        "initialize" => None,
        _ => Some(json!({"result": {"by": "modern"}})),
    };
    // It hangs up at what it does not know.
    let touchy: fn(&str) -> Option<Value> = |method| match method {
        "server/discover" => None,
        "initialize" => {
            Some(json!({"result": {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s"}}}))
        }
        _ => Some(json!({"result": {"by": "touchy"}})),
    };
    for (name, answer, era) in
        [("legacy", legacy, Era::Legacy), ("modern", modern, Era::Modern), ("touchy", touchy, Era::Legacy)]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        listen(&path, answer);
        for address in [format!("unix:{}", path.display()), format!("unix://{}", path.display())] {
            let connected = connect(Target::Address(address), options(), silent()).await.unwrap();
            assert_eq!(connected.era(), era, "{name}");
            assert_eq!(ask(&connected.remote, &json!({})).await.unwrap()["by"], name);
            connected.stop().await;
            assert!(connected.closed.is_cancelled());
        }
    }
}

#[tokio::test]
async fn an_address_that_leads_nowhere_says_why() {
    for (address, said) in [
        ("unix:/nonexistent/mcp.sock", "nothing answers at the socket /nonexistent/mcp.sock"),
        ("carrier-pigeon:/roof", "nothing on this system connects to addresses with `carrier-pigeon:`"),
    ] {
        let error = connect(Target::Address(address.to_owned()), options(), silent()).await.unwrap_err();
        assert!(matches!(error, ConnectError::Nowhere(_)) && error.to_string().contains(said), "{error}");
    }
}
