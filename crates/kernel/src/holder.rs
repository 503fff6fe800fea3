//! The kernel as the holder of servers: what it does about what happens to them, and what it decides for them.

mod permissions;

use std::sync::Arc;

use switchboard_peer::{BoxFuture, Handler};
use switchboard_policy::permission::{Granted, PermissionStatus};
use switchboard_protocol::mcp::LoggingLevel;
use switchboard_transport::confine::ExitCause;

use crate::clients::FromServer;
use crate::gate::audit::{self, event, result};
use crate::gate::inspect;
use crate::kernel::Kernel;
use crate::server::{
    Gatekeeper, Holder, Inspection, Lists, PresentedDefinitions, Server, ServerEvent, SharedConnection,
};
use crate::services::EventService;
use permissions::Permissions;

impl Holder for Kernel {
    fn on_event(&self, server: &Server, event: ServerEvent<'_>) {
        match event {
            ServerEvent::StateChanged { from, to, why, given_up } => {
                self.tell_of_state(server, from, to, why, given_up);
            }
            ServerEvent::ListsChanged { said } => self.rebuild_and_tell(said),
            ServerEvent::HeldBack { before, now } => self.clients().tell_held(self.gate(), server, before, now),
            ServerEvent::BreakerChanged(standing) => {
                let event = audit::event_of(event::BREAKER, audit::kernel(), result::SUCCESS);
                let event = audit::with(audit::about(event, server.id(), None), "breaker", standing.as_str());
                self.gate().audit.note_now(&event);
            }
        }
    }

    fn handler(&self, server: &Arc<Server>) -> Arc<dyn Handler> {
        Arc::new(FromServer::new(self, server, self.options().notification_rate))
    }

    fn log_level(&self) -> Option<LoggingLevel> {
        self.clients().log_level()
    }

    fn restore<'a>(&'a self, server: &'a Arc<Server>, connection: &'a SharedConnection) -> BoxFuture<'a, ()> {
        Box::pin(EventService::of(self).subscribe_again_at(server, connection))
    }
}

impl Gatekeeper for Kernel {
    fn inspect<'a>(&'a self, server: &'a Server, presented: PresentedDefinitions<'a>) -> BoxFuture<'a, Inspection> {
        Box::pin(async move { inspect::inspect(&self.gate(), server, presented).await })
    }

    fn inspect_again<'a>(
        &'a self,
        server: &'a Server,
        presented: PresentedDefinitions<'a>,
    ) -> BoxFuture<'a, Option<Inspection>> {
        Box::pin(async move { inspect::inspect_again(&self.gate(), server, presented).await })
    }

    fn strip_extras(&self, server: &Server, lists: &mut Lists) {
        inspect::strip_extras(&self.gate(), server, lists);
    }

    fn held_permissions<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, Option<Vec<Granted>>> {
        Box::pin(async move { Permissions { kernel: self, server }.held().await })
    }

    fn put_before_operator<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, ()> {
        Box::pin(async move { Permissions { kernel: self, server }.put_before_operator().await })
    }

    fn tell_permissions<'a>(
        &'a self,
        server: &'a Server,
        connection: &'a SharedConnection,
    ) -> BoxFuture<'a, Option<PermissionStatus>> {
        Box::pin(async move { Permissions { kernel: self, server }.tell_status(connection).await })
    }

    fn watch_permissions<'a>(
        &'a self,
        server: &'a Server,
        connection: &'a SharedConnection,
        told: Option<PermissionStatus>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move { Permissions { kernel: self, server }.watch(connection, told).await })
    }

    fn note_violation<'a>(&'a self, server: &'a Server, cause: &'a ExitCause) -> BoxFuture<'a, ()> {
        let event = audit::event_of(event::ISOLATION_VIOLATION, audit::kernel(), result::BLOCKED);
        let event = audit::with(audit::about(event, server.id(), None), "cause", format!("{cause:?}"));
        Box::pin(self.gate().audit().note(audit::with(event, "code", cause.code())))
    }
}
