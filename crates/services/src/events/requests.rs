//! What a client asks about events: to subscribe, to end that, to have events again (MGP 13.2, proposal 15).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use switchboard_flow::subscription::{Filter, Pattern, Replayed, WantedEvents};
use switchboard_peer::{Context, Remote};
use switchboard_protocol::Era;
use switchboard_protocol::fault::{Fault, FaultKind, readable};
use switchboard_protocol::mgp::event::{
    ReplayParams, ReplayResult, SubscribeParams, SubscribeResult, UnsubscribeParams,
};
use switchboard_protocol::mgp::{Agreement, Extension};
use switchboard_protocol::proposals::push::{PushSubscribe, PushSubscribed, unwrapped};
use switchboard_upstream::Server;
use switchboard_wire::{Edit, Kind, Raw};
use tokio::time::Instant;

use super::{Dialect, EventService, Listener, own, refused};
use crate::house::{AccessRights, BackgroundWork, ServerDirectory};

/// How often to ask where events are not sent.
const POLL_SECONDS: u64 = 10;
/// How long a subscription lives that nothing else ends, unless its events are asked for.
const UNTENDED: Duration = Duration::from_secs(600);
/// Events that are given at once, where nobody says how many.
const PAGE: u64 = 100;
/// The most that are.
const LARGEST_PAGE: u64 = 1_000;

/// The longest name that a subscriber may choose.
const MAX_NAME_BYTES: usize = 128;

/// A subscription that was made.
#[derive(Debug)]
pub struct NewSubscription {
    /// Its id.
    pub id: Arc<str>,
    /// What the subscriber calls it.
    name: Arc<str>,
    /// Servers that may tell of it by themselves: they were asked, and agree to nothing.
    unasked: Vec<Arc<str>>,
    subscribed: Vec<String>,
    unsupported: Vec<String>,
    life: Option<Duration>,
    push: bool,
}

/// What somebody wants to subscribe to.
pub(crate) struct Ask {
    pub(crate) channels: Vec<String>,
    pub(crate) filter: Option<Raw>,
    pub(crate) server: Option<String>,
    /// In seconds.
    pub(crate) ttl: Option<u64>,
    /// What the subscriber wants to call it.
    pub(crate) name: Option<String>,
    pub(crate) dialect: Dialect,
    /// The stream of a modern client that the events go to, and what the subscription ends with then.
    pub(crate) stream: Option<(Raw, Arc<str>)>,
}

