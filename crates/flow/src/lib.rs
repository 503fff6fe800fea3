//! Work over time, as pure state machines: events and `now` in, decisions out.
//!
//! Nothing here reads a clock, waits, or sends. Whoever acts (the kernel) asks, and does what the answer says.

pub mod callback;
pub mod stream;
pub mod subscription;
