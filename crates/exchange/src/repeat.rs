//! The kernel's own repetition of calls that failed (MGP 14.6), and the tool that is tried in the end.
//!
//! Whether and when is decided by [`switchboard_flow::retry`]. A call that may have had its effect is repeated only
//! where that does no harm; each repetition is on record. Another tool that a server names is called as if the client
//! had called it: through the whole gate, once.

use std::error::Error as _;
use std::time::Duration;

use switchboard_flow::retry::{Failure, Repeating, RetryDecision, Spacing, decide};
use switchboard_gate::audit::{self, event, result};
use switchboard_gate::{ToolPolicy, is_outcome_unknown};
use switchboard_peer::{CallError, Context, Reply};
use switchboard_policy::risk::Effect;
use switchboard_protocol::fault::{Fault, FaultKind, RetryAdvice};
use switchboard_protocol::mcp::{method, strict};
use switchboard_protocol::mgp::{Metadata, TrustLevel};
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_upstream::{Server, chance, millis};
use switchboard_wire::{Edit, ErrorObject, Extra, Id, Object, Raw, Request};
use tokio::time::Instant;

use crate::exchange::Exchange;
use crate::host::Host;

/// The key under which a result says that another tool gave it.
const FALLBACK: &str = "dev.switchboard/fallback";

/// What is needed to make a call again.
#[derive(Debug)]
pub struct Repetition {
    params: Option<Raw>,
    extra: Extra,
    began: Instant,
    tries: u32,
}

/// A call, as far as it matters for a repetition of it.
#[derive(Debug, Clone, Copy)]
pub struct RepeatableCall<'a> {
    /// The tool as the server calls it.
    pub tool: &'a str,
    /// What is known of it.
    pub policy: &'a ToolPolicy,
    /// What its caller said beside it.
    pub metadata: &'a Metadata,
    /// What ties its events together.
    pub trace: &'a str,
}

/// What comes after a failure.
#[derive(Debug)]
pub enum NextAttempt {
    /// The call, once more.
    Call(Box<Request>),
    /// Another tool of the same server, by its own name for it.
    Tool(String),
    /// Nothing.
    Nothing,
}

impl Repetition {
    /// Keeps what a repetition needs; `None` where nothing is repeated.
    #[must_use]
    pub fn of(server: &Server, request: &Request) -> Option<Self> {
        if server.policy_now().pressure.retry.most == 0 {
            return None;
        }
        Some(Self { params: request.params.clone(), extra: request.extra.clone(), began: Instant::now(), tries: 1 })
    }

    /// The parameters of the call, with the name of another tool.
    #[must_use]
    pub fn params_for(&self, tool: &str) -> Option<Raw> {
        Some(Edit::of(self.params.as_ref()?).ok()?.set("name", Raw::string(tool)).finish())
    }
}

/// What a repetition of a call would do.
fn repeating(server: &Server, policy: &ToolPolicy, metadata: &Metadata) -> Repeating {
    let idempotent = policy.security.hints.idempotent == Some(true) && server.trust() >= TrustLevel::Standard;
    if policy.assessment.effect == Effect::None || idempotent {
        return Repeating::Harmless;
    }
    // A key helps only where the server knows what it is for.
    let keyed = metadata.idempotency_key().is_ok_and(|key| key.is_some());
    let knows = |server: &Server| {
        let hub = server.hub_now();
        hub.is_some_and(|hub| proposals::declared(&hub.connected.server.capabilities).has(Proposal::Idempotency))
    };
    if keyed && knows(server) { Repeating::Harmless } else { Repeating::Harmful }
}

/// What the caller hears of a call that nobody saw the end of: where it is said to change something, making it again
/// may do so twice, and nothing here suggests that.
#[must_use]
pub fn told_of_unknown(server: &Server, policy: &ToolPolicy, metadata: &Metadata, fault: Fault) -> Fault {
    let harmful = || repeating(server, policy, metadata) == Repeating::Harmful;
    if policy.assessment.effect != Effect::Said || !is_outcome_unknown(&fault) || !harmful() {
        return fault;
    }
    fault.with_retry(RetryAdvice::NEVER).suggest("see whether it was done before you do it again")
}

