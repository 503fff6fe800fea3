//! How long things took, counted by size.
//!
//! Decides into which bucket a time falls and what follows from the counts: quantiles, sums, buckets for a metrics page.
//! The bounds are a [`Scale`] that whoever counts chooses. It does not know what is measured. Noting a time is a search
//! among the bounds and two additions.

use std::iter::repeat;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Steps of one doubling of time.
const STEPS: usize = 4;
/// Doublings, from one microsecond to a little more than two minutes.
const OCTAVES: usize = 27;
/// A quarter of an octave each: about a fifth from one to the next.
const QUARTERS: [u64; STEPS * OCTAVES] = quarters();

const fn quarters() -> [u64; STEPS * OCTAVES] {
    let mut ends = [0; STEPS * OCTAVES];
    let mut slot = 0;
    while slot < ends.len() {
        let (octave, within) = (slot / STEPS, slot % STEPS);
        ends[slot] = (((STEPS + within + 1) as u64) << octave) / STEPS as u64;
        slot += 1;
    }
    ends
}

/// The bounds of a histogram: the longest time of each bucket, in microseconds, ascending. What is longer than the last
/// falls into one bucket more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale(&'static [u64]);

impl Scale {
    /// From a microsecond to two minutes, about a fifth from one bound to the next.
    pub const FINE: Self = Self(&QUARTERS);

    /// Bounds of one's own, in microseconds, ascending.
    #[must_use]
    pub const fn new(ends: &'static [u64]) -> Self {
        Self(ends)
    }

    fn slot_of(self, micros: u64) -> usize {
        self.0.partition_point(|end| *end < micros)
    }

    /// The longest time of a bucket; of the one for all that is longer, the last bound.
    fn end(self, slot: usize) -> Duration {
        Duration::from_micros(self.0.get(slot).or_else(|| self.0.last()).copied().unwrap_or_default())
    }

    const fn slots(self) -> usize {
        self.0.len() + 1
    }
}

impl Default for Scale {
    fn default() -> Self {
        Self::FINE
    }
}

/// Counts that any number of threads add to.
#[derive(Debug)]
pub struct Histogram {
    scale: Scale,
    counts: Box<[AtomicU64]>,
    total_micros: AtomicU64,
}

impl Histogram {
    /// A histogram with these bounds.
    #[must_use]
    pub fn new(scale: Scale) -> Self {
        Self { scale, counts: (0..scale.slots()).map(|_| AtomicU64::new(0)).collect(), total_micros: AtomicU64::new(0) }
    }

    /// Something took that long.
    pub fn note(&self, took: Duration) {
        // What is longer than a whole microsecond is in the next.
        let micros = u64::try_from(took.as_nanos().div_ceil(1_000)).unwrap_or(u64::MAX);
        if let Some(count) = self.counts.get(self.scale.slot_of(micros)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.total_micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Makes what was counted so far count half; what is left. Two threads that note at the same time may lose a count.
    pub fn halve(&self) -> u64 {
        let mut left = 0;
        for count in &self.counts {
            let half = count.load(Ordering::Relaxed) / 2;
            count.store(half, Ordering::Relaxed);
            left += half;
        }
        self.total_micros.store(self.total_micros.load(Ordering::Relaxed) / 2, Ordering::Relaxed);
        left
    }

    /// All of it now.
    #[must_use]
    pub fn snapshot(&self) -> Latency {
        Latency {
            scale: self.scale,
            counts: self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
            total: Duration::from_micros(self.total_micros.load(Ordering::Relaxed)),
        }
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new(Scale::default())
    }
}

/// What a histogram had counted at some time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Latency {
    scale: Scale,
    counts: Vec<u64>,
    /// All times together.
    total: Duration,
}

impl Latency {
    /// The time that this share did not exceed, as the bound of its bucket; nothing where nothing was counted.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let total = self.count();
        if total == 0 {
            return None;
        }
        let wanted = ((total as f64 * share).ceil() as u64).clamp(1, total);
        let mut seen = 0;
        let slot = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        slot.map(|slot| self.scale.end(slot))
    }

    /// The counts, smallest times first, to be compared with later ones.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How long all of them took together; nothing of what was told as counts alone.
    #[must_use]
    pub const fn total(&self) -> Duration {
        self.total
    }

