//! The envelope of a message that is too long to be kept: bytes in, in pieces of any size, and out comes the id to
//! answer under, wherever in the message it stands. Checks no grammar and keeps nothing but short keys and the id.

use crate::scan::key_name;
use crate::{Id, Limits, Raw, Refusal, RefusalKind};

/// Longer than any key of the envelope, also where each of its letters is escaped.
const LONGEST_KEY: usize = 64;
/// A longer id is not given back.
const LONGEST_ID: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Skim {
    place: Place,
    /// Open brackets inside the member's value.
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The member's key, with its quotes.
    key: Vec<u8>,
    /// The value of the id, while it is being read.
    value: Option<Vec<u8>>,
    id: Option<Id>,
    ids: usize,
    method: bool,
    answer: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    BeforeKey,
    Key,
    Colon,
    Value,
    /// Behind the envelope, or in something that is none.
    End,
}

impl Skim {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() && self.place != Place::End {
            // Long texts make long messages: pass over them in one step.
            if self.in_string && !self.escaped && self.place == Place::Value && self.value.is_none() {
                at += memchr::memchr2(b'"', b'\\', &bytes[at..]).unwrap_or(bytes.len() - at);
            }
            if let Some(&byte) = bytes.get(at) {
                self.step(byte);
                at += 1;
            }
        }
    }

    fn step(&mut self, byte: u8) {
        let space = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match (self.place, byte) {
            (Place::Start | Place::BeforeKey | Place::Colon, _) if space => {}
            (Place::Start, b'{') => self.place = Place::BeforeKey,
            (Place::BeforeKey, b'"') => {
                self.place = Place::Key;
                self.key.clear();
                self.key.push(b'"');
            }
            (Place::Key, _) => self.key_step(byte),
            (Place::Colon, b':') => self.begin_value(),
            (Place::Value, _) => self.value_step(byte),
            _ => self.place = Place::End,
        }
    }

    fn key_step(&mut self, byte: u8) {
        if self.key.len() < LONGEST_KEY {
            self.key.push(byte);
        }
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => self.place = Place::Colon,
            _ => {}
        }
    }

    fn begin_value(&mut self) {
        self.place = Place::Value;
        // A key that was cut has lost its last quote and is none of these.
        match &*key_name(&self.key, self.key.contains(&b'\\')) {
            b"id" => {
                self.ids += 1;
                self.value = Some(Vec::new());
            }
            b"method" => self.method = true,
            b"result" | b"error" => self.answer = true,
            _ => {}
        }
    }

    fn value_step(&mut self, byte: u8) {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b',' if self.depth == 0 => return self.end_value(Place::BeforeKey),
                b'}' | b']' if self.depth == 0 => return self.end_value(Place::End),
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
        }
        if let Some(value) = &mut self.value
            && value.len() <= LONGEST_ID
        {
            value.push(byte);
        }
    }

    fn end_value(&mut self, next: Place) {
        self.place = next;
        if let Some(value) = self.value.take()
            && value.len() <= LONGEST_ID
        {
            self.id =
                Raw::parse(value, &Limits::default()).ok().and_then(|raw| Id::from_raw(&raw)).map(|id| id.detach());
        }
    }

    /// Whether more bytes would tell nothing new.
    pub(crate) fn is_settled(&self) -> bool {
        self.place == Place::End || (self.id.is_some() && (self.method || self.answer))
    }

    /// The refusal of a message longer than `limit`.
    pub(crate) fn refusal(self, limit: usize) -> Refusal {
        let id = self.id.filter(|_| self.ids == 1);
        let notification = self.method && self.ids == 0 && self.place == Place::End;
        let (id, answers) = if self.answer { (None, id) } else { (id, None) };
        let refusal = Refusal::new(RefusalKind::TooLong(limit), limit);
        Refusal { id, answers, unanswerable: self.answer || notification, ..refusal }
    }
}
