//! Pins: a definition is remembered as it was first seen, and held back when it comes to mean something else.
//!
//! What a person or a model relied on is the definition: name, title, description, schemas, annotations and what it
//! says of its security. When it comes to mean something else (`judge.rs`, by the policy of its server), or when a new one
//! certainly gives orders to the model, the tool is neither listed nor called until a person has seen the difference and
//! accepted it; what an honest tool may say too is shown with a mark. Several definitions of one tool can be accepted
//! side by side. Prompts, resources, templates and a server's instructions are remembered in the same way. What else a
//! definition carries may change, and is screened whenever it is seen (`extras.rs`).

mod extras;
mod judge;
mod shown;
mod versions;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::value::RawValue;
use switchboard_protocol::mgp::TrustLevel;
use switchboard_store::{Digest, Observation, Pin, PinState, Store, StoreError};
use switchboard_validators::screen::Screening;
use switchboard_wire::Raw;

use super::audit::{self, event, result};
use crate::Gate;
use judge::{Candidate, Judgement, Known, judge, reason};
pub(super) use shown::definition_hash;
use shown::{Shown, shown_by};
pub use shown::{pin_name, screen_definition};
use switchboard_upstream::ListKind;
use switchboard_upstream::PinPolicy;
use switchboard_upstream::{INSTRUCTIONS, Inspection, Marked, PresentedDefinitions, Server};
use versions::{Versions, readable};

/// Definitions that are written down at the same time.
const TOGETHER: usize = 64;
/// Definitions of one kind that are remembered of one server. One that shows ever new names is not trusted with more.
const MAX_PINNED_OF_KIND: usize = 20_000;

/// What is remembered without a store, and what was found out before.
#[derive(Default)]
pub(crate) struct Pins {
    known: Mutex<HashMap<(Arc<str>, String), PinRecord>>,
    /// What screening had nothing against, by kind and text: lists are looked at again and again, and hardly change.
    passed: Mutex<HashSet<Digest>>,
    /// Judgements by all that they depend on: while something is held back it is looked at every few seconds.
    judged: Mutex<HashMap<Digest, Judgement>>,
}

#[derive(Clone)]
struct PinRecord {
    accepted: Option<Arc<Known>>,
    shown: Digest,
}

/// Judgements that are remembered.
const MAX_JUDGED: usize = 1 << 14;

/// A definition, and what screening says of it.
type Screened = (Shown, Screening);

/// Texts that are remembered to have passed screening.
const MAX_PASSED: usize = 1 << 16;
/// The pauses before definitions are compared again that the store had no answer about.
const COMPARE_PAUSES: [Duration; 4] =
    [Duration::from_millis(30), Duration::from_millis(50), Duration::from_millis(110), Duration::from_millis(230)];
/// Why something is held back that came after very many.
const TOO_MANY: &str = "its server has shown more of its kind than are remembered of one";

