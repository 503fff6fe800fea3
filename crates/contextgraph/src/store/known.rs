//! What is known of a memory as bytes: a quarter of its JSON, and read in a fraction of the time. All spaces are read when a
//! space is opened, so both count.
//!
//! Numbers are in groups of seven bits, the lowest first; texts have their length before them. What is usual takes one bit of a mask.

use crate::Id;
use crate::bytes::Bytes;
use crate::embedders::Modality;
use crate::embedders::space::COUNT;
use crate::graph::{Memory, MemorySource, Provenance};
use crate::names::EntityKind;

/// The version of the form.
const FORM: u8 = 1;

/// Bits of the mask.
mod has {
    pub(super) const PURPOSE: u8 = 1;
    pub(super) const CLUSTER: u8 = 2;
    pub(super) const DIGEST: u8 = 4;
    pub(super) const MERGED: u8 = 8;
    pub(super) const REMOVED: u8 = 16;
    pub(super) const PROVENANCE: u8 = 32;
    pub(super) const NAMES: u8 = 64;
}

/// The bytes of what is known.
pub(super) fn to_bytes(memory: &Memory) -> Vec<u8> {
    let digest = digest(&memory.hash);
    let provenance = &memory.provenance;
    let plain = Provenance { names: provenance.names.clone(), ..Provenance::default() };
    let mask = [
        (has::PURPOSE, memory.purpose != [0.0; COUNT]),
        (has::CLUSTER, memory.cluster != memory.id),
        (has::DIGEST, digest.is_some()),
        (has::MERGED, memory.merged_into.is_some()),
        (has::REMOVED, memory.removed_at.is_some()),
        (has::PROVENANCE, *provenance != plain),
        (has::NAMES, provenance.names.is_some()),
    ];
    let mask = mask.into_iter().filter(|(_, there)| *there).fold(0, |mask, (bit, _)| mask | bit);
    let mut out = Writer(Vec::with_capacity(256));
    out.0.extend([FORM, mask]);
    out.0.extend(memory.id.to_bytes());
    out.number(memory.created_at);
    // Most often the same, or soon after.
    out.number(memory.updated_at.wrapping_sub(memory.created_at));
    out.number(memory.last_access.wrapping_sub(memory.created_at));
    out.number(memory.access_count);
    out.float(memory.importance);
    out.0.push(Modality::ALL.iter().position(|one| *one == memory.modality).unwrap_or(0) as u8);
    out.number(memory.tags.len() as u64);
    memory.tags.iter().for_each(|tag| out.text(tag));
    match digest {
        Some(digest) => out.0.extend(digest),
        None => out.text(&memory.hash),
    }
    out.number(memory.bytes);
    if mask & has::PURPOSE != 0 {
        memory.purpose.iter().for_each(|value| out.float(*value));
    }
    out.float(memory.theta);
    memory.delta_s.iter().for_each(|value| out.float(*value));
    out.float(memory.delta_c);
    if mask & has::CLUSTER != 0 {
        out.0.extend(memory.cluster.to_bytes());
    }
    out.text(&memory.agent);
    memory.merged_into.iter().for_each(|id| out.0.extend(id.to_bytes()));
    memory.removed_at.iter().for_each(|at| out.number(*at));
    if let Some(names) = &provenance.names {
        out.number(names.len() as u64);
        for (name, kind) in names {
            out.text(name);
            out.0.push(EntityKind::ALL.iter().position(|one| one == kind).unwrap_or(0) as u8);
        }
    }
    if mask & has::PROVENANCE != 0 {
        out.provenance(provenance);
    }
    out.0
}

/// What is known, from its bytes; `None` if they are not what was written.
pub(super) fn from_bytes(bytes: &[u8]) -> Option<Memory> {
    let mut reader = Reader(Bytes(bytes));
    let [form, mask] = *reader.0.take(2)? else { return None };
    if form != FORM {
        return None;
    }
    let there = |bit: u8| mask & bit != 0;
    let id = reader.id()?;
    let created_at = reader.0.number()?;
    let updated_at = reader.0.number()?.wrapping_add(created_at);
    let last_access = reader.0.number()?.wrapping_add(created_at);
    let access_count = reader.0.number()?;
    let importance = reader.0.float()?;
    let modality = *Modality::ALL.get(usize::from(reader.0.byte()?))?;
    let count = reader.0.number()?;
    let tags = (0..count).map(|_| reader.text()).collect::<Option<Vec<_>>>()?;
    let hash = if there(has::DIGEST) { hexadecimal(reader.0.take(32)?) } else { reader.text()? };
    let bytes = reader.0.number()?;
    let purpose = if there(has::PURPOSE) { reader.floats()? } else { [0.0; COUNT] };
    let theta = reader.0.float()?;
    let delta_s = reader.floats()?;
    let delta_c = reader.0.float()?;
    let cluster = if there(has::CLUSTER) { reader.id()? } else { id };
    let agent = reader.text()?;
    let merged_into = if there(has::MERGED) { Some(reader.id()?) } else { None };
    let removed_at = if there(has::REMOVED) { Some(reader.0.number()?) } else { None };
    let names = if there(has::NAMES) { Some(reader.names()?) } else { None };
    let mut provenance = if there(has::PROVENANCE) { reader.provenance()? } else { Provenance::default() };
    provenance.names = names;
    Some(Memory {
        id,
        created_at,
        updated_at,
        last_access,
        access_count,
        importance,
        modality,
        tags,
        hash,
        bytes,
        purpose,
        theta,
        delta_s,
        delta_c,
        cluster,
        agent,
        merged_into,
        removed_at,
        provenance,
    })
}

