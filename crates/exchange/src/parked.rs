//! Calls of modern clients that wait for the client's input while the legacy server behind them waits as well.
//!
//! A legacy server asks in the middle of a call; a modern client can only be asked by ending the call with
//! `input_required`. So the call to the server runs in a task of its own. When the server asks, the client's request
//! is answered with the question and a token, and the task waits here. The client's next request brings the token and
//! the answers, and goes on where the first one ended.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use switchboard_flow::parking::{NoPlace, Parking, ParkingClaim, ParkingLimits};
use switchboard_gate::audit::{self, event, result, step};
use switchboard_gate::{Continued, Continuing, Permit, Presented, Tables, canonical, chain_said, tokens_of};
use switchboard_peer::{BoxFuture, CallError, Context, Handler, Reply, Session, random_token};
use switchboard_protocol::bridge;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp;
use switchboard_store::Digest;
use switchboard_upstream::Server;
use switchboard_wire::{Edit, ErrorObject, Id, Notification, Object, Raw, Request, code};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::callbacks::CallQuestions;
use crate::exchange::Exchange;
use crate::forward::Forward;
use crate::host::Host;
use crate::relay::{AboutCall, AskedIn, LogFilter, cannot_answer, of_client};
use crate::streams::Live;

/// How long a call waits for its client to come back.
const RESUME_TIMEOUT: Duration = Duration::from_secs(600);
/// Questions that come within this time of the first are put to the client together.
const TOGETHER: Duration = Duration::from_millis(15);
/// Questions of one call that may be open at once.
const QUESTIONS: usize = 16;

/// What a running call reports.
pub(crate) enum Event {
    /// The server asks.
    Question(Question),
    /// The server tells.
    Notice(Notification),
    /// The call has ended.
    Done(Result<Reply, CallError>),
}

/// One open question of a server.
pub(crate) struct Question {
    request: Request,
    answer: oneshot::Sender<Reply>,
}

/// A call that runs in a task of its own.
pub(crate) struct Running {
    pub(crate) events: mpsc::Receiver<Event>,
    /// Ends the call when this is dropped.
    pub(crate) _end: tokio_util::sync::DropGuard,
    /// What takes the pieces of its result, where they are wanted.
    pub(crate) live: Option<Arc<Live>>,
    /// The client's own id of the request that goes on with it now.
    pub(crate) id: Option<Id>,
    /// The session tokens of the request that goes on with it now.
    pub(crate) tokens: Presented,
    /// Questions that were put to the client, by the key they have there.
    open: HashMap<String, Question>,
    asked: u64,
    /// What is on record of the requests that were answered with a question. Where nobody comes back, nobody knows how the
    /// call ended.
    open_record: Vec<Permit>,
}

impl Running {
    pub(crate) fn new(events: mpsc::Receiver<Event>, end: CancellationToken) -> Self {
        Self {
            events,
            _end: end.drop_guard(),
            live: None,
            id: None,
            tokens: Presented::default(),
            open: HashMap::new(),
            asked: 0,
            open_record: Vec::new(),
        }
    }

    /// The same for the request that goes on with the call: its pieces go there from now on.
    pub(crate) fn handed_over(mut self, live: Option<Arc<Live>>) -> Self {
        if let (Some(before), Some(now)) = (&self.live, &live) {
            before.hand_over(now);
        }
        self.live = live.or(self.live);
        self
    }

    /// Answers the questions that the client has answered.
    pub(crate) fn answer(&mut self, answers: &Object) {
        for (key, value) in answers.iter() {
            if let Some(question) = self.open.remove(&*key) {
                let _ = question.answer.send(of_client(Ok(value.detach()).into()));
            }
        }
    }

    /// Whether a question is open under this key.
    pub(crate) fn asks(&self, key: &str) -> bool {
        self.open.contains_key(key)
    }

