//! Refusals that repeat themselves.
//!
//! A model that was refused a call and makes the very same one again will not stop by itself. The second refusal says
//! so: it must not be repeated. Which refusals there were is remembered for a short while, and only of calls that were
//! refused; a call that passes leaves nothing here.

use sha2::{Digest as _, Sha256};
use switchboard_gate::audit::{self, event, result};
use switchboard_peer::{Context, Reply};
use switchboard_protocol::mgp::{Rejection, RejectionCode};
use switchboard_wire::{Edit, Raw};
use tokio::time::Instant;

use crate::exchange::Exchange;
use crate::host::Host;

/// What a model is told the second time.
const STOP: &str = "This very call was refused for this very reason before. Do not make it again: change it, ask the \
                    person you work for, or go on without it.";

impl<H: Host> Exchange<H> {
    /// The answer to a call that was refused; one that repeats itself says that it must not be repeated.
    pub async fn repeated(&self, context: &Context, tool: &str, params: &Raw, reply: Reply) -> Reply {
        let Ok(answer) = &reply.outcome else { return reply };
        let Some(mut rejection) = Rejection::of_result(answer) else { return reply };
        // Waiting for a person is no reason to stop asking.
        if rejection.code == RejectionCode::RiskUnapproved && rejection.retryable {
            return reply;
        }
        // A request without a session has only its principal to be known by.
        let session = &context.session;
        let whose = if session.lasting { &session.id } else { &session.principal };
        let mut hash = Sha256::new();
        for part in [whose.as_bytes(), tool.as_bytes(), rejection.code.as_str().as_bytes()] {
            hash.update(part);
            hash.update([0]);
        }
        hash.update(rejection.reason.as_bytes());
        hash.update(params.member("arguments").map(|raw| raw.bytes().clone()).unwrap_or_default());
        let now = Instant::now().into_std();
        let count = self.state.refusals.lock().count(hash.finalize().into(), now);
        if count < 2 {
            return reply;
        }
        let noted = audit::event_of(event::TOOL_REJECTED, audit::principal(&context.session), result::BLOCKED);
        let noted = audit::with(audit::with(noted, "code", rejection.code.as_str()), "iteration", count);
        let noted = audit::with(noted, "retryable", false);
        self.host.gate().audit().note(audit::with(noted, "tool", tool)).await;
        rejection.retryable = false;
        rejection.remediation_hint = Some(STOP.to_owned());
        let details = Edit::of_optional(rejection.details.as_ref());
        rejection.details = details.ok().map(|details| details.set("repeated", Raw::number(count.into())).finish());
        // Nor does it help in the words of MGP.
        let said = rejection.recovery.as_ref().and_then(|said| Edit::of(said).ok());
        rejection.recovery = said.map(|said| {
            let said = ["retry_after_ms", "retry_strategy", "max_retries"].into_iter().fold(said, Edit::remove);
            said.set("retryable", Raw::boolean(false)).finish()
        });
        let told = switchboard_protocol::bridge::for_era(rejection.to_result(), context.caller.era());
        // What else was said to the client, in its own dialect, stays.
        let more = answer.member("error");
        let told = Edit::of(&told).map_or_else(|_| told.clone(), |edit| edit.set_optional("error", more).finish());
        Reply { outcome: Ok(told), ..reply }
    }
}
