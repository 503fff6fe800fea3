//! Calls that do not stream: taken back by `mgp/stream/cancel`, and their progress in the words of MGP.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use switchboard_kernel::Kernel;
use switchboard_peer::{Identity, Method};
use switchboard_protocol::Era;

use super::world::{Streamer, kernel, says};
use crate::gate::world::{Client, ERAS, until};

async fn client(kernel: &Kernel, era: Era, capabilities: Value) -> Client {
    Client::new(kernel, Identity::new("ann", Method::Token).into(), era, capabilities).await
}

#[tokio::test]
async fn a_call_that_does_not_stream_can_be_taken_back() {
    for (mine, theirs, mgp) in [
        (Era::Legacy, Era::Legacy, true),
        (Era::Legacy, Era::Legacy, false),
        (Era::Legacy, Era::Modern, true),
        (Era::Modern, Era::Legacy, true),
        (Era::Modern, Era::Modern, false),
    ] {
        let server = Streamer::new(theirs, mgp);
        let kernel = kernel(&server, None).await;
        let ann = client(&kernel, mine, says(mine, &["streaming"])).await;
        let running = ann.begin(20, &json!({"name": "steps", "arguments": {}}));
        until("the call", || server.running.load(Ordering::SeqCst) == 1).await;
        let bob = Client::new(&kernel, Identity::new("bob", Method::Token).into(), mine, says(mine, &["streaming"]));
        let bob = bob.await;
        let cancel = json!({"request_id": 20, "reason": "user_cancelled"});
        assert_eq!(bob.send_as(1, "mgp/stream/cancel", cancel.clone()).await.expect_err("not his").code, 4004);
        let answer = ann.send_as(22, "mgp/stream/cancel", cancel.clone()).await.expect("an answer");
        assert_eq!(answer["cancelled"], true, "{mine:?} {theirs:?} {mgp}");
        assert_eq!(running.answer.await.expect("no panic").expect_err("cancelled").code, -32800);
        until("the server stops", || server.running.load(Ordering::SeqCst) == 0).await;
        assert_eq!(ann.send_as(23, "mgp/stream/cancel", cancel).await.expect_err("over").code, 4004);
    }
}

#[tokio::test]
async fn two_sessions_with_one_id_do_not_meet() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let one = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    let two = client(&kernel, Era::Legacy, says(Era::Legacy, &["streaming"])).await;
    let call = json!({"name": "steps", "arguments": {}});
    let (first, second) = (one.begin(20, &call), two.begin(20, &call));
    until("both run", || server.running.load(Ordering::SeqCst) == 2).await;
    one.send_as(21, "mgp/stream/cancel", json!({"request_id": 20})).await.expect("its own");
    first.answer.await.expect("no panic").expect_err("cancelled");
    until("one stops", || server.running.load(Ordering::SeqCst) == 1).await;
    for _ in 0..4 {
        server.step.add_permits(1);
        server.stepped.acquire().await.expect("open").forget();
    }
    second.answer.await.expect("no panic").expect("a result");
}

#[tokio::test]
async fn progress_of_a_call_that_does_not_stream_reaches_clients_of_mgp() {
    const PROGRESS: &str = "notifications/mgp.stream.progress";
    for mine in ERAS {
        let server = Streamer::new(Era::Legacy, true);
        let kernel = kernel(&server, None).await;
        let ann = client(&kernel, mine, says(mine, &["streaming"])).await;
        ann.send_as(77, "tools/call", json!({"name": "measures", "arguments": {}})).await.expect("a result");
        let told = ann.told(PROGRESS);
        assert!(!told.is_empty(), "{mine:?}");
        assert!(told.iter().all(|said| said["request_id"] == 77 && said["message"] == "batch"), "{told:?}");
        assert_eq!(ann.told("notifications/progress"), Vec::<Value>::new());
        let both = json!({"name": "measures", "arguments": {}, "_meta": {"progressToken": "t"}});
        ann.send_as(78, "tools/call", both).await.expect("a result");
        assert!(ann.told("notifications/progress").iter().any(|said| said["progressToken"] == "t"), "{mine:?}");
        assert!(ann.told(PROGRESS).iter().any(|said| said["request_id"] == 78), "{mine:?}");
        let plain = client(&kernel, mine, json!({})).await;
        plain.send_as(79, "tools/call", json!({"name": "measures", "arguments": {}})).await.expect("a result");
        assert_eq!(plain.told(PROGRESS), Vec::<Value>::new());
    }
}
