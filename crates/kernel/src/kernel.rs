//! The kernel itself: what it holds, and how it begins, changes and ends.

mod answer;
mod call;
mod content;
mod repeat;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use switchboard_flow::lifecycle::State;
use switchboard_peer::client::Disorder;
use switchboard_peer::{Caller, Context, Reply, Session};
use switchboard_protocol::Revision;
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp::TrustLevel;
use switchboard_wire::{Limits, Notification};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::callbacks::Callbacks;
use crate::clients::{ClientState, level_index, level_name};
use crate::directory::{Directory, Hidden, ListKind, Source};
use crate::discovery::Discovery;
use crate::events::Events;
use crate::gate::Gate;
use crate::listen::{Listeners, with_uri};
use crate::manifest::Manifests;
use crate::mentions::Mentions;
use crate::parked::Parked;
use crate::refusals::Refusals;
use crate::registry::Registry;
use crate::server::health::Health;
use crate::server::stats::Activity;
use crate::server::{Phase, Server};
use crate::spec::{KernelOptions, ServerSpec};
use crate::streams::Streams;
use crate::tasks::TaskBook;
use crate::welcome::{own_capabilities, own_info};

pub(crate) use answer::{OF_MGP, object_of, plain, rendered, text_of};
pub(crate) use call::no_such_tool;

/// How often calls whose client did not come back are looked for.
const SWEEP: Duration = Duration::from_secs(30);
/// How often what is long over is removed from the store.
const FORGET: Duration = Duration::from_secs(600);
/// How often changed grants are looked for while clients are connected.
const LOOK: Duration = Duration::from_secs(1);
/// Nothing waits longer than a year.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);
/// Connections that may be started at once.
const STARTS: usize = 32;
/// How long sharing out a log level may take.
pub(crate) const LEVEL_WAIT: Duration = Duration::from_secs(5);

/// One door to many servers. Cheap to clone; all clones are the same kernel.
#[derive(Clone)]
pub struct Kernel(Arc<Shared>);

struct Shared {
    options: KernelOptions,
    gate: Gate,
    own: Caller,
    view: ArcSwap<View>,
    /// Keeps rebuilds of the view in order.
    building: Mutex<()>,
    /// Lasting sessions, whether they have introduced themselves or not.
    clients: Mutex<HashMap<Arc<str>, Arc<Session>>>,
    /// Turns to start a connection.
    starts: Semaphore,
    listeners: Listeners,
    parked: Parked,
    streams: Streams,
    events: Events,
    callbacks: Callbacks,
    refusals: Refusals,
    tasks: TaskBook,
    mentions: Mentions,
    discovery: Discovery,
    manifests: Manifests,
    registry: Registry,
    work: TaskTracker,
    began: tokio::time::Instant,
    draining: AtomicBool,
    closing: CancellationToken,
    ending: CancellationToken,
}

/// The servers, and what all of them offer, at one moment.
#[derive(Default)]
pub(crate) struct View {
    pub(crate) servers: Vec<Arc<Server>>,
    pub(crate) directory: Directory,
    /// Counts the views.
    pub(crate) generation: u64,
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
    /// What of it is held back until a person accepts it.
    pub held: usize,
    /// How far it is trusted.
    pub trust: TrustLevel,
    /// Permissions it needs and lacks: until it has them, nothing of it can be used.
    pub permissions_missing: Vec<String>,
    /// `serverInfo`, as the server wrote it.
    pub info: Option<switchboard_wire::Raw>,
    /// Where it is in its life, in the words of MGP 11.2.
    pub state: State,
    /// How it is.
    pub health: Health,
    /// Whether calls to it are stopped for a while: `closed`, `open` or `half_open`.
    pub breaker: &'static str,
    /// How often it was started again.
    pub restarts: u64,
    /// How long it has been connected.
    pub uptime: Duration,
    /// Calls that run there.
    pub pending: usize,
    /// What was wrong with what it sent since it was connected.
    pub disorder: Disorder,
    /// What it has been doing.
    pub activity: Activity,
}

