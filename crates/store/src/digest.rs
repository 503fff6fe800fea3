//! SHA-256 digests: the only form in which the store takes a token or the arguments of a call.

use std::fmt;

use aws_lc_rs::digest;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// What a chain starts from.
    pub const ZERO: Self = Self([0; 32]);

    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_parts(&[bytes])
    }

    /// The digest of several parts, one after the other.
    pub(crate) fn of_parts(parts: &[&[u8]]) -> Self {
        let mut context = digest::Context::new(&digest::SHA256);
        for part in parts {
            context.update(part);
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.finish().as_ref());
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// From exactly 32 bytes.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        Some(Self(bytes.try_into().ok()?))
    }

    /// 64 hexadecimal digits: what `to_string` says as well, in a fraction of the time.
    pub fn to_hex(&self) -> String {
        encode_hex(&self.0)
    }

    /// From 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        Self::from_slice(&decode_hex(text)?)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&encode_hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Digest({self})")
    }
}

pub(crate) fn encode_hex(bytes: &[u8]) -> String {
    // Computed, not looked up: the compiler does many at once.
    let digit = |nibble: u8| nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
    let mut text = vec![0; 2 * bytes.len()];
    for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = [byte >> 4, byte & 15].map(digit);
    }
    // Digits are always text.
    String::from_utf8(text).unwrap_or_default()
}

pub(crate) fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let nibble = |byte: u8| u8::try_from(char::from(byte).to_digit(16)?).ok();
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(nibble(*high)? << 4 | nibble(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_a_published_vector_and_survives_text() {
        let digest = Digest::of(b"abc");
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), hex);
        assert_eq!(digest.to_hex(), hex);
        assert_eq!(Digest::from_hex(hex), Some(digest));
        assert_eq!(Digest::of_parts(&[b"a", b"", b"bc"]), digest);
    }

    #[test]
    fn refuses_what_is_not_a_digest() {
        for text in ["", "0", "zz", &"0".repeat(63), &"0".repeat(66), "é"] {
            assert_eq!(Digest::from_hex(text), None, "{text}");
        }
    }
}
