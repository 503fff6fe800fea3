//! One server of a configuration: what was declared, where, and what may be started.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use switchboard_protocol::mgp::TrustLevel;

use crate::entry::{Era, Restart, ServerEntry, Sharing, Transport};
use crate::error::ConfigError;
use crate::oauth::OAuthClient;
use crate::secret::Secret;
use crate::settings::Limits;

/// Where a configuration came from, which decides how far it is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Named with `--config`: the operator's word.
    Explicit,
    /// Named by `MGP_CONFIG_PATH`.
    Environment,
    /// The user's own file.
    User,
    /// `./mgp.toml`, which came with the project: starts nothing until trusted.
    Project,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Explicit => "--config",
            Self::Environment => "MGP_CONFIG_PATH",
            Self::User => "user",
            Self::Project => "project",
        })
    }
}

/// One server. [`Server::endpoint`] is the only way to what it runs, so that a broken or untrusted one cannot be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// As declared, references not expanded.
    pub entry: ServerEntry,
    /// Where the file came from.
    pub origin: Origin,
    /// The file.
    pub file: PathBuf,
    /// Line of the declaration.
    pub line: usize,
    pub(crate) endpoint: Result<Endpoint, ConfigError>,
}

impl Server {
    /// The id.
    pub fn id(&self) -> &str {
        &self.entry.id
    }

    /// Whether it is meant to run.
    pub fn enabled(&self) -> bool {
        self.entry.enabled.unwrap_or(true)
    }

    /// What to run or reach, with all references expanded, or why not.
    pub fn endpoint(&self) -> Result<&Endpoint, &ConfigError> {
        self.endpoint.as_ref()
    }

    /// Why it cannot be used, if so.
    pub fn problem(&self) -> Option<&ConfigError> {
        self.endpoint.as_ref().err()
    }

    /// The transport.
    pub fn transport(&self) -> Transport {
        self.entry.effective_transport()
    }

    /// Sharing: by default a child process is shared, a remote server gets a connection for each session.
    pub fn sharing(&self) -> Sharing {
        let default = if self.transport() == Transport::Stdio { Sharing::Shared } else { Sharing::Session };
        self.entry.sharing.unwrap_or(default)
    }

    /// The era, `auto` by default.
    pub fn era(&self) -> Era {
        self.entry.era.unwrap_or(Era::Auto)
    }

    /// Trust level, `standard` by default.
    pub fn trust_level(&self) -> TrustLevel {
        self.entry.mgp.as_ref().and_then(|mgp| mgp.trust_level).unwrap_or(TrustLevel::Standard)
    }

    /// Restart policy.
    pub fn restart(&self) -> Restart {
        self.entry.mgp.as_ref().and_then(|mgp| mgp.restart.clone()).unwrap_or_default()
    }

    /// Time for start and handshake.
    pub fn start_timeout(&self, limits: &Limits) -> Duration {
        self.entry.start_timeout.unwrap_or(limits.start_timeout)
    }

    /// Time for one call without progress.
    pub fn call_timeout(&self, limits: &Limits) -> Duration {
        self.entry.call_timeout.unwrap_or(limits.call_timeout)
    }
}

/// What a server is, ready to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A child process.
    Stdio(StdioEndpoint),
    /// A remote server.
    Http(RemoteEndpoint),
    /// What is reached as the scheme of this address says, which is not HTTP.
    Address(String),
}

/// A child process, started without a shell. `Debug` shows no argument, since an expanded one may hold a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct StdioEndpoint {
    /// The program: a name to look up on `PATH`, or a path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Working directory; the kernel's own when absent.
    pub cwd: Option<PathBuf>,
    /// Variables it gets.
    pub env: BTreeMap<String, Secret>,
    /// Variables of the kernel's environment that are let through.
    pub pass_env: Vec<String>,
}

impl fmt::Debug for StdioEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioEndpoint")
            .field("program", &self.program)
            .field("args", &format_args!("[{} redacted]", self.args.len()))
            .field("cwd", &self.cwd)
            .field("env", &self.env)
            .field("pass_env", &self.pass_env)
            .finish()
    }
}

/// A remote server. `Debug` shows no query, since it may hold a key.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteEndpoint {
    /// `true` for HTTP+SSE of 2024-11-05, `false` for streamable HTTP.
    pub legacy_sse: bool,
    /// The address, `http` or `https`, without user information or fragment.
    pub url: String,
    /// Headers to send.
    pub headers: BTreeMap<String, Secret>,
    /// Bearer token to send.
    pub token: Option<Secret>,
    /// The client that gets tokens for it.
    pub oauth: Option<OAuthClient>,
}

impl fmt::Debug for RemoteEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEndpoint")
            .field("legacy_sse", &self.legacy_sse)
            .field("url", &self.url.split('?').next().unwrap_or_default())
            .field("headers", &self.headers)
            .field("token", &self.token)
            .field("oauth", &self.oauth)
            .finish()
    }
}
