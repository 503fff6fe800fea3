//! One pass over JSON text: grammar, Unicode and limits, without building a tree and without recursion.
//!
//! A limit that is exceeded, or text that is no Unicode, does not stop the pass. It is remembered, so that an id
//! which stands behind the offending part can still be read and answered. Half a character, written as an escape, can be
//! mended.

use std::borrow::Cow;
use std::ops::Range;

use crate::{Limits, Refusal, RefusalKind};

pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    limits: &'a Limits,
    /// The text passed a check before: what is inside a value need not be looked at again.
    checked: bool,
    depth: usize,
    keys: usize,
    /// Escapes seen so far.
    escapes: usize,
    /// Where the first escape stands that is half a character and has no other half.
    pub(crate) half: Option<usize>,
    /// The first thing to refuse the text for that did not stop the pass, and where it is.
    pub(crate) exceeded: Option<(RefusalKind, usize)>,
    /// What stopped the pass, and where.
    stopped: Option<(RefusalKind, usize)>,
}

/// Where the pass goes on; `None` where it has stopped: [`Scanner::refusal`] says why. Every step is told where it
/// begins, so that the place stays in a register all along.
type Step = Option<usize>;

impl<'a> Scanner<'a> {
    fn begin(text: &'a [u8], limits: &'a Limits, checked: bool) -> Self {
        Self { text, limits, checked, depth: 0, keys: 0, escapes: 0, half: None, exceeded: None, stopped: None }
    }

    /// Begins a pass over text whose encoding is checked here, at once.
    pub(crate) fn new(text: &'a [u8], limits: &'a Limits) -> Result<Self, Refusal> {
        if text.starts_with(b"\xef\xbb\xbf") {
            return Err(Refusal::new(RefusalKind::ByteOrderMark, 0));
        }
        let mut scanner = Self::begin(text, limits, false);
        if let Err(error) = std::str::from_utf8(text) {
            scanner.exceeded = Some((RefusalKind::Unicode, error.valid_up_to()));
        }
        Ok(scanner)
    }

    /// A pass over text that was checked before and holds exactly one value.
    pub(crate) fn over_checked(text: &'a [u8]) -> Self {
        // The text was held to its limits when it was parsed; this pass only finds its parts again.
        const OPEN: &Limits =
            &Limits { bytes: usize::MAX, depth: usize::MAX, keys: usize::MAX, number_length: usize::MAX, batch: 0 };
        Self::begin(text, OPEN, true)
    }

    /// Checks that `text` is one value within the limits; answers where it stands.
    pub(crate) fn check(text: &[u8], limits: &Limits) -> Result<Range<usize>, Refusal> {
        if text.len() > limits.bytes {
            return Err(Refusal::new(RefusalKind::TooLong(limits.bytes), limits.bytes));
        }
        let mut scanner = Scanner::new(text, limits)?;
        let whole = scanner.value(0).filter(|range| scanner.end(range.end).is_some());
        let half = scanner.half.map(|at| (RefusalKind::Unicode, at));
        match (whole, scanner.exceeded.or(half)) {
            (None, _) => Err(scanner.refusal()),
            (Some(_), Some((kind, at))) => Err(Refusal::new(kind, at)),
            (Some(range), None) => Ok(range),
        }
    }

    /// Why the pass has stopped.
    pub(crate) fn refusal(&self) -> Refusal {
        let (kind, at) = self.stopped.unwrap_or((RefusalKind::Syntax, self.text.len()));
        Refusal::new(kind, at)
    }

    #[cold]
    pub(crate) fn stop<T>(&mut self, kind: RefusalKind, at: usize) -> Option<T> {
        self.stopped = Some((kind, at));
        None
    }

    #[cold]
    fn exceed(&mut self, kind: RefusalKind, at: usize) {
        self.exceeded.get_or_insert((kind, at));
    }

