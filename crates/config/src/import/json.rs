//! The JSON files: all clients but Codex. Comments are left out everywhere: most clients take them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use super::references::Context;
use super::{Client, ClientFile, ImportError, Imported, jsonc};
use crate::entry::{ServerEntry, Transport};
use crate::ids;
use crate::parse::TRANSPORT_HEADERS;
use crate::secret::Secret;

fn wrong(file: &Path, line: usize, column: usize, message: String) -> ImportError {
    ImportError { file: file.to_owned(), line, column, message }
}

/// The value of a file with comments; none of an empty one.
pub(super) fn value(file: &Path, text: &str) -> Result<Option<Value>, ImportError> {
    let text = jsonc::plain(text);
    if text.trim().is_empty() {
        return Ok(None);
    }
    let root = serde_json::from_str(&text).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        wrong(file, error.line(), error.column(), format!("not valid JSON: {message}"))
    })?;
    Ok(Some(root))
}

pub(super) fn read(client: Client, file: &Path, project: Option<&Path>, text: &str) -> Result<ClientFile, ImportError> {
    let Some(root) = value(file, text)? else { return Ok(ClientFile::default()) };
    let mut reader = Reader { client, file, found: ClientFile::default() };
    for section in sections(client, project, &root) {
        let servers = section.servers.as_object().ok_or_else(|| {
            wrong(file, 1, 1, format!("`{}` must be an object whose keys are the names of servers", section.name))
        })?;
        for (name, server) in servers {
            reader.server(name, server, &section);
        }
    }
    if let (Client::OpenCode, Some(tools)) = (client, root.get("tools").and_then(Value::as_object)) {
        let off = tools.iter().filter(|(_, value)| value.as_bool() == Some(false));
        off.for_each(|(pattern, _)| reader.found.servers.iter_mut().for_each(|server| switch_off(server, pattern)));
    }
    Ok(reader.found)
}

/// opencode has what is switched off beside its servers, by the names that it gives their tools, or by patterns of these.
fn switch_off(server: &mut Imported, pattern: &str) {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let prefix = format!("{}_", server.name.chars().map(plain).collect::<String>());
    let head = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
    let is_pattern = head.len() < pattern.len();
    if is_pattern && prefix.starts_with(head) && pattern.len() == head.len() + 1 && pattern.ends_with('*') {
        server.entry.enabled = Some(false);
        server.notes.push(format!("`tools` switches all of it off with {pattern:?}, and so it is switched off here"));
    } else if is_pattern && (prefix.starts_with(head) || head.starts_with(&prefix)) {
        let note = format!("`tools` switches {pattern:?} off, and a pattern of tools has no counterpart here");
        server.notes.push(note.clone());
        server.untranslated = Some(note);
    } else if let (false, Some(tool)) = (is_pattern, pattern.strip_prefix(&prefix)) {
        server.entry.switch_off(tool);
    }
}

/// A set of servers inside a file.
struct Section<'a> {
    name: String,
    servers: &'a Value,
    /// The folder of the project they belong to.
    project: Option<&'a Path>,
    /// Whether they were only used inside that project.
    project_only: bool,
    disabled: Vec<&'a str>,
}

fn sections<'a>(client: Client, project: Option<&'a Path>, root: &'a Value) -> Vec<Section<'a>> {
    let mut list = Vec::new();
    let mut add = |name: &str, servers: Option<&'a Value>| {
        if let Some(servers) = servers {
            let name = name.to_owned();
            list.push(Section { name, servers, project, project_only: false, disabled: Vec::new() });
        }
    };
    if client == Client::VsCode {
        add("servers", root.get("servers"));
        add("mcp.servers", root.get("mcp.servers"));
        add("mcp.servers", root.get("mcp").and_then(|mcp| mcp.get("servers")));
    }
    match client {
        Client::Zed => add("context_servers", root.get("context_servers")),
        Client::OpenCode => add("mcp", root.get("mcp")),
        _ => add("mcpServers", root.get("mcpServers")),
    }
    if client == Client::ClaudeCode {
        for (path, settings) in root.get("projects").and_then(Value::as_object).into_iter().flatten() {
            let Some(servers) = settings.get("mcpServers") else { continue };
            let disabled = settings.get("disabledMcpServers").and_then(Value::as_array);
            list.push(Section {
                name: format!("projects.{path}.mcpServers"),
                servers,
                project: Some(Path::new(path)),
                project_only: true,
                disabled: disabled.into_iter().flatten().filter_map(Value::as_str).collect(),
            });
        }
    }
    list
}

