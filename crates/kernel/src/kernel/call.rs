//! The call of a tool, from the client's request to its answer.
//!
//! It decides the order of what happens to a call: where the tool is, the gate, the server, the record, what is tried again
//! and what instead. Each of these is decided elsewhere.

use std::sync::Arc;

use http::HeaderValue;
use switchboard_exchange::{
    AdmittedCall, CallNames, CallQuestions, Forward, Live, NextAttempt, RepeatableCall, Repetition, StreamRequest,
    StreamedCall, TaskMode, goes_on, has_failed, has_worked, marked_as_fallback, told_of_unknown,
};
use switchboard_peer::{BoxFuture, Context, Reply};
use switchboard_policy::risk::Effect;
use switchboard_protocol::Era;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::{meta, method};
use switchboard_protocol::mgp::Extension;
use switchboard_protocol::mgp::metadata::Metadata;
use switchboard_wire::{Edit, Object, Raw, Request};

use super::answer::{rename, unknown_revision};
use super::{Kernel, no_such_tool, object_of, text_of, waiting};
use crate::directory::{Route, View};
use crate::gate::{self, Admission, Attempt, Permit, Sent, Subject, ToolPolicy};
use crate::names;
use crate::server::Server;
use crate::services::{self, Adviser, ToolFinder, ending};

/// What a call is called: its tool, by the client, and its trace.
#[derive(Clone, Copy)]
struct Called<'a> {
    name: &'a str,
    trace: &'a str,
    /// Whether a person agreed to it.
    agreed: bool,
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

/// The call of a tool as a client sent it.
struct CallRequest {
    /// As it is listed, whichever spelling the client used.
    name: String,
    request: Request,
    params: Object,
    metadata: Metadata,
}

impl CallRequest {
    /// Reads a request. Before it is known whether there is such a tool: what is wrong with a call must not tell.
    fn parse(view: &View, request: Request) -> Result<Self, Fault> {
        let params = object_of(&request)?;
        let name = view.directory.listed_tool(names::into_listed(text_of(&params, "name")?));
        let metadata = gate::metadata_beside(&params, &request)?;
        Ok(Self { name, request, params, metadata })
    }
}

/// Where a call goes.
enum Target {
    /// To a tool of a server.
    Tool(Arc<View>, Route),
    /// To a tool that an open page called by its server's name, and that clients know by this one.
    OfPage(String),
    /// To the kernel itself, or nowhere.
    Kernel,
}

impl Target {
    fn of(view: Arc<View>, name: &str) -> Self {
        match view.directory.tool(name) {
            Some(route) => Self::Tool(view, route),
            None => Self::Kernel,
        }
    }
}

/// A call on its way to a tool of a server.
struct ToolCall {
    name: String,
    /// The parameters as the client sent them, with what the operator fixed.
    params: Object,
    metadata: Metadata,
    trace: String,
    view: Arc<View>,
    route: Route,
    server: Arc<Server>,
    /// Whether a person agreed to it.
    agreed: bool,
}

impl ToolCall {
    /// The call, and the request that its server is to get.
    fn new(call: CallRequest, view: Arc<View>, route: Route) -> Result<(Self, Request), Fault> {
        let CallRequest { name, mut request, mut params, metadata } = call;
        if let Some(curated) = &route.curated {
            request = curated.filled(request)?;
            params = object_of(&request)?;
        }
        let server = view.server_at(route.server)?;
        let trace = gate::trace_of(&metadata);
        Ok((Self { name, params, metadata, trace, view, route, server, agreed: false }, request))
    }

    fn policy(&self) -> Result<&ToolPolicy, Fault> {
        self.route.policy.as_deref().ok_or_else(|| no_such_tool(&self.name))
    }

    /// What the gate judges.
    fn attempt<'a>(&'a self, context: &'a Context, request: &'a Request) -> Result<Attempt<'a>, Fault> {
        Ok(Attempt {
            subject: Subject::Tool,
            context,
            server: &self.server,
            exposed: &self.name,
            tool: &self.route.original,
            policy: self.policy()?,
            params: &self.params,
            raw: self.params.raw(),
            sent: None,
            within: None,
            trace: &self.trace,
            metadata: &self.metadata,
            request: Some(&request.id),
        })
    }
}

