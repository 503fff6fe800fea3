//! Who gets which events (MGP 13.2, proposal 15): patterns, filters, numbers, time, and what can be asked for again.
//!
//! The book does not know what an event is beyond what it is matched by, nor how it reaches anybody. Each subscription
//! counts its own events from 1 on, and keeps the last of them for who missed some. Everything is bounded: how many
//! there are, of one principal and altogether, for how long, and what they keep.

mod filter;
mod pattern;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use filter::Filter;
pub use pattern::Pattern;

use switchboard_protocol::mgp::event::Severity;
use switchboard_wire::Raw;

/// How much there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriptionLimits {
    /// Subscriptions altogether.
    pub subscriptions: usize,
    /// Of one principal.
    pub of_one: usize,
    /// Patterns of one subscription.
    pub patterns: usize,
    /// Events that one keeps.
    pub events: usize,
    /// Bytes that all keep together. Events that several keep count for each.
    pub bytes: usize,
    /// The longest life.
    pub longest: Duration,
}

impl Default for SubscriptionLimits {
    fn default() -> Self {
        Self {
            subscriptions: 16_384,
            of_one: 256,
            patterns: 64,
            events: 1_000,
            bytes: 64 << 20,
            longest: Duration::from_secs(24 * 3600),
        }
    }
}

/// What is subscribed to.
#[derive(Debug, Clone)]
pub struct WantedEvents {
    /// Who subscribes.
    pub principal: Arc<str>,
    /// What the subscription ends with, where it ends with something: a session, a stream.
    pub owner: Option<Arc<str>>,
    /// From which channels.
    pub patterns: Vec<Pattern>,
    /// Which events of them.
    pub filter: Filter,
    /// Only those of this server.
    pub server: Option<Arc<str>>,
    /// For how long.
    pub life: Option<Duration>,
}

/// Why there is no subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There are too many.
    #[error("there are too many subscriptions")]
    TooMany,
    /// This principal has too many.
    #[error("you have too many subscriptions")]
    TooManyOfYours,
    /// It names too many channels.
    #[error("a subscription may not name so many channels")]
    TooManyPatterns,
}

/// What an event is matched by.
#[derive(Debug, Clone, Copy)]
pub struct Offered<'a> {
    /// Where it comes from.
    pub channel: &'a str,
    /// How serious it is.
    pub severity: Severity,
    /// Which server told of it.
    pub server: Option<&'a str>,
    /// The pattern for which it was asked of that server. Only who asked for just that gets it, so that a server that
    /// was asked for two patterns, and tells of one event twice, is not heard twice.
    pub via: Option<&'a str>,
    /// What happened.
    pub data: &'a Raw,
}

/// One subscription that is to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Which.
    pub id: Arc<str>,
    /// The number of the event in it.
    pub seq: u64,
}

/// Events that came after a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed<T> {
    /// With their numbers.
    pub events: Vec<(u64, Arc<T>)>,
    /// Whether there are more.
    pub has_more: bool,
    /// Whether some are gone.
    pub truncated: bool,
}

/// One subscription.
#[derive(Debug)]
pub struct Subscription<T> {
    /// What it was made for.
    pub wanted: WantedEvents,
    expires: Option<Instant>,
    seq: u64,
    kept: VecDeque<(u64, Arc<T>, usize)>,
}

impl<T> Subscription<T> {
    fn takes(&self, offered: &Offered<'_>) -> bool {
        if self.wanted.server.is_some() && self.wanted.server.as_deref() != offered.server {
            return false;
        }
        let first = self.wanted.patterns.iter().find(|pattern| pattern.matches(offered.channel));
        let Some(first) = first else { return false };
        let ours = offered.via.is_none_or(|via| first.as_str() == via);
        ours && self.wanted.filter.passes(offered.severity, offered.data)
    }
}

/// All subscriptions.
#[derive(Debug)]
pub struct Book<T> {
    limits: SubscriptionLimits,
    all: HashMap<Arc<str>, Subscription<T>>,
    /// Subscriptions by how a pattern of theirs begins; `*` for any.
    by_head: HashMap<String, BTreeSet<Arc<str>>>,
    bytes: usize,
}

impl<T> Book<T> {
    /// An empty one.
    #[must_use]
    pub fn new(limits: SubscriptionLimits) -> Self {
        Self { limits, all: HashMap::new(), by_head: HashMap::new(), bytes: 0 }
    }

    /// How many subscriptions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Bytes that are kept.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a subscription under this name; answers how long it holds.
    ///
    /// # Errors
    /// There are too many.
    pub fn subscribe(&mut self, id: Arc<str>, wanted: WantedEvents, now: Instant) -> Result<Option<Duration>, Refused> {
        if wanted.patterns.len() > self.limits.patterns {
            return Err(Refused::TooManyPatterns);
        }
        if self.all.len() >= self.limits.subscriptions {
            return Err(Refused::TooMany);
        }
        let own = self.all.values().filter(|other| other.wanted.principal == wanted.principal).count();
        if own >= self.limits.of_one {
            return Err(Refused::TooManyOfYours);
        }
        let life = wanted.life.map(|life| life.min(self.limits.longest));
        for pattern in &wanted.patterns {
            self.by_head.entry(pattern.head().to_owned()).or_default().insert(id.clone());
        }
        let expires = life.map(|life| now + life);
        self.all.insert(id, Subscription { wanted, expires, seq: 0, kept: VecDeque::new() });
        Ok(life)
    }

