//! Texts that hold a document of their own: YAML, TOML, INI, JSON as only lenient readers take it, and XML. Under a key that
//! nothing is known of, a server may read one, and then each value has a key of its own.
//!
//! The reader cannot give up: each line is read by itself, and what it does not understand is a value like any other. Values are
//! what stands behind `:` and `=`, in quotes and brackets, in lists, below a key, and in tags.

mod marked;

use std::borrow::Cow;

use super::place::ends_line;
use crate::Finding;

/// Values of one text; one with more is refused.
const MAX_VALUES: usize = 65_536;
/// Longer keys, and keys of more words, are sentences.
const MAX_KEY: usize = 64;
const MAX_KEY_WORDS: usize = 3;

/// A value, and the key that it stands under; without a key in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair<'a> {
    pub(super) key: &'a str,
    /// The key that the key stands below.
    pub(super) parent: &'a str,
    pub(super) value: Cow<'a, str>,
    /// A line that is no pair, and stands below no key.
    pub(super) is_line: bool,
}

/// The pairs of a text; none where it is one line of words.
///
/// # Errors
/// It has more values than are looked at.
pub(super) fn read(text: &str) -> Result<Vec<Pair<'_>>, Finding> {
    read_as(text, false)
}

/// The same where the key says what a text is: one line is one as well.
///
/// # Errors
/// As [`read`] does.
pub(super) fn read_as(text: &str, is_document: bool) -> Result<Vec<Pair<'_>>, Finding> {
    let text = text.trim().trim_start_matches('\u{feff}');
    let is_marked = text.starts_with('<') && text.ends_with('>');
    let is_bracketed = text.starts_with(['{', '[']) && text.ends_with(['}', ']']);
    let several = || text.split(ends_line).filter(|line| !line.trim().is_empty()).nth(1).is_some();
    if text.len() < 4 || !(is_marked || is_bracketed || is_document || several() || is_line_of_document(text)) {
        return Ok(Vec::new());
    }
    let mut reader = Reader::default();
    if is_marked {
        marked::read(text, &mut reader);
    } else {
        if text.contains("</") || text.contains("/>") {
            marked::read(text, &mut reader);
        }
        text.split(ends_line).for_each(|line| reader.line(line));
        table(text, &mut reader);
    }
    if reader.is_full {
        let message = format!("a text holds more than {MAX_VALUES} values, and not all can be looked at");
        return Err(Finding::new("arguments-document", message));
    }
    Ok(reader.pairs)
}

/// Whether one line alone is a document: an entry of a list that begins as a path, or a key of one word with a value in brackets, in
/// quotes or behind a tag.
fn is_line_of_document(text: &str) -> bool {
    if let Some(item) = text.strip_prefix("- ") {
        return item.trim_start().starts_with(['/', '~', '.', '"', '\'', '!', '&', '{', '[', '$']);
    }
    let pair = text.split_once(": ").filter(|(key, _)| !key.is_empty() && !key.contains(char::is_whitespace));
    pair.is_some_and(|(_, value)| value.trim_start().starts_with(['[', '{', '"', '\'', '!', '&']))
}

/// The cells of a table, each below the word that its column begins with: what lines have between one sign.
fn table<'a>(text: &'a str, reader: &mut Reader<'a>) {
    for sign in [',', ';', '\t', '|'] {
        let cells = |line: &'a str| line.split(sign).map(|cell| unquoted(cell.trim()).0);
        let mut lines = text.split(ends_line).filter(|line| line.contains(sign));
        let heads: Vec<&str> = lines.next().into_iter().flat_map(cells).collect();
        heads.iter().for_each(|cell| reader.push("", "", Cow::Borrowed(cell), false));
        for line in lines {
            let is_row = line.matches(sign).count() + 1 == heads.len();
            for (at, cell) in cells(line).enumerate().filter(|(_, cell)| !cell.is_empty()) {
                let head = heads.get(at).copied().filter(|_| is_row).unwrap_or_default();
                reader.push(keyed(head), "", Cow::Borrowed(cell), false);
            }
        }
    }
}

/// A key whose values stand below it.
struct Above<'a> {
    indent: usize,
    key: &'a str,
    /// Whether the lines below are text of one value.
    is_text: bool,
}

#[derive(Default)]
struct Reader<'a> {
    pairs: Vec<Pair<'a>>,
    is_full: bool,
    above: Vec<Above<'a>>,
    section: &'a str,
    /// The keys of brackets that are open.
    open: Vec<&'a str>,
    /// A key behind `?`.
    asked: &'a str,
}

impl<'a> Reader<'a> {
    fn emit(&mut self, key: &'a str, parent: &'a str, value: &'a str) {
        let bare = value.trim().trim_end_matches([',', ';']).trim_end();
        let (value, is_quoted) = unquoted(bare);
        if value.trim().is_empty() {
            return;
        }
        self.push(key, parent, Cow::Borrowed(value), false);
        if is_quoted && value.contains('\\') {
            self.push(key, parent, Cow::Owned(unescaped(value)), false);
        }
        // A comment behind the value.
        for mark in [" #", "\t#", " //", " ;"] {
            if let Some((front, _)) = bare.split_once(mark).filter(|(front, _)| !is_quoted && !front.trim().is_empty())
            {
                self.push(key, parent, Cow::Borrowed(unquoted(front.trim_end_matches([',', ';', ' '])).0), false);
            }
        }
    }

