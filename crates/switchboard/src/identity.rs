//! Who calls: tokens of ours, and signed tokens of an identity provider; and in whose name other
//! people's servers are used. What anybody may do is not decided here.

pub(crate) mod book;
mod claims;
pub(crate) mod door;
mod jwt;
pub(crate) mod keeper;
pub(crate) mod metadata;
pub(crate) mod oidc;
mod seal;
pub(crate) mod vault;