impl Kernel {
    /// The path of a call: the steps of the gate in their order, each decided elsewhere. Where a call fails and its server names
    /// another tool, that one may be called: not from there again.
    pub(super) async fn call_tool(&self, context: &Context, request: Request, fall_back: bool) -> Result<Reply, Fault> {
        // parse
        if let Some(error) = unknown_revision(context, &request) {
            return Ok(Err(error).into());
        }
        let view = self.view();
        let call = CallRequest::parse(&view, request)?;
        // server state
        let (view, route) = match target_now(view, &call) {
            Ok(target) => target,
            Err(view) => match Box::pin(self.target_in_time(context, view, &call)).await? {
                Target::Tool(view, route) => (view, route),
                Target::OfPage(name) => return Box::pin(self.call_of_page(context, call, &name, fall_back)).await,
                Target::Kernel => return Box::pin(self.call_own(context, call)).await,
            },
        };
        let (mut call, mut request) = ToolCall::new(call, view, route)?;
        let mut stream = StreamRequest::of(context, &call.server, call.params.raw(), &call.metadata);
        if let Some(reply) = self.resume_from_checkpoint(context, &call, &request, stream.as_mut()).await? {
            return Ok(reply);
        }
        self.takes_requests(context, &call.server, &request)?;
        // access, permissions, delegation, scopes, schema, validators, rate, confirmation, audit: the intent
        let (permit, cleaned) = match self.gate().admit(call.attempt(context, &request)?).await? {
            Admission::Go(permit, cleaned) => (permit, cleaned),
            Admission::Answer(reply) => {
                return Ok(Box::pin(self.exchange().repeated(context, &call.name, call.params.raw(), reply)).await);
            }
        };
        call.agreed = permit.was_agreed();
        // outbound
        let intent = self.prepare(context, &mut call, &mut request, cleaned)?;
        // execute
        if let Some(stream) = stream {
            return Box::pin(self.stream(context, call, request, stream, permit, intent)).await;
        }
        let again = Repetition::of(&call.server, &request);
        let mut outcome = self.execute_once(context, &call, request).await;
        let mut instead = None;
        if let Some(again) = again.filter(|_| has_failed(&outcome) && !goes_on(&call.params)) {
            (outcome, instead) = Box::pin(self.execute_again(context, &call, again, outcome, fall_back)).await;
        }
        // results, audit: the outcome
        let outcome = self.settle(&call, permit, outcome).await;
        if let Some(other) = instead
            && let Some(reply) = self.call_instead(context, other).await
        {
            return Ok(reply);
        }
        let reply = self.conclude(context, &call, outcome)?;
        match intent {
            Some(intent) => {
                Ok(Box::pin(Adviser::of(self).advised(context, &call.server, &call.name, &intent, reply)).await)
            }
            None => Ok(reply),
        }
    }

    /// The target of a call that is not just there: some are waited for.
    async fn target_in_time(&self, context: &Context, view: Arc<View>, call: &CallRequest) -> Result<Target, Fault> {
        let CallRequest { name, request, metadata, .. } = call;
        let params = request.params.as_ref();
        let named = waiting::Named { kernel: self, context, subject: Subject::Tool, name, params };
        let Some(route) = view.directory.tool(name) else {
            if let Some(exposed) = self.pages().tool(&view.directory, &context.session, name)? {
                return Ok(Target::OfPage(exposed));
            }
            // A client may call what it knows from before a restart, while the server is still coming up.
            named.until_known(|view| view.directory.tool(name).is_some()).await;
            return Ok(Target::of(self.view(), name));
        };
        if let Some(server) = away(&view, &route) {
            let back = gate::within_trace(metadata, None, named.until_back(server, &route.original)).await;
            // Servers are stopped at the end: that nobody can start them again is what the caller has to know.
            if back.map_err(|fault| if self.is_draining() { ending() } else { fault })? {
                // What is connected now may say other things of itself than what was: they count.
                return Ok(Target::of(self.view(), name));
            }
        }
        Ok(Target::Tool(view, route))
    }

    /// The call of a tool that is the kernel's own, or of none.
    async fn call_own(&self, context: &Context, call: CallRequest) -> Result<Reply, Fault> {
        let CallRequest { name, request, params, metadata } = call;
        if name == services::CALL
            && let Some(request) = ToolFinder::of(self).call_within(context, &request).await?
        {
            return self.call_found(context, request).await;
        }
        let arguments = params.get("arguments");
        let (context, request) = gate::scopes::lifted(context.clone(), request, || self.gate().others_tokens());
        let answering = async {
            match Box::pin(services::own_tool(self, &context, &name, &request, arguments.clone())).await {
                Some(answer) => answer,
                None => Err(self.unknown_tool(&context, &name).await),
            }
        };
        let metered = self.counted(&context, &name, answering);
        gate::within_trace(&metadata, arguments.as_ref(), metered).await
    }

