//! Who hears of a server's question, and may answer it: who could make the call that it is about, with the token that is
//! shown. A token of the same principal that is good for less knows nothing of it.

use std::sync::Arc;

use switchboard_gate::scopes::ScopeTarget;
use switchboard_gate::{Continued, Continuing, Tables, tokens_of};
use switchboard_peer::Context;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::method;
use switchboard_upstream::Server;
use switchboard_wire::{Id, Raw};

use super::{CallNames, forms};
use crate::asker::known_as;
use crate::exchange::Exchange;
use crate::host::Host;

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

impl<H: Host> Exchange<H> {
    /// Judges the answer to a question. A refusal about a tool is put on record.
    ///
    /// # Errors
    /// `unknown` where the question is none of the answerer's business; else what is lacking.
    pub(super) async fn admit_answer(
        &self,
        context: &Context,
        server: &Server,
        concerns: &Concerns,
        unknown: impl FnOnce() -> Fault + Send,
    ) -> Result<(), Fault> {
        if let Some(call) = &concerns.call {
            let tool = Concerns::of(call, server);
            return self.host.gate().admit_continued(context, &tool, method::CALLBACK_RESPOND, unknown).await;
        }
        let tables = self.host.gate().tables().await?;
        if self.may_answer(&tables, context, server, concerns) { Ok(()) } else { Err(unknown()) }
    }

    fn may_answer(&self, tables: &Tables, context: &Context, server: &Server, concerns: &Concerns) -> bool {
        let (session, tokens) = (&context.session, tokens_of(context, None));
        if let Some(call) = &concerns.call {
            return self.host.gate().may_continue(
                tables,
                &Continuing { session, tokens: &tokens },
                &Concerns::of(call, server),
            );
        }
        let gate = self.host.gate();
        let whole = gate.access(tables, session, server, None).allow
            && gate.is_in_scope(context, &tokens, ScopeTarget { server: server.id(), tool: None });
        // What came on a client's own connection is for that client, though it may use no more than one tool there.
        let asked = concerns.session.as_deref() == Some(&*session.id);
        whole || asked && self.host.gate().knows_within(tables, session, &tokens, server)
    }

    /// The questions of servers that wait for an answer of this client.
    ///
    /// # Errors
    /// It cannot be known now who may do what.
    pub(super) async fn pending_questions(&self, context: &Context, by_model: bool) -> Result<Vec<Raw>, Fault> {
        let tables = self.host.gate().tables().await?;
        let open: Vec<_> = {
            let table = self.callbacks().table.lock();
            let open = table.open_for(&context.session.principal);
            let open = open.filter(|(_, open)| !by_model || !super::is_for_people(open.request.kind));
            open.map(|(id, open)| (id.clone(), open.origin.server.clone(), open.request.clone())).collect()
        };
        let mut pending = Vec::new();
        for (id, server, request) in open {
            let concerns = self.callbacks().concerns(&id);
            let server = self.server(&server);
            let Some((server, concerns)) = server.zip(concerns) else { continue };
            if self.may_answer(&tables, context, &server, &concerns) {
                pending.push(forms::callback(
                    &id,
                    (server.id(), &known_as(&server)),
                    concerns.request.as_ref(),
                    &request,
                    1,
                ));
            }
        }
        Ok(pending)
    }
}
