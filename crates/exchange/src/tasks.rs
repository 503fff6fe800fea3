//! Tasks: which server made one, whose it is, and what of it is kept here where two eras meet.

mod across;
mod requests;
mod rights;
mod shape;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_gate::{CallAuthority, Continued};
use switchboard_peer::Context;
use switchboard_store::Operation;
use switchboard_upstream::Server;
use switchboard_wire::{Object, Raw};
use tokio::time::Instant;

use crate::exchange::Exchange;
use crate::host::Host;
use crate::parked::Running;
use crate::streams::authority_in;
pub(crate) use across::Across;
pub use requests::unknown_task;
use shape::{finished_legacy, with_related_task};

/// How long a task is remembered after it was last named.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);
/// Tasks remembered at once; the one named longest ago is forgotten first.
const MAX_TASKS: usize = 10_000;
/// Bytes of the parameters of a call that are kept while its task is remembered, to judge it again. A task of a longer one
/// does not go on under other limits than those it was made under.
const MAX_KEPT_ARGUMENTS: usize = 4 << 10;
/// How long the result of a call that ended before it could become a task is kept.
pub(crate) const FINISHED_KEPT: Duration = Duration::from_secs(600);

/// The tool that a task runs.
#[derive(Debug, Clone)]
pub struct TaskTool {
    /// As its server calls it.
    pub(crate) original: Arc<str>,
    /// As its caller named it.
    pub(crate) exposed: Arc<str>,
    /// What the right to the call rests on.
    pub(crate) authority: Arc<CallAuthority>,
}

impl<H: Host> Exchange<H> {
    /// The tool of a call whose answer may be a task.
    pub fn task_tool(
        &self,
        context: &Context,
        server: &Server,
        (original, exposed): (&Arc<str>, &str),
        chain: Arc<[String]>,
    ) -> TaskTool {
        let call = Continued { server, tool: original, exposed, chain: &[] };
        let authority = CallAuthority::of_call(self.host.gate(), &context.session, call, chain, None);
        TaskTool { original: original.clone(), exposed: exposed.into(), authority: Arc::new(authority) }
    }
}

impl TaskTool {
    /// The same with what it was called with, unless that is long.
    fn called_with(mut self, params: &Object) -> Self {
        if params.raw().as_bytes().len() <= MAX_KEPT_ARGUMENTS {
            Arc::make_mut(&mut self.authority).params = Object::open(&params.raw().detach()).ok();
        }
        self
    }

    /// That of a task which was written down before a restart.
    fn recalled(kept: &Operation) -> Self {
        let tool: Arc<str> = kept.tool.as_str().into();
        Self { original: tool.clone(), exposed: tool, authority: Arc::new(authority_in(&kept.key)) }
    }

    /// The same for the gate.
    fn continued<'a>(&'a self, server: &'a Server) -> Continued<'a> {
        Continued { server, tool: &self.original, exposed: &self.exposed, chain: &self.authority.chain }
    }
}

struct Entry {
    server: Arc<str>,
    /// Whether it was made on a connection that other principals use too.
    shared: bool,
    /// The tool that was called.
    tool: Option<TaskTool>,
    named: Instant,
    /// The result, for a task that never was one at its server, and that server.
    finished: Option<(Raw, Arc<str>)>,
    /// The open request for the result of a legacy task, on which its questions arrive.
    attended: Option<Running>,
}

/// The tasks that servers made. Two principals may have tasks of one name at two servers, or on connections of their own:
/// each finds its own. On one connection a name means one task, the one that it was given last: a server that was started
/// again may count from one again.
#[derive(Default)]
pub(crate) struct TaskBook {
    tasks: Mutex<HashMap<Key, Entry>>,
}

/// Where a task was made.
#[derive(Clone, Copy)]
pub(crate) struct Made<'a> {
    pub(crate) server: &'a Arc<str>,
    /// On a connection that other principals use too.
    pub(crate) shared: bool,
}

/// The principal and the task.
type Key = (Arc<str>, String);

fn key(principal: &str, task: &str) -> Key {
    (principal.into(), task.to_owned())
}

