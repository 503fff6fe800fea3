//! How the gate judges calls, as the operator wants it.

use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::mgp::{ApprovalPolicy, DefaultPolicy};
use switchboard_store::Store;
use switchboard_validators::arguments::OwnFiles;
use switchboard_validators::shell::Understood;

use crate::profiles::Profiles;

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
