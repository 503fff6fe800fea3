//! Telling legacy servers which log messages are wanted. A modern one is told with each request.

use std::time::Duration;

use switchboard_peer::Call;
use switchboard_peer::client::Connected;
use switchboard_protocol::Era;
use switchboard_protocol::mcp::method;
use switchboard_wire::{Edit, Raw};

/// How long a server may take to hear which log messages are wanted.
pub const LEVEL_WAIT: Duration = Duration::from_secs(5);

/// Tells a legacy server which log messages are wanted.
pub async fn send_level(connected: &Connected, level: &str) {
    if connected.revision.era() == Era::Legacy && connected.server.capabilities.member("logging").is_some() {
        let params = Edit::empty().set("level", Raw::string(level)).finish();
        let _ = connected.remote.request(Call::new(method::SET_LEVEL, Some(params)).within(LEVEL_WAIT)).await;
    }
}