    /// The answer to a call that goes on with an operation from a checkpoint; `None` for one that has to be made.
    async fn resume_from_checkpoint(
        &self,
        context: &Context,
        call: &ToolCall,
        request: &Request,
        stream: Option<&mut StreamRequest>,
    ) -> Result<Option<Reply>, Fault> {
        let Some(stream) = stream.filter(|stream| stream.brings_checkpoint()) else { return Ok(None) };
        let attempt = call.attempt(context, request)?;
        Box::pin(self.exchange().resume_call(&attempt, request, stream)).await
    }

    /// Makes a request what its server is to get: without what was for the gate, with trace and intent where the server
    /// knows them. The intent is given back.
    fn prepare(
        &self,
        context: &Context,
        call: &mut ToolCall,
        request: &mut Request,
        cleaned: Option<Raw>,
    ) -> Result<Option<String>, Fault> {
        // While a person was asked, another server may have taken the place of this one.
        if call.policy()?.may_ask() {
            let view = self.view();
            if let Some((server, route)) = view.replacement(&call.name, &call.server, &call.route) {
                (call.view, call.server, call.route) = (view, server, route);
                call.policy()?;
            }
        }
        if let Some(params) = cleaned {
            request.params = Some(params);
        }
        if let Some(params) = request.params.as_ref().and_then(gate::scopes::without_token) {
            request.params = Some(params);
        }
        let traced = gate::outbound::with_trace(&call.server, &call.metadata, request.params.as_ref(), &call.trace);
        if let Some(params) = traced {
            request.params = Some(params);
        }
        let intent = call.metadata.intent();
        if let Some(intent) = &intent
            && let Some(params) =
                Adviser::of(self).params_towards(context, &call.server, request.params.as_ref(), intent)
        {
            request.params = Some(params);
        }
        Ok(intent)
    }

    /// Makes a call whose result may come in pieces.
    async fn stream(
        &self,
        context: &Context,
        call: ToolCall,
        request: Request,
        stream: StreamRequest,
        permit: Permit,
        intent: Option<String>,
    ) -> Result<Reply, Fault> {
        let advice = intent.map(|intent| (call.server.clone(), call.name.clone(), intent));
        let streamed = StreamedCall {
            context: context.clone(),
            server: call.server.clone(),
            tool: call.route.original.clone(),
            exposed: call.name.as_str().into(),
            id: request.id.clone(),
            params: call.params.clone(),
            outbound: request.params.clone(),
            extra: request.extra.clone(),
            only_reads: only_reads(&call.route),
            call: PermittedCall { kernel: self.clone(), call, request, permit },
        };
        let exchange = self.exchange();
        let reply = Box::pin(exchange.call_streamed(streamed, stream)).await?;
        Ok(match advice {
            Some((server, name, intent)) => Adviser::of(self).advised(context, &server, &name, &intent, reply).await,
            None => reply,
        })
    }

    async fn execute_once(&self, context: &Context, call: &ToolCall, request: Request) -> Result<Reply, Fault> {
        let called = Called { name: &call.name, trace: &call.trace, agreed: call.agreed };
        let executed =
            self.execute(context, &call.view, &call.server, &call.route, request, &call.params, called, None);
        match call.params.get("_meta").and_then(|meta| meta.member("progressToken")) {
            Some(token) => Box::pin(waiting::with_signs_of_life(context, call.server.id(), &token, executed)).await,
            None => executed.await,
        }
    }

