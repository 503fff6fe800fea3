//! The right to make one call, which writes how it ended.

use std::sync::Arc;

use jiff::Timestamp;
use switchboard_flow::latency::Durations;
use switchboard_store::AuditEvent;
use tokio::time::Instant;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::GateState;
use crate::audit::{self, event, result};
use crate::meters::Metered;

/// A call that passed. When it is dropped, it ends without anybody knowing how.
pub struct Permit {
    pub(crate) begun: Option<Box<Begun>>,
    pub(crate) metered: Option<Box<Metered>>,
    /// A person agreed to it: until it is over, it is waited for.
    pub(crate) agreed: Option<TaskTrackerToken>,
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

impl Permit {
    /// The same, its time counted when it has come to something.
    pub(crate) fn timed(mut self, times: Option<Arc<Durations>>) -> Self {
        if let Some(begun) = &mut self.begun {
            begun.times = times;
        }
        self
    }

    /// The same, counted among the calls that run until it is over.
    pub(crate) fn counted(mut self, metered: Option<Box<Metered>>) -> Self {
        self.metered = metered;
        self
    }

    /// The same, for a call that a person agreed to.
    pub(crate) fn agreed(mut self, agreed: Option<TaskTrackerToken>) -> Self {
        self.agreed = agreed;
        self
    }

    /// Whether a person agreed to the call. Then it was begun before them, also where nothing new is begun any more.
    #[must_use]
    pub const fn was_agreed(&self) -> bool {
        self.agreed.is_some()
    }
}

/// A call that was begun.
pub(crate) struct Begun {
    pub(crate) gate: Arc<GateState>,
    pub(crate) outcome: AuditEvent,
    pub(crate) began: Instant,
    /// The number of the call, where it may change something: then it is known from now on that it was begun.
    pub(crate) call: Option<u64>,
    /// Whether its end is on disk before anybody hears of it.
    pub(crate) synced: bool,
    /// What counts how long its tool takes.
    pub(crate) times: Option<Arc<Durations>>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(begun) = self.begun.take() {
            let Begun { gate, outcome, began, call, .. } = *begun;
            let mut event = ended(outcome, began);
            event.event_type = event::UNKNOWN_OUTCOME.into();
            event.result = result::UNKNOWN.into();
            gate.audit.note_end(&audit::with(event, "reason", "the caller went away"), call);
        }
    }
}

/// The event of something that is over.
pub(crate) fn ended(mut event: AuditEvent, began: Instant) -> AuditEvent {
    let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    event.timestamp = Timestamp::now();
    event.details.insert("duration_ms", took);
    event
}
