//! Streamable HTTP, both eras: one POST per message, answers whole or as events.
//!
//! Legacy servers get a session, a background stream for what belongs to no call, and a new session when they lose
//! the old one. Modern servers get nothing but the request, and the end of the stream when a call is given up.

mod background;
mod call;
mod connect;
mod inbound;
mod mailbox;
mod timer;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use ::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use ::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use parking_lot::RwLock;
use switchboard_protocol::mcp::{header, method};
use switchboard_protocol::{Era, Revision};
use switchboard_transport::alarm::Alarms;
use switchboard_transport::http_client::{Answer, Body, HttpError, Outgoing, Target};
use switchboard_wire::{Limits, Message, Notification, Raw};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::identity::Identity;
use super::{Authorizer, ConnectOptions, Disorder, Refusal, Stopper};
use crate::ids::Ids;
use crate::{BoxFuture, Call, CallError, Caller, Context, Handler, Remote, Reply, SendError, Session};

pub(super) use self::connect::connect;

/// Notifications that may wait to be sent.
const OUTBOX: usize = 1024;
/// How long one notification, or the answer to a request of the server, may take to be delivered.
const DELIVERY: Duration = Duration::from_secs(30);

/// How often one request may ask for other credentials.
const MOST_AUTHORIZATIONS: u32 = 2;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// One server over HTTP. Tasks hold it weakly, or end when it is closed.
pub(super) struct Http {
    /// Ourselves, for tasks that requests of the server need.
    me: Weak<Self>,
    target: Target,
    authorizer: Option<Arc<dyn Authorizer>>,
    identity: Identity,
    legacy_revision: Revision,
    limits: Limits,
    handler: Arc<dyn Handler>,
    session: Arc<Session>,
    state: RwLock<Arc<State>>,
    /// Held while a lost session is replaced, so that it happens once.
    renewing: tokio::sync::Mutex<()>,
    renewals: watch::Sender<u64>,
    ids: Ids,
    outbox: mpsc::Sender<Bytes>,
    running: inbound::Running,
    mailboxes: Arc<mailbox::Mailboxes>,
    /// Timers of calls that have ended.
    alarms: Alarms,
    closed: CancellationToken,
    stray_answers: AtomicU64,
    /// Progress in the stream of a call that is not about it.
    foreign_progress: AtomicU64,
}

/// What is agreed on with the server. Replaced as a whole when a session is.
struct State {
    revision: Revision,
    /// Every header that does not change from request to request.
    headers: Arc<HeaderMap>,
    /// The legacy session, where the server keeps one.
    session: Option<HeaderValue>,
    /// Counts the sessions.
    generation: u64,
}

impl State {
    fn new(target: &Target, revision: Option<Revision>, session: Option<HeaderValue>, generation: u64) -> Self {
        let mut headers = target.headers().clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if let Some(revision) = revision {
            headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
        }
        if let Some(session) = &session {
            headers.insert(SESSION_ID, session.clone());
        }
        let headers = Arc::new(headers);
        Self { revision: revision.unwrap_or(Revision::LATEST_LEGACY), headers, session, generation }
    }

    const fn era(&self) -> Era {
        self.revision.era()
    }
}

impl Http {
    fn new(target: Target, options: &ConnectOptions, handler: Arc<dyn Handler>) -> Arc<Self> {
        let (outbox, queue) = mpsc::channel(OUTBOX);
        let http = Arc::new_cyclic(|me: &Weak<Self>| {
            let remote = Arc::new(Back(me.clone()));
            let id = format!("http-{}", crate::random_token());
            Self {
                me: me.clone(),
                identity: Identity::new(options.info.clone(), options.capabilities.clone()),
                authorizer: options.authorizer.clone(),
                legacy_revision: options.legacy_revision,
                limits: options.limits.clone(),
                handler,
                session: Session::new(id.into(), "server".into(), true, Caller::unknown(), remote),
                state: RwLock::new(Arc::new(State::new(&target, None, None, 0))),
                renewing: tokio::sync::Mutex::default(),
                renewals: watch::Sender::new(0),
                ids: Ids::default(),
                outbox,
                running: inbound::Running::default(),
                mailboxes: Arc::default(),
                alarms: Alarms::default(),
                closed: CancellationToken::new(),
                stray_answers: AtomicU64::new(0),
                foreign_progress: AtomicU64::new(0),
                target,
            }
        });
        tokio::spawn(background::deliver(Arc::downgrade(&http), http.closed.clone(), queue));
        http
    }

