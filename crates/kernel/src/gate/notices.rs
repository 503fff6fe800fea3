//! What is put on record when the tools that are shown change: a risk that was not believed, a name that two want.
//!
//! Each of it is told once for as long as this process remembers, however often lists are put together.

use std::collections::HashSet;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_store::{AuditEvent, Digest};

use super::Gate;
use super::audit::{self, event, result};
use crate::directory::Directory;
use crate::kernel::Kernel;

/// Notices that are remembered.
const MOST: usize = 100_000;

/// What was told before.
#[derive(Debug, Default)]
pub(crate) struct SentNotices(Mutex<HashSet<Digest>>);

impl Gate {
    /// Whether something is told for the first time, for as long as this process remembers.
    pub(crate) fn is_news(&self, said: &[&str]) -> bool {
        self.told.is_new(Digest::of(json!(said).to_string().as_bytes()))
    }
}

impl SentNotices {
    /// Whether this is new.
    fn first(&self, event: &AuditEvent) -> bool {
        let said = json!([event.event_type, event.target.server_id, event.target.tool_name, event.details]);
        self.is_new(Digest::of(said.to_string().as_bytes()))
    }

    fn is_new(&self, said: Digest) -> bool {
        let mut told = self.0.lock();
        if told.len() >= MOST {
            told.clear();
        }
        told.insert(said)
    }
}

impl Kernel {
    /// Puts on record what is striking about the tools of a directory.
    pub(crate) fn tell_of_tools(&self, directory: &Directory) {
        for (server, _, route) in directory.tools() {
            let Some(policy) = route.policy.as_deref().filter(|policy| policy.assessment.overridden) else { continue };
            let (said, holds) = (policy.security.risk, policy.assessment.risk);
            let event = audit::event_of(event::RISK_LEVEL_OVERRIDE, audit::kernel(), result::SUCCESS);
            let event = audit::about(event, server, Some(&route.original));
            let event = audit::with(event, "declared_risk", said.map_or(Value::Null, |risk| risk.as_str().into()));
            self.tell_once(&audit::with(event, "effective_risk", holds.as_str()));
        }
        for hidden in directory.hidden.iter().filter(|hidden| hidden.unfit) {
            let event = audit::event_of(event::DEFINITION_UNFIT, audit::kernel(), result::BLOCKED);
            let event = audit::about(event, &hidden.server, Some(&hidden.name));
            let event = audit::with(event, "reason", hidden.why.as_str());
            if self.tell_once(&event) {
                tracing::warn!(server = %hidden.server, name = ?hidden.name, why = %hidden.why, "a definition is not shown");
            }
        }
        for mended in &directory.mended {
            tracing::debug!(server = %mended.server, name = ?mended.name, what = ?mended.what, "a definition was mended");
        }
        for hidden in &directory.hidden {
            let Some(other) = &hidden.conflicts_with else { continue };
            let event = audit::event_of(event::TOOL_NAME_CONFLICT, audit::kernel(), result::BLOCKED);
            let event = audit::about(event, &hidden.server, Some(&hidden.name));
            self.tell_once(&audit::with(event, "conflicts_with", other.as_str()));
        }
    }

    /// Whether this is the first time.
    fn tell_once(&self, event: &AuditEvent) -> bool {
        let first = self.gate().told.first(event);
        if first {
            self.gate().audit.note_now(event);
        }
        first
    }
}
