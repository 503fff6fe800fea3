//! What a configuration says about the kernel itself: address, policies, storage, limits.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use switchboard_protocol::mgp::{ApprovalPolicy, DefaultPolicy};

use crate::auth::Auth;
use crate::discovery::Discovery;
use crate::flow::{BreakerSettings, RateSettings, Retry};
use crate::memory::MemorySettings;
use crate::policy::{GateSettings, IsolationMode};
use crate::profiles::ProfileSettings;
use crate::secret::Secret;
use crate::tools::ToolSettings;

/// The top-level keys and sections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Address of the HTTP endpoint. Default `127.0.0.1:7420`.
    pub listen: SocketAddr,
    /// `Host` values accepted besides the address itself.
    pub allowed_hosts: Vec<String>,
    /// `Origin` values accepted.
    pub allowed_origins: Vec<String>,
    /// Variables of our own environment that every process of a server gets.
    pub pass_env: Vec<String>,
    /// Where state is kept, if the file says so.
    pub data_dir: Option<PathBuf>,
    /// Approval policy.
    pub approval_policy: ApprovalPolicy,
    /// Default policy for all servers that have none of their own.
    pub default_policy: Option<DefaultPolicy>,
    /// Where durable state goes; an address that may hold a password.
    pub store: Option<Secret>,
    /// Where events go; an address that may hold a password.
    pub bus: Option<Secret>,
    /// How calls are judged.
    pub gate: GateSettings,
    /// Which servers are confined.
    pub isolation: IsolationMode,
    /// Limits.
    pub limits: Limits,
    /// How often calls may be made (`[rates]`).
    pub rates: RateSettings,
    /// When calls to a server stop for a while (`[breaker]`).
    pub breaker: BreakerSettings,
    /// How calls that failed are made again (`[retry]`).
    pub retry: Retry,
    /// Which tools models are given (`[tool_context]`).
    pub tools: ToolSettings,
    /// An identity provider whose tokens are accepted (`[auth]`).
    pub auth: Option<Auth>,
    /// The memory that comes with Switchboard (`[memory]`).
    pub memory: MemorySettings,
    /// Servers that come while the kernel runs, and registries (`[discovery]`).
    pub discovery: Discovery,
    /// Named parts of everything that is served (`[profiles.NAME]`).
    pub profiles: BTreeMap<String, ProfileSettings>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7420)),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            pass_env: Vec::new(),
            data_dir: None,
            approval_policy: ApprovalPolicy::Interactive,
            default_policy: None,
            store: None,
            bus: None,
            gate: GateSettings::default(),
            isolation: IsolationMode::Untrusted,
            limits: Limits::default(),
            rates: RateSettings::default(),
            breaker: BreakerSettings::default(),
            retry: Retry::default(),
            tools: ToolSettings::default(),
            auth: None,
            memory: MemorySettings::default(),
            discovery: Discovery::default(),
            profiles: BTreeMap::new(),
        }
    }
}

/// The `[limits]` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message (`message_bytes`).
    pub message_bytes: usize,
    /// Bytes of one result (`result_bytes`); as many as of a message if absent.
    pub result_bytes: Option<usize>,
    /// Nesting of one message (`depth`).
    pub depth: usize,
    /// Object keys in one message (`keys`).
    pub keys: usize,
    /// Characters of one number (`number_length`).
    pub number_length: usize,
    /// Messages in one batch (`batch`).
    pub batch: usize,
    /// Client sessions at a time (`sessions`).
    pub sessions: usize,
    /// HTTP connections at a time (`connections`).
    pub connections: usize,
    /// Requests in flight per session (`session_requests`).
    pub session_requests: usize,
    /// Bytes that all streams and bodies of clients over HTTP may hold together (`buffer_bytes`).
    pub buffer_bytes: usize,
    /// Requests in flight per server (`server_requests`).
    pub server_requests: usize,
    /// Processes of servers that are started at once (`concurrent_starts`); as many as the machine bears if absent.
    pub concurrent_starts: Option<usize>,
    /// How long a list waits for slow servers before it answers without them (`list_wait_ms`).
    pub list_wait: Duration,
    /// Time for one call without progress (`call_timeout_ms`).
    pub call_timeout: Duration,
    /// Time for one call however much progress it makes (`call_timeout_max_ms`).
    pub call_timeout_max: Duration,
    /// Time for a server to start and shake hands (`start_timeout_ms`).
    pub start_timeout: Duration,
    /// Time between the request to end and the kill (`stop_timeout_ms`).
    pub stop_timeout: Duration,
    /// How long calls that run may take when a server is to end (`drain_timeout_ms`).
    pub drain_timeout: Duration,
    /// How long a kernel that clients of `stdio` share stays after the last of them (`linger_ms`).
    pub linger: Duration,
    /// How long requests that run may go on when the kernel is to end (`shutdown_grace_ms`).
    pub shutdown_grace: Duration,
    /// How often servers are asked whether they live; zero for never (`health_every_ms`).
    pub health_every: Duration,
    /// How long they may take to answer (`health_timeout_ms`).
    pub health_timeout: Duration,
    /// How long a silent HTTP session is kept (`session_idle_ms`).
    pub session_idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 16 << 20,
            result_bytes: None,
            depth: 128,
            keys: 200_000,
            number_length: 1_000,
            batch: 100,
            sessions: 10_000,
            connections: 10_000,
            session_requests: 1_024,
            buffer_bytes: 96 << 20,
            server_requests: 4_096,
            concurrent_starts: None,
            list_wait: Duration::from_millis(5_000),
            // Below the 60 s after which the usual clients give up a call that they hear nothing of.
            call_timeout: Duration::from_millis(55_000),
            call_timeout_max: Duration::from_millis(1_800_000),
            start_timeout: Duration::from_millis(30_000),
            stop_timeout: Duration::from_millis(3_000),
            drain_timeout: Duration::from_millis(30_000),
            linger: Duration::from_millis(60_000),
            shutdown_grace: Duration::from_millis(5_000),
            health_every: Duration::from_millis(30_000),
            health_timeout: Duration::from_millis(5_000),
            session_idle: Duration::from_millis(3_600_000),
        }
    }
}
