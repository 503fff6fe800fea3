//! Servers that hear of audit events (MGP 6): which of them hears what.
//!
//! A server that agreed on `audit` hears of what concerns itself: who called its tools, and what became of it. What
//! others do at other servers is none of its business, unless the operator made it the place where events go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;
use switchboard_peer::Remote;
use switchboard_protocol::mgp::method;
use switchboard_store::AuditEvent;
use switchboard_wire::{Edit, Limits, Notification, Raw};

/// One server that hears of events.
pub(crate) struct Hearer {
    pub(crate) server: Arc<str>,
    /// Whether the operator wants it to hear of everything.
    pub(crate) all: bool,
    pub(crate) remote: Arc<dyn Remote>,
    /// The number of the next event: each server counts its own.
    seq: Arc<AtomicU64>,
}

impl Hearer {
    pub(crate) fn new(server: Arc<str>, all: bool, remote: Arc<dyn Remote>) -> Self {
        Self { server, all, remote, seq: Arc::default() }
    }

    fn is_concerned(&self, event: &AuditEvent) -> bool {
        let of_server = event.target.server_id.as_deref() == Some(&*self.server);
        self.all || of_server || event.actor.kind == "server" && event.actor.id == *self.server
    }
}

/// All of them.
#[derive(Default)]
pub(crate) struct Hearers {
    all: RwLock<Vec<Hearer>>,
    /// Whether there are any: most kernels have none, and every call asks.
    some: AtomicBool,
}

impl Hearers {
    /// Who hears from now on. One that stays on the same connection goes on counting.
    pub(crate) fn set(&self, mut hearers: Vec<Hearer>) {
        let mut now = self.all.write();
        for hearer in &mut hearers {
            if let Some(before) = now.iter().find(|before| Arc::ptr_eq(&before.remote, &hearer.remote)) {
                hearer.seq = before.seq.clone();
            }
        }
        self.some.store(!hearers.is_empty(), Ordering::Relaxed);
        *now = hearers;
    }

    /// Whether nobody hears.
    pub(crate) fn is_empty(&self) -> bool {
        !self.some.load(Ordering::Relaxed)
    }

    /// Tells those whom it concerns. Who does not read fast enough misses it.
    pub(crate) fn tell(&self, event: &AuditEvent) {
        if self.is_empty() {
            return;
        }
        let hearers = self.all.read();
        let mut concerned = hearers.iter().filter(|hearer| hearer.is_concerned(event)).peekable();
        if concerned.peek().is_none() {
            return;
        }
        let Ok(params) = Raw::parse(event.canonical(), &Limits::default()) else { return };
        for hearer in concerned {
            let seq = hearer.seq.fetch_add(1, Ordering::Relaxed) + 1;
            let counted = Edit::empty().set("seq", Raw::number(seq)).finish();
            let params = Edit::of(&params).map_or_else(|_| params.clone(), |edit| edit.set("_mgp", counted).finish());
            let _ = hearer.remote.notify(Notification::new(method::AUDIT, Some(params)));
        }
    }
}
