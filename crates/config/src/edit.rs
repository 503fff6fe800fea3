//! Changes to a configuration text that keep every other byte of it: comments, order, blank lines, line ends.
//!
//! Each result is read again before it is given out: the rest must say what it said before.

use std::ops::Range;
use std::path::Path;

use switchboard_protocol::mgp::ValidatorName;
use toml_edit::{Document, DocumentMut, Item, Key, Table, TableLike, Value};

use crate::entry::ServerEntry;
use crate::error::{ConfigError, ErrorKind};
use crate::expand::{Environment, references};
use crate::parse::{Config, Taken};
use crate::secret::{Secret, is_unprintable};

/// Why a text could not be edited.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text, or what it would become, is not a valid configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The id, or one that looks like it, is there already.
    #[error("{0}; choose another id")]
    Taken(ErrorKind),
    /// No server has this id.
    #[error("there is no server {0:?} in the file")]
    NoSuchServer(String),
    /// The layout of the text is one that this editor does not understand.
    #[error("the layout of the file is too unusual to edit; change it by hand")]
    Layout,
}

/// The text with one server more, at its end.
///
/// ```
/// use std::path::Path;
/// use switchboard_config::{ServerEntry, add_server};
///
/// let entry = ServerEntry::stdio("time", "uvx", vec!["mcp-server-time".to_owned()]);
/// let text = add_server(Path::new("mgp.toml"), "# mine\n", &entry)?;
/// assert_eq!(text, "# mine\n\n[[servers]]\nid = \"time\"\ncommand = \"uvx\"\nargs = [\"mcp-server-time\"]\n");
/// # Ok::<(), switchboard_config::EditError>(())
/// ```
///
/// # Errors
/// When the text is not a valid configuration, the id is taken, or the entry itself is not valid.
pub fn add_server(file: &Path, text: &str, entry: &ServerEntry) -> Result<String, EditError> {
    let before = read(file, text)?;
    let mut taken = Taken::default();
    for server in &before.servers {
        // The servers of one configuration never clash with each other.
        let _ = taken.take(server.id(), server.line);
    }
    taken.claim(&entry.id, None).map_err(EditError::Taken)?;

    let block = block(entry);
    let inline = parsed(file, text)?.as_table().get("servers").is_some_and(Item::is_array);
    let after = if inline { push_inline(text, &block).ok_or(EditError::Layout)? } else { append(text, &block) };

    let result = read(file, &after)?;
    if let Some(error) = result.rejected.iter().find(|error| !before.rejected.contains(error)) {
        return Err(error.clone().into());
    }
    let added = result.server(&entry.id).ok_or(EditError::Layout)?;
    match added.problem() {
        // A variable may well be set by the time the server starts.
        Some(error) if !depends_on_variables(error.kind(), entry) => Err(error.clone().into()),
        _ if same_without(&result, &before, &entry.id) => Ok(after),
        _ => Err(EditError::Layout),
    }
}

/// The text with one tool of a server switched on or off.
///
/// ```
/// use std::path::Path;
/// use switchboard_config::switch_tool;
///
/// let text = "[[servers]]\nid = 'time'\ncommand = 'x'\n";
/// let off = switch_tool(Path::new("mgp.toml"), text, "time", "convert", false)?;
/// assert!(off.contains("[servers.tools.convert]\nenabled = false\n"), "{off}");
/// assert_eq!(switch_tool(Path::new("mgp.toml"), &off, "time", "convert", true)?.trim_end(), text.trim_end());
/// # Ok::<(), switchboard_config::EditError>(())
/// ```
///
/// # Errors
/// When the text is not a valid configuration, has no such server, or has its servers in one line.
pub fn switch_tool(file: &Path, text: &str, id: &str, tool: &str, on: bool) -> Result<String, EditError> {
    let set = |server: &mut Table| {
        if let (true, Some(only)) = (on, server.get_mut("only_tools").and_then(Item::as_array_mut))
            && !only.iter().any(|name| name.as_str() == Some(tool))
        {
            only.push(tool);
        }
        say_of_tool(server, tool, "enabled", (!on).then(|| Value::from(false)))
    };
    change_server(file, text, id, set, |entry| entry.allows_tool(tool) == on)
}

