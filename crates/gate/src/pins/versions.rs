//! The definitions of a server's tools that somebody decided on, as they are compared.

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_store::{Digest, PinVersion, VersionState};
use switchboard_wire::{Edit, Limits, Raw};

use super::judge::Known;
use super::shown::Shown;

/// By the name under which they are remembered; newest first.
#[derive(Default)]
pub(crate) struct Versions(HashMap<String, Vec<(VersionState, Arc<Known>)>>);

impl Versions {
    pub(crate) fn new(kept: Vec<PinVersion>) -> Self {
        let mut versions: HashMap<String, Vec<(VersionState, Arc<Known>)>> = HashMap::new();
        for version in kept {
            let definition = readable(version.definition.get()).unwrap_or_else(Raw::empty_object);
            let known = Known {
                hash: version.hash,
                definition,
                server_version: version.server_version,
                by_person: version.decided_by.is_some(),
            };
            versions.entry(version.tool).or_default().push((version.state, Arc::new(known)));
        }
        Self(versions)
    }

    /// What was accepted of one name, where nothing else is known.
    pub(crate) fn of_one(name: &str, accepted: Option<Arc<Known>>) -> Self {
        let known = accepted.map(|known| (name.to_owned(), vec![(VersionState::Accepted, known)]));
        Self(known.into_iter().collect())
    }

    fn of(&self, name: &str, state: VersionState) -> impl Iterator<Item = &Arc<Known>> {
        self.0.get(name).into_iter().flatten().filter(move |(of, _)| *of == state).map(|(_, known)| known)
    }

    pub(crate) fn accepted(&self, name: &str) -> Vec<Arc<Known>> {
        self.of(name, VersionState::Accepted).cloned().collect()
    }

    pub(crate) fn refused(&self, name: &str) -> Vec<Arc<Known>> {
        self.of(name, VersionState::Refused).cloned().collect()
    }

    /// All that a judgement depends on, as one hash.
    pub(crate) fn digest(&self, name: &str, more: &str) -> Digest {
        let mut text = format!("{name}\n{more}");
        for (state, known) in self.0.get(name).into_iter().flatten() {
            let version = known.server_version.as_deref().unwrap_or_default();
            text.push_str(&format!("\n{} {} {} {version}", state.as_str(), known.hash, known.by_person));
        }
        Digest::of(text.as_bytes())
    }

    /// The name of what is held back or refused, and is this under another name.
    pub(crate) fn held_under_another_name(&self, shown: &Shown) -> Option<&str> {
        let is_undecided = |versions: &[(VersionState, Arc<Known>)]| {
            versions.iter().any(|(state, _)| *state != VersionState::Accepted)
        };
        let others = self.0.iter().filter(|(name, versions)| **name != shown.name && is_undecided(versions));
        let others: Vec<_> = others.collect();
        if others.is_empty() {
            return None;
        }
        let own = without_name(&readable(&shown.definition)?)?;
        let is_this = |(state, known): &(VersionState, Arc<Known>)| {
            *state != VersionState::Accepted && without_name(&known.definition).as_ref() == Some(&own)
        };
        others.into_iter().find(|(_, versions)| versions.iter().any(is_this)).map(|(name, _)| name.as_str())
    }
}

impl Known {
    /// What is accepted at first sight.
    pub(crate) fn first(hash: Digest, definition: &str, server_version: Option<&str>) -> Self {
        let definition = readable(definition).unwrap_or_else(Raw::empty_object);
        Self { hash, definition, server_version: server_version.map(str::to_owned), by_person: false }
    }
}

/// A definition as it is kept. What was taken once can be read again, however large it is.
pub(crate) fn readable(definition: &str) -> Option<Raw> {
    let limits = Limits { bytes: usize::MAX, depth: 1_024, keys: usize::MAX, ..Limits::default() };
    Raw::parse(definition.to_owned(), &limits).ok()
}

/// A definition without what it is called; `None` where nothing is left that could be recognised.
fn without_name(definition: &Raw) -> Option<String> {
    let nameless = Edit::of(definition).ok()?.remove("name").remove("title").finish();
    nameless.member("description").map(|_| nameless.as_str().to_owned())
}
