//! What services ask of the house around them. A service takes these, and not the kernel: what it can reach is what it says.
//!
//! Each trait is one part of the house, and those of services that need several stand behind them. [`House`] is all of it, for the
//! table and who reads it alone (tidy looks). The kernel implements the parts, and a test may. Servers and what they offer are seen as a [`ServerView`], rights as [`Entitlements`], each
//! at one moment: a service that looks twice sees the same.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;
use serde_json::Value;
use switchboard_audit::Auditor;
use switchboard_catalog::Shown;
use switchboard_flow::meter::{Allowance, Left};
use switchboard_gate::ToolPolicy;
use switchboard_peer::{BoxFuture, Context, Reply, Session};
use switchboard_policy::access::Access;
use switchboard_policy::permission::Decided;
use switchboard_policy::risk::ConfirmReason;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::{ApprovalPolicy, DefaultPolicy};
use switchboard_store::{AccessEntry, Store};
use switchboard_upstream::{ListKind, Server};
use switchboard_wire::{Id, Limits, Notification, Raw};
use tokio_util::sync::CancellationToken;

use super::Services;
use super::server_offers::ServerOffers;
use super::tool_context::ToolContext;

/// Where a tool is that a client named.
#[derive(Debug, Clone)]
pub struct ToolRoute {
    /// The place of its server in the view.
    pub server: usize,
    /// What its server calls it.
    pub original: Arc<str>,
    /// What is known of it.
    pub policy: Option<Arc<ToolPolicy>>,
}

/// A tool that can be called.
#[derive(Debug, Clone, Copy)]
pub struct CallableTool<'a> {
    /// The id of its server.
    pub id: &'a Arc<str>,
    /// The place of its server in the view.
    pub server: usize,
    /// What its server calls it.
    pub original: &'a str,
    /// What clients call it.
    pub exposed: &'a str,
    /// What is known of it.
    pub policy: Option<&'a ToolPolicy>,
}

/// A tool that is shown to clients.
#[derive(Debug, Clone, Copy)]
pub struct ShownTool<'a> {
    /// The id of its server.
    pub id: &'a str,
    /// What its server calls it.
    pub original: &'a str,
    /// What clients call it.
    pub exposed: &'a str,
    /// Its definition.
    pub definition: &'a Raw,
}

/// The servers, and what all of them offer, at one moment.
pub trait ServerView: Send + Sync {
    /// The servers.
    fn servers(&self) -> &[Arc<Server>];

    /// Counts the views.
    fn generation(&self) -> u64;

    /// The way to the tool that clients know by `name`.
    fn tool(&self, name: &str) -> Option<ToolRoute>;

    /// The tools that can be called.
    fn tools(&self) -> Box<dyn Iterator<Item = CallableTool<'_>> + Send + '_>;

    /// The tools that are shown.
    fn shown_tools(&self) -> Box<dyn Iterator<Item = ShownTool<'_>> + Send + '_>;

    /// The name of a tool within so many characters, where that is another one.
    fn exposed_within(&self, name: &str, max: usize) -> Option<String>;

    /// The list of the tools that a client may see.
    fn visible_tools<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Raw, Fault>>;

    /// The server of a route.
    fn server_at(&self, index: usize) -> Option<&Arc<Server>> {
        self.servers().get(index)
    }
}

/// The servers there are.
pub trait ServerDirectory: Send + Sync {
    /// They and what all of them offer, at this moment.
    fn view(&self) -> Arc<dyn ServerView>;

    /// One of them.
    fn server(&self, id: &str) -> Option<Arc<Server>>;

    /// What is told of each to who may see all, by its id.
    fn descriptions(&self) -> Vec<(Arc<str>, Value)>;

    /// What is told of what is held back of a server.
    fn held_back(&self, server: &Server) -> Value;

    /// Gives those that are just starting a moment.
    fn wait_for_servers(&self) -> BoxFuture<'_, ()>;

    /// Whether the kernel ends, and new calls are not taken.
    fn is_draining(&self) -> bool;

    /// How long the kernel has been there.
    fn uptime(&self) -> Duration;
}

/// Who asks: a session, with the session tokens that came along.
#[derive(Debug, Clone)]
pub struct Requester {
    /// The session.
    pub session: Arc<Session>,
    /// The tokens that were shown: what they do not cover is not there.
    pub tokens: Vec<String>,
}

/// Who may use what, at one moment.
pub trait Entitlements: Send + Sync {
    /// Whether a session may use a tool of a server (its own name and the one clients know); without one, the server.
    /// Session tokens do not count here.
    fn allows(&self, session: &Session, server: &Server, tool: Option<(&str, &str)>) -> bool;

