//! Our client against scripted servers on real sockets and pipes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod legacy;
mod modern;
mod repeated;
mod script;
mod socket;
mod sse;
mod stdio;
