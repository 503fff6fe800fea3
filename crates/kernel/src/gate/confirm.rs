//! Confirmation: a call that a person has to agree to waits, and whoever can ask a person does.
//!
//! One queue serves all. By what the client can do, its own user is asked (an elicitation, an `input_required` result,
//! an MGP callback, a `confirmation_required` result with a token); the operator can answer too, from another process,
//! through the store. An answer is bound to principal, tool and arguments, and a yes for once is used once. That a
//! client says its user agreed means nothing without the token it was given for that.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_guard::risk::ConfirmReason;
use switchboard_peer::{Call, Context, Reply};
use switchboard_protocol::Era;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp::{self, Confirmation, ConfirmationRequest, Extension};
use switchboard_protocol::proposals::{self, Consequence, Proposal};
use switchboard_store::{
    Approval, ApprovalState, Approvals, Claim, Claimed, Decision, Digest, Held, Refusal, Reuse, StoreError, Ticket,
    Verdict, canonical,
};
use switchboard_wire::{Edit, Notification, Object, Raw};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::audit::{self, event, result};
use super::{Attempt, exact, refusal};
use crate::bridge;
use crate::kernel::Kernel;

/// How long a question may be answered: tokens live no longer (proposal 6).
const LIFE: SignedDuration = SignedDuration::from_mins(5);
/// How long a yes for the session or for always is good.
const SESSION_YES: SignedDuration = SignedDuration::from_hours(12);
/// How often a waiting call looks whether the operator has answered.
const LOOK: Duration = Duration::from_millis(250);
/// Questions that may be open in this process, and calls that may be remembered in the middle.
const MOST: usize = 1_024;
/// Questions of one principal that may be open: nobody shall fill the queue for all.
const MOST_OF_ONE: usize = 64;
/// What our own `requestState` begins with.
const STATE: &str = "switchboard-confirm.";
/// Tells a client that the kernel asks, not the server.
const ASKED_BY: &str = "dev.switchboard/asked_by";
/// The name of our question among the input that is required.
const QUESTION: &str = "confirm";

/// What came of asking.
pub(super) enum Confirmed {
    /// Somebody agreed: under this approval, with these parameters where ours had to be taken out.
    Go(String, Option<Raw>),
    /// The client's answer.
    Answer(Reply),
}

/// Whose question it is, and who waits for the answer.
type Callback = (Arc<str>, oneshot::Sender<String>);

/// What is open in this process.
#[derive(Default)]
pub(crate) struct Desk {
    /// Callbacks by id.
    callbacks: Mutex<HashMap<String, Callback>>,
    /// Confirmed calls whose servers want more input: they come back with the server's state, and are not asked about
    /// a second time.
    midway: Mutex<HashMap<Digest, Instant>>,
}

impl Desk {
    /// Takes the answer to a callback; `false` if this principal was not asked that.
    pub(crate) fn answer(&self, callback: &str, principal: &str, answer: String) -> bool {
        let mut callbacks = self.callbacks.lock();
        let own = callbacks.get(callback).is_some_and(|(whose, _)| &**whose == principal);
        let waiting = if own { callbacks.remove(callback) } else { None };
        waiting.is_some_and(|(_, waiting)| waiting.send(answer).is_ok())
    }

    fn remember(&self, call: Digest) {
        let mut midway = self.midway.lock();
        let now = Instant::now();
        midway.retain(|_, until| *until > now);
        if midway.len() < MOST {
            midway.insert(call, now + Duration::from_secs(600));
        }
    }

    fn recall(&self, call: &Digest) -> bool {
        self.midway.lock().remove(call).is_some_and(|until| until > Instant::now())
    }
}

/// What a person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answered {
    Yes(Reuse),
    No,
}

/// A question whose caller waits. If the caller goes, nobody need answer any more.
struct Waiting<'a> {
    kernel: &'a Kernel,
    id: Option<String>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let (Some(id), Some(store)) = (self.id.take(), self.kernel.gate().store().cloned()) else { return };
        let now = self.kernel.gate().granted.time();
        self.kernel.spawn(async move {
            if let Err(error) = store.approvals().withdraw(&id, "caller", now).await {
                tracing::warn!(%error, "a question that nobody waits for stays open until its time is over");
            }
        });
    }
}

/// One question.
struct Question<'a> {
    attempt: &'a Attempt<'a>,
    approvals: &'a dyn Approvals,
    arguments: Digest,
    id: String,
    secret: String,
    message: String,
}

