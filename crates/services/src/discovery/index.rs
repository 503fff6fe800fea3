//! The catalog, kept in step with the directory.
//!
//! It decides when the index is brought up to date: when somebody searches and the directory has changed since. A kernel
//! that nobody searches in pays nothing. Tools that have not changed are not read again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::RwLock;
use serde_json::Value;
use switchboard_catalog::{Catalog, Hit, Judge, RESCORED, Search, SearchResult, Tool, schema_text};
use switchboard_upstream::Server;
use switchboard_wire::Raw;

use super::{FinderState, VisibleTools};
use crate::house::{ServerView, ShownTool};

/// Characters of a server's title that are searched.
const MAX_TITLE_CHARS: usize = 100;

/// The catalog and the view it is of.
#[derive(Default)]
pub(super) struct Index {
    held: RwLock<IndexedCatalog>,
}

#[derive(Default)]
struct IndexedCatalog {
    generation: u64,
    catalog: Catalog,
}

impl Index {
    fn is_of(&self, generation: u64) -> bool {
        self.held.read().generation >= generation
    }

    fn update(&self, view: &dyn ServerView) {
        let tools = tools_of(view);
        let mut held = self.held.write();
        // Another call may have come first, with a later view.
        if held.generation < view.generation() {
            held.catalog.replace(tools);
            held.generation = view.generation();
        }
    }

    pub(super) fn search(&self, search: &Search, visible: impl Fn(&str) -> bool) -> SearchResult {
        self.held.read().catalog.search(search, visible)
    }

    /// The categories of the tools that may be seen, with their numbers, the largest first.
    pub(super) fn categories(&self, visible: impl Fn(&str) -> bool) -> Vec<(String, usize)> {
        let mut found = self.held.read().catalog.categories(visible);
        found.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        found
    }
}

impl FinderState {
    /// Brings the index up to date. Reading many new tools takes a while, so it is done beside the calls.
    pub(crate) async fn index_up_to_date(&self, view: &Arc<dyn ServerView>) {
        if self.index.is_of(view.generation()) {
            return;
        }
        let (index, view) = (self.index.clone(), view.clone());
        // It fails only when the runtime ends, and then nobody waits for an answer.
        let _ = tokio::task::spawn_blocking(move || index.update(&*view)).await;
    }

    /// Those of some tools that fit some words, the best first.
    pub(crate) async fn search_among(
        &self,
        view: &Arc<dyn ServerView>,
        tools: &HashSet<&str>,
        words: &str,
        top: usize,
    ) -> Vec<Hit> {
        self.index_up_to_date(view).await;
        self.index.search(&Search::new(words).top(top), |name| tools.contains(name)).hits
    }

    /// Searches among the tools that somebody sees, and lets the judge have the last word where there is one.
    pub(super) fn find(
        &self,
        judge: Option<&Arc<Judge>>,
        view: &dyn ServerView,
        seen: &VisibleTools,
        search: &Search,
        fits: &dyn Fn(&str) -> bool,
    ) -> impl Future<Output = SearchResult> + Send + use<> {
        let judge = judge.cloned().filter(|_| search.strategy.is_by_meaning());
        let wide = if judge.is_some() { search.top.max(RESCORED) } else { search.top };
        let mut found = self.index.search(&search.clone().top(wide), fits);
        let (query, top) = (search.query.clone(), search.top);
        let about = |name: &str| {
            let route = view.tool(name)?;
            Some(tool("", &route.original, name, seen.tools.get(name)?).about())
        };
        let hits = found.hits.iter().filter(|_| judge.is_some());
        let sentences: Vec<String> = hits.map(|hit| about(&hit.id).unwrap_or_default()).collect();
        async move {
            let Some(judge) = judge else { return found };
            let judged = tokio::task::spawn_blocking(move || {
                judge.rescore(&mut found, &query, top, &sentences);
                found
            });
            // It fails only when the runtime ends, and then nobody waits for an answer.
            judged.await.unwrap_or_default()
        }
    }
}

fn tools_of(view: &dyn ServerView) -> Vec<Tool> {
    let titles: HashMap<&str, String> =
        view.servers().iter().filter_map(|server| Some((&**server.id(), title_of(server)?))).collect();
    let read = |shown: ShownTool<'_>| Tool {
        server_title: titles.get(shown.id).cloned().unwrap_or_default(),
        ..tool(shown.id, shown.original, shown.exposed, shown.definition)
    };
    view.shown_tools().map(read).collect()
}

/// What a server calls itself before people.
fn title_of(server: &Server) -> Option<String> {
    let hub = server.hub_now()?;
    let info = hub.connected.server.info.as_ref()?;
    let said = |key: &str| info.member(key)?.as_text().filter(|text| !text.trim().is_empty());
    Some(said("title").or_else(|| said("name"))?.chars().take(MAX_TITLE_CHARS).collect())
}

/// What is searched of a definition.
fn tool(server: &str, original: &str, exposed: &str, definition: &Raw) -> Tool {
    let value: Value = definition.view().unwrap_or_default();
    let words = |key: &str| -> Vec<String> {
        let list = value[key].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut keywords = words("keywords");
    let titles = [&value["title"], &value["annotations"]["title"]];
    keywords.extend(titles.into_iter().filter_map(Value::as_str).map(str::to_owned));
    Tool {
        id: exposed.to_owned(),
        server: server.to_owned(),
        name: original.to_owned(),
        description: value["description"].as_str().unwrap_or_default().to_owned(),
        schema: schema_text(&value["inputSchema"]),
        categories: words("categories"),
        keywords,
        ..Tool::default()
    }
}
