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
const MAX_OPEN_CALLS: usize = 65_536;
/// Calls that nobody waits for any more and that have no answer yet, as far as they are told apart.
const MAX_ABANDONED: usize = 4_096;

#[derive(Default)]
pub(super) struct Pending {
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    open: HashMap<u64, Waiting>,
    /// Calls that were given up, with their owners. The far side may still work on them, and ask about them.
    abandoned: HashMap<u64, u64>,
    /// There were more of those than are kept.
    crowded: bool,
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
        let room = calls.open.len() < MAX_OPEN_CALLS;
        if room {
            calls.open.insert(id, waiting);
        }
        room
    }

    /// Takes a call away that nobody waits for any more. Where the far side heard of it, its work may go on.
    pub(super) fn remove(&self, id: u64, heard: bool) {
        let calls = &mut *self.calls.lock();
        let Some(waiting) = calls.open.remove(&id) else { return };
        if !heard || waiting.related.is_none() {
            return;
        }
        if calls.abandoned.len() < MAX_ABANDONED {
            calls.abandoned.insert(id, waiting.owner);
        } else {
            calls.crowded = true;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.calls.lock().open.len()
    }

    /// The owners of calls that were given up and have no answer yet; nothing where these are too many to tell.
    pub(super) fn abandoned(&self) -> Option<Vec<u64>> {
        let calls = self.calls.lock();
        (!calls.crowded).then(|| calls.abandoned.values().copied().collect())
    }

    /// The owners of the calls that are open now and about which something may be asked.
    pub(super) fn owners(&self) -> Arc<[u64]> {
        let calls = self.calls.lock();
        let mut owners: Vec<u64> =
            calls.open.values().filter(|waiting| waiting.related.is_some()).map(|waiting| waiting.owner).collect();
        owners.sort_unstable();
        owners.dedup();
        owners.into()
    }

    /// Gives a call its answer; `false` where nobody waits for it.
    pub(super) fn answer(&self, id: u64, reply: Result<Reply, CallError>) -> bool {
        let waiting = {
            let calls = &mut *self.calls.lock();
            if !calls.abandoned.is_empty() {
                calls.abandoned.remove(&id);
            }
            calls.open.remove(&id)
        };
        waiting.is_some_and(|waiting| waiting.answer.send(reply).is_ok())
    }

    /// Notes progress on a call; answers the caller's own token and who takes the notification.
    pub(super) fn progress(&self, id: u64) -> Option<(Raw, Option<Arc<dyn Handler>>)> {
        let calls = self.calls.lock();
        let waiting = calls.open.get(&id)?;
        waiting.alive.touch();
        Some((waiting.token.clone()?, waiting.related.clone()))
    }

    /// Notes a sign of life of a call that a message names; answers who takes the message. For the time of `asks` it
    /// is not the far side that is silent.
    pub(super) fn named(&self, id: u64, asks: Duration) -> Option<Option<Arc<dyn Handler>>> {
        let calls = self.calls.lock();
        let waiting = calls.open.get(&id)?;
        waiting.alive.touch_until(asks);
        Some(waiting.related.clone())
    }

    /// Who takes a message that names no call: the newest open call, while all calls that it may be about have one owner.
    /// With several owners nobody can say whose it is, and a guess could show one client's data to another.
    pub(super) fn only_owner(&self) -> Option<Arc<dyn Handler>> {
        self.calls.lock().only_owner()
    }

    /// The same for a question, with what keeps the owner's calls alive until it is answered.
    pub(super) fn asked(&self) -> Option<(Arc<dyn Handler>, Thinking)> {
        let calls = self.calls.lock();
        let handler = calls.only_owner()?;
        let asking = calls.open.values().filter(|waiting| waiting.related.is_some());
        Some((handler, Thinking::new(asking.map(|waiting| waiting.alive.clone()).collect())))
    }
}

impl Calls {
    fn only_owner(&self) -> Option<Arc<dyn Handler>> {
        let asking = || self.open.values().filter(|waiting| waiting.related.is_some());
        let newest = asking().max_by_key(|waiting| waiting.order)?;
        let alone = asking().all(|waiting| waiting.owner == newest.owner)
            && self.abandoned.values().all(|owner| *owner == newest.owner)
            && !self.crowded;
        if alone { newest.related.clone() } else { None }
    }
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
