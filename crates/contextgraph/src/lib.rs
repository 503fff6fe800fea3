//! ContextGraph: a memory that learns, forgets and dreams, offered to agents as an MCP server.

pub mod autonomy;
mod bytes;
pub mod causal;
pub mod consciousness;
pub mod dream;
pub mod embedders;
pub mod engine;
pub mod error;
pub mod facts;
pub mod fingerprint;
pub mod graph;
mod id;
pub mod identity;
pub mod johari;
pub mod kuramoto;
pub mod metacognition;
pub mod mind;
pub mod names;
pub mod neuromodulation;
mod rng;
pub mod server;
pub mod steering;
pub mod store;
pub mod teleology;
#[cfg(test)]
mod testing;
pub mod text;
pub mod thresholds;
pub mod tools;
pub mod utl;
pub mod vector;
pub mod workspace;

pub use error::{Code, Outcome, Problem};
pub use id::{Id, NotAnId};
pub use rng::Rng;
pub use server::{MemoryOptions, MemoryServer, Principals, SpaceSharing};
#[cfg(feature = "postgres")]
pub use store::postgres::PostgresStores;
pub use store::sqlite::SqliteStores;
