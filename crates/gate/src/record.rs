//! What is put on record about one call: that it is about to be made, and how it ended.
//!
//! A call that changes something is made only once its intent is on disk, and answered once its outcome is; where nobody
//! says whether it does, both are in the journal by then. However the call ends, an outcome is written: when its caller
//! goes away in the middle, that it is unknown.

use std::error::Error as _;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use switchboard_peer::{CallError, Reply};
use switchboard_policy::risk::Effect;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mcp::strict;
use switchboard_protocol::mgp::ApprovalPolicy;
use switchboard_store::{AuditEvent, Digest};
use switchboard_wire::{Object, Raw};
use tokio::time::Instant;

use super::Attempt;
use super::audit::{self, event, result, step};
use super::results::MARKS;
use crate::Gate;
use crate::permit::{Begun, Permit, ended};
use switchboard_protocol::bridge::{self, ResultType};

/// Bytes of arguments that are written to the audit log, where they are at all.
const MOST_ARGUMENTS: usize = 16 << 10;

impl Gate<'_> {
    /// Begins a call whose outcome, if all goes well, is this event.
    pub async fn begin(&self, mut outcome: AuditEvent, effect: Effect) -> Result<Permit, Fault> {
        let audit = &self.audit;
        let began = Instant::now();
        let synced = effect == Effect::Said || effect == Effect::Unsaid && self.options().sync_all_effects;
        let begun = |outcome, call| {
            let begun = Begun { gate: self.state.clone(), outcome, began, call, synced, times: None };
            Permit { begun: Some(Box::new(begun)), metered: None, agreed: None }
        };
        if effect == Effect::None {
            if !self.options().reads_without_record {
                audit.admit_read()?;
            }
            return Ok(begun(outcome, None));
        }
        let call = audit.open_calls().number();
        outcome.details.insert(audit::CALL, audit.open_calls().name(call));
        // From here on: an intent that was written has an end, even if its caller does not wait for the writing.
        let mut permit = begun(outcome, Some(call));
        let written = match &permit.begun {
            Some(begun) => audit.intend(&begun.outcome, call, synced).await,
            None => Ok(()),
        };
        match written {
            Ok(()) => Ok(permit),
            Err(fault) => {
                // It may have been written all the same, just too late.
                if let Some(begun) = permit.begun.take() {
                    let mut event = ended(begun.outcome, begun.began);
                    event.event_type = event::TOOL_BLOCKED.into();
                    event.result = result::BLOCKED.into();
                    audit.note_not_made(&audit::with(event, step::KEY, step::AUDIT), call);
                }
                Err(fault)
            }
        }
    }

    /// Writes down how a call ended. What the store does not take has happened all the same: the caller hears of it, the
    /// journal keeps it until the store takes it, and the next call that changes something is refused.
    pub async fn settle(&self, mut permit: Permit, outcome: &Result<Reply, Fault>) {
        let said = match outcome {
            // What is no object says nothing of how it went.
            Ok(Reply { outcome: Ok(result), .. }) if says_more(result) => Object::open(result).ok(),
            _ => None,
        };
        let kind = said.as_ref().map_or(ResultType::Complete, bridge::result_type_of);
        if let ResultType::InputRequired { state: Some(state), .. } = &kind
            && let Some(token) = state.as_text()
        {
            // It waits at its server for what its client was asked, and has not ended. Nor is it counted among those that
            // run: a person may take long.
            match self.around.keep_open(&token, permit.counted(None).agreed(None)) {
                None => return,
                Some(other) => permit = other,
            }
        }
        let Some(begun) = permit.begun.take() else { return };
        let Begun { outcome: event, began, call, synced, times, .. } = *begun;
        let mut event = ended(event, began);
        let failed = || result::FAILURE.into();
        match outcome {
            Ok(Reply { outcome: Ok(_), .. }) => {
                if let Some(result) = &said {
                    super::results::note_marks(&mut event, result);
                    if result.get("isError").is_some_and(|flag| strict::says_failure(&flag)) {
                        event.result = failed();
                    }
                }
                match kind {
                    ResultType::Complete => {}
                    ResultType::InputRequired { .. } => event = audit::with(event, "ended_as", "input_required"),
                    ResultType::Task => event = audit::with(event, "ended_as", "task"),
                }
            }
            Ok(Reply { outcome: Err(error), .. }) => {
                event.result = failed();
                event.details.insert("error_code", error.code);
            }
            Err(fault) => {
                // A call that only reads has failed when nobody got to know what it read.
                if call.is_some() && is_outcome_unknown(fault) {
                    event.event_type = event::UNKNOWN_OUTCOME.into();
                    event.result = result::UNKNOWN.into();
                    event = audit::with(event, "reason", fault.message());
                } else {
                    event.result = failed();
                }
                event.details.insert("error", fault.kind().as_str());
            }
        }
        // What failed, or waits for somebody, says nothing of how long the tool takes.
        if let Some(times) =
            times.filter(|_| event.result == result::SUCCESS && !event.details.contains_key("ended_as"))
        {
            times.note(began.elapsed());
        }
        let audit = &self.audit;
        let Some(call) = call.filter(|_| synced) else { return audit.settle(event, call).await };
        if !audit.keeps() {
            let _ = audit.record(event).await;
            return audit.open_calls().end([call]);
        }
        // In a task of its own: a caller that goes away now does not take the outcome along.
        let gate = self.state.clone();
        let writing = tokio::spawn(async move {
            gate.audit.settle_synced(event, call).await;
        });
        let _ = writing.await;
    }
}

