//! The tokens that other people's authorization servers gave us: in memory for use, sealed in the store to last.
//!
//! Several processes may use the same tokens. Each looks into the store before it asks for others, and what one lost
//! never takes the place of what another has got since.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use switchboard_peer::BoxFuture;
use switchboard_peer::client::{AuthorizeError, Authorizer, Refusal};
use switchboard_peer::oauth::{
    AuthMethod, OAuth, OAuthScopes, OAuthTokens, RegisteredClient, Registration, Secret, TokenKey, Vault,
};
use switchboard_protocol::fault::error_chain;
use switchboard_store::{Credential, Store, StoreError};
use tokio::sync::{mpsc, oneshot};

use super::seal::Seal;

/// Whose the credentials are that everybody uses who has none of their own. No principal can have this name.
pub const EVERYBODY: &str = "*";
/// Changes that may wait to be written.
const MAX_QUEUED_WRITES: usize = 64;

/// The credentials of one principal for one server.
#[derive(Clone)]
pub struct StoredVault(Arc<VaultState>);

struct VaultState {
    place: Place,
    kept: Mutex<HashMap<String, String>>,
    writes: mpsc::Sender<Write>,
}

#[derive(Clone)]
struct Place {
    store: Store,
    seal: Arc<Seal>,
    server: String,
    principal: String,
}

enum Write {
    /// The new text of a slot, or none, and what was known before where it must still be so.
    Change {
        slot: String,
        text: Option<String>,
        only_over: Option<String>,
    },
    Done(oneshot::Sender<()>),
}

impl StoredVault {
    /// Reads what is kept.
    pub(crate) async fn open(store: Store, seal: Arc<Seal>, server: &str, principal: &str) -> Result<Self, StoreError> {
        let place = Place { store, seal, server: server.to_owned(), principal: principal.to_owned() };
        let (writes, waiting) = mpsc::channel(MAX_QUEUED_WRITES);
        let kept = Mutex::new(place.read().await?);
        tokio::spawn(write_all(place.clone(), waiting));
        Ok(Self(Arc::new(VaultState { place, kept, writes })))
    }

    /// Whether there are tokens.
    #[must_use]
    pub fn has_tokens(&self) -> bool {
        self.0
            .kept
            .lock()
            .iter()
            .any(|(slot, text)| is_tokens(slot) && serde_json::from_str::<KeptTokens>(text).is_ok())
    }

    /// The address for answers that was registered last, to be used again.
    #[must_use]
    pub fn redirect_uri(&self) -> Option<String> {
        let kept = self.0.kept.lock();
        let clients = kept.iter().filter(|(slot, _)| slot.starts_with("[\"client\""));
        clients
            .filter_map(|(_, text)| serde_json::from_str::<KeptClient>(text).ok())
            .map(|kept| kept.redirect_uri)
            .next()
    }

    /// The client id that was given to us beforehand for this server, if there is one.
    #[must_use]
    pub fn registered(&self) -> Option<RegisteredClient> {
        let kept: KeptRegistered = self.get(REGISTERED)?;
        let client_secret = kept.client_secret.map(Secret::from);
        Some(RegisteredClient { issuer: kept.issuer, client_id: kept.client_id, client_secret })
    }

    /// Keeps such a client id.
    pub fn keep_registered(&self, client: &RegisteredClient) {
        let kept = KeptRegistered {
            issuer: client.issuer.clone(),
            client_id: client.client_id.clone(),
            client_secret: client.client_secret.as_ref().map(secret),
        };
        if let Ok(text) = serde_json::to_string(&kept) {
            self.change(REGISTERED.to_owned(), Some(text), false);
        }
    }

    /// Notes which authorization server took the client id, so that its password is never shown to another.
    pub fn bind_registered(&self) {
        let Some(client) = self.registered().filter(|client| client.issuer.is_none()) else { return };
        let issuer = {
            let kept = self.0.kept.lock();
            let slots = kept.keys().filter(|slot| is_tokens(slot));
            let parts = slots.filter_map(|slot| serde_json::from_str::<Vec<String>>(slot).ok());
            parts.filter_map(|parts| parts.into_iter().nth(2)).next()
        };
        self.keep_registered(&RegisteredClient { issuer, ..client });
    }

    /// Waits until everything is written.
    pub async fn flush(&self) {
        let (sender, done) = oneshot::channel();
        if self.0.writes.send(Write::Done(sender)).await.is_ok() {
            let _ = done.await;
        }
    }

    /// Takes over what other processes have kept meanwhile.
    pub async fn look_again(&self) {
        self.flush().await;
        match self.0.place.read().await {
            Ok(kept) => *self.0.kept.lock() = kept,
            Err(error) => tracing::warn!(error = error_chain(&error), "stored credentials cannot be read again"),
        }
    }

    fn get<T: for<'de> Deserialize<'de>>(&self, slot: &str) -> Option<T> {
        self.0.kept.lock().get(slot).and_then(|text| serde_json::from_str(text).ok())
    }

