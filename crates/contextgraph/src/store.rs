//! Where memories are kept, behind one trait. What they mean is not known here.
//!
//! Several processes may have the same store open. Everything that is written carries the version of its space; whoever
//! looks again asks for what is newer than what it knows. A change is one transaction: all of it, or nothing.

mod known;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod sqlite;

use crate::error::{Outcome, Problem};
use crate::graph::Memory;
use crate::graph::edges::{Edge, EdgeKind};
use crate::vector::Sparse;
use crate::{Code, Id};

/// How long answers to calls with a key are kept.
const ANSWERS_MS: u64 = 24 * 3_600_000;

/// Records of queries that are kept in a space, for judging their results later.
pub const MAX_QUERIES: usize = 256;
/// The kind of such a record.
pub const QUERY: &str = "query";
/// Earlier forms that are kept of one memory.
pub const MAX_REVISIONS: usize = 100;

/// The version of a space.
pub type Version = i64;

/// A memory with what finding needs.
#[derive(Debug, Clone)]
pub struct Light {
    /// What is known of it.
    pub memory: Memory,
    /// Its row of meaning.
    pub row: [i8; 256],
    /// Its words.
    pub words: Sparse,
}

/// The text and the vectors of a memory.
#[derive(Debug, Clone)]
pub struct RecordBody {
    /// Whose it is.
    pub id: Id,
    /// The text.
    pub content: String,
    /// Why it was stored.
    pub rationale: Option<String>,
    /// Its packed vectors.
    pub fingerprint: Vec<u8>,
}

/// What is newer than a version.
#[derive(Debug, Default)]
pub struct RecordChanges {
    /// The version that it brings.
    pub version: Version,
    /// Memories, in the order they were first stored.
    pub memories: Vec<Light>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// Edges that are gone.
    pub gone: Vec<(Id, Id, EdgeKind)>,
    /// State, by key.
    pub state: Vec<(String, String)>,
    /// Memories that were erased.
    pub erased: Vec<Id>,
}

/// What a memory was before it was changed.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRevision {
    /// When it was replaced.
    pub at: u64,
    /// What was known of it.
    pub memory: Memory,
    /// Its text.
    pub content: String,
    /// Why it was stored.
    pub rationale: Option<String>,
}

/// Something that happened, for history and for undoing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its id.
    pub id: Id,
    /// When.
    pub at: u64,
    /// What.
    pub kind: String,
    /// The rest, as JSON.
    pub data: String,
}

/// What finding a memory needs: its row of meaning and its words.
pub type SearchRow = (Vec<i8>, Sparse);

/// One change of a space.
#[derive(Debug, Default)]
pub struct Batch {
    /// Memories that are new or changed; without a row and words only what is known of them changes.
    pub memories: Vec<(Memory, Option<SearchRow>)>,
    /// Texts and vectors that are new.
    pub bodies: Vec<RecordBody>,
    /// Edges that are new or changed.
    pub edges: Vec<Edge>,
    /// Edges that go.
    pub gone: Vec<(Id, Id, EdgeKind)>,
    /// State, by key.
    pub state: Vec<(&'static str, String)>,
    /// What happened.
    pub records: Vec<Record>,
    /// What memories were before this change.
    pub revisions: Vec<MemoryRevision>,
    /// Memories that go for good, with everything that is kept of them or names them.
    pub erased: Vec<Id>,
    /// The answer to a call, under the key that it came with.
    pub outcome: Option<Answered>,
}

/// The answer to a call that came with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The key.
    pub key: String,
    /// The tool and a digest of its arguments.
    pub call: String,
    /// The answer.
    pub answer: String,
    /// When.
    pub at: u64,
}

impl Batch {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.memories.is_empty()
            && self.bodies.is_empty()
            && self.edges.is_empty()
            && self.gone.is_empty()
            && self.state.is_empty()
            && self.records.is_empty()
            && self.revisions.is_empty()
            && self.erased.is_empty()
            && self.outcome.is_none()
    }
}

