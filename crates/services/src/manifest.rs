//! Manifests (proposals 1, 3 and 10): what a caller may use, what it costs and how long it takes, of the kernel as a whole
//! and of each server.
//!
//! It decides what a manifest holds and for whom: only what the caller's list would hold. Nothing is kept of a manifest: it is
//! put together when it is asked for. An `etag` says whether anything has changed that a caller plans by; counters are left
//! out of it. Who asked once is told when it may be worth asking again.
//!
//! - `build.rs` one tool (pure). - `limits.rs` rates and quotas in a manifest's words (pure). - `times.rs` how long tools
//!   take. - `upstream.rs` the manifests of servers. - `own.rs` the kernel's own tools and scopes.

mod build;
mod limits;
mod own;
mod upstream;

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_bus::{Audience, Event};
use switchboard_catalog::count_tokens;
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::event::Severity;
use switchboard_protocol::proposals::manifest::declared::DeclaredManifest;
use switchboard_protocol::proposals::manifest::{
    GET_MANIFEST, LatencyClass, MANIFEST_CHANGED, MANIFEST_VERSION, ManifestNames, ManifestParams, ManifestServer,
    ManifestTool, Quota, RateLimits, ServiceManifest, SizeLimits, Truncated, manifest_version_of,
};
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_protocol::spoken::{NAME, PROPOSALS};
use switchboard_store::Digest;
use switchboard_upstream::{ListKind, Server};
use switchboard_validators::screen;
use switchboard_wire::{Edit, Notification, Raw};

use super::discovery::ToolFinder;
use super::house::{ManifestHouse, ServerDirectory, ServerView, Setup, ShownTool, ToolRoute};
use super::row::{Form, OwnMethod, OwnTool, run};
use build::{Built, Known};

/// For how many seconds a manifest need not be asked for again, unless a notice comes.
const TTL_SECONDS: u64 = 300;
/// The channel on which its changes are told.
pub(super) const CHANNEL: &str = "system.manifest.changed";
/// Letters of an etag.
const ETAG: usize = 32;

/// What the kernel keeps for manifests.
#[derive(Default)]
pub struct Manifests {
    asked: upstream::UpstreamManifests,
    /// The classes of times that were measured, at the last look.
    classes: Mutex<Vec<(Arc<str>, String, LatencyClass)>>,
}

impl Manifests {
    /// Whether a server says that it understands a proposal: in its capabilities, or in a manifest that was read.
    pub(crate) fn understands(&self, server: &Server, proposal: Proposal) -> bool {
        self.asked.understands(server, proposal)
    }
}

pub(super) const ROWS: &[OwnMethod] = &[OwnMethod::method(
    GET_MANIFEST,
    "What you may use here, as a plan needs it: tools with schemas, cost, latency (measured), quotas, \
        scopes, media types and sizes. Name a server or single tools to get less.",
    run!(house, call => ManifestService::of(house).get_manifest(call.context, call.read()?, call.form).await),
)
.tool(OwnTool::new(GET_MANIFEST, schema).only_reads().in_manifests_and_when(is_listed))];

/// Whether the tool is listed: for clients that speak any of the proposals, where no server's own is in its place.
fn is_listed<H: ServerDirectory + ?Sized>(house: &H, context: &Context) -> bool {
    let capabilities = &context.caller.capabilities;
    capabilities.as_bytes().len() > 2
        && house.view().tool(GET_MANIFEST).is_none()
        && !proposals::declared(capabilities).is_empty()
}

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "server_id": {"type": "string", "description": "Only this server"},
        "tools": {"type": "array", "items": {"type": "string"}, "description": "Only these tools, by name"},
        "if_none_match": {"type": "string", "description": "The etag of a manifest that you have"}}})
}

/// Puts manifests together, and tells of changed ones.
pub struct ManifestService<'a, H: ?Sized> {
    house: &'a H,
    manifests: &'a Manifests,
}

impl<'a, H: Setup + ?Sized> ManifestService<'a, H> {
    /// That of a house.
    pub fn of(house: &'a H) -> Self {
        Self { house, manifests: &house.services().manifests }
    }
}

