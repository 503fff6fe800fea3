//! A house with nothing in it.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;
use serde_json::Value;
use switchboard_audit::Auditor;
use switchboard_flow::meter::{Allowance, Left};
use switchboard_gate::ToolPolicy;
use switchboard_peer::{
    BoxFuture, Call, CallError, Caller, Context, Identity, Method, Principal, Remote, Reply, SendError, Session,
};
use switchboard_policy::access::{Access, Source};
use switchboard_policy::permission::Decided;
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::{ApprovalPolicy, DefaultPolicy};
use switchboard_services::house::{
    AccessRights, BackgroundWork, CallableTool, ClientSessions, Conduct, Entitlements, EventHouse, GateAnswers,
    OngoingCalls, ProfileTools, RecordKeeping, RegistryHouse, Requester, ServerDirectory, ServerView, Setup, ShownTool,
    ToolRoute,
};
use switchboard_services::registry::ServerOffers;
use switchboard_services::{Services, ToolContext, table};
use switchboard_store::{AccessEntry, Store};
use switchboard_upstream::{ListKind, Server};
use switchboard_wire::{Id, Limits, Notification, Raw};
use tokio_util::sync::CancellationToken;

/// A request of somebody who may not decide for others.
pub(crate) fn agent() -> Context {
    context(Identity::new("agent", Method::Token).into())
}

/// A request of the owner.
pub(crate) fn owner() -> Context {
    context(Principal::owner("local"))
}

fn context(who: Principal) -> Context {
    let remote: Arc<dyn Remote> = Arc::new(Nobody);
    let session = Session::new("session".into(), who, true, Caller::unknown(), remote.clone());
    let caller = session.caller();
    Context { session, caller, remote, cancel: CancellationToken::new(), headers: None, open_owners: None }
}

struct Nobody;

impl Remote for Nobody {
    fn request(&self, _call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(std::future::ready(Err(CallError::NotAllowed)))
    }

    fn notify(&self, _notification: Notification) -> Result<(), SendError> {
        Ok(())
    }

    fn can_request(&self) -> bool {
        false
    }
}

/// The house.
#[derive(Clone)]
pub(crate) struct Empty {
    pub(crate) is_draining: bool,
    audit: Arc<Auditor>,
    limits: Limits,
    tools: Arc<ToolContext>,
    offers: ServerOffers,
    services: Arc<Services>,
    closing: CancellationToken,
}

impl Default for Empty {
    fn default() -> Self {
        let (audit, _writing) = Auditor::new(None);
        Self {
            is_draining: false,
            audit: Arc::new(audit),
            limits: Limits::default(),
            tools: Arc::default(),
            offers: ServerOffers::default(),
            services: Arc::default(),
            closing: CancellationToken::new(),
        }
    }
}

struct Nothing;

impl ServerView for Nothing {
    fn servers(&self) -> &[Arc<Server>] {
        &[]
    }

    fn generation(&self) -> u64 {
        1
    }

    fn tool(&self, _name: &str) -> Option<ToolRoute> {
        None
    }

    fn tools(&self) -> Box<dyn Iterator<Item = CallableTool<'_>> + Send + '_> {
        Box::new(std::iter::empty())
    }

    fn shown_tools(&self) -> Box<dyn Iterator<Item = ShownTool<'_>> + Send + '_> {
        Box::new(std::iter::empty())
    }

    fn exposed_within(&self, _name: &str, _max: usize) -> Option<String> {
        None
    }

    fn visible_tools<'a>(&'a self, _context: &'a Context) -> BoxFuture<'a, Result<Raw, Fault>> {
        Box::pin(async { Raw::from_value(&serde_json::json!({"tools": []})).map_err(Fault::internal) })
    }
}

impl Entitlements for Nothing {
    fn allows(&self, _session: &Session, _server: &Server, _tool: Option<(&str, &str)>) -> bool {
        false
    }

    fn knows_of(&self, _session: &Session, _server: &Server) -> bool {
        false
    }

    fn knows(&self, _who: &Requester, _server: &Server) -> bool {
        false
    }

    fn may_use(&self, _who: &Requester, _server: &Server, _tool: (&str, &str)) -> bool {
        false
    }

    fn missing_permissions(&self, _server: &Server, _tool: Option<&ToolPolicy>) -> Vec<String> {
        Vec::new()
    }

    fn permissions(&self, _server: &str) -> &[Decided] {
        &[]
    }

    fn entries(&self) -> &[AccessEntry] {
        &[]
    }

    fn decide(&self, _: &str, _: &str, _: Option<&str>, _: DefaultPolicy, _: Timestamp) -> Access {
        Access { allow: false, source: Source::DefaultPolicy, rule: None }
    }
}

impl ServerDirectory for Empty {
    fn view(&self) -> Arc<dyn ServerView> {
        Arc::new(Nothing)
    }

    fn server(&self, _id: &str) -> Option<Arc<Server>> {
        None
    }

    fn descriptions(&self) -> Vec<(Arc<str>, Value)> {
        Vec::new()
    }

    fn held_back(&self, _server: &Server) -> Value {
        Value::Null
    }

