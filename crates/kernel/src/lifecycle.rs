//! Health and lifecycle for clients and operators (MGP 11): `mgp/health/*`, `mgp/lifecycle/shutdown`, the kernel tools
//! of the same names, and the kernel's own `dev.switchboard/servers/*`, which the command line uses.
//!
//! Who calls is who was authenticated. Everybody may ask how a server is that he may use; only who may decide for
//! others ends or starts one. A state that changes is written down and told to those who asked for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use switchboard_flow::lifecycle::{After, Reason, State};
use switchboard_peer::{Call, Context};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::{Extension, method};
use switchboard_wire::{Notification, Object, Raw};

use crate::directory::ListKind;
use crate::forward::malformed;
use crate::gate::audit::{self, event, result};
use crate::gate::rights::{decides_for_others, sees_all};
use crate::gate::scopes::Presented;
use crate::initialize;
use crate::kernel::{Kernel, ServerStatus};
use crate::server::{Order, Server, millis, speaks_of_life};
use crate::spec::Restart;

/// What the operator's command asks the kernel: the state of all servers.
pub const SERVERS_LIST: &str = "dev.switchboard/servers/list";
/// The same: what is to become of one.
pub const SERVERS_ORDER: &str = "dev.switchboard/servers/order";
/// The longest time that may be given for draining.
const LONGEST_DRAIN: Duration = Duration::from_hours(1);
/// How long a server may take to say how it is.
const ANSWER: Duration = Duration::from_secs(5);

impl Kernel {
    /// A server is in another state: written down, and told to those who want to know.
    pub(crate) fn tell_of_state(&self, server: &Server, from: State, to: State, why: Option<&str>, given_up: bool) {
        let limit = given_up && server.spec.restart != Restart::Never;
        let left = matches!(from, State::Connected | State::Draining) && to != State::Draining;
        let event_type = match to {
            State::Connected => event::SERVER_CONNECTED,
            _ if left || limit => event::SERVER_DISCONNECTED,
            _ => event::SERVER_STATE,
        };
        let event = audit::event_of(event_type, audit::kernel(), result::SUCCESS);
        let event = audit::with(audit::about(event, server.id(), None), "trust_level", server.trust().as_str());
        let event = audit::with(event, "previous_state", from.as_str());
        let mut event = audit::with(event, "new_state", to.as_str());
        if let Some(why) = why {
            event = audit::with(event, "reason", why);
        }
        if limit {
            event = audit::with(event, "detail", "restart_limit_exceeded");
        }
        self.gate().audit.note_now(&event);
        self.tell_clients_of_state(server, from, to, why);
    }

    fn tell_clients_of_state(&self, server: &Server, from: State, to: State, why: Option<&str>) {
        let mut clients = self.clients();
        clients.retain(|session| agreed_on_lifecycle(&session.caller().capabilities));
        if clients.is_empty() {
            return;
        }
        let params = json!({
            "server_id": server.id().as_ref(),
            "previous_state": from.as_str(),
            "new_state": to.as_str(),
            "reason": why.unwrap_or("kernel"),
            "timestamp": Timestamp::now().to_string(),
        });
        let Ok(params) = Raw::from_value(&params) else { return };
        let notification = Notification::new(method::LIFECYCLE, Some(params));
        let tables = self.gate().granted.latest();
        for session in clients {
            if session.identity.admin || self.knows_of(&tables, &session, server) {
                let _ = session.remote().notify(notification.clone());
            }
        }
    }

    /// From now on the kernel takes no new calls; those that run go on.
    pub fn drain(&self) {
        self.draining().store(true, Ordering::Relaxed);
    }

