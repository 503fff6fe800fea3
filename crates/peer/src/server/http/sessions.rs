//! The lasting sessions of legacy clients.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use switchboard_transport::http_server::Principal;
use switchboard_wire::{Id, Raw};

use super::channel::Channel;
use super::outlet::Outlet;
use crate::{Caller, Handler, Session};

/// One session and what runs in it.
pub(super) struct Live {
    pub(super) session: Arc<Session>,
    pub(super) channel: Arc<Channel>,
    /// Requests that run, in the order they came. They are few, mostly.
    running: Mutex<Vec<(Id, Arc<Outlet>)>>,
    /// Milliseconds between the table's beginning and the last traffic.
    seen: AtomicU64,
    /// The handler was told of it.
    opened: AtomicBool,
}

impl Live {
    pub(super) fn new(session: Arc<Session>, channel: Arc<Channel>) -> Arc<Self> {
        let (seen, opened) = (AtomicU64::new(0), AtomicBool::new(false));
        Arc::new(Self { session, channel, running: Mutex::default(), seen, opened })
    }

    /// Notes a request that runs, so that it can be cancelled; `None` where too many do.
    pub(super) fn begin(self: &Arc<Self>, id: Id, outlet: &Arc<Outlet>, most: usize) -> Option<Ticket> {
        let mut running = self.running.lock();
        if running.len() >= most {
            return None;
        }
        running.push((id, outlet.clone()));
        drop(running);
        Some(Ticket { live: self.clone(), outlet: outlet.clone() })
    }

    /// The client no longer wants the answer to a request. Where it used an id again, the last one is meant.
    pub(super) fn cancel(&self, params: Option<&Raw>) {
        let id = params.and_then(|params| params.member("requestId")).and_then(|raw| Id::from_raw(&raw));
        let find =
            |id: Id| self.running.lock().iter().rev().find(|(of, _)| *of == id).map(|(_, outlet)| outlet.clone());
        if let Some(outlet) = id.and_then(find) {
            outlet.interrupt();
        }
    }

    fn is_busy(&self) -> bool {
        !self.running.lock().is_empty() || self.channel.has_open_stream()
    }
}

/// Stands for a request that runs.
pub(super) struct Ticket {
    live: Arc<Live>,
    outlet: Arc<Outlet>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut running = self.live.running.lock();
        if let Some(place) = running.iter().position(|(_, outlet)| Arc::ptr_eq(outlet, &self.outlet)) {
            running.remove(place);
        }
    }
}

pub(super) struct Sessions {
    table: RwLock<HashMap<Arc<str>, Arc<Live>>>,
    most: usize,
    handler: Arc<dyn Handler>,
    began: Instant,
}

impl Sessions {
    pub(super) fn new(most: usize, handler: Arc<dyn Handler>) -> Self {
        Self { table: RwLock::default(), most, handler, began: Instant::now() }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn len(&self) -> usize {
        self.table.read().len()
    }

    pub(super) fn has_room(&self) -> bool {
        self.len() < self.most
    }

    /// The session of that id, if it is the principal's own. Another token of the same principal must have the same
    /// rights: what a session was opened with is what it has.
    pub(super) fn find(&self, id: &str, principal: &Principal) -> Option<Arc<Live>> {
        let own = |live: &&Arc<Live>| live.session.identity.same_rights(principal);
        let live = self.table.read().get(id).filter(own).cloned()?;
        live.seen.store(self.now(), Ordering::Relaxed);
        Some(live)
    }

    /// Takes a session in; `false` where there is no room.
    pub(super) fn insert(&self, live: &Arc<Live>) -> bool {
        live.seen.store(self.now(), Ordering::Relaxed);
        let mut table = self.table.write();
        let room = table.len() < self.most;
        if room {
            table.insert(live.session.id.clone(), live.clone());
        }
        room
    }

    /// The handshake is done.
    pub(super) fn open(&self, live: &Live, caller: Caller) {
        live.session.introduce(caller);
        if !live.opened.swap(true, Ordering::AcqRel) {
            self.handler.opened(&live.session);
        }
    }

    /// Ends a session; `false` where there is none.
    pub(super) fn close(&self, id: &str) -> bool {
        let Some(live) = self.table.write().remove(id) else { return false };
        self.end(&live);
        true
    }

    fn end(&self, live: &Live) {
        live.channel.close();
        let running: Vec<_> = live.running.lock().iter().map(|(_, outlet)| outlet.clone()).collect();
        for outlet in running {
            outlet.interrupt();
        }
        if live.opened.load(Ordering::Acquire) {
            self.handler.closed(&live.session);
        }
    }

    fn quiet_for(&self, live: &Live, time: Duration) -> bool {
        let quiet = self.now().saturating_sub(live.seen.load(Ordering::Relaxed));
        Duration::from_millis(quiet) >= time
    }

    /// Drops what is kept for clients that did not come back.
    pub(super) fn forget_streams(&self, after: Duration) {
        for live in self.table.read().values().filter(|live| self.quiet_for(live, after)) {
            live.channel.forget_ended();
        }
    }

    pub(super) fn end_idle(&self, idle: Duration) -> usize {
        let stale = |live: &Arc<Live>| self.quiet_for(live, idle) && !live.is_busy();
        let ended: Vec<_> = {
            let mut table = self.table.write();
            let ids: Vec<_> = table.iter().filter(|(_, live)| stale(live)).map(|(id, _)| id.clone()).collect();
            ids.iter().filter_map(|id| table.remove(id)).collect()
        };
        for live in &ended {
            self.end(live);
        }
        ended.len()
    }

    pub(super) fn close_all(&self) {
        let all: Vec<_> = self.table.write().drain().map(|(_, live)| live).collect();
        for live in &all {
            self.end(live);
        }
    }
}
