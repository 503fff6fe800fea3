//! Reading bodies: whole ones up to a limit, and streams of events.

use std::fmt;

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use switchboard_wire::sse::{Decoder, Event};

use super::HttpError;
use super::pool::Lease;

/// Reads a body to its end, then gives the connection back.
pub(super) async fn read_whole(mut body: Incoming, lease: Lease, limit: usize) -> Result<Bytes, HttpError> {
    if body.size_hint().lower() > limit as u64 {
        return Err(HttpError::TooLarge(limit));
    }
    let mut first = Bytes::new();
    let mut joined: Option<BytesMut> = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| lease.broken(&error))?;
        let Ok(data) = frame.into_data() else { continue };
        let length = joined.as_ref().map_or(first.len(), BytesMut::len) + data.len();
        if length > limit {
            return Err(HttpError::TooLarge(limit));
        }
        // One frame is the usual case, and needs no copy.
        match &mut joined {
            Some(joined) => joined.extend_from_slice(&data),
            None if first.is_empty() => first = data,
            None => {
                let mut both = BytesMut::with_capacity(length.max(16 << 10));
                both.extend_from_slice(&first);
                both.extend_from_slice(&data);
                joined = Some(both);
            }
        }
    }
    lease.give_back();
    Ok(joined.map_or(first, BytesMut::freeze))
}

/// Events of a stream, one after the other. Dropping it closes the stream's connection.
pub struct EventStream {
    body: Incoming,
    lease: Option<Lease>,
    decoder: Decoder,
}

impl EventStream {
    pub(super) fn new(body: Incoming, lease: Lease, limit: usize) -> Self {
        Self { body, lease: Some(lease), decoder: Decoder::new(limit) }
    }

    /// The next event; `None` when the server ended the stream in good order. Safe to give up and call again.
    ///
    /// # Errors
    /// The connection broke, or an event is too long.
    pub async fn next(&mut self) -> Result<Option<Event>, HttpError> {
        loop {
            if let Some(event) = self.decoder.next_event().map_err(|long| HttpError::TooLarge(long.0))? {
                return Ok(Some(event));
            }
            let Some(frame) = self.body.frame().await else {
                if let Some(lease) = self.lease.take() {
                    lease.give_back();
                }
                return Ok(None);
            };
            match (frame, &self.lease) {
                (Ok(frame), _) => {
                    if let Ok(data) = frame.into_data() {
                        self.decoder.push(&data);
                    }
                }
                (Err(error), Some(lease)) => return Err(lease.broken(&error)),
                (Err(_), None) => return Ok(None),
            }
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}
