//! Answers in the middle of calls: nobody smuggles one in, and whoever gives one for somebody else is held to their rights.

use serde_json::{Value, json};
use switchboard_kernel::ServerPolicy;
use switchboard_peer::Call;
use switchboard_protocol::Era;
use switchboard_wire::ErrorObject;

use super::world::{Client, House, Script, dangerous, open_house, raw, tool, until};

/// Clients with servers.
const PAIRS: [(Era, Era); 4] =
    [(Era::Legacy, Era::Modern), (Era::Legacy, Era::Legacy), (Era::Modern, Era::Modern), (Era::Modern, Era::Legacy)];

/// Makes a call of a tool that asks something, and answers in the way of the client's era.
async fn call_and_answer(client: &Client, tool: &str, answer: Value) -> Result<Value, ErrorObject> {
    if client.era == Era::Legacy {
        client.ear.answers.lock().push_back(answer);
        return client.call(tool, json!({})).await;
    }
    let asked = client.call(tool, json!({})).await.unwrap();
    let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let params = json!({
        "name": tool, "arguments": {}, "requestState": asked["requestState"], "inputResponses": {key: answer},
    });
    client.request("tools/call", params).await
}

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
    for (client, server) in PAIRS {
        let script = Script::new(server, vec![tool("asks")]);
        let house = House::new(&[("files", script.clone())]).await;
        house.grant("ann", "files", None, true).await;
        let ann = house.client_with(client, "ann", json!({"elicitation": {"form": {}}})).await;
        let give = async |answer: Value| {
            let called = call_and_answer(&ann, "asks", answer).await;
            called.is_ok_and(|result| result.get("answered").is_none_or(|answered| answered == true))
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

fn for_zoe(via: &str) -> Value {
    json!({"original_actor": "zoe", "delegated_via": via, "delegation_id": "d", "chain": ["zoe", via]})
}

/// Whoever answers the gate's own question for somebody is held to their rights.
#[tokio::test]
async fn a_held_call_is_not_approved_for_somebody_who_may_not_make_it() {
    let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let mgp = json!({"mgp": {"version": "0.3.0", "extensions": ["callbacks"]}});
    let ann = house.client_with(Era::Legacy, "ann", mgp).await;
    let respond = async |place: &str, delegation: Option<Value>| {
        let mut params = json!({"callback_id": question(&ann).unwrap(), "response": "confirm"});
        if let Some(delegation) = delegation {
            params[place] = json!({"delegation": delegation});
        }
        ann.request("mgp/callback/respond", params).await
    };
    let answering = async {
        until("she is asked", || question(&ann).is_some()).await;
        for place in ["_meta", "_mgp"] {
            let refused = respond(place, Some(for_zoe("ann"))).await;
            assert!(refused.is_err(), "{place}: zoe may not: {refused:?}");
            let refused = respond(place, Some(for_zoe("bob"))).await;
            assert!(refused.is_err(), "{place}: bob does not answer: {refused:?}");
        }
        assert_eq!(script.calls(), 0);
        house.grant("zoe", "files", None, true).await;
        respond("_meta", Some(for_zoe("ann"))).await.expect("zoe may");
    };
    let (called, ()) = tokio::join!(ann.call("drop", json!({})), answering);
    assert!(super::world::ran(&called), "{called:?}");
    let blocked = house.await_events("TOOL_BLOCKED", 4).await;
    assert!(blocked.iter().all(|event| event.details["step"] == "delegation"), "{blocked:?}");
}

/// The first question that a client was put by callback.
fn question(client: &Client) -> Option<Value> {
    let told = client.ear.told.lock();
    let mut asked = told.iter().filter(|(method, _)| method == "notifications/mgp.callback.request");
    asked.next().map(|(_, question)| question["callback_id"].clone())
}

/// Who calls a tool is a model, and a model does not say that a person agreed: under no spelling, and not from another session.
#[tokio::test]
async fn a_model_does_not_approve_its_own_call() {
    let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let mgp = json!({"mgp": {"version": "0.6.0", "extensions": ["callbacks"]}});
    let ann = house.client_with(Era::Legacy, "ann", mgp.clone()).await;
    let other = house.client_with(Era::Legacy, "ann", mgp).await;
    let answering = async {
        until("she is asked", || question(&ann).is_some()).await;
        let id = question(&ann).unwrap();
        for client in [&ann, &other] {
            let pending = client.call("mgp_events_pending_callbacks", json!({})).await;
            assert!(!format!("{pending:?}").contains(id.as_str().unwrap()), "{pending:?}");
            for response in ["confirm", "confirm_session"] {
                let arguments = json!({"callback_id": id, "response": response});
                for name in ["mgp_callback_respond", "mgp.callback.respond"] {
                    let refused = client.request("tools/call", json!({"name": name, "arguments": arguments})).await;
                    assert!(!super::world::ran(&refused), "{name}: {refused:?}");
                }
                let within = json!({"name": "mgp_callback_respond", "arguments": arguments});
                let refused = client.call("mgp_tools_call", within).await;
                assert!(!super::world::ran(&refused), "{refused:?}");
            }
        }
        assert_eq!(script.calls(), 0);
        let params = json!({"callback_id": id, "response": "confirm"});
        ann.request("mgp/callback/respond", params).await.expect("the client's own program may");
    };
    let (called, ()) = tokio::join!(ann.call("drop", json!({})), answering);
    assert!(super::world::ran(&called), "{called:?}");
    assert_eq!(script.calls(), 1);
}

/// The questions of a task are answered for nobody who could not have begun it.
#[tokio::test]
async fn an_answer_to_a_tasks_question_is_judged_as_a_call_for_them() {
    let script = Script::new(Era::Modern, vec![tool("work")]);
    script.capabilities.lock()["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    let task = json!({"taskId": "t-1", "status": "working", "ttlMs": 60_000, "pollIntervalMs": 20,
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"});
    let mut made = task.clone();
    made["resultType"] = "task".into();
    let mut asks = task.clone();
    asks["status"] = "input_required".into();
    asks["inputRequests"] = json!({"who": {"method": "elicitation/create",
        "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}}});
    for (key, result) in [("work", made), ("tasks/get", asks), ("tasks/update", json!({}))] {
        script.results.lock().insert(key.to_owned(), result);
    }
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client_with(Era::Legacy, "ann", json!({"elicitation": {"form": {}}})).await;
    let call = json!({"name": "work", "arguments": {}, "task": {"ttl": 60_000}});
    ann.request("tools/call", call).await.expect("a task");
    for place in ["_meta", "_meta._mgp", "_mgp"] {
        ann.ear.answers.lock().push_back(answer(place, "ann"));
        let refused = ann.request("tasks/result", json!({"taskId": "t-1"})).await;
        assert!(refused.is_err(), "{place}: {refused:?}");
    }
    assert!(script.heard("tasks/update").is_empty(), "zoe may not");
    house.grant("zoe", "files", None, true).await;
    ann.ear.answers.lock().push_back(answer("_meta", "ann"));
    let _ =
        tokio::time::timeout(std::time::Duration::from_secs(2), ann.request("tasks/result", json!({"taskId": "t-1"})))
            .await;
    assert_eq!(script.heard("tasks/update").len(), 1, "zoe may");
}

/// Whoever answers what a server asks, and with which word, is on record before the server has the answer: in every pair of
/// eras, and without what the answer holds.
#[tokio::test]
async fn an_answer_is_on_record() {
    for (client, server) in PAIRS {
        let script = Script::new(server, vec![tool("asks"), tool("samples")]);
        let house = House::new(&[("files", script.clone())]).await;
        house.grant("ann", "files", None, true).await;
        let can = json!({"elicitation": {"form": {}}, "sampling": {}});
        let ann = house.client_with(client, "ann", can).await;
        for (count, action) in ["accept", "decline"].into_iter().enumerate() {
            let answer = json!({"action": action, "content": {"name": "hunter22"}});
            let _ = call_and_answer(&ann, "asks", answer).await;
            let noted = house.await_events("dev.switchboard.question_answered", count + 1).await;
            let noted: Vec<_> = noted.iter().filter(|event| event.details["answer"] == action).collect();
            assert_eq!(noted.len(), 1, "{client:?} {server:?}: {noted:?}");
            let event = noted[0];
            assert_eq!((&*event.actor.id, event.details["type"].as_str()), ("ann", Some("elicitation")));
            assert_eq!(event.details["answer_sha256"].as_str().unwrap().len(), 64, "{event:?}");
            let text = format!("{event:?}");
            assert!(text.contains("asks") && text.contains("files") && !text.contains("hunter22"), "{text}");
        }
        let said = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "hunter22"}});
        let _ = call_and_answer(&ann, "samples", said).await;
        let noted = house.await_events("dev.switchboard.question_answered", 3).await;
        let noted: Vec<_> = noted.iter().filter(|event| event.details["type"] == "sampling").collect();
        assert_eq!(noted.len(), 1, "{client:?} {server:?}: {noted:?}");
        assert_eq!((&*noted[0].actor.id, noted[0].target.tool_name.as_deref()), ("ann", Some("samples")));
        assert_eq!(noted[0].details["answer_sha256"].as_str().unwrap().len(), 64, "{noted:?}");
        assert!(!noted[0].details.contains_key("answer") && !format!("{noted:?}").contains("hunter22"), "{noted:?}");
    }
}

/// The same of a question that a server asks outside of any call.
#[tokio::test]
async fn an_answer_outside_of_a_call_is_on_record() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client_with(Era::Legacy, "ann", json!({"elicitation": {"form": {}}, "sampling": {}})).await;
    ann.notify("notifications/initialized", json!({})).await;
    let server = script.sessions.lock().last().unwrap().clone();
    let question = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
    let messages = json!({"messages": [], "maxTokens": 5});
    let form = json!({"action": "accept", "content": {"name": "hunter22"}});
    let said = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "hunter22"}});
    let both =
        [("elicitation/create", question, form, "elicitation"), ("sampling/createMessage", messages, said, "sampling")];
    for (count, (method, params, answer, kind)) in both.into_iter().enumerate() {
        ann.ear.answers.lock().push_back(answer);
        let reply = server.remote().request(Call::new(method, Some(raw(&params)))).await.unwrap();
        reply.outcome.expect("it is answered");
        if kind == "elicitation" {
            assert_eq!(ann.ear.asked.lock()[0].1["message"], "Server `files` asks: Who?");
        }
        // It is on record by the time that the server has it.
        let noted = house.await_events("dev.switchboard.question_answered", count + 1).await;
        let event = noted.iter().find(|event| event.details["type"] == kind).expect("on record");
        assert_eq!((&*event.actor.id, event.target.server_id.as_deref()), ("ann", Some("files")));
        assert!(event.target.tool_name.is_none() && !format!("{event:?}").contains("hunter22"), "{event:?}");
    }
}

