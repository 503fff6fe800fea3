//! What is put on record of an answer in the middle of a call: who gave which word, and never what it holds.

use switchboard_peer::Session;
use switchboard_protocol::fault::Fault;
use switchboard_store::Digest;
use switchboard_wire::Raw;

use super::audit::{self, Auditor, event, result};
use crate::server::Server;

/// Letters of the word that an elicitation is answered with, as far as they are written down.
const MAX_ACTION_CHARS: usize = 200;

/// Puts on record what somebody answered to an elicitation or a sampling, before the server gets it. What it holds may
/// be a secret, so only its hash is written down. Other answers, such as a list of roots, decide nothing.
///
/// # Errors
/// It cannot be: the server must not get it.
pub(crate) async fn record(
    audit: &Auditor,
    session: &Session,
    server: &Server,
    tool: Option<&str>,
    answer: &Raw,
) -> Result<(), Fault> {
    let Some((kind, action)) = kind_of(answer) else { return Ok(()) };
    let noted = audit::event_of(event::QUESTION_ANSWERED, audit::principal(session), result::SUCCESS);
    let noted = audit::with(audit::about(noted, server.id(), tool), "type", kind);
    let noted = match action {
        Some(action) => audit::with(noted, "answer", switchboard_policy::redact::printable(&action)),
        None => noted,
    };
    let noted = match answer.member("content") {
        Some(content) => audit::with(noted, "answer_sha256", Digest::of(content.as_bytes()).to_hex()),
        None => noted,
    };
    audit.note_first(noted).await
}

/// What an answer is to, and the word that an elicitation was answered with; `None` for what decides nothing.
fn kind_of(answer: &Raw) -> Option<(&'static str, Option<String>)> {
    if let Some(action) = answer.member("action") {
        let action = action.as_text().unwrap_or_default().chars().take(MAX_ACTION_CHARS).collect();
        return Some(("elicitation", Some(action)));
    }
    answer.member("role").map(|_| ("sampling", None))
}
