//! The watch over rights: while anything streams, runs for a while, or waits for its client or a person, grants are looked at
//! as often as calls would have them looked at, so that nothing goes on for longer after a revocation than a new call would
//! pass. What is long over is forgotten.

use std::time::{Duration, SystemTime};

use super::Kernel;
use crate::gate;

/// How often grants are looked at while something goes on: whoever revokes waits a little longer than this.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Questions that are looked at when a grant ends. The rest ends by its own time, and an answer to it does not count.
const MAX_PENDING: usize = 4_096;

impl Kernel {
    /// Ends what its caller may not use any more, by what is known now.
    pub(crate) fn end_revoked(&self) {
        self.exchange().end_revoked();
        self.gate().rights.announce();
    }

    /// Looks at the grants for as long as something goes on that they could end.
    pub(crate) async fn watch_rights(&self) {
        loop {
            let state = self.exchange_state();
            let idle = state.is_idle() && !self.gate().rights.is_watched();
            tokio::select! {
                () = self.closing().cancelled() => return,
                () = state.begun(), if idle => {}
                () = tokio::time::sleep(LOOK_INTERVAL), if !idle => {}
            }
            self.exchange().end_unproven(SystemTime::now());
            match self.gate().granted.again().await {
                Ok(true) => self.grants_changed(),
                // What ends by itself changes nothing in the store, and no store knows of session tokens.
                Ok(false) if self.gate().anything_ends() => {
                    self.exchange().end_revoked();
                    self.gate().rights.tick();
                }
                _ => {}
            }
        }
    }

    /// Ends what rests on grants that have ended by themselves since some moment: questions that nobody waits for, and what
    /// is watched. What was agreed to for longer is judged when somebody wants to use it.
    pub(crate) async fn end_expired(&self, since: jiff::Timestamp, now: jiff::Timestamp) {
        let Some(store) = self.gate().store() else { return };
        if !self.gate().granted.latest().has_ended_since(since, now) {
            return;
        }
        // Somebody may have made them last longer meanwhile.
        let Ok(tables) = self.gate().tables().await else { return };
        let pending = store.approvals().pending(now, MAX_PENDING).await.unwrap_or_default();
        for held in pending.iter().map(|approval| &approval.held) {
            let whose = (held.principal.as_str(), held.server.as_str(), held.tool.as_str());
            if !tables.grant_ended_since(whose, held.created_at, now) {
                continue;
            }
            if let Err(error) = store.approvals().withdraw(&held.id, gate::EXPIRED, now).await {
                tracing::warn!(%error, "a question about what was granted stays open until its time is over");
            }
        }
        self.grants_changed();
    }

    /// Forgets what is written of operations and questions that are long over.
    pub(crate) async fn forget_old(&self) {
        let Some(store) = self.gate().store() else { return };
        let now = self.gate().granted.time();
        if let Err(error) = store.operations().expire(now).await {
            tracing::debug!(%error, "old operations could not be removed");
        }
        if let Err(error) = store.callbacks().expire(now).await {
            tracing::debug!(%error, "old questions could not be removed");
        }
    }
}
