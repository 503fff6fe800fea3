//! `switchboard tools`: what clients see.

pub(crate) mod search;
mod switch;

use serde_json::{Value, json};
use switchboard_config::Loaded;
use switchboard_kernel::MARKS;
use switchboard_protocol::mgp::EXTENSION_ID;
use switchboard_wire::Raw;

use crate::Outcome;
use crate::arguments::{Common, Tools, ToolsCommand};
use crate::commands::servers::Line;
use crate::failure::Failure;
use crate::known::KnownTools;
use crate::screen::{self, Tone};
use crate::sight::{self, ServerReport, Sight};
use crate::{setup, storage};

/// Characters of a description at most, in the list for people.
const BRIEF: usize = 100;

/// Says something of tools in the file of their server.
pub(crate) async fn changed(common: &Common, options: &Tools) -> Outcome {
    match &options.command {
        Some(ToolsCommand::Disable(what)) => switch::run(common, options, what, false).await,
        Some(ToolsCommand::Enable(what)) => switch::run(common, options, what, true).await,
        Some(ToolsCommand::Confirm(what)) => switch::confirm(common, options, what).await,
        Some(ToolsCommand::Validator(what)) => switch::validator(common, options, what).await,
        Some(ToolsCommand::Search(_)) | None => Ok(()),
    }
}

pub(crate) async fn run(common: &Common, options: &Tools) -> Outcome {
    let loaded = setup::read(common)?;
    let named = options.server.as_deref();
    let server = named.and_then(|name| setup::server_named(&loaded.config, name)).map(switchboard_config::Server::id);
    if let (Some(id), None) = (named, server) {
        let known: Vec<&str> = loaded.config.servers.iter().map(switchboard_config::Server::id).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Failure::usage(format!("there is no server \"{}\"; configured: {known}", screen::plain_line(id))));
    }
    let sight = Sight::within(common, options.profile.as_deref()).await?;
    if let Some(difference) = sight.difference() {
        screen::note(format_args!("note: {difference}"));
    }
    let seen = sight.settled().await;
    let tools = sight.tools().await;
    sight.end().await;
    let (seen, tools) = (seen?, tools?);
    let tools: Vec<Raw> = tools.into_iter().filter(|tool| belongs(&sight.loaded, tool, server, &seen)).collect();
    match &options.command {
        Some(ToolsCommand::Search(options)) => {
            let model = sight.loaded.config.settings.tools.model.as_deref();
            search::show(common, options, search::of_servers(&sight.loaded, &tools, &seen), model)?;
        }
        _ => show(common, options, &tools),
    }
    let outcome = problems(&sight, server, &seen, tools.len());
    tell_misnamed(&sight.loaded).await;
    outcome
}

/// Names of the configuration that are of no tool.
async fn tell_misnamed(loaded: &Loaded) {
    let Ok(store) = storage::open_store(loaded).await else { return };
    if let Ok(known) = KnownTools::read(&store).await {
        let said = known.misnamed(&loaded.config);
        said.iter().for_each(|text| screen::note(format_args!("warning: {}", screen::plain_line(text))));
    }
    let _ = store.close().await;
}

fn show(common: &Common, options: &Tools, tools: &[Raw]) {
    let text = |tool: &Raw, key: &str| tool.member(key).and_then(|value| value.as_text()).unwrap_or_default();
    if options.names {
        let names: Vec<String> = tools.iter().map(|tool| screen::plain_line(&text(tool, "name"))).collect();
        if common.json {
            screen::json(&json!({"names": names}));
        } else {
            names.iter().for_each(screen::out);
        }
    } else if common.json {
        // Exactly what the servers said, in one piece.
        let values: Vec<Value> = tools.iter().filter_map(|tool| tool.view().ok()).collect();
        screen::json(&json!({"tools": values}));
    } else {
        let rows: Vec<Vec<String>> = tools
            .iter()
            .map(|tool| {
                let description = screen::brief(&text(tool, "description"), BRIEF);
                vec![
                    screen::plain_line(&text(tool, "name")),
                    risk(tool),
                    why(tool),
                    format!("{}{description}", mark(tool)),
                ]
            })
            .collect();
        if !rows.is_empty() {
            screen::out(screen::table(&rows).trim_end());
        }
    }
}

/// Why it is that dangerous.
fn why(tool: &Raw) -> String {
    let reason = tool.at(&["_meta", EXTENSION_ID, "security", "risk_reason"]).and_then(|reason| reason.as_text());
    screen::brief(&reason.unwrap_or_default(), BRIEF)
}

/// How dangerous a tool is, and whether a person is asked before each call.
fn risk(tool: &Raw) -> String {
    let security = |key: &str| tool.at(&["_meta", EXTENSION_ID, "security", key]);
    let word = security("risk_level").and_then(|word| word.as_text()).unwrap_or_default();
    let asks = security("confirmation_required").is_some_and(|flag| flag.as_bytes() == b"true");
    let tone = match word.as_str() {
        "dangerous" => Tone::Bad,
        "moderate" => Tone::Doubtful,
        _ => Tone::Good,
    };
    screen::toned(&if asks { format!("{word}, asks") } else { word }, tone)
}

/// What stands before the description of a tool that screening has marked.
fn mark(tool: &Raw) -> String {
    let marked = tool.at(&["_meta", MARKS]).is_some();
    if marked { format!("{} ", screen::toned("marked:", Tone::Doubtful)) } else { String::new() }
}

/// Says which servers are missing from the list; fails where nothing could be listed because of that.
fn problems(sight: &Sight, server: Option<&str>, seen: &[ServerReport], listed: usize) -> Outcome {
    let asked = |id: &str| server.is_none_or(|server| server == id);
    let mut missing = 0;
    for status in seen.iter().filter(|status| asked(&status.id)) {
        for (name, why) in &status.held {
            let (name, why) = (screen::plain_line(name), screen::plain_line(why));
            screen::note(format_args!("held back: {name} of server \"{}\": {why}", status.id));
        }
    }
    let servers = sight.loaded.config.servers.iter().filter(|server| asked(server.id()));
    for line in servers.map(|server| Line::of(server, seen)).filter(|line| !line.is_fine()) {
        let why = line.problem.as_deref().unwrap_or("no reason is known");
        screen::note(format_args!("warning: server \"{}\" {}: {why}", line.id, line.state));
        missing += 1;
    }
    if sight.loaded.config.servers.is_empty() {
        screen::note(setup::NO_SERVERS);
    }
    if missing > 0 && (listed == 0 || server.is_some()) { Err(Failure::said()) } else { Ok(()) }
}

fn belongs(loaded: &Loaded, tool: &Raw, server: Option<&str>, seen: &[ServerReport]) -> bool {
    let Some(server) = server else { return true };
    let name = tool.member("name").and_then(|name| name.as_text()).unwrap_or_default();
    sight::owner_of(loaded, seen, &name) == Some(server)
}