    /// Whether a session may use anything of a server.
    fn knows_of(&self, session: &Session, server: &Server) -> bool;

    /// The same within the session tokens that are shown. Asking keeps none of them alive.
    fn knows(&self, who: &Requester, server: &Server) -> bool;

    /// Whether a tool may be used (its own name and the one clients know), within the session tokens that are shown.
    fn may_use(&self, who: &Requester, server: &Server, tool: (&str, &str)) -> bool;

    /// The permissions that a server lacks, of those that it needs, and of those that a tool of it needs.
    fn missing_permissions(&self, server: &Server, tool: Option<&ToolPolicy>) -> Vec<String>;

    /// What was decided about the permissions of a server.
    fn permissions(&self, server: &str) -> &[Decided];

    /// What is granted and denied.
    fn entries(&self) -> &[AccessEntry];

    /// What the entries say of a principal. `default` is what holds without one.
    fn decide(
        &self,
        principal: &str,
        server: &str,
        tool: Option<&str>,
        default: DefaultPolicy,
        now: Timestamp,
    ) -> Access;
}

/// Who may use what.
pub trait AccessRights: Send + Sync {
    /// The session tokens in some headers.
    fn tokens_in(&self, headers: &HeaderMap) -> Vec<String>;

    /// What may be used by whom, no older than a moment.
    ///
    /// # Errors
    /// It cannot be known now.
    fn entitlements(&self) -> BoxFuture<'_, Result<Arc<dyn Entitlements>, Fault>>;

    /// The same as it was last read.
    fn latest_entitlements(&self) -> Arc<dyn Entitlements>;

    /// Takes over what was just decided.
    ///
    /// # Errors
    /// What is granted cannot be read now.
    fn decided(&self) -> BoxFuture<'_, Result<(), Fault>>;

    /// The time by which grants end.
    fn time(&self) -> Timestamp;

    /// Whether who sent a request may decide for others.
    fn decides_for_others(&self, context: &Context) -> bool;

    /// Whether somebody may know of all servers.
    fn sees_all(&self, who: &Requester) -> bool;

    /// Whether tokens cover a tool, or a server as a whole. Grants do not count here.
    fn is_covered(&self, who: &Requester, server: Option<&str>, tool: Option<&str>) -> bool;

    /// Whether the session tokens that are shown cover a server as a whole.
    fn tokens_cover(&self, who: &Requester, server: &str) -> bool;

    /// What holds for a principal where nothing is granted or denied.
    fn default_for(&self, principal: &str, server: &Server) -> DefaultPolicy;

    /// Who sent a request.
    fn requester(&self, context: &Context) -> Requester {
        let tokens = context.headers.as_deref().map(|headers| self.tokens_in(headers)).unwrap_or_default();
        Requester { session: context.session.clone(), tokens }
    }

    /// Whether a server exists for who asks: they may see all, or have to do with it.
    fn sees(&self, entitlements: &dyn Entitlements, who: &Requester, server: &Server) -> bool {
        self.sees_all(who) || entitlements.knows(who, server)
    }
}

/// How the operator wants calls judged.
pub trait Conduct: Send + Sync {
    /// What happens where a person has to agree.
    fn approval_policy(&self) -> ApprovalPolicy;

    /// Whether a person is asked for this reason.
    fn asks_for(&self, reason: ConfirmReason) -> bool;

    /// How long a session token lives at most.
    fn session_ttl(&self) -> Duration;

    /// Bytes of one result of a tool.
    fn max_result_bytes(&self) -> usize;

    /// Bounds on one message.
    fn limits(&self) -> &Limits;

    /// What a principal is held to, and what is left of it; nothing where the operator set no bound.
    fn principal_allowance(&self, principal: &Arc<str>) -> Option<(Allowance, Option<Left>)>;

    /// The same for all calls of a server.
    fn server_allowance(&self, server: &Server) -> Option<(Allowance, Option<Left>)>;

    /// The same for all calls of a tool.
    fn tool_allowance(&self, server: &Server, tool: &str) -> Option<(Allowance, Option<Left>)>;
}

/// Where things are put on record and kept.
pub trait RecordKeeping: Send + Sync {
    /// The audit log.
    fn audit(&self) -> &Auditor;

    /// The store, where there is one.
    fn store(&self) -> Option<&Store>;
}

