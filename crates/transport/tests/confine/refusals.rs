//! What cannot be enforced is not started.
