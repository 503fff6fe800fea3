//! A socket whose writes may stand still only so long: a peer that has gone without a word is noticed. And one that is
//! closed behind a refusal in such a way that a peer that was still sending comes to read it.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// Pieces that are joined before they are written.
const SHORT: usize = 2048;
/// What is still read, and thrown away, of a peer that was refused: so much, so long, with such pauses.
const MAX_UNWANTED: usize = 64 << 20;
const UNWANTED_TIME: Duration = Duration::from_secs(10);
const UNWANTED_PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Patient<'a> {
    stream: TcpStream,
    patience: Duration,
    /// Runs while a write stands still.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Whether the last answer was given before all of its request was read.
    refused: &'a AtomicBool,
    unwanted: Option<Unwanted>,
}

/// What a peer still sends after it was told that it is not wanted.
struct Unwanted {
    end: Instant,
    left: usize,
    quiet: Pin<Box<Sleep>>,
}

impl Unwanted {
    fn new() -> Self {
        let end = Instant::now() + UNWANTED_TIME;
        Self { end, left: MAX_UNWANTED, quiet: Box::pin(tokio::time::sleep(UNWANTED_PAUSE)) }
    }

    /// Reads on until the peer has ended, or has had its time.
    fn poll(&mut self, stream: &mut TcpStream, cx: &mut Context<'_>) -> Poll<()> {
        let mut piece = [0; 16 << 10];
        loop {
            let mut piece = ReadBuf::new(&mut piece);
            let Poll::Ready(read) = Pin::new(&mut *stream).poll_read(cx, &mut piece) else {
                return self.quiet.as_mut().poll(cx);
            };
            let (length, now) = (piece.filled().len(), Instant::now());
            if read.is_err() || length == 0 || length > self.left || now >= self.end {
                return Poll::Ready(());
            }
            self.left -= length;
            self.quiet.as_mut().reset((now + UNWANTED_PAUSE).min(self.end));
        }
    }
}

impl<'a> Patient<'a> {
    /// Closes at once, unless `refused` is set by then.
    pub(super) const fn new(stream: TcpStream, patience: Duration, refused: &'a AtomicBool) -> Self {
        Self { stream, patience, stalled: None, refused, unwanted: None }
    }

    fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the far side does not read")))
    }
}

impl AsyncRead for Patient<'_> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Patient<'_> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let stream = Pin::new(&mut self.stream);
        let written = if bufs.iter().map(|piece| piece.len()).sum::<usize>() > SHORT {
            stream.poll_write_vectored(cx, bufs)
        } else {
            // A short answer comes as head and body. The system takes one piece in less time than two.
            let mut joined = [0; SHORT];
            stream.poll_write(cx, join(bufs, &mut joined))
        };
        self.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, refused, unwanted, .. } = &mut *self;
        if unwanted.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
            if !refused.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
        }
        // A socket that is closed before all was read resets the connection, and takes the answer with it.
        unwanted.get_or_insert_with(Unwanted::new).poll(stream, cx).map(Ok)
    }
}

/// Puts pieces behind each other, as far as there is room.
fn join<'a>(pieces: &[IoSlice<'_>], room: &'a mut [u8]) -> &'a [u8] {
    let mut length = 0;
    for piece in pieces {
        let Some(place) = room.get_mut(length..length + piece.len()) else { break };
        place.copy_from_slice(piece);
        length += piece.len();
    }
    room.get(..length).unwrap_or_default()
}
