//! A transformer that knows a few words, to be read where a real one would be.
//!
//! Its layers change nothing: a text means the mean of its words, words that are alike mean the same, and every word that
//! it does not know means nothing.

use std::path::Path;
use std::{fs, io};

use serde_json::{Map, Value, json};

/// Numbers of a vector.
const WIDTH: usize = 8;
/// Numbers inside a layer.
const INNER: usize = 8;
/// Pieces of a text.
const PLACES: usize = 64;
/// The entries before the words.
const SPECIAL: [&str; 4] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];

/// Writes the files of a model into a folder. Each entry of `alike` holds words that mean the same.
///
/// # Errors
/// The files cannot be written.
pub fn write(folder: &Path, alike: &[&[&str]]) -> io::Result<()> {
    let words: Vec<&str> = SPECIAL.iter().chain(alike.iter().copied().flatten()).copied().collect();
    let mut vectors = vec![0.0; SPECIAL.len() * WIDTH];
    for (number, group) in alike.iter().enumerate() {
        let mut vector = [0.0; WIDTH];
        vector[number % WIDTH] = 1.0;
        group.iter().for_each(|_| vectors.extend(vector));
    }
    let mut tensors = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![words.len(), WIDTH], vectors),
        filled("embeddings.position_embeddings.weight", &[PLACES, WIDTH], 0.0),
        filled("embeddings.token_type_embeddings.weight", &[2, WIDTH], 0.0),
        filled("embeddings.LayerNorm.weight", &[WIDTH], 1.0),
        filled("embeddings.LayerNorm.bias", &[WIDTH], 0.0),
    ];
    for (name, shape) in [
        ("attention.self.query", [WIDTH, WIDTH]),
        ("attention.self.key", [WIDTH, WIDTH]),
        ("attention.self.value", [WIDTH, WIDTH]),
        ("attention.output.dense", [WIDTH, WIDTH]),
        ("intermediate.dense", [INNER, WIDTH]),
        ("output.dense", [WIDTH, INNER]),
    ] {
        tensors.push(filled(&format!("encoder.layer.0.{name}.weight"), &shape, 0.0));
        tensors.push(filled(&format!("encoder.layer.0.{name}.bias"), &shape[..1], 0.0));
    }
    for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
        tensors.push(filled(&format!("encoder.layer.0.{name}.weight"), &[WIDTH], 1.0));
        tensors.push(filled(&format!("encoder.layer.0.{name}.bias"), &[WIDTH], 0.0));
    }
    fs::create_dir_all(folder)?;
    fs::write(folder.join("model.safetensors"), safetensors(&tensors))?;
    fs::write(folder.join("vocab.txt"), words.join("\n") + "\n")?;
    fs::write(folder.join("config.json"), json!({"num_attention_heads": 2}).to_string())
}

type Tensor = (String, Vec<usize>, Vec<f32>);

fn filled(name: &str, shape: &[usize], value: f32) -> Tensor {
    (name.to_owned(), shape.to_vec(), vec![value; shape.iter().product()])
}

fn safetensors(tensors: &[Tensor]) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for (name, shape, values) in tensors {
        let start = data.len();
        values.iter().for_each(|value| data.extend(value.to_le_bytes()));
        let entry = json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(name.clone(), entry);
    }
    let header = Value::Object(header).to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}
