//! What a server has been doing, in numbers: calls, failures, how long they took.
//!
//! Counts only. It does not decide what follows from the numbers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_flow::histogram::Histogram;
pub use switchboard_flow::histogram::Latency;
use switchboard_protocol::fault::{Fault, FaultKind};

/// The counters of one server. They outlive its restarts.
#[derive(Debug, Default)]
pub struct Stats {
    calls: AtomicU64,
    failures: AtomicU64,
    lost: AtomicU64,
    dropped: AtomicU64,
    durations: Histogram,
    last_error: Mutex<Option<String>>,
}

impl Stats {
    /// A call was answered, or failed, after that time.
    pub fn note(&self, took: Duration, failed: Option<&Fault>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.durations.note(took);
        if let Some(fault) = failed
            && !matches!(fault.kind(), FaultKind::Cancelled | FaultKind::AccessDenied | FaultKind::AuthExpired)
        {
            self.failures.fetch_add(1, Ordering::Relaxed);
            *self.last_error.lock() = Some(fault.message().to_owned());
        }
    }

    /// A call lost its connection before it was answered.
    pub fn note_lost(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls that lost their connection.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// A notification was thrown away because there were too many; how many so far.
    pub fn note_dropped(&self) -> u64 {
        self.dropped.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// All of it now.
    pub fn snapshot(&self) -> Activity {
        Activity {
            calls: self.calls.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            dropped_notifications: self.dropped.load(Ordering::Relaxed),
            latency: self.durations.snapshot(),
            last_error: self.last_error.lock().clone(),
        }
    }
}

/// What a server has been doing since the kernel began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Activity {
    /// Requests of clients that were sent to it.
    pub calls: u64,
    /// Those that got no answer of it.
    pub failures: u64,
    /// Notifications of it that were thrown away because there were too many.
    pub dropped_notifications: u64,
    /// How long requests took.
    pub latency: Latency,
    /// Why the last one failed.
    pub last_error: Option<String>,
}
