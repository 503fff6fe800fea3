//! The book of calls that stream: found by the client's own request id, or by the name of the operation.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_flow::stream::{Ledger, StreamBounds};
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_wire::Raw;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Live;
use super::in_flight::InFlightRequests;

/// Streams that may be open at once. A call beyond that is answered without pieces.
const MAX_STREAMS: usize = 32_768;
/// Operations that have ended and are kept for a client that comes back.
const MOST_ENDED: usize = 1_024;
/// Bytes of their results.
const MOST_ENDED_BYTES: usize = 64 << 20;
/// For how long.
pub(super) const KEPT_AFTER_END: Duration = Duration::from_secs(600);

/// Operations that nobody reads, of all and of one principal. One more is ended at once.
const MOST_ALONE: usize = 1_024;
const MOST_ALONE_OF_ONE: usize = 64;

/// Stands for an operation that nobody reads.
pub(super) struct Alone(Arc<str>);

/// All calls that stream.
pub(crate) struct Streams {
    pub(super) ledger: Arc<Ledger>,
    /// Requests of clients that can take them back by `mgp/stream/cancel`, streamed or not.
    pub(crate) in_flight: InFlightRequests,
    /// Told when a stream begins.
    pub(crate) begun: Notify,
    open: Mutex<Open>,
}

/// Whose request, by the text of its id.
type RequestKey = (Arc<str>, String);

#[derive(Default)]
struct Open {
    by_request: HashMap<RequestKey, Vec<Arc<Live>>>,
    by_operation: HashMap<Arc<str>, Arc<Live>>,
    /// Operations that have ended, in their order, with the bytes of their results.
    ended: std::collections::VecDeque<(Arc<str>, Instant, usize)>,
    ended_bytes: usize,
    count: usize,
    /// Operations that nobody reads, by principal.
    alone: HashMap<Arc<str>, usize>,
    /// The kernel ends: nothing is kept for anybody.
    closed: bool,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            ledger: Arc::new(Ledger::new(StreamBounds::default())),
            in_flight: InFlightRequests::default(),
            begun: Notify::new(),
            open: Mutex::default(),
        }
    }
}

impl Streams {
    /// Notes a stream; `false` where there are too many.
    pub(super) fn add(&self, live: &Arc<Live>) -> bool {
        let mut open = self.open.lock();
        if open.count >= MAX_STREAMS {
            return false;
        }
        open.count += 1;
        open.by_request.entry((live.principal.clone(), live.request_text())).or_default().push(live.clone());
        if live.is_operation() {
            open.by_operation.insert(live.operation.clone(), live.clone());
        }
        drop(open);
        self.begun.notify_one();
        true
    }

    /// A client came back for an operation with another request.
    pub(super) fn rename(&self, live: &Arc<Live>, before: &str) {
        let mut open = self.open.lock();
        if forget_request(&mut open, &(live.principal.clone(), before.to_owned()), live) {
            open.by_request.entry((live.principal.clone(), live.request_text())).or_default().push(live.clone());
        }
    }

    /// The call has ended. Operations stay for a while, for a client that comes back.
    pub(super) fn end(&self, live: &Arc<Live>, result_bytes: usize, now: Instant) {
        let mut open = self.open.lock();
        if forget_request(&mut open, &(live.principal.clone(), live.request_text()), live) {
            open.count = open.count.saturating_sub(1);
        }
        if !live.is_operation() {
            return;
        }
        if open.closed {
            open.by_operation.remove(&live.operation);
            return;
        }
        open.ended_bytes += result_bytes;
        open.ended.push_back((live.operation.clone(), now, result_bytes));
        open.trim(now);
    }

    /// Forgets operations that ended long ago.
    pub(crate) fn sweep(&self, now: Instant) {
        self.open.lock().trim(now);
    }

    /// Ends all calls that outlive their clients.
    pub(crate) fn clear(&self) {
        let mut open = self.open.lock();
        open.closed = true;
        open.by_operation.retain(|_, live| !live.is_over());
        for live in open.by_operation.values() {
            live.cancel.cancel();
        }
    }

