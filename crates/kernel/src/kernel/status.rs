//! What is known of each server, for those who look after them, and whether new calls are taken.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_flow::lifecycle::State;
use switchboard_peer::Context;
use switchboard_peer::client::Disorder;
use switchboard_protocol::Revision;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::TrustLevel;
use switchboard_wire::Request;

use super::Kernel;
use crate::directory::{Hidden, ListKind, Mended};
use crate::gate::rights::tools_lacking;
use crate::server::{Activity, Health, Phase, Server, millis};
use crate::services::{ServerLife, ending};

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
    /// What of it is shown in another form than it gave.
    pub mended: Vec<Mended>,
    /// What of it is held back until a person accepts it: the name that it is pinned under, and why.
    pub held: Vec<(String, String)>,
    /// What of it is shown with a mark: the name that it is pinned under, and what was found in it.
    pub marked: Vec<(String, String)>,
    /// How far it is trusted.
    pub trust: TrustLevel,
    /// Permissions it needs and lacks: until it has them, nothing of it can be used.
    pub permissions_missing: Vec<String>,
    /// Tools of it that need permissions of their own and lack them: the rest of it can be used.
    pub tools_lacking: Vec<(String, Vec<String>)>,
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
    /// What is told of each server to who may see all, as [`SERVERS_LIST`](crate::SERVERS_LIST) answers it.
    #[must_use]
    pub fn described_servers(&self) -> Vec<Value> {
        self.status().iter().map(described).collect()
    }

    /// The same, each with its id.
    pub(crate) fn descriptions(&self) -> Vec<(Arc<str>, Value)> {
        self.status().iter().map(|status| (status.id.clone(), described(status))).collect()
    }

    /// A server is in another state: written down, and told to those who want to know.
    pub(crate) fn tell_of_state(&self, server: &Server, from: State, to: State, why: Option<&str>, given_up: bool) {
        ServerLife::of(self).tell(self.clients().introduced(), server, (from, to), why, given_up);
    }

    /// From now on the kernel takes no new calls; those that run go on.
    pub fn drain(&self) {
        self.draining().store(true, Ordering::Relaxed);
    }

    /// Waits until no call runs at any server, and none waits for a person, at most that long.
    pub async fn quiet(&self, patience: Duration) {
        let view = self.view();
        let waiting = self.waiting_calls();
        let agreed = self.0.gate.agreed_calls();
        waiting.close();
        agreed.close();
        let quiet = async {
            loop {
                futures_util::future::join_all(view.servers.iter().map(|server| server.using.idle())).await;
                waiting.wait().await;
                agreed.wait().await;
                // What was waited for may have gone on at its server.
                if view.servers.iter().all(|server| server.using.pending() == 0) {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(patience, quiet).await;
    }

    /// Whether it takes no new calls.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining().load(Ordering::Relaxed)
    }

    /// Refuses a request that comes while the kernel ends, before anybody is asked about it or an answer to such a question is
    /// used up: another kernel can make it.
    ///
    /// # Errors
    /// It is a new one, and the kernel ends.
    pub(crate) fn takes_requests(&self, context: &Context, server: &Server, request: &Request) -> Result<(), Fault> {
        if !self.is_draining() || self.exchange().goes_on_here(context, server, request) {
            return Ok(());
        }
        Err(ending())
    }

    /// Refuses a new call while the kernel or the server takes none.
    ///
    /// # Errors
    /// Which of them does not, and when to come again.
    pub(crate) fn takes_calls(&self, server: &Server) -> Result<(), Fault> {
        if self.is_draining() {
            return Err(ending());
        }
        let most = self.options().server_requests;
        if server.using.pending() >= most {
            let text = format!("{most} calls run at server `{}`, and no more may", server.id());
            return Err(Fault::new(FaultKind::ResourceExhausted, text).from_server(server.id().as_ref()));
        }
        server.takes_calls()
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
                mended: view.directory.mended.iter().filter(|mended| mended.server == *server.id()).cloned().collect(),
                held: sorted(server.quarantine().iter().map(|(name, why)| (name.clone(), why.clone()))),
                marked: sorted(server.marked().iter().map(|(name, found)| (name.clone(), found.message.clone()))),
                trust: server.trust(),
                permissions_missing: self
                    .gate()
                    .standing(&tables, server, None)
                    .missing
                    .into_iter()
                    .map(|missing| missing.permission)
                    .collect(),
                tools_lacking: tools_lacking(&self.gate(), &tables, server),
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
}

fn sorted(pairs: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_unstable();
    pairs
}

/// What is told of one server to who may see all.
fn described(status: &ServerStatus) -> Value {
    let hidden: Vec<_> =
        status.hidden.iter().map(|one| json!({"name": one.name, "why": one.why, "unfit": one.unfit})).collect();
    let mended = status.mended.iter();
    let mended: Vec<_> =
        mended.map(|one| json!({"name": one.name, "what": one.what, "legacy_only": one.legacy_only})).collect();
    let latency = |share| status.activity.latency.quantile(share).map(|time| time.as_secs_f64() * 1_000.0);
    json!({
        "id": status.id.as_ref(),
        "state": status.state.as_str(),
        "phase": status.phase.word(),
        "why": status.phase.why(),
        "revision": status.revision.map(|revision| revision.as_str()),
        "counts": status.counts,
        "problems": status.problems,
        "hidden": hidden,
        "mended": mended,
        "held": status.held,
        "marked": status.marked,
        "trust_level": status.trust.as_str(),
        "permissions_missing": status.permissions_missing,
        "tools_lacking": status.tools_lacking,
        "asleep": status.phase == Phase::Asleep,
        "health": status.health.as_str(),
        "breaker": status.breaker,
        "uptime_secs": status.uptime.as_secs(),
        "uptime_ms": millis(status.uptime),
        "restarts": status.restarts,
        "pending": status.pending,
        "calls": status.activity.calls,
        "errors": status.activity.failures,
        "last_error": status.activity.last_error,
        "stray_answers": status.disorder.stray_answers,
        "refused_lines": status.disorder.refused_lines,
        "foreign_progress": status.disorder.foreign_progress,
        "dropped_notifications": status.activity.dropped_notifications,
        "tools": status.counts[0],
        "latency_ms_p50": latency(0.5),
        "latency_ms_p99": latency(0.99),
        "latency_counts": status.activity.latency.counts(),
    })
}
