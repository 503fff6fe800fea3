//! The one task that reads, and the requests of the far side that it starts.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::FutureExt as _;
use parking_lot::Mutex;
use switchboard_protocol::Era;
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp;
use switchboard_wire::{
    Edit, ErrorObject, Id, Incoming, Line, LineDecoder, Message, Notification, Object, Raw, Refusal, Request, Response,
    code,
};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Connection, DuplexOptions, Role, TellOnly, context};
use crate::remote::time_to_answer;
use crate::{CallError, Caller, Context, Handler, Session};

/// So many lines of one connection are taken before others get their turn: a peer that says much must not keep a
/// thread to itself.
const TURN: u32 = 32;

pub(super) struct Inbound {
    connection: Arc<Connection>,
    session: Arc<Session>,
    options: DuplexOptions,
    handler: Arc<dyn Handler>,
    running: Arc<Running>,
    tasks: TaskTracker,
}

/// The far side's requests that run now. One id may stand for several, if the far side reuses it too early.
#[derive(Default)]
struct Running {
    tokens: Mutex<HashMap<Id, Vec<CancellationToken>>>,
    /// Streams, which never end by themselves.
    streams: Mutex<Vec<CancellationToken>>,
    count: AtomicUsize,
}

impl Inbound {
    pub(super) fn new(
        connection: Arc<Connection>,
        session: Arc<Session>,
        options: DuplexOptions,
        handler: Arc<dyn Handler>,
    ) -> Self {
        Self { connection, session, options, handler, running: Arc::default(), tasks: TaskTracker::new() }
    }

    pub(super) async fn run<R: AsyncRead + Unpin>(self, mut reader: R) {
        self.handler.opened(&self.session);
        let mut decoder = LineDecoder::new(self.options.limits.bytes);
        let closed = self.connection.closed().clone();
        let mut taken = 0;
        loop {
            while let Some(line) = decoder.next_line() {
                match line {
                    Line::Whole(text) => self.line(text).await,
                    Line::TooLong(refusal) => self.refuse(&refusal),
                }
                taken += 1;
                if taken == TURN {
                    taken = 0;
                    tokio::task::yield_now().await;
                }
            }
            decoder.buffer().reserve(8 << 10);
            let read = tokio::select! {
                read = reader.read_buf(decoder.buffer()) => read,
                () = closed.cancelled() => break,
                () = self.connection.enough.cancelled() => break,
            };
            if !matches!(read, Ok(count) if count > 0) {
                break;
            }
        }
        if decoder.finish().is_some() {
            // Part of a message is not a message: it is never acted upon.
            self.connection.stats().refused_lines.fetch_add(1, Ordering::Relaxed);
        }
        self.finish().await;
    }

    /// A client that has closed its end may still read: what it asked for is answered before the connection ends.
    async fn finish(self) {
        self.tasks.close();
        for stream in self.running.streams.lock().drain(..) {
            stream.cancel();
        }
        if self.options.role == Role::Server && !self.connection.closed().is_cancelled() {
            let _ = tokio::time::timeout(self.options.write_timeout, self.tasks.wait()).await;
        }
        for token in self.running.tokens.lock().values().flatten() {
            token.cancel();
        }
        self.connection.close();
        let _ = tokio::time::timeout(self.options.write_timeout, self.tasks.wait()).await;
        self.handler.closed(&self.session);
    }

    async fn line(&self, text: Bytes) {
        let limits = &self.options.limits;
        let incoming = if self.session.caller().revision.has_batches() {
            Incoming::parse(text, limits)
        } else {
            Message::parse(text, limits).map(Incoming::One)
        };
        match incoming {
            Ok(Incoming::One(message)) => self.message(message).await,
            Ok(Incoming::Batch(members)) => self.batch(members).await,
            Err(refusal) => self.refuse(&refusal),
        }
    }

    async fn message(&self, message: Message) {
        match message {
            Message::Request(request) => {
                if let Some(work) = self.admit(request) {
                    let connection = self.connection.clone();
                    self.tasks.spawn(async move {
                        if let Some(response) = work.await {
                            // A far side that does not read its answers has its connection closed.
                            let answer = Message::from(response).encode();
                            if connection.writer.send_in_time(answer).await.is_err() {
                                connection.close();
                            }
                        }
                    });
                }
            }
            Message::Notification(notification) => self.notification(notification).await,
            Message::Response(response) => self.response(response),
        }
    }

