//! Looking at what servers show: each definition is compared with what was accepted of it (`pins.rs`), and screened.

mod extras;
mod remembered;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

pub use extras::strip_extras;
pub use remembered::remembered_instructions;
use serde_json::value::RawValue;
use switchboard_protocol::mgp::TrustLevel;
use switchboard_store::{Digest, Observation, Pin, PinState, Store, StoreError};
use switchboard_upstream::{INSTRUCTIONS, Inspection, ListKind, Marked, PinPolicy, PresentedDefinitions, Server};
use switchboard_validators::screen::Screening;
use switchboard_wire::Raw;

use crate::Gate;
use crate::audit::{self, event, result};
use crate::pins::judge::{Candidate, Judgement, Known, judge, reason};
use crate::pins::shown::{self, Shown, shown_by};
use crate::pins::versions::{Versions, readable};
use crate::pins::{PinRecord, accept_command};

/// Definitions that are written down at the same time.
const TOGETHER: usize = 64;
/// Definitions of one kind that are remembered of one server. One that shows ever new names is not trusted with more.
const MAX_PINNED_OF_KIND: usize = 20_000;

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

/// Compares what a server shows with what was accepted of it.
pub async fn inspect(gate: &Gate<'_>, server: &Server, presented: PresentedDefinitions<'_>) -> Inspection {
    let options = gate.options();
    if !options.pin_definitions && !options.screen_definitions {
        return Inspection::default();
    }
    let shown = screen_shown(gate, server, shown_by(presented.lists, presented.instructions));
    let version = presented.version();
    match remembering(gate) {
        Some(store) => match compare_patiently(gate, store, server, &shown, version).await {
            Ok(inspection) => inspection,
            Err(error) => {
                // What cannot be compared cannot be trusted.
                tracing::error!(server = %server.id(), %error, "definitions cannot be compared with what was accepted");
                let why = "it cannot be compared with what was accepted: the store does not answer";
                let held = shown.into_iter().map(|(shown, _)| (shown.name, why.to_owned())).collect();
                Inspection { held, marked: Marked::new() }
            }
        },
        None => compare_here(gate, server, &shown, version.as_deref()),
    }
}

/// Compares, again where the store was away for a moment: what is held back stays so until the next look at all of it,
/// and a server would come up without its tools.
async fn compare_patiently(
    gate: &Gate<'_>,
    store: &Store,
    server: &Server,
    shown: &[Screened],
    version: Option<String>,
) -> Result<Inspection, StoreError> {
    for pause in COMPARE_PAUSES {
        match compare(gate, store, server, shown, version.clone()).await {
            Err(error) if error.is_transient() || matches!(error, StoreError::Undetermined) => {
                tracing::debug!(server = %server.id(), %error, "definitions are compared again");
                tokio::time::sleep(pause).await;
            }
            compared => return compared,
        }
    }
    compare(gate, store, server, shown, version).await
}

/// What is held back of a server now that somebody may have accepted it; `None` where nobody can know.
pub async fn inspect_again(
    gate: &Gate<'_>,
    server: &Server,
    presented: PresentedDefinitions<'_>,
) -> Option<Inspection> {
    let store = remembering(gate)?;
    let shown = screen_shown(gate, server, shown_by(presented.lists, presented.instructions));
    compare(gate, store, server, &shown, presented.version()).await.ok()
}

/// Where definitions are remembered, if they are, so that other processes can accept them.
fn remembering<'a>(gate: &Gate<'a>) -> Option<&'a Store> {
    gate.store().filter(|_| gate.options().pin_definitions)
}

async fn compare(
    gate: &Gate<'_>,
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
        let judgement = judged(gate, policy, server, &versions, shown, version.as_deref());
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
        let is_known =
            pin.is_some_and(|pin| pin.shown_hash == shown.hash && pin.state == state && pin.server_version == version);
        if !is_known {
            writing.push((shown, screening, state, by_person));
        }
    }
    for group in writing.chunks(TOGETHER) {
        let each = group.iter().map(|(shown, screening, state, by_person)| {
            let why = inspection.held.get(&shown.name);
            observe(gate, store, server, shown, (*state, version.clone()), why, (!by_person).then_some(*screening))
        });
        futures_util::future::try_join_all(each).await?;
    }
    Ok(inspection)
}

/// Writes down what is shown, and tells of it where that is news.
async fn observe(
    gate: &Gate<'_>,
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
        now: gate.granted.time(),
    };
    let observed = store.pins().observe(&observation).await?;
    match (why, mark) {
        (Some(why), _) if observed.before != Some(PinState::Quarantined) => {
            tell_of_quarantine(gate, server, shown, why).await;
        }
        (None, Some(screening)) => note_mark(gate, server, shown, screening),
        _ => {}
    }
    Ok(())
}

