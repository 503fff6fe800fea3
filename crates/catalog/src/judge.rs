//! A better judge of meaning: a transformer that orders the best of a search anew.
//!
//! It decides which of the tools are read, and when: each once, when it is first among the best of a search, on all
//! processors. What a sentence about a tool is, and where the model comes from, is the caller's.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;
use switchboard_embed::{Transformer, cosine};

use crate::search::{RESCORED, SearchResult};

/// Vectors that are kept. When there are more, all are forgotten: a search needs fifty.
const MOST_KEPT: usize = 20_000;

/// A transformer, and the vectors of what it has read.
pub struct Judge {
    model: Transformer,
    /// By the hash of the sentence, so that a tool that says something else is read again.
    kept: Mutex<HashMap<u64, Arc<[f32]>>>,
    /// One search at a time: it takes all processors.
    turn: Mutex<()>,
    hasher: RandomState,
}

impl Judge {
    /// A judge that has read nothing.
    #[must_use]
    pub fn new(model: Transformer) -> Self {
        Self { model, kept: Mutex::default(), turn: Mutex::default(), hasher: RandomState::new() }
    }

    /// Orders the first [`RESCORED`] tools anew and keeps the best `top`. There is a sentence about each of them
    /// ([`crate::Tool::about`]), in the order of the tools.
    ///
    /// Reading a tool takes some ten milliseconds of a processor, the first time.
    pub fn rescore(&self, found: &mut SearchResult, query: &str, top: usize, sentences: &[String]) {
        let _turn = self.turn.lock();
        let vectors = self.vectors(&sentences[..sentences.len().min(RESCORED)]);
        let query = self.model.embed(query);
        let mut near = vectors.iter().map(|vector| cosine(&query, vector));
        found.rescore(top, |_| near.next().unwrap_or_default());
    }

    /// The vectors of sentences, in their order.
    fn vectors(&self, sentences: &[String]) -> Vec<Arc<[f32]>> {
        let keys: Vec<u64> = sentences.iter().map(|sentence| self.hasher.hash_one(sentence)).collect();
        let mut known: HashMap<u64, Arc<[f32]>> = {
            let kept = self.kept.lock();
            keys.iter().filter_map(|key| Some((*key, kept.get(key)?.clone()))).collect()
        };
        let mut new: Vec<(u64, &str)> = keys.iter().copied().zip(sentences.iter().map(String::as_str)).collect();
        new.retain(|(key, _)| !known.contains_key(key));
        let read = self.read(&new);
        let mut kept = self.kept.lock();
        if kept.len() + read.len() > MOST_KEPT {
            kept.clear();
        }
        kept.extend(read.iter().cloned());
        known.extend(read);
        keys.iter().map(|key| known.get(key).cloned().unwrap_or_default()).collect()
    }

    fn read(&self, new: &[(u64, &str)]) -> Vec<(u64, Arc<[f32]>)> {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let share = new.len().div_ceil(workers).max(1);
        let work = |part: &[(u64, &str)]| -> Vec<(u64, Arc<[f32]>)> {
            part.iter().map(|(key, text)| (*key, self.model.embed(text).into())).collect()
        };
        thread::scope(|scope| {
            let parts: Vec<_> = new.chunks(share).map(|part| scope.spawn(move || work(part))).collect();
            parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
        })
    }
}

impl fmt::Debug for Judge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Judge").field("dimensions", &self.model.dimensions()).finish_non_exhaustive()
    }
}