/// A server can word its question like one of the gate: people are told whose it is, in every pair of eras.
#[tokio::test]
async fn a_question_of_a_server_begins_with_its_name() {
    for (client, server) in PAIRS {
        let script = Script::new(server, vec![tool("asks"), dangerous("drop")]);
        let house = House::new(&[("files", script.clone())]).await;
        house.grant("ann", "files", None, true).await;
        let ann = house.client_with(client, "ann", json!({"elicitation": {"form": {}}})).await;
        let mut asked = Vec::new();
        for tool in ["asks", "drop"] {
            ann.ear.answers.lock().push_back(json!({"action": "decline"}));
            let result = ann.call(tool, json!({})).await;
            asked.push(match client {
                Era::Legacy => ann.ear.asked.lock().last().unwrap().1["message"].clone(),
                Era::Modern => {
                    let requests = result.unwrap()["inputRequests"].clone();
                    requests.as_object().unwrap().values().next().unwrap()["params"]["message"].clone()
                }
            });
        }
        assert_eq!(asked[0], "Server `files` asks: Who?", "{client:?} {server:?}");
        assert!(asked[1].as_str().unwrap().starts_with("Allow `drop`"), "{client:?} {server:?}: {asked:?}");
    }
}

/// A question without any words, or with a heading that a client may show in their place, is no way around that; nor do people have
/// to know an id that no name of a tool shows them.
#[tokio::test]
async fn a_question_without_words_or_with_a_heading_carries_the_name_that_clients_know() {
    for (client, server) in PAIRS {
        for alias in [None, Some("docs")] {
            let known = alias.map_or_else(|| "files".to_owned(), |alias| format!("{alias} (files)"));
            let script = Script::new(server, vec![tool("asks")]);
            let policy = || ServerPolicy { alias: alias.map(str::to_owned), ..ServerPolicy::default() };
            let house = House::with(&[("files", script.clone())], policy, open_house).await;
            let ann = house.client_with(client, "ann", json!({"elicitation": {"form": {}}})).await;
            for (question, title) in [
                (Value::Null, None),
                (json!({}), None),
                (json!({"title": "Switchboard asks", "message": "?"}), Some("/title")),
                (
                    json!({"message": "?", "requestedSchema": {"type": "object", "title": "Allow?", "properties": {}}}),
                    Some("/requestedSchema/title"),
                ),
            ] {
                *script.question.lock() = question.clone();
                ann.ear.answers.lock().push_back(json!({"action": "decline"}));
                let result = ann.call("asks", json!({})).await;
                let asked = match client {
                    Era::Legacy => ann.ear.asked.lock().last().unwrap().1.clone(),
                    Era::Modern => {
                        let requests = result.unwrap()["inputRequests"].clone();
                        requests.as_object().unwrap().values().next().unwrap()["params"].clone()
                    }
                };
                let begins = format!("Server `{known}` asks: ");
                let has =
                    |place: &str| asked.pointer(place).is_some_and(|text| text.as_str().unwrap().starts_with(&begins));
                assert!(has("/message"), "{client:?} {server:?} {question}: {asked}");
                assert!(title.is_none_or(has), "{client:?} {server:?} {question}: {asked}");
            }
        }
    }
}

