//! The kernel itself: what it holds, and how it begins, changes and ends.

mod answer;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use switchboard_peer::{Caller, Session};
use switchboard_protocol::Revision;
use switchboard_protocol::mcp::method;
use switchboard_wire::{Limits, Notification};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clients::ClientState;
use crate::directory::{Directory, Hidden, ListKind, Source};
use crate::listen::{Listeners, with_uri};
use crate::parked::Parked;
use crate::server::{Phase, Server};
use crate::spec::{KernelOptions, ServerSpec};
use crate::tasks::TaskBook;
use crate::welcome::{own_capabilities, own_info};

/// How often calls whose client did not come back are looked for.
const SWEEP: Duration = Duration::from_secs(30);

/// One door to many servers. Cheap to clone; all clones are the same kernel.
#[derive(Clone)]
pub struct Kernel(Arc<Shared>);

struct Shared {
    options: KernelOptions,
    own: Caller,
    view: ArcSwap<View>,
    /// Keeps rebuilds of the view in order.
    building: Mutex<()>,
    /// Legacy sessions that have introduced themselves.
    clients: Mutex<HashMap<Arc<str>, Arc<Session>>>,
    listeners: Listeners,
    parked: Parked,
    tasks: TaskBook,
    work: TaskTracker,
    closing: CancellationToken,
}

/// The servers, and what all of them offer, at one moment.
#[derive(Default)]
pub(crate) struct View {
    pub(crate) servers: Vec<Arc<Server>>,
    pub(crate) directory: Directory,
}

/// What is known of one server.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// Its id.
    pub id: Arc<str>,
    /// Where it is in its life.
    pub phase: Phase,
    /// The revision spoken with it.
    pub revision: Option<Revision>,
    /// How many tools, prompts, resources and templates it has.
    pub counts: [usize; 4],
    /// Lists that could not be had.
    pub problems: Vec<String>,
    /// What of it is not shown.
    pub hidden: Vec<Hidden>,
    /// `serverInfo`, as the server wrote it.
    pub info: Option<switchboard_wire::Raw>,
}

impl Kernel {
    /// A kernel without servers. Must be made inside a runtime.
    #[must_use]
    pub fn new(options: KernelOptions) -> Self {
        let own = Caller { revision: Revision::LATEST, info: Some(own_info()), capabilities: own_capabilities() };
        let kernel = Self(Arc::new(Shared {
            options,
            own,
            view: ArcSwap::default(),
            building: Mutex::default(),
            clients: Mutex::default(),
            listeners: Listeners::default(),
            parked: Parked::default(),
            tasks: TaskBook::default(),
            work: TaskTracker::new(),
            closing: CancellationToken::new(),
        }));
        let sweeper = kernel.clone();
        kernel.spawn(async move {
            loop {
                tokio::select! {
                    () = sweeper.0.closing.cancelled() => break,
                    () = tokio::time::sleep(SWEEP) => sweeper.0.parked.sweep(),
                }
            }
        });
        kernel
    }

    /// Makes these the servers: new ones are started, missing ones stopped, changed ones replaced, the rest is left
    /// alone, calls in flight included.
    pub fn apply(&self, specs: Vec<ServerSpec>) {
        let _building = self.0.building.lock();
        let old = self.view();
        let mut kept = Vec::new();
        let mut servers = Vec::new();
        for spec in specs {
            match old.servers.iter().find(|server| server.spec == spec) {
                Some(server) => {
                    kept.push(server.id().clone());
                    servers.push(server.clone());
                }
                None => {
                    let server = Server::new(spec);
                    servers.push(server.clone());
                    self.spawn(server.run(self.clone()));
                }
            }
        }
        for server in old.servers.iter().filter(|server| !servers.iter().any(|new| Arc::ptr_eq(new, server))) {
            server.stop();
        }
        self.publish(&old, servers);
    }

    /// Puts the lists of all servers together again, and tells clients what changed.
    pub(crate) fn rebuild(&self) {
        let _building = self.0.building.lock();
        let old = self.view();
        let servers = old.servers.clone();
        self.publish(&old, servers);
    }

