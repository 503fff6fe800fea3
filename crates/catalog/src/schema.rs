//! The words of a tool's input schema.
//!
//! It decides what of a schema says what a tool does: names of parameters, their descriptions and titles, and the values
//! of short enumerations. It does not judge arguments.

use serde_json::Value;

use crate::words::spaced;

/// Schemas nest; what lies deeper is detail.
const DEEPEST: usize = 6;

/// Text beyond this is no longer about what the tool does.
const MAX_SCHEMA_TEXT_BYTES: usize = 6_000;

/// Enumerations with more values are tables, such as all time zones.
const MOST_VALUES: usize = 12;

/// The names and descriptions of the parameters, as one text.
#[must_use]
pub fn schema_text(schema: &Value) -> String {
    let mut text = String::new();
    walk(schema, 0, &mut text);
    text
}

fn walk(schema: &Value, depth: usize, text: &mut String) {
    let Some(members) = schema.as_object() else { return };
    if depth > DEEPEST || text.len() > MAX_SCHEMA_TEXT_BYTES {
        return;
    }
    if depth > 0 {
        for key in ["title", "description"] {
            if let Some(words) = members.get(key).and_then(Value::as_str) {
                push(words, text);
            }
        }
    }
    if let Some(values) = members.get("enum").and_then(Value::as_array).filter(|values| values.len() <= MOST_VALUES) {
        values.iter().filter_map(Value::as_str).for_each(|value| push(value, text));
    }
    if let Some(properties) = members.get("properties").and_then(Value::as_object) {
        for (name, property) in properties {
            push(&spaced(name), text);
            walk(property, depth + 1, text);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = members.get(key) {
            walk(inner, depth + 1, text);
        }
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        for inner in members.get(key).and_then(Value::as_array).into_iter().flatten() {
            walk(inner, depth + 1, text);
        }
    }
}

fn push(words: &str, text: &mut String) {
    let left = MAX_SCHEMA_TEXT_BYTES.saturating_sub(text.len());
    if words.is_empty() || left == 0 {
        return;
    }
    if !text.is_empty() {
        text.push(' ');
    }
    let end = (0..=words.len().min(left)).rev().find(|end| words.is_char_boundary(*end)).unwrap_or(0);
    text.push_str(&words[..end]);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_speak() {
        let schema = json!({
            "type": "object",
            "description": "not a parameter",
            "properties": {
                "filePath": {"type": "string", "description": "Where the file is"},
                "options": {"type": "object", "properties": {"mode": {"enum": ["fast", "safe"]}}},
                "tags": {"type": "array", "items": {"type": "string", "description": "A tag"}},
            },
        });
        assert_eq!(schema_text(&schema), "file Path Where the file is options mode fast safe tags A tag");
    }

    #[test]
    fn no_schema_is_too_deep_or_too_long() {
        let mut deep = json!({"type": "string", "description": "bottom"});
        for _ in 0..50 {
            deep = json!({"properties": {"x": deep}});
        }
        assert!(!schema_text(&deep).contains("bottom"));
        let long = json!({"properties": {"a": {"description": "é".repeat(10_000)}}});
        assert!(schema_text(&long).len() <= MAX_SCHEMA_TEXT_BYTES + 4);
        assert_eq!(schema_text(&Value::Null), "");
    }
}
