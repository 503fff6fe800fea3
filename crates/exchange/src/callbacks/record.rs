//! What is put on record of a server's question: who answered what, to which text, in which call.

use switchboard_flow::callback::{CallbackBound, text_hash};
use switchboard_gate::audit::{self, Auditor, event, result};
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::callback::{CallbackRequest, CallbackType};
use switchboard_store::{Actor, AuditEvent, Digest};
use switchboard_upstream::Server;

use super::{About, Answer, By};

/// Letters of an answer that are written down.
const MAX_ANSWER_CHARS: usize = 200;

/// Writes down what became of questions.
pub(super) struct QuestionRecord<'a>(pub(super) &'a Auditor);

impl QuestionRecord<'_> {
    /// Puts an answer on record, before the server gets it.
    ///
    /// # Errors
    /// It cannot be: the server must not get it.
    pub(super) async fn answer(
        &self,
        id: &str,
        server: &Server,
        about: Option<&About>,
        request: &CallbackRequest,
        answer: &Answer,
    ) -> Result<(), Fault> {
        let (actor, by) = match &answer.by {
            By::Policy => (audit::kernel(), "policy"),
            By::Client(principal) => (agent(principal), "client"),
            By::Asked(principal) => (agent(principal), "person"),
            By::Operator(name) => (Actor { kind: "user".into(), id: name.as_str().into() }, "operator"),
        };
        let actor = match (about, &answer.by) {
            (Some(about), By::Client(_) | By::Asked(_)) => audit::principal(&about.client.session),
            _ => actor,
        };
        let noted = audit::event_of(event::CALLBACK_ANSWERED, actor, result::SUCCESS);
        let noted = audit::with(audit::with(described(noted, server, about, request), "callback", id), "by", by);
        let noted = match request.kind {
            // One of the words that the server offered.
            CallbackType::Confirmation | CallbackType::Selection => {
                let said: String = answer.said.as_text().unwrap_or_default().chars().take(MAX_ANSWER_CHARS).collect();
                audit::with(noted, "answer", switchboard_policy::redact::printable(&said))
            }
            // What a person wrote may be a secret.
            _ => audit::with(noted, "answer_sha256", Digest::of(answer.said.as_bytes()).to_hex()),
        };
        self.0.note_first(noted).await
    }

    /// Puts on record that what was answered is none of what the server offered.
    pub(super) async fn unfit(&self, server: &Server, about: Option<&About>, request: &CallbackRequest) {
        let actor = about.map_or_else(audit::kernel, |about| audit::principal(&about.client.session));
        let noted = audit::event_of(event::CALLBACK_ANSWERED, actor, result::FAILURE);
        let noted = audit::with(described(noted, server, about, request), "by", "person");
        self.0.note(audit::with(noted, "reason", "the answer is none of the options")).await;
    }

    /// Puts on record that a question was not asked, because too many are open.
    pub(super) fn too_many(
        &self,
        server: &Server,
        about: Option<&About>,
        request: &CallbackRequest,
        bound: CallbackBound,
    ) {
        let actor = about.map_or_else(audit::kernel, |about| audit::principal(&about.client.session));
        let noted = audit::event_of(event::CALLBACK_REFUSED, actor, result::BLOCKED);
        let noted = audit::with(described(noted, server, about, request), "bound", bound.as_str());
        self.0.note_now(&audit::with(noted, "reason", "too many questions are open"));
    }

    /// Puts on record that a question was not asked, and others under its id were ended, because an answer to one of them
    /// could be taken for an answer to another.
    pub(super) fn ambiguous(&self, server: &Server, about: Option<&About>, request: &CallbackRequest) {
        let actor = about.map_or_else(audit::kernel, |about| audit::principal(&about.client.session));
        let noted = audit::event_of(event::CALLBACK_REFUSED, actor, result::BLOCKED);
        let noted = audit::with(described(noted, server, about, request), "bound", "callback_id");
        self.0.note_now(&audit::with(noted, "reason", "another call has a question open under this id"));
    }

    /// Puts on record that nobody answered in time.
    pub(super) async fn unanswered(&self, server: &Server, about: Option<&About>, request: &CallbackRequest) {
        let actor = about.map_or_else(audit::kernel, |about| audit::principal(&about.client.session));
        let noted = audit::event_of(event::CALLBACK_TIMEOUT, actor, result::FAILURE);
        self.0.note(described(noted, server, about, request)).await;
    }
}

fn agent(principal: &str) -> Actor {
    Actor { kind: "agent".into(), id: principal.into() }
}

/// An event with the question, and the call that it is about.
fn described(event: AuditEvent, server: &Server, about: Option<&About>, request: &CallbackRequest) -> AuditEvent {
    let call = about.and_then(|about| about.call.as_deref());
    let mut event = audit::about(event, server.id(), call.map(|call| &*call.tool));
    event.trace_id = call.map(|call| call.trace.as_ref().into());
    let event = audit::with(event, "callback_id", request.callback_id.as_str());
    let event = audit::with(event, "type", request.kind.as_str());
    let hash = Digest::from_slice(&text_hash(request)).map(|digest| digest.to_hex()).unwrap_or_default();
    let event = audit::with(event, "question_sha256", hash);
    let Some(about) = about else { return event };
    let event = audit::with(event, "principal", about.client.session.principal.as_ref());
    match &about.request {
        Some(id) => audit::with(event, "request_id", id.as_str()),
        None => event,
    }
}
