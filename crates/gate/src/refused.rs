//! What is said of a refusal: to the client, whose model reads it and can do better, and on the audit log.
//!
//! Both say the same: the code of the refusal and whether another try can pass.

use serde_json::Value;
use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp::envelope::Rejection;
use switchboard_store::AuditEvent;
use switchboard_wire::Edit;

use super::Subject;
use super::audit::{self, event, result, step};
use crate::Gate;
use crate::dialect::{rendered, rendering_for};

/// The answer to a call that was refused for what it is.
pub(crate) fn refusal(context: &Context, fault: &Fault) -> Reply {
    match Rejection::of_fault(fault) {
        Some(rejection) => rejection_of(context, fault, rejection),
        None => Err(rendered(context, fault)).into(),
    }
}

/// A rejection as an answer: with the number and the recovery fields of MGP, and the error of proposal 11, for a client
/// that speaks them.
pub(super) fn rejection_of(context: &Context, fault: &Fault, mut rejection: Rejection) -> Reply {
    let spoken = rendering_for(context, method::TOOLS_CALL);
    rejection.recovery = spoken.mgp.then(|| fault.recovery());
    let mut result = rejection.to_result();
    if let (true, Ok(edit)) = (spoken.structured, Edit::of(&result)) {
        result = edit.set("error", fault.structured()).finish();
    }
    Ok(switchboard_protocol::bridge::for_era(result, context.caller.era())).into()
}

/// Puts on record that a request was refused before the gate, because its server is not there or does not show such a thing.
/// `target` is the server, and what it may call the thing.
pub async fn unavailable(gate: Gate<'_>, context: &Context, subject: Subject, target: (&str, &str), fault: &Fault) {
    let at = match fault.kind() {
        FaultKind::UnknownTool | FaultKind::UnknownPrompt => step::NAME,
        FaultKind::ToolDisabled | FaultKind::ToolNameConflict | FaultKind::DefinitionHeld => step::DEFINITION,
        _ => step::SERVER_STATE,
    };
    blocked(gate, context, subject, target, at, fault).await;
}

/// Puts on record that a request was refused at a step before the gate.
pub async fn blocked(
    gate: Gate<'_>,
    context: &Context,
    subject: Subject,
    target: (&str, &str),
    at: &str,
    fault: &Fault,
) {
    let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(&context.session), result::BLOCKED);
    let (server, own) = target;
    let event = match subject {
        Subject::Tool => audit::about(event, server, Some(own)),
        subject => audit::with(audit::with(audit::about(event, server, None), "what", subject.word()), "name", own),
    };
    let event = audit::with(audit::with(event, step::KEY, at), "reason", fault.message());
    gate.audit.note(refused(event, fault)).await;
}

/// An event with what its fault says to the model: the code of the rejection, and whether trying again can help.
pub(super) fn refused(event: AuditEvent, fault: &Fault) -> AuditEvent {
    let event = audit::with(event, "kind", fault.kind().as_str());
    match Rejection::of_fault(fault) {
        Some(rejection) => rejected(event, &rejection),
        None => audit::with(event, "retryable", fault.retry().retryable),
    }
}

/// The same of a rejection. What it tells of the arguments is as long as they are, and not for the log; the rule is.
pub(super) fn rejected(event: AuditEvent, rejection: &Rejection) -> AuditEvent {
    let event = audit::with(event, "code", rejection.code.as_str());
    let event = audit::with(event, "retryable", rejection.retryable);
    let member = |key: &str| rejection.details.as_ref()?.member(key)?.as_text();
    let told: serde_json::Map<String, Value> = ["kind", "validator", "rule"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), member(key)?.into())))
        .collect();
    if told.is_empty() { event } else { audit::with(event, "details", Value::Object(told)) }
}
