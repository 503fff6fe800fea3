//! All four pairs of eras.

use std::time::Duration;

use switchboard_peer::Call;
use switchboard_protocol::Era;
use switchboard_wire::{Edit, Raw};
use tokio_util::sync::CancellationToken;

use crate::world::{CLIENT_CAPABILITIES, PAIRS, client, client_with, raw, world};

#[tokio::test]
async fn lists_calls_prompts_resources_and_completions_pass() {
    for (ours, theirs) in PAIRS {
        let world = world(theirs).await;
        let client = client(&world.url, ours).await;
        let tools = client.ask("tools/list", "{}").await.unwrap();
        assert_eq!(tools.member("tools").unwrap().elements().unwrap().len(), 5, "{ours:?} {theirs:?}");
        assert_eq!(tools.member("resultType").is_some(), ours == Era::Modern, "a legacy client does not know it");
        let echo = client.ask("tools/call", r#"{"name":"echo","arguments":{"n":1.10}}"#).await.unwrap();
        assert_eq!(echo.at(&["seen", "arguments", "n"]).unwrap().as_str(), "1.10");
        client.ask("prompts/get", r#"{"name":"hello"}"#).await.unwrap();
        let read = client.ask("resources/read", r#"{"uri":"script://t/9"}"#).await.unwrap();
        assert!(read.as_str().contains("script://t/9"));
        let completed = client
            .ask(
                "completion/complete",
                r#"{"ref":{"type":"ref/prompt","name":"hello"},"argument":{"name":"a","value":""}}"#,
            )
            .await
            .unwrap();
        assert!(completed.as_str().contains("completionExtra"));
        let own = client.ask("vendor/own", "{}").await.unwrap();
        assert_eq!(own.member("vendor").unwrap().as_str(), "1.10");
    }
}

#[tokio::test]
async fn a_question_in_the_middle_of_a_call_reaches_the_person() {
    for (ours, theirs) in PAIRS {
        let world = world(theirs).await;
        let client = client(&world.url, ours).await;
        let result = client.ask("tools/call", r#"{"name":"ask","arguments":{}}"#).await.unwrap();
        let answer = result.member("answer").unwrap_or_else(|| panic!("{ours:?} {theirs:?}: {result:?}"));
        assert_eq!(answer.as_str(), r#"{"action":"accept","content":{"name":"Ada"},"answerExtra":1.10}"#);
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not_asked() {
    for ours in [Era::Legacy, Era::Modern] {
        let world = world(Era::Legacy).await;
        let client = client_with(&world.url, ours, "{}").await;
        let result = client.ask("tools/call", r#"{"name":"ask","arguments":{}}"#).await.unwrap();
        assert!(result.member("refused").is_some(), "{ours:?}: {result:?}");
    }
}

#[tokio::test]
async fn a_request_state_is_good_once_for_the_same_request() {
    let world = world(Era::Legacy).await;
    let client = client(&world.url, Era::Modern).await;
    let asked = client.once("tools/call", raw(r#"{"name":"ask","arguments":{"a":1}}"#)).await.unwrap();
    let state = asked.member("requestState").unwrap();
    let key = switchboard_wire::Object::open(&asked.member("inputRequests").unwrap())
        .unwrap()
        .iter()
        .next()
        .unwrap()
        .0
        .into_owned();
    let given = Edit::empty().set(&key, raw(r#"{"action":"decline"}"#)).finish();
    let retry = |arguments: &str| {
        Edit::empty()
            .set("name", Raw::string("ask"))
            .set("arguments", raw(arguments))
            .set("inputResponses", given.clone())
            .set("requestState", state.clone())
            .finish()
    };
    let other = client.once("tools/call", retry(r#"{"a":2}"#)).await.unwrap_err();
    assert_eq!(other.code, -32602, "another request: {other}");
    let first = client.once("tools/call", retry(r#"{"a":1}"#)).await.unwrap();
    assert_eq!(first.at(&["answer", "action"]).unwrap().as_str(), r#""decline""#);
    let again = client.once("tools/call", retry(r#"{"a":1}"#)).await.unwrap_err();
    assert_eq!(again.code, -32602, "used up: {again}");
}

#[tokio::test]
async fn input_that_was_not_given_is_asked_for_again() {
    let world = world(Era::Legacy).await;
    let client = client(&world.url, Era::Modern).await;
    let asked = client.once("tools/call", raw(r#"{"name":"ask"}"#)).await.unwrap();
    let retry = Edit::empty()
        .set("name", Raw::string("ask"))
        .set("inputResponses", raw("{}"))
        .set("requestState", asked.member("requestState").unwrap())
        .finish();
    let again = client.once("tools/call", retry).await.unwrap();
    assert_eq!(again.member("inputRequests"), asked.member("inputRequests"));
    assert_ne!(again.member("requestState"), asked.member("requestState"));
}

#[tokio::test]
async fn cancelling_reaches_the_server() {
    for (ours, theirs) in PAIRS {
        let world = world(theirs).await;
        let client = client(&world.url, ours).await;
        let cancel = CancellationToken::new();
        let mut call = Call::new("tools/call", Some(raw(r#"{"name":"slow"}"#)));
        call.cancel = cancel.clone();
        let remote = client.connected.remote.clone();
        let call = tokio::spawn(async move { remote.request(call).await });
        while world.script.heard("tools/call").is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        let told = tokio::time::timeout(Duration::from_secs(5), world.script.cancelled.notified()).await;
        assert!(told.is_ok(), "{ours:?} {theirs:?}");
        assert!(call.await.unwrap().is_err());
    }
}

#[tokio::test]
async fn progress_and_logs_reach_the_caller_as_its_era_asks() {
    for (ours, theirs) in PAIRS {
        let world = world(theirs).await;
        let mut client = client(&world.url, ours).await;
        let params = match ours {
            Era::Legacy => {
                client.ask("logging/setLevel", r#"{"level":"warning"}"#).await.unwrap();
                r#"{"name":"chatty","_meta":{"progressToken":"mine"}}"#
            }
            Era::Modern => {
                r#"{"name":"chatty","_meta":{"progressToken":"mine","io.modelcontextprotocol/logLevel":"warning"}}"#
            }
        };
        client.ask("tools/call", params).await.unwrap();
        let log = client.hear("notifications/message").await;
        assert_eq!(
            log.params.unwrap().as_str(),
            r#"{"level":"error","data":"said","logExtra":1.50}"#,
            "{ours:?} {theirs:?}"
        );
        let progress = client.hear("notifications/progress").await.params.unwrap();
        assert_eq!(progress.as_str(), r#"{"progress":0.50,"progressExtra":{"a":1},"progressToken":"mine"}"#);
    }
}

#[tokio::test]
async fn a_modern_request_without_a_log_level_gets_no_logs() {
    let world = world(Era::Legacy).await;
    let mut client = client(&world.url, Era::Modern).await;
    client.ask("tools/call", r#"{"name":"chatty","_meta":{"progressToken":1}}"#).await.unwrap();
    let first = client.told.recv().await.unwrap();
    assert_eq!(&*first.method, "notifications/progress");
    assert!(client.told.try_recv().is_err());
}

#[tokio::test]
async fn each_era_has_its_own_methods() {
    let world = world(Era::Modern).await;
    let legacy = client(&world.url, Era::Legacy).await;
    assert!(legacy.ask("ping", "{}").await.is_ok());
    assert_eq!(legacy.ask("tools/call", r#"{"name":"nope"}"#).await.unwrap_err().code, -32602);
    let modern = client_with(&world.url, Era::Modern, CLIENT_CAPABILITIES).await;
    for removed in ["ping", "logging/setLevel", "resources/subscribe", "initialize"] {
        assert_eq!(modern.once(removed, raw("{}")).await.unwrap_err().code, -32601, "{removed}");
    }
}

#[tokio::test]
async fn questions_that_come_together_are_asked_together() {
    let world = world(Era::Legacy).await;
    world.script.more_tools.lock().push("asks-much".to_owned());
    let client = client(&world.url, Era::Modern).await;
    let asked = client.once("tools/call", raw(r#"{"name":"asks-much"}"#)).await.unwrap();
    let requests = switchboard_wire::Object::open(&asked.member("inputRequests").unwrap()).unwrap();
    assert_eq!(requests.len(), 2, "{asked:?}");
}
