//! What a server sends reaches the one it is for, and nobody else.

use std::sync::Arc;
use std::time::Duration;

use switchboard_kernel::{Kernel, Sharing};
use switchboard_peer::Call;
use switchboard_protocol::Era;
use switchboard_wire::{Edit, Notification, Raw};

use crate::wire::{local, until, wire, wire_that_thinks};
use crate::world::{Script, client, raw, serve, spec};

fn shared(script: &Arc<Script>) -> Kernel {
    for name in ["wait", "ask-aside", "chat-and-ask"] {
        script.more_tools.lock().push(name.to_owned());
    }
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![local("s", "1", script.clone(), Sharing::Shared)]);
    kernel
}

#[tokio::test]
async fn a_question_that_names_no_call_is_not_put_to_a_bystander() {
    let script = Script::new(Era::Legacy);
    let kernel = shared(&script);
    let mut ada = wire(&kernel, "ada", Era::Legacy).await;
    let eve = wire(&kernel, "eve", Era::Modern).await;
    let calls = [ada.begin("tools/call", r#"{"name":"wait"}"#), eve.begin("tools/call", r#"{"name":"wait"}"#)];
    until("both calls run", || script.heard("tools/call").len() == 2).await;
    let session = script.sessions.lock()[0].clone();
    let question = Call::new("elicitation/create", Some(raw(r#"{"message":"Who?"}"#)));
    let answer = session.remote().request(question).await.unwrap();
    assert!(answer.outcome.is_err(), "{answer:?}");
    assert!(ada.asked.try_recv().is_err(), "the question may be eve's");
    for call in calls {
        call.abort();
    }
}

/// A server may go on with a call that was given up, and ask about it while only somebody else's call runs.
#[tokio::test]
async fn a_question_of_a_call_that_was_given_up_is_not_put_to_another() {
    let script = Script::new(Era::Legacy);
    let kernel = shared(&script);
    let ada = wire(&kernel, "ada", Era::Legacy).await;
    let mut eve = wire(&kernel, "eve", Era::Legacy).await;
    let given_up = ada.begin("tools/call", r#"{"name":"slow"}"#);
    until("ada's call runs", || script.heard("tools/call").len() == 1).await;
    given_up.abort();
    script.cancelled.notified().await;
    let session = script.sessions.lock()[0].clone();
    let ask = async || {
        let question = Call::new("elicitation/create", Some(raw(r#"{"message":"Ada: delete it?"}"#)));
        session.remote().request(question).await.unwrap().outcome
    };
    let others = eve.begin("tools/call", r#"{"name":"wait"}"#);
    until("eve's call runs", || script.heard("tools/call").len() == 2).await;
    assert!(ask().await.is_err());
    let said = Notification::new("notifications/message", Some(raw(r#"{"level":"error","data":"ada's"}"#)));
    session.remote().notify(said).unwrap();
    script.release.notify_one();
    others.await.unwrap().unwrap();
    // The same where nobody's call runs, and eve is the only one left.
    ada.connection.close();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(ask().await.is_err());
    assert!(eve.asked.try_recv().is_err(), "the question is ada's");
    while let Ok(told) = eve.told.try_recv() {
        assert_ne!(&*told.method, "notifications/message", "{told:?}");
    }
}

/// The first question of a server is enough: the next ones find the clients taking turns, and nobody has to guess.
#[tokio::test]
async fn a_server_that_asked_once_serves_its_clients_in_turns() {
    let script = Script::new(Era::Legacy);
    let kernel = shared(&script);
    let mut ada = wire(&kernel, "ada", Era::Legacy).await;
    let eve = wire(&kernel, "eve", Era::Legacy).await;
    let first = ada.begin("tools/call", r#"{"name":"wait"}"#);
    until("ada's call runs", || script.heard("tools/call").len() == 1).await;
    let session = script.sessions.lock()[0].clone();
    let question = Call::new("elicitation/create", Some(raw(r#"{"message":"Who?"}"#)));
    session.remote().request(question).await.unwrap().outcome.expect("there is no doubt whose it is");
    ada.asked.recv().await.expect("it was put to ada");
    let second = eve.begin("tools/call", r#"{"name":"wait"}"#);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(script.heard("tools/call").len(), 1, "eve's call waits for its turn");
    script.release.notify_one();
    first.await.unwrap().unwrap();
    until("eve's call runs", || script.heard("tools/call").len() == 2).await;
    second.abort();
}

#[tokio::test]
async fn a_question_beside_the_stream_of_a_call_reaches_its_caller() {
    let script = Script::new(Era::Legacy);
    script.more_tools.lock().push("ask-aside".to_owned());
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![spec("s", &serve(script.clone()).await, Sharing::Shared)]);
    let url = serve(Arc::new(kernel)).await;
    for era in [Era::Modern, Era::Legacy] {
        let client = client(&url, era).await;
        let result = client.ask("tools/call", r#"{"name":"ask-aside"}"#).await.unwrap();
        assert!(result.member("answer").is_some(), "{era:?}: {result:?}");
    }
}

#[tokio::test]
async fn logs_of_a_shared_server_stay_with_their_principal() {
    let script = Script::new(Era::Legacy);
    let kernel = shared(&script);
    let mut ada = wire(&kernel, "ada", Era::Legacy).await;
    let mut eve = wire(&kernel, "eve", Era::Legacy).await;
    let log = |text: &str| {
        let params = Edit::empty().set("level", Raw::string("error")).set("data", Raw::string(text)).finish();
        Notification::new("notifications/message", Some(params))
    };
    let session = script.sessions.lock()[0].clone();
    session.remote().notify(log("nobody knows whose")).unwrap();
    let call = ada.begin("tools/call", r#"{"name":"wait"}"#);
    until("the call runs", || !script.heard("tools/call").is_empty()).await;
    session.remote().notify(log("ada's")).unwrap();
    let heard = ada.hear("notifications/message").await;
    assert!(heard.params.unwrap().as_str().contains("ada's"));
    script.release.notify_one();
    call.await.unwrap().unwrap();
    assert!(eve.told.try_recv().is_err());
}

#[tokio::test]
async fn a_resumed_call_gets_only_what_its_request_asked_for() {
    let script = Script::new(Era::Legacy);
    let kernel = shared(&script);
    let mut client = wire(&kernel, "ada", Era::Modern).await;
    let asked = client.ask("tools/call", r#"{"name":"chat-and-ask","_meta":{"progressToken":"first"}}"#).await.unwrap();
    let progress = client.told.recv().await.unwrap();
    assert_eq!(progress.params.unwrap().member("progressToken").unwrap().as_str(), r#""first""#);
    let given = |asked: &Raw, token: &str| {
        let key = switchboard_wire::Object::open(&asked.member("inputRequests").unwrap()).unwrap();
        let key = key.iter().next().unwrap().0.into_owned();
        let state = asked.member("requestState").unwrap();
        format!(
            r#"{{"name":"chat-and-ask","requestState":{},"inputResponses":{{"{key}":{{"action":"decline"}}}}{token}}}"#,
            state.as_str()
        )
    };
    let again = client.ask("tools/call", &given(&asked, r#","_meta":{"progressToken":"second"}"#)).await.unwrap();
    let progress = client.told.recv().await.unwrap();
    assert_eq!(progress.params.unwrap().member("progressToken").unwrap().as_str(), r#""second""#);
    client.ask("tools/call", &given(&again, "")).await.unwrap();
    assert!(client.told.try_recv().is_err(), "no log was asked for");
}

#[tokio::test]
async fn the_state_of_one_servers_call_is_worth_nothing_at_another() {
    let (one, other) = (Script::new(Era::Legacy), Script::new(Era::Legacy));
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![local("one", "1", one, Sharing::Shared), local("other", "1", other.clone(), Sharing::Shared)]);
    let client = wire(&kernel, "ada", Era::Modern).await;
    let asked = client.ask("tools/call", r#"{"name":"one__ask"}"#).await.unwrap();
    let state = asked.member("requestState").unwrap();
    let retry = format!(r#"{{"name":"other__ask","requestState":{},"inputResponses":{{}}}}"#, state.as_str());
    assert_eq!(client.ask("tools/call", &retry).await.unwrap_err().code, -32602);
}

#[tokio::test]
async fn tasks_belong_to_who_made_them() {
    let script = Script::new(Era::Legacy);
    script.more_tools.lock().push("tasky".to_owned());
    let kernel = shared(&script);
    let ada = wire(&kernel, "ada", Era::Legacy).await;
    let eve = wire(&kernel, "eve", Era::Legacy).await;
    ada.ask("tools/call", r#"{"name":"tasky","task":{}}"#).await.unwrap();
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        assert_eq!(eve.ask(method, r#"{"taskId":"t-1"}"#).await.unwrap_err().code, -32602, "{method}");
    }
    // A server that was started again may count from one again: the name means the last task that it was given to.
    eve.ask("tools/call", r#"{"name":"tasky","task":{}}"#).await.unwrap();
    eve.ask("tasks/get", r#"{"taskId":"t-1"}"#).await.unwrap();
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        assert_eq!(ada.ask(method, r#"{"taskId":"t-1"}"#).await.unwrap_err().code, -32602, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_person_may_think_longer_than_a_server_may_be_silent() {
    for sharing in [Sharing::Shared, Sharing::PerSession] {
        let script = Script::new(Era::Legacy);
        let kernel = Kernel::new(crate::world::open_to_all());
        kernel.apply(vec![local("s", "1", script, sharing)]);
        let client = wire_that_thinks(&kernel, "ada", Era::Legacy, Duration::from_secs(50)).await;
        let result = client.ask("tools/call", r#"{"name":"ask"}"#).await.unwrap();
        assert!(result.member("answer").is_some(), "{result:?}");
    }
}

#[tokio::test]
async fn so_it_is_over_http() {
    let mut slow = spec("s", &serve(Script::new(Era::Legacy)).await, Sharing::PerSession);
    slow.call_timeout = Duration::from_millis(300);
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![slow]);
    let client = wire_that_thinks(&kernel, "ada", Era::Legacy, Duration::from_secs(1)).await;
    let result = client.ask("tools/call", r#"{"name":"ask"}"#).await.unwrap();
    assert!(result.member("answer").is_some(), "{result:?}");
}

#[tokio::test]
async fn what_a_client_did_not_declare_is_not_asked() {
    let script = Script::new(Era::Legacy);
    let kernel = shared(&script);
    let mut client = wire(&kernel, "ada", Era::Legacy).await;
    let session = script.sessions.lock()[0].clone();
    let ask = async |params: &str| {
        session.remote().request(Call::new("elicitation/create", Some(raw(params)))).await.unwrap().outcome
    };
    let error =
        ask(r#"{"mode":"url","url":"https://example.org","elicitationId":"e","message":"m"}"#).await.unwrap_err();
    assert_eq!(error.code, -32602);
    assert!(client.asked.try_recv().is_err());
    ask(r#"{"message":"m","requestedSchema":{}}"#).await.unwrap();
}
