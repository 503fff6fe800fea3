//! Requests, notifications and responses.

use std::ops::Range;

use bytes::Bytes;

use crate::object::scan_elements;
use crate::raw::write_string;
use crate::scan::{Key, Part, Scanner, with_whole_characters};
use crate::skim::Skim;
use crate::{ErrorObject, Id, Kind, Limits, Object, Raw, Refusal, RefusalKind};

/// Members that the reader does not know, kept in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extra(Vec<(Box<str>, Raw)>);

impl Extra {
    /// The value under `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Raw> {
        self.0.iter().find(|(name, _)| &**name == key).map(|(_, value)| value)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a member.
    pub fn push(&mut self, key: &str, value: Raw) {
        self.0.push((key.into(), value));
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for (key, value) in &self.0 {
            out.push(b',');
            write_string(out, key);
            out.push(b':');
            out.extend_from_slice(value.as_bytes());
        }
    }
}

/// A call that wants an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// To be given back exactly.
    pub id: Id,
    /// What to do.
    pub method: Box<str>,
    /// With what: an object, untouched.
    pub params: Option<Raw>,
    /// Members that JSON-RPC does not define.
    pub extra: Extra,
}

impl Request {
    /// A request without extra members.
    pub fn new(id: Id, method: impl Into<Box<str>>, params: Option<Raw>) -> Self {
        Self { id, method: method.into(), params, extra: Extra::default() }
    }

    /// As [`Message::encode`].
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let length = ID.len() + self.id.as_bytes().len() + call_len(&self.method, self.params.as_ref());
        write_message(length, &self.extra, |out| {
            out.extend_from_slice(ID);
            out.extend_from_slice(self.id.as_bytes());
            write_call(out, &self.method, self.params.as_ref());
        })
    }
}

/// A message that wants no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// What happened.
    pub method: Box<str>,
    /// With what: an object, untouched.
    pub params: Option<Raw>,
    /// Members that JSON-RPC does not define.
    pub extra: Extra,
}

impl Notification {
    /// A notification without extra members.
    pub fn new(method: impl Into<Box<str>>, params: Option<Raw>) -> Self {
        Self { method: method.into(), params, extra: Extra::default() }
    }

    /// As [`Message::encode`].
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let length = call_len(&self.method, self.params.as_ref());
        write_message(length, &self.extra, |out| write_call(out, &self.method, self.params.as_ref()))
    }
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The id of the request; `None` in an error about a message whose id could not be read.
    pub id: Option<Id>,
    /// The result, untouched, or the error.
    pub outcome: Result<Raw, ErrorObject>,
    /// Members that JSON-RPC does not define.
    pub extra: Extra,
}

impl Response {
    /// An answer without extra members.
    #[must_use]
    pub fn new(id: Option<Id>, outcome: Result<Raw, ErrorObject>) -> Self {
        Self { id, outcome, extra: Extra::default() }
    }

    /// The answer that a refused message gets.
    #[must_use]
    pub fn refusing(refusal: &Refusal) -> Self {
        Self::new(refusal.id.clone(), Err(refusal.to_error()))
    }

    /// As [`Message::encode`].
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let id = self.id.as_ref().map_or(&b"null"[..], Id::as_bytes);
        let outcome = match &self.outcome {
            Ok(result) => RESULT.len() + result.as_bytes().len(),
            Err(error) => 64 + error.message.len() + error.data.as_ref().map_or(0, |data| data.as_bytes().len()),
        };
        write_message(ID.len() + id.len() + outcome, &self.extra, |out| {
            out.extend_from_slice(ID);
            out.extend_from_slice(id);
            match &self.outcome {
                Ok(result) => {
                    out.extend_from_slice(RESULT);
                    out.extend_from_slice(result.as_bytes());
                }
                Err(error) => {
                    out.extend_from_slice(b",\"error\":");
                    error.write(out);
                }
            }
        })
    }
}

/// One JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// A call that wants an answer.
    Request(Request),
    /// A message that wants none.
    Notification(Notification),
    /// An answer.
    Response(Response),
}

/// What one frame held: a message, or a batch where the revision allows batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// One message.
    One(Message),
    /// A batch (2025-03-26 only). Members are judged one by one.
    Batch(Vec<Result<Message, Refusal>>),
}

