//! The one look at the store for all held calls: which of them were decided by somebody elsewhere.
//!
//! A held call waits here until its approval is no longer among those that are pending. However many wait, the store is
//! asked once a round; while none waits, it is not asked at all.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use switchboard_store::{Approvals, Store};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::pending_confirmations::MAX_OPEN_QUESTIONS;

/// How often the store is asked while somebody waits.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Pending approvals that one look sees. Other kernels on the same store hold calls as well; a call beyond that looks for
/// itself.
const MAX_PENDING: usize = 4 * MAX_OPEN_QUESTIONS;

/// Held calls of this process, by the id of their approval.
#[derive(Default)]
pub(crate) struct ApprovalWatcher {
    waiting: Mutex<HashMap<String, Arc<Notify>>>,
    somebody: Notify,
}

/// One held call: it is watched as long as this lives.
pub(crate) struct Watched<'a> {
    watcher: &'a ApprovalWatcher,
    id: String,
    changed: Arc<Notify>,
}

impl ApprovalWatcher {
    /// Watches an approval from now on.
    pub(crate) fn watch(&self, id: &str) -> Watched<'_> {
        let changed = Arc::new(Notify::new());
        self.waiting.lock().insert(id.to_owned(), changed.clone());
        self.somebody.notify_one();
        Watched { watcher: self, id: id.to_owned(), changed }
    }

    /// Whether a call of this process waits for it.
    pub(crate) fn is_watched(&self, id: &str) -> bool {
        self.waiting.lock().contains_key(id)
    }

    /// Looks until the kernel ends. A store that does not answer is asked again in the next round.
    pub(crate) async fn run(&self, store: &Store, time: impl Fn() -> Timestamp, closing: &CancellationToken) {
        loop {
            let idle = self.waiting.lock().is_empty();
            tokio::select! {
                () = closing.cancelled() => return,
                () = self.somebody.notified(), if idle => {}
                () = tokio::time::sleep(POLL_INTERVAL), if !idle => self.look(store.approvals(), time()).await,
            }
        }
    }

    async fn look(&self, approvals: &dyn Approvals, now: Timestamp) {
        // Who begins to wait during the look is not judged by it.
        let waiting: Vec<String> = self.waiting.lock().keys().cloned().collect();
        let Ok(pending) = approvals.pending(now, MAX_PENDING).await else { return };
        let pending: HashSet<&str> = pending.iter().map(|approval| approval.held.id.as_str()).collect();
        let now_waiting = self.waiting.lock();
        for id in waiting.iter().filter(|id| !pending.contains(id.as_str())) {
            if let Some(changed) = now_waiting.get(id) {
                changed.notify_one();
            }
        }
    }
}

impl Watched<'_> {
    /// Returns when the approval is no longer pending, or may no longer be.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.watcher.waiting.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use switchboard_store::{Decision, Digest, HeldCall, Location, Options, Reuse, Verdict};

    use super::*;

    fn held(id: &str, now: Timestamp) -> HeldCall {
        HeldCall {
            id: id.to_owned(),
            principal: "ann".to_owned(),
            session: None,
            server: "files".to_owned(),
            tool: "write".to_owned(),
            arguments: Digest::of(id.as_bytes()),
            shown: None,
            reason: "dangerous".to_owned(),
            token: None,
            created_at: now,
            expires_at: now + SignedDuration::from_mins(5),
        }
    }

    #[tokio::test]
    async fn one_look_wakes_those_whose_approval_was_decided_and_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&Location::File(folder.path().join("store.db")), Options::default()).await.unwrap();
        let now = Timestamp::now();
        for id in ["one", "two"] {
            store.approvals().hold(&held(id, now)).await.unwrap();
        }
        let watcher = ApprovalWatcher::default();
        let (one, two) = (watcher.watch("one"), watcher.watch("two"));
        let by = Decision {
            verdict: Verdict::Approve(Reuse::Once),
            by: "operator".to_owned(),
            reason: None,
            now,
            expires_at: now + SignedDuration::from_mins(5),
        };
        store.approvals().decide(&["two".to_owned()], &by).await.unwrap();
        watcher.look(store.approvals(), now).await;
        two.changed().await;
        let other = tokio::time::timeout(Duration::from_millis(20), one.changed()).await;
        assert!(other.is_err(), "nobody decided about this one");
        drop((one, two));
        assert!(watcher.waiting.lock().is_empty(), "who waits no longer is not watched");
    }
}
