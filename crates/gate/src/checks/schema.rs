//! The step `schema` of the gate: the arguments against the schema that the tool was published with.
//!
//! A call that the server would turn away anyway is turned away here, with the place and the rule, before anything
//! else is spent on it. Servers' schemas are not always true, so the operator can switch this off, for all tools or
//! for one.

use switchboard_policy::Finding;
use switchboard_policy::schema::Mismatch;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::envelope::{Rejection, RejectionCode};
use switchboard_wire::{Edit, Raw};

use crate::Gate;
use crate::attempt::{Attempt, Stop};
use crate::audit::{self, event, result, step};

/// Where the arguments do not fit the schema, if that counts.
pub(crate) fn mismatch(gate: &Gate<'_>, attempt: &Attempt<'_>) -> Option<Box<Mismatch>> {
    if attempt.subject != crate::Subject::Tool {
        return None;
    }
    if let Some(longest) = attempt.policy.longest_input() {
        let size = u64::try_from(attempt.arguments().as_bytes().len()).unwrap_or(u64::MAX);
        let text = format!("they have {size} bytes, of which the tool takes at most {longest}");
        let finding = Finding::new("max_input_size_bytes", text);
        if size > longest {
            return Some(Box::new(Mismatch { pointer: String::new(), finding }));
        }
    }
    let said = attempt.server.policy_now();
    // What is built in holds its arguments against its own schema, and says better what was meant.
    let usual = || gate.options().check_schemas && !attempt.server.is_built_in();
    let counts = said.schemas.get(attempt.tool).copied().unwrap_or_else(usual);
    let schema = attempt.policy.schema().filter(|_| counts)?;
    schema.check(&attempt.arguments()).err()
}

/// The same as the answer to the client.
pub(crate) async fn check_schema(gate: &Gate<'_>, attempt: &Attempt<'_>) -> Result<(), Stop> {
    let Some(mismatch) = mismatch(gate, attempt) else { return Ok(()) };
    let rule = mismatch.finding.rule;
    let event = audit::with(attempt.event(event::VALIDATION_FAILED, result::BLOCKED), step::KEY, step::SCHEMA);
    let event = audit::with(event, "rule", rule);
    let event = audit::with(event, "at", mismatch.pointer.clone());
    let mut rejection = Rejection::new(RejectionCode::InvalidToolArgs, told(&mismatch));
    rejection.violations = vec![told(&mismatch)];
    rejection.remediation_hint = Some(format!("call `{}` with arguments that fit its inputSchema", attempt.exposed));
    let details = || Edit::empty().set("rule", Raw::string(rule)).set("at", Raw::string(&mismatch.pointer));
    let mut fault = Fault::new(FaultKind::InvalidArguments, told(&mismatch)).with_details(details().finish());
    if let Some(hint) = &rejection.remediation_hint {
        fault = fault.suggest(hint.clone());
    }
    rejection.details = Some(details().set("kind", Raw::string(fault.kind().as_str())).finish());
    gate.audit.note(crate::refused::rejected(event, &rejection)).await;
    Err(crate::refused::rejection_of(attempt.context, &fault, rejection).into())
}

/// What is wrong, in words.
pub(crate) fn told(mismatch: &Mismatch) -> String {
    let place = if mismatch.pointer.is_empty() { "the arguments" } else { &mismatch.pointer };
    format!(
        "the arguments do not fit the tool's schema: {place}: {} ({})",
        mismatch.finding.message, mismatch.finding.rule
    )
}