    fn change(&self, slot: String, text: Option<String>, is_loss: bool) {
        let mut kept = self.0.kept.lock();
        let before = match &text {
            Some(text) => kept.insert(slot.clone(), text.clone()),
            None => kept.remove(&slot),
        };
        let only_over = if is_loss { before } else { None };
        // Under the lock, so that changes are written in the order in which they are made.
        if self.0.writes.try_send(Write::Change { slot, text, only_over }).is_err() {
            tracing::error!(server = self.0.place.server, "credentials could not be kept: too many changes wait");
        }
    }
}

impl Place {
    /// What the seal is bound to: nothing can be put in the place of another.
    fn name(&self, slot: &str) -> String {
        format!("{}\n{}\n{slot}", self.server, self.principal)
    }

    async fn read(&self) -> Result<HashMap<String, String>, StoreError> {
        let rows = self.store.credentials().of(&self.server, &self.principal).await?;
        let opened = rows.into_iter().filter_map(|row| {
            let text = self.seal.unseal(&self.name(&row.slot), &row.sealed);
            if text.is_none() {
                tracing::warn!(server = self.server, "a stored credential does not belong to this key; log in again");
            }
            Some((row.slot, text?))
        });
        Ok(opened.collect())
    }

    async fn write(&self, slot: String, text: Option<String>, only_over: Option<String>) -> Result<(), StoreError> {
        let credentials = self.store.credentials();
        if let Some(expected) = only_over
            && self.read().await?.get(&slot).is_some_and(|current| *current != expected)
        {
            // Another process has got something better since.
            return Ok(());
        }
        let Some(text) = text else {
            return credentials.remove(&self.server, &self.principal, &slot).await.map(drop);
        };
        let Some(sealed) = self.seal.seal(&self.name(&slot), &text) else { return Ok(()) };
        let (server, principal) = (self.server.clone(), self.principal.clone());
        credentials.put(&Credential { server, principal, slot, sealed, updated_at: Timestamp::now() }).await
    }
}

async fn write_all(place: Place, mut waiting: mpsc::Receiver<Write>) {
    while let Some(write) = waiting.recv().await {
        match write {
            Write::Done(told) => drop(told.send(())),
            Write::Change { slot, text, only_over } => {
                if let Err(error) = place.write(slot, text, only_over).await {
                    tracing::error!(
                        server = place.server,
                        error = error_chain(&error),
                        "credentials could not be kept"
                    );
                }
            }
        }
    }
}

#[derive(Serialize, Deserialize)]
struct KeptTokens {
    access: String,
    refresh: Option<String>,
    expires_at: Option<u64>,
    requested: String,
}

#[derive(Serialize, Deserialize)]
struct KeptClient {
    client_id: String,
    client_secret: Option<String>,
    secret_expires_at: Option<u64>,
    method: String,
    redirect_uri: String,
}

#[derive(Serialize, Deserialize)]
struct KeptRegistered {
    issuer: Option<String>,
    client_id: String,
    client_secret: Option<String>,
}

/// The slot of a client id that was given to us beforehand.
const REGISTERED: &str = "[\"registered\"]";

fn seconds(time: Option<SystemTime>) -> Option<u64> {
    time.map(|time| time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs())
}

fn time(seconds: Option<u64>) -> Option<SystemTime> {
    seconds.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)))
}

fn slot(parts: &[&str]) -> String {
    serde_json::json!(parts).to_string()
}

/// Whether a slot holds tokens.
pub(crate) fn is_tokens(slot: &str) -> bool {
    slot.starts_with("[\"tokens\"")
}

fn secret(secret: &Secret) -> String {
    secret.reveal().to_owned()
}

impl Vault for StoredVault {
    fn tokens(&self, key: &TokenKey) -> Option<OAuthTokens> {
        let kept: KeptTokens = self.get(&slot(&["tokens", &key.resource, &key.issuer]))?;
        Some(OAuthTokens {
            access: kept.access.into(),
            refresh: kept.refresh.map(Secret::from),
            expires_at: time(kept.expires_at),
            requested: OAuthScopes::parse(&kept.requested),
        })
    }

    fn keep_tokens(&self, key: &TokenKey, tokens: Option<OAuthTokens>) {
        let is_loss = tokens.as_ref().is_none_or(|tokens| tokens.refresh.is_none());
        let text = tokens.and_then(|tokens| {
            let kept = KeptTokens {
                access: secret(&tokens.access),
                refresh: tokens.refresh.as_ref().map(secret),
                expires_at: seconds(tokens.expires_at),
                requested: tokens.requested.to_string(),
            };
            serde_json::to_string(&kept).ok()
        });
        self.change(slot(&["tokens", &key.resource, &key.issuer]), text, is_loss);
    }

    fn registration(&self, issuer: &str) -> Option<Registration> {
        let kept: KeptClient = self.get(&slot(&["client", issuer]))?;
        Some(Registration {
            client_id: kept.client_id,
            client_secret: kept.client_secret.map(Secret::from),
            secret_expires_at: time(kept.secret_expires_at),
            method: AuthMethod::parse(&kept.method)?,
            redirect_uri: kept.redirect_uri,
        })
    }

