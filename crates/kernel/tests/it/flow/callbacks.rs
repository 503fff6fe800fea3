//! Questions of servers, and everybody who can answer them.

use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_kernel::Kernel;
use switchboard_peer::{Identity, Method, Scopes};
use switchboard_protocol::Era;
use switchboard_protocol::mgp::ApprovalPolicy;

use super::world::{Streamer, kernel, kernel_with, says, store};
use crate::gate::world::{Client, events, until};

const REQUEST: &str = "notifications/mgp.callback.request";

async fn client(kernel: &Kernel, era: Era, capabilities: Value) -> Client {
    Client::new(kernel, Identity::new("ann", Method::Token).into(), era, capabilities).await
}

fn question(kind: &str, more: &Value) -> Value {
    let mut question = json!({"callback_id": "cb-001", "type": kind, "message": "Continue?"});
    for (key, value) in more.as_object().expect("an object") {
        question[key] = value.clone();
    }
    question
}

fn asks(question: &Value) -> Value {
    json!({"name": "asks", "arguments": {"question": question}})
}

fn options() -> Value {
    json!({"options": ["confirm", "cancel"]})
}

#[tokio::test]
async fn a_client_of_mgp_is_asked_under_its_own_names_and_answers() {
    for era in [Era::Legacy, Era::Modern] {
        let server = Streamer::new(Era::Legacy, true);
        let kernel = kernel(&server, None).await;
        let ann = client(&kernel, era, says(era, &["callbacks"])).await;
        let running = ann.begin(20, &asks(&question("confirmation", &options())));
        until("the question", || !ann.told(REQUEST).is_empty()).await;
        let asked = ann.told(REQUEST)[0].clone();
        assert_eq!((&asked["request_id"], &asked["type"]), (&json!(20), &json!("confirmation")));
        assert_eq!((&asked["server_id"], &asked["options"]), (&json!("s"), &json!(["confirm", "cancel"])));
        assert_ne!(asked["callback_id"], "cb-001", "two servers may use one id");
        let pending = ann.send_as(1, "mgp/events/pending_callbacks", json!({})).await.expect("a list");
        assert_eq!((&pending["count"], &pending["pending"][0]["callback_id"]), (&json!(1), &asked["callback_id"]));
        let respond = |text: &str| json!({"callback_id": asked["callback_id"], "response": text});
        let bob =
            Client::new(&kernel, Identity::new("bob", Method::Token).into(), era, says(era, &["callbacks"])).await;
        bob.send_as(1, "mgp/callback/respond", respond("confirm")).await.expect_err("not his");
        let unfit = ann.send_as(1, "mgp/callback/respond", respond("perhaps")).await.expect_err("no option");
        assert_eq!(unfit.code, -32602);
        let taken = ann.send_as(1, "mgp/callback/respond", respond("confirm")).await.expect("taken");
        assert_eq!(taken["status"], "accepted");
        let result = running.answer.await.expect("no panic").expect("a result");
        assert_eq!(result["answered"], json!({"callback_id": "cb-001", "response": "confirm"}));
    }
}

/// Who calls a tool is a model: it fills in what a server lacks, and agrees to nothing.
#[tokio::test]
async fn a_model_answers_what_is_no_choice_of_a_person() {
    for (kind, more, answer, may) in [
        ("input", json!({}), "red", true),
        ("confirmation", options(), "confirm", false),
        ("selection", options(), "confirm", false),
    ] {
        let server = Streamer::new(Era::Legacy, true);
        let kernel = kernel(&server, None).await;
        let ann = client(&kernel, Era::Legacy, json!({"mgp": {"version": "0.6.0", "extensions": ["callbacks"]}})).await;
        let running = ann.begin(20, &asks(&question(kind, &more)));
        until("the question", || !ann.told(REQUEST).is_empty()).await;
        let id = ann.told(REQUEST)[0]["callback_id"].clone();
        let tool = async |name: &str, arguments: Value| {
            ann.send_as(1, "tools/call", json!({"name": name, "arguments": arguments})).await
        };
        let pending = tool("mgp_events_pending_callbacks", json!({})).await.expect("a list");
        assert_eq!(pending["structuredContent"]["count"], usize::from(may), "{kind}: {pending}");
        let taken = tool("mgp_callback_respond", json!({"callback_id": id, "response": answer})).await;
        assert_eq!(taken.is_ok_and(|taken| taken["isError"] != true), may, "{kind}");
        if !may {
            let answer = json!({"callback_id": id, "response": answer});
            ann.send_as(1, "mgp/callback/respond", answer).await.expect("the client's own program may");
        }
        running.answer.await.expect("no panic").expect("a result");
    }
}

