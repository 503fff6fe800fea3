//! An event on its way to the chain: its text and its columns, in one piece of memory.

use std::borrow::Cow;

use super::columns::{Columns, searchable};
use crate::{AuditEvent, StoreError};

/// Room for the text and the columns of nearly every event.
const USUAL_ROW_BYTES: usize = 640;

/// An event that is ready to be linked into the chain: its text is made, and not too long.
///
/// One thread makes it and another one writes and frees it: the fewer pieces, the better.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The text of the event, and after it what can be searched, in the order of [`Columns`].
    buffer: String,
    /// Where the text ends.
    text: usize,
    /// How long each column is; it begins where the one before it ends. `None` is a column that the event has not.
    lengths: [Option<u16>; 6],
    time: i64,
}

impl Prepared {
    pub(crate) fn new(event: &AuditEvent, limit: usize) -> Result<Self, StoreError> {
        let mut buffer = String::with_capacity(USUAL_ROW_BYTES);
        event.canonical_into(&mut buffer);
        let text = buffer.len();
        if text > limit {
            return Err(StoreError::TooLarge { what: "an audit event", size: text, limit });
        }
        let target = &event.target;
        let lengths = [
            Some(&*event.event_type),
            Some(&event.actor.id),
            target.server_id.as_deref(),
            target.tool_name.as_deref(),
            event.trace_id.as_deref(),
            Some(&*event.result),
        ]
        .map(|column| {
            let column = searchable(column?);
            buffer.push_str(&column);
            // What can be searched is short.
            Some(u16::try_from(column.len()).unwrap_or_default())
        });
        Ok(Self { buffer, text, lengths, time: event.timestamp.as_microsecond() })
    }

    /// The event in canonical JSON, as it will be hashed. One line.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.buffer[..self.text]
    }

    /// Microseconds since 1970.
    pub(crate) const fn time(&self) -> i64 {
        self.time
    }

    /// What can be searched.
    pub(crate) fn columns(&self) -> Columns<'_> {
        let mut start = self.text;
        let [event_type, actor, server, tool, trace, result] = self.lengths.map(|length| {
            let end = start + usize::from(length?);
            let column = &self.buffer[start..end];
            start = end;
            Some(Cow::Borrowed(column))
        });
        // Every event has a type, an actor and a result.
        Columns {
            event_type: event_type.unwrap_or_default(),
            actor: actor.unwrap_or_default(),
            server,
            tool,
            trace,
            result: result.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Actor, Details, Target, Text};

    fn event() -> AuditEvent {
        AuditEvent {
            timestamp: "2026-02-27T12:00:00.123456Z".parse().unwrap(),
            trace_id: Some("550e8400-e29b-41d4-a716-446655440000".into()),
            event_type: "TOOL_EXECUTED".into(),
            actor: Actor { kind: "agent".into(), id: "agent.\"default\"\n".into() },
            target: Target { server_id: Some("tool.terminal".into()), tool_name: Some("run".into()) },
            result: "SUCCESS".into(),
            details: Details::default(),
        }
    }

    /// Whatever a part holds, and whichever are there: text, time and columns are those of the event.
    #[test]
    fn says_what_the_event_says() {
        let parts = [None, Some(""), Some("a"), Some("\0é\"\n"), Some("a name that is longer than most of them are")];
        let long = "é".repeat(300);
        for server in parts.into_iter().chain([Some(long.as_str())]) {
            for tool in parts {
                for trace in parts {
                    let target = Target { server_id: server.map(Text::from), tool_name: tool.map(Text::from) };
                    let event = AuditEvent { target, trace_id: trace.map(Text::from), ..event() };
                    let prepared = Prepared::new(&event, usize::MAX).unwrap();
                    assert_eq!(prepared.text(), event.canonical());
                    assert_eq!(prepared.columns(), event.columns());
                    assert_eq!(prepared.time(), event.timestamp.as_microsecond());
                }
            }
        }
    }

    #[test]
    fn an_event_beyond_the_limit_is_refused() {
        let length = event().canonical().len();
        assert!(Prepared::new(&event(), length).is_ok());
        assert!(matches!(Prepared::new(&event(), length - 1), Err(StoreError::TooLarge { .. })));
    }
}