    async fn batch(&self, members: Vec<Result<Message, Refusal>>) {
        let mut work = Vec::new();
        let mut ready = Vec::new();
        for member in members {
            match member {
                Ok(Message::Request(request)) => work.extend(self.admit(request)),
                Ok(message) => self.message(message).await,
                Err(refusal) if refusal.unanswerable => {}
                Err(refusal) => ready.push(Response::refusing(&refusal)),
            }
        }
        let connection = self.connection.clone();
        self.tasks.spawn(async move {
            for response in futures_util::future::join_all(work).await.into_iter().flatten() {
                ready.push(response);
            }
            let encoded: Vec<Bytes> = ready.into_iter().map(|response| Message::from(response).encode()).collect();
            if !encoded.is_empty() {
                let mut line = vec![b'['];
                line.extend(encoded.join(&b","[..]));
                line.push(b']');
                if connection.writer.send_in_time(line.into()).await.is_err() {
                    connection.close();
                }
            }
        });
    }

    /// Notes a request as running and gives the work to be done; refuses it at once where too many run.
    fn admit(&self, request: Request) -> Option<impl Future<Output = Option<Response>> + Send + 'static> {
        if self.options.role == Role::Client && self.session.caller().era() == Era::Modern {
            // A modern server may not ask, and may not be answered.
            self.connection.stats().refused_lines.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(method = %request.method, "a modern server sent a request, which is dropped");
            return None;
        }
        if self.running.count.fetch_add(1, Ordering::Relaxed) >= self.options.concurrent_requests {
            self.running.count.fetch_sub(1, Ordering::Relaxed);
            let error = ErrorObject::new(code::INTERNAL_ERROR, "too many requests at once on this connection");
            let _ = self.connection.send(&Response::new(Some(request.id), Err(error)).into());
            return None;
        }
        let cancel = self.connection.closed().child_token();
        self.running.tokens.lock().entry(request.id.clone()).or_default().push(cancel.clone());
        if &*request.method == method::SUBSCRIPTIONS_LISTEN {
            let mut streams = self.running.streams.lock();
            streams.retain(|stream| !stream.is_cancelled());
            streams.push(cancel.clone());
        }
        let entry = Entry { running: self.running.clone(), id: request.id.clone(), cancel: cancel.clone() };
        // Of several open calls of one owner, the newest one's handler speaks for that owner.
        let (handler, thinking) = match self.options.role {
            Role::Client => self.connection.pending.asked().unzip(),
            Role::Server => (None, None),
        };
        let mut context = self.context(request.params.as_ref(), cancel.clone());
        if self.options.role == Role::Client && handler.is_none() {
            context.open_owners = Some(self.connection.pending.owners());
        }
        let handler = handler.unwrap_or_else(|| self.handler.clone());
        let session = self.session.clone();
        Some(async move {
            let _entry = entry;
            let _thinking = thinking;
            let id = request.id.clone();
            let introduces = (&*request.method == method::INITIALIZE).then(|| request.params.clone());
            let method = request.method.clone();
            // A fault in a handler is an answer like any other: whoever waits must not wait for ever.
            let work = std::panic::AssertUnwindSafe(handler.request(context, request)).catch_unwind();
            let reply = tokio::select! {
                biased;
                reply = work => reply.unwrap_or_else(|_| {
                    tracing::error!(%method, "a handler panicked");
                    Err(ErrorObject::new(code::INTERNAL_ERROR, "internal error")).into()
                }),
                () = cancel.cancelled() => return None,
            };
            // A handler may answer because it was cancelled. Nobody waits for that answer.
            if cancel.is_cancelled() {
                return None;
            }
            if let (Some(params), Ok(result)) = (introduces, &reply.outcome) {
                session.introduce(Caller::from_initialize(params.as_ref(), result));
            }
            Some(Response { id: Some(id), outcome: reply.outcome, extra: reply.extra })
        })
    }

    fn context(&self, params: Option<&Raw>, cancel: CancellationToken) -> Context {
        match Caller::from_request_meta(params) {
            Some(caller) if caller.era() == Era::Modern && self.options.role == Role::Server => Context {
                remote: Arc::new(TellOnly(self.session.remote().clone())),
                ..context(&self.session, Arc::new(caller), cancel)
            },
            _ => context(&self.session, self.session.caller(), cancel),
        }
    }

    async fn notification(&self, notification: Notification) {
        match &*notification.method {
            method::CANCELLED => {
                let id = notification.params.as_ref().and_then(|params| Id::from_raw(&params.member("requestId")?));
                let tokens = id.and_then(|id| self.running.tokens.lock().get(&id).cloned());
                for token in tokens.into_iter().flatten() {
                    token.cancel();
                }
                return;
            }
            method::PROGRESS => return self.progress(notification).await,
            name if self.options.role == Role::Client && mgp::method::names_its_request(name) => {
                return self.about_a_call(notification).await;
            }
            _ => {}
        }
        let handler = match self.options.role {
            Role::Client => self.connection.pending.only_owner().unwrap_or_else(|| self.handler.clone()),
            Role::Server => self.handler.clone(),
        };
        let context = self.context(notification.params.as_ref(), self.connection.closed().child_token());
        handler.notification(context, notification).await;
    }

    /// A piece, or a question, that names its call. One that names a call that is not open is nobody's.
    async fn about_a_call(&self, notification: Notification) {
        let named = notification.params.as_ref().and_then(|params| params.member("request_id"));
        let asks = time_to_answer(&notification);
        let handler = match named {
            Some(id) => {
                let id = Id::from_raw(&id).and_then(|id| id.as_u64());
                match id.and_then(|id| self.connection.pending.named(id, asks)) {
                    Some(related) => related,
                    None => return self.nobodys(id),
                }
            }
            None => self.connection.pending.only_owner(),
        };
        let handler = handler.unwrap_or_else(|| self.handler.clone());
        let context = self.context(None, self.connection.closed().child_token());
        handler.notification(context, notification).await;
    }

    async fn progress(&self, notification: Notification) {
        let params = notification.params.as_ref().and_then(|params| Object::open(params).ok());
        let token = params.as_ref().and_then(|params| params.get("progressToken"));
        let id = token.as_ref().and_then(Id::from_raw).and_then(|id| id.as_u64());
        let Some((token, related)) = id.and_then(|id| self.connection.pending.progress(id)) else {
            return self.nobodys(id);
        };
        let edited = notification.params.as_ref().and_then(|params| Edit::of(params).ok());
        let params = edited.map(|edit| edit.set("progressToken", token).finish());
        let handler = related.unwrap_or_else(|| self.handler.clone());
        let context = self.context(None, self.connection.closed().child_token());
        handler.notification(context, Notification { params, ..notification }).await;
    }

    /// A message about a call that is not open. One about a call that has ended, or was cancelled, was under way.
    fn nobodys(&self, id: Option<u64>) {
        if !id.is_some_and(|id| self.connection.was_sent(id)) {
            self.connection.stats().foreign_progress.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn response(&self, response: Response) {
        let id = response.id.as_ref().and_then(Id::as_u64);
        let reply = crate::Reply { outcome: response.outcome, extra: response.extra };
        if !id.is_some_and(|id| self.connection.pending.answer(id, Ok(reply))) {
            self.connection.stats().stray_answers.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(id = ?response.id, "an answer that nobody waits for");
        }
    }

    fn refuse(&self, refusal: &Refusal) {
        self.connection.stats().refused_lines.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(%refusal, "a line that is no message");
        // An answer that cannot be read is an answer all the same: whoever waits for it learns so now.
        if let Some(id) = refusal.answers.as_ref().and_then(Id::as_u64) {
            let error = CallError::BadAnswer(refusal.to_string());
            self.connection.pending.answer(id, Err(error));
        }
        let answerable = !refusal.unanswerable && (refusal.id.is_some() || self.options.role == Role::Server);
        if answerable && self.connection.send(&Response::refusing(refusal).into()).is_err() {
            self.connection.close();
        }
    }
}

/// Takes a running request off the books when its work ends or is dropped.
struct Entry {
    running: Arc<Running>,
    id: Id,
    cancel: CancellationToken,
}

impl Drop for Entry {
    fn drop(&mut self) {
        // Whoever still holds the context learns that nobody waits any more.
        self.cancel.cancel();
        self.running.count.fetch_sub(1, Ordering::Relaxed);
        let mut tokens = self.running.tokens.lock();
        if let Some(list) = tokens.get_mut(&self.id) {
            list.retain(|token| !token.is_cancelled());
            if list.is_empty() {
                tokens.remove(&self.id);
            }
        }
    }
}