impl Kernel {
    /// A kernel without servers. Must be made inside a runtime.
    #[must_use]
    pub fn new(mut options: KernelOptions) -> Self {
        // Times come from configurations: no number there may be too large for the clock.
        for time in [&mut options.list_wait, &mut options.longest_call, &mut options.question_timeout] {
            *time = (*time).min(LONGEST);
        }
        let (gate, auditing) = Gate::new(options.gate.clone());
        let own = Caller { revision: Revision::LATEST, info: Some(own_info()), capabilities: own_capabilities() };
        let kernel = Self(Arc::new(Shared {
            options,
            gate,
            own,
            view: ArcSwap::default(),
            building: Mutex::default(),
            clients: Mutex::default(),
            starts: Semaphore::new(STARTS),
            listeners: Listeners::default(),
            parked: Parked::default(),
            streams: Streams::default(),
            events: Events::default(),
            callbacks: Callbacks::default(),
            refusals: Refusals::default(),
            tasks: TaskBook::default(),
            mentions: Mentions::default(),
            discovery: Discovery::default(),
            manifests: Manifests::default(),
            registry: Registry::default(),
            work: TaskTracker::new(),
            began: tokio::time::Instant::now(),
            draining: AtomicBool::new(false),
            closing: CancellationToken::new(),
            ending: CancellationToken::new(),
        }));
        tokio::spawn(auditing);
        let telling = Arc::downgrade(&kernel.0);
        kernel.0.gate.audit.tap(kernel.0.events.wanted(), move |event| {
            if let Some(shared) = telling.upgrade() {
                Self(shared).tell_on_bus(event);
            }
        });
        let sweeper = kernel.clone();
        kernel.spawn(async move {
            let mut swept = tokio::time::Instant::now();
            let mut forgot = None;
            loop {
                // Without a store nothing is granted by others.
                let pause = if sweeper.0.gate.store().is_some() { LOOK } else { SWEEP };
                tokio::select! {
                    () = sweeper.0.closing.cancelled() => break,
                    () = tokio::time::sleep(pause) => {}
                }
                if swept.elapsed() >= SWEEP {
                    swept = tokio::time::Instant::now();
                    sweeper.0.parked.sweep();
                    sweeper.0.streams.sweep();
                    sweeper.look_at_times();
                    if forgot.is_none_or(|at: tokio::time::Instant| at.elapsed() >= FORGET) {
                        forgot = Some(swept);
                        sweeper.forget_old().await;
                    }
                }
                // Who waits for notices makes no calls, and still must not hear of what was taken from him.
                if !sweeper.0.clients.lock().is_empty() || !sweeper.0.listeners.is_empty() {
                    let _ = sweeper.tables().await;
                }
                let noting = sweeper.clone();
                let _ = tokio::task::spawn_blocking(move || noting.0.gate.audit.underway.note()).await;
            }
        });
        if let Some(store) = kernel.0.gate.store().cloned() {
            let (underway, closing) = (kernel.0.gate.audit.underway.clone(), kernel.0.closing.clone());
            kernel.spawn(async move { underway.recover_always(&store, &closing).await });
        }
        kernel
    }

    /// Makes these the servers: new ones are started, missing ones stopped, changed ones replaced, the rest is left
    /// alone. Calls in flight go on where they are, within bounds. Of two with one id the first counts.
    /// Servers that were registered stay.
    pub fn apply(&self, specs: Vec<ServerSpec>) {
        self.0.registry.configure(specs);
        self.registered_changed();
    }

