//! The members of one object, found without reading what is inside them.

use std::borrow::Cow;
use std::ops::Range;

use crate::scan::{Key, Part, Scanner};
use crate::{Raw, Refusal, RefusalKind};

/// One object, opened one level deep. No key stands twice.
#[derive(Debug, Clone)]
pub struct Object {
    pub(crate) raw: Raw,
    pub(crate) members: Vec<Member>,
}

/// Where one member of an [`Object`] stands.
#[derive(Debug, Clone)]
pub struct Member {
    pub(crate) key: Key,
    pub(crate) value: Range<usize>,
}

impl Member {
    /// Where it begins: at the key's quote.
    pub(crate) const fn start(&self) -> usize {
        self.key.place.start
    }

    /// Where it ends: with its value.
    pub(crate) const fn end(&self) -> usize {
        self.value.end
    }
}

impl Object {
    /// Opens an object.
    ///
    /// # Errors
    /// The value is no object, or a key stands twice. Two readers may take different ones of two equal keys,
    /// so what was checked need not be what is done: such an object is never acted upon.
    pub fn open(raw: &Raw) -> Result<Self, Refusal> {
        let mut scanner = Scanner::over_checked(raw.as_bytes());
        let members = scan_members(&mut scanner).ok_or_else(|| scanner.refusal())?;
        match duplicate(&members, raw.as_bytes()) {
            Some(again) => Err(Refusal::new(RefusalKind::DuplicateKey, again.start())),
            None => Ok(Self { raw: raw.clone(), members }),
        }
    }

    #[inline]
    pub(crate) fn has_key(&self, member: &Member, key: &str) -> bool {
        member.key.is(key, self.raw.as_bytes())
    }

    pub(crate) fn find(&self, key: &str) -> Option<&Member> {
        self.members.iter().find(|member| self.has_key(member, key))
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
        self.members.iter().map(|member| (member.key.text(self.raw.as_bytes()), self.raw.slice(member.value.clone())))
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

    /// Whether a key of this name may stand anywhere in here: a quick look, for keys that hardly anybody sends. An escape may
    /// spell any name.
    #[must_use]
    pub fn may_have(&self, key: &str) -> bool {
        let bytes = self.as_bytes();
        memchr::memmem::find(bytes, key.as_bytes()).is_some() || memchr::memchr(b'\\', bytes).is_some()
    }

    /// The value found by following `path` through objects.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<Self> {
        path.iter().try_fold(self.clone(), |value, key| value.member(key))
    }

    /// The elements, where this is an array.
    #[must_use]
    pub fn elements(&self) -> Option<Vec<Self>> {
        let mut scanner = Scanner::over_checked(self.as_bytes());
        let (ranges, _) = scan_elements(&mut scanner, usize::MAX)?;
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

/// The members of the object that the text is; `None` where it is none.
fn scan_members(scanner: &mut Scanner<'_>) -> Option<Vec<Member>> {
    let start = scanner.space(0);
    if scanner.peek(start) != Some(b'{') {
        return scanner.stop(RefusalKind::Shape, start);
    }
    let mut members = Vec::with_capacity(6);
    let mut part = scanner.enter(b'}', start + 1);
    while let Part::At(at) = part {
        let (key, at) = scanner.key(at)?;
        let value = scanner.value(at)?;
        part = scanner.next(b'}', value.end)?;
        members.push(Member { key, value });
    }
    Some(members)
}

/// The first member whose key stood before.
fn duplicate<'m>(members: &'m [Member], text: &[u8]) -> Option<&'m Member> {
    // Comparing each with each is only for few: what arrives may have very many.
    if members.len() <= 16 {
        let stood_before = |&(index, member): &(usize, &Member)| {
            members[..index].iter().any(|earlier| earlier.key.name(text) == member.key.name(text))
        };
        members.iter().enumerate().find(stood_before).map(|(_, member)| member)
    } else {
        let mut seen = std::collections::HashSet::with_capacity(members.len());
        members.iter().find(|member| !seen.insert(member.key.name(text)))
    }
}

/// The elements of the array that the text begins with, where there are at most `most`, and where it ends.
pub(crate) fn scan_elements(scanner: &mut Scanner<'_>, most: usize) -> Option<(Vec<Range<usize>>, usize)> {
    let start = scanner.space(0);
    if scanner.peek(start) != Some(b'[') {
        return scanner.stop(RefusalKind::Shape, start);
    }
    let mut elements = Vec::new();
    let mut part = scanner.enter(b']', start + 1);
    loop {
        match part {
            Part::End(end) => return Some((elements, end)),
            Part::At(at) if elements.len() == most => return scanner.stop(RefusalKind::Batch, at),
            Part::At(at) => {
                let element = scanner.value(at)?;
                part = scanner.next(b']', element.end)?;
                elements.push(element);
            }
        }
    }
}
