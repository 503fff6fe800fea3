//! Finding the authorization server of a resource, and believing only what is consistent.

use std::collections::BTreeSet;
use std::time::Duration;

use http::StatusCode;
use http::header::{ACCEPT, HeaderName, HeaderValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use switchboard_transport::http_client::{Body, HttpOptions, Target};
use url::{Host, Url};

use crate::client::authorize::AuthorizeError;

/// How long one document may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// How large one document may be.
const LARGEST: usize = 256 << 10;

/// The server that tokens are for.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) resource: String,
    pub(super) authorization_server: String,
    pub(super) scopes: BTreeSet<String>,
}

/// The server that gives tokens.
#[derive(Debug, Deserialize)]
pub(super) struct Issuer {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) registration_endpoint: Option<String>,
    #[serde(default)]
    pub(super) scopes_supported: Vec<String>,
    #[serde(default)]
    pub(super) token_endpoint_auth_methods_supported: Vec<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    #[serde(default)]
    pub(super) client_id_metadata_document_supported: bool,
    #[serde(default, rename = "authorization_response_iss_parameter_supported")]
    pub(super) iss_parameter_supported: bool,
}

#[derive(Deserialize)]
struct ResourceDocument {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

/// Fetches documents from addresses that others named.
pub(super) struct Fetcher {
    /// The server itself is on this machine, so what it names may be as well.
    local: bool,
}

impl Fetcher {
    pub(super) fn new(server: &Url) -> Self {
        Self { local: is_loopback(server) }
    }

    /// An address that may be spoken to: encrypted, or on this machine if the server is.
    pub(super) fn allowed(&self, address: &str) -> Result<Url, AuthorizeError> {
        const STEP: &str = "following an address";
        let url = Url::parse(address).map_err(|error| AuthorizeError::new(STEP, error))?;
        let fine = match url.scheme() {
            "https" => true,
            "http" => self.local && is_loopback(&url),
            _ => false,
        };
        if fine { Ok(url) } else { Err(AuthorizeError::new(STEP, format!("{} is not encrypted", origin(&url)))) }
    }

    /// The metadata of the resource at `server` (RFC 9728).
    pub(super) async fn resource(&self, server: &Url, named: Option<&str>) -> Result<Resource, AuthorizeError> {
        const STEP: &str = "reading the server's resource metadata";
        let places = match named {
            Some(named) => vec![named.to_owned()],
            None => well_known(server, "oauth-protected-resource"),
        };
        for place in places {
            let Some(document) = self.get::<ResourceDocument>(STEP, &place).await? else { continue };
            let covers = Url::parse(&document.resource).is_ok_and(|resource| covers(&resource, server));
            if !covers {
                let why = format!("it is about {}, not about this server", document.resource);
                return Err(AuthorizeError::new(STEP, why));
            }
            let first = document.authorization_servers.into_iter().next();
            let authorization_server =
                first.ok_or_else(|| AuthorizeError::new(STEP, "it names no authorization server"))?;
            let scopes = document.scopes_supported.into_iter().collect();
            return Ok(Resource { resource: document.resource, authorization_server, scopes });
        }
        // Servers of 2025-03-26 are their own authorization servers.
        let resource = server.as_str().trim_end_matches('/').to_owned();
        Ok(Resource { resource, authorization_server: origin(server), scopes: BTreeSet::new() })
    }

    /// The metadata of an authorization server (RFC 8414, or OpenID Connect discovery).
    pub(super) async fn issuer(&self, issuer: &str) -> Result<Issuer, AuthorizeError> {
        const STEP: &str = "reading the authorization server's metadata";
        let url = self.allowed(issuer)?;
        let path = url.path().trim_end_matches('/');
        let mut places = vec![
            format!("{}/.well-known/oauth-authorization-server{path}", origin(&url)),
            format!("{}/.well-known/openid-configuration{path}", origin(&url)),
        ];
        if !path.is_empty() {
            places.push(format!("{}{path}/.well-known/openid-configuration", origin(&url)));
        }
        for place in places {
            let Some(found) = self.get::<Issuer>(STEP, &place).await? else { continue };
            if found.issuer != issuer {
                return Err(AuthorizeError::new(STEP, format!("it is that of {}, not of {issuer}", found.issuer)));
            }
            if !found.code_challenge_methods_supported.iter().any(|method| method == "S256") {
                return Err(AuthorizeError::new(STEP, "the authorization server does not support PKCE with S256"));
            }
            return Ok(found);
        }
        Err(AuthorizeError::new(STEP, format!("{issuer} publishes none")))
    }

