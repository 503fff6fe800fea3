//! Confirmation: a call that a person has to agree to waits, and whoever can ask a person does.
//!
//! One queue serves all. By what the client can do, its own user is asked (an elicitation, an `input_required` result,
//! an MGP callback, a `confirmation_required` result with a token); the operator can answer too, from another process,
//! through the store. An answer is bound to principal, tool and arguments, and a yes for once is used once. That a
//! client says its user agreed means nothing without the token it was given for that.

mod callback;
mod elicitation;
mod ending;
mod notice;
mod question;
mod recheck;
mod token;
mod waiting;

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use switchboard_peer::{Context, Reply};
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::Era;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::{Confirmation, ConfirmationRequest, Extension};
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_store::{
    Approval, ApprovalState, Approvals, AuditEvent, Claimed, Decision, Digest, Refusal, Reuse, StoreError, Ticket,
    Verdict,
};
use switchboard_validators::arguments::Violation;
use switchboard_wire::{Edit, Raw, canonical};
use tokio::time::Instant;

use super::audit::{self, event, result, step};
use super::refused::refused;
use super::{Attempt, Gate, GateState, Sent, Subject, ToolPolicy};
use crate::approval_watcher::Watched;
use crate::coverage;
use crate::dialect::agreed_with;
use callback::ask_by_callback;
use elicitation::{ask_by_elicitation, read_elicitation};
use ending::Ending;
use question::{Question, message};
pub(crate) use recheck::look_up_again;
use waiting::until_refused;

/// How often a person is asked about one call, whose yes others of the same kind use before it.
const MAX_ASKED: usize = 3;
/// How long a question may be answered: tokens live no longer (proposal 6).
const ANSWER_TTL: SignedDuration = SignedDuration::from_mins(5);
/// How long a yes for the session or for always is good.
const SESSION_YES: SignedDuration = SignedDuration::from_hours(12);
/// Questions of one principal that may be open: nobody shall fill the queue for all.
const MOST_OF_ONE: usize = 64;
/// How long the end of a kernel waits to hear that the caller has gone as well.
const LEAVING: Duration = Duration::from_millis(150);
/// What our own `requestState` begins with.
const STATE: &str = "switchboard-confirm.";
/// The name of our question among the input that is required.
const QUESTION: &str = "confirm";

/// What came of asking.
pub(crate) enum Confirmed {
    /// Somebody agreed: under this approval, with these parameters where ours had to be taken out.
    Go(String, Option<Raw>),
    /// The client's answer.
    Answer(Reply),
}

/// What a person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answered {
    Yes(Reuse),
    No,
    /// The question was closed without a choice: nobody has decided.
    Closed,
}

/// How a client's user can be asked while the call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AskingMeans {
    Callback,
    Elicitation,
}

impl AskingMeans {
    fn of(context: &Context) -> Option<Self> {
        let agreed = agreed_with(&context.caller.capabilities);
        if agreed.is_some_and(|agreed| agreed.has(Extension::Callbacks)) {
            return Some(Self::Callback);
        }
        (context.caller.can(&["elicitation"]) && context.remote.can_request()).then_some(Self::Elicitation)
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Callback => "callback",
            Self::Elicitation => "elicitation",
        }
    }
}

/// What came of asking a client's user.
enum AskOutcome {
    Answered(Answered),
    /// He was asked, and said nothing in time.
    Silent,
    /// He could not be asked.
    Nobody,
}

/// What came of waiting.
enum Waited {
    /// Somebody decided.
    Decided(Box<Approval>),
    /// The client's user, who goes by this name, said no.
    Denied(String),
    /// Nobody did; the client's user was asked in this way and said nothing.
    TimedOut(Option<AskingMeans>),
    /// Nobody did; the client's user closed the question.
    Closed(AskingMeans),
    /// Somebody agreed to the same call where it waited before, at a kernel that has ended.
    Before(Box<Approval>),
    /// The kernel ends, and nobody did so far.
    Ended,
    /// Nobody did, and the caller may not make the call any more: its answer.
    Refused(Reply),
}

/// A question whose caller waits. If the caller goes, nobody need answer any more.
struct Waiting<'a> {
    state: &'a Arc<GateState>,
    id: Option<String>,
    /// What is put on record if the caller goes.
    left: Option<AuditEvent>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            drop(Ending::Withdrawn { by: "caller" }.begin(self.state, &id));
        }
        if let Some(event) = self.left.take() {
            self.state.audit.note_now(&event);
        }
    }
}

