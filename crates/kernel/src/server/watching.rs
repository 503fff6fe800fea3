//! Which resources of a server are watched, and keeping the server told.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_peer::{Call, CallError};
use switchboard_protocol::Era;
use switchboard_protocol::mcp::method;
use switchboard_wire::{Edit, Raw, code};
use tokio::sync::Notify;

use super::{Hub, Server};
use crate::bridge;
use crate::kernel::Kernel;

/// A stream of notices is quiet for as long as nothing happens.
const QUIET: Duration = Duration::from_secs(30 * 24 * 3600);
/// The pause before a stream that ended is opened again.
const REOPEN: Duration = Duration::from_secs(2);

/// The watched resources, each with how many clients watch it.
#[derive(Default)]
pub(crate) struct Watched {
    uris: Mutex<HashMap<String, usize>>,
    changed: Notify,
}

impl Watched {
    /// Counts one more client; `true` for the first one.
    fn add(&self, uri: &str) -> bool {
        let mut uris = self.uris.lock();
        let count = uris.entry(uri.to_owned()).or_default();
        *count += 1;
        *count == 1
    }

    /// Counts one client less; `true` for the last one.
    fn remove(&self, uri: &str) -> bool {
        let mut uris = self.uris.lock();
        let Some(count) = uris.get_mut(uri) else { return false };
        *count -= 1;
        let last = *count == 0;
        if last {
            uris.remove(uri);
        }
        last
    }

    fn all(&self) -> Vec<String> {
        let mut uris: Vec<_> = self.uris.lock().keys().cloned().collect();
        uris.sort();
        uris
    }
}

impl Server {
    /// Begins to watch a resource for one more client; gives the server's answer where it was asked.
    pub(crate) async fn watch_resource(&self, hub: &Hub, uri: &str, params: Option<Raw>) -> Result<Raw, CallOutcome> {
        let first = self.watched.add(uri);
        match hub.revision().era() {
            Era::Modern => self.watched.changed.notify_one(),
            Era::Legacy if first => {
                let call = Call::new(method::RESOURCES_SUBSCRIBE, params).within(self.spec.call_timeout);
                let outcome = match hub.remote().request(call).await {
                    Ok(reply) => reply.outcome.map_err(CallOutcome::Refused),
                    Err(error) => Err(CallOutcome::Failed(error)),
                };
                if outcome.is_err() {
                    self.watched.remove(uri);
                }
                return outcome;
            }
            Era::Legacy => {}
        }
        Ok(Raw::empty_object())
    }

    /// Ends watching a resource for one client.
    pub(crate) async fn unwatch_resource(&self, uri: &str) {
        if !self.watched.remove(uri) {
            return;
        }
        let Some(hub) = self.hub_now() else { return };
        match hub.revision().era() {
            Era::Modern => self.watched.changed.notify_one(),
            Era::Legacy => {
                let params = Edit::empty().set("uri", Raw::string(uri)).finish();
                let call = Call::new(method::RESOURCES_UNSUBSCRIBE, Some(params)).within(self.spec.call_timeout);
                let _ = hub.remote().request(call).await;
            }
        }
    }

    /// Keeps the server telling us what changes, for as long as it is connected.
    pub(super) async fn watch_always(&self, hub: &Hub, kernel: &Kernel) {
        loop {
            self.watch(hub, kernel).await;
        }
    }

    /// One round of that: ends when something about it must change.
    async fn watch(&self, hub: &Hub, kernel: &Kernel) {
        match hub.revision().era() {
            Era::Legacy => {
                // After a restart the server knows nothing of what was watched before.
                for uri in self.watched.all() {
                    let params = Edit::empty().set("uri", Raw::string(&uri)).finish();
                    let call = Call::new(method::RESOURCES_SUBSCRIBE, Some(params)).within(self.spec.call_timeout);
                    let _ = hub.remote().request(call).await;
                }
                std::future::pending().await
            }
            Era::Modern => self.listen(hub, kernel).await,
        }
    }

    async fn listen(&self, hub: &Hub, kernel: &Kernel) {
        let capabilities = &hub.connected.server.capabilities;
        let says = |path: &[&str]| capabilities.at(path).is_some_and(|raw| raw.as_bytes() == b"true");
        let uris = self.watched.all();
        let mut filter = Edit::empty();
        let mut wanted = false;
        for (capability, key) in
            [("tools", "toolsListChanged"), ("prompts", "promptsListChanged"), ("resources", "resourcesListChanged")]
        {
            if says(&[capability, "listChanged"]) {
                filter = filter.set(key, Raw::from_value(&true).unwrap_or_else(|_| Raw::empty_object()));
                wanted = true;
            }
        }
        if !uris.is_empty() {
            let uris: Vec<Raw> = uris.iter().map(|uri| Raw::string(uri)).collect();
            filter = filter.set("resourceSubscriptions", Raw::array(&uris));
            wanted = true;
        }
        if !wanted {
            self.watched.changed.notified().await;
            return;
        }
        let params = Edit::empty().set("notifications", filter.finish()).finish();
        let Ok(params) = bridge::modern_params(Some(&params), &kernel.own_caller(), None) else { return };
        let mut call = Call::new(method::SUBSCRIPTIONS_LISTEN, Some(params)).within(QUIET);
        call.max_timeout = QUIET;
        let ended = tokio::select! {
            ended = hub.remote().request(call) => ended,
            () = self.watched.changed.notified() => return,
        };
        match ended {
            // A server without the method will not learn it.
            Ok(reply) if reply.outcome.as_ref().is_err_and(|error| error.code == code::METHOD_NOT_FOUND) => {
                std::future::pending().await
            }
            _ => tokio::time::sleep(REOPEN).await,
        }
    }
}

/// Why a server did not do as asked.
pub(crate) enum CallOutcome {
    /// It said no.
    Refused(switchboard_wire::ErrorObject),
    /// It said nothing.
    Failed(CallError),
}
