//! Events in the forms that people and programs want, and the words of a query as a filter.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use switchboard_protocol::mgp::audit::event;
use switchboard_store::{AuditFilter, AuditRecord, Group, Store, StoreError};

use crate::arguments::{By, Chosen};
use crate::commands::operator_session::cell;
use crate::failure::Failure;
use crate::screen::{self, Tone};

/// What a server's way from one state to another is recorded as.
const SERVER_STATE: &str = "dev.switchboard.server_state";
/// Characters of the details on a line; `--json` has all of them.
const BRIEF: usize = 160;

/// The columns of the table form.
pub(super) const COLUMNS: &str = "timestamp,trace_id,event_type,actor_type,actor_id,server_id,tool_name,result,details";

/// What the options choose.
pub(super) fn filter(chosen: &Chosen, now: Timestamp) -> Result<AuditFilter, Failure> {
    Ok(AuditFilter {
        since: chosen.since.map(|when| when.past(now)).transpose()?,
        until: chosen.until.map(|when| when.past(now)).transpose()?,
        event_types: chosen.types.clone(),
        actor: chosen.agent.clone(),
        server: chosen.server.clone(),
        tool: chosen.tool.clone(),
        trace_id: chosen.trace.clone(),
        result: chosen.result.as_ref().map(|result| result.to_ascii_uppercase()),
        ..AuditFilter::default()
    })
}

/// Whether a record says only that a server came up, what it was taken for, or that it ended, as it does many times a day.
pub(super) fn is_routine(record: &AuditRecord) -> bool {
    let Ok(event) = record.parse() else { return false };
    let routine = [event::SERVER_CONNECTED, event::SERVER_DISCONNECTED, event::RISK_LEVEL_OVERRIDE, SERVER_STATE];
    // One that failed is worth a look.
    let failed = event.details.get("new_state").is_some_and(|state| state == "error");
    routine.contains(&&*event.event_type) && event.result == "SUCCESS" && !failed
}

/// One event on one line.
pub(super) fn line(record: &AuditRecord) -> String {
    let Ok(event) = record.parse() else { return format!("{} cannot be read: {}", record.seq, cell(&record.event)) };
    let tone = match event.result.as_str() {
        "SUCCESS" => Tone::Good,
        "BLOCKED" | "FAILURE" => Tone::Bad,
        _ => Tone::Doubtful,
    };
    let target = match (&event.target.server_id, &event.target.tool_name) {
        (Some(server), Some(tool)) => format!(" {}/{}", cell(server), cell(tool)),
        (Some(server), None) => format!(" {}", cell(server)),
        (None, Some(tool)) => format!(" {}", cell(tool)),
        (None, None) => String::new(),
    };
    let details = if event.details.is_empty() {
        String::new()
    } else {
        format!(" {}", screen::brief(&cell(&Value::from(event.details).to_string()), BRIEF))
    };
    format!(
        "{:.3} {} {} {}{target}{details}",
        event.timestamp,
        screen::toned(&cell(&event.result), tone),
        cell(&event.event_type),
        cell(&event.actor.id),
    )
}

/// One event as a row of a table.
pub(super) fn row(record: &AuditRecord) -> Result<String, StoreError> {
    let event = record.parse()?;
    let details = if event.details.is_empty() { String::new() } else { Value::from(event.details).to_string() };
    let cells = [
        format!("{:.3}", event.timestamp).into(),
        event.trace_id.unwrap_or_default(),
        event.event_type,
        event.actor.kind,
        event.actor.id,
        event.target.server_id.unwrap_or_default(),
        event.target.tool_name.unwrap_or_default(),
        event.result,
        details.into(),
    ];
    Ok(cells.iter().map(|text| field(text)).collect::<Vec<_>>().join(","))
}

/// A field of RFC 4180. Names come from outside: one that a spreadsheet would take for a formula gets an apostrophe.
fn field(text: &str) -> String {
    let text = cell(text);
    let guard = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    if guard.is_empty() && !text.contains([',', '"']) {
        return text;
    }
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

/// How many records there are, by a key. Hours are named by when they begin.
pub(super) async fn count(store: &Store, filter: &AuditFilter, by: By) -> Result<Vec<(String, u64)>, StoreError> {
    let group = match by {
        By::EventType => Group::EventType,
        By::Agent => Group::Actor,
        By::Server => Group::Server,
        By::Result => Group::Result,
        By::Hour => Group::Hour,
    };
    let mut counted = store.audit().count(filter, group).await?;
    if by == By::Hour {
        for (key, _) in &mut counted {
            let begin = key.parse().ok().and_then(|micros| Timestamp::from_microsecond(micros).ok());
            if let Some(begin) = begin {
                *key = begin.to_string();
            }
        }
    }
    Ok(counted)
}

/// The same for programs.
pub(super) fn stats_json(filter: &AuditFilter, counted: &[(String, u64)]) -> Value {
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "period": {"since": time(filter.since), "until": time(filter.until)},
        "total_events": counted.iter().map(|(_, count)| count).sum::<u64>(),
        "breakdown": counted.iter().map(|(key, count)| (key.clone(), json!(count))).collect::<Map<_, _>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_table() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "\"'=1+1\""),
            ("@x", "\"'@x\""),
            ("a\nb", "a\\nb"),
            ("", ""),
        ] {
            assert_eq!(field(text), expected, "{text:?}");
        }
    }
}
