//! Streams through the kernel: the same server seen by clients of all dialects.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::ServerPolicy;
use switchboard_peer::{Identity, Method};
use switchboard_protocol::Era;

use super::world::{Streamer, kernel, says, store};
use crate::gate::world::{Client, ERAS, Script, open_house, spec, tool, until};

const CHUNK: &str = "notifications/mgp.stream.chunk";
const PROGRESS: &str = "notifications/mgp.stream.progress";

async fn client(kernel: &switchboard_kernel::Kernel, era: Era, capabilities: Value) -> Client {
    Client::new(kernel, Identity::new("ann", Method::Token).into(), era, capabilities).await
}

fn streamed(name: &str) -> Value {
    json!({"name": name, "arguments": {}, "_mgp": {"stream": true}})
}

fn texts(chunks: &[Value]) -> Vec<(u64, String)> {
    let text = |chunk: &Value| chunk["content"]["text"].as_str().expect("text").to_owned();
    chunks.iter().map(|chunk| (chunk["index"].as_u64().expect("index"), text(chunk))).collect()
}

#[tokio::test]
async fn pieces_reach_the_client_under_its_own_id_in_every_pair_of_eras() {
    for (mine, theirs) in ERAS.into_iter().flat_map(|mine| ERAS.map(|theirs| (mine, theirs))) {
        let server = Streamer::new(theirs, true);
        let kernel = kernel(&server, None).await;
        let client = client(&kernel, mine, says(mine, &["streaming"])).await;
        let result = client.send_as(20, "tools/call", streamed("think")).await.expect("a result");
        let chunks = client.told(CHUNK);
        let expected = [(0, "Quantum computing is".to_owned()), (1, " a paradigm".to_owned())];
        assert_eq!(texts(&chunks), expected, "{mine:?} {theirs:?}");
        assert!(chunks.iter().all(|chunk| chunk["request_id"] == 20 && chunk["done"] == false && chunk["x"] == 1));
        assert_eq!(result["content"][0]["text"], "Quantum computing is a paradigm");
        assert_eq!((&result["_mgp"]["streamed"], &result["_mgp"]["chunks_sent"]), (&json!(true), &json!(2)));
        assert_eq!(server.heard("tools/call")[0]["_mgp"]["stream"], true);
    }
}

#[tokio::test]
async fn a_tool_whose_result_came_in_pieces_has_its_page_open() {
    let (server, other) = (Streamer::new(Era::Legacy, true), Script::new(Era::Legacy, vec![tool("x")]));
    let kernel = kernel(&server, None).await;
    let specs = [spec("s", server.clone(), ServerPolicy::default()), spec("other", other, ServerPolicy::default())];
    kernel.apply(specs.into());
    kernel.settled(Duration::from_secs(5)).await;
    let client = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    assert!(client.send_as(1, "tools/call", streamed("polls")).await.is_err(), "no page is open yet");
    let shown = client.send_as(2, "tools/call", streamed("s__shows")).await.expect("a result");
    assert_eq!(shown["_mgp"]["streamed"], true);
    client.send_as(3, "tools/call", streamed("polls")).await.expect("its page is open");
}

#[tokio::test]
async fn who_did_not_ask_hears_nothing_and_has_the_whole() {
    for (capabilities, params) in [
        (json!({}), streamed("think")),
        (says(Era::Legacy, &["streaming"]), json!({"name": "think", "arguments": {}})),
        (says(Era::Legacy, &["audit"]), streamed("think")),
    ] {
        let server = Streamer::new(Era::Legacy, true);
        let kernel = kernel(&server, None).await;
        let client = client(&kernel, Era::Legacy, capabilities.clone()).await;
        let result = client.send_as(20, "tools/call", params).await.expect("a result");
        assert_eq!(client.told(CHUNK), Vec::<Value>::new(), "{capabilities}");
        assert!(result.get("_mgp").is_none());
        assert_eq!(result["content"][0]["text"], "Quantum computing is a paradigm");
    }
}

#[tokio::test]
async fn a_result_without_content_is_made_whole_from_its_pieces() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let client = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    let result = client.send_as(1, "tools/call", streamed("bare")).await.expect("a result");
    assert_eq!(result["content"], json!([{"type": "text", "text": "ab"}]));
}

