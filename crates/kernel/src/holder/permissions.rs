//! The permissions that a server asks for (MGP 3): put before the operator, and the answer told to the server.
//!
//! A server is told what was decided; it decides nothing. What it lacks stays closed until the operator says yes.

use std::time::Duration;

use switchboard_peer::Call;
use switchboard_policy::permission::{self, Granted, Missing, PermissionStatus, Why};
use switchboard_protocol::mgp::permission::PermissionNames;
use switchboard_protocol::mgp::{ApprovalPolicy, Extension};
use switchboard_store::{PermissionDecision, ServerPermission};
use switchboard_wire::{Edit, Limits, Raw};

use crate::gate::rights::standing_with;
use crate::gate::{Tables, audit};
use crate::kernel::Kernel;
use crate::server::{Server, SharedConnection};
use crate::services::OperatorActions;

/// The poll interval for decisions of the operator.
const DECISION_POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long a server may take to hear of a decision.
const TELL_TIMEOUT: Duration = Duration::from_secs(5);

/// Tools that a question names.
const MAX_NAMED_TOOLS: usize = 8;

/// The permissions of one server, as its holder settles them.
pub(super) struct Permissions<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) server: &'a Server,
}

impl Permissions<'_> {
    /// Tells a server that speaks of permissions to wait for those that are not decided, and which it will not get;
    /// what was decided by then.
    pub(super) async fn tell_status(&self, hub: &SharedConnection) -> Option<PermissionStatus> {
        let standing = self.standing().await?;
        self.note_policy(&standing).await;
        if speaks_of_permissions(hub) {
            if standing.missing.iter().any(is_open) {
                self.tell(hub, Word::Wait, &standing).await;
            }
            // Whom a policy denies something is not kept waiting for somebody who will never be asked.
            if standing.missing.iter().any(|missing| !is_open(missing)) {
                self.tell(hub, Word::Decided, &standing).await;
            }
        }
        Some(without_news(standing))
    }

    /// Puts on record what the policy alone decided, once for as long as this process remembers.
    async fn note_policy(&self, standing: &PermissionStatus) {
        let (Some(store), Ok(tables)) = (self.kernel.gate().store(), self.kernel.gate().tables().await) else { return };
        let (policy, now) =
            (self.kernel.gate().options().permission_policy(self.server), self.kernel.gate().granted.time());
        let approved = standing.granted.iter().map(|granted| (&granted.permission, true));
        let denied = standing.missing.iter().filter(|missing| missing.why == Why::Denied);
        let all = approved.chain(denied.map(|missing| (&missing.permission, false)));
        for (permission, approved) in all {
            if !permission::is_by_policy(permission, &policy, tables.permissions(self.server.id()), now)
                || !self.kernel.gate().is_news(&[self.server.id(), permission, policy.approval.as_str()])
            {
                continue;
            }
            let operator_actions = OperatorActions::of_kernel(store.clone());
            if let Err(error) =
                operator_actions.note_permission(self.server.id(), permission, approved, policy.approval).await
            {
                tracing::error!(%error, "a decision about a permission is not on record");
            }
        }
    }

    /// Puts what the server lacks before the operator, so that whoever sees it ready finds the question.
    pub(super) async fn put_before_operator(&self) {
        if let Some(standing) = self.standing().await {
            self.ask_operator(&standing).await;
        }
    }

    /// Writes down what nobody has decided about, or whose time is over, for the operator to find.
    async fn ask_operator(&self, standing: &PermissionStatus) {
        let asks = self.kernel.gate().options().approval_policy == ApprovalPolicy::Interactive
            || self.kernel.gate().approves_all();
        let open = |missing: &&Missing| matches!(missing.why, Why::Undecided | Why::Expired);
        let Some(store) = self.kernel.gate().store().filter(|_| asks && standing.missing.iter().any(|one| open(&one)))
        else {
            return;
        };
        let now = self.kernel.gate().granted.time();
        // Somebody may have decided a moment ago: an answer must not be undone by the question.
        let decided = match store.grants().load().await {
            Ok(snapshot) => snapshot.permissions,
            Err(error) => return tracing::error!(%error, "permission requests cannot be kept"),
        };
        let in_force = |permission: &str| {
            let about = |one: &&ServerPermission| one.server == **self.server.id() && one.permission == permission;
            decided.iter().filter(about).any(|one| one.expires_at.is_none_or(|end| now < end))
        };
        for missing in standing.missing.iter().filter(open).filter(|missing| !in_force(&missing.permission)) {
            tracing::warn!(
                server = %self.server.id(),
                permission = %missing.permission,
                "the server asks for a permission; answer with `switchboard approvals`"
            );
            let asked = ServerPermission {
                server: self.server.id().as_ref().to_owned(),
                permission: missing.permission.clone(),
                decision: PermissionDecision::Deferred,
                granted_by: audit::kernel().id.into(),
                granted_at: now,
                expires_at: None,
                justification: self.who_needs(&missing.permission),
                scopes: None,
            };
            // One that was decided before, until a time that has come, is written over; a fresh one is not, because
            // somebody may be answering right now.
            let kept = match missing.why {
                Why::Expired => store.grants().put_permission(&asked).await,
                _ => store.grants().ask_permission(&asked).await,
            };
            if let Err(error) = kept {
                tracing::error!(%error, "a permission request cannot be kept");
            }
        }
    }

    /// Which of its tools a permission is for, where the server itself does not need it.
    fn who_needs(&self, permission: &str) -> Option<String> {
        let same = |word: &String| {
            word == permission || permission::name::read(word).is_ok_and(|known| known.canonical == permission)
        };
        if self.server.permissions_required().iter().any(same) {
            return None;
        }
        let needs = self.server.tools_need();
        let tools: Vec<_> =
            needs.iter().filter(|(_, needed)| needed.iter().any(same)).map(|(tool, _)| tool.as_str()).collect();
        let shown = tools.iter().take(MAX_NAMED_TOOLS).copied().collect::<Vec<_>>().join(", ");
        let more = if tools.len() > MAX_NAMED_TOOLS { ", ..." } else { "" };
        (!tools.is_empty()).then(|| format!("for its tools: {shown}{more}"))
    }

    /// Tells the server when the operator has decided. Ends when the server must be started anew, because its process
    /// is confined to what it had before.
    pub(super) async fn watch(&self, hub: &SharedConnection, mut told: Option<PermissionStatus>) {
        let confined = self.server.is_confined();
        let began_with = self.server.began_with();
        loop {
            if self.server.permissions_required().is_empty()
                && self.server.tools_need().is_empty()
                && told.is_none()
                && !confined
            {
                // Nearly every server. Its tools may become others.
                self.server.tool_needs_changed().await;
                continue;
            }
            if let (true, Some(before), Some(now)) = (confined, &began_with, self.held().await)
                && *before != now
            {
                return;
            }
            let standing = self.standing().await;
            let now = standing.clone().map(without_news);
            if now == told {
                tokio::select! {
                    () = tokio::time::sleep(DECISION_POLL_INTERVAL) => {}
                    () = self.server.tool_needs_changed() => {}
                }
                continue;
            }
            if let Some(standing) = &standing {
                self.ask_operator(standing).await;
                self.note_policy(standing).await;
                if speaks_of_permissions(hub) {
                    self.tell(hub, Word::Decided, standing).await;
                }
            }
            told = now;
            self.kernel.grants_changed();
        }
    }

    /// Every permission that it has, asked for or not.
    pub(super) async fn held(&self) -> Option<Vec<Granted>> {
        let tables = self.kernel.gate().tables().await.ok()?;
        Some(self.kernel.gate().held_permissions(&tables, self.server))
    }

    async fn standing(&self) -> Option<PermissionStatus> {
        let tables = self.kernel.gate().tables().await.ok()?;
        let of_tools: Vec<_> =
            self.server.tools_need().iter().flat_map(|(_, permissions)| permissions.clone()).collect();
        Some(standing_with(&self.kernel.gate(), &tables, self.server, &of_tools))
            .filter(|standing| *standing != PermissionStatus::default())
    }

    async fn tell(&self, hub: &SharedConnection, word: Word, standing: &PermissionStatus) {
        let (Some(agreement), Ok(tables)) = (&hub.agreement, self.kernel.gate().tables().await) else { return };
        let names = PermissionNames::of_version(agreement.peer_version());
        let (method, params) = match word {
            Word::Wait => {
                let open = standing.missing.iter().filter(|missing| is_open(missing));
                let open: Vec<_> = open.map(|missing| Raw::string(&missing.permission)).collect();
                let asked = self
                    .named_request()
                    .set("permissions", Raw::array(&open))
                    .set("policy", Raw::string(self.kernel.gate().options().approval_policy.as_str()))
                    .set("message", Raw::string("Waiting for operator approval"));
                (names.wait(), asked)
            }
            Word::Decided => (names.decided(), self.decided(names, standing, &tables)),
        };
        // A server that does not know the method is none the worse for it.
        let _ = hub.remote().request(Call::new(method, Some(params.finish())).within(TELL_TIMEOUT)).await;
    }

    fn named_request(&self) -> Edit {
        Edit::empty().set("request_id", Raw::string(&format!("perm-{}", self.server.id())))
    }

    /// What was decided, by whom, and until when (MGP 3.6).
    fn decided(&self, names: PermissionNames, standing: &PermissionStatus, tables: &Tables) -> Edit {
        let (mut grants, mut scopes) = (Edit::empty(), Edit::empty());
        let mut narrowed = false;
        for granted in &standing.granted {
            let value = Raw::string("approved");
            let scope = self.scope_of(&granted.permission, tables).filter(|_| granted.scope.is_some());
            grants = match (scope, names) {
                (Some(scope), PermissionNames::Later) => {
                    let value = Edit::empty().set("decision", value).set("scope", scope).finish();
                    grants.set(&granted.permission, value)
                }
                // The specification knows words alone; its readers find the rest beside them.
                (Some(scope), PermissionNames::First) => {
                    narrowed = true;
                    scopes = scopes.set(&granted.permission, scope);
                    grants.set(&granted.permission, value)
                }
                (None, _) => grants.set(&granted.permission, value),
            };
        }
        for missing in &standing.missing {
            let word = if is_open(missing) { "deferred" } else { "denied" };
            grants = grants.set(&missing.permission, Raw::string(word));
        }
        let all = standing.granted.iter().map(|granted| &granted.permission);
        let all = all.chain(standing.missing.iter().map(|missing| &missing.permission));
        let decisions: Vec<_> = all.filter_map(|permission| tables.decision(self.server.id(), permission)).collect();
        let latest = decisions.iter().max_by_key(|decision| decision.granted_at);
        let by = latest.map_or("policy", |decision| decision.granted_by.as_str());
        let approved = decisions.iter().filter(|decision| decision.decision == PermissionDecision::Approved);
        // What has ended already says nothing of how long the rest holds.
        let now = self.kernel.gate().granted.time();
        let ends = approved.filter_map(|decision| decision.expires_at).filter(|end| *end > now).min();
        self.named_request()
            .set("grants", grants.finish())
            .set_optional("scopes", narrowed.then(|| scopes.finish()))
            .set("approved_by", Raw::string(by))
            .set_optional("expires_at", ends.map(|end| Raw::string(&end.to_string())))
    }

    /// What a permission is limited to, as whoever gave it wrote it.
    fn scope_of(&self, permission: &str, tables: &Tables) -> Option<Raw> {
        let kept = tables.decision(self.server.id(), permission).and_then(|decision| decision.scopes.as_ref());
        let kept = kept.and_then(|scope| Raw::parse(scope.get().to_owned(), &Limits::default()).ok());
        let policy = self.server.policy();
        let same = |word: &str| permission::name::read(word).is_ok_and(|known| known.canonical == permission);
        let configured = || policy.permissions_granted.iter().find(|(word, _)| same(word))?.1.clone();
        kept.or_else(configured)
    }
}

/// Whether somebody may still say yes.
const fn is_open(missing: &Missing) -> bool {
    matches!(missing.why, Why::Undecided | Why::Deferred | Why::Expired)
}

/// Without a difference between what was not asked yet, is over, or waits for an answer: a server hears the same word.
fn without_news(mut standing: PermissionStatus) -> PermissionStatus {
    for missing in standing.missing.iter_mut().filter(|missing| is_open(missing)) {
        missing.why = Why::Deferred;
    }
    standing
}

/// What a server is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Wait,
    Decided,
}

fn speaks_of_permissions(hub: &SharedConnection) -> bool {
    hub.agreement.as_ref().is_some_and(|agreement| agreement.has(Extension::Permissions))
}
