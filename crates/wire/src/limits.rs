//! The bounds every message is held to, refused with an answer and never with silence.

/// Bounds on one message. [`Limits::default`] suits a desktop and a server alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message.
    pub bytes: usize,
    /// Nesting of arrays and objects.
    pub depth: usize,
    /// Object keys in one message, all levels together.
    pub keys: usize,
    /// Characters of one number.
    pub number_length: usize,
    /// Messages in one batch.
    pub batch: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 16 << 20, depth: 128, keys: 200_000, number_length: 1_000, batch: 100 }
    }
}
