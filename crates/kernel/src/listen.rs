//! Who is told of changes: legacy sessions by themselves, modern clients through `subscriptions/listen`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_peer::{Context, Remote, Reply, Session};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::{meta, method};
use switchboard_protocol::mgp::EXTENSION_ID;
use switchboard_wire::{Edit, Notification, Object, Raw, Request};

use crate::directory::{ListKind, LocatedResource};
use crate::gate::Subject;
use crate::gate::request::Asking;
use crate::kernel::Kernel;
use crate::server::Server;
use crate::services;

/// Streams that may be open at once.
const MAX_LISTEN_STREAMS: usize = 10_000;
/// Resources that one stream may watch.
const MOST_URIS: usize = 1_000;

/// How long servers may take to agree to being watched before the stream begins without them.
const WATCH_TIMEOUT: Duration = Duration::from_secs(10);

/// One open `subscriptions/listen`.
struct Listener {
    session: Arc<Session>,
    remote: Arc<dyn Remote>,
    id: Raw,
    kinds: HashSet<ListKind>,
    uris: Uris,
}

impl Listener {
    fn tell(&self, notification: &Notification) {
        let edit = Edit::of_optional(notification.params.as_ref())
            .and_then(|edit| edit.within("_meta", |meta| meta.set(meta::SUBSCRIPTION_ID, self.id.clone())));
        let params = edit.ok().map(Edit::finish);
        let _ = self.remote.notify(Notification { params, ..notification.clone() });
    }
}

/// All open streams.
#[derive(Default)]
pub(crate) struct Listeners {
    open: Mutex<HashMap<u64, Arc<Listener>>>,
    next: AtomicU64,
}

impl Listeners {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.lock().is_empty()
    }

    fn all(&self) -> Vec<Arc<Listener>> {
        self.open.lock().values().cloned().collect()
    }

    /// Tells the streams that asked for changes of a list.
    pub(crate) fn list_changed(&self, kind: ListKind, notification: &Notification) {
        for listener in self.all().iter().filter(|listener| listener.kinds.contains(&kind)) {
            listener.tell(notification);
        }
    }

    /// The same, for the streams of one principal.
    pub(crate) fn list_changed_for(&self, principal: &str, kind: ListKind, notification: &Notification) {
        let own = |listener: &&Arc<Listener>| *listener.session.principal == *principal;
        for listener in self.all().iter().filter(own).filter(|listener| listener.kinds.contains(&kind)) {
            listener.tell(notification);
        }
    }

    /// Tells the streams that watch a resource.
    pub(crate) fn resource_updated(
        &self,
        server: &Arc<str>,
        uri: &str,
        notification: &Notification,
        may_see: impl Fn(&Session) -> bool,
    ) {
        for listener in self.all().iter().filter(|listener| may_see(&listener.session)) {
            if let Some(known) = listener.uris.get(&(server.clone(), uri.to_owned())) {
                listener.tell(&with_uri(notification, known));
            }
        }
    }
}

/// The notification with another URI in it.
pub(crate) fn with_uri(notification: &Notification, uri: &str) -> Notification {
    let edit = Edit::of_optional(notification.params.as_ref()).map(|edit| edit.set("uri", Raw::string(uri)).finish());
    Notification { params: edit.ok(), ..notification.clone() }
}

/// Closes the books on a stream, however it ends.
struct Open<'a> {
    kernel: &'a Kernel,
    key: u64,
    /// What subscriptions to events end with.
    owner: Arc<str>,
    watched: Vec<Key>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.kernel.listeners().open.lock().remove(&self.key);
        self.kernel.event_service().end_subscriptions_of(&self.owner);
        for (server, uri) in self.watched.drain(..) {
            // The server may have been replaced meanwhile.
            if let Some(server) = self.kernel.server(&server) {
                self.kernel.spawn(async move { server.unwatch_resource(&uri).await });
            }
        }
    }
}

