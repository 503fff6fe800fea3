//! `subscriptions/listen`: a modern client asks for a stream of changes, and has it until it goes.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use switchboard_directory::{ListKind, LocatedResource};
use switchboard_gate::Subject;
use switchboard_gate::request::Asking;
use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::{meta, method};
use switchboard_protocol::mgp::EXTENSION_ID;
use switchboard_services::EventService;
use switchboard_upstream::Server;
use switchboard_wire::{Edit, Notification, Object, Raw, Request};

use crate::ClientHost;
use crate::streams::{Key, Listener, Uris};

/// Streams that may be open at once.
const MAX_LISTEN_STREAMS: usize = 10_000;
/// Resources that one stream may watch.
const MAX_STREAM_RESOURCES: usize = 1_000;

/// How long servers may take to agree to being watched before the stream begins without them.
const WATCH_TIMEOUT: Duration = Duration::from_secs(10);

/// Closes the books on a stream, however it ends.
struct Open<'a, H: ClientHost> {
    host: &'a H,
    key: u64,
    /// What subscriptions to events end with.
    owner: Arc<str>,
    watched: Vec<Key>,
}

impl<H: ClientHost> Drop for Open<'_, H> {
    fn drop(&mut self) {
        self.host.connected().listeners.open.lock().remove(&self.key);
        EventService::of(self.host).end_subscriptions_of(&self.owner);
        for (server, uri) in self.watched.drain(..) {
            // The server may have been replaced meanwhile.
            if let Some(server) = self.host.server(&server) {
                self.host.spawn(Box::pin(async move { server.unwatch_resource(&uri).await }));
            }
        }
    }
}

/// Answers `subscriptions/listen`: stays until the client goes or the kernel ends.
///
/// # Errors
/// It is not asked for as it has to be, or too many streams are open.
pub async fn listen<H: ClientHost>(host: &H, context: &Context, request: Request) -> Result<Reply, Fault> {
    let params = request.params.as_ref().ok_or_else(|| Fault::new(FaultKind::InvalidParams, "`params` is missing"))?;
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
    if asked.len() > MAX_STREAM_RESOURCES {
        return Err(Fault::new(
            FaultKind::InvalidParams,
            format!("more than {MAX_STREAM_RESOURCES} resources in one stream"),
        ));
    }
    let listeners = &host.connected().listeners;
    let key = listeners.next.fetch_add(1, Ordering::Relaxed);
    let owner: Arc<str> = format!("stream-{key}").into();
    let mut open = Open { host, key, owner: owner.clone(), watched: Vec::new() };
    let events = match filter.get(EXTENSION_ID).as_ref().and_then(switchboard_services::on_stream) {
        Some(said) => {
            Some(Box::pin(EventService::of(host).events_on_stream(context, said?, (request.id.to_raw(), owner))).await?)
        }
        None => None,
    };
    if let Some(events) = &events {
        agreed = agreed.set(EXTENSION_ID, events.to_mgp()?);
    }
    let (uris, watching) = watch_all(context, asked, &mut open).await;
    if !watching.is_empty() {
        agreed = agreed.set("resourceSubscriptions", Raw::array(&watching));
    }
    let listener = Arc::new(Listener { context: context.clone(), id: request.id.to_raw(), kinds, uris });
    let acknowledged = Edit::empty().set("notifications", agreed.finish()).finish();
    {
        // Told under the lock: the acknowledgement comes first, and no change after it is missed.
        let mut streams = listeners.open.lock();
        if streams.len() >= MAX_LISTEN_STREAMS {
            return Err(Fault::new(FaultKind::ResourceExhausted, "too many streams are open"));
        }
        listener.tell(&Notification::new(method::SUBSCRIPTIONS_ACKNOWLEDGED, Some(acknowledged)));
        streams.insert(key, listener);
    }
    if let Some(events) = events {
        EventService::of(host).send_events_to(&events.id, context.remote.clone());
    }
    tokio::select! {
        () = context.cancel.cancelled() => {}
        () = host.closing().cancelled() => {}
    }
    drop(open);
    let meta = Edit::empty().set(meta::SUBSCRIPTION_ID, request.id.to_raw()).finish();
    Ok(Ok(Edit::empty().set("resultType", Raw::string("complete")).set("_meta", meta).finish()).into())
}

/// Whether the gate lets a resource be watched. It is on record that it was.
async fn may_watch<H: ClientHost>(host: &H, context: &Context, uri: &str, resource: &LocatedResource) -> bool {
    let LocatedResource { server, original, reading } = resource;
    let params = Edit::empty().set("uri", Raw::string(original)).finish();
    let request = Request::new(switchboard_wire::Id::number(0), method::RESOURCES_SUBSCRIBE, Some(params));
    let names = (uri, original.as_str());
    let asking = Asking::resource(context, server, Subject::Subscription, reading, names, &request);
    let Ok(asking) = asking else { return false };
    let Ok(permit) = asking.pass(host.gate()).await else { return false };
    host.gate().settle(permit, &Ok(Ok(Raw::empty_object()).into())).await;
    true
}

/// Begins to watch resources, as many as their servers do not refuse; answers those, and how they were named.
async fn watch_all<H: ClientHost>(context: &Context, asked: Vec<Raw>, open: &mut Open<'_, H>) -> (Uris, Vec<Raw>) {
    let host = open.host;
    let mut found = Vec::new();
    let mut uris = Uris::new();
    for raw in asked {
        let Some(uri) = raw.as_text() else { continue };
        let Some(resource) = host.locate(&uri, &context.session.principal) else { continue };
        if !may_watch(host, context, &uri, &resource).await {
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
