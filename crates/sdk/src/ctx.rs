//! What a handler knows of the call it serves, and what it can do besides returning a result.
//!
//! The same methods work in both eras. In the legacy one, a question goes to the client as a request of its own. In
//! the modern one there are no such requests: see [`Ctx::elicit`] for what that means for the code of a handler.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use switchboard_peer::{Call, Caller, Context};
use switchboard_protocol::mcp::{
    ContentBlock, CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, InputRequest, ListRootsResult,
    LogMessage, LoggingLevel, ProgressParams, RequestMeta, Root, method,
};
use switchboard_protocol::{Era, Revision, mgp};
use switchboard_wire::{Edit, Kind, Notification, Raw};
use tokio_util::sync::CancellationToken;

use crate::ask::{Answer, Question, Readable, SentQuestion, form, read};
use crate::feed::SessionState;
use crate::pieces::Pieces;
use crate::rounds::Rounds;
use crate::server::Server;
use crate::{Error, task};

/// The call that a handler serves. Cheap to clone.
#[derive(Clone)]
pub struct Ctx(Arc<Inner>);

struct Inner {
    server: Server,
    context: Context,
    meta: Option<Raw>,
    progress_token: Option<Raw>,
    /// The level that a modern request asks for.
    log_level: Option<LoggingLevel>,
    mode: RwLock<Mode>,
    progress: Mutex<Option<f64>>,
    /// Where the client wants the result in pieces.
    pieces: Option<Pieces>,
    /// Cancelled when the call is answered.
    over: CancellationToken,
}

/// How questions reach the client.
#[derive(Clone)]
pub(crate) enum Mode {
    /// Not at all: the request is of a kind that cannot wait for answers.
    Never,
    /// As requests (legacy).
    Direct,
    /// In the answer, round after round (modern).
    Rounds(Arc<Rounds>),
    /// By the task that the call has become.
    Task(Arc<task::Entry>),
}

impl Ctx {
    pub(crate) fn new(server: Server, context: Context, meta: Option<Raw>, mode: Mode) -> Result<Self, Error> {
        Self::with_pieces(server, context, meta, mode, None)
    }

    /// Of a call whose result may come in pieces.
    pub(crate) fn with_pieces(
        server: Server,
        context: Context,
        meta: Option<Raw>,
        mode: Mode,
        pieces: Option<Pieces>,
    ) -> Result<Self, Error> {
        let view: RequestMeta = match &meta {
            Some(meta) => meta.view().map_err(|error| Error::invalid_params(format!("_meta: {error}")))?,
            None => RequestMeta::new(),
        };
        let token = view.progress_token.filter(|token| matches!(token.kind(), Kind::String | Kind::Number));
        Ok(Self(Arc::new(Inner {
            server,
            context,
            meta,
            progress_token: token,
            log_level: view.log_level,
            mode: RwLock::new(mode),
            progress: Mutex::new(None),
            pieces,
            over: CancellationToken::new(),
        })))
    }

    /// Nothing more is sent on behalf of the call: its answer is on its way.
    pub(crate) fn end(&self) {
        self.0.over.cancel();
    }

    pub(crate) fn become_task(&self, entry: Arc<task::Entry>) {
        *self.0.mode.write() = Mode::Task(entry);
    }

    pub(crate) fn rounds(&self) -> Option<Arc<Rounds>> {
        match &*self.0.mode.read() {
            Mode::Rounds(rounds) => Some(rounds.clone()),
            _ => None,
        }
    }

    fn mode(&self) -> Mode {
        self.0.mode.read().clone()
    }

