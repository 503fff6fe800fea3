//! One call: sent, waited for, followed over broken streams, repeated once on a new session.

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ::http::StatusCode;
use memchr::memmem::Finder;
use switchboard_protocol::Era;
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp;
use switchboard_transport::http_client::{Answer, Body, EventStream, HttpError, Outgoing};
use switchboard_wire::sse::SseEvent;
use switchboard_wire::{Edit, Id, Message, Notification, Raw, Request, Response};
use tokio_util::sync::CancellationToken;

use super::mailbox::Mailbox;
use super::timer::{Thinking, Timer};
use super::{Http, State, add, bad_status, call_error, unauthorized};
use crate::remote::time_to_answer;
use crate::{Call, CallError, Handler, Remote as _, Reply};

/// How long to wait before a broken stream is taken up again, where the server does not say.
const RETRY: Duration = Duration::from_secs(1);
/// The most a server may ask us to wait.
const MOST_RETRY: Duration = Duration::from_secs(300);

/// Answers to the call before that are passed over.
const MAX_REPEATED: usize = 8;
/// So many events of one stream are taken before others get their turn: whoever is told of them must be able to keep up.
pub(super) const TURN: u32 = 32;

/// What the pieces of one call share.
pub(super) struct Open<'a> {
    pub(super) id: u64,
    /// The progress token that the caller chose; on the wire stands the id instead.
    pub(super) token: Option<Raw>,
    pub(super) related: Option<Arc<dyn Handler>>,
    pub(super) cancel: CancellationToken,
    /// What the server sends about this call elsewhere: on its own stream, or on one that was taken up again.
    mail: Option<Mailbox>,
    /// Whether an answer came to another call than this.
    strayed: bool,
    timer: Timer<'a>,
}

/// What a call that waits came to see.
enum Came<T> {
    Work(T),
    Mail(Message),
}

impl Open<'_> {
    /// Waits for `work`, or for mail, as long as the call may take.
    async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<Came<T>, CallError> {
        let mail = async {
            match &mut self.mail {
                Some(mail) => mail.next().await,
                None => None,
            }
        };
        tokio::select! {
            biased;
            outcome = work => Ok(Came::Work(outcome)),
            Some(message) = mail => Ok(Came::Mail(message)),
            () = self.cancel.cancelled() => Err(CallError::Cancelled),
            error = self.timer.over() => Err(error),
        }
    }

    /// Waits for `work` as long as the call may take.
    async fn guard<T>(&mut self, work: impl Future<Output = T>) -> Result<T, CallError> {
        tokio::select! {
            biased;
            outcome = work => Ok(outcome),
            () = self.cancel.cancelled() => Err(CallError::Cancelled),
            error = self.timer.over() => Err(error),
        }
    }
}

/// What one round over HTTP led to.
enum Outcome {
    Answered(Reply),
    /// The server does not know the session any more, and did nothing.
    SessionLost,
    /// This was the answer to the call before, once more. That to this call is still to come.
    Repeated,
}

impl Http {
    pub(super) fn ask(&self, call: Call) -> impl Future<Output = Result<Reply, CallError>> + Send {
        // The call is taken apart before there is a future, which would have room for the whole and for its parts.
        let timer = Timer::new(&call, &self.alarms);
        let Call { method, params, extra, cancel, related, headers, .. } = call;
        let (id, _) = self.ids.next();
        let mut open = Open { id, token: None, related, cancel, mail: None, strayed: false, timer };
        let mut request = Request { id: Id::number(id), method, params: None, extra };
        async move {
            if self.closed.is_cancelled() {
                return Err(CallError::NotSent("the connection is closed".to_owned()));
            }
            let mut renewed = false;
            loop {
                let state = self.state();
                let (own, token) = own_token(open.id, params.as_ref());
                open.token = token;
                let message = self.message_for(&state, &mut request, own, &headers)?.tagged(open.id);
                match self.round(&state, &mut open, message).await? {
                    Outcome::Answered(reply) => return Ok(reply),
                    // Dealt with where it is found.
                    Outcome::Repeated => return Err(CallError::Closed),
                    Outcome::SessionLost if renewed => {
                        return Err(CallError::NotSent("the server loses every session at once".to_owned()));
                    }
                    Outcome::SessionLost => {
                        renewed = true;
                        Box::pin(open.guard(self.renew(state.generation))).await??;
                        open.mail = None;
                        open.id = self.ids.next().0;
                        request.id = Id::number(open.id);
                    }
                }
            }
        }
    }

