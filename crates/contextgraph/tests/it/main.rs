//! The memory server as its users see it: through calls, over a connection, and across restarts.

mod calls;
mod codes;
mod connection;
mod crash;
mod determinism;
mod dreams;
mod retrieval;
mod support;
