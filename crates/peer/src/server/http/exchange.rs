//! One request on its way to an answer: plain if nothing else is to be said, a stream otherwise.
//!
//! The request runs in the connection's own task. Only when the answer becomes a stream, or when a legacy client goes
//! away without cancelling, it moves to a task of its own.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{Response, StatusCode};
use switchboard_protocol::Revision;
use switchboard_protocol::mcp::method;
use switchboard_transport::http_server::Body;
use switchboard_wire::{ErrorObject, Id, Message, Request, Response as Answered, code};
use tokio::runtime::Handle;

use super::channel::Channel;
use super::log::{EventLog, Owed};
use super::response_sink::{ResponseSink, SinkEvent};
use super::{HttpOptions, Shared, answer};
use crate::{BoxFuture, Context, Handler, Reply};

/// The answer to a request, or to a batch, ready to be sent.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Answer {
    pub(super) fn new(status: StatusCode, id: Id, reply: Reply) -> Self {
        let response = Answered { id: Some(id), outcome: reply.outcome, extra: reply.extra };
        Self { status, body: Message::Response(response).encode() }
    }
}

/// A request that runs.
pub(super) type Running = BoxFuture<'static, Answer>;

/// The rules by which a request runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rules {
    /// Goes on when the client goes away. `primes` says whether a stream begins with an event for coming back.
    Legacy { primes: bool },
    /// Ends when the client goes away. `listens` is for the request that lasts as long as the client wants.
    Modern { listens: bool },
}

pub(super) struct Exchange {
    running: Option<Running>,
    outlet: Arc<ResponseSink>,
    rules: Rules,
    shared: Arc<Shared>,
    /// The requests that are answered by it, and the revision that they are in.
    asked: Asked,
    /// Has a task of its own, and need not be given one when it is dropped.
    apart: bool,
}

/// Requests that are answered together.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) ids: Vec<Id>,
    pub(super) revision: Revision,
}

enum Step {
    Answer(Answer),
    Streaming(Arc<EventLog>),
    Interrupted,
}

impl Exchange {
    pub(super) fn new(
        shared: Arc<Shared>,
        rules: Rules,
        outlet: Arc<ResponseSink>,
        asked: Asked,
        running: Running,
    ) -> Self {
        Self { running: Some(running), outlet, rules, shared, asked, apart: false }
    }

    /// Runs until there is something to answer with.
    pub(super) async fn respond(mut self) -> Response<Body> {
        match self.step(true).await {
            Step::Answer(answer) => match self.outlet.conclude() {
                None => answer::json(answer.status, self.outlet.while_unwritten(answer.body)),
                Some(log) => {
                    log.push_answer(&answer.body);
                    log.finish();
                    self.stream(&log)
                }
            },
            Step::Streaming(log) => {
                let response = self.stream(&log);
                tokio::spawn(self.drive(log));
                response
            }
            Step::Interrupted => {
                self.outlet.conclude();
                self.apart = true;
                tokio::spawn(self.wind_down());
                answer::status(StatusCode::ACCEPTED)
            }
        }
    }

    fn options(&self) -> &HttpOptions {
        &self.shared.options
    }

    fn stream(&self, log: &Arc<EventLog>) -> Response<Body> {
        let Asked { ids, revision } = self.asked.clone();
        let mut reader = log.read(None).owing(Owed { ids: Box::new(move || ids.clone()), revision });
        if matches!(self.rules, Rules::Legacy { primes: true }) {
            reader = reader.primed(self.options().retry);
        }
        answer::events(Body::events(reader, self.options().keep_alive))
    }

    async fn step(&mut self, streaming: bool) -> Step {
        poll_fn(|cx| {
            if let Some(running) = &mut self.running
                && let Poll::Ready(answer) = Pin::new(running).poll(cx)
            {
                self.running = None;
                let interrupted = self.outlet.is_interrupted();
                return Poll::Ready(if interrupted { Step::Interrupted } else { Step::Answer(answer) });
            }
            self.outlet.poll_news(cx, streaming).map(|news| match news {
                SinkEvent::Streaming(log) => Step::Streaming(log),
                SinkEvent::Interrupted => Step::Interrupted,
            })
        })
        .await
    }

