//! Two input schemas as sets of accepted inputs: does the new one accept only what the old one did?
//!
//! Anything that is not understood has to be equal, up to the order of members and of lists whose order means nothing.
//! The arguments themselves have to be the same ones: another argument is another place into which a model puts what it
//! knows, and one that is gone (`dry_run`) may have been what made the tool harmless.

use serde_json::{Map, Value};

use super::{ChangeKind, ChangeList, MAX_DEPTH, keys, text};
use crate::screen;

/// Values of an enumeration that may replace a free text.
const MAX_NEW_VALUES: usize = 64;
/// The names of dialects: which one is meant changes nothing of what is compared here.
const DIALECTS: [&str; 2] = ["://json-schema.org/draft", "://json-schema.org/schema"];
/// Formats that narrow a text.
const FORMATS: [&str; 12] =
    ["date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid", "int32", "int64"];
/// Members that say something of a schema and do not narrow it.
const NOTES: [&str; 6] = ["title", "description", "$comment", "default", "examples", "deprecated"];

pub(super) fn compare(place: &str, name: &str, old: Option<&Value>, new: Option<&Value>, found: &mut ChangeList) {
    let anything = Value::Bool(true);
    let (old, new) = (old.unwrap_or(&anything), new.unwrap_or(&anything));
    let exact = [old, new].into_iter().any(turns_around);
    Comparison { exact_definitions: exact, found }.schema(place, name, old, new, 0);
}

/// Whether something in it accepts more where a part of it accepts less.
fn turns_around(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, value)| {
            matches!(key.as_str(), "not" | "if" | "oneOf" | "dependentSchemas" | "contains") || turns_around(value)
        }),
        Value::Array(values) => values.iter().any(turns_around),
        _ => false,
    }
}

struct Comparison<'f> {
    /// Whether the shared definitions have to be equal.
    exact_definitions: bool,
    found: &'f mut ChangeList,
}

