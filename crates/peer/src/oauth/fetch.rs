//! HTTP to addresses that others named: which of them may be spoken to, how long, and how much is read.

use std::time::Duration;

use http::HeaderMap;
use http::header::{ACCEPT, HeaderValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use switchboard_protocol::address::{AddressKind, classify};
use switchboard_transport::http_client::{Answer, Body, HttpClientOptions, HttpError, Reach, Target, redact_url};
use url::{Host, Url};

use super::OAuthError;
use super::error::shown;

/// How long one exchange may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(20);
/// How large one document may be.
const MAX_DOCUMENT_BYTES: usize = 256 << 10;
/// How often a document may be somewhere else on the same server.
const MOST_REDIRECTS: u32 = 3;

/// Speaks to whom the server named.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fetch {
    /// The server itself is on this machine, so what it names may be as well.
    local: bool,
    /// How far the addresses that it names may lead.
    reach: Reach,
}

/// What is found at an address that may have a document or not.
pub(super) enum Found<T> {
    Document(T),
    /// There is none, for this reason.
    Nothing(String),
}

impl Fetch {
    pub(super) fn new(server: &Url) -> Self {
        let local = is_loopback(server);
        Self { local, reach: if local { Reach::Anywhere } else { Reach::Public } }
    }

    /// For a server that was found: one of a private network may name others of it.
    pub(super) async fn placed(server: &Url) -> Self {
        let fetch = Self::new(server);
        if fetch.local {
            return fetch;
        }
        let private = |address: std::net::IpAddr| Reach::Network.allows(address) && !Reach::Public.allows(address);
        let is_private = match server.host() {
            Some(Host::Ipv4(address)) => private(address.into()),
            Some(Host::Ipv6(address)) => private(address.into()),
            Some(Host::Domain(name)) => {
                let port = server.port_or_known_default().unwrap_or(443);
                let looking = tokio::time::timeout(FETCH_TIMEOUT, tokio::net::lookup_host((name, port))).await;
                looking.is_ok_and(|found| found.is_ok_and(|mut found| found.any(|address| private(address.ip()))))
            }
            None => false,
        };
        Self { reach: if is_private { Reach::Network } else { Reach::Public }, ..fetch }
    }

    /// An address that may be spoken to: encrypted, or on this machine if the server is. A server elsewhere must not
    /// use us to reach what only this machine can.
    pub(super) fn allowed(self, step: &'static str, address: &str) -> Result<Url, OAuthError> {
        let bad = |why: &str| OAuthError::BadAddress { step, address: redact(address), why: why.to_owned() };
        let url = Url::parse(address).map_err(|error| bad(&error.to_string()))?;
        match (url.scheme(), is_loopback(&url)) {
            ("https" | "http", true) if !self.local => Err(bad("a server elsewhere names an address of this machine")),
            ("https", _) | ("http", true) if is_link_local(&url) => {
                Err(bad("it is an address of this machine's network"))
            }
            ("https", _) | ("http", true) => Ok(url),
            ("http", false) => Err(bad("it is not encrypted")),
            _ => Err(bad("it is no web address")),
        }
    }

