//! What stands around a command in the arguments of a call: its variables, its folder, what it is sent.

use std::borrow::Cow;

use switchboard_policy::keys::{self, Key, Mark};
use switchboard_wire::{Kind, Object, Raw};

use super::role::{self, Role, in_string};
use crate::shell::{self, Around};

/// How deep below a command its surroundings are looked for.
const MAX_DEPTH: usize = 8;
/// How deep variables may be nested in each other: as deep as arguments are.
const MAX_NESTED: usize = role::MAX_DEPTH;

/// Strings that together are one folder.
const MAX_STEPS: usize = 16;

/// Whether a key is for what a command is sent, and for nothing else.
pub(super) fn is_sent(key: &str) -> bool {
    let key = Key::of(key);
    key.whole() != "input" && key.said().has(Mark::Input)
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
        let key = Key::of(&key);
        if key.has(Mark::Variables) || has_command && key.said().has(Mark::Variables) {
            variables(&member, &mut around.variables, 0);
        } else if is_folder(&key) {
            texts(&member, &mut around.folders, 0);
        } else if key.said().has(Mark::Input) {
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

/// Whether a key is for the folder where a command runs. What is only found in front of other places (`file_path`) makes none.
fn is_folder(key: &Key<'_>) -> bool {
    let before = |word: &str| keys::of_word(word).has(Mark::BeforeFolder);
    key.said_last().has(Mark::Folder) && key.words().rev().skip(1).all(before)
}

/// Every variable in a value that holds some.
pub(crate) fn all_variables(value: &Raw) -> Vec<(String, String)> {
    let mut found = Vec::new();
    variables(value, &mut found, 0);
    found
}

/// Variables as an object has them, as a list of pairs or of `NAME=value`, or as text, at any depth.
fn variables(value: &Raw, found: &mut Vec<(String, String)>, depth: usize) {
    let text_of = |value: &Raw| value.as_text().unwrap_or_else(|| value.as_str().to_owned());
    if depth >= MAX_NESTED {
        return;
    }
    match value.kind() {
        Kind::Object => {
            let Ok(object) = Object::open(value) else { return };
            let is_value = |key: &str| matches!(key, "value" | "v" | "val");
            let is_name = |key: &str| matches!(key, "name" | "key" | "k" | "variable" | "var");
            let given = object.iter().find(|(key, _)| is_value(key));
            let named = object.iter().find_map(|(key, name)| is_name(&key).then(|| name.as_text())?);
            if let Some((name, (_, value))) = named.zip(given.as_ref()) {
                found.push((name.trim().to_owned(), text_of(value)));
            }
            let is_pair = given.is_some();
            for (name, member) in object.iter() {
                if !(is_pair && (is_name(&name) || is_value(&name))) {
                    found.push((name.trim().to_owned(), text_of(&member)));
                }
                // What holds others is a group of them; a text may hold some, to who parts it.
                match member.kind() {
                    Kind::Object | Kind::Array => variables(&member, found, depth + 1),
                    Kind::String => match in_string(&member) {
                        Some(inner) => variables(&inner, found, depth + 1),
                        None => found.extend(assigned(&text_of(&member))),
                    },
                    Kind::Number | Kind::Bool | Kind::Null => {}
                }
            }
        }
        Kind::Array => {
            let elements = value.elements().unwrap_or_default();
            if let [name, value] = elements.as_slice()
                && let Some(name) = name.as_text().filter(|name| !name.contains('='))
            {
                found.push((name, text_of(value)));
            }
            elements.iter().for_each(|each| variables(each, found, depth + 1));
        }
        Kind::String => {
            if let Some(inner) = in_string(value) {
                return variables(&inner, found, depth + 1);
            }
            let text = text_of(value);
            let pairs = text.lines().filter_map(|line| line.trim().trim_start_matches("export ").split_once('='));
            found.extend(
                pairs.map(|(name, value)| (name.trim().trim_end_matches('+').to_owned(), value.trim().to_owned())),
            );
            found.extend(assigned(&text));
        }
        Kind::Number | Kind::Bool | Kind::Null => {}
    }
}

/// What a text assigns to names that decide what runs, however it parts one from the next: by blanks, lines, commas or
/// semicolons. Small letters are those of other pairs (`path=/a` in an address).
fn assigned(text: &str) -> Vec<(String, String)> {
    let parts = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | ';' | '"' | '\'' | '`' | '{' | '}');
    let words = text.split(parts).map(|word| word.trim_start_matches('-'));
    let decides =
        |(name, _): &(&str, &str)| !name.starts_with(|c: char| c.is_ascii_lowercase()) && shell::decides(name);
    // `--env=NAME=value`: a value may be one itself.
    let each = |word| std::iter::successors(shell::assignment(word), |(_, value)| shell::assignment(value));
    let found = words.flat_map(each).filter(decides);
    found.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
