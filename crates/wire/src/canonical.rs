//! Canonical JSON: one text per value, so that a hash means the value and not how somebody wrote it.
//!
//! There are two policies for numbers, each a function, because texts of both are hashed in stores:
//!
//! - [`of_value`] follows RFC 8785: numbers as ECMAScript writes them, so `1.0` and `1` are one, keys in the order of their
//!   UTF-16 code units. One deliberate difference: an integer of 64 bits keeps its digits beyond 2^53, because the audit log
//!   must not round. What is longer than that was rounded when the [`Value`] was read.
//! - [`exact`] keeps numbers as they were written: what a reader of floats would take for one number stays two, so that
//!   nobody agrees to one and executes the other. Keys are in the order of their code points. A member that stands twice has
//!   no one meaning, so such a value has no text.
//!
//! Both write strings with the escapes of RFC 8785, 3.2.2.2, and nothing between the parts. Neither text may ever change:
//! chains of audit records, pins, approvals and permissions on disk are hashes of them.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use crate::{Kind, Object, Raw, Refusal};

/// The canonical text of a value after RFC 8785.
#[must_use]
pub fn of_value(value: &Value) -> String {
    let mut text = String::with_capacity(256);
    write_value(value, &mut text);
    text
}

/// The canonical text of a value whose numbers keep their digits.
///
/// # Errors
/// A member stands twice somewhere.
pub fn exact(raw: &Raw) -> Result<String, Refusal> {
    let mut text = String::with_capacity(raw.as_bytes().len());
    write_exact(raw, &mut text)?;
    Ok(text)
}

fn write_exact(raw: &Raw, text: &mut String) -> Result<(), Refusal> {
    match raw.kind() {
        Kind::Object => {
            let object = Object::open(raw)?;
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            write_list('{', '}', members, text, |(key, value), text| {
                write_string(&key, text);
                text.push(':');
                write_exact(&value, text)
            })
        }
        Kind::Array => {
            write_list('[', ']', raw.elements().unwrap_or_default(), text, |value, text| write_exact(&value, text))
        }
        Kind::String => {
            match raw.as_text() {
                Some(string) => write_string(&string, text),
                None => text.push_str(raw.as_str()),
            }
            Ok(())
        }
        Kind::Number | Kind::Bool | Kind::Null => {
            text.push_str(raw.as_str());
            Ok(())
        }
    }
}

/// Writes parts with commas between them.
fn write_list<T>(
    begin: char,
    end: char,
    parts: impl IntoIterator<Item = T>,
    text: &mut String,
    mut write: impl FnMut(T, &mut String) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    text.push(begin);
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write(part, text)?;
    }
    text.push(end);
    Ok(())
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

fn write_object(map: &Map<String, Value>, text: &mut String) {
    let mut members: Vec<_> = map.iter().map(|(key, value)| (key.as_str(), value)).collect();
    members.sort_unstable_by(|(one, _), (other, _)| order(one, other));
    write_members(members, text);
}

/// Which of two keys comes first by RFC 8785: that whose UTF-16 code units are less.
#[must_use]
pub fn order(one: &str, other: &str) -> Ordering {
    // Bytes and UTF-16 order alike what differs first in a letter below U+E000, which is nearly every key there is.
    const FIRST_OTHER: u8 = 0xee;
    match one.bytes().zip(other.bytes()).find(|(one, other)| one != other) {
        Some((one, other)) if one < FIRST_OTHER || other < FIRST_OTHER => one.cmp(&other),
        Some(_) => one.encode_utf16().cmp(other.encode_utf16()),
        None => one.len().cmp(&other.len()),
    }
}

/// Writes members that are in order, as [`of_value`] does.
pub fn write_members<'a>(members: impl IntoIterator<Item = (&'a str, &'a Value)>, text: &mut String) {
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
pub fn write_string(string: &str, text: &mut String) {
    text.push('"');
    // Nearly every string there is.
    if is_plain(string.as_bytes()) {
        text.push_str(string);
    } else {
        write_escaped(string, text);
    }
    text.push('"');
}

/// Whether a string needs no escape. It is looked at in blocks, whose bytes the compiler compares all at once.
fn is_plain(bytes: &[u8]) -> bool {
    const BLOCK: usize = 16;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    let escapes = |byte: &u8| u8::from(*byte < 0x20) | u8::from(*byte == b'"') | u8::from(*byte == b'\\');
    blocks.iter().chain([&last]).all(|block| block.iter().fold(0, |found, byte| found | escapes(byte)) == 0)
}

#[cold]
fn write_escaped(string: &str, text: &mut String) {
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
}

fn write_number(number: &Number, text: &mut String) {
    if let Some(integer) = number.as_u64() {
        write_integer(integer, text);
    } else if let Some(integer) = number.as_i64() {
        write_signed(integer, text);
    } else {
        // A number is an i64, a u64 or a finite f64.
        let written = write_float(number.as_f64().unwrap_or_default(), text);
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
}

/// As [`write_integer`], with a sign where there is one.
pub fn write_signed(integer: i64, text: &mut String) {
    if integer < 0 {
        text.push('-');
    }
    write_integer(integer.unsigned_abs(), text);
}

/// Writes an integer, without the machinery of formatting.
pub fn write_integer(mut integer: u64, text: &mut String) {
    const MAX_DIGITS: usize = 20;
    let mut digits = [0; MAX_DIGITS];
    let mut first = MAX_DIGITS;
    loop {
        first -= 1;
        digits[first] = digit(integer % 10);
        integer /= 10;
        if integer == 0 {
            break;
        }
    }
    // Digits are always text.
    text.push_str(str::from_utf8(&digits[first..]).unwrap_or_default());
}

/// The last digit of a number.
#[must_use]
pub const fn digit(number: u64) -> u8 {
    b'0' + (number % 10) as u8
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