    /// The message that makes a request, in the era of the server.
    fn message_for(
        &self,
        state: &State,
        request: &mut Request,
        params: Option<Raw>,
        more: &[(String, String)],
    ) -> Result<Outgoing, CallError> {
        let headers = match state.era() {
            Era::Legacy => {
                request.params = params;
                let mut headers = state.headers.clone();
                if !more.is_empty() {
                    add(Arc::make_mut(&mut headers), more)?;
                }
                headers
            }
            Era::Modern => {
                request.params = Some(self.identity.stamp(params));
                self.modern_headers(state, (&request.method, request.params.as_ref()), more)?
            }
        };
        Ok(self.target.outgoing(headers, request.encode()))
    }

    /// Sends and follows one request. Every way out but an answer tells the server that nobody waits any more.
    async fn round(&self, state: &State, open: &mut Open<'_>, message: Outgoing) -> Result<Outcome, CallError> {
        let mut farewell = Farewell { http: self, id: open.id, armed: state.era() == Era::Legacy };
        if state.era() == Era::Legacy && open.token.is_some() {
            self.open_mailbox(open);
        }
        let mut posting = std::pin::pin!(self.post(message));
        let events = loop {
            match open.wait(posting.as_mut()).await? {
                Came::Work(Ok(Answer { body: Body::Events(events), .. })) => break events,
                Came::Work(Ok(mut answer)) => {
                    farewell.armed = false;
                    return match self.whole(state, open.id, &mut answer) {
                        Ok(Outcome::Repeated) => {
                            farewell.armed = state.era() == Era::Legacy;
                            let outcome = Box::pin(self.after_repeated(state, open, answer)).await;
                            farewell.armed &= outcome.is_err();
                            outcome
                        }
                        outcome => outcome,
                    };
                }
                Came::Work(Err(error)) => {
                    farewell.armed &= error.was_sent();
                    return Err(call_error(error));
                }
                Came::Mail(message) => {
                    if let Some(reply) = Box::pin(self.message(open, message)).await? {
                        farewell.armed = false;
                        return Ok(Outcome::Answered(reply));
                    }
                }
            }
        };
        // A stream is the rarer way, and following it takes a large future.
        let outcome = Box::pin(self.follow(state, open, events)).await;
        // After a broken stream the server may still work on it.
        farewell.armed &= matches!(outcome, Err(CallError::Cancelled | CallError::Timeout(_) | CallError::Closed));
        outcome
    }

    /// Goes on reading behind answers that came twice, so that they cost no other call.
    async fn after_repeated(
        &self,
        state: &State,
        open: &mut Open<'_>,
        mut answer: Answer,
    ) -> Result<Outcome, CallError> {
        for _ in 0..MAX_REPEATED {
            answer = open.guard(answer.following()).await?.map_err(call_error)?;
            if matches!(answer.body, Body::Events(_)) {
                let Body::Events(events) = answer.body else { break };
                return self.follow(state, open, events).await;
            }
            match self.whole(state, open.id, &mut answer)? {
                Outcome::Repeated => {}
                outcome => return Ok(outcome),
            }
        }
        Err(other_calls_answer())
    }

