//! The five revisions of MCP and the two eras they fall into.

use std::fmt;

/// A revision of MCP. Later ones compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// The first one: initialize, stdio, HTTP+SSE.
    V2024_11_05,
    /// Streamable HTTP, batches, annotations.
    V2025_03_26,
    /// Structured output, elicitation, no batches.
    V2025_06_18,
    /// Tasks, icons, URL elicitation, sampling with tools.
    V2025_11_25,
    /// Stateless: per-request metadata, `server/discover`, no requests from the server.
    V2026_07_28,
}

/// How a connection is set up and what may travel on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize` handshake, sessions, requests both ways.
    Legacy,
    /// Every request carries its own metadata; servers send no requests.
    Modern,
}

impl Revision {
    /// All of them, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest that begins with `initialize`.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest of all.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The date that names the revision on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that date.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// The era this revision belongs to.
    #[must_use]
    pub const fn era(self) -> Era {
        match self {
            Self::V2026_07_28 => Era::Modern,
            _ => Era::Legacy,
        }
    }

    /// What a server answers to `initialize`: the revision asked for if it is a legacy one that we know, else our
    /// newest legacy one (the client then decides whether to go on).
    #[must_use]
    pub fn negotiate_legacy(asked: &str) -> Self {
        Self::parse(asked).filter(|revision| revision.era() == Era::Legacy).unwrap_or(Self::LATEST_LEGACY)
    }

    /// Whether frames may hold a batch.
    #[must_use]
    pub const fn has_batches(self) -> bool {
        matches!(self, Self::V2025_03_26)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
