//! OAuth 2.1 as MCP uses it: discovery, registration, the code flow with PKCE, and more scopes when they are needed.
//!
//! This module decides whom to trust: metadata must name the resource and the issuer it was asked for, credentials
//! belong to the issuer that gave them, and an answer from another issuer is refused. It deliberately shows no page
//! and keeps no file: the user's consent comes through a [`UserAgent`].

mod challenge;
mod discovery;
mod registration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use parking_lot::Mutex;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;
use url::Url;
use url::form_urlencoded;

use self::challenge::Challenge;
use self::discovery::{Fetcher, Issuer};
use self::registration::{AuthMethod, ClientId};
use super::authorize::{AuthorizeError, Authorizer, Refusal};
use crate::BoxFuture;

/// Takes the user through the authorization page.
pub trait UserAgent: Send + Sync + 'static {
    /// Opens `address` and gives back the address that the authorization server sent the user to in the end.
    fn authorize(&self, address: String) -> BoxFuture<'_, Result<String, AuthorizeError>>;
}

/// Who we are to authorization servers.
#[derive(Debug, Clone)]
pub struct OAuthOptions {
    /// The name shown to the user.
    pub client_name: String,
    /// Where the authorization server sends the user back to.
    pub redirect_uri: String,
    /// The address of our client metadata document, which serves as client id where that is supported.
    pub client_metadata_url: Option<String>,
    /// Client id and secret that were given to us beforehand.
    pub registered: Option<(String, Option<String>)>,
}

/// Gets tokens for one server.
pub struct OAuth {
    server: Url,
    options: OAuthOptions,
    agent: Arc<dyn UserAgent>,
    fetcher: Fetcher,
    header: Mutex<Option<HeaderValue>>,
    /// Held while tokens are fetched, so that the user is asked once.
    account: tokio::sync::Mutex<Option<Account>>,
}

/// What belongs to one issuer, and goes with it.
struct Account {
    issuer: String,
    client: ClientId,
    refresh_token: Option<String>,
    scopes: BTreeSet<String>,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    token_type: String,
    refresh_token: Option<String>,
    scope: Option<String>,
}

impl OAuth {
    /// Credentials for the server at `server`.
    ///
    /// # Errors
    /// The address cannot be used.
    pub fn new(server: &str, options: OAuthOptions, agent: Arc<dyn UserAgent>) -> Result<Self, AuthorizeError> {
        let mut server = Url::parse(server).map_err(|error| AuthorizeError::new("reading the address", error))?;
        server.set_fragment(None);
        let fetcher = Fetcher::new(&server);
        Ok(Self { server, options, agent, fetcher, header: Mutex::default(), account: tokio::sync::Mutex::default() })
    }

    async fn renew(&self, refusal: Refusal) -> Result<(), AuthorizeError> {
        let mut account = self.account.lock().await;
        if *self.header.lock() != refusal.used {
            // Another call got a new token while this one waited.
            return Ok(());
        }
        let challenge = refusal.challenge.as_deref().map(Challenge::parse).unwrap_or_default();
        let step_up = refusal.status == 403;
        if step_up && challenge.error.as_deref() != Some("insufficient_scope") {
            return Err(AuthorizeError::new(
                "reading the refusal",
                "the server does not say that more scopes would help",
            ));
        }
        let resource = self.fetcher.resource(&self.server, challenge.resource_metadata.as_deref()).await?;
        let issuer = self.fetcher.issuer(&resource.authorization_server).await?;
        // Credentials of another issuer are worth nothing here, and must not be shown to this one.
        if account.as_ref().is_some_and(|known| known.issuer != issuer.issuer) {
            *account = None;
        }
        let known = match &mut *account {
            Some(known) => known,
            empty => empty.insert(Account {
                client: self.fetcher.register(&issuer, &self.options).await?,
                issuer: issuer.issuer.clone(),
                refresh_token: None,
                scopes: BTreeSet::new(),
            }),
        };
        if !step_up
            && let Some(token) = known.refresh_token.take()
            && let Ok(response) = self.refresh(&issuer, &known.client, &resource.resource, &token).await
        {
            return self.accept(known, response);
        }
        let asked = match &challenge.scope {
            Some(scope) => words(scope),
            None => resource.scopes.clone(),
        };
        known.scopes.extend(asked);
        if issuer.scopes_supported.iter().any(|scope| scope == "offline_access") {
            known.scopes.insert("offline_access".to_owned());
        }
        let response = self.consent(&issuer, known, &resource.resource).await?;
        self.accept(known, response)
    }

