//! An answer to a server's question is for that question, of that call, of that principal, and on record.

use serde_json::{Value, json};
use switchboard_kernel::{Kernel, ServerPolicy, ServerSpec, Sharing};
use switchboard_peer::{Identity, Method};
use switchboard_protocol::Era;
use switchboard_store::{AuditEvent, Store};

use super::world::{Streamer, kernel, kernel_sharing, says, store};
use crate::gate::world::{Client, ERAS, entry, events, spec, until};

const REQUEST: &str = "notifications/mgp.callback.request";
const BOTH: [Sharing; 2] = [Sharing::Shared, Sharing::PerSession];

async fn client_as(kernel: &Kernel, name: &str, era: Era) -> Client {
    Client::new(kernel, Identity::new(name, Method::Token).into(), era, says(era, &["callbacks", "streaming"])).await
}

/// The question of the specification's own example, with another text.
fn confirm(message: &str) -> Value {
    json!({"callback_id": "cb-001", "type": "confirmation", "message": message, "options": ["confirm", "cancel"],
        "timeout_ms": 20_000})
}

fn asks(question: &Value) -> Value {
    json!({"name": "asks", "arguments": {"question": question}})
}

/// The newest question that a client was put, once there are so many.
async fn question(client: &Client, count: usize) -> Value {
    until("the question", || client.told(REQUEST).len() >= count).await;
    client.told(REQUEST)[count - 1].clone()
}

async fn respond(client: &Client, asked: &Value, text: &str) -> Result<Value, switchboard_wire::ErrorObject> {
    let params = json!({"callback_id": asked["callback_id"], "response": text});
    client.send_as(900, "mgp/callback/respond", params).await
}

