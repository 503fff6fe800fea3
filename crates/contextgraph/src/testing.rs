//! A text embedding for tests: spelling alone, so that tests need no table.

use crate::embedders::{TextEmbedding, add_hashed};
use crate::text;

/// Hashed stems.
#[derive(Debug)]
pub(crate) struct Spelling;

impl TextEmbedding for Spelling {
    fn embed(&self, text: &str) -> Vec<f32> {
        let mut out = vec![0f32; 256];
        for stem in text::stems(text) {
            add_hashed(&mut out, stem.as_bytes(), 99, 1.0);
        }
        crate::vector::normalize(&mut out);
        out
    }

    fn name(&self) -> &'static str {
        "spelling, for tests"
    }
}