/// Whether nobody can know what was answered, because the store is away.
fn is_of_store(fault: &Fault) -> bool {
    fault.source().is_some_and(|cause| cause.is::<StoreError>())
}

impl Gate<'_> {
    /// Remembers a confirmed call whose server wants more input, by the state with which it will come back.
    pub fn remember_midway(
        &self,
        context: &Context,
        server: &str,
        name: &str,
        policy: &ToolPolicy,
        sent: &Sent,
        reply: &Reply,
    ) {
        let Ok(answer) = &reply.outcome else { return };
        let state = answer.member("requestState").and_then(|state| state.as_text());
        let state = state.or_else(|| ConfirmationRequest::of_result(answer)?.token);
        let (Some(state), Ok(arguments)) = (state, sent.digest()) else { return };
        let agreed = agreed_to(arguments, policy.definition());
        self.desk.remember(midway_of(&context.session.principal, server, name, agreed, &state));
    }
}

/// Makes sure that a person agreed to a call. Where that cannot be known because the store is away, the refusal is on
/// record.
pub(crate) async fn confirm(
    gate: &Gate<'_>,
    attempt: &Attempt<'_>,
    reason: ConfirmReason,
    doubt: Option<&Violation>,
) -> Result<Confirmed, Fault> {
    let mut outcome = Ok(None);
    for _ in 0..MAX_ASKED {
        outcome = ask_about(gate, attempt, reason, doubt).await;
        if !matches!(outcome, Ok(None)) {
            break;
        }
    }
    if let Err(fault) = &outcome
        && is_of_store(fault)
    {
        let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), step::KEY, step::CONFIRMATION);
        gate.audit.note(refused(audit::with(event, "reason", fault.message()), fault)).await;
    }
    match outcome? {
        Some(confirmed) => Ok(confirmed),
        None => Ok(invalid(gate, attempt, word_of(Refusal::Used)).await),
    }
}

/// Asks once. Nothing, where another call of the same kind went by the answer before this one could.
async fn ask_about(
    gate: &Gate<'_>,
    attempt: &Attempt<'_>,
    reason: ConfirmReason,
    doubt: Option<&Violation>,
) -> Result<Option<Confirmed>, Fault> {
    let sent = attempt.sent_to_server();
    let arguments = sent.digest().map_err(Fault::malformed)?;
    // Where the profile asks, the tool's own word changes nothing.
    let by_profile = coverage::profile_asks(gate, &attempt.context.session, attempt.policy);
    let ask_less = question::ask_less(attempt, reason).filter(|_| !by_profile);
    let message = message(attempt, reason, doubt, ask_less.as_deref()).filter(|_| sent.whole().view::<Value>().is_ok());
    let Some(message) = message else {
        // Nobody agrees to what they cannot be shown.
        let text = "the arguments hold a number that cannot be shown, and a person has to agree to them";
        return Err(Fault::new(FaultKind::InvalidParams, text));
    };
    let Some(store) = gate.store() else {
        return confirm_without_store(gate, attempt, &message).await.map(Some);
    };
    let (context, capabilities) = (attempt.context, &attempt.context.caller.capabilities);
    // The proposal has its answer only for tools.
    let by_token = attempt.subject == Subject::Tool && proposals::declared(capabilities).has(Proposal::HumanInTheLoop);
    let comes_back = by_token || context.caller.era() == Era::Modern && context.caller.can(&["elicitation"]);
    let wait = SignedDuration::try_from(gate.options().approval_wait).unwrap_or(ANSWER_TTL);
    let question = Question {
        attempt,
        approvals: store.approvals(),
        agreed: agreed_to(arguments, attempt.policy.definition()),
        arguments,
        id: switchboard_peer::random_token(),
        secret: switchboard_peer::random_token(),
        why: question::why(attempt, reason, doubt),
        found: question::found(doubt),
        message,
        ask_less,
        waits_until: (!comes_back).then(|| later(gate.granted.time(), wait)),
    };
    if let Some(confirmed) = come_back(gate, &question).await? {
        return Ok(Some(confirmed));
    }
    if let Claimed::Granted(approval) = question.claim(gate, Ticket::Reusable).await? {
        return go_by(gate, &question, *approval, None).await.map(Some);
    }
    let before = question.hold(gate, reason).await?;
    gate.audit.note(question.event(event::HELD, None, &question.id)).await;
    if comes_back {
        let asked = if by_token { question.ask_by_token(gate) } else { question.ask_by_input() };
        return Ok(Some(Confirmed::Answer(asked)));
    }
    let _waits = gate.context.waiting_calls.token();
    let left = audit::with(question.event(event::TOOL_REJECTED, None, &question.id), step::KEY, step::CONFIRMATION);
    let left = audit::with(left, "reason", "its caller was gone before anybody answered");
    let mut waiting = Waiting { state: gate.state, id: Some(question.id.clone()), left: Some(left) };
    let waited = wait_for_answer(gate, &question, before.as_deref()).await;
    // What ends in another way has its own record.
    if waited.is_ok() || !context.cancel.is_cancelled() {
        waiting.left = None;
    }
    // One that ends without anybody's answer, since the store is away for instance, is not approved afterwards.
    if waited.is_ok() {
        waiting.id = None;
    }
    drop(waiting);
    if matches!(waited, Ok(Waited::TimedOut(_) | Waited::Closed(_) | Waited::Ended)) {
        question.note_left().await;
    }
    conclude(gate, &question, waited).await
}

