//! The state that a modern client carries between two rounds of one request.
//!
//! Decides what may be believed of a `requestState` that comes back: it was written by this server (HMAC-SHA256), for
//! the same principal, method, name and arguments, and not too long ago. It is signed, not hidden: clients can read it.
//! Nothing here keeps a state from being presented twice within its time; a tool that must act once has to see to that
//! itself (multi round-trip requests, server requirement 5).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use switchboard_wire::{Limits, Raw, canonical};

/// The key under which request states are signed.
///
/// Each process makes its own unless one is given. Replicas behind one address must share it, or a client that is
/// sent to another replica for its second round is refused.
#[derive(Clone)]
pub struct StateKey([u8; 32]);

impl StateKey {
    /// A key that is shared with other replicas.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A key that nobody else has.
    pub(crate) fn random() -> Self {
        let mut bytes = [0; 32];
        // Without randomness anyone could sign: ending at once is the only safe way on.
        getrandom::fill(&mut bytes).unwrap_or_else(|_| std::process::abort());
        Self(bytes)
    }

    fn mac(&self, body: &[u8]) -> Option<Hmac<Sha256>> {
        // HMAC takes keys of any length, so this is always there.
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.0).ok()?;
        mac.update(body);
        Some(mac)
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey(..)")
    }
}

/// What is remembered of earlier rounds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remembered {
    /// Answers of the client, by key.
    #[serde(default, rename = "a", skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) answers: IndexMap<String, Raw>,
    /// Values that the handler computed once, by key.
    #[serde(default, rename = "o", skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) once: IndexMap<String, Raw>,
    /// How many rounds there were, so that no two states are alike.
    #[serde(rename = "n")]
    pub(crate) round: u32,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    #[serde(rename = "e")]
    expires_ms: u64,
    #[serde(rename = "b")]
    binding: String,
    // Not flattened: serde cannot keep raw parts through that.
    #[serde(rename = "s")]
    state: Remembered,
}

/// Why a state is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SealError {
    #[error("the requestState was not issued by this server, or was changed")]
    Forged,
    #[error("the requestState belongs to another request")]
    Foreign,
    #[error("the requestState has expired: begin the request anew")]
    Expired,
    #[error("the requestState is too large")]
    TooLarge,
}

/// The largest state, in bytes of its text. It travels with every round.
const MAX_STATE: usize = 256 * 1024;

