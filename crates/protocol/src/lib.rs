//! The vocabularies that Switchboard speaks, as typed views over raw JSON, and the one [`Fault`] type.
//!
//! This crate decides what a message means: which revision and era a peer speaks, which members a method has, how a
//! refusal is written in the peer's dialect. It deliberately knows no socket, no clock, no configuration and no policy.
//! Forwarding never goes through the typed views: they are read beside the raw bytes, not instead of them.

pub mod address;
pub mod bridge;
pub mod fault;
#[macro_use]
pub mod mcp;
#[macro_use]
pub mod mgp;
mod nearest;
pub mod proposals;
pub mod provenance;
mod revision;
mod secret;
pub mod spoken;

pub use fault::Fault;
pub use nearest::nearest;
pub use revision::{Era, Revision};
pub use secret::{Secret, SentSecret};
