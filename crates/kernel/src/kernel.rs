//! The kernel itself: what it holds, and how it begins, changes and ends.

mod answer;
mod call;
mod content;
mod housekeeping;
mod meant;
mod status;
pub(crate) mod waiting;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use switchboard_audit::EventCounts;
use switchboard_exchange::{Exchange, ExchangeOptions, ExchangeState};
use switchboard_peer::{Caller, Context, Reply};
use switchboard_protocol::Revision;
use switchboard_wire::Limits;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clients::{ClientState, ConnectedClients, MGP_OFFERED, own_capabilities, own_info, tell_changed};
use crate::directory::{self, ListKind, LocatedResource, OpenPages, View};
use crate::gate::audit_sinks::ServerSink;
use crate::gate::{Gate, GateContext, GateState, OWNER};
use crate::server::{Server, ServerContext, StartTurns};
use crate::services::{Services, ToolContext};
use crate::spec::{GateOptions, KernelOptions, ServerSpec};

pub(crate) use crate::gate::{no_such_prompt, no_such_tool, unknown_resource};
pub use status::ServerStatus;
pub(crate) use switchboard_exchange::{object_of, text_of};

/// Nothing waits longer than a year.
const MAX_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);

/// One door to many servers. Cheap to clone; all clones are the same kernel.
#[derive(Clone)]
pub struct Kernel(Arc<Shared>);

struct Shared {
    options: KernelOptions,
    /// Which tools clients are given now.
    tools: ArcSwap<ToolContext>,
    gate: Arc<GateState>,
    /// What all servers share.
    upstream: Arc<ServerContext>,
    view: ArcSwap<View>,
    /// Keeps rebuilds of the view in order.
    building: Mutex<()>,
    clients: ConnectedClients,
    /// Calls on their way, and what outlives a message of one.
    exchange: Arc<ExchangeState>,
    pages: OpenPages,
    services: Services,
    /// Calls that wait for a person while no server works on them: they are not over.
    waiting_calls: TaskTracker,
    work: TaskTracker,
    began: tokio::time::Instant,
    draining: AtomicBool,
    closing: CancellationToken,
    /// Cancelled when the kernel has ended: nothing is waited for any more.
    ending: CancellationToken,
}

impl Kernel {
    /// A kernel without servers. Must be made inside a runtime.
    #[must_use]
    pub fn new(mut options: KernelOptions) -> Self {
        // Times come from configurations: no number there may be too large for the clock.
        for time in [&mut options.list_wait, &mut options.longest_call, &mut options.question_timeout] {
            *time = (*time).min(MAX_WAIT);
        }
        let (work, waiting_calls) = (TaskTracker::new(), TaskTracker::new());
        let (closing, ending) = (CancellationToken::new(), CancellationToken::new());
        let context = GateContext {
            tasks: work.clone(),
            waiting_calls: waiting_calls.clone(),
            closing: closing.clone(),
            principal_rates: options.principal_rates.clone(),
        };
        let (gate, auditing) = GateState::new(options.gate.clone(), context);
        let upstream = Arc::new(ServerContext {
            caller: Caller { revision: Revision::LATEST, info: Some(own_info()), capabilities: own_capabilities() },
            owner: OWNER.into(),
            extensions: &MGP_OFFERED,
            limits: options.limits.clone(),
            list_items: options.list_items,
            credentials: options.credentials.clone(),
            turns: StartTurns::new(options.concurrent_starts),
            tasks: work.clone(),
            closing: closing.clone(),
            ending: ending.clone(),
        });
        let exchange = ExchangeOptions {
            longest_call: options.longest_call,
            question_timeout: options.question_timeout,
            list_wait: options.list_wait,
            parked_calls: options.parked_calls,
            parked_calls_each: options.parked_calls_each,
            notification_rate: options.notification_rate,
        };
        let exchange = ExchangeState::new(exchange, work.clone(), closing.clone(), waiting_calls.clone());
        let exchange = Arc::new(exchange);
        let kernel = Self(Arc::new(Shared {
            tools: ArcSwap::from_pointee(std::mem::take(&mut options.tools)),
            options,
            gate: Arc::new(gate),
            upstream,
            view: ArcSwap::default(),
            building: Mutex::default(),
            clients: ConnectedClients::new(work.clone()),
            exchange,
            pages: OpenPages::default(),
            services: Services::default(),
            work,
            waiting_calls,
            began: tokio::time::Instant::now(),
            draining: AtomicBool::new(false),
            closing,
            ending,
        }));
        tokio::spawn(auditing);
        kernel.0.gate.audit.set_sinks(vec![kernel.0.services.events.clone(), kernel.0.gate.server_sinks.clone()]);
        kernel.spawn(housekeeping::run(kernel.clone()));
        kernel.spawn(kernel.exchange().watch_rights());
        if let Some(store) = kernel.0.gate.store().cloned() {
            let (gate, approvals) = (kernel.0.gate.clone(), store.clone());
            kernel.spawn(async move { gate.watch_approvals(&approvals).await });
            let (open_calls, closing) = (kernel.0.gate.audit.open_calls().clone(), kernel.0.closing.clone());
            kernel.spawn(async move { open_calls.recover_always(&store, &closing).await });
            kernel.spawn(kernel.exchange().watch_expiry());
            let deciding = kernel.clone();
            kernel.spawn(async move { deciding.0.gate.audit.tell_decisions(&deciding.0.closing).await });
        }
        kernel
    }

