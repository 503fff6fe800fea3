//! `mgp/tools/discover`, `request`, `session` and `session/evict`, as methods and as the kernel's tools.
//!
//! It decides what each answers. Who asks is who was authenticated, and sees what a list would show him.

use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_audit as audit;
use switchboard_catalog::{Detail, Hit, Judge, Search, Strategy, count_tokens};
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::{Risk, method};
use switchboard_upstream::{ListKind, Server};
use switchboard_wire::{Edit, Object, Raw, Request};

use super::results::{FoundTool, fitting};
use super::{ToolFinder, VisibleTools, instructions};
use crate::house::{FinderHouse, RegistryHouse, ServerView};
use crate::principal;
use crate::registry::{Registrar, Written};

/// Results of one search, at most.
const MOST_RESULTS: usize = 50;
/// Results where nobody says how many.
const RESULTS: usize = 5;
/// A tool that fits a capability less than this does not have it.
const FITS: f32 = 0.35;
/// Why an agent asks for tools (MGP 16.5).
const REASONS: [&str; 3] = ["capability_gap", "performance", "preference"];
/// Servers that are named because something of them is held back.
const MAX_HELD_SERVERS: usize = 20;
/// Capabilities in one request.
const MOST_CAPABILITIES: usize = 16;
/// Servers that the refusal of an unknown one names.
const MAX_SERVERS_NAMED: usize = 50;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Discover {
    query: String,
    strategy: Option<String>,
    max_results: Option<usize>,
    filter: Filter,
    /// Whether what is found is loaded.
    load: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Filter {
    categories: Vec<String>,
    risk_level_max: Option<String>,
    server_id: Option<String>,
    status: Option<String>,
}

/// Which servers' tools are wanted (`filter.status`): of those that are connected, of the others, or all.
fn status_wanted(word: Option<&str>) -> Result<Option<bool>, Fault> {
    match word {
        None | Some("all") => Ok(None),
        Some("connected") => Ok(Some(true)),
        Some("disconnected") => Ok(Some(false)),
        Some(_) => {
            let text = "`filter.status` is none of `connected`, `disconnected` and `all`";
            Err(Fault::new(FaultKind::InvalidParams, text))
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    /// Why the agent asks.
    reason: Option<String>,
    context: String,
    requirements: Requirements,
    create: Option<Written>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Requirements {
    capabilities: Vec<String>,
    input_types: Vec<String>,
    output_types: Vec<String>,
    preferred_risk_level: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Evict {
    tools: Vec<String>,
}

impl<H: RegistryHouse + ?Sized> ToolFinder<'_, H> {
    /// Loads the tools that somebody lacks, or takes the one that they wrote instead.
    pub(super) async fn request_or_create(
        &self,
        context: &Context,
        view: &Arc<dyn ServerView>,
        mut asked: Wanted,
    ) -> Result<Raw, Fault> {
        if asked.reason.as_deref().is_some_and(|word| !REASONS.contains(&word)) {
            let text = format!("`reason` is none of {}", REASONS.map(|word| format!("`{word}`")).join(", "));
            return Err(Fault::new(FaultKind::InvalidParams, text));
        }
        match asked.create.take() {
            Some(written) => Box::pin(Registrar::of(self.house).create_tool(context, written)).await,
            None => self.request_tools(context, view, asked).await,
        }
    }
}

impl<H: FinderHouse + ?Sized> ToolFinder<'_, H> {
    /// What is searched: nothing while the kernel ends, because what is found could not be called.
    pub(super) async fn view_to_search(&self) -> Result<Arc<dyn ServerView>, Fault> {
        if self.house.is_draining() {
            let text = "Switchboard is ending: no tools can be found or loaded here any more";
            return Err(Fault::new(FaultKind::DiscoveryUnavailable, text));
        }
        self.house.wait_for_servers().await;
        Ok(self.house.view())
    }

    /// The call that a call of `mgp_tools_call` stands for: `None` for a client that is listed everything.
    pub async fn call_within(&self, context: &Context, request: &Request) -> Result<Option<Request>, Fault> {
        if !self.finds_tools(context, &*self.house.view()).await? {
            return Ok(None);
        }
        let invalid = |text: String| Fault::new(FaultKind::InvalidParams, text);
        let params = request.params.as_ref().ok_or_else(|| invalid("`params` is missing".to_owned()))?;
        let params = Object::open(params).map_err(Fault::malformed)?;
        let arguments = params.get("arguments").unwrap_or_else(Raw::empty_object);
        let arguments = Object::open(&arguments).map_err(Fault::malformed)?;
        let name = arguments.text("name").ok_or_else(|| invalid("`name` is missing or no string".to_owned()))?;
        if name == super::CALL {
            return Err(Fault::new(FaultKind::InvalidParams, "`name` is the tool that is to be called"));
        }
        let edit = Edit::of_optional(request.params.as_ref()).map_err(Fault::malformed)?;
        let inner = arguments.get("arguments").unwrap_or_else(Raw::empty_object);
        let params = edit.set("name", Raw::string(&name)).set("arguments", inner).finish();
        Ok(Some(Request { params: Some(params), ..request.clone() }))
    }

    /// What has the last word in a search.
    fn judge(&self) -> Option<Arc<Judge>> {
        self.house.tool_context().judge.clone()
    }

    /// Notes that a tool was called through `mgp_tools_call`: it is loaded from now on.
    pub async fn load_called(&self, context: &Context, name: &str) {
        let view = self.house.view();
        let Ok(list) = view.visible_tools(context).await else { return };
        let seen = self.seen(&context.session, &list);
        if seen.tools.contains_key(name) {
            self.load(context, &seen, &[name.to_owned()]);
        }
    }

    pub(super) async fn discover_tools(
        &self,
        context: &Context,
        view: &Arc<dyn ServerView>,
        asked: &Discover,
    ) -> Result<Raw, Fault> {
        let started = Instant::now();
        let said = asked.strategy.as_deref();
        let strategy = said.map_or_else(|| Some(Strategy::default()), Strategy::parse);
        let by_category = strategy == Some(Strategy::Category);
        if by_category && asked.filter.categories.is_empty() {
            return Err(Fault::new(FaultKind::InvalidParams, "the strategy `category` needs `filter.categories`"));
        }
        if asked.query.trim().is_empty() && !by_category {
            return Err(Fault::new(FaultKind::InvalidParams, "`query` is missing: say what the tool must do"));
        }
        let limit = risk_limit(asked.filter.risk_level_max.as_deref(), "filter.risk_level_max")?;
        let status = status_wanted(asked.filter.status.as_deref())?;
        if let Some(server) = &asked.filter.server_id {
            self.can_be_searched(context, &**view, server).await?;
        }
        let seen = self.seen_now(context, view).await?;
        let top = asked.max_results.unwrap_or(RESULTS).clamp(1, MOST_RESULTS);
        let search = Search::new(asked.query.as_str()).top(top).by(strategy.unwrap_or_default());
        let search = search.within(asked.filter.categories.clone());
        let fits = |name: &str| {
            let server = asked.filter.server_id.as_deref();
            seen.offers(name)
                && limit.is_none_or(|limit| risk_of(&**view, name).is_some_and(|risk| risk <= limit))
                && server.is_none_or(|server| server_of(&**view, name).as_deref() == Some(server))
                && status.is_none_or(|connected| is_connected(&**view, name) == connected)
        };
        let found = self.discovery.find(self.judge().as_ref(), &**view, &seen, &search, &fits).await;
        let found: Vec<FoundTool> = found.hits.iter().filter_map(|hit| FoundTool::of(&**view, &seen, hit)).collect();
        let (tools, names) = fitting(&found, self.budget_of(context).discovery_reserve);
        // Who agreed on finding tools asks for those it wants to keep. Others have no other way to see them in their list.
        if asked.load.unwrap_or_else(|| !self.speaks_discovery(context)) {
            self.load(context, &seen, &names);
        }
        self.note_sought(context, method::TOOLS_DISCOVER, &asked.query, &names).await;
        let omitted = found.len() - tools.len();
        let mut answer = json!({
            "tools": tools,
            "total_available": seen.tools.len(),
            "search_strategy": search.strategy.as_str(),
            "query_time_ms": u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        if omitted > 0 {
            answer["truncated"] = json!({"omitted": omitted, "why": "the reserve for search results is used up"});
        }
        self.say_instructions(context, &**view, names.iter().map(String::as_str), &mut answer);
        self.say_what_starts(context, &**view, &mut answer).await?;
        if let (Some(word), None) = (said, strategy) {
            answer["fallback_strategy"] = json!(search.strategy.as_str());
            answer["unknown_strategy"] = json!(word);
        }
        written_as_raw(&answer)
    }

    async fn request_tools(&self, context: &Context, view: &Arc<dyn ServerView>, asked: Wanted) -> Result<Raw, Fault> {
        let Wanted { context: about, requirements, .. } = asked;
        let limit = risk_limit(requirements.preferred_risk_level.as_deref(), "preferred_risk_level")?;
        let mut wanted = requirements.capabilities;
        if wanted.is_empty() && !about.trim().is_empty() {
            wanted.push(about.clone());
        }
        if wanted.is_empty() || wanted.len() > MOST_CAPABILITIES {
            let why = format!("`requirements.capabilities` has to name 1 to {MOST_CAPABILITIES} capabilities");
            return Err(Fault::new(FaultKind::InvalidParams, why));
        }
        let sought = wanted.join("; ");
        let seen = self.seen_now(context, view).await?;
        let waiting = self.waiting_for_permission(context, &**view).await?;
        let types = [requirements.input_types, requirements.output_types].concat().join(" ");
        let (mut hits, mut pending, mut unavailable): (Vec<Hit>, Vec<Value>, Vec<String>) = Default::default();
        // Whether something can be had only once somebody has agreed.
        let mut waits_alone = false;
        for capability in wanted {
            let words = format!("{} {types}", capability.replace(['_', '-', '.'], " "));
            let search = Search::new(words.trim()).top(1);
            let judge = self.judge();
            let best = |fits: &dyn Fn(&str) -> bool| {
                let found = self.discovery.find(judge.as_ref(), &**view, &seen, &search, fits);
                async { found.await.hits.into_iter().find(|hit| hit.relevance >= FITS) }
            };
            let quiet = |name: &str| risk_of(&**view, name).is_some_and(|risk| limit.is_none_or(|limit| risk <= limit));
            // A tool of the preferred risk, or else any.
            let mut own = best(&|name| seen.offers(name) && quiet(name)).await;
            if own.is_none() && limit.is_some() {
                own = best(&|name| seen.offers(name)).await;
            }
            let waits = best(&|name| waiting.iter().any(|(waiting, _)| waiting == name)).await;
            // One that fits better, and waits for a permission, is worth knowing of even where another can be had.
            let better = |hit: &Hit| own.as_ref().is_none_or(|own| hit.relevance > own.relevance);
            if let Some(hit) = waits.as_ref().filter(|hit| better(hit)) {
                let missing = waiting.iter().find(|(name, _)| **name == *hit.id).map(|(_, missing)| missing);
                pending.push(json!({
                    "name": &*hit.id, "server_id": &*hit.server, "capability": capability,
                    "permissions_missing": missing,
                }));
            }
            if let Some(hit) = own {
                if !hits.iter().any(|other| other.id == hit.id) {
                    hits.push(hit);
                }
            } else if waits.is_some() {
                waits_alone = true;
            } else {
                unavailable.push(capability);
            }
        }
        let names: Vec<String> = hits.iter().map(|hit| hit.id.to_string()).collect();
        self.load(context, &seen, &names);
        self.note_sought(context, method::TOOLS_REQUEST, &sought, &names).await;
        // What did not fit is there, and can be called; it is not loaded.
        let budget = self.budget_of(context);
        let (hits, beyond): (Vec<Hit>, Vec<Hit>) =
            self.discovery.with(&context.session, budget, |kept| hits.into_iter().partition(|hit| kept.has(&hit.id)));
        let status = match (hits.is_empty(), !waits_alone, unavailable.is_empty()) {
            (false, true, true) if beyond.is_empty() => "fulfilled",
            (false, _, _) => "partial",
            (true, false, _) => "pending_approval",
            (true, true, _) if !beyond.is_empty() => "partial",
            (true, true, _) => "unavailable",
        };
        let creation = if unavailable.is_empty() { None } else { Registrar::of(self.house).how_to_create(context) };
        let status = if creation.is_some() && status == "unavailable" { "creating" } else { status };
        let tools = hits.iter().filter_map(|hit| FoundTool::of(&**view, &seen, hit));
        let tools: Vec<Value> = tools.map(|tool| tool.shown(Detail::Whole)).collect();
        let count = self.discovery.with(&context.session, budget, |kept| kept.pinned().count() + kept.cached().count());
        // What the reader of this answer has in its context by it.
        let added: usize = tools.iter().map(|tool| count_tokens(&tool.to_string())).sum();
        let mut answer = json!({
            "status": status,
            "tools_loaded": tools,
            "tools_unavailable": unavailable,
            "session_tools_count": count,
            "context_tokens_added": added,
        });
        if let Some(creation) = creation {
            answer["creation"] = creation;
        }
        if !beyond.is_empty() {
            let names: Vec<&str> = beyond.iter().map(|hit| &*hit.id).collect();
            answer["tools_not_loaded"] = json!({"names": names, "why": "they do not fit into the budget of the cache"});
        }
        if !pending.is_empty() {
            answer["tools_pending"] = Value::Array(pending);
        }
        self.say_instructions(context, &**view, names.iter().map(String::as_str), &mut answer);
        self.say_what_starts(context, &**view, &mut answer).await?;
        written_as_raw(&answer)
    }

    /// Loads a tool that was made for a principal: as a result shows it, its tokens, and how many are loaded now.
    pub(crate) async fn load_made(
        &self,
        context: &Context,
        name: &str,
    ) -> Result<Option<(Value, usize, usize)>, Fault> {
        let view = self.house.view();
        let seen = self.seen_now(context, &view).await?;
        let server = server_of(&*view, name).unwrap_or_default();
        let hit = Hit { id: name.into(), server: server.into(), score: 1.0, relevance: 1.0, reasons: Vec::new() };
        let Some(tool) = FoundTool::of(&*view, &seen, &hit).map(|tool| tool.shown(Detail::Whole)) else {
            return Ok(None);
        };
        self.load(context, &seen, &[name.to_owned()]);
        let added = count_tokens(&tool.to_string());
        let budget = self.budget_of(context);
        let count = self.discovery.with(&context.session, budget, |kept| kept.pinned().count() + kept.cached().count());
        Ok(Some((tool, added, count)))
    }

    pub(super) async fn tool_session(&self, context: &Context, view: &Arc<dyn ServerView>) -> Result<Raw, Fault> {
        let list = view.visible_tools(context).await?;
        self.seen(&context.session, &list);
        let budget = self.budget_of(context);
        let answer = self.discovery.with(&context.session, budget, |kept| {
            let session = &*kept;
            json!({
                "pinned": session.pinned().collect::<Vec<_>>(),
                "cached": session.cached().collect::<Vec<_>>(),
                "total_tokens": session.total_tokens(),
                "max_tokens": session.budget().max_tokens,
                "tool_context_budget": session.budget(),
            })
        });
        written_as_raw(&answer)
    }

    pub(super) async fn evict_tools(
        &self,
        context: &Context,
        view: &Arc<dyn ServerView>,
        asked: &Evict,
    ) -> Result<Raw, Fault> {
        let list = view.visible_tools(context).await?;
        let seen = self.seen(&context.session, &list);
        let budget = self.budget_of(context);
        let (outcome, total) = self.discovery.with(&context.session, budget, |kept| {
            let outcome = kept.evict(asked.tools.iter().map(String::as_str));
            (outcome, kept.total_tokens())
        });
        self.tell_of_loaded(context, &seen, &outcome.evicted);
        written_as_raw(&json!({
            "evicted": outcome.evicted,
            "pinned": outcome.pinned,
            "not_loaded": outcome.unknown,
            "tokens_freed": outcome.freed,
            "total_tokens": total,
        }))
    }

    /// Writes down what somebody looked for, and what was found. Queries are a model's words: secrets are taken out.
    async fn note_sought(&self, context: &Context, method: &str, query: &str, found: &[String]) {
        let event = audit::event_of(audit::event::TOOLS_SOUGHT, principal(&context.session), audit::result::SUCCESS);
        let query = switchboard_policy::redact::value(&Raw::string(query));
        let event = audit::with(audit::with(event, "method", method), "query", query);
        self.house.audit().note(audit::with(event, "found", found.join(", "))).await;
    }

    /// What a client may see, with the index up to date.
    async fn seen_now(&self, context: &Context, view: &Arc<dyn ServerView>) -> Result<Arc<VisibleTools>, Fault> {
        let list = view.visible_tools(context).await?;
        self.discovery.index_up_to_date(view).await;
        Ok(self.seen(&context.session, &list))
    }

    /// Adds what the servers of these tools say of them, as far as the client was not given it yet.
    fn say_instructions<'a>(
        &self,
        context: &Context,
        view: &dyn ServerView,
        tools: impl Iterator<Item = &'a str>,
        answer: &mut Value,
    ) {
        let said = self.discovery.with_client(&context.session, self.budget_of(context), |client| {
            instructions::not_yet_given(view, tools, &mut client.instructed)
        });
        if !said.is_empty() {
            let said = said.iter().map(|said| json!({"server_id": &*said.server, "instructions": said.text}));
            answer["server_instructions"] = said.collect();
        }
    }

    /// Names the servers that are still coming up, and those that are not there or could not list their tools: of these
    /// nothing could be found. Only those that the client may use.
    async fn say_what_starts(&self, context: &Context, view: &dyn ServerView, answer: &mut Value) -> Result<(), Fault> {
        self.say_what_is_held(context, view, answer).await?;
        let starting: Vec<_> = view.servers().iter().filter(|server| !server.phase().is_settled()).collect();
        let missing: Vec<_> = view.servers().iter().filter(|server| server.is_missing()).collect();
        if starting.is_empty() && missing.is_empty() {
            return Ok(());
        }
        let entitlements = self.house.entitlements().await?;
        for (key, servers) in [("servers_starting", starting), ("servers_missing", missing)] {
            let usable = |server: &&Arc<Server>| entitlements.allows(&context.session, server, None);
            let names: Vec<&str> = servers.into_iter().filter(usable).map(|server| &**server.id()).collect();
            if !names.is_empty() {
                answer[key] = json!(names);
            }
        }
        Ok(())
    }

    /// Says that a better tool may be held back, and which command brings it.
    async fn say_what_is_held(
        &self,
        context: &Context,
        view: &dyn ServerView,
        answer: &mut Value,
    ) -> Result<(), Fault> {
        let held: Vec<_> = view.servers().iter().filter(|server| !server.quarantine().is_empty()).collect();
        if held.is_empty() {
            return Ok(());
        }
        let entitlements = self.house.entitlements().await?;
        let usable = held.into_iter().filter(|server| entitlements.allows(&context.session, server, None));
        let told: Vec<Value> = usable.take(MAX_HELD_SERVERS).map(|server| self.house.held_back(server)).collect();
        if !told.is_empty() {
            answer["held_back"] = Value::Array(told);
        }
        Ok(())
    }

    /// Whether the tools of a server that was named can be searched: an empty answer would say that it has none.
    async fn can_be_searched(&self, context: &Context, view: &dyn ServerView, id: &str) -> Result<(), Fault> {
        let entitlements = self.house.entitlements().await?;
        let who = self.house.requester(context);
        let known = |server: &&Arc<Server>| entitlements.knows(&who, server);
        let Some(server) = view.servers().iter().find(|server| &**server.id() == id).filter(known) else {
            let known: Vec<String> = view
                .servers()
                .iter()
                .filter(known)
                .take(MAX_SERVERS_NAMED)
                .map(|server| format!("`{}`", server.id()))
                .collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let text = format!("`filter.server_id`: there is no server `{id}`; there are {known}");
            return Err(Fault::new(FaultKind::InvalidParams, text));
        };
        match server.phase().is_settled() {
            true if !server.is_missing() => Ok(()),
            true if server.has_failed_to_list(ListKind::Tools) => Err(server.cannot_list(ListKind::Tools)),
            _ => Err(server.not_ready()),
        }
    }

    /// Tools that this client may use once their server has the permissions it lacks, and which these are. The operator
    /// was asked when the server came up.
    async fn waiting_for_permission(
        &self,
        context: &Context,
        view: &dyn ServerView,
    ) -> Result<Vec<(String, Vec<String>)>, Fault> {
        let entitlements = self.house.entitlements().await?;
        let mut waiting = Vec::new();
        for tool in view.tools() {
            let Some(server) = view.server_at(tool.server) else { continue };
            let missing = entitlements.missing_permissions(server, tool.policy);
            let name = Some((tool.original, tool.exposed));
            if !missing.is_empty() && entitlements.allows(&context.session, server, name) {
                waiting.push((tool.exposed.to_owned(), missing));
            }
        }
        Ok(waiting)
    }

    /// Loads tools in a session, and tells it.
    fn load(&self, context: &Context, seen: &VisibleTools, names: &[String]) {
        let budget = self.budget_of(context);
        let changed = self.discovery.with(&context.session, budget, |kept| {
            let mut changed = Vec::new();
            // The best last: of what does not fit, the worst goes first.
            for name in names.iter().rev() {
                let Some(definition) = seen.tools.get(name) else { continue };
                let before = kept.has(name);
                let loaded = kept.load(name, count_tokens(definition.as_str()));
                if loaded.kept != before {
                    changed.push(name.clone());
                }
                changed.extend(loaded.evicted);
            }
            changed
        });
        self.tell_of_loaded(context, seen, &changed);
    }
}

fn risk_of(view: &dyn ServerView, name: &str) -> Option<Risk> {
    Some(view.tool(name)?.policy?.assessment.risk)
}

fn is_connected(view: &dyn ServerView, name: &str) -> bool {
    let server = view.tool(name).and_then(|route| view.server_at(route.server));
    server.is_some_and(|server| server.hub_now().is_some())
}

fn server_of(view: &dyn ServerView, name: &str) -> Option<String> {
    let route = view.tool(name)?;
    Some(view.server_at(route.server)?.id().to_string())
}

fn risk_limit(word: Option<&str>, key: &str) -> Result<Option<Risk>, Fault> {
    let Some(word) = word else { return Ok(None) };
    let risk = Risk::from_word(word);
    risk.map(Some).ok_or_else(|| Fault::new(FaultKind::InvalidParams, format!("`{key}` is no level of risk")))
}

fn written_as_raw(answer: &Value) -> Result<Raw, Fault> {
    Raw::from_value(answer).map_err(Fault::internal)
}
