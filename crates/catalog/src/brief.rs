//! Definitions of tools in fewer tokens: for lower ranks of a search, and as one line to be read.
//!
//! It decides what of a definition goes first when room is short: prose of arguments, then all but their types, then all
//! but their names. What an argument is called is always kept, so that a call can be tried and its refusal be read. It
//! does not count tokens; the caller does.

use serde_json::{Map, Value};

/// The first results of a search keep their whole definition as long as there is room.
const WHOLE_RANKS: usize = 3;
/// Characters of the description of an argument, where it is shortened.
const ARGUMENT_CHARS: usize = 80;
/// Members of a nested object, and alternatives, that a line shows.
const MAX_MEMBERS: usize = 12;
const MAX_ALTERNATIVES: usize = 8;
/// How deep a line looks into an object.
const MAX_DEPTH: usize = 3;

/// How much of a definition is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detail {
    /// All of it.
    Whole,
    /// Prose is cut.
    Cut,
    /// Arguments have names and types.
    Types,
    /// Arguments have names.
    Names,
}

impl Detail {
    /// All of them, the longest first.
    pub const ALL: [Self; 4] = [Self::Whole, Self::Cut, Self::Types, Self::Names];

    /// Characters of the description of a tool.
    #[must_use]
    pub const fn description_chars(self) -> usize {
        match self {
            Self::Whole => usize::MAX,
            Self::Cut => 400,
            Self::Types => 200,
            Self::Names => 100,
        }
    }
}

/// How much of each result is shown so that as many as possible fit into `room`, the best first; and how many do. There are
/// the costs of each result at each detail. The first is always given, and whole where the others leave room for it.
#[must_use]
pub fn fitted(costs: &[[usize; 4]], room: usize) -> (Vec<Detail>, usize) {
    let first = |rank: usize| if rank < WHOLE_RANKS { Detail::Whole } else { Detail::Cut };
    let mut details: Vec<Detail> = (0..costs.len()).map(first).collect();
    let cost = |rank: usize, detail: Detail| costs[rank][detail as usize];
    let mut total: usize = details.iter().enumerate().map(|(rank, detail)| cost(rank, *detail)).sum();
    for detail in Detail::ALL {
        for rank in (1..costs.len()).rev() {
            if total > room && details[rank] < detail {
                total = total - cost(rank, details[rank]) + cost(rank, detail);
                details[rank] = detail;
            }
        }
    }
    if let ([first, ..], true) = (details.as_mut_slice(), total > room && costs.len() > 1) {
        *first = Detail::Cut;
    }
    let mut left = room;
    let mut count = 0;
    for (rank, detail) in details.iter().enumerate() {
        let cost = cost(rank, *detail);
        if cost > left && count > 0 {
            break;
        }
        left = left.saturating_sub(cost);
        count += 1;
    }
    details.truncate(count);
    (details, count)
}

/// An input schema with less in it.
#[must_use]
pub fn shortened(schema: &Value, detail: Detail) -> Value {
    let Some(object) = schema.as_object().filter(|_| detail != Detail::Whole) else { return schema.clone() };
    let properties = object.get("properties").and_then(Value::as_object);
    let mut short = Map::new();
    short.insert("type".to_owned(), object.get("type").cloned().unwrap_or_else(|| "object".into()));
    if let Some(properties) = properties {
        let shown = |(name, about): (&String, &Value)| (name.clone(), argument(about, detail));
        short.insert("properties".to_owned(), Value::Object(properties.iter().map(shown).collect()));
    }
    if let Some(required) = object.get("required") {
        short.insert("required".to_owned(), required.clone());
    }
    Value::Object(short)
}

fn argument(about: &Value, detail: Detail) -> Value {
    let Some(object) = about.as_object() else { return about.clone() };
    let kept: &[&str] = match detail {
        Detail::Whole => return about.clone(),
        Detail::Cut => {
            &["type", "enum", "const", "format", "items", "default", "anyOf", "oneOf", "properties", "required"]
        }
        Detail::Types => &["type", "enum"],
        Detail::Names => &[],
    };
    let mut short = Map::new();
    for key in kept {
        if let Some(value) = object.get(*key) {
            short.insert((*key).to_owned(), without_prose(value, 0));
        }
    }
    if let (Detail::Cut, Some(text)) = (detail, object.get("description").and_then(Value::as_str)) {
        short.insert("description".to_owned(), cut(text, ARGUMENT_CHARS).into());
    }
    Value::Object(short)
}

