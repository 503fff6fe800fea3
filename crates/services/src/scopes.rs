//! Session tokens and the check before a call (proposal 4), as methods and tools: the gate answers both, `gate/src/scopes.rs` gives
//! tokens and `gate/src/preflight.rs` says what a call would lack.

use serde_json::{Value, json};
use switchboard_protocol::proposals;

use super::row::{OwnMethod, OwnTool, run, text, texts};

pub(super) const ROWS: &[OwnMethod] = &[
    OwnMethod::method(
        proposals::CHECK_PERMISSIONS,
        "Whether a call would pass, and what is missing.",
        run!(house, call => house.check_permissions(call.context, &call.params()).await),
    )
    .tool(tool(proposals::CHECK_PERMISSIONS, check_schema).only_reads())
    .gives_way(),
    OwnMethod::method(
        proposals::NEGOTIATE_SCOPES,
        "Asks for a session token with these scopes.",
        run!(house, call => house.negotiate_scopes(call.context, &call.params()).await),
    )
    .tool(tool(proposals::NEGOTIATE_SCOPES, negotiate_schema))
    .gives_way(),
];

/// Known by the proposal alone: in no list of tools, and in every manifest.
const fn tool(name: &'static str, schema: fn() -> Value) -> OwnTool {
    OwnTool::new(name, schema).in_manifests_and_when(|_, _| false).unmarked()
}

fn check_schema() -> Value {
    json!({"type": "object", "required": ["tool"], "properties": {
        "tool": text("The tool's name"), "parameters": {"type": "object", "description": "Its arguments"}}})
}

fn negotiate_schema() -> Value {
    json!({"type": "object", "required": ["requested_scopes"], "properties": {
        "requested_scopes": texts("Names of scopes"), "justification": text("Why"),
        "ttl_seconds": {"type": "integer", "minimum": 1}}})
}
