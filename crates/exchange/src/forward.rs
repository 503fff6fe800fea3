//! One request, from a client of either era to a server of either era, and its answer back.

use std::sync::Arc;
use std::time::Duration;

use switchboard_gate::{Presented, RunningCall};
use switchboard_peer::{Call, CallError, Context, Handler, Remote, Reply};
use switchboard_protocol::bridge::{self, ResultType};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::{meta, method, strict};
use switchboard_protocol::mgp::Extension;
use switchboard_protocol::provenance::{self, KernelKeys};
use switchboard_protocol::{Era, Revision};
use switchboard_upstream::{CallTicket, InFlightCall, Server, Sharing, StateOwnership, StatefulRequest};
use switchboard_wire::{Edit, Extra, Id, Object, Raw, Request};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::asker;
use crate::callbacks::{CallQuestions, EndOfQuestions, speaks_callbacks};
use crate::exchange::Exchange;
use crate::host::Host;
use crate::origin::stamped;
use crate::parked::{Event, Running, ToTask, fingerprint};
use crate::relay::{AskedClient, AskedIn, LogFilter, Relay};
use crate::streams::Live;
use crate::tasks::Across;

/// How often a server may ask a legacy client for input before the call is given up.
const MOST_ROUNDS: usize = 16;
/// Messages of a server that may wait for a client that was asked for input.
const EVENTS: usize = 256;

/// One request to be forwarded, in the server's own names.
#[derive(Default)]
pub struct Forward {
    /// The method.
    pub method: Box<str>,
    /// Its parameters.
    pub params: Option<Raw>,
    /// What stands beside them.
    pub extra: Extra,
    /// `Mcp-Param-*` headers for a server that is reached over modern HTTP.
    pub headers: Vec<(String, String)>,
    /// How long it may take at most, where less than usual.
    pub longest: Option<Duration>,
    /// What takes the pieces of its result, where they are wanted.
    pub live: Option<Arc<Live>>,
    /// The client's own id of it.
    pub id: Option<Id>,
    /// What the server asks about it.
    pub questions: CallQuestions,
    /// The session tokens that a call of a tool was made with. No server is sent them.
    pub tokens: Presented,
    /// Whether a person agreed to it: it was begun before them, and is no new call.
    pub agreed: bool,
}

impl Forward {
    /// A request with other parameters.
    #[must_use]
    pub fn of_request(request: Request, params: Option<Raw>) -> Self {
        Self { method: request.method, params, extra: request.extra, ..Self::default() }
    }

    /// The parameters of a call of a tool; nothing for what is no such call.
    pub(crate) fn called(&self) -> Option<&Raw> {
        self.params.as_ref().filter(|_| *self.method == *method::TOOLS_CALL)
    }
}

impl std::fmt::Debug for Forward {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Forward").field("method", &self.method).field("id", &self.id).finish_non_exhaustive()
    }
}

/// What a tool call has to do with tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskMode {
    /// Nothing: the usual case.
    None,
    /// A legacy client wants a task.
    Requested,
    /// The tool of a legacy server works only as a task.
    Needed,
}

/// The connection a call takes.
pub(crate) struct Upstream {
    pub(crate) remote: Arc<dyn Remote>,
    pub(crate) revision: Revision,
    /// Whether other clients use it as well.
    pub(crate) shared: bool,
}

impl<H: Host> Exchange<H> {
    /// The connection that this client's calls to a server take.
    pub(crate) async fn upstream(&self, context: &Context, server: &Arc<Server>) -> Result<Upstream, Fault> {
        // What takes long is kept out of the future of a call that need not wait.
        let hub = match server.hub_now() {
            Some(hub) => hub,
            None => Box::pin(server.hub()).await?,
        };
        let shared =
            server.spec.sharing == Sharing::Shared || hub.revision().era() == Era::Modern || !context.session.lasting;
        if shared && server.has_personal(&context.session.principal) {
            let own = Box::pin(server.personal(&context.session.principal, &self.host)).await?;
            return Ok(Upstream { remote: own.remote.clone(), revision: own.revision, shared: false });
        }
        if shared {
            return Ok(Upstream { remote: hub.remote().clone(), revision: hub.revision(), shared });
        }
        let link = match self.host.link_now(&context.session, server) {
            Some(link) => link,
            None => Box::pin(self.host.link(context, server)).await?,
        };
        Ok(Upstream { remote: link.remote.clone(), revision: link.revision, shared })
    }

