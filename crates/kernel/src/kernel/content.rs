//! Prompts, resources and completions: found, taken through the gate, and given under the names that the client knows.

use std::sync::Arc;

use switchboard_exchange::{Forward, failed, member_missing, told_of_unknown};
use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::app::SCHEME;
use switchboard_wire::{Edit, Object, Raw, Request};

use super::answer::rename;
use super::{Kernel, no_such_prompt, object_of, text_of, unknown_resource, waiting};
use crate::clients::ClientState;
use crate::directory::{LocatedResource, Route};
use crate::gate::request::Asking;
use crate::gate::{Admission, Permit, Subject, unavailable};
use crate::server::Server;

impl Kernel {
    pub(super) async fn get_prompt(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let name = text_of(&object_of(&request)?, "name")?;
        let mut view = self.view();
        let mut route = view.directory.prompt(&name);
        if route.is_none() {
            let params = request.params.as_ref();
            let named = waiting::Named { kernel: self, context, subject: Subject::Prompt, name: &name, params };
            named.until_known(|view| view.directory.prompt(&name).is_some()).await;
            view = self.view();
            route = view.directory.prompt(&name);
        }
        let Some(route) = route else { return Err(self.unknown_prompt(context, &name).await) };
        let server = view.server_at(route.server)?;
        let policy = route.policy.clone().ok_or_else(|| no_such_prompt(&name))?;
        self.takes_requests(context, &server, &request)?;
        let asking = Asking::prompt(context, &server, &policy, (&name, &route.original), &request)?;
        let (permit, request) = match asking.admit(self.gate()).await? {
            Admission::Go(permit, cleaned) => (permit, with_params(request, cleaned)),
            Admission::Answer(reply) => return Ok(reply),
        };
        let mut at = server.clone();
        if asking.asks() {
            view = self.view();
            let is_same = |now: &Route| now.original == route.original;
            let now = view.directory.prompt(&name).filter(is_same);
            let now = now.and_then(|now| view.servers.get(now.server)).filter(|now| now.id() == server.id());
            let Some(now) = now else {
                // It was held back or taken away while a person was asked about it.
                let gone = Err(no_such_prompt(&name));
                self.gate().settle(permit, &gone).await;
                return gone;
            };
            // Another server may have taken the place of the one that was there when a person was asked.
            at = now.clone();
        }
        let params = rename(&request, &name, &route.original, "name")?;
        let outcome = self.read_on(context, &at, Forward::of_request(request, params), permit).await;
        let reply = outcome.map_err(|fault| told_of_unknown(&server, asking.policy(), asking.metadata(), fault))?;
        asking.remember(self.gate(), &reply);
        self.note_mentions(context, &view, &server, &reply);
        Ok(reply)
    }

    /// Why there is no such prompt: nobody has it, or the server that may have it is not there.
    async fn unknown_prompt(&self, context: &Context, name: &str) -> Fault {
        let view = self.view();
        let Ok(tables) = self.gate().tables().await else { return no_such_prompt(name) };
        let may_have = |server: &&Arc<Server>| {
            view.own_name(server, name).is_some() && self.gate().access(&tables, &context.session, server, None).allow
        };
        let named: Vec<_> = view.servers.iter().filter(may_have).collect();
        let away = named.iter().find(|server| server.is_unknown());
        let fault = away.map_or_else(|| no_such_prompt(name), |server| server.not_ready());
        if let Some(server) = away.or_else(|| named.first()) {
            let own = view.own_name(server, name).unwrap_or(name);
            unavailable(self.gate(), context, Subject::Prompt, (server.id(), own), &fault).await;
        }
        fault
    }

    pub(super) async fn read_resource(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let uri = text_of(&object_of(&request)?, "uri")?;
        let LocatedResource { server, original, reading } = self.await_resource(&uri, context).await?;
        self.takes_requests(context, &server, &request)?;
        let asking = Asking::resource(context, &server, Subject::Resource, &reading, (&uri, &original), &request)?;
        let (permit, request) = match asking.admit(self.gate()).await? {
            Admission::Go(permit, cleaned) => (permit, with_params(request, cleaned)),
            Admission::Answer(reply) => return Ok(reply),
        };
        let mut at = server.clone();
        if asking.asks() {
            let now = self.locate(&uri, &context.session.principal);
            let Some(now) = now.filter(|now| now.server.id() == server.id() && now.original == original) else {
                let gone = Err(unknown_resource(&uri));
                self.gate().settle(permit, &gone).await;
                return gone;
            };
            at = now.server;
        }
        let params = rename(&request, &uri, &original, "uri")?;
        let outcome = self.read_on(context, &at, Forward::of_request(request, params), permit).await;
        let mut reply = outcome.map_err(|fault| told_of_unknown(&server, asking.policy(), asking.metadata(), fault))?;
        asking.remember(self.gate(), &reply);
        if original.starts_with(SCHEME) && reply.outcome.is_ok() {
            self.pages().opened(&context.session, at.id());
        }
        if original != uri {
            reply.outcome = reply.outcome.map(|result| contents_known_as(&result, &original, &uri));
        }
        Ok(reply)
    }

