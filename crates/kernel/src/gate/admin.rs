//! The kernel's own methods and tools: access control (MGP 5), answers to callbacks (MGP 13.4), and the pre-flight
//! check of proposal 4. A method `mgp/access/query` and a tool `mgp_access_query` are one implementation.
//!
//! Who calls is who was authenticated: `granted_by` and `agent_id` in a message are claims. Only who may decide for
//! others grants and revokes; everybody may ask about himself.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_peer::{Context, Reply};
use switchboard_policy::access::{Access, Source as DecidedBy};
use switchboard_policy::permission::Scope;
use switchboard_policy::scope::missing_scopes;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::access::{
    self, AccessEntries, AccessEntry, AccessGrantParams, AccessQueryParams, AccessQueryResult, AccessRevokeParams,
    AccessToolPermission,
};
use switchboard_protocol::mgp::{DefaultPolicy, Metadata, method};
use switchboard_protocol::proposals;
use switchboard_store::{AccessSelector, EntryType, Permission, StoreError};
use switchboard_wire::{Edit, Object, Raw, Request};

use super::rights::decides_for_others;
use super::scopes::{Presented, Wanted};
use super::{Attempt, audit};
use crate::directory::Route;
use crate::kernel::{Kernel, object_of, text_of};
use crate::operator_actions::OperatorActions;
use crate::server::Server;

/// How an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The result of a method.
    Method,
    /// What a tool says.
    Tool,
}

impl Kernel {
    /// Answers a method that is the kernel's own; `None` for one that is not.
    pub(crate) async fn own_method(&self, context: &Context, request: &Request) -> Option<Result<Reply, Fault>> {
        let params = || request.params.clone().unwrap_or_else(Raw::empty_object);
        let answer = match &*request.method {
            name @ (method::ACCESS_QUERY | method::ACCESS_GRANT | method::ACCESS_REVOKE) => {
                self.access_request(context, name, &params(), Form::Method).await
            }
            method::AUDIT_REPLAY => Box::pin(self.replay_audit(context, &params())).await,
            name if crate::discovery::is_method(name) => self.discovery_request(context, name, &params()).await,
            name if crate::registry::is_method(name) => Box::pin(self.registry_request(context, name, &params())).await,
            proposals::RECOMMEND_SERVERS if self.view().directory.tool(proposals::RECOMMEND_SERVERS).is_none() => {
                Box::pin(self.recommend_servers(context, &params())).await
            }
            method::CALLBACK_RESPOND => self.callback_answered(context, request).await,
            name @ (method::HEALTH_PING
            | method::HEALTH_STATUS
            | method::LIFECYCLE_SHUTDOWN
            | crate::lifecycle::SERVERS_LIST
            | crate::lifecycle::SERVERS_ORDER) => Box::pin(self.lifecycle_request(context, name, &params())).await?,
            proposals::CHECK_PERMISSIONS if self.view().directory.tool(proposals::CHECK_PERMISSIONS).is_none() => {
                self.check_permissions(context, &params()).await
            }
            proposals::NEGOTIATE_SCOPES if self.view().directory.tool(proposals::NEGOTIATE_SCOPES).is_none() => {
                self.negotiate_scopes(context, &params()).await
            }
            proposals::manifest::GET_MANIFEST => Box::pin(self.manifest_request(context, &params())).await,
            // Decisions about permissions are made by the operator, here: nobody sends them (MGP 3.6).
            method::PERMISSION_RESPONSE
            | method::PERMISSION_GRANT
            | method::PERMISSION_REQUEST
            | method::PERMISSION_AWAIT => {
                Err(Fault::new(FaultKind::PermissionDenied, "permissions are decided by the operator of this kernel")
                    .suggest("the operator runs `switchboard approvals` or `switchboard grant`"))
            }
            // The other methods of MGP are between a kernel and its servers. A client that sends one speaks to a
            // kernel, and shall not speak to a server in the kernel's voice.
            name if name.starts_with("mgp/") => {
                Err(Fault::new(FaultKind::MethodNotFound, format!("Method not found: {name}")))
            }
            _ => return None,
        };
        Some(answer.map(|raw| Ok(crate::bridge::for_era(raw, context.caller.era())).into()))
    }

