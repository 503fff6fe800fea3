//! Registries of servers: the format of the official MCP Registry, read and served.
//!
//! - `document.rs` what a `server.json` says. - `entry.rs` what of it becomes an entry of the configuration (pure).
//! - `reader.rs` reading a registry over HTTP, within bounds. - `source.rs` a copy of a registry for the kernel.
//! - `publish.rs` this kernel as a registry.
//!
//! What a registry says is somebody else's word: it is shown, bounded and made harmless, and it starts nothing.

pub(crate) mod document;
pub(crate) mod entry;
pub(crate) mod publish;
pub(crate) mod reader;
pub(crate) mod source;
