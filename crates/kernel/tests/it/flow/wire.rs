//! The same over loopback HTTP, in every pair of eras: pieces on the stream of the answer, and a connection that breaks.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{Kernel, Sharing};
use switchboard_peer::Call;
use switchboard_protocol::Era;

use super::world::{Streamer, says};
use crate::gate::world::raw;
use crate::world::{Client, PAIRS, client_with, open_to_all, serve, spec};

async fn world(era: Era) -> (Arc<Streamer>, Kernel, String) {
    let server = Streamer::new(era, true);
    let upstream = serve(server.clone()).await;
    let kernel = Kernel::new(open_to_all());
    kernel.apply(vec![spec("s", &upstream, Sharing::Shared)]);
    kernel.settled(Duration::from_secs(5)).await;
    let url = serve(Arc::new(kernel.clone())).await;
    (server, kernel, url)
}

async fn hear(client: &mut Client, method: &str) -> Value {
    client.hear(method).await.params.expect("params").view().expect("JSON")
}

#[tokio::test]
async fn pieces_come_before_the_answer() {
    for (mine, theirs) in PAIRS {
        let (_server, _kernel, url) = world(theirs).await;
        let capabilities = says(mine, &["streaming"]).to_string();
        let mut client = client_with(&url, mine, &capabilities).await;
        let params = json!({"name": "think", "arguments": {}, "_mgp": {"stream": true}});
        let result: Value = client.once("tools/call", raw(&params)).await.expect("a result").view().expect("JSON");
        assert_eq!(result["_mgp"]["chunks_sent"], 2, "{mine:?} {theirs:?}");
        for (index, text) in ["Quantum computing is", " a paradigm"].into_iter().enumerate() {
            let chunk = hear(&mut client, "notifications/mgp.stream.chunk").await;
            assert_eq!((&chunk["index"], &chunk["content"]["text"]), (&json!(index), &json!(text)));
        }
    }
}

#[tokio::test]
async fn an_operation_goes_on_over_another_connection() {
    let (server, _kernel, url) = world(Era::Legacy).await;
    let mut first = client_with(&url, Era::Modern, r#"{"extensions":{"streaming":{}}}"#).await;
    let remote = first.connected.remote.clone();
    let running = tokio::spawn(async move {
        let params = raw(&json!({"name": "steps", "arguments": {}}));
        remote.request(Call::new("tools/call", Some(params))).await
    });
    server.step.add_permits(1);
    let piece = hear(&mut first, "notifications/stream_chunk").await;
    // The client goes in the middle, and with it its connection.
    running.abort();
    let _ = running.await;
    first.connected.stop().await;
    server.step.add_permits(3);
    let mut second = client_with(&url, Era::Modern, r#"{"extensions":{"streaming":{}}}"#).await;
    let params = json!({"operation_id": piece["operation_id"], "checkpoint_token": piece["checkpoint_token"]});
    let result: Value = second.once("operations/resume", raw(&params)).await.expect("a result").view().expect("JSON");
    assert_eq!(result["content"][0]["text"], "<0><1><2><3>");
    for sequence in 1..4 {
        assert_eq!(hear(&mut second, "notifications/stream_chunk").await["sequence"], sequence);
    }
    assert_eq!(server.heard("tools/call").len(), 1, "it ran once");
}

#[tokio::test]
async fn a_callback_comes_on_the_stream_of_its_call() {
    for (mine, theirs) in PAIRS {
        let (_server, _kernel, url) = world(theirs).await;
        let mut client = client_with(&url, mine, &says(mine, &["callbacks"]).to_string()).await;
        let question = json!({"callback_id": "cb-1", "type": "input", "message": "Which?"});
        let remote = client.connected.remote.clone();
        let running = tokio::spawn(async move {
            let params = raw(&json!({"name": "asks", "arguments": {"question": question}}));
            remote.request(Call::new("tools/call", Some(params))).await
        });
        let asked = hear(&mut client, "notifications/mgp.callback.request").await;
        let answer = json!({"callback_id": asked["callback_id"], "response": "blue"});
        client.once("mgp/callback/respond", raw(&answer)).await.expect("taken");
        let reply = running.await.expect("no panic").expect("an answer").outcome.expect("a result");
        let result: Value = reply.view().expect("JSON");
        assert_eq!(result["answered"]["response"], "blue", "{mine:?} {theirs:?}");
    }
}
