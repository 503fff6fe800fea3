//! Turns to start a connection: few processes at a time, because each takes a processor to come up, and more of what only
//! waits for the network.
//!
//! Where all start at once on a small machine, slow ones run into the time that a start may take, and their work is done
//! twice. What somebody waits for goes first: it has turns of its own, as few.

use std::time::Duration;

use switchboard_peer::client::Target;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Connections over the network that are made at once.
const REMOTE_STARTS: usize = 32;
/// Processes that are started at once beside the others, because a call waits for them.
const CALLED_STARTS: usize = 2;
/// How long a start may wait for its turn. Each turn is short, so this is reached by hundreds of slow processes at most.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// Processes that are started at once for each processor, and at least.
const STARTS_PER_PROCESSOR: usize = 2;
const MIN_STARTS: usize = 4;

/// How many processes are started at once on a machine with so many processors.
#[must_use]
pub fn starts_for(processors: usize) -> usize {
    processors.saturating_mul(STARTS_PER_PROCESSOR).max(MIN_STARTS)
}

/// What is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Process,
    Connection,
}

impl Start {
    pub const fn of(target: &Target) -> Self {
        match target {
            Target::Command(_) => Self::Process,
            _ => Self::Connection,
        }
    }
}

/// The turns there are.
#[derive(Debug)]
pub struct StartTurns {
    remote: Semaphore,
    processes: Semaphore,
    called: Semaphore,
}

impl StartTurns {
    /// So many processes at a time.
    #[must_use]
    pub fn new(processes: usize) -> Self {
        let [remote, processes, called] = [REMOTE_STARTS, processes.max(1), CALLED_STARTS].map(Semaphore::new);
        Self { remote, processes, called }
    }

    /// A turn to start a connection, until it is dropped; `None` where none came in time. When `called` is over, somebody waits for
    /// what is started.
    pub async fn take(&self, start: Start, called: impl Future<Output = ()>) -> Option<SemaphorePermit<'_>> {
        let turns = match start {
            Start::Process => &self.processes,
            Start::Connection => &self.remote,
        };
        let first = async {
            called.await;
            self.called.acquire().await
        };
        let turn = async {
            tokio::select! {
                biased;
                turn = turns.acquire() => turn,
                turn = first => turn,
            }
        };
        tokio::time::timeout(MAX_WAIT, turn).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_starts_as_many_as_it_has_processors_for() {
        for (processors, expected) in [(0, 4), (1, 4), (2, 4), (4, 8), (64, 128), (usize::MAX, usize::MAX)] {
            assert_eq!(starts_for(processors), expected, "{processors}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn processes_wait_for_each_other_and_not_for_the_network() {
        let turns = StartTurns::new(2);
        let take = |start| turns.take(start, std::future::pending());
        let first = take(Start::Process).await;
        let second = take(Start::Process).await;
        assert!(first.is_some() && second.is_some() && take(Start::Connection).await.is_some());
        let third = take(Start::Process);
        tokio::pin!(third);
        assert!(tokio::time::timeout(Duration::from_secs(5), third.as_mut()).await.is_err(), "its turn has not come");
        drop(first);
        assert!(third.await.is_some());
        let (_held, _other) = (second, take(Start::Process).await);
        assert!(take(Start::Process).await.is_none(), "nobody waits for ever");
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_call_waits_for_is_started_before_what_stands_before_it() {
        let turns = StartTurns::new(1);
        let _first = turns.take(Start::Process, std::future::pending()).await;
        let waiting = turns.take(Start::Process, std::future::pending());
        tokio::pin!(waiting);
        let called = tokio::sync::Notify::new();
        let wanted = turns.take(Start::Process, called.notified());
        tokio::pin!(wanted);
        let moment = Duration::from_secs(5);
        assert!(tokio::time::timeout(moment, waiting.as_mut()).await.is_err());
        assert!(tokio::time::timeout(moment, wanted.as_mut()).await.is_err());
        called.notify_one();
        assert!(tokio::time::timeout(moment, wanted).await.is_ok_and(|turn| turn.is_some()));
        assert!(tokio::time::timeout(moment, waiting).await.is_err(), "nobody called that one");
    }
}
