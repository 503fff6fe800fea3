//! Which of the tools that a client may see stand in its list.
//!
//! It decides the level (MGP 16.3) for each client. At every level the list holds only tools that the gate lets through; what
//! is left out can still be found and called.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use switchboard_catalog::{Budget, Level, ToolSession, count_tokens};
use switchboard_peer::{Context, Session as Client};
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mcp::{app, method};
use switchboard_protocol::mgp::{Agreement, Extension};
use switchboard_upstream::ListKind;
use switchboard_wire::{Edit, Notification, Raw};

use super::{ClientSession, Shown, ToolFinder, VisibleTools, describe};
use crate::house::{FinderHouse, ServerView};
use crate::registry::Registrar;
use crate::tool_context::{Amount, Bearing, BuiltIn, Choice, FINDING_TOOLS};

/// Categories named in the list, at level one.
const MOST_CATEGORIES: usize = 100;

impl<H: FinderHouse + ?Sized> ToolFinder<'_, H> {
    /// A list of tools, cut down to what this client is given, with the kernel's tools for finding the others, under names that are
    /// as long as this client takes them.
    pub async fn narrowed(&self, context: &Context, view: &Arc<dyn ServerView>, list: Raw) -> Raw {
        let list = self.chosen(context, view, list).await;
        match self.bearing(context).max_name_length {
            Some(max) => with_names_within(&**view, list, max),
            None => list,
        }
    }

    async fn chosen(&self, context: &Context, view: &Arc<dyn ServerView>, list: Raw) -> Raw {
        let seen = self.seen(&context.session, &list);
        let Choice { level, built_in } = self.choice_of(context, &**view, &seen);
        let asked = self.speaks_discovery(context);
        let starting = self.awaits_servers(context, &**view).await;
        // A person at the command line wants to see them all, and nothing else.
        let is_model = !self.bearing(context).is_command_line;
        let in_part = level != Level::All || matches!(built_in, BuiltIn::Within(_));
        let finding = in_part || asked || is_model && (starting || self.keeps_finding(context));
        // A host that shows pages keeps their tools from the model itself. A lone server is shown as it shows itself.
        let sees_pages = !is_model || context.caller.can(&["extensions", app::EXTENSION]) || view.servers().len() == 1;
        // What is listed now stays in the list: the kernel's own servers must not fill it before it is known whether all fit.
        let waits = starting && is_model && level == Level::All && self.bearing(context).shown == Shown::Auto;
        let left_out = match built_in {
            BuiltIn::Whole if waits => self.unpinned_built_in(context, &seen),
            BuiltIn::Whole => HashSet::new(),
            BuiltIn::Within(room) => self.built_in_beyond(context, &seen, room),
            BuiltIn::Nothing => self.built_in_beyond(context, &seen, Amount { tools: 0, tokens: 0 }),
        };
        let listed = || seen.order.iter().filter(|name| !left_out.contains(*name)).cloned();
        // Of the kernel's own servers what is listed in part is what is pinned or loaded, and goes with that.
        let stays = || listed().filter(|name| built_in == BuiltIn::Whole || !seen.built_in.contains(name));
        self.note_listed(context, &**view, level, finding, stays);
        let mut shown = match level {
            Level::All if !finding && left_out.is_empty() && (seen.for_pages.is_empty() || sees_pages) => return list,
            Level::All => {
                let offered = listed().filter(|name| sees_pages || seen.offers(name));
                offered.filter_map(|name| seen.tools.get(&name).cloned()).collect()
            }
            Level::Categories | Level::Discovery => Vec::new(),
            Level::Hybrid => self.held_tools(context, &seen),
        };
        let categories = if level == Level::Categories {
            self.discovery.index_up_to_date(view).await;
            let mut found = self.discovery.index.categories(|name| seen.tools.contains_key(name));
            found.truncate(MOST_CATEGORIES);
            found
        } else {
            Vec::new()
        };
        let mut tools = if finding {
            describe::basic(&categories, Registrar::of(self.house).creating(context).is_some())
        } else {
            Vec::new()
        };
        if asked {
            tools.extend(describe::further());
        }
        tools.append(&mut shown);
        Edit::of(&list).map_or(list, |edit| edit.set(ListKind::Tools.key(), Raw::array(&tools)).finish())
    }

    /// Remembers what a client is listed, so that nothing of it goes when more servers come.
    fn note_listed<I: Iterator<Item = String>>(
        &self,
        context: &Context,
        view: &dyn ServerView,
        level: Level,
        finding: bool,
        listed: impl FnOnce() -> I,
    ) {
        let bearing = self.bearing(context);
        // A list that is always whole needs no memory, and one of a server that stands alone has other names beside others.
        let passing = bearing.shown == Shown::Auto && level == Level::All && !stands_alone(view);
        if !finding && !passing {
            return;
        }
        let budget = bearing.budget(self.house.tool_context().budget);
        self.discovery.with_client(&context.session, budget, |client| {
            client.has_finding |= finding;
            if passing {
                client.listed.extend(listed());
            }
        });
    }

    /// The tools of servers that are part of the kernel, but for those that are pinned.
    fn unpinned_built_in(&self, context: &Context, seen: &VisibleTools) -> HashSet<String> {
        let pinned: HashSet<String> = self.discovery.with_client(&context.session, self.budget_of(context), |client| {
            client.loaded.pinned().map(str::to_owned).collect()
        });
        seen.built_in.iter().filter(|name| !pinned.contains(*name)).cloned().collect()
    }

    /// The tools of servers that are part of the kernel, but for those that were listed before, and for as many of the pinned
    /// and loaded ones as there is room for.
    fn built_in_beyond(&self, context: &Context, seen: &VisibleTools, room: Amount) -> HashSet<String> {
        let mut beyond = seen.built_in.clone();
        let mut left = room;
        let budget = self.budget_of(context);
        let listed = self.discovery.with_client(&context.session, budget, |client| client.listed.clone());
        for name in self.held_names(context) {
            let Some(definition) = seen.tools.get(&name).filter(|_| beyond.contains(&name)) else { continue };
            let tokens = count_tokens(definition.as_str());
            let fits = left.tools > 0 && tokens <= left.tokens;
            if fits {
                left = Amount { tools: left.tools - 1, tokens: left.tokens - tokens };
            }
            if fits || listed.contains(&name) {
                beyond.remove(&name);
            }
        }
        beyond
    }

    /// Remembers the servers whose instructions a client was given with its greeting.
    pub fn note_instructed(&self, context: &Context, servers: HashSet<Arc<str>>) {
        self.discovery.with_client(&context.session, self.budget_of(context), |client| client.instructed = servers);
    }

    /// Whether the tools for finding stay in the list of a session that was listed them.
    fn keeps_finding(&self, context: &Context) -> bool {
        context.session.lasting && self.discovery.has_finding(&context.session)
    }

    /// Whether servers that a client may know of are still starting: its list is not all there is.
    async fn awaits_servers(&self, context: &Context, view: &dyn ServerView) -> bool {
        let starting: Vec<_> = view.servers().iter().filter(|server| !server.phase().is_settled()).collect();
        if starting.is_empty() {
            return false;
        }
        let Ok(entitlements) = self.house.entitlements().await else { return false };
        let who = self.house.requester(context);
        starting.into_iter().any(|server| entitlements.knows(&who, server))
    }

    /// Whether a client has the kernel's tools for finding tools: one that is not given everything, is given it only in
    /// part because servers are starting, or asked for them.
    pub(super) async fn finds_tools(&self, context: &Context, view: &dyn ServerView) -> Result<bool, Fault> {
        if self.speaks_discovery(context) || self.discovery.has_finding(&context.session) {
            return Ok(true);
        }
        let list = view.visible_tools(context).await?;
        let seen = self.seen(&context.session, &list);
        let Choice { level, built_in } = self.choice_of(context, view, &seen);
        let in_part = level != Level::All || matches!(built_in, BuiltIn::Within(_));
        Ok(in_part || self.awaits_servers(context, view).await)
    }

    /// The tools for finding tools that a client has.
    pub async fn finding_tools(&self, context: &Context, view: &dyn ServerView) -> Vec<Raw> {
        if !self.finds_tools(context, view).await.unwrap_or_default() {
            return Vec::new();
        }
        let mut tools = describe::basic(&[], Registrar::of(self.house).creating(context).is_some());
        if self.speaks_discovery(context) {
            tools.extend(describe::further());
        }
        tools
    }

    pub(super) fn speaks_discovery(&self, context: &Context) -> bool {
        let agreed = Agreement::with_client(&context.caller.capabilities);
        agreed.is_some_and(|agreed| agreed.has(Extension::ToolDiscovery))
    }

    /// What a client bears.
    pub(super) fn bearing(&self, context: &Context) -> Bearing {
        let bearing = self.house.tool_context().bearing(&context.session.principal, context.caller.info.as_ref());
        let of_profile = self.house.profile_tools(&context.session).and_then(|profile| profile.shown);
        match of_profile.filter(|_| !bearing.is_command_line) {
            Some(shown) => Bearing { shown, ..bearing },
            None => bearing,
        }
    }

    /// The budget of a client.
    pub(super) fn budget_of(&self, context: &Context) -> Budget {
        self.bearing(context).budget(self.house.tool_context().budget)
    }

    fn choice_of(&self, context: &Context, view: &dyn ServerView, seen: &VisibleTools) -> Choice {
        let budget = self.house.tool_context().budget;
        self.bearing(context).choice(budget, seen.all(), seen.own(), FINDING_TOOLS, stands_alone(view))
    }

    /// The tools of a list by name. Read once for as long as the list is the same.
    pub(crate) fn seen(&self, session: &Client, list: &Raw) -> Arc<VisibleTools> {
        let options = self.house.tool_context();
        let key = session.rights_key();
        let known = self.discovery.kept(&key, |kept| kept.seen.clone());
        if let Some(seen) = known.filter(|seen| seen.is_of(list)) {
            return seen;
        }
        let items = list.member(ListKind::Tools.key()).and_then(|tools| tools.elements()).unwrap_or_default();
        let mut tools = HashMap::with_capacity(items.len());
        let (mut order, mut for_pages) = (Vec::with_capacity(items.len()), HashSet::new());
        let (mut own_tokens, mut other_tokens) = (0, 0);
        let largest = options.clients.largest(options.budget.max_tokens);
        let (mut built_in, view) = (HashSet::new(), self.house.view());
        for item in items {
            let Some(name) = item.member("name").and_then(|name| name.as_text()) else { continue };
            // Counted only as far as needed to know that it is too much.
            let is_built_in = is_built_in(&*view, &name);
            let tokens = if is_built_in { &mut other_tokens } else { &mut own_tokens };
            if *tokens <= largest {
                *tokens += count_tokens(item.as_str());
            }
            if is_built_in {
                built_in.insert(name.clone());
            }
            if app::ToolApp::of(&item).is_some_and(|app| !app.for_models) {
                for_pages.insert(name.clone());
            }
            order.push(name.clone());
            tools.insert(name, item);
        }
        let tokens = own_tokens + other_tokens;
        let list = list.clone();
        let seen = Arc::new(VisibleTools { list, tools, order, for_pages, built_in, tokens, own_tokens });
        let of_profile = self.house.profile_tools(session).map(|profile| profile.pinned).unwrap_or_default();
        let pinned: Vec<(String, usize)> = options
            .pinned_of(&session.principal)
            .chain(&of_profile)
            .filter_map(|name| seen.tools.get(name).map(|raw| (name.clone(), count_tokens(raw.as_str()))))
            .collect();
        self.discovery.kept(&key, |kept| {
            kept.seen = Some(seen.clone());
            kept.pinned = pinned;
            let refused = ToolSession::new(options.budget).pin(kept.pinned.clone());
            if !refused.is_empty() {
                tracing::warn!(?refused, "pinned tools that do not fit into their reserve are not listed");
            }
            let tools = &seen.tools;
            for client in kept.sessions.values_mut() {
                client.loaded.pin(kept.pinned.clone());
                client.loaded.retain(|name| tools.contains_key(name));
                client.listed.retain(|name| tools.contains_key(name));
            }
        });
        seen
    }

    /// Pinned and loaded tools of a client, and those that were listed before there were more, as far as it may see them.
    fn held_tools(&self, context: &Context, seen: &VisibleTools) -> Vec<Raw> {
        self.held_names(context).iter().filter_map(|name| seen.tools.get(name)).cloned().collect()
    }

    /// Their names: what is pinned first.
    fn held_names(&self, context: &Context) -> Vec<String> {
        let names = |client: &mut ClientSession| -> Vec<String> {
            let pinned: Vec<String> = client.loaded.pinned().map(str::to_owned).collect();
            let others: HashSet<&str> =
                client.loaded.cached().chain(client.listed.iter().map(String::as_str)).collect();
            let mut others: Vec<String> = others.into_iter().map(str::to_owned).collect();
            others.retain(|name| !pinned.contains(name));
            // In the order of their names and not of their use: a list that changes with each call cannot be kept.
            others.sort_unstable();
            pinned.into_iter().chain(others).collect()
        };
        self.discovery.with_client(&context.session, self.budget_of(context), names)
    }

    /// Tells a client that its list has changed, where what was loaded or given back stands in it.
    pub(super) fn tell_of_loaded(&self, context: &Context, seen: &VisibleTools, changed: &[String]) {
        let session = &context.session;
        let Choice { level, built_in } = self.choice_of(context, &*self.house.view(), seen);
        let in_part = matches!(built_in, BuiltIn::Within(_)) && changed.iter().any(|name| seen.built_in.contains(name));
        if changed.is_empty() || level != Level::Hybrid && !in_part {
            return;
        }
        let notification = Notification::new(method::TOOLS_LIST_CHANGED, None);
        if session.lasting {
            let _ = session.remote().notify(notification);
        } else {
            self.house.tell_streams(&session.principal, ListKind::Tools, &notification);
        }
    }
}

