//! Whether the schema of a result can be compiled by clients.
//!
//! The TypeScript SDK compiles every `outputSchema` while it reads a list, with Ajv and its defaults, and loses the whole
//! list where one does not compile. What is known to compile is written down here. What is not known is refused, at the
//! price of one schema of a result; names that make Ajv read a document in another way are refused wherever they stand.

use serde_json::{Map, Value};
use switchboard_policy::schema::MOST_BYTES;
use switchboard_wire::Raw;

use super::regexes::is_pattern;
use crate::{Finding, Verdict};

/// Schemas nested deeper are not compiled by us, so nobody knows.
const MAX_DEPTH: usize = 64;
/// References that lead to references, one after the other.
const MAX_HOPS: usize = 16;
/// Words that change what the rest of a document means, and that Ajv looks for below unknown words too.
const REFUSED: [&str; 11] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$async",
    "$data",
    "formatMinimum",
    "formatMaximum",
    "formatExclusiveMinimum",
    "formatExclusiveMaximum",
];

/// Whether clients can compile a schema.
///
/// # Errors
/// The first thing that they would throw on.
pub fn compiles(schema: &Raw) -> Verdict {
    if schema.as_bytes().len() > MOST_BYTES {
        return refuse(format!("it is longer than {MOST_BYTES} bytes"));
    }
    let root: Value = schema.view().map_err(|error| Finding::new("schema-compile", error.to_string()))?;
    refuse_words(&root, 0)?;
    Reader { root: &root }.schema(&root, 0)
}

fn refuse_words(value: &Value, depth: usize) -> Verdict {
    match value {
        Value::Object(_) | Value::Array(_) if depth > 2 * MAX_DEPTH => {
            refuse(format!("it is nested deeper than {}", 2 * MAX_DEPTH))
        }
        Value::Object(members) => members.iter().try_for_each(|(word, value)| {
            // An id makes another document of what it stands in, to which references are then read.
            if REFUSED.contains(&word.as_str()) || word == "$id" && depth > 0 {
                return refuse(format!("`{word}` is not understood by every client"));
            }
            refuse_words(value, depth + 1)
        }),
        Value::Array(values) => values.iter().try_for_each(|value| refuse_words(value, depth + 1)),
        _ => Ok(()),
    }
}

fn refuse<T>(message: String) -> Result<T, Finding> {
    Err(Finding::new("schema-compile", message))
}

struct Reader<'s> {
    root: &'s Value,
}

