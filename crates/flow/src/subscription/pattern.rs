//! Names of channels, and patterns of them.

/// The longest pattern.
const MAX_PATTERN_BYTES: usize = 256;

/// A name or a pattern: `model.*` is everything under `model`, `*.failed` one part before `failed`, `*` everything.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern(String);

impl Pattern {
    /// Reads one; `None` for what is neither.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let part = |part: &str| {
            part == "*"
                || !part.is_empty()
                    && part.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ':' | '/'))
        };
        (text.len() <= MAX_PATTERN_BYTES && text.split('.').all(part)).then(|| Self(text.to_owned()))
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its first part.
    #[must_use]
    pub fn head(&self) -> &str {
        self.0.split('.').next().unwrap_or_default()
    }

    /// Whether a channel is meant.
    #[must_use]
    pub fn matches(&self, channel: &str) -> bool {
        let mut parts = self.0.split('.').peekable();
        let mut names = channel.split('.').peekable();
        while let Some(part) = parts.next() {
            if part == "*" && parts.peek().is_none() {
                return names.peek().is_some();
            }
            match names.next() {
                Some(name) if part == "*" || part == name => {}
                _ => return false,
            }
        }
        names.next().is_none()
    }
}