impl Kernel {
    /// Makes sure that a person agreed to a call.
    pub(super) async fn confirm(&self, attempt: &Attempt<'_>, reason: ConfirmReason) -> Result<Confirmed, Fault> {
        let arguments = exact::digest(&attempt.arguments()).map_err(crate::forward::malformed)?;
        if attempt.arguments().view::<Value>().is_err() {
            // Nobody agrees to what he cannot be shown.
            let text = "the arguments hold a number that cannot be shown, and a person has to agree to them";
            return Err(Fault::new(FaultKind::InvalidParams, text));
        }
        let Some(store) = self.gate().store() else { return Ok(self.confirm_without_store(attempt, reason).await) };
        let question = Question {
            attempt,
            approvals: store.approvals(),
            arguments,
            id: switchboard_peer::random_token(),
            secret: switchboard_peer::random_token(),
            message: message(attempt, reason),
        };
        if let Some(confirmed) = self.come_back(&question).await? {
            return Ok(confirmed);
        }
        if let Claimed::Granted(approval) = question.claim(self, Ticket::Standing).await? {
            self.tell_of(&question, event::APPROVED, approval.decided_by.as_deref(), &approval.held.id).await;
            return Ok(Confirmed::Go(approval.held.id, None));
        }
        question.hold(self, reason).await?;
        self.tell_of(&question, event::HELD, None, &question.id).await;
        let context = attempt.context;
        let capabilities = &context.caller.capabilities;
        if proposals::declared(capabilities).has(Proposal::HumanInTheLoop) {
            return Ok(Confirmed::Answer(question.ask_by_token(self)));
        }
        if context.caller.era() == Era::Modern && context.caller.can(&["elicitation"]) {
            return Ok(Confirmed::Answer(question.ask_by_input()));
        }
        let mut waiting = Waiting { kernel: self, id: Some(question.id.clone()) };
        let waited = self.wait_for_answer(&question).await;
        waiting.id = None;
        self.conclude(&question, waited).await
    }

    /// A call that comes back with what it was given when it was asked about the first time.
    async fn come_back(&self, question: &Question<'_>) -> Result<Option<Confirmed>, Fault> {
        let attempt = question.attempt;
        let confirmation = attempt.metadata.confirmation();
        let state = attempt.params.text("requestState");
        if let Some(token) = confirmation.token {
            if self.gate().desk.recall(&midway(question, &token)) {
                // The server's own question, after ours was answered: the token is for the server.
                return Ok(Some(Confirmed::Go("continued".to_owned(), None)));
            }
            let answer = confirmation.user_confirmed.then_some(Answered::Yes(Reuse::Once));
            let Some(answer) = answer else {
                return Ok(Some(self.invalid(attempt, "the token came without `user_confirmed: true`").await));
            };
            let params = Confirmation::removed_from(&attempt.params_raw()).map_err(crate::forward::malformed)?;
            return self.settle_answer(question, &token, answer, params).await.map(Some);
        }
        match state.as_deref().and_then(|state| state.strip_prefix(STATE)) {
            Some(token) => {
                let said = attempt.params.get("inputResponses").and_then(|all| all.member(QUESTION));
                let answer = said.as_ref().map_or(Answered::No, read_elicitation);
                let edit = Edit::of(&attempt.params_raw()).map_err(crate::forward::malformed)?;
                let params = edit.remove("requestState").remove("inputResponses").finish();
                self.settle_answer(question, token, answer, params).await.map(Some)
            }
            None => {
                let midway = state.is_some_and(|state| self.gate().desk.recall(&midway(question, &state)));
                Ok(midway.then(|| Confirmed::Go("continued".to_owned(), None)))
            }
        }
    }

    /// Writes down what the client's user answered, and goes by it.
    async fn settle_answer(
        &self,
        question: &Question<'_>,
        token: &str,
        answer: Answered,
        params: Raw,
    ) -> Result<Confirmed, Fault> {
        let attempt = question.attempt;
        let held = match token.split_once('.') {
            Some((id, _)) => question.approvals.get(id).await.map_err(unanswerable)?,
            None => None,
        };
        let digest = Digest::of(token.as_bytes());
        let principal = &*attempt.context.session.principal;
        let Some(held) = held.filter(|held| held.held.token == Some(digest) && held.held.principal == principal) else {
            return Ok(self.invalid(attempt, "the token is unknown").await);
        };
        self.decide(question.approvals, &held.held.id, answer, &format!("user of {principal}")).await?;
        match question.claim(self, Ticket::Token(digest)).await? {
            Claimed::Granted(approval) => {
                self.tell_of(question, event::APPROVED, approval.decided_by.as_deref(), &approval.held.id).await;
                Ok(Confirmed::Go(approval.held.id, Some(params)))
            }
            Claimed::Refused(Refusal::Denied) => Ok(self.denied(attempt, None).await),
            Claimed::Refused(why) => {
                Ok(self.invalid(attempt, &format!("the token is no good: {}", word_of(why))).await)
            }
        }
    }

