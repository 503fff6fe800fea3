//! Audit notifications (MGP 6): what happened, who did it, to what, and what came of it.

#[cfg(test)]
mod tests;

use std::fmt;

use switchboard_wire::Raw;

/// The types of events (MGP 6.4), with those of later versions. Others are named by a reversed domain.
pub mod event {
    /// A tool was called and answered.
    pub const TOOL_EXECUTED: &str = "TOOL_EXECUTED";
    /// A call was refused.
    pub const TOOL_BLOCKED: &str = "TOOL_BLOCKED";
    /// A permission was approved.
    pub const PERMISSION_GRANTED: &str = "PERMISSION_GRANTED";
    /// A permission was denied.
    pub const PERMISSION_DENIED: &str = "PERMISSION_DENIED";
    /// A permission was taken back.
    pub const PERMISSION_REVOKED: &str = "PERMISSION_REVOKED";
    /// Someone was let use a server or a tool.
    pub const ACCESS_GRANTED: &str = "ACCESS_GRANTED";
    /// That was taken back.
    pub const ACCESS_REVOKED: &str = "ACCESS_REVOKED";
    /// A server connected.
    pub const SERVER_CONNECTED: &str = "SERVER_CONNECTED";
    /// A server went away.
    pub const SERVER_DISCONNECTED: &str = "SERVER_DISCONNECTED";
    /// A validator refused a call.
    pub const VALIDATION_FAILED: &str = "VALIDATION_FAILED";
    /// The code in a call was refused.
    pub const CODE_REJECTED: &str = "CODE_REJECTED";
    /// A tool was made while running (later versions).
    pub const TOOL_CREATED_DYNAMIC: &str = "TOOL_CREATED_DYNAMIC";
    /// A server without a seal is trusted less (later versions).
    pub const TRUST_LEVEL_DOWNGRADED_NO_SEAL: &str = "TRUST_LEVEL_DOWNGRADED_NO_SEAL";
    /// A model read a rejection (later versions).
    pub const TOOL_REJECTED: &str = "TOOL_REJECTED";
    /// Nobody answered a server's question (later versions).
    pub const CALLBACK_TIMEOUT: &str = "CALLBACK_TIMEOUT";
    /// A server tried what its isolation forbids (later versions).
    pub const ISOLATION_VIOLATION: &str = "ISOLATION_VIOLATION";
    /// Two tools want one name (later versions).
    pub const TOOL_NAME_CONFLICT: &str = "TOOL_NAME_CONFLICT";
    /// A tool's own risk was not believed (later versions).
    pub const RISK_LEVEL_OVERRIDE: &str = "RISK_LEVEL_OVERRIDE";

    /// All of them: the specification's first.
    pub const ALL: [&str; 18] = [
        TOOL_EXECUTED,
        TOOL_BLOCKED,
        PERMISSION_GRANTED,
        PERMISSION_DENIED,
        PERMISSION_REVOKED,
        ACCESS_GRANTED,
        ACCESS_REVOKED,
        SERVER_CONNECTED,
        SERVER_DISCONNECTED,
        VALIDATION_FAILED,
        CODE_REJECTED,
        TOOL_CREATED_DYNAMIC,
        TRUST_LEVEL_DOWNGRADED_NO_SEAL,
        TOOL_REJECTED,
        CALLBACK_TIMEOUT,
        ISOLATION_VIOLATION,
        TOOL_NAME_CONFLICT,
        RISK_LEVEL_OVERRIDE,
    ];
}

words! {
    /// What came of it.
    AuditResult {
        /// It was done.
        Success = "SUCCESS",
        /// It was tried and failed.
        Failure = "FAILURE",
        /// It was not tried.
        Blocked = "BLOCKED",
    }
}

view! { "snake_case";
    /// The parameters of `notifications/mgp.audit`.
    AuditParams {
        /// When, in RFC 3339 with milliseconds.
        timestamp: String,
        /// What happened.
        event_type: String,
        /// Who did it.
        actor: AuditActor,
        /// To what.
        target: AuditTarget,
        /// What came of it; see [`AuditResult`].
        result: String,
        ;
        /// What ties the records of one undertaking together.
        trace_id: String,
        /// More, by type of event: an object.
        details: Raw,
        /// Where in the sequence to this server it stands (later versions).
        #[serde(rename = "_mgp")]
        mgp: AuditSequence,
    }
}

view! { "snake_case";
    /// Who did it.
    AuditActor {
        /// `agent`, `user`, `system`, `delegated`, ..
        #[serde(rename = "type")]
        kind: String,
        /// Its name.
        id: String,
        ;
    }
}

view! { "snake_case";
    /// What it was done to.
    AuditTarget {
        ;
        /// The server.
        server_id: String,
        /// The tool.
        tool_name: String,
    }
}
empty_by_default!(AuditTarget);

view! { "snake_case";
    /// Where a notification stands among those that one server gets.
    AuditSequence {
        /// Grows by one with each.
        seq: u64,
        ;
    }
}

impl AuditParams {
    /// The same as the `seq`th notification to its receiver.
    #[must_use]
    pub fn numbered(self, seq: u64) -> Self {
        self.mgp(AuditSequence::new(seq))
    }

    /// The number that it has for its receiver.
    #[must_use]
    pub fn seq(&self) -> Option<u64> {
        self.mgp.as_ref().map(|mgp| mgp.seq)
    }
}
