//! The call of a tool, from the client's request to its answer.
//!
//! It decides the order of what happens to a call: where the tool is, the gate, the server, the record, what is tried again
//! and what instead. Each of these is decided elsewhere.

use std::sync::Arc;

use http::HeaderValue;
use switchboard_peer::{BoxFuture, Context, Reply};
use switchboard_protocol::Era;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::{meta, method};
use switchboard_protocol::mgp::Extension;
use switchboard_protocol::mgp::metadata::Metadata;
use switchboard_wire::{Edit, Object, Raw, Request};

use super::answer::{rename, server_at, unknown_revision};
use super::{Kernel, View, object_of, repeat, text_of, waiting};
use crate::callbacks::{CallNames, CallQuestions};
use crate::directory::{Hidden, Route};
use crate::forward::{Forward, TaskMode};
use crate::gate::{self, Admission, Attempt, Sent, Subject};
use crate::names;
use crate::server::Server;
use crate::streams::{Live, StreamRequest, StreamedCall};
use crate::tasks::TaskTool;

/// What a call is called: its tool, by the client, and its trace.
#[derive(Clone, Copy)]
pub(crate) struct Called<'a> {
    pub(crate) name: &'a str,
    pub(crate) trace: &'a str,
}

impl Called<'_> {
    /// What is known of a call whose server may ask about it.
    fn questions(&self, server: &Server, route: &Route, chain: impl FnOnce() -> Arc<[String]>) -> CallQuestions {
        let names = || CallNames {
            tool: route.original.clone(),
            exposed: self.name.into(),
            trace: self.trace.into(),
            chain: chain(),
        };
        let call = server.agreed_on(Extension::Callbacks).then(|| Arc::new(names()));
        CallQuestions::of(call)
    }
}

impl Kernel {
    /// The call of a tool that a server named in the place of another.
    fn call_instead<'a>(&'a self, context: &'a Context, request: Request) -> BoxFuture<'a, Result<Reply, Fault>> {
        Box::pin(self.call_tool(context, request, false))
    }