    /// A document; `None` where there is none.
    async fn get<T: DeserializeOwned>(&self, step: &'static str, address: &str) -> Result<Option<T>, AuthorizeError> {
        let target = self.target(step, address)?;
        let mut headers = target.headers().clone();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let answer = tokio::time::timeout(PATIENCE, target.get(headers))
            .await
            .map_err(|_| AuthorizeError::new(step, "no answer in time"))?
            .map_err(|error| AuthorizeError::new(step, error))?;
        match answer.body {
            Body::Whole(body) if answer.status.is_success() => {
                serde_json::from_slice(&body).map(Some).map_err(|error| AuthorizeError::new(step, error))
            }
            _ if answer.status.is_client_error() => Ok(None),
            _ => Err(AuthorizeError::new(step, format!("HTTP {}", answer.status.as_u16()))),
        }
    }

    /// Sends a form or a document and reads the answer.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        step: &'static str,
        address: &str,
        more: Vec<(HeaderName, HeaderValue)>,
        body: String,
    ) -> Result<T, AuthorizeError> {
        let target = self.target(step, address)?;
        let mut headers = target.headers().clone();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.extend(more);
        let answer = tokio::time::timeout(PATIENCE, target.post(headers, body.into()))
            .await
            .map_err(|_| AuthorizeError::new(step, "no answer in time"))?
            .map_err(|error| AuthorizeError::new(step, error))?;
        let status = answer.status;
        match answer.body {
            Body::Whole(body) if matches!(status, StatusCode::OK | StatusCode::CREATED) => {
                // The text of the error could repeat what was sent or received.
                serde_json::from_slice(&body).map_err(|_| AuthorizeError::new(step, "the answer cannot be read"))
            }
            Body::Whole(body) => Err(AuthorizeError::new(step, refusal(status, &body))),
            Body::Events(_) => Err(AuthorizeError::new(step, "the answer is a stream")),
        }
    }

    fn target(&self, step: &'static str, address: &str) -> Result<Target, AuthorizeError> {
        let url = self.allowed(address)?;
        let options = HttpOptions { body_limit: LARGEST, max_idle: 1, ..HttpOptions::default() };
        Target::new(url.as_str(), &[], options).map_err(|error| AuthorizeError::new(step, error))
    }
}

/// The words of an OAuth error.
fn refusal(status: StatusCode, body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct OAuthError {
        error: String,
    }
    let status = status.as_u16();
    match serde_json::from_slice::<OAuthError>(body) {
        Ok(error) => {
            format!("HTTP {status}, {}", error.error.chars().filter(|c| c.is_ascii_graphic()).collect::<String>())
        }
        Err(_) => format!("HTTP {status}"),
    }
}

/// Where metadata about `url` may be, the most specific place first.
fn well_known(url: &Url, name: &str) -> Vec<String> {
    let root = format!("{}/.well-known/{name}", origin(url));
    let path = url.path().trim_end_matches('/');
    if path.is_empty() { vec![root] } else { vec![format!("{root}{path}"), root] }
}

/// Whether a token for `resource` is one for `server`: the same place, or one above it.
fn covers(resource: &Url, server: &Url) -> bool {
    let (above, here) = (resource.path().trim_end_matches('/'), server.path());
    let within = here.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    resource.origin() == server.origin() && within
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_resource_covers_itself_and_what_lies_below() {
        let cases = [
            ("https://h/mcp", "https://h/mcp", true),
            ("https://h", "https://h/mcp", true),
            ("https://h/", "https://h/mcp", true),
            ("https://h/mcp/", "https://h/mcp", true),
            ("https://h/a", "https://h/a/b", true),
            ("https://h/a", "https://h/ab", false),
            ("https://h/mcp", "https://h/", false),
            ("https://evil.example/mcp", "https://h/mcp", false),
            ("http://h/mcp", "https://h/mcp", false),
            ("https://h:8443/mcp", "https://h/mcp", false),
        ];
        for (resource, server, expected) in cases {
            assert_eq!(covers(&url(resource), &url(server)), expected, "{resource} {server}");
        }
    }

    #[test]
    fn a_public_server_cannot_send_us_to_this_machine_or_into_the_clear() {
        let public = Fetcher::new(&url("https://mcp.example/"));
        let local = Fetcher::new(&url("http://127.0.0.1:8080/"));
        for (address, from_public, from_local) in [
            ("https://as.example/", true, true),
            ("http://as.example/", false, false),
            ("http://localhost:1/", false, true),
            ("http://[::1]:1/", false, true),
            ("file:///etc/passwd", false, false),
            ("http://169.254.169.254/", false, false),
        ] {
            assert_eq!(public.allowed(address).is_ok(), from_public, "{address}");
            assert_eq!(local.allowed(address).is_ok(), from_local, "{address}");
        }
    }
}
