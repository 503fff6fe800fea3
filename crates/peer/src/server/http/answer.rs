//! Heads and bodies of HTTP answers.

use std::sync::atomic::{AtomicU16, Ordering};

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use switchboard_transport::http_server::{Body, ReadError};
use switchboard_wire::{ErrorObject, Id, Message, Raw, Refusal, Response as Answer, code};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache, no-transform");
const NO: HeaderValue = HeaderValue::from_static("no");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// Seconds after which clients that found no room may try again, one after the other: those that are turned away together
/// must not come back together.
const COME_BACK: std::ops::Range<u16> = 3..13;

/// An answer without a body.
pub(super) fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A message, or a batch of them.
pub(super) fn json(status: StatusCode, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::full(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// A stream of events.
pub(super) fn events(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENTS);
    headers.insert(CACHE_CONTROL, NO_CACHE);
    headers.insert(ACCEL_BUFFERING, NO);
    response
}

/// An error that answers a request.
pub(super) fn error(status: StatusCode, id: Id, error: ErrorObject) -> Response<Body> {
    json(status, Message::Response(Answer::new(Some(id), Err(error))).encode())
}

/// An error about a message that has no id to answer under. MCP leaves the id out, where JSON-RPC would write null.
pub(super) fn refused_with(status: StatusCode, code: i64, message: &str) -> Response<Body> {
    let text = Raw::string(message);
    let body = format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":{}}}}}"#, text.as_str());
    json(status, body.into())
}

/// The usual error about a message that has no id to answer under.
pub(super) fn refused(status: StatusCode, message: &str) -> Response<Body> {
    refused_with(status, code::INVALID_REQUEST, message)
}

/// The answer to text that is no message.
pub(super) fn refusal(refusal: &Refusal) -> Response<Body> {
    let error = refusal.to_error();
    match &refusal.id {
        Some(id) => self::error(StatusCode::BAD_REQUEST, id.clone(), error),
        None => refused_with(StatusCode::BAD_REQUEST, error.code, &error.message),
    }
}

/// The answer to a body that could not be read.
pub(super) fn unread(error: &ReadError) -> Response<Body> {
    if matches!(error, ReadError::NoRoom) {
        return no_room(&error.to_string());
    }
    let status = match error {
        ReadError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        ReadError::TooSlow(_) => StatusCode::REQUEST_TIMEOUT,
        _ => StatusCode::BAD_REQUEST,
    };
    refused(status, &error.to_string())
}

/// The method of the HTTP request is none of those served here.
pub(super) fn method_not_allowed(allowed: &'static str) -> Response<Body> {
    let mut response = status(StatusCode::METHOD_NOT_ALLOWED);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// There is no room: come back later.
pub(super) fn no_room(message: &str) -> Response<Body> {
    let mut response = refused_with(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL_ERROR, message);
    static TURNED_AWAY: AtomicU16 = AtomicU16::new(0);
    let turn = TURNED_AWAY.fetch_add(1, Ordering::Relaxed) % (COME_BACK.end - COME_BACK.start);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(COME_BACK.start + turn));
    response
}

/// Whether the body is declared to be JSON. A web page can send any other type without asking first.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    declared.is_some_and(|text| media(text.as_bytes()).eq_ignore_ascii_case(b"application/json"))
}

/// Whether the client takes a stream of events. One that says nothing takes anything.
pub(super) fn accepts_events(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let accepted = |media: &[u8]| {
        [&b"text/event-stream"[..], b"text/*", b"*/*"].iter().any(|taken| media.eq_ignore_ascii_case(taken))
    };
    values
        .filter_map(|value| value.to_str().ok())
        .any(|text| text.as_bytes().split(|&byte| byte == b',').any(|part| accepted(media(part))))
}

/// A media type without its parameters.
fn media(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii()
}
