//! Whose word something is. Pure.
//!
//! What the kernel says beside the words of others stands in `_meta`, under keys that begin with `dev.switchboard/`: who
//! asks, what was found in a result, which tool answered. A server that wrote such a key could pass its own question for
//! the kernel's. They are therefore taken out of everything that servers send, before the kernel adds its own, and out of the
//! answers of clients on their way to servers.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use switchboard_wire::{Edit, ErrorObject, Kind, Object, Raw};

/// What the kernel's keys begin with.
const OWN: &str = "dev.switchboard/";
/// How deep it is looked for them. Nothing that is shown as a whole lies deeper.
const MAX_DEPTH: usize = 16;

/// What came of looking for the kernel's keys in what a server sent.
#[derive(Debug, PartialEq)]
pub enum KernelKeys {
    /// There are none.
    Clean,
    /// The same without them.
    Stripped(Raw),
    /// It cannot be said: a member stands twice, and readers would disagree about it.
    Ambiguous,
}

/// Looks for keys of the kernel in every `_meta` of a message. What a tool returns as its own data is left alone.
pub fn of_server(raw: &Raw) -> KernelKeys {
    look(raw, strip)
}

fn look(raw: &Raw, strip: fn(&Raw, usize) -> Result<Option<Raw>, Ambiguous>) -> KernelKeys {
    /// The key, and how letters of it are written otherwise.
    static SIGNS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| ["dev.switchboard", "\\u00"].map(Finder::new));
    if SIGNS.iter().all(|sign| sign.find(raw.as_bytes()).is_none()) {
        return KernelKeys::Clean;
    }
    match strip(raw, 0) {
        Ok(None) => KernelKeys::Clean,
        Ok(Some(stripped)) => KernelKeys::Stripped(stripped),
        Err(Ambiguous) => KernelKeys::Ambiguous,
    }
}

/// The data of an error, of a server or of a client, without the kernel's keys at whatever place: all of it is about the
/// error, and a reader looks for ours anywhere in it. `None` where it cannot be said which they are.
pub fn of_error(data: Raw) -> Option<Raw> {
    match look(&data, strip_all) {
        KernelKeys::Clean => Some(data),
        KernelKeys::Stripped(stripped) => Some(stripped),
        KernelKeys::Ambiguous => None,
    }
}

/// An error that passes from one side to the other, without the kernel's keys in it.
pub fn error_of_peer(mut error: ErrorObject) -> ErrorObject {
    error.data = error.data.and_then(of_error);
    error
}

/// The same for what need not arrive: what is ambiguous is left out.
pub fn cleaned(raw: Raw) -> Option<Raw> {
    match of_server(&raw) {
        KernelKeys::Clean => Some(raw),
        KernelKeys::Stripped(stripped) => Some(stripped),
        KernelKeys::Ambiguous => None,
    }
}

struct Ambiguous;

/// The value without the kernel's keys; `None` where it has none.
fn strip(raw: &Raw, depth: usize) -> Result<Option<Raw>, Ambiguous> {
    if depth > MAX_DEPTH {
        return Ok(None);
    }
    match raw.kind() {
        Kind::Object => {
            let object = Object::open(raw).map_err(|_| Ambiguous)?;
            let mut changes = Vec::new();
            for (key, value) in object.iter() {
                let changed = match &*key {
                    "structuredContent" => None,
                    "_meta" => without_own(&value)?,
                    _ => strip(&value, depth + 1)?,
                };
                changes.extend(changed.map(|value| (key.into_owned(), value)));
            }
            if changes.is_empty() {
                return Ok(None);
            }
            let edit = Edit::of(raw).map_err(|_| Ambiguous)?;
            Ok(Some(changes.into_iter().fold(edit, |edit, (key, value)| edit.set(&key, value)).finish()))
        }
        Kind::Array => {
            let mut items = raw.elements().unwrap_or_default();
            let mut changed = false;
            for item in &mut items {
                if let Some(stripped) = strip(item, depth + 1)? {
                    *item = stripped;
                    changed = true;
                }
            }
            Ok(changed.then(|| Raw::array(&items)))
        }
        _ => Ok(None),
    }
}

