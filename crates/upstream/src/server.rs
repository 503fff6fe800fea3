//! One configured server: its connection, its lists, and the task that keeps both alive.

mod confinement;
mod connection;
mod health;
mod in_flight;
mod personal;
mod pressure;
mod states;
mod stats;
mod supervisor;
mod watching;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use parking_lot::Mutex;
use switchboard_flow::lifecycle::Lifecycle;
use switchboard_peer::client::{Connected, Target};
use switchboard_peer::{Caller, Remote};
use switchboard_policy::permission::Granted;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::LoggingLevel;
use switchboard_protocol::mcp::meta;
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp::{Agreement, Extension, ServerDeclaration, TrustLevel};
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::Raw;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::ServerContext;
use crate::inspection::{INSTRUCTIONS, Inspection, Marked, Quarantine};
use crate::lists::{ListKind, Lists};
use crate::names::Naming;
use crate::package;
use crate::roots::ClientRoots;
use crate::spec::{PinPolicy, ServerPolicy, ServerSpec};
use crate::timings::Timings;
pub use health::Health;
pub use in_flight::{Attribution, CallTicket, InFlightCall, InFlightCalls, OpenQuestion};
pub use pressure::Trial;
pub use states::{RequestStates, StateOwnership, StatefulRequest};
pub use stats::{Activity, Latency, Stats};
pub use supervisor::{Order, chance, millis, speaks_of_life};
pub use switchboard_flow::phase::Phase;
pub use watching::{CallOutcome, WatchedResources};

/// The pause before a client's own connection is tried a second time; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Permissions that one server may ask for.
const MOST_PERMISSIONS: usize = 64;

/// How long a call that found the server may take to get to it.
const LATECOMERS: Duration = Duration::from_millis(200);

/// The connection that all clients of a server share, and that its lists come from.
pub struct SharedConnection {
    /// The connection itself.
    pub connected: Connected,
    /// Who asks on it.
    pub caller: Caller,
    /// What was agreed on with it.
    pub agreement: Option<Agreement>,
    /// The version of the package that runs, where it is known for certain.
    pub package: Option<String>,
}

impl SharedConnection {
    /// The revision that is spoken on it.
    #[must_use]
    pub const fn revision(&self) -> Revision {
        self.connected.revision
    }

    /// What takes requests to the server.
    #[must_use]
    pub fn remote(&self) -> &Arc<dyn Remote> {
        &self.connected.remote
    }
}

/// What a server says of itself in the terms of MGP.
struct Declared {
    said: ServerDeclaration,
    /// Whether it speaks a version that we speak.
    agreed: bool,
}

/// One configured server.
pub struct Server {
    /// What was told about it.
    pub spec: ServerSpec,
    /// What it shares with others.
    context: Arc<ServerContext>,
    phase: watch::Sender<Phase>,
    hub: ArcSwapOption<SharedConnection>,
    lists: ArcSwap<Lists>,
    policy: ArcSwap<ServerPolicy>,
    /// What it says of itself in the terms of MGP, if it speaks of that: also while it is away, because calls wait for it.
    declared: ArcSwapOption<Declared>,
    /// The permissions that its process was started with, where it is confined to them.
    began_with: Mutex<Option<Vec<Granted>>>,
    /// When its process was last ended for doing what it may not do.
    killed_at: Mutex<Option<Instant>>,
    /// What is held back, and why.
    quarantine: ArcSwap<Quarantine>,
    /// What is shown with a mark, and what was found in it.
    marked: ArcSwap<Marked>,
    problems: Mutex<Vec<String>>,
    refresh: Notify,
    /// Lists that the server said have changed since they were last asked for.
    said_changed: Mutex<HashSet<ListKind>>,
    stop: CancellationToken,
    began: Instant,
    life: supervisor::Life,
    /// Whether it was ever connected.
    was_up: AtomicBool,
    checked: health::Checked,
    pressure: pressure::Pressure,
    /// What it has been doing.
    pub stats: Arc<Stats>,
    /// How long its tools take.
    pub timings: Arc<Timings>,
    known_era: Mutex<Option<Era>>,
    /// The level of log messages that it was told last.
    told_level: Mutex<Option<LoggingLevel>>,
    /// The resources that clients watch there.
    pub watched: Arc<WatchedResources>,
    /// The calls that run.
    pub using: Arc<InFlightCalls>,
    /// What it gave to modern clients to come back with.
    pub states: RequestStates,
    /// Connections of single clients; `None` once there can be no more. Held here, so that calls on them can end when
    /// the client has got another one, to the server that takes this one's place.
    links: Mutex<Option<Vec<Arc<Connected>>>>,
    personal: personal::Personal,
    /// Its tools that need permissions of their own, and which.
    tools_need: ArcSwap<ToolNeeds>,
    /// That changed.
    needs_changed: Notify,
    /// The roots that clients named to it.
    pub roots: ClientRoots,
}