impl Comparison<'_> {
    fn schema(&mut self, place: &str, name: &str, old: &Value, new: &Value, depth: usize) {
        if old == new {
            return;
        }
        let empty = Map::new();
        let (old_members, new_members) = match (old, new) {
            _ if depth > MAX_DEPTH => return self.found.add(place, ChangeKind::Unknown, None, None),
            (_, Value::Bool(false)) => return self.found.pair(place, ChangeKind::Tightened, Some(old), Some(new)),
            (Value::Bool(false), _) => return self.found.pair(place, ChangeKind::Widened, Some(old), Some(new)),
            (Value::Bool(true), Value::Object(new)) => (&empty, new),
            (Value::Object(old), Value::Bool(true)) => (old, &empty),
            (Value::Object(old), Value::Object(new)) => (old, new),
            _ => return self.found.pair(place, ChangeKind::Unknown, Some(old), Some(new)),
        };
        if old_members.contains_key("anyOf") != new_members.contains_key("anyOf") {
            self.notes(place, name, old_members, new_members);
            let (old, new) = (alternatives(old_members), alternatives(new_members));
            return self.alternatives(place, &old, &new, depth);
        }
        for key in keys(old_members, new_members) {
            self.keyword(place, name, key, (old_members, new_members), depth);
        }
    }

    fn keyword(
        &mut self,
        place: &str,
        name: &str,
        key: &str,
        (old, new): (&Map<String, Value>, &Map<String, Value>),
        depth: usize,
    ) {
        let (before, after) = (old.get(key), new.get(key));
        if before == after {
            return;
        }
        let here = format!("{place}.{key}");
        let anything = Value::Bool(true);
        match key {
            key if NOTES.contains(&key) => self.note(&here, name, key, before, after),
            "$schema" => {
                let known = |value: Option<&Value>| {
                    value.is_none_or(|value| {
                        DIALECTS.iter().any(|part| value.as_str().is_some_and(|it| it.contains(part)))
                    })
                };
                let kind = if known(before) && known(after) { ChangeKind::Spelling } else { ChangeKind::Unknown };
                self.found.pair(&here, kind, before, after);
            }
            "type" => self.narrowed(&here, types(before), types(after), before, after),
            "enum" | "const" => self.values(&here, before, after),
            "required" => self.required(&here, old, before, after),
            "properties" => self.properties(&here, before, after, depth),
            "additionalProperties" => {
                let (before, after) = (before.unwrap_or(&anything), after.unwrap_or(&anything));
                self.schema(&here, "", before, after, depth + 1);
            }
            "items" if ![before, after].into_iter().flatten().any(Value::is_array) => {
                let (before, after) = (before.unwrap_or(&anything), after.unwrap_or(&anything));
                self.schema(&here, "", before, after, depth + 1);
            }
            "maxLength" | "maximum" | "exclusiveMaximum" | "maxItems" | "maxProperties" => {
                self.bound(&here, before, after, |old, new| new <= old);
            }
            "minLength" | "minimum" | "exclusiveMinimum" | "minItems" | "minProperties" => {
                self.bound(&here, before, after, |old, new| new >= old);
            }
            "uniqueItems" => {
                let kind = if after == Some(&anything) { ChangeKind::Tightened } else { ChangeKind::Widened };
                self.found.pair(&here, kind, before, after);
            }
            "pattern" | "format" => {
                let narrows = before.is_none()
                    && after.and_then(Value::as_str).is_some_and(|text| match key {
                        "format" => FORMATS.contains(&text),
                        _ => text.len() <= 256 && !text.contains(char::is_whitespace),
                    });
                self.found.pair(
                    &here,
                    if narrows { ChangeKind::Tightened } else { ChangeKind::Widened },
                    before,
                    after,
                );
            }
            "anyOf" => {
                let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
                self.alternatives(&here, &list(before), &list(after), depth);
            }
            "$defs" | "definitions" => self.definitions(&here, before, after, depth),
            _ if normal(key, before) == normal(key, after) => self.found.add(&here, ChangeKind::Spelling, None, None),
            _ => self.found.pair(&here, ChangeKind::Unknown, before, after),
        }
    }

    fn notes(&mut self, place: &str, name: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        for key in keys(old, new).filter(|key| NOTES.contains(&key.as_str())) {
            if old.get(key) != new.get(key) {
                self.note(&format!("{place}.{key}"), name, key, old.get(key), new.get(key));
            }
        }
    }

    fn note(&mut self, here: &str, name: &str, key: &str, before: Option<&Value>, after: Option<&Value>) {
        match key {
            "title" => self.found.title(here, &[name], before, after),
            "description" | "$comment" => self.found.text(here, before, after),
            "deprecated" => self.found.pair(here, ChangeKind::Spelling, before, after),
            _ => {
                let is_same = match (before, after) {
                    (Some(Value::String(old)), Some(Value::String(new))) => text::is_alike(old, new),
                    (Some(Value::Array(_)), Some(Value::Array(_))) => normal("enum", before) == normal("enum", after),
                    // What is not there, and nothing, are the same default.
                    (None, Some(value)) | (Some(value), None) => is_nothing(value),
                    _ => false,
                };
                let kind = match (is_same, after) {
                    (true, _) => ChangeKind::Spelling,
                    (false, Some(Value::String(_))) => ChangeKind::Words,
                    _ => ChangeKind::Claims,
                };
                self.found.pair(here, kind, before, after);
            }
        }
    }

    fn narrowed(
        &mut self,
        here: &str,
        old: Option<Vec<&str>>,
        new: Option<Vec<&str>>,
        before: Option<&Value>,
        after: Option<&Value>,
    ) {
        let holds = |old: &[&str], word: &str| old.contains(&word) || word == "integer" && old.contains(&"number");
        let kind = match (old, new) {
            (None, Some(_)) => ChangeKind::Tightened,
            (Some(old), Some(new)) if new.iter().all(|word| holds(&old, word)) => {
                if old.len() == new.len() && old.iter().all(|word| new.contains(word)) {
                    ChangeKind::Spelling
                } else {
                    ChangeKind::Tightened
                }
            }
            _ => ChangeKind::Widened,
        };
        self.found.pair(here, kind, before, after);
    }

    /// `enum` and `const`: fewer values are fine, others are not. Values instead of a free text are words of their own.
    fn values(&mut self, here: &str, before: Option<&Value>, after: Option<&Value>) {
        let list = |value: Option<&Value>| match value {
            Some(Value::Array(values)) if here.ends_with(".enum") => Some(values.clone()),
            Some(value) => Some(vec![value.clone()]),
            None => None,
        };
        let kind = match (list(before), list(after)) {
            (Some(old), Some(new)) if new.iter().all(|value| old.contains(value)) => {
                if old.len() == new.len() {
                    ChangeKind::Spelling
                } else {
                    ChangeKind::Tightened
                }
            }
            (None, Some(new)) if are_plain_values(&new) => ChangeKind::Tightened,
            _ => ChangeKind::Widened,
        };
        self.found.pair(here, kind, before, after);
    }

    fn required(&mut self, here: &str, old: &Map<String, Value>, before: Option<&Value>, after: Option<&Value>) {
        let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
        let (needed, needs) = (list(before), list(after));
        let known = |name: &Value| {
            name.as_str().is_some_and(|name| old.get("properties").is_some_and(|all| all.get(name).is_some()))
        };
        let kind = if !needed.iter().all(|name| needs.contains(name)) {
            ChangeKind::Widened
        } else if needs.iter().all(|name| needed.contains(name)) {
            ChangeKind::Spelling
        } else if needs.iter().all(|name| needed.contains(name) || known(name)) {
            ChangeKind::Tightened
        } else {
            ChangeKind::Unknown
        };
        self.found.pair(here, kind, before, after);
    }

    fn properties(&mut self, here: &str, before: Option<&Value>, after: Option<&Value>, depth: usize) {
        let none = Map::new();
        let object = |value: Option<&Value>| match value {
            None => Some(none.clone()),
            Some(value) => value.as_object().cloned(),
        };
        let (Some(old), Some(new)) = (object(before), object(after)) else {
            return self.found.pair(here, ChangeKind::Unknown, before, after);
        };
        for name in keys(&old, &new) {
            let place = format!("{here}.{name}");
            match (old.get(name), new.get(name)) {
                (Some(old), Some(new)) => self.schema(&place, name, old, new, depth + 1),
                (before, after @ Some(_)) => self.found.pair(&place, ChangeKind::ArgumentAdded, before, after),
                (before, None) => self.found.pair(&place, ChangeKind::ArgumentGone, before, None),
            }
        }
    }

    fn bound(&mut self, here: &str, before: Option<&Value>, after: Option<&Value>, narrows: fn(f64, f64) -> bool) {
        let kind = match (before, after) {
            (None, Some(Value::Number(_))) => ChangeKind::Tightened,
            (Some(Value::Number(old)), Some(Value::Number(new))) => match (old.as_f64(), new.as_f64()) {
                (Some(old), Some(new)) if narrows(old, new) => ChangeKind::Tightened,
                _ => ChangeKind::Widened,
            },
            _ => ChangeKind::Widened,
        };
        self.found.pair(here, kind, before, after);
    }

    /// Each new alternative has to lie within an old one.
    fn alternatives(&mut self, here: &str, old: &[Value], new: &[Value], depth: usize) {
        let exact = self.exact_definitions;
        let within = |new: &Value| {
            old.iter().any(|old| {
                let mut found = ChangeList::default();
                Comparison { exact_definitions: exact, found: &mut found }.schema(here, "", old, new, depth + 8);
                super::is_alike(&found.0)
            })
        };
        let (before, after) = (Value::from(old.to_vec()), Value::from(new.to_vec()));
        let kind = if !new.is_empty() && new.iter().all(within) { ChangeKind::Tightened } else { ChangeKind::Widened };
        self.found.pair(here, kind, Some(&before), Some(&after));
    }

    fn definitions(&mut self, here: &str, before: Option<&Value>, after: Option<&Value>, depth: usize) {
        let members = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
        let (old, new) = (members(before), members(after));
        for name in keys(&old, &new) {
            let (place, before, after) = (format!("{here}.{name}"), old.get(name), new.get(name));
            match (before, after) {
                (Some(old), Some(new)) if !self.exact_definitions => self.schema(&place, name, old, new, depth + 1),
                _ if normal("", before) == normal("", after) => {}
                _ => self.found.pair(&place, ChangeKind::Unknown, before, after),
            }
        }
    }
}

