//! Who may do what, as pure functions: permissions, access, scopes, risk, schemas of arguments, and what is masked.
//!
//! A decision takes what is asked for and what is known, and says why it is refused, or nothing. This crate deliberately
//! has no async, no clock, no network and no file system: what must be looked up (links) is given as a value. It reads no
//! language either: what a command, a program or a statement does is told by `switchboard-validators`.

pub mod access;
mod finding;
pub mod key_role;
pub mod keys;
pub mod path;
pub mod permission;
pub mod redact;
pub mod risk;
pub mod schema;
pub mod scope;
pub mod secrets;

pub use finding::{Answer, Finding, Verdict};