    /// Answers a call of a tool that is the kernel's own; `None` for one that is not.
    pub(crate) async fn own_tool(
        &self,
        context: &Context,
        name: &str,
        arguments: Option<Raw>,
    ) -> Option<Result<Reply, Fault>> {
        if let Some(answer) = Box::pin(self.lifecycle_tool(context, name, arguments.as_ref())).await {
            return Some(answer.map(|raw| Ok(crate::bridge::for_era(tool_result(&raw), context.caller.era())).into()));
        }
        if let Some(answer) = Box::pin(self.registry_tool(context, name, arguments.as_ref())).await {
            return Some(answer.map(|raw| Ok(crate::bridge::for_era(tool_result(&raw), context.caller.era())).into()));
        }
        if let Some(answer) = self.discovery_tool(context, name, arguments.as_ref()).await {
            return Some(answer);
        }
        // What is not listed to a client does not exist for it.
        if self.shows_audit(context) && method::tool_of(method::AUDIT_REPLAY).as_deref() == Some(name) {
            let answer = Box::pin(self.replay_audit(context, &arguments.unwrap_or_else(Raw::empty_object))).await;
            return Some(answer.map(|raw| Ok(crate::bridge::for_era(tool_result(&raw), context.caller.era())).into()));
        }
        if !self.shows_own_tools(context) {
            return None;
        }
        let known = [method::ACCESS_QUERY, method::ACCESS_GRANT, method::ACCESS_REVOKE];
        let method = known.into_iter().find(|known| method::tool_of(known).as_deref() == Some(name))?;
        let arguments = arguments.unwrap_or_else(Raw::empty_object);
        let answer = match self.agreed_to_change(context, method, &arguments).await {
            Ok(()) => self.access_request(context, method, &arguments, Form::Tool).await,
            Err(fault) => Err(fault),
        };
        Some(answer.map(|raw| Ok(crate::bridge::for_era(tool_result(&raw), context.caller.era())).into()))
    }

    /// The kernel's tools, for a client that asked for access control and may decide.
    pub(crate) fn own_tools(&self) -> Vec<Raw> {
        let text = |words: &str| json!({"type": "string", "description": words});
        let agent = || text("The principal");
        let server = || text("The server's id");
        let tool = |method: &str, description: &str, properties: Value, required: &[&str]| {
            json!({
                "name": method::tool_of(method),
                "description": description,
                "inputSchema": {"type": "object", "properties": properties, "required": required},
                "_mgp": {"source": "kernel", "admin_only": true},
            })
        };
        let entry_type = || json!({"type": "string", "enum": ["server_grant", "tool_grant"]});
        let permission = || json!({"type": "string", "enum": ["allow", "deny"]});
        let name = || text("The tool, for a tool_grant");
        let tools = [
            tool(
                method::ACCESS_QUERY,
                "What a principal may use of a server, and why.",
                json!({"agent_id": agent(), "server_id": server(), "tool_name": name()}),
                &["agent_id", "server_id"],
            ),
            tool(
                method::ACCESS_GRANT,
                "Lets or forbids a principal the use of a server or of one tool.",
                json!({
                    "agent_id": agent(), "server_id": server(), "tool_name": name(), "entry_type": entry_type(),
                    "permission": permission(), "justification": text("Why"), "expires_at": text("Until when, RFC 3339; 30 days if absent"),
                }),
                &["agent_id", "server_id", "entry_type", "permission"],
            ),
            tool(
                method::ACCESS_REVOKE,
                "Takes entries of a principal back.",
                json!({"agent_id": agent(), "server_id": server(), "tool_name": name(), "entry_type": entry_type()}),
                &["agent_id", "server_id", "entry_type"],
            ),
        ];
        tools.iter().filter_map(|tool| Raw::from_value(tool).ok()).collect()
    }

    async fn access_request(&self, context: &Context, name: &str, params: &Raw, form: Form) -> Result<Raw, Fault> {
        match name {
            method::ACCESS_QUERY => self.query_access(context, &read(params)?, form).await,
            method::ACCESS_GRANT => self.grant_access(context, &read(params)?).await,
            _ => self.revoke_access(context, &read(params)?).await,
        }
    }

