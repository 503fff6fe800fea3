//! Events between those who tell and those who listen, behind one trait.
//!
//! The bus carries events; it does not know who may hear of what, nor what a subscription is. The default is in this
//! process. A bus between replicas is another implementation of [`Bus`] with the same contract:
//!
//! - telling never waits, and never fails for those who tell: an event that nobody can take is counted and dropped;
//! - who listens gets each event at least once, in the order in which one replica told it, or learns how many it missed;
//! - the same event may come twice. [`SeenEvents`] tells, by the event's id, within a bounded window;
//! - what must not be lost is written down before it is told (an outbox), and told again until it was taken:
//!   [`Bus::publish`] may be called again with the same event.

mod event;
mod local;
mod seen;

pub use event::{Audience, Event};
pub use local::Local;
pub use seen::SeenEvents;

/// Carries events.
pub trait Bus: Send + Sync + std::fmt::Debug {
    /// Tells an event to all who listen now. Never waits.
    fn publish(&self, event: Event);

    /// Listens from now on.
    fn listen(&self) -> Feed;

    /// Whether anybody listens: who tells much may spare itself the making of events that nobody hears.
    fn is_heard(&self) -> bool;
}

/// What came next.
#[derive(Debug, Clone)]
pub enum Heard {
    /// An event.
    Event(std::sync::Arc<Event>),
    /// So many were missed, because they came faster than they were taken.
    Missed(u64),
}

/// The receiving end.
#[derive(Debug)]
pub struct Feed {
    pub(crate) events: tokio::sync::broadcast::Receiver<std::sync::Arc<Event>>,
}

impl Feed {
    /// The next event; `None` when the bus has ended.
    pub async fn next(&mut self) -> Option<Heard> {
        match self.events.recv().await {
            Ok(event) => Some(Heard::Event(event)),
            Err(tokio::sync::broadcast::error::RecvError::Lagged(count)) => Some(Heard::Missed(count)),
            Err(tokio::sync::broadcast::error::RecvError::Closed) => None,
        }
    }
}
