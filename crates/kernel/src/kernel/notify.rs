//! Notices that belong to no call: who hears of what has changed, at a server or in the lists.

use std::collections::HashSet;
use std::sync::Arc;

use switchboard_peer::Session;
use switchboard_protocol::mcp::method;
use switchboard_wire::Notification;

use super::{Kernel, OF_MGP};
use crate::clients::ClientState;
use crate::directory::ListKind;
use crate::gate::Presented;
use crate::listen::with_uri;
use crate::server::Server;

impl Kernel {
    /// Grants have changed: everybody may see something else now.
    pub(crate) fn grants_changed(&self) {
        self.end_revoked();
        self.end_revoked_watches();
        self.tell_changed(&ListKind::ALL);
    }

    /// Ends what clients watch and may not see any more: it does not come again with the right to see it.
    fn end_revoked_watches(&self) {
        let tables = self.0.gate.granted.latest();
        for session in self.clients() {
            let Some(state) = session.existing_state::<ClientState>() else { continue };
            let may_see = |id: &str| {
                let server = self.server(id);
                server.is_none_or(|server| self.gate().access(&tables, &session, &server, None).allow)
            };
            let watched: Vec<_> = state.watches.lock().iter().map(|(id, _)| id.clone()).collect();
            let lost: HashSet<_> = watched.into_iter().filter(|id| !may_see(id)).collect();
            let ended: Vec<_> = state.watches.lock().extract_if(|(id, _)| lost.contains(id)).collect();
            for (id, uri) in ended {
                if let Some(server) = self.server(&id) {
                    self.spawn(async move { server.unwatch_resource(&uri).await });
                }
            }
        }
    }

    pub(super) fn tell_changed(&self, changed: &[ListKind]) {
        let mut told = Vec::new();
        for &kind in changed {
            let name = match kind {
                ListKind::Tools => method::TOOLS_LIST_CHANGED,
                ListKind::Prompts => method::PROMPTS_LIST_CHANGED,
                ListKind::Resources | ListKind::Templates => method::RESOURCES_LIST_CHANGED,
            };
            if told.contains(&name) {
                continue;
            }
            told.push(name);
            let notification = Notification::new(name, None);
            for session in self.clients() {
                let _ = session.remote().notify(notification.clone());
            }
            self.0.listeners.list_changed(kind, &notification);
        }
        if changed.contains(&ListKind::Tools) {
            self.manifest_changed("tools");
        }
    }

    /// Takes a notification that is the kernel's own business; `false` for one that is the clients'.
    pub(crate) fn take_notice(&self, server: &Arc<Server>, notification: &Notification) -> bool {
        let text = |key: &str| notification.params.as_ref().and_then(|params| params.member(key)?.as_text());
        match &*notification.method {
            method::TOOLS_LIST_CHANGED => server.refresh_said(ListKind::Tools),
            method::PROMPTS_LIST_CHANGED => server.refresh_said(ListKind::Prompts),
            method::RESOURCES_LIST_CHANGED => server.refresh_said(ListKind::Resources),
            method::RESOURCES_UPDATED => {
                if let Some(uri) = text("uri") {
                    self.resource_updated(server, &uri, notification);
                }
            }
            method::TASKS_STATUS => {
                let task = text("taskId").unwrap_or_default();
                let tables = self.0.gate.granted.latest();
                let may_see =
                    |session: &Session| self.may_see_task(session, &Presented::default(), &tables, server, &task);
                // With two owners of one id nobody can say whose it is.
                if let [owner] = self.0.tasks.owners(&task, server.id()).as_slice() {
                    let own = |session: &&Arc<Session>| session.principal == *owner && may_see(session);
                    for session in self.clients().iter().filter(own) {
                        let _ = session.remote().notify(notification.clone());
                    }
                }
            }
            // The modern form; nobody here asked for it.
            "notifications/tasks" => {}
            method::SUBSCRIPTIONS_ACKNOWLEDGED | method::CANCELLED => {}
            // The kernel tells of states as it sees them.
            switchboard_protocol::mgp::method::LIFECYCLE => server.says_of_itself(notification),
            // A server's word about what happened is no record, and nobody shall take it for the kernel's.
            switchboard_protocol::mgp::method::AUDIT => {}
            switchboard_protocol::mgp::method::EVENT => self.event_service().take_event(server, notification),
            switchboard_protocol::proposals::push::EVENT if server.pushes() => {
                self.event_service().take_push(server, notification)
            }
            _ => return false,
        }
        true
    }

    fn resource_updated(&self, server: &Arc<Server>, uri: &str, notification: &Notification) {
        if self.0.gate.granted.now().is_some() {
            return self.tell_of_update(server, uri, notification);
        }
        // Nobody is told by what may have been taken back meanwhile.
        let (kernel, server, uri, told) = (self.clone(), server.clone(), uri.to_owned(), notification.clone());
        self.spawn(async move {
            if kernel.gate().tables().await.is_ok() {
                kernel.tell_of_update(&server, &uri, &told);
            }
        });
    }

    fn tell_of_update(&self, server: &Arc<Server>, uri: &str, notification: &Notification) {
        let view = self.view();
        let index = view.servers.iter().position(|other| Arc::ptr_eq(other, server));
        let known = index.map_or_else(|| uri.to_owned(), |index| view.directory.exposed_uri(index, uri));
        let told = if known == uri { notification.clone() } else { with_uri(notification, &known) };
        let key = (server.id().clone(), uri.to_owned());
        let tables = self.0.gate.granted.latest();
        let usable = self.gate().standing(&tables, server, None).missing.is_empty();
        let may_see = |session: &Session| usable && self.gate().access(&tables, session, server, None).allow;
        self.end_revoked_watches();
        for session in self.clients().into_iter().filter(|session| may_see(session)) {
            let watches =
                session.existing_state::<ClientState>().is_some_and(|state| state.watches.lock().contains(&key));
            if watches {
                let _ = session.remote().notify(told.clone());
            }
        }
        self.0.listeners.resource_updated(server.id(), uri, notification, may_see);
    }

    /// Passes a notification that belongs to no call to every legacy client, while all of them, and all who have calls
    /// at the server, are one principal. What belongs to several could be anybody's.
    pub(crate) fn tell_clients(&self, server: &Server, notification: &Notification) {
        // What MGP defines is between a server and the kernel.
        if notification.method.starts_with(OF_MGP) {
            return;
        }
        let clients = self.clients();
        let Some(first) = clients.first() else { return };
        let alone = clients.iter().all(|session| session.principal == first.principal);
        if !alone || !server.using.only_for(&first.principal) {
            tracing::debug!(server = %server.id(), method = %notification.method, "nobody can say whose notice this is");
            return;
        }
        // Who may use nothing of a server does not hear from it.
        if !self.gate().knows_of(&self.0.gate.granted.latest(), first, server) {
            return;
        }
        let is_log = &*notification.method == method::LOG_MESSAGE;
        for session in clients {
            if !is_log || ClientState::of(&session).wants_log(notification) {
                let _ = session.remote().notify(notification.clone());
            }
        }
    }
}
