//! What can go wrong, told apart by what the caller can do about it.

use std::path::PathBuf;

/// An operation of the store that did not happen, or whose fate is unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or directory is open to other users, or belongs to one.
    #[error("{} is not private: {problem}", .path.display())]
    NotPrivate {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong, and the command that puts it right.
        problem: String,
    },
    /// A file beside the database could not be used.
    #[error("cannot {action} {}", .path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The address is neither a path nor a URL of an engine that this build knows.
    #[error("cannot open this store: {0}")]
    Address(String),
    /// The database was written by a later version.
    #[error(
        "the store has schema {found}, this version knows up to {known}; run the version that wrote it, or a newer one"
    )]
    NewerSchema {
        /// Version found.
        found: i64,
        /// Newest version that this build can read.
        known: i64,
    },
    /// The database has an older schema and was opened for reading only.
    #[error("the store has schema {found} and has to be migrated to {known} first; open it for writing once")]
    OlderSchema {
        /// Version found.
        found: i64,
        /// Version needed.
        known: i64,
    },
    /// The audit chain does not continue where its signed heads say it should. Nothing is appended to such a chain.
    #[error("the audit chain is broken: {0}")]
    ChainBroken(crate::Breach),
    /// Too many writes wait already. Nothing was written; try again later.
    #[error("the store is overloaded: {waiting} writes are waiting")]
    Overloaded {
        /// Capacity of the queue.
        waiting: usize,
    },
    /// One write is larger than the store accepts.
    #[error("too large: {what} has {size}, the limit is {limit}")]
    TooLarge {
        /// What was measured.
        what: &'static str,
        /// Its size.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// No space left for the database. Nothing was written; the store works again once there is space.
    #[error("no space left for the store")]
    Full(#[source] Cause),
    /// Another process holds the database. Nothing was written.
    #[error("the store is locked by another process")]
    Busy(#[source] Cause),
    /// The database server cannot be reached. Nothing was written.
    #[error("the store is not available")]
    Unavailable(#[source] Cause),
    /// The store was opened for reading only.
    #[error("the store was opened for reading only")]
    ReadOnly,
    /// The operation took longer than its deadline. A read had no effect.
    #[error("the store did not answer in time")]
    Timeout,
    /// The write was handed over and its fate is unknown: look it up by its key before trying again.
    #[error("the outcome of the write is unknown")]
    Undetermined,
    /// The store was closed. Nothing was written.
    #[error("the store is closed")]
    Closed,
    /// The database is damaged.
    #[error("the store is damaged: {0}; restore it from a copy")]
    Corrupt(String),
    /// The file of the database was removed, or another one put in its place, while it was open.
    #[error("the database {} was removed or replaced while it was in use; put it back, or start anew", .0.display())]
    Gone(PathBuf),
    /// A value that a column cannot hold, such as a repeated unique name.
    #[error("refused by the store: {0}")]
    Conflict(String),
    /// Anything else that the engine reports.
    #[error("the store failed")]
    Engine(#[source] Cause),
}

/// The engine's own error. Shared, because every write of a failed group gets a copy.
pub(crate) type Cause = std::sync::Arc<dyn std::error::Error + Send + Sync>;

impl StoreError {
    /// Whether nothing was written and the same call may succeed later without a change.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Overloaded { .. } | Self::Full(_) | Self::Busy(_) | Self::Unavailable(_) | Self::Timeout)
    }

    /// The same error for another caller of the same group of writes.
    pub(crate) fn share(&self) -> Self {
        match self {
            Self::Full(cause) => Self::Full(cause.clone()),
            Self::Busy(cause) => Self::Busy(cause.clone()),
            Self::Unavailable(cause) => Self::Unavailable(cause.clone()),
            Self::Engine(cause) => Self::Engine(cause.clone()),
            Self::Corrupt(what) => Self::Corrupt(what.clone()),
            Self::Conflict(what) => Self::Conflict(what.clone()),
            Self::Gone(path) => Self::Gone(path.clone()),
            Self::ChainBroken(breach) => Self::ChainBroken(breach.clone()),
            Self::ReadOnly => Self::ReadOnly,
            Self::Closed => Self::Closed,
            Self::Timeout => Self::Timeout,
            // The remaining ones do not arise from a group; were one to, its fate would be told honestly.
            _ => Self::Undetermined,
        }
    }
}
