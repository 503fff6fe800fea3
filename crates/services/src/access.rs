//! Access control (MGP 5): who may use what, and who changes it.
//!
//! Who calls is who was authenticated: `granted_by` and `agent_id` in a message are claims. Only who may decide for
//! others grants and revokes; everybody may ask about himself.

mod agreement;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_peer::Context;
use switchboard_policy::access::{Access, Source as DecidedBy};
use switchboard_policy::permission::Scope;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::access::{
    self, AccessEntries, AccessEntry, AccessGrantParams, AccessQueryParams, AccessQueryResult, AccessRevokeParams,
    AccessToolPermission,
};
use switchboard_protocol::mgp::{DefaultPolicy, Extension, method};
use switchboard_store::{AccessSelector, EntryType, Permission, Store, StoreError};
use switchboard_wire::Raw;

use super::house::{AccessRights, RecordKeeping, ServerDirectory};
use super::not_admin;
use super::operator_actions::OperatorActions;
use super::principal;
use super::registry::approval::Approvals;
use super::row::{Form, Needs, OwnMethod, OwnTool, object, run, text};

/// What to do instead of a request that only an operator may make.
const INSTEAD: &str =
    "only an operator may; `switchboard grant`, `revoke` and `access` do the same from the command line";

pub(super) const ROWS: &[OwnMethod] = &[
    OwnMethod::method(
        method::ACCESS_QUERY,
        "What a principal may use of a server, and why.",
        run!(house, call => AccessControl::of(house).query(call.context, &call.read()?, call.form).await),
    )
    .tool(tool("mgp_access_query", query_schema)),
    OwnMethod::method(
        method::ACCESS_GRANT,
        "Lets or forbids a principal the use of a server or of one tool.",
        run!(house, call => {
            agreement::of_call(&Approvals::of(house), call, "mgp_access_grant").await?;
            AccessControl::of(house).grant(call.context, &call.read()?).await
        }),
    )
    .tool(tool("mgp_access_grant", grant_schema))
    .for_admins("grant access", Some(INSTEAD)),
    OwnMethod::method(
        method::ACCESS_REVOKE,
        "Takes entries of a principal back.",
        run!(house, call => {
            agreement::of_call(&Approvals::of(house), call, "mgp_access_revoke").await?;
            AccessControl::of(house).revoke(call.context, &call.read()?).await
        }),
    )
    .tool(tool("mgp_access_revoke", revoke_schema))
    .for_admins("revoke access", Some(INSTEAD)),
];

const fn tool(name: &'static str, schema: fn() -> Value) -> OwnTool {
    OwnTool::new(name, schema).needs(Needs::Mgp(Extension::AccessControl)).admin_only()
}

fn query_schema() -> Value {
    let properties = json!({"agent_id": agent(), "server_id": server(), "tool_name": tool_name()});
    object(&properties, &["agent_id", "server_id"])
}

fn grant_schema() -> Value {
    let properties = json!({
        "agent_id": agent(), "server_id": server(), "tool_name": tool_name(), "entry_type": entry_type(),
        "permission": {"type": "string", "enum": ["allow", "deny"]},
        "justification": text("Why"), "expires_at": text("Until when, RFC 3339; 30 days if absent"),
    });
    object(&properties, &["agent_id", "server_id", "entry_type", "permission"])
}

fn revoke_schema() -> Value {
    let properties =
        json!({"agent_id": agent(), "server_id": server(), "tool_name": tool_name(), "entry_type": entry_type()});
    object(&properties, &["agent_id", "server_id", "entry_type"])
}

fn agent() -> Value {
    text("The principal")
}

fn server() -> Value {
    text("The server's id")
}

fn tool_name() -> Value {
    text("The tool, for a tool_grant")
}

fn entry_type() -> Value {
    json!({"type": "string", "enum": ["server_grant", "tool_grant"]})
}

/// Answers about grants, and changes them.
struct AccessControl<'a, H: ?Sized> {
    house: &'a H,
    store: Option<&'a Store>,
}

impl<'a, H: RecordKeeping + ?Sized> AccessControl<'a, H> {
    fn of(house: &'a H) -> Self {
        Self { house, store: house.store() }
    }
}