impl<H: ServerDirectory + AccessRights + BackgroundWork + ?Sized + 'static> EventService<H> {
    /// Answers `mgp/events/subscribe`.
    pub(crate) async fn subscribe(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        // What is sent unasked is only for who agreed on it (MGP 2.4).
        if !Agreement::with_client(&context.caller.capabilities).is_some_and(|said| said.has(Extension::Events)) {
            let text = "events of MGP are for clients that declare its extension `events` or `bidirectional`";
            return Err(Fault::new(FaultKind::MethodNotFound, text));
        }
        let said: SubscribeParams = read(params)?;
        let ask = Ask {
            channels: said.channels,
            filter: said.filter,
            server: said.server_id,
            ttl: said.ttl_seconds,
            name: None,
            dialect: Dialect::Mgp,
            stream: None,
        };
        self.make_subscription(context, ask).await?.to_mgp()
    }

    /// Answers `events/subscribe` of proposal 15.
    pub(crate) async fn subscribe_push(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let said: PushSubscribe = read(&unwrapped(params))?;
        let ask = Ask {
            channels: said.events,
            filter: said.filter,
            server: said.server,
            ttl: Some(said.ttl_seconds.unwrap_or(3_600)),
            name: said.subscription_id,
            dialect: Dialect::Proposal,
            stream: None,
        };
        let made = self.make_subscription(context, ask).await?;
        let (status, reason) = match (made.subscribed.is_empty(), made.unasked.as_slice()) {
            (true, []) => ("denied", Some("nobody has such events".to_owned())),
            (true, unasked) => {
                let text = format!("nobody has agreed to such events; {} may tell of some unasked", unasked.join(", "));
                ("active", Some(text))
            }
            (false, _) => ("active", None),
        };
        if status == "denied" {
            self.drop_subscription(context, &made.name);
        }
        let mut answer = PushSubscribed::new(made.name.as_ref(), status).supported_events(made.subscribed);
        if let Some(life) = made.life {
            answer = answer.expires_at(end_of(life));
        }
        if let Some(reason) = reason {
            answer = answer.reason(reason);
        }
        if !made.push {
            answer = answer.supported(false).poll_interval_seconds(POLL_SECONDS);
        }
        written(&answer)
    }

    /// Makes a subscription.
    pub(crate) async fn make_subscription(&self, context: &Context, ask: Ask) -> Result<NewSubscription, Fault> {
        if ask.channels.is_empty() {
            return Err(Fault::new(FaultKind::InvalidParams, "no channels are named"));
        }
        let read_pattern = |name: &String| {
            Pattern::read(name).ok_or_else(|| {
                Fault::new(FaultKind::InvalidParams, format!("`{name}` is no channel, nor a pattern of some"))
            })
        };
        let patterns: Vec<Pattern> = ask.channels.iter().map(read_pattern).collect::<Result<_, _>>()?;
        let filter = Filter::read(ask.filter.as_ref()).map_err(|why| Fault::new(FaultKind::InvalidParams, why))?;
        let session = &context.session;
        let servers = self.servers_for(context, ask.server.as_deref()).await?;
        // On a modern wire only a stream that the client opened carries what it did not ask for one by one.
        let legacy = context.caller.era() == Era::Legacy && session.lasting;
        let pushed = ask.stream.is_some() || legacy;
        let push = OnceLock::new();
        if ask.stream.is_none() && legacy {
            let _ = push.set(session.remote().clone());
        }
        let owner = match &ask.stream {
            Some((_, owner)) => Some(owner.clone()),
            None => session.lasting.then(|| session.id.clone()),
        };
        let life = ask.ttl.map(Duration::from_secs).or_else(|| owner.is_none().then_some(UNTENDED));
        let wanted = WantedEvents {
            principal: session.principal.clone(),
            owner,
            patterns: patterns.clone(),
            filter,
            server: ask.server.as_deref().map(Arc::from),
            life,
        };
        let (id, name): (Arc<str>, Arc<str>) = match ask.name {
            Some(name) => (chosen(&session.principal, &name)?.into(), name.into()),
            None => {
                let id: Arc<str> = format!("sub-{}", switchboard_peer::random_token()).into();
                (id.clone(), id)
            }
        };
        let listener = Listener {
            who: self.house.requester(context),
            name: name.clone(),
            push,
            sent: AtomicU64::new(0),
            stream: ask.stream.map(|(stream, _)| stream),
            dialect: ask.dialect,
        };
        let life = {
            let mut book = self.events.book.lock();
            if book.has(&id) {
                let text = format!("you have a subscription `{name}` already");
                return Err(Fault::new(FaultKind::InvalidParams, text).suggest("end it first, or choose another name"));
            }
            let life = book.subscribe(id.clone(), wanted, Instant::now().into_std()).map_err(refused)?;
            self.events.listeners.lock().insert(id.clone(), Arc::new(listener));
            self.events.wanted.fetch_add(1, Ordering::Relaxed);
            life
        };
        self.pump_events();
        self.events.changed.notify_one();
        let upstream = self.subscribe_upstream(&servers, &patterns).await;
        let ours =
            |pattern: &Pattern| ask.server.is_none() && own::CHANNELS.iter().any(|channel| pattern.matches(channel));
        let has = |pattern: &Pattern| ours(pattern) || upstream.had.iter().any(|had| had == pattern.as_str());
        let (subscribed, unsupported): (Vec<&Pattern>, Vec<&Pattern>) =
            patterns.iter().partition(|pattern| has(pattern));
        let names = |patterns: Vec<&Pattern>| patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect();
        let (subscribed, unsupported) = (names(subscribed), names(unsupported));
        Ok(NewSubscription { id, name, unasked: upstream.unasked, subscribed, unsupported, life, push: pushed })
    }

    /// Subscribes on behalf of a stream that a modern client opened.
    pub async fn events_on_stream(
        &self,
        context: &Context,
        said: SubscribeParams,
        stream: (Raw, Arc<str>),
    ) -> Result<NewSubscription, Fault> {
        let ask = Ask {
            channels: said.channels,
            filter: said.filter,
            server: said.server_id,
            ttl: said.ttl_seconds,
            name: None,
            dialect: Dialect::Mgp,
            stream: Some(stream),
        };
        self.make_subscription(context, ask).await
    }

    /// Sends the events of a subscription from now on, those that came meanwhile first.
    pub fn send_events_to(&self, id: &Arc<str>, remote: Arc<dyn Remote>) {
        let Some(listener) = self.events.listeners.lock().get(id).cloned() else { return };
        let principal = listener.who.session.principal.clone();
        let replayed = self.events.book.lock().replay(id, &principal, 0, usize::MAX, Instant::now().into_std());
        let _ = listener.push.set(remote);
        for (seq, event) in replayed.iter().flat_map(|replayed| &replayed.events) {
            if self.may_hear(&listener.who, &event.audience) {
                listener.tell(*seq, event);
            }
        }
    }

    /// The servers that a subscription may be about.
    async fn servers_for(&self, context: &Context, named: Option<&str>) -> Result<Vec<Arc<Server>>, Fault> {
        let entitlements = self.house.entitlements().await?;
        let (view, who) = (self.house.view(), self.house.requester(context));
        let usable = view.servers().iter().filter(|server| entitlements.knows(&who, server));
        let servers: Vec<_> =
            usable.filter(|server| named.is_none_or(|named| **server.id() == *named)).cloned().collect();
        match (named, servers.is_empty()) {
            (Some(named), true) => {
                Err(Fault::new(FaultKind::UnknownResource, format!("there is no server `{named}` that you may use")))
            }
            _ => Ok(servers),
        }
    }

    /// Answers `mgp/events/unsubscribe`, and the same of proposal 15.
    pub(crate) fn unsubscribe(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let said: UnsubscribeParams = read(params)?;
        if !self.drop_subscription(context, &said.subscription_id) {
            return Err(self.no_subscription(context, &said.subscription_id));
        }
        Ok(Edit::empty()
            .set("subscription_id", Raw::string(&said.subscription_id))
            .set("status", Raw::string("cancelled"))
            .finish())
    }

    fn drop_subscription(&self, context: &Context, name: &str) -> bool {
        let id = self.subscription_named(context, name);
        let ended = self.events.book.lock().unsubscribe(&id, &context.session.principal);
        ended.is_some_and(|wanted| self.forget_listener(&id, &wanted).is_some())
    }

    /// The subscription that a principal means by a name: one that it chose, or one that was given to it.
    fn subscription_named(&self, context: &Context, name: &str) -> Arc<str> {
        let own = own_name(&context.session.principal, name);
        if self.events.book.lock().has(&own) { own.into() } else { name.into() }
    }

    /// Answers `mgp/events/replay`.
    pub(crate) fn replay(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let said: ReplayParams = read(params)?;
        let id = self.subscription_named(context, &said.subscription_id);
        let replayed = self.replayed(context, &id, &said)?;
        let listener = self.events.listeners.lock().get(&id).cloned();
        let listener = listener.ok_or_else(|| self.no_subscription(context, &said.subscription_id))?;
        let events = replayed.events.iter().map(|(seq, event)| listener.said(*seq, event));
        written(&ReplayResult::new(events.collect::<Vec<_>>(), replayed.has_more, replayed.truncated))
    }

    fn replayed(
        &self,
        context: &Context,
        id: &str,
        said: &ReplayParams,
    ) -> Result<Replayed<switchboard_bus::Event>, Fault> {
        let limit = said.limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (after, now) = (said.after_seq.unwrap_or(0), Instant::now().into_std());
        let mut book = self.events.book.lock();
        let replayed = book.replay(id, &context.session.principal, after, limit, now);
        let known = book.has(id);
        drop(book);
        let mut replayed = replayed.ok_or_else(|| if known { not_yours() } else { no_such(&said.subscription_id) })?;
        // What may not be heard any more is not told again either.
        let who = self.house.requester(context);
        replayed.events.retain(|(_, event)| self.may_hear(&who, &event.audience));
        Ok(replayed)
    }

    fn no_subscription(&self, context: &Context, name: &str) -> Fault {
        let id = self.subscription_named(context, name);
        if self.events.book.lock().has(&id) { not_yours() } else { no_such(name) }
    }
}

