//! A small made-up model: what is read, what is refused, and that a text has a vector.

use super::*;

const VOCABULARY: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nread\nfile\nsong\n";

/// A file with one layer of width 8 and 16 inside, its numbers from a fixed sequence.
fn model(without: Option<&str>) -> Vec<u8> {
    let mut tensors: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![7, 8]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![16, 8]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, 8]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![8]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![8]),
    ];
    let layer = |name: &str| format!("encoder.layer.0.{name}");
    for (name, shape) in [
        ("attention.self.query", [8, 8]),
        ("attention.self.key", [8, 8]),
        ("attention.self.value", [8, 8]),
        ("attention.output.dense", [8, 8]),
        ("intermediate.dense", [16, 8]),
        ("output.dense", [8, 16]),
    ] {
        tensors.push((layer(&format!("{name}.weight")), shape.to_vec()));
        tensors.push((layer(&format!("{name}.bias")), vec![shape[0]]));
    }
    for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
        tensors.push((layer(&format!("{name}.weight")), vec![8]));
        tensors.push((layer(&format!("{name}.bias")), vec![8]));
    }
    tensors.retain(|(name, _)| Some(name.as_str()) != without);
    let mut header = serde_json::Map::new();
    let mut data: Vec<u8> = Vec::new();
    for (name, shape) in tensors {
        let count: usize = shape.iter().product();
        let start = data.len();
        for at in 0..count {
            let value = ((at * 31 + start * 7) % 97) as f32 / 97.0 - 0.4;
            data.extend(value.to_le_bytes());
        }
        let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(name, entry);
    }
    let header = serde_json::Value::Object(header).to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn a_text_has_a_vector_that_depends_on_its_words_and_their_order() {
    let model = Transformer::read(&model(None), VOCABULARY.to_owned(), 2).unwrap();
    assert_eq!(model.dimensions(), 8);
    let one = model.embed("read file");
    let length = one.iter().map(|value| value * value).sum::<f32>();
    assert!((length - 1.0).abs() < 1e-4);
    assert_eq!(one, model.embed("READ  file"));
    assert_ne!(one, model.embed("read song"));
    assert_ne!(one, model.embed("file read"));
    // Longer than the model has places: the rest is left out.
    assert_eq!(model.embed(&"read ".repeat(14)), model.embed(&"read ".repeat(500)));
}

#[test]
fn what_is_no_model_is_refused() {
    let whole = model(None);
    let read = |bytes: &[u8], heads| Transformer::read(bytes, VOCABULARY.to_owned(), heads);
    for bytes in [&[][..], &[255; 16], &whole[..whole.len() - 4], &whole[..200]] {
        assert!(read(bytes, 2).is_err());
    }
    for name in
        ["embeddings.LayerNorm.bias", "encoder.layer.0.attention.self.key.weight", "encoder.layer.0.output.dense.bias"]
    {
        assert!(
            matches!(read(&model(Some(name)), 2), Err(TransformerError::Missing(missing)) if missing == name),
            "{name}"
        );
    }
    assert!(read(&whole, 3).is_err(), "heads do not divide the width");
    assert!(Transformer::read(&whole, "[UNK]\n".to_owned(), 2).is_err());
    let longer = format!("{VOCABULARY}more\n");
    assert!(Transformer::read(&whole, longer, 2).is_err(), "a piece without a row");
}
