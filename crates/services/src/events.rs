//! Events (MGP 13, proposal 15): what happens in the kernel and at its servers, told to those who subscribed.
//!
//! One bus carries all events. A task takes them off it, finds the subscriptions that want them, and tells each in its
//! own dialect. Where a client cannot be told (a modern one without a stream of its own), events wait to be asked for.
//! Who may hear of an event is decided when it is told, not when somebody subscribed.

mod own;
mod requests;
mod upstream;

pub use requests::{NewSubscription, on_stream};

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use switchboard_bus::{Audience, Bus, Event, Heard, Local, SeenEvents};
use switchboard_flow::subscription::{Book, Offered, SubscriptionLimits, WantedEvents};
use switchboard_peer::Remote;
use switchboard_protocol::mcp::meta;
use switchboard_protocol::mgp::event::{Event as MgpEvent, TERMINATED};
use switchboard_protocol::proposals::push::{self, PushEvent};
use switchboard_protocol::{Fault, mgp};
use switchboard_wire::{Edit, Notification, Raw};
use tokio::time::Instant;

use crate::house::{AccessRights, BackgroundWork, EventHouse, Requester, ServerDirectory, Setup};

/// Ids that are remembered, to tell an event that comes again.
const REMEMBERED: usize = 16_384;
/// How many events may lead to one another.
const DEEPEST: u32 = 10;
/// From here on it is odd.
const DEEP: u32 = 5;
/// How long the task waits where nothing ends.
const IDLE: Duration = Duration::from_secs(3600);

/// In which words a subscription is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Mgp,
    Proposal,
}

/// Where the events of a subscription go.
struct Listener {
    /// Who subscribed: what the session tokens that were shown then do not cover is not told.
    who: Requester,
    /// What the subscriber calls the subscription.
    name: Arc<str>,
    /// Where events are sent; none where they must be asked for.
    push: OnceLock<Arc<dyn Remote>>,
    /// The number of the last event that was sent.
    sent: AtomicU64,
    /// The stream of a modern client that they are sent on.
    stream: Option<Raw>,
    dialect: Dialect,
}

/// Subscriptions and the bus.
pub struct Events {
    bus: Arc<dyn Bus>,
    book: Mutex<Book<Event>>,
    listeners: Mutex<HashMap<Arc<str>, Arc<Listener>>>,
    upstream: upstream::UpstreamSubscriptions,
    /// How many subscriptions there are: while none, nobody makes events.
    wanted: AtomicUsize,
    pumping: AtomicBool,
    changed: tokio::sync::Notify,
    next: AtomicU64,
    process: OnceLock<String>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            bus: Arc::new(Local::default()),
            book: Mutex::new(Book::new(SubscriptionLimits::default())),
            listeners: Mutex::default(),
            upstream: upstream::UpstreamSubscriptions::default(),
            wanted: AtomicUsize::new(0),
            pumping: AtomicBool::new(false),
            changed: tokio::sync::Notify::new(),
            next: AtomicU64::new(1),
            process: OnceLock::new(),
        }
    }
}

impl Events {
    /// Whether anybody wants events at all.
    pub(crate) fn are_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn new_id(&self) -> Arc<str> {
        let process = self.process.get_or_init(switchboard_peer::random_token);
        format!("{process}-{}", self.next.fetch_add(1, Ordering::Relaxed)).into()
    }

    /// Tells an event.
    pub(crate) fn publish(&self, event: Event) {
        if event.depth > DEEPEST {
            tracing::warn!(channel = %event.channel, "events lead to one another without end: this one is dropped");
            return;
        }
        if event.depth > DEEP {
            tracing::warn!(channel = %event.channel, depth = event.depth, "events lead to one another");
        }
        self.bus.publish(event);
    }
}

/// Subscriptions, and who may hear of what.
pub struct EventService<H: ?Sized> {
    house: Arc<H>,
    events: Arc<Events>,
}

impl<H: ?Sized> Clone for EventService<H> {
    fn clone(&self) -> Self {
        Self { house: self.house.clone(), events: self.events.clone() }
    }
}

