//! The servers and what all of them offer at one moment, and what of it a client may have meant by a name.

use std::sync::Arc;

use switchboard_gate::lists::Dialect;
use switchboard_gate::{Destination, OfferedTool, Offers, Reading};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_upstream::{ListKind, Server, ToolNeeds, names};
use switchboard_wire::Raw;

use crate::{Directory, Hidden, ListedServer, Route};

/// Permissions of single tools that are asked for, all tools of a server together.
const MAX_TOOL_PERMISSIONS: usize = 256;

/// The servers, and what all of them offer, at one moment. Both are published together, so an index of a route is always that of
/// its server.
#[derive(Debug, Default)]
pub struct View {
    /// The servers.
    pub servers: Vec<Arc<Server>>,
    /// What they offer.
    pub directory: Directory,
    /// Counts the views.
    pub generation: u64,
}

/// A resource that was found: its server, what that one calls it, and what it is read by.
#[derive(Debug)]
pub struct LocatedResource {
    /// The server that has it.
    pub server: Arc<Server>,
    /// The server's own URI for it.
    pub original: String,
    /// What the gate judges it by.
    pub reading: Reading,
}

impl View {
    /// What these servers offer now. Each is told which permissions its tools need.
    #[must_use]
    pub fn of(servers: Vec<Arc<Server>>, generation: u64) -> Self {
        let sources: Vec<_> = servers.iter().map(|server| ListedServer::of(server)).collect();
        let directory = Directory::build(&sources);
        for server in &servers {
            server.set_tool_needs(tool_needs(server, &directory));
        }
        Self { servers, directory, generation }
    }

    /// Whether the tools of this server have the names that it gives them.
    #[must_use]
    pub fn stands_alone(&self, server: &str) -> bool {
        let alone = self.directory.standing_alone().and_then(|at| self.servers.get(at));
        alone.is_some_and(|alone| **alone.id() == *server)
    }

    /// The only server, if there is just one.
    #[must_use]
    pub fn only(&self) -> Option<&Arc<Server>> {
        self.servers.get(self.directory.only()?)
    }

    /// The server that a route leads to.
    ///
    /// # Errors
    /// There is none, which is an error of ours.
    pub fn server_at(&self, index: usize) -> Result<Arc<Server>, Fault> {
        self.servers.get(index).cloned().ok_or_else(|| Fault::new(FaultKind::Internal, "a route leads to no server"))
    }

    /// The place of a server in this view; `None` where another one has taken it.
    #[must_use]
    pub fn index_of(&self, server: &Arc<Server>) -> Option<usize> {
        self.servers.iter().position(|known| Arc::ptr_eq(known, server))
    }

    /// The server that has a resource. What no list names may have been mentioned: `mentioned` says by which server.
    #[must_use]
    pub fn locate(&self, uri: &str, mentioned: impl FnOnce() -> Option<Arc<str>>) -> Option<LocatedResource> {
        let (index, original) = match self.directory.resource(uri) {
            Some(route) => (route.server, route.original.as_ref().to_owned()),
            None => {
                let server = mentioned()?;
                let index = self.servers.iter().position(|known| **known.id() == *server)?;
                // That a server mentions what is held back of it does not bring it back.
                if self.directory.is_held(index, uri) {
                    return None;
                }
                (index, uri.to_owned())
            }
        };
        let reading = self.directory.reading(index, &original)?;
        Some(LocatedResource { server: self.servers.get(index)?.clone(), original, reading })
    }

