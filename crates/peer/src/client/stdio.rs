//! Servers that are processes: start, probe on the same process, and start anew where the probe killed it.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::mcp::method;
use switchboard_protocol::{Era, Revision};
use switchboard_transport::child::{Child, CommandSpec, Oversight, StderrTail, StopGrace};
use switchboard_wire::Notification;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::handshake::{self, Probe};
use super::identity::Identity;
use super::{ConnectError, ConnectOptions, Connected, Disorder, EraChoice, ServerProfile, Stopper};
use crate::duplex::{self, Connection, Role, Started};
use crate::{BoxFuture, Call, CallError, Handler, Remote, Reply, SendError};

/// After the connection has ended the process gets this long to end by itself.
const LINGER: Duration = Duration::from_secs(5);
/// What a process that failed has written is read for this long, where others hold its pipes open.
const LAST_WORDS: Duration = Duration::from_millis(500);

pub(super) async fn connect(
    spec: CommandSpec,
    options: ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Result<Connected, ConnectError> {
    let first = Opening::first(&options);
    let deadline = Instant::now() + options.start_timeout;
    let outcome = attempt(&spec, &options, &handler, first, deadline).await;
    match outcome.as_ref().err().and_then(|error| first.instead(error, &options)) {
        Some(other) => {
            tracing::debug!(program = spec.program, ?first, "the first message was in vain; starting the server again");
            attempt(&spec, &options, &handler, other, deadline).await
        }
        None => outcome,
    }
}

/// How to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    Initialize,
    Discover,
    Probe,
}

impl Opening {
    /// What is tried first.
    pub(super) const fn first(options: &ConnectOptions) -> Self {
        match (options.era, options.known_era) {
            (EraChoice::Legacy, _) | (EraChoice::Auto, Some(Era::Legacy)) => Self::Initialize,
            (EraChoice::Modern, _) => Self::Discover,
            (EraChoice::Auto, _) => Self::Probe,
        }
    }

    /// What is tried on a new connection where this failed.
    pub(super) fn instead(self, error: &ConnectError, options: &ConnectOptions) -> Option<Self> {
        match (self, error) {
            // Some servers die of a first message that is not `initialize`.
            (Self::Probe, ConnectError::Died { .. }) => Some(Self::Initialize),
            // The remembered era may be out of date: the server was updated.
            (Self::Initialize, ConnectError::Refused { .. } | ConnectError::Died { .. })
                if options.era == EraChoice::Auto =>
            {
                Some(Self::Discover)
            }
            _ => None,
        }
    }
}

/// A connection that ends where its lines do, and where it is dropped.
pub(super) struct ConnectionStopper(pub(super) Arc<Connection>);

impl Stopper for ConnectionStopper {
    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { self.0.close() })
    }

    fn disorder(&self) -> Disorder {
        self.0.stats().into()
    }
}

impl Drop for ConnectionStopper {
    fn drop(&mut self) {
        self.0.close();
    }
}

async fn attempt(
    spec: &CommandSpec,
    options: &ConnectOptions,
    handler: &Arc<dyn Handler>,
    opening: Opening,
    deadline: Instant,
) -> Result<Connected, ConnectError> {
    let mut child = Child::spawn(spec).await?;
    let (stderr, oversight) = (child.stderr_tail(), child.oversight());
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(ConnectError::Died { exit: None, stderr: String::new() });
    };
    let wire = start(stdout, stdin, options, handler.clone());
    let agreed = tokio::time::timeout_at(deadline, agree(&wire, options, opening)).await;
    match agreed.unwrap_or_else(|_| Err(ConnectError::late(options.start_timeout))) {
        Ok((revision, profile)) => {
            let stopper = Arc::new(Process {
                child: Mutex::new(Some(child)),
                connection: wire.connection.clone(),
                // Half of it after the end of its input, half after it was asked to end.
                grace: StopGrace { after_eof: options.stop_timeout / 2, after_term: options.stop_timeout / 2 },
                ended: CancellationToken::new(),
            });
            reap_when_closed(&stopper, wire.finished.clone());
            close_when_dead(&wire.connection, oversight.clone());
            Ok(connected(&wire, options, revision, profile, stopper, Some((stderr, oversight))))
        }
        Err(error) => {
            wire.connection.close();
            let exit = match error {
                // The end of its output comes just before its own.
                ConnectError::Died { .. } => {
                    tokio::time::timeout(Duration::from_secs(1), child.wait()).await.ok().flatten()
                }
                _ => child.exit_status(),
            };
            let error = with_evidence(error, exit.map(|exit| exit.to_string()), &stderr);
            child.stop(StopGrace { after_eof: Duration::from_millis(500), ..StopGrace::default() }).await;
            Err(error)
        }
    }
}

