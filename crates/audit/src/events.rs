//! What events are called, and how one is made.

use jiff::Timestamp;
use serde_json::Value;
use switchboard_store::{Actor, AuditEvent, Details, Target};

use crate::trace;

/// Bytes of one text in the details of an event.
const MAX_TEXT_BYTES: usize = 2_048;
/// The detail that ties the outcome of a call to its intent.
pub const CALL: &str = "call";

/// The event types of MGP 6.4 and later versions, and the kernel's own.
pub mod event {
    pub use switchboard_protocol::mgp::audit::event::*;

    /// A call that may change something is about to be made.
    pub const INTENT: &str = "dev.switchboard.tool_intent";
    /// A call was begun, and nobody saw how it ended.
    pub const UNKNOWN_OUTCOME: &str = "dev.switchboard.unknown_outcome";
    /// A request that only its server understands was passed on.
    pub const PASSED: &str = "dev.switchboard.request_passed";
    /// A call waits for a person.
    pub const HELD: &str = "dev.switchboard.call_held";
    /// A person, or a standing approval, let a held call go on.
    pub const APPROVED: &str = "dev.switchboard.call_approved";
    /// The operator answered a question of a server.
    pub const CALLBACK_ANSWERED: &str = "dev.switchboard.callback_answered";
    /// Somebody answered what a server asked him by elicitation or sampling.
    pub const QUESTION_ANSWERED: &str = "dev.switchboard.question_answered";
    /// Somebody sent a server an answer to a question that nobody here knows of: from before a restart, or invented.
    pub const ANSWER_UNASKED: &str = "dev.switchboard.answer_unasked";
    /// A question of a server was not asked, because too many are open.
    pub const CALLBACK_REFUSED: &str = "dev.switchboard.callback_refused";
    /// Somebody asked about a task, or went on with it.
    pub const TASK_ASKED: &str = "dev.switchboard.task_asked";
    /// Somebody went on with an operation, or got its kept result.
    pub const OPERATION_RESUMED: &str = "dev.switchboard.operation_resumed";
    /// A tool is not the one that was accepted.
    pub const QUARANTINED: &str = "dev.switchboard.definition_quarantined";
    /// A tool is described as if it gave orders to the model.
    pub const MARKED: &str = "dev.switchboard.definition_marked";
    /// A definition is not shown, because clients would refuse the whole list with it.
    pub const DEFINITION_UNFIT: &str = "dev.switchboard.definition_unfit";
    /// Somebody asked for scopes.
    pub const SCOPES_NEGOTIATED: &str = "dev.switchboard.scopes_negotiated";
    /// A call that failed is made again, or another in its place.
    pub const RETRIED: &str = "dev.switchboard.call_retried";
    /// Calls to a server are stopped for a while, or no longer.
    pub const BREAKER: &str = "dev.switchboard.breaker";
    /// A server is in another state.
    pub const SERVER_STATE: &str = "dev.switchboard.server_state";
    /// Somebody wants a server started or ended.
    pub const SERVER_ORDER: &str = "dev.switchboard.server_order";
    /// Somebody registered a server, or wrote a tool that has one.
    pub const SERVER_REGISTERED: &str = "dev.switchboard.server_registered";
    /// Such a server was ended and is gone.
    pub const SERVER_DEREGISTERED: &str = "dev.switchboard.server_deregistered";
    /// Somebody was not let register a server or write a tool.
    pub const REGISTRATION_REFUSED: &str = "dev.switchboard.registration_refused";
    /// A prompt was got or a resource read.
    pub const READ: &str = "dev.switchboard.content_read";
    /// Somebody searched for tools, or asked for some.
    pub const TOOLS_SOUGHT: &str = "dev.switchboard.tools_sought";
    /// The operator accepted the definition of a tool.
    pub const DEFINITION_ACCEPTED: &str = "dev.switchboard.definition_accepted";
    /// The operator has seen a definition and does not want it.
    pub const DEFINITION_REFUSED: &str = "dev.switchboard.definition_refused";
    /// The operator wants definitions taken as at first sight.
    pub const DEFINITION_FORGOTTEN: &str = "dev.switchboard.definition_forgotten";
    /// Old records were removed.
    pub const AUDIT_PRUNED: &str = "dev.switchboard.audit_pruned";