/// Tools, and the permissions that each needs beyond those of its server.
pub type ToolNeeds = Vec<(String, Vec<String>)>;

impl Server {
    /// A server that is not started yet. One that takes the place of another shows that one's lists until it has its
    /// own, and watches for the same clients.
    pub fn new(spec: ServerSpec, before: Option<&Self>, context: &Arc<ServerContext>) -> Arc<Self> {
        let policy = ArcSwap::new(spec.policy.clone());
        let life = supervisor::Life::new(Lifecycle::new(spec.restart_policy()));
        Arc::new(Self {
            spec,
            context: context.clone(),
            life,
            was_up: AtomicBool::new(false),
            checked: health::Checked::default(),
            pressure: pressure::Pressure::default(),
            stats: before.map_or_else(Arc::default, |before| before.stats.clone()),
            timings: before.map_or_else(Arc::default, |before| before.timings.clone()),
            phase: watch::Sender::new(Phase::Starting),
            hub: ArcSwapOption::empty(),
            lists: before.map_or_else(ArcSwap::default, |before| ArcSwap::new(before.lists())),
            policy,
            declared: before
                .map_or_else(ArcSwapOption::empty, |before| ArcSwapOption::new(before.declared.load_full())),
            quarantine: before.map_or_else(ArcSwap::default, |before| ArcSwap::new(before.quarantine())),
            marked: before.map_or_else(ArcSwap::default, |before| ArcSwap::new(before.marked())),
            began_with: Mutex::default(),
            killed_at: Mutex::default(),
            problems: Mutex::default(),
            refresh: Notify::new(),
            said_changed: Mutex::default(),
            stop: CancellationToken::new(),
            began: Instant::now(),
            known_era: Mutex::default(),
            told_level: Mutex::default(),
            watched: before.map_or_else(Arc::default, |before| before.watched.clone()),
            using: Arc::default(),
            states: RequestStates::default(),
            links: Mutex::new(Some(Vec::new())),
            personal: personal::Personal::default(),
            tools_need: ArcSwap::default(),
            needs_changed: Notify::new(),
            roots: ClientRoots::default(),
        })
    }

    /// Its id.
    pub fn id(&self) -> &Arc<str> {
        &self.spec.id
    }

    /// Where it is in its life.
    pub fn phase(&self) -> Phase {
        self.phase.borrow().clone()
    }

    /// What it offers.
    pub fn lists(&self) -> Arc<Lists> {
        self.lists.load_full()
    }

    /// What the operator says of it.
    pub fn policy(&self) -> Arc<ServerPolicy> {
        self.policy.load_full()
    }

    /// Whether it is part of the kernel.
    pub fn is_built_in(&self) -> bool {
        matches!(self.spec.target, Target::InProcess(_)) && self.trust() == TrustLevel::Core
    }

    /// How its tools and prompts are called beside those of others.
    pub fn naming(&self) -> Naming {
        self.policy_now().naming(self.id())
    }

    /// The same, for a moment.
    pub fn policy_now(&self) -> arc_swap::Guard<Arc<ServerPolicy>> {
        self.policy.load()
    }

    /// Changes what the operator says of it.
    pub fn set_policy(&self, policy: &Arc<ServerPolicy>) {
        let before = self.policy.swap(policy.clone());
        if (before.pins, &before.tool_pins) != (policy.pins, &policy.tool_pins) {
            // What is held back depends on it.
            self.refresh_soon();
        }
    }

    /// Whether its process was ended for doing what it may not do since then. Known before it is connected again.
    pub fn was_killed_since(&self, then: Instant) -> bool {
        self.killed_at.lock().is_some_and(|killed| killed >= then)
    }

    /// When a person is asked about a definition of it that changed.
    pub fn pin_policy(&self, name: &str) -> PinPolicy {
        let policy = self.policy_now();
        let said = policy.tool_pins.get(name).copied().or(policy.pins);
        // What a bridge shows is what somebody says elsewhere.
        let is_program = matches!(&self.spec.target, Target::Command(command) if !package::is_bridge(command));
        said.unwrap_or_else(|| PinPolicy::usual(is_program, self.trust()))
    }

    /// What is held back of it, and why.
    pub fn quarantine(&self) -> Arc<Quarantine> {
        self.quarantine.load_full()
    }