/// The text with one server switched off, or on again: it stands in the file as before, and is not started.
///
/// ```
/// use std::path::Path;
/// use switchboard_config::switch_server;
///
/// let text = "[[servers]]\nid = 'time'\ncommand = 'x'\n";
/// let off = switch_server(Path::new("mgp.toml"), text, "time", false)?;
/// assert!(off.contains("enabled = false\n"), "{off}");
/// assert_eq!(switch_server(Path::new("mgp.toml"), &off, "time", true)?, text);
/// # Ok::<(), switchboard_config::EditError>(())
/// ```
///
/// # Errors
/// As [`switch_tool`].
pub fn switch_server(file: &Path, text: &str, id: &str, on: bool) -> Result<String, EditError> {
    let set = |server: &mut Table| {
        if on {
            server.remove("enabled");
        } else {
            server.insert("enabled", toml_edit::value(false));
        }
        Ok(())
    };
    change_server(file, text, id, set, |entry| entry.enabled.unwrap_or(true) == on)
}

/// The text with what is said of when a person is asked before calls of one tool: before each, before none, or, with nothing
/// said, as its risk has it.
///
/// ```
/// use std::path::Path;
/// use switchboard_config::confirm_tool;
///
/// let text = "[[servers]]\nid = 'files'\ncommand = 'x'\n";
/// let never = confirm_tool(Path::new("mgp.toml"), text, "files", "write", Some(false))?;
/// assert!(never.contains("[servers.tools.write]\nconfirm = false\n"), "{never}");
/// let usual = confirm_tool(Path::new("mgp.toml"), &never, "files", "write", None)?;
/// assert_eq!(usual.trim_end(), text.trim_end());
/// # Ok::<(), switchboard_config::EditError>(())
/// ```
///
/// # Errors
/// As [`switch_tool`].
pub fn confirm_tool(file: &Path, text: &str, id: &str, tool: &str, confirm: Option<bool>) -> Result<String, EditError> {
    let is_said = |entry: &ServerEntry| entry.tools.get(tool).and_then(|said| said.confirm) == confirm;
    change_server(file, text, id, |server| say_of_tool(server, tool, "confirm", confirm.map(Value::from)), is_said)
}

/// The text with the one check that is made of the arguments of one tool; with nothing said, the checks that its definition
/// asks for.
///
/// ```
/// use std::path::Path;
/// use switchboard_config::validate_tool;
/// use switchboard_protocol::mgp::ValidatorName;
///
/// let text = "[[servers]]\nid = 'shell'\ncommand = 'x'\n";
/// let none = validate_tool(Path::new("mgp.toml"), text, "shell", "run", Some(ValidatorName::None))?;
/// assert!(none.contains("[servers.tools.run]\nvalidator = \"none\"\n"), "{none}");
/// let usual = validate_tool(Path::new("mgp.toml"), &none, "shell", "run", None)?;
/// assert_eq!(usual.trim_end(), text.trim_end());
/// # Ok::<(), switchboard_config::EditError>(())
/// ```
///
/// # Errors
/// As [`switch_tool`].
pub fn validate_tool(
    file: &Path,
    text: &str,
    id: &str,
    tool: &str,
    validator: Option<ValidatorName>,
) -> Result<String, EditError> {
    let is_said = |entry: &ServerEntry| entry.tools.get(tool).and_then(|said| said.validator) == validator;
    let word = validator.map(|validator| Value::from(validator.as_str()));
    change_server(file, text, id, |server| say_of_tool(server, tool, "validator", word), is_said)
}

/// Writes a member of `[servers.tools.TOOL]`, or takes it out, with what is empty then.
fn say_of_tool(server: &mut Table, tool: &str, key: &str, value: Option<Value>) -> Result<(), EditError> {
    let tools = server.entry("tools").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let tools = tools.as_table_like_mut().ok_or(EditError::Layout)?;
    if let Some(value) = value {
        let own = tools.entry(tool).or_insert_with(|| Item::Table(Table::new()));
        own.as_table_like_mut().ok_or(EditError::Layout)?.insert(key, toml_edit::value(value));
        return Ok(());
    }
    let own = tools.get_mut(tool).and_then(Item::as_table_like_mut);
    let is_empty = own.is_none_or(|own| {
        own.remove(key);
        own.is_empty()
    });
    if is_empty {
        tools.remove(tool);
    }
    if tools.is_empty() {
        server.remove("tools");
    }
    Ok(())
}

