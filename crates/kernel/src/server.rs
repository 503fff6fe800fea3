//! One configured server: its connection, its lists, and the task that keeps both alive.

mod notices;
mod watching;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use parking_lot::Mutex;
use switchboard_peer::client::{ConnectOptions, Connected, connect};
use switchboard_peer::{Caller, Handler, Remote};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::meta;
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{Limits, Raw};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::directory::{ListKind, Lists};
use crate::kernel::Kernel;
use crate::lists::Asking;
use crate::names;
use crate::spec::{Restart, ServerSpec};
pub(crate) use notices::FromServer;
pub(crate) use watching::{CallOutcome, Watched};

/// The pause before the second try to start a server; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A connection that held this long was healthy: the next failure starts counting anew.
const HEALTHY: Duration = Duration::from_secs(10);
/// Notices of changed lists that come faster than this are answered together.
const REFRESH_PAUSE: Duration = Duration::from_millis(50);

/// Where a server is in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Being started for the first time.
    Starting,
    /// Connected.
    Ready,
    /// Lost, and being started again.
    Restarting(String),
    /// Could not be started; tried again later if it may be.
    Failed(String),
    /// Not accepted, whatever it does.
    Refused(String),
    /// Stopped on purpose.
    Stopped,
}

impl Phase {
    /// Whether the first attempt has come to an end.
    pub(crate) const fn is_settled(&self) -> bool {
        !matches!(self, Self::Starting)
    }
}

/// The connection that all clients of a server share, and that its lists come from.
pub(crate) struct Hub {
    pub(crate) connected: Connected,
    pub(crate) caller: Caller,
}

impl Hub {
    pub(crate) const fn revision(&self) -> Revision {
        self.connected.revision
    }

    pub(crate) fn remote(&self) -> &Arc<dyn Remote> {
        &self.connected.remote
    }
}

pub(crate) struct Server {
    pub(crate) spec: ServerSpec,
    phase: watch::Sender<Phase>,
    hub: ArcSwapOption<Hub>,
    lists: ArcSwap<Lists>,
    problems: Mutex<Vec<String>>,
    refresh: Notify,
    stop: CancellationToken,
    known_era: Mutex<Option<Era>>,
    pub(crate) watched: Watched,
}

impl Server {
    pub(crate) fn new(spec: ServerSpec) -> Arc<Self> {
        Arc::new(Self {
            spec,
            phase: watch::Sender::new(Phase::Starting),
            hub: ArcSwapOption::empty(),
            lists: ArcSwap::default(),
            problems: Mutex::default(),
            refresh: Notify::new(),
            stop: CancellationToken::new(),
            known_era: Mutex::default(),
            watched: Watched::default(),
        })
    }

    pub(crate) fn id(&self) -> &Arc<str> {
        &self.spec.id
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase.borrow().clone()
    }

    pub(crate) fn lists(&self) -> Arc<Lists> {
        self.lists.load_full()
    }

