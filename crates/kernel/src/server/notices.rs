//! What a server sends that belongs to no call.

use std::sync::Arc;

use switchboard_peer::{BoxFuture, Context, Handler, Reply};
use switchboard_protocol::mcp::method;
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};

use super::Server;
use crate::kernel::Kernel;
use crate::relay::Asked;

/// Takes what arrives on a server's shared connection.
pub(crate) struct FromServer {
    pub(crate) kernel: Kernel,
    pub(crate) server: Arc<Server>,
}

impl Handler for FromServer {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            if &*request.method == method::PING {
                return Ok(Raw::empty_object()).into();
            }
            // Nothing says for whom the server asks. With one client connected there is no doubt; with several, a
            // guess could put one person's question before another.
            match self.kernel.only_client() {
                Some(session) => {
                    let caller = session.caller();
                    let client = Asked { remote: session.remote(), caller: &caller };
                    self.kernel.ask_client(&client, &self.server, request, Some(context.remote)).await
                }
                None => Err(ErrorObject::new(
                    code::INTERNAL_ERROR,
                    "several clients are connected and the request names none of their calls; \
                     set sharing = \"session\" for this server to give each client its own",
                ))
                .into(),
            }
        })
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if !self.kernel.take_notice(&self.server, &notification) {
                self.kernel.tell_clients(&self.server, &notification);
            }
        })
    }
}
