//! What is told of servers, and to whom: everybody is told of those that he may use, an operator of all.
//!
//! A server's command, its environment and its address are told to nobody: they may hold secrets, and whoever may use
//! the server does so through the kernel.

use std::collections::HashMap;
use std::sync::Arc;

use http::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_peer::{BoxFuture, Call, CallError, Caller, Context, Principal, Remote, Reply, SendError, Session};
use switchboard_policy::access::OWNER;
use switchboard_protocol::fault::{Fault, readable};
use switchboard_protocol::mgp::TrustLevel;
use switchboard_protocol::proposals::SESSION_TOKEN_HEADER;
use switchboard_upstream::{Phase, Server};
use switchboard_wire::{Notification, Raw};

use super::register::invalid;
use super::{Registry, Run};
use crate::house::{AccessRights, Entitlements, Requester, ServerDirectory, ServerView, Setup};

/// A server as somebody may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedServer {
    /// Its id.
    pub id: String,
    /// What it is for, in the operator's words or its own.
    pub description: Option<String>,
    /// The version that it says it has.
    pub version: Option<String>,
    /// Where it is in its life, in MGP's words.
    pub status: &'static str,
    /// Whether it sleeps until the next call.
    pub asleep: bool,
    /// How far it is trusted.
    pub trust: TrustLevel,
    /// The version of MGP that it speaks.
    pub mgp_version: Option<String>,
    /// What of MGP it speaks.
    pub extensions: Vec<String>,
    /// The permissions that it needs.
    pub permissions: Vec<String>,
    /// Those that it lacks.
    pub permissions_missing: Vec<String>,
    /// Its tools: what it calls each, what clients call it, and what it is for.
    pub tools: Vec<(String, String, String)>,
    /// `configured`, `registered` or `created`.
    pub origin: &'static str,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ListParams {
    filter: Filter,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Filter {
    extensions: Vec<String>,
    permissions: Vec<String>,
    status: Option<String>,
}

/// Tells of servers.
pub(super) struct Listing<'a, H: ?Sized> {
    pub(super) house: &'a H,
    pub(super) registry: &'a Registry,
}

impl<'a, H: Setup + ?Sized> Listing<'a, H> {
    pub(super) fn of(house: &'a H) -> Self {
        Self { house, registry: &house.services().registry }
    }
}