    fn state(&self) -> Arc<State> {
        self.state.read().clone()
    }

    /// The headers of one modern message.
    fn modern_headers(
        &self,
        state: &State,
        call: (&str, Option<&Raw>),
        more: &[(String, String)],
    ) -> Result<Arc<HeaderMap>, CallError> {
        let bad = |name: &str| CallError::NotSent(format!("the header {name} has a value that HTTP does not allow"));
        let mut headers = HeaderMap::clone(&state.headers);
        for (name, value) in header::standard_headers(call.0, call.1) {
            let key = if name == header::METHOD { METHOD } else { NAME };
            headers.insert(key, HeaderValue::try_from(value).map_err(|_| bad(name))?);
        }
        add(&mut headers, more)?;
        Ok(Arc::new(headers))
    }

    /// Sends a message, with other credentials where the server wants them. A request that is refused for its
    /// credentials was not carried out, so it may be made again.
    async fn post(&self, message: Outgoing) -> Result<Answer, HttpError> {
        match &self.authorizer {
            None => self.target.send(message).await,
            Some(authorizer) => Box::pin(self.post_authorized(authorizer.as_ref(), message)).await,
        }
    }

    async fn post_authorized(&self, authorizer: &dyn Authorizer, message: Outgoing) -> Result<Answer, HttpError> {
        let mut attempt = 0;
        loop {
            let used = authorizer.header();
            let mut message = message.clone();
            if let Some(header) = &used {
                message.headers_mut().insert(AUTHORIZATION, header.clone());
            }
            let answer = self.target.send(message).await?;
            let refused = matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
            if !refused || attempt >= MOST_AUTHORIZATIONS {
                return Ok(answer);
            }
            attempt += 1;
            let challenge = answer.header(&WWW_AUTHENTICATE).map(str::to_owned);
            let refusal = Refusal { status: answer.status.as_u16(), challenge, used };
            if let Err(error) = authorizer.challenged(refusal).await {
                tracing::warn!(server = %self.target.display(), %error, "no other credentials could be had");
                return Ok(answer);
            }
        }
    }

    /// Opens a stream with the credentials of now.
    async fn get_events(&self, state: &State, last: Option<&str>) -> Result<Answer, HttpError> {
        let mut headers = HeaderMap::clone(&state.headers);
        if let Some(header) = self.authorizer.as_ref().and_then(|authorizer| authorizer.header()) {
            headers.insert(AUTHORIZATION, header);
        }
        self.target.get_events(headers, last).await
    }

    /// Sends a message that has no answer of its own.
    async fn deliver(&self, message: Bytes) -> Result<(), CallError> {
        let state = self.state();
        let headers = match state.era() {
            Era::Legacy => state.headers.clone(),
            Era::Modern => {
                let parsed = Message::parse(message.clone(), &self.limits).ok();
                match &parsed {
                    Some(Message::Notification(told)) => {
                        self.modern_headers(&state, (&told.method, told.params.as_ref()), &[])?
                    }
                    _ => return Err(CallError::NotAllowed),
                }
            }
        };
        let sent = tokio::time::timeout(DELIVERY, self.post(self.target.outgoing(headers, message))).await;
        let mut answer = sent.map_err(|_| CallError::Timeout(DELIVERY))?.map_err(call_error)?;
        refuse_status(&answer)?;
        keep_unless_more_was_said(&mut answer);
        Ok(())
    }

    fn count_stray(&self) {
        self.stray_answers.fetch_add(1, Ordering::Relaxed);
        tracing::debug!("an answer that nobody waits for");
    }

    fn context(&self, cancel: CancellationToken) -> Context {
        let session = self.session.clone();
        Context {
            caller: session.caller(),
            remote: session.remote().clone(),
            session,
            cancel,
            headers: None,
            open_owners: None,
        }
    }

