//! Beginning and end of sessions.

use std::time::Duration;

use crate::client::{Ask, within};
use crate::script::{Seen, Served, call, initialize, quick};

#[tokio::test]
async fn delete_ends_a_session() {
    let mut served = Served::start().await;
    let session = served.session("2025-11-25").await;
    assert_eq!(served.next_seen().await, Seen::Opened(session.clone()));
    let mut stream = Ask::get(&session).open(served.address).await;
    let running = call(&session, "quiet-gate").send_only(served.address).await;
    served.until(Seen::Started("quiet-gate".to_owned())).await;
    let delete = Ask::new("DELETE", "/mcp").in_session(&session);
    assert_eq!(delete.send(served.address).await.status, 204);
    while stream.event().await.is_some() {}
    served.until(Seen::Closed(session.clone())).await;
    drop(running);
    assert_eq!(delete.send(served.address).await.status, 404);
    assert_eq!(call(&session, "echo").send(served.address).await.status, 404);
    assert!(!served.last_session().remote().can_request());
}

#[tokio::test]
async fn ids_are_long_and_differ() {
    let served = Served::start().await;
    let (first, second) = (served.session("2025-11-25").await, served.session("2025-11-25").await);
    assert!(first != second && first.len() >= 32 && first.bytes().all(|byte| byte.is_ascii_graphic()));
}

#[tokio::test]
async fn a_session_belongs_to_its_principal() {
    let served = Served::with(quick(), |access| access.authenticated(|token| token.map(Into::into))).await;
    let hers = initialize("2025-11-25").with("Authorization", "Bearer ann").send(served.address).await;
    let session = hers.header("mcp-session-id").unwrap();
    for (token, status) in [("ann", 200), ("bob", 404)] {
        let ask = call(session, "echo").with("Authorization", &format!("Bearer {token}"));
        assert_eq!(ask.send(served.address).await.status, status);
    }
    let delete = Ask::new("DELETE", "/mcp").in_session(session).with("Authorization", "Bearer bob");
    assert_eq!(delete.send(served.address).await.status, 404);
    assert_eq!(served.face.session_count(), 1);
}

#[tokio::test]
async fn a_session_keeps_the_rights_it_was_opened_with() {
    use switchboard_peer::{Identity, Method, Principal, Scopes};

    // A token is a list of scopes here, and all of them are one person's.
    let person = |token: &str| -> Option<Principal> {
        let (admin, scopes) = Scopes::parse(token.split('+')).ok()?;
        Some(Identity { admin, scopes, ..Identity::new("ann", Method::Token) }.into())
    };
    let served = Served::with(quick(), |access| access.authenticated(move |token| person(token?))).await;
    let opened = initialize("2025-11-25").with("Authorization", "Bearer admin").send(served.address).await;
    let session = opened.header("mcp-session-id").unwrap();
    for (token, status) in [("admin", 200), ("server:git", 404), ("admin+server:git", 404), ("everything", 401)] {
        let ask = call(session, "echo").with("Authorization", &format!("Bearer {token}"));
        assert_eq!(ask.send(served.address).await.status, status, "{token}");
    }
}

#[tokio::test]
async fn a_session_belongs_to_its_profile() {
    let served = Served::start().await;
    let everywhere = served.session("2025-11-25").await;
    let opened = initialize("2025-11-25").at("/mcp/work").send(served.address).await;
    let of_work = opened.header("mcp-session-id").unwrap().to_owned();
    assert_eq!(served.last_session().identity.profile.as_deref(), Some("work"));
    for (session, path, status) in [
        (&everywhere, "/mcp", 200),
        (&everywhere, "/mcp/work", 404),
        (&of_work, "/mcp", 404),
        (&of_work, "/mcp/work", 200),
        (&of_work, "/mcp/play", 404),
        (&of_work, "/mcp/work/", 404),
    ] {
        assert_eq!(call(session, "echo").at(path).send(served.address).await.status, status, "{path}");
    }
    let delete = Ask::new("DELETE", "/mcp").in_session(&of_work);
    assert_eq!(delete.send(served.address).await.status, 404);
    assert_eq!(delete.at("/mcp/work").send(served.address).await.status, 204);
}

