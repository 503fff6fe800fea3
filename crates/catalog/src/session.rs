//! The tools that a model is given, within a number of tokens (MGP 16.3, 16.7, 16.8).
//!
//! It decides which tools stay in a session and which go. Pinned tools are chosen by the operator and never go. Cached
//! tools were found and loaded; the one that was used longest ago goes first. Results of a search have a share of their own
//! (`brief.rs`). It does not know the definitions, only what they cost, and has no clock: the order of calls is the order
//! of use.

use serde::Serialize;

/// More tools than this are not kept, however small they are.
const MOST_TOOLS: usize = 256;

/// How much of the tools a model is given (MGP 16.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// L0: all tools.
    All,
    /// L1: the meta-tools, and the categories there are.
    Categories,
    /// L2: the meta-tools; everything else on demand.
    Discovery,
    /// L3: the meta-tools, the pinned tools, and those that were found.
    #[default]
    Hybrid,
}

/// How much of the tools a client program is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// All while they fit into the budget, and hybrid beyond.
    Auto,
    /// That much, whatever it costs.
    At(Level),
}

impl Level {
    /// The word in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Categories => "categories",
            Self::Discovery => "discovery",
            Self::Hybrid => "hybrid",
        }
    }

    /// Reads the word, or the number `L0` to `L3`.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "all" | "L0" => Some(Self::All),
            "categories" | "L1" => Some(Self::Categories),
            "discovery" | "L2" => Some(Self::Discovery),
            "hybrid" | "L3" => Some(Self::Hybrid),
            _ => None,
        }
    }
}

/// How many tokens tools may take (MGP 16.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// Altogether.
    pub max_tokens: usize,
    /// For pinned tools.
    pub pinned_reserve: usize,
    /// For the results of one search.
    pub discovery_reserve: usize,
    /// For tools that were found and loaded.
    pub cache_limit: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { max_tokens: 25_000, pinned_reserve: 6_250, discovery_reserve: 9_375, cache_limit: 9_375 }
    }
}

/// A tool in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LoadedTool {
    id: String,
    tokens: usize,
}

/// What became of a tool that was to be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadOutcome {
    /// Whether the session has it now.
    pub kept: bool,
    /// How many tokens the session has more because of it, before others went.
    pub added: usize,
    /// The tools that went for it.
    pub evicted: Vec<String>,
}

/// What became of tools that were to go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evicted {
    /// They have gone.
    pub evicted: Vec<String>,
    /// They are pinned and stay.
    pub pinned: Vec<String>,
    /// They were not there.
    pub unknown: Vec<String>,
    /// How many tokens are free again.
    pub freed: usize,
}

/// The tools of one session.
#[derive(Debug, Clone, Default)]
pub struct ToolSession {
    budget: Budget,
    pinned: Vec<LoadedTool>,
    /// The one used longest ago first.
    cached: Vec<LoadedTool>,
}

impl ToolSession {
    /// A session without tools.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { budget, ..Self::default() }
    }

    /// The budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Makes the pinned tools these, in order, as far as they fit into their reserve; returns those that do not.
    pub fn pin(&mut self, tools: impl IntoIterator<Item = (String, usize)>) -> Vec<String> {
        self.pinned.clear();
        let mut left = self.budget.pinned_reserve.min(self.budget.max_tokens);
        let mut refused = Vec::new();
        for (id, tokens) in tools {
            if tokens > left || self.pinned.len() >= MOST_TOOLS {
                refused.push(id);
            } else if !self.is_pinned(&id) {
                left -= tokens;
                self.cached.retain(|held| held.id != id);
                self.pinned.push(LoadedTool { id, tokens });
            }
        }
        self.make_room(0);
        refused
    }

    /// Loads a tool, or notes that it was used. Others go for it, those used longest ago first.
    pub fn load(&mut self, id: &str, tokens: usize) -> LoadOutcome {
        if self.is_pinned(id) {
            return LoadOutcome { kept: true, ..LoadOutcome::default() };
        }
        let before = self.cached.iter().position(|held| held.id == id).map(|at| self.cached.remove(at).tokens);
        if tokens > self.cache_room() {
            return LoadOutcome::default();
        }
        let evicted = self.make_room(tokens);
        self.cached.push(LoadedTool { id: id.to_owned(), tokens });
        LoadOutcome { kept: true, added: tokens.saturating_sub(before.unwrap_or(0)), evicted }
    }

    /// Notes that a tool was used; nothing where the session does not have it.
    pub fn touch(&mut self, id: &str) {
        if let Some(at) = self.cached.iter().position(|held| held.id == id) {
            let held = self.cached.remove(at);
            self.cached.push(held);
        }
    }

    /// Takes tools out of the cache. Pinned ones stay.
    pub fn evict<'a>(&mut self, ids: impl IntoIterator<Item = &'a str>) -> Evicted {
        let mut outcome = Evicted::default();
        for id in ids {
            if self.is_pinned(id) {
                outcome.pinned.push(id.to_owned());
            } else if let Some(at) = self.cached.iter().position(|held| held.id == id) {
                outcome.freed += self.cached.remove(at).tokens;
                outcome.evicted.push(id.to_owned());
            } else {
                outcome.unknown.push(id.to_owned());
            }
        }
        outcome
    }

    /// Drops cached tools that are there no more, or may be used no more.
    pub fn retain(&mut self, mut there: impl FnMut(&str) -> bool) {
        self.cached.retain(|held| there(&held.id));
    }

    /// Whether the session has a tool.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.is_pinned(id) || self.cached.iter().any(|held| held.id == id)
    }

    /// The pinned tools, in the operator's order.
    pub fn pinned(&self) -> impl Iterator<Item = &str> {
        self.pinned.iter().map(|held| held.id.as_str())
    }

    /// The cached tools, the one used last first.
    pub fn cached(&self) -> impl Iterator<Item = &str> {
        self.cached.iter().rev().map(|held| held.id.as_str())
    }

    /// How many tokens pinned and cached tools take.
    #[must_use]
    pub fn total_tokens(&self) -> usize {
        total(&self.pinned) + total(&self.cached)
    }

    fn is_pinned(&self, id: &str) -> bool {
        self.pinned.iter().any(|held| held.id == id)
    }

    /// How many tokens the cache may take: its limit, and no more than pinned tools and the reserve for results leave.
    fn cache_room(&self) -> usize {
        let left = self.budget.max_tokens.saturating_sub(total(&self.pinned) + self.budget.discovery_reserve);
        self.budget.cache_limit.min(left)
    }

    fn make_room(&mut self, tokens: usize) -> Vec<String> {
        let room = self.cache_room();
        let mut evicted = Vec::new();
        while !self.cached.is_empty() && (total(&self.cached) + tokens > room || self.cached.len() >= MOST_TOOLS) {
            evicted.push(self.cached.remove(0).id);
        }
        evicted
    }
}

