//! One question about one call: what is shown to whoever answers, how it is held, and how an answer is claimed.

use jiff::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_guard::risk::ConfirmReason;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_store::{Approvals, Claim, Claimed, Digest, Held, Ticket};

use super::{LIFE, MOST, MOST_OF_ONE, later, unanswerable};
use crate::gate::Attempt;
use crate::kernel::Kernel;

/// One question.
pub(super) struct Question<'a> {
    pub(super) attempt: &'a Attempt<'a>,
    pub(super) approvals: &'a dyn Approvals,
    pub(super) arguments: Digest,
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) message: String,
}

impl Question<'_> {
    fn held(&self, now: Timestamp, reason: ConfirmReason) -> Held {
        let context = self.attempt.context;
        let client = context.caller.info.as_ref().and_then(|info| info.member("name")?.as_text());
        let shown = json!({
            "tool": self.attempt.exposed,
            "arguments": switchboard_guard::redact::value(&self.attempt.arguments()),
            "risk_level": self.attempt.policy.assessment.risk.as_str(),
            "client": client,
            "message": self.message,
        });
        Held {
            id: self.id.clone(),
            principal: context.session.principal.as_ref().to_owned(),
            session: context.session.lasting.then(|| context.session.id.as_ref().to_owned()),
            server: self.attempt.server.id().as_ref().to_owned(),
            tool: self.attempt.tool.to_owned(),
            arguments: self.arguments,
            shown: RawValue::from_string(shown.to_string()).ok(),
            reason: reason.as_str().to_owned(),
            token: Some(Digest::of(self.token().as_bytes())),
            created_at: now,
            expires_at: later(now, LIFE),
        }
    }

    pub(super) async fn hold(&self, kernel: &Kernel, reason: ConfirmReason) -> Result<(), Fault> {
        let now = kernel.gate().granted.time();
        let pending = self.approvals.pending(now, MOST).await.map_err(unanswerable)?;
        let principal = &*self.attempt.context.session.principal;
        let own = pending.iter().filter(|pending| pending.held.principal == principal).count();
        if pending.len() >= MOST || own >= MOST_OF_ONE {
            return Err(Fault::new(FaultKind::ResourceExhausted, "too many calls wait for a person"));
        }
        self.approvals.hold(&self.held(now, reason)).await.map(drop).map_err(unanswerable)
    }

    pub(super) fn token(&self) -> String {
        format!("{}.{}", self.id, self.secret)
    }

    pub(super) async fn claim(&self, kernel: &Kernel, ticket: Ticket) -> Result<Claimed, Fault> {
        let session = &self.attempt.context.session;
        let claim = Claim {
            ticket,
            principal: session.principal.as_ref().to_owned(),
            session: session.lasting.then(|| session.id.as_ref().to_owned()),
            server: self.attempt.server.id().as_ref().to_owned(),
            tool: self.attempt.tool.to_owned(),
            arguments: self.arguments,
            now: kernel.gate().granted.time(),
        };
        self.approvals.claim(&claim).await.map_err(unanswerable)
    }
}

/// What a person is asked: the tool, why, and the exact arguments.
pub(super) fn message(attempt: &Attempt<'_>, reason: ConfirmReason) -> String {
    let value = switchboard_guard::redact::value(&attempt.arguments());
    let arguments = match &value {
        Value::Object(members) if members.is_empty() => "no arguments".to_owned(),
        value => serde_json::to_string_pretty(value).unwrap_or_default(),
    };
    let security = &attempt.policy.security;
    let asked = security.confirmation_message.as_deref().map(|text| format!("\nThe server says: {text}"));
    let text = format!(
        "Allow `{}` of server `{}`? ({}, {})\n{arguments}{}",
        attempt.tool,
        attempt.server.id(),
        attempt.policy.assessment.risk,
        reason.as_str(),
        asked.unwrap_or_default(),
    );
    switchboard_guard::redact::printable(&text)
}
