//! A remote server that wants a login, with its own authorization server, and a person who says yes.
//!
//! Its one tool, `whoami`, answers with the `Authorization` header that the call came with.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, mpsc};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::header::{AUTHORIZATION, CONTENT_TYPE, LOCATION};
use http::{HeaderValue, Response};
use hyper::body::Incoming;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use switchboard_peer::server::http::{HttpEndpoint, HttpOptions};
use switchboard_peer::{BoxFuture, Context, Handler, Reply};
use switchboard_transport::http_server::{
    AccessRules, Answering, Body, Challenges, Listener, Principal, Service, read_body,
};
use switchboard_wire::{ErrorObject, Limits, Notification, Raw, Request, code};
use url::Url;

use crate::support::LIMIT;

#[derive(Default)]
struct State {
    /// Whether a token is needed.
    locked: bool,
    /// Code, with its challenge and the person who agreed.
    codes: HashMap<String, (String, String)>,
    /// Refresh tokens that are good, with their person.
    refresh: HashMap<String, String>,
    access: Vec<String>,
    count: usize,
    registrations: usize,
    /// The only client that is known, where nobody is registered on the spot.
    client: Option<String>,
    /// The `Authorization` header of a client that gets tokens in its own name, and the scopes it asked for.
    machine: Option<(String, Vec<String>)>,
    /// All `Authorization` headers that ever came.
    seen: Vec<String>,
}

/// The running server.
pub(crate) struct Tracker {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Tracker {
    pub(crate) fn start(locked: bool) -> Self {
        let state = Arc::new(Mutex::new(State { locked, ..State::default() }));
        let (sender, receiver) = mpsc::channel();
        let shared = state.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
                let address = listener.address();
                sender.send(address).unwrap();
                let checking = shared.clone();
                let place =
                    format!("Bearer resource_metadata=\"http://{address}/.well-known/oauth-protected-resource\"");
                let challenge = HeaderValue::from_str(&place).unwrap();
                let challenges =
                    Challenges { missing: challenge.clone(), invalid: challenge.clone(), insufficient: challenge };
                let access = AccessRules::loopback(address)
                    .authenticated(move |token| {
                        let mut state = checking.lock().unwrap();
                        state.seen.extend(token.map(str::to_owned));
                        let known = token.is_some_and(|token| state.access.iter().any(|good| good == token));
                        (known || !state.locked).then(|| "somebody".into())
                    })
                    .challenging(challenges);
                let desk = OperatorSession { origin: format!("http://{address}"), state: shared };
                let face = HttpEndpoint::new(HttpOptions::default(), Arc::new(Whoami)).with_fallback(Arc::new(desk));
                Arc::new(face).serve(listener.with_access(access)).await;
            });
        });
        Self { address: receiver.recv_timeout(LIMIT).unwrap(), state }
    }

    /// A configuration with this server, which everybody may use.
    pub(crate) fn entry(&self) -> String {
        format!("default_policy = 'opt-out'\n[[servers]]\nid = 'tracker'\nurl = 'http://{}/mcp'\n", self.address)
    }

    /// Makes all access tokens worthless; refresh tokens stay good.
    pub(crate) fn expire(&self) {
        self.state.lock().unwrap().access.clear();
    }

    /// From now on only this client is known.
    pub(crate) fn know_only(&self, client: &str) {
        self.state.lock().unwrap().client = Some(client.to_owned());
    }

    /// From now on there is a client that needs nobody to agree.
    pub(crate) fn know_machine(&self, client: &str, secret: &str) {
        let header = format!("Basic {}", STANDARD.encode(format!("{client}:{secret}")));
        self.state.lock().unwrap().machine = Some((header, Vec::new()));
    }

    /// The scopes that it asked for, each time.
    pub(crate) fn machine_scopes(&self) -> Vec<String> {
        self.state.lock().unwrap().machine.clone().unwrap_or_default().1
    }

    pub(crate) fn registrations(&self) -> usize {
        self.state.lock().unwrap().registrations
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.state.lock().unwrap().seen.clone()
    }
}

/// A person who opens the page and does not agree.
pub(crate) fn refuse(page: &str) {
    let page = Url::parse(page).unwrap();
    let value = |wanted: &str| page.query_pairs().find(|(name, _)| name == wanted).unwrap().1.into_owned();
    let mut back = Url::parse(&value("redirect_uri")).unwrap();
    back.query_pairs_mut().append_pair("error", "access_denied").append_pair("state", &value("state"));
    fetch(&back);
}