/// A call that comes back with what it was given when it was asked about the first time.
async fn come_back(gate: &Gate<'_>, question: &Question<'_>) -> Result<Option<Confirmed>, Fault> {
    let attempt = question.attempt;
    let confirmation = attempt.metadata.confirmation();
    let state = attempt.params.text("requestState");
    if let Some(token) = confirmation.token {
        if gate.desk.recall(&midway(question, &token)) {
            // The server's own question, after ours was answered: the token is for the server.
            return Ok(Some(Confirmed::Go("continued".to_owned(), None)));
        }
        let answer = confirmation.user_confirmed.then_some(Answered::Yes(Reuse::Once));
        let Some(answer) = answer else {
            return Ok(Some(invalid(gate, attempt, "the token came without `user_confirmed: true`").await));
        };
        let params = Confirmation::removed_from(&attempt.params_raw()).map_err(Fault::malformed)?;
        return settle_answer(gate, question, &token, answer, params).await.map(Some);
    }
    match state.as_deref().and_then(|state| state.strip_prefix(STATE)) {
        Some(token) => {
            let said = attempt.params.get("inputResponses").and_then(|all| all.member(QUESTION));
            let answer = said.as_ref().map_or(Answered::No, read_elicitation);
            let edit = Edit::of(&attempt.params_raw()).map_err(Fault::malformed)?;
            let params = edit.remove("requestState").remove("inputResponses").finish();
            settle_answer(gate, question, token, answer, params).await.map(Some)
        }
        None => {
            let midway = state.is_some_and(|state| gate.desk.recall(&midway(question, &state)));
            Ok(midway.then(|| Confirmed::Go("continued".to_owned(), None)))
        }
    }
}

