//! What a string in the arguments of a tool is, told from its key, and whether it holds arguments itself.

use std::borrow::Cow;

use switchboard_wire::{Limits, Raw};

use crate::risk::fallback::words;

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

/// What a key says of the string under it.
#[must_use]
pub fn of(key: &str) -> Role {
    // Most keys are written in this way already.
    let is_snake = key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let whole = if is_snake { Cow::Borrowed(key.trim_matches('_')) } else { Cow::Owned(words(key).join("_")) };
    let last = whole.rsplit('_').next().unwrap_or_default();
    match whole.as_ref() {
        "command" | "cmd" | "commandline" | "command_line" | "shell_command" | "bash_command" | "shell_cmd"
        | "argv" | "executable" | "binary" => {
            return Role::Command;
        }
        "commands" | "cmds" => return Role::Commands,
        "args" | "arguments" | "arg" | "parameters" | "params" => return Role::CommandWords,
        "script" | "shell_script" | "bash_script" => return Role::Script,
        "ref" | "refs" | "branch" | "branch_name" | "base_branch" | "revision" | "rev" | "commit" | "commit_sha"
        | "sha" | "tag" | "target" | "remote" => return Role::Reference,
        "ip" | "ip_address" | "addr" => return Role::Host,
        "method" | "http_method" => return Role::Method,
        _ if ["file_name", "file_names", "folder_name", "directory_name"].iter().any(|name| whole.ends_with(name)) => {
            return Role::Path;
        }
        _ => {}
    }
    match last {
        "path" | "paths" | "file" | "files" | "filename" | "filenames" | "filepath" | "dir" | "directory"
        | "directories" | "folder" | "cwd" | "workdir" | "pathname" | "root" => Role::Path,
        "sql" | "sqls" | "statement" | "statements" | "stmt" | "stmts" => Role::Sql,
        "query" | "queries" | "q" | "cypher" | "aql" | "pipeline" => Role::Query,
        "url" | "urls" | "uri" | "uris" | "href" | "endpoint" | "webhook" | "proxy" | "origin" => Role::Url,
        "host" | "hosts" | "hostname" | "domain" => Role::Host,
        "link" | "links" | "address" | "addresses" | "site" | "sites" | "website" | "websites" | "homepage" | "src"
        | "srcs" | "page" | "pages" | "image" | "images" | "img" | "picture" | "photo" | "avatar" | "icon" | "logo"
        | "media" | "video" | "audio" | "feed" | "rss" | "location" | "destination" | "dest" | "targets" | "server"
        | "servers" | "gateway" | "upstream" | "peer" | "resource" | "callback" | "redirect" | "referer" | "dsn"
        | "connection" | "webpage" | "domains" | "hostnames" | "ips" | "node" | "nodes" | "backend" => Role::Link,
        "code" | "snippet" | "program" | "javascript" | "js" | "typescript" | "python" => Role::Code,
        "content" | "contents" | "source" | "function" => Role::Content,
        "description" | "message" | "text" | "body" | "title" | "comment" | "comments" | "reason" | "note"
        | "notes" | "summary" | "prompt" | "explanation" | "justification" | "instructions" | "thought" | "subject"
        | "insight" => Role::Prose,
        _ => Role::Other,
    }
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
    words(key).last().is_some_and(|last| {
        matches!(
            last.as_str(),
            "id" | "ids"
                | "number"
                | "count"
                | "size"
                | "width"
                | "height"
                | "version"
                | "index"
                | "port"
                | "time"
                | "timestamp"
        )
    })
}

/// Whether the strings under a key are words of a command, also where they are written as one.
#[must_use]
pub fn is_words(key: &str) -> bool {
    ["args", "arg", "arguments"].iter().any(|name| key.eq_ignore_ascii_case(name))
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
