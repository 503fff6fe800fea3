//! What the kernel is told about itself; about servers, see `switchboard-upstream`.

use std::sync::Arc;
use std::time::Duration;

use switchboard_flow::meter::Rate;
use switchboard_peer::client::CredentialSource;
pub use switchboard_upstream::{
    PinPolicy, PressurePolicy, PromptPolicy, Restart, ServerPolicy, ServerSpec, Sharing, Upkeep,
};
use switchboard_wire::Limits;

pub use crate::gate::GateOptions;
use crate::gate::rates::PrincipalRates;
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
    pub credentials: Option<Arc<dyn CredentialSource>>,
    /// How calls are judged.
    pub gate: GateOptions,
    /// Which tools clients are given.
    pub tools: ToolContext,
    /// Which servers may come while it runs.
    pub servers: ServerOffers,
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
