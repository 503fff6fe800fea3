//! The end of a held call in the store, also where the store takes nothing just now.
//!
//! What a person answered, and that a caller is gone, counts in this process at once: no call passes by that approval from
//! then on. The store gets to know of it as soon as it takes something again; until then nobody can approve it there
//! either.

use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::fault::Fault;
use switchboard_store::{Approvals, Decision, Digest, StoreError, Verdict};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{ANSWER_TTL, Answered, Question, decide, later, unanswerable};
use crate::{Gate, GateState};

/// How long whoever is told waits for the store to know as well.
pub(super) const SOON: Duration = Duration::from_secs(1);
/// How long to wait until the store is tried again: at first, and at most.
const RETRY: Duration = Duration::from_millis(50);
const MAX_RETRY: Duration = Duration::from_secs(1);
/// A held call can be decided for no longer than this.
const OVER: Duration = Duration::from_mins(5);

/// How a held call ends without being made.
#[derive(Debug, Clone)]
pub(super) enum Ending {
    /// Somebody said no.
    Denied { by: String },
    /// The same by a token, where the store could not say whether it is the right one.
    DeniedByToken { by: String, token: Digest, principal: String },
    /// Nobody waits for it any more, or nobody may make it.
    Withdrawn { by: &'static str },
}

impl Ending {
    async fn write(&self, gate: &GateState, approvals: &dyn Approvals, id: &str) -> Result<(), StoreError> {
        let now = gate.granted.time();
        let by = match self {
            Self::Withdrawn { by } => *by,
            Self::Denied { by } => by.as_str(),
            Self::DeniedByToken { by, token, principal } => {
                let found = approvals.get(id).await?;
                if !found.is_some_and(|found| found.held.token == Some(*token) && found.held.principal == *principal) {
                    return Ok(());
                }
                gate.desk.close(id);
                by.as_str()
            }
        };
        if !matches!(self, Self::Withdrawn { .. }) {
            let (verdict, expires_at) = (Verdict::Deny, later(now, ANSWER_TTL));
            let decision = Decision { verdict, by: by.to_owned(), reason: None, now, expires_at };
            if !approvals.decide(&[id.to_owned()], &decision).await?.is_empty() {
                return Ok(());
            }
        }
        // Somebody else may have said yes meanwhile: a no is a no.
        approvals.withdraw(id, by, now).await.map(drop)
    }

    /// Ends a held call. Returns when the store knows of it, or soon.
    pub(super) async fn end(self, gate: &Arc<GateState>, id: &str) {
        let _ = tokio::time::timeout(SOON, self.begin(gate, id)).await;
    }

    /// The same from where nobody waits.
    pub(super) fn begin(self, gate: &Arc<GateState>, id: &str) -> oneshot::Receiver<()> {
        if !matches!(self, Self::DeniedByToken { .. }) {
            gate.desk.close(id);
        }
        let (written, known) = oneshot::channel();
        let (work, id) = (gate.clone(), id.to_owned());
        gate.spawn(async move {
            self.write_always(&work, &id).await;
            let _ = written.send(());
        });
        known
    }

    async fn write_always(&self, gate: &GateState, id: &str) {
        let Some(store) = gate.store() else { return };
        let (until, mut pause) = (Instant::now() + OVER, RETRY);
        while let Err(error) = self.write(gate, store.approvals(), id).await {
            if pause == RETRY {
                tracing::warn!(%error, "how a held call ended cannot be written down now; it is tried again");
            }
            if Instant::now() >= until || gate.closing().is_cancelled() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = pause.saturating_mul(2).min(MAX_RETRY),
                () = gate.closing().cancelled() => {}
            }
        }
    }
}

impl Question<'_> {
    /// Writes down that somebody agreed, as soon as the store takes it: the call waits for that as it waited for the person.
    ///
    /// # Errors
    /// It takes nothing until the call has waited long enough.
    pub(super) async fn decide_patiently(
        &self,
        gate: &Gate<'_>,
        yes: Answered,
        by: &str,
        until: Instant,
    ) -> Result<(), Fault> {
        let mut pause = RETRY;
        loop {
            match decide(gate, self.approvals, &self.id, yes, by).await {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() + pause >= until => return Err(unanswerable(error)),
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause = pause.saturating_mul(2).min(MAX_RETRY);
        }
    }
}
