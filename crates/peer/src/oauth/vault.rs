//! Where tokens and registrations are kept.

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;

use super::registration::AuthMethod;
use super::{OAuthScopes, Secret};

/// What tokens belong to. A token of one issuer is never shown to another, nor one for a resource to another resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TokenKey {
    /// The resource that the tokens are for.
    pub resource: String,
    /// The authorization server that gave them.
    pub issuer: String,
}

/// The tokens for one resource.
#[derive(Debug, Clone)]
pub struct OAuthTokens {
    /// What requests to the resource carry.
    pub access: Secret,
    /// What gets the next one without asking a person.
    pub refresh: Option<Secret>,
    /// When the access token ends, where that is known.
    pub expires_at: Option<SystemTime>,
    /// The scopes that were asked for.
    pub requested: OAuthScopes,
}

impl OAuthTokens {
    /// A token this close to its end is not worth sending.
    const MARGIN: Duration = Duration::from_secs(10);

    pub(super) fn is_fresh(&self, now: SystemTime) -> bool {
        self.expires_at.is_none_or(|end| now + Self::MARGIN < end)
    }
}

/// Who we are to one authorization server that registered us.
#[derive(Clone)]
pub struct Registration {
    /// Our client id there.
    pub client_id: String,
    /// The password that goes with it.
    pub client_secret: Option<Secret>,
    /// When the password ends, where it does.
    pub secret_expires_at: Option<SystemTime>,
    /// How we prove who we are.
    pub method: AuthMethod,
    /// The address that was registered for answers. With another one the registration is worth nothing.
    pub redirect_uri: String,
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("client_id", &self.client_id)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

/// Keeps tokens and registrations, for as long as it can. Whatever it forgets is asked for again.
///
/// The methods are called now and then, never per request. One that is slow should answer from memory and write
/// behind.
pub trait Vault: Send + Sync + 'static {
    /// The tokens for a resource.
    fn tokens(&self, key: &TokenKey) -> Option<OAuthTokens>;

    /// Keeps tokens in place of earlier ones; `None` forgets them.
    fn keep_tokens(&self, key: &TokenKey, tokens: Option<OAuthTokens>);

    /// Our registration with an issuer.
    fn registration(&self, issuer: &str) -> Option<Registration>;

    /// Keeps a registration in place of an earlier one; `None` forgets it.
    fn keep_registration(&self, issuer: &str, registration: Option<Registration>);
}

/// Keeps them for the life of the process.
#[derive(Default)]
pub struct MemoryVault {
    tokens: Mutex<BoundedCache<TokenKey, OAuthTokens>>,
    registrations: Mutex<BoundedCache<String, Registration>>,
}

impl fmt::Debug for MemoryVault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("tokens", &self.tokens.lock().0.len()).finish_non_exhaustive()
    }
}

impl Vault for MemoryVault {
    fn tokens(&self, key: &TokenKey) -> Option<OAuthTokens> {
        self.tokens.lock().get(|known| known == key)
    }

    fn keep_tokens(&self, key: &TokenKey, tokens: Option<OAuthTokens>) {
        self.tokens.lock().put(key.clone(), tokens);
    }

    fn registration(&self, issuer: &str) -> Option<Registration> {
        self.registrations.lock().get(|known| known == issuer)
    }

    fn keep_registration(&self, issuer: &str, registration: Option<Registration>) {
        self.registrations.lock().put(issuer.to_owned(), registration);
    }
}

/// A few entries, the oldest of which makes room. So few that looking at each is the quickest way.
struct BoundedCache<K, V>(VecDeque<(K, V)>);

impl<K, V> Default for BoundedCache<K, V> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<K: PartialEq, V: Clone> BoundedCache<K, V> {
    const MAX_CACHED_LOGINS: usize = 512;

    fn get(&self, is_wanted: impl Fn(&K) -> bool) -> Option<V> {
        self.0.iter().find(|(key, _)| is_wanted(key)).map(|(_, value)| value.clone())
    }

    fn put(&mut self, key: K, value: Option<V>) {
        self.0.retain(|(known, _)| *known != key);
        let Some(value) = value else { return };
        if self.0.len() >= Self::MAX_CACHED_LOGINS {
            self.0.pop_front();
        }
        self.0.push_back((key, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(resource: &str, issuer: &str) -> TokenKey {
        TokenKey { resource: resource.to_owned(), issuer: issuer.to_owned() }
    }

    fn tokens(access: &str) -> OAuthTokens {
        OAuthTokens { access: access.into(), refresh: None, expires_at: None, requested: OAuthScopes::default() }
    }

    #[test]
    fn tokens_belong_to_a_resource_and_an_issuer() {
        let memory = MemoryVault::default();
        memory.keep_tokens(&key("r", "i"), Some(tokens("one")));
        memory.keep_tokens(&key("r", "j"), Some(tokens("two")));
        let access = |key: &TokenKey| memory.tokens(key).map(|tokens| tokens.access.reveal().to_owned());
        assert_eq!(access(&key("r", "i")).as_deref(), Some("one"));
        assert_eq!(access(&key("r", "j")).as_deref(), Some("two"));
        assert_eq!(access(&key("s", "i")), None);
        memory.keep_tokens(&key("r", "i"), None);
        assert_eq!(access(&key("r", "i")), None);
    }

    #[test]
    fn the_oldest_entry_makes_room() {
        let memory = MemoryVault::default();
        for number in 0..=BoundedCache::<TokenKey, OAuthTokens>::MAX_CACHED_LOGINS {
            memory.keep_tokens(&key(&number.to_string(), "i"), Some(tokens("t")));
        }
        assert!(memory.tokens(&key("0", "i")).is_none());
        assert!(memory.tokens(&key("1", "i")).is_some());
        assert_eq!(memory.tokens.lock().0.len(), BoundedCache::<TokenKey, OAuthTokens>::MAX_CACHED_LOGINS);
    }

    #[test]
    fn a_token_near_its_end_is_not_fresh() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        let cases = [(None, true), (Some(1_100), true), (Some(1_005), false), (Some(900), false)];
        for (end, fresh) in cases {
            let expires_at = end.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(OAuthTokens { expires_at, ..tokens("t") }.is_fresh(now), fresh, "{end:?}");
        }
    }

    #[test]
    fn nothing_kept_shows_its_secrets() {
        let registration = Registration {
            client_id: "id".to_owned(),
            client_secret: Some("hidden-password".into()),
            secret_expires_at: None,
            method: AuthMethod::Basic,
            redirect_uri: "http://127.0.0.1/".to_owned(),
        };
        let held = OAuthTokens { refresh: Some("hidden-refresh".into()), ..tokens("hidden-access") };
        let memory = MemoryVault::default();
        memory.keep_tokens(&key("r", "i"), Some(held.clone()));
        assert!(!format!("{registration:?} {held:?} {memory:?}").contains("hidden"));
    }
}
