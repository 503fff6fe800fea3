//! What is subscribed to at servers, on behalf of clients.
//!
//! However many clients want a pattern, a server is asked for it once. What it then tells goes to those who named just
//! that pattern.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use switchboard_bus::{Audience, Event};
use switchboard_flow::subscription::{Pattern, WantedEvents};
use switchboard_peer::{Call, Remote};
use switchboard_protocol::mgp::event::{Event as MgpEvent, Severity, SubscribeResult};
use switchboard_protocol::mgp::{Extension, method};
use switchboard_protocol::proposals::push::{self, PushEvent, PushSubscribed};
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_upstream::{Server, SharedConnection};
use switchboard_wire::{Edit, Notification, Raw, code};
use tokio::time::Instant;

use super::EventService;
use crate::house::{AccessRights, BackgroundWork, ServerDirectory};

/// How long a server may take to agree.
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(5);
/// Events that a server may tell in a second, and at once.
const RATE: f64 = 1_000.0;
const BURST: f64 = 2_000.0;
/// Patterns that are asked for at one server.
const MAX_PATTERNS: usize = 1_024;

/// What is asked for at servers: by server and pattern.
#[derive(Default)]
pub(super) struct UpstreamSubscriptions {
    all: Mutex<HashMap<(Arc<str>, String), At>>,
    /// What each server may still tell.
    left: Mutex<HashMap<Arc<str>, (Instant, f64)>>,
}

impl UpstreamSubscriptions {
    /// Whether a server may tell one more event now. One that tells too many must not drown what others tell.
    fn may_tell(&self, server: &Arc<str>) -> bool {
        let mut left = self.left.lock();
        let now = Instant::now();
        let (at, tokens) = left.entry(server.clone()).or_insert((now, BURST));
        *tokens = (*tokens + now.duration_since(*at).as_secs_f64() * RATE).min(BURST);
        *at = now;
        let may = *tokens >= 1.0;
        if may {
            *tokens -= 1.0;
        }
        may
    }

    /// Forgets servers that are not there any more.
    fn forget(&self, there: impl Fn(&str) -> bool) {
        self.left.lock().retain(|server, _| there(server));
    }
}

/// One pattern at one server.
struct At {
    /// What the server calls the subscription, once it agreed.
    theirs: Option<String>,
    wanted: usize,
}

/// In which words a server is asked for events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Mgp,
    Proposal,
}

impl Words {
    fn of(server: &Server) -> Option<Self> {
        server.hub_now().and_then(|hub| Self::on(&hub))
    }

    fn on(hub: &SharedConnection) -> Option<Self> {
        if hub.agreement.as_ref().is_some_and(|agreement| agreement.has(Extension::Events)) {
            return Some(Self::Mgp);
        }
        let declared = proposals::declared(&hub.connected.server.capabilities);
        declared.has(Proposal::SubscribeNotify).then_some(Self::Proposal)
    }
}

/// What a server says to being asked for events.
enum Agreed {
    /// It has them, and calls the subscription so.
    Yes(String),
    No,
    /// It does not know the question, and may tell of events all the same.
    Unasked,
}

/// What servers have of what somebody subscribes to.
#[derive(Debug, Default)]
pub(super) struct Upstream {
    /// The patterns that some server agreed to.
    pub(super) had: Vec<String>,
    /// Servers that tell of events without being asked for them.
    pub(super) unasked: Vec<Arc<str>>,
}

