//! Storing and finding.

use serde_json::{Value, json};

use super::args::Param;
use super::schema::{NUMBER, TEXT, WHOLE, list, maybe, object, output};
use super::{Class, Spec, ToolCall, living, when};
use crate::embedders::Modality;
use crate::embedders::space::SPACES;
use crate::engine::{MemorySearch, NewMemory, Remembered};
use crate::error::{Outcome, Problem};

/// Characters of a text in a result, unless it is said.
const MAX_CHARS: i64 = 400;

pub(crate) const MODALITIES: &[&str] = &["text", "code", "image", "audio", "structured", "mixed"];

pub(super) fn tools() -> Vec<Spec> {
    let modality = || Param::word("modality", "What kind of thing it is about", MODALITIES);
    vec![
        Spec {
            name: "inject_context",
            title: "Inject context",
            description: "Stores a memory and learns from it: measures how surprising it is and how well it fits (UTL), links it \
                          with what is alike, and moves the state of the memory. Say in `rationale` why it is worth keeping.",
            category: "core_memory",
            class: Class::Write,
            idempotent: false,
            params: vec![
                Param::text("content", "What to remember").required(),
                Param::text("rationale", "Why it is worth remembering").required(),
                modality().default("text"),
                Param::number("importance", "How important it is", 0.0, 1.0).default(0.5),
                Param::texts("tags", "Words to mark it with"),
                Param::text("validFrom", "Since when it holds, if not from now: 2026-03-01"),
            ],
            output: output(&[
                ("fingerprintId", TEXT),
                ("rationale", TEXT),
                ("embedderCount", WHOLE),
                ("embeddingLatencyMs", NUMBER),
                (
                    "utl",
                    object(&[
                        ("learningScore", NUMBER),
                        ("entropy", NUMBER),
                        ("coherence", NUMBER),
                        ("surprise", NUMBER),
                        ("quadrant", TEXT),
                        ("intensity", TEXT),
                    ]),
                ),
                ("edgesCreated", WHOLE),
                ("contradicts", list(TEXT)),
                ("supersedes", maybe(list(TEXT))),
                ("count", maybe(WHOLE)),
                ("undo", TEXT),
            ]),
            run: inject_context,
        },
        Spec {
            name: "store_memory",
            title: "Store memory",
            description: "Stores a memory and links it with what is alike, without learning from it.",
            category: "core_memory",
            class: Class::Write,
            idempotent: false,
            params: vec![
                Param::text("content", "What to remember").required(),
                Param::number("importance", "How important it is", 0.0, 1.0).default(0.5),
                modality().default("text"),
                Param::texts("tags", "Words to mark it with"),
                Param::text("validFrom", "Since when it holds, if not from now: 2026-03-01"),
            ],
            output: output(&[
                ("fingerprintId", TEXT),
                ("embedderCount", WHOLE),
                ("embeddingLatencyMs", NUMBER),
                ("edgesCreated", WHOLE),
                ("supersedes", maybe(list(TEXT))),
                ("count", maybe(WHOLE)),
                ("undo", TEXT),
            ]),
            run: store_memory,
        },
        Spec {
            name: "search_graph",
            title: "Search the graph",
            description: "Finds memories by meaning and words, best first. Ask in plain language. `queryId` can be given to \
                          update_synergy_matrix to say which results were right.",
            category: "core_memory",
            class: Class::Read,
            idempotent: true,
            params: vec![
                Param::text("query", "What to look for, in plain language").required(),
                Param::whole("topK", "How many results", 1, 100).also(&["limit", "max_results"]).default(10),
                Param::number("minSimilarity", "Leave out what is less alike", 0.0, 1.0).default(0.0),
                modality(),
                Param::flag("includeContent", "Whole texts, or none; without it they are cut"),
                Param::whole("maxChars", "Characters of each text", 0, 1 << 20).also(&["snippet"]).default(MAX_CHARS),
                Param::text("asOf", "What held then: 2026-03 or 2026-03-01"),
                Param::flag("walk", "Whether to follow edges from what is found").default(true),
            ]
            .into_iter()
            .chain(living::filters())
            .collect(),
            output: output(&[
                (
                    "results",
                    list(living::shape(&[
                        ("similarity", NUMBER),
                        ("purposeAlignment", NUMBER),
                        ("dominantEmbedder", TEXT),
                        ("confidence", NUMBER),
                        ("standing", TEXT),
                        ("via", maybe(TEXT)),
                        ("thetaToNorthStar", NUMBER),
                        ("sameAs", maybe(list(TEXT))),
                    ])),
                ),
                ("count", WHOLE),
                ("queryId", TEXT),
            ]),
            run: search_graph,
        },
    ]
}

