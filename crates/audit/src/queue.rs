//! Events that wait to be written to the store, and how their writer is woken.
//!
//! Many add, one takes. What is added lies here until the writer comes by, which is soon; where too much lies here, who
//! adds waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_store::Prepared;
use tokio::sync::{Notify, oneshot};

use crate::journal::Line;

/// Events that may wait. Who comes later waits.
const MAX_WAITING: usize = 8_192;
/// Events for which the writer comes at once.
const WAKE_AT: usize = 4_096;

/// An event on its way to the store.
pub(super) struct Waiting {
    /// Its text; `None` where that is read from the journal when it is needed.
    pub(super) event: Option<Prepared>,
    pub(super) then: Then,
    /// Where it stands in the journal.
    pub(super) line: Option<Line>,
    /// The store was offered it when its log ended with this record, and may have it.
    pub(super) after: Option<u64>,
}

impl Waiting {
    /// The same, its text left to the journal where it stands there.
    pub(super) fn without_copy(self) -> Self {
        Self { event: self.event.filter(|_| self.line.is_none()), ..self }
    }
}

/// What becomes of an event once the store has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// The intent of this call is on record.
    Begun(u64),
    /// The outcome of this call is.
    Ended(u64),
    Nothing,
}

/// What the writer takes at once.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) events: Vec<Waiting>,
    /// Who waits until all that was there is written.
    pub(super) flushes: Vec<oneshot::Sender<()>>,
    /// Nobody adds anything any more.
    pub(super) closed: bool,
}

#[derive(Default)]
pub(super) struct AuditQueue {
    waiting: Mutex<Batch>,
    /// The writer sleeps until there is something.
    asleep: AtomicBool,
    wake: Notify,
    room: Notify,
}

impl AuditQueue {
    /// How many events wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.lock().events.len()
    }

    /// Adds an event; gives it back where too many wait.
    #[expect(clippy::result_large_err, reason = "the event itself comes back; a box for it would cost every call")]
    pub(super) fn try_add(&self, event: Waiting) -> Result<(), Waiting> {
        let mut waiting = self.waiting.lock();
        if waiting.events.len() >= MAX_WAITING {
            return Err(event);
        }
        waiting.events.push(event);
        let many = waiting.events.len() == WAKE_AT;
        drop(waiting);
        if many {
            self.wake.notify_one();
        }
        self.wake_writer();
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

    /// Adds an event that stands in the journal, however many wait: only where it stands is kept.
    pub(super) fn add_line(&self, event: Waiting) {
        self.waiting.lock().events.push(event.without_copy());
        self.wake_writer();
    }

    /// The writer should try now: the store takes something again.
    pub(super) fn hurry(&self) {
        self.wake.notify_one();
    }

    /// There is something for the writer, here or elsewhere.
    pub(super) fn wake_writer(&self) {
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
    pub(super) fn take(&self, room_for: usize) -> Batch {
        let fresh = Batch { events: Vec::with_capacity(room_for), ..Batch::default() };
        let mut waiting = self.waiting.lock();
        let closed = waiting.closed;
        let batch = std::mem::replace(&mut *waiting, Batch { closed, ..fresh });
        drop(waiting);
        self.room.notify_waiters();
        batch
    }

    fn is_empty(&self) -> bool {
        let waiting = self.waiting.lock();
        waiting.events.is_empty() && waiting.flushes.is_empty() && !waiting.closed
    }

    fn is_urgent(&self) -> bool {
        let waiting = self.waiting.lock();
        waiting.events.len() >= WAKE_AT || !waiting.flushes.is_empty() || waiting.closed
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use switchboard_store::{Location, Options, Store};

    use super::*;
    use crate::events::{event_of, kernel, result};

    async fn waiting() -> (tempfile::TempDir, impl Fn(u64) -> Waiting) {
        let directory = tempfile::tempdir().unwrap();
        let location = Location::File(directory.path().join("store.db"));
        let store = Store::open(&location, Options::default()).await.unwrap();
        let event = event_of("com.example.event", kernel(), result::SUCCESS);
        (directory, move |call| Waiting {
            event: store.audit().prepare(&event).ok(),
            then: Then::Ended(call),
            line: None,
            after: None,
        })
    }

    #[tokio::test]
    async fn who_adds_too_much_waits_until_there_is_room() {
        let (_directory, waiting) = waiting().await;
        let queue = Arc::new(AuditQueue::default());
        for call in 0..MAX_WAITING as u64 {
            assert!(queue.try_add(waiting(call)).is_ok());
        }
        assert!(queue.try_add(waiting(0)).is_err(), "full");
        let (adding, last) = (queue.clone(), waiting(MAX_WAITING as u64));
        let adding = tokio::spawn(async move { adding.add(last).await });
        tokio::task::yield_now().await;
        assert!(!adding.is_finished());
        assert_eq!(queue.take(0).events.len(), MAX_WAITING);
        adding.await.unwrap();
        let last: Vec<_> = queue.take(0).events.iter().map(|one| one.then).collect();
        assert_eq!(last, [Then::Ended(MAX_WAITING as u64)]);
    }

    /// Whatever there is to do, and whenever it comes: the writer is not left asleep.
    #[tokio::test]
    async fn the_writer_wakes_for_an_event_a_flush_a_close_and_for_work_elsewhere() {
        let (_directory, waiting) = waiting().await;
        let elsewhere = Arc::new(AtomicBool::new(false));
        let wakers: [&dyn Fn(&AuditQueue); 4] = [
            &|queue| assert!(queue.try_add(waiting(1)).is_ok()),
            &|queue| {
                queue.waiting.lock().flushes.push(oneshot::channel().0);
                queue.wake.notify_one();
            },
            &AuditQueue::close,
            &|queue| {
                elsewhere.store(true, Ordering::Relaxed);
                queue.wake_writer();
            },
        ];
        for wake in wakers {
            let queue = Arc::new(AuditQueue::default());
            let (sleeping, there_is) = (queue.clone(), elsewhere.clone());
            let sleeping = tokio::spawn(async move { sleeping.something(|| there_is.load(Ordering::Relaxed)).await });
            tokio::task::yield_now().await;
            assert!(!sleeping.is_finished());
            wake(&queue);
            tokio::time::timeout(Duration::from_secs(10), sleeping).await.expect("it wakes").unwrap();
        }
    }
}