    /// Sends what passed the gate, looks at what comes back, and puts on record how it ended.
    async fn read_on(
        &self,
        context: &Context,
        server: &Arc<Server>,
        mut forward: Forward,
        permit: Permit,
    ) -> Result<Reply, Fault> {
        forward.agreed = permit.was_agreed();
        let outcome = self.exchange().forward(context, server, forward).await;
        let outcome = self.gate().look_at_result(server, outcome).await;
        self.gate().settle(permit, &outcome).await;
        outcome
    }

    /// The server that has a resource, waited for while servers are starting.
    async fn await_resource(&self, uri: &str, context: &Context) -> Result<LocatedResource, Fault> {
        if let Some(found) = self.locate(uri, &context.session.principal) {
            return Ok(found);
        }
        waiting::until_known(self, |_| self.locate(uri, &context.session.principal).is_some()).await;
        self.locate(uri, &context.session.principal).ok_or_else(|| unknown_resource(uri))
    }

    pub(super) async fn subscribe(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let uri = text_of(&object_of(&request)?, "uri")?;
        let LocatedResource { server, original, reading } = self.await_resource(&uri, context).await?;
        let asking = Asking::resource(context, &server, Subject::Subscription, &reading, (&uri, &original), &request)?;
        let permit = asking.pass(self.gate()).await?;
        let outcome = self.begin_to_watch(context, &server, &uri, &original, request).await;
        self.gate().settle(permit, &outcome).await;
        outcome
    }

    async fn begin_to_watch(
        &self,
        context: &Context,
        server: &Arc<Server>,
        uri: &str,
        original: &str,
        request: Request,
    ) -> Result<Reply, Fault> {
        let hub = server.hub().await?;
        let params = rename(&request, uri, original, "uri")?;
        let state = ClientState::of(&context.session);
        let key = (server.id().clone(), original.to_owned());
        // Counted before it is noted: once it is noted, the end of the session takes it back.
        let watched = server.watched.has(original);
        server.watched.add(original);
        match state.watch(key.clone()) {
            Ok(false) if watched => {
                server.watched.remove(original);
                return Ok(Ok(Raw::empty_object()).into());
            }
            Ok(_) => {}
            Err(fault) => {
                server.watched.remove(original);
                return Err(fault);
            }
        }
        let mut begun = Begun { kernel: self, state: &state, key: Some(key.clone()) };
        let outcome = server.ask_to_watch(&hub, original, params).await;
        begun.key = None;
        match outcome {
            Ok(result) => Ok(Ok(result).into()),
            Err(outcome) => {
                // Where the session has ended meanwhile, its end has taken it back.
                if state.unwatch(&key) {
                    server.watched.remove(original);
                }
                match outcome {
                    crate::server::CallOutcome::Refused(error) => Ok(Err(error).into()),
                    crate::server::CallOutcome::Failed(error) => Err(failed(server, error)),
                }
            }
        }
    }

    pub(super) async fn unsubscribe(&self, context: &Context, request: &Request) -> Result<Reply, Fault> {
        let uri = text_of(&object_of(request)?, "uri")?;
        let LocatedResource { server, original, reading } =
            self.locate(&uri, &context.session.principal).ok_or_else(|| unknown_resource(&uri))?;
        let known = ClientState::of(&context.session).unwatch(&(server.id().clone(), original.clone()));
        if known {
            server.unwatch_resource(&original).await;
        } else {
            // Nothing is sent. Whether there is such a resource is told to who may use it.
            let asking =
                Asking::resource(context, &server, Subject::Subscription, &reading, (&uri, &original), request)?;
            let permit = asking.pass(self.gate()).await?;
            self.gate().settle(permit, &Ok(Ok(Raw::empty_object()).into())).await;
        }
        Ok(Ok(Raw::empty_object()).into())
    }

    pub(super) async fn complete(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let params = object_of(&request)?;
        let reference = params.get("ref").ok_or_else(|| member_missing("ref"))?;
        let reference = Object::open(&reference).map_err(Fault::malformed)?;
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
        let server = view.server_at(route.server)?;
        let is_listed = key == "name" || view.directory.lists_template(route.server, &route.original);
        // A template in another spelling is held to what it is held to in its own.
        let policy = route.policy.clone().or_else(|| match key {
            "uri" => view.directory.reading(route.server, &route.original).map(|reading| reading.policy),
            _ => view.directory.plain_policy(route.server),
        });
        let policy = policy.ok_or_else(|| unknown_resource(&named))?;
        let names = (named.as_str(), &*route.original);
        let permit =
            Asking::completion(context, &server, &policy, names, is_listed, &request)?.pass(self.gate()).await?;
        let edited = if *named == *route.original {
            request.params.clone()
        } else {
            let edit = Edit::of_optional(request.params.as_ref()).map_err(Fault::malformed)?;
            let original = Raw::string(&route.original);
            Some(edit.within("ref", |inner| inner.set(key, original)).map_err(Fault::malformed)?.finish())
        };
        let outcome = self.exchange().forward(context, &server, Forward::of_request(request, edited)).await;
        self.gate().settle(permit, &outcome).await;
        outcome
    }
}

/// The request with other parameters, where those of the client held something for the gate.
fn with_params(request: Request, cleaned: Option<Raw>) -> Request {
    match cleaned {
        Some(params) => Request { params: Some(params), ..request },
        None => request,
    }
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
        if self.state.unwatch(&key)
            && let Some(server) = self.kernel.server(&key.0)
        {
            self.kernel.spawn(async move { server.unwatch_resource(&key.1).await });
        }
    }
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
