//! Finding tools instead of being given all of them (MGP 16).
//!
//! It decides which tools a client's list shows, what a search may find, and what is loaded for whom. What fits a request is
//! decided by the catalog; who may see what is decided by the gate, and a search never shows what a list would not. Calls of
//! tools that were found take the same way through the gate as all others.
//!
//! - `index.rs` keeps the catalog in step with the directory. - `lists.rs` decides what is listed. - `methods.rs` answers
//!   `mgp/tools/*` and the tools `mgp_tools_*`. - `describe.rs` says what the kernel's own tools are.
//!
//! What is loaded belongs to a session (MGP 16.7): two agents of one user do not fill each other's lists. Clients without
//! sessions have only their principal to be known by: what is loaded belongs to that, and survives reconnecting.

mod describe;
mod index;
mod lists;
mod methods;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
pub use switchboard_catalog::{Budget, Judge, Level};
use switchboard_catalog::{Found, Search, Session};
use switchboard_peer::Session as Client;
use switchboard_wire::Raw;

pub(crate) use describe::CALL;
use index::Index;
pub(crate) use methods::is_method;

/// Principals whose tools are remembered.
const MOST_PRINCIPALS: usize = 1024;

/// Which tools clients are given, and how many tokens these may take.
#[derive(Debug, Clone, Default)]
pub struct ToolContext {
    /// How much is listed. `None`: all tools while they fit into the budget, and hybrid beyond.
    pub level: Option<Level>,
    /// Tools that are always listed, under the names that clients see.
    pub pinned: Vec<String>,
    /// The tokens that tools may take.
    pub budget: Budget,
    /// Orders what was found anew, where there is one.
    pub judge: Option<Arc<Judge>>,
    /// What differs for single principals.
    pub agents: HashMap<String, AgentTools>,
}

/// What a principal is given.
#[derive(Debug, Clone, Default)]
pub struct AgentTools {
    /// How much is listed; as for everybody where it is not said.
    pub level: Option<Level>,
    /// Tools that are always listed, beside those of everybody.
    pub pinned: Vec<String>,
}

impl ToolContext {
    fn level_of(&self, principal: &str) -> Option<Level> {
        self.agents.get(principal).and_then(|agent| agent.level).or(self.level)
    }

    fn pinned_of(&self, principal: &str) -> impl Iterator<Item = &String> {
        self.pinned.iter().chain(self.agents.get(principal).into_iter().flat_map(|agent| &agent.pinned))
    }
}

/// What the kernel keeps for finding tools.
#[derive(Default)]
pub(crate) struct Discovery {
    index: Index,
    principals: Mutex<HashMap<Arc<str>, Kept>>,
}

/// The tools of one principal.
#[derive(Default)]
struct Kept {
    /// What is loaded, by session; under no name for requests without one.
    sessions: HashMap<Option<Arc<str>>, Session>,
    /// What the principal saw when it last asked: told apart by where the list is in memory, so that a list which has not
    /// changed is not read again.
    seen: Option<Arc<Seen>>,
    /// The tools that are always listed, and what they cost.
    pinned: Vec<(String, usize)>,
    /// Counts uses, to forget the principal that was away longest.
    used: u64,
}

impl Kept {
    /// What is loaded in a session.
    fn session(&mut self, session: &Client, budget: Budget) -> &mut Session {
        let key = session.lasting.then(|| session.id.clone());
        let pinned = &self.pinned;
        self.sessions.entry(key).or_insert_with(|| {
            let mut fresh = Session::new(budget);
            fresh.pin(pinned.clone());
            fresh
        })
    }
}

/// What a principal may see, read once.
pub(crate) struct Seen {
    list: Raw,
    tools: HashMap<String, Raw>,
    /// In the order of the list.
    order: Vec<String>,
    /// Whether all of them fit into the budget.
    fits: bool,
}

impl Seen {
    /// Whether a tool of this name is among them.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    fn is_of(&self, list: &Raw) -> bool {
        std::ptr::eq(self.list.as_bytes(), list.as_bytes())
    }
}

impl Discovery {
    /// Does something with what is kept for a principal.
    fn kept<T>(&self, principal: &Arc<str>, work: impl FnOnce(&mut Kept) -> T) -> T {
        let mut principals = self.principals.lock();
        let now = principals.values().map(|kept| kept.used).max().unwrap_or(0) + 1;
        if principals.len() >= MOST_PRINCIPALS && !principals.contains_key(principal) {
            let oldest = principals.iter().min_by_key(|(_, kept)| kept.used).map(|(name, _)| Arc::clone(name));
            oldest.map(|oldest| principals.remove(&oldest));
        }
        let kept = principals.entry(Arc::clone(principal)).or_default();
        kept.used = now;
        work(kept)
    }

    /// Does something with what is loaded in a session.
    fn with<T>(&self, session: &Client, budget: Budget, work: impl FnOnce(&mut Session) -> T) -> T {
        self.kept(&session.principal, |kept| work(kept.session(session, budget)))
    }

    /// A session has ended, and what was loaded in it with it.
    pub(crate) fn forget(&self, session: &Client) {
        if let Some(kept) = self.principals.lock().get_mut(&session.principal) {
            kept.sessions.remove(&Some(session.id.clone()));
        }
    }

    /// Searches the catalog as it is.
    pub(crate) fn search(&self, search: &Search, visible: impl Fn(&str) -> bool) -> Found {
        self.index.search(search, visible)
    }

    /// Notes that a tool was used, where anything is kept for its user.
    pub(crate) fn used(&self, session: &Client, tool: &str) {
        if let Some(kept) = self.principals.lock().get_mut(&session.principal)
            && let Some(loaded) = kept.sessions.get_mut(&session.lasting.then(|| session.id.clone()))
        {
            loaded.touch(tool);
        }
    }
}