/// A list in which names of tools are cut to another length, or to none. One that two tools would have stays as it was.
fn with_names_within(view: &dyn ServerView, list: Raw, max: usize) -> Raw {
    let items = list.member(ListKind::Tools.key()).and_then(|tools| tools.elements()).unwrap_or_default();
    let mut others = HashSet::new();
    let mut renamed = |item: &Raw| -> Option<Raw> {
        let name = item.member("name")?.as_text()?;
        let other = view.exposed_within(&name, max).filter(|other| others.insert(other.clone()))?;
        Edit::of(item).ok().map(|edit| edit.set("name", Raw::string(&other)).finish())
    };
    let changed: Vec<Option<Raw>> = items.iter().map(&mut renamed).collect();
    if changed.iter().all(Option::is_none) {
        return list;
    }
    let items: Vec<Raw> = items.into_iter().zip(changed).map(|(item, other)| other.unwrap_or(item)).collect();
    Edit::of(&list).map_or(list, |edit| edit.set(ListKind::Tools.key(), Raw::array(&items)).finish())
}

/// Whether a tool is of a server that is part of the kernel.
fn is_built_in(view: &dyn ServerView, name: &str) -> bool {
    let route = view.tool(name);
    route.and_then(|route| view.server_at(route.server)).is_some_and(|server| server.is_built_in())
}

/// Whether there is one server, beside what is built in: nobody would put a kernel before it to have its tools hidden.
fn stands_alone(view: &dyn ServerView) -> bool {
    view.servers().iter().filter(|server| !server.is_built_in()).count() == 1
}