    /// What of it is shown with a mark.
    pub fn marked(&self) -> Arc<Marked> {
        self.marked.load_full()
    }

    /// Whether it was found to be the same before.
    fn is_inspected_as(&self, inspection: &Inspection) -> bool {
        inspection.held == **self.quarantine.load() && inspection.marked == **self.marked.load()
    }

    fn set_inspection(&self, inspection: Inspection) {
        self.quarantine.store(Arc::new(inspection.held));
        self.marked.store(Arc::new(inspection.marked));
    }

    /// Whether it speaks MGP with us.
    pub fn speaks_mgp(&self) -> bool {
        self.declared.load().as_ref().is_some_and(|declared| declared.agreed)
    }

    /// How far it is trusted: as the operator says, or less if it says so itself.
    pub fn trust(&self) -> TrustLevel {
        let operator = self.policy.load().trust;
        let claimed = self.declared.load().as_ref().and_then(|declared| declared.said.trust_level);
        claimed.map_or(operator, |claimed| claimed.min(operator))
    }

    /// The permissions without which nothing of it is used.
    pub fn permissions_required(&self) -> Vec<String> {
        let mut required = self.policy.load().permissions_required.clone();
        if let Some(declared) = self.declared.load().as_ref().filter(|declared| declared.agreed) {
            let said = &declared.said.permissions_required;
            required.extend(said.iter().take(MOST_PERMISSIONS).cloned());
            if said.len() > MOST_PERMISSIONS {
                // There is no such permission, so nobody can grant it.
                required.push(format!("more than {MOST_PERMISSIONS} permissions"));
            }
        }
        required
    }

    /// Whether it needs no permission, and the operator's configuration gives it none.
    pub fn needs_and_has_none(&self) -> bool {
        let policy = self.policy.load();
        policy.permissions_required.is_empty()
            && policy.permissions_granted.is_empty()
            && self.declared.load().as_ref().is_none_or(|declared| declared.said.permissions_required.is_empty())
    }

    /// Notes that it waits for an answer about an owner's calls, until the guard is dropped.
    pub fn asks(&self, owner: u64, method: &str) -> OpenQuestion {
        // Over HTTP a question comes on the stream of its call. Elsewhere nothing names the call, and a server that asks
        // in the middle of one will ask again: from now on there shall be no doubt whose call it is. For roots servers ask
        // when they please, not because of a call.
        if method != method::ROOTS_LIST && !matches!(self.spec.target, Target::Http { .. }) {
            self.using.take_turns();
        }
        self.using.asked(owner)
    }

    /// Gives its process the whole processor time of a call again.
    pub fn renew_budget(&self) {
        if let Some(hub) = self.hub.load().as_ref()
            && let Some(oversight) = hub.connected.oversight()
        {
            oversight.renew_cpu();
        }
    }

    /// Whether it tells of what it does under the trace of the call that caused it.
    pub fn wants_trace(&self) -> bool {
        let hub = self.hub_now();
        hub.is_some_and(|hub| hub.agreement.as_ref().is_some_and(|agreement| agreement.has(Extension::Audit)))
    }

    /// Whether it agreed on an extension.
    pub fn agreed_on(&self, extension: Extension) -> bool {
        let hub = self.hub.load();
        hub.as_ref().is_some_and(|hub| hub.agreement.as_ref().is_some_and(|agreement| agreement.has(extension)))
    }

    /// Whether it tells of events by itself (proposal 15).
    pub fn pushes(&self) -> bool {
        let hub = self.hub.load();
        let said = hub.as_ref().map(|hub| proposals::declared(&hub.connected.server.capabilities));
        said.is_some_and(|declared| declared.has(Proposal::SubscribeNotify))
    }

    /// Whether it sends results in pieces, or says how far it is.
    pub fn streams(&self) -> bool {
        self.agreed_on(Extension::Streaming) || self.agreed_on(Extension::Progress)
    }

    /// Its instructions for the model, unless they are held back.
    pub fn instructions(&self) -> Option<String> {
        let held = self.quarantine.load().contains_key(INSTRUCTIONS);
        self.hub_now()?.connected.server.instructions.clone().filter(|_| !held)
    }

    /// Whether a list of it could not be had when it was last asked for.
    pub fn has_failed_to_list(&self, kind: ListKind) -> bool {
        let failed = |problem: &String| problem.strip_prefix(kind.method()).is_some_and(|rest| rest.starts_with(':'));
        self.problems.lock().iter().any(failed)
    }

