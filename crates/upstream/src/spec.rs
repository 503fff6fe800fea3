//! What is told about a server, from whatever configuration it came.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use switchboard_flow::breaker::BreakerPolicy;
use switchboard_flow::meter::Allowance;
pub use switchboard_flow::restart::RestartMode as Restart;
use switchboard_flow::restart::RestartPolicy;
use switchboard_flow::retry::RetryPolicy;
use switchboard_peer::client::{EraChoice, Target};
use switchboard_policy::risk::OperatorWord;
use switchboard_protocol::mgp::{DefaultPolicy, TrustLevel};
use switchboard_validators::code::Level;
use switchboard_wire::Raw;

use crate::curated::Curated;
use crate::isolation::Isolation;
use crate::lists::ListKind;
use crate::names::Naming;

/// One server to be connected.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// Its id: unique, and part of the names that clients see.
    pub id: Arc<str>,
    /// Where it is.
    pub target: Target,
    /// Which era to speak with it.
    pub era: EraChoice,
    /// Whether clients share one connection to it.
    pub sharing: Sharing,
    /// How long its start may take, handshake included.
    pub start_timeout: Duration,
    /// How long a call may take without a sign of life.
    pub call_timeout: Duration,
    /// Whether to start it again when it ends.
    pub restart: Restart,
    /// How it is kept up.
    pub upkeep: Upkeep,
    /// Changes whenever anything of the above does, or how it is confined: two specs with one fingerprint are the same server.
    pub fingerprint: String,
    /// How its process is confined, where it has one.
    pub isolation: Option<Isolation>,
    /// What the operator says about its use. A change of it takes effect without a new start.
    pub policy: Arc<ServerPolicy>,
}

/// What the operator says about the use of a server.
#[derive(Debug, Clone)]
pub struct ServerPolicy {
    /// How far it is trusted. Its own claim can only lower this.
    pub trust: TrustLevel,
    /// What a principal without a grant may do; `None` for what holds for all servers.
    pub default_policy: Option<DefaultPolicy>,
    /// Permissions it needs, beside those that it asks for itself.
    pub permissions_required: Vec<String>,
    /// Permissions it has by configuration, with the scope that narrows each.
    pub permissions_granted: Vec<(String, Option<Raw>)>,
    /// What is said of single tools, by the server's own names.
    pub tools: HashMap<String, OperatorWord>,
    /// Arguments of single tools that are text, and neither paths nor hosts, whatever their names say.
    pub text_arguments: HashMap<String, Vec<String>>,
    /// What is said of single prompts, by the server's own names.
    pub prompts: HashMap<String, PromptPolicy>,
    /// Tools that nobody can use, by the server's own names.
    pub disabled: HashSet<String>,
    /// The only tools that can be used, by the server's own names; all of them if absent.
    pub only_tools: Option<HashSet<String>>,
    /// Tools that are shown and called in another form, by the server's own names.
    pub curated: HashMap<String, Arc<Curated>>,
    /// Tools whose arguments are, or are not, held against their schema, whatever holds for the others.
    pub schemas: HashMap<String, bool>,
    /// How code in the arguments of single tools is judged (MGP 7.2), whatever the server says.
    pub code_levels: HashMap<String, Level>,
    /// Whether it hears of the audit events of all servers and principals, if it agreed on `audit`; else of those that
    /// concern it.
    pub audit_sink: bool,
    /// How much it may be used, and what happens when it fails.
    pub pressure: PressurePolicy,
    /// Whose it alone is, where no grant says otherwise: who registered it.
    pub only_for: Option<Arc<str>>,
    /// What stands before the names of its tools, in the place of its id.
    pub alias: Option<String>,
    /// How long the names of its tools may be, as clients see them.
    pub max_name_length: usize,
    /// How long it may be silent about a call whose client hears meanwhile that it goes on, or asked for a task. `None`: as long as about
    /// any other.
    pub patience: Option<Duration>,
    /// What it is for, in the operator's words.
    pub description: Option<String>,
    /// What of MGP it speaks, by its configuration: what is told of it before it is connected.
    pub extensions: Vec<String>,
    /// When a person is asked about a definition that changed; what is usual for such a server if absent.
    pub pins: Option<PinPolicy>,
    /// The same of single tools, by the server's own names.
    pub tool_pins: HashMap<String, PinPolicy>,
}

/// When a person is asked about a definition that is not the accepted one. A later one is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PinPolicy {
    /// Never: only screening counts.
    Off,
    /// As [`Self::Ask`], but what is of the same major version passes while screening finds nothing in what is new.
    Follow,
    /// When it means something else.
    Ask,
    /// When anything of it differs, and when a tool comes that was not there at first.
    Strict,
}

impl PinPolicy {
    /// What holds where nothing is said: of a program that runs here, and that the operator trusts as usual, releases are
    /// followed, since whoever releases it runs code here anyway. What somebody else runs can change without anybody here
    /// having done a thing, and its version is a mere claim.
    #[must_use]
    pub fn usual(is_program: bool, trust: TrustLevel) -> Self {
        if is_program && trust >= TrustLevel::Standard { Self::Follow } else { Self::Ask }
    }
}

