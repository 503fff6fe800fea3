//! The word that rights may have changed, for whatever goes on for a while.

use tokio::sync::watch;

/// Tells whoever goes on with something that rights may have changed: a number that grows with every change of grants,
/// permissions or settings.
#[derive(Debug)]
pub struct RightsChanges(watch::Sender<u64>);

impl Default for RightsChanges {
    fn default() -> Self {
        Self(watch::channel(0).0)
    }
}

impl RightsChanges {
    /// Grants, permissions or settings have changed.
    pub fn announce(&self) {
        self.0.send_modify(|changes| *changes += 1);
    }

    /// Time has passed, and some rights end by themselves.
    pub fn tick(&self) {
        self.0.send_modify(|_| {});
    }

    pub(crate) fn count(&self) -> u64 {
        *self.0.borrow()
    }

    /// Whether anything goes on that they could end.
    pub fn is_watched(&self) -> bool {
        self.0.receiver_count() > 0
    }

    pub(crate) fn watched(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}
