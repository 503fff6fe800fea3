//! Paths and scopes (MCPL 7).
