//! One link of the chain: a sequence number and the hash of everything up to it.

use crate::Digest;
use switchboard_wire::canonical::{write_integer, write_signed};

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
    ///
    /// What is hashed is the hash before and the canonical text of the record, `{"event":…,"seq":…,"time":…}`, whose
    /// parts are not put together for it: this is the hot path.
    pub(crate) fn next(&self, time: i64, event: &str) -> Self {
        let seq = self.seq + 1;
        let mut rest = String::with_capacity(64);
        rest.push_str(",\"seq\":");
        write_integer(seq, &mut rest);
        rest.push_str(",\"time\":");
        write_signed(time, &mut rest);
        rest.push('}');
        let parts = [self.hash.as_bytes(), b"{\"event\":".as_slice(), event.as_bytes(), rest.as_bytes()];
        Self { seq, hash: Digest::of_parts(&parts) }
    }
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