async fn recorded(store: &Store, event_type: &str, count: usize) -> Vec<AuditEvent> {
    for _ in 0..200 {
        let found: Vec<_> = events(store).await.into_iter().filter(|event| event.event_type == event_type).collect();
        if found.len() >= count {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("fewer than {count} events {event_type}")
}

#[tokio::test]
async fn a_yes_answers_no_later_question_of_anybody() {
    for (era, sharing) in ERAS.into_iter().flat_map(|era| BOTH.map(|sharing| (era, sharing))) {
        let server = Streamer::new(Era::Legacy, true);
        let kernel = kernel_sharing(&server, None, sharing, |_| {}).await;
        let (ann, bob) = (client_as(&kernel, "ann", era).await, client_as(&kernel, "bob", era).await);
        let first = ann.begin(20, &asks(&confirm("Delete 1 temp file?")));
        let asked = question(&ann, 1).await;
        respond(&ann, &asked, "confirm").await.expect("taken");
        first.answer.await.expect("no panic").expect("a result");
        // The same person, another call; another person; and another life of the server.
        for (who, count, restart) in [(&ann, 2, false), (&bob, 1, false), (&bob, 2, true)] {
            if restart {
                let fresh = ServerSpec { sharing, ..spec("s", server.clone(), ServerPolicy::default()) };
                kernel.apply(vec![ServerSpec { fingerprint: "2".to_owned(), ..fresh }]);
                kernel.settled(std::time::Duration::from_secs(5)).await;
            }
            let running = who.begin(21, &asks(&confirm("Drop the production database?")));
            let asked = question(who, count).await;
            assert_eq!(asked["message"], "Server `s` asks: Drop the production database?", "{era:?} {sharing:?}");
            respond(who, &asked, "cancel").await.expect("taken");
            let result = running.answer.await.expect("no panic").expect("a result");
            assert_eq!(result["answered"]["response"], "cancel", "{era:?} {sharing:?}");
        }
    }
}

/// On connections of their own both are asked and answered apart. On one connection the server itself cannot tell two
/// answers of one name apart: nobody's yes reaches it.
#[tokio::test]
async fn of_two_questions_of_one_name_at_once_none_is_answered_by_the_other() {
    for sharing in BOTH {
        let directory = tempfile::tempdir().expect("a directory");
        let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
        let kernel = kernel_sharing(&server, Some(store.clone()), sharing, |_| {}).await;
        let (ann, bob) = (client_as(&kernel, "ann", Era::Legacy).await, client_as(&kernel, "bob", Era::Legacy).await);
        let of_ann = ann.begin(20, &asks(&confirm("ann: delete temp?")));
        let asked_ann = question(&ann, 1).await;
        let of_bob = bob.begin(20, &asks(&confirm("bob: drop all?")));
        if sharing == Sharing::Shared {
            for (of, who) in [(of_ann, "ann"), (of_bob, "bob")] {
                let answered = of.answer.await.expect("no panic").expect("a result")["answered"].clone();
                assert_eq!(answered["response"], "cancel", "{who}");
                assert_eq!(answered["_mgp"]["status"], "callback_id_in_use", "{who}");
            }
            assert!(bob.told(REQUEST).is_empty(), "he is not asked");
            assert_eq!(respond(&ann, &asked_ann, "confirm").await.expect_err("it is over").code, 4004);
            let said: Vec<Value> = server.answers.borrow().iter().map(|(_, said)| said["response"].clone()).collect();
            assert_eq!(said, ["cancel", "cancel"]);
            let refused = recorded(&store, "dev.switchboard.callback_refused", 1).await;
            assert_eq!((refused.len(), &refused[0].details["bound"]), (1, &json!("callback_id")), "{refused:?}");
            // Once nothing is open under it, the id is good again.
            let running = bob.begin(21, &asks(&confirm("bob: drop one?")));
            let asked = question(&bob, 1).await;
            respond(&bob, &asked, "confirm").await.expect("taken");
            assert_eq!(running.answer.await.expect("no panic").expect("a result")["answered"]["response"], "confirm");
            continue;
        }
        let asked_bob = question(&bob, 1).await;
        assert_eq!(
            (&asked_ann["message"], &asked_bob["message"]),
            (&json!("Server `s` asks: ann: delete temp?"), &json!("Server `s` asks: bob: drop all?"))
        );
        assert!(respond(&bob, &asked_ann, "confirm").await.is_err(), "not his");
        respond(&bob, &asked_bob, "cancel").await.expect("taken");
        assert_eq!(of_bob.answer.await.expect("no panic").expect("a result")["answered"]["response"], "cancel");
        respond(&ann, &asked_ann, "confirm").await.expect("taken");
        assert_eq!(of_ann.answer.await.expect("no panic").expect("a result")["answered"]["response"], "confirm");
    }
}

#[tokio::test]
async fn another_question_of_the_same_name_in_one_call_is_asked_as_well() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client_as(&kernel, "ann", Era::Legacy).await;
    let mut call = asks(&confirm("Delete 1 temp file?"));
    call["arguments"]["then"] = confirm("Delete everything?");
    let running = ann.begin(20, &call);
    let asked = question(&ann, 1).await;
    respond(&ann, &asked, "confirm").await.expect("taken");
    let asked = question(&ann, 2).await;
    assert_eq!(asked["message"], "Server `s` asks: Delete everything?");
    respond(&ann, &asked, "cancel").await.expect("taken");
    let result = running.answer.await.expect("no panic").expect("a result");
    assert_eq!((&result["answered"]["response"], &result["then"]["response"]), (&json!("confirm"), &json!("cancel")));
}

#[tokio::test]
async fn a_question_whose_place_was_taken_cannot_be_answered() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client_as(&kernel, "ann", Era::Legacy).await;
    let mut call = asks(&confirm("Delete 1 temp file?"));
    call["arguments"]["instead"] = confirm("Delete everything?");
    let running = ann.begin(20, &call);
    question(&ann, 2).await;
    let told = ann.told(REQUEST);
    let by = |text: &str| {
        told.iter().find(|asked| asked["message"] == format!("Server `s` asks: {text}")).expect("asked").clone()
    };
    assert_eq!(respond(&ann, &by("Delete 1 temp file?"), "confirm").await.expect_err("gone").code, 4004);
    assert_eq!(server.answers.borrow().len(), 0);
    respond(&ann, &by("Delete everything?"), "cancel").await.expect("taken");
    let result = running.answer.await.expect("no panic").expect("a result");
    assert_eq!(result["answered"]["response"], "cancel");
}

