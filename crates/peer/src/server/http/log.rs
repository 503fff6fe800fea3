//! The events of one stream: a bounded log with at most one reader.
//!
//! The log is the queue of a slow reader and the memory for one that comes back, in one. Writers never wait: where
//! there is no room left for what nobody has read, the writer is told, and the event is not kept; a reader that comes back is
//! told how many there were. The stream of a call goes on all the same, to its answer, for which there is always room. The
//! reader of a stream that lasts is given up then, so that it learns that it missed something; but not before it had the
//! time to read.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use switchboard_protocol::Revision;
use switchboard_protocol::fault::{Fault, FaultKind, Rendering};
use switchboard_transport::http_server::{EventSource, Room as _};
use switchboard_wire::sse::{SseEvent, encode};
use switchboard_wire::{Id, Message, Response};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::LogLimits;
use super::channel::Channel;
use super::memory::Account;
use crate::SendError;

/// A reader that has not come for anything in this time is slow.
const SLOW: Duration = Duration::from_secs(1);
/// A reader that is there may fall behind by so many times the events that are kept otherwise: whoever sends a burst does
/// not wait for it.
const BURST: usize = 8;
/// A stream that is read, and in which nothing waits, has room for one event of so many bytes, whatever all streams hold together.
const MAX_FREE_EVENT: usize = 16 << 10;
/// What an event costs beside its bytes.
const EVENT_OVERHEAD: usize = 64;

/// What kind of stream a log is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// Whether a reader can come back for what it missed.
    pub(super) resumable: bool,
    /// Whether it has no answer that ends it.
    pub(super) lasts: bool,
}

pub(super) struct EventLog {
    /// Names the stream within its session; part of the ids of its events.
    pub(super) id: u64,
    kind: Kind,
    limits: LogLimits,
    account: Account,
    /// Who keeps it, to be told when nobody needs it any more.
    keeper: Weak<Channel>,
    /// Cancelled when a log that cannot be resumed has lost its reader.
    pub(super) lost: CancellationToken,
    state: Mutex<State>,
}

struct State {
    /// Encoded events. The first has the number `next - events.len()`.
    events: VecDeque<Bytes>,
    bytes: usize,
    /// The number of the next event. The first is 1.
    next: u64,
    /// Events before this number were given to a reader.
    unread: u64,
    /// Events that there was no room for since a reader was last told of such.
    refused: u64,
    /// The number of the first event that is kept whatever happens.
    kept_from: Option<u64>,
    finished: bool,
    /// Which reader is the current one.
    reader: u64,
    attached: bool,
    /// The reader is to end once it has read everything.
    draining: bool,
    /// Since when the reader has not come; nothing if it came since this was last looked at.
    away: Option<Instant>,
    waker: Option<Waker>,
}

impl State {
    fn first(&self) -> u64 {
        self.next - self.events.len() as u64
    }

    fn drop_first(&mut self, account: &Account) {
        if let Some(event) = self.events.pop_front() {
            self.bytes -= event.len();
            account.give_back(event.len() + EVENT_OVERHEAD);
        }
    }

    /// Whether the reader had the time to read and did not.
    fn is_slow(&mut self) -> bool {
        let now = Instant::now();
        now.duration_since(*self.away.get_or_insert(now)) >= SLOW
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn give_up_reader(&mut self) {
        self.reader += 1;
        self.attached = false;
        self.wake();
    }
}

impl EventLog {
    pub(super) fn new(id: u64, kind: Kind, limits: LogLimits, account: Account, keeper: Weak<Channel>) -> Arc<Self> {
        let state = State {
            events: VecDeque::new(),
            bytes: 0,
            next: 1,
            unread: 1,
            refused: 0,
            kept_from: None,
            finished: false,
            reader: 0,
            attached: false,
            draining: false,
            away: None,
            waker: None,
        };
        let lost = CancellationToken::new();
        Arc::new(Self { id, kind, limits, account, keeper, lost, state: Mutex::new(state) })
    }

    fn event_id(&self, number: u64) -> Option<String> {
        self.kind.resumable.then(|| format!("{}-{number}", self.id))
    }

    /// Adds a message.
    ///
    /// # Errors
    /// The log has ended, or the reader is too slow and was given up.
    pub(super) fn push(&self, message: &Bytes) -> Result<(), SendError> {
        self.add(SseEvent { data: message.clone(), ..SseEvent::default() }, false)
    }

    /// Adds an event of another type than `message`, which is not bounded.
    pub(super) fn push_typed(&self, kind: &str, data: Bytes) {
        let _ = self.add(SseEvent { event: Some(kind.to_owned()), data, ..SseEvent::default() }, true);
    }

