//! What handlers ask, in both eras from the same code.

use std::sync::atomic::{AtomicU32, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;
use switchboard_protocol::mcp::{CreateMessageParams, ElicitParams, Role, SamplingMessage};

use super::*;
use crate::{Answer, Error, Keyed, NoArgs, Prompt, Resource, StateKey, Tool, user};

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

fn capabilities() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

#[expect(clippy::needless_pass_by_value, reason = "it is called with values that were just written")]
fn accept(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

fn model(text: &str) -> CreateMessageParams {
    CreateMessageParams::new(vec![SamplingMessage::new(Role::User, text)], 10u64)
}

/// How often the code in front of the first question ran, and how often what was to run once.
#[derive(Default)]
struct Counts {
    runs: AtomicU32,
    once: AtomicU32,
}

fn server(counts: &Arc<Counts>) -> Server {
    let counts = counts.clone();
    Server::builder("t", "1")
        .state_key(StateKey::new([1; 32]))
        .tool(Tool::new::<NoArgs, String>("order").handler(move |ctx, _| {
            let counts = counts.clone();
            async move {
                counts.runs.fetch_add(1, Ordering::SeqCst);
                let number: u32 =
                    ctx.once("number", || async { Ok(counts.once.fetch_add(1, Ordering::SeqCst) + 17) }).await?;
                let name = ctx.elicit_form::<Name>("Who?").await?.accepted()?.name;
                let city = ctx.elicit(crate::form::<Name>("Where?").keyed("city")).await?;
                let Answer::Accepted(city) = Answer::<Name>::try_from(city)? else { return Ok("nowhere".to_owned()) };
                Ok(format!("{number} for {name} in {}", city.name))
            }
        }))
        .tool(Tool::new::<NoArgs, String>("both").handler(|ctx, _| async move {
            let (said, roots) = tokio::try_join!(ctx.sample(model("hi").keyed("say")), ctx.list_roots())?;
            Ok(format!("{} and {} roots", said.model, roots.len()))
        }))
        .tool(Tool::new::<NoArgs, String>("again").handler(|ctx, _| async move {
            let first = ctx.elicit(ElicitParams::new("1").keyed("same")).await?.action;
            let second = ctx.elicit(ElicitParams::new("2").keyed("same")).await?.action;
            Ok(format!("{first:?} {second:?}"))
        }))
        .tool(Tool::new::<NoArgs, String>("page").handler(|ctx, _| async move {
            Ok(format!("{:?}", ctx.elicit(ElicitParams::page("go", "https://x.test")).await?.action))
        }))
        .prompt(
            Prompt::new("p").handler(|ctx, _| async move {
                Ok(vec![user(ctx.elicit_form::<Name>("Who?").await?.accepted()?.name)])
            }),
        )
        .resource(
            Resource::new("x://r", "r")
                .reader(|ctx, _| async move { Ok(ctx.elicit_form::<Name>("Who?").await?.accepted()?.name.into()) }),
        )
        .method("x/ask", |ctx, _| async move {
            ctx.list_roots().await?;
            Ok(Raw::empty_object())
        })
        .build()
        .expect("a server")
}

#[tokio::test]
async fn a_legacy_client_is_asked_directly() {
    let counts = Arc::default();
    let server = server(&counts);
    let client = Client::answering(&server, Revision::V2025_06_18, capabilities(), |_, params| {
        Ok(accept(json!({"name": if params["message"] == "Who?" { "Ada" } else { "Turin" }})))
    });
    let result = client.tool("order", json!({})).await.expect("a result");
    assert_eq!(text(&result), "17 for Ada in Turin");
    assert_eq!(counts.runs.load(Ordering::SeqCst), 1);
    let asked = client.far.asked.lock().clone();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].0, method::ELICIT);
    assert_eq!(asked[0].1["requestedSchema"]["properties"]["name"]["type"], "string");
    assert_eq!(client.call("x/ask", json!({})).await.map_err(|error| error.code), Err(-32602), "no list of roots came");
}

