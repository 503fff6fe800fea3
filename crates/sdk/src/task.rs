//! Work that goes on after its request was answered.
//!
//! One store serves both forms of tasks: that of 2025-11-25, where the client asks for a task and fetches its result
//! with `tasks/result`, and the extension of 2026-07-28, where the server decides and everything is in `tasks/get`.
//! A task belongs to a principal, lives at most its time, and there are never more than the store has room for.
//! Ids cannot be guessed. Nothing survives the end of the process.

use std::sync::{Arc, Weak};
use std::time::Duration;

use indexmap::IndexMap;
use parking_lot::Mutex;
use switchboard_peer::{BoxFuture, Session};
use switchboard_protocol::Era;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::{InputRequest, LegacyTask, Task, TaskStatus, method};
use switchboard_wire::{Edit, ErrorObject, Notification, Raw};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::clock;
use crate::feed::{Change, Feed};
use crate::rounds::Names;

/// Whether a tool may run as a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskSupport {
    /// Never.
    #[default]
    Forbidden,
    /// Where the client can handle one.
    Optional,
    /// Always: a client that cannot handle tasks cannot call it.
    Required,
}

impl TaskSupport {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }
}

/// How many tasks there may be, and for how long.
#[derive(Debug, Clone)]
pub struct TaskOptions {
    /// Tasks that are kept at once, running or done.
    pub capacity: usize,
    /// The longest life of a task, from its beginning. Also the usual one.
    pub ttl: Duration,
    /// How often a client should look.
    pub poll_interval: Duration,
}

impl Default for TaskOptions {
    fn default() -> Self {
        Self { capacity: 1_024, ttl: Duration::from_secs(3_600), poll_interval: Duration::from_millis(500) }
    }
}

/// All tasks of a server.
pub(crate) struct Tasks {
    entries: Mutex<IndexMap<String, Arc<Entry>>>,
    options: TaskOptions,
    feed: Arc<Feed>,
}

/// One task.
pub(crate) struct Entry {
    pub(crate) id: String,
    principal: Arc<str>,
    era: Era,
    created_ms: u64,
    ttl: Duration,
    poll_interval: Duration,
    pub(crate) cancel: CancellationToken,
    state: Mutex<State>,
    /// Counts changes, for those who wait for one.
    changes: watch::Sender<u64>,
    feed: Arc<Feed>,
    session: Weak<Session>,
}

struct State {
    status: TaskStatus,
    updated_ms: u64,
    message: Option<String>,
    names: Names,
    asked: IndexMap<String, TaskQuestion>,
    outcome: Option<Result<Raw, ErrorObject>>,
}

struct TaskQuestion {
    request: InputRequest,
    /// Whether somebody carries the question to a legacy client at this moment.
    carried: bool,
    answer: oneshot::Sender<Result<Raw, Error>>,
}

/// Who begins a task.
pub(crate) struct Owner {
    pub(crate) session: Arc<Session>,
    pub(crate) era: Era,
    /// How long the client wants it kept.
    pub(crate) ttl: Option<Duration>,
}

impl Tasks {
    pub(crate) fn new(options: TaskOptions, feed: Arc<Feed>) -> Self {
        Self { entries: Mutex::default(), options, feed }
    }

    /// Begins a task. It is found from now on; [`Entry::run`] does its work.
    pub(crate) fn begin(&self, owner: &Owner) -> Result<Arc<Entry>, Error> {
        let now = clock::now_ms();
        let mut entries = self.entries.lock();
        entries.retain(|_, entry| !entry.is_over(now));
        if entries.len() >= self.options.capacity {
            // Room is made by forgetting what is done, oldest first.
            let done = entries.iter().find(|(_, entry)| entry.status().is_final()).map(|(id, _)| id.clone());
            let Some(done) = done else {
                return Err(Error::fault(
                    Fault::new(FaultKind::ResourceExhausted, "too many tasks are running").retry_after(1_000),
                ));
            };
            entries.shift_remove(&done);
        }
        let ttl = owner.ttl.map_or(self.options.ttl, |wanted| wanted.clamp(Duration::from_millis(1), self.options.ttl));
        let entry = Arc::new(Entry {
            id: switchboard_peer::random_token(),
            principal: owner.session.principal.clone(),
            era: owner.era,
            created_ms: now,
            ttl,
            poll_interval: self.options.poll_interval,
            cancel: CancellationToken::new(),
            state: Mutex::new(State {
                status: TaskStatus::Working,
                updated_ms: now,
                message: None,
                names: Names::default(),
                asked: IndexMap::new(),
                outcome: None,
            }),
            changes: watch::Sender::new(0),
            feed: self.feed.clone(),
            session: Arc::downgrade(&owner.session),
        });
        entries.insert(entry.id.clone(), entry.clone());
        Ok(entry)
    }

