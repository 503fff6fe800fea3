//! From a refusal to a token: what to try, in which order, and when to stop asking.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use http::HeaderValue;
use parking_lot::Mutex;
use tokio::sync::OnceCell;
use tokio::time::Instant;
use url::Url;

use super::browser::Browser;
use super::challenge::Challenge;
use super::code::{CodeRequest, Visit};
use super::discovery::{self, Issuer, Resource};
use super::error::shown;
use super::fetch::Fetch;
use super::scope::{self, Situation};
use super::vault::{OAuthTokens, TokenKey, Vault};
use super::{OAuthError, OAuthGrant, OAuthOptions, Secret, registration, token};
use crate::client::Refusal;

/// The longest that one visit to the authorization page may take, whatever the browser says.
const LONGEST_VISIT: Duration = Duration::from_secs(15 * 60);
/// How often a person is asked for one server within [`WINDOW`].
const MOST_VISITS: usize = 6;
const WINDOW: Duration = Duration::from_secs(10 * 60);

/// All that getting tokens for one server needs.
pub(super) struct Flow {
    pub(super) server: Url,
    /// Found out at the first use.
    fetch: OnceCell<Fetch>,
    pub(super) options: OAuthOptions,
    pub(super) grant: OAuthGrant,
    pub(super) vault: Arc<dyn Vault>,
    /// The issuer that took the configured client id first, where the configuration does not say which one does.
    bound: OnceLock<String>,
    asked: Mutex<VisitHistory>,
}

/// How often the person was asked.
#[derive(Default)]
struct VisitHistory {
    visits: VecDeque<Instant>,
    /// When scopes that had been asked for were asked for once more.
    again: Option<Instant>,
}

impl Flow {
    pub(super) fn new(server: Url, options: OAuthOptions, grant: OAuthGrant, vault: Arc<dyn Vault>) -> Self {
        Self { server, fetch: OnceCell::new(), options, grant, vault, bound: OnceLock::new(), asked: Mutex::default() }
    }

    async fn fetch(&self) -> Fetch {
        *self.fetch.get_or_init(|| Fetch::placed(&self.server)).await
    }

    /// Other tokens than those that were refused.
    pub(super) async fn renew(&self, refusal: &Refusal) -> Result<OAuthTokens, OAuthError> {
        let challenge = refusal.challenge.as_deref().map(Challenge::parse).unwrap_or_default();
        let step_up = refusal.status == 403;
        if step_up && challenge.error.as_deref() != Some("insufficient_scope") {
            return Err(OAuthError::Forbidden("it does not say that more scopes are needed"));
        }
        let fetch = self.fetch().await;
        let named = challenge.resource_metadata.as_deref();
        let resource = discovery::resource(fetch, &self.server, named).await?;
        let issuer = discovery::issuer(fetch, self.pick(&resource)?, resource.assumed).await?;
        let key = TokenKey { resource: resource.resource.clone(), issuer: issuer.issuer.clone() };
        let known = self.vault.tokens(&key);
        if let Some(known) = known.as_ref().filter(|_| !step_up) {
            if known.is_fresh(SystemTime::now()) && bearer(&known.access) != refusal.used {
                return Ok(known.clone());
            }
            if let Some(tokens) = self.refresh(&issuer, &key, known).await? {
                return Ok(tokens);
            }
        }
        let before = known.as_ref().map(|known| &known.requested);
        let offline = self.options.offline_access
            && matches!(self.grant, OAuthGrant::Person(_))
            && issuer.scopes_supported.iter().any(|scope| scope == "offline_access");
        let challenge_scope = challenge.scope.as_deref();
        let configured = self.options.scopes.names();
        let of_resource = if configured.is_empty() { &resource.scopes } else { &configured };
        let situation = Situation { before, challenge: challenge_scope, resource: of_resource, offline };
        let scopes = scope::choose(&situation);
        if step_up && before.is_some_and(|before| before.contains_all(&scopes)) {
            self.ask_again()?;
        }
        let tokens = match &self.grant {
            OAuthGrant::Person(browser) => {
                if let Some(why) = browser.absent() {
                    return Err(OAuthError::PersonNeeded(why));
                }
                self.count_visit()?;
                let wish = (resource.resource.as_str(), scopes);
                self.ask(browser.as_ref(), &issuer, wish).await
            }
            OAuthGrant::Machine => {
                // Registration on the spot is for programs that a person uses.
                if self.options.registered.is_none() {
                    return Err(OAuthError::NoClient { issuer: shown(&issuer.issuer) });
                }
                let client = registration::client(fetch, &issuer, &self.options, "", self.vault.as_ref()).await?;
                let text = scopes.to_string();
                let mut form = vec![("grant_type", "client_credentials"), ("resource", resource.resource.as_str())];
                if !scopes.is_empty() {
                    form.push(("scope", &text));
                }
                token::request(fetch, &issuer, &client, &form, scopes).await
            }
        };
        let tokens = tokens.inspect_err(|error| self.learn(&issuer, error))?;
        if self.options.registered.is_some() {
            self.bound.get_or_init(|| issuer.issuer.clone());
        }
        self.vault.keep_tokens(&key, Some(tokens.clone()));
        Ok(tokens)
    }

