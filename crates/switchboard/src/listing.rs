//! How much of the tools each client is listed, in words: who does not see theirs in the list wants to know why, and that they are
//! there all the same.

use serde_json::{Value, json};
use switchboard_catalog::{Level, Shown, count_tokens};
use switchboard_config::Client;
use switchboard_kernel::{ClientList, ListableTool, ToolContext};
use switchboard_wire::Raw;

use crate::memory;

/// What is said of it where the tools are not known yet.
pub(crate) const IN_SHORT: &str = "A client is listed all tools while they fit into what it bears (most: 25,000 tokens; Cursor: 40 \
    tools), because a model pays for each before it begins. Beyond that its list has a handful, of which mgp_tools_discover finds the \
    others, and each can be called by its name (docs/catalog.md).";

/// What the known clients are listed of the tools that these servers have. `memory_is_own`: the user's own entry is called as the
/// built-in memory is.
pub(crate) fn of(context: &ToolContext, memory_is_own: bool, servers: &[&str], tools: &[Raw]) -> Vec<ClientList> {
    let names: Vec<String> =
        tools.iter().map(|tool| tool.member("name").and_then(|name| name.as_text()).unwrap_or_default()).collect();
    let is_own = memory_is_own;
    let stands_alone = servers.iter().filter(|server| is_own || **server != memory::ID).count() == 1;
    let only_memory = !is_own && servers.len() == 1 && !stands_alone;
    let prefix = format!("{}__", memory::ID);
    let built_in = |name: &str| !is_own && (only_memory || name.starts_with(&prefix));
    let tools: Vec<ListableTool<'_>> = tools
        .iter()
        .zip(&names)
        .map(|(tool, name)| ListableTool { name, tokens: count_tokens(tool.as_str()), built_in: built_in(name) })
        .collect();
    context.lists(&tools, stands_alone)
}

/// One line of it: clients that are listed the same stand together.
pub(crate) fn line(lists: &[ClientList]) -> Option<String> {
    let mut groups: Vec<(ClientList, Vec<&str>)> = Vec::new();
    for list in lists {
        match groups.iter_mut().find(|(one, _)| ClientList { client: list.client, ..*one } == *list) {
            Some((_, clients)) => clients.push(list.client),
            None => groups.push((*list, vec![list.client])),
        }
    }
    let told = |(list, clients): &(ClientList, Vec<&str>)| {
        let tools = |count: usize| if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") };
        let what = match list {
            list if list.is_whole => format!("all {}", tools(list.listed)),
            list if list.has_own && list.finds => {
                format!("{}, with all of your servers; the rest of the memory is found by search", tools(list.listed))
            }
            list if list.has_own => format!("the {} of your servers", tools(list.listed)),
            list => format!("{}, which find all the others by search", tools(list.listed)),
        };
        format!("{what} ({})", clients.join(", "))
    };
    let is_changeable = groups.iter().any(|(list, _)| !list.has_own);
    let groups: Vec<String> = groups.iter().map(told).collect();
    let how = if is_changeable { ". `level = \"all\"` under `[tool_context.clients.NAME]` lists all" } else { "" };
    (!groups.is_empty()).then(|| format!("{}{how}", groups.join("; ")))
}

/// The same for programs.
pub(crate) fn json(lists: &[ClientList]) -> Value {
    let one = |list: &ClientList| json!({"client": list.client, "listed": list.listed, "all": list.is_whole, "own": list.has_own, "finds": list.finds});
    Value::Array(lists.iter().map(one).collect())
}

/// What one client is listed at most, and what becomes of the rest.
pub(crate) fn bounds(context: &ToolContext, client: Client) -> Option<String> {
    let bounds = context.bounds(client.as_str())?;
    let most = bounds.max_tools.map(|most| format!("at most {most} and ")).unwrap_or_default();
    let found = "its model finds the others with mgp_tools_discover and calls them by name";
    Some(match bounds.shown {
        Shown::At(Level::All) => format!("{client} is listed all tools, and looks itself for those that a task needs."),
        Shown::At(_) => format!("{client} is listed a handful of tools, as your configuration says; {found}."),
        Shown::Auto => format!(
            "{client} is listed all tools while they are {most}worth {} tokens or less; beyond that it lists a handful, and {found}. \
             `switchboard servers` says which it is; `level = \"all\"` under `[tool_context.clients.{}]` lists all (docs/catalog.md).",
            bounds.max_tokens,
            client.as_str()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_that_are_listed_the_same_stand_together() {
        let list = |client, listed, is_whole, has_own, finds| ClientList { client, listed, is_whole, has_own, finds };
        let lists = [
            list("claude-code", 183, true, true, false),
            list("cursor", 10, false, false, true),
            list("vscode", 10, false, false, true),
        ];
        assert_eq!(
            line(&lists).unwrap(),
            "all 183 tools (claude-code); 10 tools, which find all the others by search (cursor, vscode). `level = \"all\"` under \
             `[tool_context.clients.NAME]` lists all"
        );
        assert_eq!(line(&lists[..1]).unwrap(), "all 183 tools (claude-code)");
        let lists = [list("cursor", 12, false, true, true), list("zed", 39, false, true, false)];
        assert_eq!(
            line(&lists).unwrap(),
            "12 tools, with all of your servers; the rest of the memory is found by search (cursor); the 39 tools of your servers (zed)"
        );
        assert_eq!(line(&[]), None);
    }

    #[test]
    fn each_client_is_told_what_it_is_listed() {
        let context = ToolContext::default();
        let told = bounds(&context, Client::Cursor).unwrap();
        assert!(
            told.contains("at most 40 and worth 25000 tokens") && told.contains("[tool_context.clients.cursor]"),
            "{told}"
        );
        assert!(bounds(&context, Client::ClaudeCode).unwrap().contains("is listed all tools, and looks itself"));
        assert!(
            Client::ALL.iter().all(|client| bounds(&context, *client).is_some()),
            "every client of `connect` is known"
        );
    }
}
