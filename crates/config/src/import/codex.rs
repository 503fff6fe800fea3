//! Codex: `[mcp_servers.<name>]` in `config.toml`.

use std::path::Path;
use std::time::Duration;

use toml_edit::{Document, Item, TableLike};

use super::json::drop_transport_headers;
use super::{Client, ClientFile, ImportError, Imported};
use crate::entry::ServerEntry;
use crate::expand::{escaped, is_variable_name};
use crate::ids;
use crate::secret::Secret;
use crate::source::position;

pub(super) fn read(file: &Path, text: &str) -> Result<ClientFile, ImportError> {
    let fail = |offset: usize, message: String| {
        let (line, column) = position(text, offset);
        ImportError { file: file.to_owned(), line, column, message }
    };
    let document = Document::parse(text).map_err(|error| {
        fail(error.span().map_or(0, |span| span.start), format!("not valid TOML: {}", error.message()))
    })?;
    let mut found = ClientFile::default();
    let Some(item) = document.as_table().get("mcp_servers") else { return Ok(found) };
    let servers = item.as_table_like().ok_or_else(|| {
        fail(item.span().map_or(0, |span| span.start), "`mcp_servers` must be a table of servers".to_owned())
    })?;
    for (name, item) in servers.iter() {
        let mut notes = Vec::new();
        let entry = item.as_table_like().ok_or_else(|| "is not a table".to_owned());
        match entry.and_then(|table| convert(table, &mut notes)) {
            Ok(mut entry) => {
                entry.id = ids::sanitized(name);
                let (file, name) = (file.to_owned(), name.to_owned());
                found.servers.push(Imported {
                    client: Client::Codex,
                    file,
                    name,
                    entry,
                    project: None,
                    untranslated: None,
                    env_file: None,
                    notes,
                });
            }
            Err(reason) => {
                found.warnings.push(format!("{}: `mcp_servers.{name}` {reason}; it was left out", file.display()));
            }
        }
    }
    Ok(found)
}

fn convert(table: &dyn TableLike, notes: &mut Vec<String>) -> Result<ServerEntry, String> {
    let mut entry = ServerEntry::default();
    for (key, item) in table.iter() {
        match key {
            "command" => entry.command = Some(escaped(text(key, item)?)),
            "args" => entry.args = list(key, item)?.iter().map(|arg| escaped(arg)).collect(),
            "cwd" => entry.cwd = Some(escaped(text(key, item)?)),
            "env" => entry.env = pairs(key, item)?.map(|(name, value)| (name, Secret::new(escaped(&value)))).collect(),
            "env_vars" => {
                let (names, odd) = list(key, item)?.into_iter().partition(|name| is_variable_name(name));
                entry.pass_env = names;
                let odd: Vec<String> = odd;
                notes.extend(odd.iter().map(|name| format!("`env_vars` has {name:?}, which is not a variable")));
            }
            "url" => entry.url = Some(escaped(text(key, item)?)),
            "bearer_token" => entry.token = Some(Secret::new(escaped(text(key, item)?))),
            "bearer_token_env_var" => entry.token = Some(reference(key, text(key, item)?)?),
            "http_headers" => {
                entry.headers.extend(pairs(key, item)?.map(|(name, value)| (name, Secret::new(escaped(&value)))));
            }
            "env_http_headers" => {
                for (name, variable) in pairs(key, item)? {
                    entry.headers.insert(name, reference(key, &variable)?);
                }
            }
            "enabled" => entry.enabled = (item.as_bool() == Some(false)).then_some(false),
            "startup_timeout_sec" => entry.start_timeout = seconds(item),
            "startup_timeout_ms" => entry.start_timeout = seconds(item).map(|time| time / 1_000),
            "enabled_tools" => entry.only_tools = Some(list(key, item)?),
            "disabled_tools" => list(key, item)?.iter().for_each(|tool| entry.switch_off(tool)),
            "tool_timeout_sec" => entry.call_timeout = seconds(item),
            other => notes.push(format!("`{other}` has no counterpart here and was not taken over")),
        }
    }
    match (&entry.command, &entry.url) {
        (None, None) => return Err("has neither `command` nor `url`".to_owned()),
        (Some(_), Some(_)) => return Err("has both `command` and `url`".to_owned()),
        _ => {}
    }
    drop_transport_headers(&mut entry, notes);
    Ok(entry)
}

fn text<'a>(key: &str, item: &'a Item) -> Result<&'a str, String> {
    item.as_str().ok_or_else(|| format!("has a `{key}` that is not a string"))
}

fn list(key: &str, item: &Item) -> Result<Vec<String>, String> {
    let items = item
        .as_array()
        .and_then(|array| array.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>());
    items.ok_or_else(|| format!("has `{key}` that are not a list of strings"))
}

fn pairs(key: &str, item: &Item) -> Result<impl Iterator<Item = (String, String)>, String> {
    let table = item.as_table_like().ok_or_else(|| format!("has `{key}` that is not a table"))?;
    let pair = |(name, item): (&str, &Item)| Some((name.to_owned(), item.as_str()?.to_owned()));
    let pairs = table.iter().map(pair).collect::<Option<Vec<_>>>();
    Ok(pairs.ok_or_else(|| format!("has `{key}` with values that are not strings"))?.into_iter())
}

fn reference(key: &str, variable: &str) -> Result<Secret, String> {
    if is_variable_name(variable) {
        Ok(Secret::new(format!("${{{variable}}}")))
    } else {
        Err(format!("has `{key}` with {variable:?}, which is not the name of a variable"))
    }
}

/// A time that our own configuration would accept.
fn seconds(item: &Item) -> Option<Duration> {
    #[expect(clippy::cast_precision_loss, reason = "a time-out is far below 2^53 seconds")]
    let number = item.as_float().or_else(|| item.as_integer().map(|number| number as f64))?;
    Duration::try_from_secs_f64(number).ok().filter(|time| (1..=86_400_000).contains(&time.as_millis()))
}
