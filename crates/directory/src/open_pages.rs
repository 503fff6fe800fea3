//! Pages of servers (MCP Apps) that a client has open, and the tools that they call.
//!
//! A page calls tools of its own server by the names that its server gives them; it knows nothing of other servers, and its
//! host passes such a call on without saying whose page it is. So what a session has opened is remembered: a name that
//! nothing else has is looked for among the tools of those servers alone. The call then takes the same way through the
//! gate as every other.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_peer::Session;
use switchboard_protocol::fault::{Fault, FaultKind};

use crate::Directory;

/// Sessions, and principals of clients without sessions, whose pages are remembered.
const MAX_SESSIONS: usize = 4_096;
/// Servers of which one session has pages open.
const MAX_SERVERS: usize = 64;

/// Who has pages open: a session, or a principal without one.
type Opener = (bool, Arc<str>);

/// The servers of which each session has pages open.
#[derive(Debug, Default)]
pub struct OpenPages {
    open: Mutex<HashMap<Opener, Vec<Arc<str>>>>,
}

fn opener(session: &Session) -> Opener {
    (session.lasting, if session.lasting { session.id.clone() } else { session.principal.clone() })
}

impl OpenPages {
    /// A session has opened a page of a server, or called a tool that has one.
    pub fn opened(&self, session: &Session, server: &Arc<str>) {
        let mut open = self.open.lock();
        let opener = opener(session);
        if open.len() >= MAX_SESSIONS && !open.contains_key(&opener) {
            return;
        }
        let servers = open.entry(opener).or_default();
        if servers.len() < MAX_SERVERS && !servers.contains(server) {
            servers.push(server.clone());
        }
    }

    /// A session has ended.
    pub fn forget(&self, session: &Session) {
        self.open.lock().remove(&opener(session));
    }

    /// What clients call the tool that a page calls by its own name; `None` where no server of an open page has it.
    ///
    /// # Errors
    /// Several have it, and nobody can say whose page it is.
    pub fn tool(&self, directory: &Directory, session: &Session, name: &str) -> Result<Option<String>, Fault> {
        let servers = self.open.lock().get(&opener(session)).cloned().unwrap_or_default();
        let known_as = |server: &Arc<str>| {
            let (exposed, route) = directory.tool_of(server, name)?;
            let for_pages = route.app.as_ref().is_none_or(|app| app.for_pages);
            for_pages.then(|| exposed.to_owned())
        };
        let mut found: Vec<String> = servers.iter().filter_map(known_as).collect();
        match found.len() {
            0 | 1 => Ok(found.pop()),
            _ => {
                let text = format!("`{name}` may be any of `{}`", found.join("`, `"));
                Err(Fault::new(FaultKind::UnknownTool, text)
                    .suggest("close the other page, or call the tool by one of these names"))
            }
        }
    }
}
