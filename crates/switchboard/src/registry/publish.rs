//! This kernel as a registry: `/v0/servers` in the form of the official MCP Registry, for whoever may use its servers.
//!
//! Each server is offered as what a client can use: the kernel's own endpoint. Its command, its address and its
//! environment are told to nobody. Who asks is who was authenticated, and sees what he may use.

use std::sync::Arc;

use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use jiff::Timestamp;
use serde_json::{Value, json};
use switchboard_kernel::{Asker, Kernel, OfferedServer};
use switchboard_transport::http_server::{Answering, Body, Principal, Service};
use url::form_urlencoded;

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const OFFICIAL: &str = "io.modelcontextprotocol.registry/official";
const PROVIDED: &str = "io.modelcontextprotocol.registry/publisher-provided";
/// What the names of all servers begin with.
const NAMESPACE: &str = "dev.switchboard";
/// Servers of one page.
const DEFAULT_PAGE_SERVERS: usize = 30;
const MAX_PAGE_SERVERS: usize = 100;
/// Characters of a description that the format allows.
const MAX_DESCRIPTION_CHARS: usize = 97;
/// Bytes of what is searched for.
const LONGEST_SEARCH: usize = 1_000;

/// Answers requests for the list of servers, and everything else by another service.
pub(crate) struct Publisher {
    kernel: Kernel,
    /// The endpoint, as clients know it.
    endpoint: String,
    /// Whether clients need a token.
    guarded: bool,
    began: Timestamp,
    other: Arc<dyn Service>,
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    List,
    /// A server in its only version; the answer stands alone.
    Server(String, String),
    Versions(String),
}

impl Publisher {
    pub(crate) fn new(kernel: Kernel, endpoint: String, guarded: bool, other: Arc<dyn Service>) -> Self {
        Self { kernel, endpoint, guarded, began: Timestamp::now(), other }
    }

    async fn answer(&self, path: &str, query: &str, asker: &Asker) -> Result<Value, (StatusCode, String)> {
        let missing = || (StatusCode::NOT_FOUND, "there is no such server".to_owned());
        match wanted(path).ok_or_else(missing)? {
            Wanted::List => self.list(query, asker).await,
            Wanted::Server(name, version) => {
                let server = self.find(&name, asker).await?.ok_or_else(missing)?;
                let has = version == "latest" || version_of(&server) == version;
                if has { Ok(self.told(&server)) } else { Err(missing()) }
            }
            Wanted::Versions(name) => {
                let server = self.find(&name, asker).await?.ok_or_else(missing)?;
                Ok(json!({"servers": [self.told(&server)], "metadata": {"count": 1}}))
            }
        }
    }

    async fn offered(&self, asker: &Asker) -> Result<Vec<OfferedServer>, (StatusCode, String)> {
        let mut servers = self.kernel.offered_to(asker).await.map_err(|fault| unavailable(fault.message()))?;
        servers.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(servers)
    }

    async fn find(&self, name: &str, asker: &Asker) -> Result<Option<OfferedServer>, (StatusCode, String)> {
        Ok(self.offered(asker).await?.into_iter().find(|server| name_of(server) == name || server.id == name))
    }

    async fn list(&self, query: &str, asker: &Asker) -> Result<Value, (StatusCode, String)> {
        let bad = |why: &str| (StatusCode::BAD_REQUEST, why.to_owned());
        let mut search = String::new();
        let (mut limit, mut from, mut version, mut since) = (DEFAULT_PAGE_SERVERS, 0, None, None);
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*key {
                "limit" => {
                    limit = value.parse::<usize>().map_err(|_| bad("`limit` is no number"))?.clamp(1, MAX_PAGE_SERVERS)
                }
                "cursor" if !value.is_empty() => from = value.parse().map_err(|_| bad("`cursor` is none of ours"))?,
                "search" => search = value.into_owned(),
                "version" if value != "latest" => version = Some(value.into_owned()),
                "updated_since" => {
                    since =
                        Some(value.parse::<Timestamp>().map_err(|_| bad("`updated_since` is no time in RFC 3339"))?);
                }
                _ => {}
            }
        }
        if search.len() > LONGEST_SEARCH {
            return Err(bad("`search` is too long"));
        }
        let mut servers = self.offered(asker).await?;
        if !search.trim().is_empty() {
            servers = self.found(servers, &search, asker).await?;
        }
        servers.retain(|server| version.as_ref().is_none_or(|version| *version == version_of(server)));
        if since.is_some_and(|since| since > self.began) {
            servers.clear();
        }
        let total = servers.len();
        let page: Vec<Value> = servers.iter().skip(from).take(limit).map(|server| self.told(server)).collect();
        let mut metadata = json!({"count": page.len()});
        if from + page.len() < total {
            metadata["nextCursor"] = (from + page.len()).to_string().into();
        }
        Ok(json!({"servers": page, "metadata": metadata}))
    }

    /// Servers with these words in their names, then those that can do what the words say.
    async fn found(
        &self,
        servers: Vec<OfferedServer>,
        search: &str,
        asker: &Asker,
    ) -> Result<Vec<OfferedServer>, (StatusCode, String)> {
        let word = search.trim().to_lowercase();
        let mut found: Vec<OfferedServer> =
            servers.into_iter().filter(|server| name_of(server).to_lowercase().contains(&word)).collect();
        let offers = self.kernel.offered_for(asker, search).await.map_err(|fault| unavailable(fault.message()))?;
        for offer in offers {
            if !found.iter().any(|known| known.id == offer.server.id) {
                found.push(offer.server);
            }
        }
        Ok(found)
    }

    fn told(&self, server: &OfferedServer) -> Value {
        let tools: Vec<Value> = server
            .tools
            .iter()
            .map(|(_, exposed, about)| json!({"name": exposed, "description": crate::screen::brief(about, 200)}))
            .collect();
        let mut remote = json!({"type": "streamable-http", "url": self.endpoint});
        if self.guarded {
            remote["headers"] = json!([{
                "name": "Authorization", "description": "Bearer and a token of this Switchboard",
                "isRequired": true, "isSecret": true,
            }]);
        }
        json!({
            "server": {
                "$schema": SCHEMA,
                "name": name_of(server),
                "title": server.id,
                "description": description_of(server),
                "version": version_of(server),
                "remotes": [remote],
                "_meta": {PROVIDED: {"dev.switchboard": {
                    "server_id": server.id,
                    "status": server.status,
                    "trust_level": server.trust.as_str(),
                    "mgp_version": server.mgp_version,
                    "extensions": server.extensions,
                    "tools": tools,
                }}},
            },
            "_meta": {OFFICIAL: {
                "status": "active",
                "publishedAt": self.began.to_string(),
                "updatedAt": self.began.to_string(),
                "isLatest": true,
            }},
        })
    }
}

