//! One link of the chain: a sequence number and the hash of everything up to it.

use crate::Digest;

/// Where a chain ends, or ended at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) seq: u64,
    pub(crate) hash: Digest,
}

impl Link {
    /// What the first record follows.
    pub(crate) const GENESIS: Self = Self { seq: 0, hash: Digest::ZERO };

    /// The link after this one, for a record with this time (microseconds) and canonical event.
    pub(crate) fn next(&self, time: i64, event: &str) -> Self {
        let seq = self.seq + 1;
        Self { seq, hash: Digest::of_parts(&[self.hash.as_bytes(), envelope(seq, time, event).as_bytes()]) }
    }
}

/// The canonical text of a record: what is hashed. The keys are in canonical order.
pub(crate) fn envelope(seq: u64, time: i64, event: &str) -> String {
    format!("{{\"event\":{event},\"seq\":{seq},\"time\":{time}}}")
}

/// Where an event ended up in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Its sequence number; the first record has 1.
    pub seq: u64,
    /// The hash of the chain up to and including it.
    pub hash: Digest,
}

impl From<Link> for Appended {
    fn from(link: Link) -> Self {
        Self { seq: link.seq, hash: link.hash }
    }
}
