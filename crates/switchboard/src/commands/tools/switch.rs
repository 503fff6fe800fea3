//! `switchboard tools disable`, `enable` and `confirm`: a tool that nobody sees or calls, and when a person is asked before one is
//! called, in the file that declares its server.

use serde_json::json;
use switchboard_config::{EditError, Loaded, Server, confirm_tool, switch_tool, write_replacing};

use crate::Outcome;
use crate::arguments::{Common, ConfirmWhen, Tools, ToolsConfirm, ToolsSwitch};
use crate::commands::operator_session::OperatorSession;
use crate::control::Running;
use crate::failure::Failure;
use crate::{screen, setup};

pub(crate) async fn run(common: &Common, options: &Tools, switch: &ToolsSwitch, on: bool) -> Outcome {
    let desk = OperatorSession::open(common).await?;
    let switched = each(&desk, options, switch, on).await;
    // Kernels that run take it over before this says that it is so.
    Running::all_read_again(&desk.loaded.data_dir).await;
    desk.close().await;
    let switched = switched?;
    if common.json {
        let tools: Vec<_> = switched.iter().map(|one| json!({"server": one.0, "tool": one.1, "file": one.2})).collect();
        screen::json(&json!({"enabled": on, "tools": tools}));
        return Ok(());
    }
    for (server, tool, file) in &switched {
        let (server, tool) = (screen::plain_line(server), screen::plain_line(tool));
        screen::out(format_args!("{tool} of {server} is switched {} in {file}", if on { "on" } else { "off" }));
    }
    Ok(())
}

async fn each(
    desk: &OperatorSession,
    options: &Tools,
    switch: &ToolsSwitch,
    on: bool,
) -> Result<Vec<(String, String, String)>, Failure> {
    let mut switched = Vec::new();
    let named = switch.server.as_deref().or(options.server.as_deref());
    for tool in &switch.tool {
        let edit = |server: &Server, text: &str, own: &str| switch_tool(&server.file, text, server.id(), own, on);
        switched.push(change(desk, named, tool, edit).await?);
    }
    Ok(switched)
}

pub(crate) async fn confirm(common: &Common, options: &Tools, wanted: &ToolsConfirm) -> Outcome {
    let desk = OperatorSession::open(common).await?;
    let named = wanted.server.as_deref().or(options.server.as_deref());
    let said = wanted.when.written();
    let edit = |server: &Server, text: &str, own: &str| confirm_tool(&server.file, text, server.id(), own, said);
    let changed = change(&desk, named, &wanted.tool, edit).await;
    Running::all_read_again(&desk.loaded.data_dir).await;
    desk.close().await;
    let (server, tool, file) = changed?;
    if common.json {
        screen::json(&json!({"confirm": said, "tools": [{"server": server, "tool": tool, "file": file}]}));
        return Ok(());
    }
    let (server, tool) = (screen::plain_line(&server), screen::plain_line(&tool));
    let when = match wanted.when {
        ConfirmWhen::Never => "nobody is asked before a call, except about arguments that are not understood",
        ConfirmWhen::Always => "a person is asked before each call",
        ConfirmWhen::Default => "its risk and its server tell whether a person is asked",
    };
    screen::out(format_args!("{tool} of {server}: {when} ({file})"));
    Ok(())
}

/// Changes what the file of its server says of a tool: which server, its own name for the tool, and the file.
async fn change(
    desk: &OperatorSession,
    named: Option<&str>,
    tool: &str,
    edit: impl FnOnce(&Server, &str, &str) -> Result<String, EditError>,
) -> Result<(String, String, String), Failure> {
    let shown_by = shown_by(desk, tool).await?;
    let server = server_of(&desk.loaded, named, tool, &shown_by)?;
    let own = desk.tool(server.id(), tool).await?;
    let Some(before) = setup::text_to_change(&server.file)? else {
        return Err(Failure::failed(format!("{} is not there any more", server.file.display())));
    };
    let after = edit(server, &before, &own)?;
    write_replacing(&server.file, Some(&before), &after, None)?;
    Ok((server.id().to_owned(), own, server.file.display().to_string()))
}

/// The servers that have shown a tool of this name, or to whose tool the operator gave it.
async fn shown_by(desk: &OperatorSession, tool: &str) -> Result<Vec<String>, Failure> {
    let pins = desk.office.store().pins().list(None).await?;
    let mut servers: Vec<String> = pins.into_iter().filter(|pin| pin.tool == tool).map(|pin| pin.server).collect();
    let given = |server: &&Server| server.entry.tools.values().any(|said| said.name.as_deref() == Some(tool));
    servers.extend(desk.loaded.config.servers.iter().filter(given).map(|server| server.id().to_owned()));
    servers.sort();
    servers.dedup();
    Ok(servers)
}

/// The server that is named, that the name of a tool points at, that alone has shown it, or that is the only one.
fn server_of<'s>(
    loaded: &'s Loaded,
    named: Option<&str>,
    tool: &str,
    shown_by: &[String],
) -> Result<&'s Server, Failure> {
    let servers = &loaded.config.servers;
    let pointed = named.or_else(|| setup::owner_of(&loaded.config, servers.iter().map(Server::id), tool));
    let found = pointed.and_then(|id| setup::server_named(&loaded.config, id));
    let only = || servers.first().filter(|_| servers.len() == 1 && named.is_none());
    let mut showing = servers.iter().filter(|server| named.is_none() && shown_by.iter().any(|id| id == server.id()));
    let shown = showing.next();
    let others = showing.count();
    found.or_else(|| shown.filter(|_| others == 0)).or_else(only).ok_or_else(|| {
        let tool = screen::plain_line(tool);
        if shown.is_some() {
            let text = format!("{} have a tool \"{tool}\"; say which with --server ID", shown_by.join(", "));
            return Failure::usage(text);
        }
        Failure::usage(format!("no server of the configuration has the tool \"{tool}\"; name it with --server ID"))
    })
}