impl EventService<dyn EventHouse> {
    /// That of a house.
    #[must_use]
    pub fn of<H: Setup + EventHouse + ?Sized>(house: &H) -> Self {
        Self { house: house.shared(), events: house.services().events.clone() }
    }
}

impl<H: ServerDirectory + AccessRights + BackgroundWork + ?Sized + 'static> EventService<H> {
    /// Takes events off the bus until the kernel ends. Begun with the first subscription.
    fn pump_events(&self) {
        if self.events.pumping.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut feed = self.events.bus.listen();
        let service = self.clone();
        self.house.spawn(Box::pin(async move {
            let mut seen = SeenEvents::new(REMEMBERED);
            loop {
                let end = service.events.book.lock().next_end();
                let end = end.map_or_else(|| Instant::now() + IDLE, Instant::from_std);
                let heard = tokio::select! {
                    heard = feed.next() => heard,
                    () = tokio::time::sleep_until(end) => {
                        let ended = service.events.book.lock().expire(Instant::now().into_std());
                        service.ended(ended, "expired");
                        continue;
                    }
                    () = service.events.changed.notified() => continue,
                    () = service.house.closing().cancelled() => break,
                };
                match heard {
                    Some(Heard::Event(event)) if seen.is_new(&event.id) => service.dispatch(&event),
                    Some(Heard::Event(_)) => {}
                    // The numbers of the subscriptions have no gap, so nobody is told of it but the operator.
                    Some(Heard::Missed(count)) => tracing::warn!(count, "events came faster than they could be told"),
                    None => break,
                }
            }
            let ended = service.events.book.lock().remove_all(|_| true);
            service.ended(ended, "shutdown");
        }));
    }

    /// Tells an event to those who want it and may hear of it.
    fn dispatch(&self, event: &Arc<Event>) {
        let offered = Offered {
            channel: &event.channel,
            severity: event.severity,
            server: event.server.as_deref(),
            via: event.via.as_deref(),
            data: &event.data,
        };
        let weight = event.data.as_bytes().len() + 256;
        let listener = |id: &Arc<str>| self.events.listeners.lock().get(id).cloned();
        let may_hear = |id: &Arc<str>, _: &WantedEvents| {
            listener(id).is_some_and(|listener| self.may_hear(&listener.who, &event.audience))
        };
        let deliveries = self.events.book.lock().offer(&offered, event, weight, may_hear);
        for delivery in deliveries {
            if let Some(listener) = listener(&delivery.id) {
                listener.tell(delivery.seq, event);
            }
        }
    }

    /// Whether an event may be told to somebody now.
    fn may_hear(&self, who: &Requester, audience: &Audience) -> bool {
        let session = &who.session;
        let identity = &session.identity;
        if identity.ended.is_cancelled() {
            return false;
        }
        match audience {
            Audience::Everybody => true,
            Audience::Operators => self.house.sees_all(who),
            Audience::OperatorsOf { server, tool } => {
                let decides = identity.admin && who.tokens.is_empty();
                decides && self.house.is_covered(who, Some(server.as_ref()), tool.as_deref())
            }
            Audience::Doer { principal, server, tool } => {
                (identity.admin || session.principal == *principal)
                    && self.house.is_covered(who, server.as_deref(), tool.as_deref())
            }
            Audience::Some { principals, .. }
                if !identity.admin && !principals.iter().any(|name| **name == *session.principal) =>
            {
                false
            }
            Audience::Server(id) | Audience::Some { server: id, .. } => {
                self.house.server(id).is_some_and(|server| self.house.latest_entitlements().knows(who, &server))
            }
        }
    }

    /// Closes the books on subscriptions that ended by themselves, and tells those who had them.
    fn ended(&self, ended: Vec<(Arc<str>, WantedEvents)>, reason: &str) {
        for (id, wanted) in ended {
            let listener = self.forget_listener(&id, &wanted);
            let Some(listener) = listener else { continue };
            if let Some(remote) = listener.push.get() {
                let _ = remote.notify(listener.terminated(reason));
            }
        }
    }

    fn forget_listener(&self, id: &Arc<str>, wanted: &WantedEvents) -> Option<Arc<Listener>> {
        let listener = self.events.listeners.lock().remove(id);
        if listener.is_some() {
            self.events.wanted.fetch_sub(1, Ordering::Relaxed);
        }
        self.release_upstream(wanted);
        listener
    }

    /// A session, or a stream, has ended: its subscriptions end with it.
    pub fn end_subscriptions_of(&self, owner: &str) {
        if !self.events.are_wanted() {
            return;
        }
        let ended = self.events.book.lock().end_of(owner);
        for (id, wanted) in ended {
            let _ = self.forget_listener(&id, &wanted);
        }
    }
}

