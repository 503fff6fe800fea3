//! Names of calls, by which their events are found.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::Timestamp;
use switchboard_protocol::mgp::metadata::Metadata;
use switchboard_store::Digest;

/// What ties the events of one call together: the caller's own trace, or a new one.
pub(crate) fn trace_of(metadata: &Metadata) -> String {
    metadata.trace_id().unwrap_or_else(new_trace)
}

/// A trace id in the form of W3C: 32 hexadecimal digits. Those made one after the other are neighbours, so that an
/// index over them grows at its end. It need not be hard to guess.
fn new_trace() -> String {
    static PROCESS: LazyLock<String> = LazyLock::new(|| {
        let token = switchboard_peer::random_token();
        Digest::of(token.as_bytes()).to_string().chars().take(12).collect()
    });
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = u64::from(COUNT.fetch_add(1, Ordering::Relaxed));
    // A negative time is before 1970: whatever digits that gives are as good as others.
    let millis = Timestamp::now().as_millisecond().cast_unsigned();
    let mut trace = String::with_capacity(32);
    push_hex(&mut trace, millis, 12);
    push_hex(&mut trace, count, 8);
    trace.push_str(&PROCESS);
    trace
}

/// Writes the last digits of a number: each call has one, and formatting costs ten times as much.
fn push_hex(text: &mut String, number: u64, digits: u32) {
    for place in (0..digits).rev() {
        text.push(char::from(b"0123456789abcdef"[usize::from((number >> (4 * place)) as u8 & 0xf)]));
    }
}