    /// Makes the configured and the registered servers the servers.
    pub(crate) fn registered_changed(&self) {
        let _building = self.0.building.lock();
        if self.0.closing.is_cancelled() {
            return;
        }
        let specs = self.0.registry.specs();
        let old = self.view();
        let mut servers: Vec<Arc<Server>> = Vec::new();
        for spec in specs {
            if servers.iter().any(|server| *server.id() == spec.id) {
                tracing::warn!(server = %spec.id, "there are two servers of this name; the second is left out");
                continue;
            }
            let before = old.servers.iter().find(|server| *server.id() == spec.id);
            match before.filter(|server| server.spec == spec) {
                Some(server) => {
                    server.set_policy(spec.policy.clone());
                    servers.push(server.clone());
                }
                None => {
                    let server = Server::new(spec, before.map(Arc::as_ref));
                    servers.push(server.clone());
                    self.spawn(server.run(self.clone()));
                }
            }
        }
        for server in old.servers.iter().filter(|server| !servers.iter().any(|new| Arc::ptr_eq(new, server))) {
            server.stop();
        }
        self.publish(&old, servers, &[]);
    }

    /// Puts the lists of all servers together again, and tells clients what changed.
    pub(crate) fn rebuild(&self) {
        self.rebuild_and_tell(&[]);
    }

    /// The same, and tells of `said` too: lists that a server said have changed, whether that can be seen or not.
    pub(crate) fn rebuild_and_tell(&self, said: &[ListKind]) {
        let _building = self.0.building.lock();
        let old = self.view();
        let servers = old.servers.clone();
        self.publish(&old, servers, said);
    }

    fn publish(&self, old: &View, servers: Vec<Arc<Server>>, said: &[ListKind]) {
        let sources: Vec<_> = servers
            .iter()
            .map(|server| Source {
                id: server.id().clone(),
                lists: server.lists(),
                modern_tasks: server.has_modern_tasks(),
                trust: server.trust(),
                mgp: server.speaks_mgp(),
                policy: server.policy(),
                quarantine: server.quarantine(),
                timings: server.timings.clone(),
            })
            .collect();
        let directory = Directory::build(&sources);
        self.tell_of_tools(&directory);
        let differs = |kind: &ListKind| said.contains(kind) || !directory.same(&old.directory, *kind);
        let changed: Vec<_> = ListKind::ALL.into_iter().filter(differs).collect();
        let generation = old.generation + 1;
        self.0.gate.audit.set_hearers(servers.iter().filter_map(|server| server.hears_audit()).collect());
        self.0.view.store(Arc::new(View { servers, directory, generation }));
        self.tell_changed(&changed);
    }

    /// Grants have changed: everybody may see something else now.
    pub(crate) fn grants_changed(&self) {
        self.tell_changed(&ListKind::ALL);
    }

