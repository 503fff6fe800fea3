//! What is done now and then beside the calls: calls whose client did not come back are forgotten, old things are removed from the
//! store, grants are looked at while somebody waits for notices.

use std::time::Duration;

use tokio::time::Instant;

use super::Kernel;
use crate::services::ManifestService;

/// How often calls whose client did not come back are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);
/// How often what is long over is removed from the store.
const FORGET_INTERVAL: Duration = Duration::from_secs(600);
/// How often it is looked whether tools became slower or faster.
const TIMINGS_INTERVAL: Duration = Duration::from_secs(5);
/// The poll interval for changed grants while clients are connected.
const GRANT_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// When each of it was done last.
#[derive(Debug, Clone, Copy)]
struct Schedule {
    timings: Instant,
    sweep: Instant,
    /// Not since the start.
    forget: Option<Instant>,
}

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Due {
    timings: bool,
    sweep: bool,
    forget: bool,
}

impl Schedule {
    const fn begun(now: Instant) -> Self {
        Self { timings: now, sweep: now, forget: None }
    }

    /// What is due at this moment; it counts as done then. What is forgotten in the store is looked for with a sweep.
    fn due(&mut self, now: Instant) -> Due {
        let timings = now - self.timings >= TIMINGS_INTERVAL;
        let sweep = now - self.sweep >= SWEEP_INTERVAL;
        let forget = sweep && self.forget.is_none_or(|last| now - last >= FORGET_INTERVAL);
        if timings {
            self.timings = now;
        }
        if sweep {
            self.sweep = now;
        }
        if forget {
            self.forget = Some(now);
        }
        Due { timings, sweep, forget }
    }
}

/// Does it until the kernel ends.
pub(super) async fn run(kernel: Kernel) {
    let mut schedule = Schedule::begun(Instant::now());
    loop {
        // Without a store nothing is granted by others.
        let pause = if kernel.0.gate.store().is_some() { GRANT_POLL_INTERVAL } else { SWEEP_INTERVAL };
        tokio::select! {
            () = kernel.0.closing.cancelled() => break,
            () = tokio::time::sleep(pause) => {}
        }
        let now = Instant::now();
        let due = schedule.due(now);
        if due.timings {
            ManifestService::of(&kernel).look_at_times();
        }
        if due.sweep {
            kernel.0.exchange.sweep(now);
        }
        if due.forget {
            kernel.exchange().forget_old().await;
        }
        // A client that waits for notices makes no calls, and still must not hear of what was taken from it.
        if !kernel.0.clients.is_empty() {
            let _ = kernel.gate().tables().await;
        }
        let noting = kernel.clone();
        let _ = tokio::task::spawn_blocking(move || noting.0.gate.audit.open_calls().note()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_due_in_its_own_interval() {
        let start = Instant::now();
        let mut schedule = Schedule::begun(start);
        for (at, timings, sweep, forget) in [
            (1, false, false, false),
            (5, true, false, false),
            (9, false, false, false),
            (30, true, true, true),
            (31, false, false, false),
            (60, true, true, false),
            (629, true, true, false),
            (659, true, true, true),
        ] {
            let due = schedule.due(start + Duration::from_secs(at));
            assert_eq!(due, Due { timings, sweep, forget }, "after {at} s");
        }
    }
}