/// The same without a store.
fn compare_here(gate: &Gate<'_>, server: &Server, shown: &[Screened], version: Option<&str>) -> Inspection {
    let mut inspection = Inspection::default();
    let pinned = gate.options().pin_definitions;
    let mut counts: HashMap<ListKind, usize> = HashMap::new();
    for (_, name) in gate.pins.known.lock().keys().filter(|(id, _)| id == server.id()) {
        *counts.entry(shown::kind_of(name)).or_default() += 1;
    }
    for (shown, screening) in shown {
        let key = (server.id().clone(), shown.name.clone());
        let known = gate.pins.known.lock().get(&key).cloned();
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
        let judgement = judged(gate, server.pin_policy(&shown.name), server, &versions, shown, version);
        let why = match &judgement {
            Judgement::Unaccepted => screening.is_held().then(|| why_suspicious(server, &shown.name, screening)),
            Judgement::Changed { .. } | Judgement::Refused => Some(why_held(server, &shown.name, &judgement)),
            Judgement::Accepted { .. } | Judgement::Alike | Judgement::Followed => None,
        };
        let accepted =
            before.or_else(|| why.is_none().then(|| Arc::new(Known::first(shown.hash, &shown.definition, version))));
        match why {
            Some(why) => {
                if !unchanged {
                    tracing::info!(server = %server.id(), tool = %shown.name, why, "a definition is held back");
                }
                inspection.held.insert(shown.name.clone(), why);
            }
            None => {
                if !unchanged {
                    note_mark(gate, server, shown, screening);
                }
                inspection.mark(&shown.name, screening);
            }
        }
        gate.pins.known.lock().insert(key, PinRecord { accepted, shown: shown.hash });
    }
    inspection
}

/// Judges a definition, once for all that the judgement depends on.
fn judged(
    gate: &Gate<'_>,
    policy: PinPolicy,
    server: &Server,
    versions: &Versions,
    shown: &Shown,
    version: Option<&str>,
) -> Judgement {
    let screens = gate.options().screen_definitions && server.trust() < TrustLevel::Core;
    let key = versions.digest(&shown.name, &format!("{policy:?} {screens} {version:?} {}", shown.hash));
    if let Some(judgement) = gate.pins.judged.lock().get(&key) {
        return judgement.clone();
    }
    let Some(definition) = readable(&shown.definition) else {
        return Judgement::Changed { kinds: Vec::new(), objection: None, upgrade: None };
    };
    let candidate = Candidate { name: &shown.name, hash: shown.hash, definition: &definition, server_version: version };
    let screen = |told: &Raw| if screens { shown::screen_told(&shown.name, told) } else { Screening::Passed };
    let judgement = judge(policy, &versions.accepted(&shown.name), &versions.refused(&shown.name), &candidate, &screen);
    let mut judged = gate.pins.judged.lock();
    if judged.len() >= MAX_JUDGED {
        judged.clear();
    }
    judged.insert(key, judgement.clone());
    judgement
}

/// Screens what a server shows, once.
fn screen_shown(gate: &Gate<'_>, server: &Server, shown: Vec<Shown>) -> Vec<Screened> {
    let screened = |shown: Shown| {
        let screening = screening(gate, server, &shown);
        (shown, screening)
    };
    shown.into_iter().map(screened).collect()
}

/// What screening says of a definition, given how far its server is trusted.
fn screening(gate: &Gate<'_>, server: &Server, shown: &Shown) -> Screening {
    if !gate.options().screen_definitions || server.trust() >= TrustLevel::Core {
        return Screening::Passed;
    }
    let text = Digest::of(format!("{:?}\n{}", shown::kind_of(&shown.name), shown.raw.as_str()).as_bytes());
    if gate.pins.passed.lock().contains(&text) {
        return Screening::Passed;
    }
    match shown::screen_told(&shown.name, &shown.raw) {
        Screening::Passed => {
            let mut passed = gate.pins.passed.lock();
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

fn note_mark(gate: &Gate<'_>, server: &Server, shown: &Shown, screening: &Screening) {
    let Screening::Marked(finding) = screening else { return };
    let why = finding.message.as_str();
    tracing::info!(server = %server.id(), tool = %shown.name, why, "a definition is shown with a mark");
    let event = audit::event_of(event::MARKED, audit::kernel(), result::SUCCESS);
    let event = audit::with(audit::about(event, server.id(), Some(&shown.name)), "reason", why);
    gate.audit.note_now(&event);
}

async fn tell_of_quarantine(gate: &Gate<'_>, server: &Server, shown: &Shown, why: &str) {
    tracing::info!(server = %server.id(), tool = %shown.name, why, "a definition is held back");
    let event = audit::event_of(event::QUARANTINED, audit::kernel(), result::BLOCKED);
    let event = audit::with(audit::about(event, server.id(), Some(&shown.name)), "reason", why);
    gate.audit.note(audit::with(event, "definition_sha256", shown.hash.to_string())).await;
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