    /// Adds the answer, for which there is always room, without ending the log.
    pub(super) fn push_answer(&self, message: &Bytes) {
        let _ = self.add(SseEvent { data: message.clone(), ..SseEvent::default() }, true);
    }

    fn add(&self, mut event: SseEvent, always: bool) -> Result<(), SendError> {
        let mut state = self.state.lock();
        if state.finished {
            return Err(SendError::Closed);
        }
        event.id = self.event_id(state.next);
        let event = encode(&event);
        let cost = event.len() + EVENT_OVERHEAD;
        let over = |state: &State, events: usize| {
            state.events.len() >= events || (!state.events.is_empty() && state.bytes + event.len() > self.limits.bytes)
        };
        while over(&state, self.limits.events) && state.first() < state.unread {
            state.drop_first(&self.account);
        }
        let mut full = false;
        if !always && over(&state, self.limits.events) {
            full = !self.is_read(&state)
                || over(&state, self.limits.events.saturating_mul(BURST))
                || (self.kind.lasts && state.is_slow());
        }
        if always {
            self.make_room(&mut state, cost);
            state.kept_from = state.kept_from.or(Some(state.next));
        } else if !full {
            while !self.account.take(cost) {
                if state.attached && state.events.is_empty() && cost <= MAX_FREE_EVENT {
                    // Nothing waits here: it is others who hold the memory, and this reader is not to pay for them.
                    self.account.take_always(cost);
                    break;
                }
                if state.first() >= state.unread || state.events.is_empty() {
                    full = true;
                    break;
                }
                state.drop_first(&self.account);
            }
        }
        if full {
            state.refused = state.refused.saturating_add(1);
            if state.attached && self.kind.lasts {
                state.give_up_reader();
                if !self.kind.resumable {
                    self.lost.cancel();
                }
            }
            return Err(SendError::Full);
        }
        state.bytes += event.len();
        state.events.push_back(event);
        state.next += 1;
        state.wake();
        Ok(())
    }

    /// Takes memory for what must not be lost. Where there is none left, what was said before it in this stream makes room:
    /// a thousand answers that come at once do not add to what a thousand readers let stand.
    fn make_room(&self, state: &mut State, cost: usize) {
        while !self.account.take(cost) {
            let first = state.first();
            if state.events.is_empty() || state.kept_from.is_some_and(|kept| first >= kept) {
                return self.account.take_always(cost);
            }
            if first >= state.unread {
                state.refused = state.refused.saturating_add(1);
            }
            state.drop_first(&self.account);
        }
    }

    /// Whether somebody reads, or the first reader of an answer is about to come.
    fn is_read(&self, state: &State) -> bool {
        state.attached || (state.reader == 0 && !self.kind.lasts)
    }

    /// Nothing more will be added.
    pub(super) fn finish(&self) {
        let mut state = self.state.lock();
        state.finished = true;
        state.wake();
        drop(state);
        self.not_needed();
    }