    fn push(&mut self, key: &'a str, parent: &'a str, value: Cow<'a, str>, is_line: bool) {
        self.is_full |= self.pairs.len() >= MAX_VALUES;
        if !self.is_full {
            self.pairs.push(Pair { key, parent, value, is_line });
        }
    }

    fn line(&mut self, line: &'a str) {
        let bare = line.trim();
        let is_comment = ["#", ";", "//", "%YAML", "%TAG"].iter().any(|mark| bare.starts_with(mark));
        if bare.is_empty() || bare == "---" || bare == "..." || is_comment {
            return;
        }
        let is_word = |c: char| c.is_alphanumeric() || " _.-:\"'".contains(c);
        if let Some(name) = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
            && name.trim_matches(['[', ']']).chars().all(is_word)
            && !name.contains(", ")
            && self.open.is_empty()
        {
            self.above.clear();
            self.section = name.trim_matches(['[', ']', '"', '\'']);
            return self.push("", "", Cow::Borrowed(self.section), self.section != "..");
        }
        let column = line.len() - line.trim_start().len();
        let mut item = bare;
        while let Some(inner) = item.strip_prefix("- ").or_else(|| item.strip_prefix("-\t")) {
            item = inner.trim_start();
        }
        let is_item = item.len() < bare.len();
        let indent = column + bare.len() - item.len();
        while self.above.last().is_some_and(|above| above.indent >= column && !(is_item && above.indent == column)) {
            self.above.pop();
        }
        let grand =
            self.above.len().checked_sub(2).and_then(|at| self.above.get(at)).map_or(self.section, |above| above.key);
        let (parent, is_text) = self.above.last().map_or((self.section, false), |above| (above.key, above.is_text));
        if let Some(key) = item.strip_prefix("? ") {
            self.asked = unquoted(key.trim()).0;
            return;
        }
        if let Some(value) = item.strip_prefix(": ") {
            let key = std::mem::take(&mut self.asked);
            self.emit(key, parent, value);
            return self.inside(value, key);
        }
        if is_text {
            self.emit(parent, grand, item);
        }
        match parted(item) {
            Some((key, value)) => {
                if is_path(key) {
                    self.push("", parent, Cow::Borrowed(key), false);
                }
                let value = without_marks(value);
                let opens_text = value.starts_with(['|', '>']) && value.len() <= 3;
                if !opens_text {
                    self.emit(key, parent, value);
                    self.inside(value, key);
                }
                self.above.push(Above { indent, key, is_text: opens_text });
            }
            None => {
                let words = item.split_once(char::is_whitespace).map(|(key, value)| (key, value.trim()));
                if let Some((key, value)) = words.filter(|(_, value)| !value.contains(char::is_whitespace)) {
                    // `root /etc;`
                    self.emit(key, parent, value);
                }
                let is_below = is_item || !self.above.is_empty() || !self.open.is_empty();
                if !is_text {
                    if is_below {
                        self.emit(parent, grand, item);
                    } else {
                        self.push("", "", Cow::Borrowed(item), true);
                    }
                }
                self.inside(item, parent);
            }
        }
    }

    /// What stands in brackets and quotes in a value. Brackets may be closed in a later line.
    fn inside(&mut self, text: &'a str, key: &'a str) {
        if self.open.is_empty() && !text.contains(['{', '[', '"', '\'']) {
            return;
        }
        let (mut start, mut at) = (0, 0);
        let mut pending: Option<&'a str> = None;
        while let Some(c) = text[at..].chars().next() {
            let next = at + c.len_utf8();
            if !matches!(c, '{' | '[' | '}' | ']' | ',' | ';' | '"' | '\'' | ':' | '=') {
                at = next;
                continue;
            }
            let piece = text[start..at].trim();
            let ends = matches!(c, '{' | '[' | '}' | ']' | ',' | ';');
            let quoted = if matches!(c, '"' | '\'') && piece.is_empty() { text[next..].find(c) } else { None };
            if ends {
                if !piece.is_empty() && (pending.is_some() || !self.open.is_empty()) {
                    self.atom(pending, key, piece);
                }
                match c {
                    '{' | '[' => {
                        let around = self.open.last().copied().unwrap_or(key);
                        self.open.push(pending.unwrap_or(around));
                    }
                    '}' | ']' => drop(self.open.pop()),
                    _ => {}
                }
                pending = None;
                start = next;
            } else if let Some(length) = quoted {
                let whole = &text[at..next + length + c.len_utf8()];
                let behind = text[at + whole.len()..].trim_start();
                at += whole.len();
                if let Some(value) = behind.strip_prefix([':', '=']) {
                    pending = Some(&whole[1..whole.len() - 1]);
                    at = text.len() - value.trim_start_matches(['>', '=']).len();
                } else {
                    self.atom(pending.take(), key, whole);
                }
                start = at;
                continue;
            } else if c == ':' && is_parting(&text[next..], piece, !self.open.is_empty())
                || c == '=' && !piece.is_empty()
            {
                if is_path(piece) {
                    // `{/etc: x}`
                    self.push("", key, Cow::Borrowed(piece), false);
                }
                pending = Some(keyed(piece.trim_end_matches([':', '+', '?'])));
                start = next + text[next..].len() - text[next..].trim_start_matches(['>', '=']).len();
                at = start;
                continue;
            }
            at = next;
        }
        let piece = text[start..].trim();
        if !piece.is_empty() && (pending.is_some() || !self.open.is_empty()) {
            self.atom(pending, key, piece);
        }
    }

