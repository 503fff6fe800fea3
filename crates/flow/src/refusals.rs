//! Refusals that repeat themselves: how often the very same call was refused for the very same reason. Only what was refused
//! leaves anything here, and for a short while.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long a refusal is remembered.
const MEMORY: Duration = Duration::from_secs(600);
/// How many are.
const MAX_REFUSALS: usize = 4_096;

/// The refusals of the last minutes.
#[derive(Debug, Default)]
pub struct Refusals(HashMap<[u8; 32], (Instant, u32)>);

impl Refusals {
    /// How often this was refused, this time included. Where too many are remembered, others count as new.
    pub fn count(&mut self, key: [u8; 32], now: Instant) -> u32 {
        let is_over = |at: Instant| now.saturating_duration_since(at) >= MEMORY;
        if self.0.len() >= MAX_REFUSALS {
            self.0.retain(|_, (at, _)| !is_over(*at));
        }
        if self.0.len() >= MAX_REFUSALS && !self.0.contains_key(&key) {
            return 1;
        }
        let entry = self.0.entry(key).or_insert((now, 0));
        let before = if is_over(entry.0) { 0 } else { entry.1 };
        *entry = (now, before.saturating_add(1));
        entry.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
    fn refusals_are_counted_for_a_while() {
        let began = Instant::now();
        let mut refusals = Refusals::default();
        for (key, seconds, count) in [(1, 0, 1), (1, 1, 2), (2, 1, 1), (1, 600, 3), (1, 1_200, 1)] {
            assert_eq!(refusals.count([key; 32], began + Duration::from_secs(seconds)), count, "{key} at {seconds}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test begins somewhere")]
    fn they_are_bounded() {
        let now = Instant::now();
        let mut refusals = Refusals::default();
        for number in 0..2 * MAX_REFUSALS {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            refusals.count(key, now);
        }
        assert!(refusals.0.len() <= MAX_REFUSALS);
    }
}
