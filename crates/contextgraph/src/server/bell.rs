//! Events (MGP 13): what happens in the memory, told to those who subscribed and may hear of it.
//!
//! An event of a space is heard by who may use the space. A kernel that subscribes in its owner's name hears of all, and is
//! told whose each event is. Telling never waits; who does not take its events loses them, and sees it by their numbers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_sdk::mgp::event::{Severity, SubscribeParams, SubscribeResult, UnsubscribeParams};
use switchboard_sdk::{Ctx, Error, Raw};
use switchboard_wire::Notification;

use super::{MemoryServer, SpaceSharing};
use crate::engine::SpaceEvent;

/// Everything that is told.
pub const CHANNELS: [&str; 14] = [
    "memory.stored",
    "memory.updated",
    "memory.erased",
    "memory.removed",
    "memory.restored",
    "memory.consolidated",
    "memory.broadcast",
    "system.dream.started",
    "system.dream.completed",
    "system.dream.aborted",
    "system.dream.suggested",
    "system.north_star.set",
    "system.drift.severe",
    "system.identity.critical",
];
/// The method of an event.
const EVENT: &str = "notifications/mgp.event";
/// Subscriptions at a time, and channels in each.
const MAX_SUBSCRIPTIONS: usize = 1_024;
const MOST_CHANNELS: usize = 64;

/// Sends to whoever subscribed; `false` if nobody is there any more.
type Tell = Box<dyn Fn(Notification) -> bool + Send + Sync>;

struct Subscription {
    id: String,
    principal: String,
    session: String,
    patterns: Vec<String>,
    /// Events so far.
    seq: u64,
    is_there: Box<dyn Fn() -> bool + Send + Sync>,
    tell: Tell,
}

/// Who wants to hear of what.
#[derive(Default)]
pub(super) struct Bell {
    subscriptions: Mutex<Vec<Subscription>>,
    /// What was given a number so far: subscriptions and events.
    numbers: AtomicU64,
}

/// The bell of one space.
pub(super) struct Chime {
    pub(super) bell: Arc<Bell>,
    pub(super) sharing: SpaceSharing,
    pub(super) default_space: String,
    pub(super) space: String,
    /// Whose own space it is, once that one has called.
    pub(super) belongs_to: OnceLock<String>,
}

impl Bell {
    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }
}

impl Chime {
    /// Tells of what happened in the space at a time, in milliseconds since 1970.
    pub(super) fn ring(&self, events: &[SpaceEvent], at: u64) {
        if events.is_empty() || self.bell.subscriptions.lock().is_empty() {
            return;
        }
        let time = i64::try_from(at).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        let time = format!("{:.3}", time.unwrap_or_default());
        let belongs_to = self.belongs_to.get().map(String::as_str);
        let principals = self.sharing.hear_of(&self.default_space, &self.space, belongs_to);
        for event in events {
            let mut data = event.data.clone();
            if let Value::Object(data) = &mut data {
                data.insert("space".to_owned(), self.space.as_str().into());
            }
            let mut said = json!({
                "channel": event.name,
                "timestamp": time,
                "severity": severity(event.name),
                "event_id": format!("{at}-{}", self.bell.number()),
                "data": data,
            });
            if let Some(principals) = &principals {
                said["_mgp"] = json!({"principals": principals});
            }
            let may_hear =
                |principal: &str| self.sharing.space_of(&self.default_space, principal, Some(&self.space)).is_ok();
            self.bell.subscriptions.lock().retain_mut(|wanted| {
                if !(wanted.is_there)() {
                    return false;
                }
                let meant = wanted.patterns.iter().any(|pattern| matches(pattern, event.name));
                if !meant || !may_hear(&wanted.principal) {
                    return true;
                }
                wanted.seq += 1;
                said["subscription_id"] = wanted.id.as_str().into();
                said["_mgp.seq"] = wanted.seq.into();
                Raw::from_value(&said).is_ok_and(|said| (wanted.tell)(Notification::new(EVENT, Some(said))))
            });
        }
    }
}

