//! The questions that wait for an answer of a client: those of servers, and the gate's own, which are answered in the same
//! way.

use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_wire::{Edit, Object, Raw};

use crate::exchange::Exchange;
use crate::host::Host;
use crate::params::{params_missing, text_of};

/// What is said of a question that there is not, or that is not for whoever answers it.
const NOT_WAITING: &str = "no such callback waits for you";

impl<H: Host> Exchange<H> {
    /// Answers `mgp.events.pending_callbacks`. A model is told of what it may answer.
    ///
    /// # Errors
    /// It cannot be known now who may do what.
    pub async fn pending_callbacks(&self, context: &Context, by_model: bool) -> Result<Raw, Fault> {
        let mut pending = self.pending_questions(context, by_model).await?;
        for (id, shown) in self.host.gate().desk.open_for(&context.session.principal) {
            if !by_model && self.host.gate().may_decide(context, &id).await? {
                pending.push(shown);
            }
        }
        let count = u64::try_from(pending.len()).unwrap_or(u64::MAX);
        Ok(Edit::empty().set("pending", Raw::array(&pending)).set("count", Raw::number(count)).finish())
    }

    /// Answers `mgp/callback/respond`: a question of a server, or else one of the gate. A model, which is who calls a tool, does not
    /// say that a person agreed.
    ///
    /// # Errors
    /// No such question waits for this client, or it may not answer it.
    pub async fn respond_to_callback(
        &self,
        context: &Context,
        given: Option<&Raw>,
        by_model: bool,
    ) -> Result<Raw, Fault> {
        let nothing = Raw::empty_object();
        match self.answer_callback(context, given.unwrap_or(&nothing), by_model).await {
            Some(answer) => answer,
            None => self.answer_gate(context, given, by_model).await,
        }
    }

    /// Takes the answer to a question of the gate itself, at its desk.
    async fn answer_gate(&self, context: &Context, given: Option<&Raw>, by_model: bool) -> Result<Raw, Fault> {
        let given = given.ok_or_else(params_missing)?;
        let params = Object::open(given).map_err(Fault::malformed)?;
        let id = text_of(&params, "callback_id")?;
        let answer = text_of(&params, "response")?;
        if by_model {
            return Err(for_people());
        }
        if let Some(asked) = self.host.gate().desk.asked_about(&id)
            && let Some(server) = self.server(&asked.server)
        {
            let tool = asked.tool.as_ref().map(|(tool, _)| &**tool);
            self.host.gate().admit_answer_for(context, &server, tool, given).await?;
        }
        if self.host.gate().may_decide(context, &id).await? && self.host.gate().desk.answer(&id, answer) {
            Ok(Edit::empty().set("status", Raw::string("accepted")).finish())
        } else {
            Err(Fault::new(FaultKind::UnknownResource, NOT_WAITING))
        }
    }
}

/// What a model is told that answers a question for people, or one that there is not: the two look alike.
pub(super) fn for_people() -> Fault {
    Fault::new(FaultKind::UnknownResource, NOT_WAITING)
        .suggest("what asks for agreement is answered by a person, in the client or with `switchboard approvals`")
}