/// A schema inside of another, without what is only told of it.
fn without_prose(value: &Value, depth: usize) -> Value {
    match value {
        Value::Object(_) if depth > 2 * MAX_DEPTH => Value::Object(Map::new()),
        Value::Object(members) => {
            // A property may be called like a keyword; its value is a schema then, and no text.
            let told = |key: &str, value: &Value| {
                matches!(key, "description" | "title" | "$comment") && value.is_string()
                    || matches!(key, "examples") && value.is_array()
            };
            let kept = members.iter().filter(|(key, value)| !told(key, value));
            Value::Object(kept.map(|(key, value)| (key.clone(), without_prose(value, depth + 1))).collect())
        }
        Value::Array(values) => Value::Array(values.iter().map(|value| without_prose(value, depth + 1)).collect()),
        _ => value.clone(),
    }
}

/// The arguments of a schema in one line: `path: string "The file", head?: integer`.
#[must_use]
pub fn signature(schema: &Value, longest: usize) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return String::new() };
    let mut line = String::new();
    // What has to be given first: a line that is cut keeps it.
    let mut ordered: Vec<(&String, &Value)> = properties.iter().collect();
    ordered.sort_by_key(|(name, _)| !is_required(schema, name));
    for (name, about) in ordered {
        let told = about.get("description").and_then(Value::as_str).map(|text| cut(text, ARGUMENT_CHARS));
        let told = told.filter(|text| !text.is_empty()).map(|text| format!(" \"{text}\"")).unwrap_or_default();
        let mark = if is_required(schema, name) { "" } else { "?" };
        let part = format!("{}{name}{mark}: {}{told}", if line.is_empty() { "" } else { ", " }, kind(about, 0));
        if line.chars().count() + part.chars().count() > longest {
            line.push_str(if line.is_empty() { "..." } else { ", ..." });
            break;
        }
        line.push_str(&part);
    }
    line
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|one| one == name))
}

/// What a value has to be, in a few words.
fn kind(schema: &Value, depth: usize) -> String {
    let several = |values: &[Value], word: &dyn Fn(&Value) -> String| {
        let mut words: Vec<String> = values.iter().take(MAX_ALTERNATIVES).map(word).collect();
        words.dedup();
        if values.len() > MAX_ALTERNATIVES {
            words.push("...".to_owned());
        }
        words.join(" | ")
    };
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return several(values, &|value| value.to_string());
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    if let Some(alternatives) = alternatives.filter(|_| depth < MAX_DEPTH) {
        return several(alternatives, &|value| kind(value, depth + 1));
    }
    match schema.get("type") {
        Some(Value::Array(types)) => several(types, &|value| value.as_str().unwrap_or("any").to_owned()),
        Some(Value::String(word)) if word == "array" => {
            let items = schema.get("items").filter(|_| depth < MAX_DEPTH);
            items.map_or_else(|| "array".to_owned(), |items| format!("({})[]", kind(items, depth + 1)))
        }
        Some(Value::String(word)) if word == "object" => {
            let members = schema.get("properties").and_then(Value::as_object).filter(|_| depth < MAX_DEPTH);
            members.map_or_else(
                || "object".to_owned(),
                |members| {
                    let member = |(name, about): (&String, &Value)| {
                        let mark = if is_required(schema, name) { "" } else { "?" };
                        format!("{name}{mark}: {}", kind(about, depth + 1))
                    };
                    let mut shown: Vec<String> = members.iter().take(MAX_MEMBERS).map(member).collect();
                    if members.len() > MAX_MEMBERS {
                        shown.push("...".to_owned());
                    }
                    format!("{{{}}}", shown.join(", "))
                },
            )
        }
        Some(Value::String(word)) => word.clone(),
        _ => "any".to_owned(),
    }
}

