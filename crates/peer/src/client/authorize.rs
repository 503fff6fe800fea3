//! Credentials that change while a connection lives.

use std::sync::Arc;

use http::HeaderValue;

use crate::BoxFuture;

/// Gives requests their `Authorization` header, and finds another one when a server refuses it.
pub trait Authorizer: Send + Sync + 'static {
    /// The header as of now, if there is one.
    fn header(&self) -> Option<HeaderValue>;

    /// The server refused a request. `Ok` means that it is worth making again.
    fn challenged(&self, refusal: Refusal) -> BoxFuture<'_, Result<(), AuthorizeError>>;
}

/// Knows which credentials a connection is made with.
pub trait CredentialSource: std::fmt::Debug + Send + Sync + 'static {
    /// Whether a principal has credentials of its own for a server. Asked at each call, so it must be quick.
    fn has_own(&self, _server: &str, _principal: &str) -> bool {
        false
    }

    /// The authorizer of a connection; `None` for one that is made without.
    fn authorizer<'a>(&'a self, wanted: Wanted<'a>) -> BoxFuture<'a, Option<Arc<dyn Authorizer>>>;
}

/// A connection for which credentials are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The server's name.
    pub server: &'a str,
    /// Its address.
    pub url: &'a str,
    /// Whose calls take the connection; `None` where it is everybody's.
    pub principal: Option<&'a str>,
}

/// How a server refused a request.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// 401 or 403.
    pub status: u16,
    /// `WWW-Authenticate`, where it was sent.
    pub challenge: Option<String>,
    /// The header that the request carried.
    pub used: Option<HeaderValue>,
}

/// Why there are no other credentials.
#[derive(Debug, thiserror::Error)]
#[error("authorization failed while {step}: {why}")]
pub struct AuthorizeError {
    /// What was being done.
    pub step: &'static str,
    /// What went wrong. Never holds a credential.
    pub why: String,
}

impl AuthorizeError {
    /// An error at a step.
    pub fn new(step: &'static str, why: impl std::fmt::Display) -> Self {
        Self { step, why: why.to_string() }
    }
}