    /// Lists that could not be had, and why.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.problems.lock().clone()
    }

    /// The connection, if there is one right now.
    pub(crate) fn hub_now(&self) -> Option<Arc<Hub>> {
        self.hub.load_full()
    }

    /// Waits until the first attempt to start has come to an end, or the deadline has passed.
    pub(crate) async fn settled(&self, deadline: tokio::time::Instant) {
        let mut phase = self.phase.subscribe();
        let _ = tokio::time::timeout_at(deadline, phase.wait_for(Phase::is_settled)).await;
    }

    /// The connection, waited for while the server is on its way up.
    pub(crate) async fn hub(&self) -> Result<Arc<Hub>, Fault> {
        if let Some(hub) = self.hub_now() {
            return Ok(hub);
        }
        let mut phase = self.phase.subscribe();
        let going_up = |phase: &Phase| !matches!(phase, Phase::Starting | Phase::Restarting(_));
        let _ = tokio::time::timeout(self.spec.start_timeout, phase.wait_for(going_up)).await;
        self.hub_now().ok_or_else(|| self.not_ready())
    }

    fn not_ready(&self) -> Fault {
        let (kind, why) = match self.phase() {
            Phase::Starting | Phase::Ready => (FaultKind::ServerNotReady, "it is still starting".to_owned()),
            Phase::Restarting(why) => (FaultKind::ServerRestarting, why),
            Phase::Failed(why) | Phase::Refused(why) => (FaultKind::ServerNotReady, why),
            Phase::Stopped => (FaultKind::ServerDraining, "it was stopped".to_owned()),
        };
        Fault::new(kind, format!("server `{}` is not connected: {why}", self.id()))
            .from_server(self.id().as_ref())
            .suggest("`switchboard doctor` tells more")
    }

    /// Asks for the lists again, soon.
    pub(crate) fn refresh_soon(&self) {
        self.refresh.notify_one();
    }

    /// Ends the server for good.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits until a stopped server has ended.
    pub(crate) async fn ended(&self) {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase == Phase::Stopped).await;
    }

    /// Keeps the server connected until it is stopped.
    pub(crate) async fn run(self: Arc<Self>, kernel: Kernel) {
        let mut pause = Duration::ZERO;
        loop {
            tokio::select! {
                () = self.stop.cancelled() => break,
                () = tokio::time::sleep(pause) => {}
            }
            let began = tokio::time::Instant::now();
            let lived = tokio::select! {
                lived = self.live(&kernel) => lived,
                () = self.stop.cancelled() => break,
            };
            self.hub.store(None);
            let phase = match lived {
                Lived::Lost(why) if self.spec.restart == Restart::Always => Phase::Restarting(why),
                Lived::Lost(why) | Lived::Failed(why) => Phase::Failed(why),
                Lived::Refused(why) => Phase::Refused(why),
            };
            tracing::warn!(server = %self.id(), ?phase, "server is not connected");
            let over = matches!(phase, Phase::Refused(_)) || self.spec.restart == Restart::Never;
            self.phase.send_replace(phase);
            kernel.rebuild();
            if over {
                self.stop.cancelled().await;
                break;
            }
            // A server that was healthy comes back at once; one that keeps failing is left alone for longer and longer.
            pause = if began.elapsed() >= HEALTHY { Duration::ZERO } else { next_pause(pause) };
        }
        if let Some(hub) = self.hub.swap(None) {
            hub.connected.stop().await;
        }
        self.phase.send_replace(Phase::Stopped);
        kernel.rebuild();
    }

    /// Connects and stays until the connection is lost.
    async fn live(self: &Arc<Self>, kernel: &Kernel) -> Lived {
        let caller = kernel.own_caller();
        let handler = Arc::new(FromServer { kernel: kernel.clone(), server: self.clone() });
        let connected = match self.connect(&caller, handler, kernel.limits()).await {
            Ok(connected) => connected,
            Err(error) => return Lived::Failed(error),
        };
        let hub = Arc::new(Hub { connected, caller });
        self.fetch(&hub, kernel).await;
        if let Some(name) = self.reserved_name() {
            hub.connected.stop().await;
            self.lists.store(Arc::default());
            return Lived::Refused(format!("its tool `{name}` uses the prefix `{}` of the kernel", names::RESERVED));
        }
        self.hub.store(Some(hub.clone()));
        // Whoever waits for the server to be ready must find what it offers.
        kernel.rebuild();
        self.phase.send_replace(Phase::Ready);
        tracing::info!(server = %self.id(), revision = %hub.revision(), "server is connected");
        let closed = hub.connected.closed.clone();
        let watching = self.watch_always(&hub, kernel);
        tokio::pin!(watching);
        loop {
            tokio::select! {
                () = closed.cancelled() => {
                    let tail = hub.connected.stderr_tail().unwrap_or_default();
                    let why = tail.trim_end().lines().next_back().map_or_else(
                        || "the connection was closed".to_owned(),
                        |line| format!("the connection was closed; its last words: {line}"),
                    );
                    return Lived::Lost(why);
                }
                () = self.refresh.notified() => {
                    tokio::time::sleep(REFRESH_PAUSE).await;
                    self.fetch(&hub, kernel).await;
                    kernel.rebuild();
                }
                () = &mut watching => {}
            }
        }
    }

    /// Makes a connection in the name of `caller`.
    pub(crate) async fn connect(
        &self,
        caller: &Caller,
        handler: Arc<dyn Handler>,
        limits: &Limits,
    ) -> Result<Connected, String> {
        let info = caller.info.clone().unwrap_or_else(Raw::empty_object);
        let options = ConnectOptions {
            era: self.spec.era,
            known_era: *self.known_era.lock(),
            start_timeout: self.spec.start_timeout,
            limits: limits.clone(),
            ..ConnectOptions::new(info, caller.capabilities.clone())
        };
        let connected = connect(self.spec.target.clone(), options, handler).await.map_err(|error| describe(&error))?;
        *self.known_era.lock() = Some(connected.revision.era());
        Ok(connected)
    }

    async fn fetch(&self, hub: &Hub, kernel: &Kernel) {
        let asking = Asking {
            remote: hub.remote().as_ref(),
            revision: hub.revision(),
            capabilities: &hub.connected.server.capabilities,
            caller: &hub.caller,
            timeout: self.spec.start_timeout,
            most_items: kernel.options().list_items,
        };
        let (lists, problems) = asking.all().await;
        for problem in &problems {
            tracing::warn!(server = %self.id(), problem, "a list could not be had");
        }
        *self.problems.lock() = problems;
        self.lists.store(Arc::new(lists));
    }

    fn reserved_name(&self) -> Option<String> {
        let lists = self.lists();
        let name = |tool: &Raw| tool.member("name").and_then(|name| name.as_text());
        lists.tools.items.iter().filter_map(name).find(|name| name.starts_with(names::RESERVED))
    }

    /// Whether it makes tasks in the way of the modern extension.
    pub(crate) fn has_modern_tasks(&self) -> bool {
        let has = |hub: &Hub| hub.connected.server.capabilities.at(&["extensions", meta::TASKS_EXTENSION]).is_some();
        self.hub_now().is_some_and(|hub| hub.revision().era() == Era::Modern && has(&hub))
    }

    /// How many elements a list of this server has.
    pub(crate) fn count(&self, kind: ListKind) -> usize {
        let lists = self.lists();
        match kind {
            ListKind::Tools => lists.tools.items.len(),
            ListKind::Prompts => lists.prompts.items.len(),
            ListKind::Resources => lists.resources.items.len(),
            ListKind::Templates => lists.templates.items.len(),
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("id", self.id()).field("phase", &self.phase()).finish_non_exhaustive()
    }
}

/// How one attempt to live ended.
enum Lived {
    Lost(String),
    Failed(String),
    Refused(String),
}

fn next_pause(pause: Duration) -> Duration {
    if pause.is_zero() { FIRST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) }
}

/// An error with all its causes, on one line.
fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