impl Message {
    /// Reads one message. Escapes that are half a character become U+FFFD: a server that cut a text in the wrong place
    /// must not lose all its tools by it.
    ///
    /// # Errors
    /// The text is no message, or exceeds a limit. The refusal carries the id wherever it could be read.
    pub fn parse(text: impl Into<Bytes>, limits: &Limits) -> Result<Self, Refusal> {
        let text = text.into();
        if text.len() > limits.bytes {
            let mut skim = Skim::default();
            skim.feed(&text);
            return Err(skim.refusal(limits.bytes));
        }
        let mut scanner = Scanner::new(&text, limits)?;
        let mut envelope = Envelope::default();
        let scanned = envelope.scan(&text, &mut scanner);
        let (exceeded, half) = (scanner.exceeded, scanner.half);
        if half.is_some() && exceeded.is_none() {
            let mended = Bytes::from(with_whole_characters(&text));
            // An id has to be given back as it came, and a method is not guessed at.
            let is_same = |place: &Range<usize>| mended[place.clone()] == text[place.clone()];
            if [&envelope.id, &envelope.method].into_iter().flatten().all(is_same) {
                return Self::parse(mended, limits);
            }
        }
        let exceeded = exceeded.or_else(|| half.map(|at| (RefusalKind::Unicode, at)));
        let judged = scanned
            .and_then(|()| exceeded.map_or(Ok(()), |(kind, at)| Err(Refusal::new(kind, at))))
            .and_then(|()| envelope.judge(&text));
        judged.map_err(|refusal| envelope.label(&text, refusal))
    }

    /// Writes the message on one line, without a newline at the end. Raw parts keep their bytes, except that line
    /// ends between their tokens become spaces: a message that came in many lines may leave where a line is a message.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        match self {
            Self::Request(request) => request.encode(),
            Self::Notification(notification) => notification.encode(),
            Self::Response(response) => response.encode(),
        }
    }
}

impl Incoming {
    /// Reads one frame that may hold a batch.
    ///
    /// # Errors
    /// As [`Message::parse`]; a batch that is empty or too long is refused as a whole.
    pub fn parse(text: impl Into<Bytes>, limits: &Limits) -> Result<Self, Refusal> {
        let text = text.into();
        let is_batch = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
        if !is_batch {
            return Message::parse(text, limits).map(Self::One);
        }
        if text.len() > limits.bytes {
            return Err(Refusal::new(RefusalKind::TooLong(limits.bytes), limits.bytes));
        }
        let mut scanner = Scanner::new(&text, limits)?;
        let elements = scan_elements(&mut scanner, limits.batch).filter(|(_, end)| scanner.end(*end).is_some());
        let (ranges, _) = elements.ok_or_else(|| scanner.refusal())?;
        if ranges.is_empty() {
            return Err(Refusal::new(RefusalKind::Batch, 0));
        }
        Ok(Self::Batch(ranges.into_iter().map(|range| Message::parse(text.slice(range), limits)).collect()))
    }
}

impl From<Request> for Message {
    fn from(request: Request) -> Self {
        Self::Request(request)
    }
}

impl From<Notification> for Message {
    fn from(notification: Notification) -> Self {
        Self::Notification(notification)
    }
}

impl From<Response> for Message {
    fn from(response: Response) -> Self {
        Self::Response(response)
    }
}

const BEGIN: &[u8] = b"{\"jsonrpc\":\"2.0\"";
const ID: &[u8] = b",\"id\":";
const METHOD: &[u8] = b",\"method\":";
const PARAMS: &[u8] = b",\"params\":";
const RESULT: &[u8] = b",\"result\":";

/// Writes the envelope around what `write` writes. `length` says how much that is, more or less; where it is exact, the
/// buffer needs neither a copy nor a second allocation to become [`Bytes`].
fn write_message(length: usize, extra: &Extra, write: impl FnOnce(&mut Vec<u8>)) -> Bytes {
    let mut out = Vec::with_capacity(BEGIN.len() + length + 1);
    out.extend_from_slice(BEGIN);
    write(&mut out);
    extra.write(&mut out);
    out.push(b'}');
    // Inside a string a line end is always escaped, so what is found here is white space.
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', &out[from..]) {
        from += at;
        out[from] = b' ';
    }
    out.into()
}

