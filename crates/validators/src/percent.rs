//! Percent encoding, read strictly (what is not well-formed has no meaning) and leniently, as careless servers do.

use std::borrow::Cow;

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

/// A text with its escapes read. One that is none stays as it is and keeps no other from being read.
///
/// ```
/// assert_eq!(switchboard_validators::percent::lenient("a%20b%zz"), "a b%zz");
/// ```
#[must_use]
pub fn lenient(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        match (digit(0), digit(1)) {
            (Some(high), Some(low)) if *byte == b'%' => {
                bytes.extend(u8::try_from(high * 16 + low));
                rest = &after[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// How often an escape may be escaped itself: readers that read twice are not rare.
const MAX_STAGES: usize = 3;

/// A text as it was sent, and with its escapes read as often as somebody may read them, the last time at the end.
///
/// ```
/// assert_eq!(switchboard_validators::percent::stages("%252e"), ["%252e", "%2e", "."]);
/// ```
#[must_use]
pub fn stages(text: &str) -> Vec<Cow<'_, str>> {
    let mut found = vec![Cow::Borrowed(text)];
    for _ in 0..MAX_STAGES {
        let Some(last) = found.last().filter(|last| last.contains('%')) else { break };
        let read = lenient(last);
        if read == *last {
            break;
        }
        found.push(Cow::Owned(read));
    }
    found
}
