//! OAuth: a resource, its authorization server, and a user, all scripted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use switchboard_peer::client::oauth::{OAuth, OAuthOptions, UserAgent};
use switchboard_peer::client::{AuthorizeError, ConnectError, Target, connect};
use switchboard_peer::{BoxFuture, CallError};
use url::Url;

use crate::script::{Seen, Server, Wire, ask, options, silent};

/// Sends the user back with what `answer` makes of the state that was asked with.
struct User {
    asked: AtomicUsize,
    answer: fn(&str, &str) -> String,
    issuer: String,
}

impl UserAgent for User {
    fn authorize(&self, address: String) -> BoxFuture<'_, Result<String, AuthorizeError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let url = Url::parse(&address).unwrap();
        let state = url.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
        for (key, value) in [("code_challenge_method", "S256"), ("response_type", "code")] {
            assert!(url.query_pairs().any(|(name, found)| name == key && found == value), "{key}");
        }
        let query = (self.answer)(&state, &self.issuer);
        Box::pin(async move { Ok(format!("http://localhost/callback?{query}")) })
    }
}

fn good(state: &str, issuer: &str) -> String {
    let issuer: String = url::form_urlencoded::byte_serialize(issuer.as_bytes()).collect();
    format!("code=c&state={state}&iss={issuer}")
}

/// A resource that is its own authorization server and takes the newest token only.
async fn guarded(tokens: Arc<AtomicUsize>, issuer: fn(&str) -> String) -> Server {
    Server::start(move |seen, mut wire| {
        let tokens = tokens.clone();
        async move {
            let base = format!("http://{}", seen.header("host").unwrap());
            serve(&seen, &mut wire, &base, &tokens, issuer).await;
            Some(wire)
        }
    })
    .await
}

async fn serve(seen: &Seen, wire: &mut Wire, base: &str, tokens: &AtomicUsize, issuer: fn(&str) -> String) {
    match (&*seen.verb, &*seen.path) {
        ("GET", "/.well-known/oauth-protected-resource/mcp") => {
            wire.json(&json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]})).await;
        }
        ("GET", "/.well-known/oauth-authorization-server") => {
            wire.json(&json!({
                "issuer": issuer(base), "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": format!("{base}/token"), "registration_endpoint": format!("{base}/register"),
                "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": true
            }))
            .await;
        }
        ("POST", "/register") => wire.json(&json!({"client_id": "us"})).await,
        ("POST", "/token") => {
            let number = tokens.fetch_add(1, Ordering::SeqCst) + 1;
            wire.json(&json!({"access_token": format!("t{number}"), "token_type": "Bearer", "expires_in": 60})).await;
        }
        ("POST", "/mcp") => {
            let newest = format!("Bearer t{}", tokens.load(Ordering::SeqCst));
            if seen.header("authorization") != Some(&newest) {
                wire.answer(401, "www-authenticate: Bearer error=\"invalid_token\"\r\n", "").await;
            } else if seen.what() == "server/discover" {
                wire.json(&seen.result(&json!({"supportedVersions": ["2026-07-28"], "capabilities": {}}))).await;
            } else {
                wire.json(&seen.result(&seen.body["params"]["arguments"])).await;
            }
        }
        _ => wire.answer(404, "", "").await,
    }
}

fn own(base: &str) -> String {
    base.to_owned()
}

fn user(server: &Server, answer: fn(&str, &str) -> String) -> Arc<User> {
    let issuer = server.url.trim_end_matches("/mcp").to_owned();
    Arc::new(User { asked: AtomicUsize::new(0), answer, issuer })
}

fn who() -> OAuthOptions {
    OAuthOptions {
        client_name: "us".into(),
        redirect_uri: "http://localhost/callback".into(),
        client_metadata_url: None,
        registered: None,
    }
}

