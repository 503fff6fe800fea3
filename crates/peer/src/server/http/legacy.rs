//! Streamable HTTP with sessions: 2025-03-26 to 2025-11-25.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use switchboard_protocol::mcp::method;
use switchboard_protocol::{Era, Revision};
use switchboard_transport::http_server::{Body, Principal};
use switchboard_wire::{
    ErrorObject, Id, Incoming as Frame, Message, Notification, Raw, Refusal, Request, Response as Answered, code,
};
use tokio_util::sync::CancellationToken;

use super::channel::{Channel, SessionRemote};
use super::exchange::{Answer, Asked, Exchange, Rules, Running, always_ok, run};
use super::response_sink::{Delivery, ResponseSink};
use super::sessions::Live;
use super::{LAST_EVENT_ID, Named, SESSION_ID, Shared, answer};
use crate::{Caller, Context, Session};

/// Whether a message opens a session. Every other one belongs to a session already.
pub(super) fn opens(frame: &Frame) -> bool {
    matches!(frame, Frame::One(Message::Request(request)) if &*request.method == method::INITIALIZE)
}

/// A message of a session, or a batch.
pub(super) async fn post(
    shared: Arc<Shared>,
    headers: &Arc<HeaderMap>,
    named: Named<'_>,
    frame: Frame,
    principal: &Principal,
) -> Response<Body> {
    let live = match find(&shared, &named, principal) {
        Ok(live) => live,
        Err(wrong) => return wrong.about(&frame),
    };
    match frame {
        Frame::One(Message::Request(request)) => match call(shared, &live, headers, request) {
            Ok(exchange) => exchange.respond().await,
            Err(refused) => *refused,
        },
        Frame::One(Message::Notification(notification)) => {
            Box::pin(notify(&shared, &live, headers.clone(), notification)).await;
            answer::status(StatusCode::ACCEPTED)
        }
        Frame::One(Message::Response(response)) => {
            take_answer(&shared, &live, response);
            answer::status(StatusCode::ACCEPTED)
        }
        Frame::Batch(members) if live.session.caller().revision.has_batches() => {
            Box::pin(batch(shared, live, headers, members)).await
        }
        Frame::Batch(_) => answer::refused(StatusCode::BAD_REQUEST, "this revision has no batches"),
    }
}

/// Opens the stream of what belongs to no request, or goes on with one that was interrupted.
pub(super) fn get(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    named: &Named<'_>,
    principal: &Principal,
) -> Response<Body> {
    if !answer::accepts_events(headers) {
        return answer::method_not_allowed("POST, DELETE");
    }
    let live = match find(shared, named, principal) {
        Ok(live) => live,
        Err(wrong) => return wrong.alone(),
    };
    let options = &shared.options;
    let reader = match headers.get(&LAST_EVENT_ID).and_then(|id| id.to_str().ok()) {
        Some(event_id) => match live.channel.find(event_id) {
            Some((log, number)) => log.read(Some(number)),
            None => return answer::refused(StatusCode::BAD_REQUEST, "nothing is kept of the stream of this event"),
        },
        None if primes(&live.session) => live.channel.main.read(None).primed(options.retry),
        None => live.channel.main.read(None),
    };
    answer::events(Body::events(reader.until(options.shutdown.clone()), options.keep_alive))
}

/// Ends the session.
pub(super) fn delete(shared: &Arc<Shared>, named: &Named<'_>, principal: &Principal) -> Response<Body> {
    match find(shared, named, principal) {
        Ok(live) => {
            shared.sessions.close(&live.session.id);
            answer::status(StatusCode::NO_CONTENT)
        }
        Err(wrong) => wrong.alone(),
    }
}

/// From 2025-11-25 on a stream begins with an event that lets the client come back.
fn primes(session: &Session) -> bool {
    session.caller().revision >= Revision::V2025_11_25
}

/// Why a request belongs to no session.
enum Wrong {
    Version,
    NoSession,
    UnknownSession,
}