    /// Waits for the client's user or the operator, whoever answers first.
    async fn wait_for_answer(&self, question: &Question<'_>) -> Result<Option<Approval>, Fault> {
        let context = question.attempt.context;
        let deadline = Instant::now() + self.gate().options.approval_wait;
        let mut asking = std::pin::pin!(self.ask_the_user(question));
        let mut asked = false;
        loop {
            tokio::select! {
                answer = &mut asking, if !asked => {
                    asked = true;
                    if let Some(answer) = answer {
                        let by = format!("user of {}", context.session.principal);
                        self.decide(question.approvals, &question.id, answer, &by).await?;
                    }
                }
                () = tokio::time::sleep(LOOK) => {}
                () = context.cancel.cancelled() => {
                    let _ = question.approvals.withdraw(&question.id, "caller", self.gate().granted.time()).await;
                    return Err(Fault::new(FaultKind::Cancelled, "the call was cancelled"));
                }
            }
            let approval = question.approvals.get(&question.id).await.map_err(unanswerable)?;
            if approval.as_ref().is_some_and(|approval| approval.state != ApprovalState::Pending) {
                return Ok(approval);
            }
            if Instant::now() >= deadline || self.closing().is_cancelled() {
                return Ok(None);
            }
        }
    }

    async fn conclude(
        &self,
        question: &Question<'_>,
        waited: Result<Option<Approval>, Fault>,
    ) -> Result<Confirmed, Fault> {
        let attempt = question.attempt;
        let Some(approval) = waited? else {
            self.tell_of(question, event::TOOL_REJECTED, None, &question.id).await;
            let text = format!("`{}` needs a person's approval, and nobody answered in time", attempt.exposed);
            let fault = Fault::new(FaultKind::ConfirmationRequired, text).suggest(format!(
                "the operator runs `switchboard approvals`; once {} is approved there, make the same call again",
                question.id
            ));
            return Ok(Confirmed::Answer(refusal(attempt.context, &fault)));
        };
        match question.claim(self, Ticket::Id(question.id.clone())).await? {
            Claimed::Granted(approval) => {
                self.tell_of(question, event::APPROVED, approval.decided_by.as_deref(), &question.id).await;
                Ok(Confirmed::Go(approval.held.id, None))
            }
            Claimed::Refused(Refusal::Denied) => Ok(self.denied(attempt, approval.decision_reason.as_deref()).await),
            Claimed::Refused(why) => Ok(self.invalid(attempt, word_of(why)).await),
        }
    }

    /// Asks the client's user, if the client can be asked at all.
    async fn ask_the_user(&self, question: &Question<'_>) -> Option<Answered> {
        let context = question.attempt.context;
        let agreed = crate::welcome::agreed_with(&context.caller.capabilities);
        if agreed.is_some_and(|agreed| agreed.has(Extension::Callbacks)) {
            return self.ask_by_callback(question).await;
        }
        if context.caller.can(&["elicitation"]) && context.remote.can_request() {
            return ask_by_elicitation(context, &question.message, self.gate().options.approval_wait).await;
        }
        None
    }