    /// The counts as a histogram whose bounds double: the upper bound in seconds, and what lies between it and the bound
    /// before. `bounds` are powers of two of a microsecond; what is longer than the last stands under infinity.
    #[must_use]
    pub fn buckets(&self, bounds: RangeInclusive<u32>) -> Vec<(f64, u64)> {
        let ends: Vec<Duration> = bounds.map(|power| Duration::from_micros(1 << power.min(62))).collect();
        let mut buckets: Vec<(f64, u64)> = ends.iter().map(|end| (end.as_secs_f64(), 0)).collect();
        buckets.push((f64::INFINITY, 0));
        for (slot, count) in self.counts.iter().enumerate() {
            let bucket = match self.scale.0.get(slot) {
                Some(end) => ends.partition_point(|bound| *bound < Duration::from_micros(*end)),
                None => ends.len(),
            };
            buckets[bucket].1 += count;
        }
        buckets
    }

    /// What was counted since an earlier look.
    #[must_use]
    pub fn since(&self, earlier: &[u64]) -> Self {
        let before = earlier.iter().copied().chain(repeat(0));
        let counts = self.counts.iter().zip(before).map(|(now, before)| now.saturating_sub(before)).collect();
        Self { scale: self.scale, counts, total: Duration::ZERO }
    }
}

/// Counts by the [fine](Scale::FINE) scale.
impl From<Vec<u64>> for Latency {
    fn from(counts: Vec<u64>) -> Self {
        let scale = Scale::FINE;
        Self { scale, counts: counts.into_iter().take(scale.slots()).collect(), total: Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(micros: impl IntoIterator<Item = u64>) -> Latency {
        let histogram = Histogram::default();
        micros.into_iter().for_each(|micros| histogram.note(Duration::from_micros(micros)));
        histogram.snapshot()
    }

    #[test]
    fn times_fall_into_buckets_that_hold_them() {
        let scale = Scale::FINE;
        assert!(scale.0.is_sorted());
        let mut last = 0;
        for micros in (1..100_000_u64).chain([1 << 27]) {
            let slot = scale.slot_of(micros);
            assert!(slot >= last, "{micros}");
            last = slot;
            let end = scale.end(slot).as_micros();
            assert!(u128::from(micros) <= end && end <= u128::from(micros) * 5 / 4 + 1, "{micros}: {end}");
        }
        for micros in [(1 << 27) + 1, u64::MAX] {
            assert_eq!((scale.slot_of(micros), scale.end(scale.slot_of(micros))), (108, scale.end(107)));
        }
    }

    #[test]
    fn buckets_hold_what_is_not_longer_than_their_bound() {
        let times = [1, 100, 127, 129, 1_000, 5_000_000, 1 << 40];
        let latency = after(times);
        let buckets = latency.buckets(7..=10);
        let counts: Vec<u64> = buckets.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [3, 1, 0, 1, 2], "{buckets:?}");
        assert_eq!((buckets[0].0, buckets[3].0), (0.000_128, 0.001_024));
        assert_eq!(latency.count(), 7);
        assert_eq!(latency.total(), Duration::from_micros(times.iter().sum()));
    }

    /// A bound belongs to its bucket, as `le` says, and what no bound holds belongs to none.
    #[test]
    fn bounds_belong_to_their_bucket() {
        let counts =
            |micros, bounds| after([micros]).buckets(bounds).iter().map(|(_, count)| *count).collect::<Vec<_>>();
        assert_eq!(counts(128, 7..=8), [1, 0, 0]);
        assert_eq!(counts(129, 7..=8), [0, 1, 0]);
        assert_eq!(counts(200_000_000, 26..=27), [0, 0, 1]);
        let histogram = Histogram::default();
        histogram.note(Duration::from_nanos(128_001));
        assert_eq!(histogram.snapshot().buckets(7..=7)[1].1, 1, "a part of a microsecond counts");
    }

    #[test]
    fn quantiles() {
        assert_eq!(after([]).quantile(0.5), None);
        let now = after((1..=100).map(|millis| millis * 1_000));
        let close = |share, millis: u128| {
            let found = now.quantile(share).unwrap().as_millis();
            assert!(found >= millis && found <= millis * 5 / 4 + 1, "{share}: {found}");
        };
        close(0.5, 50);
        close(0.99, 99);
        assert_eq!(now.since(now.counts()).quantile(0.5), None);
        assert_eq!(Latency::from(now.counts().to_vec()).quantile(0.5), now.quantile(0.5));
    }

    #[test]
    fn bounds_are_the_callers() {
        let histogram = Histogram::new(Scale::new(&[10, 100]));
        for micros in [5, 10, 11, 5_000] {
            histogram.note(Duration::from_micros(micros));
        }
        assert_eq!(histogram.snapshot().counts(), [2, 1, 1]);
        assert_eq!(histogram.snapshot().quantile(1.0), Some(Duration::from_micros(100)));
        assert_eq!((histogram.halve(), histogram.snapshot().counts()), (1, &[1, 0, 0][..]));
    }
}
