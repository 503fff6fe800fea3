//! What Switchboard itself is called, and what of the vocabularies it speaks. Pure.

use switchboard_wire::Raw;

use crate::mgp::{self, Agreement, Extension, Offer};
use crate::proposals::Proposal;

/// The name that Switchboard goes by.
pub const NAME: &str = "switchboard";

/// What of MGP the kernel speaks with servers.
pub const MGP_OFFERED: [Extension; 11] = [
    Extension::ToolSecurity,
    Extension::Permissions,
    Extension::AccessControl,
    Extension::Audit,
    Extension::CodeSafety,
    Extension::ErrorHandling,
    Extension::Lifecycle,
    Extension::Streaming,
    Extension::Progress,
    Extension::Events,
    Extension::Callbacks,
];
/// What of MGP the kernel speaks with clients.
const MGP_SPOKEN: [Extension; 14] = [
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

/// The proposals that the kernel speaks with clients.
pub const PROPOSALS: [Proposal; 8] = [
    Proposal::Streaming,
    Proposal::ProgressNotifications,
    Proposal::IntentHints,
    Proposal::HumanInTheLoop,
    Proposal::SubscribeNotify,
    Proposal::StructuredErrors,
    Proposal::MultimodalSignatures,
    Proposal::ServerRecommendations,
];

/// What was agreed on with a client that says this of itself; `None` for one that did not ask for MGP.
#[must_use]
pub fn agreed_with(capabilities: &Raw) -> Option<Agreement> {
    // Most clients do not even name it.
    memchr::memmem::find(capabilities.as_bytes(), b"mgp")?;
    Agreement::between(&Offer::of(capabilities)?, &MGP_SPOKEN, mgp::VERSION)
}
