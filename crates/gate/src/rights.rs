//! Who may use what, and what a server may do: grants and permissions, as they are now.

use crate::{coverage, scopes};
use std::sync::Arc;

use jiff::Timestamp;
use switchboard_peer::{Context, Session};
use switchboard_policy::access::Access;
use switchboard_policy::permission::{self, PermissionStatus};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::ApprovalPolicy;
use switchboard_store::Approval;

use super::attempt::{Attempt, Stop};
use super::audit::{self, event, result, step};
use super::policy::ToolPolicy;
use super::refused::refused;
use super::scopes::{Presented, ScopeTarget};
use super::tables::Tables;
use crate::Gate;
use switchboard_upstream::Server;

/// Whether a request may decide for others. A session token stands for servers and tools, and never for that.
pub fn decides_for_others(context: &Context) -> bool {
    context.session.identity.admin && Presented::of(context, None).is_empty()
}

/// Whether somebody may know of all servers: who may decide for others, without anything that takes away from it.
pub fn sees_all(session: &Session, presented: &Presented) -> bool {
    session.identity.admin && !session.identity.is_limited() && presented.is_empty()
}

impl Gate<'_> {
    /// What may be used by whom, no older than a moment.
    ///
    /// # Errors
    /// It cannot be known now.
    pub async fn tables(&self) -> Result<Arc<Tables>, Fault> {
        if let Some(tables) = self.granted.now() {
            return Ok(tables);
        }
        let (tables, changed) = Box::pin(self.granted.fresh()).await?;
        if changed {
            self.around.grants_changed();
        }
        Ok(tables)
    }

    /// Whether a session may use a tool of a server; without a tool, the server as a whole.
    pub fn access(&self, tables: &Tables, session: &Session, server: &Server, tool: Option<(&str, &str)>) -> Access {
        let default = self.options().default_for(&session.principal, server);
        // Where nothing ends by itself, it does not matter what time it is.
        let now = if tables.anything_expires { self.granted.time() } else { Timestamp::UNIX_EPOCH };
        let original = tool.map(|(original, _)| original);
        let mut access = tables.access.decide(&session.principal, server.id(), original, default, now);
        access.allow = access.allow && coverage::covers(self, session, server.id(), tool);
        access
    }

    /// Whether a session has to do with a server at all: it may use it, or at least one of its tools.
    pub fn knows_of(&self, tables: &Tables, session: &Session, server: &Server) -> bool {
        if self.access(tables, session, server, None).allow {
            return true;
        }
        self.offers().any_tool(&mut |tool| {
            let is_here = tool.server.id() == server.id();
            is_here && self.access(tables, session, server, Some((tool.original, tool.exposed))).allow
        })
    }

    /// Whether the token and the session tokens of a session cover a tool of a server, or the server as a whole. Grants do
    /// not count here: what somebody did is no secret to them, only to a token of theirs that is good for less.
    pub fn is_covered(
        &self,
        session: &Session,
        presented: &Presented,
        server: Option<&str>,
        tool: Option<&str>,
    ) -> bool {
        if !session.identity.is_limited() && presented.is_empty() {
            return true;
        }
        let Some(id) = server else { return false };
        let found = tool.and_then(|tool| self.offers().tool_of(id, tool));
        let by_token = match (tool, &found) {
            (Some(tool), Some((exposed, _))) => coverage::covers(self, session, id, Some((tool, exposed))),
            // Of a tool that is not there any more only the long form of its name is known.
            (Some(tool), None) => {
                coverage::covers(self, session, id, Some((tool, &coverage::naming_of(self, id).expose(tool))))
            }
            (None, _) => coverage::covers(self, session, id, None),
        };
        let policy = found.as_ref().and_then(|(exposed, place)| Some((exposed.as_str(), place.policy.as_deref()?)));
        by_token
            && scopes::covers_quietly(self, &session.principal, presented, ScopeTarget { server: id, tool: policy })
    }

    /// Whether a session has to do with a server, within the session tokens that it shows: it may use the server, or at
    /// least one of its tools, and they cover the same.
    pub fn knows_within(&self, tables: &Tables, session: &Session, presented: &Presented, server: &Server) -> bool {
        if presented.is_empty() {
            return self.knows_of(tables, session, server);
        }
        let covers = |tool| {
            scopes::covers_quietly(self, &session.principal, presented, ScopeTarget { server: server.id(), tool })
        };
        if covers(None) && self.access(tables, session, server, None).allow {
            return true;
        }
        self.offers().any_tool(&mut |tool| {
            let named = (&**tool.original, tool.exposed);
            let policy = tool.policy.map(Arc::as_ref);
            tool.server.id() == server.id() && self.may_use_within(tables, session, presented, server, named, policy)
        })
    }

    /// Whether a session may use a tool, by its server's name and the one that clients know, and the session tokens that it
    /// shows cover it.
    pub fn may_use_within(
        &self,
        tables: &Tables,
        session: &Session,
        presented: &Presented,
        server: &Server,
        (original, exposed): (&str, &str),
        policy: Option<&ToolPolicy>,
    ) -> bool {
        if !self.access(tables, session, server, Some((original, exposed))).allow {
            return false;
        }
        let covers = |policy| {
            let wanted = ScopeTarget { server: server.id(), tool: Some((exposed, policy)) };
            scopes::covers_quietly(self, &session.principal, presented, wanted)
        };
        presented.is_empty() || policy.is_some_and(covers)
    }

    /// Whether who asks has to do with a server, within the tokens that he shows.
    pub fn is_known_to(&self, tables: &Tables, context: &Context, server: &Server) -> bool {
        self.knows_within(tables, &context.session, &Presented::of(context, None), server)
    }

    /// What a server has and lacks of the permissions it needs, and of those that a tool of it needs.
    pub fn standing(&self, tables: &Tables, server: &Server, policy: Option<&ToolPolicy>) -> PermissionStatus {
        let of_tool = policy.filter(|_| server.speaks_mgp()).map_or(&[][..], |policy| &policy.security.permissions);
        standing_with(self, tables, server, of_tool)
    }

    /// Every permission that a server has, asked for or not.
    pub fn held_permissions(&self, tables: &Tables, server: &Server) -> Vec<permission::Granted> {
        let mut names = server.permissions_required();
        names.extend(server.policy().permissions_granted.iter().map(|(name, _)| name.clone()));
        let decided = tables.permissions(server.id());
        if names.is_empty() && decided.is_empty() {
            return Vec::new();
        }
        names.extend(decided.iter().map(|decided| decided.permission.clone()));
        let policy = self.options().permission_policy(server);
        permission::standing(&names, &policy, decided, self.granted.time()).granted
    }
}

