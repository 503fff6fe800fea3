//! One call that streams: what the server says about it becomes what the client understands.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use switchboard_flow::stream::{Checkpoint, Ledger, MissedPiece, Piece, Stream, TakenPiece};
use switchboard_gate::{CallAuthority, Continued, Presented};
use switchboard_peer::{BoxFuture, Call, CallError, Context, Remote, Reply, SendError, Session, random_token};
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp;
use switchboard_protocol::mgp::stream::{StreamChunk, StreamProgress, with_pieces};
use switchboard_protocol::proposals::streaming::{OperationChunk, OperationProgress, STREAM_CHUNK};
use switchboard_store::Digest;
use switchboard_upstream::Server;
use switchboard_wire::{Edit, Id, Notification, Raw};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::render::{self, Progress};
use super::{Form, StreamRequest};
use crate::exchange::ExchangeState;

/// How long a reader that is too slow is left alone, the first time and at most.
const SHORTEST_REST: Duration = Duration::from_millis(10);
const LONGEST_REST: Duration = Duration::from_secs(1);

/// Bytes that a reader may have before it without having read them. What comes then stays here, where all streams
/// together are bounded.
const MOST_BACKLOG: usize = 128 << 10;
/// How long the result of a call that is over waits for a reader of its pieces.
const MOST_CATCHING_UP: Duration = Duration::from_secs(60);

/// One call that streams.
pub struct Live {
    /// Work beside requests.
    work: TaskTracker,
    /// Cancelled when everything ends.
    closing: CancellationToken,
    /// Bounds what all streams keep together.
    ledger: Arc<Ledger>,
    pub(super) server: Arc<Server>,
    /// The tool, as the server and as the client call it.
    pub(super) tool: Arc<str>,
    exposed: Box<str>,
    /// What the right to the call rests on.
    authority: Mutex<Arc<CallAuthority>>,
    /// The request that made it.
    pub(super) context: Context,
    chain: Arc<[String]>,
    /// What names its arguments, where the client can come back for it.
    pub(super) arguments: Option<Digest>,
    pub(super) principal: Arc<str>,
    /// What names the operation, where the client can come back for it.
    pub(super) operation: Arc<str>,
    /// Signs checkpoints.
    pub(super) key: Vec<u8>,
    form: Form,
    mgp_progress: bool,
    /// Who reads now.
    reader: ArcSwap<Reader>,
    /// The request that went on with the call, where this one ended with a question.
    next: OnceLock<Arc<Self>>,
    /// Told when another request reads.
    came_back: tokio::sync::Notify,
    /// Ends the call.
    pub(super) cancel: CancellationToken,
    /// Why the call may not go on any more, once it may not.
    revoked: OnceLock<Fault>,
    state: Mutex<State>,
    /// A task sends what the pace held back.
    pacing: AtomicBool,
    /// How the call ended, once it has.
    pub(super) outcome: watch::Sender<Option<Result<Reply, Fault>>>,
    began: Instant,
}

/// The request that the pieces go to.
pub(super) struct Reader {
    pub(super) request: Id,
    pub(super) session: Arc<Session>,
    /// The session tokens that it shows.
    pub(super) tokens: Presented,
    token: Option<Raw>,
    remote: Arc<dyn Remote>,
}

impl Reader {
    pub(super) fn new(context: &Context, request: &Id, tokens: Presented, token: Option<&Raw>) -> Self {
        let (session, remote) = (context.session.clone(), context.remote.clone());
        Self { request: request.detach(), session, tokens, token: token.map(Raw::detach), remote }
    }
}

struct State {
    stream: Stream,
    /// The id that the server knows the call by, learned from what it says about it.
    theirs: Option<Raw>,
    /// The server reports progress by itself in the client's own dialect.
    native: bool,
    /// Pieces are counted for the client's token while no other progress was seen.
    counts: bool,
    /// The reader was too slow: it is left alone until then.
    resting: Option<Instant>,
    /// For how long the next time.
    rest: Duration,
}

