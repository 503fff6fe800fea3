//! The kernel as the house of its services: each of their traits, and nothing else. What is decided is decided where the
//! kernel has it; here it is only handed on.

mod moment;

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;
use serde_json::Value;
use switchboard_audit::Auditor;
use switchboard_flow::meter::{Allowance, Left};
use switchboard_peer::{BoxFuture, Context, Reply, Session};
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::{ApprovalPolicy, DefaultPolicy};
use switchboard_store::Store;
use switchboard_wire::{Id, Limits, Notification, Raw};
use tokio_util::sync::CancellationToken;

use crate::clients::{self, ClientState};
use crate::directory::{self, ListKind};
use crate::gate::rights::{decides_for_others, sees_all};
use crate::gate::scopes::{ScopeTarget, covers_quietly};
use crate::gate::{Presented, Profile, with_delegation_beside};
use crate::kernel::Kernel;
use crate::server::Server;
use crate::services::house::{
    AccessRights, BackgroundWork, ClientSessions, Conduct, Entitlements, EventHouse, GateAnswers, OngoingCalls,
    ProfileTools, RecordKeeping, RegistryHouse, Requester, ServerDirectory, ServerView, Setup,
};
use crate::services::registry::{self, Asker, OfferedServer, Registrar, ServerOffer, ServerOffers, ServerRegistration};
use crate::services::{Services, ToolContext, table};
use moment::{RightsNow, ServersNow};

/// The session tokens that somebody shows, as the gate reads them.
fn shown_by(who: &Requester) -> Presented {
    Presented::from(&*who.tokens)
}

impl Kernel {
    /// A view as services see it.
    pub(crate) fn seen_at(&self, view: &Arc<directory::View>) -> Arc<dyn ServerView> {
        Arc::new(ServersNow { kernel: self.clone(), view: view.clone() })
    }

    /// The servers that somebody who asks over HTTP may know of, with the tools that they may use.
    ///
    /// # Errors
    /// It cannot be known now what they may use.
    pub async fn offered_to(&self, asker: &Asker) -> Result<Vec<OfferedServer>, Fault> {
        registry::offered_to(self, asker).await
    }

    /// The servers that somebody who asks over HTTP may know of, each with how many of its tools they may use. Does
    /// not wait for servers that are starting.
    ///
    /// # Errors
    /// It cannot be known now what they may use.
    pub async fn known_to(&self, asker: &Asker) -> Result<std::collections::HashMap<Arc<str>, usize>, Fault> {
        registry::known_to(self, asker).await
    }

    /// The servers that somebody who asks over HTTP may know of and that can do what is needed, the best first, with
    /// how well they fit, from 0 to 1, and the tools that do.
    ///
    /// # Errors
    /// It cannot be known now what they may use.
    pub async fn offered_for(&self, asker: &Asker, needed: &str) -> Result<Vec<ServerOffer>, Fault> {
        registry::offered_for(self, asker, needed).await
    }

    /// Starts the servers that were registered to stay, as far as they still may be.
    pub fn restore(&self, registrations: Vec<ServerRegistration>) {
        Registrar::of(self).restore(registrations);
    }
}

impl ServerDirectory for Kernel {
    fn view(&self) -> Arc<dyn ServerView> {
        self.seen_at(&Self::view(self))
    }

    fn server(&self, id: &str) -> Option<Arc<Server>> {
        Self::server(self, id)
    }

    fn descriptions(&self) -> Vec<(Arc<str>, Value)> {
        Self::descriptions(self)
    }

    fn held_back(&self, server: &Server) -> Value {
        clients::held_of(server)
    }

    fn wait_for_servers(&self) -> BoxFuture<'_, ()> {
        Box::pin(Self::wait_for_servers(self))
    }

    fn is_draining(&self) -> bool {
        Self::is_draining(self)
    }

    fn uptime(&self) -> Duration {
        self.began().elapsed()
    }
}

impl AccessRights for Kernel {
    fn tokens_in(&self, headers: &HeaderMap) -> Vec<String> {
        Presented::of_headers(headers).into_texts()
    }

    fn entitlements(&self) -> BoxFuture<'_, Result<Arc<dyn Entitlements>, Fault>> {
        Box::pin(async {
            let tables = self.gate().tables().await?;
            Ok(Arc::new(RightsNow { kernel: self.clone(), tables }) as Arc<dyn Entitlements>)
        })
    }

    fn latest_entitlements(&self) -> Arc<dyn Entitlements> {
        Arc::new(RightsNow { kernel: self.clone(), tables: self.gate().granted.latest() })
    }

    fn decided(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(async {
            self.gate().audit.look_for_decisions();
            if self.gate().granted.again().await? {
                self.grants_changed();
            }
            Ok(())
        })
    }

    fn time(&self) -> Timestamp {
        self.gate().granted.time()
    }

    fn decides_for_others(&self, context: &Context) -> bool {
        decides_for_others(context)
    }

    fn sees_all(&self, who: &Requester) -> bool {
        sees_all(&who.session, &shown_by(who))
    }

    fn is_covered(&self, who: &Requester, server: Option<&str>, tool: Option<&str>) -> bool {
        self.gate().is_covered(&who.session, &shown_by(who), server, tool)
    }

    fn tokens_cover(&self, who: &Requester, server: &str) -> bool {
        covers_quietly(&self.gate(), &who.session.principal, &shown_by(who), ScopeTarget { server, tool: None })
    }

    fn default_for(&self, principal: &str, server: &Server) -> DefaultPolicy {
        self.gate().options().default_for(principal, server)
    }
}

