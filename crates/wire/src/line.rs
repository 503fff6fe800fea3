//! Newline framing, as stdio uses it: bytes in, lines out, however they were split on the way.
//!
//! CRLF ends a line as LF does, blank lines are skipped, a byte order mark at the start of the stream is skipped.
//! A line that is too long is given up at the limit: its beginning is kept to find the id to answer under, the
//! rest is thrown away as it arrives, and the next line is read as usual.

use bytes::{Bytes, BytesMut};

use crate::message::salvage_id;
use crate::{Refusal, RefusalKind};

/// One line of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A whole line, without its end.
    Whole(Bytes),
    /// A line longer than the limit.
    TooLong(Refusal),
}

/// Splits a stream of bytes into lines.
#[derive(Debug)]
pub struct LineDecoder {
    buffer: BytesMut,
    /// Bytes at the front of the buffer that were already searched for a newline.
    searched: usize,
    limit: usize,
    /// The rest of a line that was given up is being thrown away.
    skipping: bool,
    at_start: bool,
}

impl LineDecoder {
    /// A decoder that gives up lines of more than `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, limit, skipping: false, at_start: true }
    }

    /// The place to read into.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Adds bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next line that is there.
    pub fn next_line(&mut self) -> Option<Line> {
        loop {
            let found = self.buffer[self.searched..].iter().position(|&byte| byte == b'\n');
            let Some(end) = found.map(|at| at + self.searched) else {
                if self.skipping {
                    self.buffer.clear();
                } else if self.buffer.len() > self.limit {
                    self.skipping = true;
                    let refusal = self.give_up();
                    self.buffer.clear();
                    self.searched = 0;
                    return Some(Line::TooLong(refusal));
                }
                self.searched = self.buffer.len();
                return None;
            };
            self.searched = 0;
            let mut line = self.buffer.split_to(end + 1);
            line.truncate(end);
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            let line = self.trim(line.freeze());
            if line.is_empty() {
                continue;
            }
            if line.len() > self.limit {
                let id = salvage_id(&line);
                return Some(Line::TooLong(self.refusal(id)));
            }
            return Some(Line::Whole(line));
        }
    }

    /// What is left when the stream ends: part of a message that never became whole, and is never acted upon.
    #[must_use]
    pub fn finish(self) -> Option<Bytes> {
        let rest = self.buffer.freeze();
        (!self.skipping && !rest.iter().all(u8::is_ascii_whitespace)).then_some(rest)
    }

    fn trim(&mut self, line: Bytes) -> Bytes {
        let mut line = line;
        if std::mem::take(&mut self.at_start) && line.starts_with(b"\xef\xbb\xbf") {
            line = line.slice(3..);
        }
        let end = line.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
        line.slice(..end)
    }

    fn give_up(&self) -> Refusal {
        self.refusal(salvage_id(&self.buffer))
    }

    const fn refusal(&self, id: Option<crate::Id>) -> Refusal {
        Refusal { kind: RefusalKind::TooLong(self.limit), at: self.limit, id, unanswerable: false }
    }
}
