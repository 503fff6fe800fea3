//! E7: code. The parts of its identifiers by meaning, and its runs of tokens by shape.

use super::{TextEmbedding, add_hashed, joined};
use crate::text;

const SHAPE: usize = 1_280;

/// The tokens of code or prose: identifiers, numbers as one, every other sign by itself.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

/// The kind of a token, so that renaming a variable keeps the shape: words that languages reserve stay as they are.
fn kind(token: &str) -> &str {
    const RESERVED: &[&str] = &[
        "async",
        "await",
        "class",
        "const",
        "def",
        "else",
        "enum",
        "fn",
        "for",
        "func",
        "function",
        "if",
        "impl",
        "import",
        "interface",
        "let",
        "match",
        "new",
        "pub",
        "return",
        "select",
        "static",
        "struct",
        "switch",
        "trait",
        "try",
        "type",
        "use",
        "var",
        "where",
        "while",
    ];
    let Some(first) = token.chars().next() else { return "" };
    if RESERVED.contains(&token) {
        token
    } else if first.is_numeric() {
        "0"
    } else if first.is_alphabetic() || first == '_' {
        "x"
    } else {
        token
    }
}

/// E7 of a text.
#[must_use]
pub fn embed(embedding: &dyn TextEmbedding, text: &str) -> Vec<f32> {
    let tokens = tokens(text);
    let mut shape = vec![0f32; SHAPE];
    let mut parts: Vec<String> = Vec::new();
    for token in &tokens {
        if kind(token) == "x" {
            let split = text::identifier_parts(token);
            for part in &split {
                add_hashed(&mut shape, text::stem(part).as_bytes(), 7, 1.0);
            }
            parts.extend(split);
        }
    }
    for run in tokens.windows(3) {
        let form = run.iter().map(|token| kind(token)).collect::<Vec<_>>().join(" ");
        // Runs of names alone are prose, which has no shape.
        if form != "x x x" {
            add_hashed(&mut shape, form.as_bytes(), 17, 0.5);
        }
    }
    let mut meaning = embedding.embed(&parts.join(" "));
    meaning.resize(256, 0.0);
    joined(meaning, shape, 0.4)
}
