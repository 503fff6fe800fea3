//! What one server needs of whoever holds it: to be judged, to hear what it cannot know, and to say what happens to it.
//!
//! These are direct calls and not messages on a channel, because their order counts: a state is on record before the lists
//! that follow from it are published, and a definition is judged before anybody sees it. The task that leads a server goes on
//! when they return, so what takes long is done elsewhere.

use std::sync::Arc;

use switchboard_flow::breaker::BreakerState;
use switchboard_flow::lifecycle::State;
use switchboard_peer::{BoxFuture, Handler};
use switchboard_policy::permission::{Granted, PermissionStatus};
use switchboard_protocol::mcp::LoggingLevel;
use switchboard_transport::confine::ExitCause;

use crate::inspection::{Inspection, PresentedDefinitions, Quarantine};
use crate::lists::{ListKind, Lists};
use crate::server::{Server, SharedConnection};

/// What happens at a server.
#[derive(Debug, Clone, Copy)]
pub enum ServerEvent<'a> {
    /// It is in another state of its life.
    StateChanged {
        /// The state before.
        from: State,
        /// The state now.
        to: State,
        /// Why, where there is a reason.
        why: Option<&'a str>,
        /// Whether it is not started again by itself.
        given_up: bool,
    },
    /// What it shows, or whether it is there at all, is not what it was.
    ListsChanged {
        /// Lists that it said have changed, whether that can be seen or not.
        said: &'a [ListKind],
    },
    /// Definitions were judged, and these are held back. What is shown is still what was shown before.
    HeldBack {
        /// What was held back until now.
        before: &'a Quarantine,
        /// What is held back from now on.
        now: &'a Quarantine,
    },
    /// Its breaker has opened or closed.
    BreakerChanged(BreakerState),
}

/// Whoever holds servers: the kernel, or a test.
pub trait Holder: Gatekeeper {
    /// Takes note of what has happened. Called by the task that leads the server, and by calls; it must not wait.
    fn on_event(&self, server: &Server, event: ServerEvent<'_>);

    /// Who takes what the server sends on its shared connection beside answers: one for each life of the connection.
    fn handler(&self, server: &Arc<Server>) -> Arc<dyn Handler>;

    /// From which level on log messages are wanted by those who share the connection; `None` where nobody said so.
    fn log_level(&self) -> Option<LoggingLevel>;

    /// Tells a server that has come, or come back, what it cannot know beside log levels and watched resources.
    fn restore<'a>(&'a self, server: &'a Arc<Server>, connection: &'a SharedConnection) -> BoxFuture<'a, ()>;
}

/// What decides about a server: which of its definitions are shown, and what it may do.
pub trait Gatekeeper: Send + Sync {
    /// Compares what a server shows with what was accepted of it.
    fn inspect<'a>(&'a self, server: &'a Server, presented: PresentedDefinitions<'a>) -> BoxFuture<'a, Inspection>;

    /// The same now that somebody may have accepted it; `None` where nobody can know.
    fn inspect_again<'a>(
        &'a self,
        server: &'a Server,
        presented: PresentedDefinitions<'a>,
    ) -> BoxFuture<'a, Option<Inspection>>;

    /// Takes out of a server's lists what is beside its definitions and may not be shown.
    fn strip_extras(&self, server: &Server, lists: &mut Lists);

    /// Every permission that a server has, asked for or not; `None` where that cannot be known.
    fn held_permissions<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, Option<Vec<Granted>>>;

    /// Puts what a server lacks before the operator. Whoever sees the server ready must find the question.
    fn put_before_operator<'a>(&'a self, server: &'a Server) -> BoxFuture<'a, ()>;

    /// Tells a server which of its permissions are open and which are decided; what it was told.
    fn tell_permissions<'a>(
        &'a self,
        server: &'a Server,
        connection: &'a SharedConnection,
    ) -> BoxFuture<'a, Option<PermissionStatus>>;

    /// Tells a server of decisions from now on; `told` is what it knows. Ends when the server must be started anew, because
    /// its process is confined to what it had before.
    fn watch_permissions<'a>(
        &'a self,
        server: &'a Server,
        connection: &'a SharedConnection,
        told: Option<PermissionStatus>,
    ) -> BoxFuture<'a, ()>;

    /// Puts on record that a server's process was ended for doing what it may not do.
    fn note_violation<'a>(&'a self, server: &'a Server, cause: &'a ExitCause) -> BoxFuture<'a, ()>;
}
