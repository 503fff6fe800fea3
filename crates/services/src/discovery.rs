//! Finding tools instead of being given all of them (MGP 16).
//!
//! It decides which tools a client's list shows, what a search may find, and what is loaded for whom. What fits a request is
//! decided by the catalog; who may see what is decided by the gate, and a search never shows what a list would not. Calls of
//! tools that were found take the same way through the gate as all others.
//!
//! - `index.rs` keeps the catalog in step with the directory. - `lists.rs` decides what is listed. - `methods.rs` answers
//!   `mgp/tools/*` and the tools `mgp_tools_*`. - `describe.rs` says what the kernel's own tools are. - `clients.rs` knows
//!   what single client programs bear. - `results.rs` and `text.rs` write down what was found. - `instructions.rs` gives what
//!   servers say of it.
//!
//! What is loaded belongs to a session (MGP 16.7): two agents of one user do not fill each other's lists. Clients without
//! sessions have only their principal to be known by: what is loaded belongs to that, and survives reconnecting.

mod describe;
mod index;
mod instructions;
mod lists;
mod methods;
mod results;
mod text;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_catalog::{Budget, Search, SearchResult, Shown, ToolSession};
use switchboard_peer::Session as Client;
use switchboard_wire::Raw;

pub use describe::CALL;
pub(super) use describe::ROWS;
use index::Index;

use super::house::Setup;
use super::tool_context::Amount;

/// Principals whose tools are remembered.
const MOST_PRINCIPALS: usize = 1024;

/// What the kernel keeps for finding tools.
#[derive(Default)]
pub struct FinderState {
    index: Arc<Index>,
    principals: Mutex<HashMap<Arc<str>, PrincipalTools>>,
}

/// The tools of one principal.
#[derive(Default)]
struct PrincipalTools {
    /// What is known of each session; under no name for requests without one.
    sessions: HashMap<Option<Arc<str>>, ClientSession>,
    /// What the principal saw when it last asked: told apart by where the list is in memory, so that a list which has not
    /// changed is not read again.
    seen: Option<Arc<VisibleTools>>,
    /// The tools that are always listed, and what they cost.
    pinned: Vec<(String, usize)>,
    /// Counts uses, to forget the principal that was away longest.
    used: u64,
}

impl PrincipalTools {
    /// What is known of a session.
    fn session(&mut self, session: &Client, budget: Budget) -> &mut ClientSession {
        let pinned = &self.pinned;
        self.sessions.entry(key_of(session)).or_insert_with(|| {
            let mut loaded = ToolSession::new(budget);
            loaded.pin(pinned.clone());
            ClientSession { loaded, ..ClientSession::default() }
        })
    }
}

/// Under what a session is kept: clients without lasting ones have only their principal.
fn key_of(session: &Client) -> Option<Arc<str>> {
    session.lasting.then(|| session.id.clone())
}

/// What a client was given in its session: what was listed stays.
#[derive(Default)]
struct ClientSession {
    /// The tools that were found or used.
    loaded: ToolSession,
    /// The tools that were listed while all of them fitted into the budget.
    listed: HashSet<String>,
    /// Whether the tools for finding were listed.
    has_finding: bool,
    /// The servers whose instructions the client was given.
    instructed: HashSet<Arc<str>>,
}

/// What a principal may see, read once.
pub struct VisibleTools {
    list: Raw,
    tools: HashMap<String, Raw>,
    /// In the order of the list.
    order: Vec<String>,
    /// Those that are for pages alone, and not for models.
    for_pages: HashSet<String>,
    /// Those of servers that are part of the kernel.
    built_in: HashSet<String>,
    /// What all of them cost; counted only up to the largest budget of any client.
    tokens: usize,
    /// What those of the user's own servers cost, counted as far.
    own_tokens: usize,
}

impl VisibleTools {
    /// Whether a tool of this name is among them.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Whether models are offered a tool of this name.
    fn offers(&self, name: &str) -> bool {
        self.tools.contains_key(name) && !self.for_pages.contains(name)
    }

    /// How many there are, and what they cost.
    fn all(&self) -> Amount {
        Amount { tools: self.order.len(), tokens: self.tokens }
    }

    /// The same of the user's own servers.
    fn own(&self) -> Amount {
        Amount { tools: self.order.len().saturating_sub(self.built_in.len()), tokens: self.own_tokens }
    }

    fn is_of(&self, list: &Raw) -> bool {
        std::ptr::eq(self.list.as_bytes(), list.as_bytes())
    }
}

/// Answers searches, and says which tools stand in whose list.
pub struct ToolFinder<'a, H: ?Sized> {
    house: &'a H,
    discovery: &'a FinderState,
}

impl<'a, H: Setup + ?Sized> ToolFinder<'a, H> {
    /// That of a house.
    #[must_use]
    pub fn of(house: &'a H) -> Self {
        Self { house, discovery: &house.services().discovery }
    }
}

impl FinderState {
    /// Does something with what is kept for a principal.
    fn kept<T>(&self, principal: &Arc<str>, work: impl FnOnce(&mut PrincipalTools) -> T) -> T {
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
    fn with<T>(&self, session: &Client, budget: Budget, work: impl FnOnce(&mut ToolSession) -> T) -> T {
        self.kept(&session.rights_key(), |kept| work(&mut kept.session(session, budget).loaded))
    }

    /// Does something with what is known of a session.
    fn with_client<T>(&self, session: &Client, budget: Budget, work: impl FnOnce(&mut ClientSession) -> T) -> T {
        self.kept(&session.rights_key(), |kept| work(kept.session(session, budget)))
    }

    /// Whether the tools for finding were listed in a session.
    fn has_finding(&self, session: &Client) -> bool {
        let principals = self.principals.lock();
        let known = principals.get(&session.rights_key()).and_then(|kept| kept.sessions.get(&key_of(session)));
        known.is_some_and(|known| known.has_finding)
    }

    /// Forgets what was given to anybody: which tools clients are given is decided in another way from now on.
    pub fn forget_all(&self) {
        self.principals.lock().clear();
    }

    /// A session has ended, and what was loaded in it with it.
    pub fn forget(&self, session: &Client) {
        if let Some(kept) = self.principals.lock().get_mut(&session.rights_key()) {
            kept.sessions.remove(&Some(session.id.clone()));
        }
    }

    /// Searches the catalog as it is.
    pub(crate) fn search(&self, search: &Search, visible: impl Fn(&str) -> bool) -> SearchResult {
        self.index.search(search, visible)
    }

    /// Notes that a tool was used, where anything is kept for its user.
    pub fn used(&self, session: &Client, tool: &str) {
        if let Some(kept) = self.principals.lock().get_mut(&session.rights_key())
            && let Some(client) = kept.sessions.get_mut(&key_of(session))
        {
            client.loaded.touch(tool);
        }
    }
}