/// Writes down what the client's user answered, and goes by it.
async fn settle_answer(
    gate: &Gate<'_>,
    question: &Question<'_>,
    token: &str,
    answer: Answered,
    params: Raw,
) -> Result<Confirmed, Fault> {
    let attempt = question.attempt;
    let digest = Digest::of(token.as_bytes());
    let principal = &*attempt.context.session.principal;
    let by = format!("user of {principal}");
    let held = match token.split_once('.') {
        Some((id, _)) => match question.approvals.get(id).await {
            Ok(held) => held,
            // Nobody needs the store to believe a no.
            Err(_) if answer == Answered::No => {
                let principal = principal.to_owned();
                let ending = Ending::DeniedByToken { by: by.clone(), token: digest, principal };
                ending.end(gate.state, id).await;
                return Ok(denied(gate, attempt, None, None).await);
            }
            Err(error) => return Err(unanswerable(error)),
        },
        None => None,
    };
    let Some(held) = held.filter(|held| held.held.token == Some(digest) && held.held.principal == principal) else {
        return Ok(invalid(gate, attempt, "the token is unknown").await);
    };
    if let Some(why) = question.differs_from(&held.held) {
        // The answer was about another call: neither does this one pass by it, nor is that one agreed to.
        return Ok(invalid(gate, attempt, why).await);
    }
    if answer == Answered::Closed {
        return Err(undecided(gate, attempt, AskingMeans::Elicitation, Some(&held.held.id)).await);
    }
    let deciding = decide(gate, question.approvals, &held.held.id, answer, &by);
    let decided = if answer == Answered::No {
        // A store that is locked does not hold up a no.
        tokio::time::timeout(ending::SOON, deciding).await.unwrap_or(Err(StoreError::Timeout))
    } else {
        deciding.await
    };
    if let Err(error) = decided {
        if answer != Answered::No {
            return Err(unanswerable(error));
        }
        Ending::Denied { by: by.clone() }.end(gate.state, &held.held.id).await;
        return Ok(denied(gate, attempt, None, Some((&held.held.id, &by))).await);
    }
    match question.claim(gate, Ticket::Token(digest)).await? {
        Claimed::Granted(approval) => go_by(gate, question, *approval, Some(params)).await,
        Claimed::Refused(Refusal::Denied) => Ok(denied(gate, attempt, None, Some((&held.held.id, &by))).await),
        Claimed::Refused(Refusal::Expired) => Err(too_late(gate, attempt, &held.held.id).await),
        Claimed::Refused(why) => Ok(invalid(gate, attempt, &format!("the token is no good: {}", word_of(why))).await),
    }
}

/// Waits for the client's user or the operator, whoever answers first.
async fn wait_for_answer(gate: &Gate<'_>, question: &Question<'_>, before: Option<&str>) -> Result<Waited, Fault> {
    let context = question.attempt.context;
    let deadline = Instant::now() + gate.options().approval_wait;
    let mut way = AskingMeans::of(context);
    let notice = notice::Notice::of(question);
    notice.begin(gate.around);
    let mut tick = notice::tick();
    let mut asking = std::pin::pin!(ask_the_user(gate, question, way));
    let mut refused = std::pin::pin!(until_refused(gate, question.attempt));
    let mut asked = false;
    let watched = gate.approvals_watched.watch(&question.id);
    let mut before = before.map(|id| (id, gate.approvals_watched.watch(id)));
    let (mut late, mut gone) = (false, false);
    loop {
        tokio::select! {
            refusal = &mut refused => {
                Ending::Withdrawn { by: "revoked" }.end(gate.state, &question.id).await;
                return refusal.map(Waited::Refused);
            }
            answer = &mut asking, if !asked => {
                asked = true;
                match answer {
                    AskOutcome::Answered(Answered::Closed) => {
                        return Ok(Waited::Closed(way.unwrap_or(AskingMeans::Elicitation)));
                    }
                    AskOutcome::Answered(answer) => {
                        let by = format!("user of {}", context.session.principal);
                        if answer == Answered::No {
                            Ending::Denied { by: by.clone() }.end(gate.state, &question.id).await;
                            return Ok(Waited::Denied(by));
                        }
                        tokio::select! {
                            decided = question.decide_patiently(gate, answer, &by, deadline) => decided?,
                            () = context.cancel.cancelled() => {}
                        }
                    }
                    AskOutcome::Silent => {}
                    AskOutcome::Nobody => way = None,
                }
            }
            _ = tick.tick() => {
                notice.again();
                continue;
            }
            () = watched.changed() => {}
            id = decided(before.as_ref()) => {
                before = None;
                if let Claimed::Granted(approval) = question.claim(gate, Ticket::Id(id)).await? {
                    Ending::Withdrawn { by: "answered before" }.end(gate.state, &question.id).await;
                    return Ok(Waited::Before(approval));
                }
                continue;
            }
            () = tokio::time::sleep_until(deadline) => late = true,
            () = gate.closing().cancelled() => {
                // A kernel of one client ends with it: then nobody comes back for the answer.
                gone = tokio::time::timeout(LEAVING, context.cancel.cancelled()).await.is_ok();
                late = true;
            }
            () = context.cancel.cancelled() => gone = true,
        }
        if gone {
            Ending::Withdrawn { by: "caller" }.end(gate.state, &question.id).await;
            return Err(Fault::new(FaultKind::Cancelled, "the call was cancelled"));
        }
        let approval = question.approvals.get(&question.id).await.map_err(unanswerable)?;
        if let Some(approval) = approval.filter(|approval| approval.state != ApprovalState::Pending) {
            return Ok(Waited::Decided(Box::new(approval)));
        }
        if late {
            return Ok(if gate.closing().is_cancelled() { Waited::Ended } else { Waited::TimedOut(way) });
        }
    }
}

