//! The streams of changes that are open (`subscriptions/listen`), and what each of them is told.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use switchboard_directory::ListKind;
use switchboard_peer::{Context, Session};
use switchboard_protocol::mcp::meta;
use switchboard_wire::{Edit, Notification, Raw};

/// Server and the server's own URI.
pub(crate) type Key = (Arc<str>, String);
/// The same, with the URI the client knows.
pub(crate) type Uris = HashMap<Key, String>;

/// One open `subscriptions/listen`.
pub(crate) struct Listener {
    pub(crate) context: Context,
    pub(crate) id: Raw,
    pub(crate) kinds: HashSet<ListKind>,
    pub(crate) uris: Uris,
}

impl Listener {
    pub(crate) fn tell(&self, notification: &Notification) {
        let edit = Edit::of_optional(notification.params.as_ref())
            .and_then(|edit| edit.within("_meta", |meta| meta.set(meta::SUBSCRIPTION_ID, self.id.clone())));
        let params = edit.ok().map(Edit::finish);
        let _ = self.context.remote.notify(Notification { params, ..notification.clone() });
    }
}

/// All open streams.
#[derive(Default)]
pub(crate) struct Listeners {
    pub(crate) open: Mutex<HashMap<u64, Arc<Listener>>>,
    pub(crate) next: AtomicU64,
}

impl Listeners {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.lock().is_empty()
    }

    fn all(&self) -> Vec<Arc<Listener>> {
        self.open.lock().values().cloned().collect()
    }

    /// The streams that asked for changes of any of these lists.
    pub(crate) fn of_lists(&self, kinds: &[ListKind]) -> Vec<Arc<Listener>> {
        let asked = |listener: &Arc<Listener>| kinds.iter().any(|kind| listener.kinds.contains(kind));
        self.all().into_iter().filter(asked).collect()
    }

    /// Tells the streams of one principal that asked for changes of a list.
    pub(crate) fn list_changed_for(&self, principal: &str, kind: ListKind, notification: &Notification) {
        let own = |listener: &&Arc<Listener>| *listener.context.session.principal == *principal;
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
        for listener in self.all().iter().filter(|listener| may_see(&listener.context.session)) {
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
