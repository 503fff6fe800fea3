//! The gate: what it refuses, whom it asks, and what it puts on record.
#![allow(clippy::unwrap_used, reason = "a test that finds nothing to unwrap has failed")]

mod audit;
mod confirm;
mod crash;
mod discovery;
mod lists;
mod negotiation;
mod permissions;
mod pins;
mod revoke;
mod traps;
mod validators;
mod world;