/// What a request brings as an answer is on record as one only where its sender was asked.
#[tokio::test]
async fn an_answer_to_a_question_that_nobody_asked_is_not_on_record_as_one() {
    for server in [Era::Legacy, Era::Modern] {
        let script = Script::new(server, vec![tool("asks")]);
        let house = House::new(&[("files", script.clone())]).await;
        for principal in ["ann", "bob"] {
            house.grant(principal, "files", None, true).await;
        }
        let can = json!({"elicitation": {"form": {}}});
        let ann = house.client_with(Era::Modern, "ann", can.clone()).await;
        let bob = house.client_with(Era::Modern, "bob", can).await;
        let yes = json!({"action": "accept", "content": {}});
        let given = |state: Option<&Value>, key: &str| {
            let mut params = json!({"name": "asks", "arguments": {}, "inputResponses": {key: yes}});
            if let Some(state) = state {
                params["requestState"] = state.clone();
            }
            params
        };
        let invented = json!("invented");
        for (state, key) in [(Some(&invented), "who"), (Some(&invented), "ask-1"), (None, "who")] {
            let _ = ann.request("tools/call", given(state, key)).await;
        }
        let asked = ann.call("asks", json!({})).await.unwrap();
        let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
        // Of somebody else, and under a key that was not asked for.
        let _ = bob.request("tools/call", given(Some(&asked["requestState"]), &key)).await;
        let mut both = given(Some(&asked["requestState"]), &key);
        both["inputResponses"]["other"] = json!({"action": "decline"});
        ann.request("tools/call", both).await.unwrap();
        let answered = house.await_events("dev.switchboard.question_answered", 1).await;
        assert_eq!(answered.len(), 1, "{server:?}: {answered:?}");
        assert_eq!((&*answered[0].actor.id, &answered[0].details["answer"]), ("ann", &json!("accept")));
        let count = if server == Era::Modern { 4 } else { 0 };
        let unasked = house.await_events("dev.switchboard.answer_unasked", count).await;
        assert_eq!(unasked.len(), count, "{server:?}: a legacy server gets none of them: {unasked:?}");
    }
}