async fn ask_the_user(gate: &Gate<'_>, question: &Question<'_>, way: Option<AskingMeans>) -> AskOutcome {
    match way {
        Some(AskingMeans::Callback) => ask_by_callback(gate, question).await,
        Some(AskingMeans::Elicitation) => {
            let wait = gate.options().approval_wait;
            ask_by_elicitation(question.attempt.context, &question.message, wait).await
        }
        None => AskOutcome::Nobody,
    }
}

async fn conclude(
    gate: &Gate<'_>,
    question: &Question<'_>,
    waited: Result<Waited, Fault>,
) -> Result<Option<Confirmed>, Fault> {
    let attempt = question.attempt;
    let approval = match waited? {
        Waited::Decided(approval) => approval,
        Waited::Denied(by) => return Ok(Some(denied(gate, attempt, None, Some((&question.id, &by))).await)),
        Waited::Refused(refusal) => return Ok(Some(Confirmed::Answer(refusal))),
        Waited::Before(approval) => return go_by(gate, question, *approval, None).await.map(Some),
        Waited::Ended => return Err(ended(gate, attempt, &question.id).await),
        Waited::Closed(way) => return Err(undecided(gate, attempt, way, Some(&question.id)).await),
        Waited::TimedOut(Some(way)) => return Err(unanswered(gate, attempt, way, Some(&question.id)).await),
        Waited::TimedOut(None) => {
            let text = format!(
                "`{}` needs a person's approval, and nobody answered in time; it was asked because {}",
                attempt.exposed, question.why
            );
            let later = approve_later(&question.id);
            let less = question
                .ask_less
                .as_deref()
                .map(|command| format!("{later}; to be asked less about this tool, the operator runs `{command}`"));
            let fault = Fault::new(FaultKind::ConfirmationRequired, text).suggest(less.unwrap_or(later));
            let event =
                audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), step::KEY, step::CONFIRMATION);
            let event = audit::with(refused(event, &fault), "approval", question.id.clone());
            let event = audit::with(event, "arguments", question.agreed.to_string());
            gate.audit.note(event).await;
            return Ok(Some(Confirmed::Answer(attempt.refusal(&fault))));
        }
    };
    match question.claim(gate, Ticket::Id(question.id.clone())).await? {
        Claimed::Granted(approval) => go_by(gate, question, *approval, None).await.map(Some),
        Claimed::Refused(Refusal::Denied) => {
            let by = approval.decided_by.as_deref().map(|by| (&*question.id, by));
            Ok(Some(denied(gate, attempt, approval.decision_reason.as_deref(), by).await))
        }
        // One that was made at the same time went by it: a yes for once is used once.
        Claimed::Refused(Refusal::Used) => Ok(None),
        Claimed::Refused(why) => {
            // Where it was taken back together with the right to the call, the client hears of the right.
            if why == Refusal::Withdrawn
                && let Some(refusal) = Box::pin(gate.check_rights(attempt)).await?
            {
                return Ok(Some(Confirmed::Answer(refusal)));
            }
            Ok(Some(invalid(gate, attempt, word_of(why)).await))
        }
    }
}

async fn decide(
    gate: &Gate<'_>,
    approvals: &dyn Approvals,
    id: &str,
    answer: Answered,
    by: &str,
) -> Result<Vec<Approval>, StoreError> {
    let now = gate.granted.time();
    let (verdict, life) = match answer {
        Answered::Yes(Reuse::Once) => (Verdict::Approve(Reuse::Once), ANSWER_TTL),
        Answered::Yes(reuse) => (Verdict::Approve(reuse), SESSION_YES),
        // Nobody gets here with a question that was only closed.
        Answered::No | Answered::Closed => (Verdict::Deny, ANSWER_TTL),
    };
    let decision = Decision { verdict, by: by.to_owned(), reason: None, now, expires_at: later(now, life) };
    approvals.decide(&[id.to_owned()], &decision).await
}

