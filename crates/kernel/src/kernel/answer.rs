//! The table from a client's message to what is done about it.

use std::sync::{Arc, LazyLock};

use http::HeaderValue;
use memchr::memmem::Finder;
use switchboard_guard::risk::Effect;
use switchboard_peer::{BoxFuture, Context, Handler, Reply, Session};
use switchboard_protocol::fault::{Fault, FaultKind, Rendering};
use switchboard_protocol::mcp::{meta, method};
use switchboard_protocol::mgp::{self, Extension, TrustLevel};
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{Edit, ErrorObject, Notification, Object, Raw, Request};

use super::{Kernel, LEVEL_WAIT, View, repeat};
use crate::clients::{ClientState, level_index};
use crate::directory::{ListKind, Route};
use crate::forward::{Forward, TaskWish, failed, malformed, send_level};
use crate::gate::{self, Admission, Attempt, audit};
use crate::server::Server;
use crate::streams::{Live, Underway, Wish};
use crate::{bridge, welcome};

/// How notifications of MGP begin.
pub(crate) const OF_MGP: &str = "notifications/mgp.";

impl Handler for Kernel {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            // What else the client speaks is looked up only where there is something to be said in it.
            let plain = Rendering::new(context.caller.revision, &request.method);
            let is_call = &*request.method == method::TOOLS_CALL;
            // Nearly all requests are tool calls. The rest has a future of its own, so that a call need not carry, and
            // have allocated and copied, the largest of them all.
            let answered = if is_call {
                self.call_tool(&context, request, true).await
            } else {
                Box::pin(async {
                    let (context, request) = gate::scopes::lifted(context.clone(), request);
                    self.answer(&context, request).await
                })
                .await
            };
            match answered {
                Ok(Reply { outcome: Err(error), extra }) => {
                    // A server's own error passes; only a code that the client's revision forbids is changed.
                    Reply { outcome: Err(Fault::upstream("", error).render(&in_dialects_of(&context, plain))), extra }
                }
                Ok(reply) => reply,
                Err(fault) => {
                    tracing::debug!(session = %context.session.id, %fault, "refused");
                    told(&context, plain, is_call, &fault)
                }
            }
        })
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match &*notification.method {
                method::INITIALIZED | method::CANCELLED | method::PROGRESS => {}
                mgp::method::STREAM_PACE_NOTICE | mgp::method::STREAM_GAP => {
                    self.told_about_stream(&context, &notification).await;
                }
                // What a kernel says to servers is not for clients to say.
                name if name.starts_with(OF_MGP) => {}
                _ => self.pass_on(&context, &notification).await,
            }
        })
    }

    fn opened(&self, session: &Arc<Session>) {
        self.0.clients.lock().insert(session.id.clone(), session.clone());
    }

    fn closed(&self, session: &Arc<Session>) {
        self.0.clients.lock().remove(&session.id);
        self.end_subscriptions_of(&session.id);
        self.session_ended(&session.id);
        if let Some(state) = session.existing_state::<ClientState>() {
            let kernel = self.clone();
            self.spawn(async move {
                state.close(&kernel).await;
                if state.level().is_some() {
                    // Those who stay may want less.
                    kernel.share_level().await;
                }
            });
        }
    }
}

impl Kernel {
    async fn answer(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        if context.caller.era() == Era::Legacy
            && let Some(error) = unknown_revision(&request)
        {
            return Ok(Err(error).into());
        }
        if !bridge::exists_in(&request.method, context.caller.era()) {
            return Err(no_such_method(&request.method));
        }
        match &*request.method {
            method::INITIALIZE => {
                let reply = self.initialize(context, request.params.as_ref()).await;
                ClientState::of(&context.session).introduce();
                Ok(reply)
            }
            method::DISCOVER => Ok(self.discover(context).await),
            method::PING => Ok(Ok(Raw::empty_object()).into()),
            method::TOOLS_LIST => self.list(context, ListKind::Tools, &request).await,
            method::PROMPTS_LIST => self.list(context, ListKind::Prompts, &request).await,
            method::RESOURCES_LIST => self.list(context, ListKind::Resources, &request).await,
            method::RESOURCES_TEMPLATES_LIST => self.list(context, ListKind::Templates, &request).await,
            method::PROMPTS_GET => self.get_prompt(context, request).await,
            method::RESOURCES_READ => self.read_resource(context, request).await,
            method::RESOURCES_SUBSCRIBE => self.subscribe(context, request).await,
            method::RESOURCES_UNSUBSCRIBE => self.unsubscribe(context, &request).await,
            method::COMPLETE => self.complete(context, request).await,
            method::SET_LEVEL => self.set_level(context, &request).await,
            method::SUBSCRIPTIONS_LISTEN => self.listen(context, request).await,
            method::TASKS_GET | method::TASKS_RESULT | method::TASKS_CANCEL | method::TASKS_UPDATE => {
                self.task_request(context, request).await
            }
            method::TASKS_LIST => self.list_tasks(context, request).await,
            _ => match self.flow_method(context, &request).await {
                Some(answer) => answer,
                None => match self.own_method(context, &request).await {
                    Some(answer) => answer,
                    None => self.unknown_method(context, request).await,
                },
            },
        }
    }

