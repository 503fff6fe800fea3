//! One connection to a server: a request goes out, its answer comes in, by whoever waits for it.
//!
//! There is no task for a connection: the call that uses it reads and writes. That saves a call two changes of task, and
//! a call that is given up ends its connection at once.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};

use bytes::buf::Chain;
use bytes::{Buf as _, Bytes, BytesMut};
use http::StatusCode;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWrite as _;
use tokio::net::TcpStream;
use tokio_util::io::{poll_read_buf, poll_write_buf};

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
/// Answers before the answer, such as 100.
const MOST_INTERIM: usize = 16;

pub(super) struct Connection {
    stream: TokioIo<Stream>,
    input: BytesMut,
    output: Vec<u8>,
    /// Room for the next read of a body whose length is not known. Doubled by each read that fills it.
    room: usize,
}

/// Why there is no answer.
pub(super) enum Failure {
    /// The server saw nothing of the request.
    Unsent,
    /// It may have seen all of it.
    Broken(String),
}

impl From<&str> for Failure {
    fn from(why: &str) -> Self {
        Self::Broken(why.to_owned())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

impl Connection {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream: TokioIo::new(stream), input: BytesMut::with_capacity(READ), output: Vec::new(), room: READ }
    }

    /// Whether it is open and nothing has come that nobody asked for.
    pub(super) fn is_quiet(&mut self) -> bool {
        if !self.input.is_empty() {
            return false;
        }
        // Not for this task's waker, which may be long gone when something comes; and what the task has used up of its
        // turn must not look like silence.
        let looking = pin!(tokio::task::unconstrained(poll_fn(|context| self.poll_fill(context, 1))));
        looking.poll(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    /// Sends a request and reads the head of its answer.
    pub(super) async fn ask(&mut self, message: &Outgoing) -> Result<Head, Failure> {
        let mut output = std::mem::take(&mut self.output);
        output.clear();
        message.write_head(&mut output);
        let mut apart = message.body();
        if apart.len() <= SMALL {
            output.extend_from_slice(apart);
            apart = &[];
        }
        // The memory of the answer before is used again.
        self.input.reserve(READ);
        let mut sending = Sending::new(output.as_slice().chain(apart));
        let mut interim = 0;
        let mut head = poll_fn(|context| {
            sending.go_on(&mut self.stream, context)?;
            loop {
                while let Some((head, length)) = Head::read(&self.input)? {
                    self.input.advance(length);
                    if !head.status.is_informational() {
                        return Poll::Ready(Ok(head));
                    }
                    interim += 1;
                    if interim > MOST_INTERIM || head.status == StatusCode::SWITCHING_PROTOCOLS {
                        return Poll::Ready(Err(Failure::from("the server answers what was not asked")));
                    }
                }
                match ready!(self.poll_fill(context, 1)) {
                    Ok(0) => return Poll::Ready(Err(sending.failure("the connection closed before the answer came"))),
                    Ok(_) => {}
                    Err(error) => return Poll::Ready(Err(sending.failure(&error.to_string()))),
                }
            }
        })
        .await?;
        // A server may refuse a message before it has read all of it; the rest would be taken for the next one.
        head.is_kept &= matches!(sending.state, State::Sent);
        self.output = output;
        Ok(head)
    }

    /// Reads a body to its end; none where it is longer than `limit`.
    pub(super) async fn whole(&mut self, framing: &mut Framing, limit: usize) -> Result<Option<Bytes>, Failure> {
        if let Framing::Length(length) = *framing {
            let Some(length) = usize::try_from(length).ok().filter(|length| *length <= limit) else { return Ok(None) };
            while self.input.len() < length {
                self.fill(framing, length - self.input.len()).await?;
            }
            *framing = Framing::End;
            if length > SMALL {
                return Ok(Some(self.input.split_to(length).freeze()));
            }
            let body = self.input.get(..length).map(Bytes::copy_from_slice).unwrap_or_default();
            self.input.advance(length);
            return Ok(Some(body));
        }
        let mut whole = BytesMut::new();
        while let Some(piece) = self.piece(framing).await? {
            if whole.len() + piece > limit {
                return Ok(None);
            }
            whole.extend_from_slice(self.input.get(..piece).unwrap_or_default());
            self.input.advance(piece);
        }
        Ok(Some(whole.freeze()))
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
        if read >= self.room {
            self.room = (2 * self.room).min(MOST_READ);
        }
        if read == 0 && !framing.close() {
            return Err(Failure::from("the connection closed in the middle of the answer"));
        }
        Ok(())
    }

    fn poll_fill(&mut self, context: &mut Context<'_>, more: usize) -> Poll<io::Result<usize>> {
        self.input.reserve(more);
        poll_read_buf(Pin::new(&mut self.stream), context, &mut self.input)
    }

    /// Gives up memory that only a large message needed.
    pub(super) fn rest(&mut self) {
        self.room = READ;
        if self.input.capacity() > MOST_KEPT {
            self.input = BytesMut::new();
        }
        if self.output.capacity() > MOST_KEPT {
            self.output = Vec::new();
        }
    }
}

/// A request on its way out.
struct Sending<'a> {
    left: Chain<&'a [u8], &'a [u8]>,
    length: usize,
    state: State,
}

enum State {
    Going,
    Sent,
    /// Nothing more can be written. The server may have said why before it closed.
    Stuck(io::Error),
}

impl<'a> Sending<'a> {
    fn new(message: Chain<&'a [u8], &'a [u8]>) -> Self {
        Self { length: message.remaining(), left: message, state: State::Going }
    }

    /// Writes what can be written now. An error where not a byte of it can.
    fn go_on(&mut self, stream: &mut TokioIo<Stream>, context: &mut Context<'_>) -> Result<(), Failure> {
        let mut stream = Pin::new(stream);
        while matches!(self.state, State::Going) {
            let written = if self.left.has_remaining() {
                self.write(stream.as_mut(), context).map_ok(|length| length > 0)
            } else {
                // TLS keeps bytes back otherwise.
                stream.as_mut().poll_flush(context).map_ok(|()| {
                    self.state = State::Sent;
                    true
                })
            };
            match written {
                Poll::Ready(Ok(true)) => {}
                Poll::Ready(_) if self.left.remaining() == self.length => return Err(Failure::Unsent),
                Poll::Ready(Ok(false)) => self.state = State::Stuck(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Err(error)) => self.state = State::Stuck(error),
                Poll::Pending => return Ok(()),
            }
        }
        Ok(())
    }

    fn write(&mut self, stream: Pin<&mut TokioIo<Stream>>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.left.last_ref().has_remaining() {
            return poll_write_buf(stream, context, &mut self.left);
        }
        // The system takes one piece in less time than a list of them.
        let written = ready!(stream.poll_write(context, self.left.chunk()));
        if let Ok(length) = written {
            self.left.advance(length);
        }
        Poll::Ready(written)
    }

    /// Why no answer came.
    fn failure(&self, why: &str) -> Failure {
        match &self.state {
            State::Stuck(error) => Failure::Broken(format!("{why}; {error}")),
            State::Going | State::Sent => Failure::from(why),
        }
    }
}
