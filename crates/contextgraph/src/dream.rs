//! Dreaming: what is done with memories while nobody asks for them. When to dream is decided by the [scheduler], replay is
//! [NREM](nrem), exploring is [REM](rem), and paths that are walked often become [shortcuts].
//!
//! These are the rules alone. Who holds the graph runs them in short slices, so that waking takes less than 100 ms.

pub mod nrem;
pub mod rem;
pub mod scheduler;
pub mod shortcuts;

use serde::{Deserialize, Serialize};

/// Where a dream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum DreamState {
    #[default]
    Awake,
    EnteringDream,
    Nrem,
    Rem,
    Waking,
}

impl DreamState {
    /// The word on the wire.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Awake => "awake",
            Self::EnteringDream => "entering_dream",
            Self::Nrem => "nrem",
            Self::Rem => "rem",
            Self::Waking => "waking",
        }
    }

    /// Whether a dream is going on.
    #[must_use]
    pub const fn is_dreaming(self) -> bool {
        !matches!(self, Self::Awake)
    }
}

/// What a dream did.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words say it")]
pub struct DreamReport {
    pub memories_replayed: usize,
    pub edges_strengthened: usize,
    pub edges_weakened: usize,
    pub edges_pruned: usize,
    /// Memories that no edge leads to any more.
    pub dead_ends_removed: usize,
    pub edges_associated: usize,
    pub queries_explored: usize,
    pub blind_spots_found: usize,
    pub edges_discovered: usize,
    pub shortcuts_created: usize,
    pub completed: bool,
    pub duration_ms: u64,
}

/// The longest that replay may take.
pub const NREM_MS: u64 = 180_000;
/// The longest that exploring may take.
pub const REM_MS: u64 = 120_000;
/// Waking must be quicker.
pub const WAKE_MS: u64 = 100;
