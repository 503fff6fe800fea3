//! Results that come in pieces (MGP 12): which call wants them, and what has been sent.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use switchboard_protocol::mgp::Extension;
use switchboard_protocol::mgp::metadata::Metadata;
use switchboard_protocol::mgp::stream::{StreamChunk, with_pieces};
use switchboard_wire::{Raw, Request};

/// The pieces of one call.
pub(crate) struct Pieces {
    request: Raw,
    sent: AtomicU64,
    began: Instant,
}

impl Pieces {
    /// For a request that asks for pieces, if the server declares that it has them.
    pub(crate) fn wanted_by(request: &Request, declared: &[Extension]) -> Option<Self> {
        if !declared.contains(&Extension::Streaming) {
            return None;
        }
        let metadata = Metadata::of(request.params.as_ref(), &request.extra).ok()?;
        let pieces = || Self { request: request.id.to_raw(), sent: AtomicU64::new(0), began: Instant::now() };
        metadata.wants_stream().then(pieces)
    }

    /// The notice that carries the next piece.
    pub(crate) fn next(&self, content: Raw) -> StreamChunk {
        let index = self.sent.fetch_add(1, Ordering::Relaxed);
        StreamChunk::new(self.request.clone(), index).content(content).done(false)
    }

    /// The final result, which says what came before it.
    pub(crate) fn told_in(&self, result: Raw) -> Raw {
        let sent = self.sent.load(Ordering::Relaxed);
        if sent == 0 {
            return result;
        }
        with_pieces(result, sent, self.began.elapsed())
    }
}