    /// The task of that id, if it belongs to the one who asks.
    pub(crate) fn find(&self, id: &str, principal: &str, era: Era) -> Result<Arc<Entry>, Error> {
        let now = clock::now_ms();
        let entry = self.entries.lock().get(id).cloned();
        entry
            .filter(|entry| &*entry.principal == principal && entry.era == era && !entry.is_over(now))
            .ok_or_else(|| Error::invalid_params(format!("there is no task {id:?}")))
    }

    /// The tasks of a principal, oldest first.
    pub(crate) fn of(&self, principal: &str, era: Era) -> IndexMap<String, Arc<Entry>> {
        let now = clock::now_ms();
        let entries = self.entries.lock();
        let own = entries.iter().filter(|(_, entry)| &*entry.principal == principal && entry.era == era);
        own.filter(|(_, entry)| !entry.is_over(now)).map(|(id, entry)| (id.clone(), entry.clone())).collect()
    }

    /// Ends every task.
    pub(crate) fn cancel_all(&self) {
        for entry in self.entries.lock().values() {
            entry.cancel();
        }
    }
}

impl Entry {
    fn is_over(&self, now_ms: u64) -> bool {
        let ttl = u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX);
        now_ms >= self.created_ms.saturating_add(ttl)
    }

    pub(crate) fn status(&self) -> TaskStatus {
        self.state.lock().status
    }

    /// Does the work, for at most the life of the task. `render` writes errors for the client.
    pub(crate) async fn run(
        self: Arc<Self>,
        work: BoxFuture<'static, Result<Raw, Error>>,
        render: impl FnOnce(Result<Raw, Error>) -> Result<Raw, ErrorObject>,
    ) {
        let outcome = tokio::select! {
            biased;
            outcome = work => outcome,
            () = self.cancel.cancelled() => {
                self.finish(TaskStatus::Cancelled, None, None);
                return;
            }
            () = tokio::time::sleep(self.ttl) => Err(Error::fault(Fault::new(
                FaultKind::Timeout,
                "the task did not end within its time to live",
            ))),
        };
        let outcome = render(outcome);
        let status = if outcome.is_ok() { TaskStatus::Completed } else { TaskStatus::Failed };
        let message = outcome.as_ref().err().map(|error| error.message.clone());
        self.finish(status, message, Some(outcome));
    }

    fn finish(&self, status: TaskStatus, message: Option<String>, outcome: Option<Result<Raw, ErrorObject>>) {
        self.change(|state| {
            // What is over stays as it is.
            let open = !state.status.is_final();
            if open {
                state.status = status;
                state.message = message;
                state.outcome = outcome;
                state.asked.clear();
            }
            open
        });
    }

    /// Stops the work. Whether it was still going on.
    pub(crate) fn cancel(&self) -> bool {
        let was_open = self.change(|state| {
            let open = !state.status.is_final();
            if open {
                state.status = TaskStatus::Cancelled;
                state.message = Some("cancelled by request".to_owned());
                state.asked.clear();
            }
            open
        });
        self.cancel.cancel();
        was_open
    }

    /// Changes the state and tells who listens, if `change` says that something happened.
    fn change(&self, change: impl FnOnce(&mut State) -> bool) -> bool {
        {
            let mut state = self.state.lock();
            if !change(&mut state) {
                return false;
            }
            state.updated_ms = clock::now_ms();
        }
        self.changes.send_modify(|count| *count += 1);
        match self.era {
            Era::Modern => {
                if let Ok(state) = Raw::from_value(&self.view()) {
                    self.feed.publish(&Change::Task(self.id.clone(), state));
                }
            }
            Era::Legacy => {
                let params = Raw::from_value(&LegacyTask::from(self.view())).ok();
                if let Some(session) = self.session.upgrade() {
                    // Clients must not rely on this notice: one that is dropped does no harm.
                    let _ = session.remote().notify(Notification::new(method::TASKS_STATUS, params));
                }
            }
        }
        true
    }

    /// The task as the extension writes it. The legacy form is made from it.
    pub(crate) fn view(&self) -> Task {
        let state = self.state.lock();
        let ttl = u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX);
        let poll = u64::try_from(self.poll_interval.as_millis()).unwrap_or(u64::MAX);
        let mut task = Task::new(
            self.id.clone(),
            state.status,
            clock::iso(self.created_ms),
            clock::iso(state.updated_ms),
            Some(ttl),
        )
        .poll_interval_ms(poll);
        task.status_message.clone_from(&state.message);
        if state.status == TaskStatus::InputRequired {
            let asked = state.asked.iter().map(|(key, asked)| (key.clone(), asked.request.clone()));
            task.input_requests = Some(asked.collect());
        }
        match &state.outcome {
            Some(Ok(result)) => task.result = Some(result.clone()),
            Some(Err(error)) => task.error = error_object(error).ok(),
            None => {}
        }
        task
    }

    /// Asks the client, and waits for its answer.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        wanted: Option<&str>,
        stem: &str,
        request: InputRequest,
    ) -> Result<Raw, Error> {
        let (answer, answered) = oneshot::channel();
        let mut key = String::new();
        self.change(|state| {
            key = state.names.next(wanted, stem);
            state.asked.insert(key.clone(), TaskQuestion { request, carried: false, answer });
            if !state.status.is_final() {
                state.status = TaskStatus::InputRequired;
            }
            true
        });
        let _guard = Withdraw { entry: self, key };
        // The task as a whole is cancelled after its time, and with it this wait.
        answered.await.map_err(|_| Error::msg("the task was cancelled"))?
    }

    /// Takes answers to open questions. Others are ignored.
    pub(crate) fn answer(&self, answers: IndexMap<String, Raw>) {
        for (key, answer) in answers {
            self.settle(&key, Ok(answer));
        }
    }

    fn settle(&self, key: &str, answer: Result<Raw, Error>) {
        self.change(|state| {
            let Some(asked) = state.asked.shift_remove(key) else { return false };
            // Whoever asked may have stopped waiting.
            let _ = asked.answer.send(answer);
            if state.asked.is_empty() && !state.status.is_final() {
                state.status = TaskStatus::Working;
            }
            true
        });
    }

    /// Waits until the task is over, carrying its questions to a legacy client by way of `carry`.
    pub(crate) async fn result<F>(self: &Arc<Self>, carry: impl Fn(InputRequest) -> F) -> Result<Raw, Error>
    where
        F: Future<Output = Result<Raw, Error>>,
    {
        let mut changes = self.changes.subscribe();
        loop {
            changes.mark_unchanged();
            let next = {
                let mut state = self.state.lock();
                match (state.status, &state.outcome) {
                    (_, Some(outcome)) => return outcome.clone().map_err(Error::object),
                    (TaskStatus::Cancelled, None) => {
                        return Err(Error::fault(Fault::new(FaultKind::Cancelled, "the task was cancelled")));
                    }
                    _ => {}
                }
                let waiting = state.asked.iter_mut().find(|(_, asked)| !asked.carried);
                waiting.map(|(key, asked)| {
                    asked.carried = true;
                    (key.clone(), asked.request.clone())
                })
            };
            match next {
                Some((key, request)) => {
                    let mut carried = Carried { entry: self, key: Some(key) };
                    let request = related(request, &self.id);
                    let answer = carry(request).await;
                    if let Some(key) = carried.key.take() {
                        self.settle(&key, answer);
                    }
                }
                // The sender lives as long as `self`, so this ends with a change only.
                None => drop(changes.changed().await),
            }
        }
    }
}

