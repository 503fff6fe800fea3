//! Texts that hold a document of their own: lines of YAML, TOML and the like, and XML. Under a key that nothing is known of,
//! a server may read one, and then each value has a key of its own.
//!
//! Only what is such a document from its first line to its last is one: prose with a colon in it is none.

use std::borrow::Cow;

/// Pairs that are read of one text.
const MAX_PAIRS: usize = 1_024;
/// Bytes of a text that is read.
const MAX_BYTES: usize = 256 * 1024;

/// A value, and the key that it stands under; without a key in a list.
pub(super) struct Pair<'a> {
    pub(super) key: &'a str,
    pub(super) value: Cow<'a, str>,
}

/// The pairs of a document; nothing where the text is none.
pub(super) fn read(text: &str) -> Option<Vec<Pair<'_>>> {
    let text = text.trim();
    if text.len() > MAX_BYTES || text.len() < 4 {
        return None;
    }
    let is_marked = text.starts_with('<') && text.ends_with('>');
    let pairs = if is_marked { marked(text) } else { flow(text).or_else(|| lines(text)) }?;
    (!pairs.is_empty()).then_some(pairs)
}

/// `{path: /etc/x, a: b}`.
fn flow(text: &str) -> Option<Vec<Pair<'_>>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    inner.split(',').take(MAX_PAIRS).map(pair).collect()
}

/// Lines of pairs and of lists.
fn lines(text: &str) -> Option<Vec<Pair<'_>>> {
    let mut pairs = Vec::new();
    let (mut parts, mut indent, mut count, mut above) = (false, 0, 0, "");
    for line in text.lines() {
        let bare = line.trim();
        let is_mark = bare.is_empty() || bare == "---" || bare == "..." || bare.starts_with('#');
        let is_section = bare.starts_with('[') && bare.ends_with(']');
        count += usize::from(!bare.is_empty());
        if is_mark || is_section || pairs.len() >= MAX_PAIRS {
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        let mut item = bare;
        while let Some(inner) = item.strip_prefix("- ") {
            (item, parts) = (inner.trim_start(), true);
        }
        match pair(item) {
            Some(pair) => {
                parts = true;
                indent = depth;
                // What stands below it belongs to it.
                above = if matches!(&*pair.value, "" | "|" | ">" | "|-" | ">-") { pair.key } else { "" };
                pairs.push(pair);
            }
            None if item.len() < bare.len() => {
                indent = depth;
                pairs.push(Pair { key: above, value: unquoted(item) });
            }
            // A text that goes on below its key.
            None if depth > indent && parts => pairs.push(Pair { key: above, value: unquoted(item) }),
            None => return None,
        }
    }
    // A single line is a sentence with a colon as often.
    (count > 1).then_some(pairs)
}

/// `key: value` or `key = value`.
pub(super) fn pair(text: &str) -> Option<Pair<'_>> {
    let at = text.find([':', '='])?;
    let (key, rest) = text.split_at(at);
    let key = key.trim().trim_matches(['"', '\'']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let value = &rest[1..];
    let parted = rest.starts_with('=') || value.is_empty() || value.starts_with(char::is_whitespace);
    (parted && !key.is_empty() && key.len() <= 64 && key.chars().all(is_name))
        .then(|| Pair { key, value: unquoted(value.trim()) })
}

fn unquoted(text: &str) -> Cow<'_, str> {
    let quoted = ['"', '\''].into_iter().find_map(|mark| text.strip_prefix(mark)?.strip_suffix(mark));
    Cow::Borrowed(quoted.unwrap_or(text))
}