    async fn list(&self, context: &Context, kind: ListKind, request: &Request) -> Result<Reply, Fault> {
        let cursor = request.params.as_ref().and_then(|params| params.member("cursor"));
        if cursor.is_some_and(|cursor| cursor.as_text().is_none_or(|text| !text.is_empty())) {
            return Err(Fault::new(FaultKind::InvalidParams, "unknown cursor: this list has one page"));
        }
        self.wait_for_servers().await;
        let view = self.view();
        let mut list = self.visible(context, &view, kind).await?;
        if kind == ListKind::Tools {
            list = self.narrowed(context, &view, list).await;
        }
        if kind == ListKind::Tools && self.shows_own_tools(context) {
            list = with_own_tools(&list, &self.own_tools());
        }
        if kind == ListKind::Tools {
            let own = [
                self.lifecycle_tools(context),
                self.flow_tools(context),
                self.manifest_tools(context),
                self.registry_tools(context),
            ];
            let own = own.concat();
            if !own.is_empty() {
                list = with_own_tools(&list, &own);
            }
        }
        Ok(Ok(match context.caller.era() {
            Era::Legacy => list,
            Era::Modern => bridge::modern_result(list, &request.method),
        })
        .into())
    }

    /// The call of a tool that a server named in the place of another.
    fn call_instead<'a>(&'a self, context: &'a Context, request: Request) -> BoxFuture<'a, Result<Reply, Fault>> {
        Box::pin(self.call_tool(context, request, false))
    }