    async fn ask_by_callback(&self, question: &Question<'_>) -> Option<Answered> {
        let context = question.attempt.context;
        let wait = self.gate().options.approval_wait;
        let (sender, answer) = oneshot::channel();
        {
            let mut callbacks = self.gate().desk.callbacks.lock();
            callbacks.retain(|_, (_, waiting)| !waiting.is_closed());
            if callbacks.len() >= MOST {
                return None;
            }
            callbacks.insert(question.id.clone(), (context.session.principal.clone(), sender));
        }
        let options = ["confirm", "confirm_session", "cancel"].map(Raw::string);
        let params = Edit::empty()
            .set("callback_id", Raw::string(&question.id))
            .set("type", Raw::string("confirmation"))
            .set("message", Raw::string(&question.message))
            .set("options", Raw::array(&options))
            .set("timeout_ms", Raw::number(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)))
            .finish();
        context.remote.notify(Notification::new(mgp::method::CALLBACK_REQUEST, Some(params))).ok()?;
        let answer = tokio::time::timeout(wait, answer).await.ok()?.ok()?;
        Some(match answer.as_str() {
            "confirm" | "yes" | "approve" | "true" => Answered::Yes(Reuse::Once),
            "confirm_session" => Answered::Yes(Reuse::Session),
            _ => Answered::No,
        })
    }

    async fn decide(
        &self,
        approvals: &dyn Approvals,
        id: &str,
        answer: Answered,
        by: &str,
    ) -> Result<Vec<Approval>, Fault> {
        let now = self.gate().granted.time();
        let (verdict, life) = match answer {
            Answered::Yes(Reuse::Once) => (Verdict::Approve(Reuse::Once), LIFE),
            Answered::Yes(reuse) => (Verdict::Approve(reuse), SESSION_YES),
            Answered::No => (Verdict::Deny, LIFE),
        };
        let decision = Decision { verdict, by: by.to_owned(), reason: None, now, expires_at: later(now, life) };
        approvals.decide(&[id.to_owned()], &decision).await.map_err(unanswerable)
    }

    /// Without a store only the client's user can be asked, and only for this one call.
    async fn confirm_without_store(&self, attempt: &Attempt<'_>, reason: ConfirmReason) -> Confirmed {
        let context = attempt.context;
        let can_ask = context.caller.can(&["elicitation"]) && context.remote.can_request();
        let wait = self.gate().options.approval_wait;
        let answer = if can_ask { ask_by_elicitation(context, &message(attempt, reason), wait).await } else { None };
        match answer {
            Some(Answered::Yes(_)) => Confirmed::Go("user".to_owned(), None),
            Some(Answered::No) => self.denied(attempt, None).await,
            None => {
                let text = format!("`{}` needs a person's approval, and there is nobody to ask", attempt.exposed);
                Confirmed::Answer(refusal(context, &Fault::new(FaultKind::ConfirmationRequired, text)))
            }
        }
    }

    async fn denied(&self, attempt: &Attempt<'_>, reason: Option<&str>) -> Confirmed {
        let text = match reason {
            Some(reason) => format!("a person said no to `{}`: {reason}", attempt.exposed),
            None => format!("a person said no to `{}`", attempt.exposed),
        };
        let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), "step", "confirmation");
        self.gate().audit.note(audit::with(event, "reason", text.clone())).await;
        let fault = Fault::new(FaultKind::ConfirmationDenied, text);
        Confirmed::Answer(refusal(attempt.context, &fault))
    }

    async fn invalid(&self, attempt: &Attempt<'_>, why: &str) -> Confirmed {
        let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), "step", "confirmation");
        self.gate().audit.note(audit::with(event, "reason", why)).await;
        let text = format!("the confirmation of `{}` does not count: {why}", attempt.exposed);
        let fault = Fault::new(FaultKind::ConfirmationInvalid, text)
            .suggest("make the call again without a confirmation, and ask the user with the token that comes back");
        Confirmed::Answer(refusal(attempt.context, &fault))
    }

    async fn tell_of(&self, question: &Question<'_>, event_type: &str, by: Option<&str>, id: &str) {
        let outcome = if event_type == event::APPROVED { result::SUCCESS } else { result::BLOCKED };
        let mut event = audit::with(question.attempt.event(event_type, outcome), "approval", id);
        if let Some(by) = by {
            event = audit::with(event, "decided_by", by);
        }
        self.gate().audit.note(audit::with(event, "arguments", question.arguments.to_string())).await;
    }

    /// Remembers a confirmed call whose server wants more input, by the state with which it will come back.
    pub(crate) fn remember_midway(&self, context: &Context, server: &str, params: &Object, reply: &Reply) {
        let Ok(answer) = &reply.outcome else { return };
        let state = answer.member("requestState").and_then(|state| state.as_text());
        let state = state.or_else(|| ConfirmationRequest::of_result(answer)?.token);
        let arguments = params.get("arguments").unwrap_or_else(Raw::empty_object);
        let (Some(state), Ok(arguments)) = (state, exact::digest(&arguments)) else { return };
        let tool = params.text("name").unwrap_or_default();
        self.gate().desk.remember(midway_of(&context.session.principal, server, &tool, arguments, &state));
    }
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

    async fn hold(&self, kernel: &Kernel, reason: ConfirmReason) -> Result<(), Fault> {
        let now = kernel.gate().granted.time();
        let pending = self.approvals.pending(now, MOST).await.map_err(unanswerable)?;
        let principal = &*self.attempt.context.session.principal;
        let own = pending.iter().filter(|pending| pending.held.principal == principal).count();
        if pending.len() >= MOST || own >= MOST_OF_ONE {
            return Err(Fault::new(FaultKind::ResourceExhausted, "too many calls wait for a person"));
        }
        self.approvals.hold(&self.held(now, reason)).await.map(drop).map_err(unanswerable)
    }

    fn token(&self) -> String {
        format!("{}.{}", self.id, self.secret)
    }

    async fn claim(&self, kernel: &Kernel, ticket: Ticket) -> Result<Claimed, Fault> {
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

    /// The question as a result with a token (proposal 6).
    fn ask_by_token(&self, kernel: &Kernel) -> Reply {
        let assessment = &self.attempt.policy.assessment;
        let risk = Consequence::of_risk(assessment.risk, assessment.reversible);
        let until = later(kernel.gate().granted.time(), LIFE).to_string();
        let result = ConfirmationRequest::new(&self.message, risk, self.token(), until).to_result();
        Ok(bridge::for_era(result, self.attempt.context.caller.era())).into()
    }

    /// The question as required input (modern era).
    fn ask_by_input(&self) -> Reply {
        let request =
            Edit::empty().set("method", Raw::string(method::ELICIT)).set("params", elicitation(&self.message)).finish();
        let state = format!("{STATE}{}", self.token());
        Ok(bridge::input_required(&[(QUESTION.to_owned(), request)], Some(&state))).into()
    }
}