/// A text in one line, at most so long.
#[must_use]
pub fn cut(text: &str, longest: usize) -> String {
    let mut short = String::new();
    for (number, word) in text.split_whitespace().enumerate() {
        if number > 0 {
            short.push(' ');
        }
        short.push_str(word);
        if short.len() > longest {
            break;
        }
    }
    match short.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", short[..end].trim_end()),
        None => short,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "$schema": "x", "type": "object", "additionalProperties": false,
            "properties": {
                "filter": {"type": "object", "description": "What to look for ".repeat(20), "properties": {
                    "description": {"type": "string", "description": "prose"}, "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
                }, "required": ["tags"]},
                "path": {"type": "string", "description": "The file"},
                "mode": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            },
            "required": ["path"],
        })
    }

    #[test]
    fn prose_goes_first_then_types_and_names_stay() {
        let lengths: Vec<usize> =
            Detail::ALL.iter().map(|detail| shortened(&schema(), *detail).to_string().len()).collect();
        assert!(lengths.is_sorted_by(|one, next| one > next), "{lengths:?}");
        let short = shortened(&schema(), Detail::Cut);
        assert_eq!(short["properties"]["filter"]["properties"]["description"], json!({"type": "string"}));
        assert_eq!(short["properties"]["path"], json!({"type": "string", "description": "The file"}));
        let names = shortened(&schema(), Detail::Names);
        let expected =
            json!({"type": "object", "properties": {"filter": {}, "path": {}, "mode": {}}, "required": ["path"]});
        assert_eq!(names, expected);
        for odd in [json!(true), json!({}), json!({"properties": 5}), json!({"properties": {"a": true}})] {
            for detail in Detail::ALL {
                let _ = shortened(&odd, detail);
                let _ = signature(&odd, 100);
            }
        }
    }

    #[test]
    fn a_line_says_what_has_to_be_given() {
        let line = signature(&schema(), 500);
        assert!(line.starts_with("path: string \"The file\", "), "{line}");
        assert!(line.contains("mode?: integer | null"), "{line}");
        assert!(line.contains("filter?: {description?: string, tags: (\"a\" | \"b\")[]} \"What to look for"), "{line}");
        assert_eq!(signature(&schema(), 30), "path: string \"The file\", ...");
        assert_eq!(cut("a  b\n c", 10), "a b c");
        assert_eq!(cut("größer als", 3), "grö...");
    }

    #[test]
    fn lower_ranks_make_room_for_more() {
        let large = [1_000, 400, 200, 50];
        for (count, room, expected) in [
            (10, 100_000, 10),
            (10, 9_375, 10),
            (10, 2_000, 10),
            (10, 1_000, 10),
            (10, 850, 10),
            (10, 800, 9),
            (2, 449, 1),
            (1, 0, 1),
            (0, 5, 0),
        ] {
            let (details, given) = fitted(&vec![large; count], room);
            assert_eq!((given, details.len()), (expected, expected), "{count} in {room}");
            assert!(details.is_sorted(), "{details:?}");
        }
        let (details, _) = fitted(&[large; 4], 100_000);
        assert_eq!(details, [Detail::Whole, Detail::Whole, Detail::Whole, Detail::Cut]);
        assert_eq!(fitted(&[large; 10], 2_000).0[0], Detail::Whole);
        assert_eq!(fitted(&[large], 0).0, [Detail::Whole]);
    }

    proptest! {
        #[test]
        fn results_never_take_more_than_their_room_beyond_the_first(
            costs in proptest::collection::vec((1_usize..2_000, 1_usize..500), 0..20), room in 0_usize..10_000
        ) {
            let costs: Vec<[usize; 4]> =
                costs.into_iter().map(|(large, step)| [large + 3 * step, large + 2 * step, large + step, large]).collect();
            let (details, count) = fitted(&costs, room);
            let cost = |rank: usize| costs[rank][details[rank] as usize];
            let total: usize = (0..count).map(cost).sum();
            prop_assert!(count <= 1 || total <= room, "{} in {}", total, room);
            prop_assert!(costs.is_empty() || count > 0);
        }
    }
}