impl<H: ManifestHouse + ?Sized> ManifestService<'_, H> {
    /// Answers `get_manifest`: all of it for a program, and for a model as much as a search may bring.
    async fn get_manifest(&self, context: &Context, asked: ManifestParams, form: Form) -> Result<Raw, Fault> {
        self.house.wait_for_servers().await;
        let view = self.house.view();
        let server = self.whose(context, &*view, asked.server_id.as_deref()).await?;
        let manifest = self.manifest_of(context, &*view, server.as_ref(), &asked, form).await?;
        self.house.note_manifest_reader(&context.session);
        if asked.if_none_match.is_some() && asked.if_none_match == manifest.etag {
            return Ok(Edit::empty()
                .set("not_modified", Raw::boolean(true))
                .set("etag", Raw::string(manifest.etag.as_deref().unwrap_or_default()))
                .set("manifest_ttl", Raw::number(TTL_SECONDS))
                .finish());
        }
        Raw::from_value(&manifest).map_err(Fault::internal)
    }

    /// The server that is asked about, if the caller may know of it; `None` for the kernel.
    async fn whose(
        &self,
        context: &Context,
        view: &dyn ServerView,
        id: Option<&str>,
    ) -> Result<Option<Arc<Server>>, Fault> {
        let Some(id) = id else { return Ok(None) };
        let entitlements = self.house.entitlements().await?;
        let who = self.house.requester(context);
        let found = view.servers().iter().find(|server| &**server.id() == id);
        let known = |server: &&Arc<Server>| self.house.sees(&*entitlements, &who, server);
        match found.filter(known) {
            Some(server) => Ok(Some(server.clone())),
            None if id == NAME => Ok(None),
            None => Err(Fault::new(FaultKind::UnknownResource, format!("there is no server `{id}`"))),
        }
    }

    async fn manifest_of(
        &self,
        context: &Context,
        view: &dyn ServerView,
        server: Option<&Arc<Server>>,
        asked: &ManifestParams,
        form: Form,
    ) -> Result<ServiceManifest, Fault> {
        let entitlements = self.house.entitlements().await?;
        let list = view.visible_tools(context).await?;
        let visible = names_of(&list);
        let wanted = |owner: &str| server.is_none_or(|server| &**server.id() == owner);
        let shown: Vec<_> =
            view.shown_tools().filter(|tool| wanted(tool.id) && visible.contains(tool.exposed)).collect();
        let said = self.said_by(view, server).await;
        let own = if server.is_none() { self.own_definitions(context, view).await } else { Vec::new() };
        let mut names = ManifestNames::default();
        let mut built: Vec<Built> = Vec::with_capacity(shown.len() + own.len());
        for ShownTool { id: owner, original, exposed, definition } in shown {
            let Some(route) = view.tool(exposed) else { continue };
            let Some(of) = view.server_at(route.server) else { continue };
            let said = said.iter().find(|(id, _)| &**id == owner).map(|(_, said)| &**said);
            built.push(self.built(of, &route, (original, exposed), definition, said, &mut names));
        }
        for definition in &own {
            let Some(exposed) = definition.member("name").and_then(|name| name.as_text()) else { continue };
            let known = Known { exposed: &exposed, server: NAME, ..Known::own(definition) };
            built.push(build::tool(known, &mut names));
        }
        if let Some(only) = &asked.tools {
            built.retain(|built| {
                let called = built.tool.call_name.as_ref().unwrap_or(&built.tool.name);
                only.iter().any(|name| name == called || *name == built.tool.name)
            });
        }
        let tools: Vec<&ManifestTool> = built.iter().map(|built| &built.tool).collect();
        let auth = own::auth_for(&*entitlements, self.house.session_ttl(), context, view, &tools);
        let (mut lasting, left) = self.limits_for(context, server);
        let own_words = server.and_then(|server| said.iter().find(|(id, _)| id == server.id())).map(|(_, said)| said);
        if let Some(theirs) = own_words.and_then(|said| said.rate_limits.clone()) {
            lasting = lasting.narrower(limits::without_rest(theirs));
        }
        let mut manifest =
            ServiceManifest::new(MANIFEST_VERSION, self.block_of(context, server, own_words), Vec::new())
                .auth(auth)
                .supported_extensions(self.extensions_of(server))
                .limits(self.sizes());
        manifest.rate_limits = Some(lasting).filter(|limits| !limits.is_empty());
        manifest.upstream_auth = own_words.and_then(|said| said.auth.clone());
        if form == Form::Tool && asked.tools.is_none() {
            manifest.truncated = self.cut_to_budget(&mut built);
        }
        manifest.etag = Some(etag(&manifest, &built)?);
        manifest.tools = built.into_iter().map(Built::finish).collect();
        manifest.manifest_ttl = Some(TTL_SECONDS);
        manifest.generated_at = Some(format!("{:.0}", Timestamp::now()));
        manifest.server.status = server.map(|server| server.state().as_str().to_owned());
        if let Some(left) = left {
            let limits = manifest.rate_limits.get_or_insert_default();
            (limits.remaining, limits.resets_at) = (left.remaining, left.resets_at);
        }
        Ok(manifest)
    }

    /// Every tool of the kernel that this client can call, listed or not.
    async fn own_definitions(&self, context: &Context, view: &dyn ServerView) -> Vec<Raw> {
        let mut tools = ToolFinder::of(self.house).finding_tools(context, view).await;
        tools.extend(self.house.own_tools(context));
        let name = |tool: &Raw| tool.member("name").and_then(|name| name.as_text());
        tools.retain(|tool| name(tool).is_some_and(|name| view.tool(&name).is_none()));
        tools
    }

    /// What a server says of itself. `route` leads to its tool for that.
    async fn declared_by(&self, server: &Arc<Server>, route: &ToolRoute) -> Option<Arc<DeclaredManifest>> {
        if !self.may_ask(server, route) {
            return None;
        }
        let (limits, audit) = (self.house.limits(), self.house.audit());
        let (said, has_changed) = self.manifests.asked.ask(server, &route.original, limits, audit).await;
        if has_changed {
            self.manifest_changed("server");
        }
        said
    }

    /// Whether a server's tool may be called without asking anybody.
    fn may_ask(&self, server: &Server, route: &ToolRoute) -> bool {
        let entitlements = self.house.latest_entitlements();
        let Some(policy) = route.policy.as_deref() else { return false };
        let asks = policy.assessment.confirm.is_some_and(|reason| self.house.asks_for(reason));
        let lacks = !entitlements.missing_permissions(server, Some(policy)).is_empty();
        !asks && !lacks && server.takes_calls().is_ok()
    }

    /// What servers say of themselves, those that do: of one, or of all.
    async fn said_by(
        &self,
        view: &dyn ServerView,
        only: Option<&Arc<Server>>,
    ) -> Vec<(Arc<str>, Arc<DeclaredManifest>)> {
        self.manifests.asked.retain(view);
        let tools = view.shown_tools().filter(|tool| tool.original == GET_MANIFEST);
        let asking = tools.filter_map(|tool| {
            let route = view.tool(tool.exposed)?;
            let server = view.server_at(route.server)?.clone();
            let wanted = only.is_none_or(|only| Arc::ptr_eq(only, &server));
            wanted.then_some(async move { Some((server.id().clone(), self.declared_by(&server, &route).await?)) })
        });
        futures_util::future::join_all(asking).await.into_iter().flatten().collect()
    }

    fn built(
        &self,
        server: &Arc<Server>,
        route: &ToolRoute,
        (original, exposed): (&str, &str),
        definition: &Raw,
        said: Option<&DeclaredManifest>,
        names: &mut ManifestNames,
    ) -> Built {
        let times = server.timings.known(original);
        let allowed = self.house.tool_allowance(server, original);
        let policy = route.policy.as_deref();
        let known = Known {
            exposed,
            server: server.id(),
            policy,
            confirms: policy
                .and_then(|policy| policy.assessment.confirm)
                .is_some_and(|reason| self.house.asks_for(reason)),
            said: said.and_then(|said| said.tool(original)),
            times: times.as_deref(),
            streams: server.streams(),
            limits: allowed.as_ref().map(|(allowance, _)| limits::lasting(allowance)).unwrap_or_default(),
            left: allowed.and_then(|(_, left)| left).map(|left| limits::left(left, Timestamp::now())),
            ..Known::own(definition)
        };
        build::tool(known, names)
    }

    /// What the caller is held to altogether: itself, and the server.
    fn limits_for(&self, context: &Context, server: Option<&Arc<Server>>) -> (RateLimits, Option<Quota>) {
        let own = self.house.principal_allowance(&context.session.principal);
        let servers = server.and_then(|server| self.house.server_allowance(server));
        let now = Timestamp::now();
        [own, servers].into_iter().flatten().fold(
            (RateLimits::default(), None),
            |(limits, left), (allowance, now_left)| {
                let now_left = now_left.map(|left| limits::left(left, now));
                (limits.narrower(limits::lasting(&allowance)), limits::scarcer(left, now_left))
            },
        )
    }

    fn block_of(
        &self,
        context: &Context,
        server: Option<&Arc<Server>>,
        said: Option<&Arc<DeclaredManifest>>,
    ) -> ManifestServer {
        let Some(server) = server else {
            let mut block = ManifestServer::new(NAME, env!("CARGO_PKG_VERSION"), context.caller.revision.as_str());
            block.description = Some("One door to many servers".to_owned());
            return block;
        };
        let hub = server.hub_now();
        let info = hub.as_ref().and_then(|hub| hub.connected.server.info.clone());
        let text = |key: &str| info.as_ref().and_then(|info| info.member(key)?.as_text());
        let written = text("version").unwrap_or_default();
        let version = manifest_version_of(&written);
        let revision = hub.as_ref().map_or(context.caller.revision, |hub| hub.revision());
        let name = text("name").filter(|name| shown(name)).unwrap_or_else(|| server.id().to_string());
        let mut block = ManifestServer::new(name, version, revision.as_str());
        let (description, homepage) = own::told_of(info.as_ref());
        block.description = description.or_else(|| said.and_then(|said| said.description.clone()));
        block.homepage = homepage.or_else(|| said.and_then(|said| said.homepage.clone()));
        block.server_id = Some(server.id().to_string());
        block.reported_version =
            Some(written).filter(|written| !written.is_empty() && *written != block.version && shown(written));
        block
    }

    fn extensions_of(&self, server: Option<&Arc<Server>>) -> Vec<String> {
        let spoken = |proposal: &Proposal| match server {
            None => PROPOSALS.contains(proposal),
            Some(server) => self.manifests.understands(server, *proposal),
        };
        let all = Proposal::WORDS.iter().filter_map(|word| Proposal::from_word(word));
        all.filter(spoken).map(|proposal| proposal.as_str().to_owned()).collect()
    }

    fn sizes(&self) -> SizeLimits {
        let bytes = |bytes: usize| u64::try_from(bytes).ok().filter(|_| bytes < usize::MAX);
        let (results, message) = (self.house.max_result_bytes(), self.house.limits().bytes);
        let mut sizes = SizeLimits::new();
        sizes.max_message_bytes = bytes(message);
        sizes.max_result_bytes = bytes(results.min(message));
        sizes
    }

    /// Leaves out what a model has no room for. The first tool is always there.
    fn cut_to_budget(&self, built: &mut Vec<Built>) -> Option<Truncated> {
        let room = self.house.tool_context().budget.discovery_reserve;
        let all = built.len();
        let mut tokens = 0;
        let fits = built.iter().take_while(|built| {
            tokens += Raw::from_value(&built.tool).map_or(0, |tool| count_tokens(tool.as_str()));
            tokens <= room
        });
        let count = fits.count().max(1);
        built.truncate(count);
        let omitted = u64::try_from(all.saturating_sub(count)).unwrap_or(u64::MAX);
        (omitted > 0)
            .then(|| Truncated::new(omitted, "the answer has room for no more; name `tools`, or a `server_id`"))
    }

    /// Tells who asked for a manifest that one has changed, and everybody who subscribed to that.
    pub fn manifest_changed(&self, why: &str) {
        let data = Edit::empty().set("reason", Raw::string(why)).finish();
        for session in self.house.clients().into_iter().filter(|session| self.house.reads_manifests(session)) {
            let _ = session.remote().notify(Notification::new(MANIFEST_CHANGED, Some(data.clone())));
        }
        let events = &self.house.services().events;
        if !events.are_wanted() {
            return;
        }
        events.publish(Event {
            id: events.new_id(),
            channel: CHANNEL.into(),
            server: None,
            via: None,
            severity: Severity::Info,
            at: Timestamp::now(),
            data,
            audience: Audience::Everybody,
            depth: 0,
        });
    }

    /// Looks whether tools have become slower or faster than manifests said.
    pub fn look_at_times(&self) {
        let view = self.house.view();
        let classes: Vec<_> = view
            .servers()
            .iter()
            .flat_map(|server| {
                server.timings.classes().into_iter().map(|(name, class)| (server.id().clone(), name, class))
            })
            .collect();
        let before = std::mem::replace(&mut *self.manifests.classes.lock(), classes.clone());
        if before != classes {
            self.manifest_changed("latency");
        }
    }
}

impl<'a> Known<'a> {
    /// A tool of which nothing is known but its definition.
    fn own(definition: &'a Raw) -> Self {
        Self {
            exposed: "",
            server: "",
            definition,
            policy: None,
            confirms: false,
            said: None,
            times: None,
            streams: false,
            limits: RateLimits::default(),
            left: None,
        }
    }
}

/// The names in a list.
fn names_of(list: &Raw) -> HashSet<String> {
    let items = list.member(ListKind::Tools.key()).and_then(|tools| tools.elements()).unwrap_or_default();
    items.iter().filter_map(|item| item.member("name")?.as_text()).collect()
}

/// Whether a text that nobody has accepted may be shown to a model.
fn shown(text: &str) -> bool {
    !screen::is_striking(text)
}

/// What names this state: everything but what changes with each call.
fn etag(manifest: &ServiceManifest, built: &[Built]) -> Result<String, Fault> {
    let mut text = serde_json::to_string(manifest).map_err(Fault::internal)?;
    for built in built {
        text.push('\n');
        text.push_str(&serde_json::to_string(&built.tool).map_err(Fault::internal)?);
    }
    Ok(Digest::of(text.as_bytes()).to_string().chars().take(ETAG).collect())
}
