//! What a handler sends beside the answer to one request. The first message turns the answer into a stream.

use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::HeaderMap;
use parking_lot::Mutex;
use switchboard_wire::{Message, Notification};
use tokio_util::sync::CancellationToken;

use super::channel::Channel;
use super::log::{EventLog, Kind};
use super::{Shared, answer};
use crate::{BoxFuture, Call, CallError, Remote, Reply, SendError};

/// Where messages beside the answer may go.
pub(super) enum Delivery {
    /// Into a stream of their own if the client takes one, else into the session's.
    Legacy {
        channel: Arc<Channel>,
        /// The headers of the request, which say whether the client takes a stream. Most answers never need to know.
        /// Nothing where there is to be none.
        headers: Option<Arc<HeaderMap>>,
        /// Whether the client can come back for a stream that was closed before its first message.
        polls: bool,
    },
    /// Into a stream of their own or nowhere.
    Modern { takes_events: bool, listens: bool, principal: Arc<str>, shared: Arc<Shared> },
}

impl Delivery {
    /// Into the session's stream, for who gets no stream of its own.
    pub(super) fn session(channel: &Arc<Channel>) -> Self {
        Self::Legacy { channel: channel.clone(), headers: None, polls: false }
    }

    fn takes_events(&self) -> bool {
        match self {
            Self::Legacy { headers, .. } => headers.as_ref().is_some_and(|headers| answer::accepts_events(headers)),
            Self::Modern { takes_events, .. } => *takes_events,
        }
    }
}

pub(super) struct ResponseSink {
    way: Delivery,
    pub(super) cancel: CancellationToken,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    log: Option<Arc<EventLog>>,
    /// Who answers the HTTP request.
    waker: Option<Waker>,
    answered: bool,
    interrupted: bool,
}

/// What happened to a request that is not answered yet.
pub(super) enum SinkEvent {
    /// The answer became a stream.
    Streaming(Arc<EventLog>),
    /// The client cancelled it.
    Interrupted,
}

impl ResponseSink {
    pub(super) fn new(way: Delivery) -> Arc<Self> {
        Arc::new(Self { way, cancel: CancellationToken::new(), state: Mutex::default() })
    }

    /// The stream of this answer, made at first use; `None` where there can be none (any more).
    fn log(&self) -> Option<Arc<EventLog>> {
        let mut state = self.state.lock();
        if state.log.is_none() && !state.answered && !state.interrupted {
            state.log = self.way.takes_events().then(|| match &self.way {
                Delivery::Legacy { channel, .. } => channel.new_log(),
                Delivery::Modern { listens, principal, shared, .. } => {
                    let kind = Kind { resumable: false, lasts: *listens };
                    EventLog::new(0, kind, shared.options.log, shared.memory.account(principal), Weak::new())
                }
            });
            if state.log.is_some()
                && let Some(waker) = state.waker.take()
            {
                waker.wake();
            }
        }
        state.log.clone()
    }

    fn send(&self, message: &Bytes) -> Result<(), SendError> {
        match (self.log(), &self.way) {
            (Some(log), _) => log.push(message),
            (None, Delivery::Legacy { channel, .. }) => channel.main.push(message),
            (None, Delivery::Modern { .. }) => Err(SendError::Closed),
        }
    }

    /// Waits for news other than the answer. `streaming` says whether the beginning of a stream is news.
    pub(super) fn poll_news(&self, cx: &mut Context<'_>, streaming: bool) -> Poll<SinkEvent> {
        let mut state = self.state.lock();
        if state.interrupted {
            return Poll::Ready(SinkEvent::Interrupted);
        }
        if streaming && let Some(log) = &state.log {
            return Poll::Ready(SinkEvent::Streaming(log.clone()));
        }
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            state.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.state.lock().interrupted
    }

    /// The client cancelled the request.
    pub(super) fn interrupt(&self) {
        let waker = {
            let mut state = self.state.lock();
            state.interrupted = true;
            state.waker.take()
        };
        self.cancel.cancel();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// An answer that is no stream, counted until it is written.
    pub(super) fn while_unwritten(&self, answer: Bytes) -> Bytes {
        match &self.way {
            Delivery::Legacy { channel, .. } => channel.account().while_unwritten(answer, false),
            Delivery::Modern { principal, shared, .. } => {
                shared.memory.account(principal).while_unwritten(answer, false)
            }
        }
    }

    /// The request has its answer, or will get none. Gives the stream that the answer belongs into, if there is one.
    pub(super) fn conclude(&self) -> Option<Arc<EventLog>> {
        let mut state = self.state.lock();
        state.answered = true;
        state.log.clone()
    }
}

impl Remote for ResponseSink {
    fn request(&self, call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        match &self.way {
            Delivery::Legacy { channel, .. } => Box::pin(channel.asking.ask(call, |message| self.send(message))),
            Delivery::Modern { .. } => Box::pin(async { Err(CallError::NotAllowed) }),
        }
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        self.send(&Message::from(notification).encode())
    }

    fn can_request(&self) -> bool {
        match &self.way {
            Delivery::Legacy { channel, .. } => !channel.main.is_finished(),
            Delivery::Modern { .. } => false,
        }
    }

    fn backlog(&self) -> usize {
        let log = self.state.lock().log.clone();
        match (log, &self.way) {
            (Some(log), _) => log.unread_bytes(),
            (None, Delivery::Legacy { channel, .. }) if !self.way.takes_events() => channel.main.unread_bytes(),
            (None, _) => 0,
        }
    }

    fn close_stream(&self) {
        if matches!(&self.way, Delivery::Legacy { polls: true, .. })
            && let Some(log) = self.log()
        {
            log.close_reader();
        }
    }
}
