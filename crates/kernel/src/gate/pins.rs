//! Pins: a tool is remembered as it was first seen, and held back when it becomes another one.
//!
//! What a person or a model relied on is the definition: name, title, description, schemas, annotations and what it
//! says of its security. When any of it changes, or when a new one gives orders to the model, the tool is neither
//! listed nor called until a person has seen the difference and accepted it. Prompts, resources, templates and a
//! server's instructions are remembered in the same way. What else a definition carries may change, and is screened
//! whenever it is seen (`extras.rs`).

mod extras;
mod shown;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::value::RawValue;
use switchboard_guard::screen;
use switchboard_protocol::mgp::TrustLevel;
use switchboard_store::{Digest, Observation, Pin, PinState, Store, StoreError};

use super::audit::{self, event, result};
use crate::directory::{ListKind, Lists};
use crate::kernel::Kernel;
use crate::server::Server;
pub(super) use shown::definition_hash;
pub use shown::{INSTRUCTIONS, pin_name, told_to_model};
use shown::{Shown, shown_by};

/// Definitions that are written down at the same time.
const TOGETHER: usize = 64;
/// Definitions of one kind that are remembered of one server. One that shows ever new names is not trusted with more.
const MOST: usize = 20_000;

/// What is remembered without a store.
#[derive(Default)]
pub(crate) struct Pins {
    known: Mutex<HashMap<(Arc<str>, String), Seen>>,
}

#[derive(Clone)]
struct Seen {
    accepted: Option<Digest>,
    shown: Digest,
}

/// Why something is held back that came after very many.
const TOO_MANY: &str = "its server has shown more of its kind than are remembered of one";

/// What is held back of a server, by name, and why.
pub(crate) type Quarantine = HashMap<String, String>;

impl Kernel {
    /// Compares what a server shows with what was accepted of it.
    pub(crate) async fn inspect(&self, server: &Server, lists: &Lists, instructions: Option<&str>) -> Quarantine {
        let options = self.gate().options();
        if !options.pin_definitions && !options.screen_definitions {
            return Quarantine::new();
        }
        let shown = shown_by(lists, instructions);
        match self.remembering() {
            Some(store) => match self.compare(store, server, &shown).await {
                Ok(quarantine) => quarantine,
                Err(error) => {
                    // What cannot be compared cannot be trusted.
                    tracing::error!(server = %server.id(), %error, "definitions cannot be compared with what was accepted");
                    let why = "it cannot be compared with what was accepted: the store does not answer";
                    shown.into_iter().map(|shown| (shown.name, why.to_owned())).collect()
                }
            },
            None => self.compare_here(server, &shown),
        }
    }

    /// What is held back of a server now that somebody may have accepted it; `None` where nobody can know.
    pub(crate) async fn inspect_again(
        &self,
        server: &Server,
        lists: &Lists,
        instructions: Option<&str>,
    ) -> Option<Quarantine> {
        self.compare(self.remembering()?, server, &shown_by(lists, instructions)).await.ok()
    }

    /// Where definitions are remembered, if they are, so that other processes can accept them.
    fn remembering(&self) -> Option<&Store> {
        self.gate().store().filter(|_| self.gate().options().pin_definitions)
    }

    async fn compare(&self, store: &Store, server: &Server, shown: &[Shown]) -> Result<Quarantine, StoreError> {
        let known = store.pins().list(Some(server.id())).await?;
        let known: HashMap<&str, &Pin> = known.iter().map(|pin| (pin.tool.as_str(), pin)).collect();
        let mut quarantine = Quarantine::new();
        let mut fresh = Vec::new();
        let mut counts: HashMap<ListKind, usize> = HashMap::new();
        for name in known.keys() {
            *counts.entry(shown::kind_of(name)).or_default() += 1;
        }
        for shown in shown {
            if !known.contains_key(shown.name.as_str()) {
                let count = counts.entry(shown::kind_of(&shown.name)).or_default();
                if *count >= MOST {
                    quarantine.insert(shown.name.clone(), TOO_MANY.to_owned());
                    continue;
                }
                *count += 1;
            }
            match known.get(shown.name.as_str()) {
                Some(pin) if pin.shown_hash == shown.hash && pin.state == PinState::Accepted => {}
                Some(pin) if pin.shown_hash == shown.hash => {
                    let screened = pin.accepted.is_none().then(|| self.screened(server, shown)).flatten();
                    let before = "held back when it was first seen, and nobody has accepted it since";
                    let screened = screened.as_deref().or_else(|| pin.accepted.is_none().then_some(before));
                    quarantine.insert(shown.name.clone(), why_held(server, &shown.name, screened));
                }
                pin => fresh.push((shown, pin.is_none().then(|| self.screened(server, shown)).flatten())),
            }
        }
        for group in fresh.chunks(TOGETHER) {
            let observing =
                group.iter().map(|(shown, screened)| self.observe(store, server, shown, screened.as_deref()));
            for held in futures_util::future::try_join_all(observing).await?.into_iter().flatten() {
                quarantine.insert(held.0, held.1);
            }
        }
        Ok(quarantine)
    }

