//! Tools as the results of a search show them, as many as fit into their room.

use serde_json::{Map, Value, json};
use switchboard_catalog::{Detail, Hit, count_tokens, cut, fitted, shortened};
use switchboard_flow::latency::Durations;
use switchboard_protocol::mgp::EXTENSION_ID;
use switchboard_protocol::proposals::manifest::declared::Operational;

use super::VisibleTools;
use crate::house::ServerView;

/// Members of a definition that are for programs, or said again elsewhere in a result.
const NOT_SHOWN: [&str; 4] = ["_meta", "icons", "execution", "security"];
/// Members that only a whole definition is shown with.
const WHOLE_ONLY: [&str; 5] = ["outputSchema", "annotations", "title", "keywords", "categories"];

/// A tool that was found.
pub(super) struct FoundTool {
    pub(super) name: String,
    definition: Map<String, Value>,
    server: Option<String>,
    relevance: f64,
    security: Option<Value>,
    cost: Option<Value>,
    latency: Option<Value>,
    matched: Vec<String>,
    /// What the whole definition takes in a list.
    tokens: usize,
}

impl FoundTool {
    /// What is known of a tool that was found; `None` for one that may not be seen.
    pub(super) fn of(view: &dyn ServerView, seen: &VisibleTools, hit: &Hit) -> Option<Self> {
        let raw = seen.tools.get(&*hit.id)?;
        let mut definition: Map<String, Value> = raw.view().ok()?;
        let security = definition.get("_meta").and_then(|meta| meta.get(EXTENSION_ID)?.get("security").cloned());
        NOT_SHOWN.iter().for_each(|key| drop(definition.remove(*key)));
        definition.remove("name")?;
        let route = view.tool(&hit.id);
        let server = route.as_ref().and_then(|route| Some(view.server_at(route.server)?.id().to_string()));
        // What a call costs and how long it takes, as far as anybody knows (proposal 3).
        let said = Operational::of_tool(raw);
        let times = route.and_then(|route| route.policy?.times());
        let classed = times.map_or_else(|| Durations::default().class(said.latency), |times| times.class(said.latency));
        Some(Self {
            name: hit.id.to_string(),
            definition,
            server,
            relevance: (f64::from(hit.relevance) * 100.0).round() / 100.0,
            security,
            cost: said.cost.as_ref().map(|cost| json!(cost)),
            latency: classed.map(|classed| json!(classed.class)),
            matched: hit.reasons.iter().map(ToString::to_string).collect(),
            tokens: count_tokens(raw.as_str()),
        })
    }

    /// It, as a result shows it.
    pub(super) fn shown(&self, detail: Detail) -> Value {
        let mut shown = Map::new();
        shown.insert("name".to_owned(), json!(self.name));
        shown.insert("server_id".to_owned(), json!(self.server));
        for (key, value) in &self.definition {
            let value = match (key.as_str(), value) {
                ("inputSchema", schema) => shortened(schema, detail),
                ("description", Value::String(text)) if detail != Detail::Whole => {
                    cut(text, detail.description_chars()).into()
                }
                (key, _) if detail != Detail::Whole && WHOLE_ONLY.contains(&key) => continue,
                (_, value) => value.clone(),
            };
            shown.insert(key.clone(), value);
        }
        shown.insert("relevance_score".to_owned(), json!(self.relevance));
        let risk = || Some(json!({"risk_level": self.security.as_ref()?.get("risk_level")?}));
        let security = if detail == Detail::Whole { self.security.clone() } else { risk() };
        for (key, value) in [("security", &security), ("cost", &self.cost), ("latency", &self.latency)] {
            if let Some(value) = value {
                shown.insert(key.to_owned(), value.clone());
            }
        }
        if detail <= Detail::Cut {
            shown.insert("matched".to_owned(), json!(self.matched));
        }
        shown.insert("context_tokens".to_owned(), json!(self.tokens));
        if detail != Detail::Whole {
            shown.insert("shortened".to_owned(), json!(true));
        }
        Value::Object(shown)
    }
}

/// As many tools as fit into so many tokens, those of lower rank in fewer words; and the names of those that are given.
pub(super) fn fitting(found: &[FoundTool], room: usize) -> (Vec<Value>, Vec<String>) {
    let cost = |tool: &FoundTool| Detail::ALL.map(|detail| count_tokens(&tool.shown(detail).to_string()));
    let costs: Vec<[usize; 4]> = found.iter().map(cost).collect();
    let (details, _) = fitted(&costs, room);
    let given = found.iter().zip(details);
    given.map(|(tool, detail)| (tool.shown(detail), tool.name.clone())).unzip()
}
