//! The calls that run on a server: whose they are, and when the last one has ended.
//!
//! What a server sends without naming a call can be given to somebody only while there is no doubt for whom it is.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_peer::Handler;
use tokio::sync::Notify;

/// The calls that run.
#[derive(Default)]
pub(crate) struct Using {
    calls: Mutex<Calls>,
    idle: Notify,
}

#[derive(Default)]
struct Calls {
    open: HashMap<u64, User>,
    next: u64,
}

/// Who made a call, and who takes what the server sends about it.
pub(crate) struct User {
    pub(crate) owner: u64,
    pub(crate) principal: Arc<str>,
    /// Whether the call takes the connection that all clients share.
    pub(crate) shared: bool,
    pub(crate) related: Arc<dyn Handler>,
}

/// Whose a message that names no call can be.
pub(crate) enum Whose {
    /// No call runs on the shared connection.
    Nobodys,
    /// All calls on it have one owner: the newest speaks for it.
    Owners(Arc<dyn Handler>),
    /// Several owners have calls on it.
    Doubtful,
}

impl Using {
    /// Notes a call until the ticket is dropped.
    pub(crate) fn begin(self: &Arc<Self>, user: User) -> Ticket {
        let mut calls = self.calls.lock();
        let key = calls.next;
        calls.next += 1;
        calls.open.insert(key, user);
        Ticket { using: self.clone(), key }
    }

    /// Whose a message on the shared connection can be.
    pub(crate) fn whose(&self) -> Whose {
        let calls = self.calls.lock();
        let shared = || calls.open.iter().filter(|(_, user)| user.shared);
        match shared().max_by_key(|(key, _)| **key) {
            None => Whose::Nobodys,
            Some((_, newest)) if shared().all(|(_, user)| user.owner == newest.owner) => {
                Whose::Owners(newest.related.clone())
            }
            Some(_) => Whose::Doubtful,
        }
    }

    /// The newest call that an owner has on its own connection.
    pub(crate) fn newest_of(&self, owner: u64) -> Option<Arc<dyn Handler>> {
        let calls = self.calls.lock();
        let mine = calls.open.iter().filter(|(_, user)| !user.shared && user.owner == owner);
        mine.max_by_key(|(key, _)| **key).map(|(_, user)| user.related.clone())
    }

    /// Whether all calls on the shared connection are made for one principal.
    pub(crate) fn only_for(&self, principal: &str) -> bool {
        self.calls.lock().open.values().filter(|user| user.shared).all(|user| &*user.principal == principal)
    }

    /// Waits until no call runs.
    pub(crate) async fn idle(&self) {
        loop {
            let ended = self.idle.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            if self.calls.lock().open.is_empty() {
                return;
            }
            ended.await;
        }
    }
}

/// Stands for a call that runs.
pub(crate) struct Ticket {
    using: Arc<Using>,
    key: u64,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut calls = self.using.calls.lock();
        let user = calls.open.remove(&self.key);
        let idle = calls.open.is_empty();
        drop(calls);
        // Whatever hangs on the call ends outside the lock.
        drop(user);
        if idle {
            self.using.idle.notify_waiters();
        }
    }
}