/// What a state is bound to: who asks for what, with which arguments.
pub(crate) fn binding(principal: &str, method: &str, name: &str, arguments: Option<&Raw>) -> String {
    let mut hash = Sha256::new();
    let arguments = arguments.map(canonical_text).unwrap_or_default();
    for part in [principal, method, name, arguments.as_str()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

/// A client may write the same arguments differently, but each number as it did: two amounts that a reader of floats takes
/// for one are two. Where a member stands twice, the arguments are what was written.
fn canonical_text(raw: &Raw) -> String {
    canonical::exact(raw).unwrap_or_else(|_| raw.as_str().to_owned())
}

/// Writes a state.
pub(crate) fn seal(key: &StateKey, binding: String, state: Remembered, expires_ms: u64) -> Result<String, SealError> {
    let sealed = Sealed { expires_ms, binding, state };
    let body = serde_json::to_vec(&sealed).map_err(|_| SealError::TooLarge)?;
    let mac = key.mac(&body).ok_or(SealError::Forged)?.finalize().into_bytes();
    let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(&body), URL_SAFE_NO_PAD.encode(mac));
    if text.len() > MAX_STATE { Err(SealError::TooLarge) } else { Ok(text) }
}

/// Reads a state that a client gave back.
pub(crate) fn open(key: &StateKey, text: &str, binding: &str, now_ms: u64) -> Result<Remembered, SealError> {
    if text.len() > MAX_STATE {
        return Err(SealError::TooLarge);
    }
    let (body, mac) = text.split_once('.').ok_or(SealError::Forged)?;
    let body = URL_SAFE_NO_PAD.decode(body).map_err(|_| SealError::Forged)?;
    let mac = URL_SAFE_NO_PAD.decode(mac).map_err(|_| SealError::Forged)?;
    // The comparison takes the same time wherever the two differ.
    key.mac(&body).ok_or(SealError::Forged)?.verify_slice(&mac).map_err(|_| SealError::Forged)?;
    let body = Raw::parse(body, &Limits::default()).map_err(|_| SealError::Forged)?;
    let sealed: Sealed = body.view().map_err(|_| SealError::Forged)?;
    if sealed.binding != binding {
        return Err(SealError::Foreign);
    }
    if now_ms >= sealed.expires_ms {
        return Err(SealError::Expired);
    }
    Ok(sealed.state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &'static str) -> Raw {
        Raw::parse(text, &Limits::default()).expect("valid")
    }

    fn state() -> Remembered {
        Remembered {
            answers: [("name".to_owned(), raw(r#"{"action":"accept","content":{"name":"Ada","n":1.10}}"#))].into(),
            once: [("id".to_owned(), raw("\"x\""))].into(),
            round: 3,
        }
    }

    #[test]
    fn comes_back_as_it_was() {
        let key = StateKey::random();
        let arguments = raw(r#"{"a":1,"b":{"y":2,"x":[1,{"q":1,"p":2}]}}"#);
        let text = seal(&key, binding("ada", "tools/call", "t", Some(&arguments)), state(), 100).expect("sealed");
        // The same arguments, written differently.
        let again = raw(r#"{ "b": {"x":[1,{"p":2,"q":1}],"y":2}, "a":1 }"#);
        assert_eq!(open(&key, &text, &binding("ada", "tools/call", "t", Some(&again)), 99), Ok(state()));
    }

    #[test]
    fn refused() {
        let key = StateKey::random();
        let bound = |who, method, name, arguments: &'static str| binding(who, method, name, Some(&raw(arguments)));
        let right = bound("ada", "tools/call", "t", "{}");
        let text = seal(&key, right.clone(), state(), 100).expect("sealed");
        for other in [
            bound("bob", "tools/call", "t", "{}"),
            bound("ada", "prompts/get", "t", "{}"),
            bound("ada", "tools/call", "u", "{}"),
            bound("ada", "tools/call", "t", r#"{"a":1}"#),
            binding("adatools/call", "", "t", None),
        ] {
            assert_eq!(open(&key, &text, &other, 99), Err(SealError::Foreign));
        }
        assert_eq!(open(&key, &text, &right, 100), Err(SealError::Expired));
        assert_eq!(open(&StateKey::random(), &text, &right, 99), Err(SealError::Forged));
        for text in
            [format!("{text}-TAMPERED"), format!("e{text}"), text[1..].to_owned(), String::new(), ".".to_owned()]
        {
            assert_eq!(open(&key, &text, &right, 99), Err(SealError::Forged), "{text}");
        }
        let large = Remembered { once: [("x".to_owned(), Raw::string(&"x".repeat(MAX_STATE)))].into(), ..state() };
        assert_eq!(seal(&key, right, large, 100), Err(SealError::TooLarge));
    }

    /// A reader of floats takes these for one amount: a state for the one must not be taken for the other.
    #[test]
    fn long_numbers_are_told_apart() {
        for (one, other) in [
            (r#"{"amount":12345678901234567890123}"#, r#"{"amount":12345678901234567890124}"#),
            (r#"{"amount":9007199254740993.0}"#, r#"{"amount":9007199254740992.0}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        ] {
            let bound = |arguments| binding("ada", "tools/call", "pay", Some(&raw(arguments)));
            assert_ne!(bound(one), bound(other), "{one} {other}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_other_text_is_believed(at in 0usize..400, byte in 33u8..127) {
            let key = StateKey::new([7; 32]);
            let bound = binding("ada", "tools/call", "t", None);
            let text = seal(&key, bound.clone(), state(), 100).expect("sealed");
            let mut changed = text.clone().into_bytes();
            let at = at % changed.len();
            changed[at] = byte;
            let changed = String::from_utf8(changed).expect("ASCII");
            if changed != text {
                proptest::prop_assert_eq!(open(&key, &changed, &bound, 99), Err(SealError::Forged));
            }
        }
    }
}
