//! Results, as a client of some revision accepts them: without what its era does not know.

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_wire::{Edit, Kind, Raw};

use super::content;
use super::shape::{Need, Row, Shape, Verdict};
use crate::mcp::{meta, method};
use crate::{Era, Revision};

/// What results that may be kept say of it in the modern era. A task has a `ttlMs` of its own.
const CACHE_RULES: [&str; 2] = ["ttlMs", "cacheScope"];
const COMPLETION: &[Row] = &[Row {
    key: "completion",
    shape: Shape::Object(&[
        Row { key: "values", shape: Shape::Sieve(&Shape::Text), need: Need::Required },
        Row { key: "total", shape: Shape::Count, need: Need::Dropped },
        Row { key: "hasMore", shape: Shape::Flag, need: Need::Dropped },
    ]),
    need: Need::Required,
}];

/// Why a result is one that no client would accept, and nobody can tell what was meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misshapen(pub String);

/// The result of `asked` for a client of this revision; `None` where it may stay as it is.
///
/// # Errors
/// What it should have been cannot be told.
pub fn result(asked: &str, raw: &Raw, revision: Revision) -> Result<Option<Raw>, Misshapen> {
    let legacy = revision.era() == Era::Legacy;
    if asked == method::TOOLS_CALL && is_plain(raw, legacy) {
        return Ok(None);
    }
    if raw.kind() != Kind::Object {
        let kind = match raw.kind() {
            Kind::Null => "null",
            Kind::Array => "a list",
            Kind::String => "a text",
            _ => "a single value",
        };
        return Err(Misshapen(format!("the result is {kind} instead of an object")));
    }
    let Ok(edit) = Edit::of(raw) else { return Ok(None) };
    let mut result = Draft { edit, changed: false };
    // A question, or a task, has nothing of an answer.
    if result.edit.object().text("resultType").is_some_and(|kind| kind != "complete") {
        return Ok(None);
    }
    if legacy {
        result = result.without_modern(asked);
    }
    if result.edit.object().get("_meta").is_some_and(|meta| meta.kind() != Kind::Object) {
        result = result.remove("_meta");
    }
    if !legacy && !result.edit.object().has("resultType") {
        result = result.set("resultType", Raw::string("complete"));
    }
    result = match asked {
        method::TOOLS_CALL => called(result, revision),
        // What a task brought need not be a tool's.
        method::TASKS_RESULT if result.edit.object().has("content") => called(result, revision),
        method::PROMPTS_GET => prompted(result, revision)?,
        method::RESOURCES_READ => read(result)?,
        method::COMPLETE => match Shape::Object(COMPLETION).fit(raw, &mut Vec::new()) {
            Verdict::Mended(other) => {
                let completion = other.member("completion");
                Draft { edit: result.edit.set_optional("completion", completion), changed: true }
            }
            Verdict::Same => result,
            Verdict::Unfit(why) => return Err(Misshapen(why)),
        },
        _ => result,
    };
    Ok(result.finish())
}

/// The result of `resources/read` with the address that was asked for where contents have none; `None` where all have one.
#[must_use]
pub fn addressed(raw: &Raw, uri: &str) -> Option<Raw> {
    let edit = Edit::of(raw).ok()?;
    let mut changed = false;
    let mut with_uri = |raw: Raw| {
        let Ok(edit) = Edit::of(&raw) else { return raw };
        if edit.object().get("uri").is_some_and(|uri| uri.kind() == Kind::String) {
            return raw;
        }
        changed = true;
        edit.set("uri", Raw::string(uri)).finish()
    };
    // Some write a text where its contents should stand, or one of them where a list should.
    let written = |raw: Raw| match raw.kind() {
        Kind::String => Edit::empty().set("text", raw).finish(),
        _ => raw,
    };
    let contents = match edit.object().get("contents")? {
        raw if raw.kind() == Kind::Array => raw.elements()?,
        raw => vec![raw],
    };
    let contents: Vec<Raw> = contents.into_iter().map(|raw| with_uri(written(raw))).collect();
    changed.then(|| edit.set("contents", Raw::array(&contents)).finish())
}

/// A result that is being changed.
struct Draft {
    edit: Edit,
    changed: bool,
}

impl Draft {
    fn set(self, key: &str, value: Raw) -> Self {
        Self { edit: self.edit.set(key, value), changed: true }
    }

