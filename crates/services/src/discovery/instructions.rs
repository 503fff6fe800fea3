//! Instructions of servers that a client was not given with its greeting, given with tools that were found.
//!
//! A client says hello while servers are still starting, and reads instructions once. What came later would never be read,
//! though it says how the tools are meant to be used.

use std::collections::HashSet;
use std::sync::Arc;

use crate::house::ServerView;
use crate::instructions::bounded;

/// Servers whose instructions go with one answer: those of others go with the next.
const MAX_SERVERS: usize = 3;

/// What a server says of its tools.
pub(super) struct Said {
    pub(super) server: Arc<str>,
    pub(super) text: String,
}

/// What the servers of these tools say that `given` does not name yet, the server of the first tool first. They are named
/// there now.
pub(super) fn not_yet_given<'a>(
    view: &dyn ServerView,
    tools: impl Iterator<Item = &'a str>,
    given: &mut HashSet<Arc<str>>,
) -> Vec<Said> {
    let mut said = Vec::new();
    for name in tools {
        if said.len() == MAX_SERVERS {
            break;
        }
        let server = view.tool(name).and_then(|route| view.server_at(route.server));
        let Some(server) = server.filter(|server| !given.contains(server.id())) else { continue };
        let Some(text) = server.instructions() else { continue };
        given.insert(server.id().clone());
        said.push(Said { server: server.id().clone(), text: bounded(&text) });
    }
    said
}
