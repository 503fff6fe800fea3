//! Health and lifecycle for clients and operators (MGP 11): `mgp/health/*`, `mgp/lifecycle/shutdown`, the kernel tools
//! of the same names, and the kernel's own `dev.switchboard/servers/*`, which the command line uses.
//!
//! Who calls is who was authenticated. Everybody may ask how a server is that he may use; only who may decide for
//! others ends or starts one. A state that changes is written down and told to those who asked for it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use switchboard_audit::{self as audit, Auditor, event, result};
use switchboard_flow::lifecycle::{After, ShutdownReason, State};
use switchboard_peer::{Call, Context, Session};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::{Agreement, Extension, method};
use switchboard_protocol::spoken::NAME;
use switchboard_upstream::{ListKind, Order, Restart, Server, millis, speaks_of_life};
use switchboard_wire::{Notification, Object, Raw};

use super::house::{AccessRights, RecordKeeping, Requester, ServerDirectory};
use super::principal;
use super::row::{Needs, OwnMethod, OwnTool, object, run, text};

/// What the operator's command asks the kernel: the state of all servers.
pub const SERVERS_LIST: &str = "dev.switchboard/servers/list";
/// The same: what is to become of one.
pub const SERVERS_ORDER: &str = "dev.switchboard/servers/order";
/// The longest time that may be given for draining.
const LONGEST_DRAIN: Duration = Duration::from_hours(1);
/// How long a server may take to say how it is.
const ANSWER: Duration = Duration::from_secs(5);

/// The operator's command for what a client may not order.
const INSTEAD: &str = "only an operator may; `switchboard servers stop` does it from the command line";

pub(super) const ROWS: &[OwnMethod] = &[
    OwnMethod::method(
        method::HEALTH_PING,
        "Whether a server lives.",
        run!(house, call => ServerLife::of(house).ping(call.context, &call.params()).await),
    )
    .tool(tool("mgp_health_ping", server_schema)),
    OwnMethod::method(
        method::HEALTH_STATUS,
        "How a server is: state, tools, calls that run, restarts.",
        run!(house, call => ServerLife::of(house).status(call.context, &call.params()).await),
    )
    .tool(tool("mgp_health_status", server_schema)),
    OwnMethod::method(
        method::LIFECYCLE_SHUTDOWN,
        "Ends a server after the calls that run.",
        run!(house, call => ServerLife::of(house).shut_down(call.context, &call.params())),
    )
    .tool(tool("mgp_lifecycle_shutdown", shutdown_schema).admin_only())
    .for_admins("start or end servers", Some(INSTEAD)),
    OwnMethod::method(
        SERVERS_LIST,
        "All servers and how they are, for the command line.",
        run!(house, call => Ok::<_, Fault>(list(house, call.context))),
    )
    .for_admins("see all servers", None)
    .uncounted(),
    OwnMethod::method(
        SERVERS_ORDER,
        "Starts, stops or restarts a server, for the command line.",
        run!(house, call => ServerLife::of(house).order(call.context, &call.params())),
    )
    .for_admins("start or end servers", Some(INSTEAD))
    .uncounted(),
];

const fn tool(name: &'static str, schema: fn() -> Value) -> OwnTool {
    OwnTool::new(name, schema).needs(Needs::Mgp(Extension::Lifecycle))
}

fn server_schema() -> Value {
    object(&json!({"server_id": text("The server's id")}), &["server_id"])
}

fn shutdown_schema() -> Value {
    let reasons: Vec<_> = ShutdownReason::ALL.iter().map(|reason| reason.as_str()).collect();
    let properties = json!({
        "server_id": text("The server's id"),
        "reason": {"type": "string", "enum": reasons},
        "timeout_ms": {"type": "integer", "minimum": 0, "description": "How long calls that run may take"},
    });
    object(&properties, &["server_id", "reason"])
}

/// Answers about servers, and orders them.
pub struct ServerLife<'a, H: ?Sized> {
    house: &'a H,
    audit: &'a Auditor,
}

impl<'a, H: RecordKeeping + ?Sized> ServerLife<'a, H> {
    /// That of a house.
    pub fn of(house: &'a H) -> Self {
        Self { house, audit: house.audit() }
    }
}

