//! What is under way, and the surroundings that it needs.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_flow::meter::Rate;
use switchboard_flow::refusals::Refusals;
use switchboard_gate::Permit;
use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::Fault;
use switchboard_upstream::Server;
use switchboard_wire::Request;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::callbacks::{Callbacks, ConnectionQuestions};
use crate::forward::Forward;
use crate::host::Host;
use crate::mentions::Mentions;
use crate::parked::Parked;
use crate::streams::{InFlightGuard, Streams};
use crate::tasks::TaskBook;

/// How calls are treated on their way.
#[derive(Debug, Clone, Copy)]
pub struct ExchangeOptions {
    /// How long a call may take altogether, signs of life or not.
    pub longest_call: Duration,
    /// How long a question to a client may stay open.
    pub question_timeout: Duration,
    /// How long a list waits for one server.
    pub list_wait: Duration,
    /// Calls that may wait for a modern client's input, all clients together.
    pub parked_calls: usize,
    /// The same for one principal.
    pub parked_calls_each: usize,
    /// Notifications that one server may send, beyond those that belong to a call.
    pub notification_rate: Option<Rate>,
}

/// All that is under way.
pub struct ExchangeState {
    pub(crate) options: ExchangeOptions,
    /// Work beside requests.
    pub(crate) work: TaskTracker,
    /// Cancelled when everything ends.
    pub(crate) closing: CancellationToken,
    /// Calls that wait for a person while no server works on them: they are not over.
    pub(crate) waiting_calls: TaskTracker,
    pub(crate) parked: Parked,
    pub(crate) streams: Streams,
    pub(crate) callbacks: Callbacks,
    pub(crate) refusals: Mutex<Refusals>,
    pub(crate) tasks: TaskBook,
    mentions: Mentions,
}

impl ExchangeState {
    /// Nothing is under way yet. Work beside requests runs in `work`; it ends with `closing`.
    #[must_use]
    pub fn new(
        options: ExchangeOptions,
        work: TaskTracker,
        closing: CancellationToken,
        waiting_calls: TaskTracker,
    ) -> Self {
        Self {
            options,
            work,
            closing,
            waiting_calls,
            parked: Parked::default(),
            streams: Streams::default(),
            callbacks: Callbacks::default(),
            refusals: Mutex::default(),
            tasks: TaskBook::default(),
            mentions: Mentions::default(),
        }
    }

    /// Forgets what nobody came back for.
    pub fn sweep(&self, now: Instant) {
        self.parked.sweep(now);
        self.streams.sweep(now);
    }

    /// Ends everything that waits: nobody will bring the input for it.
    pub fn clear(&self) {
        self.parked.clear();
        self.streams.clear();
        self.tasks.clear();
    }

    /// How many calls stream their results now, and how many bytes of pieces are kept.
    #[must_use]
    pub fn streaming(&self) -> (usize, usize) {
        (self.streams.count(), self.streams.kept())
    }

    /// Whether nothing goes on that lost rights could end.
    pub(crate) fn is_idle(&self) -> bool {
        self.streams.count() == 0 && self.parked.is_empty()
    }

    /// Waits until something begins to go on.
    pub(crate) async fn begun(&self) {
        self.streams.begun.notified().await;
    }

    /// Wakes whoever waits for that.
    pub fn wake_watcher(&self) {
        self.streams.begun.notify_one();
    }

    /// Notes a request until the guard is dropped. From then on its client can take it back by `mgp/stream/cancel`.
    pub fn note_in_flight(&self, context: &mut Context, request: &Request) -> Option<InFlightGuard> {
        self.streams.in_flight.begin(context, request)
    }

    /// Keeps a request open on record until its client has come back with this token. The permit again where none waits under
    /// it.
    pub fn keep_open(&self, token: &str, permit: Permit) -> Option<Permit> {
        self.parked.keep_open(token, permit)
    }

    /// Notes the resources that a server's answer mentions.
    pub fn note_mentions(&self, context: &Context, server: &Server, reply: &Reply) {
        if let Ok(result) = &reply.outcome {
            self.mentions.note(&context.session.principal, server.id(), result);
        }
    }

    /// The server that mentioned a resource to somebody.
    #[must_use]
    pub fn mentioned_by(&self, principal: &str, uri: &str) -> Option<Arc<str>> {
        self.mentions.server(principal, uri)
    }
}

impl std::fmt::Debug for ExchangeState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExchangeState").field("streaming", &self.streaming()).finish_non_exhaustive()
    }
}

/// What is under way, within its surroundings. Cheap to clone; all clones are the same.
#[derive(Debug, Clone)]
pub struct Exchange<H> {
    pub(crate) host: H,
    pub(crate) state: Arc<ExchangeState>,
}

impl<H> Exchange<H> {
    /// What is under way, as it is seen by this host.
    pub const fn new(host: H, state: Arc<ExchangeState>) -> Self {
        Self { host, state }
    }

    /// Who has a task of that name at a server.
    #[must_use]
    pub fn owners_of_task(&self, task: &str, server: &str) -> Vec<Arc<str>> {
        self.state.tasks.owners(task, server)
    }

    /// What a server asks on a new connection, outside of any call.
    pub fn connection_questions(&self) -> ConnectionQuestions {
        ConnectionQuestions::new(&self.state)
    }

    pub(crate) fn options(&self) -> &ExchangeOptions {
        &self.state.options
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.state.closing
    }

    pub(crate) fn parked(&self) -> &Parked {
        &self.state.parked
    }

    pub(crate) fn streams(&self) -> &Streams {
        &self.state.streams
    }

    pub(crate) fn callbacks(&self) -> &Callbacks {
        &self.state.callbacks
    }

    pub(crate) fn tasks(&self) -> &TaskBook {
        &self.state.tasks
    }

    /// A server by its id.
    pub(crate) fn server(&self, id: &str) -> Option<Arc<Server>>
    where
        H: Host,
    {
        self.host.offers().server(id).cloned()
    }

    /// The servers, in their order.
    pub(crate) fn servers(&self) -> Vec<Arc<Server>>
    where
        H: Host,
    {
        self.host.offers().servers().to_vec()
    }

    /// Runs something beside requests.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.state.work.spawn(work);
    }
}

impl<H: Host> Exchange<H> {
    /// Refuses what may not be begun now. What a person agreed to while the kernel ends is still made, where its server takes it.
    pub(crate) fn takes(&self, server: &Server, forward: &Forward) -> Result<(), Fault> {
        match self.host.takes_calls(server) {
            Err(_) if forward.agreed && self.host.is_draining() => server.takes_calls(),
            takes => takes,
        }
    }

    /// The same of a request that may go on with a call or a task that was begun: it is no new one.
    pub(crate) fn takes_or_goes_on(&self, context: &Context, server: &Server, forward: &Forward) -> Result<(), Fault> {
        match self.takes(server, forward) {
            Err(_) if self.is_continued(context, server, forward) => Ok(()),
            takes => takes,
        }
    }

    /// Whether a request goes on with what was begun here before, so that nobody else can answer it.
    pub fn goes_on_here(&self, context: &Context, server: &Server, request: &Request) -> bool {
        let (method, params) = (request.method.clone(), request.params.clone());
        self.is_continued(context, server, &Forward { method, params, ..Forward::default() })
    }
}
