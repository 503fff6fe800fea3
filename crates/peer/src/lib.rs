//! One connection, whichever way it runs: who answers, how to ask, what belongs together.
//!
//! A [`Handler`] answers what arrives, a [`Remote`] sends to the far side. Both look the same on stdio, over HTTP in
//! either era and inside one process, so that whoever routes calls needs to know no transport. This crate decides
//! correlation, deadlines, cancellation, sessions and the era of a peer. It deliberately knows no configuration, no
//! server names and no policy.

pub mod client;
mod context;
pub mod duplex;
mod remote;
pub mod server;

pub use context::{BoxFuture, Caller, Context, Handler, Reply, Session};
pub use remote::{Call, CallError, Remote, SendError};