impl<H: ServerDirectory + AccessRights + ?Sized> ServerLife<'_, H> {
    /// A server is in another state: written down, and told to those of some clients who want to know.
    pub fn tell(
        &self,
        clients: Vec<Arc<Session>>,
        server: &Server,
        (from, to): (State, State),
        why: Option<&str>,
        given_up: bool,
    ) {
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
        self.audit.note_now(&event);
        self.tell_clients(clients, server, (from, to), why);
    }

    fn tell_clients(
        &self,
        mut clients: Vec<Arc<Session>>,
        server: &Server,
        (from, to): (State, State),
        why: Option<&str>,
    ) {
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
        let entitlements = self.house.latest_entitlements();
        for session in clients {
            let who = Requester { session, tokens: Vec::new() };
            if self.house.sees_all(&who) || entitlements.knows_of(&who.session, server) {
                let _ = who.session.remote().notify(notification.clone());
            }
        }
    }

    /// The server that a request is about, if the caller may know of it. Without one it is about the kernel.
    async fn asked_about(&self, context: &Context, params: &Raw) -> Result<Option<Arc<Server>>, Fault> {
        let object = Object::open(params).map_err(Fault::malformed)?;
        let Some(id) = object.text("server_id") else { return Ok(None) };
        let entitlements = self.house.entitlements().await?;
        let who = self.house.requester(context);
        let known = |server: &Arc<Server>| self.house.sees(&*entitlements, &who, server);
        self.house.server(&id).filter(known).map(Some).ok_or_else(|| unknown_server(&id))
    }

    async fn ping(&self, context: &Context, params: &Raw) -> Result<Value, Fault> {
        let now = || Timestamp::now().to_string();
        let Some(server) = self.asked_about(context, params).await? else {
            let status = if self.house.is_draining() { "degraded" } else { "healthy" };
            let uptime = self.house.uptime().as_secs();
            return Ok(json!({
                "status": status, "timestamp": now(), "uptime_secs": uptime, "server_id": NAME,
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

    async fn status(&self, context: &Context, params: &Raw) -> Result<Value, Fault> {
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
        let entitlements = self.house.entitlements().await.ok();
        let view = self.house.view();
        let who = self.house.requester(context);
        let sees_all = self.house.sees_all(&who);
        let known = |server: &&Arc<Server>| {
            sees_all || entitlements.as_deref().is_some_and(|entitlements| entitlements.knows(&who, server))
        };
        let (mut total, mut available, mut pending) = (0, 0, 0);
        let mut checks = Map::new();
        checks.insert("store".to_owned(), entitlements.is_some().into());
        for server in view.servers().iter().filter(known) {
            let tools = server.count(ListKind::Tools);
            let up = server.hub_now().is_some();
            total += tools;
            available += if up { tools } else { 0 };
            pending += server.using.pending();
            checks.insert(format!("server:{}", server.id()), up.into());
        }
        let well = checks.values().all(|check| *check == Value::Bool(true)) && !self.house.is_draining();
        json!({
            "server_id": NAME,
            "status": if well { "healthy" } else { "degraded" },
            "uptime_secs": self.house.uptime().as_secs(),
            "tools_available": available,
            "tools_total": total,
            "pending_requests": pending,
            "resources": {},
            "checks": checks,
        })
    }

    fn shut_down(&self, context: &Context, params: &Raw) -> Result<Value, Fault> {
        let object = Object::open(params).map_err(Fault::malformed)?;
        let server = self.named_server(context, &object)?;
        let reason = match object.text("reason") {
            None => ShutdownReason::OperatorRequest,
            Some(word) => ShutdownReason::from_word(&word)
                .ok_or_else(|| Fault::new(FaultKind::InvalidParams, format!("`{word}` is no reason to shut down")))?,
        };
        let after = match reason {
            ShutdownReason::OperatorRequest | ShutdownReason::KernelShutdown => After::Stop,
            ShutdownReason::ConfigurationChange => After::Restart,
            ShutdownReason::IdleTimeout => After::Sleep,
            ShutdownReason::ResourceLimit => After::Policy,
        };
        self.give(&server, context, after, reason, patience(&object, &server)?)
    }

    fn order(&self, context: &Context, params: &Raw) -> Result<Value, Fault> {
        let object = Object::open(params).map_err(Fault::malformed)?;
        let server = self.named_server(context, &object)?;
        let patience = patience(&object, &server)?;
        let word = object.text("order").unwrap_or_default();
        let reason = ShutdownReason::OperatorRequest;
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

    /// The server that an order is for. Whoever shows a token for other servers knows of none by this name.
    fn named_server(&self, context: &Context, params: &Object) -> Result<Arc<Server>, Fault> {
        let missing = || Fault::new(FaultKind::InvalidParams, "`server_id` is missing or no string");
        let id = params.text("server_id").ok_or_else(missing)?;
        let is_covered = self.house.is_covered(&self.house.requester(context), Some(&id), None);
        self.house.server(&id).filter(|_| is_covered).ok_or_else(|| unknown_server(&id))
    }

    fn give(
        &self,
        server: &Server,
        context: &Context,
        after: After,
        reason: ShutdownReason,
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
        let event = audit::event_of(event::SERVER_ORDER, principal(&context.session), result::SUCCESS);
        self.audit.note_now(&audit::with(audit::about(event, server.id(), None), "order", what));
    }
}

/// All servers, for the command line; for a token that is good for some, those.
fn list<H: ServerDirectory + AccessRights + ?Sized>(house: &H, context: &Context) -> Value {
    let who = house.requester(context);
    let covered = house.descriptions().into_iter().filter(|(id, _)| house.is_covered(&who, Some(id), None));
    json!({
        "servers": covered.map(|(_, description)| description).collect::<Vec<_>>(),
        "draining": house.is_draining(),
        "uptime_secs": house.uptime().as_secs(),
    })
}

fn agreed_on_lifecycle(capabilities: &Raw) -> bool {
    Agreement::with_client(capabilities).is_some_and(|agreement| agreement.has(Extension::Lifecycle))
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
#[must_use]
pub fn ending() -> Fault {
    Fault::new(FaultKind::ServerDraining, "Switchboard is ending and takes no new calls")
}
