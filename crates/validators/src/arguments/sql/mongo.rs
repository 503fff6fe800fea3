//! MongoDB: commands as objects, pipelines, and lines of its shell.

use switchboard_wire::Object;

use super::words::{MONGO_COMMANDS, MONGO_METHODS, MONGO_OPERATORS};
use crate::{Finding, Verdict};

/// Judges the members of one object.
pub(in super::super) fn check_members(object: &Object) -> Verdict {
    if let Some(operator) = MONGO_OPERATORS.iter().find(|operator| object.has(operator)) {
        return Err(Finding::new("readonly-mongo", format!("`{operator}` writes or runs code")));
    }
    match MONGO_COMMANDS.iter().find(|members| members.iter().all(|member| object.has(member))) {
        Some(members) => Err(Finding::new("readonly-mongo", format!("the command `{}` writes", members[0]))),
        None => Ok(()),
    }
}

/// Judges a text: a line of the shell, or a pipeline written as one.
pub(super) fn check(text: &str) -> Verdict {
    let trimmed = text.trim_start();
    if trimmed.starts_with(['{', '[']) || trimmed.starts_with("db.") || trimmed.starts_with("db[") {
        let quoted = |operator: &&&str| {
            text.match_indices(**operator).any(|(at, found)| {
                let behind = text[at + found.len()..].trim_start_matches(['"', '\'', ' ']);
                behind.starts_with(':')
            })
        };
        if let Some(operator) = MONGO_OPERATORS.iter().find(quoted) {
            return Err(Finding::new("readonly-mongo", format!("`{operator}` writes or runs code")));
        }
    }
    if !trimmed.starts_with("db.") && !trimmed.starts_with("db[") && !text.contains(";db.") && !text.contains("; db.") {
        return Ok(());
    }
    for (at, _) in text.match_indices(['.', '"', '\'']) {
        let name: String = text[at + 1..].chars().take_while(char::is_ascii_alphanumeric).collect();
        let behind = text[at + 1 + name.len()..].trim_start_matches(['"', '\'', ']', ' ']);
        let name = name.to_ascii_lowercase();
        if behind.starts_with('(') && MONGO_METHODS.contains(&name.as_str()) {
            return Err(Finding::new("readonly-mongo", format!("the method `{name}` may write")));
        }
    }
    Ok(())
}
