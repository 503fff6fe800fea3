//! One text for one JSON value, whatever its spelling, and never the same text for two values. Pure.
//!
//! What a person agreed to, and what a definition was when it was accepted, is compared by this text. Numbers keep
//! their digits: two that a reader of floats would take for one are two here. A member that stands twice has no one
//! meaning, so such a value has no text.

use switchboard_store::Digest;
use switchboard_wire::{Kind, Object, Raw, Refusal};

/// The text of a value: members sorted, strings unescaped and escaped again, numbers as they were written.
///
/// # Errors
/// A member stands twice somewhere.
pub(crate) fn text(raw: &Raw) -> Result<String, Refusal> {
    let mut out = String::with_capacity(raw.as_bytes().len());
    write(raw, &mut out)?;
    Ok(out)
}

/// The hash of that text.
///
/// # Errors
/// As [`text`].
pub(crate) fn digest(raw: &Raw) -> Result<Digest, Refusal> {
    text(raw).map(|text| Digest::of(text.as_bytes()))
}

fn write(raw: &Raw, out: &mut String) -> Result<(), Refusal> {
    match raw.kind() {
        Kind::Object => {
            let object = Object::open(raw)?;
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(Raw::string(key).as_str());
                out.push(':');
                write(value, out)?;
            }
            out.push('}');
        }
        Kind::Array => {
            out.push('[');
            for (index, value) in raw.elements().unwrap_or_default().iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(value, out)?;
            }
            out.push(']');
        }
        Kind::String => match raw.as_text() {
            Some(text) => out.push_str(Raw::string(&text).as_str()),
            None => out.push_str(raw.as_str()),
        },
        Kind::Number | Kind::Bool | Kind::Null => out.push_str(raw.as_str()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    fn of(json: &str) -> Result<String, Refusal> {
        text(&Raw::parse(json.to_owned(), &Limits::default()).unwrap())
    }

    #[test]
    fn spelling_does_not_count_and_values_do() {
        assert_eq!(of(r#"{ "b" : [1, {}], "a":"\u0061" }"#).unwrap(), r#"{"a":"a","b":[1,{}]}"#);
        for (one, other) in [
            // All of these are one value to a reader of floats, or none at all.
            ("[12345678901234567890123]", "[12345678901234567890124]"),
            ("[9007199254740993.0]", "[9007199254740992.0]"),
            ("[1e999]", "[2e999]"),
            ("{}", r#"{"amount":1e999}"#),
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":[]}"#, r#"{"a":{}}"#),
        ] {
            assert_ne!(of(one).unwrap(), of(other).unwrap(), "{one} and {other}");
        }
    }

    #[test]
    fn what_stands_twice_has_no_text() {
        assert!(of(r#"{"a":{"b":1,"b":2}}"#).is_err());
        assert!(of(r#"[{"a":1,"\u0061":1}]"#).is_err());
    }
}