/// Whether the caller may use what it names, at all and in its profile.
pub(crate) async fn check_access(gate: &Gate<'_>, attempt: &Attempt<'_>, tables: &Tables) -> Result<Access, Stop> {
    let Attempt { context, server, policy, .. } = attempt;
    let access = gate.access(tables, &context.session, server, attempt.called());
    if access.allow && coverage::profile_bears(gate, &context.session, policy) {
        return Ok(access);
    }
    let event = audit::with(attempt.event(event::TOOL_BLOCKED, result::BLOCKED), step::KEY, step::ACCESS);
    gate.audit.note(audit::with(event, "source", access.source.as_str())).await;
    Err(attempt.unknown().into())
}

/// Whether the server has the permissions that it takes; what narrows those.
pub(crate) async fn check_permissions_of(
    gate: &Gate<'_>,
    attempt: &Attempt<'_>,
    tables: &Tables,
) -> Result<Vec<permission::Scope>, Stop> {
    let fault = match has_permissions(gate, tables, attempt.server, Some(attempt.policy)) {
        Ok(status) => return Ok(status.granted.into_iter().filter_map(|granted| granted.scope).collect()),
        Err(fault) => fault,
    };
    let event = audit::with(attempt.event(event::TOOL_BLOCKED, result::BLOCKED), step::KEY, step::PERMISSIONS);
    gate.audit.note(refused(audit::with(event, "reason", fault.message()), &fault)).await;
    Err(fault.into())
}

