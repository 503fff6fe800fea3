//! What somebody said about a result of a query, kept so that the same query, or one that is nearly the same, finds better.
//!
//! Of a query only its vectors are kept: 64 numbers of meaning and its terms, not its text. The newest [`KEPT`] judgements count; a later one
//! on the same query and result takes the place of the earlier.

use serde::{Deserialize, Serialize};

use crate::Id;
use crate::fingerprint::Packed;
use crate::vector::{Sparse, dot_i8};

/// Judgements that are kept.
pub const KEPT: usize = 256;
/// Numbers of meaning that are kept of a query.
const MEANING: usize = 64;

/// One judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    meaning: Vec<i8>,
    terms: Vec<u16>,
    foreign: bool,
    /// The result.
    pub result: Id,
    /// How right it was, in `[0, 1]`.
    pub right: f64,
    /// What it is on record as.
    pub record: Id,
}

impl Judged {
    /// How near the query is to another: the same terms, and the same meaning where the table knows the language.
    #[must_use]
    pub fn likeness(&self, query: &Packed) -> f32 {
        let shared = self.terms.iter().filter(|term| query.e6.indices.binary_search(term).is_ok()).count() as f32;
        let all = (self.terms.len() + query.e6.indices.len()) as f32 - shared;
        let words = if all > 0.0 { shared / all } else { 0.0 };
        if self.foreign || query.is_foreign() {
            return words;
        }
        let row = query.scan_row();
        let theirs = row.get(..MEANING).unwrap_or_default();
        let length = |row: &[i8]| (dot_i8(row, row) as f32).sqrt();
        let lengths = length(&self.meaning) * length(theirs);
        let meant = if lengths > 0.0 { dot_i8(&self.meaning, theirs) as f32 / lengths } else { 0.0 };
        // The same words in the same sense; another word for one of them leaves most of the meaning.
        f32::midpoint(words.max(0.0), meant.clamp(0.0, 1.0))
    }
}

/// The judgements of a space, newest last.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Judgements {
    /// All that are kept.
    pub all: Vec<Judged>,
}

impl Judgements {
    /// Keeps a judgement.
    pub fn add(&mut self, query: &Packed, result: Id, right: f64, record: Id) {
        let terms: &Sparse = &query.e6;
        let judged = Judged {
            meaning: query.scan_row().into_iter().take(MEANING).collect(),
            terms: terms.indices.clone(),
            foreign: query.is_foreign(),
            result,
            right: right.clamp(0.0, 1.0),
            record,
        };
        self.all.retain(|other| other.result != result || other.terms != judged.terms);
        self.all.push(judged);
        let extra = self.all.len().saturating_sub(KEPT);
        self.all.drain(..extra);
    }

    /// Forgets what was put on record as this. Whether there was something.
    pub fn take_back(&mut self, record: Id) -> bool {
        let before = self.all.len();
        self.all.retain(|judged| judged.record != record);
        self.all.len() < before
    }

    /// Forgets what was said about a memory.
    pub fn forget(&mut self, memory: Id) {
        self.all.retain(|judged| judged.result != memory);
    }
}