/// Without a store only the client's user can be asked, and only for this one call.
async fn confirm_without_store(gate: &Gate<'_>, attempt: &Attempt<'_>, message: &str) -> Result<Confirmed, Fault> {
    let context = attempt.context;
    // Who asks by callback needs a question in the store.
    let way = AskingMeans::of(context).filter(|way| *way == AskingMeans::Elicitation);
    let wait = gate.options().approval_wait;
    let asked = match way {
        Some(_) => tokio::select! {
            asked = ask_by_elicitation(context, message, wait) => asked,
            refusal = until_refused(gate, attempt) => return refusal.map(Confirmed::Answer),
        },
        None => AskOutcome::Nobody,
    };
    match asked {
        AskOutcome::Answered(Answered::Yes(_)) => Ok(Confirmed::Go("user".to_owned(), None)),
        AskOutcome::Answered(Answered::No) => Ok(denied(gate, attempt, None, None).await),
        AskOutcome::Answered(Answered::Closed) => Err(undecided(gate, attempt, AskingMeans::Elicitation, None).await),
        AskOutcome::Silent => Err(unanswered(gate, attempt, AskingMeans::Elicitation, None).await),
        AskOutcome::Nobody => {
            let text = format!("`{}` needs a person's approval, and there is nobody to ask", attempt.exposed);
            let fault = Fault::new(FaultKind::ConfirmationRequired, text);
            let event =
                audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), step::KEY, step::CONFIRMATION);
            gate.audit.note(refused(event, &fault)).await;
            Ok(Confirmed::Answer(attempt.refusal(&fault)))
        }
    }
}

/// The fault of a call that nobody had answered about when the kernel ended. Who says yes afterwards has said it to the same
/// call when it comes again.
async fn ended(gate: &Gate<'_>, attempt: &Attempt<'_>, approval: &str) -> Fault {
    let text =
        format!("`{}` was not carried out: Switchboard ended before a person had answered about it", attempt.exposed);
    let again = format!("make the same call again; a yes to {approval} counts for it, and nobody is asked again then");
    let fault = Fault::new(FaultKind::ServerDraining, text).suggest(again);
    let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), step::KEY, step::CONFIRMATION);
    let event = audit::with(event, "reason", fault.message());
    gate.audit.note(audit::with(refused(event, &fault), "approval", approval)).await;
    fault
}

/// The fault of a call whose user was asked and let the time pass.
async fn unanswered(gate: &Gate<'_>, attempt: &Attempt<'_>, way: AskingMeans, approval: Option<&str>) -> Fault {
    let wait = gate.options().approval_wait;
    let text = format!(
        "`{}` needs a person's approval, and the {} was not answered within {} s",
        attempt.exposed,
        way.as_str(),
        wait.as_secs_f32(),
    );
    let fault = not_decided(text, approval);
    let event = refused(attempt.event(event::CALLBACK_TIMEOUT, result::BLOCKED), &fault);
    let event = audit::with(audit::with(event, "type", "confirmation"), "asked_by", way.as_str());
    let mut event = audit::with(event, "timeout_ms", u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    if let Some(id) = approval {
        event = audit::with(event, "approval", id);
    }
    gate.audit.note(event).await;
    fault
}

/// The fault of a call whose user closed the question: that is no no, and the question stays where it is.
async fn undecided(gate: &Gate<'_>, attempt: &Attempt<'_>, way: AskingMeans, approval: Option<&str>) -> Fault {
    let text = format!(
        "`{}` needs a person's approval, and nobody has decided: the {} was closed without an answer",
        attempt.exposed,
        way.as_str(),
    );
    let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), step::KEY, step::CONFIRMATION);
    let mut event = audit::with(audit::with(event, "reason", text.clone()), "asked_by", way.as_str());
    if let Some(id) = approval {
        event = audit::with(event, "approval", id);
    }
    let fault = not_decided(text, approval);
    gate.audit.note(refused(event, &fault)).await;
    fault
}

/// The fault of a call about which nobody has decided, and what can be done.
fn not_decided(text: String, approval: Option<&str>) -> Fault {
    let fault = Fault::new(FaultKind::ConfirmationTimeout, text);
    match approval {
        Some(id) => fault.suggest(approve_later(id)),
        None => fault.suggest("make the call again when somebody is there to answer"),
    }
}