impl TaskBook {
    /// Notes a task that a server made for somebody. One of that name on a shared connection is nobody else's any more.
    pub(crate) fn note(&self, task: &str, made: Made<'_>, principal: &str, tool: Option<TaskTool>, now: Instant) {
        let Made { server, shared } = made;
        if shared {
            let reused = |(owner, known): &Key, entry: &Entry| {
                known == task && &**owner != principal && entry.shared && entry.server == *server
            };
            self.tasks.lock().retain(|key, entry| !reused(key, entry));
        }
        let entry = Entry { server: server.clone(), shared, tool, named: now, finished: None, attended: None };
        self.insert(key(principal, task), entry, now);
    }

    /// Keeps the result of a call that its client wanted as a task.
    pub(crate) fn keep_finished(&self, task: &str, server: &Arc<str>, principal: &str, result: Raw, now: Instant) {
        let finished = Some((result, server.clone()));
        let entry = Entry { server: "".into(), shared: false, tool: None, named: now, finished, attended: None };
        self.insert(key(principal, task), entry, now);
    }

    /// Notes which tool such a call was of; `false` where no such result is kept.
    pub(crate) fn name_tool(&self, task: &str, principal: &str, tool: &TaskTool) -> bool {
        let mut tasks = self.tasks.lock();
        let kept = tasks.get_mut(&key(principal, task)).filter(|entry| entry.finished.is_some());
        kept.map(|entry| entry.tool.get_or_insert_with(|| tool.clone())).is_some()
    }

    fn insert(&self, key: Key, entry: Entry, now: Instant) {
        let mut tasks = self.tasks.lock();
        if tasks.len() >= MAX_TASKS {
            tasks.retain(|_, entry| now - entry.named < REMEMBERED);
            let oldest = tasks.iter().min_by_key(|(_, entry)| entry.named).map(|(key, _)| key.clone());
            if let (true, Some(oldest)) = (tasks.len() >= MAX_TASKS, oldest) {
                tasks.remove(&oldest);
            }
        }
        tasks.insert(key, entry);
    }

