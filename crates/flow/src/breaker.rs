//! A circuit breaker: after several failures in a row nothing is tried for a while, then one call tries.
//!
//! Decides whether a call may be made. It does not know what a failure is, nor what is called.

use std::time::Duration;

/// When a breaker opens, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerPolicy {
    /// Failures in a row that open it. Zero never does.
    pub failures: u32,
    /// How long it stays open the first time. It doubles with each probe that fails.
    pub open: Duration,
    /// The longest time.
    pub longest: Duration,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        Self { failures: 10, open: Duration::from_secs(5), longest: Duration::from_secs(60) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inner {
    Closed {
        failures: u32,
    },
    Open {
        until: Duration,
        times: u32,
    },
    /// One call tries; when it is overdue, another one may.
    HalfOpen {
        since: Duration,
        times: u32,
    },
}

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BreakerState {
    /// Calls pass.
    Closed,
    /// Calls are refused.
    Open,
    /// One call tries.
    HalfOpen,
}

impl BreakerState {
    /// A word for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

/// What a call may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerDecision {
    /// Go on.
    Pass,
    /// Go on: this call shows whether the others may.
    Probe,
    /// Not now; how long until it is worth another try.
    Refuse(Duration),
}

/// A breaker.
#[derive(Debug, Clone)]
pub struct Breaker {
    inner: Inner,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { inner: Inner::Closed { failures: 0 } }
    }
}

impl Breaker {
    /// How it stands.
    #[must_use]
    pub const fn standing(&self) -> BreakerState {
        match self.inner {
            Inner::Closed { .. } => BreakerState::Closed,
            Inner::Open { .. } => BreakerState::Open,
            Inner::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    /// Whether nothing has gone wrong lately, so that a success need not be told.
    #[must_use]
    pub fn is_untroubled(&self) -> bool {
        self.inner == Inner::Closed { failures: 0 }
    }

    /// Asks whether a call may be made.
    pub fn pass(&mut self, policy: &BreakerPolicy, now: Duration) -> BreakerDecision {
        match self.inner {
            Inner::Closed { .. } => BreakerDecision::Pass,
            Inner::Open { until, times } if now >= until => {
                self.inner = Inner::HalfOpen { since: now, times };
                BreakerDecision::Probe
            }
            Inner::Open { until, .. } => BreakerDecision::Refuse(until - now),
            Inner::HalfOpen { since, times } => {
                // A probe that nobody reported on must not keep it half open for ever.
                let overdue = since + policy.longest;
                if now >= overdue {
                    self.inner = Inner::HalfOpen { since: now, times };
                    return BreakerDecision::Probe;
                }
                BreakerDecision::Refuse(policy.open.min(overdue - now))
            }
        }
    }

    /// A call came back.
    pub fn succeeded(&mut self) {
        self.inner = Inner::Closed { failures: 0 };
    }

    /// A call failed; `true` if that opened it.
    pub fn failed(&mut self, policy: &BreakerPolicy, now: Duration) -> bool {
        match self.inner {
            Inner::Closed { failures } => {
                let failures = failures.saturating_add(1);
                if policy.failures > 0 && failures >= policy.failures {
                    self.inner = Inner::Open { until: now + policy.open, times: 1 };
                    return true;
                }
                self.inner = Inner::Closed { failures };
                false
            }
            Inner::HalfOpen { times, .. } => {
                let open = policy.open.saturating_mul(1 << times.min(16)).min(policy.longest);
                self.inner = Inner::Open { until: now + open, times: times.saturating_add(1) };
                true
            }
            // Calls that were under way when it opened.
            Inner::Open { .. } => false,
        }
    }

    /// A probe ended without showing anything: another one may try.
    pub fn abandoned(&mut self, now: Duration) {
        if let Inner::HalfOpen { times, .. } = self.inner {
            self.inner = Inner::Open { until: now, times };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: BreakerPolicy =
        BreakerPolicy { failures: 3, open: Duration::from_secs(5), longest: Duration::from_secs(20) };

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn open() -> Breaker {
        let mut breaker = Breaker::default();
        assert!(!breaker.failed(&POLICY, at(0)) && !breaker.failed(&POLICY, at(0)));
        assert!(breaker.failed(&POLICY, at(0)));
        breaker
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_lets_one_call_try() {
        let mut breaker = open();
        assert_eq!(breaker.pass(&POLICY, at(1)), BreakerDecision::Refuse(at(4)));
        assert_eq!(breaker.pass(&POLICY, at(5)), BreakerDecision::Probe);
        assert_eq!(breaker.pass(&POLICY, at(5)), BreakerDecision::Refuse(at(5)), "one at a time");
        breaker.succeeded();
        assert_eq!(breaker.pass(&POLICY, at(6)), BreakerDecision::Pass);
        assert!(breaker.is_untroubled());
    }

    #[test]
    fn a_success_in_between_begins_the_count_anew() {
        let mut breaker = Breaker::default();
        for _ in 0..10 {
            breaker.failed(&POLICY, at(0));
            breaker.failed(&POLICY, at(0));
            breaker.succeeded();
        }
        assert_eq!(breaker.standing(), BreakerState::Closed);
    }

    #[test]
    fn probes_that_fail_make_it_wait_longer_up_to_a_bound() {
        let mut breaker = open();
        let mut now = at(0);
        let mut waits = Vec::new();
        for _ in 0..4 {
            let BreakerDecision::Refuse(wait) = breaker.pass(&POLICY, now) else { panic!("open") };
            waits.push(wait.as_secs());
            now += wait;
            assert_eq!(breaker.pass(&POLICY, now), BreakerDecision::Probe);
            breaker.failed(&POLICY, now);
        }
        assert_eq!(waits, [5, 10, 20, 20]);
    }

    #[test]
    fn a_probe_that_never_reports_is_replaced() {
        let mut breaker = open();
        assert_eq!(breaker.pass(&POLICY, at(5)), BreakerDecision::Probe);
        assert_eq!(breaker.pass(&POLICY, at(24)), BreakerDecision::Refuse(at(1)));
        assert_eq!(breaker.pass(&POLICY, at(25)), BreakerDecision::Probe);
        breaker.abandoned(at(26));
        assert_eq!(breaker.pass(&POLICY, at(26)), BreakerDecision::Probe);
    }

    #[test]
    fn none_is_none() {
        let mut breaker = Breaker::default();
        let never = BreakerPolicy { failures: 0, ..POLICY };
        assert!((0..1_000).all(|_| !breaker.failed(&never, at(0))));
    }
}