    /// Forwards a request and answers as the client's era asks.
    ///
    /// # Errors
    /// The server takes no calls, gave no answer, or one that no client can read; or the right to the call was taken back.
    pub async fn forward(&self, context: &Context, server: &Arc<Server>, forward: Forward) -> Result<Reply, Fault> {
        self.takes_or_goes_on(context, server, &forward)?;
        let trial = server.try_pass()?;
        let began = Instant::now();
        let outcome = match self.running(context, server, &forward) {
            Some(running) => running.outcome(self.forward_now(context, server, forward)).await,
            None => self.forward_now(context, server, forward).await,
        };
        let outcome = outcome.and_then(|reply| of_server(server, reply));
        server.stats.note(began.elapsed(), outcome.as_ref().err());
        server.note_outcome(trial, &outcome, &self.host);
        outcome.map(|reply| if reply.outcome.is_ok() { reply } else { stamped(reply, server) })
    }

    /// A request that its server works on; nothing for one whose right is looked after elsewhere: a stream is ended where it is
    /// kept, and whoever asks about a task is judged once more when it is answered.
    fn running<'a>(
        &'a self,
        context: &'a Context,
        server: &'a Arc<Server>,
        forward: &Forward,
    ) -> Option<RunningCall<'a>> {
        if forward.live.is_some() || forward.method.starts_with("tasks/") {
            return None;
        }
        let called = forward.called().cloned();
        let called = called.map(|params| (params, forward.tokens.clone()));
        Some(RunningCall::new(self.host.gate(), context, server, called, forward.extra.clone()))
    }

    async fn forward_now(&self, context: &Context, server: &Arc<Server>, mut forward: Forward) -> Result<Reply, Fault> {
        let upstream = self.upstream(context, server).await?;
        server.renew_budget();
        let asked = forward.method.clone();
        let is_read = &*asked == method::RESOURCES_READ;
        let uri = forward.params.as_ref().filter(|_| is_read).and_then(|params| params.member("uri")?.as_text());
        let eras = (context.caller.era(), upstream.revision.era());
        without_foreign_input(eras.0, &mut forward)?;
        let request = (eras == (Era::Modern, Era::Modern)).then(|| stateful(context, &forward));
        if let Some(request) = &request {
            if server.states.brought(server.id(), request) == StateOwnership::Foreign {
                return Err(no_such_state());
            }
            Box::pin(self.admit_input(context, server, &forward, request)).await?;
        }
        let reply = match eras {
            (Era::Modern, Era::Modern) if is_asked_by_result(context, server, &forward) => {
                Box::pin(self.ask_between(context, server, &upstream, forward)).await
            }
            (Era::Legacy, Era::Legacy) | (Era::Modern, Era::Modern) => {
                self.pass(context, server, &upstream, forward).await
            }
            (Era::Legacy, Era::Modern) => Box::pin(self.ask_modern(context, server, &upstream, forward)).await,
            (Era::Modern, Era::Legacy) => Box::pin(self.ask_legacy(context, server, &upstream, forward)).await,
        }?;
        if let Some(request) = &request {
            server.states.note(server.id(), request, &reply);
        }
        let Reply { outcome, extra } = reply;
        let outcome = match outcome {
            Ok(result) => Ok(bridge::for_client(result, &asked, uri.as_deref(), context.caller.revision)
                .map_err(|why| misshapen(server, &asked, &why))?),
            refused => refused,
        };
        Ok(Reply { outcome, extra })
    }

    /// Forwards a tool call that has to do with tasks.
    ///
    /// # Errors
    /// As [`Exchange::forward`].
    pub async fn forward_task(
        &self,
        context: &Context,
        server: &Arc<Server>,
        mut forward: Forward,
        wish: TaskMode,
    ) -> Result<Reply, Fault> {
        self.takes(server, &forward)?;
        without_foreign_input(context.caller.era(), &mut forward)?;
        let upstream = self.upstream(context, server).await?;
        let across = Across { exchange: self, context, server, upstream: &upstream };
        let as_task = match (context.caller.era(), upstream.revision.era(), wish) {
            (Era::Legacy, Era::Modern, TaskMode::Requested) => true,
            (Era::Modern, Era::Legacy, TaskMode::Needed) => false,
            _ => return self.forward(context, server, forward).await,
        };
        let trial = server.try_pass()?;
        let began = Instant::now();
        let running = self.running(context, server, &forward);
        let calling = async {
            if as_task {
                across.call_as_task(forward).await
            } else {
                let knows = context.caller.can(&["extensions", meta::TASKS_EXTENSION]);
                across.call_needs_task(forward, knows).await
            }
        };
        let outcome = match running {
            Some(running) => running.outcome(calling).await,
            None => calling.await,
        };
        let outcome = outcome.and_then(|reply| of_server(server, reply));
        server.stats.note(began.elapsed(), outcome.as_ref().err());
        server.note_outcome(trial, &outcome, &self.host);
        outcome.map(|reply| if reply.outcome.is_ok() { reply } else { stamped(reply, server) })
    }

    /// Client and server speak the same era: the request passes as it is.
    pub(crate) async fn pass(
        &self,
        context: &Context,
        server: &Arc<Server>,
        upstream: &Upstream,
        mut forward: Forward,
    ) -> Result<Reply, Fault> {
        let logs = LogFilter::of(context, forward.params.as_ref());
        let (live, id) = (forward.live.take(), forward.id.take());
        let questions = std::mem::take(&mut forward.questions);
        let goes_on = questions.is_shared();
        // What the server asks in the middle of it ends with it, however it ends. Several rounds are one call.
        let over = (!goes_on).then(|| context.cancel.child_token());
        let client = Context { cancel: over.clone().unwrap_or_else(|| context.cancel.clone()), ..context.clone() };
        let _over = over.map(CancellationToken::drop_guard);
        let (exchange, server_) = (self.clone(), server.clone());
        let called = forward.called().cloned();
        let extra = forward.extra.clone();
        let related = Arc::new(Relay { exchange, server: server_, client, logs, live, id, questions, called, extra });
        let questions = &related.questions;
        let _end = (!goes_on).then(|| EndOfQuestions { callbacks: self.callbacks(), questions });
        let is_new = !self.is_continued(context, server, &forward);
        let mut ticket = self.ticket(context, server, upstream, related.clone(), is_new).await?;
        let call = self.call(context, server, forward, related.clone());
        let outcome = upstream.remote.request(call).await;
        match &outcome {
            Ok(_) => ticket.answered(),
            Err(error) => note_lost(server, error),
        }
        outcome.map_err(|error| failed(server, error))
    }

    /// Whether a request goes on with a call or a task that was begun before.
    pub(crate) fn is_continued(&self, context: &Context, server: &Server, forward: &Forward) -> bool {
        if forward.method.starts_with("tasks/") {
            return true;
        }
        // Others know no such thing, whatever they send.
        if context.caller.era() != Era::Modern || !brings_state(forward.params.as_ref()) {
            return false;
        }
        let token = forward.params.as_ref().and_then(|params| params.member("requestState")?.as_text());
        let request = stateful(context, forward);
        token.is_some_and(|token| self.parked().has(&token, &request.principal))
            || server.states.brought(server.id(), &request) == StateOwnership::Own
    }

    /// What stands for a call at the server while it runs.
    ///
    /// # Errors
    /// The server has stopped taking new calls since this one was let through.
    async fn ticket(
        &self,
        context: &Context,
        server: &Server,
        upstream: &Upstream,
        related: Arc<dyn Handler>,
        is_new: bool,
    ) -> Result<CallTicket, Fault> {
        let owner = self.host.owner(&context.session);
        let user = InFlightCall {
            owner,
            identity: context.session.identity.clone(),
            shared: upstream.shared,
            related,
            waiting: 0,
        };
        let ticket = if upstream.shared && server.using.takes_turns() {
            Box::pin(server.using.begin_in_turn(user)).await
        } else {
            server.using.begin(user)
        };
        // Looked at once more now that whoever drains the server can see the call.
        if is_new {
            server.takes_calls()?;
        }
        Ok(ticket)
    }

    fn call(&self, context: &Context, server: &Server, forward: Forward, related: Arc<dyn Handler>) -> Call {
        let owner = self.host.owner(&context.session);
        let longest = forward.longest.unwrap_or(Duration::MAX);
        // A client that hears nothing gives up by itself; one that hears that its call goes on waits for it.
        let patience = server.policy_now().patience.filter(|_| hears_of_it(forward.params.as_ref()));
        let silence = server.spec.call_timeout.max(patience.unwrap_or_default());
        Call {
            method: forward.method,
            params: forward.params,
            extra: forward.extra,
            timeout: silence.min(self.options().longest_call).min(longest),
            max_timeout: self.options().longest_call.min(longest),
            cancel: context.cancel.clone(),
            related: Some(related),
            owner,
            headers: forward.headers,
        }
    }

    /// A legacy client calls a modern server: the server's `input_required` becomes questions to the client.
    pub(crate) async fn ask_modern(
        &self,
        context: &Context,
        server: &Arc<Server>,
        upstream: &Upstream,
        forward: Forward,
    ) -> Result<Reply, Fault> {
        let level = self.host.session_log_level(&context.session);
        let mut params = context.caller.modern_params(forward.params.as_ref(), level).map_err(Fault::malformed)?;
        // To the client, all rounds are one call.
        let questions = forward.questions.clone().shared();
        let _end = EndOfQuestions { callbacks: self.callbacks(), questions: &questions };
        // Between two rounds no server works on it, and still it is not over.
        let _waits = self.state.waiting_calls.token();
        for _ in 0..MOST_ROUNDS {
            let round = Forward {
                method: forward.method.clone(),
                params: Some(params.clone()),
                extra: forward.extra.clone(),
                headers: forward.headers.clone(),
                longest: forward.longest,
                live: forward.live.clone(),
                id: forward.id.clone(),
                questions: questions.clone(),
                tokens: forward.tokens.clone(),
                agreed: forward.agreed,
            };
            let reply = self.pass(context, server, upstream, round).await?;
            let Ok(result) = &reply.outcome else { return Ok(reply) };
            match bridge::result_type(result) {
                ResultType::InputRequired { requests, state } => {
                    let answers = self.gather(context, server, requests).await?;
                    // It may have taken a while.
                    if context.cancel.is_cancelled() {
                        return Err(failed(server, CallError::Cancelled));
                    }
                    let asked = AskedIn { client: context, server, called: forward.called(), extra: &forward.extra };
                    Box::pin(asked.may_go_on(&self.host)).await?;
                    for (_, answer) in &answers {
                        asked.admit_answer(&self.host, answer).await?;
                    }
                    params = bridge::with_input(&params, &answers, state).map_err(Fault::malformed)?;
                }
                ResultType::Complete | ResultType::Task => return Ok(reply),
            }
        }
        let text = format!("server `{}` asked for input {MOST_ROUNDS} times without an answer", server.id());
        Err(Fault::new(FaultKind::UpstreamError, text).from_server(server.id().as_ref()))
    }

    /// Puts the questions of an `input_required` result to a legacy client.
    pub(crate) async fn gather(
        &self,
        context: &Context,
        server: &Arc<Server>,
        requests: Vec<(String, Raw)>,
    ) -> Result<Vec<(String, Raw)>, Fault> {
        let ask = |(key, request): (String, Raw)| async move {
            let object = Object::open(&request).map_err(Fault::malformed)?;
            let Some(asked) = object.text("method") else {
                let text = format!("server `{}` asks for input without a method", server.id());
                return Err(Fault::new(FaultKind::UpstreamError, text));
            };
            let request = Request::new(Id::number(0), asked, object.get("params"));
            let client = AskedClient { remote: &context.remote, caller: &context.caller };
            let reply = self.ask_client(&client, server, request, None).await;
            match reply.outcome {
                Ok(answer) => Ok((key, answer)),
                Err(error) => {
                    let text =
                        format!("server `{}` needs input that the client did not give: {}", server.id(), error.message);
                    Err(Fault::new(FaultKind::MissingClientCapability, text).from_server(server.id().as_ref()))
                }
            }
        };
        let asking = futures_util::future::try_join_all(requests.into_iter().map(ask));
        tokio::select! {
            answers = asking => answers,
            () = self.closing().cancelled() => {
                let text = format!("Switchboard ended before the client answered; {UNKNOWN}");
                let fault = Fault::new(FaultKind::ServerDraining, text).from_server(server.id().as_ref());
                Err(fault.with_source(CallError::Cancelled))
            }
        }
    }

    /// Judges the answers that a request brings to a modern server. What answers a call that waits here is judged there.
    async fn admit_input(
        &self,
        context: &Context,
        server: &Arc<Server>,
        forward: &Forward,
        request: &StatefulRequest,
    ) -> Result<(), Fault> {
        let Some(answers) = forward.params.as_ref().and_then(|params| params.member("inputResponses")) else {
            return Ok(());
        };
        let state = forward.params.as_ref().and_then(|params| params.member("requestState")?.as_text());
        if state.is_some_and(|state| self.parked().has(&state, &request.principal)) {
            return Ok(());
        }
        let asked = AskedIn { client: context, server, called: forward.called(), extra: &forward.extra };
        let answers = Object::open(&answers).map_err(Fault::malformed)?;
        for (key, answer) in answers.iter() {
            if server.states.was_asked(server.id(), request, &key) {
                asked.admit_answer(&self.host, &answer).await?;
            } else {
                asked.admit_unasked(&self.host, &answer).await?;
            }
            server.roots.note(&answer);
        }
        Ok(())
    }

    /// Judges what a modern client says of addresses that a legacy server wanted visited; it gets no other answers.
    async fn admit_visits(
        &self,
        context: &Context,
        server: &Arc<Server>,
        forward: &Forward,
        request: &StatefulRequest,
    ) -> Result<(), Fault> {
        let answers = forward.params.as_ref().and_then(|params| Object::open(&params.member("inputResponses")?).ok());
        let asked = AskedIn { client: context, server, called: forward.called(), extra: &forward.extra };
        for (key, answer) in answers.iter().flat_map(Object::iter) {
            if server.states.was_asked(server.id(), request, &key) {
                asked.admit_answer(&self.host, &answer).await?;
            }
        }
        Ok(())
    }

    /// A modern client calls a legacy server: the server's questions become `input_required`.
    async fn ask_legacy(
        &self,
        context: &Context,
        server: &Arc<Server>,
        upstream: &Upstream,
        forward: Forward,
    ) -> Result<Reply, Fault> {
        let method = forward.method.clone();
        let params = forward.params.clone();
        let (id, tokens) = (forward.id.clone(), forward.tokens.clone());
        let request = stateful(context, &forward);
        let resumed = Box::pin(self.resumed(context, server, &forward)).await?;
        if resumed.is_none() {
            Box::pin(self.admit_visits(context, server, &forward, &request)).await?;
        }
        let mut running = match resumed {
            Some(running) => running.handed_over(forward.live.clone()),
            None if bridge::did_not_visit(params.as_ref()) => {
                let text = format!("server `{}` needs a visit that was declined", server.id());
                return Err(Fault::new(FaultKind::UrlElicitationRequired, text).from_server(server.id().as_ref()));
            }
            None if brings_state(params.as_ref()) => {
                return Err(no_such_state());
            }
            None => {
                if let (LogFilter::Level(level), true) = (LogFilter::of(context, params.as_ref()), upstream.shared) {
                    server.hear_from(&level).await;
                }
                let params = bridge::legacy_params(forward.params.as_ref()).map_err(Fault::malformed)?;
                self.start(context, server, upstream, Forward { params, ..forward }).await?
            }
        };
        running.tokens = tokens;
        let mut reply = self.until_it_asks(context, server, (&method, params.as_ref()), id, running).await?;
        let visits = reply.outcome.as_ref().err().and_then(bridge::urls_to_visit);
        if let Some(visits) = visits.filter(|_| context.caller.can(&["elicitation", "url"])) {
            reply.outcome = Ok(bridge::input_required(&visits, None));
            server.states.note(server.id(), &request, &reply);
        }
        reply.outcome = reply.outcome.map(|result| bridge::modern_result(result, &method));
        Ok(reply)
    }

    /// A modern client calls a modern server that asks questions of MGP in the middle of a call: for a client that does not
    /// take them they become `input_required`. What the server itself answers so passes as it is.
    async fn ask_between(
        &self,
        context: &Context,
        server: &Arc<Server>,
        upstream: &Upstream,
        forward: Forward,
    ) -> Result<Reply, Fault> {
        let (method, params, id) = (forward.method.clone(), forward.params.clone(), forward.id.clone());
        let tokens = forward.tokens.clone();
        let mut running = match Box::pin(self.resumed(context, server, &forward)).await? {
            Some(running) => running.handed_over(forward.live.clone()),
            None => self.start(context, server, upstream, forward).await?,
        };
        running.tokens = tokens;
        self.until_it_asks(context, server, (&method, params.as_ref()), id, running).await
    }

    /// Waits for a call that runs in a task of its own, for the request with this id: until it has ended, or asks something
    /// that its client can only answer by another request.
    async fn until_it_asks(
        &self,
        context: &Context,
        server: &Arc<Server>,
        (method, params): (&str, Option<&Raw>),
        id: Option<Id>,
        mut running: Running,
    ) -> Result<Reply, Fault> {
        running.id = id;
        let done = self.pump(context, server, method, params, running).await?;
        done.map_err(|error| failed(server, error))
    }

    /// Makes a call in a task of its own, so that it can outlive the request that began it.
    ///
    /// # Errors
    /// The server takes no new calls.
    pub(crate) async fn start(
        &self,
        context: &Context,
        server: &Arc<Server>,
        upstream: &Upstream,
        forward: Forward,
    ) -> Result<Running, Fault> {
        let (sender, events) = mpsc::channel(EVENTS);
        let owner = self.host.owner(&context.session);
        // The call, and what the server asks about it, ends when nobody is left to go on with it, not with this request.
        let end = CancellationToken::new();
        let client = Context { cancel: end.clone(), ..context.clone() };
        let (live, id) = (forward.live.clone(), forward.id.clone());
        let pieces = live.clone();
        let (events_, exchange, server_) = (sender.clone(), self.clone(), server.clone());
        let questions = forward.questions.clone();
        let related =
            Arc::new(ToTask { events: events_, exchange, server: server_, owner, live, id, client, questions });
        let is_new = !self.is_continued(context, server, &forward);
        let mut ticket = self.ticket(context, server, upstream, related.clone(), is_new).await?;
        let mut call = self.call(context, server, forward, related.clone());
        call.cancel = end.clone();
        let (remote, server, state) = (upstream.remote.clone(), server.clone(), self.state.clone());
        self.spawn(async move {
            let _end = EndOfQuestions { callbacks: &state.callbacks, questions: &related.questions };
            let done = remote.request(call).await;
            match &done {
                Ok(_) => ticket.answered(),
                Err(error) => note_lost(&server, error),
            }
            drop(ticket);
            let _ = sender.send(Event::Done(done)).await;
        });
        let mut running = Running::new(events, end);
        running.live = pieces;
        Ok(running)
    }
}