/// A schema as alternatives, each without what is only said of it.
fn alternatives(schema: &Map<String, Value>) -> Vec<Value> {
    let mut base = schema.clone();
    NOTES.iter().for_each(|note| drop(base.shift_remove(*note)));
    let with = |base: &Map<String, Value>, more: &Map<String, Value>| {
        let mut one = base.clone();
        one.extend(more.clone());
        Value::Object(one)
    };
    if let Some(Value::Array(list)) = base.shift_remove("anyOf") {
        let each = |one: Value| match one {
            Value::Object(one) => with(&base, &one),
            other => other,
        };
        return list.into_iter().map(each).collect();
    }
    let Some(Value::Array(kinds)) = base.get("type").cloned() else { return vec![Value::Object(base)] };
    let each = |kind: Value| with(&base, &Map::from_iter([("type".to_owned(), kind)]));
    kinds.into_iter().map(each).collect()
}

fn types(value: Option<&Value>) -> Option<Vec<&str>> {
    match value? {
        Value::String(one) => Some(vec![one]),
        Value::Array(several) => several.iter().map(Value::as_str).collect(),
        _ => Some(vec![]),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Numbers, and single words that together say nothing.
fn are_plain_values(values: &[Value]) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
    let is_plain = |value: &Value| match value {
        Value::String(text) => text.len() <= 32 && text.chars().all(plain),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        _ => false,
    };
    let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    let sentence = words.join(" ").replace(['_', '-', '.'], " ");
    values.len() <= MAX_NEW_VALUES && values.iter().all(is_plain) && screen::is_plain_text(&sentence)
}

/// A value in one order, where the order means nothing.
fn normal(key: &str, value: Option<&Value>) -> Option<Value> {
    Some(match value? {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            let one = |(key, value): (&String, &Value)| Some((key.clone(), normal(key, Some(value))?));
            Value::Object(sorted.into_iter().filter_map(one).collect())
        }
        Value::Array(values) => {
            let mut values: Vec<Value> = values.iter().filter_map(|value| normal("", Some(value))).collect();
            if matches!(key, "required" | "enum" | "type" | "anyOf" | "oneOf" | "allOf") {
                values.sort_by_cached_key(Value::to_string);
            }
            Value::Array(values)
        }
        value => value.clone(),
    })
}
