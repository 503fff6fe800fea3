//! Headers that repeat arguments of a tool, as its schema asks for with `x-mcp-header`.

use std::borrow::Cow;

use serde_json::Value;
use switchboard_wire::{Kind, Raw};

use super::{PARAM_PREFIX, decode, encode, mismatch, open, optional, same, unreadable};
use crate::fault::{Fault, FaultKind};

const ANNOTATION: &str = "x-mcp-header";
/// Integers beyond this are not the same for every reader.
const SAFE: i64 = (1 << 53) - 1;

/// Why a tool's wish for headers is no valid one. A client leaves such a tool out of its lists.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnnotationError {
    /// The schema is no object, or too deep to be read.
    #[error("the schema cannot be read")]
    Schema,
    /// The name is no text.
    #[error("an x-mcp-header that is no text")]
    NotText,
    /// The name is empty.
    #[error("an empty x-mcp-header")]
    Empty,
    /// The name holds a character that the name of a header may not.
    #[error("x-mcp-header {0:?} is no valid part of a header's name")]
    NotToken(String),
    /// Two arguments want the same name.
    #[error("x-mcp-header {0:?} stands twice")]
    Duplicate(String),
    /// The argument is neither text, an integer nor a boolean.
    #[error("x-mcp-header {0:?} on something else than a string, an integer or a boolean")]
    NotPrimitive(String),
    /// It stands where no argument can be found without knowing the call.
    #[error("an x-mcp-header that is not reached through `properties` alone")]
    Unreachable,
}

/// The headers that a tool's schema asks for. Worked out once, used for every call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParamHeaders(Vec<Annotation>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Annotation {
    header: String,
    path: Vec<String>,
}