/// Whether what a modern server asks in the middle of this call can reach its client only as the result of the call.
fn is_asked_by_result(context: &Context, server: &Server, forward: &Forward) -> bool {
    &*forward.method == method::TOOLS_CALL
        && server.agreed_on(Extension::Callbacks)
        && (context.caller.can(&["elicitation"]) || context.caller.can(&["sampling"]))
        && !speaks_callbacks(context)
}

/// A server's answer without what only the kernel says, and with the server's name in what it asks.
fn of_server(server: &Server, Reply { outcome, extra }: Reply) -> Result<Reply, Fault> {
    let outcome = match outcome {
        Ok(result) => match provenance::of_server(&result) {
            KernelKeys::Clean => Ok(asker::answer_of(server, result)),
            KernelKeys::Stripped(result) => Ok(asker::answer_of(server, result)),
            KernelKeys::Ambiguous => {
                let text = format!("in the result of server `{}` a member stands twice", server.id());
                return Err(Fault::new(FaultKind::UpstreamInvalid, text).from_server(server.id().as_ref()));
            }
        },
        Err(error) => Err(asker::refusal_of(&asker::known_as(server), error)),
    };
    Ok(Reply { outcome, extra })
}

/// An answer that no client would accept. What was done for it cannot be told from it.
fn misshapen(server: &Server, asked: &str, why: &strict::Misshapen) -> Fault {
    let id = server.id();
    let text = format!("server `{id}` answered `{asked}` with something that no client can read: {why}");
    Fault::new(FaultKind::UpstreamInvalid, text)
        .from_server(id.as_ref())
        .suggest("the server has to be mended: tell its author")
        .with_source(CallError::BadAnswer(why.to_string()))
}

