//! `switchboard access`: who may use what and why, and what servers may do.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use switchboard_config::{ApprovalPolicy, Server};
use switchboard_kernel::{default_policy, stored_access};
use switchboard_policy::permission;
use switchboard_policy::risk::{self, ConfirmReason};
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_store::{
    AccessEntry, AuditFilter, Permission, PermissionDecision, Pin, PinState, ServerPermission, Store,
};
use switchboard_wire::{Limits, Raw};

use super::operator_session::{OperatorSession, cell, until};
use crate::Outcome;
use crate::arguments::{AccessOptions, Common};
use crate::failure::Failure;
use crate::screen::{self, Tone};
use crate::specs;

/// What nobody used for this long is said to be unused.
const IDLE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The events of a use.
const USES: [&str; 2] = ["TOOL_EXECUTED", "dev.switchboard.content_read"];

pub(crate) async fn run(common: &Common, options: &AccessOptions) -> Outcome {
    let desk = OperatorSession::open(common).await?;
    let outcome = match (&options.agent, &options.server, &options.tool) {
        (Some(agent), Some(server), Some(tool)) => decide(common, &desk, agent, server, tool).await,
        _ => list(common, &desk, options).await,
    };
    desk.close().await;
    outcome
}

/// Whether a principal may use a tool, as the kernel decides it.
async fn decide(common: &Common, desk: &OperatorSession, agent: &str, server: &str, tool: &str) -> Outcome {
    desk.warn_of_unknown(server);
    let tool = &desk.tool(server, tool).await?;
    let config = &desk.loaded.config;
    let of_server = config.server(server).and_then(|server| server.entry.default_policy);
    let default = default_policy(agent, of_server, config.settings.default_policy);
    let (access, entry) = stored_access(desk.office.store(), agent, server, tool, default).await?;
    let (obstacle, asks) = (obstacle(desk, server, tool).await?, asks(desk, server, tool).await?);
    let word = if access.allow { Permission::Allow } else { Permission::Deny };
    if common.json {
        let mut answer = json!({"permission": word.as_str(), "source": access.source.as_str(), "usable": access.allow && obstacle.is_none(),
            "obstacle": obstacle, "asks": asks});
        if let Some(entry) = &entry {
            answer["granted_by"] = json!(entry.granted_by);
            answer["granted_at"] = json!(entry.granted_at.to_string());
            answer["expires_at"] = json!(entry.expires_at.map(|end| end.to_string()));
        }
        screen::json(&answer);
        return Ok(());
    }
    let (may, tone) = if access.allow { ("may use", Tone::Good) } else { ("may not use", Tone::Bad) };
    let (may, source) = (screen::toned(may, tone), access.source.as_str());
    let by = match &entry {
        Some(entry) => format!("{source} by {}, {}", cell(&entry.granted_by), until(entry.expires_at)),
        None => format!("{source}: {}", default.as_str()),
    };
    screen::out(format_args!("{} {may} {} of {} ({by})", cell(agent), cell(tool), cell(server)));
    match (obstacle, asks) {
        (Some(obstacle), _) if access.allow => screen::out(format_args!("but {obstacle}")),
        (None, Some(why)) if access.allow => screen::out(format_args!("a person is asked before each call: {why}")),
        _ => {}
    }
    Ok(())
}

