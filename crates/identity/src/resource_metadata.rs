//! What clients are told who have no token yet: the resource metadata of RFC 9728, and the challenges that lead there.
//! There only if an identity provider is configured; with tokens of ours alone there is nobody to be sent to.

use std::sync::Arc;

use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::json;
use switchboard_config::Auth;
use switchboard_transport::http_server::{Answering, Body, Challenges, Principal, Service};
use url::Url;

const PATH: &str = "/.well-known/oauth-protected-resource";

/// Serves the metadata, and everything else by another service.
pub struct ResourceMetadata {
    document: String,
    /// The path with that of the endpoint behind it, as RFC 9728 wants it.
    specific: String,
    other: Arc<dyn Service>,
}

impl ResourceMetadata {
    /// For the resource at this address.
    #[must_use]
    pub fn new(auth: &Auth, resource: &str, other: Arc<dyn Service>) -> Self {
        let document = json!({
            "resource": resource,
            "authorization_servers": [auth.issuer],
            "bearer_methods_supported": ["header"],
            "scopes_supported": auth.required_scopes,
            "resource_name": "Switchboard",
        });
        let path = Url::parse(resource).map(|url| url.path().trim_end_matches('/').to_owned()).unwrap_or_default();
        Self { document: document.to_string(), specific: format!("{PATH}{path}"), other }
    }

    fn is_own(&self, path: &str) -> bool {
        // Profiles are parts of the same resource, and stand behind its path.
        let is_mcp = |path: &str| path == "/mcp" || path.starts_with("/mcp/");
        path == PATH || path == self.specific || path.strip_prefix(PATH).is_some_and(is_mcp)
    }

    fn answer(&self, method: &Method) -> Response<Body> {
        let mut response = Response::new(Body::full(self.document.clone()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
        // Nothing here is a secret, and clients that are web pages need it before anything else.
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        if method != Method::GET && method != Method::HEAD {
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        response
    }
}

impl Service for ResourceMetadata {
    fn call(&self, request: Request<Incoming>, principal: Principal) -> Answering<'_> {
        if self.is_own(request.uri().path()) {
            return Box::pin(std::future::ready(self.answer(request.method())));
        }
        self.other.call(request, principal)
    }

    fn is_open(&self, path: &str) -> bool {
        self.is_own(path) || self.other.is_open(path)
    }

    fn has_any_host(&self, path: &str) -> bool {
        self.other.has_any_host(path)
    }
}

/// What is said to those who are not let in.
#[must_use]
pub fn challenges(auth: &Auth, resource: &str) -> Challenges {
    let place = Url::parse(resource).ok().map(|url| {
        let path = url.path().trim_end_matches('/');
        format!("{}{PATH}{path}", url.origin().ascii_serialization())
    });
    let scope = auth.required_scopes.join(" ");
    let header = |error: Option<&str>| {
        let parts = [("error", error), ("scope", Some(&*scope)), ("resource_metadata", place.as_deref())];
        let parts = parts.into_iter().filter_map(|(name, value)| {
            let value = value.filter(|value| !value.is_empty() && !value.contains(['"', '\\']))?;
            Some(format!("{name}=\"{value}\""))
        });
        let text = format!("Bearer {}", parts.collect::<Vec<_>>().join(", "));
        HeaderValue::from_str(text.trim_end()).unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
    };
    Challenges {
        missing: header(None),
        invalid: header(Some("invalid_token")),
        insufficient: header(Some("insufficient_scope")),
    }
}

impl std::fmt::Debug for ResourceMetadata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResourceMetadata").field("document", &self.document).finish_non_exhaustive()
    }
}
