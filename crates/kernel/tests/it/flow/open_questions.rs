//! Open questions of servers: whose they are, how many there may be, and when they end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_kernel::Kernel;
use switchboard_peer::{Identity, Method};
use switchboard_protocol::Era;
use switchboard_store::{CallbackState, Location, Options, Store, StoredCallback};

use super::world::{Streamer, kernel, says, store};
use crate::gate::world::{Client, events, until};

const REQUEST: &str = "notifications/mgp.callback.request";

async fn client(kernel: &Kernel, name: &str) -> Client {
    let capabilities = says(Era::Legacy, &["callbacks"]);
    Client::new(kernel, Identity::new(name, Method::Token).into(), Era::Legacy, capabilities).await
}

fn asks(id: &str) -> Value {
    let question =
        json!({"callback_id": id, "type": "confirmation", "message": "Continue?", "options": ["confirm", "cancel"]});
    json!({"name": "asks", "arguments": {"question": question}})
}

/// The names of the questions that the operator sees.
async fn listed(store: &Store) -> Vec<String> {
    let open = store.callbacks().pending(jiff::Timestamp::now(), 100).await.expect("a list");
    open.into_iter().map(|callback| callback.id).collect()
}

async fn until_listed(store: &Store, count: usize) {
    for _ in 0..200 {
        if listed(store).await.len() == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{count} expected: {:?}", listed(store).await);
}

/// Calls of one principal that are never answered take their share, and nobody else's.
#[tokio::test]
async fn questions_of_one_principal_do_not_shut_off_those_of_others() {
    let directory = tempfile::tempdir().unwrap();
    let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
    let kernel = kernel(&server, Some(store.clone())).await;
    let (eve, ann) = (client(&kernel, "eve").await, client(&kernel, "ann").await);
    let running: Vec<_> = (0..70_u64).map(|number| eve.begin(100 + number, &asks(&format!("eve-{number}")))).collect();
    until("her share is asked", || eve.told(REQUEST).len() >= 32).await;
    let mut refused = 0;
    for running in running {
        if let Ok(answer) = tokio::time::timeout(Duration::from_millis(100), running.answer).await {
            let answered = answer.unwrap().unwrap()["answered"].clone();
            assert_eq!(answered["response"], "cancel");
            assert_eq!(answered["_mgp"]["status"], "too_many_questions");
            refused += 1;
        }
    }
    assert_eq!((refused, eve.told(REQUEST).len()), (38, 32));
    let _of_ann = ann.begin(1, &asks("ann"));
    until("ann is asked", || !ann.told(REQUEST).is_empty()).await;
    for _ in 0..200 {
        let events = events(&store).await;
        let said: Vec<_> = events.iter().filter(|e| e.event_type == "dev.switchboard.callback_refused").collect();
        if said.len() == 38 {
            assert!(said.iter().all(|event| event.details["bound"] == "principal" && event.actor.id == "eve"));
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("not on record");
}

/// However a call ends, its questions are on no list any more.
#[tokio::test]
async fn questions_end_with_their_call() {
    let directory = tempfile::tempdir().unwrap();
    let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
    let kernel = kernel(&server, Some(store.clone())).await;
    let ann = client(&kernel, "ann").await;
    // The client takes it back.
    let running = ann.begin(1, &asks("taken-back"));
    until_listed(&store, 1).await;
    running.cancel.cancel();
    until_listed(&store, 0).await;
    // The server answers without waiting.
    let mut call = asks("left");
    call["arguments"]["leaves"] = true.into();
    ann.begin(2, &call).answer.await.unwrap().unwrap();
    until_listed(&store, 0).await;
    // The right to it is taken back.
    let running = ann.begin(3, &asks("revoked"));
    until_listed(&store, 1).await;
    let operator_actions = switchboard_kernel::OperatorActions::of_operator(store.clone(), "olga");
    operator_actions.grant_access(crate::gate::world::entry("ann", "s", None, false)).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(3), running.answer).await.expect("it ends");
    assert!(ended.unwrap().is_err());
    until_listed(&store, 0).await;
}

/// A kernel that was killed leaves its questions in the store. Nobody waits for their answers.
#[tokio::test]
async fn questions_of_a_kernel_that_died_are_not_listed() {
    let directory = tempfile::tempdir().unwrap();
    let store = store(&directory).await;
    let now = jiff::Timestamp::now();
    for id in ["abc.deadkernel", "abc.otherkernel"] {
        let callback = StoredCallback {
            id: id.to_owned(),
            principal: "ann".to_owned(),
            server: "s".to_owned(),
            kind: "input".to_owned(),
            shown: RawValue::from_string("{}".to_owned()).unwrap(),
            state: CallbackState::Open,
            answer: None,
            answered_by: None,
            created_at: now,
            expires_at: now + jiff::SignedDuration::from_mins(10),
        };
        store.callbacks().open(&callback).await.unwrap();
    }
    // What is left of a kernel beside the store when it is killed: nobody holds its lock.
    std::fs::write(store.beside("kernel-deadkernel"), "0\n\n.\n").unwrap();
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, Some(store.clone())).await;
    until_listed(&store, 1).await;
    assert_eq!(listed(&store).await, ["abc.otherkernel"], "of a kernel that may live");
    // And those of this one carry its name.
    let ann = client(&kernel, "ann").await;
    let _running = ann.begin(1, &asks("own"));
    until_listed(&store, 2).await;
    let instance = std::fs::read_dir(directory.path()).unwrap().filter_map(|file| {
        let name = file.unwrap().file_name().into_string().unwrap();
        name.split_once("kernel-").map(|(_, instance)| instance.to_owned()).filter(|name| !name.contains('.'))
    });
    let instance: Vec<_> = instance.collect();
    assert!(listed(&store).await.iter().any(|id| instance.iter().any(|name| id.ends_with(&format!(".{name}")))));
}

/// A store that takes nothing while it is locked.
async fn lockable(directory: &tempfile::TempDir) -> (Arc<AtomicBool>, Store) {
    let locked = Arc::new(AtomicBool::new(false));
    let held = locked.clone();
    let faults = move |_| {
        while held.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    };
    let options = Options { faults: Some(Arc::new(faults)), ..Options::default() };
    let store = Store::open(&Location::File(directory.path().join("store.db")), options).await.expect("a store");
    (locked, store)
}

/// A store that takes nothing for a while holds up neither the question nor its answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_store_does_not_hold_up_a_question() {
    let directory = tempfile::tempdir().unwrap();
    let (locked, store) = lockable(&directory).await;
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, Some(store.clone())).await;
    let ann = client(&kernel, "ann").await;
    locked.store(true, Ordering::Relaxed);
    let running = ann.begin(1, &asks("cb"));
    until("she is asked", || !ann.told(REQUEST).is_empty()).await;
    let id = ann.told(REQUEST)[0]["callback_id"].clone();
    ann.send_as(2, "mgp/callback/respond", json!({"callback_id": id, "response": "confirm"})).await.expect("taken");
    let answered = tokio::time::timeout(Duration::from_secs(3), running.answer).await;
    locked.store(false, Ordering::Relaxed);
    assert_eq!(answered.expect("in time").unwrap().unwrap()["answered"]["response"], "confirm");
    until_listed(&store, 0).await;
}

/// The same of a call whose result comes in pieces: what only reads does not wait for a store that would remember it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_store_does_not_hold_up_a_streamed_read() {
    for era in [Era::Legacy, Era::Modern] {
        let directory = tempfile::tempdir().unwrap();
        let (locked, store) = lockable(&directory).await;
        let server = Streamer::new(Era::Legacy, true);
        let kernel = kernel(&server, Some(store.clone())).await;
        let identity = Identity::new("ann", Method::Token);
        let ann = Client::new(&kernel, identity.into(), era, json!({"extensions": ["streaming"]})).await;
        locked.store(true, Ordering::Relaxed);
        let running = ann.begin(1, &json!({"name": "think", "arguments": {}}));
        let answered = tokio::time::timeout(Duration::from_secs(3), running.answer).await;
        locked.store(false, Ordering::Relaxed);
        let result = answered.expect("in time").unwrap().expect("a result");
        assert!(result["content"][0]["text"].is_string(), "{era:?}: {result}");
        assert!(ann.told("notifications/stream_chunk").len() >= 2, "{era:?}: pieces came");
    }
}
