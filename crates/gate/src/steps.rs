//! The steps of the gate, in the one order in which every request passes them. Each is decided elsewhere, and has here the
//! name that it has in audit and metrics.

use switchboard_peer::Reply;
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_validators::arguments::Violation;
use switchboard_wire::Raw;

use crate::attempt::{Admission, Attempt, Stop};
use crate::audit::{self, event, result};
use crate::confirm::Confirmed;
use crate::refused::refused;
use crate::{Gate, Subject};

impl Gate<'_> {
    /// Takes a request through the gate: the one list for tools, prompts, resources and all that reaches a server.
    ///
    /// # Errors
    /// It does not pass, and the client hears of an error.
    pub async fn admit(&self, attempt: Attempt<'_>) -> Result<Admission, Fault> {
        let passed = async {
            // access, permissions, delegation, scopes, schema, validators. What somebody has begun to write is not run, and
            // understood only when it is whole.
            let doubt = self.judge(&attempt).await?.filter(|_| attempt.subject != Subject::Completion);
            // rate
            let metered = self.meter(&attempt)?;
            // confirmation, and after it everything before once more
            let (mut approval, mut cleaned, mut agreed) = (None, None, None);
            if let Some(reason) = self.reason_to_ask(&attempt, doubt.as_deref()).await? {
                // From here on whoever ends the kernel waits for it: nobody is asked in vain.
                agreed = Some(self.agreed_calls.token());
                let (id, params) = Box::pin(self.agree(&attempt, reason, doubt.as_deref())).await?;
                (approval, cleaned) = (Some(id), params);
            }
            // audit: the intent
            let permit = self.put_on_record(&attempt, approval).await?;
            Ok(Admission::Go(permit.counted(metered).agreed(agreed), cleaned))
        };
        match passed.await {
            Ok(admission) => Ok(admission),
            Err(Stop::Answer(reply)) => Ok(Admission::Answer(*reply)),
            Err(Stop::Fault(fault)) => Err(fault),
        }
    }

    /// The steps that need no person: who calls what, with what. What is not understood of it is given back.
    async fn judge(&self, attempt: &Attempt<'_>) -> Result<Option<Box<Violation>>, Stop> {
        let tables = self.tables().await?;
        // access
        let access = self.check_access(attempt, &tables).await?;
        // permissions
        let mut limits = self.check_permissions_of(attempt, &tables).await?;
        limits.extend(tables.limits(&access).cloned());
        // delegation
        if let Some(delegation) = attempt.metadata.delegation().map_err(Fault::from)? {
            limits.extend(Box::pin(self.check_delegation(attempt, &delegation, &tables)).await?);
        }
        // scopes
        self.check_scopes(attempt).await?;
        // schema
        self.check_schema(attempt).await?;
        // validators
        self.check_arguments(attempt, &limits).await
    }

    /// The same for a call that was made before and goes on or waits: the answer to its client, where it is refused now.
    ///
    /// # Errors
    /// It is refused, and the client hears of an error.
    pub async fn check_rights(&self, attempt: &Attempt<'_>) -> Result<Option<Reply>, Fault> {
        match self.judge(attempt).await {
            Ok(_) => Ok(None),
            Err(Stop::Answer(reply)) => Ok(Some(*reply)),
            Err(Stop::Fault(fault)) => Err(fault),
        }
    }

    /// Why a person has to agree, if one has to. What somebody would have to agree to where nobody is asked does not pass.
    async fn reason_to_ask(
        &self,
        attempt: &Attempt<'_>,
        doubt: Option<&Violation>,
    ) -> Result<Option<ConfirmReason>, Stop> {
        let passage = attempt.subject.passage();
        let by_profile = self.profile_asks(&attempt.context.session, attempt.policy).then_some(ConfirmReason::Operator);
        let reason = attempt.asks_about().filter(|reason| self.asks_for(*reason)).or(by_profile);
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
        let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), "step", "confirmation");
        self.audit.note(refused(event, &fault)).await;
        Err(fault.into())
    }

    /// Waits until a person has agreed: under which approval, and with which parameters where those of the client held
    /// something for the gate. A person takes a while to answer: what was taken back or changed meanwhile is not used.
    async fn agree(
        &self,
        attempt: &Attempt<'_>,
        reason: ConfirmReason,
        doubt: Option<&Violation>,
    ) -> Result<(String, Option<Raw>), Stop> {
        let (approval, cleaned) = match Box::pin(self.confirm(attempt, reason, doubt)).await? {
            Confirmed::Go(approval, cleaned) => (approval, cleaned),
            Confirmed::Answer(reply) => return Err(reply.into()),
        };
        if let Some(doubt) = doubt {
            self.remember_host(attempt, doubt).await;
        }
        let current = Box::pin(self.look_up_again(attempt)).await??;
        let attempt = match &current {
            Some(current) => &Attempt { server: &current.server, policy: &current.policy, ..*attempt },
            None => attempt,
        };
        // The person has seen what is not understood.
        Box::pin(self.judge(attempt)).await?;
        Ok((approval, cleaned))
    }

    /// Whether a person is asked for this reason: with `auto_approve` only where the operator said so of the tool.
    #[must_use]
    pub fn asks_for(&self, reason: ConfirmReason) -> bool {
        !self.approves_all() || reason == ConfirmReason::Operator
    }
}
