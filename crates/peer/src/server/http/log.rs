//! The events of one stream: a bounded log with at most one reader.
//!
//! The log is the queue of a slow reader and the memory for one that comes back, in one. Writers never wait: where
//! there is no room left for what nobody has read, the reader is given up and the writer is told.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use switchboard_transport::http_server::EventSource;
use switchboard_wire::sse::{Event, encode};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::LogLimits;
use crate::SendError;

pub(super) struct EventLog {
    /// Names the stream within its session; part of the ids of its events.
    pub(super) id: u64,
    resumable: bool,
    limits: LogLimits,
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
    finished: bool,
    /// Which reader is the current one.
    reader: u64,
    attached: bool,
    /// The reader is to end once it has read everything.
    draining: bool,
    waker: Option<Waker>,
}

impl State {
    fn first(&self) -> u64 {
        self.next - self.events.len() as u64
    }

    fn drop_first(&mut self) {
        if let Some(event) = self.events.pop_front() {
            self.bytes -= event.len();
        }
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
    pub(super) fn new(id: u64, resumable: bool, limits: LogLimits) -> Arc<Self> {
        let state = State {
            events: VecDeque::new(),
            bytes: 0,
            next: 1,
            unread: 1,
            finished: false,
            reader: 0,
            attached: false,
            draining: false,
            waker: None,
        };
        Arc::new(Self { id, resumable, limits, lost: CancellationToken::new(), state: Mutex::new(state) })
    }

    fn event_id(&self, number: u64) -> Option<String> {
        self.resumable.then(|| format!("{}-{number}", self.id))
    }

    /// Adds a message.
    ///
    /// # Errors
    /// The log has ended, or the reader is too slow and was given up.
    pub(super) fn push(&self, message: &Bytes) -> Result<(), SendError> {
        self.add(Event { data: message.clone(), ..Event::default() }, false)
    }

    /// Adds an event of another type than `message`, which is not bounded.
    pub(super) fn push_typed(&self, kind: &str, data: Bytes) {
        let _ = self.add(Event { event: Some(kind.to_owned()), data, ..Event::default() }, true);
    }

    /// Adds the answer, for which there is always room, without ending the log.
    pub(super) fn push_answer(&self, message: &Bytes) {
        let _ = self.add(Event { data: message.clone(), ..Event::default() }, true);
    }

    fn add(&self, mut event: Event, always: bool) -> Result<(), SendError> {
        let mut state = self.state.lock();
        if state.finished {
            return Err(SendError::Closed);
        }
        event.id = self.event_id(state.next);
        let event = encode(&event);
        let full = |state: &State| {
            state.events.len() >= self.limits.events
                || (!state.events.is_empty() && state.bytes + event.len() > self.limits.bytes)
        };
        while full(&state) && state.first() < state.unread {
            state.drop_first();
        }
        if full(&state) && !always {
            if state.attached {
                state.give_up_reader();
                if !self.resumable {
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

    /// Nothing more will be added.
    pub(super) fn finish(&self) {
        let mut state = self.state.lock();
        state.finished = true;
        state.wake();
    }

    pub(super) fn is_finished(&self) -> bool {
        self.state.lock().finished
    }

    pub(super) fn is_attached(&self) -> bool {
        self.state.lock().attached
    }

    /// Bytes that nobody has read.
    pub(super) fn unread_bytes(&self) -> usize {
        let state = self.state.lock();
        let unread = usize::try_from(state.next - state.unread).unwrap_or(usize::MAX);
        state.events.iter().rev().take(unread).map(Bytes::len).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// Drops what was read already: nobody will ask for it again.
    pub(super) fn forget_read(&self) {
        let mut state = self.state.lock();
        while state.first() < state.unread && !state.events.is_empty() {
            state.drop_first();
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
        state.draining &= state.reader == 0;
        state.give_up_reader();
        state.attached = true;
        let wanted = after.map_or(state.unread, |after| after.saturating_add(1).min(state.next));
        let cursor = wanted.max(state.first());
        let number = state.reader;
        drop(state);
        let lost = cursor - wanted;
        let priming = (lost > 0).then(|| encode(&Event { id: self.event_id(cursor - 1), ..gap(lost) }));
        Reader { log: self.clone(), number, cursor, priming, until: None }
    }
}

/// What a reader that comes back too late is told of the events that nobody has any more: MCP has no other word for it.
fn gap(lost: u64) -> Event {
    let message = format!(
        concat!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"warning","logger":"switchboard","#,
            r#""data":{{"kind":"events_lost","lost":{},"message":"events before this one are not kept any more"}}}}}}"#
        ),
        lost
    );
    Event { data: message.into(), ..Event::default() }
}

/// Reads a log for one HTTP answer.
pub(super) struct Reader {
    log: Arc<EventLog>,
    number: u64,
    cursor: u64,
    priming: Option<Bytes>,
    until: Option<std::pin::Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl Reader {
    /// Begins with an event that has an id and no data, so that the client can come back before the first message.
    pub(super) fn primed(mut self, retry: Duration) -> Self {
        let retry = u64::try_from(retry.as_millis()).unwrap_or(u64::MAX);
        let id = self.log.event_id(self.cursor - 1);
        self.priming = Some(encode(&Event { id, retry: Some(retry), ..Event::default() }));
        self
    }

    /// Ends when `token` is cancelled.
    pub(super) fn until(mut self, token: CancellationToken) -> Self {
        self.until = Some(Box::pin(token.cancelled_owned()));
        self
    }
}

impl EventSource for Reader {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(priming) = self.priming.take() {
            return Poll::Ready(Some(priming));
        }
        let mut state = self.log.state.lock();
        if state.reader != self.number {
            return Poll::Ready(None);
        }
        let place = self.cursor.saturating_sub(state.first());
        let event = usize::try_from(place).ok().and_then(|place| state.events.get(place)).cloned();
        if let Some(event) = event {
            self.cursor = self.cursor.max(state.first()) + 1;
            state.unread = state.unread.max(self.cursor);
            if !self.log.resumable {
                state.drop_first();
            }
            return Poll::Ready(Some(event));
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

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.log.state.lock();
        if state.reader == self.number {
            state.attached = false;
            state.waker = None;
            drop(state);
            if !self.log.resumable {
                self.log.lost.cancel();
            }
        }
    }
}

#[cfg(test)]
mod tests;
