//! The kernel's own events: what is put on record is told as well, on the channels of MGP 13.5.

use std::sync::Arc;

use switchboard_audit::{AuditSink, event, result};
use switchboard_bus::{Audience, Event};
use switchboard_protocol::mgp::event::Severity;
use switchboard_store::AuditEvent;
use switchboard_wire::{Limits, Raw};

use super::Events;

/// The channels on which the kernel itself tells of something.
pub(super) const CHANNELS: [&str; 22] = [
    "tool.started",
    "tool.completed",
    "tool.failed",
    "security.access_denied",
    "security.validation_failed",
    "security.code_rejected",
    "security.call_rejected",
    "security.call_held",
    "security.call_approved",
    "security.permission_granted",
    "security.permission_denied",
    "security.permission_revoked",
    "security.access_granted",
    "security.access_revoked",
    "security.definition_quarantined",
    "security.isolation_violation",
    "security.callback_timeout",
    "system.server.connected",
    "system.server.disconnected",
    "system.server.state",
    "system.audit",
    crate::manifest::CHANNEL,
];

/// Where an event on record is told, and how serious it is.
pub(super) fn channel_of(event_type: &str, outcome: &str) -> (&'static str, Severity) {
    use Severity::{Error, Info, Warning};
    match event_type {
        event::INTENT => ("tool.started", Info),
        event::TOOL_EXECUTED if outcome == result::SUCCESS => ("tool.completed", Info),
        event::TOOL_EXECUTED => ("tool.failed", Warning),
        event::UNKNOWN_OUTCOME => ("tool.failed", Error),
        event::TOOL_BLOCKED => ("security.access_denied", Warning),
        event::VALIDATION_FAILED => ("security.validation_failed", Warning),
        event::CODE_REJECTED => ("security.code_rejected", Warning),
        event::TOOL_REJECTED => ("security.call_rejected", Warning),
        event::HELD => ("security.call_held", Info),
        event::APPROVED => ("security.call_approved", Info),
        event::PERMISSION_GRANTED => ("security.permission_granted", Info),
        event::PERMISSION_DENIED => ("security.permission_denied", Warning),
        event::PERMISSION_REVOKED => ("security.permission_revoked", Info),
        event::ACCESS_GRANTED => ("security.access_granted", Info),
        event::ACCESS_REVOKED => ("security.access_revoked", Info),
        event::QUARANTINED => ("security.definition_quarantined", Warning),
        event::ISOLATION_VIOLATION => ("security.isolation_violation", Error),
        event::CALLBACK_TIMEOUT => ("security.callback_timeout", Warning),
        event::SERVER_CONNECTED => ("system.server.connected", Info),
        event::SERVER_DISCONNECTED => ("system.server.disconnected", Warning),
        event::SERVER_STATE => ("system.server.state", Info),
        _ => ("system.audit", Info),
    }
}

/// Who may hear of it: whose doing it was; of a server that came or went, who may use it; of the rest, the operator.
fn audience_of(channel: &str, event: &AuditEvent) -> Audience {
    match (channel.split('.').next(), event.actor.kind.as_str(), &event.target.server_id) {
        (Some("tool" | "security"), "agent" | "user" | "delegated", server) => Audience::Doer {
            principal: event.actor.id.as_str().into(),
            server: server.as_deref().map(Arc::from),
            tool: event.target.tool_name.as_deref().map(Arc::from),
        },
        (Some("system"), "kernel", Some(server)) if channel.starts_with("system.server.") => {
            Audience::Server(server.as_str().into())
        }
        _ => Audience::Operators,
    }
}

impl AuditSink for Events {
    fn is_listening(&self) -> bool {
        self.are_wanted()
    }

    /// Tells of an event that is put on record.
    fn emit(&self, event: &AuditEvent) {
        let (channel, severity) = channel_of(&event.event_type, &event.result);
        let Ok(data) = Raw::parse(event.canonical(), &Limits::default()) else { return };
        self.publish(Event {
            id: self.new_id(),
            channel: channel.into(),
            server: event.target.server_id.as_deref().map(Arc::from),
            via: None,
            severity,
            at: event.timestamp,
            data,
            audience: audience_of(channel, event),
            depth: 0,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_channel_that_is_announced() {
        for name in event::ALL.iter().chain(&[
            event::INTENT,
            event::HELD,
            event::APPROVED,
            event::QUARANTINED,
            event::SERVER_STATE,
        ]) {
            for outcome in [result::SUCCESS, result::FAILURE] {
                let (channel, _) = channel_of(name, outcome);
                assert!(CHANNELS.contains(&channel), "{name} {channel}");
            }
        }
    }

    #[test]
    fn failures_are_told_apart() {
        assert_eq!(channel_of(event::TOOL_EXECUTED, result::SUCCESS), ("tool.completed", Severity::Info));
        assert_eq!(channel_of(event::TOOL_EXECUTED, result::FAILURE), ("tool.failed", Severity::Warning));
        assert_eq!(channel_of(event::UNKNOWN_OUTCOME, result::UNKNOWN), ("tool.failed", Severity::Error));
    }
}
