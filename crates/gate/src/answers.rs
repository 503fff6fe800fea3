//! Answers in the middle of a call: whether somebody may give one, and what is put on record of it before its server gets it.

use crate::authority;
use switchboard_peer::{Context, Session};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::metadata::Metadata;
use switchboard_store::{AuditEvent, Digest};
use switchboard_upstream::Server;
use switchboard_wire::{Extra, Kind, Raw};

use crate::Gate;
use crate::audit::{self, event, result, step};
use crate::authority::{chain_of, may_say_delegation};
use crate::refused::refused;

/// Letters of an answer that are written down.
const MAX_ANSWER_CHARS: usize = 200;

impl Gate<'_> {
    /// Judges an answer in the middle of a call, and puts it on record before its server gets it.
    ///
    /// # Errors
    /// It may not be given, or cannot be put on record.
    pub async fn admit_answer_for(
        &self,
        context: &Context,
        server: &Server,
        tool: Option<&str>,
        answer: &Raw,
    ) -> Result<(), Fault> {
        judge_delegated_answer(self, context, server, tool, answer).await?;
        self.note_answer(&context.session, server, tool, answer).await
    }

    /// The same of what a request brings as an answer where no question is known: the server asked before a restart of the
    /// kernel, or never. It is for the server to judge.
    ///
    /// # Errors
    /// It may not be given, or cannot be put on record.
    pub async fn admit_unasked_answer(
        &self,
        context: &Context,
        server: &Server,
        tool: Option<&str>,
        answer: &Raw,
    ) -> Result<(), Fault> {
        judge_delegated_answer(self, context, server, tool, answer).await?;
        let noted = audit::event_of(event::ANSWER_UNASKED, audit::principal(&context.session), result::UNKNOWN);
        note_content(self, noted, server, tool, answer).await
    }

    /// Puts on record what somebody answered to an elicitation or a sampling, before the server gets it. What it holds may
    /// be a secret, so only its hash is written down. Other answers, such as a list of roots, decide nothing.
    ///
    /// # Errors
    /// It cannot be: the server must not get it.
    pub async fn note_answer(
        &self,
        session: &Session,
        server: &Server,
        tool: Option<&str>,
        answer: &Raw,
    ) -> Result<(), Fault> {
        let noted = audit::event_of(event::QUESTION_ANSWERED, audit::principal(session), result::SUCCESS);
        note_content(self, noted, server, tool, answer).await
    }
}

/// Judges on whose behalf an answer says that it is given: as a call that says so.
///
/// # Errors
/// Somebody in the chain may not make the call, or the answer says it of somebody who does not give it. On record.
async fn judge_delegated_answer(
    gate: &Gate<'_>,
    context: &Context,
    server: &Server,
    tool: Option<&str>,
    answer: &Raw,
) -> Result<(), Fault> {
    if !may_say_delegation(answer) || answer.kind() != Kind::Object {
        return Ok(());
    }
    let session = &context.session;
    let judge = async {
        let metadata = Metadata::of(Some(answer), &Extra::default()).map_err(Fault::malformed)?;
        let Some(delegation) = metadata.delegation()? else { return Ok(()) };
        if delegation.delegated_via != *session.principal {
            let text = "the answer says that it was passed on by somebody who does not give it";
            return Err(Fault::new(FaultKind::AccessDenied, text));
        }
        let tables = gate.tables().await?;
        authority::chain_limits(gate, &tables, server, tool, &chain_of(&delegation, session)).map(drop)
    };
    let Err(fault) = judge.await else { return Ok(()) };
    let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(session), result::BLOCKED);
    let event = audit::with(audit::about(event, server.id(), tool), step::KEY, step::DELEGATION);
    let event = audit::with(audit::with(event, "what", "answer"), "reason", fault.message());
    gate.audit.note(refused(event, &fault)).await;
    Err(fault)
}

async fn note_content(
    gate: &Gate<'_>,
    noted: AuditEvent,
    server: &Server,
    tool: Option<&str>,
    answer: &Raw,
) -> Result<(), Fault> {
    let Some((kind, action)) = kind_of(answer) else { return Ok(()) };
    let noted = audit::with(audit::about(noted, server.id(), tool), "type", kind);
    let noted = match action {
        Some(action) => audit::with(noted, "answer", switchboard_policy::redact::printable(&action)),
        None => noted,
    };
    let noted = match answer.member("content") {
        Some(content) => audit::with(noted, "answer_sha256", Digest::of(content.as_bytes()).to_hex()),
        None => noted,
    };
    gate.audit.note_first(noted).await
}

/// What an answer is to, and the word that an elicitation was answered with; `None` for what decides nothing.
fn kind_of(answer: &Raw) -> Option<(&'static str, Option<String>)> {
    if let Some(action) = answer.member("action") {
        let action = action.as_text().unwrap_or_default().chars().take(MAX_ANSWER_CHARS).collect();
        return Some(("elicitation", Some(action)));
    }
    answer.member("role").map(|_| ("sampling", None))
}
