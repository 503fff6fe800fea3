//! Which server a task belongs to, and whose it is.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// How long a task is remembered after it was last named.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);
/// Tasks remembered at once; the one named longest ago is forgotten first.
const MOST: usize = 10_000;

struct Entry {
    server: Arc<str>,
    principal: Arc<str>,
    named: Instant,
}

/// The tasks that servers made.
#[derive(Default)]
pub(crate) struct TaskBook {
    tasks: Mutex<HashMap<String, Entry>>,
}

impl TaskBook {
    /// Notes a task that a server made for somebody.
    pub(crate) fn note(&self, task: &str, server: &Arc<str>, principal: &Arc<str>) {
        let mut tasks = self.tasks.lock();
        if tasks.len() >= MOST {
            let now = Instant::now();
            tasks.retain(|_, entry| now - entry.named < REMEMBERED);
            let oldest = tasks.iter().min_by_key(|(_, entry)| entry.named).map(|(id, _)| id.clone());
            if let (true, Some(oldest)) = (tasks.len() >= MOST, oldest) {
                tasks.remove(&oldest);
            }
        }
        let entry = Entry { server: server.clone(), principal: principal.clone(), named: Instant::now() };
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
