//! The watch over rights: while anything streams, runs for a while, or waits for its client or a person, grants are looked at
//! as often as calls would have them looked at, so that nothing goes on for longer after a revocation than a new call would
//! pass. What is long over is forgotten.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use switchboard_gate::EXPIRED;

use crate::exchange::Exchange;
use crate::host::Host;

/// The poll interval for grants while something goes on: whoever revokes waits a little longer than this.
const GRANT_POLL_INTERVAL_BUSY: Duration = Duration::from_millis(200);

/// Questions that are looked at when a grant ends. The rest ends by its own time, and an answer to it does not count.
const MAX_PENDING: usize = 4_096;

/// The same while nothing does.
const GRANT_POLL_INTERVAL: Duration = Duration::from_secs(1);

impl<H: Host> Exchange<H> {
    /// Ends what its caller may not use any more, by what is known now: calls that go on, and those that wait for a person.
    pub fn end_revoked(&self) {
        self.end_revoked_calls();
        self.host.gate().rights.announce();
    }

    /// Looks at the grants for as long as something goes on that they could end.
    pub async fn watch_rights(self) {
        loop {
            let gate = self.host.gate();
            let idle = self.state.is_idle() && !gate.rights.is_watched();
            tokio::select! {
                () = self.closing().cancelled() => return,
                () = self.state.begun(), if idle => {}
                () = tokio::time::sleep(GRANT_POLL_INTERVAL_BUSY), if !idle => {}
            }
            self.end_unproven(SystemTime::now());
            match gate.granted.again().await {
                Ok(true) => self.host.grants_changed(),
                // What ends by itself changes nothing in the store, and no store knows of session tokens.
                Ok(false) if gate.anything_ends() => {
                    self.end_revoked_calls();
                    gate.rights.tick();
                }
                _ => {}
            }
        }
    }

    /// Looks whether the store can be used, and ends what rests on grants that end by themselves.
    pub async fn watch_expiry(self) {
        let mut since = self.host.gate().granted.time();
        loop {
            let gate = self.host.gate();
            gate.granted.look_after_store().await;
            let now = gate.granted.time();
            self.end_expired(since, now).await;
            since = now;
            tokio::select! {
                () = self.closing().cancelled() => break,
                () = tokio::time::sleep(GRANT_POLL_INTERVAL) => {}
            }
        }
    }

    /// Ends what rests on grants that have ended by themselves since some moment: questions that nobody waits for, and what
    /// is watched. What was agreed to for longer is judged when somebody wants to use it.
    async fn end_expired(&self, since: Timestamp, now: Timestamp) {
        let gate = self.host.gate();
        let Some(store) = gate.store() else { return };
        if !gate.granted.latest().has_ended_since(since, now) {
            return;
        }
        // Somebody may have made them last longer meanwhile.
        let Ok(tables) = gate.tables().await else { return };
        let pending = store.approvals().pending(now, MAX_PENDING).await.unwrap_or_default();
        for held in pending.iter().map(|approval| &approval.held) {
            let whose = (held.principal.as_str(), held.server.as_str(), held.tool.as_str());
            if !tables.grant_ended_since(whose, held.created_at, now) {
                continue;
            }
            if let Err(error) = store.approvals().withdraw(&held.id, EXPIRED, now).await {
                tracing::warn!(%error, "a question about what was granted stays open until its time is over");
            }
        }
        self.host.grants_changed();
    }

    /// Forgets what is written of operations and questions that are long over.
    pub async fn forget_old(&self) {
        let gate = self.host.gate();
        let Some(store) = gate.store() else { return };
        let now = gate.granted.time();
        if let Err(error) = store.operations().expire(now).await {
            tracing::debug!(%error, "old operations could not be removed");
        }
        if let Err(error) = store.callbacks().expire(now).await {
            tracing::debug!(%error, "old questions could not be removed");
        }
    }
}
