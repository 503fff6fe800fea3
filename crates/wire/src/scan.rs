//! One pass over JSON text: grammar, Unicode and limits, without building a tree and without recursion.
//!
//! A limit that is exceeded, or text that is no Unicode, does not stop the pass. It is remembered, so that an id
//! which stands behind the offending part can still be read and answered.

use std::ops::Range;

use crate::{Limits, Refusal, RefusalKind};

pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    pub(crate) at: usize,
    limits: &'a Limits,
    depth: usize,
    keys: usize,
    /// The first thing to refuse the text for that did not stop the pass, and where it is.
    pub(crate) exceeded: Option<(RefusalKind, usize)>,
}

type Step<T = ()> = Result<T, Refusal>;

impl<'a> Scanner<'a> {
    fn unchecked(text: &'a [u8], limits: &'a Limits) -> Self {
        Self { text, at: 0, limits, depth: 0, keys: 0, exceeded: None }
    }

    /// Begins a pass over text whose encoding is checked here, at once.
    pub(crate) fn new(text: &'a [u8], limits: &'a Limits) -> Step<Self> {
        if text.starts_with(b"\xef\xbb\xbf") {
            return Err(Refusal::new(RefusalKind::ByteOrderMark, 0));
        }
        let mut scanner = Self::unchecked(text, limits);
        if let Err(error) = std::str::from_utf8(text) {
            scanner.exceeded = Some((RefusalKind::Unicode, error.valid_up_to()));
        }
        Ok(scanner)
    }

    /// A pass over text that was checked before and holds exactly one value.
    pub(crate) fn over_checked(text: &'a [u8], limits: &'a Limits) -> Self {
        Self::unchecked(text, limits)
    }

    /// Checks that `text` is one value within the limits; answers where it stands.
    pub(crate) fn check(text: &[u8], limits: &Limits) -> Step<Range<usize>> {
        if text.len() > limits.bytes {
            return Err(Refusal::new(RefusalKind::TooLong(limits.bytes), limits.bytes));
        }
        let mut scanner = Scanner::new(text, limits)?;
        let range = scanner.value()?;
        scanner.end()?;
        match scanner.exceeded {
            Some((kind, at)) => Err(Refusal::new(kind, at)),
            None => Ok(range),
        }
    }

    pub(crate) fn fail<T>(&self, kind: RefusalKind) -> Step<T> {
        Err(Refusal::new(kind, self.at))
    }

    fn exceed(&mut self, kind: RefusalKind) {
        if self.exceeded.is_none() {
            self.exceeded = Some((kind, self.at));
        }
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(crate) fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, byte: u8) -> Step {
        if self.eat(byte) { Ok(()) } else { self.fail(RefusalKind::Syntax) }
    }

    /// Only white space is left.
    pub(crate) fn end(&mut self) -> Step {
        self.space();
        if self.at == self.text.len() { Ok(()) } else { self.fail(RefusalKind::Trailing) }
    }

    /// Whether the text in this place holds a backslash.
    pub(crate) fn has_escape(&self, place: &Range<usize>) -> bool {
        self.text[place.clone()].contains(&b'\\')
    }

    /// Enters an object or array whose bracket was eaten by the caller.
    pub(crate) fn enter(&mut self) {
        self.depth += 1;
        if self.depth > self.limits.depth {
            self.exceed(RefusalKind::TooDeep(self.limits.depth));
        }
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// A key and its colon; answers where the key's text stands, quotes included.
    pub(crate) fn key(&mut self) -> Step<Range<usize>> {
        self.space();
        let range = self.string()?;
        self.keys += 1;
        if self.keys > self.limits.keys {
            self.exceed(RefusalKind::TooManyKeys(self.limits.keys));
        }
        self.space();
        self.expect(b':')?;
        Ok(range)
    }

    /// One whole value; answers where it stands.
    pub(crate) fn value(&mut self) -> Step<Range<usize>> {
        self.space();
        let start = self.at;
        let base = self.depth;
        // One bit for each open bracket: set for an object. It costs an eighth of a byte a level, so depth
        // alone cannot exhaust memory, and there is no recursion that could exhaust the stack.
        let mut open = BitStack::default();
        loop {
            self.space();
            let Some(byte) = self.peek() else { return self.fail(RefusalKind::Syntax) };
            let opened = match byte {
                b'{' | b'[' => {
                    self.at += 1;
                    let object = byte == b'{';
                    open.push(object);
                    self.enter();
                    self.space();
                    let empty = self.eat(if object { b'}' } else { b']' });
                    if empty {
                        open.pop();
                        self.leave();
                    } else if object {
                        self.key()?;
                    }
                    !empty
                }
                b'"' => {
                    self.string()?;
                    false
                }
                b't' => self.literal(b"true")?,
                b'f' => self.literal(b"false")?,
                b'n' => self.literal(b"null")?,
                _ => {
                    self.number()?;
                    false
                }
            };
            if opened {
                continue;
            }
            // A value ended: close what ends with it, or go on to the next one.
            loop {
                let Some(object) = open.last() else {
                    debug_assert_eq!(self.depth, base);
                    return Ok(start..self.at);
                };
                self.space();
                if self.eat(b',') {
                    if object {
                        self.key()?;
                    }
                    break;
                }
                self.expect(if object { b'}' } else { b']' })?;
                open.pop();
                self.leave();
            }
        }
    }

    fn literal(&mut self, word: &[u8]) -> Step<bool> {
        if !self.text[self.at..].starts_with(word) {
            return self.fail(RefusalKind::Syntax);
        }
        self.at += word.len();
        Ok(false)
    }

    fn digits(&mut self) -> Step {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { self.fail(RefusalKind::Syntax) } else { Ok(()) }
    }

    fn number(&mut self) -> Step {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            self.digits()?;
        }
        if self.at - start > self.limits.number_length {
            self.exceed(RefusalKind::NumberTooLong(self.limits.number_length));
        }
        Ok(())
    }

