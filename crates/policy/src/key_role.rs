//! What a string in the arguments of a tool is, told from its key, and whether it holds arguments itself.

use switchboard_wire::{Limits, Raw};

use crate::keys::{Key, Mark};

/// Arguments nested deeper are refused.
pub const MAX_DEPTH: usize = 64;

/// What the key of a string says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A command line, or in an array the words of one.
    Command,
    /// Several command lines.
    Commands,
    /// The words behind a command that stands elsewhere.
    CommandWords,
    /// A command or a program, whichever the tool runs.
    Script,
    /// Code.
    Code,
    /// Text that may be code if the tool runs any.
    Content,
    /// A path.
    Path,
    /// A branch, a commit or the like.
    Reference,
    /// A URL.
    Url,
    /// A host name or address.
    Host,
    /// Something that may be fetched: a URL, a host, or a mere name.
    Link,
    /// Text for people.
    Prose,
    /// The method of an HTTP request.
    Method,
    /// An SQL statement.
    Sql,
    /// A search, in words or in SQL.
    Query,
    /// Nothing is known.
    Other,
}

/// What keys say as a whole.
const OF_KEYS: [(Mark, Role); 7] = [
    (Mark::Command, Role::Command),
    (Mark::Commands, Role::Commands),
    (Mark::CommandWords, Role::CommandWords),
    (Mark::Script, Role::Script),
    (Mark::Reference, Role::Reference),
    (Mark::Host, Role::Host),
    (Mark::Method, Role::Method),
];
/// What they say by their last word.
const OF_WORDS: [(Mark, Role); 9] = [
    (Mark::Path, Role::Path),
    (Mark::Sql, Role::Sql),
    (Mark::Query, Role::Query),
    (Mark::Url, Role::Url),
    (Mark::Host, Role::Host),
    (Mark::Link, Role::Link),
    (Mark::Code, Role::Code),
    (Mark::Content, Role::Content),
    (Mark::Prose, Role::Prose),
];

/// What a key says of the string under it.
#[must_use]
pub fn of(key: &str) -> Role {
    let key = Key::of(key);
    let (whole, last) = (key.said(), key.said_last());
    let by_whole = || OF_KEYS.iter().find(|(mark, _)| whole.has(*mark)).map(|(_, role)| *role);
    let by_last = || OF_WORDS.iter().find(|(mark, _)| last.has(*mark)).map(|(_, role)| *role);
    let names = ["file_name", "file_names", "folder_name", "directory_name"];
    let named = || names.iter().any(|name| key.whole().ends_with(name)).then_some(Role::Path);
    by_whole().or_else(named).or_else(by_last).unwrap_or(Role::Other)
}

/// What a key says of a string in an object that stands under another key: `{"link": {"value": ..}}` is a link still.
#[must_use]
pub fn within(around: Role, key: &str) -> Role {
    match (around, of(key)) {
        (Role::Link | Role::Url | Role::Host | Role::Reference, Role::Other) if !names_thing(key) => Role::Link,
        (_, role) => role,
    }
}

/// Whether a key names or counts something, so that a number under it is no address.
fn names_thing(key: &str) -> bool {
    Key::of(key).said_last().has(Mark::Counted)
}

/// Whether the strings under a key are words of a command, also where they are written as one.
#[must_use]
pub fn is_words(key: &str) -> bool {
    Key::of(key).said().has(Mark::Args)
}

/// Whether a key is a plain name, as a schema has them, rather than text that somebody put there.
#[must_use]
pub fn is_plain(key: &str) -> bool {
    key.len() <= 64 && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'))
}

/// Whether the key of a string says that it is a command, code or a path.
#[must_use]
pub fn is_code_or_path(key: &str) -> bool {
    matches!(
        of(key),
        Role::Command | Role::Commands | Role::CommandWords | Role::Script | Role::Code | Role::Path | Role::Sql
    )
}

/// The object or list that a string holds, for servers that expect one and read it.
#[must_use]
pub fn in_string(value: &Raw) -> Option<Raw> {
    as_json(Role::Other, &value.as_text()?)
}

/// The object or list that a string holds. Text that a tool works on may hold what it likes.
#[must_use]
pub fn as_json(role: Role, text: &str) -> Option<Raw> {
    let unquoted = unquoted(text);
    let trimmed = unquoted.as_deref().unwrap_or(text).trim();
    let looks =
        trimmed.starts_with('{') && trimmed.ends_with('}') || trimmed.starts_with('[') && trimmed.ends_with(']');
    if !looks || matches!(role, Role::Prose | Role::Content | Role::Code) {
        return None;
    }
    Raw::parse(trimmed.to_owned(), &Limits::default()).ok()
}

/// How often a string may be written as JSON in another string.
const MAX_ENCODINGS: usize = 4;

/// What a string holds that is a JSON string itself, as servers find it that read JSON twice; `None` for any other.
#[must_use]
pub fn unquoted(text: &str) -> Option<String> {
    let mut found: Option<String> = None;
    for _ in 0..MAX_ENCODINGS {
        let trimmed = found.as_deref().unwrap_or(text).trim();
        if trimmed.len() < 3 || !trimmed.starts_with('"') || !trimmed.ends_with('"') {
            break;
        }
        let Ok(raw) = Raw::parse(trimmed.to_owned(), &Limits::default()) else { break };
        found = Some(raw.as_text()?);
    }
    found
}
