//! Who we are to an authorization server: known beforehand, by our own document, or registered on the spot.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde::Deserialize;
use serde_json::json;

use super::discovery::Issuer;
use super::error::shown;
use super::fetch::Fetch;
use super::vault::{Registration, Vault};
use super::{OAuthError, OAuthOptions, Secret};

/// How a client proves to the token endpoint who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuthMethod {
    /// Not at all: a public client.
    None,
    /// `client_secret_basic`.
    Basic,
    /// `client_secret_post`.
    Post,
}

impl AuthMethod {
    /// The name in metadata.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
        }
    }

    /// The method of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::None, Self::Basic, Self::Post].into_iter().find(|method| method.name() == name)
    }

    /// The first of `wanted` that the authorization server takes.
    fn choose(wanted: &[Self], issuer: &Issuer) -> Option<Self> {
        match &issuer.token_endpoint_auth_methods_supported {
            Some(names) => wanted.iter().copied().find(|method| names.iter().any(|name| name == method.name())),
            // The default of RFC 8414.
            None => wanted.contains(&Self::Basic).then_some(Self::Basic),
        }
    }

    /// For a client that was given a password, or was not.
    fn for_secret(secret: Option<&Secret>, issuer: &Issuer) -> Self {
        if secret.is_none() {
            Self::None
        } else {
            Self::choose(&[Self::Basic, Self::Post], issuer).unwrap_or(Self::Basic)
        }
    }
}

/// A client id with what proves it.
#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<Secret>,
    pub(super) method: AuthMethod,
}

#[derive(Deserialize)]
struct Answer {
    client_id: String,
    client_secret: Option<String>,
    client_secret_expires_at: Option<u64>,
    token_endpoint_auth_method: Option<String>,
}

/// Our client id at an issuer: what is configured, else our document, else what the issuer gives us.
pub(super) async fn client(
    fetch: Fetch,
    issuer: &Issuer,
    options: &OAuthOptions,
    redirect_uri: &str,
    vault: &dyn Vault,
) -> Result<Client, OAuthError> {
    if let Some(registered) = &options.registered {
        let secret = registered.client_secret.clone();
        let method = AuthMethod::for_secret(secret.as_ref(), issuer);
        return Ok(Client { id: registered.client_id.clone(), secret, method });
    }
    if let Some(document) = &options.client_metadata_url
        && issuer.client_id_metadata_document_supported
    {
        return Ok(Client { id: document.to_string(), secret: None, method: AuthMethod::None });
    }
    let known = vault.registration(&issuer.issuer).filter(|known| {
        known.redirect_uri == redirect_uri && known.secret_expires_at.is_none_or(|end| SystemTime::now() < end)
    });
    let registration = match known {
        Some(known) => known,
        None => {
            let new = register(fetch, issuer, options, redirect_uri).await?;
            vault.keep_registration(&issuer.issuer, Some(new.clone()));
            new
        }
    };
    Ok(Client { id: registration.client_id, secret: registration.client_secret, method: registration.method })
}

/// RFC 7591.
async fn register(
    fetch: Fetch,
    issuer: &Issuer,
    options: &OAuthOptions,
    redirect_uri: &str,
) -> Result<Registration, OAuthError> {
    const STEP: &str = "registering with the authorization server";
    let no_client = || OAuthError::NoClient { issuer: shown(&issuer.issuer) };
    let endpoint = issuer.registration_endpoint.as_deref().ok_or_else(no_client)?;
    let wanted = [AuthMethod::None, AuthMethod::Basic, AuthMethod::Post];
    let method = AuthMethod::choose(&wanted, issuer)
        .ok_or_else(|| issuer.lacks("it supports none of our ways to authenticate a client"))?;
    let body = json!({
        "client_name": options.client_name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method.name(),
        // A program on the person's machine: it gets its answers there.
        "application_type": "native",
    });
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let answer = fetch.post(STEP, endpoint, headers, body.to_string()).await;
    let answer: Answer = answer.map_err(|error| match error {
        // Nobody refused: where endpoints were only assumed, there is nobody.
        OAuthError::Refused { status: 404 | 405 | 501, code: None, .. } if issuer.is_assumed => OAuthError::NoLogin,
        error => error,
    })?;
    let method = match answer.token_endpoint_auth_method.as_deref() {
        None => method,
        Some(name) => AuthMethod::parse(name)
            .ok_or_else(|| issuer.lacks("it registered us with a way to authenticate that we do not have"))?,
    };
    Ok(Registration {
        client_id: answer.client_id,
        client_secret: answer.client_secret.map(Secret::from),
        // Zero means never.
        secret_expires_at: answer
            .client_secret_expires_at
            .filter(|end| *end != 0)
            .and_then(|end| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(end))),
        method,
        redirect_uri: redirect_uri.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_method_is_one_that_both_sides_have() {
        let secret = Secret::from("s");
        let cases = [
            (None, Some(AuthMethod::Basic), AuthMethod::Basic),
            (Some("none"), Some(AuthMethod::None), AuthMethod::Basic),
            (Some("client_secret_post"), Some(AuthMethod::Post), AuthMethod::Post),
            (Some("client_secret_post client_secret_basic"), Some(AuthMethod::Basic), AuthMethod::Basic),
            (Some("client_secret_basic none"), Some(AuthMethod::None), AuthMethod::Basic),
            (Some("private_key_jwt"), None, AuthMethod::Basic),
        ];
        for (supported, for_registration, with_secret) in cases {
            let names = supported.map(|names: &str| names.split(' ').map(str::to_owned).collect());
            let issuer = Issuer { token_endpoint_auth_methods_supported: names, ..Issuer::default() };
            let wanted = [AuthMethod::None, AuthMethod::Basic, AuthMethod::Post];
            assert_eq!(AuthMethod::choose(&wanted, &issuer), for_registration, "{supported:?}");
            assert_eq!(AuthMethod::for_secret(Some(&secret), &issuer), with_secret, "{supported:?}");
            assert_eq!(AuthMethod::for_secret(None, &issuer), AuthMethod::None, "{supported:?}");
        }
    }
}