    /// Calls a tool. Where it fails, and its server names another one, that one may be called: not from there again.
    async fn call_tool(&self, context: &Context, request: Request, fall_back: bool) -> Result<Reply, Fault> {
        if context.caller.era() == Era::Legacy
            && let Some(error) = unknown_revision(&request)
        {
            return Ok(Err(error).into());
        }
        let params = object_of(&request)?;
        let name = text_of(&params, "name")?;
        // Before it is known whether there is such a tool: what is wrong with a call must not tell.
        let metadata = gate::metadata_beside(&params, &request)?;
        let mut view = self.view();
        let mut route = view.directory.tool(&name);
        if route.is_none() {
            // A client may call what it knows from before a restart, while the server is still coming up.
            Box::pin(self.wait_for_servers()).await;
            view = self.view();
            route = view.directory.tool(&name);
        } else if Box::pin(self.comes_back(context, &view, route.as_ref(), &name)).await? {
            // What is connected now may say other things of itself than what was: they count.
            view = self.view();
            route = view.directory.tool(&name);
        }
        let Some(route) = route else {
            if name == crate::discovery::CALL
                && let Some(request) = Box::pin(self.call_within(context, &request)).await?
            {
                return Box::pin(self.call_found(context, request)).await;
            }
            if name.starts_with(crate::names::RESERVED)
                && let Some(answer) = Box::pin(self.own_tool(context, &name, params.get("arguments"))).await
            {
                return answer;
            }
            if let Some(answer) = Box::pin(self.flow_tool(context, &request.id, &name, params.get("arguments"))).await {
                return answer;
            }
            if let Some(answer) = Box::pin(self.scope_tool(context, &name, &request)).await {
                return answer;
            }
            return Err(self.unknown_tool(context, &name).await);
        };
        let server = server_at(&view.servers, route.server)?;
        let (Some(policy), Some(raw)) = (&route.policy, &request.params) else {
            return Err(no_such_tool(&name));
        };
        let mut wish = Wish::of(context, &server, raw, &metadata);
        if let Some(wish) = wish.as_mut().filter(|wish| wish.resume.is_some())
            && let Some(reply) = Box::pin(self.resume_call(context, &server, &route, &request, wish)).await?
        {
            return Ok(reply);
        }
        let trace = gate::trace_of(&metadata);
        let attempt = Attempt {
            context,
            server: &server,
            exposed: &name,
            tool: &route.original,
            policy,
            params: &params,
            raw,
            trace: trace.clone(),
            metadata: &metadata,
        };
        let (permit, cleaned) = match self.admit_tool(attempt).await? {
            Admission::Go(permit, cleaned) => (permit, cleaned),
            Admission::Answer(reply) => return Ok(Box::pin(self.repeated(context, &name, raw, reply)).await),
        };
        let mut request = match cleaned {
            Some(params) => Request { params: Some(params), ..request },
            None => request,
        };
        if let Some(params) = request.params.as_ref().and_then(gate::scopes::without_token) {
            request.params = Some(params);
        }
        if let Some(params) = gate::towards::with_trace(&server, &metadata, request.params.as_ref(), &trace) {
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
            let underway = Underway { context, view, server, route, request, params, name, permit };
            let reply = Box::pin(self.call_streamed(underway, wish)).await?;
            return Ok(match advice {
                Some((context, server, name, intent)) => {
                    Box::pin(self.advised(&context, &server, &name, &intent, reply)).await
                }
                None => reply,
            });
        }
        let again = repeat::Again::of(&server, &request);
        let mut outcome = self.execute(context, &view, &server, &route, request, &params, &name, None).await;
        let mut instead = None;
        if let Some(mut again) = again.filter(|_| repeat::has_failed(&outcome) && !repeat::goes_on(&params)) {
            let tool = repeat::Tool { name: &route.original, policy, metadata: &metadata, trace: &trace };
            loop {
                match Box::pin(self.after_failure(context, &server, &tool, &mut again, &outcome)).await {
                    repeat::Next::Call(request) => {
                        let calling = self.execute(context, &view, &server, &route, *request, &params, &name, None);
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
        let reply = outcome?;
        self.discovery().used(&context.session.principal, &name);
        if policy.assessment.confirm.is_some() {
            self.remember_midway(context, server.id(), &params, &reply);
        }
        match intent {
            Some(intent) => Ok(Box::pin(self.advised(context, &server, &name, &intent, reply)).await),
            None => Ok(reply),
        }
    }

    /// Makes the call that `mgp.tools.call` stands for. It passes the gate under the tool's own name.
    async fn call_found(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        // The client sent the headers of the call around it, and cannot know what this one would have needed.
        let context = Context { headers: None, ..context.clone() };
        let name = text_of(&object_of(&request)?, "name")?;
        let reply = self.call_tool(&context, request, true).await?;
        self.load_called(&context, &name).await;
        Ok(reply)
    }

    /// Waits for a server that is on its way up, if this caller may use the tool at all; `false` if it is there.
    async fn comes_back(
        &self,
        context: &Context,
        view: &View,
        route: Option<&Route>,
        name: &str,
    ) -> Result<bool, Fault> {
        let Some((route, server)) = route.and_then(|route| Some((route, view.servers.get(route.server)?))) else {
            return Ok(false);
        };
        if server.hub_now().is_some() {
            return Ok(false);
        }
        let tables = self.tables().await?;
        if !self.access(&tables, &context.session, server, Some((&route.original, name))).allow {
            return Ok(false);
        }
        server.hub().await.map(|_| true)
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
        name: &str,
        live: Option<&Arc<Live>>,
    ) -> Result<Reply, Fault> {
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
        let id = Some(request.id);
        let forward =
            Forward { method: request.method, params: renamed, extra: request.extra, headers, longest, live, id };
        let wish = match (params.has("task"), route.needs_task) {
            (true, _) => TaskWish::Asked,
            (false, true) => TaskWish::Needed,
            (false, false) => TaskWish::None,
        };
        let reply = match wish {
            TaskWish::None => self.forward(context, server, forward).await?,
            wish => Box::pin(self.forward_task(context, server, forward, wish)).await?,
        };
        if asks_task {
            self.note_task(context, server, name, &reply);
        }
        self.note_mentions(context, view, server, &reply);
        Ok(reply)
    }

    async fn get_prompt(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let name = text_of(&object_of(&request)?, "name")?;
        let mut view = self.view();
        let mut route = view.directory.prompt(&name);
        if route.is_none() {
            self.wait_for_servers().await;
            view = self.view();
            route = view.directory.prompt(&name);
        }
        let route = route.ok_or_else(|| no_such_prompt(&name))?;
        let server = server_at(&view.servers, route.server)?;
        self.admit(context, &server, &request.method, request.params.as_ref(), || no_such_prompt(&name)).await?;
        let params = rename(&request, &name, &route.original, "name")?;
        let reply = self.forward(context, &server, plain(request, params)).await?;
        self.note_read(context, &server, "prompt", &name, &reply).await;
        self.note_mentions(context, &view, &server, &reply);
        Ok(reply)
    }

    async fn read_resource(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let uri = text_of(&object_of(&request)?, "uri")?;
        let (server, original) = self.await_resource(&uri, context).await?;
        self.admit(context, &server, &request.method, request.params.as_ref(), || unknown_resource(&uri)).await?;
        let params = rename(&request, &uri, &original, "uri")?;
        let mut reply = self.forward(context, &server, plain(request, params)).await?;
        self.note_read(context, &server, "resource", &uri, &reply).await;
        if original != uri {
            reply.outcome = reply.outcome.map(|result| contents_known_as(&result, &original, &uri));
        }
        Ok(reply)
    }

    /// The server that has a resource, waited for while servers are starting.
    async fn await_resource(&self, uri: &str, context: &Context) -> Result<(Arc<Server>, String), Fault> {
        if let Some(found) = self.find_resource(uri, &context.session.principal) {
            return Ok(found);
        }
        self.wait_for_servers().await;
        self.find_resource(uri, &context.session.principal).ok_or_else(|| unknown_resource(uri))
    }

    async fn subscribe(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let uri = text_of(&object_of(&request)?, "uri")?;
        let (server, original) = self.await_resource(&uri, context).await?;
        self.admit(context, &server, &request.method, request.params.as_ref(), || unknown_resource(&uri)).await?;
        let hub = server.hub().await?;
        let params = rename(&request, &uri, &original, "uri")?;
        let state = ClientState::of(&context.session);
        let key = (server.id().clone(), original.clone());
        // Counted before it is noted: once it is noted, the end of the session takes it back.
        let watched = server.watched.has(&original);
        server.watched.add(&original);
        match state.watch(key.clone()) {
            Ok(false) if watched => {
                server.watched.remove(&original);
                return Ok(Ok(Raw::empty_object()).into());
            }
            Ok(_) => {}
            Err(fault) => {
                server.watched.remove(&original);
                return Err(fault);
            }
        }
        let mut begun = Begun { kernel: self, state: &state, key: Some(key.clone()) };
        let outcome = server.ask_to_watch(&hub, &original, params).await;
        begun.key = None;
        match outcome {
            Ok(result) => Ok(Ok(result).into()),
            Err(outcome) => {
                // Where the session has ended meanwhile, its end has taken it back.
                if state.watches.lock().remove(&key) {
                    server.watched.remove(&original);
                }
                match outcome {
                    crate::server::CallOutcome::Refused(error) => Ok(Err(error).into()),
                    crate::server::CallOutcome::Failed(error) => Err(failed(&server, error)),
                }
            }
        }
    }

    async fn unsubscribe(&self, context: &Context, request: &Request) -> Result<Reply, Fault> {
        let uri = text_of(&object_of(request)?, "uri")?;
        let (server, original) =
            self.find_resource(&uri, &context.session.principal).ok_or_else(|| unknown_resource(&uri))?;
        let known = ClientState::of(&context.session).watches.lock().remove(&(server.id().clone(), original.clone()));
        if known {
            server.unwatch_resource(&original).await;
        } else {
            self.admit(context, &server, &request.method, request.params.as_ref(), || unknown_resource(&uri)).await?;
        }
        Ok(Ok(Raw::empty_object()).into())
    }

    async fn complete(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let params = object_of(&request)?;
        let reference = params.get("ref").ok_or_else(|| missing("ref"))?;
        let reference = Object::open(&reference).map_err(malformed)?;
        self.wait_for_servers().await;
        let view = self.view();
        let (key, named) = match reference.text("type").as_deref() {
            Some("ref/prompt") => ("name", text_of(&reference, "name")?),
            Some("ref/resource") => ("uri", text_of(&reference, "uri")?),
            _ => return Err(Fault::new(FaultKind::InvalidParams, "`ref.type` is neither ref/prompt nor ref/resource")),
        };
        let route = match key {
            "name" => view.directory.prompt(&named).ok_or_else(|| no_such_prompt(&named))?,
            _ => view.directory.template(&named).ok_or_else(|| unknown_resource(&named))?,
        };
        let server = server_at(&view.servers, route.server)?;
        let unknown = || if key == "name" { no_such_prompt(&named) } else { unknown_resource(&named) };
        self.admit(context, &server, &request.method, request.params.as_ref(), unknown).await?;
        let edited = if *named == *route.original {
            request.params.clone()
        } else {
            let edit = Edit::of_optional(request.params.as_ref()).map_err(malformed)?;
            let original = Raw::string(&route.original);
            Some(edit.within("ref", |inner| inner.set(key, original)).map_err(malformed)?.finish())
        };
        self.forward(context, &server, plain(request, edited)).await
    }

    async fn set_level(&self, context: &Context, request: &Request) -> Result<Reply, Fault> {
        let level = text_of(&object_of(request)?, "level")?;
        let index = level_index(&level)
            .ok_or_else(|| Fault::new(FaultKind::InvalidParams, format!("`{level}` is no log level")))?;
        let state = ClientState::of(&context.session);
        state.set_level(index);
        let links = state.existing_links();
        let links = futures_util::future::join_all(links.iter().map(|link| send_level(link, &level)));
        let links = tokio::time::timeout(LEVEL_WAIT, links);
        let _ = tokio::join!(links, self.share_level());
        Ok(Ok(Raw::empty_object()).into())
    }

    /// A method that MCP does not define passes to the only server; with several, nobody can say whose it is.
    async fn unknown_method(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let view = self.view();
        let only = view.directory.only().and_then(|index| view.servers.get(index).cloned());
        let server = only.ok_or_else(|| no_such_method(&request.method))?;
        self.admit(context, &server, &request.method, request.params.as_ref(), || no_such_method(&request.method))
            .await?;
        if server.trust() < TrustLevel::Standard {
            // Each call of such a server is put before a person. This one nobody could explain.
            return Err(no_such_method(&request.method));
        }
        let metadata = gate::metadata_of(&request)?;
        // Nobody here knows what it does, so it may change something.
        let event = audit::event_of(audit::event::PASSED, audit::principal(&context.session), audit::result::SUCCESS);
        let mut event = audit::with(audit::about(event, server.id(), None), "method", &*request.method);
        event.trace_id = Some(gate::trace_of(&metadata));
        let permit = self.begin(event, Effect::Unsaid).await?;
        let params = request.params.clone();
        let outcome = self.forward(context, &server, plain(request, params)).await;
        self.settle(permit, &outcome).await;
        outcome
    }

    /// Passes a client's notification to the servers it may concern, as far as the client may use them.
    async fn pass_on(&self, context: &Context, notification: &Notification) {
        let Ok(tables) = self.tables().await else { return };
        let session = &context.session;
        let may_tell = |server: &Server| {
            let to_all = &*notification.method == method::ROOTS_LIST_CHANGED;
            let allowed = if to_all {
                self.knows_of(&tables, session, server)
            } else {
                self.access(&tables, session, server, None).allow
            };
            allowed && self.standing(&tables, server, None).missing.is_empty()
        };
        for (server, link) in ClientState::of(session).existing_links_with_servers() {
            if may_tell(&server) {
                let _ = link.remote.notify(notification.clone());
            }
        }
        let view = self.view();
        let to_all = &*notification.method == method::ROOTS_LIST_CHANGED;
        if !to_all && view.directory.only().is_none() {
            return;
        }
        for server in &view.servers {
            let shared = server.spec.sharing == crate::spec::Sharing::Shared;
            let hub = server.hub_now().filter(|hub| shared && hub.revision().era() == Era::Legacy);
            if let Some(hub) = hub.filter(|_| may_tell(server)) {
                let _ = hub.remote().notify(notification.clone());
            }
        }
    }

    /// Why there is no such tool. A server that never came up may well have it, and its user wants to know why it did not.
    async fn unknown_tool(&self, context: &Context, name: &str) -> Fault {
        let view = self.view();
        let Ok(tables) = self.tables().await else { return no_such_tool(name) };
        let alone = view.servers.len() == 1;
        let held = view.directory.hidden.iter().find(|hidden| {
            let server = self.server(&hidden.server);
            let exposed = crate::names::expose(&hidden.server, &hidden.name);
            (exposed == name || alone && hidden.name == name)
                && server.is_some_and(|server| {
                    server.quarantine().contains_key(&hidden.name)
                        && self.access(&tables, &context.session, &server, Some((&hidden.name, name))).allow
                })
        });
        if let Some(held) = held {
            return Fault::new(FaultKind::DefinitionHeld, format!("`{name}` is held back: {}", held.why));
        }
        let may_have = |server: &&Arc<Server>| {
            server.is_unknown()
                && (alone || name.starts_with(&crate::names::expose(server.id(), "")))
                && self.access(&tables, &context.session, server, Some((name, name))).allow
        };
        match view.servers.iter().find(may_have) {
            Some(server) => server.not_ready(),
            None => no_such_tool(name),
        }
    }

    /// Whether a client sees the kernel's own tools: only one that asked for access control and may decide.
    pub(crate) fn shows_own_tools(&self, context: &Context) -> bool {
        context.session.identity.admin
            && welcome::agreed_with(&context.caller.capabilities)
                .is_some_and(|agreement| agreement.has(Extension::AccessControl))
    }

    /// Writes down that somebody got a prompt or read a resource.
    async fn note_read(&self, context: &Context, server: &Server, kind: &str, name: &str, reply: &Reply) {
        let outcome = if reply.outcome.is_ok() { audit::result::SUCCESS } else { audit::result::FAILURE };
        let event = audit::event_of(audit::event::READ, audit::principal(&context.session), outcome);
        let event = audit::with(audit::about(event, server.id(), None), "kind", kind);
        let name = switchboard_guard::redact::value(&Raw::string(name));
        self.gate().audit.note(audit::with(event, "name", name)).await;
    }
}

/// How faults are written for a client.
fn rendering_for(context: &Context, method: &str) -> Rendering {
    in_dialects_of(context, Rendering::new(context.caller.revision, method))
}

/// The same with everything that was agreed on with the client.
fn in_dialects_of(context: &Context, rendering: Rendering) -> Rendering {
    let capabilities = &context.caller.capabilities;
    if capabilities.as_bytes().len() <= 2 {
        return rendering;
    }
    let structured = proposals::declared(capabilities).has(Proposal::StructuredErrors);
    rendering.with_mgp(welcome::agreed_with(capabilities).is_some()).with_structured(structured)
}

/// A fault as a client's answer. What is wrong with the call itself, and not with its form, is a result for a client of
/// proposal 11.
fn told(context: &Context, plain: Rendering, is_call: bool, fault: &Fault) -> Reply {
    let rendering = in_dialects_of(context, plain);
    let failure = if is_call && rendering.structured { proposals::failure_result(fault) } else { None };
    match failure {
        Some(result) => {
            let said = fault.render(&rendering);
            // Who speaks MGP as well finds its code and its recovery fields where results have such things.
            let mgp = said.data.as_ref().and_then(|data| data.member("_mgp")).filter(|_| rendering.mgp);
            let code = Raw::from_value(&said.code).ok().filter(|_| rendering.mgp);
            let mgp = mgp.and_then(|mgp| Some(Edit::of(&mgp).ok()?.set_optional("code", code).finish()));
            let result = Edit::of(&result).map_or(result, |edit| edit.set_optional("_mgp", mgp).finish());
            Ok(bridge::for_era(result, context.caller.era())).into()
        }
        None => Err(fault.render(&rendering)).into(),
    }
}

/// A fault as a client's error.
pub(crate) fn rendered(context: &Context, fault: &Fault) -> ErrorObject {
    fault.render(&rendering_for(context, method::TOOLS_CALL))
}

/// A list of tools with the kernel's own at its end.
fn with_own_tools(list: &Raw, own: &[Raw]) -> Raw {
    let Ok(edit) = Edit::of(list) else { return list.clone() };
    let mut tools = edit.object().get("tools").and_then(|tools| tools.elements()).unwrap_or_default();
    tools.extend(own.iter().cloned());
    edit.set("tools", Raw::array(&tools)).finish()
}

pub(crate) fn no_such_tool(name: &str) -> Fault {
    Fault::new(FaultKind::UnknownTool, format!("Unknown tool: {name}"))
}

fn no_such_prompt(name: &str) -> Fault {
    Fault::new(FaultKind::UnknownPrompt, format!("Unknown prompt: {name}"))
}

/// A subscription that is being made. If the client goes in the middle of it, it is taken back.
struct Begun<'a> {
    kernel: &'a Kernel,
    state: &'a ClientState,
    key: Option<(Arc<str>, String)>,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        // Where the session has ended meanwhile, its end has taken it back.
        if self.state.watches.lock().remove(&key)
            && let Some(server) = self.kernel.server(&key.0)
        {
            self.kernel.spawn(async move { server.unwatch_resource(&key.1).await });
        }
    }
}

/// A request in the form of the modern era, of a revision that is not known here.
fn unknown_revision(request: &Request) -> Option<ErrorObject> {
    let params = request.params.as_ref()?;
    // Most legacy requests do not even name the key.
    static KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(meta::PROTOCOL_VERSION));
    KEY.find(params.as_bytes())?;
    let named = params.at(&["_meta", meta::PROTOCOL_VERSION])?.as_text()?;
    // The sender is of the modern era, whatever its revision: it is answered as one.
    let rendering = Rendering::new(Revision::LATEST, &request.method);
    Revision::parse(&named).is_none().then(|| Fault::unsupported_version(&named, &Revision::ALL).render(&rendering))
}

pub(crate) fn plain(request: Request, params: Option<Raw>) -> Forward {
    Forward {
        method: request.method,
        params,
        extra: request.extra,
        headers: Vec::new(),
        longest: None,
        live: None,
        id: None,
    }
}

pub(crate) fn object_of(request: &Request) -> Result<Object, Fault> {
    let params = request.params.as_ref().ok_or_else(|| Fault::new(FaultKind::InvalidParams, "`params` is missing"))?;
    Object::open(params).map_err(malformed)
}

pub(crate) fn text_of(object: &Object, key: &str) -> Result<String, Fault> {
    object.text(key).ok_or_else(|| missing(key))
}

fn missing(key: &str) -> Fault {
    Fault::new(FaultKind::InvalidParams, format!("`{key}` is missing or no string"))
}

fn no_such_method(name: &str) -> Fault {
    Fault::new(FaultKind::MethodNotFound, format!("Method not found: {name}"))
}

fn unknown_resource(uri: &str) -> Fault {
    Fault::new(FaultKind::UnknownResource, format!("Resource not found: {uri}"))
        .with_member("uri", Raw::string(uri))
        .suggest("where several servers are connected, `<server>+<uri>` names the server")
}

fn server_at(servers: &[Arc<Server>], index: usize) -> Result<Arc<Server>, Fault> {
    // Routes and servers are published together, so the index is always good.
    servers.get(index).cloned().ok_or_else(|| Fault::new(FaultKind::Internal, "a route leads to no server"))
}

/// The parameters with the server's own name in place of the client's.
fn rename(request: &Request, known: &str, original: &str, key: &str) -> Result<Option<Raw>, Fault> {
    if known == original {
        return Ok(request.params.clone());
    }
    let edit = Edit::of_optional(request.params.as_ref()).map_err(malformed)?;
    Ok(Some(edit.set(key, Raw::string(original)).finish()))
}

/// The contents of a resource under the URI that the client asked for.
fn contents_known_as(result: &Raw, original: &str, known: &str) -> Raw {
    let renamed = || {
        let edit = Edit::of(result).ok()?;
        let contents = edit.object().get("contents")?.elements()?;
        let rename = |item: &Raw| {
            let same = item.member("uri").and_then(|uri| uri.as_text()).as_deref() == Some(original);
            if !same {
                return item.clone();
            }
            Edit::of(item).map_or_else(|_| item.clone(), |edit| edit.set("uri", Raw::string(known)).finish())
        };
        let contents: Vec<Raw> = contents.iter().map(rename).collect();
        Some(edit.set("contents", Raw::array(&contents)).finish())
    };
    renamed().unwrap_or_else(|| result.clone())
}
