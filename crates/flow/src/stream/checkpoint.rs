//! Tokens from which an operation goes on (proposal 8).
//!
//! A token says which operation, with which piece, and the server's own checkpoint where there is one. It is signed
//! with a key of the operation, so that nobody makes up or changes one, and nothing need be written for each of them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

/// The longest token that is given out or read.
pub const LONGEST_TOKEN: usize = 64 << 10;
/// The longest checkpoint of a server that fits into one.
const LONGEST_INNER: usize = 32 << 10;

/// What a token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// What names the operation.
    pub operation: String,
    /// The number of the first piece that is wanted.
    pub next: u64,
    /// The server's own checkpoint, with the number of the first piece that comes after it.
    pub inner: Option<(u64, String)>,
}

/// Why a token cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// It is no token.
    #[error("this is no checkpoint token")]
    Malformed,
    /// It was made up or changed, or belongs to another operation.
    #[error("this checkpoint token was not given out for this operation")]
    Forged,
}

impl Checkpoint {
    /// The token, signed.
    #[must_use]
    pub fn sign(&self, key: &[u8]) -> String {
        let inner = self.inner.as_ref().filter(|(_, token)| token.len() <= LONGEST_INNER);
        let said = match inner {
            Some((next, token)) => json!([self.operation, self.next, next, token]),
            None => json!([self.operation, self.next]),
        };
        let said = URL_SAFE_NO_PAD.encode(said.to_string());
        let seal = URL_SAFE_NO_PAD.encode(mac(key, said.as_bytes()).finalize().into_bytes());
        format!("{said}.{seal}")
    }

    /// Which operation a token says that it belongs to. Nothing is checked.
    ///
    /// # Errors
    /// It is no token.
    pub fn claimed(token: &str) -> Result<Self, CheckpointError> {
        if token.len() > LONGEST_TOKEN {
            return Err(CheckpointError::Malformed);
        }
        let (said, _) = token.split_once('.').ok_or(CheckpointError::Malformed)?;
        let said = URL_SAFE_NO_PAD.decode(said).map_err(|_| CheckpointError::Malformed)?;
        let said: Value = serde_json::from_slice(&said).map_err(|_| CheckpointError::Malformed)?;
        let text = |at: usize| said.get(at).and_then(Value::as_str).map(str::to_owned);
        let number = |at: usize| said.get(at).and_then(Value::as_u64);
        let (Some(operation), Some(next)) = (text(0), number(1)) else { return Err(CheckpointError::Malformed) };
        Ok(Self { operation, next, inner: number(2).zip(text(3)) })
    }

    /// What a token says, if it was signed with this key.
    ///
    /// # Errors
    /// It was not, or it is no token.
    pub fn open(token: &str, key: &[u8]) -> Result<Self, CheckpointError> {
        let claimed = Self::claimed(token)?;
        let (said, seal) = token.split_once('.').ok_or(CheckpointError::Malformed)?;
        let seal = URL_SAFE_NO_PAD.decode(seal).map_err(|_| CheckpointError::Malformed)?;
        mac(key, said.as_bytes()).verify_slice(&seal).map_err(|_| CheckpointError::Forged)?;
        Ok(claimed)
    }
}

fn mac(key: &[u8], said: &[u8]) -> Hmac<Sha256> {
    // HMAC takes keys of any length; the other branch is never reached, and would only make tokens that do not open.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| Hmac::<Sha256>::new(&Default::default()));
    mac.update(said);
    mac
}