#[tokio::test]
async fn what_is_hidden_in_a_piece_is_marked_in_the_whole() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let client = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    let result = client.send_as(1, "tools/call", streamed("sly")).await.expect("a result");
    let chunks = client.told(CHUNK);
    assert_eq!(texts(&chunks)[1].1, "turned \u{202e}round", "it is marked, not changed");
    assert_eq!(result["_meta"]["dev.switchboard/marks"][0]["rule"], "hidden-text", "{result}");
    assert_eq!(result["content"], json!([{"type": "text", "text": "plainturned \u{202e}round"}]));
}

#[tokio::test]
async fn a_piece_that_names_another_call_reaches_nobody() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let client = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    client.send_as(1, "tools/call", streamed("foreign")).await.expect("a result");
    assert_eq!(client.told(CHUNK), Vec::<Value>::new());
}

#[tokio::test]
async fn a_gap_is_asked_for_and_filled() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let client = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    let running = client.begin(7, &streamed("gappy"));
    until("the gap is asked for", || !server.heard("notifications/mgp.stream.gap").is_empty()).await;
    assert_eq!(server.heard("notifications/mgp.stream.gap")[0]["missing_indices"], json!([1]));
    // The client may ask as well: what is kept comes again, what has not come is not said to be lost.
    client.notify("notifications/mgp.stream.gap", json!({"request_id": 7, "missing_indices": [0, 1]})).await;
    server.step.add_permits(1);
    running.answer.await.expect("no panic").expect("a result");
    let expected = [(0, "a"), (2, "c"), (0, "a"), (1, "b")].map(|(index, text)| (index, text.to_owned()));
    assert_eq!(texts(&client.told(CHUNK)), expected);
}

#[tokio::test]
async fn progress_is_told_in_the_words_of_each_client() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let mgp = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    mgp.send_as(21, "tools/call", streamed("measures")).await.expect("a result");
    let told = mgp.told(PROGRESS);
    assert_eq!(told.iter().map(|said| said["progress"].clone()).collect::<Vec<_>>(), [0.25, 0.65], "forward only");
    assert!(told.iter().all(|said| said["request_id"] == 21 && said["estimated_remaining_ms"] == 4500));

    let plain = client(&kernel, Era::Legacy, json!({})).await;
    let params = json!({"name": "measures", "arguments": {}, "_meta": {"progressToken": "tok"}});
    plain.send_as(22, "tools/call", params).await.expect("a result");
    let told = plain.told("notifications/progress");
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|said| said["progressToken"] == "tok" && said["total"] == 1));
    assert_eq!(plain.told(PROGRESS), Vec::<Value>::new());

    let proposal = client(&kernel, Era::Legacy, json!({"extensions": ["progress_notifications"]})).await;
    proposal.send_as(23, "tools/call", json!({"name": "measures", "arguments": {}})).await.expect("a result");
    let told = proposal.told("notifications/progress");
    assert!(told.iter().all(|said| said["type"] == "progress" && said["estimated_remaining_seconds"] == 5));
    assert_eq!(told.len(), 2);
}

#[tokio::test]
async fn a_plain_server_reports_to_a_client_of_mgp() {
    let server = Streamer::new(Era::Legacy, false);
    let kernel = kernel(&server, None).await;
    let client = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    client.send_as(5, "tools/call", streamed("numbers")).await.expect("a result");
    let told = client.told(PROGRESS);
    assert_eq!(told.iter().map(|said| said["progress"].clone()).collect::<Vec<_>>(), [0.25, 0.5]);
    assert!(told.iter().all(|said| said["estimated_remaining_ms"].is_number()), "an estimate from the time it took");
    assert_eq!(client.told("notifications/progress"), Vec::<Value>::new(), "it gave no token");
}

#[tokio::test]
async fn a_cancelled_call_gives_what_came_of_it() {
    for (era, from_server) in [(Era::Legacy, true), (Era::Modern, true), (Era::Legacy, false)] {
        let server = Streamer::new(Era::Legacy, true);
        let kernel = kernel(&server, None).await;
        let client = client(&kernel, era, says(era, &["streaming"])).await;
        let running = client.begin(20, &streamed("steps"));
        if from_server {
            server.step.add_permits(1);
            until("a piece", || client.told(CHUNK).len() == 1).await;
        } else {
            until("the call", || server.running.load(Ordering::SeqCst) == 1).await;
        }
        let answer =
            client.send_as(22, "mgp/stream/cancel", json!({"request_id": 20, "reason": "user_cancelled"})).await;
        let answer = answer.expect("an answer");
        assert_eq!(answer["cancelled"], true);
        if from_server {
            assert_eq!(answer["partial_result"]["content"][0]["text"], "what the server has");
            assert_eq!(server.heard("mgp/stream/cancel")[0]["reason"], "user_cancelled");
        }
        let error = running.answer.await.expect("no panic").expect_err("cancelled");
        assert_eq!(error.code, -32800);
        until("the server stops", || server.running.load(Ordering::SeqCst) == 0).await;
        let again = client.send_as(23, "mgp/stream/cancel", json!({"request_id": 20})).await.expect_err("over");
        assert_eq!(again.code, 4004);
    }
}