impl Conduct for Kernel {
    fn approval_policy(&self) -> ApprovalPolicy {
        self.gate().options().approval_policy
    }

    fn asks_for(&self, reason: ConfirmReason) -> bool {
        self.gate().options().asks_for(reason)
    }

    fn session_ttl(&self) -> Duration {
        self.gate().options().session_ttl
    }

    fn max_result_bytes(&self) -> usize {
        self.gate().options().result_bytes
    }

    fn limits(&self) -> &Limits {
        Self::limits(self)
    }

    fn principal_allowance(&self, principal: &Arc<str>) -> Option<(Allowance, Option<Left>)> {
        self.gate().rates.principal_allowance(principal)
    }

    fn server_allowance(&self, server: &Server) -> Option<(Allowance, Option<Left>)> {
        self.gate().rates.server_allowance(server)
    }

    fn tool_allowance(&self, server: &Server, tool: &str) -> Option<(Allowance, Option<Left>)> {
        self.gate().rates.tool_allowance(server, tool)
    }
}

impl RecordKeeping for Kernel {
    fn audit(&self) -> &Auditor {
        self.gate().audit()
    }

    fn store(&self) -> Option<&Store> {
        self.gate().store()
    }
}

impl BackgroundWork for Kernel {
    fn spawn(&self, work: BoxFuture<'static, ()>) {
        Self::spawn(self, work);
    }

    fn closing(&self) -> &CancellationToken {
        Self::closing(self)
    }
}

impl ClientSessions for Kernel {
    fn clients(&self) -> Vec<Arc<Session>> {
        Self::clients(self).introduced()
    }

    fn is_open(&self, session: &str) -> bool {
        Self::clients(self).is_open(session)
    }

    fn tell_streams(&self, principal: &str, kind: ListKind, notification: &Notification) {
        Self::clients(self).tell_streams(principal, kind, notification);
    }

    fn note_manifest_reader(&self, session: &Session) {
        ClientState::of(session).hears_of_manifest();
    }

    fn reads_manifests(&self, session: &Session) -> bool {
        session.existing_state::<ClientState>().is_some_and(|state| state.is_told_of_manifest())
    }

    fn profile_tools(&self, session: &Session) -> Option<ProfileTools> {
        let (gate, tools) =
            (self.gate(), |profile: &Profile| ProfileTools { shown: profile.shown, pinned: profile.pinned.clone() });
        gate.options().profile_of(session).flatten().map(tools)
    }
}

impl OngoingCalls for Kernel {
    fn cancel_stream<'a>(&'a self, context: &'a Context, params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>> {
        Box::pin(async move { self.exchange().cancel_stream(context, params).await })
    }

    fn pace_stream<'a>(&'a self, context: &'a Context, params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>> {
        Box::pin(async move { self.exchange().pace_stream(context, params).await })
    }

    fn resume_operation<'a>(
        &'a self,
        context: &'a Context,
        request: &'a Id,
        params: &'a Raw,
    ) -> BoxFuture<'a, Result<Reply, Fault>> {
        Box::pin(async move { self.exchange().resume_operation(context, request, params).await })
    }

    fn pending_callbacks<'a>(&'a self, context: &'a Context, by_model: bool) -> BoxFuture<'a, Result<Raw, Fault>> {
        Box::pin(async move { self.exchange().pending_callbacks(context, by_model).await })
    }

    fn respond_to_callback<'a>(
        &'a self,
        context: &'a Context,
        given: Option<&'a Raw>,
        by_model: bool,
    ) -> BoxFuture<'a, Result<Raw, Fault>> {
        Box::pin(async move { self.exchange().respond_to_callback(context, given, by_model).await })
    }
}

impl GateAnswers for Kernel {
    fn check_permissions<'a>(&'a self, context: &'a Context, params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>> {
        Box::pin(async move { self.gate().check_permissions(context, params).await })
    }

    fn negotiate_scopes<'a>(&'a self, context: &'a Context, params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>> {
        Box::pin(async move { self.gate().negotiate_scopes(context, params).await })
    }

    fn with_delegation_beside(&self, arguments: Option<Raw>, params: Option<&Raw>) -> Option<Raw> {
        with_delegation_beside(arguments, params)
    }
}

impl Setup for Kernel {
    fn tool_context(&self) -> Arc<ToolContext> {
        self.tools()
    }

    fn server_offers(&self) -> &ServerOffers {
        &self.options().servers
    }

    fn services(&self) -> &Services {
        Self::services(self)
    }

    fn own_tools(&self, context: &Context) -> Vec<Raw> {
        table::listed(self, context, true)
    }

    fn servers_changed(&self) {
        self.registered_changed();
    }
}

impl EventHouse for Kernel {
    fn shared(&self) -> Arc<dyn EventHouse> {
        Arc::new(self.clone())
    }
}

impl RegistryHouse for Kernel {
    fn shared(&self) -> Arc<dyn RegistryHouse> {
        Arc::new(self.clone())
    }
}
