//! The decisions, as pure functions: may this text reach a server?
//!
//! A validator takes what a caller wants to send and says why it is refused, or nothing. This crate deliberately has
//! no async, no clock, no network and no file system: what must be looked up (links, addresses) is given as a value.

pub mod access;
pub mod arguments;
pub mod code;
pub mod definition;
mod finding;
pub mod network;
pub mod path;
pub mod percent;
pub mod permission;
pub mod redact;
pub mod risk;
pub mod schema;
pub mod scope;
pub mod screen;
pub mod shell;

pub use finding::{Answer, Finding, Verdict};
