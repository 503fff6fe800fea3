//! A protected server with authorization servers that check what they are told, and a person who says yes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderValue;
use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use switchboard_peer::client::{Authorizer as _, Refusal};
use switchboard_peer::oauth::{
    Browser, Loopback, MemoryVault, OAuth, OAuthError, OAuthGrant, OAuthOptions, RegisteredClient, Secret, Vault,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use url::{Url, form_urlencoded};

/// One request that a server got.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) query: HashMap<String, String>,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn form(&self) -> HashMap<String, String> {
        form_urlencoded::parse(self.body.as_bytes()).into_owned().collect()
    }
}

/// An answer: status, headers, body.
pub(crate) type Answered = (u16, Vec<(String, String)>, String);

pub(crate) fn json_answer(status: u16, value: &Value) -> Answered {
    (status, vec![("content-type".to_owned(), "application/json".to_owned())], value.to_string())
}

/// What the servers do. Tests change it while they run.
pub(crate) struct Rules {
    /// The origin that resource metadata names.
    pub(crate) issuer: String,
    /// In place of the true resource.
    pub(crate) resource: Option<String>,
    /// Members of the issuer's metadata, in place of the usual ones. Null takes one away.
    pub(crate) metadata: Value,
    pub(crate) challenge_scope: Option<&'static str>,
    /// Whether refresh tokens are given and taken.
    pub(crate) refresh: bool,
    /// Whether each refresh brings the next refresh token.
    pub(crate) rotate: bool,
    /// The clients that are known. Tests make the server forget them.
    pub(crate) clients: HashSet<String>,
    /// Whether access tokens are ever taken.
    pub(crate) locked: bool,
    /// Whether there is nothing but the protected server.
    pub(crate) has_no_login: bool,
    /// Where resource metadata is instead.
    pub(crate) moved_to: Option<String>,
    access: Option<String>,
    last_access: Option<usize>,
    refresh_token: Option<String>,
    /// Code, with the PKCE challenge, client and resource it was given for.
    codes: HashMap<String, (String, String, String)>,
    count: usize,
}

/// One origin, which is a resource and an authorization server both.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) origin: String,
    pub(crate) rules: Arc<Mutex<Rules>>,
    log: Arc<Mutex<Vec<Asked>>>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let rules = Arc::new(Mutex::new(Rules {
            issuer: origin.clone(),
            resource: None,
            metadata: json!({}),
            challenge_scope: None,
            refresh: true,
            rotate: true,
            clients: HashSet::new(),
            locked: false,
            has_no_login: false,
            moved_to: None,
            access: None,
            last_access: None,
            refresh_token: None,
            codes: HashMap::new(),
            count: 0,
        }));
        let world = Self { origin, rules, log: Arc::default() };
        let shared = world.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, shared.clone()));
            }
        });
        world
    }

    pub(crate) fn server(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// What was asked at a path.
    pub(crate) fn asked(&self, path: &str) -> Vec<Asked> {
        self.log.lock().iter().filter(|asked| asked.path == path).cloned().collect()
    }

    pub(crate) fn everything_asked(&self) -> Vec<Asked> {
        self.log.lock().clone()
    }

    /// The newest refresh token that was given.
    pub(crate) fn refresh_token(&self) -> String {
        self.rules.lock().refresh_token.clone().unwrap()
    }

    /// The header that carries the newest access token, even one that was taken back.
    pub(crate) fn last_header(&self) -> Option<HeaderValue> {
        let number = self.rules.lock().last_access?;
        Some(HeaderValue::try_from(format!("Bearer access{number}")).unwrap())
    }

    /// Takes back the access token.
    pub(crate) fn revoke(&self) {
        self.rules.lock().access = None;
    }

    /// Whether the server takes this header.
    pub(crate) fn takes(&self, oauth: &OAuth) -> bool {
        let header = oauth.header().and_then(|value| value.to_str().ok().map(str::to_owned));
        header.is_some() && header == self.rules.lock().access.as_ref().map(|token| format!("Bearer {token}"))
    }
}

