//! Tasks: which server made one, whose it is, and what of it is kept here where two eras meet.

mod across;
mod shape;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_peer::Context;
use switchboard_wire::{Object, Raw};
use tokio::time::Instant;

use crate::parked::Running;
pub(crate) use across::Across;
pub(crate) use shape::{finished_legacy, with_related_task};

/// How long a task is remembered after it was last named.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);
/// Tasks remembered at once; the one named longest ago is forgotten first.
const MOST: usize = 10_000;
/// How long the result of a call that ended before it could become a task is kept.
pub(crate) const FINISHED_KEPT: Duration = Duration::from_secs(600);

struct Entry {
    server: Arc<str>,
    principal: Arc<str>,
    named: Instant,
    /// The result, for a task that never was one at its server.
    finished: Option<Raw>,
    /// The open request for the result of a legacy task, on which its questions arrive.
    attended: Option<Running>,
}

/// The tasks that servers made.
#[derive(Default)]
pub(crate) struct TaskBook {
    tasks: Mutex<HashMap<String, Entry>>,
}

impl TaskBook {
    /// Notes a task that a server made for somebody.
    pub(crate) fn note(&self, task: &str, server: &Arc<str>, principal: &Arc<str>) {
        self.insert(task, server.clone(), principal.clone(), None);
    }

    /// Keeps the result of a call that its client wanted as a task.
    pub(crate) fn keep_finished(&self, task: &str, principal: &Arc<str>, result: Raw) {
        self.insert(task, "".into(), principal.clone(), Some(result));
    }

    fn insert(&self, task: &str, server: Arc<str>, principal: Arc<str>, finished: Option<Raw>) {
        let mut tasks = self.tasks.lock();
        if tasks.len() >= MOST {
            let now = Instant::now();
            tasks.retain(|_, entry| now - entry.named < REMEMBERED);
            let oldest = tasks.iter().min_by_key(|(_, entry)| entry.named).map(|(id, _)| id.clone());
            if let (true, Some(oldest)) = (tasks.len() >= MOST, oldest) {
                tasks.remove(&oldest);
            }
        }
        let entry = Entry { server, principal, named: Instant::now(), finished, attended: None };
        tasks.insert(task.to_owned(), entry);
    }

    /// The server of a task, for the one it belongs to.
    pub(crate) fn server(&self, task: &str, principal: &str) -> Option<Arc<str>> {
        let mut tasks = self.tasks.lock();
        let entry = tasks.get_mut(task).filter(|entry| &*entry.principal == principal)?;
        entry.named = Instant::now();
        Some(entry.server.clone())
    }

    /// Whose task it is.
    pub(crate) fn principal(&self, task: &str) -> Option<Arc<str>> {
        self.tasks.lock().get(task).map(|entry| entry.principal.clone())
    }

    /// The tasks of somebody, with their servers.
    pub(crate) fn of(&self, principal: &str) -> Vec<(String, Arc<str>)> {
        let tasks = self.tasks.lock();
        let mine = tasks.iter().filter(|(_, entry)| &*entry.principal == principal);
        mine.map(|(id, entry)| (id.clone(), entry.server.clone())).collect()
    }

    /// The kept result of a task that never was one at its server.
    pub(crate) fn finished(&self, task: &str, principal: &str) -> Option<Raw> {
        let tasks = self.tasks.lock();
        let entry = tasks.get(task).filter(|entry| &*entry.principal == principal)?;
        entry.finished.clone().filter(|_| entry.named.elapsed() < FINISHED_KEPT)
    }

    fn is_attended(&self, task: &str) -> bool {
        self.tasks.lock().get(task).is_some_and(|entry| entry.attended.is_some())
    }

    fn attend(&self, task: &str, running: Running) {
        if let Some(entry) = self.tasks.lock().get_mut(task) {
            entry.attended = Some(running);
        }
    }

    /// The open questions of a task, waited for a moment where none has arrived yet.
    async fn questions(&self, task: &str, context: &Context, patience: Duration) -> Vec<(String, Raw)> {
        let Some(mut running) = self.tasks.lock().get_mut(task).and_then(|entry| entry.attended.take()) else {
            return Vec::new();
        };
        let over = running.collect(context, patience).await;
        let questions = running.questions();
        if !over {
            self.attend(task, running);
        }
        questions
    }

    /// Gives a task the answers to its questions.
    fn answer(&self, task: &str, answers: Option<&Object>) {
        let mut tasks = self.tasks.lock();
        if let (Some(running), Some(answers)) = (tasks.get_mut(task).and_then(|entry| entry.attended.as_mut()), answers)
        {
            running.answer(answers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_is_found_by_its_owner_alone() {
        let book = TaskBook::default();
        book.note("t1", &"git".into(), &"ada".into());
        assert_eq!(book.server("t1", "ada").as_deref(), Some("git"));
        assert_eq!(book.server("t1", "eve"), None);
        assert_eq!(book.server("t2", "ada"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_book_is_bounded_and_forgets_the_oldest() {
        let book = TaskBook::default();
        for index in 0..=MOST {
            book.note(&index.to_string(), &"s".into(), &"p".into());
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert_eq!(book.server("0", "p"), None);
        assert!(book.server(&MOST.to_string(), "p").is_some());
    }
}
