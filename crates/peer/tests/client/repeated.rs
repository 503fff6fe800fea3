//! Answers over HTTP that came twice, came unasked or belong to another call: they cost no other call anything.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_peer::client::{EraChoice, Target, connect};
use switchboard_peer::{CallError, Remote};

use crate::script::{Seen, Server, Wire, ask, options, silent};

/// A server over one kind of misbehaviour: what it does with a call, after the handshake.
async fn connected<F, Fut>(misbehave: F) -> (Server, Arc<dyn Remote>)
where
    F: Fn(Seen, Wire) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Option<Wire>> + Send + 'static,
{
    let server = Server::start(move |seen, mut wire| {
        let misbehave = misbehave.clone();
        async move {
            if seen.what() == "server/discover" {
                let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}});
                wire.json(&seen.result(&result)).await;
                return Some(wire);
            }
            misbehave(seen, wire).await
        }
    })
    .await;
    let mut options = options();
    options.era = EraChoice::Modern;
    let target = Target::Http { url: server.url.clone(), headers: Vec::new() };
    let connected = connect(target, options, silent()).await.unwrap();
    let remote = connected.remote.clone();
    // The connection lives as long as this is kept.
    std::mem::forget(connected);
    (server, remote)
}

fn named(number: u32) -> Value {
    json!({"name": "t", "arguments": {"number": number}})
}

fn number(result: &Value) -> u64 {
    result["arguments"]["number"].as_u64().unwrap()
}

#[tokio::test]
async fn an_answer_that_comes_twice_costs_no_other_call() {
    // Once more behind the answer, at moments from "at once" to "when the next call is on its way".
    for delay in [0_u64, 1, 2, 5] {
        let (server, remote) = connected(move |seen, mut wire| async move {
            let answer = seen.result(&seen.body["params"]);
            wire.json(&answer).await;
            if number(&seen.body["params"]) == 0 {
                tokio::time::sleep(Duration::from_millis(delay)).await;
                wire.json(&answer).await;
            }
            Some(wire)
        })
        .await;
        for round in 0..50 {
            let result =
                ask(&remote, &named(round)).await.unwrap_or_else(|error| panic!("{delay} ms, {round}: {error}"));
            assert_eq!(number(&result), u64::from(round), "each gets its own");
        }
        assert_eq!(server.count("tools/call"), 50);
    }
}

#[tokio::test]
async fn the_answer_before_is_passed_over_where_the_next_call_was_sent_already() {
    // Certain, where the test above depends on the moment: the repetition comes with the next answer, in one piece. After
    // that the connection is not used again, so every second call comes over a new one.
    let last = Arc::new(parking_lot::Mutex::new(Value::Null));
    let (server, remote) = connected(move |seen, mut wire| {
        let last = last.clone();
        async move {
            let before = std::mem::replace(&mut *last.lock(), seen.result(&seen.body["params"]));
            if number(&seen.body["params"]) % 2 == 1 {
                wire.json(&before).await;
            }
            wire.json(&seen.result(&seen.body["params"])).await;
            Some(wire)
        }
    })
    .await;
    for round in 0..6 {
        assert_eq!(number(&ask(&remote, &named(round)).await.unwrap()), u64::from(round));
    }
    assert_eq!(server.count("tools/call"), 6, "none was made twice");
}

#[tokio::test]
async fn a_wrong_answer_fails_its_own_call_alone() {
    let (_server, remote) = connected(|seen, mut wire| async move {
        let mut answer = seen.result(&seen.body["params"]);
        if number(&seen.body["params"]) == 0 {
            answer["id"] = json!(seen.body["id"].as_u64().unwrap() + 1);
            wire.json(&answer).await;
            wire.json(&seen.result(&seen.body["params"])).await;
        } else {
            wire.json(&answer).await;
        }
        Some(wire)
    })
    .await;
    let refused = ask(&remote, &named(0)).await.unwrap_err();
    assert!(matches!(refused, CallError::BadAnswer(_)), "{refused}");
    for round in 1..10 {
        assert_eq!(number(&ask(&remote, &named(round)).await.unwrap()), u64::from(round));
    }
}

#[tokio::test]
async fn an_answer_to_no_call_on_a_calls_own_stream_ends_the_call_at_once() {
    // A stream that carries the answer, under another id, and ends: there will be no other, however often it is taken up again.
    for era in [EraChoice::Legacy, EraChoice::Modern] {
        let server = Server::start(|seen, mut wire| async move {
            match seen.what().as_str() {
                "initialize" => {
                    let result = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}});
                    wire.json(&seen.result(&result)).await;
                }
                "server/discover" => {
                    let result =
                        json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}});
                    wire.json(&seen.result(&result)).await;
                }
                "tools/call" => {
                    let mut answer = seen.result(&json!({"content": []}));
                    answer["id"] = json!(seen.body["id"].as_u64().unwrap() + 1);
                    wire.begin_events().await;
                    wire.raw(format!("id: e1\nevent: message\ndata: {answer}\n\n").as_bytes()).await;
                    return None;
                }
                "GET" => wire.answer(405, "", "").await,
                _ => wire.answer(202, "", "").await,
            }
            Some(wire)
        })
        .await;
        let mut options = options();
        options.era = era;
        let target = Target::Http { url: server.url.clone(), headers: Vec::new() };
        let connected = connect(target, options, silent()).await.unwrap();
        let remote = connected.remote.clone();
        let params = named(0);
        let asking = ask(&remote, &params);
        let refused = tokio::time::timeout(Duration::from_secs(3), asking).await.expect("at once").unwrap_err();
        assert!(matches!(refused, CallError::BadAnswer(_)), "{era:?}: {refused}");
        assert_eq!(server.count("tools/call"), 1, "{era:?}");
    }
}

#[tokio::test]
async fn nobody_can_lay_an_answer_ready_for_the_next_call() {
    // A server that knows every id so far guesses the next one, on a connection that nobody uses.
    let (server, remote) = connected(|seen, mut wire| async move {
        let answer = seen.result(&seen.body["params"]);
        wire.json(&answer).await;
        let id = seen.body["id"].as_u64().unwrap();
        for guess in id + 1..id + 20 {
            let forged = json!({"jsonrpc": "2.0", "id": guess, "result": {"arguments": {"number": 666}}});
            wire.json(&forged).await;
        }
        Some(wire)
    })
    .await;
    let mut ids = Vec::new();
    for round in 0..20 {
        if let Ok(result) = ask(&remote, &named(round)).await {
            assert_eq!(number(&result), u64::from(round));
        }
        tokio::task::yield_now().await;
    }
    for seen in server.log.lock().iter().filter(|seen| seen.what() == "tools/call") {
        ids.push(seen.body["id"].as_u64().unwrap());
    }
    assert!(ids.windows(2).all(|pair| pair[1].abs_diff(pair[0]) > 20), "{ids:?}");
}
