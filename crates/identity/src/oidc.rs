//! Tokens of an identity provider: its keys, fetched and kept, and who a token makes its holder.
//!
//! Keys are fetched when the first token needs them, again after [`KEY_REFRESH_INTERVAL`], and when a token names one that is not
//! known, but never twice within [`MIN_FETCH_INTERVAL`]. While the provider cannot be reached, keys are believed in for [`MAX_KEY_AGE`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::RwLock;
use serde_json::{Map, Value};
use switchboard_config::Auth;
use switchboard_peer::oauth::signing_keys;
use switchboard_protocol::fault::error_chain;
use switchboard_store::Digest;
use switchboard_transport::http_server::{Authenticator, Checked, Principal};
use tokio::time::Instant;

use super::claims::{Refusal, judge};
use super::jwt::{Algorithm, KeySet, Presented, Unbelievable};

/// After this time keys are fetched again.
const KEY_REFRESH_INTERVAL: Duration = Duration::from_secs(10 * 60);
/// So long they are used when they cannot be.
const MAX_KEY_AGE: Duration = Duration::from_secs(60 * 60);
/// The time between two fetches at least. Anybody can send a token with a made-up key.
const MIN_FETCH_INTERVAL: Duration = Duration::from_secs(10);
/// Tokens that were checked and need not be checked again.
const MAX_VERIFIED_TOKENS: usize = 4_096;

/// An identity provider.
pub struct Oidc(Arc<Provider>);

struct Provider {
    auth: Auth,
    algorithms: Vec<Algorithm>,
    /// The address that tokens must be meant for, where the configuration names no audience.
    resource: String,
    keys: RwLock<Keys>,
    fetching: tokio::sync::Mutex<()>,
    /// Tokens whose signature is good under the keys of this generation. Their time is checked at every use.
    known: RwLock<HashMap<Digest, Principal>>,
}

#[derive(Default)]
struct Keys {
    set: Arc<KeySet>,
    fetched: Option<Instant>,
    tried: Option<Instant>,
}

impl Keys {
    fn is_fresh(&self, within: Duration) -> bool {
        self.fetched.is_some_and(|fetched| fetched.elapsed() < within)
    }
}

impl Oidc {
    /// A provider whose tokens must be meant for `resource`, unless the configuration names another audience.
    #[must_use]
    pub fn new(auth: Auth, resource: String) -> Self {
        let algorithms = auth.algorithms.iter().filter_map(|name| Algorithm::parse(name)).collect();
        Self(Arc::new(Provider {
            auth,
            algorithms,
            resource,
            keys: RwLock::default(),
            fetching: tokio::sync::Mutex::default(),
            known: RwLock::default(),
        }))
    }
}

impl Authenticator for Oidc {
    fn check(&self, token: Option<&str>) -> Checked {
        let Some(token) = token else { return Checked::Unknown };
        let provider = &self.0;
        let digest = Digest::of(token.as_bytes());
        let keys = provider.keys.read();
        let fresh = keys.is_fresh(KEY_REFRESH_INTERVAL);
        if fresh && let Some(principal) = provider.known(digest) {
            return Checked::Known(principal);
        }
        let presented = match Presented::parse(token, &provider.algorithms) {
            Ok(presented) => presented,
            Err(error) => return refused(error),
        };
        let set = keys.set.clone();
        drop(keys);
        match presented.verified(&set) {
            Err(Unbelievable::UnknownKey) => {}
            _ if !fresh => {}
            Err(error) => return refused(error),
            Ok(claims) => return provider.settle(digest, &claims, &set),
        }
        let (provider, token) = (provider.clone(), token.to_owned());
        Checked::Later(Box::pin(async move {
            let set = provider.newest(&set).await;
            let verified =
                Presented::parse(&token, &provider.algorithms).and_then(|presented| presented.verified(&set));
            match verified {
                Ok(claims) => provider.settle(digest, &claims, &set),
                Err(error) => refused(error),
            }
        }))
    }
}

impl Provider {
    fn known(&self, digest: Digest) -> Option<Principal> {
        let known = self.known.read();
        let principal = known.get(&digest)?;
        principal.expires_at.is_some_and(|end| SystemTime::now() < end).then(|| principal.clone())
    }

    fn settle(&self, digest: Digest, claims: &Map<String, Value>, under: &Arc<KeySet>) -> Checked {
        let now = SystemTime::now();
        match judge(claims, &self.auth, &self.resource, now) {
            Ok(identity) => {
                let principal = Principal::from(identity);
                // Held, so that keys that change at this moment find the token and forget it.
                let keys = self.keys.read();
                if !Arc::ptr_eq(&keys.set, under) {
                    return Checked::Known(principal);
                }
                let mut known = self.known.write();
                if known.len() >= MAX_VERIFIED_TOKENS {
                    known.retain(|_, principal| principal.expires_at.is_some_and(|end| now < end));
                }
                if known.len() < MAX_VERIFIED_TOKENS {
                    known.insert(digest, principal.clone());
                }
                Checked::Known(principal)
            }
            Err(Refusal::Insufficient) => Checked::Insufficient,
            Err(Refusal::Expired) => Checked::Expired,
            Err(refusal) => refused(refusal),
        }
    }

    /// The keys, newer than `before` if there are any and the provider may be asked. Empty once they are too old.
    async fn newest(&self, before: &Arc<KeySet>) -> Arc<KeySet> {
        let _turn = self.fetching.lock().await;
        let may_ask = {
            let keys = self.keys.read();
            // Another request fetched them while this one waited for its turn.
            let changed = !Arc::ptr_eq(&keys.set, before) && keys.is_fresh(KEY_REFRESH_INTERVAL);
            !changed && keys.tried.is_none_or(|tried| tried.elapsed() >= MIN_FETCH_INTERVAL)
        };
        if may_ask {
            self.fetch().await;
        }
        let keys = self.keys.read();
        if keys.is_fresh(MAX_KEY_AGE) { keys.set.clone() } else { Arc::default() }
    }

    async fn fetch(&self) {
        self.keys.write().tried = Some(Instant::now());
        let document = match signing_keys(&self.auth.issuer, self.auth.jwks_url.as_deref()).await {
            Ok(document) => document,
            Err(error) => {
                tracing::warn!(error = error_chain(&error), "the keys of the identity provider cannot be had");
                return;
            }
        };
        let set = KeySet::read(&document);
        if set.is_empty() {
            tracing::warn!("the identity provider publishes no key that can be used here");
            return;
        }
        let mut keys = self.keys.write();
        keys.fetched = Some(Instant::now());
        if *keys.set != set {
            keys.set = Arc::new(set);
            // A key may be gone because it was stolen; what it signed is checked again.
            self.known.write().clear();
        }
    }
}

impl std::fmt::Debug for Oidc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Oidc").field("issuer", &self.0.auth.issuer).finish_non_exhaustive()
    }
}

/// The client is told nothing but that the token is not good; the operator can find out why.
fn refused(why: impl std::fmt::Display) -> Checked {
    tracing::debug!(%why, "a token is refused");
    Checked::Unknown
}

#[cfg(test)]
mod tests;
