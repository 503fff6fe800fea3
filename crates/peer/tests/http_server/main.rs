//! The HTTP face over real loopback sockets, in both eras.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod client;
mod legacy;
mod lifecycle;
mod modern;
mod old_sse;
mod resume;
mod script;
mod streams;
