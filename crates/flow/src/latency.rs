//! How long calls of one thing take, of late: counted by size, forgotten by halves.
//!
//! Decides which class of time (proposal 3) follows from what was measured, and when that is enough to say something else
//! than what is declared. It does not know what is called.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use switchboard_protocol::proposals::manifest::LatencyClass;

use crate::histogram::{Histogram, Scale};

/// The upper ends of the sizes, in milliseconds.
/// Up to half a minute each is at most twice the one before, mostly half as long again: so near is what is told of a time.
const ENDS: [u64; 31] = [
    1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000,
    10_000, 15_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
];
const SCALE: Scale = Scale::new(&in_micros());

const fn in_micros() -> [u64; ENDS.len()] {
    let mut ends = ENDS;
    let mut at = 0;
    while at < ends.len() {
        ends[at] *= 1_000;
        at += 1;
    }
    ends
}

/// Where seconds begin, and where minutes do.
const SECOND: u64 = 1_000;
const MINUTE: u64 = 60_000;
/// As many calls have to be measured before they say more than a declaration.
const MIN_MEASURED_CALLS: u64 = 5;
/// With more calls than this, what is older counts half.
const HALVING_CALLS: u64 = 1_024;

/// How long calls took.
#[derive(Debug)]
pub struct Durations {
    histogram: Histogram,
    total: AtomicU64,
}

impl Default for Durations {
    fn default() -> Self {
        Self { histogram: Histogram::new(SCALE), total: AtomicU64::new(0) }
    }
}

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// How many calls, of late.
    pub calls: u64,
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
        self.histogram.note(took);
        if self.total.fetch_add(1, Ordering::Relaxed) + 1 == HALVING_CALLS {
            // Two that note at once may lose a count by this, which changes no class.
            self.total.store(self.histogram.halve(), Ordering::Relaxed);
        }
    }

    /// What was measured; nothing without calls.
    #[must_use]
    pub fn measured(&self) -> Option<Measured> {
        let now = self.histogram.snapshot();
        let at = |share| now.quantile(share).and_then(|time| u64::try_from(time.as_millis()).ok());
        Some(Measured { calls: now.count(), p50_ms: at(0.5)?, p95_ms: at(0.95)? })
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
