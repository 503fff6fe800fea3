//! What the bench binaries share: the MCP client that makes the load, its accounting, and the accept loop of the
//! two small servers.
//!
//! Deliberately independent of every other crate here: a generator built on the code it measures would share its bugs.

pub mod connection;
pub mod endpoint;
pub mod error;
pub mod load;
pub mod message;
pub mod procfs;
pub mod serve;
pub mod sse;

pub use error::{Error, Result};
