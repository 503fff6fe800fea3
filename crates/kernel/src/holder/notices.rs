//! What a server sends that belongs to no call.

use std::sync::Arc;

use switchboard_exchange::{ConnectionQuestions, of_server};
use switchboard_peer::{BoxFuture, Context, Handler, Reply};
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp;
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};

use crate::kernel::Kernel;
use crate::server::{Attribution, Server};

/// Takes what arrives on a server's shared connection.
pub(super) struct FromServer {
    pub(super) kernel: Kernel,
    pub(super) server: Arc<Server>,
    /// What it asks outside of any call.
    pub(super) questions: ConnectionQuestions,
}

impl Handler for FromServer {
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
                Attribution::Nobodys => match self.kernel.only_client_of(&self.server).await {
                    // Somebody who has gone may have left a call behind that asks now.
                    Some(session) if !self.server.using.may_be_for_another(&session.identity) => {
                        let exchange = self.kernel.exchange();
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
            if !list && !self.server.hears(self.kernel.options().notification_rate).await {
                return;
            }
            let Some(notification) = of_server(notification) else { return };
            if self.kernel.take_notice(&self.server, &notification) {
                return;
            }
            match self.server.using.whose(context.remote.abandoned().as_deref()) {
                // It names no call, so only the operator can be asked.
                Attribution::Nobodys | Attribution::Ambiguous
                    if &*notification.method == mgp::method::CALLBACK_REQUEST =>
                {
                    let params = notification.params.as_ref();
                    let scope = self.questions.scope();
                    self.kernel.exchange().take_callback(&self.server, scope, None, &context.remote, params);
                }
                Attribution::Owners(related) => related.notification(context, notification).await,
                Attribution::Nobodys | Attribution::Ambiguous => self.kernel.tell_clients(&self.server, &notification),
            }
        })
    }
}