/// Attributes and texts of XML, each under the name of its attribute or element.
fn marked(text: &str) -> Option<Vec<Pair<'_>>> {
    let opens = |c: char| c.is_alphabetic() || matches!(c, '?' | '!' | '_');
    text[1..].starts_with(opens).then_some(())?;
    let mut pairs = Vec::new();
    let mut element = "";
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let between = rest[..open].trim();
        if !between.is_empty() {
            pairs.push(Pair { key: element, value: unescaped(between) });
        }
        if let Some(data) = rest[open..].strip_prefix("<![CDATA[") {
            let (data, after) = data.split_once("]]>").unwrap_or((data, ""));
            pairs.push(Pair { key: element, value: Cow::Borrowed(data.trim()) });
            rest = after;
            continue;
        }
        let close = rest[open..].find('>').map_or(rest.len(), |at| open + at);
        let tag = &rest[open + 1..close];
        if !tag.starts_with('/') {
            element = tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
        }
        attributes(tag, &mut pairs);
        if pairs.len() >= MAX_PAIRS {
            break;
        }
        rest = rest.get(close + 1..).unwrap_or_default();
    }
    Some(pairs)
}

/// What stands in quotes in a tag, under the name in front of it.
fn attributes<'a>(tag: &'a str, pairs: &mut Vec<Pair<'a>>) {
    let mut rest = tag;
    while let Some(at) = rest.find(['"', '\'']) {
        let mark = &rest[at..=at];
        let name = rest[..at].trim_end().trim_end_matches('=').trim_end();
        let name = name.rsplit(char::is_whitespace).next().unwrap_or_default();
        let inner = &rest[at + 1..];
        let end = inner.find(mark).unwrap_or(inner.len());
        pairs.push(Pair { key: name, value: unescaped(inner[..end].trim()) });
        rest = inner.get(end + 1..).unwrap_or_default();
    }
}

/// The text without the escapes of XML that stand for characters of paths and commands.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let known = [("&#47;", "/"), ("&#x2f;", "/"), ("&#x2F;", "/"), ("&#46;", "."), ("&#x2e;", "."), ("&#x2E;", ".")];
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    let all = known.iter().chain(&marks);
    Cow::Owned(all.fold(text.to_owned(), |text, (escape, meant)| text.replace(escape, meant)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<(String, String)> {
        let pairs = read(text).unwrap_or_default();
        pairs.into_iter().map(|pair| (pair.key.to_owned(), pair.value.into_owned())).collect()
    }

    fn of(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn documents_are_read() {
        for (text, pairs) in [
            ("a: 1\nfile: /etc/x\n", &[("a", "1"), ("file", "/etc/x")][..]),
            (
                "# note\nsteps:\n  - run: rm -rf x\n  - '/etc/x'\n",
                &[("steps", ""), ("run", "rm -rf x"), ("", "/etc/x")],
            ),
            ("a: |\n  cat /etc/x\n  b", &[("a", "|"), ("a", "cat /etc/x"), ("a", "b")]),
            ("run:\n- rm -rf x\nc: d", &[("run", "rm -rf x"), ("c", "d")]),
            ("[main]\nfile = \"/etc/x\"", &[("file", "/etc/x")]),
            ("{path: /etc/x, b: c}", &[("path", "/etc/x"), ("b", "c")]),
            ("<a path=\"/etc/x\"><b>c&#47;d</b></a>", &[("path", "/etc/x"), ("b", "c/d")]),
            (
                "<!DOCTYPE r [<!ENTITY e SYSTEM \"file:///x\">]><r><![CDATA[d]]></r>",
                &[("SYSTEM", "file:///x"), ("", "]"), ("r", "d")],
            ),
        ] {
            let found = said(text);
            for pair in of(pairs).iter().filter(|(key, value)| (key.as_str(), value.as_str()) != ("", "]")) {
                assert!(found.contains(pair), "{text:?}: {pair:?} in {found:?}");
            }
        }
    }

    #[test]
    fn prose_is_no_document() {
        for text in
            ["", "note: see below", "Dear all,\nthis is it: done", "see: a\nand then b", "<3", "a < b > c", "1\n2"]
        {
            assert!(read(text).is_none(), "{text:?}");
        }
    }
}
