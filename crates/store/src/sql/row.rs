//! Rows, read column by column in the order of the statement.

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::Value;
use crate::{Digest, StoreError};

/// One row of an answer. Each call takes the next column.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    columns: std::vec::IntoIter<Value>,
}

impl Row {
    pub(crate) fn new(columns: Vec<Value>) -> Self {
        Self { columns: columns.into_iter() }
    }

    pub(crate) fn integer(&mut self) -> Result<i64, StoreError> {
        self.optional_integer()?.ok_or_else(|| unexpected("a number", "nothing"))
    }

    pub(crate) fn optional_integer(&mut self) -> Result<Option<i64>, StoreError> {
        match self.next()? {
            Value::Integer(number) => Ok(Some(number)),
            Value::Null => Ok(None),
            Value::Text(_) | Value::Bytes(_) => Err(unexpected("a number", "text")),
        }
    }

    pub(crate) fn sequence(&mut self) -> Result<u64, StoreError> {
        u64::try_from(self.integer()?).map_err(|_| unexpected("a sequence number", "a negative number"))
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, StoreError> {
        self.optional_time()?.ok_or_else(|| unexpected("a time", "nothing"))
    }

    pub(crate) fn optional_time(&mut self) -> Result<Option<Timestamp>, StoreError> {
        let Some(micros) = self.optional_integer()? else { return Ok(None) };
        Timestamp::from_microsecond(micros).map(Some).map_err(|_| unexpected("a time", "a number out of range"))
    }

    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.optional_text()?.ok_or_else(|| unexpected("text", "nothing"))
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        match self.next()? {
            Value::Text(text) => Ok(Some(text)),
            Value::Null => Ok(None),
            Value::Integer(_) | Value::Bytes(_) => Err(unexpected("text", "something else")),
        }
    }

    /// A word of a closed vocabulary.
    pub(crate) fn word<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, StoreError> {
        let word = self.text()?;
        parse(&word).ok_or_else(|| unexpected("a known word", &word))
    }

    pub(crate) fn json(&mut self) -> Result<Option<Box<RawValue>>, StoreError> {
        let Some(text) = self.optional_text()? else { return Ok(None) };
        RawValue::from_string(text).map(Some).map_err(|_| unexpected("JSON", "something else"))
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, StoreError> {
        match self.next()? {
            Value::Bytes(bytes) => Ok(bytes),
            Value::Null | Value::Integer(_) | Value::Text(_) => Err(unexpected("bytes", "something else")),
        }
    }

    pub(crate) fn digest(&mut self) -> Result<Digest, StoreError> {
        self.optional_digest()?.ok_or_else(|| unexpected("a digest", "nothing"))
    }

    pub(crate) fn optional_digest(&mut self) -> Result<Option<Digest>, StoreError> {
        match self.next()? {
            Value::Bytes(bytes) => {
                Digest::from_slice(&bytes).map(Some).ok_or_else(|| unexpected("a digest", "bytes of another length"))
            }
            Value::Null => Ok(None),
            Value::Integer(_) | Value::Text(_) => Err(unexpected("a digest", "something else")),
        }
    }

    fn next(&mut self) -> Result<Value, StoreError> {
        self.columns.next().ok_or_else(|| unexpected("another column", "the end of the row"))
    }
}

fn unexpected(wanted: &str, found: &str) -> StoreError {
    StoreError::Corrupt(format!("expected {wanted}, found {found}"))
}
