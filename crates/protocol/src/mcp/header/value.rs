//! Text that may hold anything, in a header that may not.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// The value of a header that stands for `text`: the text itself where it is safe, base64 between markers otherwise.
#[must_use]
pub fn encode(text: &str) -> Cow<'_, str> {
    let safe = text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    let padded = text.starts_with(' ') || text.ends_with(' ');
    // A text that looks encoded would be taken for what it is not.
    let marked = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    let plain = safe && !padded && !marked;
    if plain { text.into() } else { format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(text)).into() }
}

/// The text that the value of a header stands for. `None` where it holds characters that a header may not, or base64
/// that is none.
#[must_use]
pub fn decode(value: &[u8]) -> Option<Cow<'_, str>> {
    let text = plain(value)?;
    match text.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) {
        None => Some(text.into()),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
    }
}

/// The value without the white space around it, where all of it is what RFC 9110 lets into a value.
pub(super) fn plain(value: &[u8]) -> Option<&str> {
    let valid = value.iter().all(|byte| matches!(byte, b'\t' | 0x20..=0x7e));
    let text = valid.then(|| std::str::from_utf8(value).ok()).flatten()?;
    Some(text.trim_matches([' ', '\t']))
}
