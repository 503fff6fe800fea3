//! Events that wait to be written to the store, and how their writer is woken.
//!
//! Many add, one takes. What is added lies here until the writer comes by, which is soon; where too much lies here, who
//! adds waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_store::Prepared;
use tokio::sync::{Notify, oneshot};

use crate::gate::journal::Line;

/// Events that may wait. Who comes later waits.
const MOST: usize = 8_192;
/// Events for which the writer comes at once.
const MANY: usize = 4_096;

/// An event on its way to the store.
pub(super) struct Waiting {
    pub(super) event: Prepared,
    /// The call that it ends.
    pub(super) ends: Option<u64>,
    /// Where it stands in the journal.
    pub(super) line: Option<Line>,
}

/// What the writer takes at once.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) events: Vec<Waiting>,
    /// Who waits until all that was there is written.
    pub(super) flushes: Vec<oneshot::Sender<()>>,
    /// Nobody adds anything any more.
    pub(super) closed: bool,
}

#[derive(Default)]
pub(super) struct Pile {
    waiting: Mutex<Taken>,
    /// The writer sleeps until there is something.
    asleep: AtomicBool,
    wake: Notify,
    room: Notify,
}

impl Pile {
    /// Adds an event; gives it back where too many wait.
    pub(super) fn try_add(&self, event: Waiting) -> Result<(), Waiting> {
        let mut waiting = self.waiting.lock();
        if waiting.events.len() >= MOST {
            return Err(event);
        }
        waiting.events.push(event);
        let many = waiting.events.len() == MANY;
        drop(waiting);
        if many {
            self.wake.notify_one();
        }
        self.stir();
        Ok(())
    }

    /// Adds an event, as soon as there is room.
    pub(super) async fn add(&self, mut event: Waiting) {
        loop {
            let room = self.room.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            match self.try_add(event) {
                Ok(()) => return,
                Err(back) => event = back,
            }
            room.await;
        }
    }

    /// There is something for the writer, here or elsewhere.
    pub(super) fn stir(&self) {
        // Whoever is awake looks again before it sleeps.
        if self.asleep.load(Ordering::Relaxed) && self.asleep.swap(false, Ordering::AcqRel) {
            self.wake.notify_one();
        }
    }

    /// Waits until what lies here now is written.
    pub(super) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        self.waiting.lock().flushes.push(done);
        self.wake.notify_one();
        let _ = written.await;
    }

    /// Nobody adds anything any more.
    pub(super) fn close(&self) {
        self.waiting.lock().closed = true;
        self.wake.notify_one();
    }

    /// Sleeps until there is something here, or `elsewhere`.
    pub(super) async fn something(&self, elsewhere: impl Fn() -> bool) {
        loop {
            // In this order: who puts something here and finds the writer awake knows that it looks again.
            self.asleep.store(true, Ordering::Release);
            if !self.is_empty() || elsewhere() {
                self.asleep.store(false, Ordering::Release);
                return;
            }
            self.wake.notified().await;
        }
    }

    /// Waits for a while, less if somebody is in a hurry.
    pub(super) async fn gather(&self, pause: Duration) {
        if !self.is_urgent() {
            let _ = tokio::time::timeout(pause, self.wake.notified()).await;
        }
    }

    /// Takes all of it.
    pub(super) fn take(&self, room_for: usize) -> Taken {
        let fresh = Taken { events: Vec::with_capacity(room_for), ..Taken::default() };
        let mut waiting = self.waiting.lock();
        let closed = waiting.closed;
        let taken = std::mem::replace(&mut *waiting, Taken { closed, ..fresh });
        drop(waiting);
        self.room.notify_waiters();
        taken
    }

    fn is_empty(&self) -> bool {
        let waiting = self.waiting.lock();
        waiting.events.is_empty() && waiting.flushes.is_empty() && !waiting.closed
    }

    fn is_urgent(&self) -> bool {
        let waiting = self.waiting.lock();
        waiting.events.len() >= MANY || !waiting.flushes.is_empty() || waiting.closed
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use switchboard_store::{Location, Options, Store};

    use super::*;
    use crate::gate::audit::{event_of, kernel, result};

    async fn waiting() -> (tempfile::TempDir, impl Fn(u64) -> Waiting) {
        let directory = tempfile::tempdir().unwrap();
        let location = Location::File(directory.path().join("store.db"));
        let store = Store::open(&location, Options::default()).await.unwrap();
        let event = event_of("com.example.event", kernel(), result::SUCCESS);
        (directory, move |call| Waiting { event: store.audit().prepare(&event).unwrap(), ends: Some(call), line: None })
    }

    #[tokio::test]
    async fn who_adds_too_much_waits_until_there_is_room() {
        let (_directory, waiting) = waiting().await;
        let pile = Arc::new(Pile::default());
        for call in 0..MOST as u64 {
            assert!(pile.try_add(waiting(call)).is_ok());
        }
        assert!(pile.try_add(waiting(0)).is_err(), "full");
        let (adding, last) = (pile.clone(), waiting(MOST as u64));
        let adding = tokio::spawn(async move { adding.add(last).await });
        tokio::task::yield_now().await;
        assert!(!adding.is_finished());
        assert_eq!(pile.take(0).events.len(), MOST);
        adding.await.unwrap();
        assert_eq!(pile.take(0).events.iter().map(|one| one.ends).collect::<Vec<_>>(), [Some(MOST as u64)]);
    }

    /// Whatever there is to do, and whenever it comes: the writer is not left asleep.
    #[tokio::test]
    async fn the_writer_wakes_for_an_event_a_flush_a_close_and_for_work_elsewhere() {
        let (_directory, waiting) = waiting().await;
        let elsewhere = Arc::new(AtomicBool::new(false));
        let wakers: [&dyn Fn(&Pile); 4] = [
            &|pile| assert!(pile.try_add(waiting(1)).is_ok()),
            &|pile| {
                pile.waiting.lock().flushes.push(oneshot::channel().0);
                pile.wake.notify_one();
            },
            &Pile::close,
            &|pile| {
                elsewhere.store(true, Ordering::Relaxed);
                pile.stir();
            },
        ];
        for wake in wakers {
            let pile = Arc::new(Pile::default());
            let (sleeping, there_is) = (pile.clone(), elsewhere.clone());
            let sleeping = tokio::spawn(async move { sleeping.something(|| there_is.load(Ordering::Relaxed)).await });
            tokio::task::yield_now().await;
            assert!(!sleeping.is_finished());
            wake(&pile);
            tokio::time::timeout(Duration::from_secs(10), sleeping).await.expect("it wakes").unwrap();
        }
    }
}
