//! What is shown of a server's life: the state of its machine, with what a reader wants to know beside it. It follows from each
//! step of the machine and is kept nowhere else.

use crate::lifecycle::{After, LifecycleEvent, State};

/// Where a server is in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Being started for the first time.
    Starting,
    /// Connected.
    Ready,
    /// Lost, and being started again.
    Restarting(String),
    /// Could not be started; tried again later if it may be.
    Failed(String),
    /// Not accepted, whatever it does.
    Refused(String),
    /// Finishes the calls that run, and takes no others.
    Draining,
    /// Not running because nobody uses it; the next call starts it.
    Asleep,
    /// Stopped on purpose.
    Stopped,
}

impl Phase {
    /// One word for it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Restarting(_) => "restarting",
            Self::Failed(_) => "failed",
            Self::Refused(_) => "refused",
            Self::Draining => "draining",
            Self::Asleep => "asleep",
            Self::Stopped => "stopped",
        }
    }

    /// Why it is not there, where somebody said so.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Restarting(why) | Self::Failed(why) | Self::Refused(why) => Some(why),
            Self::Starting | Self::Ready | Self::Draining | Self::Asleep | Self::Stopped => None,
        }
    }

    /// Whether the first attempt has come to an end.
    pub const fn is_settled(&self) -> bool {
        !matches!(self, Self::Starting)
    }

    /// What is shown after an event that led to a state; `None` where that changes nothing. `asleep` and `given_up` are what the
    /// machine says of itself, `restarts` how often it has started the server again.
    #[must_use]
    pub fn after(
        state: State,
        event: LifecycleEvent,
        why: Option<&str>,
        asleep: bool,
        (given_up, restarts): (bool, u64),
    ) -> Option<Self> {
        let words = || why.unwrap_or("it was ended").to_owned();
        Some(match (state, event) {
            (State::Connected, _) => Self::Ready,
            (State::Draining, LifecycleEvent::Drain(After::Sleep)) => Self::Asleep,
            (State::Draining, _) => Self::Draining,
            (State::Disconnected, _) if asleep => Self::Asleep,
            (State::Disconnected, _) => Self::Stopped,
            (State::Error, LifecycleEvent::Refused) => Self::Refused(words()),
            (State::Error, _) if given_up && restarts > 0 => {
                Self::Failed(format!("{}; it is not started again by itself", words()))
            }
            (State::Error, _) => Self::Failed(words()),
            // What never came up is known to have failed; what was lost is on its way back.
            (State::Restarting, LifecycleEvent::Failed) => return None,
            (State::Restarting, _) => Self::Restarting(words()),
            (State::Registered | State::Connecting, _) => Self::Starting,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_follows_from_state_and_event() {
        let lost = LifecycleEvent::Ended { clean: false };
        for (state, event, asleep, given_up, restarts, shown) in [
            (State::Connecting, LifecycleEvent::Start, false, false, 0, Some("starting")),
            (State::Connected, LifecycleEvent::Ready, false, false, 0, Some("ready")),
            (State::Draining, LifecycleEvent::Drain(After::Sleep), false, false, 0, Some("asleep")),
            (State::Draining, LifecycleEvent::Drain(After::Stop), false, false, 0, Some("draining")),
            (State::Disconnected, LifecycleEvent::Drained, true, false, 0, Some("asleep")),
            (State::Disconnected, LifecycleEvent::Drained, false, false, 0, Some("stopped")),
            (State::Error, LifecycleEvent::Refused, false, true, 0, Some("refused")),
            (State::Error, LifecycleEvent::Failed, false, false, 0, Some("failed")),
            (State::Restarting, LifecycleEvent::Failed, false, false, 1, None),
            (State::Restarting, lost, false, false, 1, Some("restarting")),
        ] {
            let phase = Phase::after(state, event, Some("why"), asleep, (given_up, restarts));
            assert_eq!(phase.as_ref().map(Phase::word), shown, "{state:?} {event:?}");
        }
        let ended = Phase::after(State::Error, lost, Some("gone"), false, (true, 3));
        assert_eq!(ended.as_ref().and_then(Phase::why), Some("gone; it is not started again by itself"));
    }
}