#[tokio::test]
async fn a_stream_ends_with_the_proof_of_its_reader() {
    use switchboard_peer::{Identity, Method, Principal};

    let (revoked, expired) = (Identity::new("ann", Method::Token), Identity::new("bob", Method::Token));
    let ended = revoked.ended.clone();
    let soon = std::time::SystemTime::now() + Duration::from_millis(300);
    let (ann, bob) = (Principal::from(revoked), Principal::from(Identity { expires_at: Some(soon), ..expired }));
    let served = Served::with(quick(), |access| {
        access.authenticated(move |token| Some(if token? == "ann" { ann.clone() } else { bob.clone() }))
    });
    let served = served.await;
    for name in ["ann", "bob"] {
        let token = format!("Bearer {name}");
        let opened = initialize("2025-11-25").with("Authorization", &token).send(served.address).await;
        let get = Ask::get(opened.header("mcp-session-id").unwrap()).with("Authorization", &token);
        let mut stream = get.open(served.address).await;
        stream.event().await.unwrap();
        if name == "ann" {
            ended.cancel();
        }
        assert!(stream.event().await.is_none(), "{name}");
    }
}

/// A request whose answer nobody may have any more is answered all the same: by an error under its id.
#[tokio::test]
async fn a_request_whose_token_is_taken_back_is_answered_with_an_error() {
    use switchboard_peer::{Identity, Method, Principal};

    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let identity = Identity::new("ann", Method::Token);
        let ended = identity.ended.clone();
        let ann = Principal::from(identity);
        let served = Served::with(quick(), |access| access.authenticated(move |_| Some(ann.clone()))).await;
        let ask = if revision == "2026-07-28" {
            Ask::modern("gate", serde_json::json!({}))
        } else {
            let opened = initialize(revision).with("Authorization", "Bearer ann").send(served.address).await;
            call(opened.header("mcp-session-id").unwrap(), "gate").with("mcp-protocol-version", revision)
        };
        let mut stream = ask.with("Authorization", "Bearer ann").open(served.address).await;
        assert!(stream.is_stream(), "{revision}");
        loop {
            let event = stream.event().await.expect("it goes on");
            if !event.data.is_empty() {
                break;
            }
        }
        ended.cancel();
        let answer = stream.message().await;
        assert!(answer["id"] != serde_json::Value::Null && answer.get("result").is_none(), "{revision}: {answer}");
        assert_eq!(answer["error"]["data"]["kind"], "auth_expired", "{revision}: {answer}");
        assert!(stream.event().await.is_none(), "{revision}: nothing follows");
    }
}