#[tokio::test]
async fn nobody_cancels_the_call_of_another() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    let other = Client::new(
        &kernel,
        Identity::new("bob", Method::Token).into(),
        Era::Legacy,
        says(Era::Legacy, &["streaming"]),
    )
    .await;
    let twin = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    let running = ann.begin(20, &streamed("steps"));
    until("the call", || server.running.load(Ordering::SeqCst) == 1).await;
    for stranger in [&other, &twin] {
        let refused = stranger.send_as(1, "mgp/stream/cancel", json!({"request_id": 20})).await;
        assert_eq!(refused.expect_err("not theirs").code, 4004);
    }
    ann.send_as(2, "mgp/stream/cancel", json!({"request_id": 20})).await.expect("its own");
    running.answer.await.expect("no panic").expect_err("cancelled");
}

#[tokio::test]
async fn a_halted_stream_goes_on_when_it_may() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let client = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    let running = client.begin(9, &streamed("steps"));
    until("the call", || server.running.load(Ordering::SeqCst) == 1).await;
    let pace = |rate: f64| json!({"request_id": 9, "max_chunks_per_second": rate, "reason": "user_paused"});
    client.notify("notifications/mgp.stream.pace", pace(0.0)).await;
    for _ in 0..2 {
        server.step.add_permits(1);
        server.stepped.acquire().await.expect("open").forget();
    }
    // A request that is answered after the pieces: they have been taken by then.
    client.send_as(10, "ping", json!({})).await.expect("an answer");
    let _ = client.send_as(11, "tools/call", json!({"name": "other", "arguments": {}})).await;
    assert_eq!(client.told(CHUNK).len(), 0, "held back");
    let answer = client.send_as(12, "mgp/stream/pace", pace(1000.0)).await.expect("an answer");
    assert_eq!(answer["paced"], true);
    until("they come", || client.told(CHUNK).len() == 2).await;
    until("the server hears of it", || !server.heard("notifications/mgp.stream.pace").is_empty()).await;
    for _ in 0..2 {
        server.step.add_permits(1);
        server.stepped.acquire().await.expect("open").forget();
    }
    let result = running.answer.await.expect("no panic").expect("a result");
    assert_eq!(result["content"][0]["text"], "<0><1><2><3>");
}

#[tokio::test]
async fn the_tools_do_what_the_methods_do() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let later = json!({"mgp": {"version": "0.6.0", "extensions": ["streaming"]}});
    let client = client(&kernel, Era::Legacy, later).await;
    let tools = client.list("tools").await;
    assert!(tools.contains(&"mgp_stream_cancel".to_owned()) && tools.contains(&"mgp_stream_pace".to_owned()));
    let running = client.begin(20, &streamed("steps"));
    until("the call", || server.running.load(Ordering::SeqCst) == 1).await;
    let answer = client.call("mgp_stream_cancel", json!({"request_id": 20})).await.expect("a result");
    assert_eq!(answer["structuredContent"]["cancelled"], true);
    running.answer.await.expect("no panic").expect_err("cancelled");
    let plain = Client::new(&kernel, Identity::new("ann", Method::Token).into(), Era::Legacy, json!({})).await;
    assert!(!plain.list("tools").await.iter().any(|name| name.starts_with("mgp.")));
    assert!(plain.call("mgp_stream_cancel", json!({"request_id": 20})).await.is_err());
}

/// A client of proposal 8.
fn proposal() -> Value {
    json!({"extensions": ["streaming"]})
}

fn sequences(client: &Client) -> Vec<u64> {
    client.told("notifications/stream_chunk").iter().filter_map(|said| said["sequence"].as_u64()).collect()
}

async fn step(server: &Streamer, client: &Client, expected: usize) {
    server.step.add_permits(1);
    until("a piece", || client.told("notifications/stream_chunk").len() >= expected).await;
}

