//! In which words a client is refused: what was agreed on with it, and how a fault is written for that.

use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, Rendering};
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp::{self, Agreement, Extension, Offer};
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_wire::{ErrorObject, Raw};

/// What of MGP is spoken with clients.
pub const MGP_SPOKEN: [Extension; 14] = [
    Extension::ToolSecurity,
    Extension::Permissions,
    Extension::AccessControl,
    Extension::Audit,
    Extension::CodeSafety,
    Extension::ErrorHandling,
    Extension::Lifecycle,
    Extension::Callbacks,
    Extension::Streaming,
    Extension::Progress,
    Extension::Events,
    Extension::ToolDiscovery,
    Extension::Discovery,
    Extension::Delegation,
];

/// What was agreed on with a client that says this of itself; `None` for one that did not ask for MGP.
#[must_use]
pub fn agreed_with(capabilities: &Raw) -> Option<Agreement> {
    // Most clients do not even name it.
    memchr::memmem::find(capabilities.as_bytes(), b"mgp")?;
    Agreement::between(&Offer::of(capabilities)?, &MGP_SPOKEN, mgp::VERSION)
}

/// How faults of a method are written for a client.
#[must_use]
pub fn rendering_for(context: &Context, method: &str) -> Rendering {
    in_dialects_of(context, Rendering::new(context.caller.revision, method))
}

/// The same with everything that was agreed on with the client.
#[must_use]
pub fn in_dialects_of(context: &Context, rendering: Rendering) -> Rendering {
    let capabilities = &context.caller.capabilities;
    if capabilities.as_bytes().len() <= 2 {
        return rendering;
    }
    let structured = proposals::declared(capabilities).has(Proposal::StructuredErrors);
    rendering.with_mgp(agreed_with(capabilities).is_some()).with_structured(structured)
}

/// A fault as a client's error.
#[must_use]
pub fn rendered(context: &Context, fault: &Fault) -> ErrorObject {
    rendered_for(context, method::TOOLS_CALL, fault)
}

/// The same for another method.
#[must_use]
pub fn rendered_for(context: &Context, method: &str, fault: &Fault) -> ErrorObject {
    fault.render(&rendering_for(context, method))
}

/// Why parameters cannot be read, without the place in a text that the reader never wrote.
#[must_use]
pub fn readable(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or_else(|| text.clone(), |(what, _)| what.to_owned())
}
