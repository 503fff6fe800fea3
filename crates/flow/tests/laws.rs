//! Laws of counters and breakers, over any sequence of events.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use switchboard_flow::breaker::{Breaker, BreakerDecision, BreakerPolicy, BreakerState};
use switchboard_flow::meter::{Allowance, Exceeded, Meters, Quota, Rate};
use switchboard_flow::retry::{Failure, Repeating, RetryDecision, RetryPolicy, Spacing, decide};

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

proptest! {
    #[test]
    fn no_span_of_time_has_more_calls_than_the_rate_and_its_burst(
        count in 1_u32..20, window in 100_u64..2_000, burst in 1_u32..20, waits in vec(0_u64..200, 1..200),
    ) {
        let rate = Rate { count, window: millis(window), burst };
        let allowed = Allowance { rate: Some(rate), ..Allowance::default() };
        let mut meters = Meters::new(4);
        let mut now = Duration::ZERO;
        let mut taken = Vec::new();
        for wait in waits {
            now += millis(wait);
            match meters.begin(&[((), allowed)], now) {
                Ok(()) => taken.push(now),
                // Whoever waits as long as he is told gets through, and not before.
                Err((_, Exceeded::Rate { after, .. })) => {
                    prop_assert!(after > Duration::ZERO && after <= rate.window / rate.count);
                    prop_assert!(meters.begin(&[((), allowed)], now + after - Duration::from_nanos(1)).is_err());
                    now += after;
                    prop_assert!(meters.begin(&[((), allowed)], now).is_ok());
                    taken.push(now);
                }
                Err(other) => prop_assert!(false, "{:?}", other),
            }
        }
        let interval = rate.window / rate.count;
        for (first, began) in taken.iter().enumerate() {
            for (last, ended) in taken.iter().enumerate().skip(first) {
                let calls = u32::try_from(last - first + 1).unwrap();
                let most = burst + u32::try_from((*ended - *began).as_nanos() / interval.as_nanos()).unwrap();
                prop_assert!(calls <= most, "{} calls in {:?}", calls, *ended - *began);
            }
        }
    }

    #[test]
    fn calls_at_once_and_quotas_are_never_exceeded(
        events in vec((0_usize..3, any::<bool>(), 0_u64..500), 1..300),
    ) {
        let allowed = Allowance {
            concurrent: Some(3), quota: Some(Quota { count: 10, period: millis(5_000) }), rate: None,
        };
        let mut meters = Meters::new(3);
        let mut running = [0_u32; 3];
        let mut used: [Vec<Duration>; 3] = Default::default();
        let mut now = Duration::ZERO;
        for (key, begins, wait) in events {
            now += millis(wait);
            if begins && meters.begin(&[(key, allowed)], now).is_ok() {
                running[key] += 1;
                used[key].push(now);
            } else if running[key] > 0 {
                meters.end(&key);
                running[key] -= 1;
            }
            prop_assert!(running[key] <= 3);
            // A period begins with a call; two of them that touch have at most twice as many.
            let recent = used[key].iter().filter(|at| now - **at < millis(5_000)).count();
            prop_assert!(recent <= 20, "{}", recent);
        }
    }

    #[test]
    fn an_open_breaker_lets_one_call_try_at_a_time(
        events in vec((any::<bool>(), any::<bool>(), 0_u64..4_000), 1..300),
    ) {
        let policy = BreakerPolicy { failures: 3, open: millis(1_000), longest: millis(8_000) };
        let mut breaker = Breaker::default();
        let mut probe: Option<Duration> = None;
        let mut in_a_row = 0;
        let mut now = Duration::ZERO;
        for (works, abandons, wait) in events {
            now += millis(wait);
            match breaker.pass(&policy, now) {
                BreakerDecision::Refuse(after) => {
                    prop_assert!(after > Duration::ZERO && after <= policy.longest);
                    continue;
                }
                BreakerDecision::Probe => {
                    prop_assert!(probe.is_none_or(|began| now - began >= policy.longest), "two at a time");
                    probe = Some(now);
                }
                BreakerDecision::Pass => prop_assert!(in_a_row < 3),
            }
            if probe.is_some() && abandons {
                breaker.abandoned(now);
                probe = None;
            } else if works {
                breaker.succeeded();
                (probe, in_a_row) = (None, 0);
                prop_assert_eq!(breaker.standing(), BreakerState::Closed);
            } else {
                breaker.failed(&policy, now);
                probe = None;
                in_a_row += 1;
            }
        }
    }

    #[test]
    fn what_may_do_harm_is_never_repeated(
        retryable in any::<bool>(), after in proptest::option::of(0_u64..10_000), most in proptest::option::of(0_u32..9),
        tries in 1_u32..9, left in 0_u64..60_000, fallback in any::<bool>(), chance in any::<u64>(),
    ) {
        let failure = Failure {
            retryable, after: after.map(millis), spacing: Spacing::Exponential, most,
            fallback: fallback.then(|| "other".to_owned()), untouched: false,
        };
        let policy = RetryPolicy::default();
        let harmful = decide(&policy, &failure, Repeating::Harmful, tries, millis(left), chance);
        prop_assert_eq!(harmful, RetryDecision::Report);
        let decision = decide(&policy, &failure, Repeating::Harmless, tries, millis(left), chance);
        if !retryable {
            prop_assert_eq!(&decision, &RetryDecision::Report);
        }
        if let RetryDecision::Again(wait) = decision {
            prop_assert!(tries <= policy.most.min(most.unwrap_or(u32::MAX)));
            prop_assert!(wait >= failure.after.unwrap_or_default() && wait <= policy.longest && wait < millis(left));
        }
    }
}