impl<H: ServerDirectory + AccessRights + BackgroundWork + ?Sized + 'static> EventService<H> {
    /// Asks the servers that a subscription may be about for its patterns; answers which of them any server has.
    pub(super) async fn subscribe_upstream(&self, servers: &[Arc<Server>], patterns: &[Pattern]) -> Upstream {
        let asked = servers.iter().filter_map(|server| Some((server, Words::of(server)?)));
        let asks = asked.flat_map(|(server, words)| {
            patterns.iter().map(move |pattern| async move {
                (server, pattern, self.want_at(server, words, pattern.as_str()).await)
            })
        });
        let mut upstream = Upstream::default();
        for (server, pattern, agreed) in futures_util::future::join_all(asks).await {
            match agreed {
                Agreed::Yes(_) => upstream.had.push(pattern.as_str().to_owned()),
                Agreed::No => {}
                Agreed::Unasked => upstream.unasked.push(server.id().clone()),
            }
        }
        upstream.had.sort();
        upstream.had.dedup();
        upstream.unasked.sort();
        upstream.unasked.dedup();
        upstream
    }

    /// Notes that one more wants a pattern at a server, which is asked if nobody wanted it before.
    async fn want_at(&self, server: &Arc<Server>, words: Words, pattern: &str) -> Agreed {
        let key = (server.id().clone(), pattern.to_owned());
        let known = {
            let mut all = self.events.upstream.all.lock();
            let full = all.keys().filter(|(id, _)| id == server.id()).count() >= MAX_PATTERNS;
            match all.get_mut(&key) {
                Some(at) if at.theirs.is_some() => {
                    at.wanted += 1;
                    at.theirs.clone()
                }
                // It was asked before, and may have changed its mind.
                Some(at) => {
                    at.wanted += 1;
                    None
                }
                None if full => return Agreed::No,
                None => {
                    all.insert(key.clone(), At { theirs: None, wanted: 1 });
                    None
                }
            }
        };
        if let Some(known) = known {
            return Agreed::Yes(known);
        }
        let Some(hub) = server.hub_now() else { return Agreed::No };
        let agreed = ask(hub.remote(), words, pattern).await;
        if let (Agreed::Yes(theirs), Some(at)) = (&agreed, self.events.upstream.all.lock().get_mut(&key)) {
            at.theirs = Some(theirs.clone());
        }
        agreed
    }

    /// A subscription has ended: what nobody else wants is given back to the servers.
    pub(super) fn release_upstream(&self, wanted: &WantedEvents) {
        let mut over = Vec::new();
        {
            let mut all = self.events.upstream.all.lock();
            if all.is_empty() {
                return;
            }
            let named = |id: &Arc<str>| wanted.server.is_none() || wanted.server.as_ref() == Some(id);
            all.retain(|(id, pattern), at| {
                let ours = named(id) && wanted.patterns.iter().any(|own| own.as_str() == pattern);
                if ours {
                    at.wanted = at.wanted.saturating_sub(1);
                }
                if at.wanted == 0 {
                    over.extend(at.theirs.take().map(|theirs| (id.clone(), theirs)));
                }
                at.wanted > 0
            });
        }
        for (id, theirs) in over {
            let Some(server) = self.house.server(&id) else { continue };
            let Some((hub, words)) = server.hub_now().zip(Words::of(&server)) else { continue };
            self.house.spawn(Box::pin(async move {
                let params = Edit::empty().set("subscription_id", Raw::string(&theirs)).finish();
                let name = if words == Words::Mgp { method::EVENTS_UNSUBSCRIBE } else { push::UNSUBSCRIBE };
                let mut call = Call::new(name, Some(params)).within(SUBSCRIBE_TIMEOUT);
                call.max_timeout = SUBSCRIBE_TIMEOUT;
                let _ = hub.remote().request(call).await;
            }));
        }
    }

    /// A server has come, or come back: it is asked for everything that is wanted of it.
    pub async fn subscribe_again_at(self, server: &Arc<Server>, hub: &SharedConnection) {
        self.events.upstream.forget(|id| self.house.server(id).is_some());
        let patterns: Vec<String> = {
            let mut all = self.events.upstream.all.lock();
            let own = all.iter_mut().filter(|((id, _), _)| id == server.id());
            own.map(|((_, pattern), at)| {
                at.theirs = None;
                pattern.clone()
            })
            .collect()
        };
        let Some(words) = Words::on(hub) else { return };
        let asks = patterns.into_iter().map(|pattern| async move {
            let agreed = ask(hub.remote(), words, &pattern).await;
            (pattern, agreed)
        });
        // There are no more than a server may be asked for.
        for (pattern, agreed) in futures_util::future::join_all(asks).await {
            let Agreed::Yes(theirs) = agreed else { continue };
            if let Some(at) = self.events.upstream.all.lock().get_mut(&(server.id().clone(), pattern)) {
                at.theirs = Some(theirs);
            }
        }
    }

    /// Takes an event of a server. One that nobody asked for is nobody's.
    pub fn take_event(&self, server: &Arc<Server>, notification: &Notification) {
        if !self.events.are_wanted() || !self.events.upstream.may_tell(server.id()) {
            return;
        }
        let Some(said) = notification.params.as_ref().and_then(|params| params.view::<MgpEvent>().ok()) else { return };
        // A server may have given several patterns one name.
        let vias: Vec<String> = {
            let all = self.events.upstream.all.lock();
            let named = |at: &At| at.theirs.as_deref() == Some(&said.subscription_id);
            let found = all.iter().filter(|((id, _), at)| id == server.id() && named(at));
            let meant = |pattern: &&String| Pattern::read(pattern).is_some_and(|via| via.matches(&said.channel));
            found.map(|((_, pattern), _)| pattern).filter(meant).cloned().collect()
        };
        if vias.is_empty() {
            tracing::debug!(server = %server.id(), channel = said.channel, "an event that nobody asked for");
        }
        let depth = said.extra.get("_mgp").and_then(|mgp| u32::try_from(mgp.get("cascade_depth")?.as_u64()?).ok());
        // A server that keeps principals apart says whose an event is. It can only make fewer hear of it.
        let principals =
            said.extra.get("_mgp").and_then(|mgp| mgp.get("principals")?.as_array()).map(|names| {
                names.iter().filter_map(|name| name.as_str()).map(ToOwned::to_owned).collect::<Vec<String>>()
            });
        let audience = match principals {
            None => Audience::Server(server.id().clone()),
            Some(principals) => Audience::Some { server: server.id().clone(), principals },
        };
        // A server's numbers tell its own repetitions apart.
        let number = said.event_id.clone().or_else(|| said.seq.map(|seq| seq.to_string()));
        for via in vias {
            let id = number.as_ref().map(|number| format!("{}/{}/{via}/{number}", server.id(), said.subscription_id));
            self.events.publish(Event {
                id: id.map_or_else(|| self.events.new_id(), Arc::from),
                channel: said.channel.as_str().into(),
                server: Some(server.id().clone()),
                via: Some(via.into()),
                severity: said.severity.unwrap_or(Severity::Info),
                at: said.timestamp.parse().unwrap_or_else(|_| Timestamp::now()),
                data: said.data.as_ref().map_or_else(Raw::empty_object, Raw::detach),
                audience: audience.clone(),
                depth: depth.unwrap_or(0u32).saturating_add(1),
            });
        }
    }

    /// Takes an event of a server that speaks proposal 15. Such servers tell what they have, asked for or not.
    pub fn take_push(&self, server: &Arc<Server>, notification: &Notification) {
        if !self.events.are_wanted() || !self.events.upstream.may_tell(server.id()) {
            return;
        }
        let Some(said) = notification.params.as_ref().and_then(|params| params.view::<PushEvent>().ok()) else {
            return;
        };
        self.events.publish(Event {
            id: self.events.new_id(),
            channel: said.event.as_str().into(),
            server: Some(server.id().clone()),
            via: None,
            severity: Severity::Info,
            at: said.timestamp.parse().unwrap_or_else(|_| Timestamp::now()),
            data: said.payload.map_or_else(Raw::empty_object, |data| data.detach()),
            audience: Audience::Server(server.id().clone()),
            depth: 1,
        });
    }
}

