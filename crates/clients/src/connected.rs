//! The sessions that are open, and what they are told of their own accord.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_directory::{ListKind, View};
use switchboard_gate::pins::accept_command;
use switchboard_gate::{Gate, Offers as _};
use switchboard_peer::Session;
use switchboard_protocol::mcp::{LoggingLevel, method};
use switchboard_upstream::{LEVEL_WAIT, Quarantine, Server};
use switchboard_wire::Notification;
use tokio_util::task::TaskTracker;

use crate::introduction::{OF_MGP, own_log};
use crate::session::ClientState;
use crate::streams::{Listeners, with_uri};

/// The sessions that are open, and the streams of changes.
#[derive(Default)]
pub struct ConnectedClients {
    /// Lasting sessions, whether they have introduced themselves or not.
    sessions: Mutex<HashMap<Arc<str>, Arc<Session>>>,
    pub(crate) listeners: Listeners,
    /// Lists that have changed since clients were told; nothing where nobody is about to tell them.
    gathered: Mutex<Option<HashSet<ListKind>>>,
    /// Work beside requests.
    tasks: TaskTracker,
}

impl ConnectedClients {
    /// Nobody is connected yet. Work beside requests runs among these tasks.
    #[must_use]
    pub fn new(tasks: TaskTracker) -> Self {
        Self { tasks, ..Self::default() }
    }

    /// A lasting session has begun.
    pub fn opened(&self, session: &Arc<Session>) {
        self.sessions.lock().insert(session.id.clone(), session.clone());
    }

    /// A lasting session has ended.
    pub fn closed(&self, session: &Session) {
        self.sessions.lock().remove(&session.id);
    }

    /// Whether a lasting session has not ended.
    #[must_use]
    pub fn is_open(&self, session: &str) -> bool {
        self.sessions.lock().contains_key(session)
    }

