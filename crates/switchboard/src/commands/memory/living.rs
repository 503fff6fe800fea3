//! `switchboard memory list|show|search|edit|forget|erase|stats`: what agents do by tools, for people. Beside a running kernel too.

use std::io::Read as _;

use serde_json::{Map, Value, json};
use switchboard_contextgraph::{Id, MemoryServer};

use super::{operator, refused};
use crate::Outcome;
use crate::arguments::{MemoryEdit, MemoryFilter, MemoryList, MemorySearch};
use crate::failure::Failure;
use crate::screen::{self, brief, out, plain, plain_line};

/// Characters of an id that are enough to look for it.
const MIN_ID_CHARS: usize = 6;
/// Characters of a text on one line.
const LINE_CHARS: usize = 100;

/// Calls a tool as the owner.
fn call(server: &MemoryServer, tool: &str, arguments: Value) -> Result<Value, Failure> {
    let Value::Object(mut arguments) = arguments else { return Err(Failure::failed("no arguments")) };
    arguments.retain(|_, value| !value.is_null());
    server.call(&operator(), tool, &arguments).outcome.map_err(|problem| match problem.code {
        switchboard_contextgraph::Code::InvalidParams => Failure::usage(problem.to_string()),
        _ => refused(&problem),
    })
}

/// The memory that somebody means by an id, or by its beginning or end.
fn resolve(server: &MemoryServer, text: &str) -> Result<Id, Failure> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let wanted = text.to_lowercase();
    if wanted.len() < MIN_ID_CHARS || !wanted.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
        let message = format!("{text:?} is no id of a memory, nor {MIN_ID_CHARS} characters of its beginning or end");
        return Err(Failure::usage(message));
    }
    let found: Vec<Id> = server
        .read_space(&operator(), |space| {
            let fits = |id: &Id| {
                let shown = id.to_string();
                shown.starts_with(&wanted) || shown.ends_with(&wanted)
            };
            Ok(space.graph.everything().map(|memory| memory.id).filter(fits).take(6).collect())
        })
        .map_err(|problem| refused(&problem))?;
    match found.as_slice() {
        [id] => Ok(*id),
        [] => Err(Failure::failed(format!("no memory has an id with {text}; `switchboard memory list` shows them"))),
        several => {
            let ids: Vec<String> = several.iter().take(5).map(ToString::to_string).collect();
            Err(Failure::failed(format!("{text} may be one of several: {}", ids.join(", "))))
        }
    }
}

fn resolve_all(server: &MemoryServer, ids: &[String]) -> Result<Vec<Id>, Failure> {
    ids.iter().map(|id| resolve(server, id)).collect()
}

fn filter(filter: &MemoryFilter) -> Map<String, Value> {
    let given = json!({
        "tags": (!filter.tags.is_empty()).then_some(&filter.tags),
        "after": filter.after,
        "before": filter.before,
        "agent": filter.agent,
        "minImportance": filter.min_importance,
        "asOf": filter.as_of,
    });
    match given {
        Value::Object(given) => given,
        _ => Map::new(),
    }
}

/// One line for a memory.
fn line(memory: &Value) -> Vec<String> {
    let text = |key: &str| memory[key].as_str().unwrap_or_default();
    let mut content = brief(&plain_line(text("content")), LINE_CHARS);
    if !memory["validTo"].is_null() {
        content.push_str(" (no longer)");
    }
    if let Some(count) = memory["count"].as_u64() {
        content.push_str(&format!(" (said {count} times)"));
    }
    let day = text("createdAt").split('T').next().unwrap_or_default().to_owned();
    vec![day, plain_line(text("fingerprintId")), content]
}

fn lines(memories: &Value) -> Vec<Vec<String>> {
    memories.as_array().into_iter().flatten().map(line).collect()
}

pub(super) fn list(server: &MemoryServer, options: &MemoryList, as_json: bool) -> Outcome {
    let mut arguments = filter(&options.filter);
    arguments.insert("limit".to_owned(), options.filter.limit.into());
    arguments.insert("cursor".to_owned(), json!(options.cursor));
    arguments.insert("forgotten".to_owned(), options.forgotten.into());
    arguments.insert("order".to_owned(), if options.oldest { "oldest" } else { "newest" }.into());
    let found = call(server, "list_memories", Value::Object(arguments))?;
    if as_json {
        screen::json(&found);
        return Ok(());
    }
    let rows = lines(&found["memories"]);
    if rows.is_empty() {
        out("no memories");
        return Ok(());
    }
    out(screen::table(&rows));
    if let Some(next) = found["nextCursor"].as_str() {
        out(format_args!("{} of {}; more with --cursor {next}", found["count"], found["total"]));
    }
    Ok(())
}