    /// Waits until no call runs at any server, and none waits for a person, at most that long.
    pub async fn quiet(&self, patience: Duration) {
        let view = self.view();
        let waiting = self.waiting_calls();
        waiting.close();
        let quiet = async {
            loop {
                futures_util::future::join_all(view.servers.iter().map(|server| server.using.idle())).await;
                waiting.wait().await;
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

    /// Answers a method about health or lifecycle; `None` for another.
    pub(crate) async fn lifecycle_request(
        &self,
        context: &Context,
        name: &str,
        params: &Raw,
    ) -> Option<Result<Raw, Fault>> {
        let answer = match name {
            method::HEALTH_PING => self.ping_health(context, params).await,
            method::HEALTH_STATUS => self.health_status(context, params).await,
            method::LIFECYCLE_SHUTDOWN => self.shut_down_server(context, params),
            SERVERS_LIST => self.list_servers(context),
            SERVERS_ORDER => self.order_server(context, params),
            _ => return None,
        };
        Some(answer.and_then(|answer| Raw::from_value(&answer).map_err(Fault::internal)))
    }

    /// Answers a call of a kernel tool about health or lifecycle; `None` for another, or one that is not listed to the
    /// caller.
    pub(crate) async fn lifecycle_tool(
        &self,
        context: &Context,
        name: &str,
        arguments: Option<&Raw>,
    ) -> Option<Result<Raw, Fault>> {
        let known = [method::HEALTH_PING, method::HEALTH_STATUS, method::LIFECYCLE_SHUTDOWN];
        let method = known.into_iter().find(|known| method::tool_of(known).as_deref() == Some(name))?;
        let for_admins = method == method::LIFECYCLE_SHUTDOWN;
        if !agreed_on_lifecycle(&context.caller.capabilities) || for_admins && !decides_for_others(context) {
            return None;
        }
        let nothing = Raw::empty_object();
        self.lifecycle_request(context, method, arguments.unwrap_or(&nothing)).await
    }

    /// The kernel's tools about health and lifecycle, for a client that asked for that extension.
    pub(crate) fn lifecycle_tools(&self, context: &Context) -> Vec<Raw> {
        if !agreed_on_lifecycle(&context.caller.capabilities) {
            return Vec::new();
        }
        let server = json!({"type": "string", "description": "The server's id"});
        let tool = |method: &str, description: &str, properties: Value, required: &[&str], admin: bool| {
            json!({
                "name": method::tool_of(method),
                "description": description,
                "inputSchema": {"type": "object", "properties": properties, "required": required},
                "_mgp": {"source": "kernel", "admin_only": admin},
            })
        };
        let reasons: Vec<_> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        let mut tools = vec![
            tool(method::HEALTH_PING, "Whether a server lives.", json!({"server_id": server}), &["server_id"], false),
            tool(
                method::HEALTH_STATUS,
                "How a server is: state, tools, calls that run, restarts.",
                json!({"server_id": server}),
                &["server_id"],
                false,
            ),
        ];
        if decides_for_others(context) {
            tools.push(tool(
                method::LIFECYCLE_SHUTDOWN,
                "Ends a server after the calls that run.",
                json!({
                    "server_id": server,
                    "reason": {"type": "string", "enum": reasons},
                    "timeout_ms": {"type": "integer", "minimum": 0, "description": "How long calls that run may take"},
                }),
                &["server_id", "reason"],
                true,
            ));
        }
        tools.iter().filter_map(|tool| Raw::from_value(tool).ok()).collect()
    }

    /// The server that a request is about, if the caller may know of it. Without one it is about the kernel.
    async fn asked_about(&self, context: &Context, params: &Raw) -> Result<Option<Arc<Server>>, Fault> {
        let object = Object::open(params).map_err(malformed)?;
        let Some(id) = object.text("server_id") else { return Ok(None) };
        let tables = self.tables().await?;
        let known = |server: &Arc<Server>| self.sees(&tables, context, server);
        self.server(&id).filter(known).map(Some).ok_or_else(|| unknown_server(&id))
    }

    async fn ping_health(&self, context: &Context, params: &Raw) -> Result<Value, Fault> {
        let now = || Timestamp::now().to_string();
        let Some(server) = self.asked_about(context, params).await? else {
            let status = if self.is_draining() { "degraded" } else { "healthy" };
            let uptime = self.began().elapsed().as_secs();
            return Ok(json!({
                "status": status, "timestamp": now(), "uptime_secs": uptime, "server_id": initialize::NAME,
            }));
        };
        if let Some(hub) = server.hub_now() {
            let _ = server.ask_health(&hub).await;
        }
        Ok(json!({
            "status": server.health().as_str(),
            "timestamp": now(),
            "uptime_secs": server.uptime().as_secs(),
            "server_id": server.id().as_ref(),
        }))
    }

    async fn health_status(&self, context: &Context, params: &Raw) -> Result<Value, Fault> {
        let Some(server) = self.asked_about(context, params).await? else { return Ok(self.own_status(context).await) };
        let hub = server.hub_now();
        let total = server.count(ListKind::Tools);
        let held = server.quarantine().len();
        let available = if hub.is_some() { total.saturating_sub(held) } else { 0 };
        let activity = server.stats.snapshot();
        let latency = |share| activity.latency.quantile(share).map(|time| time.as_secs_f64() * 1_000.0);
        let mut answer = json!({
            "server_id": server.id().as_ref(),
            "status": server.health().as_str(),
            "uptime_secs": server.uptime().as_secs(),
            "tools_available": available,
            "tools_total": total,
            "pending_requests": server.using.pending(),
            "resources": {
                "state": server.state().as_str(),
                "restarts": server.restarts(),
                "calls": activity.calls,
                "errors": activity.failures,
                "latency_ms_p50": latency(0.5),
                "latency_ms_p99": latency(0.99),
            },
            "checks": {"connected": hub.is_some(), "mgp_negotiated": server.speaks_mgp()},
        });
        if let Some(hub) = hub.filter(|hub| speaks_of_life(hub)) {
            let mut call = Call::new(method::HEALTH_STATUS, Some(Raw::empty_object())).within(ANSWER);
            call.max_timeout = ANSWER;
            if let Ok(reply) = hub.remote().request(call).await
                && let Ok(said) = reply.outcome
            {
                // Its own words stay apart from what we know.
                answer["reported"] = said.view::<Value>().unwrap_or(Value::Null);
            }
        }
        Ok(answer)
    }

    /// How the kernel is, seen by this caller.
    async fn own_status(&self, context: &Context) -> Value {
        let tables = self.tables().await.ok();
        let view = self.view();
        let sees_all = sees_all(&context.session, &Presented::of(context, None));
        let known = |server: &&Arc<Server>| {
            sees_all || tables.as_deref().is_some_and(|tables| self.sees(tables, context, server))
        };
        let (mut total, mut available, mut pending) = (0, 0, 0);
        let mut checks = Map::new();
        checks.insert("store".to_owned(), tables.is_some().into());
        for server in view.servers.iter().filter(known) {
            let tools = server.count(ListKind::Tools);
            let up = server.hub_now().is_some();
            total += tools;
            available += if up { tools } else { 0 };
            pending += server.using.pending();
            checks.insert(format!("server:{}", server.id()), up.into());
        }
        let well = checks.values().all(|check| *check == Value::Bool(true)) && !self.is_draining();
        json!({
            "server_id": initialize::NAME,
            "status": if well { "healthy" } else { "degraded" },
            "uptime_secs": self.began().elapsed().as_secs(),
            "tools_available": available,
            "tools_total": total,
            "pending_requests": pending,
            "resources": {},
            "checks": checks,
        })
    }

    fn shut_down_server(&self, context: &Context, params: &Raw) -> Result<Value, Fault> {
        let object = Object::open(params).map_err(malformed)?;
        let server = self.to_be_ordered(context, &object)?;
        let reason = match object.text("reason") {
            None => Reason::OperatorRequest,
            Some(word) => Reason::from_word(&word)
                .ok_or_else(|| Fault::new(FaultKind::InvalidParams, format!("`{word}` is no reason to shut down")))?,
        };
        let after = match reason {
            Reason::OperatorRequest | Reason::KernelShutdown => After::Stop,
            Reason::ConfigurationChange => After::Restart,
            Reason::IdleTimeout => After::Sleep,
            Reason::ResourceLimit => After::Policy,
        };
        self.give(&server, context, after, reason, patience(&object, &server)?)
    }

    fn order_server(&self, context: &Context, params: &Raw) -> Result<Value, Fault> {
        let object = Object::open(params).map_err(malformed)?;
        let server = self.to_be_ordered(context, &object)?;
        let patience = patience(&object, &server)?;
        let word = object.text("order").unwrap_or_default();
        let reason = Reason::OperatorRequest;
        match word.as_str() {
            "stop" => {
                self.note_order(&server, context, "stop");
                let before = server.order(Order::Stop)?;
                Ok(json!({"accepted": true, "state": before.as_str()}))
            }
            "drain" => self.give(&server, context, After::Stop, reason, patience),
            "restart" => self.give(&server, context, After::Restart, reason, patience),
            "start" => {
                self.note_order(&server, context, "start");
                let before = server.order(Order::Start)?;
                Ok(json!({"accepted": true, "state": before.as_str()}))
            }
            _ => Err(Fault::new(FaultKind::InvalidParams, "`order` is none of start, stop, drain, restart")),
        }
    }

    fn to_be_ordered(&self, context: &Context, params: &Object) -> Result<Arc<Server>, Fault> {
        if !decides_for_others(context) {
            return Err(Fault::new(FaultKind::PermissionDenied, "you may not start or end servers")
                .suggest("only an operator may; `switchboard servers stop` does it from the command line"));
        }
        let missing = || Fault::new(FaultKind::InvalidParams, "`server_id` is missing or no string");
        let id = params.text("server_id").ok_or_else(missing)?;
        self.server(&id).ok_or_else(|| unknown_server(&id))
    }

    fn give(
        &self,
        server: &Server,
        context: &Context,
        after: After,
        reason: Reason,
        patience: Duration,
    ) -> Result<Value, Fault> {
        self.note_order(server, context, reason.as_str());
        let pending = server.using.pending();
        let usual = server.stats.snapshot().latency.quantile(0.99).unwrap_or_default();
        let state = server.state_when_drained(after);
        server.order(Order::Drain(after, reason, patience))?;
        let estimated = if pending == 0 { Duration::ZERO } else { usual.min(patience) };
        Ok(json!({
            "accepted": true,
            "pending_requests": pending,
            "estimated_drain_ms": millis(estimated),
            "state": state.as_str(),
        }))
    }

    fn note_order(&self, server: &Server, context: &Context, what: &str) {
        let event = audit::event_of(event::SERVER_ORDER, audit::principal(&context.session), result::SUCCESS);
        self.gate().audit.note_now(&audit::with(audit::about(event, server.id(), None), "order", what));
    }

    /// What is told of each server to who may see all, as [`SERVERS_LIST`] answers it.
    #[must_use]
    pub fn described_servers(&self) -> Vec<Value> {
        self.status().iter().map(described).collect()
    }

    fn list_servers(&self, context: &Context) -> Result<Value, Fault> {
        if !decides_for_others(context) {
            return Err(Fault::new(FaultKind::PermissionDenied, "you may not see all servers"));
        }
        Ok(
            json!({"servers": self.described_servers(), "draining": self.is_draining(), "uptime_secs": self.began().elapsed().as_secs()}),
        )
    }
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
        "asleep": status.phase == crate::server::Phase::Asleep,
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

fn agreed_on_lifecycle(capabilities: &Raw) -> bool {
    initialize::agreed_with(capabilities).is_some_and(|agreement| agreement.has(Extension::Lifecycle))
}

fn unknown_server(id: &str) -> Fault {
    Fault::new(FaultKind::UnknownResource, format!("there is no server `{id}`"))
}

/// How long calls that run may take.
fn patience(params: &Object, server: &Server) -> Result<Duration, Fault> {
    let Some(given) = params.get("timeout_ms") else { return Ok(server.spec.upkeep.drain) };
    let millis: u64 = given
        .view()
        .map_err(|_| Fault::new(FaultKind::InvalidParams, "`timeout_ms` is no whole number of milliseconds"))?;
    Ok(Duration::from_millis(millis).min(LONGEST_DRAIN))
}
/// The refusal of a call that comes while the kernel ends.
pub(crate) fn ending() -> Fault {
    Fault::new(FaultKind::ServerDraining, "Switchboard is ending and takes no new calls")
}