/// A call whose connection was lost unanswered, noted before it ends: a server that leaves so does not leave in good order.
fn note_lost(server: &Server, error: &CallError) {
    if matches!(error, CallError::Closed) {
        server.stats.note_lost();
    }
}

/// A request as far as what is brought back with it goes.
fn stateful(context: &Context, forward: &Forward) -> StatefulRequest {
    /// What a task asks for is answered by another method.
    const OF_TASKS: &str = "tasks/";
    let principal = context.session.principal.clone();
    let method = if forward.method.starts_with(OF_TASKS) { OF_TASKS.into() } else { forward.method.clone() };
    let params = forward.params.clone();
    StatefulRequest { principal, method, params, fingerprint }
}

fn no_such_state() -> Fault {
    Fault::new(FaultKind::InvalidParams, "this `requestState` is unknown, used up, or too old")
        .suggest("make the request again without `requestState` and `inputResponses`")
}

/// Takes out of a legacy client's request what only the modern era knows: a modern server would take it for an answer.
fn without_foreign_input(era: Era, forward: &mut Forward) -> Result<(), Fault> {
    const INPUT: [&str; 2] = ["requestState", "inputResponses"];
    let has = |key: &&str| forward.params.as_ref().is_some_and(|params| holds(params, key));
    if era == Era::Legacy && INPUT.iter().any(has) {
        let edit = Edit::of_optional(forward.params.as_ref()).map_err(Fault::malformed)?;
        forward.params = Some(INPUT.iter().fold(edit, |edit, key| edit.remove(key)).finish());
    }
    Ok(())
}

