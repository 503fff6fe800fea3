//! Events that one subscribes to (MGP 13.2, 13.3 and 13.5), with the numbers and the replay of later versions.

#[cfg(test)]
mod tests;

use std::fmt;

use switchboard_wire::Raw;

words! {
    /// How serious an event is. Later ones are more serious.
    Severity {
        /// Worth knowing.
        Info = "info" | "debug" | "notice",
        /// Something may go wrong.
        Warning = "warning" | "warn",
        /// Something went wrong.
        Error = "error" | "critical" | "alert" | "emergency",
    }
}
words_on_wire!(Severity);

/// The member of an event that counts those of one subscription. It stands in the parameters themselves.
pub const SEQ: &str = "_mgp.seq";

/// What the last event of a subscription that the kernel ended is about.
pub const TERMINATED: &str = "system.subscription_terminated";

view! { "snake_case";
    /// The parameters of `mgp/events/subscribe`.
    SubscribeParams {
        /// Names or patterns of channels: `model.*`.
        channels: Vec<String>,
        ;
        /// Which events of them. `min_severity` is known; every other member must stand in the event's data.
        filter: Raw,
        /// Only those of this server.
        server_id: String,
        /// For how long, in seconds (proposal 15).
        ttl_seconds: u64,
    }
}

view! { "snake_case";
    /// The result of `mgp/events/subscribe`.
    SubscribeResult {
        /// The channels that events can come from.
        subscribed: Vec<String>,
        /// The channels that nobody has.
        unsupported: Vec<String>,
        /// What names the subscription.
        subscription_id: String,
        ;
        /// The same as `subscribed`, under the name of later versions.
        channels: Vec<String>,
        /// Until when it holds, in RFC 3339.
        expires_at: String,
        /// Whether events are sent. Where they are not, they are to be asked for.
        push: bool,
        /// How often to ask then.
        poll_interval_seconds: u64,
    }
}

view! { "snake_case";
    /// The parameters of `mgp/events/unsubscribe`.
    UnsubscribeParams {
        /// What names the subscription.
        subscription_id: String,
        ;
    }
}

view! { "snake_case";
    /// One event (MGP 13.3).
    Event {
        /// The subscription that it is for.
        subscription_id: String,
        /// Where it comes from.
        channel: String,
        /// When it happened, in RFC 3339.
        timestamp: String,
        ;
        /// What happened.
        data: Raw,
        /// How serious it is.
        severity: Severity,
        /// The server that said so.
        server_id: String,
        /// What names it: the same event has it in every subscription.
        event_id: String,
        /// Its number in the subscription.
        #[serde(rename = "_mgp.seq")]
        seq: u64,
    }
}

view! { "snake_case";
    /// The parameters of `mgp.events.replay`.
    ReplayParams {
        /// What names the subscription.
        subscription_id: String,
        ;
        /// The number of the last event that arrived.
        after_seq: u64,
        /// How many at most.
        limit: u64,
    }
}

view! { "snake_case";
    /// The events that came after that one.
    ReplayResult {
        /// The events, in their order.
        events: Vec<Raw>,
        /// Whether there are more.
        has_more: bool,
        /// Whether some are gone for good.
        truncated: bool,
        ;
    }
}
