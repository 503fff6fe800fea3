//! The kernel's own tools for finding tools, as models read them.
//!
//! It decides what is said of them. The wording is part of how well tools are found: a model that says what the tool must do,
//! and on what input, finds it far more often than one that names a topic.

use serde_json::{Value, json};
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::method;
use switchboard_wire::Raw;

use super::ToolFinder;
use crate::row::{Answer, Needs, OwnMethod, OwnTool, run};
use crate::tool_context::FINDING_TOOLS;

/// Calls a tool that is not in the client's list. Passes the gate like every other call.
pub const CALL: &str = "mgp_tools_call";

const DISCOVER: &str = "Find tools by what they must do. Use this whenever no tool in your list fits. Describe the action \
    and its input in one sentence (\"convert a time from one time zone to another\"), not a topic (\"time\"). Returns the \
    best tools with their input schemas: call one of them directly if your list shows it, or else through \
    mgp_tools_call. Lower ranks are shortened; ask for a tool by its name to have its whole schema.";

const REQUEST: &str = "Ask for the tools that a task still lacks: name each capability you need in a few words, and the \
    kinds of input and output. Loads the best tool for each and says which are missing.";

/// In the order in which they are listed: three for every client that is not given everything, two for clients with MGP's
/// extension.
pub(crate) const ROWS: &[OwnMethod] = &[
    OwnMethod::method(
        method::TOOLS_DISCOVER,
        DISCOVER,
        run!(house, call => {
            let finder = ToolFinder::of(house);
            let view = finder.view_to_search().await?;
            finder.discover_tools(call.context, &view, &call.read()?).await
        }),
    )
    .tool(tool("mgp_tools_discover", discover_schema)),
    OwnMethod::method(
        method::TOOLS_REQUEST,
        REQUEST,
        run!(house, call => {
            let finder = ToolFinder::of(house);
            let view = finder.view_to_search().await?;
            finder.request_or_create(call.context, &view, call.read()?).await
        }),
    )
    .tool(tool("mgp_tools_request", request_schema)),
    OwnMethod::only_tool(
        tool(CALL, call_schema),
        "Call any tool that mgp_tools_discover or mgp_tools_request returned, by its name.",
        // It stands for the call of another tool, which the path of a call puts in its place.
        run!(_house, _call => Ok::<_, Fault>(Answer::Unknown)),
    ),
    OwnMethod::method(
        method::TOOLS_SESSION,
        "Which tools are loaded for you, and how many tokens they take.",
        run!(house, call => {
            let finder = ToolFinder::of(house);
            let view = finder.view_to_search().await?;
            finder.tool_session(call.context, &view).await
        }),
    )
    .tool(tool("mgp_tools_session", || json!({"type": "object", "properties": {}}))),
    OwnMethod::method(
        method::TOOLS_SESSION_EVICT,
        "Give back tools that you no longer need.",
        run!(house, call => {
            let finder = ToolFinder::of(house);
            let view = finder.view_to_search().await?;
            finder.evict_tools(call.context, &view, &call.read()?).await
        }),
    )
    .tool(tool("mgp_tools_session_evict", evict_schema)),
];

const fn tool(name: &'static str, schema: fn() -> Value) -> OwnTool {
    OwnTool::new(name, schema).needs(Needs::Finding).words(super::text::readable).listed_by_discovery()
}

/// The tools that every client which is not given everything sees.
pub(super) fn basic(categories: &[(String, usize)], creates: bool) -> Vec<Raw> {
    let mut tools: Vec<Value> = ROWS.iter().take(FINDING_TOOLS).filter_map(OwnMethod::definition).collect();
    for tool in &mut tools {
        if tool["name"] == "mgp_tools_discover" && !categories.is_empty() {
            let named: Vec<String> = categories.iter().map(|(name, count)| format!("{name} ({count})")).collect();
            tool["description"] = format!("{DISCOVER} Categories there are: {}.", named.join(", ")).into();
        }
        if tool["name"] == "mgp_tools_request" && creates {
            add_creation(&mut tool["inputSchema"]);
        }
    }
    tools.iter().filter_map(|tool| Raw::from_value(tool).ok()).collect()
}

/// The tools that clients with MGP's extension see as well.
pub(super) fn further() -> Vec<Raw> {
    let tools = ROWS.iter().skip(FINDING_TOOLS).filter_map(OwnMethod::definition);
    tools.filter_map(|tool| Raw::from_value(&tool).ok()).collect()
}

fn call_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The tool's name, exactly as it was returned"},
            "arguments": {"type": "object", "description": "Its arguments, after its inputSchema"},
        },
        "required": ["name"],
    })
}

fn evict_schema() -> Value {
    let list = json!({"type": "array", "items": {"type": "string"}, "description": "Names of tools"});
    json!({
        "type": "object",
        "properties": {"tools": list, "reason": {"type": "string", "description": "Why"}},
        "required": ["tools"],
    })
}

fn discover_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool must do, and on what input"},
            "max_results": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many tools, 5 if not said"},
            "strategy": {
                "type": "string",
                "enum": ["hybrid", "keyword", "semantic", "category"],
                "description": "hybrid if not said",
            },
            "filter": {
                "type": "object",
                "properties": {
                    "categories": {"type": "array", "items": {"type": "string"}},
                    "risk_level_max": {"type": "string", "enum": ["safe", "moderate", "dangerous"]},
                    "server_id": {"type": "string", "description": "Only tools of this server"},
                },
            },
        },
        "required": ["query"],
    })
}

fn request_schema() -> Value {
    let words = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    json!({
        "type": "object",
        "properties": {
            "reason": {"type": "string", "enum": ["capability_gap", "performance", "preference"]},
            "context": {"type": "string", "description": "What you are doing, and what is missing"},
            "requirements": {
                "type": "object",
                "properties": {
                    "capabilities": words("What the tools must do, one entry for each"),
                    "input_types": words("Such as csv or image"),
                    "output_types": words("Such as chart or text"),
                    "preferred_risk_level": {"type": "string", "enum": ["safe", "moderate", "dangerous"]},
                },
            },
            "task_trace_id": {"type": "string"},
        },
        "required": ["requirements"],
    })
}

/// What an agent that may write tools is told of it.
fn add_creation(schema: &mut Value) {
    schema["properties"]["create"] = json!({
        "type": "object",
        "description": "A tool that you wrote, after an answer with the status creating",
        "properties": {
            "name": {"type": "string"},
            "description": {"type": "string"},
            "inputSchema": {"type": "object"},
            "language": {"type": "string", "enum": ["python", "javascript"]},
            "code": {"type": "string", "description": "Defines a function run(arguments)"},
        },
        "required": ["name", "description", "language", "code"],
    });
    // A tool that was written says itself what it is for.
    schema["required"] = json!([]);
}
