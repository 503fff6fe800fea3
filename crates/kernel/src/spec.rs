//! What the kernel is told about a server, from whatever configuration it came.

use std::sync::Arc;
use std::time::Duration;

use switchboard_peer::client::{Credentials, EraChoice, Target};
use switchboard_wire::Limits;

/// One server to be connected.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// Its id: unique, and part of the names that clients see.
    pub id: Arc<str>,
    /// Where it is.
    pub target: Target,
    /// Which era to speak with it.
    pub era: EraChoice,
    /// Whether clients share one connection to it.
    pub sharing: Sharing,
    /// How long its start may take, handshake included.
    pub start_timeout: Duration,
    /// How long a call may take without a sign of life.
    pub call_timeout: Duration,
    /// Whether to start it again when it ends.
    pub restart: Restart,
    /// Changes whenever anything of the above does: two specs with one fingerprint are the same server.
    pub fingerprint: String,
}

impl PartialEq for ServerSpec {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.fingerprint == other.fingerprint
    }
}

/// Who shares a connection to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// All clients.
    Shared,
    /// Nobody: each client session has its own, made at its first call.
    PerSession,
}

/// Whether a server that ended is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// Not by itself.
    Never,
    /// Yes, with growing pauses.
    Always,
}

/// How the kernel behaves.
#[derive(Debug, Clone)]
pub struct KernelOptions {
    /// Bounds on one message.
    pub limits: Limits,
    /// How long a list or a greeting waits for servers that are still starting.
    pub list_wait: Duration,
    /// How long a call may take altogether, signs of life or not.
    pub longest_call: Duration,
    /// How long a question to a client may stay open.
    pub question_timeout: Duration,
    /// Calls that may wait for a modern client's input, all clients together.
    pub parked_calls: usize,
    /// Elements taken of one list of one server.
    pub list_items: usize,
    /// Credentials for servers over HTTP that have none in their configuration.
    pub credentials: Option<Arc<dyn Credentials>>,
}

impl Default for KernelOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            list_wait: Duration::from_secs(3),
            longest_call: Duration::from_secs(3600),
            question_timeout: Duration::from_secs(600),
            parked_calls: 1024,
            list_items: 10_000,
            credentials: None,
        }
    }
}
