//! What the kernel keeps for each client session.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use parking_lot::Mutex;
use std::sync::Weak;
use switchboard_peer::client::Connected;
use switchboard_peer::{BoxFuture, Context, Handler, Reply, Session};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::method;
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};
use tokio::sync::Mutex as AsyncMutex;

use crate::kernel::Kernel;
use crate::relay::Asked;
use crate::server::Server;

/// The levels of log messages, from the least to the most serious.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const NO_LEVEL: u8 = u8::MAX;

/// The place of a level name among [`LEVELS`].
pub(crate) fn level_index(level: &str) -> Option<u8> {
    LEVELS.iter().position(|name| *name == level).and_then(|index| u8::try_from(index).ok())
}

/// The kernel's own state of one client session.
pub(crate) struct ClientState {
    /// Whose calls are whose on a shared connection.
    pub(crate) owner: u64,
    level: AtomicU8,
    /// Resources this client watches: server and the server's own URI.
    pub(crate) watches: Mutex<HashSet<(Arc<str>, String)>>,
    links: Mutex<HashMap<Arc<str>, Arc<LinkSlot>>>,
}

type LinkSlot = AsyncMutex<Option<Arc<Connected>>>;

static NEXT_OWNER: AtomicU64 = AtomicU64::new(1);

impl ClientState {
    /// The state of a session, made at first use.
    pub(crate) fn of(session: &Session) -> Arc<Self> {
        // The kernel is the only one to keep state in a session, so the type is always the same; a fresh state for a
        // foreign one keeps calls apart all the same.
        session.state(Self::new).unwrap_or_else(|| Arc::new(Self::new()))
    }

    fn new() -> Self {
        Self {
            owner: NEXT_OWNER.fetch_add(1, Ordering::Relaxed),
            level: AtomicU8::new(NO_LEVEL),
            watches: Mutex::default(),
            links: Mutex::default(),
        }
    }

    pub(crate) fn set_level(&self, level: u8) {
        self.level.store(level, Ordering::Relaxed);
    }

    /// The name of the level the client asked for.
    pub(crate) fn level(&self) -> Option<&'static str> {
        LEVELS.get(usize::from(self.level.load(Ordering::Relaxed))).copied()
    }

    /// Whether the client wants this log message: all until it said otherwise.
    pub(crate) fn wants_log(&self, notification: &Notification) -> bool {
        wants_log(self.level(), notification)
    }

    /// The client's own connection to a server, made at first use and again when it was lost.
    pub(crate) async fn link(
        &self,
        kernel: &Kernel,
        server: &Arc<Server>,
        session: &Arc<Session>,
    ) -> Result<Arc<Connected>, Fault> {
        let slot = self.links.lock().entry(server.id().clone()).or_default().clone();
        let mut link = slot.lock().await;
        if let Some(connected) = link.as_ref().filter(|connected| !connected.closed.is_cancelled()) {
            return Ok(connected.clone());
        }
        let handler =
            Arc::new(FromLink { kernel: kernel.clone(), server: server.clone(), session: Arc::downgrade(session) });
        let connected = server.connect(&session.caller(), handler, kernel.limits()).await.map_err(|why| {
            Fault::new(FaultKind::UpstreamUnavailable, format!("server `{}` cannot be reached: {why}", server.id()))
                .from_server(server.id().as_ref())
        })?;
        let connected = Arc::new(connected);
        if let Some(level) = self.level() {
            crate::forward::send_level(&connected, level).await;
        }
        *link = Some(connected.clone());
        Ok(connected)
    }

    /// The connections that were made for this client.
    pub(crate) async fn existing_links(&self) -> Vec<Arc<Connected>> {
        let slots: Vec<_> = self.links.lock().values().cloned().collect();
        let mut links = Vec::new();
        for slot in slots {
            links.extend(slot.lock().await.clone());
        }
        links
    }

    /// Ends everything that was made for this client.
    pub(crate) async fn close(&self, kernel: &Kernel) {
        let slots: Vec<_> = self.links.lock().drain().map(|(_, slot)| slot).collect();
        for slot in slots {
            let link = slot.lock().await.take();
            if let Some(connected) = link {
                connected.stop().await;
            }
        }
        let watches: Vec<_> = self.watches.lock().drain().collect();
        for (server, uri) in watches {
            if let Some(server) = kernel.server(&server) {
                server.unwatch_resource(&uri).await;
            }
        }
    }
}

/// Whether a log message is at least as serious as `level`.
pub(crate) fn wants_log(level: Option<&str>, notification: &Notification) -> bool {
    let Some(least) = level.and_then(level_index) else { return true };
    let said = notification.params.as_ref().and_then(|params| params.member("level")?.as_text());
    said.as_deref().and_then(level_index).is_none_or(|level| level >= least)
}

/// Takes what arrives on a connection that belongs to one client.
struct FromLink {
    kernel: Kernel,
    server: Arc<Server>,
    session: Weak<Session>,
}

impl Handler for FromLink {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            if &*request.method == method::PING {
                return Ok(Raw::empty_object()).into();
            }
            match self.session.upgrade() {
                Some(session) => {
                    let caller = session.caller();
                    let client = Asked { remote: session.remote(), caller: &caller };
                    self.kernel.ask_client(&client, &self.server, request, Some(context.remote)).await
                }
                None => Err(ErrorObject::new(code::INTERNAL_ERROR, "the client has gone")).into(),
            }
        })
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if self.kernel.take_notice(&self.server, &notification) {
                return;
            }
            let Some(session) = self.session.upgrade() else { return };
            let is_log = &*notification.method == method::LOG_MESSAGE;
            if !is_log || ClientState::of(&session).wants_log(&notification) {
                let _ = session.remote().notify(notification);
            }
        })
    }
}
