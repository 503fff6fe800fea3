//! One question about one call: what is shown to whoever answers, how it is held, and how an answer is claimed.
//!
//! The person sees every character that would be sent, whatever it looks like: what is left out of a question is not
//! agreed to. A question therefore may hold secrets. It is kept only while it waits, in the owner's own file.

use crate::rights;
use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::value::RawValue;
use switchboard_policy::redact;
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_store::{Approvals, AuditEvent, Claim, Claimed, Digest, HeldCall, Refusal, Ticket};
use switchboard_validators::arguments::Violation;
use switchboard_wire::{Edit, Raw};

use super::ending::SOON;
use super::{ANSWER_TTL, MOST_OF_ONE, later, unanswerable};
use crate::Gate;
use crate::audit::{self, event, result, step};
use crate::pending_confirmations::MAX_OPEN_QUESTIONS;
use crate::refused::refused;
use crate::tables::EXPIRED;
use crate::{Attempt, Sent, dialed};

/// Characters of an argument that are repeated in a server's own sentence. A longer one stands above it.
const MAX_FILLED_CHARS: usize = 200;

/// One question.
pub(super) struct Question<'a> {
    pub(super) attempt: &'a Attempt<'a>,
    pub(super) approvals: &'a dyn Approvals,
    /// The hash of the arguments.
    pub(super) arguments: Digest,
    /// What an answer is bound to: the arguments and the definition.
    pub(super) agreed: Digest,
    pub(super) id: String,
    pub(super) secret: String,
    /// Why a person is asked, on one line, without anything of the arguments: it is logged, and put on record.
    pub(super) why: String,
    /// What exactly was found in the arguments.
    pub(super) found: Option<String>,
    pub(super) message: String,
    /// The command after which it is asked about less.
    pub(super) ask_less: Option<String>,
    /// Until when the caller waits for the answer; `None` for one that gets the question as its answer, and calls again with what
    /// its user said.
    pub(super) waits_until: Option<Timestamp>,
}

/// The word for a caller that has got another answer meanwhile.
const CALLER_GONE: &str = "gone";

