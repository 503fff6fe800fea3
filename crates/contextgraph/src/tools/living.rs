//! Living with memories: get, list, update, forget, erase, undo.

use serde_json::{Value, json};

use super::args::{Args, Param};
use super::schema::{ANY, FLAG, NUMBER, Shape, TEXT, WHOLE, list, maybe, object, output};
use super::{Class, Spec, ToolCall, shown, when};
use crate::Id;
use crate::embedders::Modality;
use crate::engine::{MemoryFilter, MemoryPage, Page, Patch, Space};
use crate::error::{Outcome, Problem};
use crate::graph::Memory;
use crate::store::MemoryRevision;

/// Memories that one call forgets or erases, at most.
const MAX_IDS: usize = 100;
/// Characters of a text in a list, unless it is said.
const LISTED_CHARS: i64 = 200;
/// Edges of a memory that are shown.
const MAX_EDGES: usize = 50;

/// What a list or a search may be narrowed by.
pub(super) fn filters() -> Vec<Param> {
    vec![
        Param::texts("tags", "Only with all of these tags"),
        Param::text("after", "Only stored then or later: 2026-03-01, 2026-03 or 2026-03-01T12:00:00Z"),
        Param::text("before", "Only stored before then"),
        Param::text("agent", "Only stored by this agent"),
        Param::number("minImportance", "Only at least so important", 0.0, 1.0),
    ]
}

/// The filter of a call.
pub(super) fn filter(args: &Args) -> Outcome<MemoryFilter> {
    Ok(MemoryFilter {
        tags: args.texts("tags"),
        after: when::argument(args, "after")?.map(|range| range.0),
        before: when::argument(args, "before")?.map(|range| range.0),
        agent: args.maybe_text("agent").map(ToOwned::to_owned),
        min_importance: args.maybe_number("minImportance"),
        modality: args.maybe_text("modality").and_then(Modality::from_word),
        as_of: when::argument(args, "asOf")?,
        entity: None,
    })
}