    /// Lets whoever keeps it look whether that has to go on.
    fn not_needed(&self) {
        if let Some(keeper) = self.keeper.upgrade() {
            keeper.trim();
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.state.lock().finished
    }

    pub(super) fn is_attached(&self) -> bool {
        self.state.lock().attached
    }

    /// Bytes that nobody has read. Where there is no room for another event, more than any writer waits for: who keeps what
    /// it has to say need not be refused it first.
    pub(super) fn unread_bytes(&self) -> usize {
        let state = self.state.lock();
        let unread = usize::try_from(state.next - state.unread).unwrap_or(usize::MAX);
        let room = if self.is_read(&state) { self.limits.events.saturating_mul(BURST) } else { self.limits.events };
        if unread >= room {
            return usize::MAX;
        }
        state.events.iter().rev().take(unread).map(Bytes::len).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// Drops what was read already: nobody will ask for it again.
    pub(super) fn forget_read(&self) {
        let mut state = self.state.lock();
        while state.first() < state.unread && !state.events.is_empty() {
            state.drop_first(&self.account);
        }
        state.events.shrink_to_fit();
    }

    /// Lets the current reader end once it has read everything.
    pub(super) fn close_reader(&self) {
        let mut state = self.state.lock();
        state.draining = true;
        state.wake();
    }

    /// A reader of what comes after event `after`, or of what nobody has read. It takes the place of an earlier one.
    pub(super) fn read(self: &Arc<Self>, after: Option<u64>) -> Reader {
        let mut state = self.state.lock();
        // The first reader may be told to end before it begins; one that comes back is to stay.
        let is_first = state.reader == 0;
        state.draining &= is_first;
        state.give_up_reader();
        state.attached = true;
        state.away = None;
        let wanted = after.map_or(state.unread, |after| after.saturating_add(1).min(state.next));
        let cursor = wanted.max(state.first());
        let number = state.reader;
        // The first one missed nothing: whoever wrote was told that there is no room.
        let refused = std::mem::take(&mut state.refused);
        let lost = (cursor - wanted).saturating_add(if is_first { 0 } else { refused });
        drop(state);
        let priming = (lost > 0).then(|| encode(&SseEvent { id: self.event_id(cursor - 1), ..gap(lost) }));
        Reader { log: self.clone(), number, cursor, priming, until: None, owed: None }
    }
}

/// What a reader that comes back too late is told of the events that nobody has any more: MCP has no other word for it.
fn gap(lost: u64) -> SseEvent {
    let message = format!(
        concat!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"warning","logger":"switchboard","#,
            r#""data":{{"kind":"events_lost","lost":{},"message":"events before this one are not kept any more"}}}}}}"#
        ),
        lost
    );
    SseEvent { data: message.into(), ..SseEvent::default() }
}

/// Reads a log for one HTTP answer.
pub(super) struct Reader {
    log: Arc<EventLog>,
    number: u64,
    cursor: u64,
    priming: Option<Bytes>,
    until: Option<std::pin::Pin<Box<WaitForCancellationFutureOwned>>>,
    owed: Option<Owed>,
}

/// The requests whose answers a stream owes its reader, and the revision that he speaks.
pub(super) struct Owed {
    pub(super) ids: Box<dyn Fn() -> Vec<Id> + Send>,
    pub(super) revision: Revision,
}

impl Owed {
    /// The answers to those who may not be answered any more.
    fn refused(&self) -> Option<Bytes> {
        let text = "the token that this request came with was taken back or has ended";
        let rendering = Rendering::new(self.revision, "");
        let refusal = |id: Id| {
            let error = Fault::new(FaultKind::AuthExpired, text).render(&rendering);
            let data = Message::Response(Response::new(Some(id), Err(error))).encode();
            encode(&SseEvent { data, ..SseEvent::default() })
        };
        let refusals: Vec<Bytes> = (self.ids)().into_iter().map(refusal).collect();
        (!refusals.is_empty()).then(|| refusals.concat().into())
    }
}

impl Reader {
    /// Begins with an event that has an id and no data, so that the client can come back before the first message.
    pub(super) fn primed(mut self, retry: Duration) -> Self {
        let retry = u64::try_from(retry.as_millis()).unwrap_or(u64::MAX);
        let id = self.log.event_id(self.cursor - 1);
        let first = encode(&SseEvent { id, retry: Some(retry), ..SseEvent::default() });
        // What was lost is told after it.
        self.priming = Some(match self.priming.take() {
            Some(gap) => [first, gap].concat().into(),
            None => first,
        });
        self
    }

    /// Answers these requests itself, where its reader may not have their answers any more.
    pub(super) fn owing(mut self, owed: Owed) -> Self {
        self.owed = Some(owed);
        self
    }

    /// Ends when `token` is cancelled.
    pub(super) fn until(mut self, token: CancellationToken) -> Self {
        self.until = Some(Box::pin(token.cancelled_owned()));
        self
    }
}

impl EventSource for Reader {
    fn last_event(&mut self) -> Option<Bytes> {
        self.owed.as_ref()?.refused()
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(priming) = self.priming.take() {
            return Poll::Ready(Some(priming));
        }
        let mut state = self.log.state.lock();
        if state.reader != self.number {
            return Poll::Ready(None);
        }
        state.away = None;
        let place = self.cursor.saturating_sub(state.first());
        let event = usize::try_from(place).ok().and_then(|place| state.events.get(place)).cloned();
        if let Some(event) = event {
            self.cursor = self.cursor.max(state.first()) + 1;
            state.unread = state.unread.max(self.cursor);
            if !self.log.kind.resumable {
                state.drop_first(&self.log.account);
            }
            drop(state);
            return Poll::Ready(Some(self.log.account.while_unwritten(event, self.log.kind.resumable)));
        }
        if state.finished || state.draining {
            return Poll::Ready(None);
        }
        if self.until.as_mut().is_some_and(|until| until.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(None);
        }
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            state.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for EventLog {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        self.account.give_back(state.bytes + state.events.len() * EVENT_OVERHEAD);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.log.state.lock();
        if state.reader == self.number {
            state.attached = false;
            state.waker = None;
            let finished = state.finished;
            drop(state);
            if !self.log.kind.resumable {
                self.log.lost.cancel();
            }
            if finished {
                self.log.not_needed();
            }
        }
    }
}

#[cfg(test)]
mod tests;
