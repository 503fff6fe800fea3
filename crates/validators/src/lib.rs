//! What an input is, as pure functions: may this text reach a server?
//!
//! A validator takes what a caller wants to send and says why it is refused, or nothing. This crate deliberately has
//! no async, no clock, no network and no file system: what must be looked up (links, addresses) is given as a value.

pub mod acting;
pub mod arguments;
pub mod code;
pub mod definition;
pub mod network;
mod own_program;
pub mod percent;
pub mod screen;
pub mod shell;
pub mod uri_template;

use switchboard_policy::{Answer, Finding, Verdict};
