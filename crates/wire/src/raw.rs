//! A piece of JSON text that was checked once and is never rewritten.

use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::scan::Scanner;
use crate::{Limits, Refusal};

/// Valid JSON text of one value, without surrounding white space.
///
/// Cloning and slicing share the buffer. A small piece keeps the whole message it came from alive: use
/// [`Raw::detach`] for what is kept for long.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Raw(Bytes);

/// What sort of value a [`Raw`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `{..}`
    Object,
    /// `[..]`
    Array,
    /// `".."`
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// `null`
    Null,
}

impl Raw {
    /// Checks `text` and keeps it.
    ///
    /// # Errors
    /// The text is not one JSON value in valid UTF-8, or exceeds a limit.
    pub fn parse(text: impl Into<Bytes>, limits: &Limits) -> Result<Self, Refusal> {
        let text = text.into();
        let range = Scanner::check(&text, limits)?;
        Ok(Self(text.slice(range)))
    }

    /// Serializes a typed value.
    ///
    /// # Errors
    /// The value cannot be written as JSON (a map with keys that are no strings, for example).
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Ok(Self(serde_json::to_vec(value)?.into()))
    }

    /// The JSON text of a string.
    #[must_use]
    pub fn string(text: &str) -> Self {
        let mut out = Vec::with_capacity(text.len() + 2);
        write_string(&mut out, text);
        Self(out.into())
    }

    /// The JSON text of an unsigned integer.
    #[must_use]
    pub fn number(value: u64) -> Self {
        Self(decimal(value))
    }

    /// `true` or `false`.
    #[must_use]
    pub const fn boolean(value: bool) -> Self {
        Self(Bytes::from_static(if value { b"true" } else { b"false" }))
    }

    /// `{}`
    #[must_use]
    pub const fn empty_object() -> Self {
        Self(Bytes::from_static(b"{}"))
    }

    /// Text that the caller already checked, or wrote itself.
    pub(crate) const fn trusted(text: Bytes) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text. It is valid UTF-8 by construction.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The shared buffer.
    #[must_use]
    pub const fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// The piece at `range` of this text; the range must span exactly one value.
    pub(crate) fn slice(&self, range: std::ops::Range<usize>) -> Self {
        Self(self.0.slice(range))
    }

    /// A copy that does not keep the message it came from alive.
    #[must_use]
    pub fn detach(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }

    /// Reads a typed view of the value.
    ///
    /// # Errors
    /// The value does not have the shape that `T` asks for.
    pub fn view<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }

    /// What sort of value this is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.0.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// The text of a JSON string, unescaped; `None` for any other kind.
    #[must_use]
    pub fn as_text(&self) -> Option<String> {
        if self.kind() != Kind::String {
            return None;
        }
        let inner = self.0.get(1..self.0.len() - 1)?;
        if inner.contains(&b'\\') {
            return self.view().ok();
        }
        std::str::from_utf8(inner).ok().map(str::to_owned)
    }
}

/// The digits of a number, in one allocation of their length.
pub(crate) fn decimal(mut value: u64) -> Bytes {
    let mut digits = [b'0'; 20];
    let mut start = digits.len() - 1;
    digits[start] += (value % 10) as u8;
    while value >= 10 {
        value /= 10;
        start -= 1;
        digits[start] += (value % 10) as u8;
    }
    Bytes::copy_from_slice(&digits[start..])
}

/// Appends `text` as a JSON string.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    // Writing a `str` into a `Vec` cannot fail: neither the formatter nor the sink has an error to give.
    let _ = serde_json::to_writer(out, text);
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_slice(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(Box::<str>::from(raw).into_boxed_bytes().into()))
    }
}