    /// An answer that came whole. Only one that is ours leaves the connection open for other calls.
    fn whole(&self, state: &State, id: u64, answer: &mut Answer) -> Result<Outcome, CallError> {
        let status = answer.status;
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(unauthorized(answer));
        }
        if state.session.is_some() && status == StatusCode::NOT_FOUND {
            return Ok(Outcome::SessionLost);
        }
        let Body::Whole(body) = &answer.body else { return Err(bad_status(answer)) };
        let response = match Message::parse(body.clone(), &self.limits) {
            Ok(Message::Response(response)) => response,
            Ok(_) => return Err(CallError::BadAnswer("a message that is no answer".to_owned())),
            Err(_) if !status.is_success() => return Err(bad_status(answer)),
            Err(_) if body.is_empty() => {
                return Err(CallError::BadAnswer(format!("HTTP {} without a body", status.as_u16())));
            }
            Err(refusal) => return Err(CallError::BadAnswer(refusal.to_string())),
        };
        if state.session.is_some() && status == StatusCode::BAD_REQUEST && names_session(&response) {
            return Ok(Outcome::SessionLost);
        }
        let ours = match &response.id {
            Some(found) => found.as_u64() == Some(id),
            // An error about a message whose id the server could not, or did not, read.
            None => response.outcome.is_err(),
        };
        if !ours {
            self.count_stray();
            let before = answer.previous();
            if before != 0 && response.id.as_ref().and_then(Id::as_u64) == Some(before) {
                return Ok(Outcome::Repeated);
            }
            return Err(other_calls_answer());
        }
        if response.id.is_some() {
            answer.keep_connection();
        }
        Ok(Outcome::Answered(Reply { outcome: response.outcome, extra: response.extra }))
    }

    /// Reads events until the answer; takes a stream that broke up again where the server lets us.
    async fn follow(&self, state: &State, open: &mut Open<'_>, events: Box<EventStream>) -> Result<Outcome, CallError> {
        let mut cursor = Cursor::default();
        let mut stream = Some(events);
        let mut fruitless = 0u32;
        let mut taken = 0;
        // What answers the request carries its answer and no other. One that was taken up again may carry others.
        let mut is_own = true;
        if state.era() == Era::Legacy && open.mail.is_none() {
            self.open_mailbox(open);
        }
        loop {
            if let Some(events) = &mut stream {
                let reply = match open.wait(events.next()).await? {
                    Came::Mail(message) => self.message(open, message).await?,
                    Came::Work(Ok(Some(event))) => {
                        fruitless = 0;
                        cursor.note(&event);
                        self.event(open, event).await?
                    }
                    Came::Work(Ok(None) | Err(HttpError::Broken { .. })) => {
                        stream = None;
                        None
                    }
                    Came::Work(Err(error)) => return Err(call_error(error)),
                };
                match reply {
                    Some(reply) => return Ok(Outcome::Answered(reply)),
                    None if stream.is_some() => {
                        taken += 1;
                        if taken == TURN {
                            taken = 0;
                            tokio::task::yield_now().await;
                        }
                        continue;
                    }
                    None => {}
                }
            }
            if is_own && open.strayed {
                return Err(other_calls_answer());
            }
            is_own = false;
            let (Era::Legacy, Some(last)) = (state.era(), cursor.last.as_deref()) else {
                return Err(CallError::Closed);
            };
            // Streams that end again at once are asked for more and more rarely, until the deadline.
            let pause = cursor.retry.unwrap_or(RETRY) * 2u32.saturating_pow(fruitless.min(5));
            fruitless = fruitless.saturating_add(1);
            let resume = async {
                tokio::time::sleep(pause.min(MOST_RETRY)).await;
                self.get_events(state, Some(last)).await
            };
            let mut resume = std::pin::pin!(resume);
            let resumed = loop {
                match open.wait(resume.as_mut()).await? {
                    Came::Work(resumed) => break resumed,
                    Came::Mail(message) => {
                        if let Some(reply) = self.message(open, message).await? {
                            return Ok(Outcome::Answered(reply));
                        }
                    }
                }
            };
            stream = match resumed {
                Ok(Answer { body: Body::Events(events), .. }) => Some(events),
                Ok(answer) if answer.status.is_server_error() => None,
                Ok(answer) if state.session.is_some() && answer.status == StatusCode::NOT_FOUND => {
                    return Err(CallError::Closed);
                }
                Ok(answer) if matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                    return Err(unauthorized(&answer));
                }
                Ok(_) => return Err(CallError::Closed),
                Err(error) => {
                    tracing::debug!(%error, "a broken stream could not be taken up again yet");
                    None
                }
            };
        }
    }

    /// Deals with one event of the call's stream.
    async fn event(&self, open: &mut Open<'_>, event: SseEvent) -> Result<Option<Reply>, CallError> {
        if event.data.is_empty() || event.event.as_deref().is_some_and(|kind| kind != "message") {
            return Ok(None);
        }
        match Message::parse(event.data, &self.limits) {
            Ok(message) => self.message(open, message).await,
            Err(refusal) => {
                tracing::debug!(%refusal, "an event that is no message");
                // If it was our answer, there will be no other.
                if refusal.id.as_ref().and_then(Id::as_u64) == Some(open.id) {
                    return Err(CallError::BadAnswer(refusal.to_string()));
                }
                Ok(None)
            }
        }
    }

    /// Deals with one message about the call, however it came.
    async fn message(&self, open: &mut Open<'_>, message: Message) -> Result<Option<Reply>, CallError> {
        match message {
            Message::Response(response) => {
                if response.id.as_ref().and_then(Id::as_u64) == Some(open.id) {
                    return Ok(Some(Reply { outcome: response.outcome, extra: response.extra }));
                }
                self.count_stray();
                open.strayed = true;
            }
            Message::Notification(notification) => {
                let notification = if &*notification.method == method::PROGRESS {
                    let Some(own) = own_progress(notification, open) else {
                        self.foreign_progress.fetch_add(1, Ordering::Relaxed);
                        return Ok(None);
                    };
                    open.timer.touch();
                    own
                } else if mgp::method::names_its_request(&notification.method) {
                    if !names(&notification, open.id) {
                        return Ok(None);
                    }
                    open.timer.touch_until(time_to_answer(&notification));
                    notification
                } else {
                    notification
                };
                // Handlers answer quickly, but a caller must be able to leave whatever they do.
                let related = open.related.clone();
                let told = self.notified(notification, related.as_ref());
                open.guard(told).await?;
            }
            Message::Request(request) => {
                let thinking = Thinking::new(&mut open.timer);
                self.requested(request, open.related.clone(), &open.cancel, Some(thinking));
            }
        }
        Ok(None)
    }

    fn open_mailbox(&self, open: &mut Open<'_>) {
        let (mailbox, was_early) = self.mailboxes.open(open.id);
        if was_early {
            // It was taken for one that nobody waits for.
            self.stray_answers.fetch_sub(1, Ordering::Relaxed);
        }
        open.mail = Some(mailbox);
    }
}