impl State {
    /// How long until something can be sent that waits; `None` where nothing waits, or only for the reader's word.
    fn wait(&self, now: Instant) -> Option<Duration> {
        let pace = self.stream.wait(now.into_std());
        // A rest that is over has to be noticed by who asks.
        let rest = self.resting.map(|until| until.saturating_duration_since(now));
        let rest = rest.filter(|_| self.stream.is_behind());
        pace.max(rest)
    }
}

/// Letters of an operation's key that are by chance.
const KEY_LETTERS: usize = 32;

/// A new key of what is written down of a call. It ends with what the right to the call rests on: the key outlives the
/// kernel, the arguments do not.
pub(crate) fn key_with(authority: &CallAuthority) -> Vec<u8> {
    let mut key = random_token().into_bytes();
    key.extend(authority.to_text().into_bytes());
    key
}

/// What the right to the call with this key rests on.
pub(crate) fn authority_in(key: &[u8]) -> CallAuthority {
    CallAuthority::from_text(key.get(KEY_LETTERS..).unwrap_or_default())
}

/// A call whose pieces begin to come.
pub(super) struct BegunStream<'a> {
    pub(super) context: &'a Context,
    pub(super) server: &'a Arc<Server>,
    pub(super) tool: &'a Arc<str>,
    pub(super) exposed: &'a str,
    pub(super) chain: Arc<[String]>,
    /// What the right to it rests on.
    pub(super) authority: CallAuthority,
    /// What names its arguments, where its client can come back for it.
    pub(super) arguments: Option<Digest>,
    pub(super) reader: Reader,
}

impl Live {
    pub(super) fn new(
        state: &ExchangeState,
        begun: BegunStream<'_>,
        wish: &StreamRequest,
        stream: Stream,
    ) -> Arc<Self> {
        let BegunStream { context, server, tool, exposed, chain, authority, arguments, reader } = begun;
        let counted = State { stream, theirs: None, native: false, counts: true, resting: None, rest: SHORTEST_REST };
        // The client's request is the call's life, unless the client can come back for it.
        let alone = wish.is_operation();
        let (operation, key) = match &wish.goes_on {
            Some(goes_on) => (goes_on.operation.as_str().into(), goes_on.key.clone()),
            None => (format!("op-{}", random_token()).into(), key_with(&authority)),
        };
        let cancel = if alone { CancellationToken::new() } else { context.cancel.child_token() };
        Arc::new(Self {
            work: state.work.clone(),
            closing: state.closing.clone(),
            ledger: state.streams.ledger.clone(),
            server: server.clone(),
            tool: tool.clone(),
            exposed: exposed.into(),
            authority: Mutex::new(Arc::new(authority)),
            context: context.clone(),
            chain,
            arguments,
            principal: context.session.principal.clone(),
            operation,
            key,
            form: wish.form,
            mgp_progress: wish.mgp_progress,
            reader: ArcSwap::from_pointee(reader),
            next: OnceLock::new(),
            came_back: tokio::sync::Notify::new(),
            cancel,
            revoked: OnceLock::new(),
            state: Mutex::new(counted),
            pacing: AtomicBool::new(false),
            outcome: watch::Sender::new(None),
            began: Instant::now(),
        })
    }