    /// What a server may call the thing that a client named; `None` where it cannot be of this server.
    #[must_use]
    pub fn own_name<'n>(&self, server: &Server, name: &'n str) -> Option<&'n str> {
        let alone = self.stands_alone(server.id()) && !names::is_reserved(name);
        let naming = server.naming();
        let own = naming.own_part(name).or_else(|| names::Naming::of(server.id()).own_part(name));
        own.or_else(|| alone.then_some(name))
    }

    /// A tool of this name that its server has and that is not shown, and why it is not.
    #[must_use]
    pub fn held_back(&self, server: &Server, name: &str) -> Option<(&Hidden, Fault)> {
        let alone = self.stands_alone(server.id());
        let of_name = |hidden: &&Hidden| {
            hidden.server == *server.id()
                && (alone && hidden.name == name
                    || server.naming().expose(&hidden.name) == name
                    || names::expose(&hidden.server, &hidden.name) == name)
        };
        self.directory.hidden.iter().filter(of_name).find_map(|hidden| {
            if hidden.disabled {
                let fault = Fault::new(FaultKind::ToolDisabled, format!("`{name}` cannot be used: {}", hidden.why));
                let remedy = format!("`switchboard tools enable {name}` switches it on");
                return Some((hidden, fault.suggest(remedy).from_server(hidden.server.as_ref())));
            }
            let (kind, text) = if hidden.conflicts_with.is_some() {
                (FaultKind::ToolNameConflict, format!("`{name}` cannot be used: {}", hidden.why))
            } else if hidden.unfit || server.quarantine().contains_key(&hidden.name) {
                (FaultKind::DefinitionHeld, format!("`{name}` is held back: {}", hidden.why))
            } else {
                return None;
            };
            Some((hidden, Fault::new(kind, text).from_server(hidden.server.as_ref())))
        })
    }

    /// The tool of a route at the server that took the place of this one; `None` where it is still there, or where what stands
    /// under the name now is another tool.
    #[must_use]
    pub fn replacement(&self, name: &str, server: &Arc<Server>, route: &Route) -> Option<(Arc<Server>, Route)> {
        let found = self.directory.tool(name)?;
        let now = self.servers.get(found.server)?.clone();
        let definition = |route: &Route| route.policy.as_ref().and_then(|policy| policy.definition());
        let same =
            now.id() == server.id() && found.original == route.original && definition(&found) == definition(route);
        (same && !Arc::ptr_eq(&now, server)).then_some((now, found))
    }

    fn place(&self, route: Route) -> Option<Destination> {
        let Route { server, original, policy, curated, .. } = route;
        Some(Destination { server: self.servers.get(server)?.clone(), original, policy, curated })
    }
}

impl Offers for View {
    fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn tool(&self, exposed: &str) -> Option<Destination> {
        self.place(self.directory.tool(exposed)?)
    }

    fn prompt(&self, exposed: &str) -> Option<Destination> {
        self.place(self.directory.prompt(exposed)?)
    }

    fn any_tool(&self, fits: &mut dyn FnMut(OfferedTool<'_>) -> bool) -> bool {
        self.directory.tools().any(|(_, exposed, route)| {
            self.servers.get(route.server).is_some_and(|server| {
                let Route { original, policy, curated, .. } = route;
                fits(OfferedTool { server, exposed, original, policy: policy.as_ref(), curated: curated.as_ref() })
            })
        })
    }

    fn list(&self, kind: ListKind, dialect: Dialect, visible: &dyn Fn(usize, &str, &str) -> bool) -> Raw {
        self.directory.answer_for(kind, dialect, visible)
    }
}

/// Which tools of a server need permissions of their own.
fn tool_needs(server: &Server, directory: &Directory) -> ToolNeeds {
    let mut needs = ToolNeeds::new();
    if !server.speaks_mgp() {
        return needs;
    }
    let mut count = 0;
    for (_, _, route) in directory.tools().filter(|(id, _, _)| *id == server.id()) {
        let Some(policy) = route.policy.as_deref() else { continue };
        let needed = policy.security.permissions.iter();
        let permissions: Vec<_> = needed.take(MAX_TOOL_PERMISSIONS - count).cloned().collect();
        if !permissions.is_empty() {
            count += permissions.len();
            needs.push((route.original.as_ref().to_owned(), permissions));
        }
    }
    needs.sort();
    needs
}
