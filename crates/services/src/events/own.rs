//! The kernel's own events: what is put on record is told as well, on the channels of MGP 13.5.

use std::sync::Arc;

use switchboard_audit::{AuditSink, event, result, step};
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
    let server = event.target.server_id.as_deref().map(Arc::from);
    let tool = event.target.tool_name.as_deref().map(Arc::from);
    match (channel.split('.').next(), event.actor.kind.as_str(), server) {
        (Some("tool" | "security"), "agent" | "user" | "delegated", server) if !denies_existence(event) => {
            Audience::Doer { principal: event.actor.id.as_str().into(), server, tool }
        }
        (Some("system"), "kernel", Some(server)) if channel.starts_with("system.server.") => Audience::Server(server),
        (_, _, Some(server)) => Audience::OperatorsOf { server, tool },
        _ => Audience::Operators,
    }
}

/// Whether the caller was told that there is no such thing. An event would tell whether there is: what is refused for want of
/// a right is on record with the tool's own name and risk, what does not exist is not.
fn denies_existence(event: &AuditEvent) -> bool {
    let detail = |name: &str| event.details.get(name).and_then(serde_json::Value::as_str);
    let is_unknown = |at: &str| matches!(at, step::ACCESS | step::NAME | step::SERVER_STATE | step::DEFINITION);
    // A call that its right was taken from while it ran was seen by its caller.
    event.event_type == event::TOOL_BLOCKED
        && detail(step::KEY).is_some_and(is_unknown)
        && detail("what").is_none_or(|what| what != "running")
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

    /// Errors do not tell a caller without a right what there is, and neither may events.
    #[test]
    fn what_does_not_exist_for_its_caller_is_told_to_operators_alone() {
        let told = |event_type: &str, details: &[(&str, &str)]| {
            let bob = switchboard_store::Actor { kind: "agent".into(), id: "bob".into() };
            let mut event = switchboard_audit::event_of(event_type, bob, result::BLOCKED);
            event.target.server_id = Some("alpha".into());
            event.target.tool_name = Some("echo".into());
            details.iter().for_each(|(name, value)| event.details.insert(name, *value));
            audience_of(channel_of(event_type, result::BLOCKED).0, &event)
        };
        let operators = Audience::OperatorsOf { server: "alpha".into(), tool: Some("echo".into()) };
        for step in ["access", "name", "server_state", "definition"] {
            assert_eq!(told(event::TOOL_BLOCKED, &[("step", step)]), operators, "{step}");
            assert_eq!(told(event::TOOL_BLOCKED, &[("step", step), ("what", "prompt")]), operators, "{step}");
        }
        for (event_type, details) in [
            (event::TOOL_BLOCKED, &[("step", "rate")][..]),
            (event::TOOL_BLOCKED, &[("step", "access"), ("what", "running")]),
            (event::TOOL_EXECUTED, &[]),
        ] {
            assert!(matches!(told(event_type, details), Audience::Doer { .. }), "{event_type} {details:?}");
        }
    }

    #[test]
    fn failures_are_told_apart() {
        assert_eq!(channel_of(event::TOOL_EXECUTED, result::SUCCESS), ("tool.completed", Severity::Info));
        assert_eq!(channel_of(event::TOOL_EXECUTED, result::FAILURE), ("tool.failed", Severity::Warning));
        assert_eq!(channel_of(event::UNKNOWN_OUTCOME, result::UNKNOWN), ("tool.failed", Severity::Error));
    }
}