    /// The tool whose call this is, for the gate.
    pub(super) fn continued(&self) -> Continued<'_> {
        Continued { server: &self.server, tool: &self.tool, exposed: &self.exposed, chain: &self.chain }
    }

    /// What the right to the call rests on. Once it has ended, its arguments are not kept.
    pub(super) fn authority(&self) -> Arc<CallAuthority> {
        self.authority.lock().clone()
    }

    /// The call was judged by other limits.
    pub(super) fn set_limits(&self, limits: String) {
        Arc::make_mut(&mut *self.authority.lock()).limits = limits;
    }

    /// The call has ended: this is its outcome.
    pub(super) fn end_with(&self, outcome: Result<Reply, Fault>) {
        Arc::make_mut(&mut *self.authority.lock()).params = None;
        self.outcome.send_replace(Some(outcome));
    }

    /// Ends the call, because its reader may not make it any more; `false` where that was done before.
    pub(super) fn revoke(&self, why: Fault) -> bool {
        let first = self.revoked.set(why).is_ok();
        self.cancel.cancel();
        first
    }

    /// Why the call was ended, where that was not its own doing.
    #[must_use]
    pub fn was_revoked(&self) -> Option<Fault> {
        self.revoked.get().cloned()
    }

    /// Whether the client can come back for it.
    pub(super) const fn is_operation(&self) -> bool {
        matches!(self.form, Form::Proposal { pieces: true })
    }

    pub(super) fn is_over(&self) -> bool {
        self.outcome.borrow().is_some()
    }

    pub(super) fn request_text(&self) -> String {
        self.reader.load().request.as_str().to_owned()
    }

    pub(super) fn is_of(&self, session: &Session) -> bool {
        self.reader.load().session.id == session.id
    }

    /// The token under which progress of the server comes: the client's, or one of ours so that it comes at all.
    pub(super) fn asks_for_progress(&self) -> Option<Raw> {
        let wants = self.form != Form::Nothing && self.reader.load().token.is_none();
        wants.then(|| Raw::string(&self.operation))
    }

    /// Takes what a server says about this call; `false` for what is no business of a stream.
    pub(crate) fn take(self: &Arc<Self>, back: &Arc<dyn Remote>, notification: &Notification) -> bool {
        if let Some(next) = self.next.get() {
            return next.take(back, notification);
        }
        let params = notification.params.as_ref();
        match &*notification.method {
            mgp::method::STREAM_CHUNK => {
                if let Some(params) = params
                    && let Ok(chunk) = params.view::<StreamChunk>()
                {
                    let content = chunk.content.unwrap_or_else(Raw::empty_object);
                    if chunk.gap_unrecoverable != Some(true) {
                        let said = (!chunk.extra.is_empty()).then(|| params.clone());
                        let piece = Piece { index: chunk.index, content, said, checkpoint: None };
                        self.take_piece(back, Some(&chunk.request_id), piece);
                    }
                }
            }
            STREAM_CHUNK => {
                if let Some(chunk) = params.and_then(|params| params.view::<OperationChunk>().ok())
                    && let Some(data) = chunk.data
                {
                    let checkpoint = chunk.checkpoint_token;
                    let piece = Piece { index: chunk.sequence, content: as_block(data), said: None, checkpoint };
                    self.take_piece(back, None, piece);
                }
            }
            mgp::method::STREAM_PROGRESS => {
                if let Some(said) = params.and_then(|params| params.view::<StreamProgress>().ok()) {
                    self.learn(&said.request_id);
                    let (message, remaining_ms) = (said.message, said.estimated_remaining_ms);
                    self.tell_progress(Progress { value: said.progress, message, remaining_ms }, false);
                }
            }
            method::PROGRESS => return self.take_native(params),
            // Pace and gaps are asked of a server, not by it.
            name => return name.starts_with(mgp::method::OF_STREAMS),
        }
        true
    }

    fn learn(&self, theirs: &Raw) {
        let mut state = self.state.lock();
        if state.theirs.is_none() {
            state.theirs = Some(theirs.detach());
        }
    }

    fn take_piece(self: &Arc<Self>, back: &Arc<dyn Remote>, theirs: Option<&Raw>, piece: Piece) {
        if let Some(theirs) = theirs {
            self.learn(theirs);
        }
        let (taken, theirs) = {
            let mut state = self.state.lock();
            if piece.index == 0 && state.stream.came() == 0 {
                tracing::trace!(server = %self.server.id(), operation = %self.operation, "the first piece");
            }
            (state.stream.take(piece), state.theirs.clone())
        };
        match taken {
            TakenPiece::New { missing } => {
                if let (false, Some(theirs)) = (missing.is_empty(), theirs) {
                    let numbers: Vec<Raw> = missing.into_iter().map(Raw::number).collect();
                    let params =
                        Edit::empty().set("request_id", theirs).set("missing_indices", Raw::array(&numbers)).finish();
                    let _ = back.notify(Notification::new(mgp::method::STREAM_GAP, Some(params)));
                }
                self.flush();
            }
            TakenPiece::Again | TakenPiece::TooFar => {}
        }
    }

    /// Progress in the words of MCP. `true` if the client is not to get it as it is.
    fn take_native(&self, params: Option<&Raw>) -> bool {
        let reader = self.reader.load();
        let Some(params) = params else { return false };
        let number = |key: &str| params.member(key).and_then(|value| value.view::<f64>().ok());
        let said: Option<OperationProgress> = params.view().ok();
        let operation = said.as_ref().map(|said| said.operation_id.as_str());
        if self.form != Form::Nothing
            && let Some(progress) = number("progress")
        {
            let value = match number("total") {
                Some(total) if total > 0.0 => progress / total,
                // Without a total only what is a share already can be told as one.
                _ if operation.is_some() || progress < 1.0 => progress,
                _ => f64::NAN,
            };
            let message = params.member("message").and_then(|message| message.as_text());
            let seconds = said.and_then(|said| said.estimated_remaining_seconds).filter(|seconds| seconds.is_finite());
            let remaining_ms = seconds.map(|seconds| (seconds.max(0.0) * 1_000.0) as u64);
            self.tell_progress(Progress { value, message, remaining_ms }, true);
        }
        self.state.lock().native = true;
        // Under a token of ours nobody else waits for it; under the client's own it passes as it came, unless it was
        // told with more just now.
        reader.token.is_none() || matches!(self.form, Form::Proposal { .. })
    }

    fn tell_progress(&self, mut progress: Progress, native: bool) {
        let reader = self.reader.load();
        let checkpoint = {
            let mut state = self.state.lock();
            let Some(value) = state.stream.advance(progress.value) else { return };
            progress.value = value;
            state.counts = false;
            if state.native && !native && self.form == Form::Nothing && !self.mgp_progress {
                return;
            }
            self.token_after(&state.stream)
        };
        if progress.remaining_ms.is_none() && progress.value > 0.0 {
            let took = self.began.elapsed().as_secs_f64() * 1_000.0;
            progress.remaining_ms = Some((took * (1.0 - progress.value) / progress.value) as u64);
        }
        match self.form {
            Form::Mgp => {
                self.tell(render::mgp_progress(&reader.request.to_raw(), &progress));
                if let Some(token) = reader.token.as_ref().filter(|_| !native) {
                    self.tell(render::mcp_progress(Some(token), &progress, None));
                }
            }
            Form::Proposal { .. } => {
                let operation = Some((&*self.operation, checkpoint.as_deref()));
                self.tell(render::mcp_progress(reader.token.as_ref(), &progress, operation));
            }
            Form::Nothing => {
                let native = self.state.lock().native;
                if let Some(token) = reader.token.as_ref().filter(|_| !native) {
                    self.tell(render::mcp_progress(Some(token), &progress, None));
                }
                if self.mgp_progress {
                    self.tell(render::mgp_progress(&reader.request.to_raw(), &progress));
                }
            }
        }
    }

    fn tell(&self, notification: Notification) {
        let _ = self.reader.load().remote.notify(notification);
    }

    /// The checkpoint from which the reader goes on after everything that it was sent.
    fn token_after(&self, stream: &Stream) -> Option<String> {
        if !self.is_operation() {
            return None;
        }
        let next = stream.unsent();
        let inner = stream.checkpoint(next).map(|(next, token)| (next, token.to_owned()));
        let checkpoint = Checkpoint { operation: self.operation.as_ref().to_owned(), next, inner };
        Some(checkpoint.sign(&self.key))
    }

    /// Sends what is due, in its order, as far as the pace and the reader allow.
    pub(super) fn flush(self: &Arc<Self>) {
        let wait = {
            let mut state = self.state.lock();
            let now = Instant::now();
            let rests = state.resting.is_some_and(|until| now < until);
            while !rests && let Some(piece) = state.stream.next_due(now.into_std()) {
                // Under the lock, because two that send must not overtake each other. Telling never waits.
                if self.send(&state, &piece) == Err(SendError::Full) {
                    state.stream.put_back(piece.index);
                    state.resting = Some(now + state.rest);
                    state.rest = (state.rest * 2).min(LONGEST_REST);
                    break;
                }
                (state.resting, state.rest) = (None, SHORTEST_REST);
            }
            state.stream.settle();
            state.wait(now)
        };
        if wait.is_some() && !self.pacing.swap(true, Ordering::AcqRel) {
            let live = self.clone();
            self.work.spawn(async move { live.keep_pace().await });
        }
    }

    fn send(&self, state: &State, piece: &Piece) -> Result<(), SendError> {
        let reader = self.reader.load();
        if reader.remote.backlog() > MOST_BACKLOG {
            return Err(SendError::Full);
        }
        let notification = match self.form {
            Form::Mgp => render::mgp_chunk(&reader.request.to_raw(), piece),
            Form::Proposal { pieces: true } => {
                let token = self.token_after(&state.stream);
                render::proposal_chunk(&self.operation, piece.index, Some(&piece.content), token.as_deref())
            }
            Form::Proposal { pieces: false } | Form::Nothing => {
                let Some(token) = reader.token.as_ref().filter(|_| state.counts && !state.native) else {
                    return Ok(());
                };
                render::counted(token, state.stream.came())
            }
        };
        reader.remote.notify(notification)
    }

    /// Sends what the pace held back, until nothing waits.
    async fn keep_pace(self: Arc<Self>) {
        loop {
            let wait = self.state.lock().wait(Instant::now());
            let Some(wait) = wait else {
                self.pacing.store(false, Ordering::Release);
                // Something may have come to wait just before that was said.
                let waits = self.state.lock().wait(Instant::now()).is_some();
                if waits && !self.pacing.swap(true, Ordering::AcqRel) {
                    continue;
                }
                return;
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => self.flush(),
                () = self.cancel.cancelled() => return,
                () = self.closing.cancelled() => return,
            }
            if self.is_over() {
                return;
            }
        }
    }

    /// Sets how fast pieces may come.
    pub(super) fn set_pace(self: &Arc<Self>, per_second: f64) {
        self.state.lock().stream.set_pace(per_second, Instant::now().into_std());
        self.flush();
    }

    /// The id that the server knows the call by, where it streams and said something of it.
    pub(super) fn id_at_server(&self) -> Option<Raw> {
        self.state.lock().theirs.clone().filter(|_| self.server.streams())
    }

    /// Sends pieces again that the client did not get.
    pub(super) fn send_again(&self, indices: &[u64]) {
        let state = self.state.lock();
        for found in state.stream.find(indices) {
            let sent = match found {
                MissedPiece::Piece(piece) => self.send(&state, &piece),
                MissedPiece::Lost(index) => self.tell_lost(index),
            };
            if sent.is_err() {
                return;
            }
        }
    }

    /// Tells the reader of a piece that nobody has any more.
    fn tell_lost(&self, index: u64) -> Result<(), SendError> {
        let reader = self.reader.load();
        match self.form {
            Form::Mgp => reader.remote.notify(render::lost_chunk(&reader.request.to_raw(), index)),
            Form::Proposal { pieces: true } => reader.remote.notify(render::lost_piece(&self.operation, index)),
            Form::Proposal { pieces: false } | Form::Nothing => Ok(()),
        }
    }

    /// Another request of the same client reads from now on, beginning with the piece of this number.
    pub(super) fn attach(self: &Arc<Self>, reader: Reader, from: u64) {
        {
            let mut state = self.state.lock();
            self.reader.store(Arc::new(reader));
            // What is not kept any more is told first: who goes on without it must know.
            for index in state.stream.read_from(from) {
                if self.tell_lost(index).is_err() {
                    break;
                }
            }
        }
        self.came_back.notify_waiters();
        self.flush();
    }

    /// Waits until a reader of a call that is over has had all pieces that are kept, or for as long as is waited for one.
    pub(super) async fn caught_up(self: &Arc<Self>, context: &Context) {
        let deadline = Instant::now() + MOST_CATCHING_UP;
        while self.is_over() {
            self.flush();
            let Some(wait) = self.state.lock().wait(Instant::now()) else { return };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = tokio::time::sleep_until(deadline) => return,
                () = context.cancel.cancelled() => return,
                () = self.closing.cancelled() => return,
            }
        }
    }

    /// Waits until another request reads.
    pub(super) async fn attached(&self) {
        self.came_back.notified().await;
    }

    /// Another request of the client goes on with the call: what comes from now on is for that one.
    pub(crate) fn hand_over(&self, next: &Arc<Self>) {
        let (whole, theirs) = {
            let state = self.state.lock();
            (state.stream.whole(), state.theirs.clone())
        };
        {
            let mut state = next.state.lock();
            state.stream = Stream::resumed(self.ledger.clone(), whole, whole);
            state.theirs = theirs;
        }
        let _ = self.next.set(next.clone());
    }

    /// What has come so far, as a result.
    pub(super) fn partial(&self) -> Option<Raw> {
        let (blocks, truncated) = self.state.lock().stream.partial();
        if blocks.is_empty() {
            return None;
        }
        let result = Edit::empty().set("content", Raw::array(&blocks));
        let result = if truncated { result.set("truncated", Raw::boolean(true)) } else { result };
        Some(result.finish())
    }

    /// The result with what its pieces said, where it says nothing itself: who did not read them has the whole all the
    /// same.
    #[must_use]
    pub fn made_whole(&self, result: Raw) -> Raw {
        let came = self.state.lock().stream.came();
        let Ok(edit) = Edit::of(&result) else { return result };
        let content = edit.object().get("content").and_then(|content| content.elements());
        if came > 0
            && content.is_none_or(|blocks| blocks.is_empty())
            && !edit.object().has("structuredContent")
            && let Some(content) = self.partial().and_then(|partial| partial.member("content"))
        {
            return edit.set("content", content).finish();
        }
        result
    }

    /// The result as the client gets it, with what is to be said about its pieces.
    pub(super) fn conclude(self: &Arc<Self>, result: Raw) -> Raw {
        let (came, sent) = {
            let state = self.state.lock();
            (state.stream.came(), state.stream.sent())
        };
        match self.form {
            Form::Mgp if came > 0 => with_pieces(result, sent, self.began.elapsed()),
            Form::Proposal { pieces } => {
                let Ok(edit) = Edit::of(&result) else { return result };
                if pieces && came > 0 {
                    self.flush();
                    self.tell(render::proposal_chunk(&self.operation, came, None, None));
                }
                let operation = Raw::string(&self.operation);
                edit.within("_meta", |meta| meta.set("operation_id", operation)).map_or(result, Edit::finish)
            }
            Form::Mgp | Form::Nothing => result,
        }
    }

    /// Who reads now.
    pub(super) fn reader(&self) -> Arc<Reader> {
        self.reader.load_full()
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("operation", &self.operation).field("tool", &self.tool).finish_non_exhaustive()
    }
}

/// What the client of an operation is to the call: whoever reads it now.
pub(super) struct ToReader(pub(super) Arc<Live>);

impl Remote for ToReader {
    fn request(&self, call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        let remote = self.0.reader.load().remote.clone();
        Box::pin(async move { remote.request(call).await })
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        self.0.reader.load().remote.notify(notification)
    }

    fn can_request(&self) -> bool {
        self.0.reader.load().remote.can_request()
    }

    fn backlog(&self) -> usize {
        self.0.reader.load().remote.backlog()
    }
}

/// Data of proposal 8 as a content block, where it is none.
fn as_block(data: Raw) -> Raw {
    if data.member("type").is_some() {
        return data;
    }
    let text = data.as_text().unwrap_or_else(|| data.as_str().to_owned());
    Edit::empty().set("type", Raw::string("text")).set("text", Raw::string(&text)).finish()
}