impl<H: Host> Exchange<H> {
    /// What to do about the outcome of a call; waits where it is to be made again. Each repetition is put on record.
    pub async fn after_failure(
        &self,
        context: &Context,
        server: &Server,
        call: &RepeatableCall<'_>,
        again: &mut Repetition,
        outcome: &Result<Reply, Fault>,
    ) -> NextAttempt {
        let Some((failure, why)) = failure_of(outcome) else { return NextAttempt::Nothing };
        // A repetition would be refused, and the caller would take the refusal for the fate of the call.
        if self.host.is_draining() {
            return NextAttempt::Nothing;
        }
        let in_the_middle = has_been_lost(outcome);
        let policy = server.policy_now().pressure.retry;
        let left = self.options().longest_call.saturating_sub(again.began.elapsed());
        let repeating = repeating(server, call.policy, call.metadata);
        let decision = decide(&policy, &failure, repeating, again.tries, left, chance());
        let note = |what: &str, wait: Duration| {
            let event = audit::event_of(event::RETRIED, audit::principal(&context.session), result::PENDING);
            let mut event = audit::with(audit::about(event, server.id(), Some(call.tool)), "attempt", again.tries + 1);
            event.trace_id = Some(call.trace.into());
            let event = audit::with(event, "decision", what);
            let event = audit::with(event, "wait_ms", millis(wait));
            self.host.gate().audit().note_now(&audit::with(event, "error", why.as_str()));
        };
        match decision {
            RetryDecision::Again(wait) if server.may_repeat() => {
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = context.cancel.cancelled() => return NextAttempt::Nothing,
                }
                if in_the_middle {
                    // What got its server killed gets the next one killed as well. Why it went is known before it is back.
                    let _ = server.hub().await;
                    if server.was_killed_since(again.began) {
                        return NextAttempt::Nothing;
                    }
                }
                note("again", wait);
                again.tries += 1;
                let request = Request::new(Id::number(0), method::TOOLS_CALL, again.params.clone());
                NextAttempt::Call(Box::new(Request { extra: again.extra.clone(), ..request }))
            }
            RetryDecision::FallBack(other) if other != call.tool => {
                note("fallback", Duration::ZERO);
                NextAttempt::Tool(other)
            }
            RetryDecision::Again(_) | RetryDecision::FallBack(_) | RetryDecision::Report => NextAttempt::Nothing,
        }
    }
}

/// A result that another tool gave, with a word about that.
#[must_use]
pub fn marked_as_fallback(reply: Reply, tool: &str) -> Reply {
    let outcome = reply.outcome.map(|result| {
        let mark = Edit::empty().set("tool", Raw::string(tool)).finish();
        let edited = Edit::of(&result).and_then(|edit| edit.within("_meta", |meta| meta.set(FALLBACK, mark)));
        edited.map_or(result, Edit::finish)
    });
    Reply { outcome, ..reply }
}

/// Whether a call came to something.
#[must_use]
pub fn has_worked(reply: &Reply) -> bool {
    let failed = |result: &Raw| result.member("isError").is_some_and(|flag| strict::says_failure(&flag));
    reply.outcome.as_ref().is_ok_and(|result| !failed(result))
}

/// Whether a call goes on with what was begun before, or outlives its answer: it cannot be made a second time.
#[must_use]
pub fn goes_on(params: &Object) -> bool {
    ["requestState", "inputResponses", "task"].iter().any(|key| params.has(key))
}

/// Whether there is anything to decide about.
#[must_use]
pub const fn has_failed(outcome: &Result<Reply, Fault>) -> bool {
    !matches!(outcome, Ok(Reply { outcome: Ok(_), .. }))
}

/// Whether the server went away while it had the call.
fn has_been_lost(outcome: &Result<Reply, Fault>) -> bool {
    let cause = outcome.as_ref().err().and_then(|fault| fault.source());
    matches!(cause.and_then(|cause| cause.downcast_ref::<CallError>()), Some(CallError::Closed))
}

/// What a failure says of trying again, and its name; `None` for what is no failure.
fn failure_of(outcome: &Result<Reply, Fault>) -> Option<(Failure, String)> {
    match outcome {
        Ok(Reply { outcome: Ok(_), .. }) => None,
        Ok(Reply { outcome: Err(error), .. }) => Some((said_by(error)?, error.code.to_string())),
        Err(fault) => {
            let cause = fault.source().and_then(|source| source.downcast_ref::<CallError>());
            let untouched = matches!(cause, Some(CallError::NotSent(_)));
            let lost = untouched || matches!(cause, Some(CallError::Closed));
            // A call that took its whole time is not given the same time again; who waits decides that.
            let retryable = fault.kind() == FaultKind::UpstreamUnavailable && lost;
            Some((Failure { retryable, untouched, ..Failure::default() }, fault.kind().as_str().to_owned()))
        }
    }
}

/// The recovery fields of a server's own error (MGP 14.5).
fn said_by(error: &ErrorObject) -> Option<Failure> {
    let said = error.data.as_ref()?.member("_mgp")?;
    let number = |key: &str| said.member(key).and_then(|value| value.view::<u64>().ok());
    let text = |key: &str| said.member(key).and_then(|value| value.as_text());
    Some(Failure {
        retryable: said.member("retryable").is_some_and(|flag| flag.as_bytes() == b"true"),
        after: number("retry_after_ms").map(Duration::from_millis),
        spacing: text("retry_strategy").and_then(|word| Spacing::from_word(&word)).unwrap_or_default(),
        most: number("max_retries").map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
        fallback: text("fallback_tool"),
        untouched: false,
    })
}
