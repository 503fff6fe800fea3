//! Answers in the middle of calls: nobody smuggles one in, and whoever gives one for somebody else is held to their rights.

use serde_json::{Value, json};
use switchboard_protocol::Era;

use super::world::{House, Script, tool, until};

/// To a legacy client `inputResponses` mean nothing. A modern server would take them for the answer to its question.
#[tokio::test]
async fn a_legacy_client_does_not_answer_a_question_that_nobody_asked() {
    for more in [json!({}), json!({"requestState": "of-the-server"}), json!({"task": {"ttl": 60_000}})] {
        let script = Script::new(Era::Modern, vec![tool("asks")]);
        script.capabilities.lock()["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
        let house = House::new(&[("files", script.clone())]).await;
        house.grant("ann", "files", None, true).await;
        let ann = house.client(Era::Legacy, "ann").await;
        let mut params =
            json!({"name": "asks", "arguments": {}, "inputResponses": {"who": {"action": "accept", "content": {}}}});
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        let _ = ann.request("tools/call", params).await;
        let heard = script.heard("tools/call");
        assert!(!heard.is_empty(), "{more}");
        assert!(heard.iter().all(|params| params.get("inputResponses").is_none()), "{more}: {heard:?}");
    }
}

fn answer(place: &str, via: &str) -> Value {
    let delegation =
        json!({"original_actor": "zoe", "delegated_via": via, "delegation_id": "d", "chain": ["zoe", "ann"]});
    let mut answer = json!({"action": "accept", "content": {}});
    match place {
        "_meta" => answer["_meta"] = json!({"delegation": delegation}),
        "_meta._mgp" => answer["_meta"] = json!({"_mgp": {"delegation": delegation}}),
        _ => answer["_mgp"] = json!({"delegation": delegation}),
    }
    answer
}

/// An answer that is given for somebody has no more rights than they have.
#[tokio::test]
async fn an_answer_for_somebody_is_judged_as_a_call_for_them() {
    for (client, server) in
        [(Era::Legacy, Era::Modern), (Era::Legacy, Era::Legacy), (Era::Modern, Era::Modern), (Era::Modern, Era::Legacy)]
    {
        let script = Script::new(server, vec![tool("asks")]);
        let house = House::new(&[("files", script.clone())]).await;
        house.grant("ann", "files", None, true).await;
        let ann = house.client_with(client, "ann", json!({"elicitation": {"form": {}}})).await;
        let give = async |answer: Value| -> bool {
            if client == Era::Legacy {
                ann.ear.answers.lock().push_back(answer);
                let called = ann.call("asks", json!({})).await;
                return called.is_ok_and(|result| result.get("answered").is_none_or(|answered| answered == true));
            }
            let asked = ann.call("asks", json!({})).await.unwrap();
            let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
            let params = json!({
                "name": "asks", "arguments": {}, "requestState": asked["requestState"], "inputResponses": {key: answer},
            });
            ann.request("tools/call", params).await.is_ok()
        };
        assert!(give(json!({"action": "accept", "content": {}})).await, "{client:?} {server:?}");
        for place in ["_meta", "_meta._mgp", "_mgp"] {
            assert!(!give(answer(place, "ann")).await, "{client:?} {server:?} {place}: zoe may not");
        }
        house.grant("zoe", "files", None, true).await;
        assert!(give(answer("_meta", "ann")).await, "{client:?} {server:?}: zoe may");
        assert!(!give(answer("_meta", "bob")).await, "{client:?} {server:?}: bob gives no answer");
        let blocked = house.await_events("TOOL_BLOCKED", 4).await;
        assert!(blocked.iter().all(|event| event.details["step"] == "delegation"), "{blocked:?}");
    }
}

/// A server answers its call while its question to the client is open: the client need not answer any more.
#[tokio::test]
async fn a_question_of_the_base_protocol_ends_with_its_call() {
    let script = Script::new(Era::Legacy, vec![tool("leaves")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client_with(Era::Legacy, "ann", json!({"elicitation": {"form": {}}})).await;
    let answering = async {
        until("she is asked", || !ann.ear.asked.lock().is_empty()).await;
        script.release.notify_one();
    };
    let (called, ()) = tokio::join!(ann.call("leaves", json!({})), answering);
    called.unwrap();
    let given_up = || ann.ear.given_up.load(std::sync::atomic::Ordering::Relaxed);
    until("the question is taken back", || given_up() == 1).await;
}
