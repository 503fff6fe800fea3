//! Who calls: tokens of ours, and signed tokens of an identity provider. What anybody may do is not decided here.

pub(crate) mod book;
pub(crate) mod door;
