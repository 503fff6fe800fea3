//! The transformer all-MiniLM-L6-v2, or another BERT of its shape, from weights that the caller has read.
//!
//! It decides the vector of a text by attention over its pieces: better than the static table, and some hundred times
//! slower. It is optional; nothing needs it. It reads no file: the bytes of a `model.safetensors` and of a `vocab.txt` are
//! given to it, and are not trusted.
//!
//! # The mathematics
//!
//! Six layers of `x = norm(x + attention(x)); x = norm(x + W2 gelu(W1 x))` over the pieces of the text between `[CLS]` and
//! `[SEP]`, then the mean over all of them, with length one. Products with weights are made in integers: a row of weights
//! and a row of values are each scaled to eleven bits, so that the sum over 1,536 places fits into 32 bits, and the
//! processor multiplies eight pairs at once on any machine. The cosine to the original is above 0.999.

mod layers;
mod weights;

use thiserror::Error;

use crate::table::normalize;
use crate::tokenizer::Tokenizer;
use crate::vocabulary::{Vocabulary, VocabularyError};
use layers::{Layer, Norm, normed};
use weights::Tensors;

/// The model was trained on texts of this many pieces; what follows is left out.
const MOST_PIECES: usize = 128;

/// Why a model cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TransformerError {
    /// The file of weights cannot be read.
    #[error("the weights cannot be read: {0}")]
    Unreadable(&'static str),
    /// A tensor is missing or has another shape.
    #[error("the weights have no tensor `{0}` of the right shape")]
    Missing(String),
    /// The vocabulary cannot be read.
    #[error("the vocabulary cannot be read")]
    Vocabulary(#[source] VocabularyError),
}

/// A transformer that makes vectors of texts.
#[derive(Debug)]
pub struct Transformer {
    tokenizer: Tokenizer,
    width: usize,
    heads: usize,
    words: Vec<f32>,
    places: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

impl Transformer {
    /// Reads a model: the bytes of its `model.safetensors`, the text of its `vocab.txt`, and the number of its attention
    /// heads (12 for all-MiniLM-L6-v2).
    ///
    /// # Errors
    ///
    /// When the bytes are no weights of a BERT.
    pub fn read(safetensors: &[u8], vocabulary: String, heads: usize) -> Result<Self, TransformerError> {
        let tensors = Tensors::open(safetensors)?;
        let vocabulary = Vocabulary::parse(vocabulary).map_err(TransformerError::Vocabulary)?;
        let (count, width) = tensors.shape("embeddings.word_embeddings.weight")?;
        if count < vocabulary.len() || heads == 0 || width % heads != 0 {
            return Err(TransformerError::Missing("embeddings.word_embeddings.weight".to_owned()));
        }
        let words = tensors.values("embeddings.word_embeddings.weight", count, width)?;
        let (positions, _) = tensors.shape("embeddings.position_embeddings.weight")?;
        let mut places = tensors.values("embeddings.position_embeddings.weight", positions, width)?;
        // There is one text, so its kind is always the first: it is added here, once.
        let (kinds, _) = tensors.shape("embeddings.token_type_embeddings.weight")?;
        let kind = tensors.values("embeddings.token_type_embeddings.weight", kinds, width)?;
        for place in places.chunks_exact_mut(width) {
            place.iter_mut().zip(&kind).for_each(|(value, kind)| *value += kind);
        }
        let norm = Norm::read(&tensors, "embeddings.LayerNorm", width)?;
        let mut layers = Vec::new();
        while tensors.has(&format!("encoder.layer.{}.output.dense.weight", layers.len())) {
            layers.push(Layer::read(&tensors, layers.len(), width)?);
        }
        if layers.is_empty() {
            return Err(TransformerError::Missing("encoder.layer.0".to_owned()));
        }
        Ok(Self { tokenizer: Tokenizer::new(vocabulary), width, heads, words, places, norm, layers })
    }

    /// How many numbers a vector has.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.width
    }

    /// The vector of a text, of length one.
    #[must_use]
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let vocabulary = self.tokenizer.vocabulary();
        let most = MOST_PIECES.min(self.places.len() / self.width).max(2) - 2;
        let mut ids = vec![vocabulary.begin()];
        self.tokenizer.each(text, |id| {
            if ids.len() <= most {
                ids.push(id);
            }
        });
        ids.push(vocabulary.end());
        let mut values = Vec::with_capacity(ids.len() * self.width);
        for (place, id) in self.places.chunks_exact(self.width).zip(&ids) {
            let at = *id as usize * self.width;
            // The vocabulary is no longer than the table: checked when it was read.
            let word = &self.words[at..at + self.width];
            values.extend(word.iter().zip(place).map(|(word, place)| word + place));
        }
        normed(&mut values, &self.norm);
        for layer in &self.layers {
            layer.apply(&mut values, self.width, self.heads);
        }
        let mut mean = vec![0.0; self.width];
        for row in values.chunks_exact(self.width) {
            mean.iter_mut().zip(row).for_each(|(total, value)| *total += value);
        }
        normalize(&mut mean);
        mean
    }
}

#[cfg(test)]
mod tests;
