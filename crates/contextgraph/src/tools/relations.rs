//! Edges that an agent states, and entities: the people, projects and places that memories name.

use serde_json::{Value, json};

use super::args::Param;
use super::schema::{ANY, FLAG, TEXT, WHOLE, list, maybe, object, output};
use super::{Class, Spec, ToolCall, living, when};
use crate::engine::{Entity, EntityKind, MemoryPage};
use crate::error::{Code, Outcome, Problem};
use crate::graph::edges::EdgeKind;

pub(super) fn tools() -> Vec<Spec> {
    let ends = || {
        vec![
            Param::id("source", "Where the edge begins").also(&["source_id", "from"]).required(),
            Param::id("target", "Where it ends").also(&["target_id", "to"]).required(),
            Param::word("type", "What the first is to the second", EdgeKind::STATED)
                .also(&["kind", "relation"])
                .required(),
        ]
    };
    let answer = || output(&[("source", TEXT), ("target", TEXT), ("type", TEXT), ("undo", TEXT)]);
    let entity = || {
        object(&[
            ("name", TEXT),
            ("type", TEXT),
            ("stated", FLAG),
            ("memories", WHOLE),
            ("first", TEXT),
            ("last", TEXT),
        ])
    };
    vec![
        Spec {
            name: "relate_memories",
            title: "Relate memories",
            description: "Links two memories: related, part_of, depends_on, supports, causes, contradicts, or supersedes, which ends the \
                          validity of the second.",
            category: "memory",
            class: Class::Write,
            idempotent: true,
            params: ends(),
            output: answer(),
            run: relate_memories,
        },
        Spec {
            name: "unrelate_memories",
            title: "Unrelate memories",
            description: "Takes the edge of a type between two memories away.",
            category: "memory",
            class: Class::Write,
            idempotent: false,
            params: ends(),
            output: answer(),
            run: unrelate_memories,
        },
        Spec {
            name: "list_entities",
            title: "List entities",
            description: "Lists the people, projects, places and organisations that memories name, or with `name` one of them with its \
                          memories. A tag such as `person:Ada Lovelace` names one and says what it is.",
            category: "memory",
            class: Class::Read,
            idempotent: true,
            params: vec![
                Param::short("name", "One entity, with its memories", 128),
                Param::word("type", "Only of this kind", EntityKind::WORDS).also(&["kind"]),
                Param::whole("limit", "How many, at most", 1, 100).default(20),
                Param::text("cursor", "`nextCursor` of the page before, of an entity's memories"),
                Param::whole("maxChars", "Characters of each text", 0, 1 << 20).default(200),
            ],
            output: output(&[
                ("entities", maybe(list(entity()))),
                ("entity", maybe(entity())),
                ("beside", maybe(list(entity()))),
                ("memories", maybe(list(ANY))),
                ("count", WHOLE),
                ("total", WHOLE),
                ("nextCursor", maybe(TEXT)),
            ]),
            run: list_entities,
        },
    ]
}

fn kind(call: &ToolCall<'_>) -> Outcome<EdgeKind> {
    EdgeKind::from_word(call.args.text("type")).ok_or_else(|| Problem::params("`type` is missing"))
}

fn relate_memories(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let (source, target, kind) = (call.args.id("source")?, call.args.id("target")?, kind(call)?);
    let record = call.space.relate(source, target, kind, call.now)?;
    Ok(json!({"source": source, "target": target, "type": kind, "undo": record}))
}

fn unrelate_memories(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let (source, target, kind) = (call.args.id("source")?, call.args.id("target")?, kind(call)?);
    let record = call.space.unrelate(source, target, kind, call.now)?;
    Ok(json!({"source": source, "target": target, "type": kind, "undo": record}))
}

fn shown(entity: &Entity) -> Value {
    json!({
        "name": entity.name,
        "type": entity.kind,
        "stated": entity.stated,
        "memories": entity.memories,
        "first": when::shown(entity.first),
        "last": when::shown(entity.last),
    })
}

fn list_entities(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let limit = call.args.whole("limit");
    let Some(name) = call.args.maybe_text("name").map(str::trim).filter(|name| !name.is_empty()) else {
        let kind = call.args.maybe_text("type").and_then(EntityKind::from_word);
        let (total, found) = call.space.entities(kind, None, limit)?;
        let entities: Vec<Value> = found.iter().map(shown).collect();
        return Ok(json!({"entities": entities, "count": found.len(), "total": total}));
    };
    let Some((entity, beside)) = call.space.entity(name)? else {
        let message = format!("no memory names {name:?}; without `name` this tool lists what memories name");
        return Err(Problem::new(Code::Refused, "ENTITY_NOT_FOUND", message));
    };
    let listing = MemoryPage { limit, ..living::listing(call.args)? };
    let page = call.space.memories_of(name, listing);
    let mut out = json!({"entity": shown(&entity), "beside": beside.iter().map(shown).collect::<Vec<_>>()});
    living::put_page(call.space, &page, call.args.whole("maxChars"), &mut out)?;
    Ok(out)
}
