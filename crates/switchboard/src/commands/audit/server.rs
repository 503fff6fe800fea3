//! `switchboard audit serve`: the log as a server that any client can query. It reads and never writes.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_sdk::{Error, Json, Server, Tool};
use switchboard_store::{AuditFilter, AuditRecord, Store};

use super::export::Text;
use super::form;
use crate::Outcome;
use crate::arguments::{By, Format};
use crate::commands::operator_session::When;
use crate::failure::{Failure, chain};

/// Events that one answer holds, at most.
const MAX_EVENTS: u32 = 1_000;
/// Bytes of one export, at most.
const MAX_EXPORT_BYTES: usize = 1024 * 1024;

const INSTRUCTIONS: &str = "The audit log of Switchboard: who called which tool of which server, when, and how it \
                            ended. Times are RFC 3339, or spans such as 2h and 7d back from now.";

#[derive(Debug, Deserialize, JsonSchema)]
struct QueryArguments {
    /// Only events of this type, such as TOOL_EXECUTED or TOOL_BLOCKED.
    event_type: Option<String>,
    /// Only events of this principal.
    agent_id: Option<String>,
    /// Only events about this server.
    server_id: Option<String>,
    /// Only events that ended so: SUCCESS, FAILURE or BLOCKED.
    result: Option<String>,
    /// Not before this time.
    since: Option<String>,
    /// Before this time.
    until: Option<String>,
    /// Only events of this trace.
    trace_id: Option<String>,
    /// The newest so many; 50 if absent, 1000 at most.
    limit: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct QueryAnswer {
    /// The events in the form of MGP 6.3, newest first.
    events: Vec<Value>,
    /// How many.
    count: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct StatsArguments {
    /// Not before this time.
    since: Option<String>,
    /// Before this time.
    until: Option<String>,
    /// By what: event_type (the default), agent_id, server_id, result or hour.
    group_by: Option<GroupBy>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum GroupBy {
    EventType,
    AgentId,
    ServerId,
    Result,
    Hour,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ExportArguments {
    /// In which form.
    format: ExportFormat,
    /// Not before this time.
    since: Option<String>,
    /// Before this time.
    until: Option<String>,
    /// Only events of these types.
    #[serde(default)]
    event_types: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ExportFormat {
    Json,
    Csv,
    Jsonl,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ExportAnswer {
    /// How many events are in it.
    count: u64,
    /// Whether there are more that did not fit: ask again with a later `since`.
    truncated: bool,
    /// The export.
    content: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StatsAnswer {
    /// From when to when.
    period: Value,
    /// How many events there are.
    total_events: Value,
    /// How many there are of each.
    breakdown: Value,
}

pub(super) async fn run(store: Store) -> Outcome {
    let server = build(&store).map_err(|error| Failure::failed(chain(&error)))?;
    server.run_stdio().await.map_err(Failure::from)
}

fn build(store: &Store) -> Result<Server, switchboard_sdk::BuildError> {
    let (for_query, for_stats, for_export) = (store.clone(), store.clone(), store.clone());
    let query_log = Tool::new::<QueryArguments, Json<QueryAnswer>>("query_audit_log")
        .description("Searches the audit log, newest events first.")
        .read_only()
        .handler(move |_, arguments| query(for_query.clone(), arguments));
    let stats = Tool::new::<StatsArguments, Json<StatsAnswer>>("get_audit_stats")
        .description("Counts the events of the audit log.")
        .read_only()
        .handler(move |_, arguments| stats(for_stats.clone(), arguments));
    let export = Tool::new::<ExportArguments, Json<ExportAnswer>>("export_audit")
        .description("Exports the audit log, oldest events first.")
        .read_only()
        .handler(move |_, arguments| export(for_export.clone(), arguments));
    Server::builder("switchboard-audit", env!("CARGO_PKG_VERSION"))
        .instructions(INSTRUCTIONS)
        .tool(query_log)
        .tool(stats)
        .tool(export)
        .build()
}

async fn query(store: Store, arguments: QueryArguments) -> Result<Json<QueryAnswer>, Error> {
    let filter = AuditFilter {
        event_types: arguments.event_type.into_iter().collect(),
        actor: arguments.agent_id,
        server: arguments.server_id,
        result: arguments.result,
        trace_id: arguments.trace_id,
        newest_first: true,
        ..period(arguments.since.as_deref(), arguments.until.as_deref())?
    };
    let limit = usize::try_from(arguments.limit.unwrap_or(50).clamp(1, MAX_EVENTS)).unwrap_or(50);
    let records = store.audit().query(&filter, limit).await?;
    let events: Vec<Value> = records.iter().map(value).collect();
    Ok(Json(QueryAnswer { count: events.len(), events }))
}

async fn stats(store: Store, arguments: StatsArguments) -> Result<Json<StatsAnswer>, Error> {
    let filter = period(arguments.since.as_deref(), arguments.until.as_deref())?;
    let by = match arguments.group_by.unwrap_or(GroupBy::EventType) {
        GroupBy::EventType => By::EventType,
        GroupBy::AgentId => By::Agent,
        GroupBy::ServerId => By::Server,
        GroupBy::Result => By::Result,
        GroupBy::Hour => By::Hour,
    };
    let counted = form::count(&store, &filter, by).await?;
    let mut shown = form::stats_json(&filter, &counted);
    let mut take = |key: &str| shown[key].take();
    Ok(Json(StatsAnswer { period: take("period"), total_events: take("total_events"), breakdown: take("breakdown") }))
}

async fn export(store: Store, arguments: ExportArguments) -> Result<Json<ExportAnswer>, Error> {
    let filter = AuditFilter {
        event_types: arguments.event_types,
        ..period(arguments.since.as_deref(), arguments.until.as_deref())?
    };
    let format = match arguments.format {
        ExportFormat::Json => Format::Json,
        ExportFormat::Csv => Format::Csv,
        ExportFormat::Jsonl => Format::Jsonl,
    };
    let mut export = store.audit().export(filter).await?;
    let mut text = Text::new(format, false);
    let mut content = String::new();
    let mut truncated = false;
    'pages: while let Some(page) = export.next().await? {
        for record in &page {
            if content.len() + record.event.len() > MAX_EXPORT_BYTES {
                truncated = true;
                break 'pages;
            }
            content.push_str(&text.page(Some(std::slice::from_ref(record)))?);
        }
    }
    content.push_str(&text.page(None)?);
    Ok(Json(ExportAnswer { count: text.count, truncated, content }))
}

fn period(since: Option<&str>, until: Option<&str>) -> Result<AuditFilter, Error> {
    let now = Timestamp::now();
    let read = |text: Option<&str>| {
        text.map(|text| {
            let when: When = text.parse().map_err(Error::msg)?;
            when.past(now).map_err(|failure| Error::msg(failure.message().unwrap_or_default()))
        })
        .transpose()
    };
    Ok(AuditFilter { since: read(since)?, until: read(until)?, ..AuditFilter::default() })
}

fn value(record: &AuditRecord) -> Value {
    serde_json::from_str(&record.event).unwrap_or(Value::Null)
}
