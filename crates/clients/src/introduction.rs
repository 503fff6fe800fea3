//! What the kernel says of itself, to clients and to servers.

use switchboard_gate::SAID_BY;
use switchboard_protocol::Era;
use switchboard_protocol::mcp::{app, method};
use switchboard_protocol::mgp::Extension;
use switchboard_protocol::mgp::negotiation::offer_in;
use switchboard_protocol::spoken::NAME;
use switchboard_wire::{Edit, Notification, Raw};

/// How notifications of MGP begin.
pub const OF_MGP: &str = "notifications/mgp.";

/// A log message of the kernel itself.
#[must_use]
pub fn own_log(message: &str) -> Notification {
    let meta = Edit::empty().set(SAID_BY, Raw::string(NAME)).finish();
    let params = Edit::empty()
        .set("level", Raw::string("warning"))
        .set("logger", Raw::string(NAME))
        .set("data", Raw::string(message))
        .set("_meta", meta);
    Notification::new(method::LOG_MESSAGE, Some(params.finish()))
}

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

/// `clientInfo` and `serverInfo` of the kernel itself.
#[must_use]
pub fn own_info() -> Raw {
    Edit::empty()
        .set("name", Raw::string(NAME))
        .set("title", Raw::string("Switchboard"))
        .set("version", Raw::string(env!("CARGO_PKG_VERSION")))
        .finish()
}

/// What the kernel can do as a client of its servers: everything, because some client behind it may.
#[must_use]
pub fn own_capabilities() -> Raw {
    let nothing = Raw::empty_object;
    let pages = Edit::empty().set("mimeTypes", Raw::array([&Raw::string("text/html;profile=mcp-app")])).finish();
    let capabilities = Edit::empty()
        .set("roots", Edit::empty().set("listChanged", yes()).finish())
        .set("sampling", Edit::empty().set("tools", nothing()).set("context", nothing()).finish())
        .set("elicitation", Edit::empty().set("form", nothing()).set("url", nothing()).finish())
        .set("extensions", Edit::empty().set(app::EXTENSION, pages).finish())
        .finish();
    // Which era a server speaks is not known yet: each finds the offer where it looks.
    [Era::Legacy, Era::Modern]
        .into_iter()
        .fold(capabilities, |capabilities, era| offer_in(&capabilities, &MGP_OFFERED, era).unwrap_or(capabilities))
}

/// `true`.
pub(crate) fn yes() -> Raw {
    Raw::from_value(&true).unwrap_or_else(|_| Raw::empty_object())
}
