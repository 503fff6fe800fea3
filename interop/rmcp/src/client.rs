//! The client side: connects as the job says, runs its steps, prints one JSON line.
//!
//! Answers to sampling, elicitation and roots are fixed words that the harness looks for. What
//! counts as a correct answer is decided by the harness, not here.

#![expect(
    deprecated,
    reason = "sampling and roots are deprecated in the newest revision and still part of the older ones"
)]

use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rmcp::model::{
    CallToolRequestParams, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, GetPromptRequestParams, Implementation, ListRootsResult, ProtocolVersion, ReadResourceRequestParams,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Runs one job and prints its report; a job that cannot connect reports that and fails.
pub(crate) async fn run(job: &str) -> Result<()> {
    let job: Value = serde_json::from_str(job).context("the job is not JSON")?;
    let limit = Duration::from_millis(job["step_ms"].as_u64().unwrap_or(20_000));
    let connected = tokio::time::timeout(Duration::from_secs(30), connect(&job)).await;
    let client = match connected {
        Ok(Ok(client)) => client,
        Ok(Err(error)) => return refuse(&format!("connecting: {error:#}")),
        Err(_) => return refuse("connecting: no answer in 30 s"),
    };
    let protocol = client.peer().peer_info().map(|info| info.protocol_version.to_string());
    let mut results = Vec::new();
    for step in job["steps"].as_array().into_iter().flatten() {
        let started = Instant::now();
        let outcome = match tokio::time::timeout(limit, run_step(&client, step)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(anyhow::anyhow!("no answer in {} ms", limit.as_millis())),
        };
        let (ok, value, error) = match outcome {
            Ok(value) => (true, value, Value::Null),
            Err(error) => (false, Value::Null, Value::from(format!("{error:#}"))),
        };
        let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        results.push(json!({"id": step["id"], "ok": ok, "value": value, "error": error, "ms": milliseconds}));
    }
    print(&json!({"protocol": protocol, "error": null, "results": results}))?;
    // The answers are out; a server that does not end by itself is ended by the runtime.
    let _ = tokio::time::timeout(Duration::from_secs(5), client.cancel()).await;
    Ok(())
}

async fn connect(job: &Value) -> Result<RunningService<RoleClient, Answers>> {
    let lifecycle = match job["mode"].as_str() {
        Some("legacy") => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
    };
    let target = &job["transport"];
    if target["kind"] == "http" {
        let url = target["url"].as_str().context("transport.url is missing")?.to_owned();
        let transport = StreamableHttpClientTransport::from_uri(url);
        return Ok(Answers.serve_with_lifecycle(transport, lifecycle).await?);
    }
    let command = target["command"].as_str().context("transport.command is missing")?;
    let mut process = tokio::process::Command::new(command);
    process.args(target["args"].as_array().into_iter().flatten().filter_map(Value::as_str));
    for (name, value) in target["env"].as_object().into_iter().flatten() {
        process.env(name, value.as_str().unwrap_or_default());
    }
    Ok(Answers.serve_with_lifecycle(TokioChildProcess::new(process)?, lifecycle).await?)
}

async fn run_step(client: &RunningService<RoleClient, Answers>, step: &Value) -> Result<Value> {
    let name = || step["name"].as_str().context("the step names nothing");
    let arguments = || step["arguments"].as_object().cloned().unwrap_or_default();
    match step["op"].as_str().unwrap_or_default() {
        "list_tools" => Ok(client.list_all_tools().await?.into_iter().map(|tool| tool.name.into_owned()).collect()),
        "list_resources" => Ok(client.list_all_resources().await?.into_iter().map(|resource| resource.uri).collect()),
        "list_prompts" => Ok(client.list_all_prompts().await?.into_iter().map(|prompt| prompt.name).collect()),
        "call" => {
            let params = CallToolRequestParams::new(name()?.to_owned()).with_arguments(arguments());
            Ok(serde_json::to_value(client.call_tool(params).await?)?)
        }
        "read" => {
            let wanted = step["uri"].as_str().context("the step has no uri")?;
            let listed = client.list_all_resources().await?;
            let uri = listed.iter().map(|resource| resource.uri.as_str());
            let uri = uri.clone().find(|uri| *uri == wanted).or_else(|| uri.clone().find(|uri| uri.contains(wanted)));
            let params = ReadResourceRequestParams::new(uri.unwrap_or(wanted));
            Ok(serde_json::to_value(client.read_resource(params).await?)?)
        }
        "prompt" => {
            let params = GetPromptRequestParams::new(name()?).with_arguments(arguments());
            Ok(serde_json::to_value(client.get_prompt(params).await?)?)
        }
        other => anyhow::bail!("unknown operation {other}"),
    }
}

fn refuse(reason: &str) -> Result<()> {
    print(&json!({"protocol": null, "error": reason, "results": []}))?;
    anyhow::bail!("{reason}")
}

fn print(report: &Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{report}")?;
    Ok(out.flush()?)
}

/// The fixed answers to whatever a server may ask.
struct Answers;

impl ClientHandler for Answers {
    fn get_info(&self) -> ClientConfig {
        let capabilities = json!({"sampling": {}, "elicitation": {}, "roots": {}});
        let capabilities = serde_json::from_value(capabilities).unwrap_or_default();
        ClientConfig::new(capabilities, Implementation::new("interop-rmcp", "1"))
    }

    async fn create_message(
        &self,
        _request: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        answer(json!({
            "role": "assistant",
            "model": "interop-model",
            "stopReason": "endTurn",
            "content": {"type": "text", "text": "sampled by the interop client"},
        }))
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        answer(json!({"roots": [{"uri": "file:///interop/root", "name": "interop-root"}]}))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // A question of the gate wants a decision, those of servers a name.
        let asked = serde_json::to_value(&request).unwrap_or_default();
        let decides = asked.pointer("/requestedSchema/properties/decision").is_some();
        let content = if decides { json!({"decision": "once"}) } else { json!({"name": "Interop Tester"}) };
        answer(json!({"action": "accept", "content": content}))
    }
}

fn answer<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