    #[inline]
    pub(crate) fn peek(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    #[inline]
    pub(crate) fn space(&self, mut at: usize) -> usize {
        while matches!(self.peek(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            at += 1;
        }
        at
    }

    #[inline]
    fn expect(&mut self, byte: u8, at: usize) -> Step {
        if self.peek(at) == Some(byte) { Some(at + 1) } else { self.stop(RefusalKind::Syntax, at) }
    }

    /// Only white space is left.
    pub(crate) fn end(&mut self, at: usize) -> Step {
        let at = self.space(at);
        if at == self.text.len() { Some(at) } else { self.stop(RefusalKind::Trailing, at) }
    }

    /// Enters an object or array, from behind its bracket.
    #[inline]
    pub(crate) fn enter(&mut self, closing: u8, at: usize) -> Part {
        self.depth += 1;
        if self.depth > self.limits.depth {
            self.exceed(RefusalKind::TooDeep(self.limits.depth), at);
        }
        let at = self.space(at);
        if self.peek(at) == Some(closing) { self.leave(at) } else { Part::At(at) }
    }

    /// Goes on from behind a part of an object or array.
    #[inline]
    pub(crate) fn next(&mut self, closing: u8, at: usize) -> Option<Part> {
        let at = self.space(at);
        match self.peek(at) {
            Some(b',') => Some(Part::At(at + 1)),
            Some(byte) if byte == closing => Some(self.leave(at)),
            _ => self.stop(RefusalKind::Syntax, at),
        }
    }

    #[inline]
    fn leave(&mut self, at: usize) -> Part {
        self.depth -= 1;
        Part::End(at + 1)
    }

    /// A key and its colon; answers also where its value is to be looked for.
    #[inline]
    pub(crate) fn key(&mut self, at: usize) -> Option<(Key, usize)> {
        let (start, escapes) = (self.space(at), self.escapes);
        let end = self.key_string(start)?;
        Some((Key { place: start..end, escaped: self.escapes > escapes }, self.colon(end)?))
    }

    fn key_string(&mut self, at: usize) -> Step {
        let end = self.string(at)?;
        self.keys += 1;
        if self.keys > self.limits.keys {
            self.exceed(RefusalKind::TooManyKeys(self.limits.keys), end);
        }
        Some(end)
    }

    #[inline]
    fn colon(&mut self, at: usize) -> Step {
        let at = self.space(at);
        self.expect(b':', at)
    }

    /// One whole value; answers where it stands.
    #[inline]
    pub(crate) fn value(&mut self, at: usize) -> Option<Range<usize>> {
        let start = self.space(at);
        let end = match self.peek(start) {
            Some(b'{' | b'[') if self.checked => self.skip(start)?,
            Some(b'{' | b'[') => self.nested(start)?,
            _ => self.scalar(start)?,
        };
        Some(start..end)
    }

    /// An object or array that was checked before: only strings can hold brackets that are none.
    fn skip(&mut self, start: usize) -> Step {
        let (mut at, mut open) = (start, 0);
        loop {
            match self.peek(at) {
                Some(b'"') => {
                    at = self.string(at)?;
                    continue;
                }
                Some(b'{' | b'[') => open += 1,
                Some(b'}' | b']') if open == 1 => return Some(at + 1),
                Some(b'}' | b']') => open -= 1,
                Some(_) => {}
                None => return self.stop(RefusalKind::Syntax, at),
            }
            at += 1;
        }
    }

    /// An object or array with all that is in it.
    fn nested(&mut self, at: usize) -> Step {
        // One bit for each open bracket: set for an object. It costs an eighth of a byte a level, so depth
        // alone cannot exhaust memory, and there is no recursion that could exhaust the stack.
        let mut open = BitStack::default();
        let mut at = at;
        loop {
            at = self.space(at);
            let mut part = match self.peek(at) {
                Some(bracket @ (b'{' | b'[')) => {
                    open.push(bracket == b'{');
                    self.enter(open.closing(), at + 1)
                }
                _ => {
                    let end = self.scalar(at)?;
                    self.next(open.closing(), end)?
                }
            };
            at = loop {
                match part {
                    Part::At(next) if open.last() => {
                        let end = self.key_string(self.space(next))?;
                        break self.colon(end)?;
                    }
                    Part::At(next) => break next,
                    // What ends here is itself a part of what is around it.
                    Part::End(end) => {
                        open.pop();
                        if open.is_empty() {
                            return Some(end);
                        }
                        part = self.next(open.closing(), end)?;
                    }
                }
            };
        }
    }

    /// A value that has no others in it.
    #[inline]
    fn scalar(&mut self, at: usize) -> Step {
        match self.peek(at) {
            Some(b'"') => self.string(at),
            Some(b't') => self.literal(b"true", at),
            Some(b'f') => self.literal(b"false", at),
            Some(b'n') => self.literal(b"null", at),
            _ => self.number(at),
        }
    }

    #[inline]
    fn literal<const N: usize>(&mut self, word: &[u8; N], at: usize) -> Step {
        if self.text[at..].first_chunk() == Some(word) { Some(at + N) } else { self.stop(RefusalKind::Syntax, at) }
    }

    fn digits(&mut self, start: usize) -> Step {
        let mut at = start;
        while matches!(self.peek(at), Some(b'0'..=b'9')) {
            at += 1;
        }
        if at == start { self.stop(RefusalKind::Syntax, at) } else { Some(at) }
    }

    fn number(&mut self, start: usize) -> Step {
        let mut at = start + usize::from(self.peek(start) == Some(b'-'));
        at = if self.peek(at) == Some(b'0') { at + 1 } else { self.digits(at)? };
        if self.peek(at) == Some(b'.') {
            at = self.digits(at + 1)?;
        }
        if matches!(self.peek(at), Some(b'e' | b'E')) {
            let signed = matches!(self.peek(at + 1), Some(b'+' | b'-'));
            at = self.digits(at + 1 + usize::from(signed))?;
        }
        if at - start > self.limits.number_length {
            self.exceed(RefusalKind::NumberTooLong(self.limits.number_length), at);
        }
        Some(at)
    }

    /// A string with its quotes.
    #[inline]
    fn string(&mut self, at: usize) -> Step {
        let start = self.expect(b'"', at)?;
        let end = start + plain_prefix(&self.text[start..]);
        if self.peek(end) == Some(b'"') { Some(end + 1) } else { self.rest_of_string(end) }
    }

    /// The rest of a string that is no plain text. Apart, because nearly every string is.
    #[cold]
    fn rest_of_string(&mut self, mut at: usize) -> Step {
        loop {
            match self.peek(at) {
                Some(b'"') => return Some(at + 1),
                Some(b'\\') => at = self.escape(at)?,
                _ => return self.stop(RefusalKind::Syntax, at),
            }
            at += plain_prefix(&self.text[at..]);
        }
    }

    /// The escape that begins at `start`, and the second one where a character takes two.
    fn escape(&mut self, start: usize) -> Step {
        self.escapes += 1;
        match self.peek(start + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Some(start + 2),
            Some(b'u') => {
                let end = start + 6;
                match self.hex4(start + 2) {
                    Ok(0xd800..=0xdbff) if self.is_low_half(end) => return Some(end + 6),
                    Ok(0xd800..=0xdfff) => {
                        self.half.get_or_insert(start);
                    }
                    Ok(_) => {}
                    Err(wrong) => return self.stop(RefusalKind::Syntax, wrong),
                }
                Some(end)
            }
            _ => self.stop(RefusalKind::Syntax, start + 1),
        }
    }

    /// Whether the second half of a character stands here.
    fn is_low_half(&self, at: usize) -> bool {
        self.text[at..].starts_with(b"\\u") && matches!(self.hex4(at + 2), Ok(0xdc00..=0xdfff))
    }

    /// Four digits; the place of the first that is none otherwise.
    fn hex4(&self, start: usize) -> Result<u16, usize> {
        (start..start + 4).try_fold(0, |value, at| {
            let digit = self.peek(at).and_then(|byte| char::from(byte).to_digit(16)).ok_or(at)?;
            Ok(value << 4 | u16::try_from(digit).unwrap_or_default())
        })
    }
}

/// JSON text in which every escape of half a character stands for U+FFFD, as programs write that cut a text between the
/// two halves. It is as long as before, so that all places in it stay.
pub(crate) fn with_whole_characters(text: &[u8]) -> Vec<u8> {
    let (scanner, mut mended) = (Scanner::over_checked(text), text.to_vec());
    let mut at = 0;
    // A backslash stands nowhere but in strings, and the second of two is no beginning.
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let start = at + found;
        let code = scanner.hex4(start + 2).ok().filter(|_| scanner.peek(start + 1) == Some(b'u'));
        at = match code {
            Some(0xd800..=0xdbff) if scanner.is_low_half(start + 6) => start + 12,
            Some(0xd800..=0xdfff) => {
                mended[start..start + 6].copy_from_slice(br"\ufffd");
                start + 6
            }
            _ => start + 2,
        };
    }
    mended
}

/// What comes next in an object or array.
pub(crate) enum Part {
    /// A member or element is to be looked for here.
    At(usize),
    /// Nothing: it ends here.
    End(usize),
}

/// Where a key stands, quotes included.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) place: Range<usize>,
    /// Whether it is written with escapes.
    escaped: bool,
}

