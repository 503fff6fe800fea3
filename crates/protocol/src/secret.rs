//! Text that must never be shown: keys, passwords, tokens, codes.
//!
//! It prints as `[redacted]` and is not serialized by accident. Where it came from and who may read it is not known here.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that prints as `[redacted]`. Read it with [`Secret::reveal`], at the place that needs it and nowhere else.
///
/// ```
/// use switchboard_protocol::Secret;
///
/// let token = Secret::new("s3cr3t");
/// assert_eq!(format!("{token} {token:?}"), "[redacted] [redacted]");
/// assert_eq!(token.reveal(), "s3cr3t");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into().into())
    }

    /// The value itself, for the one place that compares, sends or stores it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl Default for Secret {
    fn default() -> Self {
        Self::from("")
    }
}

impl<T: Into<Arc<str>>> From<T> for Secret {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// A secret as a member of a message that is made to carry it: the one form that is written as its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentSecret(pub Secret);

impl SentSecret {
    /// The value itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }
}

impl<T: Into<Arc<str>>> From<T> for SentSecret {
    fn from(text: T) -> Self {
        Self(Secret::from(text))
    }
}

impl Serialize for SentSecret {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.reveal())
    }
}

impl<'de> Deserialize<'de> for SentSecret {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        String::deserialize(value).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_show_itself() {
        let secret = Secret::from("s3cr3t-value");
        assert_eq!(format!("{secret:?} {:?} {secret}", Some(&secret)), "[redacted] Some([redacted]) [redacted]");
        assert_eq!(secret.reveal(), "s3cr3t-value");
        assert!(!format!("{:?}", SentSecret(secret)).contains("s3cr3t"));
    }

    #[test]
    fn what_is_made_to_be_sent_is_sent() {
        let text = serde_json::to_string(&SentSecret::from("a\"b")).unwrap();
        assert_eq!(text, r#""a\"b""#);
        assert_eq!(serde_json::from_str::<SentSecret>(&text).unwrap().reveal(), "a\"b");
    }
}
