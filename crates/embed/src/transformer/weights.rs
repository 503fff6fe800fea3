//! The file format `safetensors`: a length, a JSON object of names, types, shapes and places, then the numbers.
//!
//! It decides which numbers a tensor has. Every place is checked against the length of the file. Only 32-bit floats are
//! read, because that is how the models come.

use std::collections::HashMap;

use serde::Deserialize;

use super::TransformerError;

/// A header longer than this describes no model of this kind.
const LONGEST_HEADER: usize = 16 << 20;

#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// The tensors of a file.
pub(super) struct Tensors<'a> {
    entries: HashMap<String, Entry>,
    data: &'a [u8],
}

impl<'a> Tensors<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, TransformerError> {
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or(TransformerError::Unreadable("it is too short"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > LONGEST_HEADER || length > rest.len() {
            return Err(TransformerError::Unreadable("its header is longer than the file"));
        }
        let (header, data) = rest.split_at(length);
        let header: HashMap<String, serde_json::Value> =
            serde_json::from_slice(header).map_err(|_| TransformerError::Unreadable("its header is no JSON object"))?;
        // Besides tensors there is `__metadata__`, which is none.
        let read = |(name, value)| Some((name, serde_json::from_value::<Entry>(value).ok()?));
        Ok(Self { entries: header.into_iter().filter_map(read).collect(), data })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Rows and columns of a table.
    pub(super) fn shape(&self, name: &str) -> Result<(usize, usize), TransformerError> {
        match self.entries.get(name).map(|entry| entry.shape.as_slice()) {
            Some([rows, columns]) => Ok((*rows, *columns)),
            Some([columns]) => Ok((1, *columns)),
            _ => Err(TransformerError::Missing(name.to_owned())),
        }
    }

    /// The numbers of a tensor that must have this shape.
    pub(super) fn values(&self, name: &str, rows: usize, columns: usize) -> Result<Vec<f32>, TransformerError> {
        let missing = || TransformerError::Missing(name.to_owned());
        let entry = self.entries.get(name).filter(|entry| entry.dtype == "F32").ok_or_else(missing)?;
        if self.shape(name)? != (rows, columns) {
            return Err(missing());
        }
        let bytes = self.data.get(entry.data_offsets.0..entry.data_offsets.1).ok_or_else(missing)?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if Some(numbers.len()) != rows.checked_mul(columns) || !rest.is_empty() {
            return Err(missing());
        }
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}
