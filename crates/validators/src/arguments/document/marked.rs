//! Attributes and texts of XML and the like, each under the name of its attribute or element.

use std::borrow::Cow;

use super::Reader;

/// Longer names of characters are none.
const MAX_ESCAPE: usize = 12;

pub(super) fn read<'a>(text: &'a str, reader: &mut Reader<'a>) {
    let mut element = "";
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        between(&rest[..open], element, reader);
        let behind = &rest[open + 1..];
        if let Some(data) = behind.strip_prefix("![CDATA[") {
            let (data, after) = data.split_once("]]>").unwrap_or((data, ""));
            value(element, data, reader);
            rest = after;
            continue;
        }
        if !behind.starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '?' | '!' | '_')) {
            rest = behind;
            continue;
        }
        let close = behind.find('>').unwrap_or(behind.len());
        let tag = &behind[..close];
        if !tag.starts_with('/') {
            element = tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
        }
        attributes(tag, reader);
        rest = behind.get(close + 1..).unwrap_or_default();
    }
}

/// What stands between two tags: a text, or lines of another document.
fn between<'a>(text: &'a str, element: &'a str, reader: &mut Reader<'a>) {
    let bare = text.trim();
    if bare.is_empty() {
        return;
    }
    value(element, bare, reader);
    if bare.contains('\n') {
        bare.lines().for_each(|line| reader.line(line));
    }
}

fn value<'a>(key: &'a str, text: &'a str, reader: &mut Reader<'a>) {
    let text = text.trim();
    if !text.is_empty() {
        reader.push(key, "", unescaped(text), false);
    }
}

/// The values in a tag, each under the name in front of it; in quotes or without.
fn attributes<'a>(tag: &'a str, reader: &mut Reader<'a>) {
    let mut rest = tag;
    while let Some(at) = rest.find(['"', '\'', '=']) {
        let name = rest[..at].trim_end().trim_end_matches('=').trim_end();
        let name = name.rsplit(char::is_whitespace).next().unwrap_or_default();
        let behind = &rest[at + 1..];
        if rest[at..].starts_with('=') {
            let inner = behind.trim_start();
            if inner.starts_with(['"', '\'']) {
                // The value in quotes is the next one.
                let quoted = &inner[1..];
                let end = quoted.find(&inner[..1]).unwrap_or(quoted.len());
                value(name, &quoted[..end], reader);
                rest = quoted.get(end + 1..).unwrap_or_default();
            } else {
                let end = inner.find(char::is_whitespace).unwrap_or(inner.len());
                value(name, inner[..end].trim_end_matches('/'), reader);
                rest = &inner[end..];
            }
            continue;
        }
        let end = behind.find(&rest[at..=at]).unwrap_or(behind.len());
        value(name, &behind[..end], reader);
        rest = behind.get(end + 1..).unwrap_or_default();
    }
}

/// The text with the names of characters read: `&#47;`, `&#x2f;`, `&amp;`.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut read = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((front, behind)) = rest.split_once('&') {
        read.push_str(front);
        let name = behind
            .split_once(';')
            .filter(|(name, _)| name.trim_start_matches(['#', 'x', 'X', '0']).len() <= MAX_ESCAPE);
        let found = name.and_then(|(name, after)| Some((character(name)?, after)));
        match found {
            Some((c, after)) => {
                read.push(c);
                rest = after;
            }
            None => {
                read.push('&');
                rest = behind;
            }
        }
    }
    read.push_str(rest);
    Cow::Owned(read)
}

fn character(name: &str) -> Option<char> {
    let number = match name.strip_prefix('#') {
        Some(hex) if hex.starts_with(['x', 'X']) => u32::from_str_radix(&hex[1..], 16).ok()?,
        Some(decimal) => decimal.parse().ok()?,
        None => {
            let known = [
                ("lt", '<'),
                ("gt", '>'),
                ("quot", '"'),
                ("apos", '\''),
                ("amp", '&'),
                ("sol", '/'),
                ("bsol", '\\'),
                ("period", '.'),
                ("colon", ':'),
            ];
            return known.iter().find(|(known, _)| *known == name).map(|(_, c)| *c);
        }
    };
    char::from_u32(number)
}
