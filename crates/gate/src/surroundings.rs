//! What the gate asks of whoever holds the servers and speaks with the clients: the kernel, or a test.
//!
//! The gate sees a server as what `switchboard-upstream` says of it. Which server a name leads to, and what is known of the
//! thing behind the name, it asks [`Offers`]: everything that is offered at one moment. What it cannot do itself is in
//! [`Surroundings`]. Most calls need neither.

use std::sync::Arc;

use switchboard_peer::{BoxFuture, Context};
use switchboard_upstream::{Curated, ListKind, Server};
use switchboard_wire::Raw;

use crate::list_cache::Dialect;
use crate::{Permit, ToolPolicy};

/// What the gate needs of those around it.
pub trait Surroundings: Send + Sync {
    /// The servers, and what they offer at this moment.
    fn offers(&self) -> Arc<dyn Offers>;

    /// The server that has a resource now, and what it is read by there. What no list names may have been mentioned to this
    /// principal by one of the servers.
    fn resource(&self, uri: &str, principal: &str) -> Option<(Arc<Server>, Arc<ToolPolicy>)>;

    /// Gives servers that are just starting a moment.
    fn wait_for_servers(&self) -> BoxFuture<'_, ()>;

    /// Others are granted than a moment ago: what rests on a grant is judged again, and clients may see other lists.
    fn grants_changed(&self);

    /// Something goes on that ends with its right: from now on somebody looks whether rights have changed.
    fn watch_rights(&self);

    /// Tells the sender of a request a message in our own name, if it wants such messages. `params` are those of the request.
    fn log(&self, context: &Context, params: &Raw, message: &str);

    /// Keeps a call on record as one that runs, while it waits at its server for input of its client under this state. The
    /// permit comes back where no call waits so.
    fn keep_open(&self, state: &str, permit: Permit) -> Option<Permit>;
}

/// What all servers offer at one moment, under the names that clients see.
pub trait Offers: Send + Sync {
    /// The servers. Routes name them by their place here.
    fn servers(&self) -> &[Arc<Server>];

    /// A number that no other moment has.
    fn generation(&self) -> u64;

    /// The tool that clients know by this name, in its short form or its long one.
    fn tool(&self, exposed: &str) -> Option<Destination>;

    /// The prompt that clients know by this name.
    fn prompt(&self, exposed: &str) -> Option<Destination>;

    /// Whether any tool fits; no more are asked about after the first.
    fn any_tool(&self, fits: &mut dyn FnMut(OfferedTool<'_>) -> bool) -> bool;

    /// The answer to a list request of a client that may see what `visible` lets through: it is given the place of the
    /// server, what the server calls the thing, and what clients call it.
    fn list(&self, kind: ListKind, dialect: Dialect, visible: &dyn Fn(usize, &str, &str) -> bool) -> Raw;

    /// A server by its id.
    fn server(&self, id: &str) -> Option<&Arc<Server>> {
        self.servers().iter().find(|server| **server.id() == *id)
    }

    /// The first tool that fits: what clients call it, and where it is.
    fn find_tool(&self, fits: &mut dyn FnMut(OfferedTool<'_>) -> bool) -> Option<(String, Destination)> {
        let mut found = None;
        self.any_tool(&mut |tool| {
            let is_it = fits(tool);
            if is_it {
                found = Some((tool.exposed.to_owned(), tool.place()));
            }
            is_it
        });
        found
    }

    /// The tool that a server calls so: what clients call it, and where it is.
    fn tool_of(&self, server: &str, original: &str) -> Option<(String, Destination)> {
        self.find_tool(&mut |tool| **tool.server.id() == *server && **tool.original == *original)
    }
}

/// A tool among those that are offered.
#[derive(Debug, Clone, Copy)]
pub struct OfferedTool<'a> {
    /// Whose it is.
    pub server: &'a Arc<Server>,
    /// What clients call it.
    pub exposed: &'a str,
    /// What its server calls it.
    pub original: &'a Arc<str>,
    /// What is known of it.
    pub policy: Option<&'a Arc<ToolPolicy>>,
    /// How the operator wants it called.
    pub curated: Option<&'a Arc<Curated>>,
}

impl OfferedTool<'_> {
    /// Where it is.
    #[must_use]
    pub fn place(self) -> Destination {
        Destination {
            server: self.server.clone(),
            original: self.original.clone(),
            policy: self.policy.cloned(),
            curated: self.curated.cloned(),
        }
    }
}

/// Where something that a client named is.
#[derive(Debug, Clone)]
pub struct Destination {
    /// The server that has it.
    pub server: Arc<Server>,
    /// What its server calls it.
    pub original: Arc<str>,
    /// What is known of it.
    pub policy: Option<Arc<ToolPolicy>>,
    /// How the operator wants it called.
    pub curated: Option<Arc<Curated>>,
}
