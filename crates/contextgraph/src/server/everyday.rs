//! The few tools that a model needs every day, shortly described; the others are found by a search among them and called through one
//! tool. For clients that put every listed tool before the model.

use serde_json::{Map, Value, json};
use switchboard_sdk::mcp::{CallToolResult, ToolAnnotations};
use switchboard_sdk::{Ctx, Error, ServerBuilder, Tool, schema};

use super::{MemoryServer, answer};
use crate::error::Problem;
use crate::text;
use crate::tools::args::{self, Param};
use crate::tools::{self, Class, Spec, aliases};

/// Which tools clients are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolExposure {
    /// All of them, with what they take and give.
    #[default]
    All,
    /// Eight, shortly; the others are found by `find_tools`.
    Everyday,
}

/// Tools that a search gives.
const FOUND: usize = 5;

/// A tool of every day: its name, what it does, and the parameters that are shown. It takes the others as well.
const EVERYDAY: [(&str, &str, &[&str]); 6] = [
    (
        "store_memory",
        "Remember something. What was said before is counted; a changed fact replaces the old one.",
        &["content", "tags", "importance", "validFrom"],
    ),
    (
        "search_graph",
        "Find memories by meaning, best first. Ask in plain language.",
        &["query", "topK", "tags", "after", "before", "asOf"],
    ),
    ("get_memory", "Read one memory whole.", &["memory_id", "history"]),
    ("list_memories", "List memories, newest first.", &["limit", "cursor", "tags", "after", "before"]),
    (
        "update_memory",
        "Correct a memory. Give the `version` you read.",
        &["memory_id", "content", "tags", "importance", "version"],
    ),
    ("forget_memory", "Forget a memory, or `restore` it. To remove for good: erase_memory.", &["memory_id", "restore"]),
];

fn annotations(spec: Option<&Spec>) -> ToolAnnotations {
    ToolAnnotations::new()
        .read_only_hint(spec.is_some_and(|spec| spec.class == Class::Read))
        .destructive_hint(spec.is_none())
        .open_world_hint(false)
}

/// Offers the tools of every day.
pub(super) fn offered(server: &MemoryServer, mut builder: ServerBuilder) -> ServerBuilder {
    let specs = tools::all();
    for (name, about, shown) in EVERYDAY {
        let Some(spec) = specs.iter().find(|spec| spec.name == name) else { continue };
        let params: Vec<Param> = spec.params.iter().filter(|param| shown.contains(&param.name())).cloned().collect();
        let server = server.clone();
        let tool = Tool::new::<Value, CallToolResult>(name)
            .description(about)
            .input_schema(schema::raw(args::schema(&params)))
            .annotations(annotations(Some(spec)))
            .handler(move |ctx, arguments: Value| {
                let server = server.clone();
                async move { answered_once(&server, &ctx, name, arguments).await }
            });
        builder = builder.tool(tool);
    }
    let find = [Param::text("query", "What to do").required()];
    let finder = server.clone();
    builder = builder.tool(
        Tool::new::<Value, CallToolResult>("find_tools")
            .description("Find more tools: erase, relate, entities, causes, goals, dreams, feedback, calibration.")
            .input_schema(schema::raw(args::schema(&find)))
            .annotations(ToolAnnotations::new().read_only_hint(true).open_world_hint(false))
            .handler(move |ctx, arguments: Value| {
                let server = finder.clone();
                async move { server.found(&ctx, &arguments) }
            }),
    );
    let given =
        [Param::text("name", "A name that find_tools gave").required(), Param::object("arguments", "What it takes")];
    let user = server.clone();
    builder.tool(
        Tool::new::<Value, CallToolResult>("use_tool")
            .description("Call a tool that find_tools gave.")
            .input_schema(schema::raw(args::schema(&given)))
            .annotations(annotations(None))
            .handler(move |ctx, arguments: Value| {
                let server = user.clone();
                async move {
                    let name = arguments["name"].as_str().unwrap_or_default().to_owned();
                    let given = arguments.get("arguments").cloned().unwrap_or_else(|| json!({}));
                    answered_once(&server, &ctx, &name, given).await
                }
            }),
    )
}