    /// Forgets all of it; open requests for results end.
    pub(crate) fn clear(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock());
        drop(tasks);
    }

    /// The server of a task, for the one it belongs to.
    pub(crate) fn server(&self, task: &str, principal: &str, now: Instant) -> Option<Arc<str>> {
        let mut tasks = self.tasks.lock();
        let entry = tasks.get_mut(&key(principal, task))?;
        entry.named = now;
        Some(entry.server.clone())
    }

    /// The tool that a task runs.
    pub(crate) fn tool(&self, task: &str, principal: &str) -> Option<TaskTool> {
        self.tasks.lock().get(&key(principal, task))?.tool.clone()
    }

    /// Whether it is known as somebody else's task, and not as one of this principal.
    pub(crate) fn is_foreign(&self, task: &str, principal: &str) -> bool {
        let tasks = self.tasks.lock();
        !tasks.contains_key(&key(principal, task)) && tasks.keys().any(|(_, known)| known == task)
    }

    /// Who has a task of that name at a server.
    pub(crate) fn owners(&self, task: &str, server: &str) -> Vec<Arc<str>> {
        let tasks = self.tasks.lock();
        let named = tasks.iter().filter(|((_, known), entry)| known == task && &*entry.server == server);
        named.map(|((principal, _), _)| principal.clone()).collect()
    }

    /// The tasks of somebody, with their servers.
    pub(crate) fn of(&self, principal: &str) -> Vec<(String, Arc<str>)> {
        let tasks = self.tasks.lock();
        let mine = tasks.iter().filter(|((owner, _), _)| &**owner == principal);
        mine.map(|((_, id), entry)| (id.clone(), entry.server.clone())).collect()
    }

    /// The kept result of a task that never was one at its server, and that server.
    pub(crate) fn finished(&self, task: &str, principal: &str, now: Instant) -> Option<(Raw, Arc<str>)> {
        let tasks = self.tasks.lock();
        let entry = tasks.get(&key(principal, task))?;
        entry.finished.clone().filter(|_| now.saturating_duration_since(entry.named) < FINISHED_KEPT)
    }

    fn is_attended(&self, task: &str, principal: &str) -> bool {
        self.tasks.lock().get(&key(principal, task)).is_some_and(|entry| entry.attended.is_some())
    }

    fn attend(&self, task: &str, principal: &str, running: Running) {
        if let Some(entry) = self.tasks.lock().get_mut(&key(principal, task)) {
            entry.attended = Some(running);
        }
    }

    /// The open questions of a task, waited for a moment where none has arrived yet.
    async fn questions(&self, task: &str, context: &Context, patience: Duration) -> Vec<(String, Raw)> {
        let key = key(&context.session.principal, task);
        let Some(mut running) = self.tasks.lock().get_mut(&key).and_then(|entry| entry.attended.take()) else {
            return Vec::new();
        };
        let over = running.collect(context, patience).await;
        let questions = running.questions();
        if !over {
            self.attend(task, &context.session.principal, running);
        }
        questions
    }

    /// Whether a task has a question open under this key.
    fn asks(&self, task: &str, principal: &str, question: &str) -> bool {
        let tasks = self.tasks.lock();
        let running = tasks.get(&key(principal, task)).and_then(|entry| entry.attended.as_ref());
        running.is_some_and(|running| running.asks(question))
    }

    /// Gives a task the answers to its questions.
    fn answer(&self, task: &str, principal: &str, answers: Option<&Object>) {
        let mut tasks = self.tasks.lock();
        let running = tasks.get_mut(&key(principal, task)).and_then(|entry| entry.attended.as_mut());
        if let (Some(running), Some(answers)) = (running, answers) {
            running.answer(answers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_found_by_its_owner_alone() {
        let (book, now) = (TaskBook::default(), Instant::now());
        let server = |task, principal| book.server(task, principal, now);
        let (git, files): (Arc<str>, Arc<str>) = ("git".into(), "files".into());
        book.note("t1", Made { server: &git, shared: true }, "ada", None, now);
        assert_eq!(server("t1", "ada").as_deref(), Some("git"));
        assert_eq!(server("t1", "eve"), None);
        assert_eq!(server("t2", "ada"), None);
        assert!(book.is_foreign("t1", "eve") && !book.is_foreign("t1", "ada") && !book.is_foreign("t2", "eve"));
        book.note("t1", Made { server: &files, shared: true }, "eve", None, now);
        assert_eq!(server("t1", "ada").as_deref(), Some("git"));
        assert_eq!(book.owners("t1", "files"), ["eve".into()]);
    }

    #[test]
    fn a_name_that_a_server_gives_again_is_its_last_owners() {
        let (book, now) = (TaskBook::default(), Instant::now());
        let git: Arc<str> = "git".into();
        let owners = |book: &TaskBook| {
            let mut owners = book.owners("t1", "git");
            owners.sort_unstable();
            owners.join(" ")
        };
        for (principal, shared, expected) in
            [("ada", true, "ada"), ("eve", false, "ada eve"), ("bob", true, "bob eve"), ("eve", true, "eve")]
        {
            book.note("t1", Made { server: &git, shared }, principal, None, now);
            assert_eq!(owners(&book), expected, "{principal} {shared}");
        }
    }

    #[test]
    fn the_book_is_bounded_and_forgets_the_oldest() {
        let (book, began) = (TaskBook::default(), Instant::now());
        let at = |index: usize| began + Duration::from_millis(index as u64);
        let server: Arc<str> = "s".into();
        for index in 0..=MAX_TASKS {
            book.note(&index.to_string(), Made { server: &server, shared: false }, "p", None, at(index));
        }
        assert_eq!(book.server("0", "p", at(MAX_TASKS)), None);
        assert!(book.server(&MAX_TASKS.to_string(), "p", at(MAX_TASKS)).is_some());
    }

    #[test]
    fn a_result_is_kept_for_a_while() {
        let (book, began) = (TaskBook::default(), Instant::now());
        book.keep_finished("t", &"git".into(), "ada", Raw::empty_object(), began);
        for (after, there) in [(Duration::ZERO, true), (FINISHED_KEPT / 2, true), (FINISHED_KEPT, false)] {
            assert_eq!(book.finished("t", "ada", began + after).is_some(), there, "{after:?}");
        }
        assert!(book.finished("t", "eve", began).is_none());
    }
}
