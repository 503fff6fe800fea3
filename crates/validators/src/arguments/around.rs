//! What stands around a command in the arguments of a call: its variables, its folder, what it is sent.

use std::borrow::Cow;

use switchboard_policy::risk::fallback::words;
use switchboard_wire::{Kind, Object, Raw};

use super::role::{self, Role, in_string};
use crate::shell::Around;

/// How deep below a command its surroundings are looked for.
const MAX_DEPTH: usize = 8;

/// Strings that together are one folder.
const MAX_STEPS: usize = 16;

/// Words of keys for variables.
const VARIABLES: [&str; 5] = ["env", "envs", "environ", "environment", "envvars"];
/// Whole keys for them: beside a command these are its variables.
const ALSO_VARIABLES: [&str; 3] = ["vars", "variables", "exports"];
/// Last words of keys for the folder where a command runs.
const FOLDERS: [&str; 14] = [
    "cwd",
    "pwd",
    "wd",
    "workdir",
    "workingdir",
    "workingdirectory",
    "workspace",
    "dir",
    "directory",
    "folder",
    "path",
    "root",
    "chdir",
    "worktree",
];
/// What may stand in front of them: what is only found in front of other places (`file_path`) makes no folder.
const BEFORE_FOLDERS: [&str; 26] = [
    "work",
    "working",
    "current",
    "cur",
    "start",
    "starting",
    "initial",
    "project",
    "repo",
    "repository",
    "git",
    "workspace",
    "base",
    "root",
    "home",
    "dir",
    "directory",
    "folder",
    "exec",
    "execution",
    "run",
    "process",
    "shell",
    "command",
    "app",
    "package",
];
/// Whole keys for what a command is sent.
const INPUTS: [&str; 6] = ["stdin", "std_in", "standard_input", "input", "stdin_data", "stdin_text"];

/// Whether a key is for what a command is sent, and for nothing else.
pub(super) fn is_sent(key: &str) -> bool {
    let whole = words(key).join("_");
    whole != "input" && INPUTS.contains(&whole.as_str())
}

/// What stands around the command of an object: beside it, and in objects beside it (`options`).
pub(super) fn of(object: &Object) -> Around {
    let mut around = Around::default();
    collect(object, &mut around, 0);
    around
}

fn collect(object: &Object, around: &mut Around, depth: usize) {
    let runs = |(key, _): (Cow<'_, str>, Raw)| matches!(role::of(&key), Role::Command | Role::Commands | Role::Script);
    // What an object beside a command has as variables are the command's.
    let has_command = depth > 0 || object.iter().any(runs);
    for (key, member) in object.iter() {
        let parts = words(&key);
        let whole = parts.join("_");
        let is_environment = |word: &String| VARIABLES.contains(&word.as_str());
        if parts.iter().any(is_environment) || has_command && ALSO_VARIABLES.contains(&whole.as_str()) {
            variables(&member, &mut around.variables, 0);
        } else if is_folder(&parts) {
            texts(&member, &mut around.folders, 0);
        } else if INPUTS.contains(&whole.as_str()) {
            let lines = || member.elements().map(|lines| lines.iter().filter_map(Raw::as_text).collect::<Vec<_>>());
            around.inputs.extend(member.as_text().or_else(|| Some(lines()?.join("\n"))));
        } else {
            descend(&member, around, depth);
        }
    }
}

/// Looks into what stands beside a command: an object, one that is written in a string, or a list of them.
fn descend(value: &Raw, around: &mut Around, depth: usize) {
    if depth >= MAX_DEPTH {
        return;
    }
    let read = in_string(value);
    let value = read.as_ref().unwrap_or(value);
    match value.kind() {
        Kind::Object => {
            if let Ok(inner) = Object::open(value) {
                collect(&inner, around, depth + 1);
            }
        }
        Kind::Array => value.elements().unwrap_or_default().iter().for_each(|each| descend(each, around, depth + 1)),
        Kind::String | Kind::Number | Kind::Bool | Kind::Null => {}
    }
}

/// Every string in a value, without the blanks around it.
fn texts(value: &Raw, found: &mut Vec<String>, depth: usize) {
    if depth >= MAX_DEPTH {
        return;
    }
    match value.kind() {
        Kind::String => match in_string(value) {
            Some(inner) => texts(&inner, found, depth + 1),
            None => found.extend(value.as_text().map(|text| text.trim().to_owned())),
        },
        Kind::Array | Kind::Object => {
            let members = Object::open(value).ok();
            let members = members.iter().flat_map(Object::iter).map(|(_, member)| member);
            let mut steps = Vec::new();
            for each in value.elements().unwrap_or_default().into_iter().chain(members) {
                texts(&each, &mut steps, depth + 1);
            }
            // Each may be the folder, or all of them are its steps.
            if steps.len() > 1 && steps.len() <= MAX_STEPS {
                found.push(steps.join("/"));
            }
            found.extend(steps);
        }
        Kind::Number | Kind::Bool | Kind::Null => {}
    }
}

/// Whether a key of these words is for the folder where a command runs.
fn is_folder(words: &[String]) -> bool {
    let Some((last, before)) = words.split_last() else { return false };
    FOLDERS.contains(&last.as_str()) && before.iter().all(|word| BEFORE_FOLDERS.contains(&word.as_str()))
}

/// Variables as an object has them, as a list of pairs or of `NAME=value`, or as text.
fn variables(value: &Raw, found: &mut Vec<(String, String)>, depth: usize) {
    let text_of = |value: &Raw| value.as_text().unwrap_or_else(|| value.as_str().to_owned());
    match value.kind() {
        Kind::Object => {
            let Ok(object) = Object::open(value) else { return };
            let named = object.get("name").or_else(|| object.get("key")).and_then(|name| name.as_text());
            found.extend(named.zip(object.get("value")).map(|(name, value)| (name, text_of(&value))));
            let is_pair = object.get("value").is_some();
            let pair = |key: &str| is_pair && matches!(key, "name" | "key" | "value");
            let others = object.iter().filter(|(name, _)| !pair(name));
            found.extend(others.map(|(name, value)| (name.into_owned(), text_of(&value))));
        }
        Kind::Array if depth < MAX_DEPTH => {
            let elements = value.elements().unwrap_or_default();
            if let [name, value] = elements.as_slice()
                && let Some(name) = name.as_text().filter(|name| !name.contains('='))
            {
                found.push((name, text_of(value)));
            }
            elements.iter().for_each(|each| variables(each, found, depth + 1));
        }
        Kind::String => {
            if let Some(inner) = in_string(value).filter(|_| depth < MAX_DEPTH) {
                return variables(&inner, found, depth + 1);
            }
            let text = text_of(value);
            let pairs = text.lines().filter_map(|line| line.trim().trim_start_matches("export ").split_once('='));
            found.extend(pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())));
        }
        Kind::Array | Kind::Number | Kind::Bool | Kind::Null => {}
    }
}
