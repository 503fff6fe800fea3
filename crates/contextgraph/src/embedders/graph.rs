//! E8: where a memory stands among others. Its neighbours with the weight of their edges, and theirs at half, hashed.

use super::add_hashed;
use crate::Id;

/// E8 from neighbours and their weights. A memory without any has a vector of zeros: it stands nowhere.
#[must_use]
pub fn embed(neighbours: impl Iterator<Item = (Id, f32)>) -> Vec<f32> {
    let mut out = vec![0f32; 384];
    for (id, weight) in neighbours {
        add_hashed(&mut out, &id.to_bytes(), 8, weight);
    }
    crate::vector::normalize(&mut out);
    out
}
