//! The vocabulary of MGP (Model General Protocol): its words, what peers agree on, and what its messages hold.
//!
//! Both the words of the specification and those of its later versions are read; what is written is the
//! specification's. This module says what a word means, never whether something is allowed.

#[macro_use]
mod words;

mod extension;
pub mod negotiation;
pub mod security;
mod version;

pub use extension::{Extension, ExtensionSet};
pub use negotiation::{Agreement, EXTENSION_ID, Offer, Place, ServerDeclaration};
pub use version::{Compatibility, VERSION};
pub use words::{ApprovalPolicy, DefaultPolicy, Risk, TrustLevel, ValidatorName};