#[tokio::test]
async fn questions_end_with_their_call() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client_as(&kernel, "ann", Era::Legacy).await;
    let mut call = asks(&confirm("Still there?"));
    call["arguments"]["leaves"] = true.into();
    ann.send_as(20, "tools/call", call).await.expect("a result");
    let pending = ann.send_as(1, "mgp/events/pending_callbacks", json!({})).await.expect("a list");
    assert_eq!(pending["count"], 0);
    for asked in ann.told(REQUEST) {
        assert_eq!(respond(&ann, &asked, "confirm").await.expect_err("over").code, 4004);
    }
    assert_eq!(server.answers.borrow().len(), 0, "nobody waits for an answer");
}

#[tokio::test]
async fn every_answer_is_on_record_with_its_question_and_its_call() {
    let directory = tempfile::tempdir().expect("a directory");
    let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
    let kernel = kernel(&server, Some(store.clone())).await;
    let ann = client_as(&kernel, "ann", Era::Legacy).await;
    let mut call = asks(&confirm("Continue?"));
    call["trace_id"] = "trace-of-ann".into();
    let running = ann.begin(20, &call);
    let asked = question(&ann, 1).await;
    respond(&ann, &asked, "confirm").await.expect("taken");
    running.answer.await.expect("no panic").expect("a result");
    let secret = json!({"callback_id": "cb-2", "type": "input", "message": "Your word?"});
    let running = ann.begin(21, &asks(&secret));
    let asked = question(&ann, 2).await;
    respond(&ann, &asked, "hunter2").await.expect("taken");
    running.answer.await.expect("no panic").expect("a result");
    let noted = recorded(&store, "dev.switchboard.callback_answered", 2).await;
    let of = |kind: &str| noted.iter().find(|event| event.details["type"] == kind).expect("on record");
    let yes = of("confirmation");
    assert_eq!((yes.actor.id.as_str(), yes.trace_id.as_deref()), ("ann", Some("trace-of-ann")));
    assert_eq!(yes.target.tool_name.as_deref(), Some("asks"));
    assert_eq!((&yes.details["answer"], &yes.details["by"]), (&json!("confirm"), &json!("client")));
    assert_eq!((&yes.details["request_id"], &yes.details["callback_id"]), (&json!("20"), &json!("cb-001")));
    // The hash of the question's text.
    let hash = switchboard_store::Digest::of(b"Continue?").to_hex();
    assert_eq!(yes.details["question_sha256"], json!(hash));
    let word = of("input");
    assert!(word.details.contains_key("answer_sha256") && !word.details.contains_key("answer"), "{word:?}");
}

#[tokio::test]
async fn who_may_not_call_the_tool_any_more_answers_none_of_its_questions() {
    let directory = tempfile::tempdir().expect("a directory");
    let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
    let kernel = kernel(&server, Some(store.clone())).await;
    let ann = client_as(&kernel, "ann", Era::Legacy).await;
    let _running = ann.begin(20, &asks(&confirm("Continue?")));
    let asked = question(&ann, 1).await;
    let operator_actions = switchboard_kernel::OperatorActions::of_operator(store.clone(), "olga");
    operator_actions.grant_access(entry("ann", "s", Some("asks"), false)).await.expect("denied");
    assert_eq!(respond(&ann, &asked, "confirm").await.expect_err("not any more").code, 4004);
    assert_eq!(server.answers.borrow().len(), 0);
    let blocked = recorded(&store, "TOOL_BLOCKED", 1).await;
    // The call, and its question with it, has ended by then; or it ends just after.
    assert!(
        ["running", "mgp/callback/respond"].iter().any(|what| blocked[0].details["what"].as_str() == Some(*what)),
        "{blocked:?}"
    );
}