impl Wrong {
    const fn parts(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Version => (StatusCode::BAD_REQUEST, "this MCP-Protocol-Version is not supported"),
            Self::NoSession => (StatusCode::BAD_REQUEST, "an Mcp-Session-Id is needed: begin with initialize"),
            Self::UnknownSession => (StatusCode::NOT_FOUND, "there is no such session: begin with initialize"),
        }
    }

    fn alone(&self) -> Response<Body> {
        let (status, message) = self.parts();
        answer::refused(status, message)
    }

    fn about(&self, frame: &Frame) -> Response<Body> {
        let (status, message) = self.parts();
        match frame {
            Frame::One(Message::Request(request)) => {
                answer::error(status, request.id.clone(), ErrorObject::new(code::INVALID_REQUEST, message))
            }
            _ => self.alone(),
        }
    }
}

/// The session a request belongs to. Another principal's session does not exist.
fn find(shared: &Shared, named: &Named<'_>, principal: &Principal) -> Result<Arc<Live>, Wrong> {
    if named.version.is_some() {
        named.revision().filter(|revision| revision.era() == Era::Legacy).ok_or(Wrong::Version)?;
    }
    let id = named.session.ok_or(Wrong::NoSession)?;
    id.to_str().ok().and_then(|id| shared.sessions.find(id, principal)).ok_or(Wrong::UnknownSession)
}

/// Opens a session.
pub(super) async fn initialize(
    shared: &Shared,
    headers: &Arc<HeaderMap>,
    named: &Named<'_>,
    frame: Frame,
    principal: Principal,
) -> Response<Body> {
    let Frame::One(Message::Request(request)) = frame else { return Wrong::NoSession.about(&frame) };
    if named.version.is_some() && named.revision().is_none() {
        return Wrong::Version.about(&Frame::One(request.into()));
    }
    if !shared.sessions.has_room(&principal.name) {
        return answer::no_room("there are too many sessions, and all of them are in use");
    }
    let live = new_session(shared, principal, true);
    let context = Context {
        session: live.session.clone(),
        caller: live.session.caller(),
        // What is sent before the session is known to the client waits for it.
        remote: live.session.remote().clone(),
        cancel: CancellationToken::new(),
        headers: Some(headers.clone()),
        open_owners: None,
    };
    let (id, params) = (request.id.clone(), request.params.clone());
    let reply = shared.handler.request(context, request).await;
    let agreed = reply.outcome.as_ref().ok().map(|result| Caller::from_initialize(params.as_ref(), result));
    let answer = Answer::new(StatusCode::OK, id, reply);
    let mut response = answer::json(answer.status, answer.body);
    if let Some(caller) = agreed {
        if !shared.sessions.insert(&live) {
            return answer::no_room("there are too many sessions, and all of them are in use");
        }
        shared.sessions.open(&live, caller);
        if let Ok(id) = HeaderValue::from_str(&live.session.id) {
            response.headers_mut().insert(SESSION_ID, id);
        }
    }
    response
}

/// A session that no client knows of yet.
pub(super) fn new_session(shared: &Shared, principal: Principal, resumable: bool) -> Arc<Live> {
    let channel = Channel::new(&shared.options, resumable, shared.memory.account(&principal.name));
    let remote = Arc::new(SessionRemote(channel.clone()));
    let session = Session::new(crate::random_token().into(), principal, true, Caller::unknown(), remote);
    Live::new(session, channel)
}

/// Begins to answer a request.
fn call(
    shared: Arc<Shared>,
    live: &Arc<Live>,
    headers: &Arc<HeaderMap>,
    request: Request,
) -> Result<Exchange, Box<Response<Body>>> {
    let caller = live.session.caller();
    let primes = caller.revision >= Revision::V2025_11_25;
    let way = Delivery::Legacy { channel: live.channel.clone(), headers: Some(headers.clone()), polls: primes };
    let outlet = ResponseSink::new(way);
    let asked = Asked { ids: vec![request.id.clone()], revision: caller.revision };
    let running = start(&shared, live, caller, &outlet, headers.clone(), request)
        .ok_or_else(|| Box::new(answer::no_room("too many requests of this session run")))?;
    Ok(Exchange::new(shared, Rules::Legacy { primes }, outlet, asked, running))
}