    /// Calls a tool. Where it fails, and its server names another one, that one may be called: not from there again.
    pub(super) async fn call_tool(&self, context: &Context, request: Request, fall_back: bool) -> Result<Reply, Fault> {
        if context.caller.era() == Era::Legacy
            && let Some(error) = unknown_revision(&request)
        {
            return Ok(Err(error).into());
        }
        let params = object_of(&request)?;
        let name = self.view().directory.listed_tool(names::into_listed(text_of(&params, "name")?));
        // Before it is known whether there is such a tool: what is wrong with a call must not tell.
        let metadata = gate::metadata_beside(&params, &request)?;
        let mut view = self.view();
        let mut route = view.directory.tool(&name);
        if route.is_none()
            && let Some(exposed) = self.apps().tool(&view.directory, &context.session, &name)?
        {
            let params = rename(&request, &name, &exposed, "name")?;
            return Box::pin(self.call_as(context, Request { params, ..request }, fall_back)).await;
        }
        if route.is_none() {
            // A client may call what it knows from before a restart, while the server is still coming up.
            let named = waiting::Named {
                kernel: self,
                context,
                subject: Subject::Tool,
                name: &name,
                params: request.params.as_ref(),
            };
            Box::pin(named.until_known(|view| view.directory.tool(&name).is_some())).await;
            view = self.view();
            route = view.directory.tool(&name);
        } else if let Some((found, server)) = away(&view, route.as_ref())
            && Box::pin(self.comes_back(context, &request, &metadata, server, found, &name))
                .await
                // Servers are stopped at the end: that nobody can start them again is what the caller has to know.
                .map_err(|fault| if self.is_draining() { crate::services::lifecycle::ending() } else { fault })?
        {
            // What is connected now may say other things of itself than what was: they count.
            view = self.view();
            route = view.directory.tool(&name);
        }
        let Some(mut route) = route else {
            if name == crate::services::discovery::CALL
                && let Some(request) = Box::pin(self.call_within(context, &request)).await?
            {
                return Box::pin(self.call_found(context, request)).await;
            }
            let arguments = params.get("arguments");
            let answering = self.answer_as_tool(context, &name, &request, arguments.clone());
            return Box::pin(gate::within_trace(&metadata, arguments.as_ref(), answering)).await;
        };
        let (request, params) = match &route.curated {
            Some(curated) => {
                let request = curated.filled(request)?;
                let params = object_of(&request)?;
                (request, params)
            }
            None => (request, params),
        };
        let mut server = server_at(&view.servers, route.server)?;
        let (Some(policy), Some(raw)) = (&route.policy, &request.params) else {
            return Err(no_such_tool(&name));
        };
        let mut wish = StreamRequest::of(context, &server, raw, &metadata);
        let trace = gate::trace_of(&metadata);
        let attempt = Attempt {
            subject: Subject::Tool,
            context,
            server: &server,
            exposed: &name,
            tool: &route.original,
            policy,
            params: &params,
            raw,
            sent: None,
            within: None,
            trace: &trace,
            metadata: &metadata,
            request: Some(&request.id),
        };
        if let Some(wish) = wish.as_mut().filter(|wish| wish.resume.is_some())
            && let Some(reply) = Box::pin(self.resume_call(&attempt, &route, &request, wish)).await?
        {
            return Ok(reply);
        }
        let (permit, cleaned) = match self.admit(attempt).await? {
            Admission::Go(permit, cleaned) => (permit, cleaned),
            Admission::Answer(reply) => return Ok(Box::pin(self.repeated(context, &name, raw, reply)).await),
        };
        // While a person was asked, another server may have taken the place of this one.
        if policy.may_ask()
            && let Some(current) = self.replaced(&name, &server, &route)
        {
            (view, server, route) = current;
        }
        let Some(policy) = &route.policy else { return Err(no_such_tool(&name)) };
        let mut request = match cleaned {
            Some(params) => Request { params: Some(params), ..request },
            None => request,
        };
        if let Some(params) = request.params.as_ref().and_then(gate::scopes::without_token) {
            request.params = Some(params);
        }
        if let Some(params) = gate::outbound::with_trace(&server, &metadata, request.params.as_ref(), &trace) {
            request.params = Some(params);
        }
        let intent = metadata.intent();
        if let Some(intent) = &intent
            && let Some(params) = self.intent_towards(context, &server, request.params.as_ref(), intent)
        {
            request.params = Some(params);
        }
        if let Some(wish) = wish {
            let advice = intent.map(|intent| (context.clone(), server.clone(), name.clone(), intent));
            let context = context.clone();
            let underway = StreamedCall { context, view, server, route, request, params, name, trace, permit };
            let reply = Box::pin(self.call_streamed(underway, wish)).await?;
            return Ok(match advice {
                Some((context, server, name, intent)) => {
                    Box::pin(self.advised(&context, &server, &name, &intent, reply)).await
                }
                None => reply,
            });
        }
        let again = repeat::Again::of(&server, &request);
        let called = Called { name: &name, trace: &trace };
        let mut outcome = self.execute(context, &view, &server, &route, request, &params, called, None).await;
        let mut instead = None;
        if let Some(mut again) = again.filter(|_| repeat::has_failed(&outcome) && !repeat::goes_on(&params)) {
            let tool = repeat::Tool { name: &route.original, policy, metadata: &metadata, trace: &trace };
            loop {
                match Box::pin(self.after_failure(context, &server, &tool, &mut again, &outcome)).await {
                    repeat::Next::Call(request) => {
                        let calling = self.execute(context, &view, &server, &route, *request, &params, called, None);
                        outcome = Box::pin(calling).await;
                    }
                    repeat::Next::Tool(other) if fall_back => {
                        instead = self.instead(&view, &server, &other, &again);
                        break;
                    }
                    repeat::Next::Tool(_) | repeat::Next::Nothing => break,
                }
            }
        }
        let outcome = self.look_at_result(&server, outcome).await;
        self.settle(permit, &outcome).await;
        if let Some((tool, params)) = instead {
            let request = Request::new(switchboard_wire::Id::number(0), method::TOOLS_CALL, Some(params));
            // Where that one is refused or fails too, the caller gets to know the first failure.
            if let Ok(reply) = self.call_instead(context, request).await
                && repeat::has_worked(&reply)
            {
                return Ok(repeat::marked(reply, &tool));
            }
        }
        let reply = outcome.map_err(|fault| repeat::told_of_unknown(&server, policy, &metadata, fault))?;
        self.discovery().used(&context.session, &name);
        if route.app.as_ref().is_some_and(|app| app.resource.is_some()) {
            self.apps().opened(&context.session, server.id());
        }
        if policy.may_ask() {
            self.remember_midway(context, server.id(), &name, policy, &Sent::of_call(&params), &reply);
        }
        match intent {
            Some(intent) => Ok(Box::pin(self.advised(context, &server, &name, &intent, reply)).await),
            None => Ok(reply),
        }
    }