    /// One subscription of this principal.
    #[must_use]
    pub fn get(&self, id: &str, principal: &str) -> Option<&Subscription<T>> {
        self.all.get(id).filter(|subscription| &*subscription.wanted.principal == principal)
    }

    /// Whether there is a subscription of this name, whoever has it.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.all.contains_key(id)
    }

    /// Ends a subscription of this principal.
    pub fn unsubscribe(&mut self, id: &str, principal: &str) -> Option<WantedEvents> {
        self.get(id, principal)?;
        self.remove(id)
    }

    /// Ends a subscription.
    pub fn remove(&mut self, id: &str) -> Option<WantedEvents> {
        let subscription = self.all.remove(id)?;
        for pattern in &subscription.wanted.patterns {
            if let Some(ids) = self.by_head.get_mut(pattern.head()) {
                ids.remove(id);
                if ids.is_empty() {
                    self.by_head.remove(pattern.head());
                }
            }
        }
        self.bytes -= subscription.kept.iter().map(|(_, _, weight)| weight).sum::<usize>();
        Some(subscription.wanted)
    }

    /// Ends everything that ends with this.
    pub fn end_of(&mut self, owner: &str) -> Vec<(Arc<str>, WantedEvents)> {
        self.remove_all(|subscription| subscription.wanted.owner.as_deref() == Some(owner))
    }

    /// Ends what is past its time.
    pub fn expire(&mut self, now: Instant) -> Vec<(Arc<str>, WantedEvents)> {
        self.remove_all(|subscription| subscription.expires.is_some_and(|end| now >= end))
    }

    /// Ends all for which this holds.
    pub fn remove_all(&mut self, ends: impl Fn(&Subscription<T>) -> bool) -> Vec<(Arc<str>, WantedEvents)> {
        let ended: Vec<_> = self.all.iter().filter(|(_, one)| ends(one)).map(|(id, _)| id.clone()).collect();
        ended.into_iter().filter_map(|id| self.remove(&id).map(|wanted| (id, wanted))).collect()
    }

    /// When the next one is past its time.
    #[must_use]
    pub fn next_end(&self) -> Option<Instant> {
        self.all.values().filter_map(|subscription| subscription.expires).min()
    }

    /// Offers an event to all whom `may_hear` lets have it: those that take it count and keep it.
    pub fn offer(
        &mut self,
        offered: &Offered<'_>,
        event: &Arc<T>,
        weight: usize,
        may_hear: impl Fn(&Arc<str>, &WantedEvents) -> bool,
    ) -> Vec<Delivery> {
        let head = offered.channel.split('.').next().unwrap_or_default();
        let mut ids: BTreeSet<Arc<str>> = self.by_head.get(head).cloned().unwrap_or_default();
        ids.extend(self.by_head.get("*").into_iter().flatten().cloned());
        let mut deliveries = Vec::new();
        for id in ids {
            let Some(subscription) = self.all.get_mut(&id) else { continue };
            if !subscription.takes(offered) || !may_hear(&id, &subscription.wanted) {
                continue;
            }
            subscription.seq += 1;
            subscription.kept.push_back((subscription.seq, event.clone(), weight));
            self.bytes += weight;
            while subscription.kept.len() > self.limits.events
                || (self.bytes > self.limits.bytes && !subscription.kept.is_empty())
            {
                if let Some((_, _, weight)) = subscription.kept.pop_front() {
                    self.bytes -= weight;
                }
            }
            deliveries.push(Delivery { id, seq: subscription.seq });
        }
        deliveries
    }

    /// The events of a subscription after a number. Who asks keeps it alive.
    pub fn replay(&mut self, id: &str, principal: &str, after: u64, limit: usize, now: Instant) -> Option<Replayed<T>> {
        let longest = self.limits.longest;
        let subscription = self.all.get_mut(id).filter(|subscription| &*subscription.wanted.principal == principal)?;
        if let Some(life) = subscription.wanted.life {
            subscription.expires = Some(now + life.min(longest));
        }
        let first = subscription.kept.front().map_or(subscription.seq + 1, |(seq, ..)| *seq);
        let newer = subscription.kept.iter().filter(|(seq, ..)| *seq > after);
        let events: Vec<_> = newer.clone().take(limit).map(|(seq, event, _)| (*seq, event.clone())).collect();
        let has_more = newer.count() > events.len();
        Some(Replayed { events, has_more, truncated: after + 1 < first && after < subscription.seq })
    }
}
