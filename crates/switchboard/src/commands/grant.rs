//! `switchboard grant`: the operator lets a principal use something (MGP 5), or a server do something (MGP 3).

use std::time::Duration;

use jiff::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use switchboard_policy::permission::{Scope, name};
use switchboard_store::{AccessEntry, Permission, PermissionDecision};
use switchboard_wire::{Limits, Raw};

use super::access;
use super::operator_session::{OperatorSession, When, cell, until};
use crate::Outcome;
use crate::arguments::{Common, Grant};
use crate::failure::Failure;
use crate::screen;

/// How long a grant counts unless somebody says otherwise.
pub(crate) const DEFAULT_GRANT_TIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

pub(crate) async fn run(common: &Common, options: &Grant) -> Outcome {
    // What is wrong with the words is said before anything is opened.
    let permission = options.permission.as_deref().map(named).transpose()?;
    let scope = scope(options)?;
    let now = Timestamp::now();
    let expires_at = options.expires.unwrap_or_else(|| usual(options.deny)).end(now)?;
    for (what, text) in [("principal", options.agent.as_deref()), ("server", Some(options.server.as_str()))] {
        if text.is_some_and(|text| text.trim().is_empty()) {
            return Err(Failure::usage(format!("the name of the {what} is empty")));
        }
        if text.is_some_and(|text| text.contains('*')) {
            return Err(Failure::usage(format!(
                "`*` is no {what}: name each of them, or say `default_policy = \"opt-out\"` in the configuration, which lets \
                 everybody use what is not denied"
            )));
        }
    }
    let desk = OperatorSession::open(common).await?;
    let options = &Grant { server: desk.id_of(&options.server), ..options.clone() };
    desk.warn_of_unknown(&options.server);
    let outcome = match permission {
        Some(permission) => permit(common, &desk, options, permission, scope, expires_at).await,
        None => allow(common, &desk, options, scope, expires_at).await,
    };
    desk.close().await;
    outcome
}

/// A denial that ended by itself would open what somebody had closed.
const fn usual(deny: bool) -> When {
    if deny { When::Never } else { When::Span(DEFAULT_GRANT_TIME) }
}

async fn allow(
    common: &Common,
    desk: &OperatorSession,
    options: &Grant,
    scope: Option<Box<RawValue>>,
    expires_at: Option<Timestamp>,
) -> Outcome {
    let tool = match &options.tool {
        Some(tool) => Some(desk.tool(&options.server, tool).await?),
        None => None,
    };
    let entry = AccessEntry {
        principal: options.agent.clone().unwrap_or_default(),
        server: options.server.clone(),
        tool,
        permission: if options.deny { Permission::Deny } else { Permission::Allow },
        granted_by: String::new(),
        granted_at: Timestamp::UNIX_EPOCH,
        expires_at,
        justification: options.why.clone(),
        scopes: scope,
    };
    let before = desk.office.store().grants().load().await?.access;
    let entry = desk.office.grant_access(entry).await?;
    let notes = notes(&before, &entry, Timestamp::now());
    if common.json {
        let mut answer = access::entry_json(&entry, Timestamp::now());
        answer["notes"] = json!(notes);
        screen::json(&answer);
        return Ok(());
    }
    let word = if options.deny { "may not use" } else { "may use" };
    let what = match &entry.tool {
        Some(tool) => format!("the tool {} of {}", cell(tool), cell(&entry.server)),
        None => cell(&entry.server),
    };
    let within = entry.scopes.as_ref().map_or_else(String::new, |limits| format!(" within {}", cell(limits.get())));
    let end = said_end(options, expires_at);
    screen::out(format_args!("{} {word} {what}{within}, {end}", cell(&entry.principal)));
    notes.iter().for_each(|note| screen::note(format_args!("note: {note}")));
    Ok(())
}

/// What somebody who grants would be surprised by: a denial that still holds, and limits that are no more.
fn notes(before: &[AccessEntry], given: &AccessEntry, now: Timestamp) -> Vec<String> {
    let holds = |entry: &&AccessEntry| {
        entry.principal == given.principal
            && entry.server == given.server
            && entry.expires_at.is_none_or(|end| end > now)
    };
    let mut notes = Vec::new();
    for entry in before.iter().filter(holds) {
        let words = |limits: &RawValue| cell(limits.get());
        let tool = entry.tool.as_ref().map_or_else(String::new, |tool| format!(" --tool {}", cell(tool)));
        let covers = entry.tool.is_none() || entry.tool == given.tool;
        match (entry.permission, given.permission) {
            (Permission::Deny, Permission::Allow) if covers => notes.push(format!(
                "a denial still holds, and denials win; take it back: switchboard revoke --principal {} --server {}{tool}, then grant again",
                cell(&entry.principal),
                cell(&entry.server)
            )),
            (Permission::Allow, Permission::Allow) if entry.tool == given.tool => {
                let (old, new) = (entry.scopes.as_deref().map(words), given.scopes.as_deref().map(words));
                if let Some(old) = old.filter(|old| new.as_ref() != Some(old)) {
                    notes.push(match new {
                        Some(_) => format!("it was limited to {old} before; the new limits stand alone"),
                        None => format!("it was limited to {old} before, and is not limited any more"),
                    });
                }
            }
            _ => {}
        }
    }
    notes
}

