//! The kernel as the surroundings of the gate and of calls on their way: which server a name leads to now, what is kept of
//! clients, and whom it tells what.

use std::sync::Arc;

use switchboard_exchange::{Exchange, ExchangeClients, Host, LogFilter, Servers};
use switchboard_peer::client::Connected;
use switchboard_peer::{BoxFuture, Context, Session};
use switchboard_protocol::fault::Fault;
use switchboard_wire::{Notification, Raw};

use crate::clients::{self, ClientHost, ClientState, ConnectedClients, own_log};
use crate::directory::{ListKind, LocatedResource, View};
use crate::gate::{Gate, Offers, Permit, Surroundings, ToolPolicy};
use crate::kernel::Kernel;
use crate::server::Server;

impl Surroundings for Kernel {
    fn offers(&self) -> Arc<dyn Offers> {
        self.view()
    }

    fn resource(&self, uri: &str, principal: &str) -> Option<(Arc<Server>, Arc<ToolPolicy>)> {
        let LocatedResource { server, reading, .. } = self.locate(uri, principal)?;
        Some((server, reading.policy))
    }

    fn wait_for_servers(&self) -> BoxFuture<'_, ()> {
        Box::pin(Self::wait_for_servers(self))
    }

    fn grants_changed(&self) {
        Self::grants_changed(self);
    }

    fn watch_rights(&self) {
        self.exchange_state().wake_watcher();
    }

    fn log(&self, context: &Context, params: &Raw, message: &str) {
        let log = own_log(message);
        let level = || ClientState::of(&context.session).level();
        if LogFilter::of(context, Some(params)).admits(level, &log) {
            let _ = context.remote.notify(log);
        }
    }

    fn keep_open(&self, state: &str, permit: Permit) -> Option<Permit> {
        self.exchange_state().keep_open(state, permit)
    }
}

impl Servers for Kernel {
    fn only_server(&self) -> Option<Arc<Server>> {
        self.view().only().cloned()
    }

    fn plain_policy(&self, server: &Arc<Server>) -> Option<Arc<ToolPolicy>> {
        let view = self.view();
        view.directory.plain_policy(view.index_of(server)?)
    }

    fn is_draining(&self) -> bool {
        Self::is_draining(self)
    }

    fn takes_calls(&self, server: &Server) -> Result<(), Fault> {
        Self::takes_calls(self, server)
    }

    fn take_notice(&self, server: &Arc<Server>, notification: &Notification) -> bool {
        clients::take_notice(self, server, notification)
    }
}

impl ExchangeClients for Kernel {
    fn owner(&self, session: &Session) -> u64 {
        ClientState::of(session).owner
    }

    fn session_log_level(&self, session: &Session) -> Option<&'static str> {
        ClientState::of(session).level()
    }

    fn link_now(&self, session: &Session, server: &Arc<Server>) -> Option<Arc<Connected>> {
        ClientState::of(session).link_now(server)
    }

    async fn link(&self, context: &Context, server: &Arc<Server>) -> Result<Arc<Connected>, Fault> {
        ClientState::of(&context.session).link(self, server, &context.session, &context.caller).await
    }
}

impl Host for Kernel {
    fn gate(&self) -> Gate<'_> {
        Self::gate(self)
    }
}

impl ClientHost for Kernel {
    fn connected(&self) -> &ConnectedClients {
        self.clients()
    }

    fn offered(&self) -> Arc<View> {
        self.view()
    }

    fn list_now<'a>(&'a self, context: &'a Context, kind: ListKind) -> BoxFuture<'a, Result<Raw, Fault>> {
        Box::pin(self.listed(context, kind))
    }

    fn exchange(&self) -> Exchange<Self> {
        Self::exchange(self)
    }

    fn locate(&self, uri: &str, principal: &str) -> Option<LocatedResource> {
        Self::locate(self, uri, principal)
    }
}
