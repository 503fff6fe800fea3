//! Connections to servers: the era probe, the handshake, streamable HTTP and HTTP+SSE, and what else `schemes` has.
//!
//! [`connect`] decides which era a server speaks and gives back a [`Remote`] that looks the same for all of them. It
//! deliberately knows no server name, no restart policy and no routing. A server that answered `server/discover` is
//! never sent `initialize`.

mod authorize;
mod handshake;
mod http;
mod identity;
mod in_process;
mod schemes;
#[cfg(unix)]
mod socket;
mod sse;
mod stdio;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use switchboard_protocol::{Era, Revision};
use switchboard_transport::child::{CommandSpec, Oversight, SpawnError, StderrTail};
use switchboard_transport::http_client::HttpError;
use switchboard_wire::{ErrorObject, Limits, Raw};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{BoxFuture, CallError, Handler, Remote, duplex};

pub use self::authorize::{AuthorizeError, Authorizer, CredentialSource, Refusal, Wanted};

/// Where a server is.
#[derive(Clone)]
pub enum Target {
    /// A process that speaks on its standard streams.
    Command(CommandSpec),
    /// Streamable HTTP in either era; HTTP+SSE where the server turns out to speak only that.
    Http {
        /// The address of the endpoint.
        url: String,
        /// Headers of every request, credentials among them.
        headers: Vec<(String, String)>,
    },
    /// HTTP+SSE, the transport of 2024-11-05.
    Sse {
        /// The address of the event stream.
        url: String,
        /// Headers of every request, credentials among them.
        headers: Vec<(String, String)>,
    },
    /// Whatever the scheme of this address stands for, HTTP apart: `unix:/run/mcp.sock`.
    Address(String),
    /// A server inside this process.
    InProcess(Arc<dyn Handler>),
    /// Nowhere: what is said of it is no server, and this is why.
    Nowhere(String),
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(spec) => f.debug_tuple("Command").field(spec).finish(),
            Self::Http { .. } => f.write_str("Http"),
            Self::Sse { .. } => f.write_str("Sse"),
            Self::Address(address) => f.debug_tuple("Address").field(address).finish(),
            Self::InProcess(_) => f.write_str("InProcess"),
            Self::Nowhere(why) => f.debug_tuple("Nowhere").field(why).finish(),
        }
    }
}

/// Which eras to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EraChoice {
    /// Probe with `server/discover`, fall back to `initialize`.
    #[default]
    Auto,
    /// Only `initialize`.
    Legacy,
    /// Only per-request metadata.
    Modern,
}

/// How to connect.
#[derive(Clone)]
pub struct ConnectOptions {
    /// Which eras to try.
    pub era: EraChoice,
    /// The era this server spoke last time. It is tried first, and spares the probe.
    pub known_era: Option<Era>,
    /// `clientInfo`: who we are.
    pub info: Raw,
    /// What we can do, for `initialize`, and for modern requests that do not say it themselves.
    pub capabilities: Raw,
    /// The legacy revision to ask for.
    pub legacy_revision: Revision,
    /// How long all of it may take.
    pub start_timeout: Duration,
    /// How long to wait for the answer to the probe before the server counts as legacy.
    pub probe_timeout: Duration,
    /// How long a process gets to end by itself before it is killed.
    pub stop_timeout: Duration,
    /// Bounds on one message.
    pub limits: Limits,
    /// Gives requests over streamable HTTP their `Authorization` header, where it changes over time.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    /// In whose name the connection is: a server in this process sees it as its caller. No other server is told.
    pub principal: Option<Arc<str>>,
}

impl ConnectOptions {
    /// The usual deadlines.
    #[must_use]
    pub fn new(info: Raw, capabilities: Raw) -> Self {
        Self {
            era: EraChoice::Auto,
            known_era: None,
            info,
            capabilities,
            legacy_revision: Revision::LATEST_LEGACY,
            start_timeout: Duration::from_secs(60),
            probe_timeout: Duration::from_secs(5),
            stop_timeout: Duration::from_secs(4),
            limits: Limits::default(),
            authorizer: None,
            principal: None,
        }
    }
}

impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("era", &self.era)
            .field("known_era", &self.known_era)
            .finish_non_exhaustive()
    }
}

/// What a server says of itself.
#[derive(Debug, Clone)]
pub struct ServerProfile {
    /// `serverInfo`, untouched.
    pub info: Option<Raw>,
    /// What it can do, an object, untouched.
    pub capabilities: Raw,
    /// How to use it, for the model.
    pub instructions: Option<String>,
    /// The whole result of `initialize` or `server/discover`, untouched.
    pub result: Raw,
}

/// A server that answered.
pub struct Connected {
    /// The revision that is spoken.
    pub revision: Revision,
    /// What the server says of itself.
    pub server: ServerProfile,
    /// Asks the server.
    pub remote: Arc<dyn Remote>,
    /// Cancelled when the connection has ended, for whatever reason.
    pub closed: CancellationToken,
    /// How often the session was established anew after the server lost it. What the server kept for the old session
    /// (subscriptions, log level) is gone then.
    pub renewals: watch::Receiver<u64>,
    stopper: Arc<dyn Stopper>,
    stderr: Option<StderrTail>,
    oversight: Option<Oversight>,
}

/// What a server sent that is of no use to anybody, counted since it was connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Disorder {
    /// Answers that nobody waited for: late, repeated, or never asked.
    pub stray_answers: u64,
    /// Lines that are no messages.
    pub refused_lines: u64,
    /// Progress for a token that was not given out.
    pub foreign_progress: u64,
}

impl Disorder {
    /// All of it.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.stray_answers.saturating_add(self.refused_lines).saturating_add(self.foreign_progress)
    }
}