impl Service for Publisher {
    fn call(&self, request: Request<Incoming>, principal: Principal) -> Answering<'_> {
        if !is_own(request.uri().path()) {
            return self.other.call(request, principal);
        }
        Box::pin(async move {
            if request.method() != Method::GET && request.method() != Method::HEAD {
                let mut response =
                    written(StatusCode::METHOD_NOT_ALLOWED, &json!({"error": "this registry is read only"}));
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                return response;
            }
            let asker = Asker::new(principal, request.headers().clone());
            let uri = request.uri();
            match self.answer(uri.path(), uri.query().unwrap_or_default(), &asker).await {
                Ok(value) => written(StatusCode::OK, &value),
                Err((status, why)) => written(status, &json!({"error": why})),
            }
        })
    }

    fn is_open(&self, path: &str) -> bool {
        !is_own(path) && self.other.is_open(path)
    }

    fn has_any_host(&self, path: &str) -> bool {
        self.other.has_any_host(path)
    }
}

fn rest_of(path: &str) -> Option<&str> {
    path.strip_prefix("/v0.1/servers").or_else(|| path.strip_prefix("/v0/servers"))
}

fn is_own(path: &str) -> bool {
    rest_of(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What a path asks for. Names hold a `/` that clients escape; some do not.
fn wanted(path: &str) -> Option<Wanted> {
    let rest = rest_of(path)?.trim_matches('/');
    if rest.is_empty() {
        return Some(Wanted::List);
    }
    let plain = |text: &str| {
        // A plus is a plus in a path.
        let text = text.replace('+', "%2B");
        form_urlencoded::parse(format!("x={text}").as_bytes()).next().map(|(_, value)| value.into_owned())
    };
    match rest.rsplit_once("/versions") {
        Some((name, "")) => Some(Wanted::Versions(plain(name)?)),
        Some((name, version)) => Some(Wanted::Server(plain(name)?, plain(version.strip_prefix('/')?)?)),
        None => Some(Wanted::Server(plain(rest)?, "latest".to_owned())),
    }
}

fn name_of(server: &OfferedServer) -> String {
    format!("{NAMESPACE}/{}", server.id)
}

fn version_of(server: &OfferedServer) -> String {
    server.version.clone().filter(|version| !version.is_empty()).unwrap_or_else(|| "0.0.0".to_owned())
}

fn description_of(server: &OfferedServer) -> String {
    let names: Vec<&str> = server.tools.iter().map(|(original, ..)| original.as_str()).collect();
    let text = server.description.clone().unwrap_or_else(|| match names.as_slice() {
        [] => format!("The server {} behind this Switchboard", server.id),
        names => format!("Tools: {}", names.join(", ")),
    });
    crate::screen::brief(&text, MAX_DESCRIPTION_CHARS)
}

fn unavailable(why: &str) -> (StatusCode, String) {
    (StatusCode::SERVICE_UNAVAILABLE, why.to_owned())
}

fn written(status: StatusCode, value: &Value) -> Response<Body> {
    let mut response = Response::new(Body::full(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let server = |name: &str, version: &str| Some(Wanted::Server(name.to_owned(), version.to_owned()));
        for (path, expected) in [
            ("/v0/servers", Some(Wanted::List)),
            ("/v0.1/servers/", Some(Wanted::List)),
            ("/v0/servers/dev.switchboard%2Fgit", server("dev.switchboard/git", "latest")),
            ("/v0/servers/dev.switchboard/git", server("dev.switchboard/git", "latest")),
            ("/v0.1/servers/dev.switchboard%2Fgit/versions/latest", server("dev.switchboard/git", "latest")),
            ("/v0/servers/a%2Fb/versions/1.0.0+x", server("a/b", "1.0.0+x")),
            ("/v0/servers/a%2Fb/versions", Some(Wanted::Versions("a/b".to_owned()))),
            ("/v0/serversx", None),
            ("/v1/servers", None),
        ] {
            assert_eq!(is_own(path).then(|| wanted(path)).flatten(), expected, "{path}");
        }
    }
}