/// Why a tool cannot be used by anybody now, as far as configuration and store tell.
async fn obstacle(desk: &OperatorSession, server: &str, tool: &str) -> Result<Option<String>, Failure> {
    let Some(configured) = desk.loaded.config.server(server) else {
        return Ok(Some(format!("no server {} is configured", cell(server))));
    };
    if !configured.enabled() {
        return Ok(Some("the server is switched off in the configuration".to_owned()));
    }
    if !configured.entry.allows_tool(tool) {
        return Ok(Some("the tool is switched off in the configuration (`switchboard tools enable`)".to_owned()));
    }
    let pins = desk.office.store().pins().list(Some(server)).await?;
    let Some(pin) = pins.into_iter().find(|pin| pin.tool == tool) else {
        return Ok(Some("the server has not shown such a tool yet".to_owned()));
    };
    let raw = Raw::parse(pin.shown.get().to_owned(), &Limits::default()).ok();
    let of_tool = raw.map(|raw| ToolSecurity::of(&raw).permissions).unwrap_or_default();
    if let Some(lacking) = lacking(desk, configured, &of_tool).await? {
        return Ok(Some(lacking));
    }
    if pin.state == PinState::Quarantined {
        return Ok(Some(format!(
            "its definition is held back (`switchboard pins show {} {}`)",
            cell(server),
            cell(tool)
        )));
    }
    Ok(None)
}

/// Which permissions the server or the tool needs and does not have, and what would give it the first.
async fn lacking(desk: &OperatorSession, server: &Server, of_tool: &[String]) -> Result<Option<String>, Failure> {
    let mgp = server.entry.mgp.clone().unwrap_or_default();
    let required: Vec<&String> = mgp.permissions_required.iter().chain(of_tool).collect();
    if required.is_empty() {
        return Ok(None);
    }
    let limits = |scope: &Value| permission::Scope::read(&crate::local::raw(scope)).ok();
    let configured = mgp.permissions_granted.iter().filter_map(|(name, scope)| {
        // A scope that cannot be read must not become none.
        let scope = scope.as_ref().map(|scope| limits(scope).ok_or(())).transpose().ok()?;
        Some(permission::Granted { permission: name.clone(), scope })
    });
    let settings = &desk.loaded.config.settings;
    let policy = permission::Policy {
        configured: configured.collect(),
        exceptions: settings.gate.auto_approve_exceptions.clone(),
        ..permission::Policy::new(settings.approval_policy)
    };
    let store = desk.office.store();
    let decided = store.grants().load().await?.permissions;
    let decided: Vec<permission::Decided> =
        decided.iter().filter(|one| one.server == server.id()).map(decided_of).collect();
    let now = store.latest_time(Timestamp::now()).await?;
    let missing = permission::standing(&required, &policy, &decided, now).missing;
    let Some(first) = missing.first() else { return Ok(None) };
    let names: Vec<&str> = missing.iter().map(|missing| missing.permission.as_str()).collect();
    let by_file = matches!(settings.approval_policy, ApprovalPolicy::DenyAll | ApprovalPolicy::ConfigOnly);
    let remedy = if by_file {
        "list it in `permissions_granted` of its entry".to_owned()
    } else {
        format!("`switchboard grant --server {} --permission {}`", cell(server.id()), cell(&first.permission))
    };
    Ok(Some(format!("the server lacks the permission {} ({}): {remedy}", cell(&names.join(", ")), first.why.as_str())))
}

/// What the store says of a permission, as it is judged.
fn decided_of(entry: &ServerPermission) -> permission::Decided {
    let decision = match entry.decision {
        PermissionDecision::Approved => permission::Decision::Approved,
        PermissionDecision::Denied => permission::Decision::Denied,
        PermissionDecision::Deferred => permission::Decision::Deferred,
    };
    permission::Decided { permission: entry.permission.clone(), decision, scope: None, expires_at: entry.expires_at }
}

