//! Schemas of what tools give, written shortly: `object(&[("r", NUMBER), ("memory", or_null(TEXT))])`.

use serde_json::{Map, Value, json};

/// A short form of a schema.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Shape {
    Number,
    Whole,
    Text,
    Flag,
    Any,
    Nullable(Box<Self>),
    List(Box<Self>),
    Object(Vec<(&'static str, Self)>),
    Optional(Box<Self>),
}

/// A number.
pub const NUMBER: Shape = Shape::Number;
/// A whole number.
pub const WHOLE: Shape = Shape::Whole;
/// A text.
pub const TEXT: Shape = Shape::Text;
/// Yes or no.
pub const FLAG: Shape = Shape::Flag;
/// Anything.
pub const ANY: Shape = Shape::Any;

/// That or null.
#[must_use]
pub fn or_null(shape: Shape) -> Shape {
    Shape::Nullable(Box::new(shape))
}

/// A list of that.
#[must_use]
pub fn list(shape: Shape) -> Shape {
    Shape::List(Box::new(shape))
}

/// An object with these members.
#[must_use]
pub fn object(members: &[(&'static str, Shape)]) -> Shape {
    Shape::Object(members.to_vec())
}

/// A member that may be missing.
#[must_use]
pub fn maybe(shape: Shape) -> Shape {
    Shape::Optional(Box::new(shape))
}

impl Shape {
    /// The schema.
    #[must_use]
    pub fn schema(&self) -> Value {
        match self {
            Self::Number => json!({"type": "number"}),
            Self::Whole => json!({"type": "integer"}),
            Self::Text => json!({"type": "string"}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Any => json!({}),
            Self::Nullable(inner) => json!({"anyOf": [inner.schema(), {"type": "null"}]}),
            Self::List(inner) => json!({"type": "array", "items": inner.schema()}),
            Self::Optional(inner) => inner.schema(),
            Self::Object(members) => {
                let properties: Map<String, Value> =
                    members.iter().map(|(name, shape)| ((*name).to_owned(), shape.schema())).collect();
                let required: Vec<&str> = members
                    .iter()
                    .filter(|(_, shape)| !matches!(shape, Self::Optional(_)))
                    .map(|(name, _)| *name)
                    .collect();
                json!({"type": "object", "properties": properties, "required": required})
            }
        }
    }
}

/// The schema of an object with these members.
#[must_use]
pub fn output(members: &[(&'static str, Shape)]) -> Value {
    object(members).schema()
}