impl Key {
    /// The text of the key, out of the text it stands in.
    #[inline]
    pub(crate) fn name<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        key_name(&text[self.place.clone()], self.escaped)
    }

    /// The same, for those who need it as text.
    pub(crate) fn text<'t>(&self, text: &'t [u8]) -> Cow<'t, str> {
        let written = &text[self.place.clone()];
        if self.escaped {
            Cow::Owned(unescape(written))
        } else {
            Cow::Borrowed(std::str::from_utf8(between_quotes(written)).unwrap_or_default())
        }
    }

    /// Whether this is the key `name`.
    #[inline]
    pub(crate) fn is(&self, name: &str, text: &[u8]) -> bool {
        // Most keys differ in their length already.
        (self.escaped || self.place.len() == name.len() + 2) && *self.name(text) == *name.as_bytes()
    }
}

/// The text of a key as it is written, with quotes.
#[inline]
pub(crate) fn key_name(written: &[u8], escaped: bool) -> Cow<'_, [u8]> {
    if escaped { Cow::Owned(unescape(written).into_bytes()) } else { Cow::Borrowed(between_quotes(written)) }
}

/// The text of a string that is written with escapes; nothing where they stand for no text.
fn unescape(written: &[u8]) -> String {
    serde_json::from_slice(written).unwrap_or_default()
}