async fn ask_by_elicitation(context: &Context, message: &str, wait: Duration) -> Option<Answered> {
    let mut call = Call::new(method::ELICIT, Some(elicitation(message))).within(wait);
    call.max_timeout = wait;
    call.cancel = context.cancel.clone();
    let reply = context.remote.request(call).await.ok()?;
    reply.outcome.ok().as_ref().map(read_elicitation)
}

fn elicitation(message: &str) -> Raw {
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string",
                "title": "Decision",
                "enum": ["once", "session", "deny"],
                "enumNames": ["Allow once", "Allow these arguments for this session", "Deny"],
            },
        },
        "required": ["decision"],
    });
    let schema = Raw::from_value(&schema).unwrap_or_else(|_| Raw::empty_object());
    let from = Edit::empty().set(ASKED_BY, Raw::string("switchboard")).finish();
    Edit::empty().set("message", Raw::string(message)).set("requestedSchema", schema).set("_meta", from).finish()
}

fn read_elicitation(result: &Raw) -> Answered {
    let accepted = result.member("action").and_then(|action| action.as_text()).as_deref() == Some("accept");
    let decision = result.at(&["content", "decision"]).and_then(|decision| decision.as_text());
    match (accepted, decision.as_deref()) {
        (true, None | Some("once")) => Answered::Yes(Reuse::Once),
        (true, Some("session")) => Answered::Yes(Reuse::Session),
        _ => Answered::No,
    }
}

/// What a person is asked: the tool, why, and the exact arguments.
fn message(attempt: &Attempt<'_>, reason: ConfirmReason) -> String {
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

fn midway(question: &Question<'_>, state: &str) -> Digest {
    let attempt = question.attempt;
    let (principal, server) = (&attempt.context.session.principal, attempt.server.id());
    midway_of(principal, server, attempt.exposed, question.arguments, state)
}

fn midway_of(principal: &str, server: &str, tool: &str, arguments: Digest, state: &str) -> Digest {
    Digest::of(canonical(&json!([principal, server, tool, arguments.to_string(), state])).as_bytes())
}

fn later(now: Timestamp, by: SignedDuration) -> Timestamp {
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}

fn unanswerable(error: StoreError) -> Fault {
    Fault::new(FaultKind::ResourceExhausted, "approvals cannot be kept now").with_source(error)
}

const fn word_of(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Unknown => "unknown",
        Refusal::Pending => "nobody has decided",
        Refusal::Denied => "denied",
        Refusal::Expired => "expired",
        Refusal::Used => "used before",
        Refusal::OtherCall => "given for another call",
        Refusal::Withdrawn => "taken back",
    }
}