/// The store of one space.
pub trait Storage: Send {
    /// What is newer than `since`; everything for 0. `None` if nothing is.
    ///
    /// # Errors
    /// The store failed.
    fn changes(&mut self, since: Version) -> Outcome<Option<RecordChanges>>;

    /// Begins a change: nobody else writes until it ends.
    ///
    /// # Errors
    /// The store failed, or somebody else did not come to an end.
    fn begin(&mut self) -> Outcome<()>;

    /// Ends a change and makes it durable. The version that it has.
    ///
    /// # Errors
    /// The store failed; nothing is written.
    fn commit(&mut self, batch: &Batch) -> Outcome<Version>;

    /// Gives a change up.
    fn roll_back(&mut self);

    /// Texts and vectors of memories, in no order.
    ///
    /// # Errors
    /// The store failed.
    fn bodies(&mut self, ids: &[Id]) -> Outcome<Vec<RecordBody>>;

    /// What happened, newest first; of a kind, or of all but queries.
    ///
    /// # Errors
    /// The store failed.
    fn records(&mut self, kind: Option<&str>, most: usize) -> Outcome<Vec<Record>>;

    /// One thing that happened.
    ///
    /// # Errors
    /// The store failed.
    fn record(&mut self, id: Id) -> Outcome<Option<Record>>;

    /// What a memory was before, the newest first, at most [`MAX_REVISIONS`].
    ///
    /// # Errors
    /// The store failed.
    fn history(&mut self, id: Id) -> Outcome<Vec<MemoryRevision>>;

    /// Overwrites what erased memories have left behind in the files of the store. `false` if others use it just now: what is
    /// left is remembered, see [`Storage::has_remains`].
    ///
    /// # Errors
    /// The store failed.
    fn scrub(&mut self) -> Outcome<bool>;

    /// Whether erased memories may have left something behind in the files of the store.
    ///
    /// # Errors
    /// The store failed.
    fn has_remains(&mut self) -> Outcome<bool>;

    /// The answer that a key got before.
    ///
    /// # Errors
    /// The store failed.
    fn outcome(&mut self, key: &str) -> Outcome<Option<Answered>>;

    /// Bytes that the store takes.
    ///
    /// # Errors
    /// The store failed.
    fn size(&mut self) -> Outcome<u64>;

    /// The name of the engine.
    fn engine(&self) -> &'static str;
}

/// Opens the stores of spaces.
pub trait Stores: Send + Sync {
    /// The store of a space, made if it is new.
    ///
    /// # Errors
    /// The store cannot be opened.
    fn open(&self, space: &str) -> Outcome<Box<dyn Storage>>;

    /// The names of all spaces.
    ///
    /// # Errors
    /// The store failed.
    fn spaces(&self) -> Outcome<Vec<String>>;
}

fn words_to_bytes(words: &Sparse) -> Vec<u8> {
    words.iter().flat_map(|(term, value)| term.to_le_bytes().into_iter().chain(value.to_le_bytes())).collect()
}

/// A row of meaning.
fn row_from_bytes(bytes: &[u8]) -> Outcome<[i8; 256]> {
    let row: [u8; 256] = bytes.try_into().map_err(|_| broken("a row of meaning of the wrong length"))?;
    Ok(row.map(u8::cast_signed))
}

fn words_from_bytes(bytes: &[u8]) -> Sparse {
    let count = bytes.len() / 6;
    let mut words = Sparse { indices: Vec::with_capacity(count), values: Vec::with_capacity(count) };
    for entry in bytes.chunks_exact(6) {
        words.indices.push(u16::from_le_bytes([entry[0], entry[1]]));
        words.values.push(f32::from_le_bytes([entry[2], entry[3], entry[4], entry[5]]));
    }
    words
}

fn broken(what: &str) -> Problem {
    Problem::new(Code::Storage, "STORE_DAMAGED", format!("the memory store holds {what} that cannot be read"))
}