struct Reader<'a> {
    client: Client,
    file: &'a Path,
    found: ClientFile,
}

impl Reader<'_> {
    fn server(&mut self, name: &str, server: &Value, section: &Section<'_>) {
        let mut notes = Vec::new();
        let context = Context { client: self.client, project: section.project };
        let converted = match server.as_object() {
            Some(fields) => convert(&usual(self.client, fields), &context, &mut notes),
            None => Err("is not an object".to_owned()),
        };
        let mut entry = match converted {
            Ok(entry) => entry,
            Err(reason) => {
                let file = self.file.display();
                self.found.warnings.push(format!("{file}: `{}.{name}` {reason}; it was left out", section.name));
                return;
            }
        };
        if section.disabled.contains(&name) {
            entry.enabled = Some(false);
        }
        if section.project_only
            && let Some(project) = section.project
        {
            let project = project.display().to_string();
            notes.push(format!("was only used in the project {project}; here it is used everywhere"));
            if entry.command.is_some() && entry.cwd.is_none() {
                entry.cwd = Some(crate::expand::escaped(&project));
            }
        }
        let named = server.get("envFile").and_then(Value::as_str).filter(|_| entry.command.is_some());
        let env_file = named.map(|named| {
            let named = context.translate(named, &mut notes);
            let is_whole = Path::new(&named).is_absolute() || named.contains("${");
            match section.project.filter(|_| !is_whole) {
                Some(project) => crate::expand::escaped(&project.join(&named).display().to_string()),
                None => named,
            }
        });
        entry.id = ids::sanitized(name);
        let (client, file, name) = (self.client, self.file.to_owned(), name.to_owned());
        let project = section.project.filter(|_| section.project_only).map(Path::to_owned);
        self.found.servers.push(Imported { client, file, name, entry, project, untranslated: None, env_file, notes });
    }
}

/// An entry with the names of keys that most clients use.
fn usual(client: Client, fields: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for (key, value) in fields {
        match (client, key.as_str(), value) {
            // opencode: the program and its arguments are one list.
            (Client::OpenCode, "command", Value::Array(words)) => {
                out.extend(words.first().map(|program| ("command".to_owned(), program.clone())));
                out.insert("args".to_owned(), words.iter().skip(1).cloned().collect());
            }
            (Client::OpenCode, "environment", value) => drop(out.insert("env".to_owned(), value.clone())),
            (Client::OpenCode, "type", Value::String(kind)) if kind == "local" || kind == "remote" => {}
            // Gemini tells its two transports apart by the key.
            (Client::Gemini, "httpUrl", value) => drop(out.insert("url".to_owned(), value.clone())),
            (Client::Gemini, "url", value) if !fields.contains_key("httpUrl") => {
                out.insert("url".to_owned(), value.clone());
                out.entry("type").or_insert_with(|| "sse".into());
            }
            (Client::Gemini, "url", _) => {}
            // Zed once had an object in the place of the program.
            (Client::Zed, "command", Value::Object(command)) => {
                out.extend(command.iter().map(|(key, value)| {
                    (if key == "path" { "command".to_owned() } else { key.clone() }, value.clone())
                }));
            }
            (Client::Zed, "source", Value::String(source)) if source == "custom" => {}
            _ => drop(out.insert(key.clone(), value.clone())),
        }
    }
    out
}