    /// The stream that a client names by its request's id, or by the name of the operation.
    ///
    /// # Errors
    /// There is none of this client, or there are several.
    pub(super) fn find(
        &self,
        context: &Context,
        request: Option<&Raw>,
        operation: Option<&str>,
    ) -> Result<Arc<Live>, Fault> {
        let unknown = unknown_request;
        let open = self.open.lock();
        let principal = &context.session.principal;
        if let Some(operation) = operation {
            let live = open.by_operation.get(operation).filter(|live| live.principal == *principal);
            return live.filter(|live| !live.is_over()).cloned().ok_or_else(unknown);
        }
        let request = request.ok_or_else(|| Fault::new(FaultKind::InvalidParams, "`request_id` is missing"))?;
        let named = open.by_request.get(&(principal.clone(), request.as_str().to_owned())).ok_or_else(unknown)?;
        if context.session.lasting {
            return named.iter().find(|live| live.is_of(&context.session)).cloned().ok_or_else(unknown);
        }
        // Requests without a session have only their ids, which other programs of the same user may use as well.
        match named.as_slice() {
            [only] => Ok(only.clone()),
            _ => Err(Fault::new(FaultKind::InvalidParams, "several requests of yours have this id")
                .suggest("name the `operation_id`, or use ids that differ")),
        }
    }

    /// Notes that nobody reads an operation of this principal; `None` where there are too many of those.
    pub(super) fn leave_alone(&self, principal: &Arc<str>) -> Option<Alone> {
        let mut open = self.open.lock();
        let all: usize = open.alone.values().sum();
        let own = open.alone.entry(principal.clone()).or_default();
        if all >= MOST_ALONE || *own >= MOST_ALONE_OF_ONE {
            return None;
        }
        *own += 1;
        Some(Alone(principal.clone()))
    }

    /// Somebody reads it again, or it is over.
    pub(super) fn no_longer_alone(&self, alone: &Alone) {
        let mut open = self.open.lock();
        if let Some(count) = open.alone.get_mut(&alone.0) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.alone.remove(&alone.0);
            }
        }
    }

    /// An operation, running or over, of this principal.
    pub(super) fn operation(&self, principal: &str, operation: &str) -> Option<Arc<Live>> {
        self.open.lock().by_operation.get(operation).filter(|live| &*live.principal == principal).cloned()
    }

    /// The calls that stream now.
    pub(super) fn running(&self) -> Vec<Arc<Live>> {
        self.open.lock().by_request.values().flatten().cloned().collect()
    }

    /// How many calls stream now.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().count
    }

    /// Bytes that are kept of them.
    pub(crate) fn kept(&self) -> usize {
        self.ledger.kept()
    }
}

impl Open {
    fn trim(&mut self, now: Instant) {
        while let Some((operation, at, bytes)) = self.ended.front().cloned() {
            let full = self.ended.len() > MOST_ENDED || self.ended_bytes > MOST_ENDED_BYTES;
            if !full && now.duration_since(at) < KEPT_AFTER_END {
                return;
            }
            self.ended.pop_front();
            self.ended_bytes = self.ended_bytes.saturating_sub(bytes);
            // The same operation may have been begun anew.
            if self.by_operation.get(&operation).is_some_and(|live| live.is_over()) {
                self.by_operation.remove(&operation);
            }
        }
    }
}

/// There is no such request, or it is not this caller's.
pub(super) fn unknown_request() -> Fault {
    Fault::new(FaultKind::UnknownResource, "no such request of yours is under way")
}

fn forget_request(open: &mut Open, key: &RequestKey, live: &Arc<Live>) -> bool {
    let Some(named) = open.by_request.get_mut(key) else { return false };
    let before = named.len();
    named.retain(|other| !Arc::ptr_eq(other, live));
    let found = named.len() < before;
    if named.is_empty() {
        open.by_request.remove(key);
    }
    found
}
