//! Blocks of content, as a client of some revision accepts them.
//!
//! A block that no client would take becomes one that says the same: nothing that a model could read is lost.

use switchboard_wire::{Edit, Kind, Object, Raw};

use super::shape::{Need, Row, Shape, Verdict};
use super::{ANNOTATIONS, META, MIME_TYPE, RESOURCE};
use crate::Revision;

const TEXT: &[Row] = &[Row { key: "text", shape: Shape::Text, need: Need::Required }, ANNOTATIONS, META];
const MEDIA: &[Row] = &[
    Row { key: "data", shape: Shape::Text, need: Need::Required },
    Row { key: "mimeType", shape: Shape::Text, need: Need::Required },
    ANNOTATIONS,
    META,
];
const EMBEDDED: &[Row] =
    &[Row { key: "resource", shape: Shape::Any(Kind::Object), need: Need::Required }, ANNOTATIONS, META];
const CONTENTS: &[Row] = &[Row { key: "uri", shape: Shape::Text, need: Need::Required }, MIME_TYPE, META];

/// How the data of images begins, written in base64.
const PICTURES: &[(&str, &str)] = &[
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("PHN2Zy", "image/svg+xml"),
];

/// A block as the client accepts it; `None` where it may stay as it is.
pub(super) fn block(raw: &Raw, revision: Revision) -> Option<Raw> {
    let Ok(object) = Object::open(raw) else {
        let said = raw.as_text().unwrap_or_else(|| raw.as_str().to_owned());
        return Some(text(&said));
    };
    match object.text("type").as_deref() {
        Some("text") => text_block(raw, &object),
        Some(kind @ ("image" | "audio")) => media(raw, &object, kind, revision),
        Some("resource") => embedded(raw, &object),
        Some("resource_link") => link(raw, &object, revision),
        _ => Some(text(object.text("text").as_deref().unwrap_or_else(|| raw.as_str()))),
    }
}

pub(super) fn text(said: &str) -> Raw {
    Edit::empty().set("type", Raw::string("text")).set("text", Raw::string(said)).finish()
}

fn text_block(raw: &Raw, object: &Object) -> Option<Raw> {
    let said = match object.get("text") {
        Some(said) if said.kind() == Kind::String => None,
        Some(said) if said.kind() != Kind::Null => Some(Raw::string(said.as_str())),
        _ => Some(Raw::string("")),
    };
    let changed = said.is_some();
    let raw = Edit::of(raw).map_or_else(|_| raw.clone(), |edit| edit.set_optional("text", said).finish());
    fitted(&raw, TEXT).or_else(|| changed.then_some(raw))
}

fn media(raw: &Raw, object: &Object, kind: &str, revision: Revision) -> Option<Raw> {
    let cannot = |why: &str| Some(text(&format!("[{kind} that cannot be shown: {why}]")));
    let Some(data) = object.get("data").filter(|data| data.kind() == Kind::String) else {
        return cannot("it has no data");
    };
    let Some(said) = data.as_text() else { return cannot("it has no data") };
    let mut edit = Edit::of(raw).ok()?;
    let mut changed = false;
    let (mut named, mut bytes) = (object.text("mimeType"), said.as_str());
    // Some servers write the URL that a page would show it by.
    if let Some((head, rest)) = said.strip_prefix("data:").and_then(|url| url.split_once(";base64,")) {
        named = named.or_else(|| Some(head.to_owned()));
        bytes = rest;
        edit = edit.set("data", Raw::string(rest));
        changed = true;
    }
    if !is_base64(bytes) {
        return cannot("its data is not base64");
    }
    if !object.get("mimeType").is_some_and(|name| name.kind() == Kind::String) {
        let seen = || PICTURES.iter().find(|(begin, _)| bytes.starts_with(begin)).map(|(_, name)| (*name).to_owned());
        let Some(name) = named.clone().or_else(seen) else { return cannot("it does not say what it is") };
        edit = edit.set("mimeType", Raw::string(&name));
        named = Some(name);
        changed = true;
    }
    if kind == "audio" && revision < Revision::V2025_03_26 {
        let resource = Edit::empty()
            .set("uri", Raw::string("attachment:audio"))
            .set_optional("mimeType", named.as_deref().map(Raw::string))
            .set("blob", Raw::string(bytes));
        let edit = edit.set("type", Raw::string("resource")).remove("data").remove("mimeType");
        let block = edit.set("resource", resource.finish()).finish();
        return Some(fitted(&block, EMBEDDED).unwrap_or(block));
    }
    let raw = edit.finish();
    fitted(&raw, MEDIA).or_else(|| changed.then_some(raw))
}

