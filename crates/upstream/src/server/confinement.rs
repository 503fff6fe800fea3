//! What the process of a server was started with, and whether it was ended for going beyond.

use std::time::Duration;

use switchboard_peer::client::Target;
use switchboard_policy::permission::Granted;
use switchboard_transport::confine::ExitCause;
use tokio::time::Instant;

use super::{Server, SharedConnection};
use crate::holder::Gatekeeper;

/// How long a process whose output has ended may take to end itself. It is not started again before.
const LAST_BREATH: Duration = Duration::from_millis(500);

impl Server {
    /// Whether its process is confined.
    pub fn is_confined(&self) -> bool {
        let process = matches!(self.spec.target, Target::Command(_));
        process && self.spec.isolation.as_ref().is_some_and(|isolation| isolation.applies(self.policy().trust))
    }

    /// The permissions that its process was started with, where it is confined to them.
    pub fn began_with(&self) -> Option<Vec<Granted>> {
        self.began_with.lock().clone()
    }

    /// Where to connect to, with a process held to what it may do.
    ///
    /// # Errors
    /// It cannot be known what it may do.
    pub(super) async fn confined_target(&self, gatekeeper: &dyn Gatekeeper) -> Result<Target, String> {
        let mut target = self.spec.target.clone();
        if let (true, Target::Command(command), Some(isolation)) =
            (self.is_confined(), &mut target, &self.spec.isolation)
        {
            let held = gatekeeper.held_permissions(self).await.ok_or("its permissions cannot be read")?;
            let (profile, notes) = isolation.decide(command, self.policy().trust, &held);
            for note in notes {
                tracing::warn!(server = %self.id(), "{note}");
            }
            command.profile = Some(profile);
            *self.began_with.lock() = Some(held);
        }
        Ok(target)
    }

    /// How its process ended; the gatekeeper is told where that was for doing what it may not do.
    pub(super) async fn note_violation(
        &self,
        hub: &SharedConnection,
        gatekeeper: &dyn Gatekeeper,
    ) -> Option<ExitCause> {
        let oversight = hub.connected.oversight()?;
        let cause = tokio::time::timeout(LAST_BREATH, oversight.ended()).await.ok().flatten()?;
        if cause.is_violation() {
            *self.killed_at.lock() = Some(Instant::now());
            tracing::warn!(server = %self.id(), ?cause, "the server was ended for what it did");
            gatekeeper.note_violation(self, &cause).await;
        }
        Some(cause)
    }
}
