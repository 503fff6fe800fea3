//! The `inputSchema` of a tool: one that the kernel can list and a client can use without being led astray.
//!
//! This judges a schema and holds no value against it: that is `switchboard_policy::schema`, which reads leniently what
//! this refuses.
//!
//! Keywords that JSON Schema defines have their types; references stay inside the schema and come to an end; size,
//! depth and the work to validate are bounded. Unknown keywords pass.

use std::collections::HashMap;

use serde_json::{Map, Value};
use switchboard_protocol::mcp::header::ParamHeaders;
use switchboard_wire::Raw;

use super::{refuse_duplicates, regexes};
use crate::{Finding, Verdict};

const MOST_BYTES: usize = 512 << 10;
const MOST_SCHEMAS: usize = 20_000;
const MOST_PROPERTIES: usize = 2_000;
const MOST_VALUES: usize = 5_000;
const DEEPEST: usize = 48;
/// The most schemas that one value may have to be held against.
const MOST_WORK: u64 = 100_000;

/// Judges a schema.
pub(super) fn check(raw: &Raw) -> Verdict {
    if raw.as_bytes().len() > MOST_BYTES {
        return refuse(format!("longer than {MOST_BYTES} bytes"));
    }
    refuse_duplicates(raw)?;
    let schema: Value = raw.view().map_err(|error| Finding::new("schema", format!("cannot be read: {error}")))?;
    let Some(root) = schema.as_object() else { return refuse("the schema is no object".to_owned()) };
    if root.get("type").and_then(Value::as_str) != Some("object") {
        return refuse("the type of the arguments is not \"object\"".to_owned());
    }
    let mut reader = Reader { root: &schema, schemas: 0, work: HashMap::new() };
    reader.read(&schema, 0)?;
    reader.follow(&schema, &mut Vec::new())?;
    ParamHeaders::of(raw).map_err(|error| Finding::new("schema", error.to_string()))?;
    Ok(())
}

/// Whether references inside of a schema come to an end. Where they lead to nothing is for others to judge.
pub(super) fn comes_to_an_end(schema: &Value) -> Verdict {
    let mut reader = Reader { root: schema, schemas: 0, work: HashMap::new() };
    reader.follow(schema, &mut Vec::new()).map(|_| ())
}

fn refuse<T>(message: String) -> Result<T, Finding> {
    Err(Finding::new("schema", message))
}

/// Keywords whose value is one schema.
const ONE: [&str; 13] = [
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "additionalItems",
    "contentSchema",
    "items",
    "additionalItem",
];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is an object of schemas by name.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords that hold a value against more schemas, rather than a part of it.
const SAME_VALUE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

struct Reader<'s> {
    root: &'s Value,
    schemas: usize,
    /// How many schemas a value has to be held against, by where a schema lies in memory.
    work: HashMap<usize, u64>,
}

impl<'s> Reader<'s> {
    fn read(&mut self, schema: &Value, depth: usize) -> Verdict {
        let members = match schema {
            Value::Bool(_) => return Ok(()),
            Value::Object(members) => members,
            _ => return refuse("a schema is neither an object nor a boolean".to_owned()),
        };
        self.schemas += 1;
        if depth > DEEPEST {
            return refuse(format!("nested deeper than {DEEPEST} schemas"));
        }
        if self.schemas > MOST_SCHEMAS {
            return refuse(format!("more than {MOST_SCHEMAS} schemas"));
        }
        for (keyword, value) in members {
            keyword_fits(keyword, value)?;
        }
        for keyword in ONE {
            match members.get(keyword) {
                None => {}
                // Tuples, before 2020-12.
                Some(Value::Array(schemas)) if keyword == "items" => {
                    schemas.iter().try_for_each(|schema| self.read(schema, depth + 1))?;
                }
                Some(schema) => self.read(schema, depth + 1)?,
            }
        }
        for keyword in LIST {
            let Some(value) = members.get(keyword) else { continue };
            let Some(schemas) = value.as_array().filter(|schemas| !schemas.is_empty()) else {
                return refuse(format!("`{keyword}` is no list of schemas"));
            };
            schemas.iter().try_for_each(|schema| self.read(schema, depth + 1))?;
        }
        for keyword in NAMED {
            let Some(value) = members.get(keyword) else { continue };
            let Some(schemas) = value.as_object() else { return refuse(format!("`{keyword}` is no object")) };
            if schemas.len() > MOST_PROPERTIES {
                return refuse(format!("`{keyword}` has more than {MOST_PROPERTIES} members"));
            }
            for (name, schema) in schemas {
                if keyword == "patternProperties" {
                    regexes::check(name).or_else(|why| refuse(format!("the pattern {name:?} {why}")))?;
                }
                if keyword == "properties" && (name == "__proto__" || name.chars().any(char::is_control)) {
                    return refuse(format!("the property name {name:?}"));
                }
                self.read(schema, depth + 1)?;
            }
        }
        self.references(members)
    }

