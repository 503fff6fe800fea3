//! `switchboard tools disable`, `enable`, `confirm` and `validator`: a tool that nobody sees or calls, when a person is asked before
//! one is called, and whether what it is called with is checked, in the file that declares its server.

use serde_json::json;
use switchboard_config::{
    ApprovalPolicy, EditError, Loaded, Server, confirm_tool, switch_tool, validate_tool, write_replacing,
};
use switchboard_protocol::mgp::{Risk, ValidatorName};

use crate::Outcome;
use crate::arguments::{Common, ConfirmWhen, Tools, ToolsConfirm, ToolsSwitch, ToolsValidator, ValidatorChoice};
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
    let (named, said) = (wanted.server.as_deref().or(options.server.as_deref()), wanted.when.written());
    let edit = |server: &Server, text: &str, own: &str| confirm_tool(&server.file, text, server.id(), own, said);
    let changed = change_each(&desk, named, &wanted.tool, edit).await;
    Running::all_read_again(&desk.loaded.data_dir).await;
    desk.close().await;
    let changed = changed?;
    if common.json {
        let tools: Vec<_> = changed.iter().map(|one| json!({"server": one.0, "tool": one.1, "file": one.2})).collect();
        screen::json(&json!({"confirm": wanted.when.written(), "tools": tools}));
        return Ok(());
    }
    let when = match wanted.when {
        ConfirmWhen::Never => "nobody is asked before a call, except about arguments that are not understood",
        ConfirmWhen::Always => "a person is asked before each call",
        ConfirmWhen::Default => "its risk and its server tell whether a person is asked",
    };
    for (server, tool, file) in &changed {
        let (server, tool) = (screen::plain_line(server), screen::plain_line(tool));
        screen::out(format_args!("{tool} of {server}: {when} ({file})"));
    }
    Ok(())
}

/// Changes what the file says of each tool that is meant.
async fn change_each(
    desk: &OperatorSession,
    named: Option<&str>,
    tools: &[String],
    edit: impl Fn(&Server, &str, &str) -> Result<String, EditError>,
) -> Result<Vec<(String, String, String)>, Failure> {
    let mut changed = Vec::new();
    for (server, tool) in expanded(desk, named, tools).await? {
        changed.push(change(desk, server.as_deref(), &tool, &edit).await?);
    }
    Ok(changed)
}

pub(crate) async fn validator(common: &Common, options: &Tools, wanted: &ToolsValidator) -> Outcome {
    let desk = OperatorSession::open(common).await?;
    let is_none = wanted.what == ValidatorChoice::None;
    let (named, said) =
        (wanted.server.as_deref().or(options.server.as_deref()), is_none.then_some(ValidatorName::None));
    let edit = |server: &Server, text: &str, own: &str| validate_tool(&server.file, text, server.id(), own, said);
    let changed = change_each(&desk, named, &wanted.tool, edit).await;
    Running::all_read_again(&desk.loaded.data_dir).await;
    let unasked: Vec<bool> = changed.iter().flatten().map(|one| is_unasked(&desk.loaded, one)).collect();
    desk.close().await;
    let changed = changed?;
    if common.json {
        let tools: Vec<_> = changed.iter().map(|one| json!({"server": one.0, "tool": one.1, "file": one.2})).collect();
        screen::json(&json!({"validator": said.map(ValidatorName::as_str), "tools": tools}));
        return Ok(());
    }
    for ((server, tool, file), unasked) in changed.iter().zip(unasked) {
        let (server, tool) = (screen::plain_line(server), screen::plain_line(tool));
        let what = match (is_none, unasked) {
            (false, _) => "what it is called with is checked as its definition asks for",
            (true, false) => "what it is called with is not checked; a person is asked before each call",
            (true, true) => {
                "what it is called with is not checked, and nobody is asked before a call: the configuration says so (`confirm`, `risk`, `approval_policy`)"
            }
        };
        screen::out(format_args!("{tool} of {server}: {what} ({file})"));
    }
    Ok(())
}

