//! That there is no such thing. What may not be used is refused in the same words as what is not there.

use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_wire::Raw;

/// There is no tool of this name.
#[must_use]
pub fn no_such_tool(name: &str) -> Fault {
    Fault::new(FaultKind::UnknownTool, format!("Unknown tool: {name}"))
}

/// There is no prompt of this name.
#[must_use]
pub fn no_such_prompt(name: &str) -> Fault {
    Fault::new(FaultKind::UnknownPrompt, format!("Unknown prompt: {name}"))
}

/// There is no resource at this address.
#[must_use]
pub fn unknown_resource(uri: &str) -> Fault {
    Fault::new(FaultKind::UnknownResource, format!("Resource not found: {uri}"))
        .with_member("uri", Raw::string(uri))
        .suggest("where several servers are connected, `<server>+<uri>` names the server")
}

/// There is no such task.
pub(crate) fn no_such_task(id: &str) -> Fault {
    Fault::new(FaultKind::UnknownTask, format!("Unknown task: {id}"))
}

/// There is no such method.
#[must_use]
pub fn no_such_method(name: &str) -> Fault {
    Fault::new(FaultKind::MethodNotFound, format!("Method not found: {name}"))
}
