//! Lists as one principal may see them: what it may not call is not there.

mod held;

use switchboard_peer::Context;
use switchboard_protocol::Era;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::Extension;
use switchboard_upstream::{ListKind, Server};
use switchboard_wire::Raw;

use super::Tables;
use super::scopes::{Presented, ScopeTarget};
use crate::Gate;
use crate::dialect::agreed_with;
pub use crate::list_cache::Dialect;
use crate::surroundings::Offers;
pub use held::{HeldList, HeldLists};

impl Gate<'_> {
    /// A list of what is offered at one moment, as this client may see it.
    ///
    /// # Errors
    /// It cannot be known now what the client may see.
    pub async fn visible(&self, context: &Context, offers: &dyn Offers, kind: ListKind) -> Result<Raw, Fault> {
        let tables = self.tables().await?;
        let agreed = agreed_with(&context.caller.capabilities);
        let mgp = agreed.is_some_and(|agreed| agreed.has(Extension::ToolSecurity));
        let dialect = Dialect { legacy: context.caller.era() == Era::Legacy, mgp };
        let presented = Presented::of(context, None);
        // Grants end by themselves, and session tokens differ from request to request: what depends on either is not kept.
        let lasting = presented.is_empty() && !tables.anything_expires;
        let of = (offers.generation(), tables.revision);
        let key = (context.session.rights_key(), kind, dialect);
        if lasting && let Some(list) = self.lists.get(of, &key) {
            return Ok(list);
        }
        let seen = Seen { gate: self, context, offers, tables: &tables, presented: &presented, kind };
        let list = offers.list(kind, dialect, &|server, original, exposed| seen.has(server, original, exposed));
        if lasting {
            self.lists.put(of, key, list.clone());
        }
        Ok(list)
    }
}

/// Who sees a list, and by what.
struct Seen<'a> {
    gate: &'a Gate<'a>,
    context: &'a Context,
    offers: &'a dyn Offers,
    tables: &'a Tables,
    presented: &'a Presented,
    kind: ListKind,
}

impl Seen<'_> {
    fn has(&self, server: usize, original: &str, exposed: &str) -> bool {
        let Some(server) = self.offers.servers().get(server) else { return false };
        self.may_use(server, original, exposed) && self.is_in_scope(server, exposed)
    }

    /// Whether its owner could call it.
    fn may_use(&self, server: &Server, original: &str, exposed: &str) -> bool {
        let tool = (self.kind == ListKind::Tools).then_some((original, exposed));
        if !self.gate.access(self.tables, &self.context.session, server, tool).allow {
            return false;
        }
        let policy = tool.and_then(|_| self.offers.tool(exposed)?.policy);
        self.gate.standing(self.tables, server, policy.as_deref()).missing.is_empty()
    }

    /// Whether the session tokens that came with the request cover it, or none is needed for it.
    fn is_in_scope(&self, server: &Server, exposed: &str) -> bool {
        if self.presented.is_empty() && !self.gate.options().demand_scopes {
            return true;
        }
        let policy =
            if self.kind == ListKind::Tools { self.offers.tool(exposed).and_then(|tool| tool.policy) } else { None };
        let wanted = ScopeTarget { server: server.id(), tool: policy.as_deref().map(|policy| (exposed, policy)) };
        self.gate.is_in_scope(self.context, self.presented, wanted)
    }
}