    fn keep_registration(&self, issuer: &str, registration: Option<Registration>) {
        let is_loss = registration.is_none();
        let text = registration.and_then(|known| {
            let kept = KeptClient {
                client_id: known.client_id,
                client_secret: known.client_secret.as_ref().map(secret),
                secret_expires_at: seconds(known.secret_expires_at),
                method: known.method.name().to_owned(),
                redirect_uri: known.redirect_uri,
            };
            serde_json::to_string(&kept).ok()
        });
        self.change(slot(&["client", issuer]), text, is_loss);
    }
}

impl std::fmt::Debug for StoredVault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredVault").field("server", &self.0.place.server).finish_non_exhaustive()
    }
}

/// An OAuth client that looks into the store before it asks for other tokens.
#[derive(Debug)]
pub(crate) struct StoredAuthorizer {
    pub(crate) oauth: OAuth,
    pub(crate) vault: StoredVault,
}

impl Authorizer for StoredAuthorizer {
    fn header(&self) -> Option<http::HeaderValue> {
        self.oauth.header()
    }

    fn challenged(&self, refusal: Refusal) -> BoxFuture<'_, Result<(), AuthorizeError>> {
        Box::pin(async move {
            self.vault.look_again().await;
            let before = self.vault.0.kept.lock().clone();
            let mut outcome = self.oauth.challenged(refusal.clone()).await;
            if outcome.is_err() {
                self.vault.look_again().await;
                // Another process was quicker with the same refresh token, which is good once.
                if *self.vault.0.kept.lock() != before {
                    outcome = self.oauth.challenged(refusal).await;
                }
            }
            // The old refresh token may be worth nothing any more, so the new one is kept before it is used.
            self.vault.flush().await;
            outcome
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tests::store;

    fn tokens(access: &str, refresh: Option<&str>) -> OAuthTokens {
        OAuthTokens {
            access: access.into(),
            refresh: refresh.map(Secret::from),
            expires_at: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(77)),
            requested: OAuthScopes::parse("a b"),
        }
    }

    fn key() -> TokenKey {
        TokenKey { resource: "https://r/mcp".to_owned(), issuer: "https://i".to_owned() }
    }

    #[tokio::test]
    async fn what_is_kept_lasts_and_cannot_be_read_from_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let seal = Arc::new(Seal::open(folder.path()).unwrap());
        let open =
            async |principal: &str| StoredVault::open(store.clone(), seal.clone(), "tracker", principal).await.unwrap();
        let vault = open("ann").await;
        assert!(!vault.has_tokens() && vault.redirect_uri().is_none());
        vault.keep_tokens(&key(), Some(tokens("access-secret", Some("refresh-secret"))));
        let registration = Registration {
            client_id: "id".to_owned(),
            client_secret: Some("client-secret".into()),
            secret_expires_at: None,
            method: AuthMethod::Basic,
            redirect_uri: "http://127.0.0.1:5/callback".to_owned(),
        };
        vault.keep_registration("https://i", Some(registration));
        vault.flush().await;

        let again = open("ann").await;
        let kept = again.tokens(&key()).unwrap();
        assert_eq!(kept.refresh.unwrap().reveal(), "refresh-secret");
        assert_eq!((kept.requested.to_string().as_str(), seconds(kept.expires_at)), ("a b", Some(77)));
        assert_eq!(again.registration("https://i").unwrap().client_secret.unwrap().reveal(), "client-secret");
        assert_eq!(again.redirect_uri().as_deref(), Some("http://127.0.0.1:5/callback"));
        assert!(open("bob").await.tokens(&key()).is_none(), "they are ann's");
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            assert!(!bytes.windows(7).any(|window| window == b"-secret"));
        }
        let client = RegisteredClient {
            issuer: None,
            client_id: "given".to_owned(),
            client_secret: Some("given-secret".into()),
        };
        again.keep_registered(&client);
        again.bind_registered();
        again.flush().await;
        let client = open("ann").await.registered().unwrap();
        assert_eq!((client.client_id.as_str(), client.issuer.as_deref()), ("given", Some("https://i")));
        again.keep_tokens(&key(), None);
        again.flush().await;
        assert!(!open("ann").await.has_tokens());
    }

    #[tokio::test]
    async fn what_one_process_lost_does_not_replace_what_another_got() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let seal = Arc::new(Seal::open(folder.path()).unwrap());
        let open = async || StoredVault::open(store.clone(), seal.clone(), "tracker", EVERYBODY).await.unwrap();
        let first = open().await;
        first.keep_tokens(&key(), Some(tokens("one", Some("r1"))));
        first.flush().await;
        let second = open().await;
        // The first one renews; the refresh token of the second is worth nothing any more.
        first.keep_tokens(&key(), Some(tokens("two", Some("r2"))));
        first.flush().await;
        second.keep_tokens(&key(), Some(tokens("one", None)));
        second.look_again().await;
        let kept = second.tokens(&key()).unwrap();
        assert_eq!((kept.access.reveal(), kept.refresh.unwrap().reveal()), ("two", "r2"));
    }
}