/// Asks a server for a pattern.
async fn ask(remote: &Arc<dyn Remote>, words: Words, pattern: &str) -> Agreed {
    let names = Raw::array([&Raw::string(pattern)]);
    let (asked, member) = match words {
        Words::Mgp => (method::EVENTS_SUBSCRIBE, "channels"),
        Words::Proposal => (push::SUBSCRIBE, "events"),
    };
    let params = Edit::empty().set(member, names).finish();
    let mut call = Call::new(asked, Some(params)).within(SUBSCRIBE_TIMEOUT);
    call.max_timeout = SUBSCRIBE_TIMEOUT;
    let result = match remote.request(call).await.map(|reply| reply.outcome) {
        Ok(Ok(result)) => result,
        // The proposal leaves its methods open: a server may have none.
        Ok(Err(error)) if words == Words::Proposal && error.code == code::METHOD_NOT_FOUND => return Agreed::Unasked,
        Ok(Err(_)) | Err(_) => return Agreed::No,
    };
    let theirs = match words {
        Words::Mgp => {
            let agreed = result.view::<SubscribeResult>().ok();
            agreed.filter(|agreed| !agreed.subscribed.is_empty()).map(|agreed| agreed.subscription_id)
        }
        Words::Proposal => {
            let agreed = result.view::<PushSubscribed>().ok();
            agreed.filter(|agreed| agreed.status == "active").map(|agreed| agreed.subscription_id)
        }
    };
    theirs.map_or(Agreed::No, Agreed::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_floods_drowns_nobody() {
        let (asked, loud, quiet) = (UpstreamSubscriptions::default(), Arc::from("loud"), Arc::from("quiet"));
        let told = (0..10_000).filter(|_| asked.may_tell(&loud)).count();
        assert_eq!(told, 2_000);
        assert!(asked.may_tell(&quiet));
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!((0..10_000).filter(|_| asked.may_tell(&loud)).count(), 500);
        asked.forget(|server| server == "quiet");
        assert_eq!(asked.left.lock().len(), 1);
    }
}
