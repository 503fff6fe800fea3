//! Server-sent events: the part of the WHATWG grammar that MCP uses, both ways.

use bytes::{Buf, Bytes, BytesMut};

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// The type; `None` means `message`.
    pub event: Option<String>,
    /// The id to resume after.
    pub id: Option<String>,
    /// How long to wait before connecting again, in milliseconds.
    pub retry: Option<u64>,
    /// The data lines, joined by newlines. Empty for an event that only carries an id or a retry time.
    pub data: Bytes,
}

/// The event is larger than the decoder's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a server-sent event longer than {0} bytes")]
pub struct EventTooLong(pub usize);

/// Splits a stream of bytes into events.
#[derive(Debug)]
pub struct Decoder {
    buffer: BytesMut,
    /// Bytes at the front of the buffer that were already searched for the end of a line.
    searched: usize,
    limit: usize,
    at_start: bool,
    /// A carriage return ended the last line, so a line feed right behind it belongs to it.
    after_return: bool,
    event: SseEvent,
    data: BytesMut,
    touched: bool,
}

impl Decoder {
    /// A decoder that gives up events of more than `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            searched: 0,
            limit,
            at_start: true,
            after_return: false,
            event: SseEvent::default(),
            data: BytesMut::new(),
            touched: false,
        }
    }

    /// Adds bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next event that is there. Events with an id or retry time but no data are given as well.
    ///
    /// # Errors
    /// The event exceeds the limit. The stream cannot be read further.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>, EventTooLong> {
        while let Some(line) = self.next_line() {
            if line.is_empty() {
                if let Some(event) = self.dispatch() {
                    return Ok(Some(event));
                }
                continue;
            }
            self.field(&line);
            if self.data.len() > self.limit {
                return Err(EventTooLong(self.limit));
            }
        }
        if self.buffer.len() > self.limit { Err(EventTooLong(self.limit)) } else { Ok(None) }
    }

    fn next_line(&mut self) -> Option<Bytes> {
        if !self.buffer.is_empty() && std::mem::take(&mut self.after_return) && self.buffer[0] == b'\n' {
            self.buffer.advance(1);
        }
        let found = memchr::memchr2(b'\n', b'\r', &self.buffer[self.searched..]);
        let Some(end) = found.map(|at| at + self.searched) else {
            self.searched = self.buffer.len();
            return None;
        };
        self.searched = 0;
        self.after_return = self.buffer[end] == b'\r';
        let mut line = self.buffer.split_to(end + 1).freeze();
        line.truncate(end);
        if std::mem::take(&mut self.at_start) && line.starts_with(b"\xef\xbb\xbf") {
            line = line.slice(3..);
        }
        Some(line)
    }

    fn field(&mut self, line: &[u8]) {
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let (name, rest) = line.split_at(colon);
        let value = rest.strip_prefix(b":").unwrap_or(rest);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.extend_from_slice(b"\n");
            }
            b"event" => self.event.event = Some(text()),
            b"id" if !value.contains(&0) => self.event.id = Some(text()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.event.retry = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
            }
            _ => return,
        }
        self.touched = true;
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        if !std::mem::take(&mut self.touched) {
            return None;
        }
        let mut data = std::mem::take(&mut self.data).freeze();
        data.truncate(data.len().saturating_sub(1));
        Some(SseEvent { data, ..std::mem::take(&mut self.event) })
    }
}

/// Writes one event.
#[must_use]
pub fn encode(event: &SseEvent) -> Bytes {
    let mut out = BytesMut::with_capacity(event.data.len() + 64);
    let mut field = |name: &[u8], value: &[u8]| {
        out.extend_from_slice(name);
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\n");
    };
    if let Some(kind) = &event.event {
        field(b"event", one_line(kind).as_bytes());
    }
    if let Some(id) = &event.id {
        field(b"id", one_line(id).as_bytes());
    }
    if let Some(retry) = event.retry {
        field(b"retry", retry.to_string().as_bytes());
    }
    // Raw JSON may be spread over lines; line ends inside it are white space, so splitting there is harmless.
    for line in event.data.split(|&byte| byte == b'\n' || byte == b'\r') {
        field(b"data", line);
    }
    out.extend_from_slice(b"\n");
    out.freeze()
}

/// A comment, which keeps a connection alive and means nothing.
pub const KEEP_ALIVE: Bytes = Bytes::from_static(b": keep-alive\n\n");

fn one_line(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(['\n', '\r', '\0']) { text.replace(['\n', '\r', '\0'], " ").into() } else { text.into() }
}
