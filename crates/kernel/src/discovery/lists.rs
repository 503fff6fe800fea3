//! Which of the tools that a client may see stand in its list.
//!
//! It decides the level (MGP 16.3) for each client. At every level the list holds only tools that the gate lets through; what
//! is left out can still be found and called.

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_catalog::{Level, Session, count_tokens};
use switchboard_peer::Context;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp::Extension;
use switchboard_wire::{Edit, Notification, Raw};

use super::{Seen, describe};
use crate::directory::ListKind;
use crate::kernel::{Kernel, View};

/// Categories named in the list, at level one.
const MOST_CATEGORIES: usize = 100;

impl Kernel {
    /// A list of tools, cut down to what this client is given, with the kernel's tools for finding the others.
    pub(crate) async fn narrowed(&self, context: &Context, view: &Arc<View>, list: Raw) -> Raw {
        let (level, seen) = self.level_for(context, &list);
        let asked = self.speaks_discovery(context);
        let mut shown = match level {
            Level::All if !asked => return list,
            Level::All => seen.order.iter().filter_map(|name| seen.tools.get(name)).cloned().collect(),
            Level::Categories | Level::Discovery => Vec::new(),
            Level::Hybrid => self.held_tools(context, &seen),
        };
        let categories = if level == Level::Categories {
            self.index_up_to_date(view).await;
            let mut found = self.discovery().index.categories(|name| seen.tools.contains_key(name));
            found.truncate(MOST_CATEGORIES);
            found
        } else {
            Vec::new()
        };
        let mut tools = describe::basic(&categories, self.creating(&context.session).is_some());
        if asked {
            tools.extend(describe::further());
        }
        tools.append(&mut shown);
        Edit::of(&list).map_or(list, |edit| edit.set(ListKind::Tools.key(), Raw::array(&tools)).finish())
    }

    /// Whether a client has the kernel's tools for finding tools: one that is not given everything, or asked for them.
    pub(super) async fn finds_tools(&self, context: &Context, view: &View) -> Result<bool, Fault> {
        if self.speaks_discovery(context) {
            return Ok(true);
        }
        let list = self.visible(context, view, ListKind::Tools).await?;
        Ok(self.level_for(context, &list).0 != Level::All)
    }

    /// The tools for finding tools that a client has.
    pub(crate) async fn finding_tools(&self, context: &Context, view: &View) -> Vec<Raw> {
        if !self.finds_tools(context, view).await.unwrap_or_default() {
            return Vec::new();
        }
        let mut tools = describe::basic(&[], self.creating(&context.session).is_some());
        if self.speaks_discovery(context) {
            tools.extend(describe::further());
        }
        tools
    }

    pub(super) fn speaks_discovery(&self, context: &Context) -> bool {
        let agreed = crate::welcome::agreed_with(&context.caller.capabilities);
        agreed.is_some_and(|agreed| agreed.has(Extension::ToolDiscovery))
    }

    fn level_for(&self, context: &Context, list: &Raw) -> (Level, Arc<Seen>) {
        let seen = self.seen(&context.session.principal, list);
        (self.level_of(&context.session.principal, &seen), seen)
    }

    fn level_of(&self, principal: &str, seen: &Seen) -> Level {
        let said = self.options().tools.level_of(principal);
        said.unwrap_or(if seen.fits { Level::All } else { Level::Hybrid })
    }

    /// The tools of a list by name. Read once for as long as the list is the same.
    pub(crate) fn seen(&self, principal: &Arc<str>, list: &Raw) -> Arc<Seen> {
        let options = &self.options().tools;
        let known = self.discovery().kept(principal, |kept| kept.seen.clone());
        if let Some(seen) = known.filter(|seen| seen.is_of(list)) {
            return seen;
        }
        let items = list.member(ListKind::Tools.key()).and_then(|tools| tools.elements()).unwrap_or_default();
        let mut tools = HashMap::with_capacity(items.len());
        let mut order = Vec::with_capacity(items.len());
        let mut tokens = 0;
        for item in items {
            let Some(name) = item.member("name").and_then(|name| name.as_text()) else { continue };
            // Counted only as far as needed to know that it is too much.
            if tokens <= options.budget.max_tokens {
                tokens += count_tokens(item.as_str());
            }
            order.push(name.clone());
            tools.insert(name, item);
        }
        let fits = tokens <= options.budget.max_tokens;
        let seen = Arc::new(Seen { list: list.clone(), tools, order, fits });
        let pinned: Vec<(String, usize)> = options
            .pinned_of(principal)
            .filter_map(|name| seen.tools.get(name).map(|raw| (name.clone(), count_tokens(raw.as_str()))))
            .collect();
        self.discovery().kept(principal, |kept| {
            kept.seen = Some(seen.clone());
            kept.pinned = pinned;
            let refused = Session::new(options.budget).pin(kept.pinned.clone());
            if !refused.is_empty() {
                tracing::warn!(?refused, "pinned tools that do not fit into their reserve are not listed");
            }
            let tools = &seen.tools;
            for session in kept.sessions.values_mut() {
                session.pin(kept.pinned.clone());
                session.retain(|name| tools.contains_key(name));
            }
        });
        seen
    }

    /// Pinned and loaded tools of a client, as far as it may see them.
    fn held_tools(&self, context: &Context, seen: &Seen) -> Vec<Raw> {
        let budget = self.options().tools.budget;
        let names = |session: &mut Session| -> Vec<String> {
            let mut cached: Vec<String> = session.cached().map(str::to_owned).collect();
            // In the order of their names and not of their use: a list that changes with each call cannot be kept.
            cached.sort_unstable();
            session.pinned().map(str::to_owned).chain(cached).collect()
        };
        let names = self.discovery().with(&context.session, budget, names);
        names.iter().filter_map(|name| seen.tools.get(name)).cloned().collect()
    }

    /// Tells a client that its list has changed, where what is loaded stands in it.
    pub(super) fn tell_of_loaded(&self, context: &Context, seen: &Seen) {
        let session = &context.session;
        if self.level_of(&session.principal, seen) != Level::Hybrid {
            return;
        }
        let notification = Notification::new(method::TOOLS_LIST_CHANGED, None);
        if session.lasting {
            let _ = session.remote().notify(notification);
        } else {
            self.listeners().list_changed_for(&session.principal, ListKind::Tools, &notification);
        }
    }
}
