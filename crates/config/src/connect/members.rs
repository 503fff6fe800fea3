//! One member of an object in a JSON text with comments: put there and taken out, with everything else left as it is.

use std::ops::Range;

use serde_json::{Map, Value, json};

use super::ConnectEditError;
use crate::import::jsonc;

/// A member, by where it stands.
struct Member {
    key: String,
    /// From the quote of its key.
    start: usize,
    value: Range<usize>,
}

/// The text with a member in one of its sections; one of the same name is written anew.
pub(super) fn with(text: &str, section: &'static str, name: &str, value: &Value) -> Result<String, ConnectEditError> {
    if text.trim().is_empty() {
        return Ok(format!("{:#}\n", json!({section: {name: value}})));
    }
    let plain = checked(text, section)?;
    let whole = root(&plain);
    let members = members_of(&plain, whole.clone());
    let Some(found) = members.iter().find(|member| member.key == section) else {
        let shown = indented(&json!({name: value}), &indent_within(text, whole.start));
        return Ok(inserted(text, &plain, whole.start, section, &shown));
    };
    let inner = members_of(&plain, found.value.clone());
    match inner.iter().find(|member| member.key == name) {
        Some(old) => {
            let shown = indented(value, indent_at(text, old.start));
            Ok(format!("{}{shown}{}", &text[..old.value.start], &text[old.value.end..]))
        }
        None => {
            let shown = indented(value, &indent_within(text, found.value.start));
            Ok(inserted(text, &plain, found.value.start, name, &shown))
        }
    }
}

/// The value of a member of one of its sections, as it is written.
pub(super) fn text_of(text: &str, section: &'static str, name: &str) -> Result<Option<String>, ConnectEditError> {
    let (_, inner) = inner_of(text, section)?;
    let member = inner.iter().find(|member| member.key == name);
    Ok(member.map(|member| text[member.value.clone()].to_owned()))
}

/// The text with a member whose value is put there as it is written; `None` where there is one of this name.
pub(super) fn with_text(
    text: &str,
    section: &'static str,
    name: &str,
    value: &str,
) -> Result<Option<String>, ConnectEditError> {
    if text_of(text, section, name)?.is_some() {
        return Ok(None);
    }
    let start = if text.trim().is_empty() { "{}\n" } else { text };
    let (plain, mut text) = (checked(start, section)?, start.to_owned());
    let whole = root(&plain);
    if !members_of(&plain, whole.clone()).iter().any(|member| member.key == section) {
        text = inserted(&text, &plain, whole.start, section, "{}");
    }
    let plain = checked(&text, section)?;
    let members = members_of(&plain, root(&plain));
    let found = members.iter().find(|member| member.key == section);
    let with = found.map(|found| inserted(&text, &plain, found.value.start, name, value));
    // What cannot be read afterwards is not written.
    let is_good = |text: &String| {
        let read = |text: &str| serde_json::from_str::<Value>(&jsonc::plain(text)).ok();
        let (all, entry) = (read(text), read(value));
        entry.is_some() && all.is_some_and(|all| all[section].get(name) == entry.as_ref())
    };
    let lost = || ConnectEditError::Unreadable(format!("the entry {name:?} has to be put back by hand"));
    with.filter(is_good).map(Some).ok_or_else(lost)
}

/// The text without a member of one of its sections; `None` where it has none of this name.
pub(super) fn without(text: &str, section: &'static str, name: &str) -> Result<Option<String>, ConnectEditError> {
    let (plain, inner) = inner_of(text, section)?;
    let Some(at) = inner.iter().position(|member| member.key == name) else { return Ok(None) };
    let gone = &inner[at];
    let line = text[..gone.start].trim_end().len();
    // With its comma: the one behind it, a last one that readers leave out, or else the one in front. Comments stay.
    let comma_in = |text: &str, from: usize| {
        let skip = text[from..].find(|c: char| !c.is_whitespace())?;
        text[from + skip..].starts_with(',').then_some(from + skip)
    };
    // From the end of the line before, unless a comment there would go on.
    let starts = [line, gone.start];
    let cut = |comma: usize, start: usize| {
        format!("{}{}{}", &text[..start], &text[gone.value.end..comma], &text[comma + 1..])
    };
    let in_front = |start: usize| {
        let comma = comma_in(&plain, inner[at.checked_sub(1)?].value.end)?;
        Some(format!("{}{}{}", &text[..comma], &text[comma + 1..start], &text[gone.value.end..]))
    };
    let tried = starts.into_iter().flat_map(|start| {
        [
            comma_in(&plain, gone.value.end).map(|comma| cut(comma, start)),
            comma_in(text, gone.value.end).map(|comma| cut(comma, start)),
            in_front(start),
            Some(format!("{}{}", &text[..start], &text[gone.value.end..])),
        ]
    });
    // What cannot be read afterwards is not written.
    let is_good = |text: &String| {
        let value: Result<Value, _> = serde_json::from_str(&jsonc::plain(text));
        value.is_ok_and(|value| value[section].get(name).is_none())
    };
    let found = tried.flatten().find(is_good);
    found.map(Some).ok_or_else(|| ConnectEditError::Unreadable("the entry has to be taken out by hand".to_owned()))
}