    /// A document in JSON.
    pub(super) async fn get<T: DeserializeOwned>(
        self,
        step: &'static str,
        address: &str,
    ) -> Result<Found<T>, OAuthError> {
        let mut url = self.allowed(step, address)?;
        for _ in 0..=MOST_REDIRECTS {
            let target = self.target(step, &url)?;
            let headers = json_accepted(&target);
            let answer = match within(step, target.get(headers)).await {
                Ok(answer) => answer,
                Err(OAuthError::Http { error: HttpError::Redirect { location, status }, .. }) => {
                    match url.join(&location).ok().filter(|next| next.origin() == url.origin()) {
                        Some(next) => url = next,
                        None => return Err(OAuthError::Http { step, error: HttpError::Redirect { status, location } }),
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            let status = answer.status;
            return match answer.body {
                // Some servers answer every address with the same page.
                Body::Whole(body) if status.is_success() => Ok(match serde_json::from_slice(&body) {
                    Ok(document) => Found::Document(document),
                    Err(error) => {
                        Found::Nothing(format!("what is at {} cannot be read: {error}", redact(url.as_str())))
                    }
                }),
                _ if status.is_client_error() => Ok(Found::Nothing(format!("HTTP {}", status.as_u16()))),
                _ => Err(OAuthError::BadAnswer { step, why: format!("HTTP {}", status.as_u16()) }),
            };
        }
        Err(OAuthError::BadAnswer { step, why: "too many redirects".to_owned() })
    }

    /// Sends a form or a document and reads the answer.
    pub(super) async fn post<T: DeserializeOwned>(
        self,
        step: &'static str,
        address: &str,
        more: HeaderMap,
        body: String,
    ) -> Result<T, OAuthError> {
        let url = self.allowed(step, address)?;
        let target = self.target(step, &url)?;
        let mut headers = json_accepted(&target);
        headers.extend(more);
        let answer = within(step, target.post(headers, body.into())).await?;
        let status = answer.status;
        match answer.body {
            // The error of the parser could repeat a token, so it is not told.
            Body::Whole(body) if status.is_success() => serde_json::from_slice(&body)
                .map_err(|_| OAuthError::BadAnswer { step, why: "the answer cannot be read".to_owned() }),
            Body::Whole(body) => Err(refused(step, status.as_u16(), &body)),
            Body::Events(_) => Err(OAuthError::BadAnswer { step, why: "the answer is a stream".to_owned() }),
        }
    }

    fn target(self, step: &'static str, url: &Url) -> Result<Target, OAuthError> {
        let options = HttpClientOptions {
            body_limit: MAX_DOCUMENT_BYTES,
            max_idle: 1,
            reach: self.reach,
            ..HttpClientOptions::default()
        };
        Target::new(url.as_str(), &[], options).map_err(|error| OAuthError::Http { step, error })
    }
}

async fn within(
    step: &'static str,
    work: impl Future<Output = Result<Answer, HttpError>>,
) -> Result<Answer, OAuthError> {
    match tokio::time::timeout(FETCH_TIMEOUT, work).await {
        Ok(outcome) => outcome.map_err(|error| OAuthError::Http { step, error }),
        Err(_) => Err(OAuthError::Timeout { step, after: FETCH_TIMEOUT }),
    }
}

fn json_accepted(target: &Target) -> HeaderMap {
    let mut headers = target.headers().clone();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers
}

/// The words of an OAuth error (RFC 6749, section 5.2).
fn refused(step: &'static str, status: u16, body: &[u8]) -> OAuthError {
    #[derive(Deserialize)]
    struct Words {
        error: String,
        error_description: Option<String>,
    }
    let words: Option<Words> = serde_json::from_slice(body).ok();
    let (code, description) = words.map_or((None, None), |words| (Some(words.error), words.error_description));
    let short = |text: Option<String>| text.as_deref().map(shown);
    OAuthError::Refused { step, status, code: short(code), description: short(description) }
}

/// An address as it may be shown: without user info, query and fragment.
pub(super) fn redact(address: &str) -> String {
    shown(&redact_url(address))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        _ => kind_of(url) == Some(AddressKind::ThisMachine),
    }
}

/// Where clouds keep the credentials of machines, and what is on this machine's link alone.
fn is_link_local(url: &Url) -> bool {
    matches!(kind_of(url), Some(AddressKind::Link | AddressKind::Metadata))
}

/// The kind of the address in a URL that has one in place of a name.
fn kind_of(url: &Url) -> Option<AddressKind> {
    let address = match url.host()? {
        Host::Ipv4(address) => address.into(),
        Host::Ipv6(address) => address.into(),
        Host::Domain(_) => return None,
    };
    Some(classify(address).kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_encrypted_or_local_addresses_are_spoken_to() {
        let cases = [
            ("https://mcp.example/", "https://auth.example/token", true),
            ("https://mcp.example/", "https://auth.example:8443/token", true),
            ("https://mcp.example/", "http://auth.example/token", false),
            ("https://mcp.example/", "http://localhost/token", false),
            ("https://mcp.example/", "https://localhost/token", false),
            ("https://mcp.example/", "http://127.0.0.1:9/token", false),
            ("https://mcp.example/", "https://[::1]/token", false),
            ("https://mcp.example/", "https://[::ffff:127.0.0.1]/token", false),
            ("https://mcp.example/", "https://0.0.0.0/token", false),
            ("https://mcp.example/", "https://169.254.169.254/latest", false),
            ("https://mcp.example/", "https://[fe80::1]/", false),
            ("https://mcp.example/", "https://168.63.129.16/", false),
            ("https://mcp.example/", "https://[fd00:ec2::254]/", false),
            ("https://mcp.example/", "file:///etc/passwd", false),
            ("https://mcp.example/", "no address", false),
            ("http://localhost:3000/mcp", "http://localhost:4000/token", true),
            ("http://127.0.0.1:3000/mcp", "http://[::1]:4000/token", true),
            ("http://localhost:3000/mcp", "https://auth.example/token", true),
            ("http://localhost:3000/mcp", "http://auth.example/token", false),
        ];
        for (server, address, expected) in cases {
            let fetch = Fetch::new(&Url::parse(server).unwrap());
            assert_eq!(fetch.allowed("testing", address).is_ok(), expected, "{server} {address}");
        }
    }

    #[test]
    fn addresses_are_shown_without_what_they_carry() {
        let fetch = Fetch::new(&Url::parse("https://mcp.example/").unwrap());
        let error = fetch.allowed("testing", "http://user:hidden@h/x?code=hidden#hidden").unwrap_err().to_string();
        assert!(error.contains("http://h/x") && !error.contains("hidden"), "{error}");
    }

    #[test]
    fn the_words_of_a_refusal_are_kept_short() {
        let long = "x".repeat(5_000);
        let body = format!(r#"{{"error":"invalid_grant","error_description":"a\u0000b{long}"}}"#);
        let error = refused("testing", 400, body.as_bytes());
        assert_eq!(error.refusal(), Some("invalid_grant"));
        assert!(error.to_string().len() < 400 && error.to_string().contains("abxx"), "{error}");
        assert_eq!(refused("testing", 400, b"<html>").refusal(), Some(""));
        assert_eq!(refused("testing", 503, b"").refusal(), None);
    }
}