    fn publish(&self, old: &View, servers: Vec<Arc<Server>>) {
        let sources: Vec<_> = servers
            .iter()
            .map(|server| Source {
                id: server.id().clone(),
                lists: server.lists(),
                modern_tasks: server.has_modern_tasks(),
            })
            .collect();
        let directory = Directory::build(&sources);
        let changed: Vec<_> =
            ListKind::ALL.into_iter().filter(|kind| directory.answer(*kind) != old.directory.answer(*kind)).collect();
        self.0.view.store(Arc::new(View { servers, directory }));
        let mut told = Vec::new();
        for kind in changed {
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
    }

    /// Ends the kernel: servers are stopped, streams closed. Waits at most `patience`.
    pub async fn shut_down(&self, patience: Duration) {
        self.0.closing.cancel();
        let view = self.view();
        for server in &view.servers {
            server.stop();
        }
        let ended = futures_util::future::join_all(view.servers.iter().map(|server| server.ended()));
        let _ = tokio::time::timeout(patience, ended).await;
        self.0.work.close();
    }

    /// What is known of each server.
    #[must_use]
    pub fn status(&self) -> Vec<ServerStatus> {
        let view = self.view();
        let status = |server: &Arc<Server>| {
            let hub = server.hub_now();
            let hidden = view.directory.hidden.iter().filter(|hidden| hidden.server == *server.id());
            ServerStatus {
                id: server.id().clone(),
                phase: server.phase(),
                revision: hub.as_ref().map(|hub| hub.revision()),
                counts: ListKind::ALL.map(|kind| server.count(kind)),
                problems: server.problems(),
                hidden: hidden.cloned().collect(),
                info: hub.and_then(|hub| hub.connected.server.info.clone()),
            }
        };
        view.servers.iter().map(status).collect()
    }

    /// Waits until every server has come up or failed, at most `patience`.
    pub async fn settled(&self, patience: Duration) {
        let deadline = tokio::time::Instant::now() + patience;
        let view = self.view();
        futures_util::future::join_all(view.servers.iter().map(|server| server.settled(deadline))).await;
    }

    /// Gives servers that are just starting a moment, so that a first list is not empty.
    pub(crate) async fn wait_for_servers(&self) {
        let starting = |server: &Arc<Server>| !server.phase().is_settled();
        if self.view().servers.iter().any(starting) {
            self.settled(self.0.options.list_wait).await;
        }
    }

    pub(crate) fn view(&self) -> Arc<View> {
        self.0.view.load_full()
    }

    pub(crate) fn options(&self) -> &KernelOptions {
        &self.0.options
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.options.limits
    }

    /// The kernel as a client of its servers.
    pub(crate) fn own_caller(&self) -> Caller {
        self.0.own.clone()
    }

    pub(crate) fn listeners(&self) -> &Listeners {
        &self.0.listeners
    }

    pub(crate) fn parked(&self) -> &Parked {
        &self.0.parked
    }

    pub(crate) fn tasks(&self) -> &TaskBook {
        &self.0.tasks
    }

    /// Cancelled when the kernel ends.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// Runs something beside the calls.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.work.spawn(work);
    }

    pub(crate) fn server(&self, id: &str) -> Option<Arc<Server>> {
        self.view().servers.iter().find(|server| &**server.id() == id).cloned()
    }

    /// The server that has a resource, and what it calls it.
    pub(crate) fn find_resource(&self, uri: &str) -> Option<(Arc<Server>, String)> {
        let view = self.view();
        let route = view.directory.resource(uri)?;
        Some((view.servers.get(route.server)?.clone(), route.original.as_ref().to_owned()))
    }

    fn clients(&self) -> Vec<Arc<Session>> {
        self.0.clients.lock().values().cloned().collect()
    }

    /// The one legacy client that is connected, if it is just one.
    pub(crate) fn only_client(&self) -> Option<Arc<Session>> {
        let clients = self.0.clients.lock();
        if clients.len() == 1 { clients.values().next().cloned() } else { None }
    }

    /// Takes a notification that is the kernel's own business; `false` for one that is the clients'.
    pub(crate) fn take_notice(&self, server: &Arc<Server>, notification: &Notification) -> bool {
        let text = |key: &str| notification.params.as_ref().and_then(|params| params.member(key)?.as_text());
        match &*notification.method {
            method::TOOLS_LIST_CHANGED | method::PROMPTS_LIST_CHANGED | method::RESOURCES_LIST_CHANGED => {
                server.refresh_soon();
            }
            method::RESOURCES_UPDATED => {
                if let Some(uri) = text("uri") {
                    self.resource_updated(server, &uri, notification);
                }
            }
            method::TASKS_STATUS | "notifications/tasks" => {
                let Some(principal) = text("taskId").and_then(|task| self.0.tasks.principal(&task)) else {
                    return true;
                };
                for session in self.clients().iter().filter(|session| session.principal == principal) {
                    let _ = session.remote().notify(notification.clone());
                }
            }
            method::SUBSCRIPTIONS_ACKNOWLEDGED | method::CANCELLED => {}
            _ => return false,
        }
        true
    }

    fn resource_updated(&self, server: &Arc<Server>, uri: &str, notification: &Notification) {
        let view = self.view();
        let index = view.servers.iter().position(|other| Arc::ptr_eq(other, server));
        let known = index.map_or_else(|| uri.to_owned(), |index| view.directory.exposed_uri(index, uri));
        let told = if known == uri { notification.clone() } else { with_uri(notification, &known) };
        let key = (server.id().clone(), uri.to_owned());
        for session in self.clients() {
            let watches =
                session.existing_state::<ClientState>().is_some_and(|state| state.watches.lock().contains(&key));
            if watches {
                let _ = session.remote().notify(told.clone());
            }
        }
        self.0.listeners.resource_updated(server.id(), uri, notification);
    }

    /// Passes a notification that belongs to no call to every legacy client.
    pub(crate) fn tell_clients(&self, server: &Server, notification: &Notification) {
        tracing::trace!(server = %server.id(), method = %notification.method, "a notice for all clients");
        let is_log = &*notification.method == method::LOG_MESSAGE;
        for session in self.clients() {
            if !is_log || ClientState::of(&session).wants_log(notification) {
                let _ = session.remote().notify(notification.clone());
            }
        }
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("servers", &self.view().servers).finish_non_exhaustive()
    }
}
