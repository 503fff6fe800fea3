//! What a server sends that belongs to no call.

use std::sync::Arc;

use switchboard_exchange::{ConnectionQuestions, of_server};
use switchboard_flow::meter::Rate;
use switchboard_peer::{BoxFuture, Context, Handler, Reply, Session};
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp;
use switchboard_upstream::{Attribution, Server};
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};

use crate::{ClientHost, take_notice};

/// Takes what arrives on a server's shared connection.
pub struct FromServer<H> {
    host: H,
    server: Arc<Server>,
    /// What it asks outside of any call.
    questions: ConnectionQuestions,
    /// Notifications that it may send, beyond those that belong to a call.
    rate: Option<Rate>,
}

impl<H: ClientHost> FromServer<H> {
    /// For one connection of a server.
    pub fn new(host: &H, server: &Arc<Server>, rate: Option<Rate>) -> Self {
        let questions = host.exchange().connection_questions();
        Self { host: host.clone(), server: server.clone(), questions, rate }
    }

    /// The one client that is connected, if it may use anything of the server.
    async fn only_client(&self) -> Option<Arc<Session>> {
        let tables = self.host.gate().tables().await.ok()?;
        let only = self.host.connected().only();
        only.filter(|session| self.host.gate().knows_of(&tables, session, &self.server))
    }
}

impl<H: ClientHost> Handler for FromServer<H> {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            if &*request.method == method::PING {
                return Ok(Raw::empty_object()).into();
            }
            // Nothing says for whom the server asks. While one client has calls there, or just one is connected, there
            // is no doubt; otherwise a guess could put one person's question before another.
            let unanswered = context.remote.abandoned();
            let among = context.open_owners.clone();
            let why = match self.server.using.whose_question(unanswered.as_deref(), among.as_deref()).await {
                Attribution::Owners(related) => return related.request(context, request).await,
                Attribution::Nobodys => match self.only_client().await {
                    // Somebody who has gone may have left a call behind that asks now.
                    Some(session) if !self.server.using.may_be_for_another(&session.identity) => {
                        let exchange = self.host.exchange();
                        return exchange.ask_outside(&session, &self.server, request, context.remote).await;
                    }
                    _ => "the request names no call, and it is not clear which client it is for",
                },
                Attribution::Ambiguous => {
                    "several clients have, or gave up, calls here and the request names none of them; \
                     set sharing = \"session\" for this server to give each client its own"
                }
            };
            Err(ErrorObject::new(code::INTERNAL_ERROR, why)).into()
        })
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // Changes of lists are gathered anyway, and the last one counts.
            let list = matches!(
                &*notification.method,
                method::TOOLS_LIST_CHANGED | method::PROMPTS_LIST_CHANGED | method::RESOURCES_LIST_CHANGED
            );
            if !list && !self.server.hears(self.rate).await {
                return;
            }
            let Some(notification) = of_server(notification) else { return };
            if take_notice(&self.host, &self.server, &notification) {
                return;
            }
            match self.server.using.whose(context.remote.abandoned().as_deref()) {
                // It names no call, so only the operator can be asked.
                Attribution::Nobodys | Attribution::Ambiguous
                    if &*notification.method == mgp::method::CALLBACK_REQUEST =>
                {
                    let params = notification.params.as_ref();
                    let scope = self.questions.scope();
                    self.host.exchange().take_callback(&self.server, scope, None, &context.remote, params);
                }
                Attribution::Owners(related) => related.notification(context, notification).await,
                Attribution::Nobodys | Attribution::Ambiguous => {
                    self.host.connected().tell_one_principal(self.host.gate(), &self.server, &notification);
                }
            }
        })
    }
}

impl<H> std::fmt::Debug for FromServer<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FromServer").field("server", self.server.id()).finish_non_exhaustive()
    }
}