    /// The server, to change what it offers or to tell of changes.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.0.server
    }

    /// What the client said of itself.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.0.context.caller
    }

    /// The revision that the client speaks.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.caller().revision
    }

    /// The era that the client speaks.
    #[must_use]
    pub fn era(&self) -> Era {
        self.caller().era()
    }

    /// Whether the client declared the capability found by following `path`.
    ///
    /// ```
    /// # fn example(ctx: &switchboard_sdk::Ctx) {
    /// if ctx.client_can(&["sampling"]) { /* ask its model */ }
    /// # }
    /// ```
    #[must_use]
    pub fn client_can(&self, path: &[&str]) -> bool {
        self.caller().can(path)
    }

    /// Who was authenticated. Never taken from the request.
    #[must_use]
    pub fn principal(&self) -> &str {
        &self.0.context.session.principal
    }

    /// The session. In the modern era every request has one of its own over HTTP: keep nothing under it.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.0.context.session.id
    }

    /// The `_meta` of the request, untouched.
    #[must_use]
    pub fn meta(&self) -> Option<&Raw> {
        self.0.meta.as_ref()
    }

    /// The call as the connection sees it.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Completes when the client has given the call up. The handler is dropped soon after, so this is for work that
    /// was moved elsewhere, or to tidy up without waiting.
    pub async fn cancelled(&self) {
        self.cancellation().cancelled().await;
    }

    /// Cancelled when the client has given the call up: to be passed on.
    #[must_use]
    pub fn cancellation(&self) -> CancellationToken {
        match &*self.0.mode.read() {
            Mode::Task(entry) => entry.cancel.clone(),
            _ => self.0.context.cancel.clone(),
        }
    }

    fn notify(&self, method: &'static str, params: &impl Serialize) {
        if self.0.over.is_cancelled() {
            return;
        }
        let Ok(params) = Raw::from_value(params) else { return };
        let sent = match self.mode() {
            // The extension of the modern era has neither progress nor log messages for tasks.
            Mode::Task(_) if self.era() == Era::Modern => return,
            Mode::Task(entry) => {
                let edit =
                    Edit::of(&params).and_then(|edit| edit.within("_meta", |meta| task::with_related(meta, &entry.id)));
                let Ok(edit) = edit else { return };
                self.0.context.session.remote().notify(Notification::new(method, Some(edit.finish())))
            }
            _ => self.0.context.remote.notify(Notification::new(method, Some(params))),
        };
        if let Err(error) = sent {
            tracing::debug!(method, %error, "a notification of a call was dropped");
        }
    }

    /// Over HTTP in the legacy era: closes the stream of this call, which the client then polls for the answer. Frees
    /// a connection during long work. Does nothing elsewhere.
    pub fn close_stream(&self) {
        self.0.context.remote.close_stream();
    }

    /// Says how far the call is. Does nothing for a client that did not ask for progress, and for a value that is not
    /// greater than the last one.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = &self.0.progress_token else { return };
        {
            let mut last = self.0.progress.lock();
            if !progress.is_finite() || last.is_some_and(|last| progress <= last) {
                return;
            }
            *last = Some(progress);
        }
        let mut params = ProgressParams::at(token.clone(), progress);
        if let Some(total) = total {
            params = params.of(total);
        }
        params.message = message.map(ToOwned::to_owned);
        self.notify(method::PROGRESS, &params);
    }

    /// Whether the client wants the result in pieces (MGP 12) and the server declared
    /// [`Extension::Streaming`](crate::mgp::Extension::Streaming).
    #[must_use]
    pub fn wants_pieces(&self) -> bool {
        self.0.pieces.is_some()
    }

    /// Sends a piece of the result ahead. Does nothing for a client that does not want pieces; the result that the handler
    /// returns in the end must therefore hold all of it.
    ///
    /// ```
    /// # async fn example(ctx: switchboard_sdk::Ctx) -> Result<String, switchboard_sdk::Error> {
    /// let mut all = String::new();
    /// for word in ["one ", "two ", "three"] {
    ///     ctx.piece(word);
    ///     all.push_str(word);
    /// }
    /// Ok(all)
    /// # }
    /// ```
    pub fn piece(&self, content: impl Into<ContentBlock>) {
        if let Some(pieces) = &self.0.pieces
            && let Ok(content) = Raw::from_value(&content.into())
        {
            self.notify(mgp::method::STREAM_CHUNK, &pieces.next(content));
        }
    }

    /// The result as the client gets it.
    pub(crate) fn conclude(&self, result: Raw) -> Raw {
        match &self.0.pieces {
            Some(pieces) => pieces.told_in(result),
            None => result,
        }
    }

    /// Sends a log message to the client, if it wants messages of this level. Never put secrets into one.
    pub fn log(&self, level: LoggingLevel, logger: Option<&str>, data: impl Serialize) {
        let least = match self.era() {
            Era::Modern => self.0.log_level,
            Era::Legacy => Some(SessionState::of(&self.0.context.session).level()),
        };
        if least.is_none_or(|least| level < least) {
            return;
        }
        let Ok(data) = Raw::from_value(&data) else { return };
        let mut message = LogMessage::new(level, data);
        message.logger = logger.map(ToOwned::to_owned);
        self.notify(method::LOG_MESSAGE, &message);
    }

    /// Asks the person behind the client, by a form or a page.
    ///
    /// # In the modern era
    /// A server may not send requests there. The call is answered with the question; the client sends it again with
    /// the answer, and **the handler runs again from its beginning**. Code before a question may therefore run more
    /// than once: put what must not behind [`Ctx::once`], or after the last question. Questions must come in the same
    /// order every time, or carry keys ([`Keyed`](crate::Keyed)). Ask several at once with `tokio::join!` to save
    /// rounds. What was answered travels with the client, signed but readable.
    ///
    /// # Errors
    /// The client cannot be asked this way, did not answer in time, or answered something else. Pass it on with `?`.
    pub async fn elicit(&self, question: impl Into<Question<ElicitParams>>) -> Result<ElicitResult, Error> {
        self.ask(SentQuestion::elicitation(question.into(), self.era())?).await
    }

    /// Asks the person behind the client to fill in a form for `T`, whose members are texts, numbers, booleans and
    /// choices. See [`Ctx::elicit`] for what happens in the modern era.
    ///
    /// # Errors
    /// As [`Ctx::elicit`], or the answer does not fit.
    pub async fn elicit_form<T: JsonSchema + DeserializeOwned>(
        &self,
        message: impl Into<String>,
    ) -> Result<Answer<T>, Error> {
        self.elicit(form::<T>(message)).await?.try_into()
    }

    /// Asks the client's model. See [`Ctx::elicit`] for what happens in the modern era.
    ///
    /// # Errors
    /// As [`Ctx::elicit`].
    pub async fn sample(
        &self,
        question: impl Into<Question<CreateMessageParams>>,
    ) -> Result<CreateMessageResult, Error> {
        self.ask(SentQuestion::sampling(question.into())?).await
    }

    /// Asks for the places that the client lets the server work in. See [`Ctx::elicit`] for what happens in the
    /// modern era.
    ///
    /// # Errors
    /// As [`Ctx::elicit`].
    pub async fn list_roots(&self) -> Result<Vec<Root>, Error> {
        Ok(self.ask::<ListRootsResult>(SentQuestion::roots(None)).await?.roots)
    }

    /// The same as [`Ctx::list_roots`] under a key of the author's choice.
    ///
    /// # Errors
    /// As [`Ctx::elicit`].
    pub async fn list_roots_keyed(&self, key: impl Into<String>) -> Result<Vec<Root>, Error> {
        Ok(self.ask::<ListRootsResult>(SentQuestion::roots(Some(key.into()))).await?.roots)
    }

    async fn ask<T: Readable>(&self, asked: SentQuestion) -> Result<T, Error> {
        asked.check(&self.caller().capabilities)?;
        let answer = match self.mode() {
            Mode::Never => return Err(Error::msg("a request of this kind cannot ask the client for anything")),
            Mode::Direct => self.0.server.send(&self.0.context, asked.request).await?,
            Mode::Task(entry) => entry.ask(asked.key.as_deref(), asked.stem, asked.request).await?,
            Mode::Rounds(rounds) => match rounds.ask(asked.key.as_deref(), asked.stem, asked.request) {
                Some(answer) => answer,
                // The handler stays here until it is dropped, as the client has to be answered first. What it has
                // spawned is not dropped with it, and learns here that it asks for nobody.
                None => {
                    self.0.over.cancelled().await;
                    return Err(Error::msg("the call that this question belongs to was answered with the question"));
                }
            },
        };
        read(T::ASKED, &answer)
    }

    /// Computes a value once, even if the handler runs again because it asked something afterwards: the value is
    /// kept in the state that travels with the client, which can read it but not change it.
    ///
    /// ```
    /// # async fn example(ctx: switchboard_sdk::Ctx) -> Result<(), switchboard_sdk::Error> {
    /// let order: String = ctx.once("order", || async { Ok("order-17".to_owned()) }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Whatever the computation fails with; then nothing is kept.
    pub async fn once<T, F>(&self, key: &str, compute: impl FnOnce() -> F) -> Result<T, Error>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T, Error>>,
    {
        let rounds = self.rounds();
        if let Some(kept) = rounds.as_ref().and_then(|rounds| rounds.kept(key)) {
            return Ok(kept.view()?);
        }
        let value = compute().await?;
        if let Some(rounds) = rounds {
            rounds.keep(key, Raw::from_value(&value)?);
        }
        Ok(value)
    }

    /// Lets the rest of the handler run as a task, where the tool was built with
    /// [`deferred_task`](crate::ToolBuilder::deferred_task) and the client can handle tasks. Otherwise it goes on as
    /// before.
    pub async fn background(&self) {
        if let Mode::Rounds(rounds) = self.mode()
            && rounds.go_to_background()
        {
            // Once is enough: whoever drives the handler sees it wait, and moves it.
            tokio::task::yield_now().await;
        }
    }
}

impl Server {
    /// Sends a request to a legacy client.
    pub(crate) async fn send(&self, context: &Context, request: InputRequest) -> Result<Raw, Error> {
        let mut call = Call::new(request.method, request.params).within(self.options().ask_timeout);
        call.max_timeout = self.options().ask_timeout;
        call.cancel = context.cancel.child_token();
        let reply =
            context.remote.request(call).await.map_err(|error| Error::msg(format!("asking the client: {error}")))?;
        reply.outcome.map_err(|error| Error::msg(format!("the client refused: {}", error.message)))
    }
}

impl fmt::Debug for Ctx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ctx").field("context", &self.0.context).finish_non_exhaustive()
    }
}
