//! The memory server as its users see it: through calls, over a connection, and across restarts.

#![expect(clippy::unwrap_used, reason = "the lint knows tests, but not the functions they share")]
#![expect(clippy::needless_pass_by_value, reason = "arguments are written where they are used")]

mod calls;
mod codes;
mod connection;
mod crash;
mod determinism;
mod dreams;
mod erase;
mod events;
mod every_code;
mod graph;
mod joined;
mod living;
mod loops;
mod mended;
mod once;
mod postgres;
mod questions;
mod retrieval;
#[path = "../../questions/set.rs"]
mod set;
mod stores;
mod support;
mod waiting;
