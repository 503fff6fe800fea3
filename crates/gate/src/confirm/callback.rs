//! Asking by an MGP callback (13.4): a notification that is answered with a request of the client.

use std::time::Duration;

use switchboard_protocol::mgp;
use switchboard_store::Reuse;
use switchboard_wire::{Edit, Id, Notification, Raw};
use tokio::time::Instant;

use super::question::Question;
use super::{Answered, AskOutcome};
use crate::Gate;
use crate::pending_confirmations::AskedAbout;

/// How often a question that nobody answers is asked again, under the same id.
const REPEATS: u64 = 3;
/// How long an answer is waited for before that.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Asks, and asks again: a notification can be lost.
pub(super) async fn ask_by_callback(gate: &Gate<'_>, question: &Question<'_>) -> AskOutcome {
    let context = question.attempt.context;
    let wait = gate.options().approval_wait;
    let deadline = Instant::now() + wait;
    let attempt = question.attempt;
    let asked = AskedAbout {
        principal: context.session.principal.clone(),
        server: attempt.server.id().clone(),
        tool: attempt.called().map(|(tool, exposed)| (tool.into(), exposed.into())),
    };
    let Some(mut answer) = gate.desk.expect(&question.id, asked, params(question, wait, None)) else {
        return AskOutcome::Nobody;
    };
    for attempt in 1..=REPEATS + 1 {
        let params = params(question, wait, Some(attempt));
        if context.remote.notify(Notification::new(mgp::method::CALLBACK_REQUEST, Some(params))).is_err() {
            return AskOutcome::Nobody;
        }
        let last = attempt > REPEATS;
        let until = if last { deadline } else { deadline.min(Instant::now() + ANSWER_TIMEOUT) };
        match tokio::time::timeout_at(until, &mut answer).await {
            Ok(Ok(answer)) => return AskOutcome::Answered(read(&answer)),
            Ok(Err(_)) => return AskOutcome::Nobody,
            Err(_) if until >= deadline => break,
            Err(_) => {}
        }
    }
    AskOutcome::Silent
}

/// What a client is asked, and which try it is.
fn params(question: &Question<'_>, wait: Duration, attempt: Option<u64>) -> Raw {
    // Where each request stands alone, there is no session that a yes could hold for.
    let words: &[&str] = if question.attempt.context.session.lasting {
        &["confirm", "confirm_session", "cancel"]
    } else {
        &["confirm", "cancel"]
    };
    let options: Vec<Raw> = words.iter().map(|word| Raw::string(word)).collect();
    Edit::empty()
        .set("callback_id", Raw::string(&question.id))
        .set_optional("request_id", question.attempt.request.map(Id::to_raw))
        .set("type", Raw::string("confirmation"))
        .set("message", Raw::string(&question.message))
        .set("options", Raw::array(&options))
        .set("timeout_ms", Raw::number(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)))
        .set_optional("_mgp", attempt.map(|attempt| Edit::empty().set("attempt", Raw::number(attempt)).finish()))
        .finish()
}

fn read(answer: &str) -> Answered {
    match answer {
        "confirm" | "yes" | "approve" | "true" => Answered::Yes(Reuse::Once),
        "confirm_session" => Answered::Yes(Reuse::Session),
        _ => Answered::No,
    }
}