#[tokio::test]
async fn others_are_asked_in_the_words_of_mcp() {
    for (of, kind, more, content, expected) in [
        (Era::Legacy, "confirmation", options(), json!({"response": "confirm"}), "confirm"),
        (Era::Modern, "confirmation", options(), json!({"response": "confirm"}), "confirm"),
        (Era::Modern, "input", json!({}), json!({"response": "red"}), "red"),
        (Era::Legacy, "input", json!({}), json!({"response": "blue"}), "blue"),
        (Era::Legacy, "selection", json!({"options": ["a", "b"]}), json!({"response": "b"}), "b"),
    ] {
        let server = Streamer::new(of, true);
        let kernel = kernel(&server, None).await;
        let legacy = client(&kernel, Era::Legacy, json!({"elicitation": {}})).await;
        legacy.ear.answers.lock().push_back(json!({"action": "accept", "content": content}));
        let result = legacy.send_as(1, "tools/call", asks(&question(kind, &more))).await.expect("a result");
        assert_eq!(result["answered"]["response"], expected);
        let (method, asked) = legacy.ear.asked.lock()[0].clone();
        assert_eq!(method, "elicitation/create");
        assert!(asked["message"].as_str().expect("text").contains("Server `s` asks: Continue?"));

        let modern = client(&kernel, Era::Modern, json!({"elicitation": {}})).await;
        let mut other = question(kind, &more);
        other["callback_id"] = "cb-002".into();
        let call = asks(&other);
        let first = modern.send_as(1, "tools/call", call.clone()).await.expect("a question");
        assert_eq!(first["resultType"], "input_required", "{first}");
        let key = first["inputRequests"].as_object().expect("questions").keys().next().expect("one").clone();
        let mut again = call;
        again["requestState"] = first["requestState"].clone();
        again["inputResponses"] = json!({key: {"action": "accept", "content": content}});
        let result = modern.send_as(2, "tools/call", again).await.expect("a result");
        assert_eq!(result["answered"]["response"], expected);
    }
}

#[tokio::test]
async fn who_declines_a_confirmation_says_no() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, Era::Legacy, json!({"elicitation": {}})).await;
    ann.ear.answers.lock().push_back(json!({"action": "decline"}));
    let result = ann.send_as(1, "tools/call", asks(&question("confirmation", &options()))).await.expect("a result");
    assert_eq!(result["answered"]["response"], "cancel");
}

