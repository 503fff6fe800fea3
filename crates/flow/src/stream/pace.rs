//! How fast pieces may go.

use std::time::{Duration, Instant};

/// The slowest pace that is not a halt: one piece in a minute.
const SLOWEST: Duration = Duration::from_secs(60);

/// How fast pieces may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Free,
    Halted,
    Every { interval: Duration, next: Instant },
}

impl Pace {
    /// As they come.
    #[must_use]
    pub const fn free() -> Self {
        Self { kind: Kind::Free }
    }

    /// So many in a second from now on; none for 0. A number that is none means as they come.
    #[must_use]
    pub fn of(per_second: f64, now: Instant) -> Self {
        let kind = if per_second.is_nan() || per_second.is_infinite() {
            Kind::Free
        } else if per_second <= 0.0 {
            Kind::Halted
        } else {
            let interval = Duration::try_from_secs_f64(1.0 / per_second).unwrap_or(SLOWEST).min(SLOWEST);
            Kind::Every { interval, next: now }
        };
        Self { kind }
    }

    /// Whether a piece may go now; counts it if so.
    pub fn passes(&mut self, now: Instant) -> bool {
        match &mut self.kind {
            Kind::Free => true,
            Kind::Halted => false,
            Kind::Every { interval, next } if now >= *next => {
                // Who was slow for a while does not get everything at once.
                *next = (*next + *interval).max(now);
                if *next == now {
                    *next = now + *interval;
                }
                true
            }
            Kind::Every { .. } => false,
        }
    }

    /// How long until one may go; `None` where that is now, or not before the pace changes.
    #[must_use]
    pub fn wait(&self, now: Instant) -> Option<Duration> {
        match self.kind {
            Kind::Every { next, .. } => next.checked_duration_since(now).filter(|wait| !wait.is_zero()),
            Kind::Free | Kind::Halted => None,
        }
    }

    /// Whether none may go before the pace changes.
    #[must_use]
    pub const fn is_halted(&self) -> bool {
        matches!(self.kind, Kind::Halted)
    }
}
