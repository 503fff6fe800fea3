//! What the bytes of a source say before any grammar: characters and declarations that make a reader see another
//! program than the one that runs.

use crate::Finding;
use crate::code::position;

/// Looks at the raw text.
pub(super) fn check(source: &str) -> Option<Finding> {
    for (at, character) in source.char_indices() {
        let why = match character {
            '\0' => "a NUL character",
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "a character that reverses the direction of text",
            '\u{e0000}'..='\u{e007f}' => "an invisible tag character",
            '\u{1b}' => "a terminal escape character",
            _ => continue,
        };
        let (line, column) = position::of(source, at);
        let finding = Finding::new("hidden-character", format!("{why} (U+{:04X})", u32::from(character)));
        return Some(finding.at(line, column).suggest("write it as an escape inside a string"));
    }
    // Python lets a comment in the first two lines choose the encoding, and thereby other source text than is read here.
    for (index, line) in source.split('\n').take(2).enumerate() {
        if let Some(name) = encoding_cookie(line)
            && !matches!(
                name.to_ascii_lowercase().replace('_', "-").as_str(),
                "utf-8" | "utf8" | "ascii" | "us-ascii" | "utf-8-sig"
            )
        {
            let message = format!("the source declares the encoding {name:?}");
            return Some(Finding::new("encoding", message).at(index + 1, 1).suggest("write the source in UTF-8"));
        }
    }
    None
}

/// The encoding that a line declares, by the rule of PEP 263.
fn encoding_cookie(line: &str) -> Option<&str> {
    let comment = line.trim_start_matches([' ', '\t', '\u{c}', '\u{feff}']).strip_prefix('#')?;
    let mut rest = comment;
    loop {
        let at = rest.find("coding")?;
        rest = &rest[at + "coding".len()..];
        let Some(value) = rest.strip_prefix([':', '=']) else { continue };
        let value = value.trim_start_matches([' ', '\t']);
        let end = value.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))).unwrap_or(value.len());
        if end > 0 {
            return Some(&value[..end]);
        }
    }
}