/// Writes down that the call is about to be made, where it may change something.
pub(crate) async fn put_on_record(
    gate: &Gate<'_>,
    attempt: &Attempt<'_>,
    approval: Option<String>,
) -> Result<Permit, Fault> {
    let assessment = &attempt.policy.assessment;
    let passage = attempt.subject.passage();
    let Some(event_type) = passage.outcome else { return Ok(Permit { begun: None, metered: None, agreed: None }) };
    let mut outcome = attempt.event(event_type, result::SUCCESS);
    if attempt.unknown_beside().is_some() {
        describe_arguments(gate, &mut outcome, attempt, &attempt.sent_to_server().whole());
    } else if let Some(arguments) = attempt.sent.cloned().or_else(|| attempt.params.get("arguments")) {
        describe_arguments(gate, &mut outcome, attempt, &arguments);
    }
    let details = &mut outcome.details;
    if let [first, ..] = assessment.validators.as_slice() {
        details.insert("validator_applied", first.as_str());
    }
    if let Some(approval) = approval {
        details.insert("approval", approval);
    }
    if gate.approves_all() {
        details.insert("approval_policy", ApprovalPolicy::AutoApprove.as_str());
    }
    let times = attempt.policy.times();
    let effect = if passage.intent { assessment.effect } else { Effect::None };
    Ok(gate.begin(outcome, effect).await?.timed(times))
}

fn describe_arguments(gate: &Gate<'_>, outcome: &mut AuditEvent, attempt: &Attempt<'_>, arguments: &Raw) {
    let details = &mut outcome.details;
    details.insert("arguments_sha256", Digest::of(arguments.as_bytes()).to_hex());
    if !gate.options().audit_arguments {
        return;
    }
    let size = arguments.as_bytes().len();
    if size <= MOST_ARGUMENTS {
        let runs = |key: &str| attempt.policy.checks.carries(key);
        details.insert("arguments", switchboard_policy::redact::value_of(arguments, runs));
    } else {
        details.insert("arguments_omitted_bytes", size);
    }
}

/// Whether a result may hold more than its content: most do not, and need not be opened for it.
fn says_more(result: &Raw) -> bool {
    /// What is said of how a call went, and of what was found in its result.
    static MORE: LazyLock<[Finder<'static>; 3]> =
        LazyLock::new(|| ["\"isError\"", "\"resultType\"", MARKS].map(Finder::new));
    let text = result.as_bytes();
    // A key can be written with escapes.
    memchr::memchr(b'\\', text).is_some() || MORE.iter().any(|word| word.find(text).is_some())
}

/// Whether a call was sent and nobody saw how it ended.
#[must_use]
pub fn is_outcome_unknown(fault: &Fault) -> bool {
    let cause = fault.source().and_then(|source| source.downcast_ref::<CallError>());
    matches!(
        cause,
        Some(
            CallError::Timeout(_)
                | CallError::Cancelled
                | CallError::Closed
                | CallError::BadAnswer(_)
                // A gateway had the call, and lost the server or its patience. One that says 503 did not pass it on.
                | CallError::Gateway(408 | 502 | 504)
        )
    )
}
