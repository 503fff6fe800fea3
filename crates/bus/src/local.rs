//! The bus inside one process.

use std::sync::Arc;

use tokio::sync::broadcast;

use crate::{Bus, Event, Feed};

/// A bus inside one process: a ring that the slowest listener may fall behind in.
#[derive(Debug)]
pub struct Local {
    ring: broadcast::Sender<Arc<Event>>,
}

impl Local {
    /// One that holds so many events for those who are slow.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { ring: broadcast::Sender::new(capacity.clamp(1, 1 << 20)) }
    }
}

impl Default for Local {
    fn default() -> Self {
        Self::new(8_192)
    }
}

impl Bus for Local {
    fn publish(&self, event: Event) {
        // Without a listener there is nobody to be told.
        let _ = self.ring.send(Arc::new(event));
    }

    fn listen(&self) -> Feed {
        Feed { events: self.ring.subscribe() }
    }

    fn is_heard(&self) -> bool {
        self.ring.receiver_count() > 0
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use switchboard_protocol::mgp::event::Severity;
    use switchboard_wire::Raw;

    use super::*;
    use crate::{Audience, Heard, SeenEvents};

    fn event(id: &str) -> Event {
        Event {
            id: id.into(),
            channel: "system.test".into(),
            server: None,
            via: None,
            severity: Severity::Info,
            at: Timestamp::UNIX_EPOCH,
            data: Raw::empty_object(),
            audience: Audience::Operators,
            depth: 0,
        }
    }

    #[tokio::test]
    async fn all_who_listen_hear_in_order_and_nobody_hears_the_past() {
        let bus = Local::default();
        assert!(!bus.is_heard());
        bus.publish(event("before"));
        let (mut one, mut other) = (bus.listen(), bus.listen());
        assert!(bus.is_heard());
        bus.publish(event("1"));
        bus.publish(event("2"));
        for feed in [&mut one, &mut other] {
            for expected in ["1", "2"] {
                let Some(Heard::Event(event)) = feed.next().await else { panic!("an event") };
                assert_eq!(&*event.id, expected);
            }
        }
        drop((one, other));
        assert!(!bus.is_heard());
    }

    #[tokio::test]
    async fn who_is_slow_learns_what_it_missed_and_holds_up_nobody() {
        let bus = Local::new(4);
        let mut feed = bus.listen();
        (0..10).for_each(|number| bus.publish(event(&number.to_string())));
        assert!(matches!(feed.next().await, Some(Heard::Missed(6))));
        let Some(Heard::Event(event)) = feed.next().await else { panic!("an event") };
        assert_eq!(&*event.id, "6");
        drop(bus);
        for _ in 0..3 {
            assert!(matches!(feed.next().await, Some(Heard::Event(_))));
        }
        assert!(feed.next().await.is_none());
    }

    #[test]
    fn what_came_before_is_known_within_the_window() {
        let mut seen = SeenEvents::new(3);
        let fresh: Vec<bool> = ["a", "b", "a", "c", "d", "b", "a"].iter().map(|id| seen.is_new(id)).collect();
        // `a` was pushed out by `d`; then it is new once more.
        assert_eq!(fresh, [true, true, false, true, true, false, true]);
    }
}
