//! The vocabulary of MGP (Model General Protocol): its words, what peers agree on, and what its messages hold.
//!
//! Both the words of the specification and those of its later versions are read; what is written is the
//! specification's. This module says what a word means, never whether something is allowed.

#[macro_use]
mod words;

/// Lets words of [`words!`] stand in views: an unknown word is a wrong shape.
macro_rules! words_on_wire {
    ($($name:ident),+) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::from_word(&word).ok_or_else(|| serde::de::Error::unknown_variant(&word, Self::WORDS))
            }
        }
    )+};
}

pub mod access;
pub mod audit;
pub mod callback;
pub mod envelope;
pub mod event;
mod extension;
pub mod metadata;
pub mod method;
pub mod negotiation;
pub mod permission;
pub mod security;
pub mod stream;
mod version;

pub use envelope::{ConfirmationRequest, Rejection, RejectionCode, RejectionStatus};
pub use extension::{Extension, ExtensionSet};
pub use metadata::{Confirmation, Delegation, Malformed, Metadata};
pub use negotiation::{Agreement, EXTENSION_ID, NegotiationPlace, Offer, ServerDeclaration};
pub use version::{Compatibility, VERSION};
pub use words::{ApprovalPolicy, DefaultPolicy, RestartMode, Risk, TrustLevel, ValidatorName};