pub(super) fn search(server: &MemoryServer, options: &MemorySearch, as_json: bool) -> Outcome {
    let mut arguments = filter(&options.filter);
    arguments.insert("query".to_owned(), options.query.join(" ").into());
    arguments.insert("topK".to_owned(), options.filter.limit.into());
    let found = call(server, "search_graph", Value::Object(arguments))?;
    if as_json {
        screen::json(&found);
        return Ok(());
    }
    let results = found["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let rows: Vec<Vec<String>> = results
        .iter()
        .map(|hit| {
            let mut row = vec![format!("{:.2}", hit["similarity"].as_f64().unwrap_or_default())];
            row.extend(line(hit));
            row
        })
        .collect();
    out(if rows.is_empty() { "nothing found".to_owned() } else { screen::table(&rows) });
    Ok(())
}

pub(super) fn show(server: &MemoryServer, id: &str, as_json: bool) -> Outcome {
    let id = resolve(server, id)?;
    let found = call(server, "get_memory", json!({"memory_id": id, "history": true}))?;
    if as_json {
        screen::json(&found);
        return Ok(());
    }
    out(plain(found["content"].as_str().unwrap_or_default()));
    out("");
    let words = |value: &Value| match value {
        Value::Array(items) => {
            items.iter().map(|item| item.as_str().unwrap_or_default()).collect::<Vec<_>>().join(", ")
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let named = [
        ("id", "fingerprintId"),
        ("stored", "createdAt"),
        ("by", "agent"),
        ("version", "version"),
        ("changed", "updatedAt"),
        ("tags", "tags"),
        ("importance", "importance"),
        ("kind", "kind"),
        ("said", "count"),
        ("because", "rationale"),
        ("holds from", "validFrom"),
        ("held until", "validTo"),
        ("forgotten", "forgottenAt"),
        ("supersedes", "supersedes"),
        ("superseded by", "supersededBy"),
        ("contradicts", "contradicts"),
    ];
    let rows: Vec<Vec<String>> = named
        .iter()
        .filter(|(_, key)| !found[*key].is_null())
        .map(|(name, key)| vec![(*name).to_owned(), plain_line(&words(&found[*key]))])
        .collect();
    out(screen::table(&rows));
    for earlier in found["history"].as_array().into_iter().flatten() {
        let content = brief(&plain_line(earlier["content"].as_str().unwrap_or_default()), LINE_CHARS);
        out(format_args!("version {} until {}: {content}", earlier["version"], words(&earlier["replacedAt"])));
    }
    Ok(())
}

pub(super) fn edit(server: &MemoryServer, options: &MemoryEdit, as_json: bool) -> Outcome {
    let id = resolve(server, &options.id)?;
    let content = match options.content.as_deref() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().lock().take(1 << 21).read_to_string(&mut text)?;
            Some(text.trim_end_matches('\n').to_owned())
        }
        other => other.map(ToOwned::to_owned),
    };
    let tags: Vec<&String> = options.tags.iter().filter(|tag| !tag.is_empty()).collect();
    let changed = call(
        server,
        "update_memory",
        json!({
            "memory_id": id,
            "content": content,
            "tags": (!options.tags.is_empty()).then_some(tags),
            "importance": options.importance,
            "validFrom": options.valid_from,
            "validTo": options.valid_to,
            "version": options.version,
        }),
    )?;
    if as_json {
        screen::json(&changed);
    } else {
        out(format_args!(
            "{id} is at version {}; `switchboard memory undo {}` takes it back",
            changed["version"],
            plain(changed["undo"].as_str().unwrap_or_default())
        ));
    }
    Ok(())
}

pub(super) fn forget(server: &MemoryServer, ids: &[String], restore: bool, as_json: bool) -> Outcome {
    let ids = resolve_all(server, ids)?;
    let done = call(server, "forget_memory", json!({"memory_ids": ids, "restore": restore}))?;
    if as_json {
        screen::json(&done);
    } else if restore {
        out(format_args!("{} restored", done["restored"]));
    } else {
        out(format_args!("{} forgotten; `--restore` brings back, `memory erase` removes for good", done["forgotten"]));
    }
    Ok(())
}

pub(super) fn erase(server: &MemoryServer, ids: &[String], yes: bool, as_json: bool) -> Outcome {
    let ids = resolve_all(server, ids)?;
    if !yes {
        if !screen::can_ask() {
            return Err(Failure::usage("erasing cannot be undone: say --yes"));
        }
        if !screen::confirmed(&format!("Erase {} for good? This cannot be undone.", many(ids.len()))) {
            return Ok(());
        }
    }
    let done = call(server, "erase_memory", json!({"memory_ids": ids}))?;
    if as_json {
        screen::json(&done);
    } else {
        out(format_args!("{} erased", many(done["count"].as_u64().unwrap_or_default() as usize)));
    }
    if done["scrubbed"] == false {
        return Err(Failure::failed(
            "the memories are gone, but the database is in use and their bytes are not overwritten yet; whoever has it open \
             tries again every minute, or run this once more",
        ));
    }
    Ok(())
}

fn many(count: usize) -> String {
    if count == 1 { "1 memory".to_owned() } else { format!("{count} memories") }
}

pub(super) fn stats(server: &MemoryServer, as_json: bool) -> Outcome {
    let found = server
        .read_space(&operator(), switchboard_contextgraph::engine::Space::stats)
        .map_err(|problem| refused(&problem))?;
    if as_json {
        screen::json(&json!(found));
        return Ok(());
    }
    let Value::Object(members) = json!(found) else { return Ok(()) };
    let words = |value: &Value| match value {
        Value::Object(inner) if inner.is_empty() => "none".to_owned(),
        Value::Object(inner) => {
            inner.iter().map(|(key, count)| format!("{key} {count}")).collect::<Vec<_>>().join(", ")
        }
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    };
    let rows: Vec<Vec<String>> =
        members.iter().map(|(key, value)| vec![key.replace('_', " "), plain_line(&words(value))]).collect();
    out(screen::table(&rows));
    Ok(())
}