    async fn query_access(&self, context: &Context, params: &AccessQueryParams, form: Form) -> Result<Raw, Fault> {
        let session = &context.session;
        if params.agent_id != *session.principal && !decides_for_others(context) {
            return Err(not_admin("ask about others"));
        }
        let tables = self.tables().await?;
        let presented = Presented::of(context, None);
        let Some(tool) = &params.tool_name else {
            // A token or a profile that is good for less knows nothing of the rest.
            let is_known = |entry: &&switchboard_store::AccessEntry| {
                self.is_covered(session, &presented, Some(&entry.server), entry.tool.as_deref())
            };
            let mine = tables.entries.iter().filter(|entry| entry.principal == params.agent_id);
            let entries = mine.filter(|entry| entry.server == params.server_id).filter(is_known).map(|entry| {
                let written = AccessEntry::new(
                    entry.entry_type(),
                    entry.server.clone(),
                    entry.tool.clone(),
                    entry.permission,
                    Some(entry.granted_by.clone()),
                    Some(entry.granted_at.to_string()),
                );
                match entry.expires_at {
                    Some(end) => written.expires_at(end.to_string()),
                    None => written,
                }
            });
            let (agent, server) = (params.agent_id.clone(), params.server_id.clone());
            return written(&AccessEntries::new(agent, server, entries.collect::<Vec<_>>()));
        };
        let is_told = self.is_covered(session, &presented, Some(&params.server_id), Some(tool));
        let server = self.server(&params.server_id).filter(|_| is_told);
        // Who may not use a server does not learn whether it is there.
        let default = match &server {
            Some(server) => self.default_for(&params.agent_id, server),
            None if decides_for_others(context) => return Err(unknown_server(&params.server_id)),
            None => DefaultPolicy::OptIn,
        };
        let now = self.gate().granted.time();
        let access = if is_told {
            tables.access.decide(&params.agent_id, &params.server_id, Some(tool), default, now)
        } else {
            // As if nothing had been said of it.
            Access { allow: false, source: DecidedBy::DefaultPolicy, rule: None }
        };
        let permission = if access.allow { Permission::Allow } else { Permission::Deny };
        if form == Form::Tool {
            let (agent, server) = (params.agent_id.clone(), params.server_id.clone());
            return written(&AccessToolPermission::new(agent, server, tool.clone(), permission));
        }
        let entry = access.rule.and_then(|rule| tables.entries.get(rule));
        let source = access::Source::from_word(access.source.as_str()).unwrap_or(access::Source::DefaultPolicy);
        written(&AccessQueryResult::new(
            permission,
            source,
            entry.map(|entry| entry.granted_by.clone()),
            entry.map(|entry| entry.granted_at.to_string()),
            entry.and_then(|entry| entry.expires_at).map(|end| end.to_string()),
        ))
    }

    async fn grant_access(&self, context: &Context, params: &AccessGrantParams) -> Result<Raw, Fault> {
        let operator_actions = self.operator_actions(context, "grant access")?;
        let tool = params.tool()?.map(ToOwned::to_owned);
        self.server(&params.server_id).ok_or_else(|| unknown_server(&params.server_id))?;
        let expires_at = params.expires_at.as_deref().map(str::parse).transpose();
        let expires_at =
            expires_at.map_err(|_| Fault::new(FaultKind::InvalidParams, "`expires_at` is no time in RFC 3339"))?;
        if expires_at.is_some_and(|end: jiff::Timestamp| end <= self.gate().granted.time()) {
            // It would take the place of one that counts.
            return Err(Fault::new(FaultKind::InvalidParams, "`expires_at` is over already"));
        }
        // As with `switchboard grant`: what is allowed ends by itself unless somebody says when, what is denied does not.
        let usual =
            (params.permission == Permission::Allow).then(|| jiff::Timestamp::now() + OperatorActions::USUAL_GRANT);
        let expires_at = expires_at.or(usual);
        let entry = switchboard_store::AccessEntry {
            principal: params.agent_id.clone(),
            server: params.server_id.clone(),
            tool,
            permission: params.permission,
            granted_by: String::new(),
            granted_at: jiff::Timestamp::UNIX_EPOCH,
            expires_at,
            justification: params.justification.clone(),
            scopes: limits_of(params)?,
        };
        let entry = operator_actions.grant_access(entry).await.map_err(unwritten)?;
        self.look_again().await?;
        let id = [&entry.principal, &entry.server, entry.tool.as_deref().unwrap_or("*"), entry.permission.as_str()];
        written(&params.granted(Raw::string(&id.join("/"))))
    }