async fn serve(mut stream: TcpStream, world: World) {
    let Some(asked) = read(&mut stream).await else { return };
    world.log.lock().push(asked.clone());
    let (status, headers, body) = answer(&world.origin, &mut world.rules.lock(), &asked);
    let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes()).await;
    let _ = stream.shutdown().await;
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let mut lines = head.lines();
            let mut words = lines.next()?.split(' ');
            let (verb, target) = (words.next()?.to_owned(), words.next()?);
            let url = Url::parse(&format!("http://x{target}")).ok()?;
            let headers: HashMap<String, String> = lines
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
                .collect();
            let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                let query = url.query_pairs().into_owned().collect();
                return Some(Asked { verb, path: url.path().to_owned(), query, headers, body: body.to_owned() });
            }
        }
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(chunk.get(..read)?);
    }
}

fn answer(origin: &str, rules: &mut Rules, asked: &Asked) -> Answered {
    if rules.has_no_login && asked.path != "/mcp" {
        return (404, Vec::new(), String::new());
    }
    match (&*asked.verb, &*asked.path) {
        ("GET", "/.well-known/oauth-protected-resource/mcp") if rules.moved_to.is_some() => {
            (307, vec![("location".to_owned(), rules.moved_to.clone().unwrap())], String::new())
        }
        ("GET", "/.well-known/oauth-protected-resource/mcp" | "/moved") => {
            let resource = rules.resource.clone().unwrap_or_else(|| format!("{origin}/mcp"));
            json_answer(200, &json!({"resource": resource, "authorization_servers": [rules.issuer]}))
        }
        ("GET", "/.well-known/oauth-authorization-server") => {
            let mut metadata = json!({
                "issuer": origin,
                "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"),
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
                "authorization_response_iss_parameter_supported": true,
                "scopes_supported": ["offline_access"],
            });
            for (name, value) in rules.metadata.as_object().unwrap() {
                metadata[name] = value.clone();
            }
            metadata.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            json_answer(200, &metadata)
        }
        ("POST", "/register") => {
            rules.count += 1;
            let client = format!("{origin}#client{}", rules.count);
            rules.clients.insert(client.clone());
            json_answer(201, &json!({"client_id": client}))
        }
        ("GET", "/authorize") => authorize(origin, rules, asked),
        ("POST", "/token") => token(rules, asked),
        ("POST", "/mcp") => mcp(origin, rules, asked),
        _ => (404, Vec::new(), String::new()),
    }
}

fn authorize(origin: &str, rules: &mut Rules, asked: &Asked) -> Answered {
    let given = |key: &str| asked.query.get(key).cloned().unwrap_or_default();
    rules.count += 1;
    let code = format!("code{}", rules.count);
    rules.codes.insert(code.clone(), (given("code_challenge"), given("client_id"), given("resource")));
    let mut back = Url::parse(&given("redirect_uri")).unwrap();
    back.query_pairs_mut().append_pair("code", &code).append_pair("state", &given("state")).append_pair("iss", origin);
    (302, vec![("location".to_owned(), back.into())], String::new())
}

fn token(rules: &mut Rules, asked: &Asked) -> Answered {
    let form = asked.form();
    let given = |key: &str| form.get(key).map(String::as_str).unwrap_or_default();
    let registered = given("client_id").contains("#client");
    if registered && !rules.clients.contains(given("client_id")) {
        return json_answer(401, &json!({"error": "invalid_client"}));
    }
    let right = match given("grant_type") {
        "authorization_code" => rules.codes.remove(given("code")).is_some_and(|(challenge, client, resource)| {
            let computed = URL_SAFE_NO_PAD.encode(Sha256::digest(given("code_verifier").as_bytes()));
            computed == challenge && client == given("client_id") && resource == given("resource")
        }),
        "refresh_token" => rules.refresh && rules.refresh_token.as_deref() == Some(given("refresh_token")),
        "client_credentials" => asked.headers.get("authorization").is_some_and(|header| header.starts_with("Basic ")),
        _ => false,
    };
    if !right {
        return json_answer(400, &json!({"error": "invalid_grant"}));
    }
    rules.count += 1;
    let access = format!("access{}", rules.count);
    let refresh = format!("refresh{}", rules.count);
    rules.access = Some(access.clone());
    rules.last_access = Some(rules.count);
    let mut answer = json!({"access_token": access, "token_type": "Bearer", "expires_in": 3600});
    let brings_refresh = match given("grant_type") {
        "authorization_code" => rules.refresh,
        "refresh_token" => rules.rotate,
        _ => false,
    };
    if brings_refresh {
        answer["refresh_token"] = json!(refresh);
        rules.refresh_token = Some(refresh);
    }
    json_answer(200, &answer)
}

