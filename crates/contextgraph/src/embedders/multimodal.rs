//! E10: text in the lower half, modality in the upper. How much of the length is in the upper half says how far a memory
//! is from plain text. Pictures and sounds themselves are not looked at: only what is written about them.

use super::{Modality, add_hashed, prefix};
use crate::text;

/// The share of the upper half.
const fn share(modality: Modality) -> f32 {
    match modality {
        Modality::Text => 0.1,
        Modality::Code => 0.25,
        Modality::Structured => 0.4,
        Modality::Mixed => 0.5,
        Modality::Audio => 0.75,
        Modality::Image => 0.9,
    }
}

/// Words that tell of another modality, whatever the tag says.
const TELLING: &[(&str, &[&str])] = &[
    ("image", &["image", "photo", "picture", "screenshot", "diagram", "chart", "drawing", "figure", "icon"]),
    ("audio", &["audio", "sound", "voice", "recording", "music", "podcast", "speech"]),
    ("code", &["function", "class", "struct", "compile", "variable", "api"]),
    ("structured", &["json", "table", "csv", "yaml", "column", "row", "schema"]),
];

/// E10 of a text whose embedding is `whole`.
#[must_use]
pub fn embed(whole: &[f32], text: &str, modality: Modality) -> Vec<f32> {
    let mut lower = vec![0f32; 384];
    for (place, value) in lower.iter_mut().zip(prefix(whole, 256)) {
        *place = value;
    }
    for stem in text::stems(text) {
        add_hashed(&mut lower[256..], stem.as_bytes(), 10, 0.1);
    }
    crate::vector::normalize(&mut lower);
    let mut upper = vec![0f32; 384];
    add_hashed(&mut upper, modality.word().as_bytes(), 100, 4.0);
    for word in text::words(text) {
        for (kind, words) in TELLING {
            if words.contains(&word.as_str()) {
                add_hashed(&mut upper, kind.as_bytes(), 100, 1.0);
            }
        }
    }
    crate::vector::normalize(&mut upper);
    let upper_share = share(modality);
    lower.iter_mut().for_each(|x| *x *= (1.0 - upper_share).sqrt());
    lower.extend(upper.iter().map(|x| x * upper_share.sqrt()));
    crate::vector::normalize(&mut lower);
    lower
}

/// The share of the length that is in the upper half.
#[must_use]
pub fn modality_of(vector: &[f32]) -> f32 {
    let half = vector.len() / 2;
    let energy = |part: &[f32]| part.iter().map(|x| x * x).sum::<f32>();
    let total = energy(vector);
    if total > 0.0 { energy(&vector[half..]) / total } else { 0.0 }
}