    fn remove(self, key: &str) -> Self {
        Self { edit: self.edit.remove(key), changed: true }
    }

    fn finish(self) -> Option<Raw> {
        self.changed.then(|| self.edit.finish())
    }

    fn without_modern(mut self, asked: &str) -> Self {
        let kept = asked.ends_with("/list") || asked == method::RESOURCES_READ || asked == method::DISCOVER;
        let rules = CACHE_RULES.into_iter().filter(|_| kept && !asked.starts_with("tasks/"));
        for key in rules.chain(["resultType"]) {
            if self.edit.object().has(key) {
                self = self.remove(key);
            }
        }
        let Some(meta) = self.edit.object().get("_meta") else { return self };
        let Ok(inner) = Edit::of(&meta) else { return self };
        if !inner.object().has(meta::SERVER_INFO) {
            return self;
        }
        if inner.object().len() == 1 {
            return self.remove("_meta");
        }
        self.set("_meta", inner.remove(meta::SERVER_INFO).finish())
    }
}

/// The answer of a tool.
fn called(mut result: Draft, revision: Revision) -> Draft {
    let object = result.edit.object().clone();
    // The answer to the creation of a task, and whatever else is no answer of a tool.
    if object.has("task") && !object.has("content") {
        return result;
    }
    let listed = object.get("content").map(|content| match content.kind() {
        Kind::Array => content.elements().unwrap_or_default(),
        Kind::Null => Vec::new(),
        _ => vec![content],
    });
    let is_list = object.get("content").is_some_and(|content| content.kind() == Kind::Array);
    let blocks = listed.unwrap_or_default();
    let (mut blocks, mended) = mend(blocks, revision);
    let mut changed = mended || !is_list;
    if revision.era() == Era::Legacy
        && let Some(structured) = object.get("structuredContent").filter(|given| given.kind() != Kind::Object)
    {
        result = result.remove("structuredContent");
        let says = |block: &Raw| block.member("type").and_then(|kind| kind.as_text()).as_deref() == Some("text");
        if structured.kind() != Kind::Null && !blocks.iter().any(says) {
            blocks.push(content::text(structured.as_str()));
            changed = true;
        }
    }
    if changed {
        result = result.set("content", Raw::array(&blocks));
    }
    match object.get("isError") {
        Some(flag) if flag.kind() != Kind::Bool && says_failure(&flag) => result.set("isError", Raw::boolean(true)),
        Some(flag) if flag.kind() != Kind::Bool => result.remove("isError"),
        _ => result,
    }
}

/// Whether the `isError` of a result says that the tool failed. What is no clear false does: a failure that is taken for a
/// success is acted upon.
#[must_use]
pub fn says_failure(flag: &Raw) -> bool {
    let text = flag.as_text();
    let said = text.as_deref().unwrap_or_else(|| flag.as_str()).trim();
    !["false", "no", "0", "0.0", "null"].iter().any(|no| said.eq_ignore_ascii_case(no))
}

fn mend(blocks: Vec<Raw>, revision: Revision) -> (Vec<Raw>, bool) {
    let mut changed = false;
    let mended = |block: Raw| match content::block(&block, revision) {
        Some(other) => {
            changed = true;
            other
        }
        None => block,
    };
    let blocks = blocks.into_iter().map(mended).collect();
    (blocks, changed)
}

/// The messages of a prompt.
fn prompted(mut result: Draft, revision: Revision) -> Result<Draft, Misshapen> {
    let object = result.edit.object().clone();
    if object.get("description").is_some_and(|said| said.kind() != Kind::String) {
        result = result.remove("description");
    }
    let Some(given) = object.get("messages").filter(|given| given.kind() != Kind::Null) else {
        return Err(Misshapen("`messages` is missing".to_owned()));
    };
    let mut changed = given.kind() != Kind::Array;
    let messages = if changed { vec![given] } else { given.elements().unwrap_or_default() };
    let mut said = Vec::with_capacity(messages.len());
    for message in messages {
        let message = match message.kind() {
            Kind::String => Edit::empty().set("content", message).finish(),
            _ => message,
        };
        let Ok(edit) = Edit::of(&message) else {
            return Err(Misshapen("one of its `messages` is no object, or has a key twice".to_owned()));
        };
        let role = edit.object().text("role");
        let content = edit.object().get("content").filter(|content| content.kind() != Kind::Null);
        let known = matches!(role.as_deref(), Some("user" | "assistant"));
        let edit = if known { edit } else { edit.set("role", Raw::string("user")) };
        changed |= !known;
        let blocks = match &content {
            Some(content) if content.kind() == Kind::Array => content.elements().unwrap_or_default(),
            Some(content) => vec![content.clone()],
            None => vec![content::text("")],
        };
        let single = blocks.len() == 1 && content.as_ref().is_some_and(|content| content.kind() != Kind::Array);
        let (blocks, mended) = mend(blocks, revision);
        changed |= mended || !single;
        if single && !mended && known {
            said.push(message);
        } else {
            let frame = edit.finish();
            let holding = |block: Raw| Edit::of(&frame).map(|edit| edit.set("content", block).finish());
            said.extend(blocks.into_iter().filter_map(|block| holding(block).ok()));
        }
    }
    Ok(if changed { result.set("messages", Raw::array(&said)) } else { result })
}

