//! Who calls: tokens of ours, and signed tokens of an identity provider. What anybody may do is not decided here.

pub(crate) mod book;
mod claims;
pub(crate) mod door;
mod jwt;
pub(crate) mod metadata;
pub(crate) mod oidc;