    /// The open questions, as they stand inside `inputRequests`.
    pub(crate) fn questions(&self) -> Vec<(String, Raw)> {
        let embedded = |(key, question): (&String, &Question)| {
            (key.clone(), bridge::embedded_request(&question.request.method, question.request.params.as_ref()))
        };
        let mut questions: Vec<_> = self.open.iter().map(embedded).collect();
        questions.sort_by(|(one, _), (other, _)| one.cmp(other));
        questions
    }

    /// Takes the questions that are there, waiting a moment for the first one; `true` when the call has ended.
    pub(crate) async fn collect(&mut self, context: &Context, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.open.is_empty() {
            match tokio::time::timeout_at(deadline, self.events.recv()).await {
                Ok(Some(Event::Question(question))) => take_question(context, self, question),
                Ok(Some(Event::Notice(_))) => {}
                Ok(Some(Event::Done(_)) | None) => return true,
                Err(_) => return false,
            }
        }
        while let Ok(event) = self.events.try_recv() {
            match event {
                Event::Question(question) => take_question(context, self, question),
                Event::Notice(_) => {}
                Event::Done(_) => return true,
            }
        }
        false
    }
}

/// A call that waits for its client, and what the right to it rests on.
struct Ticket {
    running: Running,
    server: Arc<Server>,
    /// The tool, as the server calls it, where it is a call of one.
    tool: Option<String>,
    session: Arc<Session>,
    tokens: Presented,
    /// Those on whose behalf it is made.
    chain: Arc<[String]>,
}

/// The calls that wait. What is taken out ends where the lock is not held any more: ending a call tells its server.
#[derive(Default)]
pub(crate) struct Parked {
    tickets: Mutex<Parking<Ticket>>,
}

impl Parked {
    fn park(&self, claim: ParkingClaim, ticket: Ticket, limits: &ParkingLimits, now: Instant) -> Result<String, Fault> {
        let now = now.into_std();
        let token = random_token();
        let late;
        let parked = {
            let mut tickets = self.tickets.lock();
            late = tickets.expire(now);
            tickets.park(token.clone(), claim, ticket, limits, now)
        };
        drop(late);
        match parked {
            Ok(()) => Ok(token),
            Err((NoPlace::ForAnybody, _)) => {
                Err(Fault::new(FaultKind::ResourceExhausted, "too many calls wait for input"))
            }
            Err((NoPlace::ForPrincipal, _)) => {
                let text = format!("{} of your calls wait for input; no more may", limits.of_principal);
                Err(Fault::new(FaultKind::QuotaExceeded, text).retry_after(5_000))
            }
        }
    }

    /// The questions that are open of the call that would be taken back up, by their keys.
    fn open_questions(&self, token: &str, claim: &ParkingClaim, now: Instant) -> Option<Vec<String>> {
        let tickets = self.tickets.lock();
        tickets.peek(token, claim, now.into_std()).map(|ticket| ticket.running.open.keys().cloned().collect())
    }

    /// Takes a call back up. A token is good for one use, by the one who got it, for the same request.
    fn resume(&self, token: &str, claim: &ParkingClaim, now: Instant) -> Option<Running> {
        self.tickets.lock().resume(token, claim, now.into_std()).map(|ticket| ticket.running)
    }

    /// Whether a call waits for somebody to come back with this token.
    pub(crate) fn has(&self, token: &str, principal: &str) -> bool {
        self.tickets.lock().has(token, principal)
    }

    /// Keeps a call open on record until its client has come back. The permit again where none waits under this token.
    pub(crate) fn keep_open(&self, token: &str, permit: Permit) -> Option<Permit> {
        let mut tickets = self.tickets.lock();
        let Some(ticket) = tickets.get_mut(token) else { return Some(permit) };
        ticket.running.open_record.push(permit);
        None
    }

    /// Whether no call waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.tickets.lock().is_empty()
    }

    /// Ends the calls that wait and may not go on.
    fn end_where(&self, ends: impl Fn(&Ticket) -> bool) -> Vec<Ticket> {
        self.tickets.lock().end_where(ends)
    }

    /// Ends all calls that wait.
    pub(crate) fn clear(&self) {
        drop(self.end_where(|_| true));
    }

    /// Ends calls whose client did not come back.
    pub(crate) fn sweep(&self, now: Instant) {
        let late = self.tickets.lock().expire(now.into_std());
        drop(late);
    }
}

