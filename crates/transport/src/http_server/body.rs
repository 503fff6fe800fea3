//! Bodies of answers: whole, or a stream of events that is kept alive; and bodies of requests, read within bounds.

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use switchboard_wire::sse::KEEP_ALIVE;
use tokio::time::{Instant, Sleep};

use super::Identity;

/// Proofs that last longer are taken to last as long as a stream does.
const MAX_PROOF_TIME: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// How long a body that was announced waits for memory, and how often it looks.
const WAIT_FOR_ROOM: Duration = Duration::from_secs(5);
const LOOK_FOR_ROOM: Duration = Duration::from_millis(20);
/// What a body of unknown length takes at once.
const STEP: usize = 64 << 10;

/// Where the events of a stream come from. Dropped when the far side has gone.
pub trait EventSource: Send {
    /// The next event, already encoded; `None` ends the stream.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;

    /// What the far side is told where the stream ends because nobody may read it any more.
    fn last_event(&mut self) -> Option<Bytes> {
        None
    }
}

/// The body of an answer.
pub struct Body(Inner);

enum Inner {
    Full(Bytes),
    Events(Box<Events>),
}

struct Events {
    source: Box<dyn EventSource>,
    keep_alive: Duration,
    quiet: Pin<Box<Sleep>>,
    /// Ready when the stream must end, whatever its source still has.
    ended: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// It has ended so.
    over: bool,
}

impl Body {
    /// No body.
    #[must_use]
    pub const fn empty() -> Self {
        Self(Inner::Full(Bytes::new()))
    }

    /// A body that is there already.
    #[must_use]
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self(Inner::Full(bytes.into()))
    }

    /// A stream of server-sent events. A comment is sent whenever it was quiet for `keep_alive`.
    pub fn events(source: impl EventSource + 'static, keep_alive: Duration) -> Self {
        let quiet = Box::pin(tokio::time::sleep(keep_alive));
        Self(Inner::Events(Box::new(Events { source: Box::new(source), keep_alive, quiet, ended: None, over: false })))
    }

    /// Lets a stream end when the proof of its reader's identity does.
    pub(super) fn end_with(&mut self, reader: &Identity) {
        if let Inner::Events(events) = &mut self.0 {
            let revoked = reader.ended.clone().cancelled_owned();
            let left = reader.expires_at.map(|end| end.duration_since(SystemTime::now()).unwrap_or_default());
            events.ended = Some(Box::pin(async move {
                match left {
                    // So long a time would be more than the clock can count.
                    Some(left) if left < MAX_PROOF_TIME => drop(tokio::time::timeout(left, revoked).await),
                    _ => revoked.await,
                }
            }));
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Inner::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Inner::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Inner::Events(events) => {
                if events.over {
                    return Poll::Ready(None);
                }
                if events.ended.as_mut().is_some_and(|ended| ended.as_mut().poll(cx).is_ready()) {
                    events.over = true;
                    return Poll::Ready(events.source.last_event().map(|bytes| Ok(Frame::data(bytes))));
                }
                let bytes = match events.source.poll_event(cx) {
                    Poll::Ready(None) => return Poll::Ready(None),
                    Poll::Ready(Some(bytes)) => bytes,
                    Poll::Pending => {
                        ready!(events.quiet.as_mut().poll(cx));
                        KEEP_ALIVE
                    }
                };
                let next = Instant::now() + events.keep_alive;
                events.quiet.as_mut().reset(next);
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Inner::Full(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Full(bytes) => f.debug_tuple("Full").field(&bytes.len()).finish(),
            Inner::Events(_) => f.write_str("Events"),
        }
    }
}

/// Why the body of a request could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is larger than allowed.
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    /// It took too long.
    #[error("the body did not arrive within {0:?}")]
    TooSlow(Duration),
    /// Too much is held in memory already.
    #[error("too much is being received at the moment")]
    NoRoom,
    /// The connection broke.
    #[error("the connection broke while the body was read")]
    Broken(#[source] hyper::Error),
}

/// Where the memory for bodies comes from.
pub trait Room: Send + Sync + 'static {
    /// Takes so many bytes; `false` where they are not to be had now.
    fn take(&self, bytes: usize) -> bool;

    /// Gives them back.
    fn give_back(&self, bytes: usize);
}

