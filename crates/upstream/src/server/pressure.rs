//! What protects a server that fails, and everybody else from one that says too much: breaker, budget of repetitions,
//! bound on notifications.
//!
//! The decisions are [`switchboard_flow`]'s; here they are shared by many calls. While nothing goes wrong, a call
//! reads one flag and one number.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_flow::breaker::{Breaker, BreakerDecision, BreakerPolicy, BreakerState};
use switchboard_flow::meter::{Bucket, Rate};
use switchboard_flow::retry;
use switchboard_peer::{CallError, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};

use super::Server;
use super::supervisor::millis;
use crate::holder::{Holder, ServerEvent};

/// A server that floods is read more slowly: a rest after so many notifications that were thrown away.
const REST_EVERY: u32 = 32;
/// What is thrown away is read at so many times the rate that is allowed, at most. Reading costs time that others need;
/// its answers come behind all that, so it is not brought to a halt.
const FASTER: u32 = 2;
/// The longest rest, where next to nothing is allowed.
const LONGEST_REST: Duration = Duration::from_millis(50);

/// The state of it.
pub(super) struct Pressure {
    breaker: Mutex<Breaker>,
    /// Whether the breaker has anything to say.
    troubled: AtomicBool,
    /// Repetitions that are saved, in hundredths.
    saved: AtomicU32,
    notices: Mutex<Bucket>,
    over: AtomicU64,
}

impl Default for Pressure {
    fn default() -> Self {
        Self {
            breaker: Mutex::default(),
            troubled: AtomicBool::new(false),
            saved: AtomicU32::new(retry::FULL_BUDGET),
            notices: Mutex::default(),
            over: AtomicU64::new(0),
        }
    }
}

/// Stands for a call that shows whether a server works again. Dropped without a word, it has shown nothing.
#[derive(Debug)]
pub struct Trial<'a> {
    server: &'a Server,
    probe: bool,
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        if self.probe {
            self.server.pressure.breaker.lock().abandoned(self.server.began.elapsed());
        }
    }
}

impl Server {
    /// Asks the breaker whether a call may be made.
    ///
    /// # Errors
    /// Not now: the server failed too often.
    pub fn try_pass(&self) -> Result<Trial<'_>, Fault> {
        let pressure = &self.pressure;
        if !pressure.troubled.load(Ordering::Relaxed) {
            return Ok(Trial { server: self, probe: false });
        }
        let policy = self.policy_now().pressure.breaker;
        match pressure.breaker.lock().pass(&policy, self.began.elapsed()) {
            BreakerDecision::Pass => Ok(Trial { server: self, probe: false }),
            BreakerDecision::Probe => Ok(Trial { server: self, probe: true }),
            BreakerDecision::Refuse(wait) => {
                let text = format!("server `{}` failed too often; no calls are made to it for a while", self.id());
                Err(Fault::new(FaultKind::UpstreamUnavailable, text)
                    .from_server(self.id().as_ref())
                    .retry_after(millis(wait).max(1)))
            }
        }
    }

    /// Tells the breaker how a call ended.
    pub fn note_outcome(&self, mut trial: Trial<'_>, outcome: &Result<Reply, Fault>, holder: &dyn Holder) {
        let pressure = &self.pressure;
        match outcome {
            Ok(_) => {
                trial.probe = false;
                if pressure.saved.load(Ordering::Relaxed) < retry::FULL_BUDGET {
                    let _ = pressure
                        .saved
                        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |saved| Some(retry::earned(saved)));
                }
                if pressure.troubled.load(Ordering::Relaxed) {
                    self.calm(holder);
                }
            }
            Err(fault) if is_failure(fault) => {
                trial.probe = false;
                let policy: BreakerPolicy = self.policy_now().pressure.breaker;
                let opened = {
                    let mut breaker = pressure.breaker.lock();
                    let opened = breaker.failed(&policy, self.began.elapsed());
                    pressure.troubled.store(!breaker.is_untroubled(), Ordering::Relaxed);
                    opened
                };
                if opened {
                    self.note_breaker(holder, BreakerState::Open);
                }
            }
            // What the caller took back, or what was never sent, says nothing of the server.
            Err(_) => {}
        }
    }

    /// Whatever went wrong with it before is over.
    pub fn calm(&self, holder: &dyn Holder) {
        let was = {
            let mut breaker = self.pressure.breaker.lock();
            let was = breaker.standing();
            breaker.succeeded();
            self.pressure.troubled.store(false, Ordering::Relaxed);
            was
        };
        if was != BreakerState::Closed {
            self.note_breaker(holder, BreakerState::Closed);
        }
    }

    /// How its breaker stands.
    pub fn breaker(&self) -> BreakerState {
        if self.pressure.troubled.load(Ordering::Relaxed) {
            self.pressure.breaker.lock().standing()
        } else {
            BreakerState::Closed
        }
    }

    fn note_breaker(&self, holder: &dyn Holder, standing: BreakerState) {
        tracing::warn!(server = %self.id(), standing = standing.as_str(), "the breaker of a server has changed");
        holder.on_event(self, ServerEvent::BreakerChanged(standing));
    }

    /// Whether the last call that was made got no answer, and none has had one since.
    pub fn leaves_calls_unanswered(&self) -> bool {
        self.pressure.troubled.load(Ordering::Relaxed)
    }

    /// Takes one repetition from what is saved; `false` if nothing is left.
    pub fn may_repeat(&self) -> bool {
        self.pressure.saved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, retry::spent).is_ok()
    }

    /// Whether one more notification is listened to. A server that says far too much is read more slowly.
    pub async fn hears(&self, rate: Option<Rate>) -> bool {
        let Some(rate) = rate else { return true };
        if self.pressure.notices.lock().take(&rate, self.began.elapsed()).is_ok() {
            return true;
        }
        let dropped = self.stats.note_dropped();
        if dropped.is_power_of_two() {
            tracing::warn!(server = %self.id(), dropped, "the server sends too many notifications");
        }
        let rest = u64::from(REST_EVERY);
        if self.pressure.over.fetch_add(1, Ordering::Relaxed) % rest == rest - 1 {
            tokio::time::sleep(rest_after(&rate)).await;
        }
        false
    }
}

/// How long a server is not listened to after a portion that was thrown away.
fn rest_after(rate: &Rate) -> Duration {
    (rate.window * REST_EVERY / (rate.count.max(1).saturating_mul(FASTER))).min(LONGEST_REST)
}

/// Whether a fault says that the server does not work: a call was made, and came to nothing. That one client gets no
/// connection of its own says nothing about the others.
fn is_failure(fault: &Fault) -> bool {
    let cause = fault.source().and_then(|source| source.downcast_ref::<CallError>());
    matches!(
        cause,
        Some(
            CallError::Timeout(_)
                | CallError::Closed
                | CallError::NotSent(_)
                | CallError::BadAnswer(_)
                | CallError::Gateway(_)
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_follow_the_rate() {
        let rate = |count, window| Rate { count, window: Duration::from_millis(window), burst: 1 };
        assert_eq!(rest_after(&rate(1_000, 1_000)), Duration::from_millis(16));
        assert_eq!(rest_after(&rate(100_000, 1_000)), Duration::from_micros(160));
        assert_eq!(rest_after(&rate(1, 1_000)), LONGEST_REST);
        assert_eq!(rest_after(&rate(0, 1_000)), LONGEST_REST);
    }
}
