//! HTTP+SSE (2024-11-05): one stream carries everything to the client, and the session ends with it.

use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use switchboard_protocol::Revision;
use switchboard_protocol::mcp::method;
use switchboard_transport::http_server::{Body, Principal};
use switchboard_wire::{Incoming as Frame, Message};

use super::exchange::{Asked, Exchange, Rules, always_ok, run};
use super::legacy::{new_session, notify, take_answer};
use super::log::Owed;
use super::response_sink::{Delivery, ResponseSink};
use super::{Shared, answer};
use crate::{Caller, Context, Reply};

/// Opens a session and its stream, which begins with the address to post to.
pub(super) fn open(shared: &Arc<Shared>, method: &Method, principal: &Principal) -> Response<Body> {
    let Some(paths) = shared.options.old_sse.as_ref().filter(|_| method == Method::GET) else {
        return answer::method_not_allowed("GET");
    };
    let live = new_session(shared, principal.clone(), false);
    if !shared.sessions.insert(&live) {
        return answer::no_room("there are too many sessions, and all of them are in use");
    }
    let id = live.session.id.clone();
    let main = &live.channel.main;
    main.push_typed("endpoint", format!("{}?session={id}", paths.message_path).into());
    // All its answers go into this one stream.
    let asking = Arc::downgrade(&live);
    let ids = Box::new(move || asking.upgrade().map(|live| live.running_ids()).unwrap_or_default());
    let owed = Owed { ids, revision: Revision::V2024_11_05 };
    let reader = main.read(None).until(shared.options.shutdown.clone()).owing(owed);
    let (gone, face) = (main.lost.clone(), shared.clone());
    tokio::spawn(async move {
        gone.cancelled().await;
        face.sessions.close(&id);
    });
    answer::events(Body::events(reader, shared.options.keep_alive))
}

/// Takes a message. Its answer goes into the stream.
pub(super) async fn post(shared: &Arc<Shared>, request: Request<Incoming>, principal: Principal) -> Response<Body> {
    let (parts, body) = request.into_parts();
    if parts.method != Method::POST {
        return answer::method_not_allowed("POST");
    }
    let query = parts.uri.query().unwrap_or_default();
    let Some(id) = query.split('&').find_map(|pair| pair.strip_prefix("session=")) else {
        return answer::refused(StatusCode::BAD_REQUEST, "the query names no session");
    };
    let Some(live) = shared.sessions.find(id, &principal) else {
        return answer::refused(StatusCode::NOT_FOUND, "there is no such session");
    };
    let headers = Arc::new(parts.headers);
    let frame = match shared.read(&headers, body, &principal).await {
        Ok(frame) => frame,
        Err(response) => return response,
    };
    match frame {
        Frame::One(Message::Request(request)) => {
            let outlet = ResponseSink::new(Delivery::session(&live.channel));
            let Some(ticket) = live.begin(request.id.clone(), &outlet, shared.options.max_running) else {
                return answer::no_room("too many requests of this session run");
            };
            let context = Context {
                session: live.session.clone(),
                caller: live.session.caller(),
                remote: outlet.clone(),
                cancel: outlet.cancel.clone(),
                headers: Some(headers),
                open_owners: None,
            };
            let opening = (&*request.method == method::INITIALIZE).then(|| request.params.clone());
            let (face, opened) = (shared.clone(), live.clone());
            let done = move |reply: &Reply| {
                if let (Some(params), Ok(result)) = (opening, &reply.outcome) {
                    face.sessions.open(&opened, Caller::from_initialize(params.as_ref(), result));
                }
                drop(ticket);
            };
            let running = run(shared.handler.clone(), context, request, done, always_ok);
            let asked = Asked { ids: Vec::new(), revision: live.session.caller().revision };
            let exchange = Exchange::new(shared.clone(), Rules::Legacy { primes: false }, outlet, asked, running);
            tokio::spawn(exchange.alone(Some(live.channel.clone())));
        }
        Frame::One(Message::Notification(notification)) => notify(shared, &live, headers, notification).await,
        Frame::One(Message::Response(response)) => take_answer(shared, &live, response),
        Frame::Batch(_) => return answer::refused(StatusCode::BAD_REQUEST, "this revision has no batches"),
    }
    answer::status(StatusCode::ACCEPTED)
}