async fn permit(
    common: &Common,
    desk: &OperatorSession,
    options: &Grant,
    permission: String,
    scope: Option<Box<RawValue>>,
    expires_at: Option<Timestamp>,
) -> Outcome {
    let decision = if options.deny { PermissionDecision::Denied } else { PermissionDecision::Approved };
    if !options.deny {
        desk.warn_of_policy();
    }
    let limits = scope.as_ref().map(|scope| scope.get().to_owned());
    desk.office
        .decide_permission(&options.server, &permission, decision, scope, expires_at, options.why.clone())
        .await?;
    if common.json {
        screen::json(&json!({
            "server_id": options.server,
            "permission": permission,
            "decision": decision.as_str(),
            "scope": limits.as_deref().and_then(|limits| serde_json::from_str::<Value>(limits).ok()),
            "expires_at": expires_at.map(|end| end.to_string()),
            "granted_by": desk.office.name(),
        }));
        return Ok(());
    }
    let word = if options.deny { "is denied" } else { "has" };
    let within = limits.map_or_else(String::new, |limits| format!(" within {}", cell(&limits)));
    let end = said_end(options, expires_at);
    screen::out(format_args!("{} {word} {permission}{within}, {end}", cell(&options.server)));
    Ok(())
}

fn said_end(options: &Grant, expires_at: Option<Timestamp>) -> String {
    let usual = if options.expires.is_none() && !options.deny { " (30 days; --for says otherwise)" } else { "" };
    format!("{}{usual}", until(expires_at))
}

/// The name of a permission as it is stored.
pub(crate) fn named(word: &str) -> Result<String, Failure> {
    let standard = || name::STANDARD.map(|(name, _)| name).join(", ");
    let known = name::read(word).map_err(|error| {
        Failure::usage(format!("{}. The standard ones are {}", screen::plain_line(&error.to_string()), standard()))
    })?;
    Ok(known.canonical.into_owned())
}

/// What the permission is limited to; one that is not understood in full is refused.
fn scope(options: &Grant) -> Result<Option<Box<RawValue>>, Failure> {
    let text = match &options.scope {
        Some(text) => text.clone(),
        None => {
            let mut limits = Map::new();
            let mut limit = |key: &str, values: Value| {
                if values.as_array().is_some_and(|values| !values.is_empty()) {
                    limits.insert(key.to_owned(), values);
                }
            };
            limit("paths", options.path.clone().into());
            limit("commands", options.command.clone().into());
            limit("hosts", options.host.clone().into());
            limit("ports", options.port.clone().into());
            limit("languages", options.language.clone().into());
            if limits.is_empty() {
                return Ok(None);
            }
            Value::Object(limits).to_string()
        }
    };
    if options.deny {
        return Err(Failure::usage("a denial has no limits: leave them out, or grant with deny_paths and the like"));
    }
    let raw =
        Raw::parse(text.clone(), &Limits::default()).map_err(|error| Failure::usage(format!("--scope: {error}")))?;
    Scope::read(&raw).map_err(|error| Failure::usage(format!("--scope: {error}")))?;
    RawValue::from_string(text).map(Some).map_err(|error| Failure::usage(format!("--scope: {error}")))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::{Arguments, Command};

    fn options(words: &[&str]) -> Grant {
        let line = ["switchboard", "grant", "--server", "s", "--permission", "shell.execute"];
        match Arguments::try_parse_from(line.iter().chain(words)).unwrap().command {
            Some(Command::Grant(options)) => options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn limits() {
        for (words, expected) in [
            (&[][..], Ok(None)),
            (
                &["--path", "/a/**", "--path", "/b", "--port", "443"],
                Ok(Some(r#"{"paths":["/a/**","/b"],"ports":[443]}"#)),
            ),
            (
                &["--command", "git log", "--host", "*.a.b", "--language", "python"],
                Ok(Some(r#"{"commands":["git log"],"hosts":["*.a.b"],"languages":["python"]}"#)),
            ),
            (&["--scope", r#"{"deny_paths":["/etc/**"]}"#], Ok(Some(r#"{"deny_paths":["/etc/**"]}"#))),
            (&["--scope", r#"{"unknown":1}"#], Err(())),
            (&["--scope", r#"{"paths":"/a"}"#], Err(())),
            (&["--scope", "{"], Err(())),
            (&["--path", "/a", "--deny"], Err(())),
        ] {
            let read = scope(&options(words));
            let read = read.as_ref().map(|scope| scope.as_ref().map(|scope| scope.get())).map_err(drop);
            assert_eq!(read, expected, "{words:?}");
        }
    }

    #[test]
    fn names_of_permissions() {
        assert_eq!(named("shell").unwrap(), "shell.execute");
        assert_eq!(named("com.example.thing").unwrap(), "com.example.thing");
        assert!(named("filesystem.writ").unwrap_err().message().unwrap().contains("filesystem.write"));
    }
}