    fn wait_for_servers(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn is_draining(&self) -> bool {
        self.is_draining
    }

    fn uptime(&self) -> Duration {
        Duration::ZERO
    }
}

impl AccessRights for Empty {
    fn tokens_in(&self, _headers: &HeaderMap) -> Vec<String> {
        Vec::new()
    }

    fn entitlements(&self) -> BoxFuture<'_, Result<Arc<dyn Entitlements>, Fault>> {
        Box::pin(async { Ok(Arc::new(Nothing) as Arc<dyn Entitlements>) })
    }

    fn latest_entitlements(&self) -> Arc<dyn Entitlements> {
        Arc::new(Nothing)
    }

    fn decided(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn time(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn decides_for_others(&self, context: &Context) -> bool {
        context.session.identity.admin
    }

    fn sees_all(&self, who: &Requester) -> bool {
        who.session.identity.admin
    }

    fn is_covered(&self, _who: &Requester, _server: Option<&str>, _tool: Option<&str>) -> bool {
        true
    }

    fn tokens_cover(&self, _who: &Requester, _server: &str) -> bool {
        true
    }

    fn default_for(&self, _principal: &str, _server: &Server) -> DefaultPolicy {
        DefaultPolicy::OptIn
    }
}

impl Conduct for Empty {
    fn approval_policy(&self) -> ApprovalPolicy {
        ApprovalPolicy::DenyAll
    }

    fn asks_for(&self, _reason: ConfirmReason) -> bool {
        true
    }

    fn session_ttl(&self) -> Duration {
        Duration::from_hours(1)
    }

    fn max_result_bytes(&self) -> usize {
        usize::MAX
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn principal_allowance(&self, _principal: &Arc<str>) -> Option<(Allowance, Option<Left>)> {
        None
    }

    fn server_allowance(&self, _server: &Server) -> Option<(Allowance, Option<Left>)> {
        None
    }

    fn tool_allowance(&self, _server: &Server, _tool: &str) -> Option<(Allowance, Option<Left>)> {
        None
    }
}

impl RecordKeeping for Empty {
    fn audit(&self) -> &Auditor {
        &self.audit
    }

    fn store(&self) -> Option<&Store> {
        None
    }
}

impl BackgroundWork for Empty {
    fn spawn(&self, work: BoxFuture<'static, ()>) {
        tokio::spawn(work);
    }

    fn closing(&self) -> &CancellationToken {
        &self.closing
    }
}

impl ClientSessions for Empty {
    fn clients(&self) -> Vec<Arc<Session>> {
        Vec::new()
    }

    fn is_open(&self, _session: &str) -> bool {
        true
    }

    fn tell_streams(&self, _principal: &str, _kind: ListKind, _notification: &Notification) {}

    fn note_manifest_reader(&self, _session: &Session) {}

    fn reads_manifests(&self, _session: &Session) -> bool {
        false
    }

    fn profile_tools(&self, _session: &Session) -> Option<ProfileTools> {
        None
    }
}

fn nothing_goes_on<T>() -> BoxFuture<'static, Result<T, Fault>>
where
    T: Send + 'static,
{
    Box::pin(std::future::ready(Err(Fault::new(FaultKind::UnknownResource, "nothing goes on here"))))
}

impl OngoingCalls for Empty {
    fn cancel_stream<'a>(&'a self, _context: &'a Context, _params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>> {
        nothing_goes_on()
    }

    fn pace_stream<'a>(&'a self, _context: &'a Context, _params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>> {
        nothing_goes_on()
    }

    fn resume_operation<'a>(
        &'a self,
        _context: &'a Context,
        _request: &'a Id,
        _params: &'a Raw,
    ) -> BoxFuture<'a, Result<Reply, Fault>> {
        nothing_goes_on()
    }

    fn pending_callbacks<'a>(&'a self, _context: &'a Context, _by_model: bool) -> BoxFuture<'a, Result<Raw, Fault>> {
        nothing_goes_on()
    }

    fn respond_to_callback<'a>(
        &'a self,
        _context: &'a Context,
        _given: Option<&'a Raw>,
        _by_model: bool,
    ) -> BoxFuture<'a, Result<Raw, Fault>> {
        nothing_goes_on()
    }
}

impl GateAnswers for Empty {
    fn check_permissions<'a>(&'a self, _context: &'a Context, _params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>> {
        nothing_goes_on()
    }

    fn negotiate_scopes<'a>(&'a self, _context: &'a Context, _params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>> {
        nothing_goes_on()
    }

    fn with_delegation_beside(&self, arguments: Option<Raw>, _params: Option<&Raw>) -> Option<Raw> {
        arguments
    }
}

impl Setup for Empty {
    fn tool_context(&self) -> Arc<ToolContext> {
        self.tools.clone()
    }

    fn server_offers(&self) -> &ServerOffers {
        &self.offers
    }

    fn services(&self) -> &Services {
        &self.services
    }

    fn own_tools(&self, context: &Context) -> Vec<Raw> {
        table::listed(self, context, true)
    }

    fn servers_changed(&self) {}
}

impl EventHouse for Empty {
    fn shared(&self) -> Arc<dyn EventHouse> {
        Arc::new(self.clone())
    }
}

impl RegistryHouse for Empty {
    fn shared(&self) -> Arc<dyn RegistryHouse> {
        Arc::new(self.clone())
    }
}
