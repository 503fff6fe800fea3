//! Rates, quotas and bounds of the gate in the words of a manifest. Pure.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use switchboard_flow::meter::{Allowance, Left};
use switchboard_protocol::proposals::manifest::{Quota, RateLimits};

const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);

/// What holds, without what is left of it: that changes with every call.
pub(super) fn lasting(allowance: &Allowance) -> RateLimits {
    let within = |count: u64, time: Duration, unit: Duration| -> u64 {
        let many = u128::from(count) * unit.as_micros() / time.as_micros().max(1);
        u64::try_from(many).unwrap_or(u64::MAX).max(1)
    };
    let mut limits = RateLimits::default();
    if let Some(rate) = allowance.rate {
        if rate.window <= MINUTE {
            limits.requests_per_minute = Some(within(rate.count.into(), rate.window, MINUTE));
        } else {
            limits.requests_per_day = Some(within(rate.count.into(), rate.window, DAY));
        }
    }
    if let Some(quota) = allowance.quota {
        let daily = within(quota.count, quota.period, DAY);
        limits.requests_per_day = Some(limits.requests_per_day.map_or(daily, |other| other.min(daily)));
    }
    limits.concurrent = allowance.concurrent.map(u64::from);
    limits
}

/// Limits without what is left of them.
pub(super) fn without_rest(mut limits: RateLimits) -> RateLimits {
    (limits.remaining, limits.resets_at) = (None, None);
    limits
}

/// What is left of it.
pub(super) fn left(left: Left, now: Timestamp) -> Quota {
    let after = SignedDuration::try_from(left.after).unwrap_or(SignedDuration::ZERO);
    let at = now.checked_add(after).unwrap_or(now);
    Quota::new().remaining(left.remaining).resets_at(format!("{at:.0}"))
}

/// The narrower of two, the one with less.
pub(super) fn scarcer(one: Option<Quota>, other: Option<Quota>) -> Option<Quota> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.remaining < one.remaining { other } else { one }),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use switchboard_flow::meter::{Quota as Period, Rate};

    use super::*;

    #[test]
    fn rates_and_quotas_in_minutes_and_days() {
        let rate = |count, secs| Some(Rate { count, window: Duration::from_secs(secs), burst: 1 });
        let quota = |count, hours| Some(Period { count, period: Duration::from_hours(hours) });
        for (rate, quota, minute, day) in [
            (rate(10, 1), None, Some(600), None),
            (rate(10, 60), quota(100, 24), Some(10), Some(100)),
            (rate(100, 3600), None, None, Some(2_400)),
            (rate(100, 3600), quota(10, 1), None, Some(240)),
            (None, quota(1, 24 * 30), None, Some(1)),
        ] {
            let limits = lasting(&Allowance { rate, quota, concurrent: Some(3) });
            assert_eq!((limits.requests_per_minute, limits.requests_per_day), (minute, day));
            assert_eq!((limits.concurrent, limits.remaining), (Some(3), None));
        }
        assert!(lasting(&Allowance::default()).is_empty());
    }

    #[test]
    fn what_is_left_says_when_there_is_more() {
        let now: Timestamp = "2026-03-15T12:00:00Z".parse().unwrap();
        let some = left(Left { remaining: 12, after: Duration::from_hours(12) }, now);
        assert_eq!((some.remaining, some.resets_at.as_deref()), (Some(12), Some("2026-03-16T00:00:00Z")));
        let less = Quota::new().remaining(3_u64);
        assert_eq!(scarcer(Some(some.clone()), Some(less.clone())), Some(less));
        assert_eq!(scarcer(None, Some(some.clone())), Some(some));
    }
}
