//! The table from a client's message to what is done about it.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use memchr::memmem::Finder;
use switchboard_exchange::{Forward, level_index};
use switchboard_peer::{BoxFuture, Context, Handler, Reply, Session};
use switchboard_protocol::fault::{Fault, FaultKind, Rendering};
use switchboard_protocol::mcp::{meta, method};
use switchboard_protocol::mgp::{self, TrustLevel};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{Edit, ErrorObject, Notification, Raw, Request};

use super::meant::with_what_was_meant;
use super::{Kernel, object_of, text_of, waiting};
use crate::clients::{self, AwaitedList, ClientState, OF_MGP, told, told_upstream, with_error};
use crate::directory::{ListKind, View};
use crate::gate::request::Asking;
use crate::gate::{self, Subject, passage};
use crate::server::{LEVEL_WAIT, Server, send_level};
use crate::services::registry::Registrar;
use crate::services::{self, EventService, ToolFinder, table};
use crate::{bridge, names};

/// How long `server/discover` waits for servers that are just starting, at most.
const DISCOVER_WAIT: Duration = Duration::from_secs(5);
/// How methods of MGP begin.
const METHODS_OF_MGP: &str = "mgp/";

impl Handler for Kernel {
    fn has_profile(&self, name: &str) -> bool {
        Self::has_profile(self, name)
    }

    fn request(&self, mut context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let _in_flight = self.exchange_state().note_in_flight(&mut context, &request);
            gate::RisingProgress::enter(&mut context, request.params.as_ref());
            // What else the client speaks is looked up only where there is something to be said in it.
            let plain = Rendering::new(context.caller.revision, &request.method);
            let is_call = &*request.method == method::TOOLS_CALL;
            // The kernel's own tools are refused in the words of the methods that they stand for.
            let called = (is_call && context.caller.capabilities.as_bytes().len() > 2).then(|| request.params.clone());
            // Nearly all requests are tool calls. The rest has a future of its own, so that a call need not carry, and
            // have allocated and copied, the largest of them all.
            let answered = if is_call {
                self.call_tool(&context, request, true).await
            } else {
                Box::pin(async {
                    let (context, request) =
                        gate::scopes::lifted(context.clone(), request, || self.gate().others_tokens());
                    let metadata = gate::metadata_of(&request).unwrap_or_default();
                    let params = request.params.clone();
                    gate::within_trace(&metadata, params.as_ref(), self.answer(&context, request)).await
                })
                .await
            };
            match answered {
                Ok(Reply { outcome: Err(error), extra }) => {
                    // A server's own error passes, with what the client's dialects want beside it.
                    let told = Box::pin(async {
                        told_upstream((self.gate(), &self.view()), &context, plain, is_call, error).await
                    })
                    .await;
                    Reply { extra, ..told }
                }
                Ok(reply) if is_call => with_error(&context, reply),
                Ok(reply) => reply,
                Err(fault) => {
                    let fault =
                        if is_call { Box::pin(with_what_was_meant(self, &context, fault)).await } else { fault };
                    tracing::debug!(session = %context.session.id, %fault, "refused");
                    let called = called.flatten().and_then(|params| params.member("name")?.as_text());
                    let is_own = called.is_some_and(|name| names::is_reserved(&name));
                    // In either spelling, and in the numbers of MGP only for who agreed on MGP.
                    let in_mgp = is_own && gate::agreed_with(&context.caller.capabilities).is_some();
                    let plain = if in_mgp { Rendering::new(context.caller.revision, METHODS_OF_MGP) } else { plain };
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
                    self.exchange().told_about_stream(&context, &notification).await;
                }
                // What a kernel says to servers is not for clients to say.
                name if name.starts_with(OF_MGP) => {}
                _ => self.pass_on(&context, &notification).await,
            }
        })
    }

    fn opened(&self, session: &Arc<Session>) {
        self.clients().opened(session);
    }

    fn closed(&self, session: &Arc<Session>) {
        self.clients().closed(session);
        self.services().discovery.forget(session);
        self.pages().forget(session);
        EventService::of(self).end_subscriptions_of(&session.id);
        Registrar::of(self).session_ended(&session.id);
        if let Some(state) = session.existing_state::<ClientState>() {
            let kernel = self.clone();
            self.spawn(async move {
                state.close(&kernel).await;
                if state.level().is_some() {
                    // Those who stay may want less.
                    kernel.clients().share_level(&kernel.view()).await;
                }
            });
        }
    }
}