impl<H: ServerDirectory + AccessRights + ?Sized> AccessControl<'_, H> {
    async fn query(&self, context: &Context, params: &AccessQueryParams, form: Form) -> Result<Raw, Fault> {
        let session = &context.session;
        if params.agent_id != *session.principal && !self.house.decides_for_others(context) {
            return Err(not_admin("ask about others", Some(INSTEAD)));
        }
        let entitlements = self.house.entitlements().await?;
        let who = self.house.requester(context);
        let Some(tool) = &params.tool_name else {
            // A token or a profile that is good for less knows nothing of the rest.
            let is_known = |entry: &&switchboard_store::AccessEntry| {
                self.house.is_covered(&who, Some(&entry.server), entry.tool.as_deref())
            };
            let mine = entitlements.entries().iter().filter(|entry| entry.principal == params.agent_id);
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
        let is_told = self.house.is_covered(&who, Some(&params.server_id), Some(tool));
        let server = self.house.server(&params.server_id).filter(|_| is_told);
        // Who may not use a server does not learn whether it is there.
        let default = match &server {
            Some(server) => self.house.default_for(&params.agent_id, server),
            None if self.house.decides_for_others(context) => return Err(unknown_server(&params.server_id)),
            None => DefaultPolicy::OptIn,
        };
        let now = self.house.time();
        let access = if is_told {
            entitlements.decide(&params.agent_id, &params.server_id, Some(tool), default, now)
        } else {
            // As if nothing had been said of it.
            Access { allow: false, source: DecidedBy::DefaultPolicy, rule: None }
        };
        let permission = if access.allow { Permission::Allow } else { Permission::Deny };
        if form == Form::Tool {
            let (agent, server) = (params.agent_id.clone(), params.server_id.clone());
            return written(&AccessToolPermission::new(agent, server, tool.clone(), permission));
        }
        let entry = access.rule.and_then(|rule| entitlements.entries().get(rule));
        let source = access::Source::from_word(access.source.as_str()).unwrap_or(access::Source::DefaultPolicy);
        written(&AccessQueryResult::new(
            permission,
            source,
            entry.map(|entry| entry.granted_by.clone()),
            entry.map(|entry| entry.granted_at.to_string()),
            entry.and_then(|entry| entry.expires_at).map(|end| end.to_string()),
        ))
    }

    async fn grant(&self, context: &Context, params: &AccessGrantParams) -> Result<Raw, Fault> {
        let operator_actions = self.operator_actions(context)?;
        let tool = params.tool()?.map(ToOwned::to_owned);
        self.within_reach(context, &params.server_id, tool.as_deref())?;
        self.house.server(&params.server_id).ok_or_else(|| unknown_server(&params.server_id))?;
        let expires_at = params.expires_at.as_deref().map(str::parse).transpose();
        let expires_at =
            expires_at.map_err(|_| Fault::new(FaultKind::InvalidParams, "`expires_at` is no time in RFC 3339"))?;
        if expires_at.is_some_and(|end: jiff::Timestamp| end <= self.house.time()) {
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
        self.house.decided().await?;
        let id = [&entry.principal, &entry.server, entry.tool.as_deref().unwrap_or("*"), entry.permission.as_str()];
        written(&params.granted(Raw::string(&id.join("/"))))
    }

    async fn revoke(&self, context: &Context, params: &AccessRevokeParams) -> Result<Raw, Fault> {
        let operator_actions = self.operator_actions(context)?;
        let tool = params.tool()?.map(ToOwned::to_owned);
        self.within_reach(context, &params.server_id, tool.as_deref())?;
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
        self.house.decided().await?;
        written(&params.revoked(u64::try_from(revoked).unwrap_or(u64::MAX)))
    }

    /// Whoever may decide for others decides with a narrowed token about what that token covers, and knows of nothing else.
    fn within_reach(&self, context: &Context, server: &str, tool: Option<&str>) -> Result<(), Fault> {
        let is_covered = self.house.is_covered(&self.house.requester(context), Some(server), tool);
        if is_covered { Ok(()) } else { Err(unknown_server(server)) }
    }

    /// What is decided in the name of somebody who may decide for others, as the table has seen.
    fn operator_actions(&self, context: &Context) -> Result<OperatorActions, Fault> {
        let store = self.store.cloned();
        let store = store.ok_or_else(|| Fault::new(FaultKind::ResourceExhausted, "this kernel keeps no grants"))?;
        Ok(OperatorActions::new(store, principal(&context.session)))
    }
}

fn written<T: serde::Serialize>(answer: &T) -> Result<Raw, Fault> {
    Raw::from_value(answer).map_err(Fault::internal)
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
