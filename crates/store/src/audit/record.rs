//! A record as it is stored, exported and verified.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Link;
use super::columns::Columns;
use crate::sql::Row;
use crate::{AuditEvent, Digest, StoreError};

/// One record of the chain.
#[derive(Debug, Clone)]
pub struct AuditRecord {
    /// Sequence number; the first record has 1. The order of the log, whatever the clock did.
    pub seq: u64,
    /// The time of the event.
    pub time: Timestamp,
    /// The event in canonical JSON, exactly as it was hashed.
    pub event: String,
    /// The hash of the record before.
    pub previous: Digest,
    /// The hash of this record.
    pub hash: Digest,
    pub(crate) columns: Columns<'static>,
}

/// The columns of [`AuditRecord`], in the order in which it reads them.
pub(crate) const COLUMNS: &str = "seq, time, event, previous, hash, event_type, actor, server, tool, trace, result";

impl AuditRecord {
    pub(crate) fn read(mut row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            seq: row.sequence()?,
            time: row.time()?,
            event: row.text()?,
            previous: row.digest()?,
            hash: row.digest()?,
            columns: Columns {
                event_type: row.text()?.into(),
                actor: row.text()?.into(),
                server: row.optional_text()?.map(Into::into),
                tool: row.optional_text()?.map(Into::into),
                trace: row.optional_text()?.map(Into::into),
                result: row.text()?.into(),
            },
        })
    }

    /// The event, parsed.
    pub fn parse(&self) -> Result<AuditEvent, StoreError> {
        serde_json::from_str(&self.event)
            .map_err(|error| StoreError::Corrupt(format!("audit record {} is no event: {error}", self.seq)))
    }

    /// The record as one line of JSON: `{"event","hash","prev","seq","time"}`. A reader with nothing but these lines can
    /// check the chain: the hash is SHA-256 over the bytes of `prev` and the text of
    /// `{"event":…,"seq":…,"time":…}`.
    pub fn line(&self) -> String {
        let time = self.time.as_microsecond();
        format!(
            "{{\"event\":{},\"hash\":\"{}\",\"prev\":\"{}\",\"seq\":{},\"time\":{time}}}",
            self.event, self.hash, self.previous, self.seq
        )
    }

    /// Whether the hash is that of the record.
    pub(crate) fn hash_agrees(&self) -> bool {
        let before = Link { seq: self.seq.saturating_sub(1), hash: self.previous };
        before.next(self.time.as_microsecond(), &self.event).hash == self.hash
    }

    /// The event with its place in the chain, for people and programs that query the log.
    pub fn to_value(&self) -> Value {
        let event: Value = serde_json::from_str(&self.event).unwrap_or(Value::Null);
        json!({ "seq": self.seq, "hash": self.hash.to_string(), "event": event })
    }

    /// Whether the searchable columns say what the event says.
    pub(crate) fn columns_agree(&self) -> bool {
        self.parse().is_ok_and(|event| event.columns() == self.columns)
    }
}
