//! Ids of our requests: no far side can tell the next one from those it has seen.
//!
//! A server that knew the id of a call to come could lay an answer ready for it, on a connection that another principal's
//! call is sent over next. So ids do not count up: they are a counter that was shuffled with a key (a Feistel network over
//! a keyed hash), which repeats none before all were used, and can be undone by who has the key. They have 30 bits, because
//! there are servers that keep ids in 32 (rmcp did); whoever guesses wrong loses the connection.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits of an id, and of its halves.
const BITS: u32 = 30;
const HALF: u32 = BITS / 2;
const ROUNDS: u64 = 4;

/// Where the ids of one connection come from.
#[derive(Default)]
pub(crate) struct Ids {
    key: RandomState,
    next: AtomicU64,
}

impl Ids {
    /// An id, and its place in the order of all ids.
    pub(crate) fn next(&self) -> (u64, u64) {
        loop {
            let order = self.next.fetch_add(1, Ordering::Relaxed);
            let id = self.shuffle(order % (1 << BITS));
            // Some take 0 for no id.
            if id != 0 {
                return (id, order);
            }
        }
    }

    /// Whether an id was given out.
    pub(crate) fn was_given(&self, id: u64) -> bool {
        id != 0 && id < 1 << BITS && self.unshuffle(id) < self.next.load(Ordering::Relaxed)
    }

    fn shuffle(&self, number: u64) -> u64 {
        let halves = (number >> HALF, number % (1 << HALF));
        let (left, right) = (0..ROUNDS).fold(halves, |(left, right), round| (right, left ^ self.mix(round, right)));
        left << HALF | right
    }

    fn unshuffle(&self, id: u64) -> u64 {
        let halves = (id >> HALF, id % (1 << HALF));
        let (left, right) =
            (0..ROUNDS).rev().fold(halves, |(left, right), round| (right ^ self.mix(round, left), left));
        left << HALF | right
    }

    fn mix(&self, round: u64, half: u64) -> u64 {
        self.key.hash_one(round << BITS | half) >> (u64::BITS - HALF)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_do_not_tell_the_next_one() {
        let (one, other) = (Ids::default(), Ids::default());
        let ids: Vec<u64> = (0..1000).map(|_| one.next().0).collect();
        assert!(ids.iter().all(|id| (1..1 << BITS).contains(id)));
        let steps: std::collections::HashSet<u64> = ids.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
        assert!(steps.len() > 990, "the steps between them repeat");
        assert_ne!(ids[..8], (0..8).map(|_| other.next().0).collect::<Vec<_>>()[..], "another connection has others");
    }

    #[test]
    fn no_id_is_given_twice_and_those_that_were_given_are_known() {
        let ids = Ids::default();
        let given: std::collections::HashSet<u64> = (0..20_000).map(|_| ids.next().0).collect();
        assert_eq!(given.len(), 20_000);
        assert!(given.iter().all(|id| ids.was_given(*id)));
        let foreign = (0..20_000).filter(|id| !given.contains(id) && ids.was_given(*id)).count();
        assert_eq!(foreign, 0);
        assert!(!ids.was_given(0) && !ids.was_given(u64::MAX));
    }
}
