//! Streamable HTTP without sessions: 2026-07-28. Every request says of itself what it needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderName, Response, StatusCode};
use switchboard_protocol::mcp::{header, meta, method};
use switchboard_protocol::{Era, Revision};
use switchboard_transport::http_server::{Body, Principal};
use switchboard_wire::{ErrorObject, Kind, Message, Notification, Object, Raw, Request, code};
use tokio_util::sync::CancellationToken;

use super::exchange::{Asked, Exchange, Rules, listens, modern_status, run};
use super::response_sink::{Delivery, ResponseSink};
use super::{PROTOCOL_VERSION, Shared, answer};
use crate::{Caller, Context, Remote, Session};

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;

/// Whether a message names the revision it is made in, as only modern ones do.
pub(super) fn names_a_revision(message: &Message) -> bool {
    let params = match message {
        Message::Request(request) => request.params.as_ref(),
        Message::Notification(notification) => notification.params.as_ref(),
        Message::Response(_) => None,
    };
    params.is_some_and(|params| params.at(&["_meta", meta::PROTOCOL_VERSION]).is_some())
}

pub(super) async fn post(
    shared: Arc<Shared>,
    headers: Arc<HeaderMap>,
    message: Message,
    principal: Principal,
) -> Response<Body> {
    match message {
        Message::Request(request) => match examine(&headers, &request) {
            Ok(caller) => match call(shared, headers, caller, request, principal) {
                Ok(exchange) => exchange.respond().await,
                Err(refused) => *refused,
            },
            Err(refused) => answer::error(refused.status, request.id, refused.error),
        },
        Message::Notification(notification) => Box::pin(notify(&shared, headers, notification, principal)).await,
        Message::Response(_) => answer::refused(StatusCode::BAD_REQUEST, "clients of this revision send no responses"),
    }
}

/// Begins to answer a request.
fn call(
    shared: Arc<Shared>,
    headers: Arc<HeaderMap>,
    caller: Caller,
    request: Request,
    principal: Principal,
) -> Result<Exchange, Box<Response<Body>>> {
    let takes_events = answer::accepts_events(&headers);
    let listens = listens(&request);
    if listens && !takes_events {
        let error = ErrorObject::new(code::INVALID_REQUEST, "this method is answered with text/event-stream only");
        return Err(Box::new(answer::error(StatusCode::NOT_ACCEPTABLE, request.id, error)));
    }
    let way = Delivery::Modern { takes_events, listens, principal: principal.name.clone(), shared: shared.clone() };
    let outlet = ResponseSink::new(way);
    let asked = Asked { ids: vec![request.id.clone()], revision: caller.revision };
    let context = context(caller, outlet.clone(), outlet.cancel.clone(), headers, principal);
    let running = run(shared.handler.clone(), context, request, |_| {}, modern_status);
    Ok(Exchange::new(shared, Rules::Modern { listens }, outlet, asked, running))
}

async fn notify(
    shared: &Arc<Shared>,
    headers: Arc<HeaderMap>,
    notification: Notification,
    principal: Principal,
) -> Response<Body> {
    // On this transport a request is cancelled by closing its stream.
    if &*notification.method != method::CANCELLED {
        let caller = Caller::from_request_meta(notification.params.as_ref()).unwrap_or_else(|| Caller {
            revision: Revision::LATEST,
            info: None,
            capabilities: Raw::empty_object(),
        });
        let (principal_name, shared) = (principal.name.clone(), shared.clone());
        let way =
            Delivery::Modern { takes_events: false, listens: false, principal: principal_name, shared: shared.clone() };
        let outlet = ResponseSink::new(way);
        let context = context(caller, outlet, CancellationToken::new(), headers, principal);
        shared.handler.notification(context, notification).await;
    }
    answer::status(StatusCode::ACCEPTED)
}

