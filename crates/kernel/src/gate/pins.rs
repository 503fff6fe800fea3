//! Pins: a tool is remembered as it was first seen, and held back when it becomes another one.
//!
//! What a person or a model relied on is the definition: name, title, description, schemas, annotations and what it
//! says of its security. When any of it changes, or when a new one certainly gives orders to the model, the tool is
//! neither listed nor called until a person has seen the difference and accepted it; what an honest tool may say too is
//! shown with a mark. Prompts, resources, templates and a
//! server's instructions are remembered in the same way. What else a definition carries may change, and is screened
//! whenever it is seen (`extras.rs`).

mod extras;
mod shown;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::value::RawValue;
use switchboard_guard::Finding;
use switchboard_guard::screen::Screening;
use switchboard_protocol::mgp::TrustLevel;
use switchboard_store::{Digest, Observation, Pin, PinState, Store, StoreError};

use super::audit::{self, event, result};
use crate::directory::{ListKind, Lists};
use crate::kernel::Kernel;
use crate::server::Server;
pub(super) use shown::definition_hash;
pub use shown::{INSTRUCTIONS, pin_name, screen_definition};
use shown::{Shown, shown_by};

/// Definitions that are written down at the same time.
const TOGETHER: usize = 64;
/// Definitions of one kind that are remembered of one server. One that shows ever new names is not trusted with more.
const MOST: usize = 20_000;

/// What is remembered without a store.
#[derive(Default)]
pub(crate) struct Pins {
    known: Mutex<HashMap<(Arc<str>, String), Seen>>,
    /// What screening had nothing against, by kind and text: lists are looked at again and again, and hardly change.
    passed: Mutex<HashSet<Digest>>,
}

#[derive(Clone)]
struct Seen {
    accepted: Option<Digest>,
    shown: Digest,
}

/// A definition, and what screening says of it.
type Screened = (Shown, Screening);

/// Texts that are remembered to have passed screening.
const MAX_PASSED: usize = 1 << 16;
/// Why something is held back that came after very many.
const TOO_MANY: &str = "its server has shown more of its kind than are remembered of one";

/// What is held back of a server, by name, and why.
pub(crate) type Quarantine = HashMap<String, String>;

/// What came of looking at what a server shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Inspection {
    /// What is held back.
    pub(crate) held: Quarantine,
    /// What is shown with a mark, and what was found in it.
    pub(crate) marked: Marked,
}

/// Findings by the name of what they were found in.
pub(crate) type Marked = HashMap<String, Finding>;

