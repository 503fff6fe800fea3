//! What a client hears while its call waits for a person: progress where it asked for that, a log message, and a line in our own
//! log. Without them nobody knows why nothing happens.

use switchboard_wire::Raw;
use tokio::time::{Interval, MissedTickBehavior};

use super::super::Attempt;
use super::question::Question;
use crate::progress::{PROGRESS_INTERVAL, still_waits};
use crate::surroundings::Surroundings;

/// What is said of one call that waits.
pub(super) struct Notice<'a> {
    attempt: &'a Attempt<'a>,
    token: Option<Raw>,
    message: String,
}

impl<'a> Notice<'a> {
    pub(super) fn of(question: &'a Question<'a>) -> Self {
        let attempt = question.attempt;
        // The beginning of an id is enough for the command.
        let id: String = question.id.chars().take(8).collect();
        let message = format!(
            "waiting for approval: `{}` of server `{}`, because {}; answer with `switchboard approvals approve {id}` or \
             `switchboard approvals deny {id}`",
            attempt.exposed,
            attempt.server.id(),
            question.why
        );
        Self { attempt, token: attempt.raw.at(&["_meta", "progressToken"]), message }
    }

    /// Tells everybody that the call waits.
    pub(super) fn begin(&self, around: &dyn Surroundings) {
        tracing::warn!("{}", self.message);
        around.log(self.attempt.context, self.attempt.raw, &self.message);
    }

    /// Tells whoever asked for progress that it still waits.
    pub(super) fn again(&self) {
        if let Some(token) = &self.token {
            let _ = self.attempt.context.remote.notify(still_waits(token, &self.message));
        }
    }
}

/// When progress is told: at once, and then from time to time.
pub(super) fn tick() -> Interval {
    let mut tick = tokio::time::interval(PROGRESS_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick
}
