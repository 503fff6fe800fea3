//! Getting a token for a server that asks for one: OAuth 2.1 as MCP uses it.
//!
//! This module decides whom to trust: metadata must name the resource and the issuer it was asked for, tokens and
//! client ids belong to the issuer that gave them, an answer of another issuer is refused, and nothing travels
//! unencrypted except within this machine. It decides how often a person may be asked. It deliberately shows no page
//! (a [`Browser`] does) and keeps no file (a [`Vault`] may).
//!
//! [`OAuth`] is a [`client::Authorizer`](crate::client::Authorizer): given to
//! [`ConnectOptions`](crate::client::ConnectOptions), it answers every `401`, and every `403` that asks for more
//! scopes, for as long as the connection lives.

mod browser;
mod challenge;
mod code;
mod discovery;
mod error;
mod fetch;
mod flow;
mod keys;
mod registration;
mod scope;
mod token;
mod vault;

use std::fmt;
use std::sync::Arc;

use http::HeaderValue;
use parking_lot::Mutex;
use tokio::sync::watch;
use url::Url;

pub use self::browser::{Browser, Loopback};
pub use self::error::OAuthError;
pub use self::keys::signing_keys;
pub use self::registration::AuthMethod;
pub use self::scope::OAuthScopes;
pub use self::vault::{MemoryVault, OAuthTokens, Registration, TokenKey, Vault};
pub use switchboard_protocol::Secret;

use self::flow::{Flow, bearer};
use crate::BoxFuture;
use crate::client::{AuthorizeError, Authorizer, Refusal};

/// Who we are to authorization servers.
#[derive(Debug, Clone)]
pub struct OAuthOptions {
    /// The name shown to the person.
    pub client_name: String,
    /// The address of our client metadata document, which is our client id where that is supported. Must be `https`
    /// with a path.
    pub client_metadata_url: Option<Url>,
    /// A client id that was given to us beforehand. It goes before every other way.
    pub registered: Option<RegisteredClient>,
    /// The scopes to ask for where a server does not say which it wants at the moment; without any, all that it names.
    pub scopes: OAuthScopes,
    /// Whether to ask for refresh tokens where they have a scope of their own.
    pub offline_access: bool,
}

impl OAuthOptions {
    /// A client that is known nowhere yet.
    #[must_use]
    pub fn new(client_name: impl Into<String>) -> Self {
        Self {
            client_name: client_name.into(),
            client_metadata_url: None,
            registered: None,
            scopes: OAuthScopes::default(),
            offline_access: true,
        }
    }
}

/// A client id that one authorization server gave us beforehand.
#[derive(Debug, Clone)]
pub struct RegisteredClient {
    /// The authorization server that knows it. Without it, the first one that takes it counts, and none after.
    pub issuer: Option<String>,
    /// The client id.
    pub client_id: String,
    /// The password that goes with it.
    pub client_secret: Option<Secret>,
}

/// On whose behalf tokens are asked for.
#[derive(Clone)]
pub enum OAuthGrant {
    /// That of a person, who is asked in a browser.
    Person(Arc<dyn Browser>),
    /// Our own, with the registered client's password.
    Machine,
}

impl fmt::Debug for OAuthGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Person(_) => "Person",
            Self::Machine => "Machine",
        })
    }
}

/// Gets and keeps the token for one server.
pub struct OAuth {
    inner: Arc<Inner>,
}

struct Inner {
    flow: Flow,
    header: Mutex<Option<HeaderValue>>,
    /// What is under way, so that many refused requests ask one person once.
    running: Mutex<Option<Running>>,
}

type Running = watch::Receiver<Option<Result<Secret, Arc<OAuthError>>>>;

impl OAuth {
    /// Tokens for the server at `server`, kept in `vault`.
    ///
    /// # Errors
    /// An address cannot be used: neither encrypted nor on this machine, or no valid client metadata address.
    pub fn new(
        server: &str,
        grant: OAuthGrant,
        options: OAuthOptions,
        vault: Arc<dyn Vault>,
    ) -> Result<Self, OAuthError> {
        const STEP: &str = "preparing authorization";
        let bad =
            |address: &str, why: String| OAuthError::BadAddress { step: STEP, address: fetch::redact(address), why };
        let mut url = Url::parse(server).map_err(|error| bad(server, error.to_string()))?;
        url.set_fragment(None);
        fetch::Fetch::new(&url).allowed(STEP, server)?;
        if let Some(document) = &options.client_metadata_url
            && (document.scheme() != "https" || document.path().len() < 2)
        {
            return Err(bad(document.as_str(), "a client metadata address is `https` with a path".to_owned()));
        }
        let flow = Flow::new(url, options, grant, vault);
        Ok(Self { inner: Arc::new(Inner { flow, header: Mutex::default(), running: Mutex::default() }) })
    }

    /// A token in place of the one that was refused. Whoever asks while one is being fetched waits for that one; the
    /// work goes on when nobody waits any more, because a person may be in the middle of it.
    ///
    /// # Errors
    /// There is no token to be had.
    pub async fn token(&self, refusal: Refusal) -> Result<Secret, Arc<OAuthError>> {
        let mut done = self.inner.clone().start(refusal);
        let outcome = done.wait_for(Option::is_some).await.map(|outcome| outcome.clone());
        outcome.ok().flatten().unwrap_or_else(|| Err(Arc::new(OAuthError::Interrupted)))
    }
}

impl Inner {
    fn start(self: Arc<Self>, refusal: Refusal) -> Running {
        let mut running = self.running.lock();
        if let Some(current) = &*running {
            let is_useful = match &*current.borrow() {
                None => is_open(current),
                // It ended after the request that is refused now had been sent.
                Some(outcome) => outcome.is_ok() && *self.header.lock() != refusal.used,
            };
            if is_useful {
                return current.clone();
            }
        }
        let (sender, receiver) = watch::channel(None);
        *running = Some(receiver.clone());
        drop(running);
        tokio::spawn(async move {
            let outcome = self.flow.renew(&refusal).await.map(|tokens| tokens.access).map_err(Arc::new);
            if let Ok(token) = &outcome {
                *self.header.lock() = bearer(token);
            }
            sender.send_replace(Some(outcome));
        });
        receiver
    }
}

/// Whether somebody is still working on it.
fn is_open(running: &Running) -> bool {
    running.has_changed().is_ok()
}

impl Authorizer for OAuth {
    fn header(&self) -> Option<HeaderValue> {
        self.inner.header.lock().clone()
    }

    fn challenged(&self, refusal: Refusal) -> BoxFuture<'_, Result<(), AuthorizeError>> {
        Box::pin(async move {
            if *self.inner.header.lock() != refusal.used {
                // Another request got a new token while this one was under way.
                return Ok(());
            }
            self.token(refusal).await.map(drop).map_err(|error| AuthorizeError::new("asking for a token", error))
        })
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("server", &fetch::redact(self.inner.flow.server.as_str())).finish_non_exhaustive()
    }
}