impl Question<'_> {
    /// What whoever decides is shown of the call, and of its caller.
    fn shown(&self, caller: &str) -> Option<Box<RawValue>> {
        let context = self.attempt.context;
        let client = context.caller.info.as_ref().and_then(|info| info.member("name")?.as_text());
        let hash = |digest: Digest| Raw::string(&digest.to_string());
        let found = self.found.as_ref().map(|found| format!(" ({found})")).unwrap_or_default();
        let because = format!("{}{found}", self.why);
        let shown = Edit::empty()
            .set("tool", Raw::string(self.attempt.exposed))
            .set("arguments", self.attempt.sent_to_server().whole())
            .set("arguments_sha256", hash(self.arguments))
            .set_optional("definition_sha256", self.attempt.policy.definition().map(hash))
            .set("risk_level", Raw::string(self.attempt.policy.assessment.risk.as_str()))
            .set("because", Raw::string(&because))
            .set_optional("client", client.map(|client| Raw::string(&client)))
            .set_optional("ask_less", self.ask_less.as_deref().map(Raw::string))
            .set_optional("server_says", server_says(self.attempt).map(|said| Raw::string(&said)))
            .set("caller", Raw::string(caller))
            .set_optional("caller_waits_until", self.waits_until.map(|until| Raw::string(&until.to_string())))
            .finish();
        RawValue::from_string(shown.as_str().to_owned()).ok()
    }

    /// Lets whoever decides later know that the caller has got another answer: a yes is for the same call when it comes again.
    pub(super) async fn note_left(&self) {
        if let Some(shown) = self.shown(CALLER_GONE) {
            let _ = tokio::time::timeout(SOON, self.approvals.show(&self.id, &shown)).await;
        }
    }

    fn held(&self, now: Timestamp, reason: ConfirmReason) -> HeldCall {
        let context = self.attempt.context;
        let caller = if self.waits_until.is_some() { "waits" } else { "comes_back" };
        HeldCall {
            id: self.id.clone(),
            principal: context.session.principal.as_ref().to_owned(),
            session: context.session.lasting.then(|| context.session.id.as_ref().to_owned()),
            server: self.attempt.server.id().as_ref().to_owned(),
            tool: self.attempt.tool.to_owned(),
            arguments: self.agreed,
            shown: self.shown(caller),
            reason: reason.as_str().to_owned(),
            token: Some(Digest::of(self.token().as_bytes())),
            created_at: now,
            expires_at: later(now, ANSWER_TTL),
        }
    }

    /// Why an answer to that held call is none to this one, if it is not.
    pub(super) fn differs_from(&self, held: &HeldCall) -> Option<&'static str> {
        if held.server != **self.attempt.server.id() || held.tool != self.attempt.tool {
            return Some("it was given for another tool");
        }
        if held.arguments == self.agreed {
            return None;
        }
        let arguments = held.shown.as_ref().and_then(|shown| {
            let shown: serde_json::Value = serde_json::from_str(shown.get()).ok()?;
            shown.get("arguments_sha256")?.as_str().map(str::to_owned)
        });
        let same = arguments.is_some_and(|arguments| arguments == self.arguments.to_string());
        Some(if same { "the definition of the tool has changed since" } else { "it was given for other arguments" })
    }

    /// Puts the call on hold. What is returned is where the same call waits already without a caller, since its kernel has ended:
    /// who has that question before them means this call.
    pub(super) async fn hold(&self, gate: &Gate<'_>, reason: ConfirmReason) -> Result<Option<String>, Fault> {
        let now = gate.granted.time();
        // What a person was shown is forgotten once it is over.
        self.approvals.expire(now).await.map_err(unanswerable)?;
        let pending = self.approvals.pending(now, MAX_OPEN_QUESTIONS).await.map_err(unanswerable)?;
        let principal = &*self.attempt.context.session.principal;
        let own = pending.iter().filter(|pending| pending.held.principal == principal).count();
        if own >= MOST_OF_ONE || pending.len() >= MAX_OPEN_QUESTIONS {
            let fault = if own >= MOST_OF_ONE {
                let text = format!("{own} of your calls wait for a person; no more may");
                Fault::new(FaultKind::QuotaExceeded, text).retry_after(5_000)
            } else {
                Fault::new(FaultKind::ResourceExhausted, "too many calls wait for a person")
            };
            let event = self.attempt.event(event::TOOL_REJECTED, result::BLOCKED);
            let event = audit::with(audit::with(event, step::KEY, step::CONFIRMATION), "reason", fault.message());
            gate.audit.note(refused(event, &fault)).await;
            return Err(fault);
        }
        let held = self.held(now, reason);
        let is_same = |other: &HeldCall| {
            let of = |held: &HeldCall| (held.principal.clone(), held.server.clone(), held.tool.clone(), held.arguments);
            // One call goes by it. What waits since this kernel has begun has somebody who waits for it here.
            other.created_at < gate.began && of(other) == of(&held) && !gate.approvals_watched.is_watched(&other.id)
        };
        let before = pending.into_iter().map(|pending| pending.held).rfind(is_same).map(|before| before.id);
        self.approvals.hold(&held).await.map_err(unanswerable)?;
        Ok(before)
    }

    /// An event about it.
    pub(super) fn event(&self, event_type: &str, by: Option<&str>, id: &str) -> AuditEvent {
        let outcome = if event_type == event::APPROVED { result::SUCCESS } else { result::BLOCKED };
        let mut event = audit::with(self.attempt.event(event_type, outcome), "approval", id);
        if let Some(by) = by {
            event = audit::with(event, "decided_by", by);
        }
        audit::with(event, "arguments", self.agreed.to_string())
    }

    pub(super) fn token(&self) -> String {
        format!("{}.{}", self.id, self.secret)
    }

    /// Uses an answer. One that was given under a grant that has ended since is none any more, nor is one to a call that
    /// has ended.
    pub(super) async fn claim(&self, gate: &Gate<'_>, ticket: Ticket) -> Result<Claimed, Fault> {
        let session = &self.attempt.context.session;
        let now = gate.granted.time();
        let claim = Claim {
            ticket,
            principal: session.principal.as_ref().to_owned(),
            session: session.lasting.then(|| session.id.as_ref().to_owned()),
            server: self.attempt.server.id().as_ref().to_owned(),
            tool: self.attempt.tool.to_owned(),
            arguments: self.agreed,
            now,
        };
        // Each that is taken back makes room for another one that was given for the same call.
        for _ in 0..MOST_OF_ONE {
            let approval = match self.approvals.claim(&claim).await.map_err(unanswerable)? {
                Claimed::Granted(approval) => approval,
                refused @ Claimed::Refused(_) => return Ok(refused),
            };
            let is_over = gate.desk.is_closed(&approval.held.id);
            if !is_over && !rights::has_outlived_its_grant(gate, &approval, now).await? {
                return Ok(Claimed::Granted(approval));
            }
            self.approvals.withdraw(&approval.held.id, EXPIRED, now).await.map_err(unanswerable)?;
            if claim.ticket != Ticket::Reusable {
                break;
            }
        }
        Ok(Claimed::Refused(Refusal::Withdrawn))
    }
}

