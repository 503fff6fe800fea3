//! A connection that carries messages both ways over one pair of byte streams: stdio, a child's pipes, a socket.
//!
//! One task reads and one writes. Requests of the far side run in tasks of their own; its notifications are handled
//! in order, by the reader. Ids and progress tokens are chosen here and given back as they came, so callers of one
//! connection cannot meet each other's answers. Nothing here is unbounded: not the line, not the queue, not the
//! number of open requests in either direction, not the wait.

mod inbound;
mod pending;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use switchboard_protocol::mcp::method;
use switchboard_transport::http_server::{Identity, Method};
use switchboard_wire::{Edit, Id, Limits, Message, Notification, Raw, Request};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::ids::Ids;
use crate::{BoxFuture, Call, CallError, Caller, Context, Handler, Remote, Reply, SendError, Session};
use pending::{Pending, Waiting};
use writer::Writer;

/// No call waits longer than a year.
const MAX_CALL_TIME: Duration = Duration::from_secs(365 * 24 * 3600);

/// Which end of the connection we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The far side is a client: text that cannot be read is answered with an error.
    Server,
    /// The far side is a server: lines that are no messages (logs on stdout) are counted and left alone.
    Client,
}

/// How a connection behaves.
#[derive(Debug, Clone)]
pub struct DuplexOptions {
    /// Which end we are.
    pub role: Role,
    /// Bounds on one message.
    pub limits: Limits,
    /// Who is at the far side.
    pub principal: Arc<str>,
    /// Whether they may decide for others. Whoever started this process as their server may.
    pub admin: bool,
    /// The profile that they chose.
    pub profile: Option<Arc<str>>,
    /// Messages that may wait to be written.
    pub queue: usize,
    /// Requests of the far side that may run at once.
    pub concurrent_requests: usize,
    /// How long one write may take before the far side is given up.
    pub write_timeout: Duration,
}

impl DuplexOptions {
    /// The usual bounds.
    #[must_use]
    pub fn new(role: Role) -> Self {
        Self {
            role,
            limits: Limits::default(),
            principal: "local".into(),
            admin: role == Role::Server,
            profile: None,
            queue: 4096,
            concurrent_requests: 1024,
            write_timeout: Duration::from_secs(30),
        }
    }
}

/// What went wrong on a connection without ending it.
#[derive(Debug, Default)]
pub struct DuplexStats {
    /// Answers to calls that nobody waits for: late, repeated, or never asked.
    pub stray_answers: AtomicU64,
    /// Lines that are no messages.
    pub refused_lines: AtomicU64,
    /// Progress for a token that was not given out.
    pub foreign_progress: AtomicU64,
    /// Notifications that were dropped because the far side reads too slowly.
    pub dropped_notifications: AtomicU64,
}

/// A running connection.
pub struct Connection {
    writer: Writer,
    pending: Pending,
    ids: Ids,
    /// Cancelled when nothing more is to be read.
    enough: CancellationToken,
    /// Cancelled when the connection has ended, for whatever reason.
    closed: CancellationToken,
    stats: DuplexStats,
}

/// What [`start`] gives back.
#[derive(Debug)]
pub struct Started {
    /// Sends to the far side.
    pub connection: Arc<Connection>,
    /// The connection as a session.
    pub session: Arc<Session>,
    /// Cancelled when the connection has ended and everything that arrived on it is dealt with.
    pub finished: CancellationToken,
}

/// Runs a connection over a pair of byte streams.
pub fn start<R, W>(reader: R, writer: W, options: DuplexOptions, handler: Arc<dyn Handler>) -> Started
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let closed = CancellationToken::new();
    let finished = CancellationToken::new();
    let connection = Arc::new(Connection {
        writer: Writer::start(writer, options.queue, options.write_timeout, closed.clone()),
        pending: Pending::default(),
        ids: Ids::default(),
        enough: CancellationToken::new(),
        closed,
        stats: DuplexStats::default(),
    });
    let id = format!("stdio-{}", crate::random_token());
    let identity = Identity { admin: options.admin, ..Identity::new(options.principal.clone(), Method::Local) };
    let identity = match &options.profile {
        Some(profile) => identity.within_profile(profile.clone()),
        None => identity,
    };
    let remote = connection.clone() as Arc<dyn Remote>;
    let session = Session::new(id.into(), identity.into(), true, Caller::unknown(), remote);
    let inbound = inbound::Inbound::new(connection.clone(), session.clone(), options, handler);
    // However the reader ends, a panic included, nobody waits for what it would have read.
    let (end, done) = (connection.closed.clone().drop_guard(), finished.clone().drop_guard());
    tokio::spawn(async move {
        let _ends = (end, done);
        inbound.run(reader).await;
    });
    Started { connection, session, finished }
}

impl Connection {
    /// Whether a request of ours had this id.
    fn was_sent(&self, id: u64) -> bool {
        self.ids.was_given(id)
    }

    /// Cancelled when the connection has ended.
    #[must_use]
    pub const fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// What went wrong so far.
    #[must_use]
    pub const fn stats(&self) -> &DuplexStats {
        &self.stats
    }

