//! The life of a server (MGP 11.2): seven states, the events that lead from one to the next, and what is to be done.
//!
//! Decides which transitions there are, whether a server that ended is started again and when, and that an operator's
//! stop is final: only an operator, or a new configuration, starts the server after it. It does not know how a server
//! is started, what it is asked to see whether it lives, or who is told.

use std::time::Duration;

use crate::restart::{RestartMode, RestartPolicy, Restarts};

/// Where a server is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Known, not started.
    Registered,
    /// Being started.
    Connecting,
    /// Takes calls.
    Connected,
    /// Finishes the calls that run and takes no new ones.
    Draining,
    /// Ended on purpose, or in good order.
    Disconnected,
    /// Could not be started, or was lost.
    Error,
    /// Ended, to be started again.
    Restarting,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Registered,
        Self::Connecting,
        Self::Connected,
        Self::Draining,
        Self::Disconnected,
        Self::Error,
        Self::Restarting,
    ];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Draining => "draining",
            Self::Disconnected => "disconnected",
            Self::Error => "error",
            Self::Restarting => "restarting",
        }
    }

    /// Whether a server may go from this state to another one.
    ///
    /// The drawing of MGP 11.2, and what it leaves open: a server may be lost, or end by itself, while it is connected,
    /// and an operator may stop it whatever it does.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        use State::{Connected, Connecting, Disconnected, Draining, Error, Registered, Restarting};
        match self {
            Registered => matches!(next, Connecting | Disconnected),
            Connecting => matches!(next, Connected | Error | Disconnected),
            Connected => matches!(next, Draining | Error | Disconnected),
            Draining => matches!(next, Disconnected | Restarting),
            Disconnected => matches!(next, Connecting),
            Error => matches!(next, Restarting | Connecting | Disconnected),
            Restarting => matches!(next, Connected | Error | Disconnected),
        }
    }
}

/// Why a server is drained (the words of MGP 11.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShutdownReason {
    /// A person wants it so.
    OperatorRequest,
    /// It is to be another one.
    ConfigurationChange,
    /// It uses too much.
    ResourceLimit,
    /// Nobody used it for long.
    IdleTimeout,
    /// The whole kernel ends.
    KernelShutdown,
}

impl ShutdownReason {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::OperatorRequest,
        Self::ConfigurationChange,
        Self::ResourceLimit,
        Self::IdleTimeout,
        Self::KernelShutdown,
    ];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OperatorRequest => "operator_request",
            Self::ConfigurationChange => "configuration_change",
            Self::ResourceLimit => "resource_limit",
            Self::IdleTimeout => "idle_timeout",
            Self::KernelShutdown => "kernel_shutdown",
        }
    }

    /// What a word means.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// What becomes of a server once it is drained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum After {
    /// It stays down until somebody starts it by hand.
    Stop,
    /// It is started again.
    Restart,
    /// It is started at the next call.
    Sleep,
    /// What its restart policy says of an end that was asked for.
    Policy,
}

/// What happens to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifecycleEvent {
    /// It is to be started: by the configuration or by an operator. Undoes an operator's stop.
    Start,
    /// Somebody wants to call it.
    Wanted,
    /// It answered, and its lists are known.
    Ready,
    /// It could not be started.
    Failed,
    /// It can never be used, whatever it does.
    Refused,
    /// Its connection ended by itself; in good order, or not.
    Ended {
        /// It left no call unanswered and told of no error.
        clean: bool,
    },
    /// It is to finish what runs.
    Drain(After),
    /// What ran is finished, or was given up, and the connection has ended.
    Drained,
    /// The pause before the next start is over, and the start has begun.
    PauseOver,
    /// An operator ends it at once.
    Stop,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Nothing,
    /// Make the connection.
    Connect,
    /// Make it after a pause.
    ConnectAfter(Duration),
    /// Let the calls that run end, then end the connection.
    Drain,
    /// End the connection, if there is one.
    Disconnect,
    /// Do not try again: it failed too often.
    GiveUp,
}

/// One step of a server's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// What it became: nothing else, another state, or one by way of a second. What is lost is in error before it is
    /// started again.
    changes: [Option<(State, State)>; 2],
    /// What is to be done.
    pub action: Action,
}

impl Step {
    const NOTHING: Self = Self { changes: [None; 2], action: Action::Nothing };

    const fn only(action: Action) -> Self {
        Self { changes: [None; 2], action }
    }

    /// The states it left and those it came to, in order.
    pub fn changes(&self) -> impl Iterator<Item = (State, State)> {
        self.changes.into_iter().flatten()
    }
}

/// The life of one server.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    policy: RestartPolicy,
    state: State,
    restarts: Restarts,
    /// When it came up, while it is.
    up_since: Option<Duration>,
    after: After,
    /// Ended for good, unless somebody starts it by hand.
    stopped: bool,
    /// Down, and to be started by whoever calls it.
    asleep: bool,
}

impl Lifecycle {
    /// A server that is not started yet.
    #[must_use]
    pub fn new(policy: RestartPolicy) -> Self {
        Self {
            policy,
            state: State::Registered,
            restarts: Restarts::default(),
            up_since: None,
            after: After::Policy,
            stopped: false,
            asleep: false,
        }
    }

    /// Where it is.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// How often it was started again.
    #[must_use]
    pub const fn restarts(&self) -> u64 {
        self.restarts.total()
    }

