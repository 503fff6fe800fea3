//! Whether a server that is connected lives: asked now and then, in the words that it knows.
//!
//! Decides what it is asked and when it counts as dead. A server that has calls under way is never ended for not
//! answering a question beside them: it may be busy, and calls have deadlines of their own.

use std::time::Duration;

use parking_lot::Mutex;
use switchboard_peer::{Call, CallError};
use switchboard_protocol::Era;
use switchboard_protocol::mcp::method;
use switchboard_wire::{Edit, Raw};
use tokio::time::Instant;

use super::supervisor::speaks_of_life;
use super::{Phase, Server, SharedConnection};

/// Answers and lines of no use, on one connection, from which on a server counts as degraded. An answer that comes too late
/// now and then, or a few lines of a log at the start, are usual.
const UNRULY: u64 = 50;

/// How a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Health {
    /// It answers.
    Healthy,
    /// It answers, and says that it lacks something; or it is connected and did not answer the last time, or much of what
    /// it sends is of no use; or it sleeps.
    Degraded,
    /// It says so, or is not connected.
    Unhealthy,
}

impl Health {
    /// The word on the wire (MGP 11.3).
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Unhealthy => "unhealthy",
        }
    }

    fn from_word(word: &str) -> Self {
        match word {
            "degraded" => Self::Degraded,
            "unhealthy" => Self::Unhealthy,
            // What nobody knows is an answer all the same.
            _ => Self::Healthy,
        }
    }
}

/// What the last check found.
#[derive(Debug, Default)]
pub(super) struct Checked(Mutex<Option<Health>>);

impl Checked {
    pub(super) fn set(&self, health: Option<Health>) {
        *self.0.lock() = health;
    }

    pub(super) fn get(&self) -> Option<Health> {
        *self.0.lock()
    }
}

/// Whether a server sends much that is of no use: answers that nobody waits for, lines that are no messages, progress of
/// nothing.
fn is_unruly(hub: &SharedConnection) -> bool {
    hub.connected.disorder().total() >= UNRULY
}

impl Server {
    /// How it is, as far as is known without asking it.
    pub fn health(&self) -> Health {
        match self.hub_now() {
            Some(hub) => {
                let found = self.checked.get().unwrap_or(Health::Healthy);
                if found == Health::Healthy && is_unruly(&hub) { Health::Degraded } else { found }
            }
            // It is down, and nothing is wrong with it.
            None if self.phase() == Phase::Asleep => Health::Degraded,
            None => Health::Unhealthy,
        }
    }

    /// Asks it; `None` where it did not answer in time.
    pub async fn ask_health(&self, hub: &SharedConnection) -> Option<Health> {
        let speaks = speaks_of_life(hub);
        let (name, params) = if speaks {
            let now = Raw::string(&jiff::Timestamp::now().to_string());
            (switchboard_protocol::mgp::method::HEALTH_PING, Some(Edit::empty().set("timestamp", now).finish()))
        } else if hub.revision().era() == Era::Modern {
            (method::DISCOVER, None)
        } else {
            (method::PING, None)
        };
        let patience = self.spec.upkeep.health_timeout;
        let mut call = Call::new(name, params).within(patience);
        call.max_timeout = patience;
        let found = match hub.remote().request(call).await {
            Ok(reply) => {
                let said = reply.outcome.ok().filter(|_| speaks);
                let word = said.and_then(|result| result.member("status")?.as_text());
                // An error is an answer: not every server knows the question.
                Some(word.map_or(Health::Healthy, |word| Health::from_word(&word)))
            }
            // The connection has found out by itself, or others want something of it first.
            Err(CallError::Closed | CallError::NotAllowed | CallError::Unauthorized { .. }) => self.checked.get(),
            Err(_) => None,
        };
        self.checked.set(Some(found.unwrap_or(Health::Degraded)));
        found
    }

    /// Asks it now and then. Ends when it counts as dead.
    pub(super) async fn watch_health(&self, hub: &SharedConnection) {
        let Some(every) = self.spec.upkeep.health_every else { return std::future::pending().await };
        let (mut missed, mut told) = (0, false);
        loop {
            tokio::time::sleep(every).await;
            if !told && is_unruly(hub) {
                told = true;
                let disorder = hub.connected.disorder();
                tracing::warn!(server = %self.id(), ?disorder, "much of what the server sends is of no use");
            }
            let before = self.stats.snapshot().calls;
            let quiet = self.using.pending() == 0;
            if self.ask_health(hub).await.is_some() {
                missed = 0;
                continue;
            }
            // Calls came through, or are on their way: it is busy, not dead. A call that got no answer in all its time
            // excuses nothing, or a server that hangs would be kept as long as somebody calls it.
            let idle = quiet && self.using.pending() == 0 && self.stats.snapshot().calls == before;
            let mute = self.leaves_calls_unanswered();
            missed = if idle || mute { missed + 1 } else { 0 };
            tracing::warn!(server = %self.id(), missed, idle, mute, "the server did not answer a health check");
            if missed >= self.spec.upkeep.health_failures.max(1) {
                return;
            }
        }
    }

    /// Ends when nobody has used the server for long, if it may sleep then.
    pub(super) async fn watch_idleness(&self) {
        let Some(after) = self.spec.upkeep.sleep_after else { return std::future::pending().await };
        let mut since = Instant::now();
        let mut begun = self.using.begun();
        loop {
            tokio::time::sleep_until(since + after).await;
            let now = self.using.begun();
            // What is watched can change only where somebody is there to say so.
            let used = now != begun || self.using.pending() > 0 || self.watched.any();
            if !used {
                return;
            }
            (since, begun) = (Instant::now(), now);
        }
    }

    /// How long it has been connected.
    pub fn uptime(&self) -> Duration {
        let since = self.life.up_since();
        since.map_or(Duration::ZERO, |since| self.began.elapsed().saturating_sub(since))
    }
}
