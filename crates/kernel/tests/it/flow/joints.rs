//! Where two things meet that are each tried alone: streams and refusals that ask for something, questions that are open at the
//! same time, words that come after the last one.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::Kernel;
use switchboard_peer::{Identity, Method};
use switchboard_protocol::Era;

use super::world::{Streamer, kernel, says, store};
use crate::gate::world::{Client, ERAS, events, until};

const CHUNK: &str = "notifications/mgp.stream.chunk";

async fn client(kernel: &Kernel, era: Era, mut capabilities: Value) -> Client {
    capabilities["elicitation"] = json!({"form": {}, "url": {}});
    Client::new(kernel, Identity::new("ann", Method::Token).into(), era, capabilities).await
}

/// A server streams, and then refuses until somebody has signed in somewhere: the pieces stay, and the address carries the name of
/// who asks for it. It is no call whose end nobody knows.
#[tokio::test]
async fn a_streamed_call_that_wants_an_address_visited_says_who_wants_it() {
    // A legacy client of a modern server is asked in the middle of the call.
    for (mine, theirs) in [(Era::Legacy, Era::Legacy), (Era::Modern, Era::Legacy), (Era::Modern, Era::Modern)] {
        let directory = tempfile::tempdir().unwrap();
        let (server, store) = (Streamer::new(theirs, true), store(&directory).await);
        let kernel = kernel(&server, Some(store.clone())).await;
        let ann = client(&kernel, mine, says(mine, &["streaming"])).await;
        let params = json!({"name": "visits", "arguments": {}, "_mgp": {"stream": true}});
        let refused = ann.send_as(20, "tools/call", params).await;
        let asked = match &refused {
            Ok(result) => {
                let requests =
                    result["inputRequests"].as_object().unwrap_or_else(|| panic!("{mine:?} {theirs:?} {result}"));
                requests.values().next().unwrap()["params"].clone()
            }
            Err(error) => {
                let data: Value =
                    error.data.as_ref().unwrap_or_else(|| panic!("{mine:?} {theirs:?} {error:?}")).view().unwrap();
                data["elicitations"][0].clone()
            }
        };
        assert_eq!(asked["message"], "Server `s` asks: Sign in", "{mine:?} {theirs:?}: {refused:?}");
        assert_eq!(asked["url"], "https://a.example/", "{mine:?} {theirs:?}: {refused:?}");
        assert_eq!(ann.told(CHUNK).len(), 1, "{mine:?} {theirs:?}");
        let unknown = events(&store).await.into_iter().filter(|event| event.result == "UNKNOWN").count();
        assert_eq!(unknown, 0, "{mine:?} {theirs:?}");
    }
}

/// Two questions of one call that are open at the same time: each gets its own answer, and both are on record.
#[tokio::test]
async fn two_questions_of_one_call_get_each_its_own_answer() {
    for mine in ERAS {
        let directory = tempfile::tempdir().unwrap();
        let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
        let kernel = kernel(&server, Some(store.clone())).await;
        let ann = client(&kernel, mine, json!({})).await;
        let yes = |asked: &Value| {
            let word = asked["message"].as_str().unwrap().rsplit(' ').next().unwrap().to_owned();
            json!({"action": "accept", "content": {"said": word}})
        };
        let result = match mine {
            Era::Legacy => {
                let running = ann.begin(1, &json!({"name": "both", "arguments": {}}));
                until("both are asked", || ann.ear.asked.lock().len() == 2).await;
                for at in [0, 1] {
                    let answer = yes(&ann.ear.asked.lock()[at].1.clone());
                    *ann.ear.late.lock() = Some(answer);
                    until("it is taken", || ann.ear.late.lock().is_none()).await;
                }
                running.answer.await.unwrap().unwrap()
            }
            Era::Modern => {
                let mut params = json!({"name": "both", "arguments": {}});
                let mut rounds = 0;
                loop {
                    let result = ann.send_as(1, "tools/call", params.clone()).await.unwrap();
                    let Some(requests) = result["inputRequests"].as_object() else { break result };
                    let answers = requests.iter().map(|(key, request)| (key.clone(), yes(&request["params"])));
                    params["inputResponses"] = Value::Object(answers.collect());
                    params["requestState"] = result["requestState"].clone();
                    rounds += 1;
                    assert!(rounds < 4, "{result}");
                }
            }
        };
        let mut said = [result["first"].clone(), result["second"].clone()].map(|said| said["content"]["said"].clone());
        if mine == Era::Legacy {
            // A scripted ear gives its answers to whoever looks first.
            said.sort_by_key(ToString::to_string);
        }
        assert_eq!(said, [json!("one?"), json!("two?")], "{mine:?}: {result}");
        let count = || async {
            let answered =
                |event: &&switchboard_store::AuditEvent| event.event_type == "dev.switchboard.question_answered";
            events(&store).await.iter().filter(answered).count()
        };
        for _ in 0..100 {
            if count().await == 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(count().await, 2, "{mine:?}");
    }
}

/// What a server says of a call after its answer reaches nobody: not its caller, and not whoever uses the same token next.
#[tokio::test]
async fn progress_after_the_answer_reaches_nobody() {
    for (mine, theirs) in ERAS.into_iter().flat_map(|mine| ERAS.map(|theirs| (mine, theirs))) {
        let server = Streamer::new(theirs, true);
        let kernel = kernel(&server, None).await;
        let ann = client(&kernel, mine, says(mine, &["streaming"])).await;
        let bob =
            Client::new(&kernel, Identity::new("bob", Method::Token).into(), mine, says(mine, &["streaming"])).await;
        let params = |tool: &str| json!({"name": tool, "arguments": {}, "_meta": {"progressToken": "mine"}, "_mgp": {"stream": true}});
        ann.send_as(1, "tools/call", params("afterwards")).await.unwrap();
        let waiting = [ann.begin(1, &params("steps")), bob.begin(1, &params("steps"))];
        until("they run", || server.running.load(std::sync::atomic::Ordering::SeqCst) == 2).await;
        // Now it says the rest.
        server.late.add_permits(1);
        server.stepped.acquire().await.unwrap().forget();
        server.step.add_permits(8);
        for running in waiting {
            running.answer.await.unwrap().unwrap();
        }
        let late = |client: &Client| format!("{:?}", client.ear.told.lock()).contains("too late");
        assert!(!late(&ann) && !late(&bob), "{mine:?} {theirs:?}");
    }
}
