//! The one internal error type and its renderings.

/// A refusal or failure.
#[derive(Debug)]
pub struct Fault;
