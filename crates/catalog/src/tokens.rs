//! What a tool costs in a model's context.
//!
//! It decides how many tokens a definition counts. Counted is with the tokenizer inside the binary, not by letters. Models
//! have tokenizers of their own, and they do not agree; what they share is that a word is one or a few tokens and that
//! marks which follow each other, as in `":{"`, are one. So each word counts its pieces, and each run of marks counts one.

use switchboard_embed::{Table, Tokenizer};

/// How many tokens a text has.
#[must_use]
pub fn count_tokens(text: &str) -> usize {
    let tokenizer: &Tokenizer = Table::shared().tokenizer();
    let vocabulary = tokenizer.vocabulary();
    let mut count = 0;
    let mut in_marks = false;
    tokenizer.each(text, |id| {
        let piece = vocabulary.piece(id);
        let mark = piece.len() == 1 && !piece.as_bytes()[0].is_ascii_alphanumeric();
        count += usize::from(!(mark && in_marks));
        in_marks = mark;
    });
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_their_pieces_and_runs_of_marks_count_one() {
        for (text, expected) in [
            ("", 0),
            ("read a file", 3),
            (r#"{"type":"object"}"#, 5),
            (r#"{"path":{"type":"string"}}"#, 7),
            ("embeddings", 4),
        ] {
            assert_eq!(count_tokens(text), expected, "{text}");
        }
    }
}