fn severity(channel: &str) -> Severity {
    match channel {
        "system.drift.severe" | "system.identity.critical" => Severity::Warning,
        _ => Severity::Info,
    }
}

/// Whether a channel is meant: `*` is one part of a name, at the end all the rest.
fn matches(pattern: &str, channel: &str) -> bool {
    let (mut wanted, mut parts) = (pattern.split('.').peekable(), channel.split('.'));
    while let Some(want) = wanted.next() {
        match parts.next() {
            None => return false,
            Some(_) if want == "*" && wanted.peek().is_none() => return true,
            Some(part) if want == "*" || want == part => {}
            Some(_) => return false,
        }
    }
    parts.next().is_none()
}

impl MemoryServer {
    /// Answers `mgp/events/subscribe`.
    pub(super) fn subscribe(&self, ctx: &Ctx, params: &Raw) -> Result<Raw, Error> {
        let said: SubscribeParams = params.view()?;
        if said.channels.is_empty() || said.channels.len() > MOST_CHANNELS {
            return Err(Error::invalid_params(format!("name 1 to {MOST_CHANNELS} channels, such as `memory.*`")));
        }
        let session = &ctx.context().session;
        if !session.lasting {
            let message =
                "events need a connection that lasts: use standard streams, a session, or a kernel in between";
            return Err(Error::invalid_params(message));
        }
        let had = |pattern: &String| CHANNELS.iter().any(|channel| matches(pattern, channel));
        let (subscribed, unsupported): (Vec<_>, Vec<_>) = said.channels.into_iter().partition(had);
        let id = format!("sub-{}", self.0.bell.number());
        if !subscribed.is_empty() {
            let (here, there) = (Arc::downgrade(session), Arc::downgrade(session));
            let wanted = Subscription {
                id: id.clone(),
                principal: ctx.principal().to_owned(),
                session: session.id.as_ref().to_owned(),
                patterns: subscribed.clone(),
                seq: 0,
                is_there: Box::new(move || here.strong_count() > 0),
                // A full queue loses the event, not the subscription.
                tell: Box::new(move |event| {
                    there.upgrade().is_some_and(|session| {
                        let _ = session.remote().notify(event);
                        true
                    })
                }),
            };
            let mut all = self.0.bell.subscriptions.lock();
            all.retain(|wanted| (wanted.is_there)());
            if all.len() >= MAX_SUBSCRIPTIONS {
                return Err(Error::msg(format!("there are {MAX_SUBSCRIPTIONS} subscriptions already: end some")));
            }
            all.push(wanted);
        }
        let push = !subscribed.is_empty();
        Ok(Raw::from_value(&SubscribeResult::new(subscribed, unsupported, id).push(push))?)
    }

    /// Answers `mgp/events/unsubscribe`.
    pub(super) fn unsubscribe(&self, ctx: &Ctx, params: &Raw) -> Result<Raw, Error> {
        let said: UnsubscribeParams = params.view()?;
        let mut all = self.0.bell.subscriptions.lock();
        let before = all.len();
        let own = |wanted: &Subscription| wanted.session == *ctx.context().session.id;
        all.retain(|wanted| !(wanted.id == said.subscription_id && own(wanted)));
        if all.len() == before {
            return Err(Error::invalid_params("there is no such subscription"));
        }
        Ok(Raw::from_value(&json!({"subscription_id": said.subscription_id, "unsubscribed": true}))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pattern_means() {
        for (pattern, channel, meant) in [
            ("*", "memory.stored", true),
            ("memory.*", "memory.stored", true),
            ("memory.stored", "memory.stored", true),
            ("memory.stored", "memory.removed", false),
            ("memory", "memory.stored", false),
            ("memory.*", "system.dream.started", false),
            ("system.*", "system.dream.started", true),
            ("system.dream.*", "system.dream.started", true),
            ("*.dream.started", "system.dream.started", true),
            ("*.started", "system.dream.started", false),
            ("system.*.started", "system.dream.started", true),
            ("memory.stored.*", "memory.stored", false),
            ("", "memory.stored", false),
        ] {
            assert_eq!(matches(pattern, channel), meant, "{pattern} {channel}");
        }
    }
}
