//! Who is turned away before anything is read.

use std::sync::Arc;

use switchboard_transport::http_server::{Answering, Body, Principal, Service};

use crate::client::Ask;
use crate::script::{Served, initialize, quick};

#[tokio::test]
async fn hosts_origins_and_tokens() {
    let served =
        Served::with(quick(), |access| access.authenticated(|token| (token == Some("right")).then(|| "ann".into())))
            .await;
    let port = served.address.port();
    let ask = || initialize("2025-11-25").with("Authorization", "Bearer right");
    let own = format!("http://localhost:{port}");
    let cases: Vec<(&str, Ask, u16)> = vec![
        ("as it should be", ask(), 200),
        ("localhost", ask().with("Host", &format!("localhost:{port}")), 200),
        ("v6 loopback", ask().with("Host", &format!("[::1]:{port}")), 200),
        ("own origin", ask().with("Origin", &own), 200),
        ("foreign origin", ask().with("Origin", "https://evil.example"), 403),
        ("null origin", ask().with("Origin", "null"), 403),
        ("origin with a trick", ask().with("Origin", "http://localhost.evil.example"), 403),
        ("origin with user", ask().with("Origin", "http://localhost@evil.example"), 403),
        ("origin of another scheme", ask().with("Origin", "file://localhost"), 403),
        ("empty origin", ask().with("Origin", ""), 403),
        ("two origins", ask().with("Origin", &own).also("Origin", "https://evil.example"), 403),
        ("rebinding", ask().with("Host", "evil.example"), 403),
        ("rebinding with port", ask().with("Host", &format!("evil.example:{port}")), 403),
        ("two hosts", ask().also("Host", "localhost").also("Host", "evil.example"), 403),
        ("no token", ask().without("Authorization"), 401),
        ("wrong token", ask().with("Authorization", "Bearer wrong"), 401),
        ("other scheme", ask().with("Authorization", "Basic right"), 401),
        ("two tokens", ask().also("Authorization", "Bearer right"), 401),
        ("plain text from a page", ask().with("Content-Type", "text/plain"), 415),
        ("no token, other path", Ask::new("GET", "/elsewhere"), 401),
        ("foreign origin, other path", Ask::new("GET", "/elsewhere").with("Origin", "https://evil.example"), 403),
        ("old stream without token", Ask::new("GET", "/sse"), 401),
    ];
    for (name, ask, status) in cases {
        let answer = ask.send(served.address).await;
        assert_eq!(answer.status, status, "{name}: {answer:?}");
        assert_eq!(answer.header("www-authenticate").is_some(), status == 401, "{name}");
    }
}

#[tokio::test]
async fn it_is_decided_before_the_body_arrives() {
    let served = Served::start().await;
    // A body is announced that never comes.
    let ask = Ask::new("POST", "/mcp").with("Origin", "https://evil.example").with("Content-Length", "1000000");
    assert_eq!(ask.open(served.address).await.status, 403);
}

struct Door;

impl Service for Door {
    fn call(&self, request: http::Request<hyper::body::Incoming>, principal: Principal) -> Answering<'_> {
        let text = format!("{} for [{principal}]", request.uri().path());
        Box::pin(async move { http::Response::new(Body::full(text)) })
    }

    fn is_open(&self, path: &str) -> bool {
        path != "/closed"
    }
}

#[tokio::test]
async fn other_paths_go_to_the_fallback() {
    use switchboard_peer::server::http::HttpEndpoint;
    use switchboard_transport::http_server::{AccessRules, Listener};

    let served = Served::start().await;
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address();
    let access = AccessRules::loopback(address).authenticated(|token| token.map(Into::into));
    let options = quick();
    let shutdown = options.shutdown.clone();
    let face = HttpEndpoint::new(options, served.script.clone()).with_fallback(Arc::new(Door));
    let serving = tokio::spawn(Arc::new(face).serve(listener.with_access(access)));
    let healthy = Ask::new("GET", "/healthz");
    assert_eq!(healthy.send(address).await.body, "/healthz for []");
    assert_eq!(healthy.with("Authorization", "Bearer ann").send(address).await.body, "/healthz for [ann]");
    assert_eq!(Ask::new("GET", "/closed").send(address).await.status, 401);
    // The fallback cannot open the endpoint itself.
    assert_eq!(initialize("2025-11-25").send(address).await.status, 401);
    shutdown.cancel();
    serving.await.unwrap();
}
