//! Audit events in the exact form of MGP 6.3, and their canonical text.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::columns::{Columns, searchable};
use super::details::Details;
use super::stamp::write_time;
use switchboard_wire::canonical::{write_members, write_string};

/// Room for the text of nearly every event.
const USUAL_EVENT_BYTES: usize = 512;

/// A text of an event. One of up to 24 bytes, as nearly all are, needs no memory of its own.
pub type Text = compact_str::CompactString;

/// Who did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// `agent`, `user`, `operator`, `kernel`, `delegated`...
    #[serde(rename = "type")]
    pub kind: Text,
    /// The principal.
    pub id: Text,
}

/// What it was done to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Target {
    /// The server, if one is concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_id: Option<Text>,
    /// The tool, if one is concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<Text>,
}

/// One audit event. Secrets must be gone from it before it comes here: what is appended cannot be taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEvent {
    /// When it happened.
    pub timestamp: Timestamp,
    /// Joins the events of one call, across servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<Text>,
    /// `TOOL_EXECUTED` and the like, or a reverse-domain name.
    pub event_type: Text,
    /// Who did it.
    pub actor: Actor,
    /// What it was done to.
    #[serde(default)]
    pub target: Target,
    /// `SUCCESS`, `FAILURE`, `BLOCKED`...
    pub result: Text,
    /// Anything else.
    #[serde(default)]
    pub details: Details,
}

impl AuditEvent {
    /// The event as `notifications/mgp.audit` carries it, with the time to the millisecond.
    pub fn canonical(&self) -> String {
        let mut text = String::with_capacity(USUAL_EVENT_BYTES);
        self.canonical_into(&mut text);
        text
    }

    /// Writes [`canonical`](Self::canonical) text to the end of another.
    pub fn canonical_into(&self, text: &mut String) {
        self.canonical_as(&self.event_type, &self.result, text);
    }

    /// Writes the canonical text of an event that differs from this one in type and result alone.
    pub fn canonical_as(&self, event_type: &str, result: &str, text: &mut String) {
        // The members in their canonical order, written without building a tree first: this is the hot path.
        text.push_str("{\"actor\":{\"id\":");
        write_string(&self.actor.id, text);
        text.push_str(",\"type\":");
        write_string(&self.actor.kind, text);
        text.push_str("},\"details\":");
        write_members(self.details.iter(), text);
        text.push_str(",\"event_type\":");
        write_string(event_type, text);
        text.push_str(",\"result\":");
        write_string(result, text);
        text.push_str(",\"target\":{");
        if let Some(server) = &self.target.server_id {
            text.push_str("\"server_id\":");
            write_string(server, text);
        }
        if let Some(tool) = &self.target.tool_name {
            if self.target.server_id.is_some() {
                text.push(',');
            }
            text.push_str("\"tool_name\":");
            write_string(tool, text);
        }
        text.push_str("},\"timestamp\":\"");
        write_time(self.timestamp, text);
        text.push('"');
        if let Some(trace_id) = &self.trace_id {
            text.push_str(",\"trace_id\":");
            write_string(trace_id, text);
        }
        text.push('}');
    }

    pub(crate) fn columns(&self) -> Columns<'_> {
        Columns {
            event_type: searchable(&self.event_type),
            actor: searchable(&self.actor.id),
            server: self.target.server_id.as_deref().map(searchable),
            tool: self.target.tool_name.as_deref().map(searchable),
            trace: self.trace_id.as_deref().map(searchable),
            result: searchable(&self.result),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event() -> AuditEvent {
        let details =
            [("risk_level", json!("dangerous")), ("duration_ms", json!(1200)), ("b", json!({"z": 1.5, "a": "\u{7}"}))];
        AuditEvent {
            timestamp: "2026-02-27T12:00:00.123456Z".parse().unwrap(),
            trace_id: Some("550e8400-e29b-41d4-a716-446655440000".into()),
            event_type: "TOOL_EXECUTED".into(),
            actor: Actor { kind: "agent".into(), id: "agent.\"default\"\n".into() },
            target: Target { server_id: Some("tool.terminal".into()), tool_name: Some("execute_command".into()) },
            result: "SUCCESS".into(),
            details: details.into_iter().collect(),
        }
    }

    /// The hand-written order equals what the general writer makes of the same event.
    #[test]
    fn text_is_canonical_and_reads_back() {
        let full = event();
        let bare = AuditEvent { trace_id: None, target: Target::default(), details: Details::default(), ..event() };
        let server = AuditEvent { target: Target { tool_name: None, ..event().target }, ..event() };
        let tool = AuditEvent { target: Target { server_id: None, ..event().target }, ..event() };
        for event in [full, bare, server, tool] {
            let text = event.canonical();
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(switchboard_wire::canonical::of_value(&value), text);
            assert_eq!(value["timestamp"], "2026-02-27T12:00:00.123Z");
            let read: AuditEvent = serde_json::from_str(&text).unwrap();
            assert_eq!(read.columns(), event.columns());
            assert_eq!(read.details, event.details);
        }
    }

    #[test]
    fn an_event_under_another_name_is_a_changed_copy() {
        let copy = AuditEvent { event_type: "com.example.\"x\"".into(), result: "BLOCKED".into(), ..event() };
        let mut text = "before ".into();
        event().canonical_as(&copy.event_type, &copy.result, &mut text);
        copy.canonical_into(&mut text);
        assert_eq!(text, format!("before {0}{0}", copy.canonical()));
    }

    #[test]
    fn whole_seconds_keep_their_milliseconds() {
        let event = AuditEvent { timestamp: "2026-02-27T12:00:00Z".parse().unwrap(), ..event() };
        assert!(event.canonical().contains("\"timestamp\":\"2026-02-27T12:00:00.000Z\""));
    }
}