/// That there will be no answer: the one that came is to no call, or to another one.
fn other_calls_answer() -> CallError {
    CallError::BadAnswer("the answer to another call".to_owned())
}

/// Where a stream stands.
#[derive(Default)]
pub(super) struct Cursor {
    pub(super) last: Option<String>,
    pub(super) retry: Option<Duration>,
}

impl Cursor {
    pub(super) fn note(&mut self, event: &SseEvent) {
        if let Some(id) = &event.id {
            // An empty id takes the cursor back.
            self.last = (!id.is_empty()).then(|| id.clone());
        }
        if let Some(retry) = event.retry {
            self.retry = Some(Duration::from_millis(retry).min(MOST_RETRY));
        }
    }
}

/// Tells a legacy server that nobody waits for a call any more, also when the caller's future is dropped.
struct Farewell<'a> {
    http: &'a Http,
    id: u64,
    armed: bool,
}

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        if self.armed {
            let params = Edit::empty().set("requestId", Raw::number(self.id)).finish();
            let _ = self.http.notify(Notification::new(method::CANCELLED, Some(params)));
        }
    }
}

/// Gives a call its own progress token, so that two callers who chose the same one do not meet at the server.
fn own_token(id: u64, params: Option<&Raw>) -> (Option<Raw>, Option<Raw>) {
    // Most calls have none, and looking for a word is much cheaper than looking for a member. An escape could hide it.
    static TOKEN: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("progressToken"));
    let may_have = |params: &&Raw| {
        let text = params.as_bytes();
        TOKEN.find(text).is_some() || memchr::memchr_iter(b'\\', text).any(|at| text.get(at + 1) == Some(&b'u'))
    };
    let token = params.filter(may_have).and_then(|params| params.at(&["_meta", "progressToken"]));
    let (Some(given), Some(token)) = (params, token) else { return (params.cloned(), None) };
    let edited = Edit::of(given)
        .and_then(|edit| edit.within("_meta", |meta| meta.set("progressToken", Raw::number(id))))
        .map_or_else(|_| given.clone(), Edit::finish);
    (Some(edited), Some(token))
}

/// Progress under the caller's own token; `None` for what the caller did not ask for, or of another call.
fn own_progress(notification: Notification, open: &Open<'_>) -> Option<Notification> {
    let token = open.token.clone()?;
    let edit = Edit::of(notification.params.as_ref()?).ok()?;
    let ours = edit.object().get("progressToken").as_ref().and_then(Id::from_raw).and_then(|id| id.as_u64());
    let params = (ours == Some(open.id)).then(|| edit.set("progressToken", token).finish())?;
    Some(Notification { params: Some(params), ..notification })
}

/// Whether a message is about this call: it says so, or does not say.
fn names(notification: &Notification, id: u64) -> bool {
    let named = notification.params.as_ref().and_then(|params| params.member("request_id"));
    named.is_none_or(|named| Id::from_raw(&named).and_then(|named| named.as_u64()) == Some(id))
}

/// Some servers answer 400 where they mean 404. Their words tell.
fn names_session(response: &Response) -> bool {
    response.outcome.as_ref().is_err_and(|error| {
        matches!(error.code, -32000 | -32001 | -32600) && error.message.to_ascii_lowercase().contains("session")
    })
}
