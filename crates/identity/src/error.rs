//! Why an identity cannot be read, made or kept.

use switchboard_config::ConfigError;
use switchboard_peer::oauth::OAuthError;
use switchboard_store::StoreError;
use switchboard_transport::http_server::BadScope;

/// Why an identity cannot be read, made or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// A text cannot name a token or a principal.
    #[error("`{text}` cannot be {what}: up to 128 letters, digits and the signs - _ . @ : / + =")]
    InvalidName {
        /// What it was to name.
        what: &'static str,
        /// The text.
        text: String,
    },
    /// A word is no scope.
    #[error(transparent)]
    InvalidScope(#[from] BadScope),
    /// The table of tokens is full.
    #[error("there are {0} tokens already")]
    TooManyTokens(usize),
    /// A token with this name exists.
    #[error("there is a token called {0} already; choose another name, or revoke it first")]
    NameTaken(String),
    /// A line of the list that earlier versions kept.
    #[error("{place}: not the SHA-256 of a token; delete the line")]
    OldList {
        /// File and line.
        place: String,
    },
    /// The key of the data folder is damaged.
    #[error("{path} holds no key; restore it, or delete it and log in to your servers again")]
    DamagedKey {
        /// The file.
        path: String,
    },
    /// The key of the data folder can be read by others.
    #[error("others may read {path}; run `chmod 600 {path}`")]
    ExposedKey {
        /// The file.
        path: String,
    },
    /// A file cannot be read as the operator's.
    #[error(transparent)]
    File(#[from] ConfigError),
    /// A file cannot be read or written.
    #[error("a file of the data folder cannot be read or written")]
    Io(#[from] std::io::Error),
    /// The store cannot be read or written.
    #[error("the store cannot be read or written")]
    Store(#[from] StoreError),
    /// Scopes cannot be written as JSON.
    #[error("the scopes cannot be kept")]
    Scopes(#[from] serde_json::Error),
    /// An authorization server, or what it is asked for.
    #[error("tokens cannot be got")]
    OAuth(#[from] OAuthError),
}

impl IdentityError {
    /// Whether the caller asked for something that cannot be, and nothing failed.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::InvalidName { .. } | Self::InvalidScope(_) | Self::OldList { .. } | Self::File(_))
    }
}
