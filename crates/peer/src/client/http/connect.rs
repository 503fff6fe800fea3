//! The era probe and the handshake over HTTP, and a new session in place of one that was lost.

use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderValue, StatusCode};
use bytes::Bytes;
use switchboard_protocol::mcp::method;
use switchboard_protocol::{Era, Revision};
use switchboard_transport::http_client::{Answer, Body, HttpClientOptions, Target};
use switchboard_wire::{ErrorObject, Id, Message, Notification, Raw, Request};
use tokio::sync::oneshot;

use super::super::handshake::{self, Probe};
use super::super::{ConnectError, ConnectOptions, Connected, EraChoice, ServerProfile, sse};
use super::{DELIVERY, Http, SESSION_ID, State, background, bad_status, refuse_status, unauthorized};
use crate::{CallError, Handler};

/// What is said of an answer that is no message and begins as a page for people does.
const A_PAGE: &str = "a web page, and no message: is this the address of an MCP endpoint?";
/// How long the server's own stream may take to open before the connection is handed out.
const STREAM_WAIT: Duration = Duration::from_millis(500);

/// Connects to a server over HTTP, whatever revision it speaks.
pub(in crate::client) async fn connect(
    url: &str,
    headers: &[(String, String)],
    options: ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Result<Connected, ConnectError> {
    let http_options = HttpClientOptions { body_limit: options.limits.bytes, ..HttpClientOptions::default() };
    let target = Target::new(url, headers, http_options)?;
    let http = Http::new(target.clone(), &options, handler.clone());
    let probe_first = match (options.era, options.known_era) {
        (EraChoice::Legacy, _) | (EraChoice::Auto, Some(Era::Legacy)) => false,
        (EraChoice::Modern | EraChoice::Auto, _) => true,
    };
    if probe_first && let Some(profile) = http.discover(&options).await? {
        return Ok(connected(http, Revision::LATEST, profile));
    }
    match http.initialize(&options).await {
        Ok(Some((revision, profile))) => {
            let (sender, opened) = oneshot::channel();
            tokio::spawn(background::listen(Arc::downgrade(&http), http.closed.clone(), sender));
            // With the stream open, nothing the server says from now on is lost. Some servers send no head before
            // the first event, so this is worth only a short wait.
            let _ = tokio::time::timeout(STREAM_WAIT, opened).await;
            Ok(connected(http, revision, profile))
        }
        // No endpoint for POST: what is there may be the event stream of the oldest transport.
        Ok(None) => match sse::over(target, &options, handler).await {
            Ok(connected) => Ok(connected),
            Err(error) => {
                tracing::debug!(%error, "HTTP+SSE was tried as well");
                Err(ConnectError::BadAnswer {
                    step: "initialize",
                    why: format!("there is no MCP endpoint at this address (HTTP+SSE was tried as well: {error})"),
                })
            }
        },
        Err(ConnectError::Refused { error, .. }) if !probe_first && options.era == EraChoice::Auto => {
            // The remembered era may be out of date: the server was updated.
            match http.discover(&options).await? {
                Some(profile) => Ok(connected(http, Revision::LATEST, profile)),
                None => Err(ConnectError::Refused { step: "initialize", error }),
            }
        }
        Err(error) => Err(error),
    }
}

fn connected(http: Arc<Http>, revision: Revision, server: ServerProfile) -> Connected {
    Connected {
        revision,
        server,
        remote: http.clone(),
        closed: http.closed.clone(),
        renewals: http.renewals.subscribe(),
        stopper: http,
        stderr: None,
        oversight: None,
    }
}

impl Http {
    /// Probes with `server/discover`; `None` means that the server is a legacy one.
    async fn discover(&self, options: &ConnectOptions) -> Result<Option<ServerProfile>, ConnectError> {
        const STEP: &str = "server/discover";
        let state = State::new(&self.target, Some(Revision::LATEST), None, 0);
        let mut asked_again = false;
        // A user who is asked for consent takes longer than a server.
        let patience = if self.authorizer.is_some() { options.start_timeout } else { options.probe_timeout };
        loop {
            let params = self.identity.stamp(None);
            let headers = self
                .modern_headers(&state, (method::DISCOVER, Some(&params)), &[])
                .map_err(|error| ConnectError::from_call(STEP, error))?;
            let (id, body) = self.first_request(method::DISCOVER, params);
            let asked = tokio::time::timeout(patience, async {
                let answer = self.post(self.target.outgoing(headers, body)).await?;
                Ok::<_, ConnectError>((answer.status, self.first_answer(id, answer).await))
            });
            let modern_only = options.era == EraChoice::Modern;
            let probe = match asked.await {
                Ok(Ok((_, First::Unauthorized(error)))) => return Err(ConnectError::from_call(STEP, error)),
                Ok(Ok((status, First::Answer(Err(error), _)))) if modern_only && is_missing(status, &error) => {
                    // `server/discover` is the server's duty, but a client can do without.
                    return Ok(Some(self.become_modern(state, handshake::silent_profile())));
                }
                Ok(Ok((_, First::Answer(outcome, _)))) => handshake::judge_discover(outcome),
                Ok(Ok((_, First::Nothing(error)))) if modern_only => return Err(ConnectError::from_call(STEP, error)),
                Ok(Ok((_, First::Nothing(_)))) => Probe::Legacy,
                Ok(Err(error)) => return Err(error),
                Err(_) if modern_only => {
                    return Err(ConnectError::Timeout { step: STEP, after: patience, stderr: String::new() });
                }
                Err(_) => Probe::Legacy,
            };
            match probe {
                Probe::Modern(profile) => return Ok(Some(self.become_modern(state, profile))),
                Probe::AskAgain(_) if !asked_again => asked_again = true,
                Probe::AskAgain(error) => return Err(ConnectError::Refused { step: STEP, error }),
                Probe::Impossible(error) => return Err(error),
                Probe::Legacy if modern_only => {
                    let why = "the server speaks only the legacy revisions, and only the modern one is allowed";
                    return Err(ConnectError::BadAnswer { step: STEP, why: why.to_owned() });
                }
                Probe::Legacy => return Ok(None),
            }
        }
    }

    fn become_modern(&self, state: State, profile: ServerProfile) -> ServerProfile {
        *self.state.write() = Arc::new(state);
        self.session.introduce(handshake::as_caller(Revision::LATEST, &profile));
        profile
    }

    /// The handshake; `None` where the address takes no POST.
    async fn initialize(&self, options: &ConnectOptions) -> Result<Option<(Revision, ServerProfile)>, ConnectError> {
        const STEP: &str = "initialize";
        let (id, body) = self.first_request(method::INITIALIZE, self.identity.initialize(self.legacy_revision));
        let generation = self.state().generation;
        let state = State::new(&self.target, None, None, generation);
        let asked = async {
            let answer = self.post(self.target.outgoing(state.headers.clone(), body)).await?;
            Ok::<_, ConnectError>((answer.status, self.first_answer(id, answer).await))
        };
        let (status, first) = tokio::time::timeout(options.start_timeout, asked)
            .await
            .map_err(|_| ConnectError::Timeout { step: STEP, after: options.start_timeout, stderr: String::new() })??;
        let no_endpoint =
            matches!(status, StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED);
        match first {
            First::Unauthorized(error) => Err(ConnectError::from_call(STEP, error)),
            First::Nothing(_) if no_endpoint => Ok(None),
            First::Nothing(error) => Err(ConnectError::from_call(STEP, error)),
            First::Answer(outcome, session) => {
                let (revision, profile) = handshake::judge_initialize(outcome)?;
                self.settle(revision, session, generation, &profile).await?;
                Ok(Some((revision, profile)))
            }
        }
    }

    /// Notes what was agreed on and tells the server that we are ready.
    async fn settle(
        &self,
        revision: Revision,
        session: Option<HeaderValue>,
        generation: u64,
        profile: &ServerProfile,
    ) -> Result<(), ConnectError> {
        let state = State::new(&self.target, Some(revision), session, generation);
        let ready = Message::from(Notification::new(method::INITIALIZED, None)).encode();
        let ready = self.target.outgoing(state.headers.clone(), ready);
        let told = tokio::time::timeout(DELIVERY, self.post(ready)).await;
        let mut answer = told.map_err(|_| ConnectError::Timeout {
            step: method::INITIALIZED,
            after: DELIVERY,
            stderr: String::new(),
        })??;
        refuse_status(&answer).map_err(|error| ConnectError::from_call(method::INITIALIZED, error))?;
        super::keep_unless_more_was_said(&mut answer);
        *self.state.write() = Arc::new(state);
        self.session.introduce(handshake::as_caller(revision, profile));
        Ok(())
    }

    /// Establishes a new session in place of the one of that generation, once, however many calls find it lost.
    pub(super) async fn renew(&self, lost: u64) -> Result<(), CallError> {
        let _alone = self.renewing.lock().await;
        if self.state().generation != lost || self.closed.is_cancelled() {
            return Ok(());
        }
        let failed = |error: String| CallError::NotSent(format!("the session was lost and not renewed: {error}"));
        let (id, body) = self.first_request(method::INITIALIZE, self.identity.initialize(self.legacy_revision));
        let state = State::new(&self.target, None, None, lost);
        let asked = async {
            let message = self.target.outgoing(state.headers.clone(), body);
            let answer = self.post(message).await.map_err(|error| failed(error.to_string()))?;
            Ok::<_, CallError>(self.first_answer(id, answer).await)
        };
        let first = tokio::time::timeout(DELIVERY, asked).await.map_err(|_| failed("no answer".to_owned()))??;
        let (outcome, session) = match first {
            First::Answer(outcome, session) => (outcome, session),
            First::Unauthorized(error) | First::Nothing(error) => return Err(failed(error.to_string())),
        };
        let (revision, profile) = handshake::judge_initialize(outcome).map_err(|error| failed(error.to_string()))?;
        self.settle(revision, session, lost + 1, &profile).await.map_err(|error| failed(error.to_string()))?;
        self.renewals.send_modify(|count| *count += 1);
        tracing::info!(server = %self.target.display(), "the server had lost the session; a new one is established");
        Ok(())
    }

    fn first_request(&self, method: &'static str, params: Raw) -> (u64, Bytes) {
        let (id, _) = self.ids.next();
        (id, Message::from(Request::new(Id::number(id), method, Some(params))).encode())
    }

    /// Reads the answer to a request of the handshake, whole or from a stream.
    async fn first_answer(&self, id: u64, mut answer: Answer) -> First {
        if matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return First::Unauthorized(unauthorized(&answer));
        }
        let session = answer.headers.get(&SESSION_ID).and_then(|value| HeaderValue::from_bytes(value).ok());
        let status_error = bad_status(&answer);
        let is_success = answer.status.is_success();
        let ours = |found: &Option<Id>| found.as_ref().is_none_or(|found| found.as_u64() == Some(id));
        let mut is_page = false;
        let parsed = match &mut answer.body {
            Body::Whole(body) => {
                is_page = body.trim_ascii_start().starts_with(b"<");
                let parsed = Message::parse(body.clone(), &self.limits);
                if matches!(&parsed, Ok(Message::Response(response)) if ours(&response.id)) {
                    answer.keep_connection();
                }
                parsed
            }
            Body::Events(events) => loop {
                let event = match events.next().await {
                    Ok(Some(event)) => event,
                    Ok(None) => return First::Nothing(CallError::Closed),
                    Err(error) => return First::Nothing(super::call_error(error)),
                };
                if event.data.is_empty() {
                    continue;
                }
                match Message::parse(event.data, &self.limits) {
                    Ok(Message::Notification(notification)) => self.notified(notification, None).await,
                    Ok(Message::Request(request)) => self.requested(request, None, &self.closed, None),
                    other => break other,
                }
            },
        };
        match parsed {
            Ok(Message::Response(response)) if ours(&response.id) => First::Answer(response.outcome, session),
            Ok(_) => First::Nothing(CallError::BadAnswer("a message that is no answer to it".to_owned())),
            Err(_) if !is_success => First::Nothing(status_error),
            Err(_) if is_page => First::Nothing(CallError::BadAnswer(A_PAGE.to_owned())),
            Err(refusal) => First::Nothing(CallError::BadAnswer(refusal.to_string())),
        }
    }
}

fn is_missing(status: StatusCode, error: &ErrorObject) -> bool {
    error.code == switchboard_wire::code::METHOD_NOT_FOUND && (status.is_success() || status == StatusCode::NOT_FOUND)
}

/// What came back for a request of the handshake.
enum First {
    /// An answer, with the session that came along.
    Answer(Result<Raw, ErrorObject>, Option<HeaderValue>),
    /// Other credentials are wanted.
    Unauthorized(CallError),
    /// Nothing that could be called an answer.
    Nothing(CallError),
}
