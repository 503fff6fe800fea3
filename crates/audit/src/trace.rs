//! Names of requests, by which their events are found.
//!
//! What is done for a request runs [`within`] the trace of that request, so that every event that is made meanwhile
//! belongs to it. What the kernel does by itself has a trace of its own.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;

/// Digits of a trace that are the same for all of one process.
const PROCESS_DIGITS: usize = 12;

tokio::task_local! {
    /// The trace of the request that is being answered.
    static CURRENT: Arc<str>;
}

/// Does something for a request: events that are made meanwhile have its trace, or a new one where it has none.
pub async fn within<W: Future>(trace: Option<String>, work: W) -> W::Output {
    CURRENT.scope(trace.unwrap_or_else(new_trace).into(), work).await
}

/// The trace of the request that is being answered, or a new one.
#[must_use]
pub fn current() -> String {
    CURRENT.try_with(|trace| trace.as_ref().to_owned()).unwrap_or_else(|_| new_trace())
}

/// A trace id in the form of W3C: 32 hexadecimal digits. Those made one after the other are neighbours, so that an
/// index over them grows at its end. It need not be hard to guess.
#[must_use]
pub fn new_trace() -> String {
    static PROCESS: LazyLock<String> = LazyLock::new(|| crate::random_name(PROCESS_DIGITS));
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
