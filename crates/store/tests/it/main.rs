//! The store against real engines, real files and real crashes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chain;
mod contract;
mod crash;
mod limits;
mod open;
mod postgres;
mod sample;