    async fn end(&self) {
        if self.closed.is_cancelled() {
            return;
        }
        self.closed.cancel();
        let state = self.state();
        if state.session.is_some() {
            let mut headers = HeaderMap::clone(&state.headers);
            if let Some(header) = self.authorizer.as_ref().and_then(|authorizer| authorizer.header()) {
                headers.insert(AUTHORIZATION, header);
            }
            // A courtesy: the server forgets the session in its own time otherwise.
            let _ = tokio::time::timeout(Duration::from_secs(5), self.target.delete(headers)).await;
        }
    }
}

impl Remote for Http {
    fn request(&self, call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(self.ask(call))
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        if self.closed.is_cancelled() {
            return Err(SendError::Closed);
        }
        // A modern server learns from the end of the stream that a call was given up, and defines nothing else.
        if self.state().era() == Era::Modern && &*notification.method == method::CANCELLED {
            return Ok(());
        }
        self.outbox.try_send(Message::from(notification).encode()).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => SendError::Full,
            mpsc::error::TrySendError::Closed(_) => SendError::Closed,
        })
    }

    fn can_request(&self) -> bool {
        !self.closed.is_cancelled()
    }
}

impl Stopper for Http {
    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.end())
    }

    fn disorder(&self) -> Disorder {
        Disorder {
            stray_answers: self.stray_answers.load(Ordering::Relaxed),
            foreign_progress: self.foreign_progress.load(Ordering::Relaxed),
            ..Disorder::default()
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

/// The session's way back to the connection that owns it.
struct Back(Weak<Http>);

impl Remote for Back {
    fn request(&self, call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(async move {
            let http = self.0.upgrade().ok_or_else(|| CallError::NotSent("the connection is closed".to_owned()))?;
            http.ask(call).await
        })
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        self.0.upgrade().ok_or(SendError::Closed)?.notify(notification)
    }

    fn can_request(&self) -> bool {
        self.0.upgrade().is_some_and(|http| http.can_request())
    }
}

fn add(headers: &mut HeaderMap, more: &[(String, String)]) -> Result<(), CallError> {
    for (name, value) in more {
        let bad = || CallError::NotSent(format!("the header {name} has a name or value that HTTP does not allow"));
        let key = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
        headers.insert(key, HeaderValue::try_from(value.as_str()).map_err(|_| bad())?);
    }
    Ok(())
}

/// Keeps the connection of what has no answer: a body that was not asked for may be the answer to something else.
fn keep_unless_more_was_said(answer: &mut Answer) {
    if matches!(&answer.body, Body::Whole(body) if body.is_empty()) {
        answer.keep_connection();
    }
}

/// What a failure of HTTP means for the call.
fn call_error(error: HttpError) -> CallError {
    match error {
        HttpError::Broken { .. } => CallError::Closed,
        error if error.was_sent() => CallError::BadAnswer(error.to_string()),
        error => CallError::NotSent(error.to_string()),
    }
}

/// The error that a status stands for, whatever the body says.
fn refuse_status(answer: &Answer) -> Result<(), CallError> {
    match answer.status {
        status if status.is_success() => Ok(()),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(unauthorized(answer)),
        _ => Err(bad_status(answer)),
    }
}

fn unauthorized(answer: &Answer) -> CallError {
    let challenge = answer.header(&WWW_AUTHENTICATE).map(str::to_owned);
    CallError::Unauthorized { status: answer.status.as_u16(), challenge }
}

fn bad_status(answer: &Answer) -> CallError {
    if let status @ (408 | 502..=504) = answer.status.as_u16() {
        return CallError::Gateway(status);
    }
    let excerpt = match &answer.body {
        Body::Whole(body) => {
            let start = String::from_utf8_lossy(body.get(..body.len().min(200)).unwrap_or_default());
            start.chars().filter(|character| !character.is_control()).collect()
        }
        Body::Events(_) => String::new(),
    };
    let text = if excerpt.is_empty() { excerpt } else { format!(": {excerpt}") };
    CallError::BadAnswer(format!("HTTP {}{text}", answer.status.as_u16()))
}
