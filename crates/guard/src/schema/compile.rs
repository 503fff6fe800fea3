//! Whether the schema of a result can be compiled by clients.
//!
//! The TypeScript SDK compiles every `outputSchema` while it reads a list, with Ajv and its defaults, and loses the whole
//! list where one does not compile. What Ajv throws on is written down here; what it merely ignores passes.

use std::collections::HashSet;

use serde_json::{Map, Value};
use switchboard_wire::Raw;

use super::MOST_BYTES;
use crate::screen::is_pattern;
use crate::{Finding, Verdict};

/// Schemas nested deeper are not compiled by us, so nobody knows.
const MAX_DEPTH: usize = 64;

/// Whether clients can compile a schema.
///
/// # Errors
/// The first thing that they would throw on.
pub fn compiles(schema: &Raw) -> Verdict {
    if schema.as_bytes().len() > MOST_BYTES {
        return refuse(format!("it is longer than {MOST_BYTES} bytes"));
    }
    let root: Value = schema.view().map_err(|error| Finding::new("schema-compile", error.to_string()))?;
    let mut reader = Reader { root: &root, anchors: HashSet::new() };
    reader.schema(&root, 0)
}

fn refuse<T>(message: String) -> Result<T, Finding> {
    Err(Finding::new("schema-compile", message))
}

struct Reader<'s> {
    root: &'s Value,
    anchors: HashSet<&'s str>,
}

impl<'s> Reader<'s> {
    fn schema(&mut self, schema: &'s Value, depth: usize) -> Verdict {
        let Value::Object(members) = schema else { return Ok(()) };
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
        // An id makes another document of it, to which references are then read.
        if depth > 0 && members.contains_key("$id") {
            return refuse("a part of it has an `$id`".to_owned());
        }
        if let Some(anchor) = members.get("$anchor").and_then(Value::as_str)
            && !self.anchors.insert(anchor)
        {
            return refuse(format!("the anchor `{anchor}` stands twice"));
        }
        if let Some(reference) = members.get("$ref").and_then(Value::as_str)
            && !self.resolves(reference)
        {
            return refuse(format!("`$ref` leads nowhere: {reference}"));
        }
        self.parts(members, depth)
    }

    fn parts(&mut self, members: &'s Map<String, Value>, depth: usize) -> Verdict {
        const BY_NAME: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependencies"];
        for (keyword, value) in members {
            let named = BY_NAME.contains(&keyword.as_str());
            match value {
                Value::Object(inner) if named => {
                    inner.values().try_for_each(|schema| self.schema(schema, depth + 1))?;
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

    fn resolves(&self, reference: &str) -> bool {
        let Some(fragment) = reference.strip_prefix('#').and_then(crate::percent::decoded) else { return false };
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&fragment).is_some_and(|target| target.is_object() || target.is_boolean());
        }
        has_anchor(self.root, &fragment, 0)
    }
}

fn has_anchor(value: &Value, name: &str, depth: usize) -> bool {
    depth <= MAX_DEPTH
        && match value {
            Value::Object(members) => {
                members.get("$anchor").and_then(Value::as_str) == Some(name)
                    || members.values().any(|value| has_anchor(value, name, depth + 1))
            }
            Value::Array(values) => values.iter().any(|value| has_anchor(value, name, depth + 1)),
            _ => false,
        }
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
        "format" | "$ref" | "$schema" | "$anchor" => value.is_string(),
        "$id" => value.as_str().is_some_and(|id| id.starts_with("http://") || id.starts_with("https://")),
        // Of the fourth draft, which Ajv does not know any more.
        "id" => false,
        "pattern" => value.as_str().is_some_and(is_pattern),
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
    fn what_ajv_throws_on_is_refused_and_nothing_else() {
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
        ];
        let compiled = [
            json!(true),
            json!("string"),
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
