//! `switchboard tools search`: the catalog, for people and for measuring it.
//!
//! It decides where tools and queries come from and how results are shown. What fits is decided by the catalog.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;

use serde_json::{Map, Value, json};
use switchboard_catalog::{Catalog, RESCORED, Search, SearchResult, Strategy, Tool, schema_text};
use switchboard_config::Loaded;
use switchboard_kernel::Judge;
use switchboard_wire::Raw;

use crate::Outcome;
use crate::arguments::{Common, SearchStrategy, ToolsSearch};
use crate::failure::Failure;
use crate::model;
use crate::screen;
use crate::sight::{self, ServerReport};

/// The longest line of a file that is read.
const LONGEST_LINE: u64 = 16 << 20;
/// Characters of a description at most, in the list for people.
const BRIEF: usize = 80;

/// The tools that a client of the configured servers sees.
pub(crate) fn of_servers(loaded: &Loaded, tools: &[Raw], seen: &[ServerReport]) -> Vec<Tool> {
    let server_of = |name: &str| sight::owner_of(loaded, seen, name).unwrap_or_default().to_owned();
    let read = |tool: &Raw| {
        let value: Map<String, Value> = tool.view().ok()?;
        let name = value.get("name")?.as_str()?;
        Some(read_tool(&value, name.to_owned(), server_of(name)))
    };
    tools.iter().filter_map(read).collect()
}

/// Searches the tools of a file.
pub(crate) fn over_file(common: &Common, options: &ToolsSearch) -> Outcome {
    let Some(path) = &options.catalog else { return Err(Failure::usage("there is no file to search")) };
    let mut known = Vec::new();
    each_line(path, |value| {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = text("name");
        let id = if value.contains_key("id") { text("id") } else { name };
        if id.is_empty() {
            return Err("a tool has no `id`".to_owned());
        }
        known.push(Tool { id, ..read_tool(&value, String::new(), text("server")) });
        Ok(())
    })?;
    let Some(queries) = &options.queries else {
        return show(common, options, known, None);
    };
    let index = Searched::new(options, known, None)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let outcome = each_line(queries, |value| {
        let Some(query) = value.get("query").and_then(Value::as_str) else {
            return Err("a line has no `query`".to_owned());
        };
        let found = index.find(options, query);
        let ranked: Vec<&str> = found.hits.iter().map(|hit| &*hit.id).collect();
        let id = value.get("id").unwrap_or(&Value::Null);
        writeln!(out, "{}", json!({"id": id, "ranked": ranked})).map_err(|error| error.to_string())
    });
    out.flush()?;
    outcome
}

/// The tools that are searched, with a judge where the user wants one.
struct Searched {
    catalog: Catalog,
    judge: Option<Judge>,
    /// What the judge reads of each tool.
    sentences: HashMap<String, String>,
}

impl Searched {
    fn new(options: &ToolsSearch, known: Vec<Tool>, model: Option<&Path>) -> Result<Self, Failure> {
        let judge = options.model.as_deref().or(model).map(model::open).transpose()?;
        let sentences = match judge {
            Some(_) => known.iter().map(|tool| (tool.id.clone(), tool.about())).collect(),
            None => HashMap::new(),
        };
        let mut catalog = Catalog::default();
        catalog.extend(known);
        Ok(Self { catalog, judge, sentences })
    }

    /// Searches, and lets the judge have the last word where meaning counts.
    fn find(&self, options: &ToolsSearch, query: &str) -> SearchResult {
        let search = search(options, query);
        let Some(judge) = self.judge.as_ref().filter(|_| search.strategy.is_by_meaning()) else {
            return self.catalog.search(&search, |_| true);
        };
        let mut found = self.catalog.search(&search.top(options.top.max(RESCORED)), |_| true);
        let about = found.hits.iter().map(|hit| self.sentences.get(&*hit.id).cloned().unwrap_or_default());
        let sentences: Vec<String> = about.collect();
        judge.rescore(&mut found, query, options.top, &sentences);
        found
    }
}

/// Searches for the one query and prints what was found.
pub(crate) fn show(common: &Common, options: &ToolsSearch, known: Vec<Tool>, model: Option<&Path>) -> Outcome {
    let query = options.query.join(" ");
    let descriptions: HashMap<String, String> =
        known.iter().map(|tool| (tool.id.clone(), tool.description.clone())).collect();
    let index = Searched::new(options, known, model)?;
    let found = index.find(options, &query);
    if common.json {
        screen::json(&as_json(&query, options, &found, index.catalog.len()));
        return Ok(());
    }
    let rows = found.hits.iter().flat_map(|hit| {
        let description = descriptions.get(&*hit.id).map(|text| screen::brief(text, BRIEF)).unwrap_or_default();
        let reasons = hit.reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        [
            vec![format!("{:.2}", hit.relevance), screen::plain_line(&hit.id), description],
            vec![String::new(), String::new(), screen::plain_line(&format!("because: {reasons}"))],
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        screen::note("no tool fits");
    } else {
        screen::out(screen::table(&rows).trim_end());
    }
    Ok(())
}

fn as_json(query: &str, options: &ToolsSearch, found: &SearchResult, known: usize) -> Value {
    let hits = found.hits.iter().map(|hit| {
        let reasons: Vec<String> = hit.reasons.iter().map(ToString::to_string).collect();
        json!({
            "name": &*hit.id,
            "server_id": &*hit.server,
            "relevance_score": (f64::from(hit.relevance) * 1000.0).round() / 1000.0,
            "score": (f64::from(hit.score) * 1000.0).round() / 1000.0,
            "reasons": reasons,
        })
    });
    let tools: Vec<Value> = hits.collect();
    json!({
        "query": query,
        "search_strategy": strategy(options.strategy).as_str(),
        "tools": tools,
        "total_available": known,
    })
}

fn search(options: &ToolsSearch, query: &str) -> Search {
    Search::new(query).top(options.top).by(strategy(options.strategy)).within(options.category.clone())
}

fn strategy(word: SearchStrategy) -> Strategy {
    match word {
        SearchStrategy::Hybrid => Strategy::Fused,
        SearchStrategy::Keyword => Strategy::Keyword,
        SearchStrategy::Semantic => Strategy::Semantic,
        SearchStrategy::Category => Strategy::Category,
    }
}

fn read_tool(value: &Map<String, Value>, id: String, server: String) -> Tool {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |key: &str| {
        let words = value.get(key).and_then(Value::as_array).into_iter().flatten();
        words.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Tool {
        id,
        server,
        server_title: text("server_title"),
        name: text("name"),
        description: text("description"),
        schema: value.get("inputSchema").map(schema_text).unwrap_or_default(),
        categories: list("categories"),
        keywords: list("keywords"),
    }
}

/// Reads JSON lines, one after the other.
fn each_line(path: &Path, mut take: impl FnMut(Map<String, Value>) -> Result<(), String>) -> Outcome {
    let shown = screen::plain_line(&path.display().to_string());
    let file = File::open(path).map_err(|error| Failure::failed(format!("{shown} cannot be read: {error}")))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1_usize.. {
        line.clear();
        let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        let length = read.map_err(|error| Failure::failed(format!("{shown} cannot be read: {error}")))?;
        if length == 0 {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let value = serde_json::from_slice(&line).map_err(|error| error.to_string());
        let why = value.and_then(&mut take);
        why.map_err(|why| Failure::failed(format!("{shown}, line {number}: {}", screen::plain_line(&why))))?;
    }
    Ok(())
}
