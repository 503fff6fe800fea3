//! The audit log for clients that agreed on `audit` (MGP 6, later versions): what was put on record since some record.
//!
//! Only who may decide for others reads it: it tells what everybody did. What a token does not cover it does not tell.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::{Extension, method};
use switchboard_store::{AuditFilter, Store};

use super::house::AccessRights;
use super::row::{Needs, OwnCall, OwnMethod, OwnTool, run};

/// Events in one answer, and where nobody says how many.
const MAX_EVENTS: usize = 1_000;
const DEFAULT_EVENTS: usize = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReplayParams {
    /// After this record.
    since_seq: Option<u64>,
    /// Not before this time.
    since_timestamp: Option<String>,
    limit: Option<usize>,
}

pub(super) const ROWS: &[OwnMethod] = &[OwnMethod::method(
    method::AUDIT_REPLAY,
    "What was put on the audit log since some record or time.",
    run!(house, call => replay(house, house.store(), call).await),
)
.tool(OwnTool::new("mgp_audit_replay", schema).needs(Needs::Mgp(Extension::Audit)).admin_only())
.for_admins("read the audit log", Some("only an operator may; `switchboard audit` shows it on the command line"))];

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "since_seq": {"type": "integer", "description": "After this record"},
        "since_timestamp": {"type": "string", "description": "Not before this time, RFC 3339"},
        "limit": {"type": "integer", "minimum": 1, "maximum": MAX_EVENTS},
    }})
}

/// Answers `mgp/audit/replay`.
///
/// # Errors
/// The parameters cannot be read, or the log cannot.
async fn replay(
    house: &(impl AccessRights + ?Sized),
    store: Option<&Store>,
    call: &OwnCall<'_>,
) -> Result<Value, Fault> {
    let invalid = |text: String| Fault::new(FaultKind::InvalidParams, text);
    let asked: ReplayParams = call.read()?;
    let since: Option<Timestamp> = asked
        .since_timestamp
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|_| invalid("`since_timestamp` is no time in RFC 3339".to_owned()))?;
    let store = store.ok_or_else(|| Fault::new(FaultKind::ResourceExhausted, "this kernel keeps no audit log"))?;
    let limit = asked.limit.unwrap_or(DEFAULT_EVENTS).clamp(1, MAX_EVENTS);
    let filter = AuditFilter { after: asked.since_seq, since, ..AuditFilter::default() };
    let unreadable =
        |error| Fault::new(FaultKind::ResourceExhausted, "the audit log cannot be read").with_source(error);
    let records = store.audit().query(&filter, limit).await.map_err(unreadable)?;
    let who = house.requester(call.context);
    let event = |record: &switchboard_store::AuditRecord| {
        let mut event: Value = serde_json::from_str(&record.event).ok()?;
        let target = &event["target"];
        // A token that is good for some servers reads of these.
        let (server, tool) = (target["server_id"].as_str(), target["tool_name"].as_str());
        if !house.is_covered(&who, server, tool) {
            return None;
        }
        event["seq"] = record.seq.into();
        Some(event)
    };
    let events: Vec<Value> = records.iter().filter_map(event).collect();
    let next = records.last().map(|record| record.seq).or(asked.since_seq);
    Ok(json!({"events": events, "has_more": records.len() == limit, "next_seq": next}))
}