    /// A string with its quotes; answers where it stands.
    pub(crate) fn string(&mut self) -> Step<Range<usize>> {
        let start = self.at;
        self.expect(b'"')?;
        loop {
            self.at += plain_prefix(&self.text[self.at..]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(start..self.at);
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                _ => return self.fail(RefusalKind::Syntax),
            }
        }
    }

    fn escape(&mut self) -> Step {
        let Some(byte) = self.peek() else { return self.fail(RefusalKind::Syntax) };
        self.at += 1;
        match byte {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(()),
            b'u' => {
                let begin = self.at - 2;
                let whole = match self.hex4()? {
                    0xd800..=0xdbff => self.low_half(),
                    0xdc00..=0xdfff => false,
                    _ => true,
                };
                if !whole && self.exceeded.is_none() {
                    self.exceeded = Some((RefusalKind::Unicode, begin));
                }
                Ok(())
            }
            _ => {
                self.at -= 1;
                self.fail(RefusalKind::Syntax)
            }
        }
    }

    /// The second half of a character whose first half was read; stays where it is if something else follows.
    fn low_half(&mut self) -> bool {
        let start = self.at;
        let found = self.eat(b'\\') && self.eat(b'u') && matches!(self.hex4(), Ok(0xdc00..=0xdfff));
        if !found {
            self.at = start;
        }
        found
    }

    fn hex4(&mut self) -> Step<u16> {
        let mut value = 0u16;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return self.fail(RefusalKind::Syntax) };
            value = value << 4 | u16::try_from(digit).unwrap_or_default();
            self.at += 1;
        }
        Ok(value)
    }
}

/// How many bytes from the start are neither a quote, a backslash nor a control character.
fn plain_prefix(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // Eight bytes at a time: the high bit of a lane is set where the byte is special. Lanes above the first
    // hit may lie because of borrows, so the first hit is found byte by byte.
    let special = |word: u64| {
        let zero = |v: u64| v.wrapping_sub(ONES) & !v;
        (zero(word ^ (ONES * b'"' as u64))
            | zero(word ^ (ONES * b'\\' as u64))
            | (word.wrapping_sub(ONES * 0x20) & !word))
            & HIGH
            != 0
    };
    let mut at = 0;
    for chunk in text.chunks_exact(8) {
        let mut lanes = [0; 8];
        lanes.copy_from_slice(chunk);
        if special(u64::from_ne_bytes(lanes)) {
            break;
        }
        at += 8;
    }
    at + text[at..].iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20).unwrap_or(text.len() - at)
}

#[derive(Default)]
struct BitStack {
    words: Vec<u64>,
    /// The innermost bits live here, so that ordinary messages need no allocation.
    top: u64,
    len: usize,
}

impl BitStack {
    fn push(&mut self, bit: bool) {
        if self.len > 0 && self.len.is_multiple_of(64) {
            self.words.push(self.top);
        }
        self.top = self.top << 1 | u64::from(bit);
        self.len += 1;
    }

    fn pop(&mut self) {
        self.top >>= 1;
        self.len -= 1;
        if self.len > 0 && self.len.is_multiple_of(64) {
            self.top = self.words.pop().unwrap_or_default();
        }
    }

    fn last(&self) -> Option<bool> {
        (self.len > 0).then_some(self.top & 1 == 1)
    }
}
