//! Questions of servers, as a client of an older revision can read them.
//!
//! Since 2025-11-25 a message for sampling may have several blocks, among them uses of tools, and a choice in a form may
//! have titles. Before, a message has one block, and titles of a choice stand beside it in `enumNames`.

use switchboard_wire::{Edit, Kind, Object, Raw};

use super::content;
use crate::Revision;
use crate::mcp::method;

/// The parameters of a question for a client of this revision; `None` where they may stay as they are.
#[must_use]
pub fn question(asked: &str, params: &Raw, revision: Revision) -> Option<Raw> {
    if revision >= Revision::V2025_11_25 {
        return None;
    }
    match asked {
        method::CREATE_MESSAGE => sampling(params, revision),
        method::ELICIT => form(params),
        _ => None,
    }
}

fn sampling(params: &Raw, revision: Revision) -> Option<Raw> {
    let messages = params.member("messages")?.elements()?;
    let mut changed = false;
    let mut asked = Vec::with_capacity(messages.len());
    for message in messages {
        let Some(blocks) = blocks_of(&message) else {
            asked.push(message);
            continue;
        };
        let known = blocks.iter().all(|block| is_known(block, revision));
        let is_list = message.member("content").is_some_and(|content| content.kind() == Kind::Array);
        if known && !is_list {
            asked.push(message);
            continue;
        }
        changed = true;
        for block in blocks {
            let block = if is_known(&block, revision) { block } else { content::text(block.as_str()) };
            let message = Edit::of(&message).ok()?.set("content", block).finish();
            asked.push(message);
        }
    }
    changed.then(|| Edit::of(params).ok().map(|edit| edit.set("messages", Raw::array(&asked)).finish())).flatten()
}

fn blocks_of(message: &Raw) -> Option<Vec<Raw>> {
    let content = message.member("content")?;
    match content.kind() {
        Kind::Array => content.elements(),
        Kind::Object => Some(vec![content]),
        _ => None,
    }
}

fn is_known(block: &Raw, revision: Revision) -> bool {
    match block.member("type").and_then(|kind| kind.as_text()).as_deref() {
        Some("text" | "image") => true,
        Some("audio") => revision >= Revision::V2025_03_26,
        _ => false,
    }
}

fn form(params: &Raw) -> Option<Raw> {
    let schema = params.member("requestedSchema")?;
    let properties = schema.member("properties")?;
    let mut edit = Edit::of(&properties).ok()?;
    let mut changed = false;
    for (name, property) in Object::open(&properties).ok()?.iter() {
        let Some(titled) = titled_choice(&property) else { continue };
        edit = edit.set(&name, titled);
        changed = true;
    }
    let schema = Edit::of(&schema).ok()?.set("properties", edit.finish()).finish();
    changed.then(|| Edit::of(params).ok().map(|edit| edit.set("requestedSchema", schema).finish())).flatten()
}

/// `oneOf: [{const, title}]` as `enum` and `enumNames`.
fn titled_choice(property: &Raw) -> Option<Raw> {
    let choices = property.member("oneOf")?.elements()?;
    let member = |choice: &Raw, key: &str| choice.member(key).filter(|value| value.kind() == Kind::String);
    let values: Option<Vec<Raw>> = choices.iter().map(|choice| member(choice, "const")).collect();
    let values = values?;
    let names: Vec<Raw> = choices
        .iter()
        .zip(&values)
        .map(|(choice, value)| member(choice, "title").unwrap_or_else(|| value.clone()))
        .collect();
    let edit = Edit::of(property).ok()?.remove("oneOf");
    Some(edit.set("enum", Raw::array(&values)).set("enumNames", Raw::array(&names)).finish())
}