/// Takes what the server sends on behalf of a call that runs in a task of its own.
#[derive(Clone)]
pub(crate) struct ToTask<H> {
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) exchange: Exchange<H>,
    pub(crate) server: Arc<Server>,
    pub(crate) owner: u64,
    /// What takes the pieces of the call's result, where they are wanted.
    pub(crate) live: Option<Arc<Live>>,
    /// The client's own id of the call.
    pub(crate) id: Option<Id>,
    /// Who made it.
    pub(crate) client: Context,
    /// What the server asks about it.
    pub(crate) questions: CallQuestions,
}

impl<H: Host> Handler for ToTask<H> {
    fn request(&self, _context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            if &*request.method == method::PING {
                return Ok(Raw::empty_object()).into();
            }
            let _asking = self.server.asks(self.owner, &request.method);
            let (answer, answered) = oneshot::channel();
            let gone = || Err(ErrorObject::new(code::INTERNAL_ERROR, "the client does not answer any more")).into();
            if self.events.send(Event::Question(Question { request, answer })).await.is_err() {
                return gone();
            }
            answered.await.unwrap_or_else(|_| gone())
        })
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let about = AboutCall {
                exchange: &self.exchange,
                server: &self.server,
                client: &self.client,
                live: self.live.as_ref(),
                id: self.id.as_ref(),
                questions: &self.questions,
            };
            if let Some(notification) = about.left(self, &context, notification).await {
                // A client that is slow to read loses notices, never the answer.
                let _ = self.events.try_send(Event::Notice(notification));
            }
        })
    }
}

impl<H: Host> Exchange<H> {
    /// The call that a request of a modern client goes on with, if its `requestState` is one of ours. What it answers of the
    /// open questions is judged, and on record, before the call is taken back up.
    ///
    /// # Errors
    /// An answer may not be given, or cannot be put on record.
    pub(crate) async fn resumed(
        &self,
        context: &Context,
        server: &Arc<Server>,
        forward: &Forward,
    ) -> Result<Option<Running>, Fault> {
        let object = forward.params.as_ref().and_then(|params| Object::open(params).ok());
        let Some((object, token)) = object.as_ref().and_then(|object| Some((object, object.text("requestState")?)))
        else {
            return Ok(None);
        };
        let fingerprint = fingerprint(server.id(), &forward.method, object);
        let claim = ParkingClaim { principal: context.session.principal.clone(), fingerprint };
        let Some(open) = self.parked().open_questions(&token, &claim, Instant::now()) else { return Ok(None) };
        let answers = object.get("inputResponses").map(|answers| Object::open(&answers)).transpose();
        let answers = answers.map_err(Fault::malformed)?;
        let asked = AskedIn { client: context, server, called: forward.called(), extra: &forward.extra };
        for (key, answer) in answers.iter().flat_map(Object::iter) {
            if open.iter().any(|open| **open == *key) {
                asked.admit_answer(&self.host, &answer).await?;
                server.roots.note(&answer);
            }
        }
        let running = self.parked().resume(&token, &claim, Instant::now());
        Ok(running.map(|mut running| {
            answers.iter().for_each(|answers| running.answer(answers));
            running
        }))
    }

