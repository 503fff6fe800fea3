//! The vocabulary of MGP (Model General Protocol): its words, what peers agree on, and what its messages hold.
//!
//! Both the words of the specification and those of its later versions are read; what is written is the
//! specification's. This module says what a word means, never whether something is allowed.

pub mod security;
mod words;

pub use words::{ApprovalPolicy, DefaultPolicy, Risk, TrustLevel, ValidatorName};
