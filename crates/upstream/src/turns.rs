//! Turns to start a connection: few processes at a time, because each takes a processor to come up, and more of what only
//! waits for the network.
//!
//! Where all start at once on a small machine, slow ones run into the time that a start may take, and their work is done
//! twice.

use std::time::Duration;

use switchboard_peer::client::Target;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Connections over the network that are made at once.
const REMOTE_STARTS: usize = 32;
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
}

impl StartTurns {
    /// So many processes at a time.
    #[must_use]
    pub fn new(processes: usize) -> Self {
        Self { remote: Semaphore::new(REMOTE_STARTS), processes: Semaphore::new(processes.max(1)) }
    }

    /// A turn to start a connection, until it is dropped; `None` where none came in time.
    pub async fn take(&self, start: Start) -> Option<SemaphorePermit<'_>> {
        let turns = match start {
            Start::Process => &self.processes,
            Start::Connection => &self.remote,
        };
        tokio::time::timeout(MAX_WAIT, turns.acquire()).await.ok()?.ok()
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
        let first = turns.take(Start::Process).await;
        let second = turns.take(Start::Process).await;
        assert!(first.is_some() && second.is_some() && turns.take(Start::Connection).await.is_some());
        let third = turns.take(Start::Process);
        tokio::pin!(third);
        assert!(tokio::time::timeout(Duration::from_secs(5), third.as_mut()).await.is_err(), "its turn has not come");
        drop(first);
        assert!(third.await.is_some());
        let (_held, _other) = (second, turns.take(Start::Process).await);
        assert!(turns.take(Start::Process).await.is_none(), "nobody waits for ever");
    }
}
