//! The clock that the head of a request is given, one for each connection.
//!
//! How long a head may take is set elsewhere, and hyper decides when that time begins and ends.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use parking_lot::Mutex;

use crate::alarm::Alarm;

/// All the waits of one connection share its alarm: hyper has one at a time.
#[derive(Default)]
pub(super) struct HeadClock(Arc<Mutex<Alarm>>);

impl Timer for HeadClock {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Waiting { alarm: self.0.clone(), due: deadline.into() })
    }
}

struct Waiting {
    alarm: Arc<Mutex<Alarm>>,
    due: tokio::time::Instant,
}

impl Future for Waiting {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.alarm.lock().poll_until(self.due, cx)
    }
}

impl Sleep for Waiting {}