    /// Answers the call of a tool that is the kernel's own, or says why there is none of this name.
    async fn answer_as_tool(
        &self,
        context: &Context,
        name: &str,
        request: &Request,
        arguments: Option<Raw>,
    ) -> Result<Reply, Fault> {
        self.meter_own(context, name)?;
        match Box::pin(self.own_tool(context, name, request, arguments)).await {
            Some(answer) => answer,
            None => Err(self.unknown_tool(context, name).await),
        }
    }

    /// The same tool at the server that took the place of this one; `None` where it is still there.
    fn replaced(&self, name: &str, server: &Arc<Server>, route: &Route) -> Option<(Arc<View>, Arc<Server>, Route)> {
        let view = self.view();
        let found = view.directory.tool(name)?;
        let now = view.servers.get(found.server)?.clone();
        let definition = |route: &Route| route.policy.as_ref().and_then(|policy| policy.definition());
        let same =
            now.id() == server.id() && found.original == route.original && definition(&found) == definition(route);
        (same && !Arc::ptr_eq(&now, server)).then_some((view, now, found))
    }

    /// Makes the call that `mgp_tools_call` stands for. It passes the gate under the tool's own name.
    async fn call_found(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let name = text_of(&object_of(&request)?, "name")?;
        let mut reply = self.call_as(context, request, true).await?;
        // A host shows the page of the tool that it called, and it called another one.
        let directory = &self.view().directory;
        let page = directory.tool(&name).and_then(|route| Some((route.server, route.app?.resource.clone()?)));
        if let (Some((server, uri)), Ok(result)) = (page, &reply.outcome) {
            reply.outcome = Ok(with_page(result, &directory.exposed_uri(server, &uri)));
        }
        self.load_called(context, &name).await;
        Ok(reply)
    }

    /// Makes a call under another name than its client gave it.
    async fn call_as(&self, context: &Context, request: Request, fall_back: bool) -> Result<Reply, Fault> {
        // The client sent the headers of the call around it, and cannot know what this one would have needed.
        let context = Context { headers: None, ..context.clone() };
        self.call_tool(&context, request, fall_back).await
    }

    /// Waits for a server that is on its way up; `false` if this caller may not use the tool anyway.
    async fn comes_back(
        &self,
        context: &Context,
        request: &Request,
        metadata: &Metadata,
        server: &Arc<Server>,
        route: &Route,
        name: &str,
    ) -> Result<bool, Fault> {
        let params = request.params.as_ref();
        let named = waiting::Named { kernel: self, context, subject: Subject::Tool, name, params };
        gate::within_trace(metadata, None, named.until_back(server, &route.original)).await
    }

    /// Makes a call that passed the gate.
    #[expect(clippy::too_many_arguments, reason = "the parts of one call, found by its caller and used once")]
    pub(crate) async fn execute(
        &self,
        context: &Context,
        view: &View,
        server: &Arc<Server>,
        route: &Route,
        request: Request,
        params: &Object,
        called: Called<'_>,
        live: Option<&Arc<Live>>,
    ) -> Result<Reply, Fault> {
        let name = called.name;
        let mut headers = Vec::new();
        if let Some(wanted) = &route.param_headers {
            let arguments = params.get("arguments");
            if let (Some(given), Era::Modern) = (&context.headers, context.caller.era()) {
                wanted.check(
                    |name| given.get_all(name).iter().map(HeaderValue::as_bytes).collect(),
                    arguments.as_ref(),
                )?;
            }
            headers = wanted.headers(arguments.as_ref())?;
        }
        let modern = context.caller.era() == Era::Modern;
        let asks_task = params.has("task") || modern && context.caller.can(&["extensions", meta::TASKS_EXTENSION]);
        let renamed = rename(&request, name, &route.original, "name")?;
        let longest = route.policy.as_deref().and_then(|policy| self.longest_by_scope(server, policy));
        let live = live.cloned();
        let chain = || gate::chain_said(&context.session, params, &request.extra);
        let questions = called.questions(server, route, chain);
        // By the limits that hold before the call: what changes while it runs is judged when the task is asked about.
        let tool = asks_task.then(|| TaskTool::of_call(self, context, server, (&route.original, name), chain()));
        let id = Some(request.id);
        let (method, extra) = (request.method, request.extra);
        let tokens = gate::tokens_of(context, Some(params.raw()));
        let forward = Forward { method, params: renamed, extra, headers, longest, live, id, questions, tokens };
        let wish = match (params.has("task"), route.needs_task) {
            (true, _) => TaskMode::Requested,
            (false, true) => TaskMode::Needed,
            (false, false) => TaskMode::None,
        };
        let reply = match wish {
            TaskMode::None => self.forward(context, server, forward).await?,
            wish => Box::pin(self.forward_task(context, server, forward, wish)).await?,
        };
        if let Some(tool) = tool {
            Box::pin(self.note_task(context, server, tool, params, &reply)).await;
        }
        self.note_mentions(context, view, server, &reply);
        Ok(reply)
    }

