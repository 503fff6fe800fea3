//! `switchboard manifest`: what can be used here, as plans need it.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use switchboard_config::{Config, Loaded};
use switchboard_kernel::names;
use switchboard_protocol::proposals::manifest::{GET_MANIFEST, ManifestTool, RateLimits, ServiceManifest};
use switchboard_wire::{ErrorObject, Raw};

use crate::Outcome;
use crate::arguments::{Common, Manifest};
use crate::commands::call::answers::Answers;
use crate::control::Running;
use crate::failure::Failure;
use crate::local::{Local, raw, refused};
use crate::screen::{self, Tone};
use crate::setup;

/// Letters of a description in the table; `--json` has all of it.
const BRIEF: usize = 60;

pub(crate) async fn run(common: &Common, options: &Manifest) -> Outcome {
    let loaded = setup::read(common)?;
    let config = &loaded.config;
    let mut params = Map::new();
    if let Some(name) = &options.server {
        let id = setup::server_named(config, name).map_or(name.as_str(), |server| server.id());
        params.insert("server_id".to_owned(), json!(id));
    }
    if !options.tool.is_empty() {
        let tools: Vec<String> = options.tool.iter().map(|tool| as_listed(config, tool)).collect();
        params.insert("tools".to_owned(), json!(tools));
    }
    let params = raw(&Value::Object(params));
    let running = if options.own { None } else { of_running(&loaded, &params).await? };
    let answer = match running {
        Some(answer) => answer,
        None => of_own(loaded, params).await?,
    };
    let answer = answer.map_err(|error| refused(&error))?;
    if common.json {
        screen::json(&answer.view().unwrap_or(Value::Null));
        return Ok(());
    }
    let manifest: ServiceManifest =
        answer.view().map_err(|error| Failure::failed(format!("the manifest cannot be read: {error}")))?;
    show(&manifest);
    if manifest.tools.is_empty() && !options.tool.is_empty() {
        let named = screen::plain_line(&options.tool.join(", "));
        return Err(Failure::failed(format!(
            "there is no tool {named}; `switchboard tools --names` lists those there are"
        )));
    }
    Ok(())
}

/// The name of a tool as the list has it, where a person named it by the id of a server that has an alias.
fn as_listed(config: &Config, tool: &str) -> String {
    let behind_alias = config.servers.iter().filter(|server| server.entry.alias.is_some());
    let named = behind_alias.filter_map(|server| Some((server.id(), names::Naming::of(server.id()).own_part(tool)?)));
    let found = named.min_by_key(|(_, own)| own.len());
    found.map_or_else(|| tool.to_owned(), |(id, own)| setup::naming(config, id).expose(own))
}

/// What a kernel that runs says; nothing where none runs, or none has the server.
async fn of_running(loaded: &Loaded, params: &Raw) -> Result<Option<Result<Raw, ErrorObject>>, Failure> {
    for kernel in Running::all(&loaded.data_dir).await {
        if let Ok(Ok(answer)) = kernel.ask(GET_MANIFEST, params.clone()).await {
            return Ok(Some(Ok(answer)));
        }
    }
    Ok(None)
}

/// The same of a kernel that is started for it.
async fn of_own(loaded: Loaded, params: Raw) -> Result<Result<Raw, ErrorObject>, Failure> {
    let local = Local::of(loaded).await?;
    local.settle().await;
    let client = local.connect(None, Raw::empty_object(), Arc::new(Answers::none())).await?;
    let answer = client.ask(GET_MANIFEST, Some(params)).await;
    local.end().await;
    answer
}

fn show(manifest: &ServiceManifest) {
    let server = &manifest.server;
    let mut line = format!("{} {} (MCP {})", server.name, server.version, server.mcp_spec_version);
    if let Some(description) = &server.description {
        line = format!("{line}: {}", screen::brief(description, BRIEF));
    }
    screen::out(screen::plain_line(&line));
    let list = |words: Option<&Vec<String>>| words.filter(|words| !words.is_empty()).map(|words| words.join(", "));
    let told = [
        ("extensions", list(manifest.supported_extensions.as_ref())),
        ("limits", manifest.rate_limits.as_ref().and_then(limits)),
        ("etag", manifest.etag.clone()),
    ];
    for (word, text) in told {
        if let Some(text) = text {
            screen::out(screen::plain_line(&format!("{word}: {text}")));
        }
    }
    if manifest.tools.is_empty() {
        return screen::out("no tools");
    }
    let head = ["TOOL", "LATENCY", "COST", "RISK", "LEFT", "SCOPES", "TAKES", "GIVES", "DESCRIPTION"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(manifest.tools.iter().map(row));
    screen::out(screen::table(&rows).trim_end());
}

fn row(tool: &ManifestTool) -> Vec<String> {
    let none = || "-".to_owned();
    let list = |words: Option<&Vec<String>>| words.map_or_else(none, |words| screen::brief(&words.join(" "), BRIEF));
    let latency = tool.latency.map_or_else(none, |class| {
        let measured = tool.latency_basis.as_ref().filter(|basis| basis.source == "measured");
        match measured.and_then(|basis| basis.p50_ms) {
            Some(millis) => format!("{class} (<= {millis} ms)"),
            None => class.to_string(),
        }
    });
    let cost = tool.cost.as_ref().map_or_else(none, |cost| {
        let units = cost.estimated_units.as_ref().map(ToString::to_string);
        let words = [cost.category.map(|category| category.to_string()), units, cost.unit_label.clone()];
        screen::brief(&words.into_iter().flatten().collect::<Vec<_>>().join(" "), BRIEF)
    });
    let risk = tool.risk_level.map_or_else(none, |risk| {
        use switchboard_protocol::proposals::Consequence;
        let tone = match risk {
            Consequence::Safe => Tone::Good,
            Consequence::Reversible => Tone::Doubtful,
            Consequence::Destructive => Tone::Bad,
        };
        let asks = if tool.requires_confirmation == Some(true) { ", asks" } else { "" };
        screen::toned(&format!("{risk}{asks}"), tone)
    });
    let left = tool.quota.as_ref().and_then(|quota| quota.remaining).map_or_else(none, |left| left.to_string());
    vec![
        screen::plain_line(tool.call_name.as_ref().unwrap_or(&tool.name)),
        latency,
        cost,
        risk,
        left,
        list(tool.required_scopes.as_ref()),
        list(tool.input_types.as_ref()),
        list(tool.output_types.as_ref()),
        screen::brief(&tool.description, BRIEF),
    ]
}

fn limits(limits: &RateLimits) -> Option<String> {
    let said = [
        limits.requests_per_minute.map(|count| format!("{count} calls a minute")),
        limits.requests_per_day.map(|count| format!("{count} calls a day")),
        limits.concurrent.map(|count| format!("{count} at a time")),
        limits.remaining.map(|count| format!("{count} left")),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(", "))
}