/// The text with one server changed, where that comes out as it was meant and nothing else has changed.
fn change_server(
    file: &Path,
    text: &str,
    id: &str,
    change: impl FnOnce(&mut Table) -> Result<(), EditError>,
    is_done: impl FnOnce(&ServerEntry) -> bool,
) -> Result<String, EditError> {
    let before = read(file, text)?;
    let mut document: DocumentMut = text.parse().map_err(|_| EditError::Layout)?;
    let missing = || EditError::NoSuchServer(id.to_owned());
    let servers = match document.get_mut("servers") {
        Some(Item::ArrayOfTables(tables)) => tables,
        Some(_) => return Err(EditError::Layout),
        None => return Err(missing()),
    };
    let has_id = |table: &&mut Table| table.get("id").and_then(Item::as_str) == Some(id);
    change(servers.iter_mut().find(has_id).ok_or_else(missing)?)?;
    let after = document.to_string();
    let result = read(file, &after)?;
    let is_set = result.server(id).is_some_and(|server| is_done(&server.entry));
    let others = |config: &Config| -> Vec<ServerEntry> {
        config.servers.iter().filter(|server| server.id() != id).map(|server| server.entry.clone()).collect()
    };
    let is_same = result.settings == before.settings && others(&result) == others(&before);
    if is_set && is_same { Ok(after) } else { Err(EditError::Layout) }
}

/// Whether a fault may be gone once the variables that the entry refers to are set.
fn depends_on_variables(kind: &ErrorKind, entry: &ServerEntry) -> bool {
    let refers = |text: Option<&str>| text.is_some_and(|text| !references(text).is_empty());
    match kind {
        ErrorKind::MissingVariable { .. } => true,
        ErrorKind::BadValue { key, .. } => match key.as_str() {
            "url" => refers(entry.url.as_deref()),
            "token" => refers(entry.token.as_ref().map(Secret::reveal)),
            "command" => refers(entry.command.as_deref()),
            _ => false,
        },
        _ => false,
    }
}

/// The text without one server, and without the comment right above it.
///
/// # Errors
/// When the text is not a valid configuration or has no such server.
pub fn remove_server(file: &Path, text: &str, id: &str) -> Result<String, EditError> {
    let before = read(file, text)?;
    let document = parsed(file, text)?;
    let missing = || EditError::NoSuchServer(id.to_owned());
    let has_id = |table: &dyn TableLike| table.get("id").and_then(Item::as_str) == Some(id);
    let after = match document.as_table().get("servers") {
        Some(Item::ArrayOfTables(tables)) => {
            let index = tables.iter().position(|table| has_id(table)).ok_or_else(missing)?;
            without_blocks(text, &headers(document.as_table()), index)
        }
        Some(Item::Value(Value::Array(array))) => {
            let index = array.iter().position(|value| value.as_inline_table().is_some_and(|table| has_id(table)));
            remove_inline(text, index.ok_or_else(missing)?).ok_or(EditError::Layout)?
        }
        _ => return Err(missing()),
    };
    let result = read(file, &after)?;
    if same_without(&before, &result, id) { Ok(after) } else { Err(EditError::Layout) }
}

fn read(file: &Path, text: &str) -> Result<Config, ConfigError> {
    Config::parse(file, text, &Environment::default())
}

fn parsed<'a>(file: &Path, text: &'a str) -> Result<Document<&'a str>, ConfigError> {
    Document::parse(text).map_err(|error| ConfigError::new(file, ErrorKind::Syntax(error.message().to_owned())))
}

/// Whether `more` is `less` plus the server `id`, in the same order.
fn same_without(more: &Config, less: &Config, id: &str) -> bool {
    let rest = more.servers.iter().filter(|server| server.id() != id).map(|server| &server.entry);
    more.settings == less.settings && rest.eq(less.servers.iter().map(|server| &server.entry))
}

fn append(text: &str, block: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        out.push_str(end);
    }
    if !text.trim_start_matches('\u{feff}').is_empty() {
        out.push_str(end);
    }
    out.push_str(&block.replace('\n', end));
    out
}

fn push_inline(text: &str, block: &str) -> Option<String> {
    let block: DocumentMut = block.parse().ok()?;
    let table = block.get("servers")?.as_array_of_tables()?.get(0)?.clone().into_inline_table();
    let mut document: DocumentMut = text.parse().ok()?;
    document.get_mut("servers")?.as_array_mut()?.push(table);
    Some(document.to_string())
}

fn remove_inline(text: &str, index: usize) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    document.get_mut("servers")?.as_array_mut()?.remove(index);
    Some(document.to_string())
}

