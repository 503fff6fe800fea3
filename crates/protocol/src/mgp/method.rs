//! Names of MGP's methods and notifications.

/// What one may do.
pub const ACCESS_QUERY: &str = "mgp/access/query";
/// Lets one do something.
pub const ACCESS_GRANT: &str = "mgp/access/grant";
/// Takes that back.
pub const ACCESS_REVOKE: &str = "mgp/access/revoke";
/// Tells a server to wait for a decision. Since 0.4 named [`PERMISSION_AWAIT`].
pub const PERMISSION_REQUEST: &str = "mgp/permission/request";
/// Tells a server what was decided. Since 0.4 named [`PERMISSION_GRANT`].
pub const PERMISSION_RESPONSE: &str = "mgp/permission/response";
/// Tells a server to wait for a decision.
pub const PERMISSION_AWAIT: &str = "mgp/permission/await";
/// Tells a server what was decided.
pub const PERMISSION_GRANT: &str = "mgp/permission/grant";
/// Asks a client's user something (MGP 13.4).
pub const CALLBACK_REQUEST: &str = "notifications/mgp.callback.request";
/// Answers that.
pub const CALLBACK_RESPOND: &str = "mgp/callback/respond";
/// Finds tools by what they must do (MGP 16.5).
pub const TOOLS_DISCOVER: &str = "mgp/tools/discover";
/// Asks for tools that a task lacks (MGP 16.6).
pub const TOOLS_REQUEST: &str = "mgp/tools/request";
/// Which tools are loaded (MGP 16.7).
pub const TOOLS_SESSION: &str = "mgp/tools/session";
/// Gives loaded tools back (MGP 16.7).
pub const TOOLS_SESSION_EVICT: &str = "mgp/tools/session/evict";
/// Something happened that is kept.
pub const AUDIT: &str = "notifications/mgp.audit";

/// The kernel tool that does what a method does: `mgp.access.query` for `mgp/access/query`.
#[must_use]
pub fn tool_of(method: &str) -> Option<String> {
    method.strip_prefix("mgp/").map(|rest| format!("mgp.{}", rest.replace('/', ".")))
}
