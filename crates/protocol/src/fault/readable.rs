//! Why parameters cannot be read: which member is wrong, and what it should be, in the words of whoever wrote them. Pure.

use switchboard_wire::{Kind, Object, Raw};

/// Levels of members that are named.
const MAX_DEPTH: usize = 8;

/// Why these parameters cannot be read. `error` is what reading them ended with.
#[must_use]
pub fn readable(params: &Raw, error: &serde_json::Error) -> String {
    let whole = error.to_string();
    let what = whole.rsplit_once(" at line ").map_or(&*whole, |(what, _)| what);
    let place = place_of(params, error);
    if let Some(member) = what.strip_prefix("missing field ").and_then(quoted) {
        return format!("`{}` is missing", below(&place, member));
    }
    if let Some(member) = what.strip_prefix("duplicate field ").and_then(quoted) {
        return format!("`{}` stands twice", below(&place, member));
    }
    let subject = if place.is_empty() { "what is given".to_owned() } else { format!("`{place}`") };
    if let Some((given, known)) = what.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("{subject} is {given}, and must be {known}");
    }
    let mistaken = ["invalid type: ", "invalid value: "].iter().find_map(|prefix| what.strip_prefix(prefix));
    match mistaken.and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((given, wanted)) => format!("{subject} must be {}, and is {}", kind_wanted(wanted), value_given(given)),
        None if place.is_empty() => what.to_owned(),
        None => format!("{subject}: {what}"),
    }
}

/// A word between the marks that serde puts around names.
fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('`')?.strip_suffix('`')
}

fn below(place: &str, member: &str) -> String {
    if place.is_empty() { member.to_owned() } else { format!("{place}.{member}") }
}

/// The members that lead to where reading ended.
fn place_of(params: &Raw, error: &serde_json::Error) -> String {
    let text = params.as_bytes();
    let lines = text.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let ended = lines.map(<[u8]>::len).sum::<usize>().saturating_add(error.column());
    let (from, mut at, mut place) = (text.as_ptr().addr(), params.clone(), Vec::new());
    for _ in 0..MAX_DEPTH {
        let Ok(object) = Object::open(&at) else { break };
        let holds = |(_, value): &(std::borrow::Cow<'_, str>, Raw)| {
            let begins = value.as_bytes().as_ptr().addr().saturating_sub(from);
            // Reading ends behind a value, or in it.
            (begins..=begins + value.as_bytes().len()).contains(&ended)
        };
        let Some((name, value)) = object.iter().find(holds) else { break };
        place.push(name.into_owned());
        at = value;
        if at.kind() != Kind::Object {
            break;
        }
    }
    place.join(".")
}

/// What is wanted, in words for people.
fn kind_wanted(wanted: &str) -> String {
    match wanted {
        "a string" | "a borrowed string" | "a character" => "a text",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list",
        "a map" => "an object",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        other if other.starts_with("struct ") || other.starts_with("internally tagged enum ") => "an object",
        other => other,
    }
    .to_owned()
}

/// What stands there, without the word for how it is written.
fn value_given(given: &str) -> String {
    match given {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        other => {
            let written = ["integer ", "floating point ", "boolean ", "string "];
            written.iter().find_map(|prefix| other.strip_prefix(prefix)).unwrap_or(other).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use switchboard_wire::Limits;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Asked {
        name: String,
        #[serde(default)]
        limit: Option<u64>,
        #[serde(default)]
        filter: Option<Filter>,
        #[serde(default)]
        channels: Vec<String>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Filter {
        kind: FilterKind,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum FilterKind {
        Own,
        All,
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (params, expected) in [
            (r#"{}"#, "`name` is missing"),
            (r#"{"name":5}"#, "`name` must be a text, and is `5`"),
            (r#"{"name":"a","limit":"x"}"#, r#"`limit` must be a whole number that is not negative, and is "x""#),
            (r#"{"name":"a","limit":-1}"#, "`limit` must be a whole number that is not negative, and is `-1`"),
            (r#"{"name":"a","filter":5}"#, "`filter` must be an object, and is `5`"),
            ("{\"name\":\"a\",\n \"filter\":{}}", "`filter.kind` is missing"),
            (r#"{"name":"a","filter":{"kind":"x"}}"#, "`filter.kind` is `x`, and must be `own` or `all`"),
            (r#"{"name":"a","channels":5}"#, "`channels` must be a list, and is `5`"),
            (r#"{"name":"a","channels":["a",true]}"#, "`channels` must be a text, and is `true`"),
            (r#""x""#, r#"what is given must be an object, and is "x""#),
        ] {
            let raw = Raw::parse(params.to_owned(), &Limits::default()).unwrap();
            let error = raw.view::<Asked>().unwrap_err();
            assert_eq!(readable(&raw, &error), expected, "{params}");
        }
    }
}