/// Adds what the process left behind to the error.
fn with_evidence(error: ConnectError, ended: Option<String>, tail: &StderrTail) -> ConnectError {
    match (error, ended) {
        (ConnectError::Died { .. }, exit) => ConnectError::Died { exit, stderr: tail.text() },
        (ConnectError::Timeout { step, after, .. }, None) => ConnectError::Timeout { step, after, stderr: tail.text() },
        (error, _) => error,
    }
}

pub(super) fn start(
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    options: &ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Started {
    let mut settings = duplex::DuplexOptions::new(Role::Client);
    settings.limits = options.limits.clone();
    duplex::start(reader, writer, settings, handler)
}

const DISCOVER: &str = "server/discover";

type Agreed = (Revision, ServerProfile);

/// Finds the era and does the handshake over any connection that carries messages both ways.
pub(super) async fn agree(wire: &Started, options: &ConnectOptions, opening: Opening) -> Result<Agreed, ConnectError> {
    let identity = Identity::new(options.info.clone(), options.capabilities.clone());
    let first = First { wire, options, identity };
    match opening {
        Opening::Initialize => first.initialize().await,
        Opening::Probe => first.probe().await,
        Opening::Discover => first.discover().await?.ok_or_else(|| ConnectError::BadAnswer {
            step: DISCOVER,
            why: "the server speaks only the legacy revisions, and only the modern one is allowed".to_owned(),
        }),
    }
}

/// The first requests of a connection.
struct First<'a> {
    wire: &'a Started,
    options: &'a ConnectOptions,
    identity: Identity,
}

impl First<'_> {
    /// Asks `server/discover`, and initializes a server that does not answer it soon, or not as a modern one does.
    ///
    /// A modern server that is merely slow to start will read both requests, answer the first and refuse the second. So
    /// the first stays asked: a late answer to it counts where the server refuses to be initialized.
    async fn probe(&self) -> Result<Agreed, ConnectError> {
        let discovered = self.discover();
        tokio::pin!(discovered);
        if let Ok(found) = tokio::time::timeout(self.options.probe_timeout, &mut discovered).await {
            return match found? {
                Some(agreed) => Ok(agreed),
                None => self.initialize().await,
            };
        }
        let initialized = self.initialize();
        tokio::pin!(initialized);
        let mut late = None;
        let refused = loop {
            tokio::select! {
                biased;
                found = &mut discovered, if late.is_none() => late = Some(found),
                outcome = &mut initialized => match outcome {
                    Err(refused) => break refused,
                    agreed => return agreed,
                },
            }
        };
        let late = match late {
            Some(late) => late,
            None => tokio::time::timeout(self.options.probe_timeout, discovered).await.unwrap_or(Ok(None)),
        };
        late?.ok_or(refused)
    }

    /// What is agreed with a modern server, or nothing with a legacy one.
    async fn discover(&self) -> Result<Option<Agreed>, ConnectError> {
        let mut asked_again = false;
        loop {
            let call = Call::new(method::DISCOVER, Some(self.identity.stamp(None))).within(self.options.start_timeout);
            let reply = self.wire.connection.request(call).await.map_err(|error| failed(self.wire, DISCOVER, error))?;
            match handshake::judge_discover(reply.outcome) {
                Probe::Modern(profile) => {
                    self.wire.session.introduce(handshake::as_caller(Revision::LATEST, &profile));
                    return Ok(Some((Revision::LATEST, profile)));
                }
                Probe::AskAgain(_) if !asked_again => asked_again = true,
                Probe::AskAgain(error) => return Err(ConnectError::Refused { step: DISCOVER, error }),
                Probe::Impossible(error) => return Err(error),
                Probe::Legacy => return Ok(None),
            }
        }
    }

    async fn initialize(&self) -> Result<Agreed, ConnectError> {
        let (wire, options) = (self.wire, self.options);
        let params = self.identity.initialize(options.legacy_revision);
        let call = Call::new(method::INITIALIZE, Some(params)).within(options.start_timeout);
        let reply = wire.connection.request(call).await.map_err(|error| failed(wire, "initialize", error))?;
        let (revision, profile) = handshake::judge_initialize(reply.outcome)?;
        wire.session.introduce(handshake::as_caller(revision, &profile));
        let _queued = wire.connection.notify(Notification::new(method::INITIALIZED, None));
        Ok((revision, profile))
    }
}