#[tokio::test]
async fn the_operator_answers_from_another_process() {
    let directory = tempfile::tempdir().expect("a directory");
    let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
    let kernel = kernel(&server, Some(store.clone())).await;
    let ann = client(&kernel, Era::Legacy, json!({})).await;
    let running = ann.begin(1, &asks(&question("input", &json!({}))));
    let now = jiff::Timestamp::now();
    let mut open = Vec::new();
    for _ in 0..400 {
        open = store.callbacks().pending(now, 10).await.expect("a list");
        if !open.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!((open[0].principal.as_str(), open[0].server.as_str(), open[0].kind.as_str()), ("ann", "s", "input"));
    assert!(open[0].shown.get().contains("Continue?"));
    let answer = RawValue::from_string("\"blue\"".to_owned()).expect("JSON");
    store.callbacks().answer(&open[0].id, &answer, "olga", now).await.expect("kept").expect("open");
    let result = running.answer.await.expect("no panic").expect("a result");
    assert_eq!(result["answered"]["response"], "blue");
}

#[tokio::test]
async fn policy_answers_confirmations_and_nothing_else() {
    for (policy, expected) in [(ApprovalPolicy::AutoApprove, "yes"), (ApprovalPolicy::DenyAll, "abort")] {
        let server = Streamer::new(Era::Legacy, true);
        let kernel = kernel_with(&server, None, |gate| gate.approval_policy = policy).await;
        let ann = client(&kernel, Era::Legacy, says(Era::Legacy, &["callbacks"])).await;
        let asked = question("confirmation", &json!({"options": ["abort", "yes"]}));
        let result = ann.send_as(1, "tools/call", asks(&asked)).await.expect("a result");
        assert_eq!(result["answered"]["response"], expected);
        assert_eq!(ann.told(REQUEST), Vec::<Value>::new(), "nobody is asked");
    }
}

#[tokio::test]
async fn a_question_that_nobody_answers_ends_with_no_and_is_on_record() {
    let directory = tempfile::tempdir().expect("a directory");
    let (server, store) = (Streamer::new(Era::Legacy, true), store(&directory).await);
    let kernel = kernel(&server, Some(store.clone())).await;
    let ann = client(&kernel, Era::Legacy, says(Era::Legacy, &["callbacks"])).await;
    let mut asked = question("confirmation", &options());
    asked["timeout_ms"] = 200.into();
    let result = ann.send_as(1, "tools/call", asks(&asked)).await.expect("a result");
    assert_eq!(result["answered"]["response"], "cancel");
    assert_eq!(
        (&result["answered"]["_mgp"]["code"], &result["answered"]["_mgp"]["status"]),
        (&json!(3003), &json!("timeout"))
    );
    for _ in 0..200 {
        if events(&store).await.iter().any(|event| event.event_type == "CALLBACK_TIMEOUT") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("not on record");
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_question_is_put_again_under_the_same_id() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, Era::Legacy, says(Era::Legacy, &["callbacks"])).await;
    let mut call = asks(&question("input", &json!({"timeout_ms": 60_000})));
    call["arguments"]["times"] = 3.into();
    let _running = ann.begin(1, &call);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(ann.told(REQUEST).len(), 3);
    let told = ann.told(REQUEST);
    assert!(told.iter().all(|asked| asked["callback_id"] == told[0]["callback_id"]));
    assert_eq!(
        told.iter().map(|asked| asked["_mgp"]["attempt"].clone()).collect::<Vec<_>>(),
        [Value::Null, json!(2), json!(3)]
    );
}

#[tokio::test]
async fn a_server_that_asks_again_gets_the_recorded_answer() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, Era::Legacy, json!({"elicitation": {}})).await;
    ann.ear.answers.lock().push_back(json!({"action": "accept", "content": {"response": "blue"}}));
    let mut call = asks(&question("input", &json!({})));
    call["arguments"]["again"] = true.into();
    ann.send_as(1, "tools/call", call).await.expect("a result");
    until("the answer once more", || server.answers.borrow().len() == 2).await;
    assert_eq!(server.answers.borrow()[1].1["response"], "blue");
    assert_eq!(ann.ear.asked.lock().len(), 1, "the person was asked once");
}

#[tokio::test]
async fn information_is_passed_on_and_waits_for_nobody() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let mgp = client(&kernel, Era::Legacy, says(Era::Legacy, &["callbacks"])).await;
    mgp.send_as(1, "tools/call", asks(&question("notification", &json!({})))).await.expect("a result");
    assert_eq!(mgp.told(REQUEST)[0]["message"], "Continue?");
    let plain = client(&kernel, Era::Legacy, json!({})).await;
    plain.send_as(1, "tools/call", asks(&question("notification", &json!({})))).await.expect("a result");
    let told = plain.told("notifications/message");
    assert_eq!((&told[0]["data"], &told[0]["logger"]), (&json!("Continue?"), &json!("s")));
}

