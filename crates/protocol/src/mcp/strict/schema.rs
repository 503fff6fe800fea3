//! The schemas of a tool. What it takes is an object in both eras. What it gives is one in the legacy era; in the modern
//! one it may be anything.

use switchboard_wire::{Edit, Kind, Object, Raw};

use super::Unfit;
use crate::Era;

const INPUT: &str = "inputSchema";
const OUTPUT: &str = "outputSchema";

/// The definition of a tool with schemas that clients of this era accept.
pub(super) fn fit(tool: &Raw, era: Era, mended: &mut Vec<String>) -> Result<Raw, Unfit> {
    let object = Object::open(tool).map_err(|refusal| Unfit(refusal.to_string()))?;
    let begun = mended.len();
    let input = match object.get(INPUT) {
        // Nothing is said about arguments: any may be given.
        None => Some(any_object(mended, "was missing")),
        Some(schema) => match schema.kind() {
            Kind::Null => Some(any_object(mended, "was null")),
            Kind::Bool if schema.as_str() == "true" => Some(any_object(mended, "was true")),
            Kind::Object => root(&schema, era, mended).map_err(|why| Unfit(format!("`{INPUT}`: {why}")))?,
            _ => return Err(Unfit(format!("`{INPUT}` is no object"))),
        },
    };
    for note in &mut mended[begun..] {
        *note = format!("`{INPUT}`: {note}");
    }
    let output = object.get(OUTPUT).and_then(|schema| output_schema(&schema, era, mended));
    if input.is_none() && output.is_none() {
        return Ok(tool.clone());
    }
    let Ok(edit) = Edit::of(tool) else { return Ok(tool.clone()) };
    let edit = edit.set_optional(INPUT, input);
    Ok(match output {
        None => edit,
        Some(Output::Other(schema)) => edit.set(OUTPUT, schema),
        Some(Output::None) => edit.remove(OUTPUT),
    }
    .finish())
}

/// What becomes of the schema of a result.
#[derive(Debug, PartialEq, Eq)]
enum Output {
    Other(Raw),
    None,
}

/// A tool works without saying what it gives, so what cannot be mended is left out.
fn output_schema(schema: &Raw, era: Era, mended: &mut Vec<String>) -> Option<Output> {
    let begun = mended.len();
    let out = |mended: &mut Vec<String>, why: &str| {
        mended.truncate(begun);
        mended.push(format!("`{OUTPUT}` {why}"));
        Some(Output::None)
    };
    if schema.kind() != Kind::Object {
        return out(mended, if schema.kind() == Kind::Null { "was null" } else { "is no object" });
    }
    let Ok(object) = Object::open(schema) else { return out(mended, "has a key twice") };
    if era == Era::Modern {
        let unfit = object.get("$schema").is_some_and(|named| named.kind() != Kind::String);
        if !unfit {
            return None;
        }
        mended.push(format!("`{OUTPUT}`: `$schema` is no text"));
        return Edit::of(schema).ok().map(|edit| Output::Other(edit.remove("$schema").finish()));
    }
    // That of another type is right in the modern era. A legacy client gets the result as text.
    let says_object = object.get("type").is_none_or(|kind| is_always_object(&kind));
    if !says_object || !object.has("type") && !object.has("properties") {
        return out(mended, "is not that of an object");
    }
    match root(schema, era, mended) {
        Ok(None) => None,
        Ok(Some(other)) => {
            for note in &mut mended[begun..] {
                *note = format!("`{OUTPUT}`: {note}");
            }
            Some(Output::Other(other))
        }
        Err(why) => out(mended, &why),
    }
}

fn any_object(mended: &mut Vec<String>, why: &str) -> Raw {
    mended.push(why.to_owned());
    Edit::empty().set("type", Raw::string("object")).finish()
}

