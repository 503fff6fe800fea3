//! How many events there were, by how they ended and by the step of the gate that refused: for whoever watches a kernel.
//!
//! Counts only, from the beginning of the process. What follows from the numbers is decided elsewhere.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::Value;
use switchboard_store::AuditEvent;

use crate::events::result;

/// Steps that are told apart. The gate has fewer; what comes beyond them is counted together.
const MAX_STEPS: usize = 32;
/// Under which name that is.
const OTHER_STEPS: &str = "other";

/// The results that are counted.
const RESULTS: [&str; 4] = [result::SUCCESS, result::FAILURE, result::BLOCKED, result::UNKNOWN];

/// The counters of one log.
#[derive(Debug, Default)]
pub(crate) struct EventCounters {
    by_result: [AtomicU64; RESULTS.len()],
    refused: Mutex<BTreeMap<String, u64>>,
}

/// What was counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct EventCounts {
    /// Events by how they ended.
    pub by_result: Vec<(&'static str, u64)>,
    /// Refusals by the step of the gate that refused.
    pub refused_by_step: Vec<(String, u64)>,
    /// Events that wait to be written to the store.
    pub waiting: usize,
}

impl EventCounters {
    /// Counts an event.
    pub(crate) fn note(&self, event: &AuditEvent) {
        let Some(at) = RESULTS.iter().position(|known| *known == event.result) else { return };
        self.by_result[at].fetch_add(1, Ordering::Relaxed);
        if RESULTS[at] != result::BLOCKED {
            return;
        }
        let Some(Value::String(step)) = event.details.get("step") else { return };
        let mut refused = self.refused.lock();
        let known = refused.contains_key(step) || refused.len() < MAX_STEPS;
        *refused.entry(if known { step.clone() } else { OTHER_STEPS.to_owned() }).or_default() += 1;
    }

    /// What was counted so far, with the length of the queue.
    pub(crate) fn snapshot(&self, waiting: usize) -> EventCounts {
        let numbers = self.by_result.iter().map(|count| count.load(Ordering::Relaxed));
        EventCounts {
            by_result: RESULTS.into_iter().zip(numbers).collect(),
            refused_by_step: self.refused.lock().iter().map(|(step, count)| (step.clone(), *count)).collect(),
            waiting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{event, event_of, kernel, with};

    #[test]
    fn refusals_are_counted_by_step_and_the_number_of_steps_is_bounded() {
        let counters = EventCounters::default();
        counters.note(&event_of(event::TOOL_EXECUTED, kernel(), result::SUCCESS));
        counters.note(&event_of(event::INTENT, kernel(), result::PENDING));
        let blocked = |step: &str| with(event_of(event::TOOL_BLOCKED, kernel(), result::BLOCKED), "step", step);
        for _ in 0..3 {
            counters.note(&blocked("validators"));
        }
        (0..100).for_each(|number| counters.note(&blocked(&format!("step {number}"))));
        let counts = counters.snapshot(7);
        assert_eq!(counts.waiting, 7);
        assert_eq!(counts.by_result[..3], [(result::SUCCESS, 1), (result::FAILURE, 0), (result::BLOCKED, 103)]);
        let of = |name: &str| counts.refused_by_step.iter().find(|(step, _)| step == name).map(|(_, count)| *count);
        assert_eq!(of("validators"), Some(3));
        assert_eq!(of(OTHER_STEPS), Some(100 - (MAX_STEPS as u64 - 1)));
        assert_eq!(counts.refused_by_step.len(), MAX_STEPS + 1);
    }
}
