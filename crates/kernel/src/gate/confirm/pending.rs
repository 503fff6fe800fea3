//! What is open in this process: callbacks that wait for an answer, and confirmed calls whose servers want more.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_store::Digest;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::MAX_OPEN_QUESTIONS;

/// A question about a call that was put to a client by callback.
struct Callback {
    asked: AskedAbout,
    answer: oneshot::Sender<String>,
}

/// The call that a question is about.
#[derive(Debug, Clone)]
pub(crate) struct AskedAbout {
    /// Whose call it is.
    pub(crate) principal: Arc<str>,
    pub(crate) server: Arc<str>,
    /// The tool as the server calls it, and as the client called it; none for what is no tool.
    pub(crate) tool: Option<(Arc<str>, Arc<str>)>,
}

/// What is open in this process.
#[derive(Default)]
pub(crate) struct PendingConfirmations {
    /// Callbacks by id.
    callbacks: Mutex<HashMap<String, Callback>>,
    /// Confirmed calls whose servers want more input: they come back with the server's state, and are not asked about
    /// a second time.
    midway: Mutex<HashMap<Digest, Instant>>,
}

impl PendingConfirmations {
    /// The call that a callback is about.
    pub(crate) fn asked_about(&self, callback: &str) -> Option<AskedAbout> {
        self.callbacks.lock().get(callback).map(|callback| callback.asked.clone())
    }

    /// Takes the answer to a callback; `false` if nobody waits for it any more. Whether who answers may decide is for
    /// the caller to know.
    pub(crate) fn answer(&self, callback: &str, answer: String) -> bool {
        let waiting = self.callbacks.lock().remove(callback);
        waiting.is_some_and(|waiting| waiting.answer.send(answer).is_ok())
    }

    /// Waits for the answer to a callback; `None` where too many wait.
    pub(super) fn expect(&self, callback: &str, asked: AskedAbout) -> Option<oneshot::Receiver<String>> {
        let (sender, answer) = oneshot::channel();
        let mut callbacks = self.callbacks.lock();
        callbacks.retain(|_, waiting| !waiting.answer.is_closed());
        if callbacks.len() >= MAX_OPEN_QUESTIONS {
            return None;
        }
        callbacks.insert(callback.to_owned(), Callback { asked, answer: sender });
        Some(answer)
    }

    pub(super) fn remember(&self, call: Digest) {
        let mut midway = self.midway.lock();
        let now = Instant::now();
        midway.retain(|_, until| *until > now);
        if midway.len() < MAX_OPEN_QUESTIONS {
            midway.insert(call, now + Duration::from_secs(600));
        }
    }

    pub(super) fn recall(&self, call: &Digest) -> bool {
        self.midway.lock().remove(call).is_some_and(|until| until > Instant::now())
    }
}