/// Names the task in a question to a legacy client.
fn related(request: InputRequest, id: &str) -> InputRequest {
    let params = Edit::of_optional(request.params.as_ref())
        .and_then(|edit| edit.within("_meta", |meta| with_related(meta, id)))
        .map(Edit::finish);
    match params {
        Ok(params) => request.params(params),
        Err(_) => request,
    }
}

/// Names the task in a `_meta`.
pub(crate) fn with_related(meta: Edit, id: &str) -> Edit {
    let task = Edit::empty().set("taskId", Raw::string(id)).finish();
    meta.set(switchboard_protocol::mcp::meta::RELATED_TASK, task)
}

fn error_object(error: &ErrorObject) -> Result<Raw, serde_json::Error> {
    let object = Edit::empty().set("code", Raw::from_value(&error.code)?).set("message", Raw::string(&error.message));
    Ok(object.set_optional("data", error.data.clone()).finish())
}

/// Takes a question back when nobody waits for its answer any more.
struct Withdraw<'a> {
    entry: &'a Entry,
    key: String,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.entry.settle(&self.key, Err(Error::msg("nobody waits for the answer any more")));
    }
}

/// Gives a question back when whoever carries it goes away, so that the next one can.
struct Carried<'a> {
    entry: &'a Entry,
    key: Option<String>,
}

impl Drop for Carried<'_> {
    fn drop(&mut self) {
        let Some(key) = &self.key else { return };
        if let Some(asked) = self.entry.state.lock().asked.get_mut(key) {
            asked.carried = false;
        }
        self.entry.changes.send_modify(|count| *count += 1);
    }
}
