//! Ids of memories: 128 bits in the form of a UUID, version 7, so that they sort by the time they were made.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::rng::Rng;

/// The id of a memory, a goal, a vector or a record of the journal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Id(pub u128);

impl Id {
    /// The ego node: the nil UUID.
    pub const EGO: Self = Self(0);

    /// A new id of the moment `now_ms`, with the rest from `rng`.
    #[must_use]
    pub fn new(now_ms: u64, rng: &mut Rng) -> Self {
        let random = (u128::from(rng.next_u64()) << 64) | u128::from(rng.next_u64());
        let time = u128::from(now_ms & 0xffff_ffff_ffff) << 80;
        let body = (time | (random & 0xffff_ffff_ffff_ffff_ffff)) & !(0xf << 76) & !(0b11 << 62);
        Self(body | (7 << 76) | (0b10 << 62))
    }

    /// Its bytes, for the database.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// From the bytes of the database.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(u128::from_be_bytes(bytes.try_into().ok()?)))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = format!("{:032x}", self.0);
        write!(f, "{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is no UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a UUID (expected 8-4-4-4-12 hexadecimal digits)")]
pub struct NotAnId;

impl FromStr for Id {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let bytes = text.as_bytes();
        let dashes = [8, 13, 18, 23];
        if bytes.len() != 36 || dashes.iter().any(|&at| bytes.get(at) != Some(&b'-')) {
            return Err(NotAnId);
        }
        let mut value: u128 = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if dashes.contains(&at) {
                continue;
            }
            let digit = char::from(*byte).to_digit(16).ok_or(NotAnId)?;
            value = (value << 4) | u128::from(digit);
        }
        Ok(Self(value))
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_of_version_seven_that_sort_by_time() {
        let mut rng = Rng::new(1);
        let (first, second) = (Id::new(1_000, &mut rng), Id::new(2_000, &mut rng));
        assert!(first < second);
        assert_eq!(first.to_string().parse(), Ok(first));
        assert_eq!(first.to_string().as_bytes()[14], b'7');
        assert!(b"89ab".contains(&first.to_string().as_bytes()[19]));
        assert_eq!(Id::EGO.to_string(), "00000000-0000-0000-0000-000000000000");
        for bad in ["", "x", "00000000-0000-0000-0000-00000000000g", "00000000_0000-0000-0000-000000000000"] {
            assert_eq!(bad.parse::<Id>(), Err(NotAnId), "{bad}");
        }
    }
}
