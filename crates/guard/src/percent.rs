//! Percent encoding, read strictly: what is not well-formed has no meaning.

/// The text that is meant; `None` where an escape is cut off, is no number, or gives no text.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        if *byte == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}
