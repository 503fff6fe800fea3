//! The way to a legacy client: its streams, and the requests it was asked.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use switchboard_wire::{Message, Notification};

use super::asking::Asking;
use super::log::{EventLog, Kind};
use super::memory::Account;
use super::{HttpOptions, LogLimits};
use crate::{BoxFuture, Call, CallError, Remote, Reply, SendError};

pub(super) struct Channel {
    /// The stream of what belongs to no request.
    pub(super) main: Arc<EventLog>,
    pub(super) asking: Asking,
    /// Streams of requests, oldest first: those that run, and some that ended.
    logs: Mutex<VecDeque<Arc<EventLog>>>,
    next_log: AtomicU64,
    limits: LogLimits,
    kept: usize,
    account: Account,
    me: Weak<Self>,
}

impl Channel {
    /// `resumable` is false for HTTP+SSE, whose events have no ids.
    pub(super) fn new(options: &HttpOptions, resumable: bool, account: Account) -> Arc<Self> {
        // Most clients never open this stream, so what waits for them is kept small.
        let waiting = LogLimits { events: (options.log.events / 4).max(1), bytes: options.log.bytes / 4 };
        Arc::new_cyclic(|me| Self {
            main: EventLog::new(0, Kind { resumable, lasts: true }, waiting, account.clone(), Weak::new()),
            asking: Asking::default(),
            logs: Mutex::default(),
            next_log: AtomicU64::new(1),
            limits: options.log,
            kept: options.kept_streams,
            account,
            me: me.clone(),
        })
    }

    /// The account of its principal.
    pub(super) const fn account(&self) -> &Account {
        &self.account
    }

    /// A new stream for the answer to one request.
    pub(super) fn new_log(&self) -> Arc<EventLog> {
        let number = self.next_log.fetch_add(1, Ordering::Relaxed);
        let kind = Kind { resumable: true, lasts: false };
        let log = EventLog::new(number, kind, self.limits, self.account.clone(), self.me.clone());
        self.logs.lock().push_back(log.clone());
        log
    }

    /// Drops the oldest ended streams: those that run are bounded by the requests that run. Where memory is short none is
    /// kept for a client that might come back.
    pub(super) fn trim(&self) {
        let kept = if self.account.is_tight() { 0 } else { self.kept };
        let mut logs = self.logs.lock();
        let mut dropped = Vec::new();
        let ended = logs.iter().filter(|log| log.is_finished());
        let (mut count, mut bytes) = ended.fold((0, 0), |(count, bytes), log| (count + 1, bytes + log.bytes()));
        logs.retain(|log| {
            let excess = count > kept || bytes > self.limits.bytes.saturating_mul(2);
            let drop = excess && log.is_finished() && !log.is_attached();
            if drop {
                count -= 1;
                bytes = bytes.saturating_sub(log.bytes());
                dropped.push(log.clone());
            }
            !drop
        });
        logs.shrink_to(64);
        // Giving back much memory takes its time.
        drop(logs);
    }

    /// The stream that an event id names, and the number of the event in it.
    pub(super) fn find(&self, event_id: &str) -> Option<(Arc<EventLog>, u64)> {
        let (log, number) = event_id.split_once('-')?;
        let (log, number) = (log.parse::<u64>().ok()?, number.parse().ok()?);
        if log == 0 {
            return Some((self.main.clone(), number));
        }
        Some((self.logs.lock().iter().find(|found| found.id == log)?.clone(), number))
    }

    /// Drops every ended stream that nobody reads, and what was read of the session's own.
    pub(super) fn forget_ended(&self) {
        self.main.forget_read();
        let mut logs = self.logs.lock();
        logs.retain(|log| !log.is_finished() || log.is_attached());
        logs.shrink_to_fit();
    }

    pub(super) fn has_open_stream(&self) -> bool {
        self.main.is_attached() || self.logs.lock().iter().any(|log| log.is_attached())
    }

    /// Ends all streams and all waiting.
    pub(super) fn close(&self) {
        self.asking.close();
        self.main.finish();
        // Not while they are held: each tells us that it has ended.
        let logs: Vec<_> = self.logs.lock().drain(..).collect();
        for log in logs {
            log.finish();
        }
    }
}

/// Sends what belongs to no request of the client.
pub(super) struct SessionRemote(pub(super) Arc<Channel>);

impl Remote for SessionRemote {
    fn request(&self, call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(self.0.asking.ask(call, |message| self.0.main.push(message)))
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        self.0.main.push(&Message::from(notification).encode())
    }

    fn can_request(&self) -> bool {
        !self.0.main.is_finished()
    }
}
