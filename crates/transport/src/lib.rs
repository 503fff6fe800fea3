//! Bytes in and out: stdio, child processes, HTTP client and server. Thin on purpose.
//!
//! This crate moves frames and enforces what must be enforced before a message is read: sizes, deadlines, hosts,
//! origins, tokens, process groups. It deliberately knows no method, no session and no id.

pub mod alarm;
pub mod child;
pub mod confine;
#[cfg(target_os = "linux")]
mod handover;
pub mod http_client;
pub mod http_server;