    /// Waits until a call has ended or needs its client.
    pub(crate) async fn pump(
        &self,
        context: &Context,
        server: &Arc<Server>,
        method: &str,
        params: Option<&Raw>,
        mut running: Running,
    ) -> Result<Result<Reply, CallError>, Fault> {
        // The client is back: from here on this request tells how the call ended.
        for permit in std::mem::take(&mut running.open_record) {
            self.host.gate().settle(permit, &Ok(Ok(bridge::input_required(&[], None)).into())).await;
        }
        let logs = LogFilter::of(context, params);
        let level = || self.host.session_log_level(&context.session);
        let token = params.and_then(|params| params.at(&["_meta", "progressToken"]));
        let id = running.id.clone();
        let tell = |notice: Notification| {
            let notice = for_this_request(notice, token.as_ref(), id.as_ref());
            if let Some(notice) = notice.filter(|notice| logs.admits(level, notice)) {
                let _ = context.remote.notify(notice);
            }
        };
        // What the client left unanswered is asked again.
        let mut ask = !running.open.is_empty();
        loop {
            if ask {
                // A server may ask several things at once: a moment's wait saves the client a round for each.
                let deadline = Instant::now() + TOGETHER;
                while running.open.len() < QUESTIONS {
                    match tokio::time::timeout_at(deadline, running.events.recv()).await {
                        Ok(Some(Event::Question(question))) => take_question(context, &mut running, question),
                        Ok(Some(Event::Notice(notice))) => tell(notice),
                        Ok(Some(Event::Done(done))) => return Ok(done),
                        Ok(None) | Err(_) => break,
                    }
                }
                if !running.open.is_empty() {
                    return self.park(context, server, method, params, running).map(|reply| Ok(Ok(reply).into()));
                }
            }
            ask = false;
            let event = tokio::select! {
                event = running.events.recv() => event,
                // Dropping the call tells the server.
                () = context.cancel.cancelled() => return Ok(Err(CallError::Cancelled)),
            };
            match event {
                Some(Event::Question(question)) => {
                    take_question(context, &mut running, question);
                    ask = !running.open.is_empty();
                }
                Some(Event::Notice(notice)) => tell(notice),
                Some(Event::Done(done)) => return Ok(done),
                None => return Ok(Err(CallError::Closed)),
            }
        }
    }

    fn park(
        &self,
        context: &Context,
        server: &Arc<Server>,
        method: &str,
        params: Option<&Raw>,
        running: Running,
    ) -> Result<Raw, Fault> {
        let requests = running.questions();
        let tokens = if running.tokens.is_empty() { tokens_of(context, params) } else { running.tokens.clone() };
        let object = params.and_then(|params| Object::open(params).ok());
        let claim = ParkingClaim {
            principal: context.session.principal.clone(),
            fingerprint: object.as_ref().map_or([0; 32], |object| fingerprint(server.id(), method, object)),
        };
        let ticket = Ticket {
            running,
            server: server.clone(),
            tool: object.as_ref().filter(|_| method == method::TOOLS_CALL).and_then(|object| object.text("name")),
            session: context.session.clone(),
            tokens,
            chain: object
                .as_ref()
                .map_or_else(Arc::default, |object| chain_said(&context.session, object, &Default::default())),
        };
        let limits = ParkingLimits {
            waiting: self.options().parked_calls,
            of_principal: self.options().parked_calls_each,
            resume_timeout: RESUME_TIMEOUT,
        };
        let token = self.parked().park(claim, ticket, &limits, Instant::now())?;
        self.host.watch_rights();
        Ok(bridge::input_required(&requests, Some(&token)))
    }
}

impl<H: Host> Exchange<H> {
    /// Ends parked calls whose caller may not make them any more.
    pub(crate) fn end_revoked_parked(&self, tables: &Tables) {
        let may_not = |ticket: &Ticket| match &ticket.tool {
            Some(tool) => {
                let who = Continuing { session: &ticket.session, tokens: &ticket.tokens };
                let call = Continued { server: &ticket.server, tool, exposed: tool, chain: &ticket.chain };
                !self.host.gate().may_continue(tables, &who, &call)
            }
            None => !self.host.gate().access(tables, &ticket.session, &ticket.server, None).allow,
        };
        self.end_parked(step::ACCESS, may_not);
    }

    /// Ends parked calls that were made with a token that was taken back.
    pub(crate) fn end_unproven_parked(&self, now: std::time::SystemTime) {
        self.end_parked(step::TOKEN, |ticket| ticket.session.identity.is_revoked(now));
    }

