//! Calls of a dangerous tool that are not dangerous: a statement that only reads, a request that only gets, an action that
//! only lists, or a call without the argument that carries the code.
//!
//! Only what is dangerous because of what an argument may hold is looked at here; what deletes or sends by its name is
//! asked about whatever it is given. Everything that is not understood is asked about.

use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_wire::{Kind as Json, Object, Raw};

use super::carried::{Carried, Carries};
use super::fallback::words;
use super::nature;
use super::verbs::Kind;
use crate::key_role::{MAX_DEPTH, in_string};

/// Says whether a statement that a tool is given only reads. The first is what the server says of the tool. Languages are
/// not read here: who asks brings somebody who reads them.
pub type OnlyReads = fn(&ToolSecurity, &str) -> bool;

/// What a call of a dangerous tool must be for nobody to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Easing {
    /// The argument that chooses what is done, where that is what makes the tool dangerous.
    pub(super) choice: Option<Choice>,
}

/// The argument that chooses what is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) key: Box<str>,
    /// Whether it is the method of a request.
    pub(super) is_method: bool,
}

impl Easing {
    /// Whether a call with these arguments is harmless. `carried` is what the arguments of the tool carry, `declared` is
    /// what its server says of it.
    #[must_use]
    pub fn lets(&self, carried: &[Carried], declared: &ToolSecurity, arguments: &Raw, only_reads: OnlyReads) -> bool {
        let Ok(object) = Object::open(arguments) else { return false };
        // What the definition does not name may be another name for what it carries.
        let is_declared = |key: &str| declared.properties.iter().any(|name| name == key);
        object.iter().all(|(key, _)| is_declared(&key))
            && self.choice.as_ref().is_none_or(|choice| choice.is_harmless(&object))
            && Look { carried, declared, choice: self.choice.as_ref(), only_reads }.at(arguments, 0)
    }
}

impl Choice {
    fn is_harmless(&self, arguments: &Object) -> bool {
        arguments.text(&self.key).is_some_and(|word| {
            if self.is_method {
                matches!(word.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
            } else {
                nature::of_word(&words(&word)) == Some(Kind::Look) || SEEING.contains(&word.as_str())
            }
        })
    }
}

/// Choices of tools for a screen that only look at it.
const SEEING: [&str; 5] = ["screenshot", "cursor_position", "mouse_move", "scroll", "zoom"];

/// Last words of keys that choose what is done.
const CHOOSING: [&str; 12] = [
    "method",
    "verb",
    "action",
    "actions",
    "operation",
    "operations",
    "op",
    "ops",
    "command",
    "mode",
    "statement",
    "task",
];
/// Last words of keys for what a request sends.
const SENT: [&str; 9] = ["body", "data", "payload", "json", "form", "files", "upload", "content", "patch"];

struct Look<'a> {
    carried: &'a [Carried],
    declared: &'a ToolSecurity,
    choice: Option<&'a Choice>,
    only_reads: OnlyReads,
}

impl Look<'_> {
    /// Whether nothing within a value is carried, save statements that only read.
    fn at(&self, value: &Raw, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        match value.kind() {
            Json::Object => {
                let Ok(object) = Object::open(value) else { return false };
                object.iter().all(|(key, member)| {
                    if depth > 0 && self.may_choose(&key) {
                        return false;
                    }
                    // The choice was looked at, and counts only where the tool looks for it.
                    let chosen = depth > 0 && self.choice.is_some_and(|choice| *choice.key == *key);
                    match self.carried.iter().find(|carried| *carried.key == *key) {
                        _ if chosen => false,
                        Some(carried) => is_empty(&member) || self.reads(carried.what, &member),
                        None => self.at(&member, depth + 1),
                    }
                })
            }
            Json::Array => value.elements().unwrap_or_default().iter().all(|element| self.at(element, depth + 1)),
            // Servers that expect an object read one that stands in a string.
            Json::String => match in_string(value) {
                Some(inner) => self.at(&inner, depth + 1),
                // JSON in JSON, that may be read as well.
                None => !value.as_text().is_some_and(|text| text.trim_start().starts_with('"') && text.contains('{')),
            },
            Json::Number | Json::Bool | Json::Null => true,
        }
    }

    /// Whether a key deep inside may choose what is done as well, or holds what is sent.
    fn may_choose(&self, key: &str) -> bool {
        let key = words(key);
        let last = key.last().map(String::as_str).unwrap_or_default();
        self.choice.is_some() && CHOOSING.contains(&last)
            || self.choice.as_ref().is_some_and(|choice| choice.is_method) && SENT.contains(&last)
    }

    /// Whether what is carried is a statement, or a list of them, that only reads.
    fn reads(&self, what: Carries, value: &Raw) -> bool {
        if what == Carries::Query {
            return value.as_text().is_some_and(|text| asks_only(&text));
        }
        if what != Carries::Statement {
            return false;
        }
        if let Some(statements) = value.elements() {
            return statements
                .iter()
                .all(|statement| statement.as_text().is_some_and(|text| (self.only_reads)(self.declared, &text)));
        }
        value.as_text().is_some_and(|text| (self.only_reads)(self.declared, &text))
    }
}

/// Whether a document of GraphQL asks for something and has no operation that changes anything.
fn asks_only(document: &str) -> bool {
    let begins = document.trim_start();
    let mut words = document.split(|c: char| !c.is_alphanumeric() && c != '_');
    (begins.starts_with('{') || begins.starts_with("query"))
        && !document.contains('#')
        && words.all(|word| !matches!(word, "mutation" | "subscription"))
}

fn is_empty(value: &Raw) -> bool {
    matches!(value.as_str(), "null" | "\"\"" | "[]" | "{}")
}