/// Whether a person agreed to a call under a grant that has ended by itself since.
///
/// # Errors
/// It cannot be known now.
pub(crate) async fn has_outlived_its_grant(
    gate: &Gate<'_>,
    approval: &Approval,
    now: Timestamp,
) -> Result<bool, Fault> {
    let held = &approval.held;
    let whose = (held.principal.as_str(), held.server.as_str(), held.tool.as_str());
    Ok(gate.tables().await?.grant_ended_since(whose, held.created_at, now))
}

/// What a server has and lacks of the permissions it needs, and of some others.
pub fn standing_with(gate: &Gate<'_>, tables: &Tables, server: &Server, others: &[String]) -> PermissionStatus {
    let mut required = server.permissions_required();
    required.extend(others.iter().cloned());
    if required.is_empty() {
        return PermissionStatus::default();
    }
    let policy = gate.options().permission_policy(server);
    permission::standing(&required, &policy, tables.permissions(server.id()), gate.granted.time())
}

/// The tools of a server that lack permissions which the server itself does not need, and which these are.
pub fn tools_lacking(gate: &Gate<'_>, tables: &Tables, server: &Server) -> Vec<(String, Vec<String>)> {
    let needs = server.tools_need();
    if needs.is_empty() {
        return Vec::new();
    }
    let (policy, now) = (gate.options().permission_policy(server), gate.granted.time());
    let lacking = |(tool, permissions): &(String, Vec<String>)| {
        let standing = permission::standing(permissions, &policy, tables.permissions(server.id()), now);
        let missing: Vec<_> = standing.missing.into_iter().map(|missing| missing.permission).collect();
        (!missing.is_empty()).then(|| (tool.clone(), missing))
    };
    needs.iter().filter_map(lacking).collect()
}

/// Whether a server has the permissions it needs, and those that a tool of it needs.
///
/// # Errors
/// What it lacks.
pub(crate) fn has_permissions(
    gate: &Gate<'_>,
    tables: &Tables,
    server: &Server,
    tool: Option<&ToolPolicy>,
) -> Result<PermissionStatus, Fault> {
    let of_tool = tool.is_some_and(|policy| !policy.security.permissions.is_empty());
    if !of_tool && server.needs_and_has_none() && tables.permissions(server.id()).is_empty() {
        // Nearly every server.
        return Ok(PermissionStatus::default());
    }
    let standing = gate.standing(tables, server, tool);
    let Some(missing) = standing.missing.first() else {
        // A grant that nobody asked for narrows as well: whoever gave it meant its limits.
        return Ok(PermissionStatus { granted: gate.held_permissions(tables, server), missing: Vec::new() });
    };
    let id = server.id();
    let names: Vec<_> = standing.missing.iter().map(|missing| missing.permission.as_str()).collect();
    let kind = match missing.why {
        permission::Why::Denied | permission::Why::Unknown => FaultKind::PermissionDenied,
        _ => FaultKind::PermissionPending,
    };
    let text = format!("server `{id}` lacks the permission {} ({})", names.join(", "), missing.why.as_str());
    Err(Fault::new(kind, text).from_server(id.as_ref()).suggest(how_to_grant(gate, id, missing)))
}

/// What gives a server a permission that it lacks.
fn how_to_grant(gate: &Gate<'_>, server: &str, missing: &permission::Missing) -> String {
    let name = &missing.permission;
    let asks_nobody = matches!(gate.options().approval_policy, ApprovalPolicy::DenyAll | ApprovalPolicy::ConfigOnly);
    if missing.why == permission::Why::Unknown {
        format!("there is no permission `{name}`, so nobody can grant it: the server's author has to name another")
    } else if asks_nobody {
        format!("the operator lists `{name}` in `permissions_granted` of server `{server}` in the configuration")
    } else {
        format!("the operator grants it with `switchboard grant --server {server} --permission {name}`")
    }
}