/// Gives a request of a session to the handler; `None` where too many run already.
pub(super) fn start(
    shared: &Shared,
    live: &Arc<Live>,
    caller: Arc<Caller>,
    outlet: &Arc<ResponseSink>,
    headers: Arc<HeaderMap>,
    request: Request,
) -> Option<Running> {
    let ticket = live.begin(request.id.clone(), outlet, shared.options.max_running)?;
    let cancel = outlet.cancel.clone();
    let headers = Some(headers);
    let context =
        Context { session: live.session.clone(), caller, remote: outlet.clone(), cancel, headers, open_owners: None };
    Some(run(shared.handler.clone(), context, request, move |_| drop(ticket), always_ok))
}

/// Takes a notification of a session: what concerns running requests is dealt with here.
pub(super) async fn notify(shared: &Shared, live: &Arc<Live>, headers: Arc<HeaderMap>, mut notification: Notification) {
    let mut handler = shared.handler.clone();
    match &*notification.method {
        method::CANCELLED => return live.cancel(notification.params.as_ref()),
        method::PROGRESS => {
            if let Some((own, related)) = live.channel.asking.progress(&notification) {
                notification = own;
                handler = related.unwrap_or(handler);
            }
        }
        _ => {}
    }
    let context = Context {
        session: live.session.clone(),
        caller: live.session.caller(),
        remote: live.session.remote().clone(),
        cancel: CancellationToken::new(),
        headers: Some(headers),
        open_owners: None,
    };
    handler.notification(context, notification).await;
}

pub(super) fn take_answer(shared: &Shared, live: &Live, response: Answered) {
    if !live.channel.asking.answer(response) {
        shared.stray_answers.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(session = &*live.session.id, "an answer that nobody waits for");
    }
}

/// Runs the members of a batch side by side. What they send beside their answers goes into the session's stream.
async fn batch(
    shared: Arc<Shared>,
    live: Arc<Live>,
    headers: &Arc<HeaderMap>,
    members: Vec<Result<Message, Refusal>>,
) -> Response<Body> {
    let whole = ResponseSink::new(Delivery::session(&live.channel));
    let mut running: Vec<Running> = Vec::new();
    let mut asked = Asked { ids: Vec::new(), revision: live.session.caller().revision };
    let mut ready: Vec<Raw> = Vec::new();
    let mut refuse = |id: Option<Id>, error: ErrorObject| {
        let text = Message::Response(Answered::new(id, Err(error))).encode();
        ready.extend(Raw::parse(text, &shared.options.limits).ok());
    };
    for member in members {
        match member {
            Ok(Message::Request(request)) if &*request.method == method::INITIALIZE => {
                refuse(Some(request.id), ErrorObject::new(code::INVALID_REQUEST, "initialize cannot be in a batch"));
            }
            Ok(Message::Request(request)) => {
                let id = request.id.clone();
                let outlet = ResponseSink::new(Delivery::session(&live.channel));
                match start(&shared, &live, live.session.caller(), &outlet, headers.clone(), request) {
                    Some(one) => {
                        asked.ids.push(id);
                        running.push(Box::pin(unless_cancelled(one, outlet)));
                    }
                    None => refuse(Some(id), ErrorObject::new(code::INTERNAL_ERROR, "too many requests run")),
                }
            }
            Ok(Message::Notification(notification)) => notify(&shared, &live, headers.clone(), notification).await,
            Ok(Message::Response(response)) => take_answer(&shared, &live, response),
            Err(refusal) if refusal.unanswerable => {}
            Err(refusal) => refuse(refusal.id.clone(), refusal.to_error()),
        }
    }
    if running.is_empty() && ready.is_empty() {
        return answer::status(StatusCode::ACCEPTED);
    }
    let limits = shared.options.limits.clone();
    let joined: Running = Box::pin(async move {
        let answers = join_all(running).await;
        let answers = answers.into_iter().filter(|answer| !answer.body.is_empty());
        ready.extend(answers.filter_map(|answer| Raw::parse(answer.body, &limits).ok()));
        Answer { status: StatusCode::OK, body: Raw::array(&ready).bytes().clone() }
    });
    Exchange::new(shared, Rules::Legacy { primes: false }, whole, asked, joined).respond().await
}

/// The answer, empty if the client cancelled the request.
async fn unless_cancelled(running: Running, outlet: Arc<ResponseSink>) -> Answer {
    tokio::select! {
        biased;
        () = outlet.cancel.cancelled() => Answer { status: StatusCode::ACCEPTED, body: bytes::Bytes::new() },
        answer = running => answer,
    }
}