    /// Whether there is nobody to tell anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sessions.lock().is_empty() && self.listeners.is_empty()
    }

    /// Forgets all sessions, for their end.
    pub fn take_all(&self) -> Vec<Arc<Session>> {
        self.sessions.lock().drain().map(|(_, session)| session).collect()
    }

    /// The legacy clients that have introduced themselves.
    #[must_use]
    pub fn introduced(&self) -> Vec<Arc<Session>> {
        let introduced = |session: &&Arc<Session>| {
            session.existing_state::<ClientState>().is_some_and(|state| state.is_introduced())
        };
        self.sessions.lock().values().filter(introduced).cloned().collect()
    }

    /// The one client that is connected, if it is just one, and a legacy one.
    #[must_use]
    pub fn only(&self) -> Option<Arc<Session>> {
        match self.introduced().as_slice() {
            [only] if self.sessions.lock().len() == 1 => Some(only.clone()),
            _ => None,
        }
    }

    /// Tells the streams of a principal that a list has changed.
    pub fn tell_streams(&self, principal: &str, kind: ListKind, notification: &Notification) {
        self.listeners.list_changed_for(principal, kind, notification);
    }

    /// The level that the most curious legacy client asked for. Who shares a connection gets what that one wants; the
    /// rest is held back on the way.
    #[must_use]
    pub fn log_level(&self) -> Option<LoggingLevel> {
        let wanted = |session: Arc<Session>| LoggingLevel::parse(session.existing_state::<ClientState>()?.level()?);
        self.introduced().into_iter().filter_map(wanted).min()
    }

    /// Tells all servers that share their connection which log messages are wanted.
    pub async fn share_level(&self, view: &View) {
        let Some(level) = self.log_level() else { return };
        let hubs: Vec<_> = view.servers.iter().filter_map(|server| Some((server, server.hub_now()?))).collect();
        let tell = hubs.iter().map(|(server, hub)| server.tell_level(hub, level));
        let _ = tokio::time::timeout(LEVEL_WAIT, futures_util::future::join_all(tell)).await;
    }

    /// Notes lists that have changed, for everybody to be told of; `true` where nobody is about to.
    pub(crate) fn gather(&self, changed: &[ListKind]) -> bool {
        let mut gathered = self.gathered.lock();
        let nobody = gathered.is_none();
        gathered.get_or_insert_default().extend(changed);
        nobody
    }

    /// The lists that have changed since this was asked. Where there are none, nobody is about to tell of any.
    pub(crate) fn take_gathered(&self) -> HashSet<ListKind> {
        let mut gathered = self.gathered.lock();
        let changed = gathered.take().unwrap_or_default();
        *gathered = (!changed.is_empty()).then(HashSet::new);
        changed
    }

    /// Ends what clients watch and may not see any more: it does not come again with the right to see it.
    pub fn end_revoked_watches(&self, gate: Gate<'_>, view: &View) {
        let tables = gate.granted.latest();
        for session in self.introduced() {
            let Some(state) = session.existing_state::<ClientState>() else { continue };
            let may_see =
                |id: &str| view.server(id).is_none_or(|server| gate.access(&tables, &session, server, None).allow);
            let watched: Vec<_> = state.watches.lock().iter().map(|(id, _)| id.clone()).collect();
            let lost: HashSet<_> = watched.into_iter().filter(|id| !may_see(id)).collect();
            let ended: Vec<_> = state.watches.lock().extract_if(|(id, _)| lost.contains(id)).collect();
            for (id, uri) in ended {
                if let Some(server) = view.server(&id).cloned() {
                    self.tasks.spawn(async move { server.unwatch_resource(&uri).await });
                }
            }
        }
    }

    /// Tells those who watch a resource that it has changed, as far as they still may see it.
    pub(crate) fn tell_of_update(
        &self,
        (gate, view): (Gate<'_>, &View),
        server: &Arc<Server>,
        uri: &str,
        notification: &Notification,
    ) {
        let known =
            view.index_of(server).map_or_else(|| uri.to_owned(), |index| view.directory.exposed_uri(index, uri));
        let told = if known == uri { notification.clone() } else { with_uri(notification, &known) };
        let key = (server.id().clone(), uri.to_owned());
        let tables = gate.granted.latest();
        let usable = gate.standing(&tables, server, None).missing.is_empty();
        let may_see = |session: &Session| usable && gate.access(&tables, session, server, None).allow;
        self.end_revoked_watches(gate, view);
        for session in self.introduced().into_iter().filter(|session| may_see(session)) {
            let watches =
                session.existing_state::<ClientState>().is_some_and(|state| state.watches.lock().contains(&key));
            if watches {
                let _ = session.remote().notify(told.clone());
            }
        }
        self.listeners.resource_updated(server.id(), uri, notification, may_see);
    }

    /// Passes a notification that belongs to no call to every legacy client, while all of them, and all who have calls
    /// at the server, are one principal. What belongs to several could be anybody's.
    pub(crate) fn tell_one_principal(&self, gate: Gate<'_>, server: &Server, notification: &Notification) {
        // What MGP defines is between a server and the kernel.
        if notification.method.starts_with(OF_MGP) {
            return;
        }
        let clients = self.introduced();
        let Some(first) = clients.first() else { return };
        let alone = clients.iter().all(|session| session.principal == first.principal);
        if !alone || !server.using.only_for(&first.principal) {
            tracing::debug!(server = %server.id(), method = %notification.method, "nobody can say whose notice this is");
            return;
        }
        // A principal without access to anything of a server receives none of its notices.
        if !gate.knows_of(&gate.granted.latest(), first, server) {
            return;
        }
        let is_log = &*notification.method == method::LOG_MESSAGE;
        for session in clients {
            if !is_log || ClientState::of(&session).wants_log(notification) {
                let _ = session.remote().notify(notification.clone());
            }
        }
    }

    /// Tells clients that may use a server what is held back of it since `before`: once, as a log message. Their instructions
    /// were told when they connected, and a tool that is missing without a word is broken.
    pub fn tell_held(&self, gate: Gate<'_>, server: &Server, before: &Quarantine, now: &Quarantine) {
        let Some(message) = held_message(server.id(), before, now) else { return };
        tracing::warn!("{message}");
        let notification = own_log(&message);
        let tables = gate.granted.latest();
        for session in self.introduced() {
            if gate.knows_of(&tables, &session, server) && ClientState::of(&session).wants_log(&notification) {
                let _ = session.remote().notify(notification.clone());
            }
        }
    }
}

impl std::fmt::Debug for ConnectedClients {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectedClients").field("sessions", &self.sessions.lock().len()).finish_non_exhaustive()
    }
}

fn held_message(server: &str, before: &Quarantine, now: &Quarantine) -> Option<String> {
    let fresh = now.keys().filter(|name| !before.contains_key(*name)).count();
    if fresh == 0 {
        return None;
    }
    let (definitions, are) = if now.len() == 1 { ("definition", "is") } else { ("definitions", "are") };
    Some(format!(
        "{} {definitions} of server `{server}` {are} held back until a person has looked at them: `{}`",
        now.len(),
        accept_command(server, None)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_of_once() {
        let held =
            |names: &[&str]| -> Quarantine { names.iter().map(|name| ((*name).to_owned(), String::new())).collect() };
        let told = held_message("s", &held(&[]), &held(&["a", "b"])).unwrap();
        assert!(
            told.starts_with("2 definitions of server `s` are") && told.ends_with("`switchboard pins accept s`"),
            "{told}"
        );
        assert_eq!(held_message("s", &held(&["a", "b"]), &held(&["a", "b"])), None);
        assert_eq!(held_message("s", &held(&["a", "b"]), &held(&["a"])), None);
        assert!(held_message("s", &held(&["a"]), &held(&["b"])).is_some());
    }
}