impl Listener {
    /// Sends an event, once. One that is too slow finds a gap in its numbers, and asks for what it missed.
    fn tell(&self, seq: u64, event: &Event) {
        let Some(remote) = self.push.get() else { return };
        if self.sent.fetch_max(seq, Ordering::AcqRel) < seq {
            let _ = remote.notify(self.notification(seq, event));
        }
    }

    fn notification(&self, seq: u64, event: &Event) -> Notification {
        let said = self.said(seq, event);
        let name = match self.dialect {
            Dialect::Mgp => mgp::method::EVENT,
            Dialect::Proposal => push::EVENT,
        };
        self.on_stream(Notification::new(name, Some(said)))
    }

    /// The event in the words of the subscription.
    fn said(&self, seq: u64, event: &Event) -> Raw {
        let id = &*self.name;
        let at = format!("{:.3}", event.at);
        match self.dialect {
            Dialect::Mgp => {
                let said = MgpEvent::new(id, event.channel.as_ref(), at)
                    .data(event.data.clone())
                    .severity(event.severity)
                    .event_id(event.id.as_ref())
                    .seq(seq);
                let said = match &event.server {
                    Some(server) => said.server_id(server.as_ref()),
                    None => said,
                };
                Raw::from_value(&said).unwrap_or_else(|_| Raw::empty_object())
            }
            Dialect::Proposal => {
                let said = PushEvent::new("event", id, event.channel.as_ref(), at).payload(event.data.clone());
                let said = Raw::from_value(&said).unwrap_or_else(|_| Raw::empty_object());
                let edit = Edit::of(&said).unwrap_or_else(|_| Edit::empty());
                edit.set("sequence", Raw::number(seq)).set("event_id", Raw::string(&event.id)).finish()
            }
        }
    }

    fn terminated(&self, reason: &str) -> Notification {
        let id = &*self.name;
        let at = format!("{:.3}", Timestamp::now());
        let notification = match self.dialect {
            Dialect::Mgp => {
                let data = Edit::empty().set("reason", Raw::string(reason)).finish();
                let said = Edit::empty()
                    .set("subscription_id", Raw::string(id))
                    .set("channel", Raw::string(TERMINATED))
                    .set("timestamp", Raw::string(&at))
                    .set("data", data)
                    .finish();
                Notification::new(mgp::method::EVENT, Some(said))
            }
            Dialect::Proposal => Notification::new(push::TERMINATED, Some(push::terminated(id, reason, &at))),
        };
        self.on_stream(notification)
    }

    /// What is sent on a stream that a modern client opened names the stream.
    fn on_stream(&self, notification: Notification) -> Notification {
        let Some(stream) = &self.stream else { return notification };
        let edit = Edit::of_optional(notification.params.as_ref())
            .and_then(|edit| edit.within("_meta", |meta| meta.set(meta::SUBSCRIPTION_ID, stream.clone())));
        Notification { params: edit.ok().map(Edit::finish), ..notification }
    }
}

fn refused(refused: switchboard_flow::subscription::Refused) -> Fault {
    Fault::new(switchboard_protocol::fault::FaultKind::ResourceExhausted, refused.to_string())
        .suggest("end subscriptions that you do not need")
}
