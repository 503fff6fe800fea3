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
/// Asks whether one lives (MGP 11.3).
pub const HEALTH_PING: &str = "mgp/health/ping";
/// Asks how one is (MGP 11.3).
pub const HEALTH_STATUS: &str = "mgp/health/status";
/// Asks one to end, after what runs (MGP 11.4).
pub const LIFECYCLE_SHUTDOWN: &str = "mgp/lifecycle/shutdown";
/// A server is in another state (MGP 11.4).
pub const LIFECYCLE: &str = "notifications/mgp.lifecycle";
/// Finds tools by what they must do (MGP 16.5).
pub const TOOLS_DISCOVER: &str = "mgp/tools/discover";
/// Asks for tools that a task lacks (MGP 16.6).
pub const TOOLS_REQUEST: &str = "mgp/tools/request";
/// Which tools are loaded (MGP 16.7).
pub const TOOLS_SESSION: &str = "mgp/tools/session";
/// Gives loaded tools back (MGP 16.7).
pub const TOOLS_SESSION_EVICT: &str = "mgp/tools/session/evict";
/// Which servers there are (MGP 15.2).
pub const DISCOVERY_LIST: &str = "mgp/discovery/list";
/// One server more, while the kernel runs (MGP 15.4).
pub const DISCOVERY_REGISTER: &str = "mgp/discovery/register";
/// Takes that back (MGP 15.5).
pub const DISCOVERY_DEREGISTER: &str = "mgp/discovery/deregister";
/// What was put on record since some record (later versions).
pub const AUDIT_REPLAY: &str = "mgp/audit/replay";
/// Something happened that is kept.
pub const AUDIT: &str = "notifications/mgp.audit";

/// Takes a request back (MGP 12.7).
pub const STREAM_CANCEL: &str = "mgp/stream/cancel";
/// Says how fast pieces may come, as a request. The notification is [`STREAM_PACE_NOTICE`].
pub const STREAM_PACE: &str = "mgp/stream/pace";
/// A piece of a result (MGP 12.4).
pub const STREAM_CHUNK: &str = "notifications/mgp.stream.chunk";
/// How far a long operation is (MGP 12.6).
pub const STREAM_PROGRESS: &str = "notifications/mgp.stream.progress";
/// Says how fast pieces may come.
pub const STREAM_PACE_NOTICE: &str = "notifications/mgp.stream.pace";
/// Asks for pieces that did not arrive.
pub const STREAM_GAP: &str = "notifications/mgp.stream.gap";
/// How the names of all notifications about streams begin.
pub const OF_STREAMS: &str = "notifications/mgp.stream.";
/// Subscribes to events (MGP 13.2).
pub const EVENTS_SUBSCRIBE: &str = "mgp/events/subscribe";
/// Ends a subscription.
pub const EVENTS_UNSUBSCRIBE: &str = "mgp/events/unsubscribe";
/// Asks for events again.
pub const EVENTS_REPLAY: &str = "mgp/events/replay";
/// Asks which questions are open.
pub const PENDING_CALLBACKS: &str = "mgp/events/pending_callbacks";
/// An event (MGP 13.3).
pub const EVENT: &str = "notifications/mgp.event";

/// Whether a notification names the request that it is about in its member `request_id`.
#[must_use]
pub fn names_its_request(method: &str) -> bool {
    method.starts_with(OF_STREAMS) || method == CALLBACK_REQUEST
}

/// The kernel tool that does what a method does: `mgp_access_query` for `mgp/access/query`.
///
/// The specification writes `mgp.access.query`; many model services refuse a whole list for a name with a dot, so it is
/// listed without.
#[must_use]
pub fn tool_of(method: &str) -> Option<String> {
    method.strip_prefix("mgp/").map(|rest| format!("mgp_{}", rest.replace('/', "_")))
}
