//! Group commit: one thread that writes, a bounded queue in front of it, one commit for all that wait.
//!
//! A group forms by itself: while one commit waits for the disk, the next callers queue up. A single caller therefore
//! waits for one sync and no timer, and many callers share one.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use super::{Row, Statement};
use crate::audit::{Head, Link, Prepared};
use crate::{Boundary, Options, StoreError};

/// Something to write.
#[derive(Debug)]
pub(crate) enum Work {
    Append(Vec<Prepared>),
    /// Adds those of these events that do not stand after this record already. An offer whose fate is unknown is made
    /// again like this: whatever became of it is settled by the time that this work is done.
    AppendOnce {
        events: Vec<Prepared>,
        after: u64,
    },
    Execute(Vec<Statement>),
    Seal(Timestamp),
    Prune {
        through: u64,
        now: Timestamp,
    },
}

impl Work {
    /// Events to append; none for other work.
    pub(crate) fn events(&self) -> &[Prepared] {
        if let Self::Append(events) = self { events } else { &[] }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Append(events) | Self::AppendOnce { events, .. } => events.len(),
            Self::Execute(statements) => statements.len(),
            Self::Seal(_) => 1,
            // Deletes an unknown number of rows: commits with what came before it.
            Self::Prune { .. } => usize::MAX,
        }
    }
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Done {
    Appended(Vec<Link>),
    Executed(Vec<Vec<Row>>),
    Signed(Head),
}

impl Done {
    pub(crate) fn appended(self) -> Result<Vec<Link>, StoreError> {
        if let Self::Appended(links) = self { Ok(links) } else { Err(StoreError::Undetermined) }
    }

    pub(crate) fn executed(self) -> Result<Vec<Vec<Row>>, StoreError> {
        if let Self::Executed(rows) = self { Ok(rows) } else { Err(StoreError::Undetermined) }
    }

    pub(crate) fn signed(self) -> Result<Head, StoreError> {
        if let Self::Signed(head) = self { Ok(head) } else { Err(StoreError::Undetermined) }
    }
}

/// Writes a group in one transaction. `Err` means that nothing of the group was written (or, for
/// [`StoreError::Undetermined`], that nobody knows); an inner `Err` concerns one piece of work.
pub(crate) trait Committer: Send + 'static {
    fn commit(&mut self, group: &[Work]) -> Result<Vec<Result<Done, StoreError>>, StoreError>;
}

#[derive(Debug)]
struct Job {
    work: Work,
    reply: oneshot::Sender<Result<Done, StoreError>>,
}

/// The sending end, and the thread.
#[derive(Debug)]
pub(crate) struct Queue {
    sender: Mutex<Option<mpsc::Sender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    capacity: usize,
    deadline: Duration,
}

impl Queue {
    /// Starts the writer's thread.
    pub(crate) fn start(committer: impl Committer, options: &Options) -> Result<Self, StoreError> {
        let (sender, receiver) = mpsc::channel(options.queue.max(1));
        let for_thread = options.clone();
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || run(receiver, committer, &for_thread))
            .map_err(|error| StoreError::Engine(std::sync::Arc::new(error)))?;
        Ok(Self {
            sender: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
            capacity: options.queue.max(1),
            deadline: options.write_deadline,
        })
    }

    /// Hands work over and waits until it is durable.
    pub(crate) async fn submit(&self, work: Work) -> Result<Done, StoreError> {
        let (reply, answer) = oneshot::channel();
        {
            let sender = self.sender.lock();
            let sender = sender.as_ref().ok_or(StoreError::Closed)?;
            sender.try_send(Job { work, reply }).map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => StoreError::Overloaded { waiting: self.capacity },
                mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
            })?;
        }
        match tokio::time::timeout(self.deadline, answer).await {
            Ok(Ok(result)) => result,
            // The writer died with the work in its hands, or is still at it.
            Ok(Err(_)) | Err(_) => Err(StoreError::Undetermined),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.sender.lock().as_ref().is_some_and(|sender| !sender.is_closed())
    }

    /// Takes no more work, finishes what waits, and ends the thread.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        drop(self.sender.lock().take());
        let Some(thread) = self.thread.lock().take() else { return Ok(()) };
        let joined = tokio::task::spawn_blocking(move || thread.join());
        match tokio::time::timeout(self.deadline, joined).await {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(_) => Err(StoreError::Undetermined),
            Err(_) => Err(StoreError::Timeout),
        }
    }
}

fn run(mut receiver: mpsc::Receiver<Job>, mut committer: impl Committer, options: &Options) {
    while let Some(first) = receiver.blocking_recv() {
        let mut weight = first.work.weight();
        let mut group = vec![first.work];
        let mut replies = vec![first.reply];
        while weight < options.group {
            let Ok(job) = receiver.try_recv() else { break };
            weight = weight.saturating_add(job.work.weight());
            group.push(job.work);
            replies.push(job.reply);
        }
        // A caller that went away has dropped its end: the write stands, nobody needs to hear of it.
        match committer.commit(&group) {
            Ok(results) => {
                for (reply, result) in replies.into_iter().zip(results) {
                    let _ = reply.send(result);
                }
            }
            Err(error) => {
                tracing::warn!(%error, writes = replies.len(), "a group of writes failed");
                for reply in replies {
                    let _ = reply.send(Err(error.share()));
                }
            }
        }
        options.reached(Boundary::AfterAcknowledge);
    }
}
