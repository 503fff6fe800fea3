//! Finding tools instead of being given all of them (MGP 16).
//!
//! It decides which tools a client's list shows, what a search may find, and what is loaded for whom. What fits a request is
//! decided by the catalog; who may see what is decided by the gate, and a search never shows what a list would not. Calls of
//! tools that were found take the same way through the gate as all others.
//!
//! - `index.rs` keeps the catalog in step with the directory. - `lists.rs` decides what is listed. - `methods.rs` answers
//!   `mgp/tools/*` and the tools `mgp.tools.*`. - `describe.rs` says what the kernel's own tools are.
//!
//! What is loaded belongs to a principal and not to a connection: it survives reconnecting, and the list of a modern
//! client, which may not depend on its connection, does not.

mod describe;
mod index;
mod lists;
mod methods;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
pub use switchboard_catalog::{Budget, Judge, Level};
use switchboard_catalog::{Found, Search, Session};
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
    sessions: Mutex<HashMap<Arc<str>, Kept>>,
}

/// The tools of one principal.
#[derive(Default)]
struct Kept {
    session: Session,
    /// What the principal saw when it last asked: told apart by where the list is in memory, so that a list which has not
    /// changed is not read again.
    seen: Option<Arc<Seen>>,
    /// Counts uses, to forget the principal that was away longest.
    used: u64,
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
    fn with<T>(&self, principal: &Arc<str>, budget: Budget, work: impl FnOnce(&mut Kept) -> T) -> T {
        let mut sessions = self.sessions.lock();
        let now = sessions.values().map(|kept| kept.used).max().unwrap_or(0) + 1;
        if sessions.len() >= MOST_PRINCIPALS && !sessions.contains_key(principal) {
            let oldest = sessions.iter().min_by_key(|(_, kept)| kept.used).map(|(name, _)| Arc::clone(name));
            oldest.map(|oldest| sessions.remove(&oldest));
        }
        let fresh = || Kept { session: Session::new(budget), ..Kept::default() };
        let kept = sessions.entry(Arc::clone(principal)).or_insert_with(fresh);
        kept.used = now;
        work(kept)
    }

    /// Searches the catalog as it is.
    pub(crate) fn search(&self, search: &Search, visible: impl Fn(&str) -> bool) -> Found {
        self.index.search(search, visible)
    }

    /// Notes that a principal used a tool, where anything is kept for it.
    pub(crate) fn used(&self, principal: &str, tool: &str) {
        if let Some(kept) = self.sessions.lock().get_mut(principal) {
            kept.session.touch(tool);
        }
    }
}
