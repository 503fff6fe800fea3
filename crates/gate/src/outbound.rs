//! What the gate adds to a call that passed, on its way to the server: a trace, and a bound on its time.

use std::time::Duration;

use switchboard_protocol::mgp::Metadata;
use switchboard_wire::{Edit, Raw};

use super::{Tables, ToolPolicy};
use crate::Gate;
use switchboard_upstream::Server;

/// Parameters with the trace of the call, for a server that tells of what it does (MGP 6.3); `None` where nothing is
/// to be added. What the caller sent, a `trace_id` or a `traceparent`, passes as it is.
pub fn with_trace(server: &Server, metadata: &Metadata, params: Option<&Raw>, trace: &str) -> Option<Raw> {
    if !server.wants_trace() || metadata.trace_id().is_some() {
        return None;
    }
    let edit = Edit::of_optional(params).ok()?;
    // One that cannot be used is still the caller's.
    (!edit.object().has("trace_id")).then(|| edit.set("trace_id", Raw::string(trace)).finish())
}

impl Gate<'_> {
    /// How long a call of a tool may take by the scopes of the permissions it uses.
    pub fn longest_by_scope(&self, server: &Server, policy: &ToolPolicy) -> Option<Duration> {
        let tables: &Tables = &self.granted.latest();
        let standing = self.standing(tables, server, Some(policy));
        let limits = standing.granted.iter().filter_map(|granted| granted.scope.as_ref()?.max_execution_time_ms);
        limits.min().map(Duration::from_millis)
    }
}