/// The text as plain JSON of the same length, whose section is an object if it is there.
fn checked(text: &str, section: &'static str) -> Result<String, ConnectEditError> {
    let plain = jsonc::plain(text);
    let value: Map<String, Value> =
        serde_json::from_str(&plain).map_err(|error| ConnectEditError::Unreadable(error.to_string()))?;
    let of_section = members_of(&plain, root(&plain)).iter().filter(|member| member.key == section).count();
    if of_section > 1 {
        return Err(ConnectEditError::Unreadable(format!("`{section}` is there twice, and clients read one of them")));
    }
    match value.get(section) {
        None | Some(Value::Object(_)) => Ok(plain),
        Some(_) => Err(ConnectEditError::Shape(section)),
    }
}

/// Where the outermost object stands.
fn root(plain: &str) -> Range<usize> {
    let start = plain.find('{').unwrap_or(0);
    start..plain.trim_end().len()
}

/// The text without comments, and the members of one of its sections; none where there is no such section.
fn inner_of(text: &str, section: &'static str) -> Result<(String, Vec<Member>), ConnectEditError> {
    if text.trim().is_empty() {
        return Ok((String::new(), Vec::new()));
    }
    let plain = checked(text, section)?;
    let members = members_of(&plain, root(&plain));
    let found = members.iter().find(|member| member.key == section);
    let inner = found.map(|found| members_of(&plain, found.value.clone())).unwrap_or_default();
    Ok((plain, inner))
}

/// The members of an object in a text that is known to be JSON.
fn members_of(plain: &str, object: Range<usize>) -> Vec<Member> {
    let bytes = plain.as_bytes();
    let mut found = Vec::new();
    let mut at = object.start + 1;
    while let Some(quote) = bytes.get(at..object.end).and_then(|rest| rest.iter().position(|byte| *byte == b'"')) {
        let start = at + quote;
        let end_of_key = value_end(bytes, start);
        let key = serde_json::from_str(&plain[start..end_of_key]).unwrap_or_default();
        let is_value = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b':';
        let Some(skip) = bytes[end_of_key..].iter().position(is_value) else { break };
        let value = end_of_key + skip..value_end(bytes, end_of_key + skip);
        at = value.end;
        found.push(Member { key, start, value });
    }
    found
}

/// Where the value that begins here ends.
fn value_end(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut at, mut in_text) = (0_usize, start, false);
    while let Some(byte) = bytes.get(at) {
        match (byte, in_text) {
            (b'\\', true) => at += 1,
            (b'"', _) => {
                in_text = !in_text;
                if !in_text && depth == 0 {
                    return at + 1;
                }
            }
            (_, true) => {}
            (b'{' | b'[', _) => depth += 1,
            (b'}' | b']', _) if depth <= 1 => return if depth == 0 { at } else { at + 1 },
            (b'}' | b']', _) => depth -= 1,
            (b',', _) if depth == 0 => return at,
            (byte, _) if depth == 0 && byte.is_ascii_whitespace() => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The text with a member as the first of the object that begins at `open`.
fn inserted(text: &str, plain: &str, open: usize, key: &str, shown: &str) -> String {
    let outer = indent_at(text, open);
    let indent = indent_within(text, open);
    let rest = &text[open + 1..];
    let is_empty = plain[open + 1..].trim_start().starts_with('}');
    let end = if is_empty && rest.trim_start().starts_with('}') { format!("\n{outer}") } else { String::new() };
    let rest = if end.is_empty() { rest } else { rest.trim_start() };
    let comma = if is_empty { "" } else { "," };
    format!("{}\n{indent}{}: {shown}{comma}{end}{rest}", &text[..=open], json!(key))
}

/// The blanks in front of the members of the object that begins at `open`.
fn indent_within(text: &str, open: usize) -> String {
    format!("{}{}", indent_at(text, open), unit(text))
}

/// The blanks at the beginning of the line in which something stands.
fn indent_at(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// What one level is indented by: a tab where the text has tabs.
fn unit(text: &str) -> &'static str {
    if text.contains("\n\t") { "\t" } else { "  " }
}

/// A value over several lines, each but the first with blanks in front.
fn indented(value: &Value, indent: &str) -> String {
    let shown = format!("{value:#}");
    let lines = shown.lines().map(|line| {
        let text = line.trim_start_matches(' ');
        let depth = (line.len() - text.len()) / 2;
        format!("{}{text}", if indent.contains('\t') { "\t".repeat(depth) } else { "  ".repeat(depth) })
    });
    lines.collect::<Vec<_>>().join(&format!("\n{indent}"))
}
