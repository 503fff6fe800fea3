//! What is open in this process: callbacks that wait for an answer, and confirmed calls whose servers want more.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_store::Digest;
use switchboard_wire::Raw;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Questions that may be open in this process, and calls that may be remembered in the middle.
pub(crate) const MAX_OPEN_QUESTIONS: usize = 1_024;
/// How long it is known that a held call has ended: longer than one can be decided, and than a yes for once is good.
const CLOSED_FOR: Duration = Duration::from_mins(15);
/// Ended calls that are known, at most.
const MAX_CLOSED: usize = 8 * MAX_OPEN_QUESTIONS;

/// A question about a call that was put to a client by callback.
struct Callback {
    asked: AskedAbout,
    /// The question as the client got it.
    shown: Raw,
    answer: oneshot::Sender<String>,
}

/// The call that a question is about.
#[derive(Debug, Clone)]
pub struct AskedAbout {
    /// Whose call it is.
    pub principal: Arc<str>,
    /// The server that it goes to.
    pub server: Arc<str>,
    /// The tool as the server calls it, and as the client called it; none for what is no tool.
    pub tool: Option<(Arc<str>, Arc<str>)>,
}

/// What is open in this process.
#[derive(Default)]
pub struct PendingConfirmations {
    /// Callbacks by id.
    callbacks: Mutex<HashMap<String, Callback>>,
    /// Confirmed calls whose servers want more input: they come back with the server's state, and are not asked about
    /// a second time.
    midway: Mutex<HashMap<Digest, Instant>>,
    /// Held calls that have ended without being made, by approval: the store may not know of it yet.
    closed: Mutex<HashMap<String, Instant>>,
}

impl std::fmt::Debug for PendingConfirmations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingConfirmations").finish_non_exhaustive()
    }
}

impl PendingConfirmations {
    /// The call that a callback is about.
    pub fn asked_about(&self, callback: &str) -> Option<AskedAbout> {
        self.callbacks.lock().get(callback).map(|callback| callback.asked.clone())
    }

    /// Takes the answer to a callback; `false` if nobody waits for it any more. Whether who answers may decide is for
    /// the caller to know.
    pub fn answer(&self, callback: &str, answer: String) -> bool {
        let waiting = self.callbacks.lock().remove(callback);
        waiting.is_some_and(|waiting| waiting.answer.send(answer).is_ok())
    }

    /// The callbacks that wait for a principal, by id, as it got them.
    pub fn open_for(&self, principal: &str) -> Vec<(String, Raw)> {
        let callbacks = self.callbacks.lock();
        let open = callbacks.iter().filter(|(_, waiting)| *waiting.asked.principal == *principal);
        let open = open.filter(|(_, waiting)| !waiting.answer.is_closed());
        open.map(|(id, waiting)| (id.clone(), waiting.shown.clone())).collect()
    }

    /// Waits for the answer to a callback; `None` where too many wait.
    pub(crate) fn expect(&self, callback: &str, asked: AskedAbout, shown: Raw) -> Option<oneshot::Receiver<String>> {
        let (sender, answer) = oneshot::channel();
        let mut callbacks = self.callbacks.lock();
        callbacks.retain(|_, waiting| !waiting.answer.is_closed());
        if callbacks.len() >= MAX_OPEN_QUESTIONS {
            return None;
        }
        callbacks.insert(callback.to_owned(), Callback { asked, shown, answer: sender });
        Some(answer)
    }

    /// Nobody passes by this approval any more, whatever the store says of it.
    pub(crate) fn close(&self, approval: &str) {
        let mut closed = self.closed.lock();
        let now = Instant::now();
        closed.retain(|_, until| *until > now);
        if closed.len() < MAX_CLOSED {
            closed.insert(approval.to_owned(), now + CLOSED_FOR);
        }
    }

    pub(crate) fn is_closed(&self, approval: &str) -> bool {
        self.closed.lock().contains_key(approval)
    }

    pub(crate) fn remember(&self, call: Digest) {
        let mut midway = self.midway.lock();
        let now = Instant::now();
        midway.retain(|_, until| *until > now);
        if midway.len() < MAX_OPEN_QUESTIONS {
            midway.insert(call, now + Duration::from_secs(600));
        }
    }

    pub(crate) fn recall(&self, call: &Digest) -> bool {
        self.midway.lock().remove(call).is_some_and(|until| until > Instant::now())
    }
}
