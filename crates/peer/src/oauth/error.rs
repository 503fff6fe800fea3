//! What can go wrong on the way to a token.

use std::time::Duration;

use switchboard_transport::http_client::HttpError;

/// Why there is no token. No message holds a credential.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OAuthError {
    /// An address that must not be used.
    #[error("{step}: the address {address} cannot be used: {why}")]
    BadAddress {
        /// What it was needed for.
        step: &'static str,
        /// The address, without its query.
        address: String,
        /// What is wrong.
        why: String,
    },
    /// HTTP failed.
    #[error("{step}: {error}")]
    Http {
        /// What was being done.
        step: &'static str,
        /// What happened.
        error: HttpError,
    },
    /// It took too long.
    #[error("{step}: no answer within {after:?}")]
    Timeout {
        /// What was being done.
        step: &'static str,
        /// How long was waited.
        after: Duration,
    },
    /// The authorization server refused.
    #[error("{step}: the authorization server refused (HTTP {status}{})", words(.code, .description))]
    Refused {
        /// What was being done.
        step: &'static str,
        /// The HTTP status.
        status: u16,
        /// The OAuth error code, where there was one.
        code: Option<String>,
        /// Its words, where there were any.
        description: Option<String>,
    },
    /// An answer that cannot be used.
    #[error("{step}: {why}")]
    BadAnswer {
        /// What was being done.
        step: &'static str,
        /// What is wrong.
        why: String,
    },
    /// The metadata is about another resource than the server it was fetched for.
    #[error("the server's resource metadata is about {named}, not about this server: no token is asked for")]
    ForeignResource {
        /// What it is about.
        named: String,
    },
    /// The metadata is that of another issuer than the one it was fetched for.
    #[error("the authorization server's metadata says that it is that of {found}, not of {expected}: it is not used")]
    ForeignIssuer {
        /// Whose metadata was wanted.
        expected: String,
        /// Whose it says it is.
        found: String,
    },
    /// Nothing was published, and what a server of 2025-03-26 has is not there either.
    #[error(
        "the server offers no login (OAuth): it names no authorization server and is none itself; what it wants is a token or a header of its own, if anything"
    )]
    NoLogin,
    /// No metadata of the authorization server.
    #[error("{issuer} publishes no authorization server metadata")]
    NoMetadata {
        /// The issuer.
        issuer: String,
    },
    /// The authorization server lacks something without which it cannot be used safely.
    #[error("{issuer} cannot be used: {lacks}")]
    Unsuitable {
        /// The issuer.
        issuer: String,
        /// What it lacks.
        lacks: &'static str,
    },
    /// There is no client id for this authorization server, and no way to get one.
    #[error("{issuer} gave us no client id: configure a client id for this server")]
    NoClient {
        /// The issuer.
        issuer: String,
    },
    /// The configured client id belongs to another authorization server.
    #[error("the configured client id belongs to {bound}, but the server now wants a token of {offered}")]
    OtherIssuer {
        /// Where the client id is known.
        bound: String,
        /// What the server names.
        offered: String,
    },
    /// The answer of the authorization page must not be believed.
    #[error("the answer of the authorization page is refused: {0}")]
    BadResponse(&'static str),
    /// The person, or the authorization server, said no.
    #[error("authorization was not given{}", words(.code, .description))]
    Denied {
        /// The OAuth error code.
        code: Option<String>,
        /// Its words.
        description: Option<String>,
    },
    /// The authorization page could not be shown.
    #[error("the authorization page could not be shown: {0}")]
    Browser(String),
    /// A person has to agree, and there is none here.
    #[error("a person has to agree first: {0}")]
    PersonNeeded(String),
    /// More scopes would not help, or nobody says that they would.
    #[error("the server refuses the request, and another token would not change that: {0}")]
    Forbidden(&'static str),
    /// The person was asked often enough.
    #[error("the server wanted authorization too often in a short time: try again later")]
    TooOften,
    /// The work ended before it was done.
    #[error("authorization was interrupted")]
    Interrupted,
}

impl OAuthError {
    /// Whether the authorization server itself said no, and why.
    pub(super) fn refusal(&self) -> Option<&str> {
        match self {
            Self::Refused { status: 400..=499, code, .. } => Some(code.as_deref().unwrap_or_default()),
            _ => None,
        }
    }
}

fn words(code: &Option<String>, description: &Option<String>) -> String {
    let mut text = String::new();
    for part in [code, description].into_iter().flatten() {
        text.push_str(if text.is_empty() { ", " } else { ": " });
        text.push_str(part);
    }
    text
}

/// Words of others as they may be shown: one short line.
pub(super) fn shown(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(200).collect()
}
