//! One HTTP endpoint for clients of every revision.
//!
//! [`HttpEndpoint`] tells the era of each request, keeps the sessions of legacy clients and the rules of the transport
//! (headers, statuses, streams, resumption), and gives the messages to a [`Handler`]. An answer is plain JSON unless
//! the handler has something to say first; then it becomes a stream. It deliberately knows no method beyond those
//! that open, cancel or carry a request, and nothing of what a request means.

mod answer;
mod asking;
mod channel;
mod exchange;
mod legacy;
mod log;
mod memory;
mod modern;
mod old_sse;
mod options;
mod response_sink;
mod sessions;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use switchboard_protocol::{Era, Revision};
use switchboard_transport::http_server::{Answering, Body, Listener, Principal, Room, Service, read_body_into};
use switchboard_wire::{Incoming as Frame, Message};

use crate::Handler;
use memory::Memory;
pub use options::{HttpOptions, LogLimits, OldSse};
use sessions::Sessions;

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How long a request waits where its principal does not read its answers, and how often it is looked whether it does.
const WAIT_FOR_READERS: Duration = Duration::from_secs(5);
const LOOK_FOR_READERS: Duration = Duration::from_millis(50);

/// The HTTP face of a handler.
pub struct HttpEndpoint {
    shared: Arc<Shared>,
    fallback: Option<Arc<dyn Service>>,
}

/// What every request of a face needs.
pub(super) struct Shared {
    options: HttpOptions,
    handler: Arc<dyn Handler>,
    sessions: Sessions,
    /// What streams and bodies hold together.
    memory: Arc<Memory>,
    stray_answers: AtomicU64,
}

impl HttpEndpoint {
    /// A face that gives what arrives to `handler`.
    pub fn new(options: HttpOptions, handler: Arc<dyn Handler>) -> Self {
        let sessions = Sessions::new(options.max_sessions, handler.clone());
        // The largest message must fit into what one principal gets.
        let memory = Memory::new(options.max_memory.max(options.limits.bytes.saturating_mul(2)));
        let stray_answers = AtomicU64::new(0);
        Self { shared: Arc::new(Shared { options, handler, sessions, memory, stray_answers }), fallback: None }
    }

    /// The same face, with a service for every path that is not its own.
    #[must_use]
    pub fn with_fallback(mut self, fallback: Arc<dyn Service>) -> Self {
        self.fallback = Some(fallback);
        self
    }

    /// Serves on a listener until the options' `shutdown` is cancelled, then ends all sessions.
    pub async fn serve(self: Arc<Self>, listener: Listener) {
        let shutdown = self.shared.options.shutdown.clone();
        let serving = listener.serve(self.clone(), shutdown);
        let idle = self.shared.options.session_idle;
        let sweeping = async {
            let mut tick = tokio::time::interval((idle / 8).clamp(Duration::from_millis(100), Duration::from_secs(60)));
            loop {
                tick.tick().await;
                self.end_idle_sessions(idle);
                self.shared.sessions.forget_streams(self.shared.options.kept_for);
            }
        };
        tokio::select! {
            () = serving => {}
            () = sweeping => {}
        }
        self.shared.sessions.close_all();
    }

    /// How many lasting sessions there are.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.shared.sessions.len()
    }

    /// Bytes that streams and bodies hold together.
    #[must_use]
    pub fn memory_used(&self) -> usize {
        self.shared.memory.used()
    }

    /// Answers of clients that nobody waited for: late, repeated, or never asked.
    #[must_use]
    pub fn stray_answers(&self) -> u64 {
        self.shared.stray_answers.load(Ordering::Relaxed)
    }

    /// Ends the sessions that had no traffic for that long and have neither an open stream nor a running request.
    /// [`HttpEndpoint::serve`] does this by itself. Answers how many were ended.
    pub fn end_idle_sessions(&self, idle: Duration) -> usize {
        self.shared.sessions.end_idle(idle)
    }

    /// Everything but messages for the endpoint.
    async fn route(&self, request: Request<Incoming>, principal: Principal) -> Response<Body> {
        let options = &self.shared.options;
        let path = request.uri().path();
        if path == options.path {
            return self.shared.endpoint(request.method(), request.headers(), &principal);
        }
        if let Some(profile) = options.profile(path) {
            if !self.shared.handler.has_profile(profile) {
                return answer::refused(StatusCode::NOT_FOUND, "there is no such profile here");
            }
            let principal = Principal::from(principal.within_profile(profile));
            if request.method() != Method::POST {
                return self.shared.endpoint(request.method(), request.headers(), &principal);
            }
            let (head, body) = request.into_parts();
            return Box::pin(self.shared.clone().post(Arc::new(head.headers), body, principal)).await;
        }
        if let Some(old) = &options.old_sse {
            if path == old.stream_path {
                return old_sse::open(&self.shared, request.method(), &principal);
            }
            if path == old.message_path {
                return Box::pin(old_sse::post(&self.shared, request, principal)).await;
            }
        }
        match &self.fallback {
            Some(fallback) => fallback.call(request, principal).await,
            None => answer::status(StatusCode::NOT_FOUND),
        }
    }
}