    fn end_parked(&self, step: &str, ends: impl Fn(&Ticket) -> bool) {
        for ticket in self.parked().end_where(ends) {
            let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(&ticket.session), result::BLOCKED);
            let event = audit::about(event, ticket.server.id(), ticket.tool.as_deref());
            self.host.gate().audit().note_now(&audit::with(audit::with(event, step::KEY, step), "what", "parked"));
        }
    }
}

/// Keeps a question for the client, or answers it where the client cannot.
fn take_question(context: &Context, running: &mut Running, question: Question) {
    if let Some(error) = cannot_answer(&context.caller, &question.request) {
        let _ = question.answer.send(Err(error).into());
        return;
    }
    let can_be_embedded = bridge::needed_capability(&question.request.method).is_some();
    if !can_be_embedded {
        let error = ErrorObject::new(code::METHOD_NOT_FOUND, "the client's protocol revision has no such request");
        let _ = question.answer.send(Err(error).into());
        return;
    }
    running.asked += 1;
    running.open.insert(format!("ask-{}", running.asked), question);
}

/// A notice of a call as the request that goes on with it may get it: progress only where this request asked for it,
/// and under its own token.
fn for_this_request(notice: Notification, token: Option<&Raw>, id: Option<&Id>) -> Option<Notification> {
    let (key, value) = match &*notice.method {
        method::PROGRESS => ("progressToken", token?.clone()),
        mgp::method::STREAM_PROGRESS => ("request_id", id?.to_raw()),
        _ => return Some(notice),
    };
    let edit = Edit::of(notice.params.as_ref()?).ok()?.set(key, value);
    Some(Notification { params: Some(edit.finish()), ..notice })
}

/// Members that travel beside what is asked for: the kernel writes some of them anew into each request on its way to the
/// server, and so may the client. What they say is judged at every request.
const BESIDE: [&str; 12] = [
    "_meta",
    "_mgp",
    "checkpoint_token",
    "confirmation_token",
    "delegation",
    "inputResponses",
    "intent",
    "requestState",
    "stream",
    "trace_id",
    "traceparent",
    "user_confirmed",
];

/// What makes a request the same one: its server, its method and all that is asked for, however it is spelled.
pub(crate) fn fingerprint(server: &str, method: &str, params: &Object) -> [u8; 32] {
    let asked = params.iter().filter(|(key, _)| !BESIDE.contains(&&**key));
    let mut asked: Vec<_> = asked
        .map(|(key, value)| {
            let digest = canonical::digest(&value).unwrap_or_else(|_| Digest::of(value.as_bytes()));
            (key.into_owned(), digest)
        })
        .collect();
    asked.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut hash = Sha256::new();
    hash.update(server);
    hash.update([0]);
    hash.update(method);
    for (key, digest) in asked {
        hash.update([0]);
        hash.update(key.as_bytes());
        hash.update([0]);
        hash.update(digest.as_bytes());
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchboard_wire::Limits;

    fn of(text: &str) -> [u8; 32] {
        let raw = Raw::parse(text.to_owned(), &Limits::default()).unwrap();
        fingerprint("s", method::TOOLS_CALL, &Object::open(&raw).unwrap())
    }

    #[test]
    fn a_retry_is_the_same_request_whatever_travels_beside_it() {
        let first = of(r#"{"name":"t","arguments":{"a":1,"b":"x"}}"#);
        for same in [
            r#"{"name":"t","arguments":{"a":1,"b":"x"},"trace_id":"of-the-kernel","_mgp":{"stream":true},"intent":"i"}"#,
            r#"{"arguments":{ "b":"\u0078", "a":1 },"name":"t","_meta":{"progressToken":7},"requestState":"s","inputResponses":{}}"#,
        ] {
            assert_eq!(of(same), first, "{same}");
        }
        for other in [
            r#"{"name":"u","arguments":{"a":1,"b":"x"}}"#,
            r#"{"name":"t","arguments":{"a":2,"b":"x"}}"#,
            r#"{"name":"t","arguments":{"a":1,"b":"x"},"task":{}}"#,
        ] {
            assert_ne!(of(other), first, "{other}");
        }
    }
}
