//! Newline framing, as stdio uses it: bytes in, lines out, however they were split on the way.
//!
//! CRLF ends a line as LF does, blank lines are skipped, a byte order mark at the start of the stream is skipped.
//! A line that is too long is given up at the limit. What follows of it is only skimmed, to find the id to answer
//! under, and thrown away as it arrives; the next line is read as usual.

use bytes::{Buf, Bytes, BytesMut};

use crate::Refusal;
use crate::skim::Skim;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

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
    at_start: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    Reading,
    /// In a line that is too long, of which it is not known yet how to refuse it.
    Skimming(Skim),
    /// In a line that was refused.
    Dropping,
}

impl LineDecoder {
    /// A decoder that gives up lines of more than `limit` bytes, their end not counted.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, limit, at_start: true, state: State::Reading }
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
            self.skip_mark();
            let found = memchr::memchr(b'\n', &self.buffer[self.searched..]).map(|at| at + self.searched);
            self.searched = if found.is_some() { 0 } else { self.buffer.len() };
            let line = match (&self.state, found) {
                (State::Reading, Some(end)) => self.whole(end),
                (State::Reading, None) => {
                    // A carriage return at the end may turn out to be part of the line's end.
                    let length = self.buffer.len() - usize::from(self.buffer.last() == Some(&b'\r'));
                    if length <= self.limit {
                        return None;
                    }
                    self.state = State::Skimming(Skim::default());
                    None
                }
                (_, found) => {
                    let line = self.skip(found);
                    if line.is_none() && found.is_none() {
                        return None;
                    }
                    line
                }
            };
            if line.is_some() {
                return line;
            }
        }
    }

    /// What is left when the stream ends: part of a message that never became whole, and is never acted upon.
    #[must_use]
    pub fn finish(self) -> Option<Bytes> {
        let rest = self.buffer.freeze();
        (matches!(self.state, State::Reading) && !rest.iter().all(u8::is_ascii_whitespace)).then_some(rest)
    }

    fn skip_mark(&mut self) {
        if self.at_start && !BYTE_ORDER_MARK.starts_with(&self.buffer[..self.buffer.len().min(2)]) {
            self.at_start = false;
        }
        if self.at_start && self.buffer.len() >= BYTE_ORDER_MARK.len() {
            self.at_start = false;
            if self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.buffer.advance(BYTE_ORDER_MARK.len());
                self.searched = 0;
            }
        }
    }

    /// The line that ends at `end`; `None` where it is blank.
    fn whole(&mut self, end: usize) -> Option<Line> {
        let mut line = self.buffer.split_to(end + 1).freeze();
        line.truncate(end - usize::from(end > 0 && line[end - 1] == b'\r'));
        if line.len() > self.limit {
            let mut skim = Skim::default();
            skim.feed(&line);
            return Some(Line::TooLong(skim.refusal(self.limit)));
        }
        let used = line.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r')).map_or(0, |at| at + 1);
        line.truncate(used);
        (!line.is_empty()).then_some(Line::Whole(line))
    }

    /// Throws away what is there of a line that is too long, up to `end` where it ends.
    fn skip(&mut self, end: Option<usize>) -> Option<Line> {
        let part = end.unwrap_or(self.buffer.len());
        let mut refused = None;
        if let State::Skimming(skim) = &mut self.state {
            skim.feed(&self.buffer[..part]);
            if end.is_some() || skim.is_settled() {
                refused = Some(std::mem::take(skim).refusal(self.limit));
                self.state = State::Dropping;
            }
        }
        if let Some(end) = end {
            self.buffer.advance(end + 1);
            self.state = State::Reading;
        } else {
            // Gives back the memory as well, which may be much.
            self.buffer = BytesMut::new();
            self.searched = 0;
        }
        refused.map(Line::TooLong)
    }
}
