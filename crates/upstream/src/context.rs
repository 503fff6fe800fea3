//! What all servers of one holder share: who asks them, within which bounds, whose turn it is to start, and when all ends.

use std::sync::Arc;

use switchboard_peer::Caller;
use switchboard_peer::client::CredentialSource;
use switchboard_protocol::mgp::Extension;
use switchboard_wire::Limits;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::turns::StartTurns;

/// What all servers of one holder share.
#[derive(Debug)]
pub struct ServerContext {
    /// Who asks where no client does.
    pub caller: Caller,
    /// The principal that uses the connection that is always there, at servers that keep principals apart.
    pub owner: Arc<str>,
    /// What of MGP is offered to servers.
    pub extensions: &'static [Extension],
    /// Bounds on one message.
    pub limits: Limits,
    /// Elements taken of one list.
    pub list_items: usize,
    /// Credentials for servers over HTTP that have none in their configuration.
    pub credentials: Option<Arc<dyn CredentialSource>>,
    /// Turns to start a connection.
    pub turns: StartTurns,
    /// What runs beside the servers.
    pub tasks: TaskTracker,
    /// Cancelled when all servers are to end.
    pub closing: CancellationToken,
    /// Cancelled when nothing is waited for any more.
    pub ending: CancellationToken,
}
