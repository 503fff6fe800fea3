//! The servers and the rights at one moment, as services see them.

use std::sync::Arc;

use jiff::Timestamp;
use switchboard_peer::{BoxFuture, Context, Session};
use switchboard_policy::access::Access;
use switchboard_policy::permission::Decided;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::DefaultPolicy;
use switchboard_store::AccessEntry;
use switchboard_wire::Raw;

use super::shown_by;
use crate::directory::{self, ListKind, Route};
use crate::gate::{Tables, ToolPolicy};
use crate::kernel::Kernel;
use crate::server::Server;
use crate::services::house::{CallableTool, Entitlements, Requester, ServerView, ShownTool, ToolRoute};

/// The servers, and what they offer.
pub(super) struct ServersNow {
    pub(super) kernel: Kernel,
    pub(super) view: Arc<directory::View>,
}

impl ServerView for ServersNow {
    fn servers(&self) -> &[Arc<Server>] {
        &self.view.servers
    }

    fn generation(&self) -> u64 {
        self.view.generation
    }

    fn tool(&self, name: &str) -> Option<ToolRoute> {
        let route = self.view.directory.tool(name)?;
        Some(ToolRoute { server: route.server, original: route.original, policy: route.policy })
    }

    fn tools(&self) -> Box<dyn Iterator<Item = CallableTool<'_>> + Send + '_> {
        Box::new(self.view.directory.tools().map(|(id, exposed, route)| CallableTool {
            id,
            server: route.server,
            original: &route.original,
            exposed,
            policy: route.policy.as_deref(),
        }))
    }

    fn shown_tools(&self) -> Box<dyn Iterator<Item = ShownTool<'_>> + Send + '_> {
        let shown = self.view.directory.shown_tools();
        Box::new(shown.map(|(id, original, exposed, definition)| ShownTool { id, original, exposed, definition }))
    }

    fn exposed_within(&self, name: &str, max: usize) -> Option<String> {
        self.view.directory.exposed_within(name, max)
    }

    fn visible_tools<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Raw, Fault>> {
        Box::pin(async move { self.kernel.gate().visible(context, &*self.view, ListKind::Tools).await })
    }
}

/// What is granted.
pub(super) struct RightsNow {
    pub(super) kernel: Kernel,
    pub(super) tables: Arc<Tables>,
}

impl Entitlements for RightsNow {
    fn allows(&self, session: &Session, server: &Server, tool: Option<(&str, &str)>) -> bool {
        self.kernel.gate().access(&self.tables, session, server, tool).allow
    }

    fn knows_of(&self, session: &Session, server: &Server) -> bool {
        self.kernel.gate().knows_of(&self.tables, session, server)
    }

    fn knows(&self, who: &Requester, server: &Server) -> bool {
        self.kernel.gate().knows_within(&self.tables, &who.session, &shown_by(who), server)
    }

    fn may_use(&self, who: &Requester, server: &Server, (original, exposed): (&str, &str)) -> bool {
        if who.tokens.is_empty() {
            return self.allows(&who.session, server, Some((original, exposed)));
        }
        // What a tool needs of scopes is known where it is.
        let view = self.kernel.view();
        let is_same = |route: &Route| {
            *route.original == *original && view.servers.get(route.server).is_some_and(|at| at.id() == server.id())
        };
        let route = view.directory.tool(exposed).filter(is_same);
        route.is_some_and(|route| {
            let (named, policy) = ((original, exposed), route.policy.as_deref());
            self.kernel.gate().may_use_within(&self.tables, &who.session, &shown_by(who), server, named, policy)
        })
    }

    fn missing_permissions(&self, server: &Server, tool: Option<&ToolPolicy>) -> Vec<String> {
        let standing = self.kernel.gate().standing(&self.tables, server, tool);
        standing.missing.into_iter().map(|missing| missing.permission).collect()
    }

    fn permissions(&self, server: &str) -> &[Decided] {
        self.tables.permissions(server)
    }

    fn entries(&self) -> &[AccessEntry] {
        &self.tables.entries
    }

    fn decide(
        &self,
        principal: &str,
        server: &str,
        tool: Option<&str>,
        default: DefaultPolicy,
        now: Timestamp,
    ) -> Access {
        self.tables.access.decide(principal, server, tool, default, now)
    }
}
