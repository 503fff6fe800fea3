//! What a person agreed to, and what a definition was when it was accepted, as a hash of its exact canonical text: numbers
//! keep their digits, and a value in which a member stands twice has no hash. Pure.

use switchboard_store::Digest;
use switchboard_wire::canonical::exact;
use switchboard_wire::{Raw, Refusal};

pub use switchboard_wire::canonical::exact as text;

/// The hash of the exact canonical text.
///
/// # Errors
/// As [`exact`].
pub fn digest(raw: &Raw) -> Result<Digest, Refusal> {
    exact(raw).map(|text| Digest::of(text.as_bytes()))
}