    /// Its tools that need permissions of their own, and which.
    pub fn tools_need(&self) -> Arc<ToolNeeds> {
        self.tools_need.load_full()
    }

    /// Notes which of its tools need permissions of their own, sorted.
    pub fn set_tool_needs(&self, needs: ToolNeeds) {
        if needs != **self.tools_need.load() {
            self.tools_need.store(Arc::new(needs));
            self.needs_changed.notify_one();
        }
    }

    /// Waits until other tools of it need permissions of their own, or other permissions.
    pub async fn tool_needs_changed(&self) {
        self.needs_changed.notified().await;
    }

    /// Whether nothing is known of its tools, and nothing will be known in a moment: it is not there, or could not list
    /// them.
    pub fn is_missing(&self) -> bool {
        let unlisted = self.has_failed_to_list(ListKind::Tools) && self.count(ListKind::Tools) == 0;
        self.phase().is_settled() && (self.is_unknown() || unlisted)
    }

    /// That a list of it could not be had. Why is for the operator to know: it is the server's text.
    pub fn cannot_list(&self, kind: ListKind) -> Fault {
        let text = format!("server `{}` did not answer `{}` with a list", self.id(), kind.method());
        let fault = Fault::new(FaultKind::ServerNotReady, text).from_server(self.id().as_ref());
        fault.suggest("`switchboard doctor` tells what it answered")
    }

    /// Lists that could not be had, and why.
    pub fn problems(&self) -> Vec<String> {
        self.problems.lock().clone()
    }

    /// The connection, if there is one right now.
    pub fn hub_now(&self) -> Option<Arc<SharedConnection>> {
        self.hub.load_full()
    }

    /// Waits until the first attempt to start has come to an end, or the deadline has passed.
    pub async fn settled(&self, deadline: Instant) {
        let mut phase = self.phase.subscribe();
        let _ = tokio::time::timeout_at(deadline, phase.wait_for(Phase::is_settled)).await;
    }

    /// Waits for the first attempt to start, but no longer than `grace` after its beginning: who comes later does not
    /// wait for a server that hangs.
    pub async fn settled_within(&self, grace: Duration) {
        self.settled(self.began + grace).await;
    }

    /// Whether it never came up, so that nobody can say what it offers.
    pub fn is_unknown(&self) -> bool {
        self.hub_now().is_none() && self.lists.load().is_empty()
    }

    /// Asks for the lists again, soon, because the server says that this one has changed.
    pub fn refresh_said(&self, said: ListKind) {
        self.said_changed.lock().insert(said);
        self.refresh_soon();
    }

    /// Asks for the lists again, soon.
    pub fn refresh_soon(&self) {
        self.refresh.notify_one();
    }

    /// Ends the server for good.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Notes a client's own connection, to be ended with the server; `false` where the server has ended already.
    pub fn adopt(&self, link: &Arc<Connected>) -> bool {
        let mut links = self.links.lock();
        let Some(links) = links.as_mut() else { return false };
        links.retain(|link| !link.closed.is_cancelled());
        links.push(link.clone());
        true
    }

    fn reserved_name(&self) -> Option<String> {
        let lists = self.lists();
        let name = |tool: &Raw| tool.member("name").and_then(|name| name.as_text());
        // What another kernel says of its own tools is no claim to ours: they are left out.
        let others =
            |tool: &&Raw| tool.at(&["_mgp", "source"]).and_then(|source| source.as_text()).as_deref() == Some("kernel");
        lists.tools.items.iter().filter(|tool| !others(tool)).filter_map(name).find(|name| name.starts_with("mgp."))
    }

    /// Whether it makes tasks in the way of the modern extension.
    pub fn has_modern_tasks(&self) -> bool {
        let has = |hub: &SharedConnection| {
            hub.connected.server.capabilities.at(&["extensions", meta::TASKS_EXTENSION]).is_some()
        };
        self.hub_now().is_some_and(|hub| hub.revision().era() == Era::Modern && has(&hub))
    }
}

impl fmt::Debug for SharedConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedConnection").field("revision", &self.revision()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("id", self.id()).field("phase", &self.phase()).finish_non_exhaustive()
    }
}

/// How one attempt to live ended.
enum ConnectionEnd {
    /// It was started with other permissions than it has now.
    Outgrown,
    /// Nobody has used it for long.
    Idle,
    /// It was connected, and is no longer. `clean` if it left in good order.
    Lost {
        why: String,
        clean: bool,
    },
    Failed(String),
    Refused(String),
}

/// The pause after one more failure.
pub fn next_pause(pause: Duration) -> Duration {
    if pause.is_zero() { FIRST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) }
}