    fn tell_changed(&self, changed: &[ListKind]) {
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

    /// Tells everybody who is this principal that a list has changed.
    pub(crate) fn tell_principal(&self, principal: &str, kind: ListKind, notification: &Notification) {
        for session in self.clients().iter().filter(|session| *session.principal == *principal) {
            let _ = session.remote().notify(notification.clone());
        }
        self.0.listeners.list_changed_for(principal, kind, notification);
    }

    /// Ends the kernel: streams are closed, calls get a moment to end, servers are stopped. Waits at most `patience`.
    pub async fn shut_down(&self, patience: Duration) {
        let view = {
            let _building = self.0.building.lock();
            self.drain();
            self.0.closing.cancel();
            self.view()
        };
        for server in &view.servers {
            server.stop();
        }
        // Nobody will bring the input that these wait for.
        self.0.parked.clear();
        self.0.streams.clear();
        self.0.tasks.clear();
        let sessions: Vec<_> = self.0.clients.lock().drain().map(|(_, session)| session).collect();
        let ended = async {
            let idle = futures_util::future::join_all(view.servers.iter().map(|server| server.using.idle()));
            let _ = tokio::time::timeout(patience / 4, idle).await;
            self.0.ending.cancel();
            let states = sessions.iter().filter_map(|session| session.existing_state::<ClientState>());
            let states: Vec<_> = states.collect();
            futures_util::future::join_all(states.iter().map(|state| state.close(self))).await;
            self.0.work.close();
            self.0.work.wait().await;
        };
        let _ = tokio::time::timeout(patience, ended).await;
        self.0.ending.cancel();
        self.0.gate.audit.flush().await;
        self.0.gate.audit.underway.close();
    }

    /// What is known of each server.
    #[must_use]
    pub fn status(&self) -> Vec<ServerStatus> {
        let view = self.view();
        let tables = self.0.gate.granted.latest();
        let status = |server: &Arc<Server>| {
            let hub = server.hub_now();
            let hidden = view.directory.hidden.iter().filter(|hidden| hidden.server == *server.id());
            let disorder = hub.as_ref().map(|hub| hub.connected.disorder()).unwrap_or_default();
            ServerStatus {
                id: server.id().clone(),
                phase: server.phase(),
                revision: hub.as_ref().map(|hub| hub.revision()),
                counts: ListKind::ALL.map(|kind| server.count(kind)),
                problems: server.problems(),
                hidden: hidden.cloned().collect(),
                held: server.quarantine().len(),
                trust: server.trust(),
                permissions_missing: self
                    .standing(&tables, server, None)
                    .missing
                    .into_iter()
                    .map(|missing| missing.permission)
                    .collect(),
                info: hub.and_then(|hub| hub.connected.server.info.clone()),
                state: server.state(),
                health: server.health(),
                breaker: server.breaker().as_str(),
                restarts: server.restarts(),
                uptime: server.uptime(),
                pending: server.using.pending(),
                disorder,
                activity: server.stats.snapshot(),
            }
        };
        view.servers.iter().map(status).collect()
    }

    /// How many calls stream their results now, and how many bytes of pieces are kept.
    #[must_use]
    pub fn streaming(&self) -> (usize, usize) {
        (self.0.streams.count(), self.0.streams.kept())
    }

    /// Waits until every server has come up or failed, at most `patience`.
    pub async fn settled(&self, patience: Duration) {
        let deadline = tokio::time::Instant::now() + patience;
        let view = self.view();
        futures_util::future::join_all(view.servers.iter().map(|server| server.settled(deadline))).await;
    }

    /// Gives servers that are just starting a moment, so that a first list is not empty.
    pub(crate) async fn wait_for_servers(&self) {
        self.wait_for_servers_within(self.0.options.list_wait).await;
    }

    pub(crate) async fn wait_for_servers_within(&self, limit: Duration) {
        let view = self.view();
        let starting = view.servers.iter().filter(|server| !server.phase().is_settled());
        futures_util::future::join_all(starting.map(|server| server.settled_within(limit))).await;
    }

    pub(crate) fn view(&self) -> Arc<View> {
        self.0.view.load_full()
    }

    pub(crate) fn options(&self) -> &KernelOptions {
        &self.0.options
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.0.gate
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

    pub(crate) fn discovery(&self) -> &Discovery {
        &self.0.discovery
    }

    pub(crate) fn manifests(&self) -> &Manifests {
        &self.0.manifests
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.0.registry
    }

    pub(crate) fn parked(&self) -> &Parked {
        &self.0.parked
    }

    pub(crate) fn refusals(&self) -> &Refusals {
        &self.0.refusals
    }

    pub(crate) fn callbacks(&self) -> &Callbacks {
        &self.0.callbacks
    }

    pub(crate) fn events(&self) -> &Events {
        &self.0.events
    }

    pub(crate) fn streams(&self) -> &Streams {
        &self.0.streams
    }

    pub(crate) fn tasks(&self) -> &TaskBook {
        &self.0.tasks
    }

    pub(crate) fn draining(&self) -> &AtomicBool {
        &self.0.draining
    }

    /// When the kernel began.
    pub(crate) fn began(&self) -> tokio::time::Instant {
        self.0.began
    }

    /// Cancelled when the kernel ends.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// Cancelled when the kernel has ended: nothing is waited for any more.
    pub(crate) fn ending(&self) -> &CancellationToken {
        &self.0.ending
    }

    /// A turn to start a connection, until it is dropped.
    pub(crate) async fn turn_to_start(&self) -> Option<SemaphorePermit<'_>> {
        self.0.starts.acquire().await.ok()
    }

    /// The level that the most curious legacy client asked for. Who shares a connection gets what that one wants; the
    /// rest is held back on the way.
    pub(crate) fn shared_level(&self) -> Option<&'static str> {
        let levels = self
            .clients()
            .into_iter()
            .filter_map(|session| level_index(session.existing_state::<ClientState>()?.level()?));
        levels.min().and_then(level_name)
    }

