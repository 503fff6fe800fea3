//! The wire as a stranger would use it: through the public functions only.

mod envelope;
mod fuzzed;
mod limits;
mod lines;
mod properties;
mod sse;
mod syntax;

use switchboard_wire::{Limits, Message, Raw, Refusal};

/// Reads a message under the usual limits.
fn parse(text: &[u8]) -> Result<Message, Refusal> {
    Message::parse(text.to_vec(), &Limits::default())
}

/// Reads a value under the usual limits.
fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).unwrap_or_else(|error| panic!("{error}: {text}"))
}