impl Kernel {
    async fn answer(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        if let Some(error) = unknown_revision(context, &request) {
            return Ok(Err(error).into());
        }
        if !bridge::exists_in(&request.method, context.caller.era()) {
            return Err(gate::no_such_method(&request.method));
        }
        match &*request.method {
            method::INITIALIZE => {
                waiting::until_greeted(self, None).await;
                Ok(clients::initialize(self, context, request.params.as_ref()).await)
            }
            method::DISCOVER => {
                // A client takes silence for that of a legacy server.
                waiting::until_greeted(self, Some(DISCOVER_WAIT)).await;
                Ok(clients::discover(self, context).await)
            }
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
            method::SUBSCRIPTIONS_LISTEN => clients::listen(self, context, request).await,
            method::TASKS_GET | method::TASKS_RESULT | method::TASKS_CANCEL | method::TASKS_UPDATE => {
                self.exchange().task_request(context, request).await
            }
            method::TASKS_LIST => self.exchange().list_tasks(context, request).await,
            _ => {
                let method = request.method.clone();
                let answering = async {
                    match services::own_method(self, context, &request).await {
                        Some(answer) => answer,
                        None => self.unknown_method(context, request).await,
                    }
                };
                Box::pin(self.counted(context, &method, answering)).await
            }
        }
    }

    /// Answers a request of which the kernel itself is the server: counted, where its row in the table says so. A name that is
    /// none of the kernel's own is counted where it is forwarded.
    pub(super) async fn counted<T>(
        &self,
        context: &Context,
        name: &str,
        answering: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        if table::counts(name) { self.gate().metered_own(context, name, answering).await } else { answering.await }
    }

    async fn list(&self, context: &Context, kind: ListKind, request: &Request) -> Result<Reply, Fault> {
        let cursor = request.params.as_ref().and_then(|params| params.member("cursor"));
        if cursor.is_some_and(|cursor| cursor.as_text().is_none_or(|text| !text.is_empty())) {
            return Err(Fault::new(FaultKind::InvalidParams, "unknown cursor: this list has one page"));
        }
        let awaited = AwaitedList::of(context, kind);
        self.wait_for_servers().await;
        let list = self.listed(context, kind).await?;
        if let Some(awaited) = awaited {
            awaited.given(&list);
        }
        Ok(Ok(match context.caller.era() {
            Era::Legacy => list,
            Era::Modern => bridge::modern_result(list, &request.method),
        })
        .into())
    }

    /// What a client is listed at this moment.
    pub(crate) async fn listed(&self, context: &Context, kind: ListKind) -> Result<Raw, Fault> {
        let view = self.view();
        let mut list = self.gate().visible(context, &*view, kind).await?;
        if kind == ListKind::Tools {
            list = ToolFinder::of(self).narrowed(context, &self.seen_at(&view), list).await;
        }
        list = self.with_failures(context, &view, kind, list).await?;
        if kind == ListKind::Tools {
            let own = table::listed(self, context, false);
            if !own.is_empty() {
                list = with_own_tools(&list, &own);
            }
        }
        Ok(list)
    }

    /// A list that says whose part of it could not be had. Why is for the operator to know: it is the server's text.
    ///
    /// # Errors
    /// It is the list of a server that stands alone, and that could not be had: an empty one would say that there is nothing.
    async fn with_failures(&self, context: &Context, view: &View, kind: ListKind, list: Raw) -> Result<Raw, Fault> {
        let failed: Vec<&Arc<Server>> = view.servers.iter().filter(|server| server.has_failed_to_list(kind)).collect();
        if failed.is_empty() {
            return Ok(list);
        }
        let tables = self.gate().tables().await?;
        let known: Vec<_> =
            failed.into_iter().filter(|server| self.gate().is_known_to(&tables, context, server)).collect();
        if let ([server], 1) = (known.as_slice(), view.servers.len())
            && server.count(kind) == 0
        {
            return Err(server.cannot_list(kind));
        }
        let ids: Vec<Raw> = known.iter().map(|server| Raw::string(server.id())).collect();
        if ids.is_empty() {
            return Ok(list);
        }
        let noted =
            Edit::of(&list).and_then(|edit| edit.within("_meta", |meta| meta.set(INCOMPLETE, Raw::array(&ids))));
        Ok(noted.map_or(list, Edit::finish))
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
        let view = self.view();
        let _ = tokio::join!(links, self.clients().share_level(&view));
        Ok(Ok(Raw::empty_object()).into())
    }

