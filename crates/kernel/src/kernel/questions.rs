//! The questions that wait for an answer of a client: those of servers, and the gate's own, which are answered in the same
//! way.

use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_wire::{Edit, Object, Raw};

use super::{Kernel, params_missing, text_of};

impl Kernel {
    /// Answers `mgp.events.pending_callbacks`.
    ///
    /// # Errors
    /// It cannot be known now who may do what.
    pub(crate) async fn pending_callbacks(&self, context: &Context) -> Result<Raw, Fault> {
        let mut pending = self.exchange().pending_callbacks(context).await?;
        for (id, shown) in self.gate().desk.open_for(&context.session.principal) {
            if self.gate().may_decide(context, &id).await? {
                pending.push(shown);
            }
        }
        let count = u64::try_from(pending.len()).unwrap_or(u64::MAX);
        Ok(Edit::empty().set("pending", Raw::array(&pending)).set("count", Raw::number(count)).finish())
    }

    /// Answers `mgp/callback/respond`: a question of a server, or else one of the gate.
    pub(crate) async fn respond_to_callback(&self, context: &Context, given: Option<&Raw>) -> Result<Raw, Fault> {
        let nothing = Raw::empty_object();
        match self.exchange().answer_callback(context, given.unwrap_or(&nothing)).await {
            Some(answer) => answer,
            None => self.answer_gate(context, given).await,
        }
    }

    /// Takes the answer to a question of the gate itself, at its desk.
    async fn answer_gate(&self, context: &Context, given: Option<&Raw>) -> Result<Raw, Fault> {
        let given = given.ok_or_else(params_missing)?;
        let params = Object::open(given).map_err(Fault::malformed)?;
        let id = text_of(&params, "callback_id")?;
        let answer = text_of(&params, "response")?;
        if let Some(asked) = self.gate().desk.asked_about(&id)
            && let Some(server) = self.server(&asked.server)
        {
            let tool = asked.tool.as_ref().map(|(tool, _)| &**tool);
            self.gate().admit_answer_for(context, &server, tool, given).await?;
        }
        if self.gate().may_decide(context, &id).await? && self.gate().desk.answer(&id, answer) {
            Ok(Edit::empty().set("status", Raw::string("accepted")).finish())
        } else {
            Err(Fault::new(FaultKind::UnknownResource, "no such callback waits for you"))
        }
    }
}