    /// The code flow.
    async fn consent(
        &self,
        issuer: &Issuer,
        account: &Account,
        resource: &str,
    ) -> Result<TokenResponse, AuthorizeError> {
        const STEP: &str = "asking the user";
        let verifier = format!("{}{}", crate::random_token(), crate::random_token());
        let state = crate::random_token();
        let mut address = self.fetcher.allowed(&issuer.authorization_endpoint)?;
        {
            let mut query = address.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", &account.client.id)
                .append_pair("redirect_uri", &self.options.redirect_uri)
                .append_pair("code_challenge", &URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())))
                .append_pair("code_challenge_method", "S256")
                .append_pair("state", &state)
                .append_pair("resource", resource);
            if !account.scopes.is_empty() {
                query.append_pair("scope", &joined(&account.scopes));
            }
        }
        let redirect = self.agent.authorize(address.into()).await?;
        let redirect = Url::parse(&redirect).map_err(|error| AuthorizeError::new(STEP, error))?;
        let find =
            |key: &str| redirect.query_pairs().find(|(name, _)| name == key).map(|(_, value)| value.into_owned());
        if find("state").as_deref() != Some(&*state) {
            return Err(AuthorizeError::new(STEP, "the answer belongs to another request"));
        }
        // Compared as it is: two addresses that merely mean the same may lead to different servers.
        match find("iss") {
            Some(found) if found != issuer.issuer => {
                return Err(AuthorizeError::new(STEP, "the answer comes from another authorization server"));
            }
            None if issuer.iss_parameter_supported => {
                return Err(AuthorizeError::new(STEP, "the answer does not name its authorization server"));
            }
            _ => {}
        }
        let Some(code) = find("code") else {
            let why = find("error").unwrap_or_else(|| "the answer holds no code".to_owned());
            return Err(AuthorizeError::new(STEP, why));
        };
        let form = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", &self.options.redirect_uri),
            ("code_verifier", &verifier),
            ("resource", resource),
        ];
        self.token(issuer, &account.client, &form).await
    }

    async fn refresh(
        &self,
        issuer: &Issuer,
        client: &ClientId,
        resource: &str,
        token: &str,
    ) -> Result<TokenResponse, AuthorizeError> {
        let form = [("grant_type", "refresh_token"), ("refresh_token", token), ("resource", resource)];
        self.token(issuer, client, &form).await
    }

    async fn token(
        &self,
        issuer: &Issuer,
        client: &ClientId,
        form: &[(&str, &str)],
    ) -> Result<TokenResponse, AuthorizeError> {
        const STEP: &str = "fetching a token";
        let mut fields = form.to_vec();
        let mut headers = vec![(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"))];
        match (&client.secret, client.method) {
            (Some(secret), AuthMethod::Basic) => {
                let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                let pair = STANDARD.encode(format!("{}:{}", encode(&client.id), encode(secret)));
                let value =
                    HeaderValue::try_from(format!("Basic {pair}")).map_err(|error| AuthorizeError::new(STEP, error))?;
                headers.push((AUTHORIZATION, value));
            }
            (Some(secret), AuthMethod::Post) => {
                fields.extend([("client_id", client.id.as_str()), ("client_secret", secret)]);
            }
            _ => fields.push(("client_id", &client.id)),
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.fetcher.post(STEP, &issuer.token_endpoint, headers, body).await
    }

    fn accept(&self, account: &mut Account, response: TokenResponse) -> Result<(), AuthorizeError> {
        const STEP: &str = "reading the token";
        if !response.token_type.eq_ignore_ascii_case("bearer") {
            return Err(AuthorizeError::new(
                STEP,
                format!("tokens of type {:?} are not supported", response.token_type),
            ));
        }
        let mut header = HeaderValue::try_from(format!("Bearer {}", response.access_token))
            .map_err(|_| AuthorizeError::new(STEP, "the token has characters that HTTP does not allow"))?;
        header.set_sensitive(true);
        *self.header.lock() = Some(header);
        account.refresh_token = response.refresh_token.or_else(|| account.refresh_token.take());
        account.scopes.extend(response.scope.as_deref().map(words).unwrap_or_default());
        Ok(())
    }
}

impl Authorizer for OAuth {
    fn header(&self) -> Option<HeaderValue> {
        self.header.lock().clone()
    }

    fn challenged(&self, refusal: Refusal) -> BoxFuture<'_, Result<(), AuthorizeError>> {
        Box::pin(self.renew(refusal))
    }
}

impl std::fmt::Debug for OAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OAuth").field("server", &self.server.origin().ascii_serialization()).finish_non_exhaustive()
    }
}

fn words(text: &str) -> BTreeSet<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

fn joined(scopes: &BTreeSet<String>) -> String {
    scopes.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}
