//! What services ask of the house around them. A service takes these, and not the kernel: what it can reach is what it says.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use switchboard_peer::{Context, Session};
use switchboard_policy::access::Access;
use switchboard_policy::permission::PermissionStatus;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::DefaultPolicy;
use switchboard_wire::Raw;
use tokio_util::sync::CancellationToken;

use super::discovery::VisibleTools;
use crate::directory::{ListKind, Route};
use crate::gate::rights::sees_all;
use crate::gate::{Presented, Tables};
use crate::kernel::{Kernel, View};
use crate::server::Server;

/// The servers there are.
pub(crate) trait Servers: Send + Sync {
    /// They and what all of them offer, at this moment.
    fn view(&self) -> Arc<View>;

    /// Gives those that are just starting a moment.
    fn wait_for_servers(&self) -> impl Future<Output = ()> + Send;

    /// Whether the kernel ends, and new calls are not taken.
    fn is_draining(&self) -> bool;

    /// How long the kernel has been there.
    fn uptime(&self) -> Duration;

    /// One of them.
    fn server(&self, id: &str) -> Option<Arc<Server>> {
        self.view().servers.iter().find(|server| &**server.id() == id).cloned()
    }
}

/// Who may use what.
pub(crate) trait Rights: Send + Sync {
    /// What is granted.
    ///
    /// # Errors
    /// It cannot be known now.
    fn tables(&self) -> impl Future<Output = Result<Arc<Tables>, Fault>> + Send;

    /// What was granted when that was last read.
    fn latest_tables(&self) -> Arc<Tables>;

    /// Takes over what was just decided.
    ///
    /// # Errors
    /// What is granted cannot be read now.
    fn decided(&self) -> impl Future<Output = Result<(), Fault>> + Send;

    /// The time by which grants end.
    fn time(&self) -> Timestamp;

    /// Whether a session may use a tool of a server (its own name and the one clients know); without one, the server.
    fn access(&self, tables: &Tables, session: &Session, server: &Server, tool: Option<(&str, &str)>) -> Access;

    /// Whether a session may use anything of a server.
    fn knows_of(&self, tables: &Tables, session: &Session, server: &Server) -> bool;

    /// Whether the tokens of a session cover a tool, or a server as a whole.
    fn is_covered(&self, session: &Session, presented: &Presented, server: Option<&str>, tool: Option<&str>) -> bool;

    /// The same within the session tokens that it shows. Asking keeps none of them alive.
    fn knows_within(&self, tables: &Tables, session: &Session, presented: &Presented, server: &Server) -> bool;

    /// Whether a session may use a tool (the name that clients know, and where it is), within the tokens that it shows.
    fn may_use_within(
        &self,
        tables: &Tables,
        session: &Session,
        presented: &Presented,
        server: &Server,
        tool: (&str, &Route),
    ) -> bool;

    /// Whether who asks has to do with a server, within the tokens that they show.
    fn is_known_to(&self, tables: &Tables, context: &Context, server: &Server) -> bool {
        self.knows_within(tables, &context.session, &Presented::of(context, None), server)
    }

    /// Whether a server exists for who asks: they may see all, or have to do with it.
    fn sees(&self, tables: &Tables, context: &Context, server: &Server) -> bool {
        sees_all(&context.session, &Presented::of(context, None)) || self.is_known_to(tables, context, server)
    }

    /// What holds for a principal where nothing is granted or denied.
    fn default_for(&self, principal: &str, server: &Server) -> DefaultPolicy;

    /// What a server has and lacks of the permissions that it needs.
    fn permissions_of(&self, tables: &Tables, server: &Server) -> PermissionStatus;
}

/// The tools that a client may see.
pub(crate) trait Lists: Send + Sync {
    /// The list of them.
    ///
    /// # Errors
    /// It cannot be known now what it may use.
    fn visible_tools(&self, context: &Context, view: &View) -> impl Future<Output = Result<Raw, Fault>> + Send;

    /// A list of tools by name.
    fn seen(&self, session: &Session, list: &Raw) -> Arc<VisibleTools>;
}

impl Lists for Kernel {
    async fn visible_tools(&self, context: &Context, view: &View) -> Result<Raw, Fault> {
        self.gate().visible(context, view, ListKind::Tools).await
    }

    fn seen(&self, session: &Session, list: &Raw) -> Arc<VisibleTools> {
        Self::seen(self, session, list)
    }
}

/// Work beside requests.
pub(crate) trait Tasks: Send + Sync {
    /// Runs something until it is over or the kernel has ended.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static);

    /// Cancelled when the kernel ends.
    fn closing(&self) -> &CancellationToken;
}

impl Tasks for Kernel {
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        Self::spawn(self, work);
    }

    fn closing(&self) -> &CancellationToken {
        Self::closing(self)
    }
}

impl Servers for Kernel {
    fn view(&self) -> Arc<View> {
        Self::view(self)
    }

    async fn wait_for_servers(&self) {
        Self::wait_for_servers(self).await;
    }

    fn is_draining(&self) -> bool {
        Self::is_draining(self)
    }

    fn uptime(&self) -> Duration {
        self.began().elapsed()
    }
}

impl Rights for Kernel {
    async fn tables(&self) -> Result<Arc<Tables>, Fault> {
        self.gate().tables().await
    }

    fn latest_tables(&self) -> Arc<Tables> {
        self.gate().granted.latest()
    }

    async fn decided(&self) -> Result<(), Fault> {
        self.gate().audit.look_for_decisions();
        if self.gate().granted.again().await? {
            self.grants_changed();
        }
        Ok(())
    }

    fn time(&self) -> Timestamp {
        self.gate().granted.time()
    }

    fn access(&self, tables: &Tables, session: &Session, server: &Server, tool: Option<(&str, &str)>) -> Access {
        self.gate().access(tables, session, server, tool)
    }

    fn knows_of(&self, tables: &Tables, session: &Session, server: &Server) -> bool {
        self.gate().knows_of(tables, session, server)
    }

    fn is_covered(&self, session: &Session, presented: &Presented, server: Option<&str>, tool: Option<&str>) -> bool {
        self.gate().is_covered(session, presented, server, tool)
    }

    fn knows_within(&self, tables: &Tables, session: &Session, presented: &Presented, server: &Server) -> bool {
        self.gate().knows_within(tables, session, presented, server)
    }

    fn may_use_within(
        &self,
        tables: &Tables,
        session: &Session,
        presented: &Presented,
        server: &Server,
        tool: (&str, &Route),
    ) -> bool {
        let (exposed, route) = tool;
        let (named, policy) = ((&*route.original, exposed), route.policy.as_deref());
        self.gate().may_use_within(tables, session, presented, server, named, policy)
    }

    fn default_for(&self, principal: &str, server: &Server) -> DefaultPolicy {
        self.gate().default_for(principal, server)
    }

    fn permissions_of(&self, tables: &Tables, server: &Server) -> PermissionStatus {
        self.gate().standing(tables, server, None)
    }
}
