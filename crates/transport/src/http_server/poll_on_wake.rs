//! A future that is polled only when something it waits for has happened.
//!
//! A connection is woken for many reasons: bytes came, bytes went, hyper's own bookkeeping. The answer that runs in it
//! is deep, and walking down to find that nothing has changed there costs as much as some of its steps. And what a
//! connection wakes itself for while it is polled (hyper does, for each body) is done at once, without another turn of
//! the scheduler, which may call another thread for it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

/// How often a future that keeps waking itself is polled before others have their turn.
const MOST_TURNS: usize = 4;

pub(super) struct PollOnWake<F> {
    future: F,
    bell: Arc<WakeFlag>,
    waker: Waker,
}

/// What the future wakes.
struct WakeFlag {
    state: AtomicU8,
    task: Mutex<Option<Waker>>,
}

/// Nothing has happened since the last poll.
const IDLE: u8 = 0;
/// Something has. A bit of its own: a bell can also ring while it is being answered.
const NOTIFIED: u8 = 1;
/// The future is being polled.
const RUNNING: u8 = 2;

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.fetch_or(NOTIFIED, Ordering::AcqRel) == IDLE
            && let Some(task) = &*self.task.lock()
        {
            task.wake_by_ref();
        }
    }
}

impl<F: Future + Unpin> PollOnWake<F> {
    pub(super) fn new(future: F) -> Self {
        let bell = Arc::new(WakeFlag { state: AtomicU8::new(NOTIFIED), task: Mutex::new(None) });
        Self { future, waker: bell.clone().into(), bell }
    }
}

impl<F: Future + Unpin> Future for PollOnWake<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        let state = &this.bell.state;
        // The task is noted before the bell is looked at: who rings it after the look finds the right task.
        {
            let mut task = this.bell.task.lock();
            if !task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
                *task = Some(cx.waker().clone());
            }
        }
        if state.compare_exchange(NOTIFIED, RUNNING, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return Poll::Pending;
        }
        for _ in 0..MOST_TURNS {
            if let Poll::Ready(output) = Pin::new(&mut this.future).poll(&mut Context::from_waker(&this.waker)) {
                return Poll::Ready(output);
            }
            if state.compare_exchange(RUNNING, IDLE, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return Poll::Pending;
            }
            // Not a mere store: what is seen of the world next must be no older than the ring that is forgotten here.
            state.swap(RUNNING, Ordering::AcqRel);
        }
        state.swap(NOTIFIED, Ordering::AcqRel);
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    fn bell(state: u8) -> Arc<WakeFlag> {
        Arc::new(WakeFlag { state: AtomicU8::new(state), task: Mutex::new(None) })
    }

    #[test]
    fn only_what_the_future_waits_for_makes_it_be_polled() {
        let inner: Arc<Mutex<(usize, Option<Waker>)>> = Arc::default();
        let seen = inner.clone();
        let mut woken = PollOnWake::new(poll_fn(move |cx| {
            let mut seen = seen.lock();
            *seen = (seen.0 + 1, Some(cx.waker().clone()));
            if seen.0 < 3 { Poll::Pending } else { Poll::Ready(seen.0) }
        }));
        let task = bell(IDLE);
        let waker = Waker::from(task.clone());
        let mut poll = || Pin::new(&mut woken).poll(&mut Context::from_waker(&waker));
        let ring = || inner.lock().1.clone().map(Waker::wake);
        assert!(poll().is_pending() && poll().is_pending() && poll().is_pending());
        assert_eq!(inner.lock().0, 1);
        ring();
        assert_eq!(task.state.swap(IDLE, Ordering::AcqRel), NOTIFIED, "the task is woken");
        assert!(poll().is_pending());
        assert_eq!(inner.lock().0, 2);
        ring();
        ring();
        assert_eq!(poll(), Poll::Ready(3));
    }

    #[test]
    fn what_wakes_itself_is_polled_at_once_but_not_for_ever() {
        for turns in 1..10usize {
            let mut polls = 0;
            let mut woken = PollOnWake::new(poll_fn(move |cx| {
                polls += 1;
                if polls < turns {
                    cx.waker().wake_by_ref();
                }
                if polls == 10 { Poll::Ready(()) } else { Poll::Pending }
            }));
            let task = bell(IDLE);
            let waker = Waker::from(task.clone());
            let mut visits = 0;
            loop {
                visits += 1;
                assert!(Pin::new(&mut woken).poll(&mut Context::from_waker(&waker)).is_pending());
                if task.state.swap(IDLE, Ordering::AcqRel) == IDLE {
                    break;
                }
            }
            assert_eq!(visits, turns.div_ceil(MOST_TURNS), "{turns} turns");
            assert_eq!(woken.bell.state.load(Ordering::Acquire), IDLE);
        }
    }

    #[test]
    fn nothing_that_happens_on_another_thread_is_missed() {
        let steps = Arc::new(Mutex::new((0usize, None::<Waker>)));
        let (seen, rung) = (steps.clone(), steps);
        let ringing = std::thread::spawn(move || {
            for step in 1..=20_000 {
                let waker = {
                    let mut rung = rung.lock();
                    rung.0 = step;
                    rung.1.take()
                };
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
        });
        let all = poll_fn(move |cx| {
            let mut seen = seen.lock();
            seen.1 = Some(cx.waker().clone());
            if seen.0 == 20_000 { Poll::Ready(()) } else { Poll::Pending }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let waiting = async { tokio::time::timeout(std::time::Duration::from_secs(20), PollOnWake::new(all)).await };
        runtime.block_on(waiting).unwrap();
        ringing.join().unwrap();
    }
}