/// What a person is asked: the tool, why, the exact arguments, and what the server itself says about the call.
///
/// `None` where the arguments cannot be shown.
pub(super) fn message(
    attempt: &Attempt<'_>,
    reason: ConfirmReason,
    doubt: Option<&Violation>,
    ask_less: Option<&str>,
) -> Option<String> {
    let Sent { arguments, beside } = attempt.sent_to_server();
    let mut shown = match redact::shown(&arguments)?.as_str() {
        "{}" => "no arguments".to_owned(),
        shown => shown.to_owned(),
    };
    if let Some(beside) = beside {
        shown = format!("{shown}\nSent beside the arguments:\n{}", redact::shown(&beside)?);
    }
    let (risk, because) = (attempt.policy.assessment.risk.as_str(), because(attempt, reason, doubt));
    let mut text =
        format!("Allow `{}` of server `{}`? ({risk}: {because})\n{shown}", attempt.tool, attempt.server.id());
    if let Some(Violation { finding, pointer, .. }) = doubt {
        let place = if pointer.is_empty() { String::new() } else { format!(" at {}", redact::one_line(pointer)) };
        let found = redact::one_line(&finding.message);
        text.push_str(&match names_host(doubt) {
            Some(_) => format!(
                "\nIt names a host of this machine or network{place}: {found}. Any yes counts for this server and you for {}; \
                 `switchboard approvals remembered` shows it.",
                dialed::remembered_for(attempt).1
            ),
            None => format!("\nNot understood{place}: {found}"),
        });
    }
    if let Some(command) = ask_less {
        text.push_str(&format!("\nTo be asked less about this tool: `{command}`"));
    }
    if let Some(said) = server_says(attempt) {
        text.push_str("\nThe server says:\n");
        text.push_str(&said);
    }
    Some(redact::printable(&text))
}

/// The command after which this tool is asked about less, where it is asked about for what it is and not for the call, and the
/// operator did not want that.
pub(super) fn ask_less(attempt: &Attempt<'_>, reason: ConfirmReason) -> Option<String> {
    let of_the_tool = match reason {
        ConfirmReason::Operator | ConfirmReason::Profile | ConfirmReason::NotUnderstood => false,
        ConfirmReason::RequiresConfirmation
        | ConfirmReason::ConfirmationRequired
        | ConfirmReason::Cost
        | ConfirmReason::DestructiveHint
        | ConfirmReason::Dangerous => true,
    };
    attempt.configurable().filter(|_| of_the_tool).map(|name| format!("switchboard tools confirm {name} never"))
}

/// Why a person is asked, in words: what stands in the question, in the log, and in the list of what waits.
fn because<'a>(attempt: &'a Attempt<'_>, reason: ConfirmReason, doubt: Option<&Violation>) -> &'a str {
    match reason {
        ConfirmReason::Operator => "the configuration wants a person to agree",
        ConfirmReason::Profile => "the profile of this client wants a person to agree: `confirm` in `[profiles]`",
        ConfirmReason::RequiresConfirmation => "its server demands that a person agrees",
        ConfirmReason::ConfirmationRequired => "its server wishes that a person agrees",
        ConfirmReason::Cost => "it costs something",
        ConfirmReason::DestructiveHint | ConfirmReason::Dangerous => &attempt.policy.assessment.reason,
        ConfirmReason::NotUnderstood if names_host(doubt).is_some() => "it names a host of this machine or network",
        ConfirmReason::NotUnderstood => "what it is called with is not understood",
    }
}

/// The same on one line.
pub(super) fn why(attempt: &Attempt<'_>, reason: ConfirmReason, doubt: Option<&Violation>) -> String {
    redact::one_line(because(attempt, reason, doubt))
}

/// What was found in the arguments, on one line.
pub(super) fn found(doubt: Option<&Violation>) -> Option<String> {
    doubt.map(|doubt| redact::one_line(&doubt.finding.message))
}

/// The host for which a yes would count.
fn names_host(doubt: Option<&Violation>) -> Option<&str> {
    doubt.filter(|doubt| doubt.finding.asks()).and_then(|doubt| doubt.host.as_deref())
}

/// The server's own words about the call. Every line of them is marked: they must not pass for ours.
fn server_says(attempt: &Attempt<'_>) -> Option<String> {
    let said = attempt.policy.security.confirmation_message.as_deref()?;
    let lines: Vec<String> = filled(said, &attempt.arguments()).lines().map(|line| format!("> {line}")).collect();
    Some(lines.join("\n"))
}

/// A server's sentence with the values of the arguments it names as `{argument}` (MGP 4.2).
fn filled<'a>(said: &'a str, arguments: &Raw) -> Cow<'a, str> {
    if !said.contains('{') {
        return Cow::Borrowed(said);
    }
    let mut text = String::with_capacity(said.len());
    let mut rest = said;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let named = after.split_once('}').and_then(|(name, after)| Some((name, arguments.member(name)?, after)));
        let Some((name, value, after)) = named else {
            text.push('{');
            rest = after;
            continue;
        };
        let value = value.as_text().unwrap_or_else(|| value.as_str().to_owned());
        let value = redact::one_line(&value);
        if value.chars().count() <= MAX_FILLED_CHARS {
            text.push_str(&value);
        } else {
            text.push_str(&format!("{{{name}: see above}}"));
        }
        rest = after;
    }
    text.push_str(rest);
    Cow::Owned(text)
}