    /// References lead to a place inside this schema.
    fn references(&self, members: &Map<String, Value>) -> Verdict {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(reference) = members.get(keyword) else { continue };
            let Some(reference) = reference.as_str() else { return refuse(format!("`{keyword}` is no text")) };
            if !reference.starts_with('#') {
                return refuse(format!("`{keyword}` leads out of the schema: {reference:?}"));
            }
            if self.target(reference).is_none() {
                return refuse(format!("`{keyword}` leads nowhere: {reference:?}"));
            }
        }
        Ok(())
    }

    fn target(&self, reference: &str) -> Option<&'s Value> {
        let fragment = reference.strip_prefix('#')?;
        let fragment = crate::percent::decoded(fragment)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            let target = self.root.pointer(&fragment)?;
            return (target.is_object() || target.is_boolean()).then_some(target);
        }
        anchored(self.root, &fragment)
    }

    /// Adds up what a value is held against at once, and finds references that go in a circle without reading on.
    fn follow(&mut self, schema: &'s Value, path: &mut Vec<usize>) -> Result<u64, Finding> {
        stacker::maybe_grow(128 << 10, 2 << 20, || self.follow_here(schema, path))
    }

    fn follow_here(&mut self, schema: &'s Value, path: &mut Vec<usize>) -> Result<u64, Finding> {
        let Value::Object(members) = schema else { return Ok(1) };
        let place = std::ptr::from_ref(schema).addr();
        if let Some(work) = self.work.get(&place) {
            return Ok(*work);
        }
        if path.contains(&place) {
            return refuse("references that go in a circle".to_owned());
        }
        if path.len() > 500 {
            return refuse("references that follow each other for too long".to_owned());
        }
        path.push(place);
        let mut work = 1u64;
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            if let Some(target) =
                members.get(keyword).and_then(Value::as_str).and_then(|reference| self.target(reference))
            {
                work = work.saturating_add(self.follow(target, path)?);
            }
        }
        for keyword in SAME_VALUE {
            let inner: Vec<&'s Value> = match members.get(keyword) {
                Some(Value::Array(schemas)) => schemas.iter().collect(),
                Some(Value::Object(schemas)) if keyword == "dependentSchemas" => schemas.values().collect(),
                Some(schema) => vec![schema],
                None => Vec::new(),
            };
            for schema in inner {
                work = work.saturating_add(self.follow(schema, path)?);
            }
        }
        path.pop();
        if work > MOST_WORK {
            return refuse("references that multiply".to_owned());
        }
        self.work.insert(place, work);
        // Parts of the value begin anew.
        for keyword in ONE.into_iter().chain(LIST).chain(NAMED).filter(|keyword| !SAME_VALUE.contains(keyword)) {
            let inner: Vec<&'s Value> = match members.get(keyword) {
                Some(Value::Array(schemas)) => schemas.iter().collect(),
                Some(Value::Object(schemas)) if NAMED.contains(&keyword) => schemas.values().collect(),
                Some(schema) => vec![schema],
                None => Vec::new(),
            };
            for schema in inner {
                self.follow(schema, &mut Vec::new())?;
            }
        }
        Ok(work)
    }
}

/// The schema with an anchor of this name. As deep as reading has bounded.
fn anchored<'s>(value: &'s Value, name: &str) -> Option<&'s Value> {
    match value {
        Value::Object(members) => {
            let here = ["$anchor", "$dynamicAnchor"]
                .iter()
                .any(|keyword| members.get(*keyword).and_then(Value::as_str) == Some(name))
                || ["$id", "id"].iter().any(|keyword| {
                    members.get(*keyword).and_then(Value::as_str).and_then(|id| id.strip_prefix('#')) == Some(name)
                });
            if here { Some(value) } else { members.values().find_map(|value| anchored(value, name)) }
        }
        Value::Array(values) => values.iter().find_map(|value| anchored(value, name)),
        _ => None,
    }
}

/// A keyword that JSON Schema defines has its type.
fn keyword_fits(keyword: &str, value: &Value) -> Verdict {
    let texts = |value: &Value| value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string));
    let fits = match keyword {
        "type" => match value {
            Value::String(kind) => is_type(kind),
            Value::Array(kinds) => {
                !kinds.is_empty()
                    && kinds
                        .iter()
                        .enumerate()
                        .all(|(at, kind)| kind.as_str().is_some_and(is_type) && !kinds[..at].contains(kind))
            }
            _ => false,
        },
        "title" | "description" | "format" | "$comment" | "contentEncoding" | "contentMediaType" | "$anchor"
        | "$dynamicAnchor" => value.is_string(),
        "$schema" => value.as_str().is_some_and(|name| name.contains("json-schema.org/")),
        "$id" => value.is_string(),
        "required" => {
            texts(value) && value.as_array().is_some_and(|names| names.len() <= MOST_PROPERTIES && unique(names))
        }
        "enum" => value.as_array().is_some_and(|values| !values.is_empty() && values.len() <= MOST_VALUES),
        "examples" => value.is_array(),
        "minimum" | "maximum" => value.is_number(),
        // A boolean before 2019.
        "exclusiveMinimum" | "exclusiveMaximum" => value.is_number() || value.is_boolean(),
        "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
        | "maxContains" => value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0),
        "uniqueItems" | "readOnly" | "writeOnly" | "deprecated" => value.is_boolean(),
        "pattern" => {
            let Some(pattern) = value.as_str() else { return refuse("`pattern` is no text".to_owned()) };
            return regexes::check(pattern).or_else(|why| refuse(format!("the pattern {pattern:?} {why}")));
        }
        "dependentRequired" => value.as_object().is_some_and(|members| members.values().all(texts)),
        _ => true,
    };
    if fits { Ok(()) } else { refuse(format!("`{keyword}` cannot be {}", short(value))) }
}

fn unique(values: &[Value]) -> bool {
    let mut seen = std::collections::HashSet::with_capacity(values.len());
    values.iter().filter_map(Value::as_str).all(|value| seen.insert(value))
}

fn is_type(kind: &str) -> bool {
    matches!(kind, "object" | "array" | "string" | "number" | "integer" | "boolean" | "null")
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}..", &text[..at]),
        None => text,
    }
}