/// Work beside requests.
pub trait BackgroundWork: Send + Sync {
    /// Runs something until it is over or the kernel has ended.
    fn spawn(&self, work: BoxFuture<'static, ()>);

    /// Cancelled when the kernel ends.
    fn closing(&self) -> &CancellationToken;
}

/// What a profile says of the tools that its sessions are given.
#[derive(Debug, Clone, Default)]
pub struct ProfileTools {
    /// How much is listed; as for everybody where it is not said.
    pub shown: Option<Shown>,
    /// Tools that are always listed.
    pub pinned: Vec<String>,
}

/// The clients that are connected.
pub trait ClientSessions: Send + Sync {
    /// The legacy clients that have introduced themselves.
    fn clients(&self) -> Vec<Arc<Session>>;

    /// Whether a lasting session has not ended.
    fn is_open(&self, session: &str) -> bool;

    /// Tells the streams of a principal that a list has changed.
    fn tell_streams(&self, principal: &str, kind: ListKind, notification: &Notification);

    /// A session has asked for a manifest.
    fn note_manifest_reader(&self, session: &Session);

    /// Whether a session is told of changed manifests.
    fn reads_manifests(&self, session: &Session) -> bool;

    /// What the profile of a session says, where it has one.
    fn profile_tools(&self, session: &Session) -> Option<ProfileTools>;
}

/// What goes on over time at servers: calls whose results come in pieces, and questions in their middle.
pub trait OngoingCalls: Send + Sync {
    /// Ends a call of the caller's.
    fn cancel_stream<'a>(&'a self, context: &'a Context, params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>>;

    /// Sets how fast the pieces of a call may come.
    fn pace_stream<'a>(&'a self, context: &'a Context, params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>>;

    /// Goes on with an operation from a checkpoint.
    fn resume_operation<'a>(
        &'a self,
        context: &'a Context,
        request: &'a Id,
        params: &'a Raw,
    ) -> BoxFuture<'a, Result<Reply, Fault>>;

    /// The questions that wait for the caller, which is a model where it asks by a tool.
    fn pending_callbacks<'a>(&'a self, context: &'a Context, by_model: bool) -> BoxFuture<'a, Result<Raw, Fault>>;

    /// Takes the answer to one.
    fn respond_to_callback<'a>(
        &'a self,
        context: &'a Context,
        given: Option<&'a Raw>,
        by_model: bool,
    ) -> BoxFuture<'a, Result<Raw, Fault>>;
}

/// What the gate answers itself: whether a call would pass, and session tokens.
pub trait GateAnswers: Send + Sync {
    /// Whether a call would pass, and what is missing.
    fn check_permissions<'a>(&'a self, context: &'a Context, params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>>;

    /// Gives a session token.
    fn negotiate_scopes<'a>(&'a self, context: &'a Context, params: &'a Raw) -> BoxFuture<'a, Result<Raw, Fault>>;

    /// The arguments of a tool of the kernel, with what its call says beside them of those it is made for.
    fn with_delegation_beside(&self, arguments: Option<Raw>, params: Option<&Raw>) -> Option<Raw>;
}

/// What services are set to, and what they themselves keep.
pub trait Setup: Send + Sync {
    /// Which tools clients are given.
    fn tool_context(&self) -> Arc<ToolContext>;

    /// Which servers may come while the kernel runs.
    fn server_offers(&self) -> &ServerOffers;

    /// What services keep.
    fn services(&self) -> &Services;

    /// The definitions of the kernel's own tools that stand in the manifest of a client.
    fn own_tools(&self, context: &Context) -> Vec<Raw>;

    /// Servers have come or gone by the registry.
    fn servers_changed(&self);
}

/// What subscriptions need, which outlive the request that begins them.
pub trait EventHouse: ServerDirectory + AccessRights + BackgroundWork + 'static {
    /// The same for work that outlives a request.
    fn shared(&self) -> Arc<dyn EventHouse>;
}

/// What finding tools needs.
pub trait FinderHouse: ServerDirectory + AccessRights + RecordKeeping + ClientSessions + Setup {}

impl<T: ServerDirectory + AccessRights + RecordKeeping + ClientSessions + Setup> FinderHouse for T {}

/// What manifests need: they name the tools for finding others.
pub trait ManifestHouse: FinderHouse + Conduct {}

impl<T: FinderHouse + Conduct> ManifestHouse for T {}

/// What registration needs: a tool that was written is loaded for its author, and a server may end when nobody asks.
pub trait RegistryHouse: FinderHouse + Conduct + BackgroundWork + 'static {
    /// The same for work that outlives a request.
    fn shared(&self) -> Arc<dyn RegistryHouse>;
}

/// The whole house.
pub trait House: EventHouse + ManifestHouse + RegistryHouse + OngoingCalls + GateAnswers {}

impl<T: EventHouse + ManifestHouse + RegistryHouse + OngoingCalls + GateAnswers> House for T {}

/// A house, whichever it is: what rows of the table are given. No service takes it.
pub type DynHouse = dyn House;