fn embedded(raw: &Raw, object: &Object) -> Option<Raw> {
    let Some(resource) = object.get("resource").filter(|resource| resource.kind() == Kind::Object) else {
        return Some(text(raw.as_str()));
    };
    match contents(&resource) {
        Ok(None) => fitted(raw, EMBEDDED),
        Ok(Some(other)) => {
            let raw = Edit::of(raw).ok()?.set("resource", other).finish();
            Some(fitted(&raw, EMBEDDED).unwrap_or(raw))
        }
        Err(_) => {
            let said = resource.member("text").and_then(|said| said.as_text());
            Some(text(said.as_deref().unwrap_or_else(|| raw.as_str())))
        }
    }
}

/// The contents of a resource; an error where no client would take them.
pub(super) fn contents(raw: &Raw) -> Result<Option<Raw>, String> {
    let object = Object::open(raw).map_err(|_| "is no object, or has a key twice".to_owned())?;
    let has_text = object.get("text").is_some_and(|said| said.kind() == Kind::String);
    let blob = object.get("blob").filter(|blob| blob.kind() == Kind::String).and_then(|blob| blob.as_text());
    if !has_text && !blob.as_deref().is_some_and(is_base64) {
        return Err(
            if blob.is_some() { "has a `blob` that is not base64" } else { "has neither `text` nor `blob`" }.to_owned()
        );
    }
    match Shape::Object(CONTENTS).fit(raw, &mut Vec::new()) {
        Verdict::Same => Ok(None),
        Verdict::Mended(other) => Ok(Some(other)),
        Verdict::Unfit(why) => Err(format!("cannot be read: {why}")),
    }
}

fn link(raw: &Raw, object: &Object, revision: Revision) -> Option<Raw> {
    let Some(uri) = object.text("uri") else { return Some(text(raw.as_str())) };
    let name = object.text("title").or_else(|| object.text("name"));
    if revision < Revision::V2025_06_18 {
        let mut said = name.map_or_else(|| uri.clone(), |name| format!("{name}: {uri}"));
        if let Some(description) = object.text("description") {
            said = format!("{said}\n{description}");
        }
        let block = Edit::of(&text(&said)).ok()?;
        let block = block.set_optional("annotations", object.get("annotations"));
        let block = block.set_optional("_meta", object.get("_meta")).finish();
        return Some(fitted(&block, TEXT).unwrap_or(block));
    }
    let unnamed = !object.get("name").is_some_and(|name| name.kind() == Kind::String);
    let named = if unnamed {
        Edit::of(raw).ok()?.set("name", Raw::string(name.as_deref().unwrap_or(&uri))).finish()
    } else {
        raw.clone()
    };
    fitted(&named, RESOURCE).or_else(|| unnamed.then_some(named))
}

/// The block with its members mended; one that cannot be is shown as what it is.
fn fitted(raw: &Raw, rows: &'static [Row]) -> Option<Raw> {
    match Shape::Object(rows).fit(raw, &mut Vec::new()) {
        Verdict::Same => None,
        Verdict::Mended(other) => Some(other),
        Verdict::Unfit(_) => Some(text(raw.as_str())),
    }
}

/// Whether browsers and Node read it: blanks are skipped, padding may be missing, nothing else may be.
pub(super) fn is_base64(data: &str) -> bool {
    let plain = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    let (mut letters, mut padding) = (0_usize, 0_usize);
    if plain && !data.contains('=') {
        return data.len() % 4 != 1;
    }
    for byte in data.bytes() {
        match byte {
            b'\t' | b'\n' | 0x0c | b'\r' | b' ' => {}
            b'=' => padding += 1,
            _ if padding > 0 => return false,
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/') => letters += 1,
            _ => return false,
        }
    }
    padding == 0 && letters % 4 != 1 || padding <= 2 && padding > 0 && (letters + padding) % 4 == 0
}