    fn atom(&mut self, pending: Option<&'a str>, key: &'a str, value: &'a str) {
        let around = self.open.last().copied().unwrap_or(key);
        self.emit(pending.unwrap_or(around), if pending.is_some() { around } else { "" }, value);
    }
}

/// Whether a colon parts a key from its value. In brackets it needs no blank, unless it belongs to a URL or a drive.
fn is_parting(behind: &str, key: &str, in_brackets: bool) -> bool {
    let next = behind.chars().next();
    let is_apart = next.is_none_or(|next| next.is_whitespace() || matches!(next, '"' | '\'' | '[' | '{'));
    // `[/etc:/x]` is a place and where it is seen.
    let in_brackets = in_brackets && !is_path(key);
    !key.is_empty() && (is_apart || in_brackets && key.len() > 1 && !behind.starts_with("//"))
}

/// Whether a key may be a path itself.
fn is_path(key: &str) -> bool {
    key.contains(['/', '\\', '~', '$', '%']) || key == ".."
}

/// `key: value` or `key = value`, also behind `export` and with a key in quotes.
fn parted(item: &str) -> Option<(&str, &str)> {
    if item.starts_with(['{', '[', '<']) {
        return None;
    }
    if let Some(mark) = item.chars().next().filter(|c| matches!(c, '"' | '\''))
        && let Some((key, rest)) = item[1..].split_once(mark)
    {
        let rest = rest.trim_start();
        return rest.strip_prefix([':', '=']).map(|value| (key, value.trim_start_matches(['>', '=']).trim()));
    }
    let at = item.char_indices().find_map(|(at, c)| {
        let behind = &item[at + c.len_utf8()..];
        (c == '=' || c == ':' && is_parting(behind, &item[..at], false) || c == ':' && behind.starts_with('='))
            .then_some(at)
    })?;
    let (key, value) = item.split_at(at);
    let key = keyed(key.trim_end_matches([':', '+', '?', ' ']));
    Some((key, value.trim_start_matches([':', '=', '>']).trim()))
}

/// The key, where it is one: a sentence is none.
fn keyed(key: &str) -> &str {
    let key = key.trim().trim_start_matches("export ").trim_matches(['"', '\'']);
    if key.len() <= MAX_KEY && key.split_whitespace().count() <= MAX_KEY_WORDS { key } else { "" }
}

/// A value without tags and anchors of YAML.
fn without_marks(value: &str) -> &str {
    let mut value = value.trim();
    while value.starts_with(['!', '&']) {
        let Some((_, rest)) = value.split_once(char::is_whitespace) else { break };
        value = rest.trim_start();
    }
    value
}

/// `key: value` or `key = value`, where the whole text is one pair of a name and a value.
pub(super) fn pair(text: &str) -> Option<Pair<'_>> {
    let at = text.find([':', '='])?;
    let (key, rest) = text.split_at(at);
    let key = key.trim().trim_matches(['"', '\'']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let value = &rest[1..];
    let parted = rest.starts_with('=') || value.is_empty() || value.starts_with(char::is_whitespace);
    let value = Cow::Borrowed(unquoted(value.trim()).0);
    (parted && !key.is_empty() && key.len() <= MAX_KEY && key.chars().all(is_name)).then_some(Pair {
        key,
        parent: "",
        value,
        is_line: false,
    })
}

fn unquoted(text: &str) -> (&str, bool) {
    let quoted = ['"', '\''].into_iter().find_map(|mark| text.strip_prefix(mark)?.strip_suffix(mark));
    (quoted.unwrap_or(text), quoted.is_some())
}

/// The text with the escapes of quoted strings read: `\/`, `\x2f`, `\u002f`.
fn unescaped(text: &str) -> String {
    let mut read = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((front, behind)) = rest.split_once('\\') {
        read.push_str(front);
        let digits = match behind.chars().next() {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        let code = behind.get(1..=digits).filter(|_| digits > 0).and_then(|code| u32::from_str_radix(code, 16).ok());
        match code.and_then(char::from_u32) {
            Some(c) => {
                read.push(c);
                rest = &behind[digits + 1..];
            }
            None => {
                let c = behind.chars().next();
                read.extend(c.filter(|c| !c.is_alphanumeric()));
                rest = c.map_or("", |c| &behind[c.len_utf8()..]);
            }
        }
    }
    read.push_str(rest);
    read
}
