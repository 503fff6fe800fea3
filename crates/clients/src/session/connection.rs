//! A session's own connection to a server that is not to be shared: what is kept of it.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use switchboard_peer::client::Connected;
use switchboard_upstream::Server;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;

/// One such connection, which may be lost and made again.
pub(crate) struct SessionConnection {
    /// The server as it was configured when the link was made: a changed one gets a new link.
    pub(crate) server: Arc<Server>,
    pub(crate) connected: ArcSwapOption<Connected>,
    /// Held while it is made, so that this happens once.
    pub(crate) making: AsyncMutex<Failures>,
}

/// How often in a row it could not be made.
#[derive(Default)]
pub(crate) struct Failures {
    pub(crate) pause: Duration,
    pub(crate) last: Option<(Instant, String)>,
}

impl SessionConnection {
    pub(crate) const fn server(&self) -> &Arc<Server> {
        &self.server
    }

    pub(crate) fn new(server: Arc<Server>) -> Arc<Self> {
        Arc::new(Self { server, connected: ArcSwapOption::empty(), making: AsyncMutex::default() })
    }

    /// The connection, if there is one.
    pub(crate) fn now(&self) -> Option<Arc<Connected>> {
        self.connected.load_full().filter(|connected| !connected.closed.is_cancelled())
    }
}
