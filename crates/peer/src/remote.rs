//! How to ask the far side of a connection.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::mgp;
use switchboard_wire::{Extra, Notification, Raw};
use tokio_util::sync::CancellationToken;

use crate::{BoxFuture, Handler, Reply};

/// How long an answer to such a question may take, where it does not say.
const USUAL_ANSWER: Duration = Duration::from_secs(120);
/// The longest that it may say.
const LONGEST_ANSWER: Duration = Duration::from_secs(600);

/// Sends to the far side of a connection.
pub trait Remote: Send + Sync + 'static {
    /// Asks, and waits for the answer within the call's deadline. The id is chosen here: callers never see it.
    fn request(&self, call: Call) -> BoxFuture<'_, Result<Reply, CallError>>;

    /// Tells. Never waits: a queue that is full drops the notification and says so.
    ///
    /// # Errors
    /// The connection is gone, or its queue is full.
    fn notify(&self, notification: Notification) -> Result<(), SendError>;

    /// Whether the far side may be asked at all: a modern client may not, nor may one that has gone.
    fn can_request(&self) -> bool {
        true
    }

    /// Bytes that were told and not taken yet. Who tells much can wait until it is little; who does not is not held up.
    fn backlog(&self) -> usize {
        0
    }

    /// The owners of calls that nobody waits for any more and that have no answer yet: the far side may still ask about
    /// them. Nothing where that is not known.
    fn abandoned(&self) -> Option<Vec<u64>> {
        None
    }

    /// When it was last told how far the request is that this is the way back of; `None` where that is not known, or never was.
    fn last_progress(&self) -> Option<tokio::time::Instant> {
        None
    }

    /// Ends the connection that carries the answer to the current request, without ending the request: the client
    /// comes back for the rest (SSE polling, from 2025-11-25 on). Does nothing where there is no such thing.
    fn close_stream(&self) {}
}

/// One request to be made.
pub struct Call {
    /// What to do.
    pub method: Box<str>,
    /// With what.
    pub params: Option<Raw>,
    /// Members of the envelope that JSON-RPC does not define.
    pub extra: Extra,
    /// How long to wait without a sign of life. Progress on this call starts it anew.
    pub timeout: Duration,
    /// How long to wait altogether.
    pub max_timeout: Duration,
    /// Gives the call up: the far side is told.
    pub cancel: CancellationToken,
    /// Takes what the far side sends on behalf of this call: progress, log messages, requests of its own.
    /// Without one, the connection's handler takes it.
    pub related: Option<Arc<dyn Handler>>,
    /// Whose call it is. On a connection that carries calls of several owners, a request from the far side that names
    /// no call is given to a call's `related` handler only while all open calls have the same owner.
    pub owner: u64,
    /// Further HTTP headers for this call (`Mcp-Param-*`).
    pub headers: Vec<(String, String)>,
}

impl Call {
    /// A call with the usual deadlines: one minute without a sign of life, ten altogether.
    pub fn new(method: impl Into<Box<str>>, params: Option<Raw>) -> Self {
        Self {
            method: method.into(),
            params,
            extra: Extra::default(),
            timeout: Duration::from_secs(60),
            max_timeout: Duration::from_secs(600),
            cancel: CancellationToken::new(),
            related: None,
            owner: 0,
            headers: Vec::new(),
        }
    }

    /// The same call with another deadline.
    #[must_use]
    pub const fn within(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.method).field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The far side took too long.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// The call was given up.
    #[error("the call was cancelled")]
    Cancelled,
    /// The connection closed before the answer came. Whether the call was carried out is unknown.
    #[error("the connection closed before the answer came")]
    Closed,
    /// The call never left: it is safe to make it again.
    #[error("the call could not be sent: {0}")]
    NotSent(String),
    /// The far side may not be asked.
    #[error("the far side takes no requests")]
    NotAllowed,
    /// The far side answered with something that is no answer.
    #[error("the answer cannot be read: {0}")]
    BadAnswer(String),
    /// What stands before the far side got no answer from it in time, or did not reach it (HTTP 408, 502, 503, 504).
    #[error("what stands before the far side has no answer (HTTP {0})")]
    Gateway(u16),
    /// The far side wants other credentials.
    #[error("the far side refused the credentials (HTTP {status})")]
    Unauthorized {
        /// 401 or 403.
        status: u16,
        /// `WWW-Authenticate`, where it was sent.
        challenge: Option<String>,
    },
}

/// Why a notification was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The connection is gone.
    #[error("the connection is closed")]
    Closed,
    /// The queue is full: the far side reads too slowly.
    #[error("the far side reads too slowly")]
    Full,
}

/// How long the far side waits for us after this message: for the answer to a question that it names no request for
/// (MGP 13.4). Nothing for every other message.
pub(crate) fn time_to_answer(notification: &Notification) -> Duration {
    if &*notification.method != mgp::method::CALLBACK_REQUEST {
        return Duration::ZERO;
    }
    let said = notification.params.as_ref().and_then(|params| params.member("timeout_ms")?.view::<u64>().ok());
    said.map_or(USUAL_ANSWER, Duration::from_millis).min(LONGEST_ANSWER)
}
