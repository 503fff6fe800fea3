//! What a call on its way needs of its surroundings, beside the gate. The kernel gives it; a test may give as little as it
//! likes.
//!
//! These are generic bounds and not objects: a call passes through them several times, and nothing is allocated for it.

use std::sync::Arc;

use switchboard_gate::{Gate, Surroundings, ToolPolicy};
use switchboard_peer::client::Connected;
use switchboard_peer::{Context, Session};
use switchboard_protocol::fault::Fault;
use switchboard_upstream::{Holder, Server};
use switchboard_wire::Notification;

/// The servers there are.
pub trait Servers: Send + Sync {
    /// The server, where there is just one.
    fn only_server(&self) -> Option<Arc<Server>>;

    /// What is known of a request to a server that is about nothing it lists.
    fn plain_policy(&self, server: &Arc<Server>) -> Option<Arc<ToolPolicy>>;

    /// Whether everything ends, and new calls are not taken.
    fn is_draining(&self) -> bool;

    /// Whether a server takes new calls.
    ///
    /// # Errors
    /// It does not, and when to come again.
    fn takes_calls(&self, server: &Server) -> Result<(), Fault>;

    /// Takes a notification of a server that is for no client; `false` for one that is the clients'.
    fn take_notice(&self, server: &Arc<Server>, notification: &Notification) -> bool;
}

/// What is kept of clients.
pub trait ExchangeClients: Send + Sync {
    /// Whose calls a session's are on a shared connection.
    fn owner(&self, session: &Session) -> u64;

    /// The level from which on a session wants log messages, where it said so.
    fn session_log_level(&self, session: &Session) -> Option<&'static str>;

    /// A session's own connection to a server, if it was made and holds.
    fn link_now(&self, session: &Session, server: &Arc<Server>) -> Option<Arc<Connected>>;

    /// The same, made where there is none.
    ///
    /// # Errors
    /// It cannot be made.
    fn link(
        &self,
        context: &Context,
        server: &Arc<Server>,
    ) -> impl Future<Output = Result<Arc<Connected>, Fault>> + Send;
}

/// Everything that a call on its way needs: who may go on with it is asked at the gate.
pub trait Host: Servers + ExchangeClients + Surroundings + Holder + Clone + 'static {
    /// The gate.
    fn gate(&self) -> Gate<'_>;
}