/// Why a person is asked before each call, where one is.
async fn asks(desk: &OperatorSession, server: &str, tool: &str) -> Result<Option<String>, Failure> {
    let Some(configured) = desk.loaded.config.server(server) else { return Ok(None) };
    let said = configured.entry.tools.get(tool);
    let pins = desk.office.store().pins().list(Some(server)).await?;
    // What is no tool has the kind of what it is in front.
    let tools = pins.iter().filter(|pin| !pin.tool.contains([' ', ':']));
    let of =
        |pin: &Pin| Raw::parse(pin.shown.get().to_owned(), &Limits::default()).ok().map(|raw| ToolSecurity::of(&raw));
    let shown: Vec<(&str, ToolSecurity)> = tools.map(|pin| (pin.tool.as_str(), of(pin).unwrap_or_default())).collect();
    let Some((_, security)) = shown.iter().find(|(name, _)| *name == tool) else { return Ok(None) };
    let (trust, word) = (configured.trust_level(), said.map(specs::operator_word).unwrap_or_default());
    let is_held = pins.iter().any(|pin| pin.state == PinState::Quarantined);
    let without = !is_held && risk::hints_tell_nothing(shown.iter().map(|(name, said)| (*name, said)), trust, false);
    let security = if without { risk::without_hints(security) } else { security.clone() };
    let assessment = risk::assess(&security, tool, &word, trust, false);
    let asks_all = desk.loaded.config.settings.approval_policy != ApprovalPolicy::AutoApprove;
    let reason = assessment.confirm.filter(|reason| asks_all || *reason == ConfirmReason::Operator);
    Ok(reason.map(|reason| match reason {
        ConfirmReason::Operator => "the configuration says `confirm = true` for it".to_owned(),
        _ => assessment.reason,
    }))
}

async fn list(common: &Common, desk: &OperatorSession, options: &AccessOptions) -> Outcome {
    let store = desk.office.store();
    let snapshot = store.grants().load().await?;
    let now = store.latest_time(Timestamp::now()).await?;
    let of = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
    let mut entries: Vec<AccessEntry> = snapshot.access;
    entries.retain(|entry| of(&options.agent, &entry.principal) && of(&options.server, &entry.server));
    let mut permissions: Vec<ServerPermission> = snapshot.permissions;
    permissions.retain(|entry| options.agent.is_none() && of(&options.server, &entry.server));
    if options.unused {
        (entries, permissions) = unused(store, entries, permissions, now).await?;
    }
    entries.sort_by(|a, b| (&a.principal, &a.server, &a.tool).cmp(&(&b.principal, &b.server, &b.tool)));
    permissions.sort_by(|a, b| (&a.server, &a.permission).cmp(&(&b.server, &b.permission)));
    if common.json {
        let entries: Vec<_> = entries.iter().map(|entry| entry_json(entry, now)).collect();
        let permissions: Vec<_> = permissions.iter().map(|entry| permission_json(entry, now)).collect();
        screen::json(&json!({"entries": entries, "permissions": permissions}));
    } else {
        show(&entries, &permissions, options.unused, now);
    }
    Ok(())
}

/// What is in force and was not used lately.
async fn unused(
    store: &Store,
    entries: Vec<AccessEntry>,
    permissions: Vec<ServerPermission>,
    now: Timestamp,
) -> Result<(Vec<AccessEntry>, Vec<ServerPermission>), Failure> {
    let since = now.checked_sub(IDLE).map_err(Failure::failed)?;
    let mut idle = Vec::new();
    for entry in entries.into_iter().filter(|entry| entry_state(entry, now) == "approved") {
        let actor = Some(entry.principal.as_str());
        if !used(store, actor, &entry.server, entry.tool.as_deref(), since).await? {
            idle.push(entry);
        }
    }
    let mut idle_permissions = Vec::new();
    for entry in permissions.into_iter().filter(|entry| permission_state(entry, now) == "approved") {
        if !used(store, None, &entry.server, None, since).await? {
            idle_permissions.push(entry);
        }
    }
    Ok((idle, idle_permissions))
}

async fn used(
    store: &Store,
    actor: Option<&str>,
    server: &str,
    tool: Option<&str>,
    since: Timestamp,
) -> Result<bool, Failure> {
    let filter = AuditFilter {
        since: Some(since),
        event_types: USES.map(str::to_owned).to_vec(),
        actor: actor.map(str::to_owned),
        server: Some(server.to_owned()),
        tool: tool.map(str::to_owned),
        ..AuditFilter::default()
    };
    Ok(!store.audit().query(&filter, 1).await?.is_empty())
}

