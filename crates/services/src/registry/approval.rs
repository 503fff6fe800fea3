//! The agreement of a person to a server that somebody wants to register, to code that somebody wrote, or to a change of
//! rights by a tool.
//!
//! What is agreed to is exact: the same principal with the same request, word by word. Nobody waits here. Who asks gets
//! to know that a person has to agree, and asks again when one has. The operator answers where he answers everything
//! else; the user of the client is not asked, because what is started here is started on the operator's machine.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_audit::{self as audit, Auditor, event, result};
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::ApprovalPolicy;
use switchboard_protocol::spoken::NAME;
use switchboard_store::{ApprovalState, Claim, Claimed, Digest, HeldCall, Store, StoreError, Ticket};
use switchboard_wire::Raw;
use switchboard_wire::canonical::exact;

use crate::house::{AccessRights, Conduct, RecordKeeping, Setup};
use crate::principal;

/// How long a question stays open.
const QUESTION_TTL: SignedDuration = SignedDuration::from_hours(12);
/// Questions that may be open, of everybody and of one principal.
const MAX_OPEN_QUESTIONS: usize = 1_024;
const MOST_OF_ONE: usize = 16;

/// Questions that were asked, so that a no is not asked about again.
#[derive(Default)]
pub(super) struct AskedQuestions(Mutex<HashMap<(String, String, Digest), String>>);

impl AskedQuestions {
    fn last(&self, claim: &Claim) -> Option<String> {
        self.0.lock().get(&key(claim)).cloned()
    }

    fn note(&self, claim: &Claim, id: &str) {
        let mut asked = self.0.lock();
        if asked.len() >= MAX_OPEN_QUESTIONS {
            // Whoever was told no in one of these may be asked about once more.
            asked.clear();
        }
        asked.insert(key(claim), id.to_owned());
    }
}

fn key(claim: &Claim) -> (String, String, Digest) {
    (claim.principal.clone(), claim.tool.clone(), claim.arguments)
}

/// What came of asking.
pub(crate) enum Agreed {
    /// A person agreed, or nobody need be asked.
    Yes(Option<String>),
    /// A person has to agree first: the id of the question.
    Pending(String),
}

/// What is asked.
pub(crate) struct ApprovalRequest<'a> {
    /// What does it, in MGP's name.
    pub(crate) tool: &'a str,
    /// Exactly what is agreed to.
    pub(crate) exact: &'a Raw,
    /// What a person is shown.
    pub(crate) shown: Value,
    /// The question.
    pub(crate) message: String,
}

/// Asks a person, and knows what they said.
pub(crate) struct Approvals<'a> {
    pub(super) policy: ApprovalPolicy,
    pub(super) store: Option<&'a Store>,
    pub(super) now: Timestamp,
    pub(super) audit: &'a Auditor,
    pub(super) asked: &'a AskedQuestions,
}

impl<'a> Approvals<'a> {
    /// Those of a house.
    pub(crate) fn of<H: AccessRights + Conduct + RecordKeeping + Setup + ?Sized>(house: &'a H) -> Self {
        Self {
            policy: house.approval_policy(),
            store: house.store(),
            now: house.time(),
            audit: house.audit(),
            asked: &house.services().registry.asked,
        }
    }

    /// Makes sure that a person agreed.
    ///
    /// # Errors
    /// Nobody can be asked, or the policy is to ask nobody.
    pub(crate) async fn agreed(&self, context: &Context, wish: ApprovalRequest<'_>) -> Result<Agreed, Fault> {
        match self.policy {
            ApprovalPolicy::AutoApprove => return Ok(Agreed::Yes(None)),
            ApprovalPolicy::DenyAll | ApprovalPolicy::ConfigOnly => {
                let text = "the operator approves only what the configuration names";
                return Err(Fault::new(FaultKind::PermissionDenied, text));
            }
            ApprovalPolicy::Interactive => {}
        }
        let Some(store) = self.store else {
            let text = "a person has to agree to this, and this kernel keeps no questions";
            return Err(Fault::new(FaultKind::ConfirmationRequired, text));
        };
        let arguments = exact(wish.exact).map(|text| Digest::of(text.as_bytes())).map_err(Fault::malformed)?;
        let (approvals, now) = (store.approvals(), self.now);
        let (principal, session) = (&context.session.principal, &context.session);
        let claim = Claim {
            ticket: Ticket::Reusable,
            principal: principal.as_ref().to_owned(),
            session: session.lasting.then(|| session.id.as_ref().to_owned()),
            server: NAME.to_owned(),
            tool: wish.tool.to_owned(),
            arguments,
            now,
        };
        if let Claimed::Granted(approval) = approvals.claim(&claim).await.map_err(unanswerable)? {
            self.note_question(context, &wish, event::APPROVED, result::SUCCESS, arguments, &approval.held.id).await;
            return Ok(Agreed::Yes(Some(approval.held.id)));
        }
        if let Some(id) = self.asked.last(&claim)
            && let Some(before) = approvals.get(&id).await.map_err(unanswerable)?
            && before.state == ApprovalState::Denied
            && now < before.held.expires_at
        {
            let why = before.decision_reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            return Err(Fault::new(FaultKind::ConfirmationDenied, format!("a person said no to this{why}")));
        }
        let pending = approvals.pending(now, MAX_OPEN_QUESTIONS).await.map_err(unanswerable)?;
        let own = || pending.iter().filter(|pending| pending.held.principal == **principal);
        let same = own().find(|open| open.held.tool == wish.tool && open.held.arguments == arguments);
        if let Some(open) = same {
            return Ok(Agreed::Pending(open.held.id.clone()));
        }
        if pending.len() >= MAX_OPEN_QUESTIONS || own().count() >= MOST_OF_ONE {
            return Err(Fault::new(FaultKind::ResourceExhausted, "too many questions wait for a person"));
        }
        let id = switchboard_peer::random_token();
        self.asked.note(&claim, &id);
        let held = HeldCall {
            id,
            principal: claim.principal,
            session: claim.session,
            server: claim.server,
            tool: claim.tool,
            arguments,
            shown: RawValue::from_string(wish.shown.to_string()).ok(),
            reason: "operator".to_owned(),
            token: None,
            created_at: now,
            expires_at: now.checked_add(QUESTION_TTL).unwrap_or(now),
        };
        approvals.hold(&held).await.map_err(unanswerable)?;
        self.note_question(context, &wish, event::HELD, result::PENDING, arguments, &held.id).await;
        Ok(Agreed::Pending(held.id))
    }

    async fn note_question(
        &self,
        context: &Context,
        wish: &ApprovalRequest<'_>,
        event_type: &str,
        outcome: &str,
        arguments: Digest,
        id: &str,
    ) {
        let event = audit::event_of(event_type, principal(&context.session), outcome);
        let event = audit::about(event, NAME, Some(wish.tool));
        let event = audit::with(audit::with(event, "approval", id), "arguments", arguments.to_string());
        self.audit.note(audit::with(event, "message", wish.message.as_str())).await;
    }
}

/// What who asked has to know of a question that waits.
pub(crate) fn how_to_go_on(id: &str) -> String {
    format!("the operator runs `switchboard approvals`; once {id} is approved there, send the same request again")
}

fn unanswerable(error: StoreError) -> Fault {
    Fault::new(FaultKind::ResourceExhausted, "questions cannot be kept now").with_source(error)
}