/// What the operator says about one prompt.
#[derive(Debug, Clone, Default)]
pub struct PromptPolicy {
    /// Its risk, its check, and whether a person is asked.
    pub word: OperatorWord,
    /// Whether nobody can use it.
    pub disabled: bool,
    /// Its arguments that are text, and neither paths nor hosts.
    pub text_arguments: Vec<String>,
}

/// How much a server may be used, and what happens when it fails.
#[derive(Debug, Clone, Default)]
pub struct PressurePolicy {
    /// Calls of everybody together.
    pub rates: Allowance,
    /// The same of single tools, by the server's own names.
    pub tools: HashMap<String, Allowance>,
    /// When no calls are made to it for a while.
    pub breaker: BreakerPolicy,
    /// How calls that failed are made again.
    pub retry: RetryPolicy,
}

impl ServerPolicy {
    /// How the tools and prompts of the server of this id are called beside those of others.
    #[must_use]
    pub fn naming(&self, id: &str) -> Naming {
        Naming::new(id, self.alias.as_deref(), self.max_name_length)
    }

    /// Whether the operator switched a tool or a prompt off, by its server's own name for it.
    #[must_use]
    pub fn is_disabled(&self, kind: ListKind, name: &str) -> bool {
        match kind {
            ListKind::Tools => {
                let is_left_out = self.only_tools.as_ref().is_some_and(|only| !only.contains(name));
                is_left_out || self.disabled.contains(name)
            }
            ListKind::Prompts => self.prompts.get(name).is_some_and(|said| said.disabled),
            _ => false,
        }
    }
}

impl Default for ServerPolicy {
    fn default() -> Self {
        Self {
            trust: TrustLevel::Standard,
            default_policy: None,
            permissions_required: Vec::new(),
            permissions_granted: Vec::new(),
            tools: HashMap::new(),
            text_arguments: HashMap::new(),
            prompts: HashMap::new(),
            disabled: HashSet::new(),
            only_tools: None,
            curated: HashMap::new(),
            schemas: HashMap::new(),
            code_levels: HashMap::new(),
            audit_sink: false,
            pressure: PressurePolicy::default(),
            only_for: None,
            alias: None,
            max_name_length: crate::names::MAX_EXPOSED_CHARS,
            patience: None,
            description: None,
            extensions: Vec::new(),
            pins: None,
            tool_pins: HashMap::new(),
        }
    }
}

impl PartialEq for ServerSpec {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.fingerprint == other.fingerprint
    }
}

/// Who shares a connection to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// All clients.
    Shared,
    /// Nobody: each client session has its own, made at its first call.
    PerSession,
    /// The sessions of one principal. A server in this process is told on its connection who that is; the owner of this
    /// machine uses the connection that is always there.
    PerPrincipal,
}

/// How a server is kept up (MGP 11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upkeep {
    /// Starts inside the window before the server is given up; `None` where it never is.
    pub max_restarts: Option<u32>,
    /// The window.
    pub restart_window: Duration,
    /// The pause before it is started again; it doubles from one failure to the next.
    pub backoff_base: Duration,
    /// The longest pause.
    pub backoff_max: Duration,
    /// How long each of its lists may take; as long as its start where it is not said.
    pub list_timeout: Option<Duration>,
    /// How long its process gets to end by itself before it is killed.
    pub stop_timeout: Duration,
    /// How long calls that run may take to end when it is drained, replaced or removed.
    pub drain: Duration,
    /// How often it is asked whether it lives.
    pub health_every: Option<Duration>,
    /// How long it may take to answer that.
    pub health_timeout: Duration,
    /// Answers that it may miss in a row, while nobody calls it, before it is started anew.
    pub health_failures: u32,
    /// After how long without a call it is put to sleep. The next call starts it.
    pub sleep_after: Option<Duration>,
}

impl Default for Upkeep {
    fn default() -> Self {
        let restart = RestartPolicy::default();
        Self {
            max_restarts: restart.max_restarts,
            restart_window: restart.window,
            backoff_base: restart.backoff_base,
            backoff_max: restart.backoff_max,
            list_timeout: None,
            stop_timeout: Duration::from_secs(3),
            drain: Duration::from_secs(30),
            health_every: Some(Duration::from_secs(30)),
            health_timeout: Duration::from_secs(5),
            health_failures: 3,
            sleep_after: None,
        }
    }
}

impl ServerSpec {
    /// When and how fast it is started again.
    pub fn restart_policy(&self) -> RestartPolicy {
        RestartPolicy {
            mode: self.restart,
            // What is not ours to start is not ours to give up: a far server comes back when it does.
            max_restarts: self.upkeep.max_restarts.filter(|_| matches!(self.target, Target::Command(_))),
            window: self.upkeep.restart_window,
            backoff_base: self.upkeep.backoff_base,
            backoff_max: self.upkeep.backoff_max,
            ..RestartPolicy::default()
        }
    }
}
