//! Which records a query wants, as SQL that both engines read.

use jiff::Timestamp;

use super::columns::searchable;
use super::record::COLUMNS;
use crate::sql::{Statement, Value};

/// Which records are wanted. Everything by default, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditFilter {
    /// Not before this time.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// One of these types; any if empty.
    pub event_types: Vec<String>,
    /// Id of the actor.
    pub actor: Option<String>,
    /// Id of the server.
    pub server: Option<String>,
    /// Name of the tool.
    pub tool: Option<String>,
    /// Trace id.
    pub trace_id: Option<String>,
    /// `SUCCESS`, `FAILURE`, `BLOCKED`...
    pub result: Option<String>,
    /// After this sequence number: for the next page, or to follow the log.
    pub after: Option<u64>,
    /// Up to this sequence number.
    pub through: Option<u64>,
    /// Newest first.
    pub newest_first: bool,
}

/// How records are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// By event type.
    EventType,
    /// By actor.
    Actor,
    /// By server; records without one have an empty key.
    Server,
    /// By result.
    Result,
    /// By hour; the key is the microsecond at which it begins.
    Hour,
}

impl AuditFilter {
    pub(crate) fn select(&self, limit: usize) -> Statement {
        let (condition, mut values) = self.condition();
        values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
        let order = if self.newest_first { "DESC" } else { "ASC" };
        let place = values.len();
        Statement::new(format!("SELECT {COLUMNS} FROM audit{condition} ORDER BY seq {order} LIMIT ${place}"), values)
    }

    pub(crate) fn count(&self, group: Group) -> Statement {
        let (condition, values) = self.condition();
        let key = match group {
            Group::EventType => "event_type",
            Group::Actor => "actor",
            Group::Server => "COALESCE(server, '')",
            Group::Result => "result",
            Group::Hour => "CAST(time / 3600000000 * 3600000000 AS TEXT)",
        };
        Statement::new(format!("SELECT {key} AS key, COUNT(*) FROM audit{condition} GROUP BY 1 ORDER BY 1"), values)
    }

    fn condition(&self) -> (String, Vec<Value>) {
        let mut parts = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        let mut compare = |left: &str, value: Option<Value>| {
            if let Some(value) = value {
                values.push(value);
                parts.push(format!("{left} ${}", values.len()));
            }
        };
        compare("time >=", self.since.map(Value::from));
        compare("time <", self.until.map(Value::from));
        compare("actor =", self.actor.as_deref().map(text));
        compare("server =", self.server.as_deref().map(text));
        compare("tool =", self.tool.as_deref().map(text));
        compare("trace =", self.trace_id.as_deref().map(text));
        compare("result =", self.result.as_deref().map(text));
        compare("seq >", self.after.map(Value::from));
        compare("seq <=", self.through.map(Value::from));
        if !self.event_types.is_empty() {
            let places: Vec<_> = self
                .event_types
                .iter()
                .map(|event_type| {
                    values.push(text(event_type));
                    format!("${}", values.len())
                })
                .collect();
            parts.push(format!("event_type IN ({})", places.join(", ")));
        }
        let condition = if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) };
        (condition, values)
    }
}

fn text(value: &str) -> Value {
    Value::Text(searchable(value).into_owned())
}
