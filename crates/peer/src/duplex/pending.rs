//! The calls that wait for an answer.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_wire::Raw;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::{CallError, Handler, Reply};

/// More open calls than this on one connection are refused.
const MOST: usize = 65_536;

#[derive(Default)]
pub(super) struct Pending {
    calls: Mutex<HashMap<u64, Waiting>>,
}

/// One call that waits.
pub(super) struct Waiting {
    answer: oneshot::Sender<Result<Reply, CallError>>,
    related: Option<Arc<dyn Handler>>,
    owner: u64,
    /// Its place in the order of calls.
    order: u64,
    /// The token the caller chose for progress; on the wire stands the call's id instead.
    token: Option<Raw>,
    pub(super) alive: Arc<Alive>,
}

/// When the far side last gave a sign of life about a call.
#[derive(Default)]
pub(super) struct Alive {
    /// Milliseconds after the call began.
    last: AtomicU64,
    began: std::sync::OnceLock<Instant>,
    /// Questions of the far side that wait for our answer: for that long, it is not the far side that is silent.
    questions: AtomicUsize,
}

impl Alive {
    /// How long after `started` the last sign of life came; zero without one.
    pub(super) fn since(&self, started: Instant) -> Duration {
        let _ = self.began.set(started);
        if self.questions.load(Ordering::Relaxed) > 0 {
            self.touch();
        }
        Duration::from_millis(self.last.load(Ordering::Relaxed))
    }

    fn touch(&self) {
        self.touch_until(Duration::ZERO);
    }

    /// A sign of life that is good for some time.
    fn touch_until(&self, more: Duration) {
        if let Some(began) = self.began.get() {
            let after = u64::try_from((began.elapsed() + more).as_millis()).unwrap_or(u64::MAX);
            self.last.fetch_max(after, Ordering::Relaxed);
        }
    }
}

impl Waiting {
    pub(super) fn new(
        related: Option<Arc<dyn Handler>>,
        (owner, order): (u64, u64),
        token: Option<Raw>,
    ) -> (Self, oneshot::Receiver<Result<Reply, CallError>>) {
        let (answer, receiver) = oneshot::channel();
        (Self { answer, related, owner, order, token, alive: Arc::default() }, receiver)
    }
}

impl Pending {
    pub(super) fn insert(&self, id: u64, waiting: Waiting) -> bool {
        let mut calls = self.calls.lock();
        let room = calls.len() < MOST;
        if room {
            calls.insert(id, waiting);
        }
        room
    }

    pub(super) fn remove(&self, id: u64) {
        self.calls.lock().remove(&id);
    }

    pub(super) fn len(&self) -> usize {
        self.calls.lock().len()
    }

    /// Gives a call its answer; `false` where nobody waits for it.
    pub(super) fn answer(&self, id: u64, reply: Result<Reply, CallError>) -> bool {
        let waiting = self.calls.lock().remove(&id);
        waiting.is_some_and(|waiting| waiting.answer.send(reply).is_ok())
    }

    /// Notes progress on a call; answers the caller's own token and who takes the notification.
    pub(super) fn progress(&self, id: u64) -> Option<(Raw, Option<Arc<dyn Handler>>)> {
        let calls = self.calls.lock();
        let waiting = calls.get(&id)?;
        waiting.alive.touch();
        Some((waiting.token.clone()?, waiting.related.clone()))
    }

    /// Notes a sign of life of a call that a message names; answers who takes the message. For the time of `asks` it
    /// is not the far side that is silent.
    pub(super) fn named(&self, id: u64, asks: Duration) -> Option<Option<Arc<dyn Handler>>> {
        let calls = self.calls.lock();
        let waiting = calls.get(&id)?;
        waiting.alive.touch_until(asks);
        Some(waiting.related.clone())
    }

    /// Who takes a message that names no call: the newest open call, while all of them have one owner. With several
    /// owners nobody can say whose it is, and a guess could show one client's data to another.
    pub(super) fn only_owner(&self) -> Option<Arc<dyn Handler>> {
        only_owner(&self.calls.lock())
    }

    /// The same for a question, with what keeps the owner's calls alive until it is answered.
    pub(super) fn asked(&self) -> Option<(Arc<dyn Handler>, Thinking)> {
        let calls = self.calls.lock();
        let handler = only_owner(&calls)?;
        let alive = calls.values().filter(|waiting| waiting.related.is_some()).map(|waiting| waiting.alive.clone());
        Some((handler, Thinking::new(alive.collect())))
    }
}

fn only_owner(calls: &HashMap<u64, Waiting>) -> Option<Arc<dyn Handler>> {
    let (_, newest) =
        calls.iter().filter(|(_, waiting)| waiting.related.is_some()).max_by_key(|(_, waiting)| waiting.order)?;
    let alone = calls.values().all(|waiting| waiting.related.is_none() || waiting.owner == newest.owner);
    if alone { newest.related.clone() } else { None }
}

/// Stands for a question of the far side that waits for our answer.
pub(super) struct Thinking(Vec<Arc<Alive>>);

impl Thinking {
    fn new(calls: Vec<Arc<Alive>>) -> Self {
        for alive in &calls {
            alive.questions.fetch_add(1, Ordering::Relaxed);
        }
        Self(calls)
    }
}

impl Drop for Thinking {
    fn drop(&mut self) {
        for alive in &self.0 {
            alive.touch();
            alive.questions.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