fn convert(fields: &Map<String, Value>, context: &Context<'_>, notes: &mut Vec<String>) -> Result<ServerEntry, String> {
    let mut entry = ServerEntry::default();
    let mut kind = None;
    for (key, value) in fields {
        match key.as_str() {
            "type" | "transport" => kind = Some(text(key, value)?),
            "command" => entry.command = Some(context.translate(text(key, value)?, notes)),
            "args" => entry.args = list(key, value)?.iter().map(|arg| context.translate(arg, notes)).collect(),
            "cwd" => entry.cwd = Some(context.translate(text(key, value)?, notes)),
            "env" => entry.env = map(key, value, context, notes)?,
            "url" | "serverUrl" => entry.url = Some(context.translate(text(key, value)?, notes)),
            "headers" => entry.headers = map(key, value, context, notes)?,
            "description" => entry.description = value.as_str().map(str::to_owned),
            "disabled" if value.as_bool() == Some(true) => entry.enabled = Some(false),
            "enabled" if value.as_bool() == Some(false) => entry.enabled = Some(false),
            // Gemini CLI, Windsurf, Roo Code and others; the last is Copilot's, where a star stands for all.
            "includeTools" | "enabledTools" | "tools" if value.is_array() => {
                let only: Vec<String> = list(key, value)?.iter().map(|tool| tool_name(tool).to_owned()).collect();
                entry.only_tools = (!only.iter().any(|tool| tool == "*")).then_some(only);
            }
            "excludeTools" | "disabledTools" => {
                list(key, value)?.iter().for_each(|tool| entry.switch_off(tool_name(tool)));
            }
            // These count milliseconds; others that have the key do not agree with each other.
            "timeout" if matches!(context.client, Client::ClaudeCode | Client::Gemini) => {
                entry.call_timeout =
                    value.as_u64().filter(|time| (1..=86_400_000).contains(time)).map(Duration::from_millis);
            }
            // Read by whoever can.
            "envFile" if value.is_string() && fields.contains_key("command") => {}
            "disabled" | "enabled" | "name" | "gallery" | "version" => {}
            other => notes.push(format!("`{other}` has no counterpart here and was not taken over")),
        }
    }
    split_command_line(&mut entry, notes);
    match (&entry.command, &entry.url) {
        (None, None) => return Err("has neither `command` nor `url`".to_owned()),
        (Some(_), Some(_)) => return Err("has both `command` and `url`".to_owned()),
        _ => {}
    }
    let address = entry.url.as_deref().unwrap_or_default();
    match kind {
        Some("sse") => entry.transport = Some(Transport::Sse),
        // Before clients wrote the type down, this ending was how they told the two apart.
        None if address.split('?').next().unwrap_or_default().ends_with("/sse") => {
            entry.transport = Some(Transport::Sse)
        }
        None | Some("stdio" | "http" | "streamable-http" | "streamableHttp" | "streamable_http") => {}
        Some(other) => return Err(format!("uses the transport {other:?}, which is not supported")),
    }
    drop_transport_headers(&mut entry, notes);
    Ok(entry)
}

/// Clients that start servers with a shell run a whole line in `command`. What only separates words by blanks is split as the shell
/// would; all else stays as it is, and is refused.
fn split_command_line(entry: &mut ServerEntry, notes: &mut Vec<String>) {
    let Some(line) = entry.command.as_deref().filter(|line| line.contains(char::is_whitespace)) else { return };
    let is_plain = |c: char| c.is_alphanumeric() || c.is_whitespace() || "-_.,:=/@+%{}$".contains(c);
    let mut words = line.split_whitespace().map(str::to_owned);
    let Some(program) = words.next().filter(|program| !program.contains(['/', '\\', '=', '$'])) else { return };
    if !line.chars().all(is_plain) {
        return;
    }
    entry.args = words.chain(std::mem::take(&mut entry.args)).collect();
    entry.command = Some(program);
    notes.push("`command` held a whole line, which was split into the program and its arguments".to_owned());
}

/// The tool of an entry in a list of them: Gemini CLI takes `name(…)` for `name`.
fn tool_name(text: &str) -> &str {
    text.split_once('(').map_or(text, |(name, _)| name)
}

/// Headers that the transport sets itself are of no use in a configuration.
pub(super) fn drop_transport_headers(entry: &mut ServerEntry, notes: &mut Vec<String>) {
    entry.headers.retain(|name, _| {
        let keep = !TRANSPORT_HEADERS.contains(&name.to_ascii_lowercase().as_str());
        if !keep {
            notes.push(format!("`headers.{name}` is set by switchboard itself and was not taken over"));
        }
        keep
    });
}

fn text<'a>(key: &str, value: &'a Value) -> Result<&'a str, String> {
    value.as_str().ok_or_else(|| format!("has a `{key}` that is not a string"))
}

/// Numbers and booleans are written without quotes now and then; what is meant is clear.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn list(key: &str, value: &Value) -> Result<Vec<String>, String> {
    let items = value.as_array().and_then(|items| items.iter().map(scalar).collect::<Option<Vec<_>>>());
    items.ok_or_else(|| format!("has `{key}` that are not a list of strings"))
}

fn map(
    key: &str,
    value: &Value,
    context: &Context<'_>,
    notes: &mut Vec<String>,
) -> Result<BTreeMap<String, Secret>, String> {
    let mut out = BTreeMap::new();
    for (name, value) in value.as_object().ok_or_else(|| format!("has `{key}` that is not an object"))? {
        match (value, scalar(value)) {
            (_, Some(value)) => {
                out.insert(name.clone(), Secret::new(context.translate(&value, notes)));
            }
            // VS Code: null takes a variable away; nothing is passed that would have to be taken away here.
            (Value::Null, _) => {}
            _ => return Err(format!("has `{key}.{name}` that is not a string")),
        }
    }
    Ok(out)
}
