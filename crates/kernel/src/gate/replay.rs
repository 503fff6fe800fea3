//! The audit log for clients that agreed on `audit` (MGP 6, later versions): what was put on record since some record.
//!
//! Only who may decide for others reads it: it tells what everybody did.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::{Extension, method};
use switchboard_store::AuditFilter;
use switchboard_wire::Raw;

use super::rights::decides_for_others;
use crate::kernel::{Kernel, readable};

/// Events in one answer, and where nobody says how many.
const MOST: usize = 1_000;
const USUAL: usize = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReplayParams {
    /// After this record.
    since_seq: Option<u64>,
    /// Not before this time.
    since_timestamp: Option<String>,
    limit: Option<usize>,
}

impl Kernel {
    /// Answers `mgp/audit/replay`.
    ///
    /// # Errors
    /// The caller may not, the parameters cannot be read, or the log cannot.
    pub(super) async fn replay_audit(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let invalid = |text: String| Fault::new(FaultKind::InvalidParams, text);
        if !decides_for_others(context) {
            return Err(Fault::new(FaultKind::PermissionDenied, "you may not read the audit log")
                .suggest("only an operator may; `switchboard audit` shows it on the command line"));
        }
        let asked: ReplayParams = params.view().map_err(|error| invalid(readable(&error)))?;
        let since: Option<Timestamp> = asked
            .since_timestamp
            .as_deref()
            .map(str::parse)
            .transpose()
            .map_err(|_| invalid("`since_timestamp` is no time in RFC 3339".to_owned()))?;
        let store = self.gate().store();
        let store = store.ok_or_else(|| Fault::new(FaultKind::ResourceExhausted, "this kernel keeps no audit log"))?;
        let limit = asked.limit.unwrap_or(USUAL).clamp(1, MOST);
        let filter = AuditFilter { after: asked.since_seq, since, ..AuditFilter::default() };
        let unreadable =
            |error| Fault::new(FaultKind::ResourceExhausted, "the audit log cannot be read").with_source(error);
        let records = store.audit().query(&filter, limit).await.map_err(unreadable)?;
        let event = |record: &switchboard_store::AuditRecord| {
            let mut event: Value = serde_json::from_str(&record.event).ok()?;
            event["seq"] = record.seq.into();
            Some(event)
        };
        let events: Vec<Value> = records.iter().filter_map(event).collect();
        let next = records.last().map(|record| record.seq).or(asked.since_seq);
        Raw::from_value(&json!({"events": events, "has_more": records.len() == limit, "next_seq": next}))
            .map_err(Fault::internal)
    }

    /// The tool of the same, for a client that agreed on `audit` and may read the log.
    pub(crate) fn audit_tools(&self, context: &Context) -> Vec<Raw> {
        let tool = json!({
            "name": method::tool_of(method::AUDIT_REPLAY),
            "description": "What was put on the audit log since some record or time.",
            "inputSchema": {"type": "object", "properties": {
                "since_seq": {"type": "integer", "description": "After this record"},
                "since_timestamp": {"type": "string", "description": "Not before this time, RFC 3339"},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST},
            }},
            "_mgp": {"source": "kernel", "admin_only": true},
        });
        let shown = self.shows_audit(context).then(|| Raw::from_value(&tool).ok()).flatten();
        shown.into_iter().collect()
    }

    /// Whether a client has that tool.
    pub(super) fn shows_audit(&self, context: &Context) -> bool {
        decides_for_others(context)
            && crate::initialize::agreed_with(&context.caller.capabilities)
                .is_some_and(|agreement| agreement.has(Extension::Audit))
    }
}
