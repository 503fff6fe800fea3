//! Servers that hear of audit events (MGP 6): which of them hears what.
//!
//! A server that agreed on `audit` hears of what concerns itself: who called its tools, and what became of it. What
//! others do at other servers is none of its business, unless the operator made it the place where events go.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use switchboard_audit::AuditSink;
use switchboard_peer::Remote;
use switchboard_protocol::mgp::{Extension, method};
use switchboard_store::AuditEvent;
use switchboard_wire::{Edit, Limits, Notification, Raw};

use switchboard_upstream::Server;

/// One server that hears of events.
pub struct ServerSink {
    pub(crate) server: Arc<str>,
    /// Whether the operator wants it to hear of everything.
    pub(crate) all: bool,
    pub(crate) remote: Arc<dyn Remote>,
    /// The number of the next event: each server counts its own.
    seq: Arc<AtomicU64>,
}

impl std::fmt::Debug for ServerSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerSink").field("server", &self.server).finish_non_exhaustive()
    }
}

impl ServerSink {
    /// How a server hears of events, if it wants to.
    pub fn of(server: &Server) -> Option<Self> {
        let connection = server.hub_now()?;
        let hears = connection.agreement.as_ref().is_some_and(|agreement| agreement.has(Extension::Audit));
        let (id, remote) = (server.id().clone(), connection.remote().clone());
        hears.then(|| Self { server: id, all: server.policy().audit_sink, remote, seq: Arc::default() })
    }

    fn is_concerned(&self, event: &AuditEvent) -> bool {
        let of_server = event.target.server_id.as_deref() == Some(&*self.server);
        self.all || of_server || event.actor.kind == "server" && event.actor.id == *self.server
    }
}

/// All of them.
#[derive(Debug, Default)]
pub struct ServerSinks(ArcSwap<Vec<ServerSink>>);

impl ServerSinks {
    /// Who hears from now on. One that stays on the same connection goes on counting.
    pub fn set(&self, mut sinks: Vec<ServerSink>) {
        let now = self.0.load();
        for sink in &mut sinks {
            if let Some(before) = now.iter().find(|before| Arc::ptr_eq(&before.remote, &sink.remote)) {
                sink.seq = before.seq.clone();
            }
        }
        self.0.store(Arc::new(sinks));
    }
}

impl AuditSink for ServerSinks {
    fn is_listening(&self) -> bool {
        !self.0.load().is_empty()
    }

    /// Tells those whom it concerns. Who does not read fast enough misses it.
    fn emit(&self, event: &AuditEvent) {
        // A copy of the list: what is called below is other people's code, and may take its time.
        let sinks = self.0.load_full();
        let mut concerned = sinks.iter().filter(|sink| sink.is_concerned(event)).peekable();
        if concerned.peek().is_none() {
            return;
        }
        let Ok(params) = Raw::parse(event.canonical(), &Limits::default()) else { return };
        for sink in concerned {
            let seq = sink.seq.fetch_add(1, Ordering::Relaxed) + 1;
            let counted = Edit::empty().set("seq", Raw::number(seq)).finish();
            let params = Edit::of(&params).map_or_else(|_| params.clone(), |edit| edit.set("_mgp", counted).finish());
            let _ = sink.remote.notify(Notification::new(method::AUDIT, Some(params)));
        }
    }
}