impl Gate<'_> {
    /// Compares what a server shows with what was accepted of it.
    pub async fn inspect(&self, server: &Server, presented: PresentedDefinitions<'_>) -> Inspection {
        let options = self.options();
        if !options.pin_definitions && !options.screen_definitions {
            return Inspection::default();
        }
        let shown = self.screen_shown(server, shown_by(presented.lists, presented.instructions));
        let version = presented.version();
        match self.remembering() {
            Some(store) => match self.compare_patiently(store, server, &shown, version).await {
                Ok(inspection) => inspection,
                Err(error) => {
                    // What cannot be compared cannot be trusted.
                    tracing::error!(server = %server.id(), %error, "definitions cannot be compared with what was accepted");
                    let why = "it cannot be compared with what was accepted: the store does not answer";
                    let held = shown.into_iter().map(|(shown, _)| (shown.name, why.to_owned())).collect();
                    Inspection { held, marked: Marked::new() }
                }
            },
            None => self.compare_here(server, &shown, version.as_deref()),
        }
    }

    /// Compares, again where the store was away for a moment: what is held back stays so until the next look at all of it,
    /// and a server would come up without its tools.
    async fn compare_patiently(
        &self,
        store: &Store,
        server: &Server,
        shown: &[Screened],
        version: Option<String>,
    ) -> Result<Inspection, StoreError> {
        for pause in COMPARE_PAUSES {
            match self.compare(store, server, shown, version.clone()).await {
                Err(error) if error.is_transient() || matches!(error, StoreError::Undetermined) => {
                    tracing::debug!(server = %server.id(), %error, "definitions are compared again");
                    tokio::time::sleep(pause).await;
                }
                compared => return compared,
            }
        }
        self.compare(store, server, shown, version).await
    }

    /// What is held back of a server now that somebody may have accepted it; `None` where nobody can know.
    pub async fn inspect_again(&self, server: &Server, presented: PresentedDefinitions<'_>) -> Option<Inspection> {
        let store = self.remembering()?;
        let shown = self.screen_shown(server, shown_by(presented.lists, presented.instructions));
        self.compare(store, server, &shown, presented.version()).await.ok()
    }

    /// Where definitions are remembered, if they are, so that other processes can accept them.
    fn remembering(&self) -> Option<&Store> {
        self.store().filter(|_| self.options().pin_definitions)
    }

    async fn compare(
        &self,
        store: &Store,
        server: &Server,
        shown: &[Screened],
        version: Option<String>,
    ) -> Result<Inspection, StoreError> {
        let known = store.pins().list(Some(server.id())).await?;
        let versions = Versions::new(store.pins().versions(Some(server.id())).await?);
        let known: HashMap<&str, &Pin> = known.iter().map(|pin| (pin.tool.as_str(), pin)).collect();
        let mut inspection = Inspection::default();
        let mut writing = Vec::new();
        let mut counts: HashMap<ListKind, usize> = HashMap::new();
        for name in known.keys() {
            *counts.entry(shown::kind_of(name)).or_default() += 1;
        }
        for (shown, screening) in shown {
            let name = &shown.name;
            let pin = known.get(name.as_str()).copied();
            if pin.is_none() {
                let count = counts.entry(shown::kind_of(name)).or_default();
                if *count >= MAX_PINNED_OF_KIND {
                    inspection.held.insert(name.clone(), TOO_MANY.to_owned());
                    continue;
                }
                *count += 1;
            }
            let policy = server.pin_policy(name);
            let judgement = self.judged(policy, server, &versions, shown, version.as_deref());
            let (state, why) = match &judgement {
                Judgement::Accepted { .. } => (PinState::Accepted, None),
                Judgement::Alike | Judgement::Followed => (PinState::Passed, None),
                Judgement::Changed { .. } | Judgement::Refused => {
                    (PinState::Quarantined, Some(why_held(server, name, &judgement)))
                }
                Judgement::Unaccepted => {
                    let is_new = !known.is_empty() && policy == PinPolicy::Strict && is_tool(name);
                    let why = if screening.is_held() {
                        Some(why_suspicious(server, name, screening))
                    } else if let Some(other) = versions.held_under_another_name(shown) {
                        Some(format!("it is `{other}` under another name, which is held back; {}", next(server, name)))
                    } else {
                        is_new.then(|| format!("it was not there when its server was accepted; {}", next(server, name)))
                    };
                    if why.is_none() && pin.is_some() {
                        // Screening found it when it was first seen, finds it no longer, and nobody has ever accepted
                        // another one: it is seen for the first time once more.
                        store.pins().forget(server.id(), Some(name)).await?;
                    }
                    (if why.is_some() { PinState::Quarantined } else { PinState::Accepted }, why)
                }
            };
            let by_person = judgement == Judgement::Accepted { by_person: true };
            match why {
                Some(why) => drop(inspection.held.insert(name.clone(), why)),
                // What a person has seen and accepted needs no mark.
                None if by_person => {}
                None => inspection.mark(name, screening),
            }
            let is_known = pin
                .is_some_and(|pin| pin.shown_hash == shown.hash && pin.state == state && pin.server_version == version);
            if !is_known {
                writing.push((shown, screening, state, by_person));
            }
        }
        for group in writing.chunks(TOGETHER) {
            let each = group.iter().map(|(shown, screening, state, by_person)| {
                let why = inspection.held.get(&shown.name);
                self.observe(store, server, shown, (*state, version.clone()), why, (!by_person).then_some(*screening))
            });
            futures_util::future::try_join_all(each).await?;
        }
        Ok(inspection)
    }

    /// Writes down what is shown, and tells of it where that is news.
    async fn observe(
        &self,
        store: &Store,
        server: &Server,
        shown: &Shown,
        (state, server_version): (PinState, Option<String>),
        why: Option<&String>,
        mark: Option<&Screening>,
    ) -> Result<(), StoreError> {
        let Ok(definition) = RawValue::from_string(shown.definition.clone()) else { return Ok(()) };
        let observation = Observation {
            server: server.id().as_ref().to_owned(),
            tool: shown.name.clone(),
            hash: shown.hash,
            definition,
            at_first: state,
            later: state,
            server_version,
            now: self.granted.time(),
        };
        let observed = store.pins().observe(&observation).await?;
        match (why, mark) {
            (Some(why), _) if observed.before != Some(PinState::Quarantined) => {
                self.tell_of_quarantine(server, shown, why).await;
            }
            (None, Some(screening)) => self.note_mark(server, shown, screening),
            _ => {}
        }
        Ok(())
    }

    /// The same without a store.
    fn compare_here(&self, server: &Server, shown: &[Screened], version: Option<&str>) -> Inspection {
        let mut inspection = Inspection::default();
        let pinned = self.options().pin_definitions;
        let mut counts: HashMap<ListKind, usize> = HashMap::new();
        for (_, name) in self.pins.known.lock().keys().filter(|(id, _)| id == server.id()) {
            *counts.entry(shown::kind_of(name)).or_default() += 1;
        }
        for (shown, screening) in shown {
            let key = (server.id().clone(), shown.name.clone());
            let known = self.pins.known.lock().get(&key).cloned();
            if known.is_none() {
                let count = counts.entry(shown::kind_of(&shown.name)).or_default();
                if *count >= MAX_PINNED_OF_KIND {
                    inspection.held.insert(shown.name.clone(), TOO_MANY.to_owned());
                    continue;
                }
                *count += 1;
            }
            let unchanged = known.as_ref().is_some_and(|known| known.shown == shown.hash);
            let before = known.and_then(|known| known.accepted).filter(|_| pinned);
            let versions = Versions::of_one(&shown.name, before.clone());
            let judgement = self.judged(server.pin_policy(&shown.name), server, &versions, shown, version);
            let why = match &judgement {
                Judgement::Unaccepted => screening.is_held().then(|| why_suspicious(server, &shown.name, screening)),
                Judgement::Changed { .. } | Judgement::Refused => Some(why_held(server, &shown.name, &judgement)),
                Judgement::Accepted { .. } | Judgement::Alike | Judgement::Followed => None,
            };
            let accepted = before
                .or_else(|| why.is_none().then(|| Arc::new(Known::first(shown.hash, &shown.definition, version))));
            match why {
                Some(why) => {
                    if !unchanged {
                        tracing::info!(server = %server.id(), tool = %shown.name, why, "a definition is held back");
                    }
                    inspection.held.insert(shown.name.clone(), why);
                }
                None => {
                    if !unchanged {
                        self.note_mark(server, shown, screening);
                    }
                    inspection.mark(&shown.name, screening);
                }
            }
            self.pins.known.lock().insert(key, PinRecord { accepted, shown: shown.hash });
        }
        inspection
    }

    /// Judges a definition, once for all that the judgement depends on.
    fn judged(
        &self,
        policy: PinPolicy,
        server: &Server,
        versions: &Versions,
        shown: &Shown,
        version: Option<&str>,
    ) -> Judgement {
        let screens = self.options().screen_definitions && server.trust() < TrustLevel::Core;
        let key = versions.digest(&shown.name, &format!("{policy:?} {screens} {version:?} {}", shown.hash));
        if let Some(judgement) = self.pins.judged.lock().get(&key) {
            return judgement.clone();
        }
        let Some(definition) = readable(&shown.definition) else {
            return Judgement::Changed { kinds: Vec::new(), objection: None, upgrade: None };
        };
        let candidate =
            Candidate { name: &shown.name, hash: shown.hash, definition: &definition, server_version: version };
        let screen = |told: &Raw| if screens { shown::screen_told(&shown.name, told) } else { Screening::Passed };
        let judgement =
            judge(policy, &versions.accepted(&shown.name), &versions.refused(&shown.name), &candidate, &screen);
        let mut judged = self.pins.judged.lock();
        if judged.len() >= MAX_JUDGED {
            judged.clear();
        }
        judged.insert(key, judgement.clone());
        judgement
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
        if !self.options().screen_definitions || server.trust() >= TrustLevel::Core {
            return Screening::Passed;
        }
        let text = Digest::of(format!("{:?}\n{}", shown::kind_of(&shown.name), shown.raw.as_str()).as_bytes());
        if self.pins.passed.lock().contains(&text) {
            return Screening::Passed;
        }
        match shown::screen_told(&shown.name, &shown.raw) {
            Screening::Passed => {
                let mut passed = self.pins.passed.lock();
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
        self.audit.note_now(&event);
    }

    async fn tell_of_quarantine(&self, server: &Server, shown: &Shown, why: &str) {
        tracing::info!(server = %server.id(), tool = %shown.name, why, "a definition is held back");
        let event = audit::event_of(event::QUARANTINED, audit::kernel(), result::BLOCKED);
        let event = audit::with(audit::about(event, server.id(), Some(&shown.name)), "reason", why);
        self.audit.note(audit::with(event, "definition_sha256", shown.hash.to_string())).await;
    }
}

fn is_tool(name: &str) -> bool {
    shown::kind_of(name) == ListKind::Tools && name != INSTRUCTIONS
}

fn next(server: &Server, name: &str) -> String {
    format!("see and accept it with `{}`", accept_command(server.id(), Some(name)))
}

fn why_held(server: &Server, name: &str, judgement: &Judgement) -> String {
    let next = next(server, name);
    match judgement {
        Judgement::Changed { kinds, objection: Some(finding), upgrade } => {
            format!("{}; what is new is suspicious: {finding}; {next}", reason(kinds, *upgrade))
        }
        Judgement::Changed { kinds, objection: None, upgrade } => format!("{}; {next}", reason(kinds, *upgrade)),
        Judgement::Refused => format!("a person has refused its definition; {next}"),
        _ => format!("{}; {next}", reason(&[], None)),
    }
}

fn why_suspicious(server: &Server, name: &str, screening: &Screening) -> String {
    let next = next(server, name);
    match screening.finding() {
        Some(finding) => format!("its definition is suspicious: {finding}; {next}"),
        None => format!("{}; {next}", reason(&[], None)),
    }
}

/// The command that shows a definition to a person and accepts it; without a name, all that is held of a server.
pub fn accept_command(server: &str, name: Option<&str>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '@' | '+' | ',');
    match name {
        Some(name) if !name.is_empty() && name.chars().all(plain) => format!("switchboard pins accept {server} {name}"),
        Some(name) if !name.contains(['\'', '\\']) && !name.contains(char::is_control) => {
            format!("switchboard pins accept {server} '{name}'")
        }
        _ => format!("switchboard pins accept {server}"),
    }
}
