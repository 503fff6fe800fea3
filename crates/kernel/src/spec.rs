//! What the kernel is told about itself; about servers, see `switchboard-upstream`.

use std::sync::Arc;
use std::time::Duration;

use switchboard_flow::meter::Rate;
use switchboard_peer::client::Credentials;
use switchboard_protocol::mgp::{ApprovalPolicy, DefaultPolicy};
use switchboard_store::Store;
pub use switchboard_upstream::{
    PinPolicy, PressurePolicy, PromptPolicy, Restart, ServerPolicy, ServerSpec, Sharing, Upkeep,
};
use switchboard_validators::arguments::OwnFiles;
use switchboard_validators::shell::Understood;
use switchboard_wire::Limits;

use crate::gate::rates::PrincipalRates;
use crate::profiles::Profiles;
use crate::services::ToolContext;
use crate::services::registry::ServerOffers;

/// How the kernel behaves.
#[derive(Debug, Clone)]
pub struct KernelOptions {
    /// Bounds on one message.
    pub limits: Limits,
    /// How long a list or a greeting waits for servers that are still starting.
    pub list_wait: Duration,
    /// How long a call may take altogether, signs of life or not.
    pub longest_call: Duration,
    /// How long a question to a client may stay open.
    pub question_timeout: Duration,
    /// Calls that may wait for a modern client's input, all clients together.
    pub parked_calls: usize,
    /// The same for one principal.
    pub parked_calls_each: usize,
    /// How much principals may do.
    pub principal_rates: PrincipalRates,
    /// Notifications that one server may send, beyond those that belong to a call.
    pub notification_rate: Option<Rate>,
    /// Calls that may run at one server at a time.
    pub server_requests: usize,
    /// Elements taken of one list of one server.
    pub list_items: usize,
    /// Processes that are started at once.
    pub concurrent_starts: usize,
    /// Credentials for servers over HTTP that have none in their configuration.
    pub credentials: Option<Arc<dyn Credentials>>,
    /// How calls are judged.
    pub gate: GateOptions,
    /// Which tools clients are given.
    pub tools: ToolContext,
    /// Which servers may come while it runs.
    pub servers: ServerOffers,
}

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

impl Default for KernelOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            list_wait: Duration::from_secs(3),
            longest_call: Duration::from_secs(3600),
            question_timeout: Duration::from_secs(600),
            parked_calls: 1024,
            parked_calls_each: 256,
            principal_rates: PrincipalRates::default(),
            notification_rate: Some(Rate { count: 1_000, window: Duration::from_secs(1), burst: 2_000 }),
            server_requests: 4_096,
            list_items: 10_000,
            concurrent_starts: crate::starts_for(std::thread::available_parallelism().map_or(1, usize::from)),
            credentials: None,
            gate: GateOptions::default(),
            tools: ToolContext::default(),
            servers: ServerOffers::default(),
        }
    }
}
