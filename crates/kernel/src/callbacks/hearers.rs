//! Who hears of a server's question, and may answer it: who could make the call that it is about, with the token that is
//! shown. A token of the same principal that is good for less knows nothing of it.

use std::sync::Arc;

use switchboard_peer::Context;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::method;
use switchboard_wire::{Edit, Id, Raw};

use super::{CallNames, forms};
use crate::gate::scopes::{Presented, ScopeTarget};
use crate::gate::{Continued, Continuing, Tables};
use crate::kernel::Kernel;
use crate::server::Server;

/// What a question is about, as far as rights go.
#[derive(Clone)]
pub(super) struct Concerns {
    /// The call of a tool; `None` for what is no tool, or where no call is named.
    pub(super) call: Option<Arc<CallNames>>,
    /// The session that was asked.
    pub(super) session: Option<Arc<str>>,
    /// The client's own id of the call.
    pub(super) request: Option<Id>,
}

impl Concerns {
    fn of<'a>(call: &'a CallNames, server: &'a Server) -> Continued<'a> {
        Continued { server, tool: &call.tool, exposed: &call.exposed, chain: &call.chain }
    }
}

impl Kernel {
    /// Judges the answer to a question. A refusal about a tool is put on record.
    ///
    /// # Errors
    /// `unknown` where the question is none of the answerer's business; else what is lacking.
    pub(super) async fn admit_answer(
        &self,
        context: &Context,
        server: &Server,
        concerns: &Concerns,
        unknown: impl FnOnce() -> Fault,
    ) -> Result<(), Fault> {
        if let Some(call) = &concerns.call {
            let tool = Concerns::of(call, server);
            return self.gate().admit_continued(context, &tool, method::CALLBACK_RESPOND, unknown).await;
        }
        let tables = self.gate().tables().await?;
        if self.may_answer(&tables, context, server, concerns) { Ok(()) } else { Err(unknown()) }
    }

    fn may_answer(&self, tables: &Tables, context: &Context, server: &Server, concerns: &Concerns) -> bool {
        let (session, tokens) = (&context.session, Presented::of(context, None));
        if let Some(call) = &concerns.call {
            let who = Continuing { session, tokens: &tokens };
            return self.gate().may_continue(tables, &who, &Concerns::of(call, server));
        }
        let whole = self.gate().access(tables, session, server, None).allow
            && self.gate().is_in_scope(context, &tokens, ScopeTarget { server: server.id(), tool: None });
        // What came on a client's own connection is for that client, though it may use no more than one tool there.
        let asked = concerns.session.as_deref() == Some(&*session.id);
        whole || asked && self.gate().knows_within(tables, session, &tokens, server)
    }

    /// Answers `mgp.events.pending_callbacks`.
    ///
    /// # Errors
    /// It cannot be known now who may do what.
    pub(crate) async fn pending_callbacks(&self, context: &Context) -> Result<Raw, Fault> {
        let tables = self.gate().tables().await?;
        let open: Vec<_> = {
            let table = self.callbacks().table.lock();
            let open = table.open_for(&context.session.principal);
            open.map(|(id, open)| (id.clone(), open.origin.server.clone(), open.request.clone())).collect()
        };
        let mut pending = Vec::new();
        for (id, server, request) in open {
            let concerns = self.callbacks().concerns(&id);
            let server = self.server(&server);
            let Some((server, concerns)) = server.zip(concerns) else { continue };
            if self.may_answer(&tables, context, &server, &concerns) {
                pending.push(forms::callback(&id, server.id(), concerns.request.as_ref(), &request, 1));
            }
        }
        // The gate's own questions are answered in the same way.
        for (id, shown) in self.gate().desk.open_for(&context.session.principal) {
            if self.gate().may_decide(context, &id).await? {
                pending.push(shown);
            }
        }
        let count = u64::try_from(pending.len()).unwrap_or(u64::MAX);
        Ok(Edit::empty().set("pending", Raw::array(&pending)).set("count", Raw::number(count)).finish())
    }
}