    /// Tells all servers that share their connection which log messages are wanted.
    pub(crate) async fn share_level(&self) {
        let Some(level) = self.shared_level() else { return };
        let view = self.view();
        let hubs: Vec<_> = view.servers.iter().filter_map(|server| Some((server, server.hub_now()?))).collect();
        let tell = hubs.iter().map(|(server, hub)| server.tell_level(hub, level));
        let _ = tokio::time::timeout(LEVEL_WAIT, futures_util::future::join_all(tell)).await;
    }

    /// Runs something beside the calls.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.work.spawn(work);
    }

    pub(crate) fn server(&self, id: &str) -> Option<Arc<Server>> {
        self.view().servers.iter().find(|server| &**server.id() == id).cloned()
    }

    /// The server that has a resource, and what it calls it. What no list names may have been mentioned to this
    /// principal by one of the servers.
    pub(crate) fn find_resource(&self, uri: &str, principal: &str) -> Option<(Arc<Server>, String)> {
        let view = self.view();
        if let Some(route) = view.directory.resource(uri) {
            return Some((view.servers.get(route.server)?.clone(), route.original.as_ref().to_owned()));
        }
        let server = self.0.mentions.server(principal, uri)?;
        let index = view.servers.iter().position(|known| **known.id() == *server)?;
        // That a server mentions what is held back of it does not bring it back.
        (!view.directory.is_held(index, uri)).then(|| (view.servers[index].clone(), uri.to_owned()))
    }

    /// Notes the resources that a server's answer mentions, where several servers could have them.
    pub(crate) fn note_mentions(&self, context: &Context, view: &View, server: &Server, reply: &Reply) {
        if let (Ok(result), true) = (&reply.outcome, view.servers.len() > 1) {
            self.0.mentions.note(&context.session.principal, server.id(), result);
        }
    }

    /// Whether a lasting session has not ended.
    pub(crate) fn is_open(&self, session: &str) -> bool {
        self.0.clients.lock().contains_key(session)
    }

    /// The legacy clients that have introduced themselves.
    pub(crate) fn clients(&self) -> Vec<Arc<Session>> {
        let introduced = |session: &&Arc<Session>| {
            session.existing_state::<ClientState>().is_some_and(|state| state.is_introduced())
        };
        self.0.clients.lock().values().filter(introduced).cloned().collect()
    }

    /// The one client that is connected, if it is just one, and a legacy one.
    fn only_client(&self) -> Option<Arc<Session>> {
        match self.clients().as_slice() {
            [only] if self.0.clients.lock().len() == 1 => Some(only.clone()),
            _ => None,
        }
    }

    /// The same, if that client may use anything of the server.
    pub(crate) async fn only_client_of(&self, server: &Server) -> Option<Arc<Session>> {
        let tables = self.tables().await.ok()?;
        self.only_client().filter(|session| self.knows_of(&tables, session, server))
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
                let owners = text("taskId").map(|task| self.0.tasks.owners(&task, server.id())).unwrap_or_default();
                // With two owners of one id nobody can say whose it is.
                if let [owner] = owners.as_slice() {
                    for session in self.clients().iter().filter(|session| session.principal == *owner) {
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
            switchboard_protocol::mgp::method::EVENT => self.take_event(server, notification),
            switchboard_protocol::proposals::push::EVENT if server.pushes() => self.take_push(server, notification),
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
            if kernel.tables().await.is_ok() {
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
        let usable = self.standing(&tables, server, None).missing.is_empty();
        let may_see = |session: &Session| usable && self.access(&tables, session, server, None).allow;
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
        if !self.knows_of(&self.0.gate.granted.latest(), first, server) {
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

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("servers", &self.view().servers).finish_non_exhaustive()
    }
}
