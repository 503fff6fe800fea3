//! What stands around a command in the arguments of a call: its variables, its folder, what it is sent.

use switchboard_wire::{Kind, Object, Raw};

use crate::risk::fallback::words;
use crate::shell::Around;

/// How deep below a command its surroundings are looked for.
const MAX_DEPTH: usize = 8;

/// Words of keys for variables. `variables` alone may be those of anything.
const VARIABLES: [&str; 5] = ["env", "envs", "environ", "environment", "envvars"];
/// Whole keys for the folder where a command runs.
const FOLDERS: [&str; 14] = [
    "cwd",
    "pwd",
    "workdir",
    "working_dir",
    "working_directory",
    "work_dir",
    "dir",
    "directory",
    "folder",
    "path",
    "root",
    "project_path",
    "base_dir",
    "chdir",
];
/// Whole keys for what a command is sent.
const INPUTS: [&str; 6] = ["stdin", "std_in", "standard_input", "input", "stdin_data", "stdin_text"];

/// What stands around the command of an object: beside it, and in objects beside it (`options`).
pub(super) fn of(object: &Object) -> Around {
    let mut around = Around::default();
    collect(object, &mut around, 0);
    around
}

fn collect(object: &Object, around: &mut Around, depth: usize) {
    for (key, member) in object.iter() {
        let parts = words(&key);
        let whole = parts.join("_");
        let is_environment = |word: &String| VARIABLES.contains(&word.as_str());
        let for_variables = |word: &String| is_environment(word) || matches!(word.as_str(), "vars" | "variables");
        if parts.iter().any(is_environment) && parts.last().is_some_and(for_variables) {
            variables(&member, &mut around.variables, 0);
        } else if FOLDERS.contains(&whole.as_str()) {
            around.folders.extend(member.as_text());
        } else if INPUTS.contains(&whole.as_str()) {
            let lines = || member.elements().map(|lines| lines.iter().filter_map(Raw::as_text).collect::<Vec<_>>());
            around.inputs.extend(member.as_text().or_else(|| Some(lines()?.join("\n"))));
        } else if depth < MAX_DEPTH
            && member.kind() == Kind::Object
            && let Ok(inner) = Object::open(&member)
        {
            collect(&inner, around, depth + 1);
        }
    }
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
            value.elements().unwrap_or_default().iter().for_each(|each| variables(each, found, depth + 1));
        }
        Kind::String => {
            let text = text_of(value);
            let pairs = text.lines().filter_map(|line| line.trim().trim_start_matches("export ").split_once('='));
            found.extend(pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())));
        }
        Kind::Array | Kind::Number | Kind::Bool | Kind::Null => {}
    }
}
