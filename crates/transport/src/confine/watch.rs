//! Processor time: a budget that is renewed with each call, watched from outside.
//!
//! The system's own limit counts from the start of a process, so it would end every server that lives long enough, and
//! its hard form cannot be raised again by ordinary users. A watcher has neither fault.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::members::Members;

/// How often the watcher looks.
const PERIOD: Duration = Duration::from_millis(500);
/// How long a process may react to the warning.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Linux counts in hundredths of a second towards programs, whatever it does inside.
const TICKS: u64 = 100;

/// The budget of one server.
#[derive(Debug)]
pub(crate) struct CpuBudget {
    members: Arc<Members>,
    ticks: u64,
    since: AtomicU64,
    exceeded: AtomicBool,
}

impl CpuBudget {
    pub(crate) fn new(members: Arc<Members>, seconds: u64) -> Self {
        let ticks = seconds.saturating_mul(TICKS);
        Self { members, ticks, since: AtomicU64::new(0), exceeded: AtomicBool::new(false) }
    }

    /// Begins anew: what was used so far no longer counts.
    pub(crate) fn renew(&self) {
        self.since.store(self.members.cpu_ticks(), Ordering::Release);
    }

    /// Whether the server was ended for it.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Acquire)
    }

    /// Watches until the budget is used up, warns, and then calls `end`.
    pub(crate) async fn watch(&self, warn: impl Fn(), end: impl Fn()) {
        let mut clock = tokio::time::interval(PERIOD);
        clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            clock.tick().await;
            let used = self.members.cpu_ticks();
            // Children that were not waited for take their time with them: then counting begins again from there.
            let since = self.since.fetch_min(used, Ordering::AcqRel).min(used);
            if used - since > self.ticks {
                self.exceeded.store(true, Ordering::Release);
                warn();
                tokio::time::sleep(LAST_WORDS).await;
                end();
                return;
            }
        }
    }
}
