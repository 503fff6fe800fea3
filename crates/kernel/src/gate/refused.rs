//! What is said of a refusal: to the client, whose model reads it and can do better, and on the audit log.
//!
//! Both say the same: the code of the refusal and whether another try can pass.

use serde_json::Value;
use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::envelope::Rejection;
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_store::AuditEvent;
use switchboard_wire::{Edit, Raw};

use super::audit;

/// The answer to a call that was refused for what it is.
pub(crate) fn refusal(context: &Context, fault: &Fault) -> Reply {
    let result = match Rejection::of_fault(fault) {
        Some(rejection) => with_structured(context, fault, rejection.to_result()),
        None => return Err(crate::kernel::rendered(context, fault)).into(),
    };
    Ok(crate::bridge::for_era(result, context.caller.era())).into()
}

/// A rejection with the error of proposal 11 beside it, for a client that speaks it.
fn with_structured(context: &Context, fault: &Fault, result: Raw) -> Raw {
    let capabilities = &context.caller.capabilities;
    if capabilities.as_bytes().len() <= 2 || !proposals::declared(capabilities).has(Proposal::StructuredErrors) {
        return result;
    }
    Edit::of(&result).map_or(result, |edit| edit.set("error", fault.structured()).finish())
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