/// Why the handshake failed. A connection that is gone is the reason, whatever the call noticed of it.
fn failed(wire: &Started, step: &'static str, error: CallError) -> ConnectError {
    match error {
        CallError::NotSent(_) if wire.connection.closed().is_cancelled() => {
            ConnectError::Died { exit: None, stderr: String::new() }
        }
        error => ConnectError::from_call(step, error),
    }
}

pub(super) fn connected(
    wire: &Started,
    options: &ConnectOptions,
    revision: Revision,
    server: ServerProfile,
    stopper: Arc<dyn Stopper>,
    process: Option<(StderrTail, Oversight)>,
) -> Connected {
    let remote: Arc<dyn Remote> = match revision.era() {
        Era::Legacy => wire.connection.clone(),
        Era::Modern => Arc::new(Stamping {
            identity: Identity::new(options.info.clone(), options.capabilities.clone()),
            connection: wire.connection.clone(),
        }),
    };
    // A connection over pipes has one session, which ends with it.
    let (_, renewals) = watch::channel(0);
    let (stderr, oversight) = process.unzip();
    let closed = wire.connection.closed().clone();
    Connected { revision, server, remote, closed, renewals, stopper, stderr, oversight }
}

/// Gives every request the metadata of the modern era.
struct Stamping {
    identity: Identity,
    connection: Arc<Connection>,
}

impl Remote for Stamping {
    fn request(&self, mut call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        call.params = Some(self.identity.stamp(call.params.take()));
        self.connection.request(call)
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        self.connection.notify(notification)
    }

    fn can_request(&self) -> bool {
        self.connection.can_request()
    }

    fn abandoned(&self) -> Option<Vec<u64>> {
        self.connection.abandoned()
    }
}

struct Process {
    child: Mutex<Option<Child>>,
    connection: Arc<Connection>,
    grace: StopGrace,
    /// Cancelled when the process is reaped.
    ended: CancellationToken,
}

impl Process {
    async fn end(&self, grace: StopGrace) {
        let child = self.child.lock().take();
        // Closing the connection drops the writing end: the process sees the end of its input.
        self.connection.close();
        match child {
            Some(child) => {
                // Also when this future is dropped: the child is killed then.
                let _ended = self.ended.clone().drop_guard();
                child.stop(grace).await;
            }
            // Somebody else is at it, and has the same deadlines.
            None => self.ended.cancelled().await,
        }
    }
}

impl Stopper for Process {
    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.end(self.grace))
    }

    fn disorder(&self) -> Disorder {
        self.connection.stats().into()
    }
}

/// Closes the connection of a process that failed, although something that it started still holds the other ends of its
/// pipes. One that ended well may have handed them over on purpose, as launchers do.
fn close_when_dead(connection: &Arc<Connection>, oversight: Oversight) {
    let connection = Arc::downgrade(connection);
    tokio::spawn(async move {
        if !oversight.failed().await {
            return;
        }
        // What it wrote before its end is still read.
        tokio::time::sleep(LAST_WORDS).await;
        if let Some(connection) = connection.upgrade() {
            connection.close();
        }
    });
}

/// A process whose output ended is of no use any more, nor are its children.
fn reap_when_closed(process: &Arc<Process>, finished: CancellationToken) {
    let process = Arc::downgrade(process);
    tokio::spawn(async move {
        finished.cancelled().await;
        if let Some(process) = process.upgrade() {
            process.end(StopGrace { after_eof: LINGER, ..process.grace }).await;
        }
    });
}
