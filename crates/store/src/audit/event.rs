//! Audit events in the exact form of MGP 6.3, and their canonical text.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::columns::{Columns, searchable};
use super::stamp::write_time;
use crate::canonical::{write_object, write_string};

/// Room for the text of nearly every event.
const USUAL: usize = 512;

/// Who did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// `agent`, `user`, `operator`, `kernel`, `delegated`...
    #[serde(rename = "type")]
    pub kind: String,
    /// The principal.
    pub id: String,
}

/// What it was done to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Target {
    /// The server, if one is concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_id: Option<String>,
    /// The tool, if one is concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
}

/// One audit event. Secrets must be gone from it before it comes here: what is appended cannot be taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEvent {
    /// When it happened.
    pub timestamp: Timestamp,
    /// Joins the events of one call, across servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// `TOOL_EXECUTED` and the like, or a reverse-domain name.
    pub event_type: String,
    /// Who did it.
    pub actor: Actor,
    /// What it was done to.
    #[serde(default)]
    pub target: Target,
    /// `SUCCESS`, `FAILURE`, `BLOCKED`...
    pub result: String,
    /// Anything else.
    #[serde(default)]
    pub details: Map<String, Value>,
}

impl AuditEvent {
    /// The event as `notifications/mgp.audit` carries it, with the time to the millisecond.
    pub fn canonical(&self) -> String {
        let mut text = String::with_capacity(USUAL);
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
        write_object(&self.details, text);
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
    use serde_json::json;

    use super::*;

    fn event() -> AuditEvent {
        let Value::Object(details) =
            json!({"risk_level": "dangerous", "duration_ms": 1200, "b": {"z": 1.5, "a": "\u{7}"}})
        else {
            unreachable!()
        };
        AuditEvent {
            timestamp: "2026-02-27T12:00:00.123456Z".parse().unwrap(),
            trace_id: Some("550e8400-e29b-41d4-a716-446655440000".to_owned()),
            event_type: "TOOL_EXECUTED".to_owned(),
            actor: Actor { kind: "agent".to_owned(), id: "agent.\"default\"\n".to_owned() },
            target: Target {
                server_id: Some("tool.terminal".to_owned()),
                tool_name: Some("execute_command".to_owned()),
            },
            result: "SUCCESS".to_owned(),
            details,
        }
    }

    /// The hand-written order equals what the general writer makes of the same event.
    #[test]
    fn text_is_canonical_and_reads_back() {
        let full = event();
        let bare = AuditEvent { trace_id: None, target: Target::default(), details: Map::new(), ..event() };
        let server = AuditEvent { target: Target { tool_name: None, ..event().target }, ..event() };
        let tool = AuditEvent { target: Target { server_id: None, ..event().target }, ..event() };
        for event in [full, bare, server, tool] {
            let text = event.canonical();
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(crate::canonical(&value), text);
            assert_eq!(value["timestamp"], "2026-02-27T12:00:00.123Z");
            let read: AuditEvent = serde_json::from_str(&text).unwrap();
            assert_eq!(read.columns(), event.columns());
            assert_eq!(read.details, event.details);
        }
    }

    #[test]
    fn an_event_under_another_name_is_a_changed_copy() {
        let copy = AuditEvent { event_type: "com.example.\"x\"".to_owned(), result: "BLOCKED".to_owned(), ..event() };
        let mut text = "before ".to_owned();
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
