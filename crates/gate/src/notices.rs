//! What is put on record once for as long as this process remembers, however often it is seen: notices about what servers
//! show and ask for.

use std::collections::HashSet;

use parking_lot::Mutex;
use serde_json::json;
use switchboard_store::{AuditEvent, Digest};

use crate::GateState;

/// Notices that are remembered.
const MAX_NOTICES: usize = 100_000;

/// What was told before.
#[derive(Debug, Default)]
pub(crate) struct SentNotices(Mutex<HashSet<Digest>>);

impl GateState {
    /// Whether something is told for the first time, for as long as this process remembers.
    pub fn is_news(&self, said: &[&str]) -> bool {
        self.told.is_new(Digest::of(json!(said).to_string().as_bytes()))
    }

    /// Puts an event on record, unless it was before. Whether this is the first time.
    pub fn note_once(&self, event: &AuditEvent) -> bool {
        let first = self.told.first(event);
        if first {
            self.audit.note_now(event);
        }
        first
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
        if told.len() >= MAX_NOTICES {
            told.clear();
        }
        told.insert(said)
    }
}
