//! One event.

use std::sync::Arc;

use jiff::Timestamp;
use switchboard_protocol::mgp::event::Severity;
use switchboard_wire::Raw;

/// Who may hear of an event. What a listener is allowed beyond that is for others to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// Who may decide for others, and nobody else.
    Operators,
    /// Who may decide for others about this server: also with a token that is good for that server, or that tool, alone.
    OperatorsOf {
        /// The server it was about.
        server: Arc<str>,
        /// The tool of that server, as the server calls it.
        tool: Option<Arc<str>>,
    },
    /// The principal who did it, and who may decide for others: each only with a token that covers what it was about.
    Doer {
        /// Who did it.
        principal: Arc<str>,
        /// The server it was about.
        server: Option<Arc<str>>,
        /// The tool of that server, as the server calls it.
        tool: Option<Arc<str>>,
    },
    /// Who may use this server.
    Server(Arc<str>),
    /// Whoever listens: it says nothing that somebody may not know.
    Everybody,
    /// Of those who may use this server these principals, and who may decide for others.
    Some {
        /// The server.
        server: Arc<str>,
        /// Their names.
        principals: Vec<String>,
    },
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// What names it: the same event has the same, however often it comes.
    pub id: Arc<str>,
    /// Where it comes from: `tool.completed`.
    pub channel: Arc<str>,
    /// The server that said so; none for the kernel's own.
    pub server: Option<Arc<str>>,
    /// The pattern for which it was asked of that server.
    pub via: Option<Arc<str>>,
    /// How serious it is.
    pub severity: Severity,
    /// When it happened.
    pub at: Timestamp,
    /// What happened: any JSON.
    pub data: Raw,
    /// Who may hear of it.
    pub audience: Audience,
    /// How many events led to this one, each caused by the one before.
    pub depth: u32,
}
