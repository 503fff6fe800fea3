//! Permissions (MGP 3): what a server may do at all, and which of what it asks for it has.

pub mod name;
