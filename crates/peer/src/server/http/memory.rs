//! One bound on the memory of all streams and bodies together, shared fairly between principals.
//!
//! Each stream has bounds of its own, and so has each body; but there may be thousands of them. What they hold together is
//! counted here. No principal gets more than half of it, so that one that lets everything stand leaves room for the others.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use bytes::Bytes;
use parking_lot::Mutex;
use switchboard_transport::http_server::Room;

/// Principals with nothing in memory whose accounts may wait to be forgotten.
const MAX_STALE_ACCOUNTS: usize = 1024;

/// Shorter answers are not counted while they are written: what a connection has to write is bounded by itself.
const MIN_COUNTED: usize = 32 << 10;

/// What all streams and bodies hold.
pub(super) struct Memory {
    most: usize,
    used: AtomicUsize,
    /// What of answers was given to connections and is not written yet.
    unwritten: AtomicUsize,
    accounts: Mutex<HashMap<Arc<str>, Weak<Share>>>,
}

/// What those of one principal hold.
#[derive(Default)]
struct Share {
    used: AtomicUsize,
    unwritten: AtomicUsize,
}

/// A part of an answer that a connection has to write. It is counted until that has happened, or the connection has gone.
struct Unwritten {
    bytes: Bytes,
    account: Account,
    /// What is counted of it among all that is held, where nobody else counts it.
    used: usize,
}

impl AsRef<[u8]> for Unwritten {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        let Account { memory, share } = &self.account;
        share.unwritten.fetch_sub(self.bytes.len(), Ordering::Relaxed);
        memory.unwritten.fetch_sub(self.bytes.len(), Ordering::Relaxed);
        self.account.give_back(self.used);
    }
}

impl Memory {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, used: AtomicUsize::new(0), unwritten: AtomicUsize::new(0), accounts: Mutex::default() })
    }

    /// The account of a principal.
    pub(super) fn account(self: &Arc<Self>, principal: &Arc<str>) -> Account {
        let mut accounts = self.accounts.lock();
        let known = accounts.get(principal).and_then(Weak::upgrade);
        let share = known.unwrap_or_else(|| {
            if accounts.len() >= MAX_STALE_ACCOUNTS {
                accounts.retain(|_, share| share.strong_count() > 0);
            }
            let share = Arc::new(Share::default());
            accounts.insert(principal.clone(), Arc::downgrade(&share));
            share
        });
        drop(accounts);
        Account { memory: self.clone(), share }
    }

    /// What is held now.
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether anybody may have more answers before them than they read.
    pub(super) fn may_be_crowded(&self) -> bool {
        self.unwritten.load(Ordering::Relaxed) > self.most / 2
    }

    /// Whether so much is held that nothing should be kept for those who might come back.
    pub(super) fn is_tight(&self) -> bool {
        self.used() > self.most / 2
    }
}

/// The memory of one principal's streams and bodies.
#[derive(Clone)]
pub(super) struct Account {
    memory: Arc<Memory>,
    share: Arc<Share>,
}

impl Account {
    /// Takes memory even where there is none left: what must not be lost.
    pub(super) fn take_always(&self, bytes: usize) {
        self.share.used.fetch_add(bytes, Ordering::Relaxed);
        self.memory.used.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether so much of answers waits to be written that no new request should be begun: no answer is ever thrown away.
    pub(super) fn is_crowded(&self) -> bool {
        self.share.unwritten.load(Ordering::Relaxed) > self.memory.most / 2
            || self.memory.unwritten.load(Ordering::Relaxed) > self.memory.most
    }

    /// Counts a part of an answer that is given to a connection, until that has written it. `is_kept` says that it is counted
    /// as well where it came from, and stays there.
    pub(super) fn while_unwritten(&self, bytes: Bytes, is_kept: bool) -> Bytes {
        if bytes.len() < MIN_COUNTED {
            return bytes;
        }
        self.share.unwritten.fetch_add(bytes.len(), Ordering::Relaxed);
        self.memory.unwritten.fetch_add(bytes.len(), Ordering::Relaxed);
        let used = if is_kept { 0 } else { bytes.len() };
        self.take_always(used);
        Bytes::from_owner(Unwritten { bytes, account: self.clone(), used })
    }

    pub(super) fn is_tight(&self) -> bool {
        self.memory.is_tight() || self.share.used.load(Ordering::Relaxed) > self.memory.most / 4
    }
}

impl Room for Account {
    fn take(&self, bytes: usize) -> bool {
        let own = self.share.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let all = self.memory.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let room = own <= self.memory.most / 2 && all <= self.memory.most;
        if !room {
            self.give_back(bytes);
        }
        room
    }

    fn give_back(&self, bytes: usize) {
        self.share.used.fetch_sub(bytes, Ordering::Relaxed);
        self.memory.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_principal_leaves_room_for_the_others() {
        let memory = Memory::new(100);
        let [ann, bob, eve] = ["ann", "bob", "eve"].map(|name| memory.account(&name.into()));
        assert!(ann.take(50) && !ann.take(1), "half of it");
        assert!(!memory.account(&"ann".into()).take(1), "by whichever way it comes");
        assert!(bob.take(30) && eve.take(20) && !eve.take(1), "and all of it together");
        ann.give_back(10);
        assert!(eve.take(10) && memory.used() == 100);
        ann.take_always(7);
        assert_eq!(memory.used(), 107);
    }

    #[test]
    fn an_answer_counts_until_it_is_written() {
        let memory = Memory::new(4 * MIN_COUNTED);
        let (ann, bob) = (memory.account(&"ann".into()), memory.account(&"bob".into()));
        assert_eq!(ann.while_unwritten(Bytes::from(vec![b'x'; 10]), false), "xxxxxxxxxx");
        let answer = || Bytes::from(vec![b'x'; MIN_COUNTED]);
        let mut held: Vec<_> = (0..2).map(|_| ann.while_unwritten(answer(), false)).collect();
        assert!(!ann.is_crowded() && !memory.may_be_crowded());
        held.push(ann.while_unwritten(answer(), true));
        assert!(ann.is_crowded() && !bob.is_crowded() && memory.may_be_crowded(), "more than half of it");
        assert_eq!(memory.used(), 2 * MIN_COUNTED, "what its stream keeps is counted there");
        let part = held[0].slice(..10);
        held.clear();
        assert!(!ann.is_crowded() && memory.used() == MIN_COUNTED, "a part of it holds all of it");
        drop(part);
        assert_eq!(memory.used(), 0);
        let all: Vec<_> = (0..5).map(|_| bob.while_unwritten(answer(), false)).collect();
        assert!(ann.is_crowded(), "all together hold too much");
        drop(all);
        assert!(!ann.is_crowded());
    }

    #[test]
    fn accounts_of_principals_that_hold_nothing_are_forgotten() {
        let memory = Memory::new(100);
        for number in 0..3 * MAX_STALE_ACCOUNTS {
            assert!(memory.account(&number.to_string().into()).take(0));
        }
        assert!(memory.accounts.lock().len() <= MAX_STALE_ACCOUNTS);
    }
}
