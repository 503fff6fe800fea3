//! Fingerprints as programs write them: `{"semantic": {"e1_semantic": [..], ..}}`, the bare inner object, or
//! `{"embeddings": {"E1": [..], ..}}`.

use serde_json::{Map, Value, json};

use super::{Embedding, Fingerprint};
use crate::embedders::causal::Direction;
use crate::embedders::hdc::BITS;
use crate::embedders::space::{COUNT, EmbeddingShape, SPACES};
use crate::error::{Code, Outcome, Problem};
use crate::vector::Sparse;

/// Reads a fingerprint. A space that is not written is missing; one that is written wrongly is a problem.
///
/// # Errors
/// It is no object, a vector has the wrong length, or a number is none.
pub fn read(value: &Value) -> Outcome<Fingerprint> {
    let invalid = |message: String| Problem::new(Code::InvalidFingerprint, "INVALID_FINGERPRINT", message);
    let object = value.as_object().ok_or_else(|| invalid("a fingerprint is an object with `semantic`".to_owned()))?;
    let inner = object.get("semantic").or_else(|| object.get("embeddings")).unwrap_or(value);
    let inner = inner.as_object().ok_or_else(|| invalid("`semantic` is an object of thirteen vectors".to_owned()))?;
    let mut spaces: [Option<Embedding>; COUNT] = std::array::from_fn(|_| None);
    for (at, space) in SPACES.iter().enumerate() {
        let found = [space.key, space.id, space.name].iter().find_map(|key| inner.get(*key));
        // The direction of E5 may be written beside its vector.
        let found = found.map(|value| value.get("vector").unwrap_or(value)).filter(|value| !value.is_null());
        if let Some(found) = found {
            spaces[at] = Some(embedding(space.id, space.shape, found)?);
        }
    }
    let direction = inner.get("e5_direction").or_else(|| object.get("causal_direction")).and_then(Value::as_str);
    let direction = match direction {
        Some("cause" | "Cause") => Direction::Cause,
        Some("effect" | "Effect") => Direction::Effect,
        _ => Direction::Unknown,
    };
    Ok(Fingerprint { spaces, direction })
}

fn wrong(space: &str, found: usize, expected: &str) -> Problem {
    let message = format!("{space} has {found} numbers, expected {expected}");
    Problem::new(Code::DimensionMismatch, "DIMENSION_MISMATCH", message)
}

fn numbers(space: &str, value: &Value) -> Outcome<Vec<f32>> {
    let list = value.as_array().ok_or_else(|| {
        Problem::new(Code::InvalidFingerprint, "INVALID_FINGERPRINT", format!("{space} is an array of numbers"))
    })?;
    list.iter()
        .map(|number| {
            // JSON has no NaN: some writers put null or a word in its place.
            let number = number.as_f64().ok_or_else(|| Problem::not_finite(space))? as f32;
            if number.is_finite() { Ok(number) } else { Err(Problem::not_finite(space)) }
        })
        .collect()
}

fn embedding(id: &str, shape: EmbeddingShape, value: &Value) -> Outcome<Embedding> {
    match shape {
        EmbeddingShape::Dense(length) => {
            let values = numbers(id, value)?;
            if values.len() != length {
                return Err(wrong(id, values.len(), &length.to_string()));
            }
            Ok(Embedding::Dense(values))
        }
        EmbeddingShape::Bits { dense, .. } => {
            let values = numbers(id, value)?;
            if values.len() != dense && values.len() != BITS {
                return Err(wrong(id, values.len(), &format!("{dense} or {BITS}")));
            }
            Ok(Embedding::Dense(values))
        }
        EmbeddingShape::Sparse(places) => {
            let member = |name: &str| value.get(name).cloned().unwrap_or_else(|| json!([]));
            let (indices, values) = (numbers(id, &member("indices"))?, numbers(id, &member("values"))?);
            if indices.len() != values.len() {
                return Err(wrong(id, values.len(), "as many values as indices"));
            }
            if indices.iter().any(|index| *index < 0.0 || *index >= places as f32 || index.fract() != 0.0) {
                return Err(wrong(id, indices.len(), &format!("indices below {places}")));
            }
            // Below 30,522 by the check above.
            let entries = indices.iter().map(|&index| index as u16).zip(values).collect();
            Ok(Embedding::Sparse(Sparse::from_entries(entries)))
        }
        EmbeddingShape::Tokens(length) => {
            let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
            let flat = list.first().is_some_and(Value::is_number);
            let tokens = if flat {
                let values = numbers(id, value)?;
                if values.len() % length != 0 {
                    return Err(wrong(id, values.len(), &format!("a multiple of {length}")));
                }
                values.chunks(length).map(<[f32]>::to_vec).collect()
            } else {
                list.iter().map(|token| numbers(id, token)).collect::<Outcome<Vec<_>>>()?
            };
            if let Some(token) = tokens.iter().find(|token| token.len() != length) {
                return Err(wrong(id, token.len(), &format!("{length} for each token")));
            }
            Ok(Embedding::Tokens(tokens))
        }
    }
}

/// Writes the vectors of a fingerprint under `semantic`.
#[must_use]
pub fn write(fingerprint: &Fingerprint) -> Value {
    let mut inner = Map::new();
    for (space, embedding) in SPACES.iter().zip(&fingerprint.spaces) {
        let value = match embedding {
            None => continue,
            Some(Embedding::Dense(values)) => json!(values),
            Some(Embedding::Sparse(sparse)) => json!(sparse),
            Some(Embedding::Bits(bits)) => json!(bits.dense()),
            Some(Embedding::Tokens(tokens)) => json!(tokens),
        };
        inner.insert(space.key.to_owned(), value);
    }
    inner.insert("e5_direction".to_owned(), json!(fingerprint.direction));
    json!({"semantic": inner})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_has_its_code() {
        let code = |value: &Value| read(value).map_err(|problem| problem.code).err();
        assert_eq!(code(&json!([])), Some(Code::InvalidFingerprint));
        assert_eq!(code(&json!({"semantic": {"e9_hdc": [1, 0, 1]}})), Some(Code::DimensionMismatch));
        assert_eq!(code(&json!({"semantic": {"e1_semantic": vec![0.5; 1023]}})), Some(Code::DimensionMismatch));
        assert_eq!(code(&json!({"embeddings": {"E12": [[1, 2]]}})), Some(Code::DimensionMismatch));
        assert_eq!(code(&json!({"E6": {"indices": [40000], "values": [1]}})), Some(Code::DimensionMismatch));
        let mut numbers = vec![json!(0.5); 1024];
        numbers[3] = Value::Null;
        assert_eq!(code(&json!({"E1": numbers})), Some(Code::Computation));
        let read = read(&json!({"E13": {"indices": [5, 2, 5], "values": [1, 1, 1]}})).unwrap();
        assert_eq!(read.spaces[12], Some(Embedding::Sparse(Sparse { indices: vec![2, 5], values: vec![1.0, 2.0] })));
        assert!(read.spaces[0].is_none());
    }
}
