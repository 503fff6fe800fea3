//! The cells of notebooks in a call: code, though their keys are those of texts.

use switchboard_policy::risk::fallback::words;
use switchboard_wire::{Kind, Object, Raw};

use super::super::MAX_DEPTH;
use super::super::role::{self, Role};
use super::holds;

/// Shows every text that may be a cell: what stands under a key for sources, and text beside a key that speaks of a cell or a notebook.
pub(super) fn each(value: &Raw, see: &mut impl FnMut(&str)) {
    // Most calls have none.
    if ["source", "cell", "notebook"].iter().any(|name| holds(value.as_bytes(), name.as_bytes())) {
        descend(value, false, 0, see);
    }
}

fn descend(value: &Raw, is_cell: bool, depth: usize, see: &mut impl FnMut(&str)) {
    if depth > MAX_DEPTH {
        return;
    }
    match value.kind() {
        Kind::Object => {
            let Ok(object) = Object::open(value) else { return };
            let has = |key: &str, name: &str| holds(key.as_bytes(), name.as_bytes());
            let is_about = |key: &str| {
                let begins = |word: &String| word.starts_with("cell") || word.starts_with("notebook");
                (has(key, "cell") || has(key, "notebook")) && words(key).iter().any(begins)
            };
            let beside = object.iter().any(|(key, _)| is_about(&key));
            for (key, member) in object.iter() {
                let ends = || words(&key).last().is_some_and(|last| matches!(last.as_str(), "source" | "sources"));
                let is_source = || has(&key, "source") && ends();
                let is_text = || matches!(role::of(&key), Role::Content | Role::Prose);
                let inner = member.kind() == Kind::Object && is_cell;
                descend(&member, inner || beside && is_text() || is_source(), depth + 1, see);
            }
        }
        Kind::Array => {
            for element in value.elements().unwrap_or_default() {
                descend(&element, is_cell, depth + 1, see);
            }
        }
        Kind::String => {
            let Some(text) = value.as_text() else { return };
            if is_cell {
                see(&text);
            }
            if let Some(nested) = role::as_json(Role::Other, &text) {
                descend(&nested, is_cell, depth + 1, see);
            }
        }
        Kind::Number | Kind::Bool | Kind::Null => {}
    }
}
