//! One connection to a server: a request goes out, its answer comes in, by whoever waits for it.
//!
//! There is no task for a connection: the call that uses it reads and writes. That saves a call two changes of task, and
//! a call that is given up ends its connection at once.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf as _, Bytes, BytesMut};
use http::StatusCode;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWrite as _;
use tokio::net::TcpStream;
use tokio::task::coop;
use tokio_util::io::poll_read_buf;

use super::framing::{Framing, Next};
use super::head::Head;
use super::outgoing::Outgoing;

/// The way to a server, with TLS or without.
pub(super) type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// Bytes that are read at once, unless it is known that more will come.
const READ: usize = 8 << 10;
/// The most that is made room for at once.
const MOST_READ: usize = 256 << 10;
/// Bodies up to this are sent together with their head, and copied on their way in, which costs less than new memory for
/// the next answer.
const SMALL: usize = 4 << 10;
/// Memory that an unused connection may keep.
const MOST_KEPT: usize = 64 << 10;
/// What TLS puts into one record. A message of that size has left as a whole or not at all.
const RECORD: usize = 16 << 10;
/// Answers before the answer, such as 100 and 102. Some servers send one every few seconds.
const MOST_INTERIM: usize = 1_000;

pub(super) struct Connection {
    stream: TokioIo<Stream>,
    input: BytesMut,
    /// The head of the request, and its body where that is small.
    output: Vec<u8>,
    /// The body where it is large.
    large_body: Bytes,
    /// How much of the two has been written.
    written: usize,
    sending: Sending,
    /// The number of the message that was sent last, and of the one before it.
    tags: [u64; 2],
    /// Room for the next read of a body whose length is not known. Doubled by each read that fills it.
    room: usize,
}

/// Where the request stands.
enum Sending {
    /// Some of it has to be written yet. The answer may have begun all the same.
    Going,
    Sent,
    /// The server did not wait for the rest, and need not get it.
    Refused,
    /// Nothing more can be written. The server may have said why before it closed.
    Stuck(io::Error),
}

/// Why there is no answer.
pub(super) enum Failure {
    /// The server saw no request.
    Unsent,
    /// It may have seen all of it.
    Broken(String),
}

impl From<&str> for Failure {
    fn from(why: &str) -> Self {
        Self::Broken(why.to_owned())
    }
}