impl<'s> Reader<'s> {
    fn schema(&self, schema: &'s Value, depth: usize) -> Verdict {
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(_) => return Ok(()),
            _ => return refuse("a part of it is neither an object nor a boolean".to_owned()),
        };
        if depth > MAX_DEPTH {
            return refuse(format!("it is nested deeper than {MAX_DEPTH}"));
        }
        for (keyword, value) in members {
            if !fits(keyword, value) {
                return refuse(format!("`{keyword}` has another type than it may have"));
            }
        }
        if members.contains_key("nullable") && !members.contains_key("type") {
            return refuse("`nullable` stands without `type`".to_owned());
        }
        if members.get("nullable") == Some(&Value::Bool(false)) && allows_null(members.get("type")) {
            return refuse("`nullable` contradicts `type`".to_owned());
        }
        if let Some(reference) = members.get("$ref").and_then(Value::as_str)
            && !self.resolves(reference)
        {
            return refuse(format!("`$ref` leads nowhere: {reference}"));
        }
        self.parts(members, depth)
    }

    fn parts(&self, members: &'s Map<String, Value>, depth: usize) -> Verdict {
        const BY_NAME: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependencies"];
        for (keyword, value) in members {
            let named = BY_NAME.contains(&keyword.as_str());
            match value {
                Value::Object(inner) if named => {
                    let is_list = |part: &&Value| keyword != "dependencies" || !part.is_array();
                    inner.values().filter(is_list).try_for_each(|schema| self.schema(schema, depth + 1))?;
                }
                Value::Object(_) if is_schema(keyword) => self.schema(value, depth + 1)?,
                Value::Array(list) if is_schema(keyword) || matches!(keyword.as_str(), "allOf" | "anyOf" | "oneOf") => {
                    list.iter().try_for_each(|schema| self.schema(schema, depth + 1))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a reference ends at a schema, and not in a ring of references.
    fn resolves(&self, reference: &str) -> bool {
        let mut reference = reference;
        for _ in 0..MAX_HOPS {
            let Some(fragment) = reference.strip_prefix('#').and_then(crate::percent::decoded) else { return false };
            match self.root.pointer(&fragment) {
                Some(Value::Bool(_)) => return true,
                Some(Value::Object(members)) => match members.get("$ref").and_then(Value::as_str) {
                    Some(next) => reference = next,
                    None => return true,
                },
                _ => return false,
            }
        }
        false
    }
}

fn allows_null(kind: Option<&Value>) -> bool {
    let is_null = |kind: &Value| kind.as_str() == Some("null");
    kind.is_some_and(|kind| is_null(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is_null)))
}

fn is_schema(keyword: &str) -> bool {
    matches!(
        keyword,
        "additionalProperties"
            | "propertyNames"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else"
            | "items"
            | "additionalItems"
    )
}

fn fits(keyword: &str, value: &Value) -> bool {
    let is_type = |kind: &Value| {
        let known = ["object", "array", "string", "number", "integer", "boolean", "null"];
        kind.as_str().is_some_and(|kind| known.contains(&kind))
    };
    match keyword {
        "type" => is_type(value) || value.as_array().is_some_and(|types| types.iter().all(is_type)),
        "format" | "$ref" | "$schema" => value.is_string(),
        "$id" => value.as_str().is_some_and(|id| id.starts_with("http://") || id.starts_with("https://")),
        // Of the fourth draft, which Ajv does not know any more.
        "id" => false,
        "pattern" => value.as_str().is_some_and(is_pattern),
        "$defs" | "definitions" => value.is_object(),
        "patternProperties" => value.as_object().is_some_and(|members| members.keys().all(|key| is_pattern(key))),
        "properties" => value.is_object(),
        "required" | "allOf" | "anyOf" | "oneOf" => value.is_array(),
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "items" => value.is_object() || value.is_array() || value.is_boolean(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minLength" | "maxLength"
        | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains" | "maxContains" => {
            value.is_number()
        }
        "uniqueItems" | "nullable" => value.is_boolean(),
        "dependencies" => value.is_object(),
        _ if is_schema(keyword) => value.is_object() || value.is_boolean(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use switchboard_wire::Limits;

    use super::*;

    fn check(property: &Value) -> Verdict {
        let schema = json!({"type": "object", "properties": {"a": property}, "$defs": {"X": {"type": "string"}}});
        compiles(&Raw::parse(schema.to_string(), &Limits::default()).expect("valid JSON"))
    }

    #[test]
    fn what_ajv_throws_on_is_refused_and_what_servers_write_is_not() {
        let throws = [
            json!({"$ref": "#/$defs/nope"}),
            json!({"$ref": "https://x.example/s.json"}),
            json!({"$ref": 5}),
            json!({"pattern": "("}),
            json!({"pattern": "(?P<x>a)"}),
            json!({"type": "any"}),
            json!({"type": null}),
            json!({"enum": []}),
            json!({"enum": "x"}),
            json!({"nullable": true}),
            json!({"minimum": 1, "exclusiveMinimum": true}),
            json!({"minLength": "1"}),
            json!({"required": true}),
            json!({"format": 1}),
            json!({"items": null}),
            json!({"anyOf": {}}),
            json!({"additionalProperties": null}),
            json!({"if": "x"}),
            json!({"not": 5}),
            json!({"properties": null}),
            json!({"id": "x"}),
            json!({"anyOf": [{"type": "foo"}]}),
            json!({"anyOf": [null]}),
            json!({"items": [null]}),
            json!({"type": "object", "properties": {"b": null}}),
            json!({"patternProperties": {"x": null}}),
            json!({"dependencies": {"x": null}}),
            json!({"$anchor": "my anchor"}),
            json!({"x-more": {"$anchor": "y"}}),
            json!({"x-more": [{"$id": "https://x.example/"}]}),
            json!({"$dynamicAnchor": "x"}),
            json!({"$async": true}),
            json!({"type": "string", "formatMinimum": null}),
            json!({"type": ["object", "null"], "nullable": false}),
            json!({"$ref": "#/properties/a"}),
            json!({"$ref": "#/properties/a/not", "not": {"$ref": "#/properties/a"}}),
            json!({"$ref": "#x"}),
            json!("string"),
            json!(null),
        ];
        let compiled = [
            json!(true),
            json!({"type": "object", "properties": {"again": {"$ref": "#/properties/a"}}}),
            json!({"dependencies": {"b": ["c"], "c": {"type": "object"}}}),
            json!({"type": "string", "nullable": false}),
            json!({"$ref": "#/$defs/X"}),
            json!({"$ref": "#"}),
            json!({"pattern": "^[a-z]+$", "format": "date-time"}),
            json!({"type": ["string", "null"], "nullable": true, "description": null}),
            json!({"type": "array", "items": [{"type": "string"}], "uniqueItems": true}),
            json!({"anyOf": [], "discriminator": {"propertyName": "x"}, "multipleOf": 0, "maxLength": -1}),
            json!({"const": null, "default": {"type": "foo"}, "examples": [{"pattern": "("}]}),
            json!({"properties": {"id": {"type": "string"}, "required": {"type": "boolean"}}}),
        ];
        for schema in throws {
            assert!(check(&schema).is_err(), "{schema}");
        }
        for schema in compiled {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }
}
