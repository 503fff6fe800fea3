//! Whether and when something that ended is started again (MGP 11.5).
//!
//! Decides the pause before the next start and when it is given up. It does not know what is started, nor why it ended.

use std::collections::VecDeque;
use std::time::Duration;

pub use switchboard_protocol::mgp::RestartMode;

/// When and how fast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestartPolicy {
    /// When.
    pub mode: RestartMode,
    /// Starts inside the window before it is given up; `None` where it never is.
    pub max_restarts: Option<u32>,
    /// The window.
    pub window: Duration,
    /// The first pause. It doubles from then on.
    pub backoff_base: Duration,
    /// The longest pause.
    pub backoff_max: Duration,
    /// Who held out this long was healthy: pauses begin anew.
    pub healthy: Duration,
}

impl Default for RestartPolicy {
    fn default() -> Self {
        Self {
            mode: RestartMode::OnFailure,
            max_restarts: Some(5),
            window: Duration::from_secs(300),
            backoff_base: Duration::from_secs(1),
            backoff_max: Duration::from_secs(30),
            healthy: Duration::from_secs(10),
        }
    }
}

/// Starts that are remembered at most, however large the window: a policy beyond them counts as no bound.
const MOST_REMEMBERED: usize = 1_024;

/// What is remembered of earlier starts.
#[derive(Debug, Clone, Default)]
pub struct Restarts {
    /// When it was started again, oldest first.
    at: VecDeque<Duration>,
    /// Failures since it was last healthy.
    in_a_row: u32,
    total: u64,
}

impl Restarts {
    /// It has just failed, `lived` after it came up, or without having come up. The pause before it is started again,
    /// or `None` if it is given up. `chance` is any number; it spreads what failed together.
    pub fn failed(
        &mut self,
        policy: &RestartPolicy,
        lived: Option<Duration>,
        now: Duration,
        chance: u64,
    ) -> Option<Duration> {
        if lived.is_some_and(|lived| lived >= policy.healthy) {
            self.in_a_row = 0;
        }
        self.in_a_row = self.in_a_row.saturating_add(1);
        // One that was up and was lost comes back at once, the first time: most often somebody ended it.
        let doublings = match (lived.is_some(), self.in_a_row) {
            (true, 1) => None,
            (true, failures) => Some(failures - 2),
            (false, failures) => Some(failures - 1),
        };
        let pause = doublings.map_or(Duration::ZERO, |doublings| grown(policy, doublings));
        self.started_again(policy, now).then(|| jittered(pause, chance))
    }

    /// Notes a start; `false` if it is one too many.
    pub fn started_again(&mut self, policy: &RestartPolicy, now: Duration) -> bool {
        while self.at.front().is_some_and(|at| now.saturating_sub(*at) >= policy.window) {
            self.at.pop_front();
        }
        let most = policy.max_restarts.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        if most.is_some_and(|most| self.at.len() >= most) {
            return false;
        }
        if self.at.len() >= MOST_REMEMBERED {
            self.at.pop_front();
        }
        self.at.push_back(now);
        self.total += 1;
        true
    }

    /// Somebody started it by hand: what was before does not count any more.
    pub fn forgive(&mut self) {
        self.at.clear();
        self.in_a_row = 0;
    }

    /// How often it was started again, altogether.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }
}

fn grown(policy: &RestartPolicy, doublings: u32) -> Duration {
    let factor = 1_u32.checked_shl(doublings.min(31)).unwrap_or(u32::MAX);
    policy.backoff_base.saturating_mul(factor).min(policy.backoff_max)
}

/// A pause of three quarters to five quarters of that length: what failed together does not come back together.
#[must_use]
pub fn jittered(pause: Duration, chance: u64) -> Duration {
    // At most 1,249 of 1,000 parts; no pause is long enough to overflow after `grown`.
    let parts = 750 + u32::try_from(chance % 500).unwrap_or_default();
    pause.saturating_mul(parts) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIDDLE: u64 = 250;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let policy = RestartPolicy { max_restarts: None, ..RestartPolicy::default() };
        let mut restarts = Restarts::default();
        let pauses: Vec<_> =
            (0..8).map(|_| restarts.failed(&policy, None, seconds(1), MIDDLE).unwrap().as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(restarts.total(), 8);
    }

    #[test]
    fn who_was_up_comes_back_at_once_and_then_more_and_more_slowly() {
        let policy = RestartPolicy::default();
        let mut restarts = Restarts::default();
        let mut lost = |lived, now| restarts.failed(&policy, Some(seconds(lived)), seconds(now), MIDDLE);
        assert_eq!(lost(1, 0), Some(Duration::ZERO));
        assert_eq!(lost(1, 1), Some(seconds(1)));
        assert_eq!(lost(1, 2), Some(seconds(2)));
        assert_eq!(lost(10, 20), Some(Duration::ZERO), "it was healthy");
        assert_eq!(lost(10, 31), Some(Duration::ZERO), "again");
        assert_eq!(lost(10, 42), None, "the sixth time in 300 seconds");
        assert_eq!(lost(10, 300), Some(Duration::ZERO), "the first is forgotten");
    }

    #[test]
    fn a_start_by_hand_begins_anew() {
        let policy = RestartPolicy { max_restarts: Some(1), ..RestartPolicy::default() };
        let mut restarts = Restarts::default();
        assert!(restarts.failed(&policy, None, seconds(1), 0).is_some());
        assert!(restarts.failed(&policy, None, seconds(2), 0).is_none());
        restarts.forgive();
        assert_eq!(restarts.failed(&policy, None, seconds(3), MIDDLE), Some(seconds(1)));
    }

    #[test]
    fn chance_spreads_a_pause_by_a_quarter() {
        for (chance, expected) in [(0, 750), (250, 1_000), (499, 1_249), (500, 750), (u64::MAX, 865)] {
            assert_eq!(jittered(seconds(1), chance).as_millis(), expected, "{chance}");
        }
        assert_eq!(jittered(Duration::ZERO, 7), Duration::ZERO);
    }
}
