//! What is put on record once for as long as this process remembers, however often it is seen: notices about what servers
//! show and ask for.

use std::collections::HashSet;

use parking_lot::Mutex;
use serde_json::json;
use switchboard_store::{AuditEvent, Digest};

/// Notices that are remembered.
const MAX_NOTICES: usize = 100_000;

/// What was told before.
#[derive(Debug, Default)]
pub(crate) struct SentNotices(Mutex<HashSet<Digest>>);

impl SentNotices {
    /// Whether this is new.
    pub(crate) fn first(&self, event: &AuditEvent) -> bool {
        let said = json!([event.event_type, event.target.server_id, event.target.tool_name, event.details]);
        self.is_new(Digest::of(said.to_string().as_bytes()))
    }

    pub(crate) fn is_new(&self, said: Digest) -> bool {
        let mut told = self.0.lock();
        if told.len() >= MAX_NOTICES {
            told.clear();
        }
        told.insert(said)
    }
}