fn brings_state(params: Option<&Raw>) -> bool {
    params.is_some_and(|params| holds(params, "requestState"))
}

fn holds(params: &Raw, key: &str) -> bool {
    params.may_have(key) && params.member(key).is_some()
}

/// Whether whoever makes a call hears that it goes on: it asked for progress, or for a task to look at.
fn hears_of_it(params: Option<&Raw>) -> bool {
    params.is_some_and(|params| params.at(&["_meta", "progressToken"]).is_some() || params.member("task").is_some())
}

/// What nobody can tell of a call that was sent and not answered.
const UNKNOWN: &str = "whether the call was carried out is unknown";

/// What it means for the caller that a server gave no answer.
#[must_use]
pub fn failed(server: &Server, error: CallError) -> Fault {
    let id = server.id();
    let fault = match &error {
        CallError::Timeout(after) => {
            let after = after.as_secs_f64();
            let text = format!("server `{id}` gave no answer within {after:.1} s; {UNKNOWN}");
            Fault::new(FaultKind::Timeout, text)
                .suggest(format!("`call_timeout_ms` of server `{id}` in the configuration gives its calls longer"))
        }
        CallError::Cancelled => Fault::new(FaultKind::Cancelled, "the call was cancelled"),
        CallError::Closed => {
            Fault::new(FaultKind::UpstreamUnavailable, format!("server `{id}` went away before it answered; {UNKNOWN}"))
        }
        CallError::NotSent(why) => {
            Fault::new(FaultKind::UpstreamUnavailable, format!("server `{id}` cannot be reached: {why}"))
        }
        CallError::Gateway(status @ (408 | 504)) => Fault::new(
            FaultKind::UpstreamTimeout,
            format!("server `{id}` did not answer in time (HTTP {status}); {UNKNOWN}"),
        ),
        CallError::Gateway(status @ 502) => Fault::new(
            FaultKind::UpstreamUnavailable,
            format!("server `{id}` cannot be reached (HTTP {status}); {UNKNOWN}"),
        ),
        CallError::Gateway(status) => {
            Fault::new(FaultKind::UpstreamUnavailable, format!("server `{id}` cannot be reached (HTTP {status})"))
        }
        CallError::Unauthorized { status, .. } => {
            Fault::new(FaultKind::UpstreamError, format!("server `{id}` refused our credentials (HTTP {status})"))
                .suggest(format!("set `token` or `headers` of server `{id}` in mgp.toml"))
        }
        CallError::BadAnswer(_) => Fault::new(FaultKind::UpstreamError, format!("server `{id}`: {error}; {UNKNOWN}")),
        other => Fault::new(FaultKind::UpstreamError, format!("server `{id}`: {other}")),
    };
    fault.from_server(id.as_ref()).with_source(error)
}