/// The length of what [`write_call`] writes where the method needs no escapes.
fn call_len(method: &str, params: Option<&Raw>) -> usize {
    METHOD.len() + method.len() + 2 + params.map_or(0, |params| PARAMS.len() + params.as_bytes().len())
}

fn write_call(out: &mut Vec<u8>, method: &str, params: Option<&Raw>) {
    out.extend_from_slice(METHOD);
    write_string(out, method);
    if let Some(params) = params {
        out.extend_from_slice(PARAMS);
        out.extend_from_slice(params.as_bytes());
    }
}

/// Where the members of the envelope stand.
#[derive(Default)]
struct Envelope {
    jsonrpc: Option<Range<usize>>,
    id: Option<Range<usize>>,
    method: Option<Range<usize>>,
    params: Option<Range<usize>>,
    result: Option<Range<usize>>,
    error: Option<Range<usize>>,
    extra: Vec<(Key, Range<usize>)>,
    /// The id stands twice, so nobody can say which one to answer under.
    ambiguous: bool,
    /// The text broke off inside the result or error.
    broken_answer: bool,
}

impl Envelope {
    /// Finds the members. Whatever the text is refused for, those in front of it are noted.
    fn scan(&mut self, text: &[u8], scanner: &mut Scanner<'_>) -> Result<(), Refusal> {
        let start = scanner.space(0);
        if scanner.peek(start) != Some(b'{') {
            // Tell a well-formed value of another shape from text that is no JSON at all.
            let other = scanner.value(start).and_then(|other| scanner.end(other.end));
            return Err(other.map_or_else(|| scanner.refusal(), |_| Refusal::new(RefusalKind::Shape, 0)));
        }
        let (end, duplicate) = self.members(text, scanner, start + 1).ok_or_else(|| scanner.refusal())?;
        if let Some(at) = duplicate.or_else(|| self.duplicate_extra(text)) {
            return Err(Refusal::new(RefusalKind::DuplicateKey, at));
        }
        scanner.end(end).map(|_| ()).ok_or_else(|| scanner.refusal())
    }

    /// Notes each member; answers where they end, and where a key stands for the second time, unknown ones left out.
    fn members(&mut self, text: &[u8], scanner: &mut Scanner<'_>, start: usize) -> Option<(usize, Option<usize>)> {
        let mut duplicate = None;
        let mut part = scanner.enter(b'}', start);
        loop {
            let at = match part {
                Part::At(at) => at,
                Part::End(end) => return Some((end, duplicate)),
            };
            let (key, at) = scanner.key(at)?;
            let Some(value) = scanner.value(at) else {
                self.broken_answer = matches!(&*key.name(text), b"result" | b"error");
                return None;
            };
            let (start, end) = (key.place.start, value.end);
            if !self.take(text, key, value) {
                duplicate.get_or_insert(start);
            }
            part = scanner.next(b'}', end)?;
        }
    }

    /// Where the key of an unknown member stands for the second time.
    fn duplicate_extra(&self, text: &[u8]) -> Option<usize> {
        let again = |index: usize| self.extra[index].0.place.start;
        // A message may have very many members; comparing each with each is only for the few of an honest one.
        if self.extra.len() <= 8 {
            (1..self.extra.len())
                .find(|&index| {
                    self.extra[..index].iter().any(|(key, _)| key.name(text) == self.extra[index].0.name(text))
                })
                .map(again)
        } else {
            let mut seen = std::collections::HashSet::with_capacity(self.extra.len());
            self.extra.iter().position(|(key, _)| !seen.insert(key.name(text))).map(again)
        }
    }

    /// Notes a member; `false` where its key stood before. Unknown ones are compared later.
    fn take(&mut self, text: &[u8], key: Key, value: Range<usize>) -> bool {
        let place = match &*key.name(text) {
            b"jsonrpc" => &mut self.jsonrpc,
            b"id" => {
                self.ambiguous = self.id.is_some();
                &mut self.id
            }
            b"method" => &mut self.method,
            b"params" => &mut self.params,
            b"result" => &mut self.result,
            b"error" => &mut self.error,
            _ => {
                self.extra.push((key, value));
                return true;
            }
        };
        let new = place.is_none();
        place.get_or_insert(value);
        new
    }

