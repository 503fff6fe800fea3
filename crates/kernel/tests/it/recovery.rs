//! Sessions that a server loses, and what must be told again; things that are found though no list names them.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_kernel::{Kernel, Sharing};
use switchboard_peer::{BoxFuture, Call, CallError, Caller, Context, Handler, Remote, Reply, SendError, Session};
use switchboard_protocol::Era;
use switchboard_wire::{Id, Notification, Request};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

use crate::wire::{local, until, wire};
use crate::world::{Script, client_with, raw, serve, spec};

/// Makes a server lose a session behind its client's back.
async fn forget(url: &str, session: &str) {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut socket = tokio::net::TcpStream::connect(address).await.expect("the server listens");
    let head =
        format!("DELETE /mcp HTTP/1.1\r\nHost: {address}\r\nMcp-Session-Id: {session}\r\nConnection: close\r\n\r\n");
    socket.write_all(head.as_bytes()).await.expect("open");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
}

#[tokio::test]
async fn a_lost_session_gets_its_subscriptions_and_log_level_back() {
    for sharing in [Sharing::Shared, Sharing::PerSession] {
        let script = Script::new(Era::Legacy);
        let upstream = serve(script.clone()).await;
        let kernel = Kernel::new(crate::world::open_to_all());
        kernel.apply(vec![spec("s", &upstream, sharing)]);
        let client = wire(&kernel, "ada", Era::Legacy).await;
        client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap();
        client.ask("logging/setLevel", r#"{"level":"warning"}"#).await.unwrap();
        client.ask("resources/subscribe", r#"{"uri":"script://one"}"#).await.unwrap();
        script.heard.lock().clear();
        let sessions: Vec<_> = script.sessions.lock().iter().map(|session| session.id.clone()).collect();
        for session in sessions {
            forget(&upstream, &session).await;
        }
        // The client notices nothing.
        client.ask("prompts/get", r#"{"name":"hello"}"#).await.unwrap();
        let levels = if sharing == Sharing::Shared { 1 } else { 2 };
        until("all is told again", || {
            script.heard("resources/subscribe").len() == 1
                && script.heard(r#"logging/setLevel {"level":"warning"}"#).len() == levels
                && !script.heard("tools/list").is_empty()
        })
        .await;
    }
}

#[tokio::test]
async fn a_legacy_server_is_told_what_a_modern_request_wants_to_hear() {
    let script = Script::new(Era::Legacy);
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![local("s", "1", script.clone(), Sharing::Shared)]);
    let quiet = wire(&kernel, "ada", Era::Legacy).await;
    quiet.ask("logging/setLevel", r#"{"level":"emergency"}"#).await.unwrap();
    let url = serve(Arc::new(kernel)).await;
    let curious = client_with(&url, Era::Modern, "{}").await;
    let call =
        |level: &str| raw(&format!(r#"{{"name":"echo","_meta":{{"io.modelcontextprotocol/logLevel":"{level}"}}}}"#));
    for level in ["info", "info", "warning"] {
        curious.once("tools/call", call(level)).await.unwrap();
    }
    let told = script.heard("logging/setLevel");
    assert_eq!(told, [r#"logging/setLevel {"level":"emergency"}"#, r#"logging/setLevel {"level":"info"}"#]);
}

#[tokio::test]
async fn a_resource_that_a_server_mentioned_is_read_there() {
    let (one, other) = (Script::new(Era::Legacy), Script::new(Era::Modern));
    for script in [&one, &other] {
        script.more_tools.lock().push("links".to_owned());
    }
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![
        local("one", "1", one.clone(), Sharing::Shared),
        local("other", "1", other.clone(), Sharing::Shared),
    ]);
    let client = wire(&kernel, "ada", Era::Legacy).await;
    assert_eq!(client.ask("resources/read", r#"{"uri":"deep://made/7"}"#).await.unwrap_err().code, -32002);
    client.ask("tools/call", r#"{"name":"other__links"}"#).await.unwrap();
    client.ask("resources/read", r#"{"uri":"deep://made/7"}"#).await.unwrap();
    assert_eq!((one.heard("resources/read").len(), other.heard("resources/read").len()), (0, 1));
    let eve = wire(&kernel, "eve", Era::Legacy).await;
    assert!(eve.ask("resources/read", r#"{"uri":"deep://made/7"}"#).await.is_err());
}

#[tokio::test]
async fn a_visit_that_a_legacy_server_wants_becomes_input_for_a_modern_client() {
    let script = Script::new(Era::Legacy);
    script.more_tools.lock().push("gated".to_owned());
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![local("s", "1", script.clone(), Sharing::Shared)]);
    let url = serve(Arc::new(kernel)).await;
    let able = client_with(&url, Era::Modern, r#"{"elicitation":{"form":{},"url":{}}}"#).await;
    let asked = able.once("tools/call", raw(r#"{"name":"gated"}"#)).await.unwrap();
    assert_eq!(asked.member("resultType").unwrap().as_str(), r#""input_required""#);
    let question = asked.at(&["inputRequests", "visit-0"]).unwrap();
    assert_eq!(question.member("method").unwrap().as_str(), r#""elicitation/create""#);
    assert_eq!(question.at(&["params", "url"]).unwrap().as_str(), r#""https://example.org/in""#);
    let answer =
        |action: &str| raw(&format!(r#"{{"name":"gated","inputResponses":{{"visit-0":{{"action":"{action}"}}}}}}"#));
    let again = able.once("tools/call", answer("accept")).await.unwrap();
    assert!(again.member("inputRequests").is_some(), "the call was made again");
    assert_eq!(script.heard("tools/call").len(), 2);
    assert!(script.heard("tools/call").iter().all(|call| !call.contains("inputResponses")));
    assert_eq!(able.once("tools/call", answer("decline")).await.unwrap_err().code, -32603);
    assert_eq!(script.heard("tools/call").len(), 2, "a person who said no is not asked again");
    let unable = client_with(&url, Era::Modern, r#"{"elicitation":{"form":{}}}"#).await;
    assert_eq!(unable.once("tools/call", raw(r#"{"name":"gated"}"#)).await.unwrap_err().code, -32603);
}

#[tokio::test]
async fn a_request_of_an_unknown_revision_learns_which_are_known() {
    let kernel = Kernel::new(crate::world::open_to_all());
    let client = wire(&kernel, "ada", Era::Legacy).await;
    let params = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}"#;
    let error = client.ask("server/discover", params).await.unwrap_err();
    assert_eq!(error.code, -32022);
    assert!(error.data.unwrap().member("supported").unwrap().as_str().contains("2026-07-28"));
}

/// Notes what it is told.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Remote for Notes {
    fn request(&self, _call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(std::future::ready(Err(CallError::NotAllowed)))
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        self.0.lock().push(notification.method.into());
        Ok(())
    }
}

#[tokio::test]
async fn only_open_sessions_of_legacy_clients_are_told_of_changes() {
    let script = Script::new(Era::Legacy);
    let kernel = Kernel::new(crate::world::open_to_all());
    // One greeting was answered, but the session never came to be; another session never introduced itself.
    let (never_open, silent, open) = (Arc::<Notes>::default(), Arc::<Notes>::default(), Arc::<Notes>::default());
    let session = |id: &str, notes: &Arc<Notes>| {
        Session::new(id.into(), "ada".into(), true, Caller::unknown(), notes.clone() as Arc<dyn Remote>)
    };
    let sessions = [session("1", &never_open), session("2", &silent), session("3", &open)];
    for session in [&sessions[0], &sessions[2]] {
        let context = Context {
            session: session.clone(),
            caller: session.caller(),
            remote: session.remote().clone(),
            cancel: CancellationToken::new(),
            headers: None,
            open_owners: None,
        };
        kernel.request(context, Request::new(Id::number(1), "initialize", Some(raw("{}")))).await.outcome.unwrap();
    }
    kernel.opened(&sessions[1]);
    kernel.opened(&sessions[2]);
    kernel.apply(vec![local("s", "1", script, Sharing::Shared)]);
    kernel.settled(Duration::from_secs(5)).await;
    until("the client is told", || !open.0.lock().is_empty()).await;
    assert!(never_open.0.lock().is_empty() && silent.0.lock().is_empty());
}