#[inline]
fn between_quotes(written: &[u8]) -> &[u8] {
    written.get(1..written.len().saturating_sub(1)).unwrap_or_default()
}

/// How many bytes from the start are neither a quote, a backslash nor a control character.
#[inline]
fn plain_prefix(text: &[u8]) -> usize {
    let mut rest = text;
    while let Some((word, behind)) = rest.split_first_chunk() {
        let hits = special_lanes(u64::from_le_bytes(*word));
        if hits != 0 {
            return text.len() - rest.len() + (hits.trailing_zeros() / 8) as usize;
        }
        rest = behind;
    }
    let special = |&byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    text.len() - rest.len() + rest.iter().position(special).unwrap_or(rest.len())
}

/// Eight bytes at a time: the high bit of a lane is set where the byte is special. Lanes above the first hit may lie
/// because of borrows; the first, which is the lowest, does not.
#[inline]
const fn special_lanes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // With this bit turned over, the quote stands right above the control characters, and they stay together.
    let low = (word ^ (ONES * 2)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (low | backslash) & !word & (ONES << 7)
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

    /// The last bit; `false` where there is none.
    const fn last(&self) -> bool {
        self.top & 1 == 1
    }

    /// The bracket that closes what the last bit stands for.
    const fn closing(&self) -> u8 {
        if self.last() { b'}' } else { b']' }
    }

    const fn is_empty(&self) -> bool {
        self.len == 0
    }
}
