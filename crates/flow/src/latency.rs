//! How long calls of one thing take, of late: counted by size, forgotten by halves.
//!
//! Decides which class of time (proposal 3) follows from what was measured, and when that is enough to say something else
//! than what is declared. It does not know what is called. Noting a time is one addition.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use switchboard_protocol::proposals::manifest::LatencyClass;

/// The upper ends of the sizes, in milliseconds; what is longer falls into one more.
/// Up to half a minute each is at most twice the one before, mostly half as long again: so near is what is told of a time.
const ENDS: [u64; 31] = [
    1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000,
    10_000, 15_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
];
/// Sizes.
const SIZES: usize = ENDS.len() + 1;
/// Where seconds begin, and where minutes do.
const SECOND: u64 = 1_000;
const MINUTE: u64 = 60_000;
/// As many calls have to be measured before they say more than a declaration.
const MIN_MEASURED_CALLS: u32 = 5;
/// With more calls than this, what is older counts half.
const HALVING_CALLS: u32 = 1_024;

/// How long calls took.
#[derive(Debug, Default)]
pub struct Durations {
    counts: [AtomicU32; SIZES],
    total: AtomicU32,
}

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// How many calls, of late.
    pub calls: u32,
    /// The time that half of them did not exceed, in milliseconds, by its size.
    pub p50_ms: u64,
    /// The same for nineteen of twenty.
    pub p95_ms: u64,
}

/// The class of a thing, and what it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classed {
    /// The class.
    pub class: LatencyClass,
    /// Whether it was measured, and not only declared.
    pub measured: bool,
}

impl Durations {
    /// A call took that long.
    pub fn note(&self, took: Duration) {
        let millis = u64::try_from(took.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX);
        let size = ENDS.iter().position(|end| millis <= *end).unwrap_or(SIZES - 1);
        if let Some(count) = self.counts.get(size) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        if self.total.fetch_add(1, Ordering::Relaxed) + 1 == HALVING_CALLS {
            self.forget_half();
        }
    }

    /// Two that note at once may lose a count by this, which changes no class.
    fn forget_half(&self) {
        let mut left = 0;
        for count in &self.counts {
            let half = count.load(Ordering::Relaxed) / 2;
            count.store(half, Ordering::Relaxed);
            left += half;
        }
        self.total.store(left, Ordering::Relaxed);
    }

    /// What was measured; nothing without calls.
    #[must_use]
    pub fn measured(&self) -> Option<Measured> {
        let counts: Vec<u32> = self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let calls: u32 = counts.iter().sum();
        let at = |twentieths: u32| {
            let wanted = (calls * twentieths).div_ceil(20).max(1);
            let mut seen = 0;
            let size = counts.iter().position(|count| {
                seen += count;
                seen >= wanted
            });
            size.map(|size| ENDS.get(size).or(ENDS.last()).copied().unwrap_or_default())
        };
        Some(Measured { calls, p50_ms: at(10)?, p95_ms: at(19)? }).filter(|measured| measured.calls > 0)
    }

    /// The class: what was measured, once that is enough, and what is declared until then.
    #[must_use]
    pub fn class(&self, declared: Option<LatencyClass>) -> Option<Classed> {
        let measured = self.measured().filter(|measured| measured.calls >= MIN_MEASURED_CALLS);
        match measured {
            Some(measured) => Some(Classed { class: class_of(measured.p50_ms), measured: true }),
            None => declared.map(|class| Classed { class, measured: false }),
        }
    }
}

/// The class of a time.
const fn class_of(millis: u64) -> LatencyClass {
    if millis <= SECOND {
        LatencyClass::Instant
    } else if millis <= MINUTE {
        LatencyClass::Seconds
    } else {
        LatencyClass::Minutes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(times: &[u64]) -> Durations {
        let durations = Durations::default();
        times.iter().for_each(|millis| durations.note(Duration::from_millis(*millis)));
        durations
    }

    #[test]
    fn measurements_correct_declarations_once_they_are_enough() {
        use LatencyClass::{Instant, Minutes, Seconds};
        let (said, found) =
            (|class| Some(Classed { class, measured: false }), |class| Some(Classed { class, measured: true }));
        for (times, declared, class) in [
            (&[][..], None, None),
            (&[], Some(Minutes), said(Minutes)),
            (&[5; 4], Some(Minutes), said(Minutes)),
            (&[5; 4], None, None),
            (&[5; 5], Some(Minutes), found(Instant)),
            (&[2_000; 5], Some(Instant), found(Seconds)),
            (&[61_000; 9], Some(Instant), found(Minutes)),
            (&[5, 5, 5, 90_000, 90_000], None, found(Instant)),
            (&[1_000; 6], None, found(Instant)),
            (&[60_000; 6], None, found(Seconds)),
        ] {
            assert_eq!(after(times).class(declared), class, "{times:?} {declared:?}");
        }
    }

    #[test]
    fn quantiles_are_the_ends_of_their_sizes() {
        assert_eq!(after(&[]).measured(), None);
        assert_eq!(after(&[1]).measured(), Some(Measured { calls: 1, p50_ms: 1, p95_ms: 1 }));
        let mut times = vec![2; 18];
        times.extend([650, 700_000]);
        assert_eq!(after(&times).measured(), Some(Measured { calls: 20, p50_ms: 2, p95_ms: 700 }));
        assert_eq!(after(&[1_100; 9]).measured().map(|measured| measured.p50_ms), Some(1_500));
    }

    #[test]
    fn what_became_slower_is_told_of() {
        let durations = after(&[5; 3_000]);
        assert!(durations.measured().is_some_and(|measured| measured.calls < HALVING_CALLS), "old calls are forgotten");
        (0..HALVING_CALLS * 2).for_each(|_| durations.note(Duration::from_secs(5)));
        assert_eq!(durations.class(None).map(|classed| classed.class), Some(LatencyClass::Seconds));
    }
}
