//! What a definition carries beside what is pinned: other keys of `_meta`, icons, members that nobody knows.
//!
//! Such members may change with every answer, so a change of them holds nothing back. But they reach clients, and what
//! certainly gives orders to a model there is left out of the list, whenever it comes.

use switchboard_wire::{Edit, Kind, Object, Raw};

use super::screening;
use crate::Gate;
use crate::pins::shown::{COUNTED_META, Shown, counted_of, pin_name};
use switchboard_upstream::Server;
use switchboard_upstream::{ListKind, Lists};

/// Bytes of such members that are read of one definition. What lies beyond is left out.
const MAX_EXTRA_BYTES: usize = 64 << 10;
/// How deep they are read.
const MAX_DEPTH: usize = 16;

/// Leaves out of a server's lists what is not pinned and speaks to the model.
pub fn strip_extras(gate: &Gate<'_>, server: &Server, lists: &mut Lists) {
    if !gate.options().screen_definitions {
        return;
    }
    let kinds = [
        (ListKind::Tools, "name", &mut lists.tools),
        (ListKind::Prompts, "name", &mut lists.prompts),
        (ListKind::Resources, "uri", &mut lists.resources),
        (ListKind::Templates, "uriTemplate", &mut lists.templates),
    ];
    for (kind, key, list) in kinds {
        for item in &mut list.items {
            if let Some(stripped) = without_orders(gate, server, kind, key, item) {
                *item = stripped;
            }
        }
    }
}

/// The definition without the members that give orders; `None` where none does.
fn without_orders(gate: &Gate<'_>, server: &Server, kind: ListKind, key: &str, item: &Raw) -> Option<Raw> {
    let object = Object::open(item).ok()?;
    let name = object.text(key)?;
    let counted = counted_of(kind);
    let mut edit = None;
    let gives_orders = |value: &Raw| match texts(value) {
        // What cannot be read is not shown.
        None => true,
        Some(text) if text.is_empty() => false,
        Some(text) => screening(gate, server, &Shown::of_text(&pin_name(kind, &name), &name, &text)).is_held(),
    };
    let speaks = |key: &str, value: &Raw| gives_orders(value) || gives_orders(&Raw::string(key));
    for (member, value) in object.iter().filter(|(member, _)| !counted.contains(&&**member)) {
        let changed = if member == "_meta" && value.kind() == Kind::Object {
            let Ok(meta) = Object::open(&value) else { continue };
            let bad: Vec<String> = meta
                .iter()
                .filter(|(key, _)| !COUNTED_META.contains(&&**key))
                .filter(|(key, value)| speaks(key, value))
                .map(|(key, _)| key.into_owned())
                .collect();
            if bad.is_empty() {
                continue;
            }
            let meta = Edit::of(&value).ok()?;
            Some(bad.iter().fold(meta, |meta, key| meta.remove(key)).finish())
        } else if speaks(&member, &value) {
            None
        } else {
            continue;
        };
        let before = match edit.take() {
            Some(edit) => edit,
            None => Edit::of(item).ok()?,
        };
        tracing::warn!(server = %server.id(), what = name, member = %member, "part of a definition is left out: it speaks to the model");
        edit = Some(match changed {
            Some(value) => before.set(&member, value),
            None => before.remove(&member),
        });
    }
    edit.map(Edit::finish)
}

/// The sentences in a value: strings and keys of more than one word. `None` where there are more than can be read.
fn texts(value: &Raw) -> Option<String> {
    let mut found = String::new();
    let mut waiting = vec![(value.clone(), 0)];
    let mut take = |text: &str| {
        // An order has several words. Addresses, pictures and names have one.
        if text.contains(char::is_whitespace) {
            found.push_str(text);
            found.push('\n');
        }
        found.len() <= MAX_EXTRA_BYTES
    };
    while let Some((value, depth)) = waiting.pop() {
        let within = match value.kind() {
            Kind::String => take(&value.as_text()?),
            Kind::Object => {
                let object = Object::open(&value).ok()?;
                waiting.extend(object.iter().map(|(_, value)| (value, depth + 1)));
                object.iter().all(|(key, _)| take(&key))
            }
            Kind::Array => {
                waiting.extend(value.elements()?.into_iter().map(|value| (value, depth + 1)));
                true
            }
            _ => true,
        };
        if !within || depth > MAX_DEPTH {
            return None;
        }
    }
    Some(found)
}
