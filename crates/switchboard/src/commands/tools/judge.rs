//! A transformer that orders the best results anew, from a folder of the user's.
//!
//! It decides where the model's files are and which tools are read when. A tool is read once, when it is first among the
//! best of a search, on all processors.

use std::collections::HashMap;
use std::path::Path;
use std::{fs, thread};

use serde_json::Value;
use switchboard_catalog::{Found, RESCORED, Tool};
use switchboard_embed::{Transformer, cosine};

use crate::arguments::ToolsSearch;
use crate::failure::{Failure, chain};
use crate::screen;

/// Attention heads of all-MiniLM-L6-v2, where the folder does not say otherwise.
const HEADS: u64 = 12;
/// The largest file that is read: some hundred megabytes are usual.
const LARGEST: u64 = 2 << 30;

/// A transformer, and the vectors of the tools that it has read.
pub(super) struct Judge {
    model: Transformer,
    texts: HashMap<String, String>,
    vectors: HashMap<String, Vec<f32>>,
}

impl Judge {
    /// The judge that the user asked for, if any.
    pub(super) fn open(options: &ToolsSearch, known: &[Tool]) -> Result<Option<Self>, Failure> {
        let Some(folder) = &options.model else { return Ok(None) };
        let weights = read(folder, "model.safetensors")?;
        let vocabulary = String::from_utf8_lossy(&read(folder, "vocab.txt")?).into_owned();
        let config: Value = serde_json::from_slice(&read(folder, "config.json")?).unwrap_or_default();
        let heads = config["num_attention_heads"].as_u64().unwrap_or(HEADS);
        let heads = usize::try_from(heads).unwrap_or(usize::MAX);
        let model = Transformer::read(&weights, vocabulary, heads);
        let model = model.map_err(|error| Failure::failed(format!("{}: {}", shown(folder), chain(&error))))?;
        let texts = known.iter().map(|tool| (tool.id.clone(), tool.about())).collect();
        Ok(Some(Self { model, texts, vectors: HashMap::new() }))
    }

    /// Orders the best anew and keeps `top` of them.
    pub(super) fn rescore(&mut self, found: &mut Found, query: &str, top: usize) {
        self.learn(found);
        let query = self.model.embed(query);
        found.rescore(top, |hit| self.vectors.get(&*hit.id).map_or(0.0, |vector| cosine(&query, vector)));
    }

    /// Reads those of the best that were not read before.
    fn learn(&mut self, found: &Found) {
        let best = found.hits.iter().take(RESCORED).map(|hit| &*hit.id);
        let new: Vec<(&str, &str)> = best
            .filter(|id| !self.vectors.contains_key(*id))
            .filter_map(|id| Some((id, self.texts.get(id)?.as_str())))
            .collect();
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let share = new.len().div_ceil(workers).max(1);
        let model = &self.model;
        let work = |part: &[(&str, &str)]| -> Vec<(String, Vec<f32>)> {
            part.iter().map(|(id, text)| ((*id).to_owned(), model.embed(text))).collect()
        };
        let learnt: Vec<_> = thread::scope(|scope| {
            let parts: Vec<_> = new.chunks(share).map(|part| scope.spawn(move || work(part))).collect();
            parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
        });
        self.vectors.extend(learnt);
    }
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, Failure> {
    let path = folder.join(name);
    let unreadable = |error: std::io::Error| Failure::failed(format!("{} cannot be read: {error}", shown(&path)));
    if fs::metadata(&path).map_err(unreadable)?.len() > LARGEST {
        return Err(Failure::failed(format!("{} is too large for a model", shown(&path))));
    }
    fs::read(&path).map_err(unreadable)
}

fn shown(path: &Path) -> String {
    screen::plain_line(&path.display().to_string())
}
