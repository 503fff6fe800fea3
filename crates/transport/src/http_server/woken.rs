//! A future that is polled only when something it waits for has happened.
//!
//! A connection is woken for many reasons: bytes came, bytes went, hyper's own bookkeeping. The answer that runs in it
//! is deep, and walking down to find that nothing has changed there costs as much as some of its steps.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

pub(super) struct Woken<F> {
    future: F,
    bell: Arc<Bell>,
    waker: Waker,
}

/// What the future wakes.
struct Bell {
    rung: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rung.swap(true, Ordering::AcqRel)
            && let Some(task) = &*self.task.lock()
        {
            task.wake_by_ref();
        }
    }
}

impl<F: Future + Unpin> Woken<F> {
    pub(super) fn new(future: F) -> Self {
        let bell = Arc::new(Bell { rung: AtomicBool::new(true), task: Mutex::new(None) });
        Self { future, waker: bell.clone().into(), bell }
    }
}

impl<F: Future + Unpin> Future for Woken<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        // The task is noted before the bell is looked at: who rings it after the look finds the right task.
        {
            let mut task = this.bell.task.lock();
            if !task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
                *task = Some(cx.waker().clone());
            }
        }
        if !this.bell.rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        Pin::new(&mut this.future).poll(&mut Context::from_waker(&this.waker))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[test]
    fn only_what_the_future_waits_for_makes_it_be_polled() {
        let inner: Arc<Mutex<(usize, Option<Waker>)>> = Arc::default();
        let seen = inner.clone();
        let mut woken = Woken::new(poll_fn(move |cx| {
            let mut seen = seen.lock();
            *seen = (seen.0 + 1, Some(cx.waker().clone()));
            if seen.0 < 3 { Poll::Pending } else { Poll::Ready(seen.0) }
        }));
        let task = Arc::new(Bell { rung: AtomicBool::new(false), task: Mutex::new(None) });
        let waker = Waker::from(task.clone());
        let mut poll = || Pin::new(&mut woken).poll(&mut Context::from_waker(&waker));
        let ring = || inner.lock().1.clone().map(Waker::wake);
        assert!(poll().is_pending() && poll().is_pending() && poll().is_pending());
        assert_eq!(inner.lock().0, 1);
        ring();
        assert!(task.rung.swap(false, Ordering::AcqRel), "the task is woken");
        assert!(poll().is_pending());
        assert_eq!(inner.lock().0, 2);
        ring();
        ring();
        assert_eq!(poll(), Poll::Ready(3));
    }
}