/// The schema of a memory in a result.
pub(super) fn shape(more: &[(&'static str, Shape)]) -> Shape {
    let mut members = vec![
        ("fingerprintId", TEXT),
        ("content", maybe(TEXT)),
        ("createdAt", TEXT),
        ("agent", TEXT),
        ("kind", TEXT),
        ("importance", NUMBER),
        ("version", WHOLE),
        ("tags", maybe(list(TEXT))),
        ("updatedAt", maybe(TEXT)),
        ("count", maybe(WHOLE)),
        ("validFrom", maybe(TEXT)),
        ("validTo", maybe(TEXT)),
        ("forgottenAt", maybe(TEXT)),
        ("contradicts", maybe(list(TEXT))),
        ("supersedes", maybe(list(TEXT))),
        ("supersededBy", maybe(list(TEXT))),
    ];
    members.extend_from_slice(more);
    object(&members)
}

fn one_or_more() -> [Param; 2] {
    [
        Param::id("memory_id", "The memory").also(&["id", "fingerprintId"]),
        Param::ids("memory_ids", "Several, at most 100").also(&["ids"]),
    ]
}

pub(super) fn tools() -> Vec<Spec> {
    let id = || Param::id("memory_id", "The memory").also(&["id", "fingerprintId"]).required();
    let [one, several] = one_or_more();
    let (erase_one, erase_several) = (one.clone(), several.clone());
    let mut listed = vec![
        Param::whole("limit", "How many, at most", 1, 100).also(&["topK", "max_results"]).default(20),
        Param::text("cursor", "`nextCursor` of the page before"),
        Param::word("order", "Which come first", &["newest", "oldest"]).default("newest"),
        Param::flag("forgotten", "Those that were forgotten, which can be restored").default(false),
        Param::whole("maxChars", "Characters of each text", 0, 1 << 20).default(LISTED_CHARS),
        Param::text("asOf", "Only what held then: 2026-03 or 2026-03-01"),
    ];
    listed.extend(filters());
    vec![
        Spec {
            name: "get_memory",
            title: "Get memory",
            description: "Reads one memory by its id: the whole text, when and by whom it was stored, its edges, and with `history` what \
                          it was before.",
            category: "memory",
            class: Class::Read,
            idempotent: true,
            params: vec![id(), Param::flag("history", "Whether to give earlier versions").default(false)],
            output: shape(&[
                ("rationale", maybe(TEXT)),
                ("edges", list(ANY)),
                ("edgeCount", WHOLE),
                ("history", maybe(list(ANY))),
                ("sources", maybe(list(ANY))),
            ])
            .schema(),
            run: get_memory,
        },
        Spec {
            name: "list_memories",
            title: "List memories",
            description: "Lists memories, the newest first, page by page; by tag, time, agent or importance.",
            category: "memory",
            class: Class::Read,
            idempotent: true,
            params: listed,
            output: output(&[
                ("memories", list(shape(&[]))),
                ("count", WHOLE),
                ("total", WHOLE),
                ("nextCursor", maybe(TEXT)),
            ]),
            run: list_memories,
        },
        Spec {
            name: "update_memory",
            title: "Update memory",
            description: "Corrects a memory. The version before is kept and can be brought back. Give the `version` you read, and a change \
                          that somebody else made meanwhile is not lost.",
            category: "memory",
            class: Class::Write,
            idempotent: false,
            params: vec![
                id(),
                Param::text("content", "The new text"),
                Param::texts("tags", "The new tags, all of them"),
                Param::number("importance", "How important it is", 0.0, 1.0),
                Param::text("rationale", "Why it is worth remembering"),
                Param::word("modality", "What kind of thing it is about", super::core::MODALITIES),
                Param::text("validFrom", "Since when it holds: 2026-03-01"),
                Param::text("validTo", "Until when it held"),
                Param::whole("version", "The version that is changed; another is refused", 1, i64::MAX)
                    .also(&["expected_version"]),
            ],
            output: output(&[("fingerprintId", TEXT), ("version", WHOLE), ("updatedAt", TEXT), ("undo", TEXT)]),
            run: update_memory,
        },
        Spec {
            name: "forget_memory",
            title: "Forget memory",
            description: "Takes a memory out: it is not found any more. `restore` brings it back. To remove it for good, use erase_memory.",
            category: "memory",
            class: Class::Write,
            idempotent: true,
            params: vec![one, several, Param::flag("restore", "Bring back what was forgotten").default(false)],
            output: output(&[("forgotten", WHOLE), ("restored", WHOLE), ("undo", maybe(TEXT))]),
            run: forget_memory,
        },
        Spec {
            name: "erase_memory",
            title: "Erase memory",
            description: "Removes memories for good: text, vectors, words, versions, and answers that name them, in the files too. This \
                          cannot be undone. Only by whoever stored them, or the owner.",
            category: "memory",
            class: Class::Erase,
            idempotent: true,
            params: vec![erase_one, erase_several],
            output: output(&[("erased", list(TEXT)), ("count", WHOLE), ("scrubbed", maybe(FLAG))]),
            run: erase_memory,
        },
        Spec {
            name: "undo_change",
            title: "Undo change",
            description: "Takes back one change by the id that its answer gave as `undo`: a memory stored, corrected, forgotten or merged, \
                          an edge, a judgement, a modulator, the north star. Each once.",
            category: "memory",
            class: Class::Destructive,
            idempotent: false,
            params: vec![Param::id("operation", "`undo` of an answer").also(&["undo", "id"]).required()],
            output: output(&[("done", TEXT)]),
            run: undo_change,
        },
    ]
}

/// A memory as a result.
pub(super) fn result(space: &Space, memory: &Memory, text: Option<&str>, characters: usize) -> Value {
    let mut out = shown::marks(space, memory);
    out.insert("fingerprintId".to_owned(), json!(memory.id));
    if let Some(text) = text.filter(|_| characters > 0) {
        out.insert("content".to_owned(), shown::cut(text, characters).into());
    }
    Value::Object(out)
}

/// Memories as results.
pub(super) fn results(space: &mut Space, memories: &[Memory], characters: usize) -> Outcome<Vec<Value>> {
    let ids: Vec<Id> = memories.iter().map(|memory| memory.id).collect();
    let texts = if characters > 0 { space.texts(&ids)? } else { Default::default() };
    Ok(memories
        .iter()
        .map(|memory| result(space, memory, texts.get(&memory.id).map(String::as_str), characters))
        .collect())
}

fn get_memory(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let id = call.args.id("memory_id")?;
    let (memory, body) = call.space.whole(id)?;
    call.space.mark_found(id, call.now);
    let mut out = result(call.space, &memory, Some(&body.content), usize::MAX);
    if let Some(rationale) = body.rationale {
        out["rationale"] = rationale.into();
    }
    let edges = call.space.neighbourhood(id);
    let ids: Vec<Id> = edges.iter().take(MAX_EDGES).map(|edge| edge.0).collect();
    let texts = call.space.texts(&ids)?;
    out["edgeCount"] = edges.len().into();
    out["edges"] = edges
        .into_iter()
        .take(MAX_EDGES)
        .map(|(other, kind, weight, _, forth)| {
            json!({
                "memory_id": other,
                "kind": kind,
                "direction": if forth { "out" } else { "in" },
                "weight": weight,
                "content": texts.get(&other).map(|text| shown::cut(text, 100)),
            })
        })
        .collect();
    if !memory.provenance.sources.is_empty() {
        out["sources"] = memory
            .provenance
            .sources
            .iter()
            .map(|source| json!({"memory_id": source.id, "at": when::shown(source.at), "agent": source.agent}))
            .collect();
    }
    if call.args.flag("history") {
        out["history"] = call.space.history(id)?.iter().map(earlier).collect();
    }
    Ok(out)
}

fn earlier(revision: &MemoryRevision) -> Value {
    json!({
        "version": revision.memory.provenance.revision,
        "content": revision.content,
        "tags": revision.memory.tags,
        "importance": revision.memory.importance,
        "replacedAt": when::shown(revision.at),
        "by": revision.memory.provenance.updated_by.as_ref().unwrap_or(&revision.memory.agent),
    })
}

/// The page that a call asks for.
pub(super) fn listing(args: &Args) -> Outcome<MemoryPage> {
    Ok(MemoryPage {
        filter: filter(args)?,
        forgotten: args.flag("forgotten"),
        oldest_first: args.text("order") == "oldest",
        limit: args.whole("limit"),
        cursor: args.maybe_text("cursor").map(read_cursor).transpose()?,
    })
}

/// Puts a page into an answer.
pub(super) fn put_page(space: &mut Space, page: &Page, characters: usize, out: &mut Value) -> Outcome<()> {
    out["memories"] = results(space, &page.memories, characters)?.into();
    out["count"] = page.memories.len().into();
    out["total"] = page.total.into();
    if let Some(next) = page.next {
        out["nextCursor"] = write_cursor(next).into();
    }
    Ok(())
}

fn list_memories(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let page = call.space.list(&listing(call.args)?);
    let mut out = json!({});
    put_page(call.space, &page, call.args.whole("maxChars"), &mut out)?;
    Ok(out)
}

fn write_cursor((at, id): (u64, Id)) -> String {
    format!("{at:x}.{:x}", id.0)
}

fn read_cursor(text: &str) -> Outcome<(u64, Id)> {
    let parts = text
        .split_once('.')
        .and_then(|(at, id)| Some((u64::from_str_radix(at, 16).ok()?, Id(u128::from_str_radix(id, 16).ok()?))));
    parts.ok_or_else(|| Problem::params("`cursor` is the `nextCursor` of the page before, as it came"))
}

fn update_memory(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let args = call.args;
    let patch = Patch {
        content: args.maybe_text("content").map(ToOwned::to_owned),
        rationale: args.maybe_text("rationale").map(ToOwned::to_owned),
        tags: args.get("tags").map(|_| args.texts("tags")),
        importance: args.maybe_number("importance"),
        modality: args.maybe_text("modality").and_then(Modality::from_word),
        valid_from: when::argument(args, "validFrom")?.map(|range| range.0),
        valid_to: when::argument(args, "validTo")?.map(|range| range.0),
        expected: args.maybe_number("version").map(|version| version as u64),
    };
    let (memory, record) = call.space.update(args.id("memory_id")?, patch, call.agent, call.now)?;
    Ok(json!({
        "fingerprintId": memory.id,
        "version": memory.provenance.revision,
        "updatedAt": when::shown(memory.updated_at),
        "undo": record,
    }))
}

/// The ids that a call gives, one or several.
fn ids(args: &Args) -> Outcome<Vec<Id>> {
    let mut ids = args.ids("memory_ids").unwrap_or_default();
    ids.extend(args.maybe_id("memory_id"));
    ids.sort_unstable();
    ids.dedup();
    match ids.len() {
        0 => Err(Problem::params("`memory_id` is missing")),
        1..=MAX_IDS => Ok(ids),
        more => Err(Problem::params(format!("{more} memories at once are too many: at most {MAX_IDS}"))),
    }
}

fn forget_memory(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let ids = ids(call.args)?;
    if call.args.flag("restore") {
        let restored = call.space.restore(&ids, call.now)?;
        return Ok(json!({"forgotten": 0, "restored": restored}));
    }
    let record = call.space.forget(&ids, call.now)?;
    Ok(json!({"forgotten": ids.len(), "restored": 0, "undo": record}))
}

fn undo_change(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let done = call.space.undo(call.args.id("operation")?, call.now)?;
    Ok(json!({"done": done}))
}

fn erase_memory(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let ids = ids(call.args)?;
    let ToolCall { space, agent, is_owner, now, .. } = call;
    let erased = space.erase(&ids, &|memory| *is_owner || memory.agent == *agent, *now)?;
    Ok(json!({"count": erased.len(), "erased": erased}))
}