impl Kernel {
    /// Compares what a server shows with what was accepted of it.
    pub(crate) async fn inspect(&self, server: &Server, lists: &Lists, instructions: Option<&str>) -> Inspection {
        let options = self.gate().options();
        if !options.pin_definitions && !options.screen_definitions {
            return Inspection::default();
        }
        let shown = self.screen_shown(server, shown_by(lists, instructions));
        match self.remembering() {
            Some(store) => match self.compare(store, server, &shown).await {
                Ok(inspection) => inspection,
                Err(error) => {
                    // What cannot be compared cannot be trusted.
                    tracing::error!(server = %server.id(), %error, "definitions cannot be compared with what was accepted");
                    let why = "it cannot be compared with what was accepted: the store does not answer";
                    let held = shown.into_iter().map(|(shown, _)| (shown.name, why.to_owned())).collect();
                    Inspection { held, marked: Marked::new() }
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
    ) -> Option<Inspection> {
        let store = self.remembering()?;
        self.compare(store, server, &self.screen_shown(server, shown_by(lists, instructions))).await.ok()
    }

    /// Where definitions are remembered, if they are, so that other processes can accept them.
    fn remembering(&self) -> Option<&Store> {
        self.gate().store().filter(|_| self.gate().options().pin_definitions)
    }

    async fn compare(&self, store: &Store, server: &Server, shown: &[Screened]) -> Result<Inspection, StoreError> {
        let known = store.pins().list(Some(server.id())).await?;
        let known: HashMap<&str, &Pin> = known.iter().map(|pin| (pin.tool.as_str(), pin)).collect();
        let mut inspection = Inspection::default();
        let mut fresh = Vec::new();
        let mut counts: HashMap<ListKind, usize> = HashMap::new();
        for name in known.keys() {
            *counts.entry(shown::kind_of(name)).or_default() += 1;
        }
        for (shown, screening) in shown {
            let name = &shown.name;
            if !known.contains_key(name.as_str()) {
                let count = counts.entry(shown::kind_of(name)).or_default();
                if *count >= MOST {
                    inspection.held.insert(name.clone(), TOO_MANY.to_owned());
                    continue;
                }
                *count += 1;
            }
            match known.get(name.as_str()) {
                Some(pin) if pin.shown_hash == shown.hash && pin.state == PinState::Accepted => {
                    // What a person has seen and accepted needs no mark.
                    if pin.accepted_by.is_none() {
                        inspection.mark(name, screening);
                    }
                }
                Some(pin) if pin.shown_hash == shown.hash && (pin.accepted.is_some() || screening.is_held()) => {
                    let screening = if pin.accepted.is_none() { screening } else { &Screening::Passed };
                    inspection.held.insert(name.clone(), why_held(server, name, screening));
                }
                Some(pin) if pin.shown_hash == shown.hash => {
                    // Screening found it when it was first seen, finds it no longer, and nobody has ever accepted
                    // another one: it is seen for the first time once more.
                    store.pins().forget(server.id(), Some(name)).await?;
                    fresh.push((shown, screening, true));
                }
                pin => fresh.push((shown, screening, pin.is_none())),
            }
        }
        let screening_counts = |first: bool, screening| if first { screening } else { &Screening::Passed };
        for group in fresh.chunks(TOGETHER) {
            let observing = group.iter().map(|(shown, screening, first)| {
                self.observe(store, server, shown, screening_counts(*first, screening))
            });
            for held in futures_util::future::try_join_all(observing).await?.into_iter().flatten() {
                inspection.held.insert(held.0, held.1);
            }
        }
        for (shown, screening, _) in fresh {
            if !inspection.held.contains_key(&shown.name) {
                self.note_mark(server, shown, screening);
                inspection.mark(&shown.name, screening);
            }
        }
        Ok(inspection)
    }

    async fn observe(
        &self,
        store: &Store,
        server: &Server,
        shown: &Shown,
        screening: &Screening,
    ) -> Result<Option<(String, String)>, StoreError> {
        let Ok(definition) = RawValue::from_string(shown.definition.clone()) else { return Ok(None) };
        let observation = Observation {
            server: server.id().as_ref().to_owned(),
            tool: shown.name.clone(),
            hash: shown.hash,
            definition,
            at_first: if screening.is_held() { PinState::Quarantined } else { PinState::Accepted },
            now: self.gate().granted.time(),
        };
        let observed = store.pins().observe(&observation).await?;
        if observed.pin.state == PinState::Accepted {
            return Ok(None);
        }
        let why = why_held(server, &shown.name, screening);
        if observed.before != Some(PinState::Quarantined) {
            self.tell_of_quarantine(server, shown, &why).await;
        }
        Ok(Some((shown.name.clone(), why)))
    }

    /// The same without a store.
    fn compare_here(&self, server: &Server, shown: &[Screened]) -> Inspection {
        let mut inspection = Inspection::default();
        let pinned = self.gate().options().pin_definitions;
        let mut counts: HashMap<ListKind, usize> = HashMap::new();
        for (_, name) in self.gate().pins.known.lock().keys().filter(|(id, _)| id == server.id()) {
            *counts.entry(shown::kind_of(name)).or_default() += 1;
        }
        for (shown, screening) in shown {
            let key = (server.id().clone(), shown.name.clone());
            let known = self.gate().pins.known.lock().get(&key).cloned();
            if known.is_none() {
                let count = counts.entry(shown::kind_of(&shown.name)).or_default();
                if *count >= MOST {
                    inspection.held.insert(shown.name.clone(), TOO_MANY.to_owned());
                    continue;
                }
                *count += 1;
            }
            let unchanged = known.as_ref().is_some_and(|known| known.shown == shown.hash);
            let accepted = match &known {
                Some(known) if pinned => known.accepted,
                _ => (!screening.is_held()).then_some(shown.hash),
            };
            if accepted != Some(shown.hash) {
                let never_accepted = known.as_ref().is_none_or(|known| known.accepted.is_none());
                let screening = if never_accepted { screening } else { &Screening::Passed };
                let why = why_held(server, &shown.name, screening);
                if !unchanged {
                    tracing::warn!(server = %server.id(), tool = %shown.name, why, "a definition is held back");
                }
                inspection.held.insert(shown.name.clone(), why);
            } else {
                if !unchanged {
                    self.note_mark(server, shown, screening);
                }
                inspection.mark(&shown.name, screening);
            }
            self.gate().pins.known.lock().insert(key, Seen { accepted, shown: shown.hash });
        }
        inspection
    }

    /// Screens what a server shows, once.
    fn screen_shown(&self, server: &Server, shown: Vec<Shown>) -> Vec<Screened> {
        let screened = |shown: Shown| {
            let screening = self.screening(server, &shown);
            (shown, screening)
        };
        shown.into_iter().map(screened).collect()
    }

    /// What screening says of a definition, given how far its server is trusted.
    fn screening(&self, server: &Server, shown: &Shown) -> Screening {
        if !self.gate().options().screen_definitions || server.trust() >= TrustLevel::Core {
            return Screening::Passed;
        }
        let text = Digest::of(format!("{:?}\n{}", shown::kind_of(&shown.name), shown.raw.as_str()).as_bytes());
        if self.gate().pins.passed.lock().contains(&text) {
            return Screening::Passed;
        }
        match shown::screen_told(&shown.name, &shown.raw) {
            Screening::Passed => {
                let mut passed = self.gate().pins.passed.lock();
                if passed.len() >= MAX_PASSED {
                    passed.clear();
                }
                passed.insert(text);
                Screening::Passed
            }
            // An honest definition may say this. Of a server that the operator chose it is shown with a mark; of one
            // that nobody answers for it is held back.
            Screening::Marked(finding) if server.trust() < TrustLevel::Standard => Screening::Held(finding),
            screening => screening,
        }
    }

    fn note_mark(&self, server: &Server, shown: &Shown, screening: &Screening) {
        let Screening::Marked(finding) = screening else { return };
        let why = finding.message.as_str();
        tracing::info!(server = %server.id(), tool = %shown.name, why, "a definition is shown with a mark");
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

impl Inspection {
    fn mark(&mut self, name: &str, screening: &Screening) {
        if let Screening::Marked(finding) = screening {
            self.marked.insert(name.to_owned(), finding.clone());
        }
    }
}

fn why_held(server: &Server, name: &str, screening: &Screening) -> String {
    let next = format!("see and accept it with `{}`", accept_command(server.id(), Some(name)));
    match screening.finding() {
        Some(finding) => format!("its definition is suspicious: {finding}; {next}"),
        None => format!("its definition is not the one that was accepted; {next}"),
    }
}

/// The command that shows a definition to a person and accepts it; without a name, all that is held of a server.
pub(crate) fn accept_command(server: &str, name: Option<&str>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '@' | '+' | ',');
    match name {
        Some(name) if !name.is_empty() && name.chars().all(plain) => format!("switchboard pins accept {server} {name}"),
        Some(name) if !name.contains(['\'', '\\']) && !name.contains(char::is_control) => {
            format!("switchboard pins accept {server} '{name}'")
        }
        _ => format!("switchboard pins accept {server}"),
    }
}
