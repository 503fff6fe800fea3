//! Signed heads: "the chain had this hash at this sequence number", with an Ed25519 signature.

use aws_lc_rs::signature::{self, UnparsedPublicKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Link;
use super::key::AuditKey;
use crate::Digest;
use crate::digest::{decode_hex, encode_hex};

/// Why a head was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeadKind {
    /// The chain grew to here.
    Grown,
    /// The records up to here were removed by retention; the chain goes on from this hash.
    Pruned,
    /// An operator accepted the chain as it ends here; earlier heads beyond it no longer count.
    Restored,
}

impl HeadKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Grown => "grown",
            Self::Pruned => "pruned",
            Self::Restored => "restored",
        }
    }
}

/// A signed head. Keep one outside of the machine, and the log up to it cannot be rewritten unnoticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Why it was made.
    pub kind: HeadKind,
    /// The sequence number of the last record that it covers; 0 for an empty log.
    pub seq: u64,
    /// The hash of that record.
    pub hash: Digest,
    /// When it was made.
    pub time: Timestamp,
    /// Ed25519 public key of the signer, in hexadecimal digits.
    pub key: String,
    /// Ed25519 signature, in hexadecimal digits.
    pub signature: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    hash: String,
    key: String,
    kind: HeadKind,
    seq: u64,
    signature: String,
    time: i64,
}

impl Head {
    pub(crate) fn sign(kind: HeadKind, link: Link, time: Timestamp, key: &AuditKey) -> Self {
        let signature = encode_hex(&key.sign(message(kind, link, time.as_microsecond()).as_bytes()));
        Self { kind, seq: link.seq, hash: link.hash, time, key: key.public().to_owned(), signature }
    }

    /// Whether the signature belongs to what the head says. Whether its key is trusted is another question.
    pub fn is_genuine(&self) -> bool {
        let (Some(key), Some(signature)) = (decode_hex(&self.key), decode_hex(&self.signature)) else { return false };
        let message = message(self.kind, self.link(), self.time.as_microsecond());
        UnparsedPublicKey::new(&signature::ED25519, key).verify(message.as_bytes(), &signature).is_ok()
    }

    pub(crate) const fn link(&self) -> Link {
        Link { seq: self.seq, hash: self.hash }
    }

    /// The head as one line of JSON, as in the file of heads.
    pub fn line(&self) -> String {
        let Self { kind, seq, hash, time, key, signature } = self;
        let (kind, time) = (kind.as_str(), time.as_microsecond());
        format!(
            "{{\"hash\":\"{hash}\",\"key\":\"{key}\",\"kind\":\"{kind}\",\"seq\":{seq},\
             \"signature\":\"{signature}\",\"time\":{time}}}"
        )
    }

    /// Reads a line that [`Head::line`] wrote.
    pub fn parse(line: &str) -> Option<Self> {
        let Line { hash, key, kind, seq, signature, time } = serde_json::from_str(line).ok()?;
        let (hash, time) = (Digest::from_hex(&hash)?, Timestamp::from_microsecond(time).ok()?);
        Some(Self { kind, seq, hash, time, key, signature })
    }
}

fn message(kind: HeadKind, link: Link, time: i64) -> String {
    format!("switchboard audit head 1\n{}\n{}\n{}\n{time}\n", kind.as_str(), link.seq, link.hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_of_a_head_spoils_its_signature() {
        let dir = tempfile::tempdir().unwrap();
        let key = AuditKey::load_or_new(&dir.path().join("key")).unwrap();
        let link = Link { seq: 7, hash: Digest::of(b"x") };
        let head = Head::sign(HeadKind::Grown, link, Timestamp::from_second(1_800_000_000).unwrap(), &key);
        assert!(head.is_genuine());
        assert_eq!(Head::parse(&head.line()), Some(head.clone()));
        let other = AuditKey::load_or_new(&dir.path().join("other")).unwrap();
        let changed = [
            Head { kind: HeadKind::Pruned, ..head.clone() },
            Head { seq: 8, ..head.clone() },
            Head { hash: Digest::of(b"y"), ..head.clone() },
            Head { time: Timestamp::UNIX_EPOCH, ..head.clone() },
            Head { key: other.public().to_owned(), ..head.clone() },
            Head { key: String::new(), ..head.clone() },
            Head { signature: String::new(), ..head },
        ];
        for head in changed {
            assert!(!head.is_genuine(), "{head:?}");
        }
    }
}