/// The answer of a tool with its data once: as text, which every model is shown.
async fn answered_once(
    server: &MemoryServer,
    ctx: &Ctx,
    name: &str,
    arguments: Value,
) -> Result<CallToolResult, Error> {
    let mut result = server.answer_call(ctx, name, arguments).await?;
    result.structured_content = None;
    result.extra.remove(answer::PULSE);
    Ok(result)
}

impl MemoryServer {
    fn found(&self, ctx: &Ctx, arguments: &Value) -> Result<CallToolResult, Error> {
        let empty = Map::new();
        let arguments = arguments.as_object().unwrap_or(&empty);
        let params = [Param::text("query", "").required()];
        let checked = args::Args::check(&params, arguments).and_then(|checked| {
            let query = checked.text("query").trim().to_owned();
            if query.is_empty() { Err(Problem::params("`query` must not be empty")) } else { Ok(query) }
        });
        let pulse = self.room_of(&answer::caller(ctx)).ok().map(|room| room.space.lock().pulse());
        let query = checked.map_err(|problem| answer::error(&problem, pulse.as_ref()))?;
        let found: Vec<Value> = search(&query)
            .iter()
            .map(|spec| json!({"name": spec.name, "description": spec.description, "inputSchema": args::schema(&spec.params)}))
            .collect();
        Ok(CallToolResult::text(json!({"tools": found}).to_string()))
    }
}

/// The tools that a query is about, best first: by rare words of their names, titles and descriptions.
fn search(query: &str) -> Vec<Spec> {
    let mut specs = tools::all();
    let words = |spec: &Spec| -> (Vec<String>, Vec<String>) {
        let name = format!(
            "{} {} {}",
            spec.name.replace('_', " "),
            spec.title,
            aliases::of(spec.name).join(" ").replace('_', " ")
        );
        (text::stems(&name), text::stems(spec.description))
    };
    let all: Vec<(Vec<String>, Vec<String>)> = specs.iter().map(words).collect();
    let wanted = text::stems(query);
    let score = |(name, about): &(Vec<String>, Vec<String>)| -> f64 {
        let rarity = |stem: &String| {
            let holding = all.iter().filter(|(name, about)| name.contains(stem) || about.contains(stem)).count();
            (1.0 + all.len() as f64 / (1.0 + holding as f64)).ln()
        };
        wanted
            .iter()
            .map(|stem| {
                rarity(stem)
                    * (3.0 * f64::from(u8::from(name.contains(stem))) + f64::from(u8::from(about.contains(stem))))
            })
            .sum()
    };
    let mut order: Vec<(f64, usize)> = all.iter().enumerate().map(|(at, words)| (score(words), at)).collect();
    order.retain(|(score, _)| *score > 0.0);
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let places: Vec<usize> = order.into_iter().take(FOUND).map(|(_, at)| at).collect();
    let mut taken: Vec<Option<Spec>> = specs.drain(..).map(Some).collect();
    places.into_iter().filter_map(|at| taken.get_mut(at).and_then(Option::take)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_found_by_what_they_do() {
        for (query, name) in [
            ("erase a memory for good", "erase_memory"),
            ("link two memories", "relate_memories"),
            ("people and projects", "list_entities"),
            ("start a dream", "trigger_dream"),
            ("merge similar memories", "trigger_consolidation"),
            ("judge whether a result was right", "update_synergy_matrix"),
            ("alignment drift from the goal", "get_alignment_drift"),
            ("adjust dopamine", "adjust_neuromodulator"),
        ] {
            let found: Vec<&str> = search(query).iter().map(|spec| spec.name).collect();
            assert!(found.contains(&name) && found.len() <= FOUND, "{query}: {found:?}");
        }
        assert!(search("zzz").is_empty());
        assert!(EVERYDAY.iter().all(|(name, _, _)| tools::all().iter().any(|spec| spec.name == *name)));
    }
}