    /// How many calls wait for an answer.
    #[must_use]
    pub fn open_calls(&self) -> usize {
        self.pending.len()
    }

    /// Ends the connection. Open calls fail.
    pub fn close(&self) {
        self.closed.cancel();
    }

    /// Ends the connection in good order: nothing more is read, requests that run are answered, within bounds, and what
    /// waits is written. Done when [`Started::finished`] is cancelled and [`Connection::written`] has returned.
    pub fn finish(&self) {
        self.enough.cancel();
    }

    /// Waits until the connection has ended and everything that was to be said has been written, or cannot be.
    pub async fn written(&self) {
        self.writer.done().await;
    }

    fn send(&self, message: &Message) -> Result<(), SendError> {
        self.writer.send(message.encode())
    }

    /// Gives every call its own progress token, so that two callers who chose the same one do not meet.
    fn own_token(id: u64, params: Option<Raw>) -> (Option<Raw>, Option<Raw>) {
        let token = params.as_ref().and_then(|params| params.at(&["_meta", "progressToken"]));
        let (Some(params), Some(token)) = (&params, token) else { return (params, None) };
        let edited = Edit::of(params)
            .and_then(|edit| edit.within("_meta", |meta| meta.set("progressToken", Raw::number(id))))
            .map_or_else(|_| params.clone(), Edit::finish);
        (Some(edited), Some(token))
    }

    async fn ask(&self, call: Call) -> Result<Reply, CallError> {
        if self.closed.is_cancelled() {
            return Err(CallError::NotSent("the connection is closed".to_owned()));
        }
        let (id, order) = self.ids.next();
        let (params, token) = Self::own_token(id, call.params);
        let (waiting, mut answer) = Waiting::new(call.related, (call.owner, order), token);
        let alive = waiting.alive.clone();
        if !self.pending.insert(id, waiting) {
            return Err(CallError::NotSent("too many calls wait for this server".to_owned()));
        }
        // From here on every way out, dropping this future included, takes the entry away and tells the far side.
        let mut guard = OpenCall { connection: self, id, tell: call.method.as_ref() != method::INITIALIZE };
        let request = Request { id: Id::number(id), method: call.method, params, extra: call.extra };
        if let Err(error) = self.send(&request.into()) {
            guard.tell = false;
            return Err(CallError::NotSent(error.to_string()));
        }
        let started = tokio::time::Instant::now();
        // Deadlines come from configurations: no number there may be too large for the clock.
        let (timeout, longest) = (call.timeout.min(MAX_CALL_TIME), call.max_timeout.min(MAX_CALL_TIME));
        let last = started + longest;
        loop {
            let idle = alive.since(started) + timeout;
            let deadline = (started + idle).min(last);
            tokio::select! {
                biased;
                reply = &mut answer => {
                    guard.tell = false;
                    return reply.unwrap_or(Err(CallError::Closed));
                }
                () = self.closed.cancelled() => {
                    guard.tell = false;
                    // The answer may have been read just before the end.
                    return answer.try_recv().unwrap_or(Err(CallError::Closed));
                }
                () = call.cancel.cancelled() => return Err(CallError::Cancelled),
                () = tokio::time::sleep_until(deadline) => {
                    let idle = alive.since(started) + timeout;
                    if tokio::time::Instant::now() >= (started + idle).min(last) {
                        return Err(CallError::Timeout(started.elapsed()));
                    }
                }
            }
        }
    }
}

impl Remote for Connection {
    fn request(&self, call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(self.ask(call))
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        let sent = self.send(&notification.into());
        if sent == Err(SendError::Full) {
            self.stats.dropped_notifications.fetch_add(1, Ordering::Relaxed);
        }
        sent
    }

    fn can_request(&self) -> bool {
        !self.closed.is_cancelled()
    }

    fn backlog(&self) -> usize {
        self.writer.waiting()
    }

    fn abandoned(&self) -> Option<Vec<u64>> {
        self.pending.abandoned()
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("open_calls", &self.open_calls()).finish_non_exhaustive()
    }
}

struct OpenCall<'a> {
    connection: &'a Connection,
    id: u64,
    tell: bool,
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        self.connection.pending.remove(self.id, self.tell);
        if self.tell {
            let params = Edit::empty().set("requestId", Raw::number(self.id)).finish();
            let _ = self.connection.notify(Notification::new(method::CANCELLED, Some(params)));
        }
    }
}

/// A remote that may be told but not asked: what a modern client is.
pub(crate) struct TellOnly(pub(crate) Arc<dyn Remote>);

impl Remote for TellOnly {
    fn request(&self, _call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(async { Err(CallError::NotAllowed) })
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        self.0.notify(notification)
    }

    fn can_request(&self) -> bool {
        false
    }

    fn backlog(&self) -> usize {
        self.0.backlog()
    }
}

/// The context of a message on a connection whose far side may be asked.
fn context(session: &Arc<Session>, caller: Arc<Caller>, cancel: CancellationToken) -> Context {
    Context {
        session: session.clone(),
        caller,
        remote: session.remote().clone(),
        cancel,
        headers: None,
        open_owners: None,
    }
}

#[cfg(test)]
mod tests;
