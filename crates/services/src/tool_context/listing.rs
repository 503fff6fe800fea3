//! What the known client programs are listed of some tools: for people who wonder where theirs are.
//!
//! It counts as the lists do that clients are given, for a client that has loaded nothing yet.

use std::collections::HashMap;

use switchboard_catalog::{Level, Shown, ToolSession};

use super::FINDING_TOOLS;
use super::clients::{Amount, BuiltIn, Choice};
use super::{Bearing, Clients, ToolContext};

/// A tool that may stand in a list.
#[derive(Debug, Clone, Copy)]
pub struct ListableTool<'a> {
    /// What clients call it.
    pub name: &'a str,
    /// What its definition costs.
    pub tokens: usize,
    /// Whether its server is part of the kernel.
    pub built_in: bool,
}

/// What a known client program is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientList {
    /// The word that operators use for the client.
    pub client: &'static str,
    /// The tools in its list, with those for finding others.
    pub listed: usize,
    /// Whether all the tools stand in it.
    pub is_whole: bool,
    /// Whether all the tools of the user's own servers do.
    pub has_own: bool,
    /// Whether it has the tools for finding others.
    pub finds: bool,
}

/// How much a known client program is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientBounds {
    /// How.
    pub shown: Shown,
    /// So many tools at most where not all have to be.
    pub max_tools: Option<usize>,
    /// So many tokens.
    pub max_tokens: usize,
}

impl ToolContext {
    /// What each known client program is listed of these tools; `stands_alone` where only one server is the user's own.
    #[must_use]
    pub fn lists(&self, tools: &[ListableTool<'_>], stands_alone: bool) -> Vec<ClientList> {
        let sum = |only_own: bool| {
            let counted = tools.iter().filter(|tool| !(only_own && tool.built_in));
            counted.fold(Amount { tools: 0, tokens: 0 }, |sum, tool| Amount {
                tools: sum.tools + 1,
                tokens: sum.tokens.saturating_add(tool.tokens),
            })
        };
        let (all, own) = (sum(false), sum(true));
        let list = |client| {
            let bearing = self.known(client);
            let Choice { level, built_in } = bearing.choice(self.budget, all, own, FINDING_TOOLS, stands_alone);
            let (listed, finds) = match (level, built_in) {
                (Level::All, BuiltIn::Whole) => (all.tools, false),
                (Level::All, BuiltIn::Nothing) => (own.tools, false),
                (Level::All, BuiltIn::Within(room)) => {
                    (own.tools + FINDING_TOOLS + self.pinned_within(&bearing, tools, Some(room)), true)
                }
                (Level::Categories | Level::Discovery, _) => (FINDING_TOOLS, true),
                (Level::Hybrid, _) => (FINDING_TOOLS + self.pinned_within(&bearing, tools, None), true),
            };
            let is_whole = level == Level::All && built_in == BuiltIn::Whole;
            ClientList { client, listed, is_whole, has_own: level == Level::All, finds }
        };
        Clients::known().map(list).collect()
    }

    /// How much a known client program is listed; `None` where this one is not known.
    #[must_use]
    pub fn bounds(&self, client: &str) -> Option<ClientBounds> {
        let client = Clients::known().find(|known| *known == client)?;
        let bearing = self.known(client);
        Some(ClientBounds {
            shown: bearing.shown,
            max_tools: Some(bearing.max_tools).filter(|max| *max != usize::MAX),
            max_tokens: bearing.budget(self.budget).max_tokens,
        })
    }

    fn known(&self, client: &str) -> Bearing {
        self.clients.of_known(client, self.level, self.is_name_length_said)
    }

    /// How many pinned tools are listed; of the kernel's own servers alone, and within a room, where there is one.
    fn pinned_within(&self, bearing: &Bearing, tools: &[ListableTool<'_>], room: Option<Amount>) -> usize {
        let known: HashMap<&str, &ListableTool<'_>> = tools.iter().map(|tool| (tool.name, tool)).collect();
        let mut session = ToolSession::new(bearing.budget(self.budget));
        session.pin(self.pinned.iter().filter_map(|name| Some((name.clone(), known.get(&**name)?.tokens))));
        let Some(mut left) = room else { return session.pinned().count() };
        let pinned = session.pinned().filter_map(|name| known.get(name)).filter(|tool| tool.built_in);
        let fits = |tool: &&&ListableTool<'_>| {
            let fits = left.tools > 0 && tool.tokens <= left.tokens;
            if fits {
                left = Amount { tools: left.tools - 1, tokens: left.tokens - tool.tokens };
            }
            fits
        };
        pinned.filter(fits).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(own: usize, tokens: usize) -> Vec<(&'static str, usize, bool)> {
        let names: Vec<String> = (0..own).map(|at| format!("own__{at}")).collect();
        let memory: Vec<String> = (0..46).map(|at| format!("memory__{at}")).collect();
        let tool = |name, tokens, built_in| ListableTool { name, tokens, built_in };
        let own = names.iter().map(|name| tool(name, tokens, false));
        let tools: Vec<_> = own.chain(memory.iter().map(|name| tool(name, 560, true))).collect();
        let context = ToolContext { pinned: memory[..7].to_vec(), ..ToolContext::default() };
        context.lists(&tools, false).into_iter().map(|list| (list.client, list.listed, list.finds)).collect()
    }

    #[test]
    fn each_known_client_is_counted_as_it_is_listed() {
        let few = lists(4, 100);
        assert!(few.contains(&("claude-code", 50, false)), "{few:?}");
        assert!(few.contains(&("cursor", 14, true)), "its own, three for finding, seven pinned: {few:?}");
        assert!(few.contains(&("gemini", 50, false)), "{few:?}");
        assert!(lists(36, 100).contains(&("cursor", 40, true)));
        assert!(lists(39, 100).contains(&("cursor", 39, false)));
        let many = lists(140, 500);
        assert!(many.contains(&("claude-code", 186, false)), "{many:?}");
        assert!(many.contains(&("cursor", 10, true)) && many.contains(&("vscode", 10, true)), "{many:?}");
    }

    #[test]
    fn bounds_are_those_of_the_table_and_of_the_operator() {
        let context = ToolContext::default();
        let cursor = ClientBounds { shown: Shown::Auto, max_tools: Some(40), max_tokens: 25_000 };
        assert_eq!(context.bounds("cursor"), Some(cursor));
        assert_eq!(context.bounds("claude-code").map(|bounds| bounds.shown), Some(Shown::At(Level::All)));
        assert_eq!(context.bounds("nobody"), None);
    }
}
