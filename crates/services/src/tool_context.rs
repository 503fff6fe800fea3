//! Which tools clients are given, as the operator set it and as is known of client programs.

mod clients;
mod listing;

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_catalog::{Budget, Judge, Level, Shown};
use switchboard_wire::Raw;

pub(crate) use clients::{Amount, Bearing, BuiltIn, Choice};
pub use clients::{COMMAND_LINE, ClientTools, Clients};
pub use listing::{ClientBounds, ClientList, ListableTool};

/// How many tools for finding there are for every client that is not given everything.
pub(crate) const FINDING_TOOLS: usize = 3;

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
    /// What the operator says of single client programs.
    pub clients: Clients,
    /// Whether the operator said how long names of tools are: then that holds for clients of which something else is known.
    pub is_name_length_said: bool,
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
    /// What a client is given: what is said of its principal comes first.
    pub(crate) fn bearing(&self, principal: &str, info: Option<&Raw>) -> Bearing {
        let bearing = self.clients.of(info, self.level, self.is_name_length_said);
        if bearing.is_command_line {
            return bearing;
        }
        let own = self.agents.get(principal).and_then(|agent| agent.level);
        Bearing { shown: own.map_or(bearing.shown, Shown::At), ..bearing }
    }

    pub(crate) fn pinned_of(&self, principal: &str) -> impl Iterator<Item = &String> {
        self.pinned.iter().chain(self.agents.get(principal).into_iter().flat_map(|agent| &agent.pinned))
    }
}