impl Kernel {
    /// Answers `subscriptions/listen`: stays until the client goes or the kernel ends.
    pub(crate) async fn listen(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let params =
            request.params.as_ref().ok_or_else(|| Fault::new(FaultKind::InvalidParams, "`params` is missing"))?;
        let filter = params.member("notifications").unwrap_or_else(Raw::empty_object);
        let filter = Object::open(&filter).map_err(Fault::malformed)?;
        let wants = |key: &str| filter.get(key).is_some_and(|raw| raw.as_bytes() == b"true");
        let mut agreed = Edit::empty();
        let mut kinds = HashSet::new();
        for (key, list) in [
            ("toolsListChanged", vec![ListKind::Tools]),
            ("promptsListChanged", vec![ListKind::Prompts]),
            ("resourcesListChanged", vec![ListKind::Resources, ListKind::Templates]),
        ] {
            if wants(key) {
                agreed = agreed.set_optional(key, filter.get(key));
                kinds.extend(list);
            }
        }
        let asked = filter.get("resourceSubscriptions").and_then(|raw| raw.elements()).unwrap_or_default();
        if asked.len() > MOST_URIS {
            return Err(Fault::new(FaultKind::InvalidParams, format!("more than {MOST_URIS} resources in one stream")));
        }
        let key = self.listeners().next.fetch_add(1, Ordering::Relaxed);
        let owner: Arc<str> = format!("stream-{key}").into();
        let mut open = Open { kernel: self, key, owner: owner.clone(), watched: Vec::new() };
        let events = match filter.get(EXTENSION_ID).as_ref().and_then(services::on_stream) {
            Some(said) => Some(
                Box::pin(self.event_service().events_on_stream(context, said?, (request.id.to_raw(), owner))).await?,
            ),
            None => None,
        };
        if let Some(events) = &events {
            agreed = agreed.set(EXTENSION_ID, events.to_mgp()?);
        }
        let (uris, watching) = self.watch_all(context, asked, &mut open).await;
        if !watching.is_empty() {
            agreed = agreed.set("resourceSubscriptions", Raw::array(&watching));
        }
        let session = context.session.clone();
        let listener = Listener { session, remote: context.remote.clone(), id: request.id.to_raw(), kinds, uris };
        let acknowledged = Edit::empty().set("notifications", agreed.finish()).finish();
        {
            // Told under the lock: the acknowledgement comes first, and no change after it is missed.
            let mut listeners = self.listeners().open.lock();
            if listeners.len() >= MAX_LISTEN_STREAMS {
                return Err(Fault::new(FaultKind::ResourceExhausted, "too many streams are open"));
            }
            listener.tell(&Notification::new(method::SUBSCRIPTIONS_ACKNOWLEDGED, Some(acknowledged)));
            listeners.insert(key, Arc::new(listener));
        }
        if let Some(events) = events {
            self.event_service().send_events_to(&events.id, context.remote.clone());
        }
        tokio::select! {
            () = context.cancel.cancelled() => {}
            () = self.closing().cancelled() => {}
        }
        drop(open);
        let meta = Edit::empty().set(meta::SUBSCRIPTION_ID, request.id.to_raw()).finish();
        Ok(Ok(Edit::empty().set("resultType", Raw::string("complete")).set("_meta", meta).finish()).into())
    }

    /// Whether the gate lets a resource be watched. It is on record that it was.
    async fn may_watch(&self, context: &Context, uri: &str, resource: &LocatedResource) -> bool {
        let LocatedResource { server, original, reading } = resource;
        let params = Edit::empty().set("uri", Raw::string(original)).finish();
        let request = Request::new(switchboard_wire::Id::number(0), method::RESOURCES_SUBSCRIBE, Some(params));
        let names = (uri, original.as_str());
        let asking = Asking::resource(context, server, Subject::Subscription, reading, names, &request);
        let Ok(asking) = asking else { return false };
        let Ok(permit) = asking.pass(self.gate()).await else { return false };
        self.gate().settle(permit, &Ok(Ok(Raw::empty_object()).into())).await;
        true
    }

    /// Begins to watch resources, as many as their servers do not refuse; answers those, and how they were named.
    async fn watch_all(&self, context: &Context, asked: Vec<Raw>, open: &mut Open<'_>) -> (Uris, Vec<Raw>) {
        let mut found = Vec::new();
        let mut uris = Uris::new();
        for raw in asked {
            let Some(uri) = raw.as_text() else { continue };
            let Some(resource) = self.locate(&uri, &context.session.principal) else { continue };
            if !self.may_watch(context, &uri, &resource).await {
                continue;
            }
            let LocatedResource { server, original, .. } = resource;
            let key = (server.id().clone(), original);
            if !uris.contains_key(&key) {
                // Counted and noted at once: this may be dropped while the servers are asked.
                server.watched.add(&key.1);
                open.watched.push(key.clone());
                uris.insert(key.clone(), uri);
                found.push((server, key, raw));
            }
        }
        let refused = |(server, key, _): &(Arc<Server>, Key, Raw)| {
            let (server, uri) = (server.clone(), key.1.clone());
            let asking = async move {
                // One that is not there learns of it when it comes.
                let Some(hub) = server.hub_now() else { return false };
                let params = Edit::empty().set("uri", Raw::string(&uri)).finish();
                server.ask_to_watch(&hub, &uri, Some(params)).await.is_err()
            };
            async move { tokio::time::timeout(WATCH_TIMEOUT, asking).await.unwrap_or(true) }
        };
        let refused = futures_util::future::join_all(found.iter().map(refused)).await;
        let mut watching = Vec::new();
        for ((server, key, raw), refused) in found.into_iter().zip(refused) {
            if refused {
                uris.remove(&key);
                open.watched.retain(|other| *other != key);
                server.watched.remove(&key.1);
            } else {
                watching.push(raw);
            }
        }
        (uris, watching)
    }
}

/// Server and the server's own URI.
type Key = (Arc<str>, String);
/// The same, with the URI the client knows.
type Uris = HashMap<Key, String>;
