//! Which stored credentials a connection to a server is made with: those of its principal, else those of everybody.
//! Tokens that clients came in with are not known here, so none can ever be passed on.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use switchboard_config::{Config, Endpoint, Loaded, OAuthClient};
use switchboard_peer::BoxFuture;
use switchboard_peer::client::{Authorizer, CredentialSource, Wanted};
use switchboard_peer::oauth::{
    Browser, MemoryVault, OAuth, OAuthError, OAuthGrant, OAuthOptions, OAuthScopes, RegisteredClient,
};
use switchboard_protocol::fault::error_chain;
use switchboard_store::{Store, StoreError};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::seal::Seal;
use super::vault::{EVERYBODY, StoredAuthorizer, StoredVault, is_tokens};
use crate::IdentityError;

/// The name that people are shown when they are asked to agree.
pub const CLIENT_NAME: &str = "Switchboard";

/// Knows the stored credentials of a data folder.
#[derive(Debug)]
pub struct UpstreamCredentials {
    data_dir: PathBuf,
    store: Store,
    seal: OnceCell<Arc<Seal>>,
    /// One for each server, address and principal: connections that share tokens must not renew them each on its own.
    known: Mutex<HashMap<Key, Arc<StoredAuthorizer>>>,
    /// Who has tokens, by server.
    owners: RwLock<HashMap<String, HashSet<String>>>,
    /// Servers that tokens are got for in our own name, by server.
    machines: RwLock<HashMap<String, Machine>>,
}

/// What gets tokens for one server in our own name, and from which configuration it was made.
#[derive(Debug)]
struct Machine {
    url: String,
    client: OAuthClient,
    oauth: Arc<OAuth>,
}

type Key = (String, String, String);

/// How often the store is asked for changes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Credentials that are remembered while no connection uses them.
const MAX_REMEMBERED: usize = 1_024;

impl UpstreamCredentials {
    /// With an open store.
    #[must_use]
    pub fn new(store: Store, data_dir: PathBuf) -> Self {
        Self {
            data_dir,
            store,
            seal: OnceCell::new(),
            known: Mutex::default(),
            owners: RwLock::default(),
            machines: RwLock::default(),
        }
    }