    /// Runs on while a stream carries what is said, and ends it with the answer.
    async fn drive(mut self, log: Arc<EventLog>) {
        self.apart = true;
        let modern = matches!(self.rules, Rules::Modern { .. });
        let listens = matches!(self.rules, Rules::Modern { listens: true });
        let shutdown = self.options().shutdown.clone();
        let limit = self.options().max_request;
        let step = tokio::select! {
            biased;
            step = self.step(false) => step,
            () = log.lost.cancelled() => Step::Interrupted,
            () = tokio::time::sleep(limit), if !modern => Step::Interrupted,
            () = shutdown.cancelled(), if listens => {
                self.outlet.cancel.cancel();
                let grace = self.options().cancel_grace;
                tokio::time::timeout(grace, self.step(false)).await.unwrap_or(Step::Interrupted)
            }
        };
        self.outlet.conclude();
        if let Step::Answer(answer) = &step {
            log.push_answer(&answer.body);
        }
        log.finish();
        self.wind_down().await;
    }

    /// Runs without anyone reading an HTTP answer; the answer goes into the session's stream if `into` names one.
    pub(super) async fn alone(mut self, into: Option<Arc<Channel>>) {
        self.apart = true;
        let limit = self.options().max_request;
        let step = tokio::time::timeout(limit, self.step(false)).await.unwrap_or(Step::Interrupted);
        self.outlet.conclude();
        if let (Step::Answer(answer), Some(channel)) = (&step, into) {
            channel.main.push_answer(&answer.body);
        }
        self.wind_down().await;
    }

    /// Lets a request that nobody waits for clean up.
    async fn wind_down(mut self) {
        if let Some(running) = self.running.take() {
            self.outlet.cancel.cancel();
            let _ = tokio::time::timeout(self.options().cancel_grace, running).await;
        }
    }
}

impl Drop for Exchange {
    /// The client went away before the answer.
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        self.outlet.conclude();
        let modern = matches!(self.rules, Rules::Modern { .. });
        if modern {
            self.outlet.cancel.cancel();
        }
        // Without a runtime everything ends anyway, and what panicked must not be polled again.
        if !self.apart
            && !std::thread::panicking()
            && let Ok(runtime) = Handle::try_current()
        {
            let mut left = Self::new(self.shared.clone(), self.rules, self.outlet.clone(), self.asked.clone(), running);
            left.apart = true;
            if modern {
                runtime.spawn(left.wind_down());
            } else {
                runtime.spawn(left.alone(None));
            }
        }
    }
}

/// Gives one request to the handler. What `done` does happens before the answer is sent.
pub(super) fn run(
    handler: Arc<dyn Handler>,
    context: Context,
    request: Request,
    done: impl FnOnce(&Reply) + Send + 'static,
    status: fn(&Reply) -> StatusCode,
) -> Running {
    Box::pin(async move {
        let id = request.id.clone();
        // A handler that fails is answered for, and does not take the connection with it.
        let reply = AssertUnwindSafe(handler.request(context, request)).catch_unwind().await;
        let reply = reply.unwrap_or_else(|_| Err(ErrorObject::new(code::INTERNAL_ERROR, "internal error")).into());
        done(&reply);
        Answer::new(status(&reply), id, reply)
    })
}

/// Errors of ordinary requests are answers like any other.
pub(super) const fn always_ok(_: &Reply) -> StatusCode {
    StatusCode::OK
}

/// The statuses that 2026-07-28 has for errors of a request.
pub(super) fn modern_status(reply: &Reply) -> StatusCode {
    match &reply.outcome {
        Err(error) if error.code == code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        Err(error) if (-32022..=-32020).contains(&error.code) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Whether a request lasts as long as the client wants.
pub(super) fn listens(request: &Request) -> bool {
    &*request.method == method::SUBSCRIPTIONS_LISTEN
}