/// The bytes of a digest in lower hexadecimal digits.
fn digest(hash: &str) -> Option<[u8; 32]> {
    let digits = hash.as_bytes();
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut out = [0; 32];
    if digits.len() != 64 {
        return None;
    }
    for (place, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        *place = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(out)
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn float(&mut self, value: f32) {
        self.0.extend(value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    fn maybe(&mut self, value: Option<u64>) {
        self.0.push(u8::from(value.is_some()));
        value.into_iter().for_each(|value| self.number(value));
    }

    fn provenance(&mut self, provenance: &Provenance) {
        self.number(provenance.revision);
        self.number(provenance.count);
        self.0.push(u8::from(provenance.updated_by.is_some()));
        provenance.updated_by.iter().for_each(|agent| self.text(agent));
        self.maybe(provenance.valid_from);
        self.maybe(provenance.valid_to);
        self.number(provenance.sources.len() as u64);
        for source in &provenance.sources {
            self.0.push(u8::from(source.id.is_some()));
            source.id.iter().for_each(|id| self.0.extend(id.to_bytes()));
            self.number(source.at);
            self.text(&source.agent);
        }
    }
}

struct Reader<'a>(Bytes<'a>);

impl Reader<'_> {
    fn floats(&mut self) -> Option<[f32; COUNT]> {
        let mut out = [0.0; COUNT];
        for place in &mut out {
            *place = self.0.float()?;
        }
        Some(out)
    }

    fn text(&mut self) -> Option<String> {
        self.0.text().map(ToOwned::to_owned)
    }

    fn id(&mut self) -> Option<Id> {
        Id::from_bytes(self.0.take(16)?)
    }

    fn flag(&mut self) -> Option<bool> {
        Some(self.0.byte()? != 0)
    }

    fn maybe(&mut self) -> Option<Option<u64>> {
        Some(if self.flag()? { Some(self.0.number()?) } else { None })
    }

    fn names(&mut self) -> Option<Vec<(String, EntityKind)>> {
        let count = self.0.number()?;
        (0..count).map(|_| Some((self.text()?, *EntityKind::ALL.get(usize::from(self.0.byte()?))?))).collect()
    }

    fn provenance(&mut self) -> Option<Provenance> {
        let (revision, count) = (self.0.number()?, self.0.number()?);
        let updated_by = if self.flag()? { Some(self.text()?) } else { None };
        let (valid_from, valid_to) = (self.maybe()?, self.maybe()?);
        let sources = self.0.number()?;
        let mut source = || {
            let id = if self.flag()? { Some(self.id()?) } else { None };
            Some(MemorySource { id, at: self.0.number()?, agent: self.text()? })
        };
        let sources = (0..sources).map(|_| source()).collect::<Option<Vec<_>>>()?;
        Some(Provenance { revision, updated_by, count, valid_from, valid_to, sources, names: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Memory {
        Memory {
            id: Id(77),
            created_at: 1_780_000_000_000,
            updated_at: 1_780_000_000_001,
            // A clock may go back.
            last_access: 1_779_999_999_999,
            access_count: 3,
            importance: 0.5,
            modality: Modality::Structured,
            tags: vec!["home".to_owned(), "odd \u{0} \u{1f600}".to_owned()],
            hash: "0123456789abcdef".repeat(4),
            bytes: 100,
            purpose: [0.0; COUNT],
            theta: 0.25,
            delta_s: [0.125; COUNT],
            delta_c: 0.75,
            cluster: Id(77),
            agent: "tester".to_owned(),
            merged_into: None,
            removed_at: None,
            provenance: Provenance::default(),
        }
    }

    fn all() -> Vec<Memory> {
        let mut rich = plain();
        rich.purpose = std::array::from_fn(|space| space as f32 / 13.0);
        (rich.cluster, rich.merged_into, rich.removed_at) = (Id(5), Some(Id(u128::MAX)), Some(u64::MAX));
        rich.hash = "no digest".to_owned();
        rich.provenance = Provenance {
            revision: 4,
            updated_by: Some("ann".to_owned()),
            count: 2,
            valid_from: Some(0),
            valid_to: Some(9),
            sources: vec![
                MemorySource { id: None, at: 1, agent: "a".to_owned() },
                MemorySource { id: Some(Id(2)), at: 3, agent: String::new() },
            ],
            names: Some(vec![("Ada Lovelace".to_owned(), EntityKind::Person), ("Bonn".to_owned(), EntityKind::Place)]),
        };
        let mut named = plain();
        named.provenance.names = Some(vec![("Anna".to_owned(), EntityKind::Other)]);
        vec![plain(), rich, named]
    }

    #[test]
    fn what_is_known_is_read_back_and_damage_is_seen() {
        for memory in all() {
            let bytes = to_bytes(&memory);
            assert_eq!(from_bytes(&bytes), Some(memory));
            for end in 0..bytes.len() {
                assert_eq!(from_bytes(&bytes[..end]), None);
            }
        }
        assert_eq!(from_bytes(b"{}"), None);
        // A count that is not there must not take room for it.
        assert_eq!(from_bytes(&[&[FORM, 0][..], &[0; 16], &[0xff; 40]].concat()), None);
    }

    #[test]
    fn it_is_a_fraction_of_its_json() {
        let memory = plain();
        let (bytes, json) = (to_bytes(&memory).len(), serde_json::to_string(&memory).unwrap().len());
        assert!(bytes < 200 && bytes * 3 < json, "{bytes} {json}");
    }
}
