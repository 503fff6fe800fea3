//! From a message to its answer: which method is served in which era, and what every answer carries.

use std::sync::Arc;

use switchboard_peer::{BoxFuture, Context, Handler, Reply, Session};
use switchboard_protocol::fault::{Fault, FaultKind, Rendering};
use switchboard_protocol::mcp::{meta, method};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{Kind, Notification, Raw, Request};

use super::Server;
use crate::Error;
use crate::feed::SessionState;

impl Handler for Server {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let rendering = Rendering::new(context.caller.revision, &request.method);
            let era = context.caller.era();
            if let Some(error) = self.unknown_revision(era, &request) {
                // The client speaks a revision that we do not know: it is answered as the newest one says.
                let rendering = Rendering { revision: Revision::LATEST, ..rendering };
                return Err(error.render(&rendering)).into();
            }
            let capabilities = context.caller.capabilities.clone();
            let outcome = match self.route(context, request).await {
                Ok(result) if era == Era::Modern => self.complete(&result),
                outcome => outcome,
            };
            // In the words of MGP for a client with which they were agreed on.
            outcome.map_err(|error| error.render(&rendering.with_mgp(self.speaks_mgp(&capabilities)))).into()
        })
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        if &*notification.method == method::INITIALIZED && context.caller.era() == Era::Legacy {
            SessionState::of(&context.session).initialized();
        }
        Box::pin(std::future::ready(()))
    }

    fn opened(&self, session: &Arc<Session>) {
        self.0.feed.opened(session);
    }

    fn closed(&self, session: &Arc<Session>) {
        self.0.feed.closed(session);
    }
}

pub(super) fn method_not_found(method: &str) -> Error {
    Error::fault(Fault::new(FaultKind::MethodNotFound, format!("method not found: {method}")))
}

/// Reads the parameters of a method.
pub(super) fn view<T: serde::de::DeserializeOwned>(params: Option<&Raw>) -> Result<T, Error> {
    let empty = Raw::empty_object();
    let params = params.unwrap_or(&empty);
    params.view().map_err(|error| Error::invalid_params(format!("invalid parameters: {error}")))
}

impl Server {
    /// A request in the form of the modern era, of a revision that the connection did not recognise.
    fn unknown_revision(&self, era: Era, request: &Request) -> Option<Error> {
        // A server without the modern era must not answer like one: clients would take it for one.
        if era == Era::Modern || !self.options().eras.has(Era::Modern) {
            return None;
        }
        let named = request.params.as_ref()?.at(&["_meta", meta::PROTOCOL_VERSION])?.as_text()?;
        let supported = self.options().eras.revisions();
        Revision::parse(&named).is_none().then(|| Error::fault(Fault::unsupported_version(&named, &supported)))
    }

    async fn route(&self, context: Context, request: Request) -> Result<Raw, Error> {
        let era = context.caller.era();
        let name = request.method.clone();
        if !self.options().eras.has(era) {
            return Err(if &*name == method::INITIALIZE {
                // The client can do nothing about it, but its user can read it.
                let asked = request.params.as_ref().and_then(|params| params.member("protocolVersion")?.as_text());
                let supported = self.options().eras.revisions();
                Error::fault(Fault::unsupported_version(&asked.unwrap_or_default(), &supported))
            } else {
                method_not_found(&name)
            });
        }
        match era {
            Era::Modern => check_meta(request.params.as_ref())?,
            Era::Legacy if &*name != method::INITIALIZE && context.session.lasting => {
                SessionState::of(&context.session).initialized();
            }
            Era::Legacy => {}
        }
        let params = request.params.as_ref();
        match (era, &*name) {
            (Era::Legacy, method::INITIALIZE) => self.initialize(params),
            (Era::Legacy, method::PING) => Ok(Raw::empty_object()),
            (Era::Legacy, method::SET_LEVEL) => Self::set_level(&context, params),
            (Era::Legacy, method::RESOURCES_SUBSCRIBE) => self.subscribe(&context, params),
            (Era::Legacy, method::RESOURCES_UNSUBSCRIBE) => self.unsubscribe(&context, params),
            (Era::Legacy, method::TASKS_RESULT) => self.task_result(&context, params).await,
            (Era::Legacy, method::TASKS_LIST) => self.list_tasks(&context, params),
            (Era::Modern, method::DISCOVER) => self.discover(&context),
            (Era::Modern, method::SUBSCRIPTIONS_LISTEN) => self.listen(&context, &request).await,
            (Era::Modern, method::TASKS_UPDATE) => self.update_task(&context, params),
            (_, method::TASKS_GET) => self.get_task(&context, params),
            (_, method::TASKS_CANCEL) => self.cancel_task(&context, params),
            (_, method::TOOLS_LIST) => self.list_tools(&context, params),
            (_, method::PROMPTS_LIST) => self.list_prompts(&context, params),
            (_, method::RESOURCES_LIST) => self.list_resources(&context, params),
            (_, method::RESOURCES_TEMPLATES_LIST) => self.list_templates(&context, params),
            (_, method::TOOLS_CALL) => self.call_tool(context, &request).await,
            (_, method::PROMPTS_GET) => self.get_prompt(context, params).await,
            (_, method::RESOURCES_READ) => self.read_resource(context, params).await,
            (_, method::COMPLETE) => self.complete_argument(context, params).await,
            (_, other) => match self.0.methods.get(other) {
                Some(run) => self.call_method(context, params, run).await,
                None => Err(method_not_found(other)),
            },
        }
    }
}

/// What every modern request says of its client. The revision is there: it made the request a modern one.
fn check_meta(params: Option<&Raw>) -> Result<(), Error> {
    let capabilities = params.and_then(|params| params.at(&["_meta", meta::CLIENT_CAPABILITIES]));
    if capabilities.is_some_and(|capabilities| capabilities.kind() == Kind::Object) {
        Ok(())
    } else {
        Err(Error::invalid_params(format!("_meta[{:?}] is missing", meta::CLIENT_CAPABILITIES)))
    }
}