impl<H: ServerDirectory + AccessRights + ?Sized> Listing<'_, H> {
    /// The servers that a session may know of, each with how many of its tools it may use. Does not wait for servers that are
    /// starting.
    pub(super) async fn known(&self, who: &Requester) -> Result<HashMap<Arc<str>, usize>, Fault> {
        let entitlements = self.house.entitlements().await?;
        let view = self.house.view();
        let mut known: HashMap<Arc<str>, usize> = HashMap::new();
        for tool in view.tools() {
            let Some(server) = view.server_at(tool.server) else { continue };
            if entitlements.may_use(who, server, (tool.original, tool.exposed)) {
                *known.entry(tool.id.clone()).or_default() += 1;
            }
        }
        let knows = |server: &&Arc<Server>| entitlements.knows(who, server);
        for server in view.servers().iter().filter(knows) {
            known.entry(server.id().clone()).or_default();
        }
        Ok(known)
    }

    /// The servers that a session may know of, with the tools that it may use.
    pub(super) async fn offered(&self, who: &Requester) -> Result<Vec<OfferedServer>, Fault> {
        self.house.wait_for_servers().await;
        let entitlements = self.house.entitlements().await?;
        let view = self.house.view();
        // Scopes take away, also from who may decide for others.
        let sees_all = self.house.sees_all(who);
        let known = |server: &&Arc<Server>| sees_all || entitlements.knows(who, server);
        let offer = |server| self.offer(&*entitlements, &*view, who, server);
        Ok(view.servers().iter().filter(known).map(offer).collect())
    }

    fn offer(
        &self,
        entitlements: &dyn Entitlements,
        view: &dyn ServerView,
        who: &Requester,
        server: &Arc<Server>,
    ) -> OfferedServer {
        let (hub, policy) = (server.hub_now(), server.policy());
        let info = hub.as_ref().and_then(|hub| hub.connected.server.info.clone());
        let said = |key: &str| info.as_ref().and_then(|info| info.member(key)?.as_text());
        let agreement = hub.as_ref().and_then(|hub| hub.agreement.as_ref());
        let tools = view.shown_tools().filter(|tool| *tool.id == **server.id());
        let tools = tools.filter(|tool| {
            let Some(route) = view.tool(tool.exposed) else { return false };
            entitlements.may_use(who, server, (&route.original, tool.exposed))
        });
        let described = |raw: &Raw| raw.member("description").and_then(|text| text.as_text()).unwrap_or_default();
        let tools: Vec<_> =
            tools.map(|tool| (tool.original.to_owned(), tool.exposed.to_owned(), described(tool.definition))).collect();
        let registration = self.registry.find(server.id());
        OfferedServer {
            id: server.id().to_string(),
            description: policy.description.clone().or_else(|| said("description")).or_else(|| said("title")),
            version: said("version"),
            status: server.state().as_str(),
            asleep: server.phase() == Phase::Asleep,
            trust: server.trust(),
            mgp_version: agreement.map(|agreement| agreement.peer_version().to_owned()),
            // Before it is connected, the configuration is what is known (MGP 15.3).
            extensions: agreement.map_or_else(|| policy.extensions.clone(), |agreement| agreement.names().to_vec()),
            permissions: server.permissions_required(),
            permissions_missing: entitlements.missing_permissions(server, None),
            tools,
            origin: registration.map_or("configured", |registration| match registration.run {
                Run::Command(_) => "registered",
                Run::Code { .. } => "created",
            }),
        }
    }

    pub(super) async fn list(&self, context: &Context, params: &Raw) -> Result<Value, Fault> {
        let asked: ListParams = params.view().map_err(|error| invalid(readable(params, &error)))?;
        let filter = asked.filter;
        let wanted = filter.status.as_deref().unwrap_or("connected");
        if !matches!(wanted, "connected" | "disconnected" | "all") {
            return Err(invalid("`filter.status` is none of connected, disconnected, all".to_owned()));
        }
        let fits = |server: &OfferedServer| {
            let status = match wanted {
                "all" => true,
                "connected" => server.status == "connected",
                _ => server.status != "connected",
            };
            status
                && filter.extensions.iter().all(|wanted| server.extensions.contains(wanted))
                && filter.permissions.iter().all(|wanted| server.permissions.contains(wanted))
        };
        let servers = self.offered(&self.house.requester(context)).await?;
        let servers: Vec<Value> = servers.iter().filter(|server| fits(server)).map(OfferedServer::told).collect();
        Ok(json!({"servers": servers}))
    }
}

/// Somebody who was authenticated and asks over HTTP beside the protocol, with the session tokens that came along.
#[derive(Debug, Clone)]
pub struct Asker {
    principal: Principal,
    headers: HeaderMap,
}

impl Asker {
    /// Who asks, and the headers of what he asks with.
    #[must_use]
    pub const fn new(principal: Principal, headers: HeaderMap) -> Self {
        Self { principal, headers }
    }

    /// Whether he may know of all servers, and of the process: the owner and who may decide for others, with nothing that
    /// takes away from it.
    #[must_use]
    pub fn sees_everything(&self) -> bool {
        let may = self.principal.admin || *self.principal.name == *OWNER;
        may && !self.principal.is_limited() && !self.headers.contains_key(SESSION_TOKEN_HEADER)
    }

    /// Whether anybody was authenticated.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.principal.name.is_empty()
    }

    pub(super) fn requester(&self, rights: &(impl AccessRights + ?Sized)) -> Requester {
        let nobody = Arc::new(Nobody);
        let session = Session::new("listing".into(), self.principal.clone(), false, Caller::unknown(), nobody);
        Requester { session, tokens: rights.tokens_in(&self.headers) }
    }
}

/// The far side of somebody who is not connected.
struct Nobody;

impl Remote for Nobody {
    fn request(&self, _call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(std::future::ready(Err(CallError::NotAllowed)))
    }

    fn notify(&self, _notification: Notification) -> Result<(), SendError> {
        Err(SendError::Closed)
    }

    fn can_request(&self) -> bool {
        false
    }
}

impl OfferedServer {
    /// As MGP 15.2 writes it, with what it leaves out.
    fn told(&self) -> Value {
        let tools: Vec<&str> = self.tools.iter().map(|(original, ..)| original.as_str()).collect();
        json!({
            "id": self.id,
            "description": self.description,
            "status": self.status,
            "asleep": self.asleep,
            "mgp_version": self.mgp_version,
            "extensions": self.extensions,
            "tools": tools,
            "tool_count": tools.len(),
            "trust_level": self.trust.as_str(),
            "permissions_required": self.permissions,
            "permissions_missing": self.permissions_missing,
            "origin": self.origin,
        })
    }
}