/// The answers of a batch come together and in no stream: the one to whom they are owed gets each under its id, as the handler
/// gave it.
#[tokio::test]
async fn a_batch_whose_token_is_taken_back_is_answered_as_a_whole() {
    use switchboard_peer::{Identity, Method, Principal};

    let identity = Identity::new("ann", Method::Token);
    let ended = identity.ended.clone();
    let ann = Principal::from(identity);
    let mut served = Served::with(quick(), |access| access.authenticated(move |_| Some(ann.clone()))).await;
    let session = served.session("2025-03-26").await;
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","id":2,"method":"quiet-gate"}]"#;
    let (ask, address) = (Ask::post(batch).in_session(&session), served.address);
    let answer = tokio::spawn(async move { ask.send(address).await });
    served.until(Seen::Started("quiet-gate".to_owned())).await;
    ended.cancel();
    served.script.gate.notify_one();
    let answer = answer.await.unwrap();
    assert_eq!(answer.status, 200);
    let mut ids: Vec<_> = answer.json().as_array().unwrap().iter().map(|one| one["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["1", "2"]);
}

#[tokio::test]
async fn idle_sessions_end_but_used_ones_do_not() {
    let mut served = Served::start().await;
    let idle = served.session("2025-11-25").await;
    let streaming = served.session("2025-11-25").await;
    let running = served.session("2025-11-25").await;
    let mut stream = Ask::get(&streaming).open(served.address).await;
    stream.event().await.unwrap();
    let socket = call(&running, "quiet-gate").send_only(served.address).await;
    served.until(Seen::Started("quiet-gate".to_owned())).await;
    assert_eq!(served.face.end_idle_sessions(Duration::from_secs(60)), 0);
    assert_eq!(served.face.end_idle_sessions(Duration::ZERO), 1);
    assert_eq!(served.next_seen().await, Seen::Closed(idle.clone()));
    assert_eq!(call(&idle, "echo").send(served.address).await.status, 404);
    assert_eq!(call(&streaming, "echo").send(served.address).await.status, 200);
    drop(socket);
}

#[tokio::test]
async fn there_is_room_for_so_many_sessions_in_use() {
    let mut options = quick();
    options.max_sessions = 2;
    options.max_running = 1;
    let mut served = Served::with(options, |access| access).await;
    let session = served.session("2025-11-25").await;
    let other = served.session("2025-11-25").await;
    let (mut first, mut second) =
        (Ask::get(&session).open(served.address).await, Ask::get(&other).open(served.address).await);
    first.event().await.unwrap();
    second.event().await.unwrap();
    let refused = initialize("2025-11-25").send(served.address).await;
    assert_eq!(refused.status, 503);
    // Those that are turned away together are told to come back one after the other.
    let next = initialize("2025-11-25").send(served.address).await;
    assert!(refused.header("retry-after").is_some());
    assert_ne!(refused.header("retry-after"), next.header("retry-after"));
    let _running = call(&session, "quiet-gate").send_only(served.address).await;
    served.until(Seen::Started("quiet-gate".to_owned())).await;
    assert_eq!(call(&session, "echo").send(served.address).await.status, 503);
}

#[tokio::test]
async fn the_session_that_was_idle_longest_makes_room() {
    let mut options = quick();
    options.max_sessions = 2;
    let served = Served::with(options, |access| access).await;
    let first = served.session("2025-11-25").await;
    let second = served.session("2025-11-25").await;
    // The first is used once more, at a later moment by a clock that counts milliseconds.
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(call(&first, "echo").send(served.address).await.status, 200);
    let third = served.session("2025-11-25").await;
    for (session, status) in [(&first, 200), (&second, 404), (&third, 200)] {
        assert_eq!(call(session, "echo").send(served.address).await.status, status);
    }
}

#[tokio::test]
async fn one_principal_cannot_lock_out_another() {
    let mut options = quick();
    options.max_sessions = 8;
    let served = Served::with(options, |access| access.authenticated(|token| token.map(Into::into))).await;
    let open = |token: &'static str| initialize("2025-11-25").with("Authorization", &format!("Bearer {token}"));
    let hold =
        |session: String, token: &'static str| Ask::get(&session).with("Authorization", &format!("Bearer {token}"));
    let mut streams = Vec::new();
    // Two that take all they can get, and use it, so that nothing of it is idle.
    for token in ["ann", "ann", "ann", "ann", "ann", "ann", "ann", "bob", "bob", "bob"] {
        let opened = open(token).send(served.address).await;
        if let Some(session) = opened.header("mcp-session-id") {
            streams.push(hold(session.to_owned(), token).open(served.address).await);
        }
    }
    assert_eq!(served.face.session_count(), 8);
    for _ in 0..3 {
        let owner = open("owner").send(served.address).await;
        assert_eq!(owner.status, 200);
        let ask = call(owner.header("mcp-session-id").unwrap(), "echo").with("Authorization", "Bearer owner");
        assert_eq!(ask.send(served.address).await.status, 200);
    }
    assert_eq!(served.face.session_count(), 8);
}

#[tokio::test]
async fn shutdown_lets_requests_finish_and_ends_the_rest() {
    let mut served = Served::start().await;
    let session = served.session("2025-11-25").await;
    let mut stream = Ask::get(&session).open(served.address).await;
    stream.event().await.unwrap();
    let asking = tokio::spawn({
        let (ask, address) = (call(&session, "quiet-gate"), served.address);
        async move { ask.send(address).await }
    });
    served.until(Seen::Started("quiet-gate".to_owned())).await;
    served.options.shutdown.cancel();
    assert!(stream.event().await.is_none());
    served.script.gate.notify_one();
    assert_eq!(asking.await.unwrap().status, 200);
    within(&mut served.serving).await.unwrap();
    served.until(Seen::Closed(session)).await;
    assert!(tokio::net::TcpStream::connect(served.address).await.is_err());
}
