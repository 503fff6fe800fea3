//! What is kept of one client session: what it wants to hear, what it watches, and its own connections.

mod connection;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_exchange::{level_name, wants_log};
use switchboard_gate::lists::HeldLists;
use switchboard_peer::Session;
use switchboard_peer::client::Connected;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_services::house::{BackgroundWork, ServerDirectory};
use switchboard_upstream::Server;
use switchboard_wire::Notification;

pub(crate) use connection::{Failures, SessionConnection};

const NO_LEVEL: u8 = u8::MAX;
/// Resources that one client may watch.
const MAX_WATCHED_RESOURCES: usize = 10_000;

/// What is kept of one client session.
pub struct ClientState {
    /// Whose calls are whose on a shared connection.
    pub owner: u64,
    /// It is a legacy client that has introduced itself: only such a one may be told things it did not ask for.
    introduced: AtomicBool,
    level: AtomicU8,
    /// It asked for a manifest, and is told when one changes.
    asked_manifest: AtomicBool,
    /// The lists that it holds.
    pub(crate) lists: HeldLists,
    /// Resources this client watches: server and the server's own URI.
    pub(crate) watches: Mutex<HashSet<(Arc<str>, String)>>,
    /// Its own connections, by server; `None` once the session has ended.
    pub(crate) links: Mutex<Option<HashMap<Arc<str>, Arc<SessionConnection>>>>,
}

static NEXT_OWNER: AtomicU64 = AtomicU64::new(1);

impl ClientState {
    /// The state of a session, made at first use.
    #[must_use]
    pub fn of(session: &Session) -> Arc<Self> {
        // Nobody else keeps state in a session, so the type is always the same; a fresh state for a
        // foreign one keeps calls apart all the same.
        session.state(Self::new).unwrap_or_else(|| Arc::new(Self::new()))
    }

    fn new() -> Self {
        Self {
            owner: NEXT_OWNER.fetch_add(1, Ordering::Relaxed),
            introduced: AtomicBool::new(false),
            level: AtomicU8::new(NO_LEVEL),
            asked_manifest: AtomicBool::new(false),
            lists: HeldLists::default(),
            watches: Mutex::default(),
            links: Mutex::new(Some(HashMap::new())),
        }
    }

    /// The client has introduced itself in the legacy way.
    pub fn introduce(&self) {
        self.introduced.store(true, Ordering::Release);
    }

    /// Whether it has.
    #[must_use]
    pub fn is_introduced(&self) -> bool {
        self.introduced.load(Ordering::Acquire)
    }

    /// The client has asked for a manifest.
    pub fn hears_of_manifest(&self) {
        self.asked_manifest.store(true, Ordering::Relaxed);
    }

    /// Whether it has.
    #[must_use]
    pub fn is_told_of_manifest(&self) -> bool {
        self.asked_manifest.load(Ordering::Relaxed)
    }

    /// From this level on the client wants log messages.
    pub fn set_level(&self, level: u8) {
        self.level.store(level, Ordering::SeqCst);
    }

    /// The name of the level the client asked for.
    #[must_use]
    pub fn level(&self) -> Option<&'static str> {
        level_name(self.level.load(Ordering::SeqCst))
    }

    /// Whether the client wants this log message: all until it said otherwise.
    #[must_use]
    pub fn wants_log(&self, notification: &Notification) -> bool {
        wants_log(self.level(), notification)
    }

    /// Notes that the client watches a resource; `false` where it does already.
    ///
    /// # Errors
    /// The session has ended, or watches as many as one may.
    pub fn watch(&self, key: (Arc<str>, String)) -> Result<bool, Fault> {
        let mut watches = self.watches.lock();
        if self.links.lock().is_none() {
            return Err(Fault::new(FaultKind::Cancelled, "the session has ended"));
        }
        if watches.len() >= MAX_WATCHED_RESOURCES && !watches.contains(&key) {
            return Err(Fault::new(
                FaultKind::ResourceExhausted,
                format!("more than {MAX_WATCHED_RESOURCES} watched resources"),
            ));
        }
        Ok(watches.insert(key))
    }

    /// Notes that the client does not watch a resource any more; whether it did.
    pub fn unwatch(&self, key: &(Arc<str>, String)) -> bool {
        self.watches.lock().remove(key)
    }

    /// The connections that were made for this client.
    #[must_use]
    pub fn existing_links(&self) -> Vec<Arc<Connected>> {
        self.links.lock().iter().flatten().filter_map(|(_, link)| link.now()).collect()
    }

    /// The same, with the server of each.
    #[must_use]
    pub fn existing_links_with_servers(&self) -> Vec<(Arc<Server>, Arc<Connected>)> {
        let links = self.links.lock();
        links.iter().flatten().filter_map(|(_, link)| Some((link.server().clone(), link.now()?))).collect()
    }

    /// Ends everything that was made for this client.
    pub async fn close(&self, house: &(impl ServerDirectory + BackgroundWork)) {
        let links = self.links.lock().take().unwrap_or_default();
        let links: Vec<_> = links.values().filter_map(|link| link.now()).collect();
        futures_util::future::join_all(links.iter().map(|link| link.stop())).await;
        let watches: Vec<_> = self.watches.lock().drain().collect();
        if house.closing().is_cancelled() {
            return;
        }
        for (server, uri) in watches {
            if let Some(server) = house.server(&server) {
                server.unwatch_resource(&uri).await;
            }
        }
    }
}

impl std::fmt::Debug for ClientState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientState").field("owner", &self.owner).finish_non_exhaustive()
    }
}