/// Where each `[header]` begins, and to which element of `servers` it belongs, in the order of the text.
fn headers(root: &dyn TableLike) -> Vec<(usize, Option<usize>)> {
    fn visit(item: &Item, owner: Option<usize>, found: &mut Vec<(usize, Option<usize>)>) {
        if let Some(table) = item.as_table() {
            enter(table, owner, found);
        } else if let Some(tables) = item.as_array_of_tables() {
            tables.iter().for_each(|table| enter(table, owner, found));
        }
    }
    fn enter(table: &Table, owner: Option<usize>, found: &mut Vec<(usize, Option<usize>)>) {
        if let (false, false, Some(span)) = (table.is_implicit(), table.is_dotted(), table.span()) {
            found.push((span.start, owner));
        }
        table.iter().for_each(|(_, item)| visit(item, owner, found));
    }
    let mut found = Vec::new();
    for (key, item) in root.iter() {
        match (key, item.as_array_of_tables()) {
            ("servers", Some(tables)) => {
                tables.iter().enumerate().for_each(|(index, table)| enter(table, Some(index), &mut found));
            }
            _ => visit(item, None, &mut found),
        }
    }
    found.sort_unstable();
    found
}

fn without_blocks(text: &str, headers: &[(usize, Option<usize>)], index: usize) -> String {
    let starts: Vec<usize> = headers.iter().map(|(start, _)| block_start(text, *start)).collect();
    let ends = starts.iter().copied().skip(1).chain([text.len()]);
    let blocks = starts.iter().copied().zip(ends).map(|(start, end)| start..end);
    let doomed: Vec<Range<usize>> =
        blocks.zip(headers).filter(|(_, (_, owner))| *owner == Some(index)).map(|(range, _)| range).collect();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in doomed {
        out.push_str(&text[from..range.start]);
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}

/// The start of a header's line, or of the comment that stands right above it. A comment that opens the file is the file's.
fn block_start(text: &str, header: usize) -> usize {
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let own = line_start(header);
    let mut start = own;
    while start > 0 {
        let above = line_start(start - 1);
        if !text[above..start].trim_start().starts_with('#') {
            return start;
        }
        start = above;
    }
    own
}

/// The `[[servers]]` block of an entry.
fn block(entry: &ServerEntry) -> String {
    let mut out = String::from("[[servers]]\n");
    put(&mut out, "id", Some(string(&entry.id)));
    put(&mut out, "alias", entry.alias.as_deref().map(string));
    put(&mut out, "description", entry.description.as_deref().map(string));
    put(&mut out, "enabled", entry.enabled.map(|enabled| enabled.to_string()));
    put(&mut out, "transport", entry.transport.map(|word| string(word.as_str())));
    put(&mut out, "command", entry.command.as_deref().map(string));
    put(&mut out, "args", list(&entry.args));
    put(&mut out, "cwd", entry.cwd.as_deref().map(string));
    put(&mut out, "pass_env", list(&entry.pass_env));
    put(&mut out, "url", entry.url.as_deref().map(string));
    put(&mut out, "token", entry.token.as_ref().map(|token| string(token.reveal())));
    put(&mut out, "sharing", entry.sharing.map(|word| string(word.as_str())));
    put(&mut out, "era", entry.era.map(|word| string(word.as_str())));
    put(&mut out, "start_timeout_ms", entry.start_timeout.map(|time| time.as_millis().to_string()));
    put(&mut out, "call_timeout_ms", entry.call_timeout.map(|time| time.as_millis().to_string()));
    put(&mut out, "default_policy", entry.default_policy.map(|word| string(word.as_str())));
    put(&mut out, "audit_sink", entry.audit_sink.map(|sink| sink.to_string()));
    put(&mut out, "pins", entry.pins.map(|word| string(word.as_str())));
    put(&mut out, "only_tools", entry.only_tools.as_ref().map(|only| list(only).unwrap_or_else(|| "[]".to_owned())));
    for (key, value) in entry.flow.keys() {
        put(&mut out, key, value);
    }
    for (section, map) in [("env", &entry.env), ("headers", &entry.headers)] {
        if !map.is_empty() {
            out.push_str(&format!("\n[servers.{section}]\n"));
        }
        for (name, value) in map {
            put(&mut out, &Key::new(name).display_repr(), Some(string(value.reveal())));
        }
    }
    if let Some(oauth) = &entry.oauth {
        out.push_str("\n[servers.oauth]\n");
        put(&mut out, "client_id", Some(string(&oauth.client_id)));
        put(&mut out, "client_secret", Some(string(oauth.client_secret.reveal())));
        put(&mut out, "issuer", oauth.issuer.as_deref().map(string));
        put(&mut out, "scopes", list(&oauth.scopes));
    }
    if let Some(isolation) = &entry.isolation {
        out.push_str("\n[servers.isolation]\n");
        put(&mut out, "mode", isolation.mode.map(|word| string(word.as_str())));
        put(&mut out, "memory_limit_mb", isolation.memory_limit_mb.map(|number| number.to_string()));
        put(&mut out, "cpu_time_limit_secs", isolation.cpu_time_limit_secs.map(|number| number.to_string()));
        put(&mut out, "filesystem_scope", isolation.filesystem_scope.as_deref().map(string));
        put(&mut out, "network_scope", isolation.network_scope.as_deref().map(string));
        put(&mut out, "max_child_processes", isolation.max_child_processes.map(|number| number.to_string()));
    }
    let tools = entry.tools.iter().map(|named| ("tools", named));
    for (kind, (name, tool)) in tools.chain(entry.prompts.iter().map(|named| ("prompts", named))) {
        out.push_str(&format!("\n[servers.{kind}.{}]\n", string(name)));
        put(&mut out, "enabled", tool.enabled.map(|flag| flag.to_string()));
        put(&mut out, "risk", tool.risk.map(|word| string(word.as_str())));
        put(&mut out, "validator", tool.validator.map(|word| string(word.as_str())));
        put(&mut out, "confirm", tool.confirm.map(|flag| flag.to_string()));
        put(&mut out, "code_level", tool.code_level.as_deref().map(string));
        put(&mut out, "schema", tool.schema.map(|flag| flag.to_string()));
        put(&mut out, "text_arguments", list(&tool.text_arguments));
        put(&mut out, "rates", tool.rates.written());
        put(&mut out, "name", tool.name.as_deref().map(string));
        put(&mut out, "description", tool.description.as_deref().map(string));
        for (key, values) in [("defaults", &tool.defaults), ("fixed", &tool.fixed)] {
            put(&mut out, key, (!values.is_empty()).then(|| inline(&values.clone().into())));
        }
        put(&mut out, "pins", tool.pins.map(|word| string(word.as_str())));
    }
    for (section, pairs) in entry.flow.tables() {
        out.push_str(&format!("\n[servers.{section}]\n"));
        for (key, value) in pairs {
            put(&mut out, key, Some(value));
        }
    }
    if let Some(mgp) = &entry.mgp {
        out.push_str("\n[servers.mgp]\n");
        put(&mut out, "extensions", list(&mgp.extensions));
        put(&mut out, "permissions_required", list(&mgp.permissions_required));
        put(&mut out, "permissions_granted", crate::policy::written(&mgp.permissions_granted));
        put(&mut out, "trust_level", mgp.trust_level.map(|word| string(word.as_str())));
        if let Some(restart) = &mgp.restart {
            put(&mut out, "restart_policy", Some(string(restart.mode.as_str())));
            put(&mut out, "max_restarts", Some(restart.max_restarts.to_string()));
            put(&mut out, "restart_window_secs", Some(restart.window.as_secs().to_string()));
            put(&mut out, "backoff_base_ms", Some(restart.backoff_base.as_millis().to_string()));
            put(&mut out, "backoff_max_ms", Some(restart.backoff_max.as_millis().to_string()));
        }
    }
    out
}

fn put(out: &mut String, key: &str, value: Option<String>) {
    if let Some(value) = value {
        out.push_str(&format!("{key} = {value}\n"));
    }
}

fn list(values: &[String]) -> Option<String> {
    let items: Vec<String> = values.iter().map(|value| string(value)).collect();
    (!items.is_empty()).then(|| format!("[{}]", items.join(", ")))
}

/// A value of JSON as TOML on one line. `null` has no place in TOML, and is left out.
fn inline(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => string(text),
        serde_json::Value::Array(items) => {
            let items: Vec<String> = items.iter().filter(|item| !item.is_null()).map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        serde_json::Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            let members: Vec<String> =
                members.map(|(key, value)| format!("{} = {}", string(key), inline(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// A TOML string on one line, whatever it holds: a line end inside a value must not follow the file's kind of line ends.
pub(crate) fn string(value: &str) -> String {
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_unprintable(c) => out.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A commented configuration to start from. It holds no active server; the memory, which is there without a file, stays where
/// `memory` says so.
pub fn init_text(memory: bool) -> String {
    let text = include_str!("starter.toml");
    if memory { text.replace("# [memory]\n# enabled = true\n", "[memory]\nenabled = true\n") } else { text.to_owned() }
}

/// The same for the file of a project, of which only the servers count.
pub fn project_init_text() -> String {
    const FIRST_SERVER: &str = "# A local server:";
    let (_, servers) = include_str!("starter.toml").split_once(FIRST_SERVER).unwrap_or_default();
    format!(
        "# Servers of this project, for Switchboard. `switchboard trust` shows them, and starts them once you agree.\n\
         # Settings count in your user's file alone. Values may use ${{NAME}} and ${{NAME:-default}} from the environment.\n\n\
         {FIRST_SERVER}{servers}"
    )
}