    async fn observe(
        &self,
        store: &Store,
        server: &Server,
        shown: &Shown,
        screened: Option<&str>,
    ) -> Result<Option<(String, String)>, StoreError> {
        let Ok(definition) = RawValue::from_string(shown.definition.clone()) else { return Ok(None) };
        let observation = Observation {
            server: server.id().as_ref().to_owned(),
            tool: shown.name.clone(),
            hash: shown.hash,
            definition,
            at_first: if screened.is_some() { PinState::Quarantined } else { PinState::Accepted },
            now: self.gate().granted.time(),
        };
        let observed = store.pins().observe(&observation).await?;
        if observed.pin.state == PinState::Accepted {
            return Ok(None);
        }
        let why = why_held(server, &shown.name, screened);
        if observed.before != Some(PinState::Quarantined) {
            self.tell_of_quarantine(server, shown, &why).await;
        }
        Ok(Some((shown.name.clone(), why)))
    }

    /// The same without a store.
    fn compare_here(&self, server: &Server, shown: &[Shown]) -> Quarantine {
        let mut quarantine = Quarantine::new();
        let pinned = self.gate().options().pin_definitions;
        let mut counts: HashMap<ListKind, usize> = HashMap::new();
        for (_, name) in self.gate().pins.known.lock().keys().filter(|(id, _)| id == server.id()) {
            *counts.entry(shown::kind_of(name)).or_default() += 1;
        }
        for shown in shown {
            let key = (server.id().clone(), shown.name.clone());
            let known = self.gate().pins.known.lock().get(&key).cloned();
            if known.is_none() {
                let count = counts.entry(shown::kind_of(&shown.name)).or_default();
                if *count >= MOST {
                    quarantine.insert(shown.name.clone(), TOO_MANY.to_owned());
                    continue;
                }
                *count += 1;
            }
            let unchanged = known.as_ref().is_some_and(|known| known.shown == shown.hash);
            let screened =
                known.as_ref().is_none_or(|known| known.accepted.is_none()).then(|| self.screened(server, shown));
            let screened = screened.flatten();
            let accepted = match &known {
                Some(known) if pinned => known.accepted,
                _ => screened.is_none().then_some(shown.hash),
            };
            if accepted != Some(shown.hash) {
                let why = why_held(server, &shown.name, screened.as_deref());
                if !unchanged {
                    tracing::warn!(server = %server.id(), tool = %shown.name, why, "a definition is held back");
                }
                quarantine.insert(shown.name.clone(), why);
            }
            self.gate().pins.known.lock().insert(key, Seen { accepted, shown: shown.hash });
        }
        quarantine
    }

    /// What speaks against showing a definition to a model.
    fn screened(&self, server: &Server, shown: &Shown) -> Option<String> {
        let screen = self.gate().options().screen_definitions && server.trust() < TrustLevel::Core;
        let finding = screen.then(|| screen::tool(&shown.raw).err()).flatten()?;
        // An honest tool may be described like this. On a server that the operator chose and trusts it is marked; on
        // one that nobody answers for it is held back.
        // Without its instructions a server still works, so they are never given the benefit of the doubt.
        let doubtful = finding.rule == screen::PERHAPS && shown.name != INSTRUCTIONS;
        if doubtful && server.trust() >= TrustLevel::Standard {
            self.mark(server, shown, &finding.message);
            return None;
        }
        Some(finding.message)
    }

    fn mark(&self, server: &Server, shown: &Shown, why: &str) {
        tracing::warn!(server = %server.id(), tool = %shown.name, why, "a definition speaks to the model");
        let event = audit::event_of(event::MARKED, audit::kernel(), result::SUCCESS);
        let event = audit::with(audit::about(event, server.id(), Some(&shown.name)), "reason", why);
        self.gate().audit.note_now(&event);
    }

    async fn tell_of_quarantine(&self, server: &Server, shown: &Shown, why: &str) {
        tracing::warn!(server = %server.id(), tool = %shown.name, why, "a definition is held back");
        let event = audit::event_of(event::QUARANTINED, audit::kernel(), result::BLOCKED);
        let event = audit::with(audit::about(event, server.id(), Some(&shown.name)), "reason", why);
        self.gate().audit.note(audit::with(event, "definition_sha256", shown.hash.to_string())).await;
    }
}

fn why_held(server: &Server, name: &str, screened: Option<&str>) -> String {
    let next = format!("see and decide with `switchboard pins show {} {name}`", server.id());
    match screened {
        Some(finding) => format!("its definition is suspicious: {finding}; {next}"),
        None => format!("its definition is not the one that was accepted; {next}"),
    }
}
