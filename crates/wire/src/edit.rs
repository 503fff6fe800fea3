//! Changes to one object that leave every other byte alone.

use crate::raw::write_string;
use crate::{Object, Raw, Refusal};

/// Changes to an object, applied by [`Edit::finish`]. What is not named stays as it is, byte for byte.
///
/// ```
/// use switchboard_wire::{Edit, Limits, Raw};
///
/// let params = Raw::parse(&br#"{ "name":"echo", "n":1.10 }"#[..], &Limits::default()).unwrap();
/// let edited = Edit::of(&params).unwrap().set("name", Raw::string("up")).finish();
/// assert_eq!(edited.as_str(), r#"{ "name":"up", "n":1.10 }"#);
/// ```
#[derive(Debug)]
pub struct Edit {
    object: Object,
    changes: Vec<(String, Option<Raw>)>,
}

impl Edit {
    /// Begins to change an object.
    ///
    /// # Errors
    /// As [`Object::open`].
    pub fn of(raw: &Raw) -> Result<Self, Refusal> {
        Ok(Self { object: Object::open(raw)?, changes: Vec::new() })
    }

    /// Begins with `{}`.
    #[must_use]
    pub fn empty() -> Self {
        Self { object: Object { raw: Raw::empty_object(), members: Vec::new() }, changes: Vec::new() }
    }

    /// Begins with an object, or with `{}` where there is none.
    ///
    /// # Errors
    /// As [`Object::open`].
    pub fn of_optional(raw: Option<&Raw>) -> Result<Self, Refusal> {
        raw.map_or_else(|| Ok(Self::empty()), Self::of)
    }

    /// The object as it was.
    #[must_use]
    pub const fn object(&self) -> &Object {
        &self.object
    }

    /// Sets `key`, in its place if it is there, at the end otherwise.
    #[must_use]
    pub fn set(mut self, key: &str, value: Raw) -> Self {
        self.change(key, Some(value));
        self
    }

    /// Sets `key` if there is a value.
    #[must_use]
    pub fn set_optional(self, key: &str, value: Option<Raw>) -> Self {
        match value {
            Some(value) => self.set(key, value),
            None => self,
        }
    }

    /// Removes `key`.
    #[must_use]
    pub fn remove(mut self, key: &str) -> Self {
        self.change(key, None);
        self
    }

    fn change(&mut self, key: &str, value: Option<Raw>) {
        match self.changes.iter_mut().find(|(changed, _)| changed == key) {
            Some(change) => change.1 = value,
            None => self.changes.push((key.to_owned(), value)),
        }
    }

    /// Changes the object under `key`, which is made where there is none.
    ///
    /// # Errors
    /// What stands there is no object.
    pub fn within(self, key: &str, change: impl FnOnce(Self) -> Self) -> Result<Self, Refusal> {
        let inner = match self.changes.iter().find(|(changed, _)| changed == key) {
            Some((_, value)) => value.clone(),
            None => self.object.get(key),
        };
        let inner = Self::of_optional(inner.as_ref())?;
        Ok(self.set(key, change(inner).finish()))
    }

    /// The changed object.
    #[must_use]
    pub fn finish(self) -> Raw {
        let Self { object, changes } = self;
        if changes.is_empty() {
            return object.raw;
        }
        let text = object.raw.as_bytes();
        let added: usize =
            changes.iter().map(|(key, value)| key.len() + 8 + value.as_ref().map_or(0, |v| v.as_bytes().len())).sum();
        let mut out = Vec::with_capacity(text.len() + added);
        let mut left = vec![true; changes.len()];
        // What stands before the first member, between two, and behind the last is copied along with them.
        let mut copied = 0;
        let mut written = 0usize;
        for (index, member) in object.members.iter().enumerate() {
            let change = changes.iter().position(|(changed, _)| object.has_key(member, changed));
            let from = if index == 0 { 0 } else { object.members[index - 1].end() };
            let lead = &text[from.max(copied)..member.start()];
            match change {
                None => {
                    append_lead(&mut out, lead, written, index);
                    out.extend_from_slice(&text[member.start()..member.end()]);
                    written += 1;
                }
                Some(place) => {
                    left[place] = false;
                    if let Some(value) = &changes[place].1 {
                        append_lead(&mut out, lead, written, index);
                        out.extend_from_slice(&text[member.start()..member.value.start]);
                        out.extend_from_slice(value.as_bytes());
                        written += 1;
                    } else if index == 0 {
                        out.extend_from_slice(lead);
                    }
                }
            }
            copied = member.end();
        }
        if object.members.is_empty() {
            copied = text.len() - 1;
            out.extend_from_slice(&text[..copied]);
        }
        for ((key, value), left) in changes.iter().zip(left) {
            if let (Some(value), true) = (value, left) {
                if written > 0 {
                    out.push(b',');
                }
                write_string(&mut out, key);
                out.push(b':');
                out.extend_from_slice(value.as_bytes());
                written += 1;
            }
        }
        out.extend_from_slice(&text[copied..]);
        Raw::trusted(out.into())
    }
}

/// Copies what stands in front of a member; drops the comma where everything before it was removed.
fn append_lead(out: &mut Vec<u8>, lead: &[u8], written: usize, index: usize) {
    if written == 0 && index > 0 {
        out.extend(lead.iter().copied().filter(|&byte| byte != b','));
    } else {
        out.extend_from_slice(lead);
    }
}
