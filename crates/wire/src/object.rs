//! The members of one object, found without reading what is inside them.

use std::borrow::Cow;
use std::ops::Range;

use crate::scan::Scanner;
use crate::{Limits, Raw, Refusal, RefusalKind};

/// One object, opened one level deep. No key stands twice.
#[derive(Debug, Clone)]
pub struct Object {
    pub(crate) raw: Raw,
    pub(crate) members: Vec<Member>,
}

/// Where one member of an [`Object`] stands.
#[derive(Debug, Clone)]
pub struct Member {
    /// Key and value together, from the key's quote to the value's end.
    pub(crate) whole: Range<usize>,
    pub(crate) key: Range<usize>,
    pub(crate) value: Range<usize>,
    /// Whether the key is written with escapes.
    pub(crate) escaped: bool,
}

impl Object {
    /// Opens an object.
    ///
    /// # Errors
    /// The value is no object, or a key stands twice. Two readers may take different ones of two equal keys,
    /// so what was checked need not be what is done: such an object is never acted upon.
    pub fn open(raw: &Raw) -> Result<Self, Refusal> {
        // The text was held to its limits when it was parsed; this pass only finds the members again.
        const OPEN: &Limits =
            &Limits { bytes: usize::MAX, depth: usize::MAX, keys: usize::MAX, number_length: usize::MAX, batch: 0 };
        let mut scanner = Scanner::over_checked(raw.as_bytes(), OPEN);
        let members = scan_members(&mut scanner)?;
        let object = Self { raw: raw.clone(), members };
        object.refuse_duplicates()?;
        Ok(object)
    }

    fn refuse_duplicates(&self) -> Result<(), Refusal> {
        let duplicate = |member: &Member| Err(Refusal::new(RefusalKind::DuplicateKey, member.key.start));
        if self.members.len() <= 16 {
            for (index, member) in self.members.iter().enumerate() {
                if self.members[..index].iter().any(|earlier| self.have_one_key(earlier, member)) {
                    return duplicate(member);
                }
            }
        } else {
            let mut seen = std::collections::HashSet::with_capacity(self.members.len());
            for member in &self.members {
                if !seen.insert(self.key_of(member)) {
                    return duplicate(member);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn key_of(&self, member: &Member) -> Cow<'_, str> {
        unescape_key(&self.raw.as_bytes()[member.key.clone()])
    }

    /// The bytes of a key where they are its text as they stand.
    fn plain_key(&self, member: &Member) -> Option<&[u8]> {
        let inner = &self.raw.as_bytes()[member.key.start + 1..member.key.end - 1];
        (!member.escaped).then_some(inner)
    }

    fn have_one_key(&self, one: &Member, other: &Member) -> bool {
        match (self.plain_key(one), self.plain_key(other)) {
            (Some(one), Some(other)) => one == other,
            _ => self.key_of(one) == self.key_of(other),
        }
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Member> {
        self.members.iter().find(|member| match self.plain_key(member) {
            Some(plain) => plain == key.as_bytes(),
            None => self.key_of(member) == key,
        })
    }

    /// The whole of it, as it was written.
    #[must_use]
    pub const fn raw(&self) -> &Raw {
        &self.raw
    }

    /// The value under `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Raw> {
        self.find(key).map(|member| self.raw.slice(member.value.clone()))
    }

    /// The text of the string under `key`.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.as_text()
    }

    /// Whether `key` is there.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// Keys and values in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, Raw)> {
        self.members.iter().map(|member| (self.key_of(member), self.raw.slice(member.value.clone())))
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl Raw {
    /// The value under `key`, where this is an object with that key exactly once.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Self> {
        Object::open(self).ok()?.get(key)
    }

    /// The value found by following `path` through objects.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<Self> {
        path.iter().try_fold(self.clone(), |value, key| value.member(key))
    }

    /// The elements, where this is an array.
    #[must_use]
    pub fn elements(&self) -> Option<Vec<Self>> {
        const OPEN: &Limits =
            &Limits { bytes: usize::MAX, depth: usize::MAX, keys: usize::MAX, number_length: usize::MAX, batch: 0 };
        let mut scanner = Scanner::over_checked(self.as_bytes(), OPEN);
        let ranges = scan_elements(&mut scanner, usize::MAX).ok()?;
        Some(ranges.into_iter().map(|range| self.slice(range)).collect())
    }

    /// An array of the given values.
    #[must_use]
    pub fn array<'a>(values: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut out = vec![b'['];
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(value.as_bytes());
        }
        out.push(b']');
        Self::trusted(out.into())
    }
}

/// The members of the object at the scanner's place.
pub(crate) fn scan_members(scanner: &mut Scanner<'_>) -> Result<Vec<Member>, Refusal> {
    scanner.space();
    if !scanner.eat(b'{') {
        return scanner.fail(RefusalKind::Shape);
    }
    scanner.enter();
    let mut members = Vec::with_capacity(6);
    scanner.space();
    if !scanner.eat(b'}') {
        loop {
            let key = scanner.key()?;
            let value = scanner.value()?;
            let escaped = scanner.has_escape(&key);
            members.push(Member { whole: key.start..value.end, key, value, escaped });
            scanner.space();
            if scanner.eat(b'}') {
                break;
            }
            scanner.expect(b',')?;
        }
    }
    scanner.leave();
    Ok(members)
}

/// The elements of the array at the scanner's place, where there are at most `most`.
pub(crate) fn scan_elements(scanner: &mut Scanner<'_>, most: usize) -> Result<Vec<Range<usize>>, Refusal> {
    scanner.space();
    if !scanner.eat(b'[') {
        return scanner.fail(RefusalKind::Shape);
    }
    scanner.enter();
    let mut elements = Vec::new();
    scanner.space();
    if !scanner.eat(b']') {
        loop {
            if elements.len() == most {
                return scanner.fail(RefusalKind::Batch);
            }
            elements.push(scanner.value()?);
            scanner.space();
            if scanner.eat(b']') {
                break;
            }
            scanner.expect(b',')?;
        }
    }
    scanner.leave();
    Ok(elements)
}

/// The text of a key, from its JSON text with quotes.
pub(crate) fn unescape_key(text: &[u8]) -> Cow<'_, str> {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    if inner.contains(&b'\\') {
        Cow::Owned(serde_json::from_slice(text).unwrap_or_default())
    } else {
        Cow::Borrowed(std::str::from_utf8(inner).unwrap_or_default())
    }
}
