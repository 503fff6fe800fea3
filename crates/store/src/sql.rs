//! What the two engines have in common: statements in one SQL, values, rows, and the [`Engine`] trait.
//!
//! The nouns are written once, in SQL that both engines read (`$1` parameters, `ON CONFLICT`, `RETURNING`, no functions
//! that differ). An engine knows how to run statements, how to commit a group, and nothing about grants or pins.

pub(crate) mod queue;
pub(crate) mod row;

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::audit::evidence::Evidence;
use crate::audit::{Head, Link, Prepared};
use crate::{Answer, Digest, Options, StoreError};

use queue::{Queue, Work};

pub(crate) use row::Row;

/// Newest schema that this build knows: the number of migrations of each engine.
pub(crate) const SCHEMA: i64 = 5;

/// One engine with one open database.
pub(crate) trait Engine: Send + Sync + fmt::Debug {
    /// Runs one statement that changes nothing.
    fn read(&self, statement: Statement) -> Answer<'_, Vec<Row>>;

    /// Runs statements in one transaction and returns the rows of each, once they are durable.
    fn write(&self, statements: Vec<Statement>) -> Answer<'_, Vec<Vec<Row>>> {
        Box::pin(async move { writer(self.queue())?.submit(Work::Execute(statements)).await?.executed() })
    }

    /// Appends events to the audit chain and returns their links, once they are durable.
    fn append(&self, events: Vec<Prepared>) -> Answer<'_, Vec<Link>> {
        Box::pin(async move { writer(self.queue())?.submit(Work::Append(events)).await?.appended() })
    }

    /// The same, for events of which some may stand after this record already.
    fn append_once(&self, events: Vec<Prepared>, after: u64) -> Answer<'_, Vec<Link>> {
        Box::pin(async move { writer(self.queue())?.submit(Work::AppendOnce { events, after }).await?.appended() })
    }

    /// Signs a head for the present end of the chain, unless there is one.
    fn seal(&self, now: Timestamp) -> Answer<'_, Head> {
        Box::pin(async move { writer(self.queue())?.submit(Work::Seal(now)).await?.signed() })
    }

    /// Removes the records up to this sequence number and signs what the rest continues from.
    fn prune(&self, through: u64, now: Timestamp) -> Answer<'_, Head> {
        Box::pin(async move { writer(self.queue())?.submit(Work::Prune { through, now }).await?.signed() })
    }

    /// Where writes wait for their turn; none in a store that is open for reading.
    fn queue(&self) -> Option<&Queue>;

    /// The signed heads outside of the database.
    fn evidence(&self) -> &Evidence;

    /// How this store was opened.
    fn options(&self) -> &Options;

    /// Ends the writer after the writes that wait, and waits for it.
    fn close(&self) -> Answer<'_, ()>;
}

fn writer(queue: Option<&Queue>) -> Result<&Queue, StoreError> {
    queue.ok_or(StoreError::ReadOnly)
}

/// A value of a column or a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A statement with its parameters: `$1` is the first.
#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<Value>,
}

impl Statement {
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>, values: impl IntoIterator<Item = Value>) -> Self {
        Self { sql: sql.into(), values: values.into_iter().collect() }
    }
}

/// Times are kept as microseconds since 1970: exact in both engines, and ordered.
pub(crate) fn micros(time: Timestamp) -> i64 {
    time.as_microsecond()
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        // Sequence numbers: a chain of 2^63 records is out of reach.
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<Timestamp> for Value {
    fn from(value: Timestamp) -> Self {
        Self::Integer(micros(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

impl From<Digest> for Value {
    fn from(value: Digest) -> Self {
        Self::Bytes(value.as_bytes().to_vec())
    }
}

impl From<&RawValue> for Value {
    fn from(value: &RawValue) -> Self {
        Self::Text(value.get().to_owned())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
