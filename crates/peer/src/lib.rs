//! One connection, whichever way it runs: who answers, how to ask, what belongs together.
//!
//! A [`Handler`] answers what arrives, a [`Remote`] sends to the far side. Both look the same on stdio, over HTTP in
//! either era and inside one process, so that whoever routes calls needs to know no transport. This crate decides
//! correlation, deadlines, cancellation, sessions and the era of a peer. It deliberately knows no configuration, no
//! server names and no policy.

pub mod client;
mod context;
pub mod duplex;
mod ids;
pub mod oauth;
mod remote;
pub mod server;

pub use context::{BoxFuture, Caller, Context, Handler, Reply, Session};
pub use remote::{Call, CallError, Remote, SendError};
pub use switchboard_transport::http_server::{BadScope, Identity, Method, Principal, Scopes};

/// A text that cannot be guessed: 128 random bits in hexadecimal.
#[must_use]
pub fn random_token() -> String {
    let mut bytes = [0u8; 16];
    // Without randomness no token keeps anybody out: ending at once is the only safe way on.
    getrandom::fill(&mut bytes).unwrap_or_else(|_| std::process::abort());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