fn show(entries: &[AccessEntry], permissions: &[ServerPermission], unused: bool, now: Timestamp) {
    if entries.is_empty() && permissions.is_empty() {
        screen::out(if unused {
            "every grant that is in force was used in the last 30 days"
        } else {
            "nothing was granted or denied. Without a grant, the owner of this machine may use every server and others \
             none, unless `default_policy` says otherwise"
        });
        return;
    }
    if !entries.is_empty() {
        let mut rows =
            vec![["PRINCIPAL", "SERVER", "TOOL", "STATE", "WITHIN", "ENDS", "BY", "WHY"].map(str::to_owned).to_vec()];
        rows.extend(entries.iter().map(|entry| {
            vec![
                cell(&entry.principal),
                cell(&entry.server),
                entry.tool.as_deref().map_or_else(|| "*".to_owned(), cell),
                toned(entry_state(entry, now)),
                entry.scopes.as_ref().map_or_else(|| "-".to_owned(), |scope| cell(scope.get())),
                until(entry.expires_at),
                cell(&entry.granted_by),
                cell(entry.justification.as_deref().unwrap_or_default()),
            ]
        }));
        screen::out(screen::table(&rows).trim_end());
    }
    if !permissions.is_empty() {
        if !entries.is_empty() {
            screen::out("");
        }
        let mut rows =
            vec![["SERVER", "PERMISSION", "STATE", "ENDS", "BY", "LIMITS", "WHY"].map(str::to_owned).to_vec()];
        rows.extend(permissions.iter().map(|entry| {
            vec![
                cell(&entry.server),
                cell(&entry.permission),
                toned(permission_state(entry, now)),
                until(entry.expires_at),
                cell(&entry.granted_by),
                entry.scopes.as_ref().map_or_else(|| "-".to_owned(), |scope| cell(scope.get())),
                cell(entry.justification.as_deref().unwrap_or_default()),
            ]
        }));
        screen::out(screen::table(&rows).trim_end());
    }
}

fn toned(state: &'static str) -> String {
    let tone = match state {
        "approved" => Tone::Good,
        "denied" => Tone::Bad,
        _ => Tone::Doubtful,
    };
    screen::toned(state, tone)
}

fn expired(end: Option<Timestamp>, now: Timestamp) -> bool {
    end.is_some_and(|end| end <= now)
}

fn entry_state(entry: &AccessEntry, now: Timestamp) -> &'static str {
    match entry.permission {
        _ if expired(entry.expires_at, now) => "expired",
        Permission::Allow => "approved",
        Permission::Deny => "denied",
    }
}

fn permission_state(entry: &ServerPermission, now: Timestamp) -> &'static str {
    match entry.decision {
        PermissionDecision::Deferred => "deferred",
        _ if expired(entry.expires_at, now) => "expired",
        decision => decision.as_str(),
    }
}

pub(crate) fn entry_json(entry: &AccessEntry, now: Timestamp) -> Value {
    json!({
        "entry_type": entry.entry_type().as_str(),
        "agent_id": entry.principal,
        "server_id": entry.server,
        "tool_name": entry.tool,
        "permission": entry.permission.as_str(),
        "state": entry_state(entry, now),
        "granted_by": entry.granted_by,
        "granted_at": entry.granted_at.to_string(),
        "expires_at": entry.expires_at.map(|end| end.to_string()),
        "scope": entry.scopes.as_ref().and_then(|scope| serde_json::from_str::<Value>(scope.get()).ok()),
        "justification": entry.justification,
    })
}

pub(crate) fn permission_json(entry: &ServerPermission, now: Timestamp) -> Value {
    json!({
        "server_id": entry.server,
        "permission": entry.permission,
        "state": permission_state(entry, now),
        "decision": entry.decision.as_str(),
        "granted_by": entry.granted_by,
        "granted_at": entry.granted_at.to_string(),
        "expires_at": entry.expires_at.map(|end| end.to_string()),
        "scope": entry.scopes.as_ref().and_then(|scope| serde_json::from_str::<Value>(scope.get()).ok()),
        "justification": entry.justification,
    })
}
