//! As much of JSON Schema 2020-12 as the published schemas use, and not a keyword more: one that is not known here fails the
//! test, so that nothing passes because nobody looked.

use serde_json::Value;

/// Words about a schema that say nothing of values.
const SILENT: [&str; 6] = ["$schema", "$id", "$defs", "title", "description", "default"];

/// What is wrong with a value, and where.
pub(crate) fn faults(root: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(root, schema, value, "", &mut faults);
    faults
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let keywords = schema.as_object().unwrap_or_else(|| panic!("no schema: {schema}"));
    for (keyword, says) in keywords.iter().filter(|(keyword, _)| !SILENT.contains(&keyword.as_str())) {
        let mut fault = |holds: bool| {
            if !holds {
                faults.push(format!("{at}: {keyword} {says}, and not {value}"));
            }
        };
        match keyword.as_str() {
            "$ref" => {
                let pointer =
                    says.as_str().and_then(|says| says.strip_prefix('#')).expect("a reference within the file");
                let target = root.pointer(pointer).unwrap_or_else(|| panic!("{says} leads nowhere"));
                check(root, target, value, at, faults);
            }
            "type" => match says {
                Value::Array(types) => fault(types.iter().any(|one| is_of(one, value))),
                one => fault(is_of(one, value)),
            },
            "const" => fault(value == says),
            "enum" => fault(list(says).contains(value)),
            "minimum" => fault(value.as_f64().is_none_or(|number| number >= says.as_f64().expect("a number"))),
            "maximum" => fault(value.as_f64().is_none_or(|number| number <= says.as_f64().expect("a number"))),
            "minLength" => fault(length(value).is_none_or(|length| length >= size(says))),
            "maxLength" => fault(length(value).is_none_or(|length| length <= size(says))),
            "pattern" => fault(value.as_str().is_none_or(|text| fits(says.as_str().expect("a pattern"), text))),
            "format" => fault(value.as_str().is_none_or(|text| has_form(says.as_str().expect("a format"), text))),
            "uniqueItems" => {
                let items = value.as_array().map_or(&[][..], Vec::as_slice);
                fault(items.iter().enumerate().all(|(index, item)| !items[..index].contains(item)));
            }
            "required" => {
                let missing = |name: &&Value| value.get(name.as_str().expect("a name")).is_none();
                fault(!value.is_object() || !list(says).iter().any(|name| missing(&name)));
            }
            "properties" => {
                for (name, schema) in says.as_object().expect("properties") {
                    if let Some(member) = value.get(name) {
                        check(root, schema, member, &format!("{at}/{name}"), faults);
                    }
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, says, item, &format!("{at}/{index}"), faults);
                }
            }
            other => panic!("the keyword {other} is not checked here"),
        }
    }
}

fn list(says: &Value) -> &[Value] {
    says.as_array().expect("a list")
}

fn size(says: &Value) -> usize {
    says.as_u64().and_then(|size| usize::try_from(size).ok()).expect("a size")
}

fn length(value: &Value) -> Option<usize> {
    value.as_str().map(|text| text.chars().count())
}

fn is_of(word: &Value, value: &Value) -> bool {
    match word.as_str().expect("a type") {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("there is no type {other}"),
    }
}

/// The patterns of our schemas, each written out.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern {
        r"^\d+\.\d+\.\d+" => {
            let numbers: Vec<&str> = text.splitn(3, '.').collect();
            let whole = |part: &&&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            numbers.len() == 3
                && numbers.iter().take(2).filter(whole).count() == 2
                && numbers[2].starts_with(|first: char| first.is_ascii_digit())
        }
        r"^[a-z][a-z0-9_]*$" => {
            text.starts_with(|first: char| first.is_ascii_lowercase())
                && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        }
        r"^[^/\s]+/[^/\s].*$" => text.split_once('/').is_some_and(|(kind, rest)| {
            !kind.is_empty()
                && !kind.contains(char::is_whitespace)
                && rest.starts_with(|first: char| first != '/' && !first.is_whitespace())
        }),
        other => panic!("the pattern {other} is not checked here"),
    }
}

fn has_form(format: &str, text: &str) -> bool {
    match format {
        "date-time" => text.parse::<jiff::Timestamp>().is_ok(),
        "uri" => text.split_once("://").is_some_and(|(scheme, rest)| {
            !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !rest.is_empty()
        }),
        other => panic!("the format {other} is not checked here"),
    }
}