    /// Makes a call that failed again, as often as that is allowed and helps. What comes of it, and the tool that is to be
    /// called in its place.
    async fn execute_again(
        &self,
        context: &Context,
        call: &ToolCall,
        mut again: Repetition,
        mut outcome: Result<Reply, Fault>,
        fall_back: bool,
    ) -> (Result<Reply, Fault>, Option<(String, Raw)>) {
        let Ok(policy) = call.policy() else { return (outcome, None) };
        let (metadata, trace) = (&call.metadata, call.trace.as_str());
        let repeatable = RepeatableCall { tool: &call.route.original, policy, metadata, trace };
        let exchange = self.exchange();
        loop {
            match exchange.after_failure(context, &call.server, &repeatable, &mut again, &outcome).await {
                NextAttempt::Call(request) => {
                    // Said by us, so that what the server counts from nought again goes on above what was told.
                    if let Some(token) = call.params.get("_meta").and_then(|meta| meta.member("progressToken")) {
                        let message = format!("server `{}` did not finish; the call is made again", call.server.id());
                        let _ = context.remote.notify(gate::still_waits(&token, &message));
                    }
                    outcome = self.execute_once(context, call, *request).await;
                }
                NextAttempt::Tool(other) if fall_back => return (outcome, instead(call, &other, &again)),
                NextAttempt::Tool(_) | NextAttempt::Nothing => return (outcome, None),
            }
        }
    }

    /// Calls the tool that a server named in the place of another. Where that one is refused or fails too, the caller gets to
    /// know the first failure.
    fn call_instead<'a>(&'a self, context: &'a Context, (tool, params): (String, Raw)) -> BoxFuture<'a, Option<Reply>> {
        Box::pin(async move {
            let request = Request::new(switchboard_wire::Id::number(0), method::TOOLS_CALL, Some(params));
            let reply = self.call_tool(context, request, false).await.ok()?;
            has_worked(&reply).then(|| marked_as_fallback(reply, &tool))
        })
    }

    /// What came of a call as it may be passed on, put on record.
    async fn settle(&self, call: &ToolCall, permit: Permit, outcome: Result<Reply, Fault>) -> Result<Reply, Fault> {
        let outcome = self.gate().look_at_result(&call.server, outcome).await;
        self.gate().settle(permit, &outcome).await;
        outcome
    }

    /// The answer to a call, whether it came in pieces or not; what it means for those after it is remembered.
    fn conclude(&self, context: &Context, call: &ToolCall, outcome: Result<Reply, Fault>) -> Result<Reply, Fault> {
        let policy = call.policy()?;
        let reply = outcome.map_err(|fault| told_of_unknown(&call.server, policy, &call.metadata, fault))?;
        self.services().discovery.used(&context.session, &call.name);
        if call.route.app.as_ref().is_some_and(|app| app.resource.is_some()) {
            self.pages().opened(&context.session, call.server.id());
        }
        if policy.may_ask() {
            let sent = Sent::of_call(&call.params);
            self.gate().remember_midway(context, call.server.id(), &call.name, policy, &sent, &reply);
        }
        Ok(reply)
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
        ToolFinder::of(self).load_called(context, &name).await;
        Ok(reply)
    }

    /// The call of a tool that an open page made by its server's name.
    async fn call_of_page(
        &self,
        context: &Context,
        call: CallRequest,
        exposed: &str,
        fall_back: bool,
    ) -> Result<Reply, Fault> {
        let params = rename(&call.request, &call.name, exposed, "name")?;
        self.call_as(context, Request { params, ..call.request }, fall_back).await
    }

    /// Makes a call under another name than its client gave it.
    async fn call_as(&self, context: &Context, request: Request, fall_back: bool) -> Result<Reply, Fault> {
        // The client sent the headers of the call around it, and cannot know what this one would have needed. Its session
        // tokens hold all the same.
        let request = gate::scopes::lowered(context, request)?;
        let context = Context { headers: None, ..context.clone() };
        self.call_tool(&context, request, fall_back).await
    }