#[tokio::test]
async fn a_modern_client_is_asked_in_rounds() {
    let counts = Arc::default();
    let client = Client::new(&server(&counts), Revision::LATEST, capabilities());
    let first = client.tool("order", json!({})).await.expect("a question");
    assert_eq!(first["resultType"], "input_required");
    let question = &first["inputRequests"]["elicitation-1"];
    assert_eq!((&question["method"], &question["params"]["message"]), (&json!("elicitation/create"), &json!("Who?")));
    assert_eq!(first["inputRequests"].as_object().map(serde_json::Map::len), Some(1));
    assert!(first.get("ttlMs").is_none());

    let retry = |state: &Value, responses: Value| {
        let params = json!({"name": "order", "arguments": {}, "requestState": state, "inputResponses": responses});
        client.call(method::TOOLS_CALL, params)
    };
    let second =
        retry(&first["requestState"], json!({"elicitation-1": accept(json!({"name": "Ada"})), "stray": 1})).await;
    let second = second.expect("another question");
    assert_eq!(second["inputRequests"]["city"]["params"]["message"], "Where?");
    assert_ne!(second["requestState"], first["requestState"]);

    // Nothing, or something else, is answered: the same is asked again, and what is known stays known.
    let third = retry(&second["requestState"], json!({"other": accept(json!({}))})).await.expect("the same question");
    assert_eq!(third["inputRequests"], second["inputRequests"]);
    // An earlier answer cannot be changed later.
    let answers = json!({"city": accept(json!({"name": "Turin"})), "elicitation-1": accept(json!({"name": "Eve"}))});
    let last = retry(&third["requestState"], answers).await.expect("a result");
    assert_eq!(text(&last), "17 for Ada in Turin");
    assert_eq!(last["resultType"], "complete");
    assert_eq!(counts.runs.load(Ordering::SeqCst), 4);
    assert_eq!(counts.once.load(Ordering::SeqCst), 1, "what ran once is remembered");
    assert!(client.far.asked.lock().is_empty(), "no request was sent");

    let declined = retry(&second["requestState"], json!({"city": {"action": "decline"}})).await.expect("a result");
    assert_eq!(text(&declined), "nowhere");
}

#[tokio::test]
async fn answers_of_the_wrong_shape_and_states_of_others() {
    let client = Client::new(&server(&Arc::default()), Revision::LATEST, capabilities());
    let first = client.tool("order", json!({})).await.expect("a question");
    let state = &first["requestState"];
    let call = |client: &Client, name: &str, arguments: Value, state: Value, responses: Value| {
        let params = json!({"name": name, "arguments": arguments, "requestState": state, "inputResponses": responses});
        let client = client.clone();
        async move { client.call(method::TOOLS_CALL, params).await }
    };
    let right = json!({"elicitation-1": accept(json!({"name": "Ada"}))});
    for (what, name, arguments, state, responses) in [
        ("number", "order", json!({}), state.clone(), json!({"elicitation-1": 12345})),
        ("no action", "order", json!({}), state.clone(), json!({"elicitation-1": {"content": {}}})),
        ("no object", "order", json!({}), state.clone(), json!([1])),
        ("changed", "order", json!({}), json!(format!("{}-TAMPERED", state.as_str().expect("text"))), right.clone()),
        ("other tool", "again", json!({}), state.clone(), right.clone()),
        ("other arguments", "order", json!({"x": 1}), state.clone(), right.clone()),
        ("no text", "order", json!({}), json!(7), right.clone()),
    ] {
        assert_eq!(code(call(&client, name, arguments, state, responses).await), -32602, "{what}");
    }
    let eve = client.as_principal("eve");
    assert_eq!(code(call(&eve, "order", json!({}), state.clone(), right.clone()).await), -32602);
    // Answers without a state, and null for none, are fine.
    let params = json!({"name": "order", "inputResponses": right});
    let second = client.call(method::TOOLS_CALL, params).await.expect("another question");
    assert!(second["inputRequests"].get("city").is_some());
    let params = json!({"name": "order", "inputResponses": null});
    assert_eq!(client.call(method::TOOLS_CALL, params).await.expect("a question")["resultType"], "input_required");
}

#[tokio::test]
async fn several_questions_at_once() {
    let client = Client::new(&server(&Arc::default()), Revision::LATEST, capabilities());
    let first = client.tool("both", json!({})).await.expect("questions");
    let keys: Vec<_> = first["inputRequests"].as_object().expect("questions").keys().cloned().collect();
    assert_eq!(keys, ["say", "roots-1"]);
    let said = json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"});
    let retry = |state: &Value, responses: Value| {
        client.call(
            method::TOOLS_CALL,
            json!({"name": "both", "arguments": {}, "requestState": state, "inputResponses": responses}),
        )
    };
    let second = retry(&first["requestState"], json!({"say": said})).await.expect("one question left");
    let keys: Vec<_> = second["inputRequests"].as_object().expect("questions").keys().cloned().collect();
    assert_eq!(keys, ["roots-1"]);
    let last =
        retry(&second["requestState"], json!({"roots-1": {"roots": [{"uri": "file:///a"}]}})).await.expect("a result");
    assert_eq!(text(&last), "m and 1 roots");
}

#[tokio::test]
async fn equal_keys_are_told_apart() {
    let client = Client::new(&server(&Arc::default()), Revision::LATEST, capabilities());
    let answer = |action: &str| json!({"action": action});
    let params = json!({"name": "again", "inputResponses": {"same": answer("accept"), "same-2": answer("cancel")}});
    assert_eq!(text(&client.call(method::TOOLS_CALL, params).await.expect("a result")), "Accept Cancel");
}