    /// The authorization server to use: the one that knows us, else one that gave us tokens before, else the first.
    fn pick<'a>(&self, resource: &'a Resource) -> Result<&'a str, OAuthError> {
        let first = resource.issuers.first().map(String::as_str).unwrap_or_default();
        if let Some(registered) = &self.options.registered
            && let Some(bound) = registered.issuer.as_ref().or_else(|| self.bound.get())
        {
            let found = resource.issuers.iter().find(|issuer| *issuer == bound);
            let other = || OAuthError::OtherIssuer { bound: shown(bound), offered: shown(first) };
            return found.map(String::as_str).ok_or_else(other);
        }
        let known = resource.issuers.iter().find(|issuer| {
            let key = TokenKey { resource: resource.resource.clone(), issuer: (*issuer).clone() };
            self.vault.tokens(&key).is_some()
        });
        Ok(known.map_or(first, String::as_str))
    }

    /// The next token without asking anybody; `None` where that is not possible any more.
    async fn refresh(
        &self,
        issuer: &Issuer,
        key: &TokenKey,
        known: &OAuthTokens,
    ) -> Result<Option<OAuthTokens>, OAuthError> {
        let Some(refresh) = &known.refresh else { return Ok(None) };
        let redirect_uri = match &self.grant {
            OAuthGrant::Person(browser) => browser.redirect_uri(),
            OAuthGrant::Machine => String::new(),
        };
        let (vault, fetch) = (self.vault.as_ref(), self.fetch().await);
        let client = registration::client(fetch, issuer, &self.options, &redirect_uri, vault).await?;
        let form =
            [("grant_type", "refresh_token"), ("refresh_token", refresh.reveal()), ("resource", key.resource.as_str())];
        match token::request(fetch, issuer, &client, &form, known.requested.clone()).await {
            Ok(mut tokens) => {
                tokens.refresh.get_or_insert_with(|| refresh.clone());
                vault.keep_tokens(key, Some(tokens.clone()));
                Ok(Some(tokens))
            }
            Err(error) if error.refusal().is_some() => {
                tracing::debug!(%error, "the refresh token is not taken any more");
                self.learn(issuer, &error);
                vault.keep_tokens(key, Some(OAuthTokens { refresh: None, ..known.clone() }));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The code flow.
    async fn ask(
        &self,
        browser: &dyn Browser,
        issuer: &Issuer,
        (resource, scopes): (&str, super::OAuthScopes),
    ) -> Result<OAuthTokens, OAuthError> {
        let redirect_uri = browser.redirect_uri();
        let (vault, fetch) = (self.vault.as_ref(), self.fetch().await);
        let client = registration::client(fetch, issuer, &self.options, &redirect_uri, vault).await?;
        let wish = CodeRequest { client_id: &client.id, redirect_uri: &redirect_uri, resource, scopes: &scopes };
        let visit = Visit::new(fetch, issuer, &wish)?;
        let visited = tokio::time::timeout(LONGEST_VISIT, browser.authorize(visit.address.clone())).await;
        let late = OAuthError::Timeout { step: "waiting for the person", after: LONGEST_VISIT };
        let code = visit.code(&visited.unwrap_or(Err(late))?)?;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code.reveal()),
            ("redirect_uri", &redirect_uri),
            ("code_verifier", visit.verifier.reveal()),
            ("resource", resource),
        ];
        token::request(fetch, issuer, &client, &form, scopes).await
    }

    /// A registration that the issuer does not know any more is of no use.
    fn learn(&self, issuer: &Issuer, error: &OAuthError) {
        if error.refusal() == Some("invalid_client") {
            self.vault.keep_registration(&issuer.issuer, None);
        }
    }

    /// Asking for the same scopes once more may help a person who had not agreed to all of them, but not often.
    fn ask_again(&self) -> Result<(), OAuthError> {
        let mut asked = self.asked.lock();
        if asked.again.is_some_and(|last| last.elapsed() < WINDOW) {
            return Err(OAuthError::Forbidden("the scopes it wants were asked for already"));
        }
        asked.again = Some(Instant::now());
        Ok(())
    }

    fn count_visit(&self) -> Result<(), OAuthError> {
        let mut asked = self.asked.lock();
        asked.visits.retain(|visit| visit.elapsed() < WINDOW);
        if asked.visits.len() >= MOST_VISITS {
            return Err(OAuthError::TooOften);
        }
        asked.visits.push_back(Instant::now());
        Ok(())
    }
}

/// The header that carries a token. Tokens that HTTP does not allow are refused when they arrive.
pub(super) fn bearer(token: &Secret) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {}", token.reveal())).ok()?;
    value.set_sensitive(true);
    Some(value)
}
