//! Work over time, as pure state machines: events and the time go in, what is to be done comes out.
//!
//! This crate deliberately has no async, no input or output and no clock of its own. The time is an argument: how long
//! ago something began that the caller chose once (the start of the process). It must not go backwards; where it does,
//! nothing worse happens than a longer wait. Chance is an argument as well.

pub mod breaker;
pub mod callback;
pub mod histogram;
pub mod latency;
pub mod lifecycle;
pub mod meter;
pub mod parking;
pub mod phase;
pub mod refusals;
pub mod restart;
pub mod retry;
pub mod stream;
pub mod subscription;