/// A person who opens the page, agrees, and is sent back.
pub(crate) fn agree(page: &str, person: &str) {
    let mut page = Url::parse(page).unwrap();
    page.query_pairs_mut().append_pair("person", person);
    let answer = fetch(&page);
    let back = answer.lines().find_map(|line| line.strip_prefix("location: ")).expect("a redirect");
    let done = fetch(&Url::parse(back.trim()).unwrap());
    assert!(done.starts_with("HTTP/1.1 200"), "{done}");
}

fn fetch(url: &Url) -> String {
    let address = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let path = format!("{}?{}", url.path(), url.query().unwrap_or_default());
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The authorization server.
struct OperatorSession {
    origin: String,
    state: Arc<Mutex<State>>,
}

impl OperatorSession {
    async fn answer(&self, request: http::Request<Incoming>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let origin = &self.origin;
        let query: HashMap<String, String> =
            url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
        let body = read_body(body, 1 << 16, LIMIT).await.unwrap();
        let form: HashMap<String, String> = url::form_urlencoded::parse(&body).into_owned().collect();
        let mut state = self.state.lock().unwrap();
        match parts.uri.path() {
            "/.well-known/oauth-protected-resource" => {
                document(&json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]}))
            }
            "/.well-known/oauth-authorization-server" => document(&json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": state.client.is_none().then(|| format!("{origin}/register")),
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            })),
            "/register" => {
                state.registrations += 1;
                document(&json!({"client_id": "client", "token_endpoint_auth_method": "none"}))
            }
            "/authorize" => {
                state.count += 1;
                let code = format!("code-{}", state.count);
                state.codes.insert(code.clone(), (query["code_challenge"].clone(), query["person"].clone()));
                let mut back = Url::parse(&query["redirect_uri"]).unwrap();
                back.query_pairs_mut().append_pair("code", &code).append_pair("state", &query["state"]);
                let mut response = Response::new(Body::empty());
                *response.status_mut() = http::StatusCode::FOUND;
                response.headers_mut().insert(LOCATION, HeaderValue::from_str(back.as_str()).unwrap());
                response
            }
            "/token" => {
                let stranger = state.client.as_ref().is_some_and(|known| form["client_id"] != *known);
                let shown = parts.headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
                let person = match form["grant_type"].as_str() {
                    _ if stranger => None,
                    "client_credentials" => match &mut state.machine {
                        Some((header, asked)) if shown.as_ref() == Some(header) => {
                            asked.push(form.get("scope").cloned().unwrap_or_default());
                            Some("machine".to_owned())
                        }
                        _ => None,
                    },
                    "authorization_code" => state.codes.remove(&form["code"]).and_then(|(challenge, person)| {
                        let verifier = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
                        (verifier == challenge).then_some(person)
                    }),
                    // Each refresh token is good once.
                    _ => state.refresh.remove(&form["refresh_token"]),
                };
                let Some(person) = person else {
                    let mut response = document(&json!({"error": "invalid_grant"}));
                    *response.status_mut() = http::StatusCode::BAD_REQUEST;
                    return response;
                };
                state.count += 1;
                let (access, refresh) = (format!("{person}-{}", state.count), format!("refresh-{}", state.count));
                state.access.push(access.clone());
                state.refresh.insert(refresh.clone(), person);
                document(
                    &json!({"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": 3600}),
                )
            }
            _ => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = http::StatusCode::NOT_FOUND;
                response
            }
        }
    }
}

fn document(value: &Value) -> Response<Body> {
    let mut response = Response::new(Body::full(value.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

impl Service for OperatorSession {
    fn call(&self, request: http::Request<Incoming>, _: Principal) -> Answering<'_> {
        Box::pin(self.answer(request))
    }

    fn is_open(&self, _: &str) -> bool {
        true
    }
}

struct Whoami;

impl Handler for Whoami {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        let raw = |value: Value| Ok(Raw::parse(value.to_string(), &Limits::default()).unwrap());
        let outcome = match &*request.method {
            "initialize" => raw(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "tracker", "version": "1"},
            })),
            "tools/list" => raw(json!({"tools": [{"name": "whoami", "inputSchema": {"type": "object"}}]})),
            "tools/call" => {
                let header = context.headers.as_ref().and_then(|headers| headers.get("authorization").cloned());
                let text = header.map_or_else(|| "nobody".to_owned(), |value| value.to_str().unwrap().to_owned());
                raw(json!({"content": [{"type": "text", "text": text}]}))
            }
            _ => Err(ErrorObject::new(code::METHOD_NOT_FOUND, "unknown")),
        };
        Box::pin(std::future::ready(outcome.into()))
    }

    fn notification(&self, _: Context, _: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
