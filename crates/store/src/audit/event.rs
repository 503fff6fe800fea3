//! Audit events in the exact form of MGP 6.3, and their canonical text.

use std::borrow::Cow;
use std::fmt::Write as _;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::StoreError;
use crate::canonical::{write_object, write_string};

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
        // The members in their canonical order, written without building a tree first: this is the hot path.
        let mut text = String::with_capacity(320);
        text.push_str("{\"actor\":{\"id\":");
        write_string(&self.actor.id, &mut text);
        text.push_str(",\"type\":");
        write_string(&self.actor.kind, &mut text);
        text.push_str("},\"details\":");
        write_object(&self.details, &mut text);
        text.push_str(",\"event_type\":");
        write_string(&self.event_type, &mut text);
        text.push_str(",\"result\":");
        write_string(&self.result, &mut text);
        text.push_str(",\"target\":{");
        let mut comma = "";
        for (key, value) in [("server_id", &self.target.server_id), ("tool_name", &self.target.tool_name)] {
            if let Some(value) = value {
                let _ = write!(text, "{comma}\"{key}\":");
                write_string(value, &mut text);
                comma = ",";
            }
        }
        let _ = write!(text, "}},\"timestamp\":\"{:.3}\"", self.timestamp);
        if let Some(trace_id) = &self.trace_id {
            text.push_str(",\"trace_id\":");
            write_string(trace_id, &mut text);
        }
        text.push('}');
        text
    }

    pub(crate) fn prepare(self, limit: usize) -> Result<Prepared, StoreError> {
        let text = self.canonical();
        if text.len() > limit {
            return Err(StoreError::TooLarge { what: "an audit event", size: text.len(), limit });
        }
        Ok(Prepared { event: self, text })
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

/// The form in which a part can be searched: short enough for an index, and without NUL, which PostgreSQL has no text
/// for. The event itself keeps every character.
pub(crate) fn searchable(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 512;
    if text.len() <= LONGEST && !text.as_bytes().contains(&0) {
        return text.into();
    }
    let mut short: String = text.chars().filter(|letter| *letter != '\0').collect();
    short.truncate(short.floor_char_boundary(LONGEST));
    short.into()
}

/// The parts of an event that can be searched. Verification compares them with the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns<'a> {
    pub(crate) event_type: Cow<'a, str>,
    pub(crate) actor: Cow<'a, str>,
    pub(crate) server: Option<Cow<'a, str>>,
    pub(crate) tool: Option<Cow<'a, str>>,
    pub(crate) trace: Option<Cow<'a, str>>,
    pub(crate) result: Cow<'a, str>,
}

/// An event that is ready to be linked into the chain: its text is made, and not too long.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(crate) event: AuditEvent,
    pub(crate) text: String,
}

impl Prepared {
    /// The event in canonical JSON, as it will be hashed. One line.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The event itself.
    #[must_use]
    pub const fn event(&self) -> &AuditEvent {
        &self.event
    }

    /// Microseconds since 1970.
    pub(crate) fn time(&self) -> i64 {
        self.event.timestamp.as_microsecond()
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
    fn whole_seconds_keep_their_milliseconds() {
        let event = AuditEvent { timestamp: "2026-02-27T12:00:00Z".parse().unwrap(), ..event() };
        assert!(event.canonical().contains("\"timestamp\":\"2026-02-27T12:00:00.000Z\""));
    }

    #[test]
    fn an_event_beyond_the_limit_is_refused() {
        let length = event().canonical().len();
        assert!(event().prepare(length).is_ok());
        assert!(matches!(event().prepare(length - 1), Err(StoreError::TooLarge { .. })));
    }
}
