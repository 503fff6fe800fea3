//! Deadlines that hardly ever come.
//!
//! A timer of the runtime stands in a table that all threads share, and nearly every request would enter one and take
//! it out again. An [`Alarm`] stays in the table and serves one deadline after the other: it is moved only when it
//! rings too early, or would ring too late. What a deadline is for, and what follows from it, is not known here.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use parking_lot::Mutex;
use tokio::time::{Instant, Sleep, sleep_until};

/// Alarms that are kept for later.
const KEPT: usize = 64;

/// A timer for many deadlines, one at a time.
#[derive(Debug, Default)]
pub struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Waits for `due`.
    pub fn poll_until(&mut self, due: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(due)));
        if sleep.deadline() > due {
            sleep.as_mut().reset(due);
        }
        loop {
            ready!(sleep.as_mut().poll(cx));
            if sleep.deadline() >= due {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(due);
        }
    }
}

/// Alarms that nobody uses at the moment.
#[derive(Debug, Default)]
pub struct Alarms(Mutex<Vec<Alarm>>);

impl Alarms {
    /// An alarm, used or new.
    #[must_use]
    pub fn take(&self) -> Alarm {
        self.0.lock().pop().unwrap_or_default()
    }

    /// Keeps an alarm for the next one who needs it.
    pub fn give_back(&self, alarm: Alarm) {
        let mut kept = self.0.lock();
        if kept.len() < KEPT {
            kept.push(alarm);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_deadline_is_kept_whatever_the_one_before_it_was() {
        let mut alarm = Alarm::default();
        for wait in [50, 10, 200, 0, 30].map(Duration::from_millis) {
            // As one who was answered in time: the alarm is left as it is.
            let later = Instant::now() + Duration::from_millis(100);
            assert!(poll_fn(|cx| Poll::Ready(alarm.poll_until(later, cx))).await.is_pending());
            let begun = Instant::now();
            poll_fn(|cx| alarm.poll_until(begun + wait, cx)).await;
            let waited = begun.elapsed();
            assert!(wait <= waited && waited <= wait + Duration::from_millis(2), "{wait:?}: {waited:?}");
        }
    }

    #[test]
    fn a_bounded_number_is_kept() {
        let alarms = Alarms::default();
        for _ in 0..KEPT * 2 {
            alarms.give_back(Alarm::default());
        }
        assert_eq!(alarms.0.lock().len(), KEPT);
    }
}
