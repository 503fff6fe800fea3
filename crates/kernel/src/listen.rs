//! Who is told of changes: legacy sessions by themselves, modern clients through `subscriptions/listen`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_peer::{Context, Remote, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::{meta, method};
use switchboard_wire::{Edit, Notification, Object, Raw, Request};

use crate::directory::ListKind;
use crate::forward::malformed;
use crate::kernel::Kernel;

/// Streams that may be open at once.
const MOST: usize = 10_000;
/// Resources that one stream may watch.
const MOST_URIS: usize = 1_000;

/// One open `subscriptions/listen`.
struct Listener {
    remote: Arc<dyn Remote>,
    id: Raw,
    kinds: HashSet<ListKind>,
    /// Server and the server's own URI, with the URI the client knows.
    uris: HashMap<(Arc<str>, String), String>,
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
    fn all(&self) -> Vec<Arc<Listener>> {
        self.open.lock().values().cloned().collect()
    }

    /// Tells the streams that asked for changes of a list.
    pub(crate) fn list_changed(&self, kind: ListKind, notification: &Notification) {
        for listener in self.all().iter().filter(|listener| listener.kinds.contains(&kind)) {
            listener.tell(notification);
        }
    }

    /// Tells the streams that watch a resource.
    pub(crate) fn resource_updated(&self, server: &Arc<str>, uri: &str, notification: &Notification) {
        for listener in self.all() {
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
    /// Server and the server's own URI.
    watched: Vec<(Arc<str>, String)>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.kernel.listeners().open.lock().remove(&self.key);
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
        let filter = Object::open(&filter).map_err(malformed)?;
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
        let mut open = Open { kernel: self, key, watched: Vec::new() };
        let mut uris = HashMap::new();
        let mut watching = Vec::new();
        for raw in asked {
            let Some(uri) = raw.as_text() else { continue };
            let Some((server, original)) = self.find_resource(&uri, &context.session.principal) else { continue };
            let Ok(hub) = server.hub().await else { continue };
            let params = Edit::empty().set("uri", Raw::string(&original)).finish();
            let key = (server.id().clone(), original.clone());
            if uris.contains_key(&key) {
                continue;
            }
            // Noted first: this may be dropped while the server is asked.
            open.watched.push(key.clone());
            if server.watch_resource(&hub, &original, Some(params)).await.is_ok() {
                uris.insert(key, uri);
                watching.push(raw);
            } else {
                open.watched.pop();
            }
        }
        if !watching.is_empty() {
            agreed = agreed.set("resourceSubscriptions", Raw::array(&watching));
        }
        let listener = Listener { remote: context.remote.clone(), id: request.id.to_raw(), kinds, uris };
        let acknowledged = Edit::empty().set("notifications", agreed.finish()).finish();
        listener.tell(&Notification::new(method::SUBSCRIPTIONS_ACKNOWLEDGED, Some(acknowledged)));
        {
            let mut listeners = self.listeners().open.lock();
            if listeners.len() >= MOST {
                return Err(Fault::new(FaultKind::ResourceExhausted, "too many streams are open"));
            }
            listeners.insert(key, Arc::new(listener));
        }
        tokio::select! {
            () = context.cancel.cancelled() => {}
            () = self.closing().cancelled() => {}
        }
        drop(open);
        let meta = Edit::empty().set(meta::SUBSCRIPTION_ID, request.id.to_raw()).finish();
        Ok(Ok(Edit::empty().set("resultType", Raw::string("complete")).set("_meta", meta).finish()).into())
    }
}