impl Connection {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream: TokioIo::new(stream),
            input: BytesMut::with_capacity(READ),
            output: Vec::new(),
            large_body: Bytes::new(),
            written: 0,
            sending: Sending::Sent,
            tags: [0; 2],
            room: READ,
        }
    }

    /// Whether it can take a request: it is open, the last one has gone out, and nothing came that nobody asked for.
    pub(super) fn is_quiet(&mut self) -> bool {
        if !matches!(self.sending, Sending::Sent) || !self.input.is_empty() {
            return false;
        }
        self.input.reserve(1);
        // Not for this task's waker, which may be long gone when something comes. A task that has used up its turn hears
        // nothing, which is no silence; and a server may use it up, with TLS that says nothing.
        let mut context = Context::from_waker(Waker::noop());
        coop::has_budget_remaining()
            && poll_read_buf(Pin::new(&mut self.stream), &mut context, &mut self.input).is_pending()
            && coop::has_budget_remaining()
    }

    /// Sends a request and reads the head of its answer. What is then left to be sent is sent while the body is read.
    pub(super) async fn ask(&mut self, message: &Outgoing) -> Result<Head, Failure> {
        self.output.clear();
        message.write_head(&mut self.output);
        self.large_body = message.body().clone();
        if self.large_body.len() <= SMALL {
            self.output.extend_from_slice(&self.large_body);
            self.large_body = Bytes::new();
        }
        self.written = 0;
        self.sending = Sending::Going;
        self.tags = [message.tag(), self.tags[0]];
        // The memory of the answer before is used again.
        self.input.reserve(READ);
        self.head().await
    }

    /// The number of the message whose answer came before this one.
    pub(super) const fn previous(&self) -> u64 {
        self.tags[1]
    }

    /// Reads the head of the next answer.
    pub(super) async fn head(&mut self) -> Result<Head, Failure> {
        let mut interim = 0;
        loop {
            while let Some((head, length)) = Head::read(&self.input)? {
                self.input.advance(length);
                if !head.status.is_informational() {
                    if matches!(self.sending, Sending::Going) && !head.status.is_success() {
                        self.sending = Sending::Refused;
                    }
                    return Ok(head);
                }
                interim += 1;
                if interim > MOST_INTERIM || head.status == StatusCode::SWITCHING_PROTOCOLS {
                    return Err(Failure::from("the server answers what was not asked"));
                }
            }
            if poll_fn(|context| self.poll_fill(context, 1)).await? == 0 {
                return Err(self.failure("the connection closed before the answer came"));
            }
        }
    }

    /// Reads a body to its end; none where it is longer than `limit`.
    pub(super) async fn whole(&mut self, framing: &mut Framing, limit: usize) -> Result<Option<Bytes>, Failure> {
        let body = if let Framing::Length(length) = *framing {
            let Some(length) = usize::try_from(length).ok().filter(|length| *length <= limit) else { return Ok(None) };
            while self.input.len() < length {
                self.fill(framing, length - self.input.len()).await?;
            }
            *framing = Framing::End;
            self.take_whole(length)
        } else {
            let mut whole = BytesMut::new();
            while let Some(piece) = self.piece(framing).await? {
                if whole.len() + piece > limit {
                    return Ok(None);
                }
                whole.extend_from_slice(self.input.get(..piece).unwrap_or_default());
                self.input.advance(piece);
            }
            whole.freeze()
        };
        // A server that thanks for what it has not read yet still wants it.
        if matches!(self.sending, Sending::Going) {
            poll_fn(|context| self.poll_send(context)).await?;
        }
        Ok(Some(body))
    }

    /// Takes a body that has come as a whole.
    fn take_whole(&mut self, length: usize) -> Bytes {
        if length <= SMALL {
            let body = self.input.get(..length).map(Bytes::copy_from_slice).unwrap_or_default();
            self.input.advance(length);
            return body;
        }
        let body = self.input.split_to(length).freeze();
        if length > MOST_KEPT {
            // What is left is part of the same memory, and would keep all of it.
            self.input = BytesMut::from(&self.input[..]);
        }
        body
    }

    /// Hands the next bytes of a body to `take`; whether there were any. Safe to give up and call again.
    pub(super) async fn next(&mut self, framing: &mut Framing, take: impl FnOnce(&[u8])) -> Result<bool, Failure> {
        let Some(piece) = self.piece(framing).await? else { return Ok(false) };
        take(self.input.get(..piece).unwrap_or_default());
        self.input.advance(piece);
        Ok(true)
    }

    /// Waits for bytes of the body, which then stand first in the input: how many.
    async fn piece(&mut self, framing: &mut Framing) -> Result<Option<usize>, Failure> {
        loop {
            match framing.next(&mut self.input)? {
                Next::Data(length) => return Ok(Some(length)),
                Next::End => return Ok(None),
                Next::More => self.fill(framing, self.room).await?,
            }
        }
    }

    /// Waits for more bytes, of which about `more` are expected.
    async fn fill(&mut self, framing: &mut Framing, more: usize) -> Result<(), Failure> {
        let read = poll_fn(|context| self.poll_fill(context, more.min(MOST_READ))).await?;
        self.room = if read >= self.room { (2 * self.room).min(MOST_READ) } else { READ };
        if read == 0 && !framing.close() {
            return Err(self.failure("the connection closed in the middle of the answer"));
        }
        Ok(())
    }

    /// Reads, and writes what there is to write: a server may wait for either.
    fn poll_fill(&mut self, context: &mut Context<'_>, more: usize) -> Poll<Result<usize, Failure>> {
        if matches!(self.sending, Sending::Going)
            && let Poll::Ready(Err(failure)) = self.poll_send(context)
        {
            return Poll::Ready(Err(failure));
        }
        self.input.reserve(more);
        let read = ready!(poll_read_buf(Pin::new(&mut self.stream), context, &mut self.input));
        Poll::Ready(read.map_err(|error| self.failure(&error.to_string())))
    }

    /// Writes what can be written now; ready when nothing is left to do. An error where the server saw no request.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let length = self.output.len() + self.large_body.len();
        while matches!(self.sending, Sending::Going) {
            let written = if self.written < length {
                ready!(self.poll_write(context))
            } else {
                // TLS keeps bytes back otherwise.
                ready!(Pin::new(&mut self.stream).poll_flush(context)).map(|()| 0)
            };
            let is_unsent = self.written == 0 && (length <= RECORD || !self.is_encrypted());
            match written {
                Ok(0) if self.written == length => self.sending = Sending::Sent,
                Ok(0) | Err(_) if is_unsent => return Poll::Ready(Err(Failure::Unsent)),
                Ok(0) => self.sending = Sending::Stuck(io::ErrorKind::WriteZero.into()),
                Ok(more) => self.written += more,
                Err(error) => self.sending = Sending::Stuck(error),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let stream = Pin::new(&mut self.stream);
        let head = self.output.get(self.written..).unwrap_or_default();
        let body = self.large_body.get(self.written.saturating_sub(self.output.len())..).unwrap_or_default();
        // The system takes one piece in less time than a list of them.
        match (head.is_empty(), body.is_empty()) {
            (_, true) => stream.poll_write(context, head),
            (true, false) => stream.poll_write(context, body),
            (false, false) => stream.poll_write_vectored(context, &[IoSlice::new(head), IoSlice::new(body)]),
        }
    }

    /// Whether it is encrypted.
    fn is_encrypted(&self) -> bool {
        matches!(self.stream.inner(), Stream::Https(_))
    }

    /// Why no answer came.
    fn failure(&self, why: &str) -> Failure {
        match &self.sending {
            Sending::Stuck(error) => Failure::Broken(format!("{why}; {error}")),
            Sending::Going | Sending::Sent | Sending::Refused => Failure::from(why),
        }
    }

    /// Gives up memory that only a large message needed.
    pub(super) fn shrink(&mut self) {
        self.room = READ;
        self.large_body = Bytes::new();
        if self.input.capacity() > MOST_KEPT {
            self.input = BytesMut::new();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.is_encrypted() {
            // So that the other side can tell the end from an accident. A socket that is full must not hold us up.
            let _told = Pin::new(&mut self.stream).poll_shutdown(&mut Context::from_waker(Waker::noop()));
        }
    }
}
