//! Reading bodies: whole ones up to a limit, and streams of events.

use std::fmt;

use bytes::Bytes;
use switchboard_wire::sse::{Decoder, SseEvent};

use super::HttpError;
use super::framing::Framing;
use super::pool::Lease;

/// Reads a body to its end.
pub(super) async fn read_whole(mut framing: Framing, lease: &mut Lease, limit: usize) -> Result<Bytes, HttpError> {
    let body = lease.connection.whole(&mut framing, limit).await.map_err(|failure| lease.failed(failure))?;
    body.ok_or(HttpError::TooLarge(limit))
}

/// Events of a stream, one after the other. Dropping it closes the stream's connection.
pub struct EventStream {
    framing: Framing,
    lease: Option<Lease>,
    decoder: Decoder,
}

impl EventStream {
    pub(super) fn new(framing: Framing, lease: Lease, limit: usize) -> Self {
        Self { framing, lease: Some(lease), decoder: Decoder::new(limit) }
    }

    /// The next event; `None` when the server ended the stream in good order. Safe to give up and call again.
    ///
    /// # Errors
    /// The connection broke, or an event is too long.
    pub async fn next(&mut self) -> Result<Option<SseEvent>, HttpError> {
        loop {
            if let Some(event) = self.decoder.next_event().map_err(|long| HttpError::TooLarge(long.0))? {
                return Ok(Some(event));
            }
            let Some(lease) = &mut self.lease else { return Ok(None) };
            let more = lease.connection.next(&mut self.framing, |data| self.decoder.push(data)).await;
            if more.map_err(|failure| lease.failed(failure))? {
                continue;
            }
            if let Some(lease) = self.lease.take() {
                lease.give_back();
            }
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}