fn new_memory(call: &ToolCall<'_>) -> Outcome<NewMemory> {
    let args = call.args;
    Ok(NewMemory {
        text: args.text("content").to_owned(),
        rationale: args.maybe_text("rationale").map(ToOwned::to_owned),
        importance: args.number("importance"),
        modality: Modality::from_word(args.text("modality")).unwrap_or_default(),
        tags: args.texts("tags"),
        agent: call.agent.to_owned(),
        valid_from: when::argument(args, "validFrom")?.map(|range| range.0),
    })
}

fn inject_context(call: &mut ToolCall<'_>) -> Outcome<Value> {
    if call.args.text("rationale").trim().is_empty() {
        return Err(Problem::params("`rationale` must not be empty: say why this is worth remembering"));
    }
    let new = new_memory(call)?;
    let remembered = call.space.remember(new, true, call.now)?;
    let most = remembered.surprise.iter().map(|one| one.value).fold(0.0, f64::max);
    Ok(told(
        &remembered,
        json!({
            "fingerprintId": remembered.id,
            "rationale": call.args.text("rationale"),
            "embedderCount": SPACES.len(),
            "embeddingLatencyMs": (call.elapsed_ms)(),
            "utl": {
                "learningScore": remembered.learning,
                "entropy": remembered.entropy,
                "coherence": remembered.coherence.value,
                "surprise": most,
                "quadrant": remembered.quadrant,
                "intensity": crate::utl::intensity(remembered.learning),
                "penalty": remembered.penalty,
                "shouldConsolidate": remembered.learning > crate::utl::CONSOLIDATE,
            },
            "edgesCreated": remembered.edges,
            "contradicts": remembered.contradicts,
            "undo": remembered.record,
        }),
    ))
}

/// Adds what became of older memories: which it replaces, or how often it was said.
fn told(remembered: &Remembered, mut answer: Value) -> Value {
    if !remembered.supersedes.is_empty() {
        answer["supersedes"] = json!(remembered.supersedes);
    }
    if remembered.count > 1 {
        answer["count"] = remembered.count.into();
    }
    answer
}

fn store_memory(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let new = new_memory(call)?;
    let remembered = call.space.remember(new, false, call.now)?;
    Ok(told(
        &remembered,
        json!({
            "fingerprintId": remembered.id,
            "embedderCount": SPACES.len(),
            "embeddingLatencyMs": (call.elapsed_ms)(),
            "edgesCreated": remembered.edges,
            "undo": remembered.record,
        }),
    ))
}

fn search_graph(call: &mut ToolCall<'_>) -> Outcome<Value> {
    let args = call.args;
    if args.text("query").trim().is_empty() {
        return Err(Problem::params("`query` must not be empty"));
    }
    let search = MemorySearch {
        query: args.text("query"),
        most: args.whole("topK"),
        least: args.number("minSimilarity"),
        filter: living::filter(args)?,
        walk: args.flag("walk"),
    };
    let (query, hits) = call.space.search(&search, call.now)?;
    let ids: Vec<_> = hits.iter().map(|hit| hit.id).collect();
    let characters = match args.get("includeContent").and_then(Value::as_bool) {
        Some(false) => 0,
        // A length that is said is kept to; one that is not, is not.
        Some(true) if args.whole("maxChars") == MAX_CHARS as usize => usize::MAX,
        _ => args.whole("maxChars"),
    };
    let texts = if characters > 0 { call.space.texts(&ids)? } else { Default::default() };
    let mut results = Vec::with_capacity(hits.len());
    for hit in &hits {
        let memory = call.space.memory(hit.id)?;
        let mut result = living::result(call.space, memory, texts.get(&hit.id).map(String::as_str), characters);
        result["similarity"] = hit.similarity.into();
        result["purposeAlignment"] = memory.theta.into();
        result["dominantEmbedder"] = SPACES[hit.dominant].label.into();
        result["thetaToNorthStar"] = memory.theta.into();
        result["confidence"] = hit.confidence.into();
        result["standing"] = call.space.mind.calibration.standing(hit.confidence).into();
        if let Some(via) = hit.via {
            result["via"] = json!(via);
        }
        if !hit.same.is_empty() {
            result["sameAs"] = json!(hit.same);
        }
        results.push(result);
    }
    Ok(json!({"count": results.len(), "results": results, "queryId": query}))
}