/// The same for a value all of whose members are about the message.
fn strip_all(raw: &Raw, depth: usize) -> Result<Option<Raw>, Ambiguous> {
    if depth > MAX_DEPTH {
        return Ok(None);
    }
    match raw.kind() {
        Kind::Object => {
            let without = without_own(raw)?;
            let object = Object::open(without.as_ref().unwrap_or(raw)).map_err(|_| Ambiguous)?;
            let mut changes = Vec::new();
            for (key, value) in object.iter() {
                changes.extend(strip_all(&value, depth + 1)?.map(|value| (key.into_owned(), value)));
            }
            if changes.is_empty() {
                return Ok(without);
            }
            let edit = Edit::of(without.as_ref().unwrap_or(raw)).map_err(|_| Ambiguous)?;
            Ok(Some(changes.into_iter().fold(edit, |edit, (key, value)| edit.set(&key, value)).finish()))
        }
        Kind::Array => {
            let mut items = raw.elements().unwrap_or_default();
            let mut changed = false;
            for item in &mut items {
                if let Some(stripped) = strip_all(item, depth + 1)? {
                    *item = stripped;
                    changed = true;
                }
            }
            Ok(changed.then(|| Raw::array(&items)))
        }
        _ => Ok(None),
    }
}

fn without_own(meta: &Raw) -> Result<Option<Raw>, Ambiguous> {
    if meta.kind() != Kind::Object {
        return Ok(None);
    }
    let object = Object::open(meta).map_err(|_| Ambiguous)?;
    let own: Vec<String> = object.iter().map(|(key, _)| key.into_owned()).filter(|key| key.starts_with(OWN)).collect();
    if own.is_empty() {
        return Ok(None);
    }
    let edit = Edit::of(meta).map_err(|_| Ambiguous)?;
    Ok(Some(own.iter().fold(edit, |edit, key| edit.remove(key)).finish()))
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned(), &Limits::default()).unwrap()
    }

    #[test]
    fn the_data_of_an_error_holds_no_key_of_the_kernel_anywhere() {
        let given = r#"{"dev.switchboard/kind":"x","n":1.10,"a":[{"dev.switchboard\/y":1,"z":{"_meta":{"dev.switchboard/m":1}}}]}"#;
        let stripped = of_error(raw(given)).unwrap();
        assert_eq!(stripped.as_str(), r#"{"n":1.10,"a":[{"z":{"_meta":{}}}]}"#);
        assert_eq!(of_error(raw(r#"{"a":"dev.switchboard/x"}"#)).unwrap().as_str(), r#"{"a":"dev.switchboard/x"}"#);
        assert_eq!(of_error(raw(r#"{"a":1,"a":{"dev.switchboard/x":1}}"#)), None);
    }

    #[test]
    fn keys_of_the_kernel_are_taken_out_of_what_servers_send() {
        for (given, expected) in [
            (r#"{"_meta":{"dev.switchboard/marks":[],"k":1.0}}"#, Some(r#"{"_meta":{"k":1.0}}"#)),
            // However they are spelled.
            (r#"{"_meta":{"\u0064ev.switchboard/asked_by":"x"}}"#, Some(r#"{"_meta":{}}"#)),
            (r#"{"\u005fmeta":{"dev.switchboard\/asked_by":"x"}}"#, Some(r#"{"_meta":{}}"#)),
            // Wherever a `_meta` stands.
            (
                r#"{"content":[{"type":"text","_meta":{"dev.switchboard/x":1}},{"n":1.10}]}"#,
                Some(r#"{"content":[{"type":"text","_meta":{}},{"n":1.10}]}"#),
            ),
            (
                r#"{"inputRequests":{"a":{"params":{"_meta":{"dev.switchboard/asked_by":"switchboard"}}}}}"#,
                Some(r#"{"inputRequests":{"a":{"params":{"_meta":{}}}}}"#),
            ),
            // Words about it, and data of a tool, are no word of the kernel.
            (r#"{"content":[{"text":"dev.switchboard/marks"}],"_meta":{"dev.other/x":1}}"#, None),
            (r#"{"structuredContent":{"_meta":{"dev.switchboard/x":1}}}"#, None),
            (r#"{"content":[{"text":"\u003cb\u003e"}]}"#, None),
        ] {
            let expected = expected.map_or(KernelKeys::Clean, |text| KernelKeys::Stripped(raw(text)));
            let found = of_server(&raw(given));
            match (&found, &expected) {
                (KernelKeys::Stripped(found), KernelKeys::Stripped(expected)) => {
                    assert_eq!(
                        found.view::<serde_json::Value>().unwrap(),
                        expected.view::<serde_json::Value>().unwrap()
                    );
                }
                _ => assert_eq!(found, expected, "{given}"),
            }
        }
        let twice = r#"{"_meta":{},"_meta":{"dev.switchboard/asked_by":"switchboard"}}"#;
        assert_eq!(of_server(&raw(twice)), KernelKeys::Ambiguous);
        assert_eq!(cleaned(raw(twice)), None);
    }
}
