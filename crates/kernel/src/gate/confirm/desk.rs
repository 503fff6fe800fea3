//! What is open in this process: callbacks that wait for an answer, and confirmed calls whose servers want more.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_store::Digest;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::MOST;

/// Whose question it is, and who waits for the answer.
type Callback = (Arc<str>, oneshot::Sender<String>);

/// What is open in this process.
#[derive(Default)]
pub(crate) struct Desk {
    /// Callbacks by id.
    callbacks: Mutex<HashMap<String, Callback>>,
    /// Confirmed calls whose servers want more input: they come back with the server's state, and are not asked about
    /// a second time.
    midway: Mutex<HashMap<Digest, Instant>>,
}

impl Desk {
    /// Takes the answer to a callback; `false` if this principal was not asked that.
    pub(crate) fn answer(&self, callback: &str, principal: &str, answer: String) -> bool {
        let mut callbacks = self.callbacks.lock();
        let own = callbacks.get(callback).is_some_and(|(whose, _)| &**whose == principal);
        let waiting = if own { callbacks.remove(callback) } else { None };
        waiting.is_some_and(|(_, waiting)| waiting.send(answer).is_ok())
    }

    /// Waits for the answer of a principal to a callback; `None` where too many wait.
    pub(super) fn expect(&self, callback: &str, principal: &Arc<str>) -> Option<oneshot::Receiver<String>> {
        let (sender, answer) = oneshot::channel();
        let mut callbacks = self.callbacks.lock();
        callbacks.retain(|_, (_, waiting)| !waiting.is_closed());
        if callbacks.len() >= MOST {
            return None;
        }
        callbacks.insert(callback.to_owned(), (principal.clone(), sender));
        Some(answer)
    }

    pub(super) fn remember(&self, call: Digest) {
        let mut midway = self.midway.lock();
        let now = Instant::now();
        midway.retain(|_, until| *until > now);
        if midway.len() < MOST {
            midway.insert(call, now + Duration::from_secs(600));
        }
    }

    pub(super) fn recall(&self, call: &Digest) -> bool {
        self.midway.lock().remove(call).is_some_and(|until| until > Instant::now())
    }
}
