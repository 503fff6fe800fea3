//! How long a call may wait: for a sign of life, and altogether.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use switchboard_transport::alarm::{Alarm, Alarms};
use tokio::time::Instant;

use crate::{Call, CallError};

/// No call waits longer than a year.
const MAX_CALL_TIME: Duration = Duration::from_secs(365 * 24 * 3600);

/// The deadline, which progress moves and the longest time bounds.
pub(super) struct Timer<'a> {
    started: Instant,
    timeout: Duration,
    last: Instant,
    due: Instant,
    /// Questions that the server asked on the call's stream, and that we have not answered yet: for that long, it is
    /// not the server that is silent. Nothing where it never asked.
    questions: Option<Arc<AtomicUsize>>,
    /// Rings at the deadline. Taken when the call begins to wait.
    alarm: Option<Alarm>,
    alarms: &'a Alarms,
}

impl<'a> Timer<'a> {
    pub(super) fn new(call: &Call, alarms: &'a Alarms) -> Self {
        let started = Instant::now();
        // Deadlines come from configurations: no number there may be too large for the clock.
        let (timeout, last) = (call.timeout.min(MAX_CALL_TIME), started + call.max_timeout.min(MAX_CALL_TIME));
        Self { started, timeout, last, due: (started + timeout).min(last), questions: None, alarm: None, alarms }
    }

    pub(super) fn touch(&mut self) {
        self.touch_until(Duration::ZERO);
    }

    /// A sign of life that is good for some time.
    pub(super) fn touch_until(&mut self, more: Duration) {
        self.due = (Instant::now() + self.timeout + more).min(self.last).max(self.due);
    }

    /// Waits for the end of the time.
    pub(super) async fn over(&mut self) -> CallError {
        loop {
            let alarm = self.alarm.get_or_insert_with(|| self.alarms.take());
            poll_fn(|cx| alarm.poll_until(self.due, cx)).await;
            let asked = self.questions.as_ref().is_some_and(|questions| questions.load(Ordering::Relaxed) > 0);
            if self.due >= self.last || !asked {
                return CallError::Timeout(self.started.elapsed());
            }
            self.touch();
        }
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        if let Some(alarm) = self.alarm.take() {
            self.alarms.give_back(alarm);
        }
    }
}

/// Stands for a question that we have not answered yet.
pub(super) struct Thinking(Arc<AtomicUsize>);

impl Thinking {
    pub(super) fn new(timer: &mut Timer<'_>) -> Self {
        let questions = timer.questions.get_or_insert_default();
        questions.fetch_add(1, Ordering::Relaxed);
        Self(questions.clone())
    }
}

impl Drop for Thinking {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