#[tokio::test]
async fn prompts_and_resources_ask_too() {
    let client = Client::new(&server(&Arc::default()), Revision::LATEST, capabilities());
    let responses = json!({"elicitation-1": accept(json!({"name": "Ada"}))});
    for (method, params) in
        [(method::PROMPTS_GET, json!({"name": "p"})), (method::RESOURCES_READ, json!({"uri": "x://r"}))]
    {
        let first = client.call(method, params.clone()).await.expect("a question");
        assert_eq!(first["resultType"], "input_required");
        assert_eq!(first.get("ttlMs"), None, "a question is not kept");
        let mut params = params;
        params["requestState"] = first["requestState"].clone();
        params["inputResponses"] = responses.clone();
        let last = client.call(method, params).await.expect("a result");
        assert_eq!(last["resultType"], "complete");
        assert!(last.to_string().contains("Ada"), "{last}");
    }
    let refused = client.call("x/ask", json!({})).await.expect_err("other methods have no rounds");
    assert_eq!(refused.code, -32603);
}

#[tokio::test]
async fn clients_that_cannot_be_asked() {
    let server = server(&Arc::default());
    for (tool, capabilities, required) in [
        ("order", json!({}), json!({"elicitation": {}})),
        ("order", json!({"elicitation": {"url": {}}}), json!({"elicitation": {"form": {}}})),
        ("page", json!({"elicitation": {}}), json!({"elicitation": {"url": {}}})),
        ("both", json!({"roots": {}}), json!({"sampling": {}})),
    ] {
        let modern = Client::new(&server, Revision::LATEST, capabilities.clone());
        let error = modern.tool(tool, json!({})).await.expect_err("it cannot be asked");
        assert_eq!(error.code, -32021, "{tool}");
        assert_eq!(value(&error.data.expect("data"))["requiredCapabilities"], required);
        let legacy = Client::new(&server, Revision::LATEST_LEGACY, capabilities);
        let result = legacy.tool(tool, json!({})).await.expect("a tool error");
        assert_eq!(result["isError"], true);
        assert!(text(&result).contains("the client does not support"), "{result}");
    }
    let refusing = Client::new(&server, Revision::LATEST_LEGACY, capabilities());
    let result = refusing.tool("order", json!({})).await.expect("a tool error");
    assert_eq!(text(&result), "the client refused: no");
}

#[tokio::test]
async fn legacy_pages_have_an_id() {
    let server = server(&Arc::default());
    let client = Client::answering(&server, Revision::V2025_11_25, json!({"elicitation": {"url": {}}}), |_, params| {
        assert!(params["elicitationId"].as_str().is_some_and(|id| id.len() == 32), "{params}");
        Ok(json!({"action": "accept"}))
    });
    assert_eq!(text(&client.tool("page", json!({})).await.expect("a result")), "Accept");
}

#[tokio::test]
async fn a_state_expires() {
    let server = Server::builder("t", "1")
        .state_ttl(std::time::Duration::ZERO)
        .tool(Tool::new::<NoArgs, ()>("ask").handler(|ctx, _| async move {
            ctx.list_roots().await.map_err(|error| Error::msg(error.to_string()))?;
            Ok(())
        }))
        .build()
        .expect("a server");
    let client = Client::new(&server, Revision::LATEST, capabilities());
    let first = client.tool("ask", json!({})).await.expect("a question");
    let params = json!({"name": "ask", "arguments": {}, "requestState": first["requestState"]});
    assert_eq!(code(client.call(method::TOOLS_CALL, params).await), -32602);
}

#[tokio::test]
async fn what_a_handler_spawned_does_not_wait_for_ever() {
    let (ended, mut ends) = tokio::sync::mpsc::channel(1);
    let server = Server::builder("t", "1")
        .tool(Tool::new::<NoArgs, ()>("spawn").handler(move |ctx, _| {
            let ended = ended.clone();
            async move {
                let asking = tokio::spawn(async move {
                    let answer = ctx.list_roots().await.map(|roots| roots.len());
                    ended.send(answer.map_err(|error| error.to_string())).await
                });
                let _ = asking.await?;
                Ok(())
            }
        }))
        .build()
        .expect("a server");
    let client = Client::new(&server, Revision::LATEST, capabilities());
    let first = client.tool("spawn", json!({})).await.expect("a question");
    assert_eq!(first["inputRequests"]["roots-1"]["method"], "roots/list");
    assert!(ends.recv().await.expect("it ends").is_err());
    let params = json!({"name": "spawn", "inputResponses": {"roots-1": {"roots": []}}});
    client.call(method::TOOLS_CALL, params).await.expect("a result");
    assert_eq!(ends.recv().await, Some(Ok(0)));
}