/// The fault of a call that comes back with an answer that came too late.
async fn too_late(gate: &Gate<'_>, attempt: &Attempt<'_>, approval: &str) -> Fault {
    let text = format!("the question about `{}` was not answered in time: its token has expired", attempt.exposed);
    let fault = Fault::new(FaultKind::ConfirmationTimeout, text).suggest("make the call again, and be asked anew");
    let event = refused(attempt.event(event::CALLBACK_TIMEOUT, result::BLOCKED), &fault);
    let event = audit::with(audit::with(event, "type", "confirmation"), "asked_by", "token");
    let event = audit::with(event, "timeout_ms", ANSWER_TTL.as_secs() * 1_000);
    gate.audit.note(audit::with(event, "approval", approval)).await;
    fault
}

/// The answer to a call that somebody said no to: `by` names the approval, and who it was.
async fn denied(gate: &Gate<'_>, attempt: &Attempt<'_>, reason: Option<&str>, by: Option<(&str, &str)>) -> Confirmed {
    let text = match reason {
        Some(reason) => format!("a person said no to `{}`: {reason}", attempt.exposed),
        None => format!("a person said no to `{}`", attempt.exposed),
    };
    let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), step::KEY, step::CONFIRMATION);
    let mut event = audit::with(event, "reason", text.clone());
    if let Some((approval, who)) = by {
        event = audit::with(audit::with(event, "approval", approval), "decided_by", who);
    }
    let fault = Fault::new(FaultKind::ConfirmationDenied, text);
    // What a person said is on record before anybody hears of it, as answers to the questions of servers are.
    gate.audit.settle(refused(event, &fault), None).await;
    Confirmed::Answer(attempt.refusal(&fault))
}

async fn invalid(gate: &Gate<'_>, attempt: &Attempt<'_>, why: &str) -> Confirmed {
    let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), step::KEY, step::CONFIRMATION);
    let text = format!("the confirmation of `{}` does not count: {why}", attempt.exposed);
    let fault = Fault::new(FaultKind::ConfirmationInvalid, text)
        .suggest("make the call again without a confirmation, and ask the user with the token that comes back");
    gate.audit.note(refused(audit::with(event, "reason", why), &fault)).await;
    Confirmed::Answer(attempt.refusal(&fault))
}

/// Goes on by an approval. That it was given is on record before the intent of the call is, and as durable.
async fn go_by(
    gate: &Gate<'_>,
    question: &Question<'_>,
    approval: Approval,
    params: Option<Raw>,
) -> Result<Confirmed, Fault> {
    let id = approval.held.id;
    let event = question.event(event::APPROVED, approval.decided_by.as_deref(), &id);
    gate.audit.record_in_order(event).await?;
    Ok(Confirmed::Go(id, params))
}

/// Waits until somebody has decided about the same call where it waited before; for ever where it did not.
async fn decided(before: Option<&(&str, Watched<'_>)>) -> String {
    match before {
        Some((id, watched)) => {
            watched.changed().await;
            (*id).to_owned()
        }
        None => std::future::pending().await,
    }
}

fn midway(question: &Question<'_>, state: &str) -> Digest {
    let attempt = question.attempt;
    let (principal, server) = (&attempt.context.session.principal, attempt.server.id());
    midway_of(principal, server, attempt.asked_as(), question.agreed, state)
}

fn midway_of(principal: &str, server: &str, tool: &str, agreed: Digest, state: &str) -> Digest {
    Digest::of(canonical::of_value(&json!([principal, server, tool, agreed.to_string(), state])).as_bytes())
}

/// What an answer is bound to beside principal, server and tool: these arguments, and the definition that was in force
/// when they were shown. No answer outlives the definition.
fn agreed_to(arguments: Digest, definition: Option<Digest>) -> Digest {
    match definition {
        Some(definition) => {
            let both = json!([arguments.to_string(), definition.to_string()]);
            Digest::of(canonical::of_value(&both).as_bytes())
        }
        None => arguments,
    }
}

fn later(now: Timestamp, by: SignedDuration) -> Timestamp {
    now.checked_add(by).unwrap_or(Timestamp::MAX)
}

fn approve_later(id: &str) -> String {
    format!("the operator runs `switchboard approvals`; once {id} is approved there, make the same call again")
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