    /// Why there is no such tool. A server that never came up may well have it, and its user wants to know why it did not.
    /// Where the name is of a server, the refusal is on record.
    async fn unknown_tool(&self, context: &Context, name: &str) -> Fault {
        if context.cancel.is_cancelled() {
            return Fault::new(FaultKind::Cancelled, "the call was cancelled");
        }
        let view = self.view();
        let Ok(tables) = self.tables().await else { return no_such_tool(name) };
        let may_have = |server: &'_ Arc<Server>| Some((server.clone(), waiting::own_name(&view, server, name)?));
        let (named, denied): (Vec<_>, Vec<_>) = view
            .servers
            .iter()
            .filter_map(may_have)
            .partition(|(server, own)| self.access(&tables, &context.session, server, Some((own, name))).allow);
        if let ([], [(server, own), ..]) = (&named[..], &denied[..]) {
            let fault = no_such_tool(name);
            gate::blocked(self, context, Subject::Tool, (server.id(), own), "access", &fault).await;
            return fault;
        }
        let held = named.iter().find_map(|(server, _)| held_back(&view, server, name));
        let away = || named.iter().find(|(server, _)| server.is_unknown());
        let (server, own, fault) = match (held, away(), named.first()) {
            (Some((hidden, fault)), ..) => (hidden.server.clone(), hidden.name.as_str(), fault),
            (None, Some((server, own)), _) => (server.id().clone(), *own, server.not_ready()),
            (None, None, Some((server, own))) => (server.id().clone(), *own, no_such_tool(name)),
            (None, None, None) => return no_such_tool(name),
        };
        gate::unavailable(self, context, Subject::Tool, (&server, own), &fault).await;
        fault
    }
}

/// A result that names the page which shows it, unless it does so itself.
fn with_page(result: &Raw, uri: &str) -> Raw {
    if result.at(&["_meta", "ui"]).is_some() {
        return result.clone();
    }
    let ui = Edit::empty().set("resourceUri", Raw::string(uri)).finish();
    let paged = Edit::of(result).and_then(|edit| edit.within("_meta", |meta| meta.set("ui", ui)));
    paged.map_or_else(|_| result.clone(), Edit::finish)
}

/// A tool of this name that its server has and that is not shown, and why it is not.
fn held_back<'v>(view: &'v View, server: &Server, name: &str) -> Option<(&'v Hidden, Fault)> {
    let alone = view.stands_alone(server.id());
    let of_name = |hidden: &&Hidden| {
        hidden.server == *server.id()
            && (alone && hidden.name == name
                || server.naming().expose(&hidden.name) == name
                || names::expose(&hidden.server, &hidden.name) == name)
    };
    view.directory.hidden.iter().filter(of_name).find_map(|hidden| {
        let (kind, text) = if hidden.disabled {
            (FaultKind::ToolDisabled, format!("`{name}` cannot be used: {}", hidden.why))
        } else if hidden.conflicts_with.is_some() {
            (FaultKind::ToolNameConflict, format!("`{name}` cannot be used: {}", hidden.why))
        } else if hidden.unfit || server.quarantine().contains_key(&hidden.name) {
            (FaultKind::DefinitionHeld, format!("`{name}` is held back: {}", hidden.why))
        } else {
            return None;
        };
        Some((hidden, Fault::new(kind, text).from_server(hidden.server.as_ref())))
    })
}

/// The server of a tool, where it is not connected.
fn away<'a>(view: &'a View, route: Option<&'a Route>) -> Option<(&'a Route, &'a Arc<Server>)> {
    let route = route?;
    let server = view.servers.get(route.server)?;
    server.hub_now().is_none().then_some((route, server))
}

pub(crate) fn no_such_tool(name: &str) -> Fault {
    Fault::new(FaultKind::UnknownTool, format!("Unknown tool: {name}"))
}