#[tokio::test]
async fn pieces_of_proposal_8_carry_checkpoints() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let client = client(&kernel, Era::Legacy, proposal()).await;
    let result = client.send_as(1, "tools/call", json!({"name": "think", "arguments": {}})).await.expect("a result");
    let told = client.told("notifications/stream_chunk");
    assert_eq!(sequences(&client), [0, 1, 2]);
    assert_eq!(told[0]["data"]["text"], "Quantum computing is");
    assert!(told[0]["checkpoint_token"].is_string() && told[2]["is_final"] == true);
    assert_eq!(result["_meta"]["operation_id"], told[0]["operation_id"]);
    assert_eq!(client.told(CHUNK), Vec::<Value>::new());
}

#[tokio::test]
async fn an_operation_survives_its_connection() {
    for era in ERAS {
        let server = Streamer::new(Era::Legacy, true);
        let kernel = kernel(&server, None).await;
        let first = client(&kernel, Era::Modern, proposal()).await;
        let running = first.begin(1, &json!({"name": "steps", "arguments": {}}));
        step(&server, &first, 1).await;
        step(&server, &first, 2).await;
        let last = first.told("notifications/stream_chunk")[0].clone();
        // The connection breaks; the client has read the first piece only.
        running.cancel.cancel();
        running.answer.await.expect("no panic").expect_err("gone");
        server.step.add_permits(1);
        assert_eq!(server.running.load(Ordering::SeqCst), 1, "the call goes on");
        let second = client(&kernel, era, proposal()).await;
        let params = json!({"operation_id": last["operation_id"], "checkpoint_token": last["checkpoint_token"]});
        let mut stranger = params.clone();
        stranger["checkpoint_token"] = "e30.AAAA".into();
        let refused = second.send_as(5, "operations/resume", stranger).await.expect_err("no such token");
        assert!(refused.data.expect("data").as_str().contains("checkpoint_not_found"));
        let bob = Client::new(&kernel, Identity::new("bob", Method::Token).into(), era, proposal()).await;
        bob.send_as(5, "operations/resume", params.clone()).await.expect_err("not his");
        let resumed = async { second.send_as(6, "operations/resume", params).await };
        let ((), result) = tokio::join!(
            async {
                step(&server, &second, 2).await;
                server.step.add_permits(1);
            },
            resumed
        );
        assert_eq!(result.expect("a result")["content"][0]["text"], "<0><1><2><3>");
        assert_eq!(sequences(&second)[..3], [1, 2, 3]);
        assert_eq!(server.heard("tools/call").len(), 1, "it ran once");
    }
}

#[tokio::test]
async fn a_client_that_takes_an_operation_back_ends_it() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let client = client(&kernel, Era::Legacy, proposal()).await;
    let running = client.begin(1, &json!({"name": "steps", "arguments": {}}));
    until("the call", || server.running.load(Ordering::SeqCst) == 1).await;
    running.cancel.cancel();
    until("the server stops", || server.running.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn an_operation_survives_the_kernel() {
    for own_checkpoints in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let server = Streamer::new(Era::Legacy, true);
        let call = json!({"name": "steps", "arguments": {"own_checkpoints": own_checkpoints}});
        let token = {
            let store = store(&directory).await;
            let kernel = kernel(&server, Some(store.clone())).await;
            let client = client(&kernel, Era::Modern, proposal()).await;
            let _running = client.begin(1, &call);
            step(&server, &client, 1).await;
            step(&server, &client, 2).await;
            let token = client.told("notifications/stream_chunk")[1]["checkpoint_token"].clone();
            kernel.shut_down(Duration::from_secs(5)).await;
            store.close().await.expect("closed");
            token
        };
        until("the first call has ended", || server.running.load(Ordering::SeqCst) == 0).await;
        let store = store(&directory).await;
        let kernel = kernel(&server, Some(store)).await;
        let client = client(&kernel, Era::Modern, proposal()).await;
        let mut other = call.clone();
        other["_meta"] = json!({"checkpoint_token": token});
        other["arguments"]["more"] = 1.into();
        client.send_as(3, "tools/call", other).await.expect_err("another call");
        let mut again = call;
        again["_meta"] = json!({"checkpoint_token": token});
        let running = client.begin(2, &again);
        for _ in 0..(if own_checkpoints { 2 } else { 4 }) {
            server.step.add_permits(1);
            server.stepped.acquire().await.expect("open").forget();
        }
        let result = running.answer.await.expect("no panic").expect("a result");
        assert_eq!(result["content"][0]["text"], "<0><1><2><3>");
        assert_eq!(sequences(&client)[..2], [2, 3], "only what was not read: {own_checkpoints}");
        let seen = server.heard("tools/call").last().expect("a call")["_meta"]["checkpoint_token"].clone();
        assert_eq!(seen, if own_checkpoints { json!("after-1") } else { Value::Null });
    }
}