    /// A method that MCP does not define passes to the only server; with several, nobody can say whose it is.
    async fn unknown_method(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let view = self.view();
        let only = view.only().cloned();
        let server = only.ok_or_else(|| gate::no_such_method(&request.method))?;
        // A server that reads names less strictly than we do must not get by another name what the gate would judge.
        if passage::could_be_known(&request.method) {
            return Err(gate::no_such_method(&request.method));
        }
        let policy = view.directory.plain_policy(0).ok_or_else(|| gate::no_such_method(&request.method))?;
        if server.trust() < TrustLevel::Standard {
            // Each call of such a server is put before a person. This one nobody could explain.
            return Err(gate::no_such_method(&request.method));
        }
        let method = request.method.clone();
        let asking = Asking::other(context, &server, Subject::Unknown, &policy, &method, &request)?;
        let permit = asking.pass(self.gate()).await?;
        let params = request.params.clone();
        let outcome = self.exchange().forward(context, &server, Forward::of_request(request, params)).await;
        self.gate().settle(permit, &outcome).await;
        outcome
    }

    /// Passes a client's notification to the servers it may concern, as far as the client may use them.
    async fn pass_on(&self, context: &Context, notification: &Notification) {
        let to_all = &*notification.method == method::ROOTS_LIST_CHANGED;
        // One that reads like a request, or like what only servers say, is for nobody.
        if !to_all && (passage::could_be_known(&notification.method) || !self.may_notify(context, notification).await) {
            return;
        }
        let Ok(tables) = self.gate().tables().await else { return };
        let session = &context.session;
        let may_tell = |server: &Server| {
            let allowed = if to_all {
                self.gate().knows_of(&tables, session, server)
            } else {
                self.gate().access(&tables, session, server, None).allow
            };
            allowed && self.gate().standing(&tables, server, None).missing.is_empty()
        };
        for (server, link) in ClientState::of(session).existing_links_with_servers() {
            if may_tell(&server) {
                let _ = link.remote.notify(notification.clone());
            }
        }
        let view = self.view();
        if !to_all && view.only().is_none() {
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

    /// Whether the gate lets a notification that nobody here knows pass to the only server.
    async fn may_notify(&self, context: &Context, notification: &Notification) -> bool {
        let view = self.view();
        let only = view.only().cloned();
        let (Some(server), Some(policy)) = (only, view.directory.plain_policy(0)) else { return false };
        let (id, method) = (switchboard_wire::Id::number(0), notification.method.clone());
        let request = Request::new(id, &*method, notification.params.clone());
        let Ok(asking) = Asking::other(context, &server, Subject::Unknown, &policy, &method, &request) else {
            return false;
        };
        let Ok(permit) = asking.pass(self.gate()).await else { return false };
        self.gate().settle(permit, &Ok(Ok(Raw::empty_object()).into())).await;
        true
    }
}

/// Where a list says whose part of it could not be had.
const INCOMPLETE: &str = "dev.switchboard/incomplete";

/// A list of tools with the kernel's own at its end.
fn with_own_tools(list: &Raw, own: &[Raw]) -> Raw {
    let Ok(edit) = Edit::of(list) else { return list.clone() };
    let mut tools = edit.object().get("tools").and_then(|tools| tools.elements()).unwrap_or_default();
    tools.extend(own.iter().cloned());
    edit.set("tools", Raw::array(&tools)).finish()
}

/// The refusal of a request in the form of the modern era, of a revision that is not known here.
pub(super) fn unknown_revision(context: &Context, request: &Request) -> Option<ErrorObject> {
    if context.caller.era() != Era::Legacy {
        return None;
    }
    let params = request.params.as_ref()?;
    // Most legacy requests do not even name the key.
    static KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(meta::PROTOCOL_VERSION));
    KEY.find(params.as_bytes())?;
    let named = params.at(&["_meta", meta::PROTOCOL_VERSION])?.as_text()?;
    // The sender is of the modern era, whatever its revision: it is answered as one.
    let rendering = Rendering::new(Revision::LATEST, &request.method);
    Revision::parse(&named).is_none().then(|| Fault::unsupported_version(&named, &Revision::ALL).render(&rendering))
}

/// The parameters with the server's own name in place of the client's.
pub(super) fn rename(request: &Request, known: &str, original: &str, key: &str) -> Result<Option<Raw>, Fault> {
    if known == original {
        return Ok(request.params.clone());
    }
    let edit = Edit::of_optional(request.params.as_ref()).map_err(Fault::malformed)?;
    Ok(Some(edit.set(key, Raw::string(original)).finish()))
}