fn total(tools: &[LoadedTool]) -> usize {
    tools.iter().map(|held| held.tokens).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn budget() -> Budget {
        Budget { max_tokens: 1000, pinned_reserve: 200, discovery_reserve: 300, cache_limit: 400 }
    }

    fn pinned(list: &[(&str, usize)]) -> Vec<(String, usize)> {
        list.iter().map(|(id, tokens)| ((*id).to_owned(), *tokens)).collect()
    }

    #[test]
    fn the_tool_used_longest_ago_goes_first() {
        let mut session = ToolSession::new(budget());
        for id in ["a", "b", "c"] {
            assert_eq!(session.load(id, 130), LoadOutcome { kept: true, added: 130, evicted: Vec::new() });
        }
        session.touch("a");
        assert_eq!(session.load("d", 130).evicted, ["b"]);
        assert_eq!(session.cached().collect::<Vec<_>>(), ["d", "a", "c"]);
        assert_eq!(session.total_tokens(), 390);
        assert_eq!(session.load("d", 130), LoadOutcome { kept: true, added: 0, evicted: Vec::new() });
        assert!(!session.load("huge", 401).kept);
    }

    #[test]
    fn pinned_tools_never_go_and_never_exceed_their_reserve() {
        let mut session = ToolSession::new(budget());
        let refused = session.pin(pinned(&[("think", 100), ("large", 150), ("store", 100)]));
        assert_eq!(refused, ["large"]);
        for number in 0..50 {
            session.load(&format!("t{number}"), 100);
        }
        assert_eq!(session.pinned().collect::<Vec<_>>(), ["think", "store"]);
        let outcome = session.evict(["think", "t49", "nobody"]);
        assert_eq!(
            (outcome.pinned, outcome.evicted, outcome.unknown, outcome.freed),
            (vec!["think".to_owned()], vec!["t49".to_owned()], vec!["nobody".to_owned()], 100)
        );
    }

    #[test]
    fn levels_have_words() {
        for level in [Level::All, Level::Categories, Level::Discovery, Level::Hybrid] {
            assert_eq!(Level::parse(level.as_str()), Some(level));
        }
        assert_eq!((Level::parse("L3"), Level::parse("L4")), (Some(Level::Hybrid), None));
    }

    proptest! {
        #[test]
        fn no_order_of_events_breaks_the_budget(
            events in proptest::collection::vec((0_u8..4, 0_usize..20, 0_usize..500), 0..80)
        ) {
            let mut session = ToolSession::new(budget());
            for (kind, tool, tokens) in events {
                let id = format!("t{tool}");
                match kind {
                    0 => { session.load(&id, tokens); }
                    1 => session.touch(&id),
                    2 => { session.evict([id.as_str()]); }
                    _ => { session.pin([(id, tokens)]); }
                }
                prop_assert!(total(&session.pinned) <= 200);
                prop_assert!(total(&session.cached) <= 400);
                prop_assert!(session.total_tokens() + 300 <= 1000);
                let mut all: Vec<&str> = session.pinned().chain(session.cached()).collect();
                let count = all.len();
                all.sort_unstable();
                all.dedup();
                prop_assert_eq!(all.len(), count, "a tool is there once");
            }
        }
    }
}