#[tokio::test]
async fn many_calls_with_an_old_token_ask_the_user_once() {
    let tokens = Arc::new(AtomicUsize::new(0));
    let server = guarded(tokens.clone(), own).await;
    let user = user(&server, good);
    let mut options = options();
    options.authorizer = Some(Arc::new(OAuth::new(&server.url, who(), user.clone()).unwrap()));
    let target = Target::Http { url: server.url.clone(), headers: Vec::new() };
    let connected = connect(target, options, silent()).await.unwrap();
    assert_eq!(user.asked.load(Ordering::SeqCst), 1);
    // The token is withdrawn.
    tokens.fetch_add(1, Ordering::SeqCst);
    let mut calls = Vec::new();
    for number in 0..8 {
        let remote = connected.remote.clone();
        calls.push(tokio::spawn(async move { ask(&remote, &json!({"arguments": {"n": number}})).await.unwrap() }));
    }
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), json!({"n": number}));
    }
    assert_eq!(user.asked.load(Ordering::SeqCst), 2);
    let registered: Vec<Value> =
        server.log.lock().iter().filter(|seen| seen.path == "/register").map(|seen| seen.body.clone()).collect();
    assert_eq!(registered.len(), 1, "credentials are kept as long as the issuer is the same");
    assert_eq!(registered[0]["application_type"], "native");
}

#[tokio::test]
async fn answers_that_do_not_belong_here_are_refused_before_the_code_is_used() {
    type Answer = fn(&str, &str) -> String;
    let cases: [(&str, Answer); 5] = [
        ("another state", |_, issuer| good("other", issuer)),
        ("another issuer", |state, _| good(state, "https://evil.example")),
        ("an issuer that merely means the same", |state, issuer| good(state, &format!("{issuer}/"))),
        ("no issuer", |state, _| format!("code=c&state={state}")),
        ("no code", |state, issuer| good(state, issuer).replace("code=c", "error=access_denied")),
    ];
    for (name, answer) in cases {
        let server = guarded(Arc::default(), own).await;
        let mut options = options();
        options.authorizer = Some(Arc::new(OAuth::new(&server.url, who(), user(&server, answer)).unwrap()));
        let target = Target::Http { url: server.url.clone(), headers: Vec::new() };
        let error = connect(target, options, silent()).await.unwrap_err();
        assert!(matches!(error, ConnectError::Unauthorized { status: 401, .. }), "{name}: {error}");
        assert!(!server.log.lock().iter().any(|seen| seen.path == "/token"), "{name}");
    }
}

#[tokio::test]
async fn metadata_of_another_issuer_is_not_used() {
    let server = guarded(Arc::default(), |_| "https://evil.example".to_owned()).await;
    let user = user(&server, good);
    let mut options = options();
    options.authorizer = Some(Arc::new(OAuth::new(&server.url, who(), user.clone()).unwrap()));
    let target = Target::Http { url: server.url.clone(), headers: Vec::new() };
    assert!(connect(target, options, silent()).await.is_err());
    assert_eq!(user.asked.load(Ordering::SeqCst), 0);
    assert!(!server.log.lock().iter().any(|seen| seen.path == "/register"));
}

#[tokio::test]
async fn a_server_that_refuses_every_token_is_asked_a_few_times_only() {
    let tokens = Arc::new(AtomicUsize::new(0));
    let server = guarded(tokens.clone(), own).await;
    let user = user(&server, good);
    let mut options = options();
    options.authorizer = Some(Arc::new(OAuth::new(&server.url, who(), user.clone()).unwrap()));
    let target = Target::Http { url: server.url.clone(), headers: Vec::new() };
    let connected = connect(target, options, silent()).await.unwrap();
    // From now on no token is the newest.
    let spoiler = tokens.clone();
    let spoiling = tokio::spawn(async move {
        loop {
            spoiler.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
        }
    });
    assert!(matches!(ask(&connected.remote, &json!({})).await, Err(CallError::Unauthorized { status: 401, .. })));
    spoiling.abort();
    assert!(user.asked.load(Ordering::SeqCst) <= 3);
}