impl Service for HttpEndpoint {
    fn call(&self, request: Request<Incoming>, principal: Principal) -> Answering<'_> {
        if request.method() == Method::POST && request.uri().path() == self.shared.options.path {
            // Nearly every request is one of these: of its head, only the headers are carried on.
            let (head, body) = request.into_parts();
            return Box::pin(self.shared.clone().post(Arc::new(head.headers), body, principal));
        }
        Box::pin(self.route(request, principal))
    }

    fn is_open(&self, path: &str) -> bool {
        let options = &self.shared.options;
        let own = path == options.path
            || options.profile(path).is_some()
            || options.old_sse.as_ref().is_some_and(|old| path == old.stream_path || path == old.message_path);
        !own && self.fallback.as_ref().is_some_and(|fallback| fallback.is_open(path))
    }

    fn has_any_host(&self, path: &str) -> bool {
        self.fallback.as_ref().is_some_and(|fallback| fallback.has_any_host(path))
    }
}

impl std::fmt::Debug for HttpEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpFace").field("sessions", &self.session_count()).finish_non_exhaustive()
    }
}

impl Shared {
    /// A request without a message.
    fn endpoint(self: &Arc<Self>, method: &Method, headers: &HeaderMap, principal: &Principal) -> Response<Body> {
        let named = Named::of(headers);
        let modern = named.revision().is_some_and(|revision| revision.era() == Era::Modern);
        match *method {
            Method::GET if !modern => legacy::get(self, headers, &named, principal),
            Method::DELETE if !modern => legacy::delete(self, &named, principal),
            _ => answer::method_not_allowed(if modern { "POST" } else { "GET, POST, DELETE" }),
        }
    }

    /// A message.
    async fn post(self: Arc<Self>, headers: Arc<HeaderMap>, body: Incoming, principal: Principal) -> Response<Body> {
        let frame = match self.read(&headers, body, &principal).await {
            Ok(frame) => frame,
            Err(response) => return response,
        };
        if asks(&frame) && self.memory.may_be_crowded() && !Box::pin(self.awaits_readers(&principal)).await {
            return answer::no_room(
                "earlier answers are not read, and hold too much memory; the request was not begun",
            );
        }
        let named = Named::of(&headers);
        let modern = match (named.revision(), &frame) {
            (Some(revision), _) if revision.era() == Era::Modern => true,
            // Whoever has a session opened it with `initialize`.
            _ if named.session.is_some() => false,
            (_, Frame::One(message)) if modern::names_a_revision(message) => true,
            (None, Frame::One(Message::Request(_))) => named.version.is_some_and(|version| version.to_str().is_ok()),
            _ => false,
        };
        match frame {
            Frame::One(message) if modern => modern::post(self, headers, message, principal).await,
            Frame::Batch(_) if modern => answer::refused(StatusCode::BAD_REQUEST, "this revision has no batches"),
            frame if legacy::opens(&frame) => {
                Box::pin(legacy::initialize(&self, &headers, &named, frame, principal)).await
            }
            frame => legacy::post(self, &headers, named, frame, &principal).await,
        }
    }

    /// Waits a moment for clients to read the answers that they have; `false` where they do not.
    async fn awaits_readers(&self, principal: &Principal) -> bool {
        let account = self.memory.account(&principal.name);
        let read = async {
            while account.is_crowded() {
                tokio::time::sleep(LOOK_FOR_READERS).await;
            }
        };
        tokio::time::timeout(WAIT_FOR_READERS, read).await.is_ok()
    }

    /// Reads and parses the body of a POST.
    async fn read(&self, headers: &HeaderMap, body: Incoming, reader: &Principal) -> Result<Frame, Response<Body>> {
        if !answer::is_json(headers) {
            return Err(answer::refused(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the Content-Type must be application/json",
            ));
        }
        let options = &self.options;
        let room = || Arc::new(self.memory.account(&reader.name)) as Arc<dyn Room>;
        let text = read_body_into(body, options.limits.bytes, options.body_timeout, room)
            .await
            .map_err(|error| answer::unread(&error))?;
        Frame::parse(text, &options.limits).map_err(|refusal| answer::refusal(&refusal))
    }
}

/// Whether something is to be answered with more than that it arrived.
fn asks(frame: &Frame) -> bool {
    matches!(frame, Frame::One(Message::Request(_)) | Frame::Batch(_))
}

/// What the headers of a request name, each looked for once.
struct Named<'a> {
    version: Option<&'a HeaderValue>,
    session: Option<&'a HeaderValue>,
}

impl<'a> Named<'a> {
    fn of(headers: &'a HeaderMap) -> Self {
        Self { version: headers.get(&PROTOCOL_VERSION), session: headers.get(&SESSION_ID) }
    }

    /// The revision, where one is named that we know.
    fn revision(&self) -> Option<Revision> {
        Revision::parse(self.version?.to_str().ok()?)
    }
}