    async fn revoke_access(&self, context: &Context, params: &AccessRevokeParams) -> Result<Raw, Fault> {
        let operator_actions = self.operator_actions(context, "revoke access")?;
        let tool = params.tool()?.map(ToOwned::to_owned);
        let whole = params.entry_type == EntryType::ServerGrant;
        let selector = AccessSelector {
            principal: Some(params.agent_id.clone()),
            server: Some(params.server_id.clone()),
            entry_type: Some(params.entry_type),
            tool,
            permission: None,
        };
        // Without its server grant a principal shall not keep what was granted beneath it, nor lose what was denied.
        let beneath = AccessSelector {
            entry_type: Some(EntryType::ToolGrant),
            permission: Some(Permission::Allow),
            ..selector.clone()
        };
        let mut revoked = 0;
        for selector in [Some(selector), whole.then_some(beneath)].into_iter().flatten() {
            revoked += operator_actions.revoke_access(&selector).await.map_err(unwritten)?.len();
        }
        self.look_again().await?;
        written(&params.revoked(u64::try_from(revoked).unwrap_or(u64::MAX)))
    }

    /// Whether a call could pass, and what is missing (proposal 4). Nothing is held, asked or written down.
    pub(super) async fn check_permissions(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let object = Object::open(params).map_err(crate::forward::malformed)?;
        let name = text_of(&object, "tool")?;
        let view = self.view();
        let tables = self.tables().await?;
        let route = view.directory.tool(&name);
        let found = route.and_then(|route| Some((view.servers.get(route.server)?.clone(), route)));
        let allowed = |(server, route): &(Arc<Server>, Route)| {
            self.access(&tables, &context.session, server, Some((&route.original, &name))).allow
        };
        let Some((server, route)) = found.filter(allowed) else {
            return Ok(preflight::<&str>(
                false,
                &[],
                Some(&format!("there is no tool `{name}` that you may use")),
                false,
            ));
        };
        let Some(policy) = &route.policy else { return Ok(preflight::<&str>(true, &[], None, false)) };
        let standing = self.standing(&tables, &server, Some(policy));
        if !standing.missing.is_empty() {
            let reason = format!("server `{}` lacks permissions", server.id());
            let missing: Vec<_> = standing.missing.iter().map(|missing| missing.permission.as_str()).collect();
            return Ok(preflight(false, &missing, Some(&reason), false));
        }
        // `scopes_held` is a claim. What is held is known from the session, and goes first.
        let presented = Presented::of(context, object.get("_meta").as_ref());
        let wanted = Wanted { server: server.id(), tool: Some((&name, policy)) };
        if let Err(fault) = self.hold_to_scopes(&context.session.principal, &presented, wanted) {
            let missing = fault.details().and_then(|details| details.member("missing_scopes")?.elements());
            let missing: Vec<_> = missing.iter().flatten().filter_map(Raw::as_text).collect();
            return Ok(preflight(false, &missing, Some(fault.message()), false));
        }
        // Without a token a claim can narrow: who asks what a session with these scopes could do is told what it would lack.
        if presented.is_empty()
            && let Some(claimed) = object.get("scopes_held").and_then(|held| held.elements())
        {
            let held: Vec<String> = claimed.iter().filter_map(Raw::as_text).collect();
            let missing = missing_scopes(&policy.assessment.scopes, &held);
            if !missing.is_empty() {
                let reason = format!("`scopes_held` lacks {}", missing.join(", "));
                return Ok(preflight(false, &missing, Some(&reason), false));
            }
        }
        let call = Edit::empty()
            .set("name", Raw::string(&name))
            .set("arguments", object.get("parameters").unwrap_or_else(Raw::empty_object))
            .finish();
        let (metadata, params) = (Metadata::default(), Object::open(&call).map_err(crate::forward::malformed)?);
        let attempt = Attempt {
            subject: super::Subject::Tool,
            context,
            server: &server,
            exposed: &name,
            tool: &route.original,
            policy,
            params: &params,
            raw: &call,
            sent: None,
            within: None,
            metadata: &metadata,
            trace: "",
            request: None,
        };
        if let Some(mismatch) = self.mismatch(&attempt) {
            return Ok(preflight::<&str>(false, &[], Some(&super::schema::told(&mismatch)), false));
        }
        let held = self.held_permissions(&tables, &server);
        let mut scopes: Vec<_> = held.into_iter().filter_map(|granted| granted.scope).collect();
        let access = self.access(&tables, &context.session, &server, Some((&route.original, &name)));
        scopes.extend(tables.limits(&access).cloned());
        let violation = self.violation(&attempt, &scopes).await;
        let is_doubtful = violation.as_ref().is_some_and(|violation| violation.finding.asks());
        if let Some(violation) = violation.filter(|_| !is_doubtful) {
            return Ok(preflight::<&str>(false, &[], Some(&violation.finding.message), false));
        }
        let confirm = is_doubtful || attempt.asks_about().is_some_and(|reason| self.asks_for(reason));
        Ok(preflight::<&str>(true, &[], confirm.then_some("a person will be asked first"), confirm))
    }

