//! The Model Context Protocol, all five revisions: names, metadata keys, and typed views.

pub mod meta;
pub mod method;