#[tokio::test]
async fn a_model_of_the_client_answers_a_completion() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, Era::Legacy, json!({"sampling": {}})).await;
    ann.ear
        .answers
        .lock()
        .push_back(json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "hello"}}));
    let asked = question("llm_completion", &json!({"messages": [{"role": "user", "content": "hi"}]}));
    let result = ann.send_as(1, "tools/call", asks(&asked)).await.expect("a result");
    assert_eq!(
        (&result["answered"]["response"]["content"], &result["answered"]["response"]["model"]),
        (&json!("hello"), &json!("m"))
    );
    assert_eq!(ann.ear.asked.lock()[0].0, "sampling/createMessage");
}

/// What a client sees of the questions that wait, and whether it may answer the first.
async fn pending(client: &Client, meta: &Value) -> Value {
    let asked = client.send_as(1, "mgp/events/pending_callbacks", json!({"_meta": meta})).await;
    asked.expect("a list")["count"].clone()
}

/// Who may not make the call with the token that is shown neither hears of its question nor answers it.
#[tokio::test]
async fn a_narrowed_token_neither_hears_of_a_question_nor_answers_it() {
    for era in [Era::Legacy, Era::Modern] {
        let server = Streamer::new(Era::Legacy, true);
        let kernel = kernel(&server, None).await;
        let ann = client(&kernel, era, says(era, &["callbacks"])).await;
        let with_scopes = async |words: &[&str]| {
            let (admin, scopes) = Scopes::parse(words.iter().copied()).expect("scopes");
            let identity = Identity { admin, scopes, ..Identity::new("ann", Method::Token) };
            Client::new(&kernel, identity.into(), era, says(era, &["callbacks"])).await
        };
        let (narrow, wide) = (with_scopes(&["tool:think"]).await, with_scopes(&["tool:asks"]).await);
        let mut tokens = Vec::new();
        for scope in ["tool:think", "tool:asks"] {
            let given =
                ann.send_as(1, "negotiate_scopes", json!({"requested_scopes": [scope]})).await.expect("a token");
            tokens.push(json!({"dev.switchboard/session_token": given["session"]["token"]}));
        }
        tokens.push(json!({"dev.switchboard/session_token": "sbs_ended"}));
        let running = ann.begin(20, &asks(&question("confirmation", &options())));
        until("the question", || !ann.told(REQUEST).is_empty()).await;
        let id = ann.told(REQUEST)[0]["callback_id"].clone();
        let plain = json!({});
        for (who, meta, hears) in [
            (&narrow, &plain, 0),
            (&ann, &tokens[0], 0),
            (&ann, &tokens[2], 0),
            (&wide, &tokens[0], 0),
            (&ann, &plain, 1),
            (&wide, &plain, 1),
            (&ann, &tokens[1], 1),
        ] {
            assert_eq!(pending(who, meta).await, hears, "{era:?} {meta}");
            if hears == 0 {
                let answer = json!({"callback_id": id, "response": "confirm", "_meta": meta});
                who.send_as(1, "mgp/callback/respond", answer).await.expect_err("no say");
            }
        }
        assert!(narrow.told(REQUEST).is_empty() && wide.told(REQUEST).is_empty(), "only the caller is asked");
        assert!(!running.answer.is_finished(), "nobody has answered yet");
        let answer = json!({"callback_id": id, "response": "confirm", "_meta": tokens[1]});
        wide.send_as(1, "mgp/callback/respond", answer).await.expect("taken");
        let result = running.answer.await.expect("no panic").expect("a result");
        assert_eq!(result["answered"]["response"], "confirm");
    }
}
