//! Request ids, kept exactly as they came.

use std::fmt;

use bytes::Bytes;

use crate::Raw;

/// The id of a request: the JSON text of a string or an integer, byte for byte.
///
/// `1` and `"1"` are different ids, and so are `9007199254740992` and `9007199254740993`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Id(Bytes);

impl Id {
    /// An id of our own.
    #[must_use]
    pub fn number(value: u64) -> Self {
        Self(crate::raw::decimal(value))
    }

    /// An id of our own.
    #[must_use]
    pub fn string(value: &str) -> Self {
        Self(Raw::string(value).bytes().clone())
    }

    /// Takes a string or an integer.
    #[must_use]
    pub fn from_raw(raw: &Raw) -> Option<Self> {
        Self::is_one(raw.as_bytes()).then(|| Self(raw.bytes().clone()))
    }

    /// Whether this JSON text is an id.
    pub(crate) fn is_one(text: &[u8]) -> bool {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        text.first() == Some(&b'"') || (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
    }

    /// JSON text that [is one](Self::is_one).
    pub(crate) const fn trusted(text: Bytes) -> Self {
        Self(text)
    }

    /// The number, if this id is one that we could have given out.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        let digit = |byte: u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
        self.0.iter().try_fold(0u64, |number, &byte| number.checked_mul(10)?.checked_add(digit(byte)?))
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The id as a JSON value.
    #[must_use]
    pub fn to_raw(&self) -> Raw {
        Raw::trusted(self.0.clone())
    }

    /// A copy that does not keep the message it came from alive.
    #[must_use]
    pub fn detach(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