#[tokio::test]
async fn a_modern_client_answers_a_server_that_is_sent_traces() {
    let server = Streamer::new(Era::Legacy, true);
    server.extensions.lock().push("audit");
    let kernel = kernel(&server, None).await;
    let capabilities = json!({"elicitation": {}});
    let ann = Client::new(&kernel, Identity::new("ann", Method::Token).into(), Era::Modern, capabilities).await;
    let mut confirmed = 0;
    for mut call in [asks(&confirm("Continue?")), json!({"name": "halfway", "arguments": {}})] {
        let asking = ann.begin(1, &call);
        let first = asking.answer.await.expect("no panic").expect("a question");
        assert_eq!(first["resultType"], "input_required", "{first}");
        // On a pipe the first request is over with its answer; the call is not. Whoever takes that for the end of the
        // call answers no in this moment.
        asking.cancel.cancel();
        tokio::task::yield_now().await;
        let key = first["inputRequests"].as_object().expect("questions").keys().next().expect("one").clone();
        call["requestState"] = first["requestState"].clone();
        call["inputResponses"] = json!({key: {"action": "accept", "content": {"response": "confirm"}}});
        let result = ann.send_as(2, "tools/call", call).await.expect("a result");
        assert_eq!(result["resultType"], "complete", "{result}");
        if result.get("answered").is_some() {
            assert_eq!(result["answered"]["response"], "confirm", "what the client said is what the server hears");
            confirmed += 1;
        }
    }
    assert_eq!(confirmed, 1);
    assert!(server.heard("tools/call").iter().all(|call| call["trace_id"].is_string()), "it was sent traces");
}

/// An operator answers in another process; the kernel that asks puts it on record, once.
#[tokio::test]
async fn an_operators_answer_is_on_record_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
    let kernel = kernel(&server, Some(store.clone())).await;
    let ann = client_as(&kernel, "ann", Era::Legacy).await;
    let running = ann.begin(20, &asks(&confirm("Continue?")));
    question(&ann, 1).await;
    let pending = ann.send_as(1, "mgp/events/pending_callbacks", json!({})).await.expect("a list");
    assert_eq!(pending["pending"][0]["request_id"], 20, "{pending}");
    let operator_actions = switchboard_kernel::OperatorActions::of_operator(store.clone(), "olga");
    let said = serde_json::value::RawValue::from_string("\"confirm\"".to_owned()).expect("JSON");
    let id = pending["pending"][0]["callback_id"].as_str().expect("an id");
    operator_actions.answer_callback(id, &said).await.expect("kept").expect("open");
    running.answer.await.expect("no panic").expect("a result");
    let noted = recorded(&store, "dev.switchboard.callback_answered", 1).await;
    assert_eq!((noted.len(), &noted[0].details["by"]), (1, &json!("operator")), "{noted:?}");
    assert_eq!(noted[0].actor.id, "olga");
}

/// A form is filled in once: a server does not wait for another answer that nobody gives.
#[tokio::test]
async fn an_answer_that_was_not_offered_ends_the_question_at_once() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let capabilities = json!({"elicitation": {}});
    let ann = Client::new(&kernel, Identity::new("ann", Method::Token).into(), Era::Legacy, capabilities).await;
    let choose = json!({"callback_id": "cb-9", "type": "selection", "message": "Which?", "options": ["Red", "Blue"],
        "timeout_ms": 600_000});
    for (said, expected) in [("green", Value::Null), (" red", json!("Red")), ("Blue", json!("Blue"))] {
        ann.ear.answers.lock().push_back(json!({"action": "accept", "content": {"response": said}}));
        let call = ann.send_as(20, "tools/call", asks(&choose));
        let result = tokio::time::timeout(std::time::Duration::from_secs(10), call).await.expect("at once");
        let answered = result.expect("a result")["answered"].clone();
        assert_eq!(answered["response"], expected, "{answered}");
        let status = if expected.is_null() { json!("invalid_response") } else { Value::Null };
        assert_eq!(answered["_mgp"]["status"], status);
    }
}