    /// Makes a call that passed the gate.
    #[expect(clippy::too_many_arguments, reason = "the parts of one call, found by its caller and used once")]
    async fn execute(
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
        let longest = route.policy.as_deref().and_then(|policy| self.gate().longest_by_scope(server, policy));
        let exchange = self.exchange();
        let live = live.cloned();
        let chain = || gate::chain_said(&context.session, params, &request.extra);
        let questions = called.questions(server, route, chain);
        // By the limits that hold before the call: what changes while it runs is judged when the task is asked about.
        let tool = asks_task.then(|| exchange.task_tool(context, server, (&route.original, name), chain()));
        let id = Some(request.id);
        let (method, extra) = (request.method, request.extra);
        let tokens = gate::tokens_of(context, Some(params.raw()));
        let agreed = called.agreed;
        let forward = Forward { method, params: renamed, extra, headers, longest, live, id, questions, tokens, agreed };
        let wish = match (params.has("task"), route.needs_task) {
            (true, _) => TaskMode::Requested,
            (false, true) => TaskMode::Needed,
            (false, false) => TaskMode::None,
        };
        let reply = match wish {
            TaskMode::None => exchange.forward(context, server, forward).await?,
            wish => Box::pin(exchange.forward_task(context, server, forward, wish)).await?,
        };
        if let Some(tool) = tool {
            Box::pin(exchange.note_task(context, server, tool, params, &reply)).await;
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
        let Ok(tables) = self.gate().tables().await else { return no_such_tool(name) };
        let may_have = |server: &'_ Arc<Server>| Some((server.clone(), view.own_name(server, name)?));
        let (named, denied): (Vec<_>, Vec<_>) =
            view.servers.iter().filter_map(may_have).partition(|(server, own)| {
                self.gate().access(&tables, &context.session, server, Some((own, name))).allow
            });
        if let ([], [(server, own), ..]) = (&named[..], &denied[..]) {
            let fault = no_such_tool(name);
            gate::blocked(self.gate(), context, Subject::Tool, (server.id(), own), gate::audit::step::ACCESS, &fault)
                .await;
            return fault;
        }
        let held = named.iter().find_map(|(server, _)| view.held_back(server, name));
        let away = || named.iter().find(|(server, _)| server.is_unknown());
        let (server, own, fault) = match (held, away(), named.first()) {
            (Some((hidden, fault)), ..) => (hidden.server.clone(), hidden.name.as_str(), fault),
            (None, Some((server, own)), _) => (server.id().clone(), *own, server.not_ready()),
            (None, None, Some((server, own))) => (server.id().clone(), *own, no_such_tool(name)),
            (None, None, None) => return no_such_tool(name),
        };
        gate::unavailable(self.gate(), context, Subject::Tool, (&server, own), &fault).await;
        fault
    }
}

/// A call of a tool that may be made.
struct PermittedCall {
    kernel: Kernel,
    call: ToolCall,
    /// What its server is to get, but for the parameters.
    request: Request,
    permit: Permit,
}

impl AdmittedCall for PermittedCall {
    async fn make(self, context: Context, params: Option<Raw>, live: Option<Arc<Live>>) -> Result<Reply, Fault> {
        let Self { kernel, call, request, permit } = self;
        let (server, called) = (&call.server, Called { name: &call.name, trace: &call.trace, agreed: call.agreed });
        let request = Request { params, ..request };
        let live = live.as_ref();
        let mut outcome =
            kernel.execute(&context, &call.view, server, &call.route, request, &call.params, called, live).await;
        if let (Ok(reply), Some(live)) = (&mut outcome, live)
            && let Ok(result) = &mut reply.outcome
        {
            *result = live.made_whole(std::mem::replace(result, Raw::empty_object()));
        }
        if let Some(fault) = live.and_then(|live| live.was_revoked()) {
            outcome = Err(fault);
        }
        let outcome = kernel.settle(&call, permit, outcome).await;
        kernel.conclude(&context, &call, outcome)
    }

    async fn refuse(self, refused: &Result<Reply, Fault>) {
        self.kernel.gate().settle(self.permit, refused).await;
    }
}

/// Whether a tool changes nothing.
fn only_reads(route: &Route) -> bool {
    route.policy.as_ref().is_some_and(|policy| policy.assessment.effect == Effect::None)
}

/// The parameters of a call of another tool of the same server, under the name that the client knows it by.
fn instead(call: &ToolCall, tool: &str, again: &Repetition) -> Option<(String, Raw)> {
    let mut tools = call.view.directory.tools();
    let (_, exposed, _) = tools.find(|(id, _, route)| *id == call.server.id() && &*route.original == tool)?;
    Some((exposed.to_owned(), again.params_for(exposed)?))
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

/// The target of a call whose server is connected, which is nearly always.
fn target_now(view: Arc<View>, call: &CallRequest) -> Result<(Arc<View>, Route), Arc<View>> {
    match view.directory.tool(&call.name) {
        Some(route) if away(&view, &route).is_none() => Ok((view, route)),
        _ => Err(view),
    }
}

/// The server of a tool, where it is not connected.
fn away<'a>(view: &'a View, route: &Route) -> Option<&'a Arc<Server>> {
    view.servers.get(route.server).filter(|server| server.hub_now().is_none())
}
