//! What stands around a command in the arguments of a call: its variables, its folder, what it is sent.

use switchboard_wire::{Kind, Object, Raw};

use crate::risk::fallback::words;
use crate::shell::Around;

/// More variables are left to the rule for those that nobody knows.
const MAX_VARIABLES: usize = 256;

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

/// What stands around the command of an object.
pub(super) fn of(object: &Object) -> Around {
    let mut around = Around::default();
    for (key, member) in object.iter() {
        let parts = words(&key);
        let whole = parts.join("_");
        let is_environment = |word: &String| VARIABLES.contains(&word.as_str());
        let for_variables = |word: &String| is_environment(word) || matches!(word.as_str(), "vars" | "variables");
        if parts.iter().any(is_environment) && parts.last().is_some_and(for_variables) {
            variables(&member, &mut around.variables);
        } else if FOLDERS.contains(&whole.as_str()) {
            around.folder = member.as_text().or(around.folder);
        } else if INPUTS.contains(&whole.as_str()) {
            let text =
                || member.elements().map(|lines| lines.iter().filter_map(Raw::as_text).collect::<Vec<_>>().join("\n"));
            around.input = member.as_text().or_else(text).or(around.input);
        }
    }
    around
}

/// Variables as an object has them, as a list of pairs or of `NAME=value`, or as text.
fn variables(value: &Raw, found: &mut Vec<(String, String)>) {
    if found.len() >= MAX_VARIABLES {
        return;
    }
    let text_of = |value: &Raw| value.as_text().unwrap_or_else(|| value.as_str().to_owned());
    match value.kind() {
        Kind::Object => {
            let Ok(object) = Object::open(value) else { return };
            let named = object.get("name").or_else(|| object.get("key")).and_then(|name| name.as_text());
            match (named, object.get("value")) {
                (Some(name), Some(value)) => found.push((name, text_of(&value))),
                _ => found.extend(object.iter().map(|(name, value)| (name.into_owned(), text_of(&value)))),
            }
        }
        Kind::Array => value.elements().unwrap_or_default().iter().for_each(|each| variables(each, found)),
        Kind::String => {
            let text = text_of(value);
            let pairs = text.lines().filter_map(|line| line.trim().trim_start_matches("export ").split_once('='));
            found.extend(pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())));
        }
        Kind::Number | Kind::Bool | Kind::Null => {}
    }
}