impl NewSubscription {
    /// The answer in the words of MGP.
    pub fn to_mgp(&self) -> Result<Raw, Fault> {
        let mut answer = SubscribeResult::new(self.subscribed.clone(), self.unsupported.clone(), self.name.as_ref())
            .channels(self.subscribed.clone());
        if let Some(life) = self.life {
            answer = answer.expires_at(end_of(life));
        }
        if !self.push {
            answer = answer.push(false).poll_interval_seconds(POLL_SECONDS);
        }
        written(&answer)
    }
}

/// What a modern client asks for on a stream of its own.
pub fn on_stream(filter: &Raw) -> Option<Result<SubscribeParams, Fault>> {
    (filter.kind() == Kind::Object).then(|| read(filter))
}

fn end_of(life: Duration) -> String {
    let end = Timestamp::now().checked_add(life).unwrap_or(Timestamp::MAX);
    format!("{end:.0}")
}

fn no_such(id: &str) -> Fault {
    Fault::new(FaultKind::UnknownSubscription, format!("there is no subscription `{id}`"))
}

/// The name of a subscription that its subscriber chose, as it is kept: others may choose the same.
fn own_name(principal: &str, name: &str) -> String {
    format!("{principal}\u{0}{name}")
}

fn chosen(principal: &str, name: &str) -> Result<String, Fault> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
        let text = format!("`subscription_id` must be a name of at most {MAX_NAME_BYTES} bytes");
        return Err(Fault::new(FaultKind::InvalidParams, text));
    }
    Ok(own_name(principal, name))
}

fn not_yours() -> Fault {
    Fault::new(FaultKind::PermissionDenied, "this subscription is not yours")
}

fn read<T: serde::de::DeserializeOwned>(params: &Raw) -> Result<T, Fault> {
    params.view().map_err(|error| Fault::new(FaultKind::InvalidParams, readable(params, &error)))
}

fn written<T: serde::Serialize>(answer: &T) -> Result<Raw, Fault> {
    Raw::from_value(answer).map_err(Fault::internal)
}