    /// As [`UpstreamCredentials::new`], for a kernel: follows the store until `stop` is cancelled.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn start(store: Store, loaded: &Loaded, stop: CancellationToken) -> Result<Arc<Self>, IdentityError> {
        let credentials = Arc::new(Self::new(store, loaded.data_dir.clone()));
        credentials.configure(&loaded.config);
        credentials.follow(stop).await?;
        Ok(credentials)
    }

    /// Learns who has credentials, now and whenever that changes, until `stop` is cancelled. Without it, connections
    /// that are shared are made with everybody's credentials alone.
    async fn follow(self: &Arc<Self>, stop: CancellationToken) -> Result<(), IdentityError> {
        let store = self.store.clone();
        let mut known = self.learn(&store).await?;
        let credentials = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = tokio::time::sleep(POLL_INTERVAL) => {}
                }
                let changed = store.credentials().revision().await.map(|revision| revision != known);
                let learned = match changed {
                    Ok(false) => continue,
                    Ok(true) => credentials.learn(&store).await,
                    Err(error) => Err(error),
                };
                match learned {
                    Ok(revision) => known = revision,
                    Err(error) => tracing::warn!(error = error_chain(&error), "stored credentials cannot be asked for"),
                }
            }
        });
        Ok(())
    }

    async fn learn(&self, store: &Store) -> Result<u64, StoreError> {
        // The revision first: a change in between leads to another look.
        let revision = store.credentials().revision().await?;
        let mut owners: HashMap<String, HashSet<String>> = HashMap::new();
        for credential in store.credentials().list().await? {
            if is_tokens(&credential.slot) {
                owners.entry(credential.server).or_default().insert(credential.principal);
            }
        }
        *self.owners.write() = owners;
        Ok(revision)
    }

    /// Takes over for which servers tokens are got in our own name. Where nothing changed, the tokens stay.
    pub fn configure(&self, config: &Config) {
        let mut machines = self.machines.write();
        let mut next = HashMap::new();
        for server in &config.servers {
            let Ok(Endpoint::Http(http)) = server.endpoint() else { continue };
            let Some(client) = &http.oauth else { continue };
            let before = machines.remove(server.id());
            let machine = match before.filter(|before| before.url == http.url && before.client == *client) {
                Some(before) => before,
                None => match machine(&http.url, client) {
                    Ok(machine) => machine,
                    Err(error) => {
                        tracing::error!(server = server.id(), error = error_chain(&error), "its tokens cannot be got");
                        continue;
                    }
                },
            };
            next.insert(server.id().to_owned(), machine);
        }
        *machines = next;
    }

    fn machine(&self, wanted: Wanted<'_>) -> Option<Arc<dyn Authorizer>> {
        let machines = self.machines.read();
        let machine = machines.get(wanted.server).filter(|machine| machine.url == wanted.url)?;
        Some(machine.oauth.clone())
    }

    /// The credentials of one principal for one server.
    ///
    /// # Errors
    /// The store or the key of the data folder cannot be read.
    pub async fn vault(&self, server: &str, principal: &str) -> Result<StoredVault, IdentityError> {
        let seal = self.seal.get_or_try_init(async || Seal::open(&self.data_dir).map(Arc::new)).await?;
        Ok(StoredVault::open(self.store.clone(), seal.clone(), server, principal).await?)
    }

    async fn find(&self, wanted: Wanted<'_>) -> Result<Option<Arc<dyn Authorizer>>, IdentityError> {
        for principal in wanted.principal.into_iter().chain([EVERYBODY]) {
            // Those of a person go before ours, and ours before those that somebody left for everybody.
            if principal == EVERYBODY
                && let Some(machine) = self.machine(wanted)
            {
                return Ok(Some(machine));
            }
            let key = (wanted.server.to_owned(), wanted.url.to_owned(), principal.to_owned());
            let known = self.known.lock().get(&key).cloned();
            if let Some(known) = known {
                known.vault.look_again().await;
                if known.vault.has_tokens() {
                    return Ok(Some(known));
                }
                self.known.lock().remove(&key);
                continue;
            }
            if !self.has_own(wanted.server, principal) {
                continue;
            }
            let vault = self.vault(wanted.server, principal).await?;
            if !vault.has_tokens() {
                continue;
            }
            let browser = NoBrowser { server: wanted.server.to_owned(), redirect_uri: vault.redirect_uri() };
            let options = OAuthOptions { registered: vault.registered(), ..OAuthOptions::new(CLIENT_NAME) };
            let grant = OAuthGrant::Person(Arc::new(browser));
            let oauth = OAuth::new(wanted.url, grant, options, Arc::new(vault.clone()));
            let oauth = oauth?;
            let mut known = self.known.lock();
            if known.len() >= MAX_REMEMBERED {
                known.retain(|_, stored| Arc::strong_count(stored) > 1);
            }
            // Another connection may have come first.
            return Ok(Some(known.entry(key).or_insert_with(|| Arc::new(StoredAuthorizer { oauth, vault })).clone()));
        }
        Ok(None)
    }
}

fn machine(url: &str, client: &OAuthClient) -> Result<Machine, OAuthError> {
    let registered = RegisteredClient {
        issuer: client.issuer.clone(),
        client_id: client.client_id.clone(),
        client_secret: Some(client.client_secret.clone()),
    };
    let scopes = OAuthScopes::parse(&client.scopes.join(" "));
    let options = OAuthOptions { registered: Some(registered), scopes, ..OAuthOptions::new(CLIENT_NAME) };
    // Kept in memory: another one is got in no time, and asks nobody.
    let oauth = OAuth::new(url, OAuthGrant::Machine, options, Arc::new(MemoryVault::default()))?;
    Ok(Machine { url: url.to_owned(), client: client.clone(), oauth: Arc::new(oauth) })
}

impl CredentialSource for UpstreamCredentials {
    fn has_own(&self, server: &str, principal: &str) -> bool {
        self.owners.read().get(server).is_some_and(|owners| owners.contains(principal))
    }

    fn authorizer<'a>(&'a self, wanted: Wanted<'a>) -> BoxFuture<'a, Option<Arc<dyn Authorizer>>> {
        Box::pin(async move {
            self.find(wanted).await.unwrap_or_else(|error| {
                let error = error_chain(&error);
                tracing::warn!(server = wanted.server, error, "stored credentials cannot be used");
                None
            })
        })
    }
}

/// Where no person can be asked.
struct NoBrowser {
    server: String,
    redirect_uri: Option<String>,
}

impl Browser for NoBrowser {
    fn redirect_uri(&self) -> String {
        // The one that was registered, so that the registration counts for refreshing.
        self.redirect_uri.clone().unwrap_or_default()
    }

    fn absent(&self) -> Option<String> {
        Some(format!("run `switchboard login {}`", self.server))
    }

    fn authorize(&self, _page: Url) -> BoxFuture<'_, Result<Url, OAuthError>> {
        let why = self.absent().unwrap_or_default();
        Box::pin(std::future::ready(Err(OAuthError::PersonNeeded(why))))
    }
}
