//! Lists as one principal may see them: what it may not call is not there.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_peer::Context;
use switchboard_protocol::Era;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::Extension;
use switchboard_wire::Raw;

use super::Tables;
use super::scopes::{Presented, Wanted};
use crate::directory::{Dialect, ListKind};
use crate::kernel::{Kernel, View};

/// Lists that are kept, at most.
const MOST: usize = 512;

/// Lists that were put together before.
#[derive(Default)]
pub(crate) struct Cache {
    kept: Mutex<CachedLists>,
}

#[derive(Default)]
struct CachedLists {
    /// Of which view and which grants they are.
    of: (u64, u64),
    lists: HashMap<(Arc<str>, ListKind, Dialect), Raw>,
}

impl Cache {
    fn get(&self, of: (u64, u64), key: &(Arc<str>, ListKind, Dialect)) -> Option<Raw> {
        let kept = self.kept.lock();
        kept.lists.get(key).filter(|_| kept.of == of).cloned()
    }

    fn put(&self, of: (u64, u64), key: (Arc<str>, ListKind, Dialect), list: Raw) {
        let mut kept = self.kept.lock();
        if kept.of != of || kept.lists.len() >= MOST {
            kept.lists.clear();
            kept.of = of;
        }
        kept.lists.insert(key, list);
    }
}

impl Kernel {
    /// A list as this client may see it.
    ///
    /// # Errors
    /// It cannot be known now what the client may see.
    pub(crate) async fn visible(&self, context: &Context, view: &View, kind: ListKind) -> Result<Raw, Fault> {
        let tables = self.tables().await?;
        let agreed = crate::initialize::agreed_with(&context.caller.capabilities);
        let mgp = agreed.is_some_and(|agreed| agreed.has(Extension::ToolSecurity));
        let dialect = Dialect { legacy: context.caller.era() == Era::Legacy, mgp };
        let presented = Presented::of(context, None);
        // Grants end by themselves, and session tokens differ from request to request: what depends on either is not kept.
        let lasting = presented.is_empty() && !tables.anything_expires;
        let of = (view.generation, tables.revision);
        let key = (context.session.rights_key(), kind, dialect);
        if lasting && let Some(list) = self.gate().lists.get(of, &key) {
            return Ok(list);
        }
        let list = view.directory.answer_for(kind, dialect, |server, name, exposed| {
            self.is_visible(context, view, &tables, kind, server, (name, exposed))
                && self.is_listed(context, view, &presented, kind, server, exposed)
        });
        if lasting {
            self.gate().lists.put(of, key, list.clone());
        }
        Ok(list)
    }

    /// Whether the session tokens that came with the request cover something, or none is needed for it.
    fn is_listed(
        &self,
        context: &Context,
        view: &View,
        presented: &Presented,
        kind: ListKind,
        server: usize,
        exposed: &str,
    ) -> bool {
        if presented.is_empty() && !self.gate().options().demand_scopes {
            return true;
        }
        let Some(server) = view.servers.get(server) else { return false };
        let route = (kind == ListKind::Tools).then(|| view.directory.tool(exposed)).flatten();
        let policy = route.and_then(|route| route.policy);
        let wanted = Wanted { server: server.id(), tool: policy.as_deref().map(|policy| (exposed, policy)) };
        self.is_in_scope(context, presented, wanted)
    }

    fn is_visible(
        &self,
        context: &Context,
        view: &View,
        tables: &Tables,
        kind: ListKind,
        server: usize,
        name: (&str, &str),
    ) -> bool {
        let Some(server) = view.servers.get(server) else { return false };
        let tool = (kind == ListKind::Tools).then_some(name);
        if !self.access(tables, &context.session, server, tool).allow {
            return false;
        }
        let policy = tool.and_then(|_| view.directory.tool(name.1)).and_then(|route| route.policy);
        self.standing(tables, server, policy.as_deref()).missing.is_empty()
    }
}