/// The context of one message, with a session that ends with it.
fn context(
    caller: Caller,
    remote: Arc<dyn Remote>,
    cancel: CancellationToken,
    headers: Arc<HeaderMap>,
    principal: Principal,
) -> Context {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let id = format!("request-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let session = Session::new(id.into(), principal, false, caller, remote.clone());
    Context { caller: session.caller(), session, remote, cancel, headers: Some(headers), open_owners: None }
}

/// A request that breaks the rules of the transport.
struct Refused {
    status: StatusCode,
    error: ErrorObject,
}

fn bad(code: i64, message: impl Into<String>) -> Refused {
    Refused { status: StatusCode::BAD_REQUEST, error: ErrorObject::new(code, message) }
}

fn unsupported(requested: &str) -> Refused {
    let modern = Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Modern);
    let supported: Vec<Raw> = modern.map(|revision| Raw::string(revision.as_str())).collect();
    let data = switchboard_wire::Edit::empty()
        .set("supported", Raw::array(&supported))
        .set("requested", Raw::string(requested))
        .finish();
    let error = ErrorObject::new(UNSUPPORTED_VERSION, "Unsupported protocol version").with_data(data);
    Refused { status: StatusCode::BAD_REQUEST, error }
}

/// Checks that `Mcp-Method` and `Mcp-Name` say what the body says.
fn agree(headers: &HeaderMap, method: &str, params: Option<&Object>) -> Result<(), String> {
    let same = |name: &HeaderName, body: &str| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => match header::decode(value.as_bytes()) {
                Some(text) if text == body => Ok(()),
                Some(text) => Err(format!("the header {name} says {text:?}, the body says {body:?}")),
                None => Err(format!("the header {name} cannot be read")),
            },
            (None, _) => Err(format!("the header {name} is missing")),
            _ => Err(format!("the header {name} stands more than once")),
        }
    };
    same(&METHOD, method)?;
    let named = header::name_member(method).and_then(|member| params?.text(member));
    named.map_or(Ok(()), |named| same(&NAME, &named))
}

/// Checks what a request says of itself, and that its headers say the same.
fn examine(headers: &HeaderMap, request: &Request) -> Result<Caller, Refused> {
    if headers.get_all(&PROTOCOL_VERSION).iter().nth(1).is_some() {
        return Err(bad(HEADER_MISMATCH, "the header MCP-Protocol-Version stands more than once"));
    }
    let named = headers.get(&PROTOCOL_VERSION);
    let version_header =
        named.map(|value| value.to_str().map_err(|_| bad(HEADER_MISMATCH, "MCP-Protocol-Version is no text")));
    let version_header = version_header.transpose()?;
    let params = request.params.as_ref().map(Object::open).transpose();
    let params = params.map_err(|refusal| bad(code::INVALID_REQUEST, refusal.to_string()))?;
    let about = params.as_ref().and_then(|params| params.get("_meta"));
    let about = about.map(|raw| Object::open(&raw)).transpose();
    let about = about.map_err(|_| bad(code::INVALID_PARAMS, "_meta is no object without repeated keys"))?;
    let version = about.as_ref().and_then(|about| about.text(meta::PROTOCOL_VERSION));
    let (Some(about), Some(version)) = (about, version) else {
        // A revision that we do not know may have other rules: say which ones we do.
        if let Some(named) = version_header
            && Revision::parse(named).is_none()
        {
            return Err(unsupported(named));
        }
        return Err(bad(code::INVALID_PARAMS, format!("_meta lacks {}", meta::PROTOCOL_VERSION)));
    };
    match version_header {
        None => return Err(bad(HEADER_MISMATCH, "the header MCP-Protocol-Version is missing")),
        Some(named) if named != version => {
            let message = format!("MCP-Protocol-Version is '{named}' in the header and '{version}' in _meta");
            return Err(bad(HEADER_MISMATCH, message));
        }
        Some(_) => {}
    }
    let revision = Revision::parse(&version).filter(|revision| revision.era() == Era::Modern);
    let revision = revision.ok_or_else(|| unsupported(&version))?;
    let capabilities = about.get(meta::CLIENT_CAPABILITIES).filter(|raw| raw.kind() == Kind::Object);
    let capabilities =
        capabilities.ok_or_else(|| bad(code::INVALID_PARAMS, format!("_meta lacks {}", meta::CLIENT_CAPABILITIES)))?;
    agree(headers, &request.method, params.as_ref()).map_err(|message| bad(HEADER_MISMATCH, message))?;
    if &*request.method == method::INITIALIZE {
        let error = ErrorObject::new(code::METHOD_NOT_FOUND, "this revision has no initialize");
        return Err(Refused { status: StatusCode::NOT_FOUND, error });
    }
    Ok(Caller { revision, info: about.get(meta::CLIENT_INFO), capabilities })
}
