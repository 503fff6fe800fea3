//! Events that one subscribes to (proposal 15).
//!
//! The proposal fixes the objects and leaves the methods open. Here they are `events/subscribe`, `events/unsubscribe`
//! and `events/poll`; an event is a `notifications/event`, as the proposal's first servers send it.

use switchboard_wire::{Edit, Raw};

/// Subscribes.
pub const SUBSCRIBE: &str = "events/subscribe";
/// Ends a subscription.
pub const UNSUBSCRIBE: &str = "events/unsubscribe";
/// Asks for events where they are not sent.
pub const POLL: &str = "events/poll";
/// One event.
pub const EVENT: &str = "notifications/event";
/// The end of a subscription that the subscriber did not ask for.
pub const TERMINATED: &str = "notifications/subscription_terminated";

view! { "snake_case";
    /// Asks for events.
    PushSubscribe {
        /// Their names, or patterns of them.
        events: Vec<String>,
        ;
        /// Of which server.
        server: String,
        /// Which of them: each member must stand in the payload.
        filter: Raw,
        /// For how long.
        ttl_seconds: u64,
        /// What names the subscription, where the subscriber chooses.
        subscription_id: String,
    }
}

view! { "snake_case";
    /// What became of it.
    PushSubscribed {
        /// What names the subscription.
        subscription_id: String,
        /// `active` or `denied`
        status: String,
        ;
        /// Until when, in RFC 3339.
        expires_at: String,
        /// The events that can come.
        supported_events: Vec<String>,
        /// Why not.
        reason: String,
        /// `false` where events are not sent but must be asked for.
        supported: bool,
        /// How often to ask then.
        poll_interval_seconds: u64,
    }
}

view! { "snake_case";
    /// One event.
    PushEvent {
        /// `event`
        #[serde(rename = "type")]
        kind: String,
        /// The subscription that it is for.
        subscription_id: String,
        /// Its name. The proposal's first servers write `event_type`.
        #[serde(alias = "event_type")]
        event: String,
        /// When it happened, in RFC 3339.
        timestamp: String,
        ;
        /// What happened.
        payload: Raw,
        /// What one could do about it.
        action_hint: Raw,
    }
}

/// The end of a subscription that the subscriber did not ask for.
#[must_use]
pub fn terminated(subscription_id: &str, reason: &str, timestamp: &str) -> Raw {
    Edit::empty()
        .set("type", Raw::string("subscription_terminated"))
        .set("subscription_id", Raw::string(subscription_id))
        .set("reason", Raw::string(reason))
        .set("timestamp", Raw::string(timestamp))
        .finish()
}

/// The parameters of a subscription: as they are, or inside the `subscribe` object of the proposal's own example.
#[must_use]
pub fn unwrapped(params: &Raw) -> Raw {
    params.member("subscribe").unwrap_or_else(|| params.clone())
}
