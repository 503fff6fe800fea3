//! What a server has been doing, in numbers: calls, failures, how long they took.
//!
//! Counts only. It does not decide what follows from the numbers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::fault::{Fault, FaultKind};

/// Steps of one doubling of time.
const STEPS: usize = 4;
/// Doublings, from one microsecond on: more than two minutes are as long as two minutes.
const OCTAVES: usize = 27;
/// Counters of times.
const SLOTS: usize = STEPS * OCTAVES;

/// How long calls took: counted by size, about a fifth from one to the next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Latency {
    counts: Vec<u64>,
    /// All of them together.
    total: Duration,
}

impl Latency {
    /// The time that this share of the calls did not exceed, by about a fifth; nothing where there were no calls.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let total: u64 = self.count();
        if total == 0 {
            return None;
        }
        let wanted = ((total as f64 * share).ceil() as u64).clamp(1, total);
        let mut seen = 0;
        let slot = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        slot.map(upper_end)
    }

    /// The counts, smallest times first, to be compared with later ones.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many calls were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How long all of them took together; nothing of what was told as counts alone.
    #[must_use]
    pub const fn total(&self) -> Duration {
        self.total
    }

    /// The counts as a histogram whose bounds double: the upper bound in seconds, and the calls between it and the bound
    /// before. `bounds` are powers of two of a microsecond; what is longer than the last stands under infinity.
    #[must_use]
    pub fn buckets(&self, bounds: std::ops::RangeInclusive<u32>) -> Vec<(f64, u64)> {
        let mut buckets: Vec<(f64, u64)> =
            bounds.clone().map(|power| (Duration::from_micros(1 << power.min(62)).as_secs_f64(), 0)).collect();
        buckets.push((f64::INFINITY, 0));
        let first = usize::try_from(*bounds.start()).unwrap_or(usize::MAX);
        let last = buckets.len() - 1;
        for (slot, count) in self.counts.iter().enumerate() {
            // A slot of the octave n ends at most where the power n + 1 does.
            let bucket = (slot / STEPS + 1).saturating_sub(first).min(last);
            buckets[bucket].1 += count;
        }
        buckets
    }

    /// What was counted since an earlier look.
    #[must_use]
    pub fn since(&self, earlier: &[u64]) -> Self {
        let before = earlier.iter().copied().chain(std::iter::repeat(0));
        Self::from(self.counts.iter().zip(before).map(|(now, before)| now.saturating_sub(before)).collect::<Vec<_>>())
    }
}

impl From<Vec<u64>> for Latency {
    fn from(counts: Vec<u64>) -> Self {
        Self { counts: counts.into_iter().take(SLOTS).collect(), total: Duration::ZERO }
    }
}

fn slot_of(time: Duration) -> usize {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1);
    let octave = usize::try_from(micros.ilog2()).unwrap_or(OCTAVES);
    // The two bits below the highest one.
    let within = if octave >= 2 { (micros >> (octave - 2)) & 3 } else { (micros << (2 - octave)) & 3 };
    (octave * STEPS + usize::try_from(within).unwrap_or_default()).min(SLOTS - 1)
}

fn upper_end(slot: usize) -> Duration {
    let (octave, within) = (slot / STEPS, slot % STEPS);
    let quarters = u64::try_from(STEPS + within + 1).unwrap_or(u64::MAX);
    let micros = (quarters << octave) / 4;
    Duration::from_micros(micros)
}

/// The counters of one server. They outlive its restarts.
#[derive(Debug)]
pub struct Stats {
    calls: AtomicU64,
    failures: AtomicU64,
    lost: AtomicU64,
    dropped: AtomicU64,
    slots: [AtomicU64; SLOTS],
    total_micros: AtomicU64,
    last_error: Mutex<Option<String>>,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            calls: AtomicU64::default(),
            failures: AtomicU64::default(),
            lost: AtomicU64::default(),
            dropped: AtomicU64::default(),
            slots: [const { AtomicU64::new(0) }; SLOTS],
            total_micros: AtomicU64::default(),
            last_error: Mutex::default(),
        }
    }
}

impl Stats {
    /// A call was answered, or failed, after that time.
    pub fn note(&self, took: Duration, failed: Option<&Fault>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.slots[slot_of(took)].fetch_add(1, Ordering::Relaxed);
        self.total_micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(fault) = failed
            && !matches!(fault.kind(), FaultKind::Cancelled | FaultKind::AccessDenied | FaultKind::AuthExpired)
        {
            self.failures.fetch_add(1, Ordering::Relaxed);
            *self.last_error.lock() = Some(fault.message().to_owned());
        }
    }

    /// A call lost its connection before it was answered.
    pub fn note_lost(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls that lost their connection.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// A notification was thrown away because there were too many; how many so far.
    pub fn note_dropped(&self) -> u64 {
        self.dropped.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// All of it now.
    pub fn snapshot(&self) -> Activity {
        Activity {
            calls: self.calls.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            dropped_notifications: self.dropped.load(Ordering::Relaxed),
            latency: Latency {
                counts: self.slots.iter().map(|slot| slot.load(Ordering::Relaxed)).collect(),
                total: Duration::from_micros(self.total_micros.load(Ordering::Relaxed)),
            },
            last_error: self.last_error.lock().clone(),
        }
    }
}

/// What a server has been doing since the kernel began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Activity {
    /// Requests of clients that were sent to it.
    pub calls: u64,
    /// Those that got no answer of it.
    pub failures: u64,
    /// Notifications of it that were thrown away because there were too many.
    pub dropped_notifications: u64,
    /// How long requests took.
    pub latency: Latency,
    /// Why the last one failed.
    pub last_error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fall_into_slots_that_hold_them() {
        let mut last = 0;
        for micros in (1..100_000_u64).chain([1 << 30, u64::MAX]) {
            let slot = slot_of(Duration::from_micros(micros));
            assert!(slot >= last, "{micros}");
            last = slot;
            if micros < 100_000 {
                let upper = upper_end(slot).as_micros();
                assert!(
                    u128::from(micros) <= upper.max(1) && upper <= u128::from(micros) * 5 / 4 + 1,
                    "{micros}: {upper}"
                );
            }
        }
    }

    #[test]
    fn buckets_hold_what_is_not_longer_than_their_bound() {
        let stats = Stats::default();
        for micros in [1, 100, 127, 129, 1_000, 5_000_000, 1 << 40] {
            stats.note(Duration::from_micros(micros), None);
        }
        let latency = stats.snapshot().latency;
        let buckets = latency.buckets(7..=10);
        let counts: Vec<u64> = buckets.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [3, 1, 0, 1, 2], "{buckets:?}");
        assert_eq!((buckets[0].0, buckets[3].0), (0.000_128, 0.001_024));
        assert_eq!(latency.count(), 7);
        assert_eq!(latency.total(), Duration::from_micros(1 + 100 + 127 + 129 + 1_000 + 5_000_000 + (1 << 40)));
    }

    #[test]
    fn quantiles() {
        let stats = Stats::default();
        assert_eq!(stats.snapshot().latency.quantile(0.5), None);
        for millis in 1..=100 {
            stats.note(Duration::from_millis(millis), None);
        }
        let now = stats.snapshot();
        let close = |share, millis: u128| {
            let found = now.latency.quantile(share).unwrap().as_millis();
            assert!(found >= millis && found <= millis * 5 / 4 + 1, "{share}: {found}");
        };
        close(0.5, 50);
        close(0.99, 99);
        assert_eq!(now.latency.since(now.latency.counts()).quantile(0.5), None);
    }
}