/// `"object"`, or a list of types with it.
fn speaks_of_objects(kind: &Raw) -> bool {
    match kind.kind() {
        Kind::String => kind.as_text().as_deref() == Some("object"),
        Kind::Array => {
            let elements = kind.elements().unwrap_or_default();
            elements.iter().any(|element| element.as_text().as_deref() == Some("object"))
        }
        Kind::Null => true,
        _ => false,
    }
}

/// The same where it takes nothing else.
fn is_always_object(kind: &Raw) -> bool {
    speaks_of_objects(kind) && kind.elements().is_none_or(|types| types.len() == 1)
}

/// The root of a schema that is that of an object: `None` where it is fit already.
fn root(schema: &Raw, era: Era, mended: &mut Vec<String>) -> Result<Option<Raw>, String> {
    let edit = Edit::of(schema).map_err(|_| "has a key twice".to_owned())?;
    let object = edit.object().clone();
    let begun = mended.len();
    let mut edit = edit;
    match object.get("type") {
        Some(kind) if kind.as_text().as_deref() == Some("object") => {}
        // Arguments are an object whatever else the schema would take.
        Some(kind) if !speaks_of_objects(&kind) => return Err("its `type` is not \"object\"".to_owned()),
        _ => {
            mended.push("its `type` was not \"object\"".to_owned());
            edit = edit.set("type", Raw::string("object"));
        }
    }
    if object.get("$schema").is_some_and(|named| named.kind() != Kind::String) {
        mended.push("`$schema` is no text".to_owned());
        edit = edit.remove("$schema");
    }
    if let Some(properties) = object.get("properties") {
        match properties_for(&properties, era, mended)? {
            Properties::Same => {}
            Properties::Other(other) => edit = edit.set("properties", other),
            Properties::None => edit = edit.remove("properties"),
        }
    }
    if let Some(required) = object.get("required") {
        match required.kind() {
            Kind::Array => {
                let elements = required.elements().unwrap_or_default();
                if elements.iter().any(|element| element.kind() != Kind::String) {
                    return Err("`required` is not a list of names".to_owned());
                }
            }
            // `true` and `false` belong to a property, in the first drafts; at the root they say nothing.
            Kind::Null | Kind::Bool => {
                mended.push("`required` is no list".to_owned());
                edit = edit.remove("required");
            }
            Kind::Object if Object::open(&required).is_ok_and(|object| object.is_empty()) => {
                mended.push("`required` is no list".to_owned());
                edit = edit.remove("required");
            }
            _ => return Err("`required` is no list".to_owned()),
        }
    }
    Ok((mended.len() > begun).then(|| edit.finish()))
}

enum Properties {
    Same,
    Other(Raw),
    None,
}

fn properties_for(properties: &Raw, era: Era, mended: &mut Vec<String>) -> Result<Properties, String> {
    match properties.kind() {
        Kind::Null => {
            mended.push("`properties` was null".to_owned());
            return Ok(Properties::None);
        }
        // PHP writes an empty object like this.
        Kind::Array if properties.elements().is_some_and(|elements| elements.is_empty()) => {
            mended.push("`properties` was an empty list".to_owned());
            return Ok(Properties::Other(Raw::empty_object()));
        }
        Kind::Object => {}
        _ => return Err("`properties` is no object".to_owned()),
    }
    let Ok(edit) = Edit::of(properties) else { return Err("a property stands twice".to_owned()) };
    if era == Era::Modern {
        return Ok(Properties::Same);
    }
    let object = edit.object().clone();
    let (mut edit, mut changed) = (edit, false);
    for (name, schema) in object.iter() {
        let other = match schema.kind() {
            Kind::Object => continue,
            // The same in the words of older drafts.
            Kind::Bool if schema.as_str() == "false" => Edit::empty().set("not", Raw::empty_object()).finish(),
            Kind::Bool | Kind::Null => Raw::empty_object(),
            _ => return Err(format!("the property `{name}` is no schema")),
        };
        mended.push(format!("the property `{name}` was {}", schema.as_str()));
        edit = edit.set(&name, other);
        changed = true;
    }
    Ok(if changed { Properties::Other(edit.finish()) } else { Properties::Same })
}
