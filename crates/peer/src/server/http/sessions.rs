//! The lasting sessions of legacy clients.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use switchboard_transport::http_server::Principal;
use switchboard_wire::{Id, Raw};

use super::channel::Channel;
use super::response_sink::ResponseSink;
use crate::{Caller, Handler, Session};

/// One session and what runs in it.
pub(super) struct Live {
    pub(super) session: Arc<Session>,
    pub(super) channel: Arc<Channel>,
    /// Requests that run, in the order they came. They are few, mostly.
    running: Mutex<Vec<(Id, Arc<ResponseSink>)>>,
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
    pub(super) fn begin(self: &Arc<Self>, id: Id, outlet: &Arc<ResponseSink>, most: usize) -> Option<Ticket> {
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

    /// The ids of the requests that run.
    pub(super) fn running_ids(&self) -> Vec<Id> {
        self.running.lock().iter().map(|(id, _)| id.clone()).collect()
    }

    fn is_busy(&self) -> bool {
        !self.running.lock().is_empty() || self.channel.has_open_stream()
    }
}

/// Stands for a request that runs.
pub(super) struct Ticket {
    live: Arc<Live>,
    outlet: Arc<ResponseSink>,
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
    table: RwLock<Table>,
    most: usize,
    handler: Arc<dyn Handler>,
    began: Instant,
}

#[derive(Default)]
struct Table {
    by_id: HashMap<Arc<str>, Arc<Live>>,
    /// How many sessions each principal has.
    counts: HashMap<Arc<str>, usize>,
}

impl Table {
    fn insert(&mut self, live: Arc<Live>) {
        *self.counts.entry(live.session.principal.clone()).or_default() += 1;
        self.by_id.insert(live.session.id.clone(), live);
    }

    fn remove(&mut self, id: &str) -> Option<Arc<Live>> {
        let live = self.by_id.remove(id)?;
        let principal = &live.session.principal;
        if let Some(count) = self.counts.get_mut(principal) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(principal);
            }
        }
        Some(live)
    }

    fn count(&self, principal: &str) -> usize {
        self.counts.get(principal).copied().unwrap_or(0)
    }

    /// Whose session has to go for another one of `principal`; nothing if there is room. A principal with less than
    /// others never makes way for them.
    fn who_gives_way(&self, principal: &Arc<str>, most: usize) -> Option<Arc<str>> {
        if self.count(principal) >= most_of_one(most) {
            return Some(principal.clone());
        }
        if self.by_id.len() < most {
            return None;
        }
        let largest = self.counts.iter().max_by_key(|(_, count)| **count);
        let larger = largest.filter(|(_, count)| **count > self.count(principal) + 1);
        Some(larger.map_or_else(|| principal.clone(), |(name, _)| name.clone()))
    }

    /// The session of a principal that was idle longest. One in use goes only where `in_use` says so.
    fn longest_idle(&self, principal: &str, in_use: bool) -> Option<Arc<Live>> {
        let mut found: Option<(u64, &Arc<Live>)> = None;
        for live in self.by_id.values().filter(|live| &*live.session.principal == principal) {
            let seen = live.seen.load(Ordering::Relaxed);
            if found.is_none_or(|(oldest, _)| seen < oldest) && (in_use || !live.is_busy()) {
                found = Some((seen, live));
            }
        }
        found.map(|(_, live)| live.clone())
    }
}

/// How many of the sessions one principal may have.
const fn most_of_one(most: usize) -> usize {
    if most < 4 { most } else { most / 4 * 3 }
}

impl Sessions {
    pub(super) fn new(most: usize, handler: Arc<dyn Handler>) -> Self {
        Self { table: RwLock::default(), most, handler, began: Instant::now() }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn len(&self) -> usize {
        self.table.read().by_id.len()
    }

    /// Whether another session of this principal would be taken in.
    pub(super) fn has_room(&self, principal: &Arc<str>) -> bool {
        let table = self.table.read();
        match table.who_gives_way(principal, self.most) {
            None => true,
            Some(other) if other != *principal => true,
            Some(own) => table.longest_idle(&own, false).is_some(),
        }
    }

    /// The session of that id, if it is the principal's own. Another token of the same principal must have the same
    /// rights: what a session was opened with is what it has.
    pub(super) fn find(&self, id: &str, principal: &Principal) -> Option<Arc<Live>> {
        let own = |live: &&Arc<Live>| live.session.identity.same_rights(principal);
        let live = self.table.read().by_id.get(id).filter(own).cloned()?;
        live.seen.store(self.now(), Ordering::Relaxed);
        Some(live)
    }

    /// Takes a session in; `false` where there is no room. The session that was idle longest makes room: one of the same
    /// principal where that has as many as it may, else one of the principal that has the most.
    pub(super) fn insert(&self, live: &Arc<Live>) -> bool {
        live.seen.store(self.now(), Ordering::Relaxed);
        let principal = &live.session.principal;
        let mut table = self.table.write();
        let mut gone = None;
        if let Some(other) = table.who_gives_way(principal, self.most) {
            // Whoever has more than the others cannot keep them out by using all of it.
            let in_use = other != *principal;
            let idle =
                table.longest_idle(&other, false).or_else(|| table.longest_idle(&other, true).filter(|_| in_use));
            let Some(idle) = idle else { return false };
            gone = table.remove(&idle.session.id);
        }
        table.insert(live.clone());
        drop(table);
        if let Some(gone) = gone {
            tracing::debug!(session = &*gone.session.id, "a session makes room for another");
            self.end(&gone);
        }
        true
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
        for live in self.table.read().by_id.values().filter(|live| self.quiet_for(live, after)) {
            live.channel.forget_ended();
        }
    }

    pub(super) fn end_idle(&self, idle: Duration) -> usize {
        let stale = |live: &Arc<Live>| self.quiet_for(live, idle) && !live.is_busy();
        let ended: Vec<_> = {
            let mut table = self.table.write();
            let ids: Vec<_> = table.by_id.iter().filter(|(_, live)| stale(live)).map(|(id, _)| id.clone()).collect();
            ids.iter().filter_map(|id| table.remove(id)).collect()
        };
        for live in &ended {
            self.end(live);
        }
        ended.len()
    }

    pub(super) fn close_all(&self) {
        let all: Vec<_> = std::mem::take(&mut *self.table.write()).by_id.into_values().collect();
        for live in &all {
            self.end(live);
        }
    }
}