    fn judge(&self, text: &Bytes) -> Result<Message, Refusal> {
        let raw = |range: &Range<usize>| Raw::trusted(text.slice(range.clone()));
        let fail = |kind, range: &Option<Range<usize>>| Refusal::new(kind, range.as_ref().map_or(0, |r| r.start));
        let is_version = |range: &Range<usize>| {
            let written = &text[range.clone()];
            written == br#""2.0""# || (written.contains(&b'\\') && raw(range).as_text().as_deref() == Some("2.0"))
        };
        if !self.jsonrpc.as_ref().is_some_and(is_version) {
            return Err(fail(RefusalKind::Version, &self.jsonrpc));
        }
        let extra = self.extra(text);
        let id = match &self.id {
            None => None,
            Some(range) if Id::is_one(&text[range.clone()]) => Some(Id::trusted(text.slice(range.clone()))),
            // Only an error about an unreadable message may carry a null id.
            Some(range) if raw(range).kind() == Kind::Null && self.error.is_some() => None,
            Some(_) => return Err(fail(RefusalKind::BadId, &self.id)),
        };
        match (&self.method, &self.result, &self.error) {
            (Some(range), None, None) => {
                let Some(method) = raw(range).as_text() else {
                    return Err(fail(RefusalKind::BadMethod, &self.method));
                };
                let method = method.into_boxed_str();
                let params = self.params.as_ref().map(raw);
                if params.as_ref().is_some_and(|params| params.kind() != Kind::Object) {
                    return Err(fail(RefusalKind::BadParams, &self.params));
                }
                Ok(match id {
                    Some(id) => Message::Request(Request { id, method, params, extra }),
                    None => Message::Notification(Notification { method, params, extra }),
                })
            }
            (None, Some(result), None) if id.is_some() && self.params.is_none() => {
                Ok(Message::Response(Response { id, outcome: Ok(raw(result)), extra }))
            }
            (None, None, Some(error)) if self.params.is_none() => {
                let error = read_error(&raw(error)).ok_or_else(|| fail(RefusalKind::BadError, &self.error))?;
                Ok(Message::Response(Response { id, outcome: Err(error), extra }))
            }
            _ => Err(Refusal::new(RefusalKind::Shape, 0)),
        }
    }

    fn extra(&self, text: &Bytes) -> Extra {
        let member =
            |(key, value): &(Key, Range<usize>)| (key.text(text).into(), Raw::trusted(text.slice(value.clone())));
        Extra(self.extra.iter().map(member).collect())
    }

    /// Tells the refusal what could be read of the message before it was refused.
    fn label(&self, text: &Bytes, mut refusal: Refusal) -> Refusal {
        let raw = self.id.clone().filter(|_| !self.ambiguous).map(|range| Raw::trusted(text.slice(range)));
        // An id that is no valid text cannot be given back.
        let id =
            raw.filter(|raw| raw.kind() != Kind::String || raw.as_text().is_some()).and_then(|raw| Id::from_raw(&raw));
        let answer = self.result.is_some() || self.error.is_some() || self.broken_answer;
        // Where the text is broken, or more follows, there may be an id that was not seen.
        let whole = !matches!(refusal.kind, RefusalKind::Syntax | RefusalKind::Trailing);
        let notification = whole && self.method.is_some() && self.id.is_none();
        refusal.unanswerable = answer || notification;
        if answer {
            refusal.answers = id;
        } else {
            refusal.id = id;
        }
        refusal
    }
}

fn read_error(raw: &Raw) -> Option<ErrorObject> {
    let object = Object::open(raw).ok()?;
    let mut error = ErrorObject::new(object.get("code")?.view().ok()?, object.text("message")?);
    for (key, value) in object.iter() {
        match &*key {
            "code" | "message" => {}
            "data" => error.data = Some(value),
            _ => error.extra.push(&key, value),
        }
    }
    Some(error)
}
