//! How we become known to an authorization server.

use http::header::{CONTENT_TYPE, HeaderValue};
use serde::Deserialize;
use serde_json::json;

use super::OAuthOptions;
use super::discovery::{Fetcher, Issuer};
use crate::client::authorize::AuthorizeError;

/// Who we are to one authorization server.
pub(super) struct ClientId {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) method: AuthMethod,
}

/// How we prove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AuthMethod {
    /// Not at all: a program on the user's machine keeps no secret.
    None,
    /// In the `Authorization` header.
    Basic,
    /// In the form.
    Post,
}

impl AuthMethod {
    const ALL: [Self; 3] = [Self::None, Self::Basic, Self::Post];

    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The first of `wanted` that the server supports. A server that says nothing supports the header.
    fn choose(wanted: &[Self], issuer: &Issuer) -> Self {
        let supported = &issuer.token_endpoint_auth_methods_supported;
        let found = wanted.iter().find(|method| supported.iter().any(|name| name == method.name()));
        found.copied().unwrap_or(Self::Basic)
    }
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
}

impl Fetcher {
    /// Finds or makes our client id: given beforehand, our metadata document, or registered now.
    pub(super) async fn register(&self, issuer: &Issuer, options: &OAuthOptions) -> Result<ClientId, AuthorizeError> {
        const STEP: &str = "registering with the authorization server";
        if let Some((id, secret)) = &options.registered {
            let wanted: &[AuthMethod] =
                if secret.is_some() { &[AuthMethod::Basic, AuthMethod::Post] } else { &[AuthMethod::None] };
            let method = AuthMethod::choose(wanted, issuer);
            return Ok(ClientId { id: id.clone(), secret: secret.clone(), method });
        }
        if let (true, Some(document)) = (issuer.client_id_metadata_document_supported, &options.client_metadata_url) {
            return Ok(ClientId { id: document.clone(), secret: None, method: AuthMethod::None });
        }
        let Some(endpoint) = &issuer.registration_endpoint else {
            let why = "it registers no clients by itself: configure a client id for this server";
            return Err(AuthorizeError::new(STEP, why));
        };
        let method = AuthMethod::choose(&AuthMethod::ALL, issuer);
        let body = json!({
            "client_name": options.client_name,
            "redirect_uris": [options.redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method.name(),
            "application_type": "native",
        });
        let headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        let registered: Registered = self.post(STEP, endpoint, headers, body.to_string()).await?;
        let method = registered.token_endpoint_auth_method.as_deref().and_then(AuthMethod::parse).unwrap_or(method);
        Ok(ClientId { id: registered.client_id, secret: registered.client_secret, method })
    }
}