    /// What is written by whoever decides, and told from the log. The last four are of the program around the kernel:
    /// who may come in, and in whose name servers are used.
    pub const DECISIONS: [&str; 14] = [
        PERMISSION_GRANTED,
        PERMISSION_DENIED,
        PERMISSION_REVOKED,
        ACCESS_GRANTED,
        ACCESS_REVOKED,
        CALLBACK_ANSWERED,
        DEFINITION_ACCEPTED,
        DEFINITION_REFUSED,
        DEFINITION_FORGOTTEN,
        AUDIT_PRUNED,
        "dev.switchboard.token_issued",
        "dev.switchboard.token_revoked",
        "dev.switchboard.login",
        "dev.switchboard.logout",
    ];
}

/// What an event says of how something ended.
pub mod result {
    /// It went well.
    pub const SUCCESS: &str = "SUCCESS";
    /// It failed.
    pub const FAILURE: &str = "FAILURE";
    /// It was not let happen.
    pub const BLOCKED: &str = "BLOCKED";
    /// It is about to happen.
    pub const PENDING: &str = "PENDING";
    /// Nobody saw how it ended.
    pub const UNKNOWN: &str = "UNKNOWN";
}

/// Where a request was refused: the steps of the gate, in their order, what is asked again of what goes on, and what is asked
/// before the gate.
pub mod step {
    /// Who may use what.
    pub const ACCESS: &str = "access";
    /// What a server may do.
    pub const PERMISSIONS: &str = "permissions";
    /// On whose behalf.
    pub const DELEGATION: &str = "delegation";
    /// The session tokens that are shown.
    pub const SCOPES: &str = "scopes";
    /// The form of the arguments.
    pub const SCHEMA: &str = "schema";
    /// What the arguments are.
    pub const VALIDATORS: &str = "validators";
    /// How often, and how many at once.
    pub const RATE: &str = "rate";
    /// A person agrees.
    pub const CONFIRMATION: &str = "confirmation";
    /// The intent is on record.
    pub const AUDIT: &str = "audit";
    /// The limits that hold now for a call that goes on.
    pub const LIMITS: &str = "limits";
    /// The token of a call that goes on.
    pub const TOKEN: &str = "token";
    /// Before the gate: whether there is such a thing.
    pub const NAME: &str = "name";
    /// Before the gate: whether its definition is shown.
    pub const DEFINITION: &str = "definition";
    /// Before the gate: whether its server is there.
    pub const SERVER_STATE: &str = "server_state";

    /// The key under which an event says it.
    pub const KEY: &str = "step";
}

/// A principal as the one who did something.
#[must_use]
pub fn principal(name: &str, is_admin: bool) -> Actor {
    let kind = if is_admin { "user" } else { "agent" };
    Actor { kind: kind.into(), id: name.into() }
}

/// An event about nothing in particular yet, with the trace of the request that is being answered.
#[must_use]
pub fn event_of(event_type: &str, actor: Actor, outcome: &str) -> AuditEvent {
    AuditEvent {
        timestamp: Timestamp::now(),
        trace_id: Some(trace::current().into()),
        event_type: event_type.into(),
        actor,
        target: Target::default(),
        result: outcome.into(),
        details: Details::default(),
    }
}

/// The kernel as the one who did something.
#[must_use]
pub fn kernel() -> Actor {
    Actor { kind: "kernel".into(), id: "switchboard".into() }
}

/// An event with one more detail.
#[must_use]
pub fn with(mut event: AuditEvent, key: &str, value: impl Into<Value>) -> AuditEvent {
    let value = match value.into() {
        Value::String(text) if text.len() > MAX_TEXT_BYTES => {
            let shown = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
            format!("{shown}… ({} bytes)", text.len()).into()
        }
        value => value,
    };
    event.details.insert(key, value);
    event
}

/// An event about a server, and a tool of it.
#[must_use]
pub fn about(mut event: AuditEvent, server: &str, tool: Option<&str>) -> AuditEvent {
    event.target = Target { server_id: Some(server.into()), tool_name: tool.map(Into::into) };
    event
}
