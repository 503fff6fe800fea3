//! The steps of the gate, in the one order in which every request passes them. Each is decided elsewhere, and has here the
//! name that it has in audit and metrics.

use crate::{checks, confirm, coverage, dialed, rates, record};
use switchboard_peer::Reply;
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_validators::arguments::Violation;
use switchboard_wire::Raw;

use crate::attempt::{Attempt, Stop};
use crate::audit::{self, event, result, step};
use crate::confirm::Confirmed;
use crate::refused::refused;
use crate::{Gate, Permit, Subject};

impl Gate<'_> {
    /// Takes a request through the gate: the one list for tools, prompts, resources and all that reaches a server.
    ///
    /// # Errors
    /// It does not pass, and the client hears of an error.
    pub async fn admit(&self, attempt: Attempt<'_>) -> Result<Admission, Fault> {
        let passed = async {
            // access, permissions, delegation, scopes, schema, validators. What somebody has begun to write is not run, and
            // understood only when it is whole.
            let doubt = checks::judge(self, &attempt).await?.filter(|_| attempt.subject != Subject::Completion);
            // rate
            let metered = rates::meter(self, &attempt)?;
            // confirmation, and after it everything before once more
            let (mut approval, mut cleaned, mut agreed) = (None, None, None);
            if let Some(reason) = reason_to_ask(self, &attempt, doubt.as_deref()).await? {
                // From here on whoever ends the kernel waits for it: nobody is asked in vain.
                agreed = Some(self.agreed_calls.token());
                let (id, params) = Box::pin(agree(self, &attempt, reason, doubt.as_deref())).await?;
                (approval, cleaned) = (Some(id), params);
            }
            // audit: the intent
            let permit = record::put_on_record(self, &attempt, approval).await?;
            Ok(Admission::Go(permit.counted(metered).agreed(agreed), cleaned))
        };
        match passed.await {
            Ok(admission) => Ok(admission),
            Err(Stop::Answer(reply)) => Ok(Admission::Answer(*reply)),
            Err(Stop::Fault(fault)) => Err(fault),
        }
    }
}

/// Why a person has to agree, if one has to. What somebody would have to agree to where nobody is asked does not pass.
async fn reason_to_ask(
    gate: &Gate<'_>,
    attempt: &Attempt<'_>,
    doubt: Option<&Violation>,
) -> Result<Option<ConfirmReason>, Stop> {
    let passage = attempt.subject.passage();
    let by_profile =
        coverage::profile_asks(gate, &attempt.context.session, attempt.policy).then_some(ConfirmReason::Profile);
    let reason = attempt.asks_about().filter(|reason| gate.options().asks_for(*reason)).or(by_profile);
    // What is not understood is asked about also where asking was switched off.
    let reason = reason.or_else(|| doubt.map(|_| ConfirmReason::NotUnderstood));
    if passage.asks || reason.is_none() {
        return Ok(reason);
    }
    let text = match doubt {
        Some(doubt) => format!("{}; nobody can be asked about it here", doubt.finding.message),
        None if attempt.subject == Subject::Subscription => {
            format!("a person has to agree to `{}`, and nobody is asked about what is watched", attempt.tool)
        }
        None => return Ok(None),
    };
    let fault = Fault::new(FaultKind::ConfirmationRequired, text).suggest("read it instead");
    let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), step::KEY, step::CONFIRMATION);
    gate.audit.note(refused(event, &fault)).await;
    Err(fault.into())
}

/// Waits until a person has agreed: under which approval, and with which parameters where those of the client held
/// something for the gate. A person takes a while to answer: what was taken back or changed meanwhile is not used.
async fn agree(
    gate: &Gate<'_>,
    attempt: &Attempt<'_>,
    reason: ConfirmReason,
    doubt: Option<&Violation>,
) -> Result<(String, Option<Raw>), Stop> {
    let (approval, cleaned) = match Box::pin(confirm::confirm(gate, attempt, reason, doubt)).await? {
        Confirmed::Go(approval, cleaned) => (approval, cleaned),
        Confirmed::Answer(reply) => return Err(reply.into()),
    };
    if let Some(doubt) = doubt {
        dialed::remember_host(gate, attempt, doubt).await;
    }
    let current = Box::pin(confirm::look_up_again(gate, attempt)).await??;
    let attempt = match &current {
        Some(current) => &Attempt { server: &current.server, policy: &current.policy, ..*attempt },
        None => attempt,
    };
    // The person has seen what is not understood.
    Box::pin(checks::judge(gate, attempt)).await?;
    Ok((approval, cleaned))
}

/// What became of an attempt.
#[derive(Debug)]
pub enum Admission {
    /// It may go on, with other parameters where those of the client held something for the gate.
    Go(Permit, Option<Raw>),
    /// The client has to do something first, or must not go on: this is its answer.
    Answer(Reply),
}