    pub(crate) async fn callback_answered(&self, context: &Context, request: &Request) -> Result<Raw, Fault> {
        let params = object_of(request)?;
        let id = text_of(&params, "callback_id")?;
        let answer = text_of(&params, "response")?;
        if let Some(asked) = self.gate().desk.asked_about(&id)
            && let (Some(server), Some(raw)) = (self.server(&asked.server), &request.params)
        {
            let tool = asked.tool.as_ref().map(|(tool, _)| &**tool);
            self.admit_answer_for(context, &server, tool, raw).await?;
        }
        if self.may_decide(context, &id).await? && self.gate().desk.answer(&id, answer) {
            Ok(Edit::empty().set("status", Raw::string("accepted")).finish())
        } else {
            Err(Fault::new(FaultKind::UnknownResource, "no such callback waits for you"))
        }
    }

    /// The desk of somebody who may decide for others.
    fn operator_actions(&self, context: &Context, what: &str) -> Result<OperatorActions, Fault> {
        if !decides_for_others(context) {
            return Err(not_admin(what));
        }
        let store = self.gate().store().cloned();
        let store = store.ok_or_else(|| Fault::new(FaultKind::ResourceExhausted, "this kernel keeps no grants"))?;
        Ok(OperatorActions::new(store, audit::principal(&context.session)))
    }

    /// Takes over what was just decided.
    async fn look_again(&self) -> Result<(), Fault> {
        self.gate().audit.look_for_decisions();
        if self.gate().granted.again().await? {
            self.grants_changed();
        }
        Ok(())
    }
}

fn preflight<S: AsRef<str>>(allowed: bool, missing: &[S], reason: Option<&str>, confirm: bool) -> Raw {
    let missing: Vec<Raw> = missing.iter().map(|missing| Raw::string(missing.as_ref())).collect();
    Edit::empty()
        .set("allowed", Raw::boolean(allowed))
        .set("missing_scopes", Raw::array(&missing))
        .set_optional("reason", reason.map(Raw::string))
        .set("requires_confirmation", Raw::boolean(confirm))
        .finish()
}

/// What a tool says, for models and for programs.
pub(crate) fn tool_result(answer: &Raw) -> Raw {
    tool_result_with(answer, answer.as_str())
}

/// The same, in other words for who reads the text.
pub(crate) fn tool_result_with(answer: &Raw, text: &str) -> Raw {
    let block = Edit::empty().set("type", Raw::string("text")).set("text", Raw::string(text)).finish();
    Edit::empty().set("content", Raw::array([&block])).set("structuredContent", answer.clone()).finish()
}

fn read<T: serde::de::DeserializeOwned>(params: &Raw) -> Result<T, Fault> {
    params.view().map_err(|error| Fault::new(FaultKind::InvalidParams, crate::kernel::readable(&error)))
}

fn written<T: serde::Serialize>(answer: &T) -> Result<Raw, Fault> {
    Raw::from_value(answer).map_err(Fault::internal)
}

pub(super) fn not_admin(what: &str) -> Fault {
    Fault::new(FaultKind::PermissionDenied, format!("you may not {what}"))
        .suggest("only an operator may; `switchboard grant`, `revoke` and `access` do the same from the command line")
}

fn unknown_server(id: &str) -> Fault {
    Fault::new(FaultKind::UnknownResource, format!("there is no server `{id}`"))
}

/// What narrows a grant, as it is kept.
fn limits_of(params: &AccessGrantParams) -> Result<Option<Box<RawValue>>, Fault> {
    let invalid = |text: String| Fault::new(FaultKind::InvalidParams, format!("`scopes`: {text}"));
    let Some(raw) = &params.scopes else { return Ok(None) };
    if params.permission == Permission::Deny {
        return Err(invalid("a denial has no limits".to_owned()));
    }
    Scope::read(raw).map_err(|fault| invalid(fault.to_string()))?;
    RawValue::from_string(raw.as_str().to_owned()).map(Some).map_err(|error| invalid(error.to_string()))
}

fn unwritten(error: StoreError) -> Fault {
    Fault::new(FaultKind::ResourceExhausted, "the decision cannot be kept now").with_source(error)
}
