//! Finding a tool: clients that know nothing but MCP, and a kernel that lists a handful of the tools of fifteen servers.
//!
//! What was not in a client's first list is asked for in plain words, called through the kernel's own tool, then stands
//! in the list, and is called by its name.

use serde_json::{Value, json};

use super::servers::{Server, Step};

/// Stands in the names of these jobs.
pub(super) const NAME: &str = "found";

/// Each client has a kernel of its own here: what one has found, another of the same user need not look for.
pub(super) const CLIENTS: &[&str] = &["ts1", "ts2-auto", "python-mcp", "python-mcp-legacy"];

/// Only what the kernel lists of itself is there at first. Fifteen servers that start at once, beside others, take a while.
pub(super) const SETTINGS: &str =
    "data_dir = \"data\"\n[limits]\nlist_wait_ms = 25000\n[tool_context]\nlevel = \"hybrid\"\n";

const SERVER: &str = "time";
const TOOL: &str = "time__convert_time";
const IN_PLAIN_WORDS: &str = "convert a time to another zone";
/// Servers of which a second one, under another name, makes the number fifteen.
const TWICE: &[&str] = &["everything", "filesystem", "memory", "thinking", "git", "sqlite"];

/// The servers, six of them twice.
pub(super) fn fifteen(servers: &[Server]) -> Vec<Server> {
    let again = servers.iter().filter(|server| TWICE.contains(&server.id)).map(Server::again);
    servers.iter().cloned().chain(again).collect()
}

/// What a client does, and what has to come of it.
pub(super) fn steps(servers: &[Server]) -> Vec<Step> {
    let asked = servers.iter().find(|server| server.id == SERVER).map(|server| server.steps("time__", false));
    let called: Vec<Step> = asked.into_iter().flatten().filter(|step| step.id == TOOL).collect();
    let arguments = called.first().map_or(Value::Null, |step| step.request["arguments"].clone());
    let answer = called.first().map_or_else(String::new, |step| step.contains.clone());
    let call = |name: &str, arguments: Value| json!({"op": "call", "name": name, "arguments": arguments});
    let mut steps = vec![
        Step::new("first list".to_owned(), json!({"op": "list_tools"}), "mgp_tools_discover").lacks(TOOL),
        Step::new(
            "search".to_owned(),
            call("mgp_tools_discover", json!({"query": IN_PLAIN_WORDS, "max_results": 1})),
            TOOL,
        ),
        Step::new(
            "call of what was found".to_owned(),
            call("mgp.tools.call", json!({"name": TOOL, "arguments": arguments})),
            &answer,
        ),
        Step::new("second list".to_owned(), json!({"op": "list_tools"}), TOOL),
    ];
    steps.extend(called);
    steps
}