impl ParamHeaders {
    /// Reads a tool's schema.
    ///
    /// # Errors
    /// A wish breaks a rule: the tool's definition is invalid.
    pub fn of(input_schema: &Raw) -> Result<Self, AnnotationError> {
        // Nearly every schema has none, and need not be read.
        if !input_schema.as_str().contains("x-mcp-header") && !input_schema.as_str().contains("\\u") {
            return Ok(Self::default());
        }
        let schema: Value = input_schema.view().map_err(|_| AnnotationError::Schema)?;
        let mut found = Self::default();
        found.walk(&schema, &mut Vec::new(), true)?;
        Ok(found)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    // As deep as the schema is nested, which reading it has bounded.
    fn walk(&mut self, schema: &Value, path: &mut Vec<String>, reachable: bool) -> Result<(), AnnotationError> {
        let Value::Object(members) = schema else {
            return match schema {
                Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.walk(schema, path, false)),
                _ => Ok(()),
            };
        };
        if let Some(name) = members.get(ANNOTATION) {
            if !reachable || path.is_empty() {
                return Err(AnnotationError::Unreachable);
            }
            self.take(name, schema, path)?;
        }
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for (property, schema) in properties {
                        path.push(property.clone());
                        self.walk(schema, path, reachable)?;
                        path.pop();
                    }
                }
                // Keys of these are names, not keywords.
                ("patternProperties" | "$defs" | "definitions" | "dependentSchemas", Value::Object(schemas)) => {
                    schemas.values().try_for_each(|schema| self.walk(schema, path, false))?;
                }
                // These hold data, not schemas.
                ("const" | "enum" | "default" | "examples" | "example" | "required" | ANNOTATION, _) => {}
                (_, value) => self.walk(value, path, false)?,
            }
        }
        Ok(())
    }

    fn take(&mut self, name: &Value, schema: &Value, path: &[String]) -> Result<(), AnnotationError> {
        let name = name.as_str().ok_or(AnnotationError::NotText)?;
        if name.is_empty() {
            return Err(AnnotationError::Empty);
        }
        if !name.bytes().all(is_token) {
            return Err(AnnotationError::NotToken(name.to_owned()));
        }
        if !is_primitive(&schema["type"]) {
            return Err(AnnotationError::NotPrimitive(name.to_owned()));
        }
        let header = format!("{PARAM_PREFIX}{name}");
        if self.0.iter().any(|earlier| earlier.header.eq_ignore_ascii_case(&header)) {
            return Err(AnnotationError::Duplicate(name.to_owned()));
        }
        self.0.push(Annotation { header, path: path.to_vec() });
        Ok(())
    }

    /// The headers for a call with these arguments. Arguments that are absent or `null` have none.
    ///
    /// # Errors
    /// An argument is neither text, a safe integer nor a boolean ([`FaultKind::InvalidArguments`]).
    pub fn headers(&self, arguments: Option<&Raw>) -> Result<Vec<(String, String)>, Fault> {
        let mut headers = Vec::with_capacity(self.0.len());
        for annotation in &self.0 {
            if let Some(value) = annotation.value(arguments)? {
                let text = text_of(&value).ok_or_else(|| annotation.unfit())?;
                headers.push((annotation.header.clone(), encode(&text).into_owned()));
            }
        }
        Ok(headers)
    }

    /// Checks the headers of a call against its arguments. `headers` gives every value of a name.
    ///
    /// # Errors
    /// A header is missing, stands twice, cannot be read, or says something else than the arguments
    /// ([`FaultKind::HeaderMismatch`]).
    pub fn check<'h>(&self, headers: impl Fn(&str) -> Vec<&'h [u8]>, arguments: Option<&Raw>) -> Result<(), Fault> {
        for annotation in &self.0 {
            let name = &annotation.header;
            match (optional(&headers, name)?, annotation.value(arguments)?) {
                (None, None) => {}
                (None, Some(_)) => return Err(mismatch(format!("the header {name} is missing"))),
                // Whoever trusts the header would act on something that the call does not say.
                (Some(_), None) => return Err(mismatch(format!("the header {name} repeats nothing in the body"))),
                (Some(header), Some(value)) => {
                    let header = decode(header.as_bytes()).ok_or_else(|| unreadable(name))?;
                    let text = text_of(&value).ok_or_else(|| annotation.unfit())?;
                    if value.kind() != Kind::Number || !same_number(&header, &text) {
                        same(name, &header, &text)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Annotation {
    /// The argument at the annotated place; `None` where it is absent or `null`.
    fn value(&self, arguments: Option<&Raw>) -> Result<Option<Raw>, Fault> {
        let mut value = arguments.cloned();
        for key in &self.path {
            let Some(object) = value.as_ref().map(open).transpose()?.flatten() else { return Ok(None) };
            value = object.get(key);
        }
        Ok(value.filter(|value| value.kind() != Kind::Null))
    }

    fn unfit(&self) -> Fault {
        let path = self.path.join(".");
        Fault::new(
            FaultKind::InvalidArguments,
            format!("the argument {path:?} must be text, an integer or a boolean, as it is repeated in a header"),
        )
    }
}

/// The headers that `input_schema` asks for in a call with these arguments: see [`ParamHeaders::headers`].
///
/// # Errors
/// The schema's wishes or the arguments are invalid.
pub fn param_headers(input_schema: &Raw, arguments: Option<&Raw>) -> Result<Vec<(String, String)>, Fault> {
    let wishes = ParamHeaders::of(input_schema)
        .map_err(|error| Fault::new(FaultKind::UpstreamInvalid, error.to_string()).with_source(error))?;
    wishes.headers(arguments)
}

/// Checks the headers that `input_schema` asks for: see [`ParamHeaders::check`]. A schema whose wishes are invalid
/// asks for nothing.
///
/// # Errors
/// A header and the argument it repeats differ.
pub fn check_params<'h>(
    headers: impl Fn(&str) -> Vec<&'h [u8]>,
    input_schema: &Raw,
    arguments: Option<&Raw>,
) -> Result<(), Fault> {
    ParamHeaders::of(input_schema).unwrap_or_default().check(headers, arguments)
}

/// A character that RFC 9110 lets into the name of a header.
const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~')
}

/// One of the three types that have a header form, alone or beside `null`.
fn is_primitive(kind: &Value) -> bool {
    let fits = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    match kind {
        Value::Array(kinds) => {
            kinds.iter().any(fits) && kinds.iter().all(|kind| fits(kind) || kind.as_str() == Some("null"))
        }
        kind => fits(kind),
    }
}

fn text_of(value: &Raw) -> Option<Cow<'_, str>> {
    match value.kind() {
        Kind::String => value.as_text().map(Cow::Owned),
        Kind::Bool => Some(value.as_str().into()),
        Kind::Number => safe_integer(value.as_str()).map(|integer| integer.to_string().into()),
        _ => None,
    }
}

/// The integer that a JSON number is, also where it is written as `42.0` or `4.2e1`.
fn safe_integer(text: &str) -> Option<i64> {
    let integer = match text.parse::<i64>() {
        Ok(integer) => integer,
        Err(_) => {
            let number: f64 = text.parse().ok()?;
            // Below 2^53 every integer is exact as a double, so the cast changes nothing.
            (number.fract() == 0.0 && number.abs() <= SAFE as f64).then_some(number as i64)?
        }
    };
    (-SAFE..=SAFE).contains(&integer).then_some(integer)
}

fn same_number(header: &str, body: &str) -> bool {
    let numeric = header.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    numeric && safe_integer(header).is_some_and(|header| safe_integer(body) == Some(header))
}