/// Memory that was taken, until this is dropped.
struct Taken {
    room: Arc<dyn Room>,
    bytes: usize,
}

impl Taken {
    fn more(&mut self, bytes: usize) -> bool {
        let taken = self.room.take(bytes);
        if taken {
            self.bytes += bytes;
        }
        taken
    }

    /// Takes so many bytes, waiting a moment for others to give theirs back.
    async fn wait_for(&mut self, bytes: usize) -> Result<(), ReadError> {
        let began = Instant::now();
        while !self.more(bytes) {
            if began.elapsed() >= WAIT_FOR_ROOM {
                return Err(ReadError::NoRoom);
            }
            tokio::time::sleep(LOOK_FOR_ROOM).await;
        }
        Ok(())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.room.give_back(self.bytes);
    }
}

/// A body with the memory that was taken for it: given back when the last part of it is dropped.
struct Counted {
    whole: BytesMut,
    _taken: Taken,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.whole
    }
}

/// Reads the body of a request, of at most `limit` bytes and within `patience`.
///
/// # Errors
/// The body is too large, too slow, or never ends.
pub async fn read_body(body: Incoming, limit: usize, patience: Duration) -> Result<Bytes, ReadError> {
    read_body_into(body, limit, patience, || Arc::new(Unlimited)).await
}

/// As much as is asked for.
struct Unlimited;

impl Room for Unlimited {
    fn take(&self, _bytes: usize) -> bool {
        true
    }

    fn give_back(&self, _bytes: usize) {}
}

/// The same. A body that does not come in one piece takes its memory from `room`, for as long as any part of it is used.
///
/// # Errors
/// As [`read_body`], or there is no room for it.
pub async fn read_body_into(
    body: Incoming,
    limit: usize,
    patience: Duration,
    room: impl FnOnce() -> Arc<dyn Room>,
) -> Result<Bytes, ReadError> {
    if body.size_hint().lower() > limit as u64 {
        return Err(ReadError::TooLarge(limit));
    }
    let mut collecting = pin!(collect(body, limit, room));
    // Nearly every body is here already when it is asked for. Only the others are given a clock.
    match poll_fn(|cx| Poll::Ready(collecting.as_mut().poll(cx))).await {
        Poll::Ready(read) => read,
        Poll::Pending => Box::pin(tokio::time::timeout(patience, collecting))
            .await
            .unwrap_or_else(|_| Err(ReadError::TooSlow(patience))),
    }
}

async fn collect(mut body: Incoming, limit: usize, room: impl FnOnce() -> Arc<dyn Room>) -> Result<Bytes, ReadError> {
    let Some(first) = next_data(&mut body).await? else { return Ok(Bytes::new()) };
    if first.len() > limit {
        return Err(ReadError::TooLarge(limit));
    }
    // Nearly every request arrives in one piece, which is then not copied.
    if body.is_end_stream() {
        return Ok(first);
    }
    let rest = usize::try_from(body.size_hint().lower()).unwrap_or(0);
    Box::pin(collect_rest(body, first, rest, limit, room())).await
}

async fn collect_rest(
    mut body: Incoming,
    first: Bytes,
    rest: usize,
    limit: usize,
    room: Arc<dyn Room>,
) -> Result<Bytes, ReadError> {
    let mut taken = Taken { room, bytes: 0 };
    // What is announced is waited for before it is read: bodies that are half here would wait for each other.
    taken.wait_for(first.len() + rest).await?;
    let mut whole = BytesMut::with_capacity((first.len() + rest).min(limit));
    whole.extend_from_slice(&first);
    drop(first);
    while let Some(piece) = next_data(&mut body).await? {
        let length = whole.len() + piece.len();
        if length > limit {
            return Err(ReadError::TooLarge(limit));
        }
        if length > taken.bytes && !taken.more((length - taken.bytes).max(STEP)) {
            return Err(ReadError::NoRoom);
        }
        whole.extend_from_slice(&piece);
    }
    Ok(Bytes::from_owner(Counted { whole, _taken: taken }))
}

async fn next_data(body: &mut Incoming) -> Result<Option<Bytes>, ReadError> {
    loop {
        let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
        match frame.transpose().map_err(ReadError::Broken)? {
            None => return Ok(None),
            Some(frame) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}