/// The contents of a resource.
fn read(result: Draft) -> Result<Draft, Misshapen> {
    let Some(given) = result.edit.object().get("contents").filter(|given| given.kind() != Kind::Null) else {
        return Err(Misshapen("`contents` is missing".to_owned()));
    };
    let mut changed = given.kind() != Kind::Array;
    let listed = if changed { vec![given] } else { given.elements().unwrap_or_default() };
    let mut contents = Vec::with_capacity(listed.len());
    for raw in listed {
        // What was meant as text and is none is shown as it is written.
        let raw = match raw.member("text") {
            Some(text) if !matches!(text.kind(), Kind::String | Kind::Null) => {
                changed = true;
                let written = Raw::string(text.as_str());
                Edit::of(&raw).map_or_else(|_| raw.clone(), |edit| edit.set("text", written).finish())
            }
            _ => raw,
        };
        match content::contents(&raw) {
            Ok(None) => contents.push(raw),
            Ok(Some(other)) => {
                changed = true;
                contents.push(other);
            }
            Err(why) => return Err(Misshapen(format!("one of its `contents` {why}"))),
        }
    }
    Ok(if changed { result.set("contents", Raw::array(&contents)) } else { result })
}

/// Whether the answer of a tool is one that every client accepts, seen in one pass: nearly all are.
fn is_plain(raw: &Raw, legacy: bool) -> bool {
    let Ok(glance) = serde_json::from_str::<Glance<'_>>(raw.as_str()) else { return false };
    let Some(blocks) = &glance.content else { return false };
    let structured = match glance.structured_content.first() {
        None | Some(b'{') => true,
        Some(_) => !legacy,
    };
    let meta = match glance.meta.0 {
        None => true,
        Some(meta) => {
            meta.get().starts_with('{') && !(legacy && memmem::find(meta.get().as_bytes(), b"serverInfo").is_some())
        }
    };
    let kind = match glance.result_type.0 {
        None => legacy,
        Some(kind) => !legacy && kind.get() == "\"complete\"",
    };
    kind && meta
        && structured
        && matches!(glance.is_error.first(), None | Some(b't' | b'f'))
        && blocks.iter().all(|block| {
            block.kind.0.is_some_and(|kind| kind.get() == "\"text\"")
                && block.text.first() == Some(b'"')
                && block.annotations.0.is_none()
                && block.meta.0.is_none()
        })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Glance<'a> {
    #[serde(borrow, default)]
    content: Option<Vec<GlanceBlock<'a>>>,
    #[serde(borrow, default)]
    structured_content: Slot<'a>,
    #[serde(borrow, default)]
    is_error: Slot<'a>,
    #[serde(borrow, default)]
    result_type: Slot<'a>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Slot<'a>,
}

#[derive(Deserialize)]
struct GlanceBlock<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Slot<'a>,
    #[serde(borrow, default)]
    text: Slot<'a>,
    #[serde(borrow, default)]
    annotations: Slot<'a>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Slot<'a>,
}

/// A member that is there, `null` as well, unread.
#[derive(Default, Clone, Copy)]
struct Slot<'a>(Option<&'a RawValue>);

impl<'a> Slot<'a> {
    fn first(&self) -> Option<u8> {
        self.0.and_then(|raw| raw.get().bytes().next())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Slot<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'de RawValue>::deserialize(deserializer).map(|raw| Self(Some(raw)))
    }
}
