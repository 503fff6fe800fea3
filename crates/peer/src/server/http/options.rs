//! What can be set about the HTTP face.

use std::time::Duration;

use switchboard_wire::Limits;
use tokio_util::sync::CancellationToken;

/// How the HTTP face behaves.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Path of the endpoint for streamable HTTP, both eras.
    pub path: String,
    /// Paths of HTTP+SSE (2024-11-05), where it is served.
    pub old_sse: Option<OldSse>,
    /// Bounds on one message.
    pub limits: Limits,
    /// How long the body of a request may take to arrive.
    pub body_timeout: Duration,
    /// Lasting sessions at one time; those of one principal three quarters of it. The one that was idle longest makes room.
    pub max_sessions: usize,
    /// How long a session without traffic, stream and running request is kept.
    pub session_idle: Duration,
    /// Requests of one session that may run at once.
    pub max_running: usize,
    /// How long a legacy request may run once its client has gone or reads a stream.
    pub max_request: Duration,
    /// How long a cancelled request may take to clean up.
    pub cancel_grace: Duration,
    /// How long a stream may be quiet before a comment is sent.
    pub keep_alive: Duration,
    /// How long a client should wait before it comes back for a stream that was closed.
    pub retry: Duration,
    /// Bytes that all streams and bodies may hold together; those of one principal half of it. At least twice the largest
    /// message.
    pub max_memory: usize,
    /// Bounds on the events that are kept for one stream.
    pub log: LogLimits,
    /// Streams of one session that are kept for resumption after they ended.
    pub kept_streams: usize,
    /// How long they are kept in a session without traffic.
    pub kept_for: Duration,
    /// Ends the face: streams end, running requests may finish.
    pub shutdown: CancellationToken,
}

impl HttpOptions {
    /// The profile that a path is for: what stands behind the path of the endpoint.
    pub(super) fn profile<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(&*self.path)?.strip_prefix('/').filter(|name| !name.is_empty() && !name.contains('/'))
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            old_sse: Some(OldSse::default()),
            limits: Limits::default(),
            body_timeout: Duration::from_secs(30),
            max_sessions: 10_000,
            session_idle: Duration::from_secs(3600),
            max_running: 1024,
            max_request: Duration::from_secs(1800),
            cancel_grace: Duration::from_secs(5),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            max_memory: 96 << 20,
            log: LogLimits::default(),
            kept_streams: 16,
            kept_for: Duration::from_secs(300),
            shutdown: CancellationToken::new(),
        }
    }
}

/// The two paths of HTTP+SSE.
#[derive(Debug, Clone)]
pub struct OldSse {
    /// Where the stream is opened.
    pub stream_path: String,
    /// Where messages are posted.
    pub message_path: String,
}

impl Default for OldSse {
    fn default() -> Self {
        Self { stream_path: "/sse".to_owned(), message_path: "/messages".to_owned() }
    }
}

/// Bounds on the events that are kept for one stream, whether they wait to be read or to be asked for again. A
/// single event larger than `bytes` is kept alone. The answer that ends a stream is always kept. For a reader that is there
/// eight times as many may wait, within `bytes`.
#[derive(Debug, Clone, Copy)]
pub struct LogLimits {
    /// How many.
    pub events: usize,
    /// How large, together.
    pub bytes: usize,
}

impl Default for LogLimits {
    fn default() -> Self {
        Self { events: 512, bytes: 2 << 20 }
    }
}
