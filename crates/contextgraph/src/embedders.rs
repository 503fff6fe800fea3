//! The thirteen embedders: what each sees in a memory.
//!
//! | space | what it is here |
//! |---|---|
//! | E1 semantic | the text embedding of the project (256), then hashed stems and pieces of words (768) |
//! | E2, E3, E4 temporal | the exact formulas of the specification, from the time of the memory |
//! | E5 causal | cause clause and effect clause, each embedded, told apart by marker words |
//! | E6 lexical | stems with term frequency and inverse document frequency, hashed to 30,522 |
//! | E7 code | parts of identifiers, embedded (256), and runs of tokens, hashed (1,280) |
//! | E8 graph | the neighbours of the memory in the graph, two steps far, hashed |
//! | E9 hyperdimensional | the exact construction of the specification, 10,000 bits |
//! | E10 multimodal | the text (lower half) and its modality (upper half) |
//! | E11 entity | names (head) and what is said of them (relation) |
//! | E12 late interaction | one embedded vector for each telling word |
//! | E13 expansion | E6 with the words that stand together with them in this store |
//!
//! E1, E5, E7, E10, E11 and E12 stand on the static table of the crate `embed`. None of them is a neural network that
//! runs here: words that the table does not know are known by their spelling only.

pub mod causal;
pub mod code;
pub mod entity;
pub mod graph;
pub mod hdc;
pub mod lexical;
pub mod multimodal;
pub mod semantic;
pub mod space;
pub mod temporal;

use std::fmt;
use std::sync::Arc;

use crate::Code;
use crate::error::{Outcome, Problem};
use crate::fingerprint::Content;
use lexical::WordStatistics;

/// Turns text into a vector of meaning. Implementations are deterministic, and give vectors of one length.
pub trait TextEmbedding: Send + Sync {
    /// The vector of a text, of length 1, or all zeros for a text without a known word.
    fn embed(&self, text: &str) -> Vec<f32>;

    /// A name for status reports.
    fn name(&self) -> &'static str;
}

/// Numbers of a vector of meaning.
pub const MEANING: usize = 256;
/// Characters of a memory that embedders read. What follows is stored and not embedded.
pub const EMBEDDED_CHARS: usize = 16_384;

/// The embedders of one process.
#[derive(Clone)]
pub struct Embedders {
    text: Arc<dyn TextEmbedding>,
}

impl fmt::Debug for Embedders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedders").field("text", &self.text.name()).finish()
    }
}

impl Embedders {
    /// Embedders on a text embedding.
    #[must_use]
    pub fn new(text: Arc<dyn TextEmbedding>) -> Self {
        Self { text }
    }

    /// The name of the text embedding.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.text.name()
    }

    /// Everything that the content alone decides: all spaces but the temporal ones and the graph.
    ///
    /// # Errors
    /// The text embedding gave something that is no vector of meaning.
    pub fn content(&self, text: &str, modality: Modality, vocabulary: &dyn WordStatistics) -> Outcome<Content> {
        let end = text.char_indices().nth(EMBEDDED_CHARS).map_or(text.len(), |(at, _)| at);
        let text = &text[..end];
        let whole = self.text.embed(text);
        if whole.len() < MEANING {
            return Err(self.failed(&format!("{} numbers, {MEANING} are needed", whole.len())));
        }
        let (e5, direction) = causal::embed(&*self.text, text);
        let e6 = lexical::embed(text, vocabulary);
        let content = Content {
            e1: semantic::embed(&whole, text),
            e13: lexical::expand(&e6, vocabulary),
            e5,
            direction,
            e6,
            e7: code::embed(&*self.text, text),
            e9: hdc::embed(text),
            e10: multimodal::embed(&whole, text, modality),
            e11: entity::embed(&*self.text, text),
            e12: semantic::tokens(&*self.text, text, vocabulary),
        };
        let dense = [&content.e1, &content.e5, &content.e7, &content.e10, &content.e11];
        if dense.into_iter().chain(&content.e12).flatten().any(|number| !number.is_finite()) {
            return Err(self.failed("NaN or infinity"));
        }
        Ok(content)
    }

    fn failed(&self, gave: &str) -> Problem {
        let message = format!("the text cannot be embedded: {} gave {gave}; nothing was stored", self.name());
        Problem::new(Code::Embedding, "EMBEDDING_FAILED", message)
    }
}

/// The static table that ships with the project.
#[derive(Debug, Clone, Copy, Default)]
pub struct StaticTable;

impl TextEmbedding for StaticTable {
    fn embed(&self, text: &str) -> Vec<f32> {
        switchboard_embed::Table::shared().embed(text)
    }

    fn name(&self) -> &'static str {
        "static table, 256 dimensions"
    }
}

/// What kind of thing a memory is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Modality {
    #[default]
    Text,
    Code,
    Image,
    Audio,
    Structured,
    Mixed,
}

impl Modality {
    /// All of them, in the order of the specification.
    pub const ALL: [Self; 6] = [Self::Text, Self::Code, Self::Image, Self::Audio, Self::Structured, Self::Mixed];

    /// The word on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Code => "code",
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Structured => "structured",
            Self::Mixed => "mixed",
        }
    }

    /// The modality of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|modality| modality.word() == word)
    }
}

/// Adds a feature to hashed dimensions, with a sign so that collisions cancel out on average.
pub(crate) fn add_hashed(into: &mut [f32], feature: &[u8], seed: u64, weight: f32) {
    let hash = crate::text::hash(feature, seed);
    let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
    // The length is far below 2^32 and not zero where this is called.
    let at = (hash % into.len().max(1) as u64) as usize;
    if let Some(place) = into.get_mut(at) {
        *place += sign * weight;
    }
}

/// Two vectors one after the other, each of length 1, weighted so that the first decides `share` of the likeness.
pub(crate) fn joined(mut first: Vec<f32>, mut second: Vec<f32>, share: f32) -> Vec<f32> {
    crate::vector::normalize(&mut first);
    crate::vector::normalize(&mut second);
    let (a, b) = (share.sqrt(), (1.0 - share).sqrt());
    first.iter_mut().for_each(|x| *x *= a);
    first.extend(second.iter().map(|x| x * b));
    crate::vector::normalize(&mut first);
    first
}

/// The first numbers of a vector, at length 1. The table's numbers fall in weight, so its beginning is its best part.
pub(crate) fn prefix(values: &[f32], length: usize) -> Vec<f32> {
    let mut out: Vec<f32> = values.iter().copied().take(length).collect();
    out.resize(length, 0.0);
    crate::vector::normalize(&mut out);
    out
}

/// Folds a vector to a shorter length, with fixed signs: distances stay about the same.
pub(crate) fn folded(values: &[f32], length: usize) -> Vec<f32> {
    let mut out = vec![0f32; length];
    for (at, value) in values.iter().enumerate() {
        let turn = at / length.max(1);
        let sign = if turn > 0 && crate::text::hash(&(at as u64).to_le_bytes(), 0xf01d) & 1 == 1 { -1.0 } else { 1.0 };
        out[at % length] += sign * value;
    }
    crate::vector::normalize(&mut out);
    out
}
