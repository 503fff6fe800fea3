//! The kernel as the surroundings of the gate: which server a name leads to now, and whom it tells what.

use std::sync::Arc;

use switchboard_peer::{BoxFuture, Context};
use switchboard_wire::Raw;

use crate::directory::{Dialect, ListKind, Route};
use crate::gate::{Destination, OfferedTool, Offers, Permit, Surroundings, ToolPolicy};
use crate::initialize::own_log;
use crate::kernel::{Kernel, LocatedResource, View};
use crate::relay::LogFilter;
use crate::server::Server;

impl Surroundings for Kernel {
    fn offers(&self) -> Arc<dyn Offers> {
        self.view()
    }

    fn resource(&self, uri: &str, principal: &str) -> Option<(Arc<Server>, Arc<ToolPolicy>)> {
        let LocatedResource { server, reading, .. } = self.found_resource(uri, principal)?;
        Some((server, reading.policy))
    }

    fn wait_for_servers(&self) -> BoxFuture<'_, ()> {
        Box::pin(Self::wait_for_servers(self))
    }

    fn grants_changed(&self) {
        Self::grants_changed(self);
    }

    fn watch_rights(&self) {
        self.watch_soon();
    }

    fn log(&self, context: &Context, params: &Raw, message: &str) {
        let log = own_log(message);
        if LogFilter::of(context, Some(params)).admits(context, &log) {
            let _ = context.remote.notify(log);
        }
    }

    fn keep_open(&self, state: &str, permit: Permit) -> Option<Permit> {
        self.parked().keep_open(state, permit)
    }
}

impl Offers for View {
    fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn tool(&self, exposed: &str) -> Option<Destination> {
        self.place(self.directory.tool(exposed)?)
    }

    fn prompt(&self, exposed: &str) -> Option<Destination> {
        self.place(self.directory.prompt(exposed)?)
    }

    fn any_tool(&self, fits: &mut dyn FnMut(OfferedTool<'_>) -> bool) -> bool {
        self.directory.tools().any(|(_, exposed, route)| {
            self.servers.get(route.server).is_some_and(|server| {
                let Route { original, policy, curated, .. } = route;
                fits(OfferedTool { server, exposed, original, policy: policy.as_ref(), curated: curated.as_ref() })
            })
        })
    }

    fn list(&self, kind: ListKind, dialect: Dialect, visible: &dyn Fn(usize, &str, &str) -> bool) -> Raw {
        self.directory.answer_for(kind, dialect, visible)
    }
}

impl View {
    fn place(&self, route: Route) -> Option<Destination> {
        let Route { server, original, policy, curated, .. } = route;
        Some(Destination { server: self.servers.get(server)?.clone(), original, policy, curated })
    }
}
