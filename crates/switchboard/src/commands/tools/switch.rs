//! `switchboard tools disable` and `switchboard tools enable`: a tool that nobody sees or calls, in the file that declares its
//! server.

use serde_json::json;
use switchboard_config::{Loaded, Server, switch_tool, write_replacing};

use crate::Outcome;
use crate::arguments::{Common, Tools, ToolsSwitch};
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
    for tool in &switch.tool {
        let shown_by = shown_by(desk, tool).await?;
        let named = switch.server.as_deref().or(options.server.as_deref());
        let server = server_of(&desk.loaded, named, tool, &shown_by)?;
        let own = desk.tool(server.id(), tool).await?;
        let Some(before) = setup::text_to_change(&server.file)? else {
            return Err(Failure::failed(format!("{} is not there any more", server.file.display())));
        };
        let after = switch_tool(&server.file, &before, server.id(), &own, on)?;
        write_replacing(&server.file, Some(&before), &after, None)?;
        switched.push((server.id().to_owned(), own, server.file.display().to_string()));
    }
    Ok(switched)
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