/// Whether the configuration says that nobody is asked about a tool, or that it is less than dangerous.
fn is_unasked(loaded: &Loaded, (id, tool, _): &(String, String, String)) -> bool {
    let server = loaded.config.servers.iter().find(|server| server.id() == id);
    let said = server.and_then(|server| server.entry.tools.get(tool));
    let is_harmless = said.and_then(|said| said.risk).is_some_and(|risk| risk < Risk::Dangerous);
    let asks_nobody = loaded.config.settings.approval_policy == ApprovalPolicy::AutoApprove;
    said.and_then(|said| said.confirm).map_or(is_harmless || asks_nobody, |confirm| !confirm)
}

/// The tools that are meant, each with its server where that is known: what has a star stands for those that were seen.
async fn expanded(
    desk: &OperatorSession,
    named: Option<&str>,
    tools: &[String],
) -> Result<Vec<(Option<String>, String)>, Failure> {
    let mut meant = Vec::new();
    let mut seen = None;
    for tool in tools {
        if !tool.contains('*') {
            meant.push((named.map(str::to_owned), tool.clone()));
            continue;
        }
        let seen = match &seen {
            Some(seen) => seen,
            None => seen.insert(seen_tools(desk).await?),
        };
        let before = meant.len();
        let fits = |(server, alias, own): &&(String, String, String)| {
            let of_named = named.is_none_or(|named| named == server || named == alias);
            let fits = |name: &str| matches_stars(tool, name);
            // Of the only server tools are listed as it calls them.
            let alone = named.is_some() || desk.loaded.config.servers.len() == 1;
            of_named && (alone && fits(own) || fits(&format!("{server}__{own}")) || fits(&format!("{alias}__{own}")))
        };
        meant.extend(seen.iter().filter(fits).map(|(server, _, own)| (Some(server.clone()), own.clone())));
        if meant.len() == before {
            let tool = screen::plain_line(tool);
            return Err(Failure::usage(format!(
                "no tool that was seen is called {tool}; `switchboard tools` lists them"
            )));
        }
    }
    Ok(meant)
}

/// The tools that servers of the configuration have shown: server, alias, the server's own name.
async fn seen_tools(desk: &OperatorSession) -> Result<Vec<(String, String, String)>, Failure> {
    let pins = desk.office.store().pins().list(None).await?;
    let of = |server: &str| desk.loaded.config.servers.iter().find(|known| known.id() == server);
    // What is no tool has the kind of what it is in front.
    let tools = pins.into_iter().filter(|pin| !pin.tool.contains([' ', ':']));
    let named = tools.filter_map(|pin| {
        let server = of(&pin.server)?;
        let alias = server.entry.alias.clone().unwrap_or_else(|| pin.server.clone());
        Some((pin.server.clone(), alias, pin.tool))
    });
    Ok(named.collect())
}

/// Whether a name is what a pattern stands for, in which each star is any text.
fn matches_stars(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let (first, last) = (parts.next().unwrap_or_default(), pattern.rsplit('*').next().unwrap_or_default());
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let middle: Vec<&str> = parts.collect();
    let Some((_, between)) = middle.split_last() else { return rest.is_empty() };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
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

#[cfg(test)]
mod tests {
    use super::matches_stars;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, name) in [
            ("excel__*", "excel__read"),
            ("*", "x"),
            ("*__read_*", "a__read_b"),
            ("a*c", "abc"),
            ("a*c", "ac"),
            ("a**c", "abc"),
        ] {
            assert!(matches_stars(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("excel__*", "excel_read"), ("a*c", "abd"), ("*__read_*", "a__write_b"), ("a", "ab"), ("ab*b", "ab")]
        {
            assert!(!matches_stars(pattern, name), "{pattern} {name}");
        }
    }
}
