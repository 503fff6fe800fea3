//! What a client that asked for progress is told of a call that has not begun.

use std::time::Duration;

use switchboard_protocol::mcp::method;
use switchboard_wire::{Edit, Notification, Raw};

/// How often a client that asked for progress is told that its call still waits.
pub const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// Progress of a call that has not begun. Progress has to grow, and the server's own begins at nought: so it counts down.
#[must_use]
pub fn countdown(token: &Raw, message: &str, left: Duration) -> Notification {
    let countdown = -i64::try_from(left.as_secs().max(1)).unwrap_or(i64::MAX);
    let params = Edit::empty()
        .set("progressToken", token.clone())
        .set("progress", Raw::from_value(&countdown).unwrap_or_else(|_| Raw::number(0)))
        .set("message", Raw::string(message));
    Notification::new(method::PROGRESS, Some(params.finish()))
}
