//! Taking a space along: memories, edges, and what was learned of them (goals, north star, profiles, calibration, feedback) as JSON lines, and
//! back. Vectors are made of the texts again; earlier versions of memories and what is on record stay behind.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{NewMemory, Space};
use crate::Id;
use crate::embedders::Modality;
use crate::error::{Code, Outcome, Problem};
use crate::fingerprint::Packed;
use crate::graph::Memory;
use crate::graph::edges::Edge;
use crate::store::RecordBody;
use crate::tools::args::{Args, Param};
use crate::tools::when;

/// The first line.
const FORMAT: &str = "contextgraph-1";

/// One memory as it travels.
#[derive(Debug, Serialize, Deserialize)]
struct Travelling {
    #[serde(flatten)]
    memory: Memory,
    content: String,
    #[serde(default)]
    rationale: Option<String>,
}

/// What a line may say of a memory that comes from elsewhere.
fn plain_params() -> Vec<Param> {
    vec![
        Param::text("content", "The text").required(),
        Param::text("rationale", "Why it is worth remembering"),
        Param::number("importance", "How important it is", 0.0, 1.0).default(0.5),
        Param::word("modality", "What kind of thing it is about", crate::tools::MODALITIES),
        Param::texts("tags", "Words to mark it with"),
        Param::text("createdAt", "When it was said"),
        Param::text("validFrom", "Since when it holds"),
        Param::short("agent", "Who said it", 256),
    ]
}

impl Space {
    /// Everything of the space, line by line.
    ///
    /// # Errors
    /// The store failed, or whoever takes the lines.
    pub fn export(&mut self, mut take: impl FnMut(&Value) -> Outcome<()>) -> Outcome<()> {
        let all: Vec<Memory> = self.graph.everything().cloned().collect();
        take(&json!({"format": FORMAT, "space": self.name, "memories": all.len(), "edges": self.graph.edges.len()}))?;
        for chunk in all.chunks(256) {
            let ids: Vec<Id> = chunk.iter().map(|memory| memory.id).collect();
            let mut bodies: std::collections::HashMap<Id, RecordBody> =
                self.storage.bodies(&ids)?.into_iter().map(|body| (body.id, body)).collect();
            for memory in chunk {
                let Some(body) = bodies.remove(&memory.id) else { continue };
                let travelling =
                    Travelling { memory: memory.clone(), content: body.content, rationale: body.rationale };
                take(&json!({"memory": travelling}))?;
            }
        }
        for source in self.graph.edges.sources() {
            for link in self.graph.edges.from(source).copied().collect::<Vec<_>>() {
                let (Some(from), Some(to)) = (self.graph.id(source), self.graph.id(link.target)) else { continue };
                let edge = Edge {
                    created_at: link.created_at,
                    path: self.graph.edges.path(source, link.target).map(<[Id]>::to_vec).unwrap_or_default(),
                    ..Edge::new(
                        from,
                        to,
                        link.kind,
                        f64::from(link.weight),
                        f64::from(link.confidence),
                        link.created_at,
                    )
                };
                take(&json!({"edge": edge}))?;
            }
        }
        for (key, value) in self.mind.learned()? {
            take(&json!({"state": key, "value": value}))?;
        }
        Ok(())
    }

    /// Takes in lines of an export, or plain memories (`{"content": "..."}`). How many memories and edges came in. Memories that are
    /// there already are passed over.
    ///
    /// # Errors
    /// A line cannot be read; then nothing is taken in.
    pub fn import(&mut self, lines: impl Iterator<Item = String>, now: u64) -> Outcome<(usize, usize)> {
        let (mut memories, mut edges) = (0, 0);
        // Goals and what was learned are of those memories: a space that has its own keeps its own.
        let empty = self.graph.is_empty();
        for (number, line) in lines.enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let unreadable = |error: &dyn std::fmt::Display| {
                Problem::new(Code::InvalidParams, "IMPORT", format!("line {}: {error}", number + 1))
            };
            let value: Value = serde_json::from_str(&line).map_err(|error| {
                unreadable(&format!("no JSON such as {{\"content\": \"...\"}}, one on each line: {error}"))
            })?;
            if let Some(format) = value.get("format") {
                if format != FORMAT {
                    return Err(unreadable(&format!("the format {format} is not known; {FORMAT} is")));
                }
            } else if let Some(memory) = value.get("memory") {
                let travelling: Travelling =
                    serde_json::from_value(memory.clone()).map_err(|error| unreadable(&error))?;
                memories += usize::from(self.take_in(travelling)?);
            } else if let Some(edge) = value.get("edge") {
                let edge: Edge = serde_json::from_value(edge.clone()).map_err(|error| unreadable(&error))?;
                self.link(edge);
                edges += 1;
            } else if let Some(key) = value.get("state").and_then(Value::as_str) {
                if empty && !self.mind.adopt(key, value.get("value").cloned().unwrap_or_default()) {
                    return Err(unreadable(&format!("the state {key:?} cannot be read")));
                }
                self.erased.iter().for_each(|id| self.mind.judged.forget(*id));
            } else {
                self.take_plain(&value, now).map_err(|problem| unreadable(&problem))?;
                memories += 1;
            }
        }
        Ok((memories, edges))
    }

    /// Takes in a line with a `content` and what it says of it.
    fn take_plain(&mut self, value: &Value, now: u64) -> Outcome<()> {
        let given = value.as_object().ok_or_else(|| Problem::params("a line is an object with a `content`"))?;
        let args = Args::check(&plain_params(), given)?;
        let created = when::argument(&args, "createdAt")?.map(|range| range.0.min(now));
        let new = NewMemory {
            text: args.text("content").to_owned(),
            rationale: args.maybe_text("rationale").map(ToOwned::to_owned),
            importance: args.number("importance"),
            modality: args.maybe_text("modality").and_then(Modality::from_word).unwrap_or_default(),
            tags: args.texts("tags"),
            agent: args.maybe_text("agent").filter(|agent| !agent.is_empty()).unwrap_or("import").to_owned(),
            // What was said before is true since then, and replaces nothing that was said later.
            valid_from: when::argument(&args, "validFrom")?.map(|range| range.0).or(created),
        };
        let remembered = self.remember(new, false, now)?;
        match created.filter(|_| remembered.count <= 1) {
            Some(at) => self.change(remembered.id, |memory| memory.created_at = at),
            None => Ok(()),
        }
    }

    fn take_in(&mut self, travelling: Travelling) -> Outcome<bool> {
        let Travelling { memory, content, rationale } = travelling;
        if self.graph.get_any(memory.id).is_some() || self.erased.contains(&memory.id) {
            return Ok(false);
        }
        super::remember::check(&content)?;
        let vectors = self.embedders.content(&content, memory.modality, &self.graph)?;
        let packed = std::sync::Arc::new(Packed::of(&vectors));
        let row = packed.scan_row();
        let id = memory.id;
        self.graph.put(memory.clone(), &row, packed.e6.clone());
        self.batch.memories.push((memory, Some((row.to_vec(), packed.e6.clone()))));
        self.batch.bodies.push(RecordBody { id, content, rationale, fingerprint: packed.to_bytes() });
        self.keep(id, packed);
        Ok(true)
    }
}
