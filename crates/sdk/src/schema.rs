//! JSON Schemas from Rust types.
//!
//! Decides the form in which a type's schema is sent: draft 2020-12, arguments always an object, names of Rust types
//! left out. Whether a value fits its schema is not decided here.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};
use switchboard_wire::Raw;

/// A schema written by hand.
///
/// ```
/// let schema = switchboard_sdk::schema::raw(serde_json::json!({"type": "object", "required": ["name"]}));
/// ```
#[must_use]
#[expect(clippy::needless_pass_by_value, reason = "it is called with a value that was just written")]
pub fn raw(schema: Value) -> Raw {
    from(&schema)
}

/// The schema of what a tool takes.
#[must_use]
pub fn input<T: JsonSchema>() -> Raw {
    from(&as_object(generate::<T>(SchemaSettings::draft2020_12().for_deserialize())))
}

/// The schema of what a tool gives back.
#[must_use]
pub fn output<T: JsonSchema>() -> Raw {
    from(&generate::<T>(SchemaSettings::draft2020_12().for_serialize()).into())
}

/// The schema of a form: without references, as clients read one level only.
#[must_use]
pub fn form<T: JsonSchema>() -> Raw {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    from(&as_object(generate::<T>(settings)))
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema
}

/// Arguments are an object, even for a type that takes anything or nothing.
fn as_object(schema: Schema) -> Value {
    let mut members = match schema.into() {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    if members.get("type").is_none_or(|kind| kind != "object") {
        members.insert("type".to_owned(), "object".into());
    }
    Value::Object(members)
}

fn from(value: &Value) -> Raw {
    // A JSON value can always be written as JSON.
    Raw::from_value(value).unwrap_or_else(|_| Raw::empty_object())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only the schema is of interest")]
    struct Arguments {
        /// The first one.
        a: i64,
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: Option<String>,
    }

    #[test]
    fn arguments_of_a_type() {
        let schema: Value = input::<Arguments>().view().expect("JSON");
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], json!(["a"]));
        assert_eq!(schema["properties"]["a"]["description"], "The first one.");
        assert_eq!(schema["properties"]["region"]["x-mcp-header"], "Region");
        assert_eq!(schema.get("title"), None);
    }

    #[test]
    fn anything_and_nothing_are_objects() {
        for schema in [input::<()>(), input::<Value>(), input::<Map<String, Value>>()] {
            assert_eq!(schema.member("type").and_then(|kind| kind.as_text()).as_deref(), Some("object"), "{schema:?}");
        }
    }

    #[test]
    fn forms_have_no_references() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only the schema is of interest")]
        enum Color {
            Red,
            Green,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only the schema is of interest")]
        struct Form {
            color: Color,
        }
        let schema = form::<Form>();
        assert!(!schema.as_str().contains("$"), "{schema:?}");
        assert!(schema.as_str().contains("Green"));
    }
}
