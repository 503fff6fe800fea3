//! The folder of a transformer, as users have it.
//!
//! It decides which files are read and how large they may be. What is in them is read by `embed`, what the model is good
//! for is decided by the catalog.

use std::fs;
use std::path::Path;

use serde_json::Value;
use switchboard_embed::Transformer;
use switchboard_kernel::Judge;

use crate::failure::{Failure, chain};
use crate::screen;

/// Attention heads of all-MiniLM-L6-v2, where the folder does not say otherwise.
const HEADS: u64 = 12;
/// The largest file that is read: some hundred megabytes are usual.
const MAX_MODEL_BYTES: u64 = 2 << 30;

/// Reads the model in a folder: `model.safetensors`, `vocab.txt` and `config.json`.
pub(crate) fn open(folder: &Path) -> Result<Judge, Failure> {
    let weights = read(folder, "model.safetensors")?;
    let vocabulary = String::from_utf8_lossy(&read(folder, "vocab.txt")?).into_owned();
    let config: Value = serde_json::from_slice(&read(folder, "config.json")?).unwrap_or_default();
    let heads = config["num_attention_heads"].as_u64().unwrap_or(HEADS);
    let heads = usize::try_from(heads).unwrap_or(usize::MAX);
    let model = Transformer::read(&weights, vocabulary, heads);
    model.map(Judge::new).map_err(|error| Failure::failed(format!("{}: {}", shown(folder), chain(&error))))
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, Failure> {
    let path = folder.join(name);
    let unreadable = |error: std::io::Error| Failure::failed(format!("{} cannot be read: {error}", shown(&path)));
    if fs::metadata(&path).map_err(unreadable)?.len() > MAX_MODEL_BYTES {
        return Err(Failure::failed(format!("{} is too large for a model", shown(&path))));
    }
    fs::read(&path).map_err(unreadable)
}

fn shown(path: &Path) -> String {
    screen::plain_line(&path.display().to_string())
}
