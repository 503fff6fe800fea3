//! Canonical JSON after RFC 8785: one spelling per value, so that a hash means the value.
//!
//! Keys are ordered by their UTF-16 code units, strings escaped as little as possible, floats written as ECMAScript
//! does. One deliberate difference: an integer beyond 2^53 keeps its digits, because the audit log must not round.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

/// The canonical text of a value.
pub fn canonical(value: &Value) -> String {
    let mut text = String::with_capacity(256);
    write_value(value, &mut text);
    text
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => write_number(number, text),
        Value::String(string) => write_string(string, text),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(item, text);
            }
            text.push(']');
        }
        Value::Object(map) => write_object(map, text),
    }
}

pub(crate) fn write_object(map: &Map<String, Value>, text: &mut String) {
    let mut members: Vec<_> = map.iter().collect();
    members.sort_unstable_by(|(one, _), (other, _)| {
        // Bytes and UTF-16 order ASCII alike, which is nearly every key there is.
        if one.is_ascii() && other.is_ascii() { one.cmp(other) } else { one.encode_utf16().cmp(other.encode_utf16()) }
    });
    text.push('{');
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write_string(key, text);
        text.push(':');
        write_value(value, text);
    }
    text.push('}');
}

/// Writes a string with the escapes of RFC 8785, 3.2.2.2.
pub(crate) fn write_string(string: &str, text: &mut String) {
    text.push('"');
    // Nearly every string there is.
    if !string.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        text.push_str(string);
        text.push('"');
        return;
    }
    let mut plain = 0;
    for (at, byte) in string.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            b'\t' => "\\t",
            b'\n' => "\\n",
            0x0c => "\\f",
            b'\r' => "\\r",
            0x00..=0x1f => "",
            _ => continue,
        };
        text.push_str(&string[plain..at]);
        plain = at + 1;
        if escape.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\u{byte:04x}");
        } else {
            text.push_str(escape);
        }
    }
    text.push_str(&string[plain..]);
    text.push('"');
}

fn write_number(number: &Number, text: &mut String) {
    let written = if let Some(integer) = number.as_i64() {
        write!(text, "{integer}")
    } else if let Some(integer) = number.as_u64() {
        write!(text, "{integer}")
    } else {
        // A number is an i64, a u64 or a finite f64.
        write_float(number.as_f64().unwrap_or_default(), text)
    };
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

/// ECMAScript's Number::toString: shortest digits that read back the same, exponent form outside 1e-7..1e21.
fn write_float(float: f64, text: &mut String) -> std::fmt::Result {
    if float == 0.0 {
        text.push('0');
        return Ok(());
    }
    let scientific = format!("{:e}", float.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    // The decimal point stands after this many digits.
    let point = exponent + 1;
    if float < 0.0 {
        text.push('-');
    }
    if count <= point && point <= 21 {
        write!(text, "{digits}{}", zeros(point - count))
    } else if 0 < point && point <= 21 {
        let (whole, part) = digits.split_at(usize::try_from(point).unwrap_or_default());
        write!(text, "{whole}.{part}")
    } else if -6 < point && point <= 0 {
        write!(text, "0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        write!(text, "{first}{dot}{rest}e{exponent:+}")
    }
}

fn zeros(count: i32) -> String {
    "0".repeat(usize::try_from(count).unwrap_or_default())
}

#[cfg(test)]
mod tests;