fn mcp(origin: &str, rules: &Rules, asked: &Asked) -> Answered {
    let bearer = rules.access.as_ref().map(|token| format!("Bearer {token}"));
    if rules.locked || bearer.is_none() || asked.headers.get("authorization") != bearer.as_ref() {
        let scope = rules.challenge_scope.map(|scope| format!(", scope=\"{scope}\"")).unwrap_or_default();
        let challenge =
            format!("Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\"{scope}");
        return (401, vec![("www-authenticate".to_owned(), challenge)], String::new());
    }
    let request: Value = serde_json::from_str(&asked.body).unwrap();
    let result = match request["method"].as_str().unwrap() {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "ttlMs": 0, "cacheScope": "private",
        }),
        _ => json!({"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}),
    };
    json_answer(200, &json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
}

/// A person at a browser, who opens the page and lets it lead them back.
pub(crate) async fn person() -> Arc<Loopback> {
    let browser = Loopback::new(|page: &Url| {
        let page = page.clone();
        tokio::spawn(async move {
            let back = visit(&page).await.unwrap();
            visit(&back).await;
        });
        Ok(())
    });
    Arc::new(browser.await.unwrap())
}

/// Opens a page; where it leads, if it does.
async fn visit(url: &Url) -> Option<Url> {
    let mut stream = TcpStream::connect((url.host_str()?, url.port()?)).await.ok()?;
    let (path, query) = (url.path(), url.query().unwrap_or_default());
    stream.write_all(format!("GET {path}?{query} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let location = answer.lines().find_map(|line| line.strip_prefix("location: "))?;
    Url::parse(location).ok()
}

/// A browser whose person waits for a sign before going on.
pub(crate) struct Slow {
    pub(crate) inner: Arc<Loopback>,
    pub(crate) arrived: Semaphore,
    pub(crate) go: Semaphore,
}

impl Browser for Slow {
    fn redirect_uri(&self) -> String {
        self.inner.redirect_uri()
    }

    fn authorize(&self, page: Url) -> switchboard_peer::BoxFuture<'_, Result<Url, OAuthError>> {
        Box::pin(async move {
            self.arrived.add_permits(1);
            self.go.acquire().await.unwrap().forget();
            self.inner.authorize(page).await
        })
    }
}

pub(crate) fn oauth(world: &World, browser: Arc<dyn Browser>, vault: Arc<dyn Vault>) -> OAuth {
    OAuth::new(&world.server(), OAuthGrant::Person(browser), OAuthOptions::new("test"), vault).unwrap()
}

pub(crate) async fn simple(world: &World) -> OAuth {
    oauth(world, person().await, Arc::new(MemoryVault::default()))
}

pub(crate) fn registered(issuer: Option<&str>) -> OAuthOptions {
    let mut options = OAuthOptions::new("test");
    options.registered = Some(RegisteredClient {
        issuer: issuer.map(str::to_owned),
        client_id: "configured".to_owned(),
        client_secret: Some(Secret::from("password")),
    });
    options
}

/// What a server says when it refuses the header of now.
pub(crate) fn refused(oauth: &OAuth, status: u16, challenge: &str) -> Refusal {
    Refusal { status, challenge: Some(challenge.to_owned()), used: oauth.header() }
}