#[tokio::test]
async fn what_may_have_changed_something_is_not_done_twice() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Streamer::new(Era::Legacy, true);
    let call = json!({"name": "changes", "arguments": {}});
    let store_ = store(&directory).await;
    let first = kernel(&server, Some(store_.clone())).await;
    let reader = client(&first, Era::Modern, proposal()).await;
    let _running = reader.begin(1, &call);
    step(&server, &reader, 1).await;
    let token = reader.told("notifications/stream_chunk")[0]["checkpoint_token"].clone();
    first.shut_down(Duration::from_secs(5)).await;
    let second = kernel(&server, Some(store_)).await;
    let reader = client(&second, Era::Modern, proposal()).await;
    let mut again = call;
    again["_meta"] = json!({"checkpoint_token": token});
    let refused = reader.send_as(2, "tools/call", again).await;
    let text = format!("{refused:?}");
    assert!(text.contains("outcome_unknown") || text.contains("OUTCOME_UNKNOWN"), "{text}");
    assert_eq!(server.heard("tools/call").len(), 1);
}

#[tokio::test]
async fn nobody_leaves_calls_behind_without_end() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, Era::Modern, proposal()).await;
    let calls: Vec<_> = (0..80).map(|id| ann.begin(id, &json!({"name": "steps", "arguments": {}}))).collect();
    until("all run", || server.running.load(Ordering::SeqCst) == 80).await;
    for call in calls {
        call.cancel.cancel();
        call.answer.await.expect("no panic").expect_err("gone");
    }
    until("those beyond the bound end", || server.running.load(Ordering::SeqCst) == 64).await;
    kernel.shut_down(Duration::from_secs(5)).await;
    until("and the rest with the kernel", || server.running.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn a_call_that_asks_in_the_middle_goes_on_streaming() {
    for mine in ERAS {
        let server = Streamer::new(Era::Legacy, true);
        let kernel = kernel(&server, None).await;
        let mut capabilities = says(mine, &["streaming"]);
        capabilities["elicitation"] = json!({});
        let client = client(&kernel, mine, capabilities).await;
        client.ear.answers.lock().push_back(json!({"action": "accept", "content": {}}));
        let mut call = streamed("halfway");
        let mut result = client.send_as(1, "tools/call", call.clone()).await.expect("a result");
        if mine == Era::Modern {
            assert_eq!((&result["resultType"], client.told(CHUNK).len()), (&json!("input_required"), 1));
            let key = result["inputRequests"].as_object().expect("questions").keys().next().expect("one").clone();
            call["requestState"] = result["requestState"].clone();
            call["inputResponses"] = json!({key: {"action": "accept", "content": {}}});
            result = client.send_as(2, "tools/call", call).await.expect("a result");
        }
        let chunks = client.told(CHUNK);
        assert_eq!(texts(&chunks), [(0, "a".to_owned()), (1, "b".to_owned())], "{mine:?}");
        assert_eq!(chunks[1]["request_id"], if mine == Era::Modern { 2 } else { 1 });
        assert_eq!(result["content"][0]["text"], "Quantum computing is a paradigm");
        assert!(server.heard("notifications/mgp.stream.gap").is_empty());
    }
}

/// The kernel of one house as a server of another.
#[tokio::test]
async fn pieces_pass_through_two_kernels() {
    let server = Streamer::new(Era::Legacy, true);
    let inner = kernel(&server, None).await;
    let mut gate = switchboard_kernel::GateOptions::default();
    open_house(&mut gate);
    let outer = switchboard_kernel::Kernel::new(switchboard_kernel::KernelOptions { gate, ..Default::default() });
    outer.apply(vec![spec("inner", std::sync::Arc::new(inner), ServerPolicy::default())]);
    outer.settled(Duration::from_secs(5)).await;
    let client = client(&outer, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    let result = client.send_as(20, "tools/call", streamed("think")).await.expect("a result");
    assert_eq!(texts(&client.told(CHUNK)).len(), 2);
    assert_eq!(result["content"][0]["text"], "Quantum computing is a paradigm");
}