impl From<&duplex::DuplexStats> for Disorder {
    fn from(stats: &duplex::DuplexStats) -> Self {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Self {
            stray_answers: read(&stats.stray_answers),
            refused_lines: read(&stats.refused_lines),
            foreign_progress: read(&stats.foreign_progress),
        }
    }
}

/// Ends a connection in the way of its transport.
pub(crate) trait Stopper: Send + Sync {
    fn stop(&self) -> BoxFuture<'_, ()>;

    /// What was wrong with what it sent.
    fn disorder(&self) -> Disorder;
}

impl Connected {
    /// Ends the connection: the session is deleted, or the process and its whole group are ended.
    pub async fn stop(&self) {
        self.stopper.stop().await;
    }

    /// What watches over the process, where there is one.
    #[must_use]
    pub const fn oversight(&self) -> Option<&Oversight> {
        self.oversight.as_ref()
    }

    /// The last lines of the process's standard error, where there is a process.
    #[must_use]
    pub fn stderr_tail(&self) -> Option<String> {
        self.stderr.as_ref().map(StderrTail::text)
    }

    /// What was wrong with what the server sent.
    #[must_use]
    pub fn disorder(&self) -> Disorder {
        self.stopper.disorder()
    }

    /// The era that is spoken, to be remembered for the next start.
    #[must_use]
    pub const fn era(&self) -> Era {
        self.revision.era()
    }
}

impl fmt::Debug for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connected")
            .field("revision", &self.revision)
            .field("server", &self.server.info)
            .finish_non_exhaustive()
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The process could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The process ended before it had answered.
    #[error("the server ended during the handshake{}{}", exit_text(.exit), stderr_text(.stderr))]
    Died {
        /// How it ended, where that is known.
        exit: Option<String>,
        /// The last lines of its standard error.
        stderr: String,
    },
    /// It took too long.
    #[error("the server did not answer `{step}` within {after:?}{}", stderr_text(.stderr))]
    Timeout {
        /// What was asked.
        step: &'static str,
        /// How long was waited.
        after: Duration,
        /// The last lines of its standard error.
        stderr: String,
    },
    /// The server refuses.
    #[error("the server refused `{step}`: {error}")]
    Refused {
        /// What was asked.
        step: &'static str,
        /// Its words.
        error: ErrorObject,
    },
    /// There is no revision that both speak.
    #[error("the server speaks none of our protocol revisions (it offers: {})", .supported.join(", "))]
    NoCommonRevision {
        /// What it offers.
        supported: Vec<String>,
    },
    /// The answer is none.
    #[error("the server's answer to `{step}` cannot be used: {why}")]
    BadAnswer {
        /// What was asked.
        step: &'static str,
        /// What is wrong.
        why: String,
    },
    /// Other credentials are wanted.
    #[error("the server refused the credentials (HTTP {status}): check the token or the headers configured for it")]
    Unauthorized {
        /// 401 or 403.
        status: u16,
        /// `WWW-Authenticate`, where it was sent.
        challenge: Option<String>,
    },
    /// There is nothing to connect to.
    #[error("{0}")]
    Nowhere(String),
    /// HTTP failed.
    #[error(transparent)]
    Http(#[from] HttpError),
}

fn exit_text(exit: &Option<String>) -> String {
    exit.as_ref().map_or_else(String::new, |exit| format!(" ({exit})"))
}

fn stderr_text(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines.len().saturating_sub(LAST_LINES);
    // The cause often stands above a trace that is longer than what is told.
    let named = lines[..end].iter().rev().find(|line| NAMING_CAUSES.iter().any(|word| line.contains(word)));
    match (&lines[end..], named) {
        ([], _) => String::new(),
        (last, None) => format!("; its standard error ends with: {}", last.join(" | ")),
        (last, Some(cause)) => format!("; its standard error has: {} | ... | {}", cause.trim(), last.join(" | ")),
    }
}

/// The end of the standard error that is told.
const LAST_LINES: usize = 5;
/// What lines say that tell why a program ended.
const NAMING_CAUSES: &[&str] = &["Error:", "error:", "Exception:", "panicked at", "Cannot find", "fatal:"];

impl ConnectError {
    /// Nothing was agreed on in the time that was given for all of it.
    const fn late(after: Duration) -> Self {
        Self::Timeout { step: "connect", after, stderr: String::new() }
    }

    fn from_call(step: &'static str, error: CallError) -> Self {
        match error {
            CallError::Timeout(after) => Self::Timeout { step, after, stderr: String::new() },
            CallError::Unauthorized { status, challenge } => Self::Unauthorized { status, challenge },
            CallError::Closed => Self::Died { exit: None, stderr: String::new() },
            other => Self::BadAnswer { step, why: other.to_string() },
        }
    }
}

/// Connects to a server and does the handshake. What the server sends besides answers goes to `handler`.
///
/// # Errors
/// The server cannot be started or reached, or nothing can be agreed on with it.
pub async fn connect(
    target: Target,
    options: ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Result<Connected, ConnectError> {
    let after = options.start_timeout;
    let connecting: BoxFuture<'_, _> = match target {
        // It keeps the deadline itself: it has more to say when that has passed, and a process to end.
        Target::Command(spec) => return stdio::connect(spec, options, handler).await,
        Target::Http { url, headers } => Box::pin(async move { http::connect(&url, &headers, options, handler).await }),
        Target::Sse { url, headers } => Box::pin(async move { sse::connect(&url, &headers, options, handler).await }),
        Target::Address(address) => schemes::connect(&address, options, handler)?,
        Target::InProcess(server) => Box::pin(in_process::connect(server, options, handler)),
        Target::Nowhere(why) => return Err(ConnectError::Nowhere(why)),
    };
    tokio::time::timeout(after, connecting).await.unwrap_or_else(|_| Err(ConnectError::late(after)))
}