    /// When it came up, while it is.
    #[must_use]
    pub const fn up_since(&self) -> Option<Duration> {
        self.up_since
    }

    /// Whether an operator stopped it.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether a call would start it.
    #[must_use]
    pub const fn is_asleep(&self) -> bool {
        self.asleep
    }

    /// It sleeps from the beginning: the first call starts it.
    #[must_use]
    pub const fn asleep(mut self) -> Self {
        self.asleep = true;
        self
    }

    /// Takes an event. One that has no meaning in this state changes nothing. `chance` is any number.
    pub fn on(&mut self, event: LifecycleEvent, now: Duration, chance: u64) -> Step {
        use State::{Connected, Connecting, Disconnected, Draining, Error, Registered, Restarting};
        match (event, self.state) {
            (LifecycleEvent::Start | LifecycleEvent::Drain(After::Restart), Registered | Disconnected | Error) => {
                self.stopped = false;
                self.restarts.forgive();
                self.go(Connecting, Action::Connect)
            }
            // It goes down first: whoever wants it up gets it afterwards.
            (LifecycleEvent::Start, Draining) => {
                self.stopped = false;
                self.after = After::Restart;
                Step::NOTHING
            }
            // Nobody who starts it by hand waits for the pause.
            (LifecycleEvent::Start | LifecycleEvent::Drain(After::Restart), Restarting) => {
                self.restarts.forgive();
                Step::only(Action::Connect)
            }
            (LifecycleEvent::Wanted, Registered | Disconnected) if self.asleep && !self.stopped => {
                self.go(Connecting, Action::Connect)
            }
            (LifecycleEvent::Ready, Connecting | Restarting) => {
                self.up_since = Some(now);
                self.go(Connected, Action::Nothing)
            }
            (LifecycleEvent::Failed, Connecting | Restarting) => self.fail(None, now, chance),
            (LifecycleEvent::Refused, Connecting | Restarting) => self.go(Error, Action::GiveUp),
            (LifecycleEvent::Ended { clean }, Connected) => {
                let lived = self.up_since.map(|since| now.saturating_sub(since));
                if clean && self.policy.mode == RestartMode::OnFailure {
                    self.rest(now)
                } else {
                    self.fail(lived, now, chance)
                }
            }
            (LifecycleEvent::Drain(after), Connected) => {
                self.stopped = after == After::Stop;
                self.after = after;
                self.go(Draining, Action::Drain)
            }
            // The stronger word counts: what is to stay down is not started again.
            (LifecycleEvent::Drain(After::Stop), Draining) => {
                (self.stopped, self.after) = (true, After::Stop);
                Step::NOTHING
            }
            (LifecycleEvent::Stop, Draining) => {
                (self.stopped, self.after) = (true, After::Stop);
                Step::only(Action::Disconnect)
            }
            (LifecycleEvent::Drained | LifecycleEvent::Ended { .. }, Draining) => self.drained(now),
            (LifecycleEvent::PauseOver, Restarting) => Step::only(Action::Connect),
            (LifecycleEvent::Stop, Connected)
            | (
                LifecycleEvent::Stop | LifecycleEvent::Drain(After::Stop),
                Registered | Connecting | Error | Restarting,
            ) => {
                self.stopped = true;
                self.go(Disconnected, Action::Disconnect)
            }
            (LifecycleEvent::Stop | LifecycleEvent::Drain(After::Stop), Disconnected) => {
                (self.stopped, self.asleep) = (true, false);
                Step::NOTHING
            }
            _ => Step::NOTHING,
        }
    }

    /// It failed, `lived` after it had come up, or before.
    fn fail(&mut self, lived: Option<Duration>, now: Duration, chance: u64) -> Step {
        let pause = match self.policy.mode {
            RestartMode::Never => None,
            RestartMode::OnFailure | RestartMode::Always => self.restarts.failed(&self.policy, lived, now, chance),
        };
        let failed = self.go(State::Error, Action::GiveUp);
        let Some(pause) = pause else { return failed };
        let again = self.go(State::Restarting, Action::ConnectAfter(pause));
        Step { changes: [failed.changes[0], again.changes[0]], ..again }
    }

    /// It left in good order. One that does so again and again is no better than one that fails.
    fn rest(&mut self, now: Duration) -> Step {
        if !self.restarts.started_again(&self.policy, now) {
            return self.go(State::Error, Action::GiveUp);
        }
        let step = self.go(State::Disconnected, Action::Disconnect);
        self.asleep = true;
        step
    }

    fn drained(&mut self, now: Duration) -> Step {
        let again = match self.after {
            After::Stop | After::Sleep => false,
            After::Restart => true,
            After::Policy => self.policy.mode == RestartMode::Always && self.restarts.started_again(&self.policy, now),
        };
        if again {
            return self.go(State::Restarting, Action::ConnectAfter(Duration::ZERO));
        }
        let step = self.go(State::Disconnected, Action::Disconnect);
        self.asleep = self.after != After::Stop;
        step
    }

    fn go(&mut self, next: State, action: Action) -> Step {
        debug_assert!(self.state.may_become(next), "{:?} to {next:?}", self.state);
        let change = (self.state, next);
        if next != State::Connected && next != State::Draining {
            self.up_since = None;
        }
        self.asleep = false;
        self.state = next;
        Step { changes: [Some(change), None], action }
    }
}
