//! How a store is opened: limits, deadlines, where the audit key and the signed heads live.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::StoreError;

/// What the store may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Reads and writes. Refused when the audit chain does not continue where its heads say it should.
    #[default]
    ReadWrite,
    /// Reads only: for `verify` and `export`, also over a broken chain. Writes nothing, not even a migration.
    ReadOnly,
    /// Like [`Mode::ReadWrite`], but accepts the chain as it is and puts that on record with a signed head of its own.
    /// For an operator who restored an older copy and knows it.
    Restore {
        /// The present time.
        now: Timestamp,
    },
}

/// When a signed head is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadPolicy {
    /// At the latest after this many records.
    pub records: u64,
    /// At the latest when a record is this much younger than the last head.
    pub interval: Duration,
}

impl Default for HeadPolicy {
    fn default() -> Self {
        Self { records: 1000, interval: Duration::from_secs(60) }
    }
}

/// A point of the write path where a crash must do no harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Boundary {
    /// Everything of the group is written, nothing is durable.
    BeforeCommit,
    /// The group is durable, nobody knows.
    AfterCommit,
    /// The signed heads are on file, nobody knows.
    AfterHeads,
    /// The callers have been told.
    AfterAcknowledge,
}

/// Called by the writer at each boundary: for fault tests.
pub type Watcher = Arc<dyn Fn(Boundary) + Send + Sync>;

/// Asked by the writer before and after each commit: an error that it returns is what the commit comes to. For fault
/// tests: before the commit nothing was written, after it everything was.
pub type Faults = Arc<dyn Fn(Boundary) -> Result<(), StoreError> + Send + Sync>;

/// How to open a store. The defaults suit an embedded store.
#[derive(Clone)]
pub struct Options {
    /// What the store may do.
    pub mode: Mode,
    /// Where the audit key, the signed heads and the tip are kept. Beside the database by default; a store on
    /// PostgreSQL needs one, because the point of the heads is to be elsewhere.
    pub audit_directory: Option<PathBuf>,
    /// When a signed head is made.
    pub heads: HeadPolicy,
    /// Public keys (Ed25519, 64 hexadecimal digits) of other replicas whose heads count.
    pub trusted_keys: Vec<String>,
    /// Writes that may wait. More are refused at once.
    pub queue: usize,
    /// Audit records in one commit, at most.
    pub group: usize,
    /// Bytes of one audit event in canonical form, at most.
    pub event_bytes: usize,
    /// How long another process may hold the database before a write fails.
    pub busy: Duration,
    /// Deadline of a read.
    pub read_deadline: Duration,
    /// Deadline of a write, from the call to the acknowledgement.
    pub write_deadline: Duration,
    /// Connections for reading.
    pub readers: usize,
    /// How long a SQLite database is looked through for damaged pages when it is opened; not at all without. What is not
    /// done by then is done behind the opening, and what is found closes the store for writing.
    pub check: Option<Duration>,
    /// For fault tests.
    pub watcher: Option<Watcher>,
    /// For fault tests.
    pub faults: Option<Faults>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            audit_directory: None,
            heads: HeadPolicy::default(),
            trusted_keys: Vec::new(),
            queue: 8192,
            group: 2048,
            event_bytes: 256 * 1024,
            busy: Duration::from_secs(5),
            read_deadline: Duration::from_secs(30),
            write_deadline: Duration::from_secs(30),
            readers: 2,
            check: None,
            watcher: None,
            faults: None,
        }
    }
}

impl Options {
    pub(crate) fn reached(&self, boundary: Boundary) {
        if let Some(watcher) = &self.watcher {
            watcher(boundary);
        }
    }

    /// The same, where a fault test can make the writer fail.
    pub(crate) fn pass(&self, boundary: Boundary) -> Result<(), StoreError> {
        self.reached(boundary);
        self.faults.as_ref().map_or(Ok(()), |faults| faults(boundary))
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("mode", &self.mode)
            .field("audit_directory", &self.audit_directory)
            .field("heads", &self.heads)
            .field("queue", &self.queue)
            .field("group", &self.group)
            .finish_non_exhaustive()
    }
}
