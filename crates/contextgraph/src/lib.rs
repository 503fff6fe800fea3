//! ContextGraph: a memory that learns, forgets and dreams, offered to agents as an MCP server.

pub mod embedders;
pub mod error;
pub mod fingerprint;
mod id;
mod rng;
#[cfg(test)]
mod testing;
pub mod text;
pub mod vector;

pub use error::{Code, Outcome, Problem};
pub use id::{Id, NotAnId};
pub use rng::Rng;