    /// Makes these the servers: new ones are started, missing ones stopped, changed ones replaced, the rest is left
    /// alone. Calls in flight go on where they are, within bounds. Of two with one id the first counts.
    /// Servers that were registered stay.
    pub fn apply(&self, specs: Vec<ServerSpec>) {
        self.0.services.registry.configure(specs);
        self.registered_changed();
    }

    /// Makes the configured and the registered servers the servers.
    pub(crate) fn registered_changed(&self) {
        self.take_servers();
        // Settings of a server narrow what goes on at it.
        self.exchange().end_revoked();
    }

    fn take_servers(&self) {
        let building = self.0.building.lock();
        if self.0.closing.is_cancelled() {
            return;
        }
        let specs = self.0.services.registry.specs();
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
                    server.set_policy(&spec.policy);
                    servers.push(server.clone());
                }
                None => {
                    let server = Server::new(spec, before.map(Arc::as_ref), &self.0.upstream);
                    servers.push(server.clone());
                    self.spawn(server.run(Arc::new(self.clone())));
                }
            }
        }
        for server in old.servers.iter().filter(|server| !servers.iter().any(|new| Arc::ptr_eq(new, server))) {
            server.stop();
        }
        let changed = self.publish(&old, servers, &[]);
        drop(building);
        self.tell_of_lists(&changed);
    }

    /// Puts the lists of all servers together again, and tells clients what changed.
    pub(crate) fn rebuild(&self) {
        self.rebuild_and_tell(&[]);
    }

    /// The same, and tells of `said` too: lists that a server said have changed, whether that can be seen or not.
    pub(crate) fn rebuild_and_tell(&self, said: &[ListKind]) {
        let building = self.0.building.lock();
        let old = self.view();
        let servers = old.servers.clone();
        let changed = self.publish(&old, servers, said);
        drop(building);
        self.tell_of_lists(&changed);
    }

    /// Tells of the lists that are published, without the lock: what a transport or a sink does with it is its own
    /// business.
    fn tell_of_lists(&self, changed: &[ListKind]) {
        directory::put_on_record(&self.0.gate, &self.view().directory);
        tell_changed(self, changed);
    }

    /// Makes these the servers and their lists the lists; says which lists differ from those before.
    fn publish(&self, old: &View, servers: Vec<Arc<Server>>, said: &[ListKind]) -> Vec<ListKind> {
        let view = View::of(servers, old.generation + 1);
        let differs = |kind: &ListKind| said.contains(kind) || !view.directory.same(&old.directory, *kind);
        let changed: Vec<_> = ListKind::ALL.into_iter().filter(differs).collect();
        self.0.gate.server_sinks.set(view.servers.iter().filter_map(|server| ServerSink::of(server)).collect());
        self.0.view.store(Arc::new(view));
        // What waits for a person may not be there any more. Lists that are the same as before may be those of a server that
        // has only now come up, and by which nobody could be judged until then.
        self.0.gate.rights.announce();
        changed
    }

    /// Judges calls in another way from now on, without a new start. The store stays, and so does the bound on
    /// results, which belongs to the limits. What is under way is judged anew at its next step.
    pub fn judge_by(&self, options: GateOptions) {
        if self.0.gate.judge_by(options) {
            // What is held back depends on it.
            self.view().servers.iter().for_each(|server| server.refresh_soon());
        }
        // Lists that were put together before show what held then.
        self.rebuild();
        self.grants_changed();
    }

    /// Looks again at what every server shows: somebody has decided about what is held back.
    pub fn look_again(&self) {
        self.view().servers.iter().for_each(|server| server.refresh_soon());
    }

    /// Gives clients tools in another way from now on, without a new start. What orders the tools that are found stays. Clients are
    /// told whose list is another one.
    pub fn list_by(&self, tools: ToolContext) {
        let judge = self.tools().judge.clone();
        self.0.tools.store(Arc::new(ToolContext { judge, ..tools }));
        self.0.services.discovery.forget_all();
        self.rebuild();
        tell_changed(self, &[ListKind::Tools]);
    }

    /// Grants have changed: everybody may see something else now.
    pub(crate) fn grants_changed(&self) {
        self.exchange().end_revoked();
        self.0.clients.end_revoked_watches(self.gate(), &self.view());
        tell_changed(self, &ListKind::ALL);
    }

    /// Whether there is a profile of this name.
    #[must_use]
    pub fn has_profile(&self, name: &str) -> bool {
        self.0.gate.options().profiles.contains_key(name)
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
        self.0.exchange.clear();
        let sessions = self.0.clients.take_all();
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
        self.0.gate.audit.open_calls().close();
    }

    /// Whether the store could be read and written when that was last tried, and what happens can be put on record.
    #[must_use]
    pub fn keeps_records(&self) -> bool {
        self.0.gate.granted.store_is_usable() && self.0.gate.audit.is_keeping()
    }

    /// How many events were put on record, by how they ended, and refusals by the step of the gate.
    #[must_use]
    pub fn event_counts(&self) -> EventCounts {
        self.0.gate.audit.counts()
    }

    /// How many calls wait for a person now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.waiting_calls.len()
    }

    /// How many calls stream their results now, and how many bytes of pieces are kept.
    #[must_use]
    pub fn streaming(&self) -> (usize, usize) {
        self.0.exchange.streaming()
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

    pub(crate) fn tools(&self) -> Arc<ToolContext> {
        self.0.tools.load_full()
    }

    pub(crate) fn options(&self) -> &KernelOptions {
        &self.0.options
    }

    pub(crate) fn gate(&self) -> Gate<'_> {
        Gate::new(&self.0.gate, self)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.options.limits
    }

    /// The sessions that are open.
    pub(crate) fn clients(&self) -> &ConnectedClients {
        &self.0.clients
    }

    pub(crate) fn services(&self) -> &Services {
        &self.0.services
    }

    /// Calls on their way.
    pub(crate) fn exchange(&self) -> Exchange<Self> {
        Exchange::new(self.clone(), self.0.exchange.clone())
    }

    /// The same without what they need of the kernel.
    pub(crate) fn exchange_state(&self) -> &ExchangeState {
        &self.0.exchange
    }

    pub(crate) fn draining(&self) -> &AtomicBool {
        &self.0.draining
    }

    /// When the kernel began.
    pub(crate) fn began(&self) -> tokio::time::Instant {
        self.0.began
    }

    /// Calls that wait for a person while no server works on them.
    pub(crate) fn waiting_calls(&self) -> &TaskTracker {
        &self.0.waiting_calls
    }

    /// Cancelled when the kernel ends.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// The pages that clients have open.
    pub(crate) fn pages(&self) -> &OpenPages {
        &self.0.pages
    }

    /// Runs something beside the calls.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.work.spawn(work);
    }

    pub(crate) fn server(&self, id: &str) -> Option<Arc<Server>> {
        self.view().servers.iter().find(|server| &**server.id() == id).cloned()
    }

    /// The server that has a resource, with what it is read by. What no list names may have been mentioned to this principal by
    /// one of the servers.
    pub(crate) fn locate(&self, uri: &str, principal: &str) -> Option<LocatedResource> {
        self.view().locate(uri, || self.0.exchange.mentioned_by(principal, uri))
    }

    /// Notes the resources that a server's answer mentions, where several servers could have them.
    pub(crate) fn note_mentions(&self, context: &Context, view: &View, server: &Server, reply: &Reply) {
        if view.servers.len() > 1 {
            self.0.exchange.note_mentions(context, server, reply);
        }
    }
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kernel").field("servers", &self.view().servers).finish_non_exhaustive()
    }
}
