//! Log messages of a server.

use serde::{Deserialize, Serialize};
use switchboard_wire::Raw;

use super::{JsonObject, RequestMeta};

/// How much a message matters, as in syslog (RFC 5424). Graver ones compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "RFC 5424 gives the names their meaning")]
pub enum LoggingLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LoggingLevel {
    /// All of them, least grave first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// The level of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

view! {
    /// The parameters of `logging/setLevel` (before 2026-07-28).
    SetLevelParams {
        /// From which level on messages are wanted.
        level: LoggingLevel,
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

view! {
    /// The parameters of `notifications/message`.
    LogMessage {
        /// How much it matters.
        level: LoggingLevel,
        /// What is said: any JSON value.
        data: Raw,
        ;
        /// What part of the server says it.
        logger: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}
