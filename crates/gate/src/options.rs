//! How the gate judges calls, as the operator wants it.

use std::sync::Arc;
use std::time::Duration;

use switchboard_peer::Session;
use switchboard_policy::permission;
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::mgp::{ApprovalPolicy, DefaultPolicy};
use switchboard_store::Store;
use switchboard_upstream::Server;
use switchboard_validators::arguments::OwnFiles;
use switchboard_validators::shell::Understood;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::meters::PrincipalRates;
use crate::policy::default_policy;
use crate::profiles::{Profile, Profiles};

/// How the gate judges calls.
#[derive(Debug, Clone)]
pub struct GateOptions {
    /// Where grants, pins, approvals and audit are kept. Without one nothing of it outlives the process, and events
    /// go to the log alone.
    pub store: Option<Store>,
    /// What happens to the permissions that servers ask for (MGP 3.3).
    pub approval_policy: ApprovalPolicy,
    /// Permissions that `auto_approve` does not cover.
    pub auto_approve_exceptions: Vec<String>,
    /// What a principal without a grant may do. By default all for the owner of the process, nothing for others.
    pub default_policy: Option<DefaultPolicy>,
    /// How long a call may wait for a person.
    pub approval_wait: Duration,
    /// Whether a tool is remembered as it was first seen, and held back when it changes.
    pub pin_definitions: bool,
    /// Whether definitions of tools are searched for orders to the model before they are shown.
    pub screen_definitions: bool,
    /// Whether results are searched for what hides or gives orders, and marked.
    pub screen_results: bool,
    /// Whether arguments are held against the schema of their tool.
    pub check_schemas: bool,
    /// Bytes of one result of a tool.
    pub result_bytes: usize,
    /// Whether tools that name scopes are called only with a session token that has them (proposal 4).
    pub demand_scopes: bool,
    /// How long a session token lives at most.
    pub session_ttl: Duration,
    /// Whether values of arguments are written to the audit log, with secrets taken out; else only their hash.
    pub audit_arguments: bool,
    /// Whether a call waits for the disk wherever it may change something, not only where somebody says that it does.
    pub sync_all_effects: bool,
    /// Whether calls that only read go on where neither store nor journal can put them on record.
    pub reads_without_record: bool,
    /// Which commands are understood, and so run unasked where the operator wants nobody asked.
    pub understood: Understood,
    /// Files of Switchboard itself, which no call touches unasked.
    pub own_files: Arc<OwnFiles>,
    /// The parts of everything that clients can choose.
    pub profiles: Profiles,
}

/// What the gate shares with whoever holds it.
#[derive(Debug, Clone)]
pub struct GateContext {
    /// Runs what is done beside calls.
    pub tasks: TaskTracker,
    /// Counts calls that wait for a person while no server works on them: they are not over.
    pub waiting_calls: TaskTracker,
    /// Cancelled when the end begins.
    pub closing: CancellationToken,
    /// How much principals may do.
    pub principal_rates: PrincipalRates,
}

impl GateOptions {
    /// Whether the operator wants nobody asked.
    #[must_use]
    pub fn approves_all(&self) -> bool {
        self.approval_policy == ApprovalPolicy::AutoApprove
    }

    /// Whether a person is asked for this reason: with `auto_approve` only where the operator said so of the tool.
    #[must_use]
    pub fn asks_for(&self, reason: ConfirmReason) -> bool {
        !self.approves_all() || matches!(reason, ConfirmReason::Operator | ConfirmReason::Profile)
    }

    /// What a principal without a grant may do at a server.
    pub fn default_for(&self, principal: &str, server: &Server) -> DefaultPolicy {
        let policy = server.policy_now();
        if let Some(owner) = &policy.only_for {
            return if **owner == *principal { DefaultPolicy::OptOut } else { DefaultPolicy::OptIn };
        }
        default_policy(principal, policy.default_policy, self.default_policy)
    }

    /// How the permissions of a server are decided about.
    #[must_use]
    pub fn permission_policy(&self, server: &Server) -> permission::Policy {
        let said = server.policy();
        let configured = said.permissions_granted.iter().filter_map(|(permission, scope)| {
            let scope = match scope {
                None => None,
                // A scope that cannot be read must not become none.
                Some(raw) => Some(permission::Scope::read(raw).ok()?),
            };
            Some(permission::Granted { permission: permission.clone(), scope })
        });
        permission::Policy {
            configured: configured.collect(),
            exceptions: self.auto_approve_exceptions.clone(),
            ..permission::Policy::new(self.approval_policy)
        }
    }

    /// The profile of a session; `None` where it is in none, `Some(None)` where that is gone.
    #[must_use]
    pub fn profile_of(&self, session: &Session) -> Option<Option<&Profile>> {
        let name = session.identity.profile.as_deref()?;
        Some(self.profiles.get(name))
    }
}

impl Default for GateOptions {
    fn default() -> Self {
        Self {
            store: None,
            approval_policy: ApprovalPolicy::Interactive,
            auto_approve_exceptions: vec!["filesystem.write".to_owned(), "network.outbound".to_owned()],
            default_policy: None,
            approval_wait: Duration::from_secs(45),
            pin_definitions: true,
            screen_definitions: true,
            screen_results: true,
            check_schemas: true,
            result_bytes: usize::MAX,
            demand_scopes: false,
            session_ttl: Duration::from_hours(1),
            audit_arguments: false,
            sync_all_effects: false,
            reads_without_record: false,
            understood: Understood::default(),
            own_files: Arc::default(),
            profiles: Profiles::default(),
        }
    }
}
